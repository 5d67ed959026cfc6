"""Limits that control groups set to the engine: its CPU time and the rates of devices below its targets.

They come from the environment of a run, sections `control groups` and, if they are others then, `control groups (end)`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from assay.model.result.run import Place
from assay.model.units import about_count, about_number, about_size

GROUPS, AT_END = "control groups", "control groups (end)"
"""Sections of the environment: as the run began, and as it ended if that is something else."""
LIMITS = ("cpu_quota", "io_limits")
"""Items of them that hold rates down."""

Environment = Mapping[str, Mapping[str, str]]

_QUOTA = re.compile(r"(?P<cpus>[\d.]+) CPUs")
_DEVICE = re.compile(r"(?P<number>\d+:\d+) (?P<limits>(?:[rw](?:bps|iops)=\d+ ?)+)\(")
_WAYS = {"r": "reads", "w": "writes"}


class Limited(NamedTuple):
    """Limits at one time.

    Attributes:
        cpus: CPUs' worth of time that the engine may use; None if there is no quota.
        devices: Device below a target -> its limits in words.
    """

    cpus: float | None
    devices: dict[str, str]

    @property
    def words(self) -> str:
        """All of them; empty if there are none."""
        parts = [] if self.cpus is None else [f"the engine to {about_number(self.cpus)} CPUs"]
        parts += [f"{device} to {limits}" for device, limits in self.devices.items()]
        return " and ".join(parts)


def limited(environment: Environment, places: Sequence[Place], section: str = GROUPS) -> Limited:
    """What control groups limit, of what a run uses.

    Args:
        environment: Of the run.
        places: Of its targets; limits of devices that lie below none of them are left out.
        section: Which time.
    """
    found = environment.get(section, {})
    quota = _QUOTA.match(found.get("cpu_quota", ""))
    names = {layer.number: layer.name for place in places for layer in place.layers if layer.number}
    devices: dict[str, list[str]] = {}
    for number, limit in _limits(found.get("io_limits", "")):
        if number in names:
            devices.setdefault(names[number], []).append(limit)
    return Limited(
        float(quota["cpus"]) if quota else None,
        {name: ", ".join(limits) for name, limits in devices.items()},
    )


def _limits(text: str) -> Iterator[tuple[str, str]]:
    """Number of each device that is limited, and a limit in words: `reads of 25 MB/s`, `writes of 800 a second`."""
    for item in _DEVICE.finditer(text):
        for limit in item["limits"].split():
            way, kind, value = limit[0], limit[1:].partition("=")[0], float(limit.partition("=")[2])
            rate = f"{about_size(value)}/s" if kind == "bps" else f"{about_count(value)} a second"
            yield item["number"], f"{_WAYS[way]} of {rate}"


def changed(before: Mapping[str, str], now: Mapping[str, str]) -> bool:
    """Whether a limit that holds rates down is another one now."""
    return any(before.get(name) != now.get(name) for name in LIMITS)
