"""Finds machine settings that are not as the study wants them, or that differ between the hosts of one run."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

Environment = Mapping[str, Mapping[str, str]]
WANTED = "settings wanted"
"""Section of an environment with the settings that the study wants: name -> value."""
THIS_MACHINE = "this machine"
_HOST = re.compile(r"hosts? \S")
_OFF = ("off", "forceoff", "notsupported", "notimplemented")


class Setting(NamedTuple):
    """A setting to compare.

    Attributes:
        label: Name for people.
        machine_item: `section/name` of its items in this machine's environment; a star stands for the part, such as
            a disk.
        host_item: Name of its items in the section of a host; a star stands for the part.
        read: Returns the values in the text of an item.
        remedy: Command that sets it; `{value}` and `{part}` are filled in.
    """

    label: str
    machine_item: str
    host_item: str
    read: Callable[[str], list[str]]
    remedy: str


class ObservedSetting(NamedTuple):
    """The observed value of a setting.

    Attributes:
        host: The machine.
        part: The disk or interface; empty if the setting is the machine's.
        values: All values; several disks may have several.
    """

    host: str
    part: str
    values: tuple[str, ...]


def _whole(text: str) -> list[str]:
    return [text]


def _chosen(text: str) -> list[str]:
    """Return the chosen value: `madvise` of `always [madvise] never`."""
    found = re.search(r"\[(\S+)\]", text)
    return [found[1] if found else text]


def _smt(text: str) -> list[str]:
    return ["off" if text in _OFF else text]


def _schedulers(text: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"scheduler ([\w-]+)", text) or [text]))


def _mtu(text: str) -> list[str]:
    """Return the MTU of an interface that is up."""
    found = re.fullmatch(r"(?:mtu )?(\d+)(?:, (\w+))?", text)
    return [found[1]] if found and found[2] in (None, "up", "unknown") else []


SETTINGS = {
    "transparent_huge_pages": Setting(
        *("transparent huge pages", "memory/transparent_huge_pages", "transparent huge pages", _chosen),
        "echo {value} > /sys/kernel/mm/transparent_hugepage/enabled",
    ),
    "clock": Setting(
        *("clock source", "kernel/clock_source", "clock source", _whole),
        "echo {value} > /sys/devices/system/clocksource/clocksource0/current_clocksource",
    ),
    "governor": Setting(
        *("frequency policy", "cpu/governor", "frequency policy", _whole), "cpupower frequency-set -g {value}"
    ),
    "smt": Setting(*("SMT", "cpu/smt", "smt", _smt), "echo {value} > /sys/devices/system/cpu/smt/control"),
    "scheduler": Setting(
        *("I/O scheduler", "target */scheduler", "disks *", _schedulers),
        "echo {value} > /sys/block/DISK/queue/scheduler",
    ),
    "mtu": Setting(*("MTU", "network */mtu", "interface *", _mtu), "ip link set {part} mtu {value}"),
}
"""Name in a study -> setting."""


def observed_settings(environment: Environment) -> dict[str, tuple[ObservedSetting, ...]]:
    """Return the observed values of each setting: on the hosts of a run, or on this machine if there are no hosts.

    Args:
        environment: Section -> name -> value, as captured.
    """
    hosts = {name: items for name, items in environment.items() if _HOST.match(name)}
    return {
        name: tuple(
            _of_hosts(setting, hosts)
            if hosts
            else (ObservedSetting(THIS_MACHINE, *one) for one in _of_machine(setting, environment))
        )
        for name, setting in SETTINGS.items()
    }


def unwanted_settings(environment: Environment) -> Iterator[tuple[str, ObservedSetting, str]]:
    """Yield each setting that is not as the study wants it: its name, what was found, and what is wanted.

    Args:
        environment: As captured, with the section `WANTED`.
    """
    wanted, known = environment.get(WANTED, {}), observed_settings(environment)
    for name in (name for name in SETTINGS if name in wanted):
        for found in known[name]:
            if any(value != wanted[name] for value in found.values):
                yield name, found, wanted[name]


def setting_lines(environment: Environment) -> tuple[str, ...]:
    """Return a line for each setting that is not as the study wants it, and for each that differs between hosts.

    Args:
        environment: Section -> name -> value, as captured, with the section `WANTED`.
    """
    lines = []
    for name, found, wanted in unwanted_settings(environment):
        lines.append(f"{found.host}: {_label(name, found.part)}: {_joined(found.values)}; the study requires {wanted}")
    for name, several in observed_settings(environment).items():
        for part in dict.fromkeys(found.part for found in several):
            same = [found for found in several if found.part == part and not _unknown(found.values)]
            hosts: dict[tuple[str, ...], list[str]] = {}
            for found in same:
                hosts.setdefault(found.values, []).append(found.host)
            if len(hosts) > 1:
                each = ", ".join(f"{_joined(values)} on {', '.join(names)}" for values, names in hosts.items())
                lines.append(f"{_label(name, part)} differs between hosts: {each}")
    return tuple(lines)


def _of_hosts(setting: Setting, hosts: Environment) -> Iterator[ObservedSetting]:
    for host, items in hosts.items():
        for item, text in items.items():
            part = _part(setting.host_item, item)
            if part is not None and (values := setting.read(text)):
                yield ObservedSetting(host, part, tuple(values))


def _of_machine(setting: Setting, environment: Environment) -> Iterator[tuple[str, tuple[str, ...]]]:
    for section, items in environment.items():
        for item, text in items.items():
            part = _part(setting.machine_item, f"{section}/{item}")
            if part not in (None, "lo") and (values := setting.read(text)):
                yield part or "", tuple(values)


def _part(pattern: str, name: str) -> str | None:
    """Return the text in place of the star; empty without a star, None if the name does not match."""
    before, star, after = pattern.partition("*")
    if not star:
        return "" if name == pattern else None
    fits = name.startswith(before) and name.endswith(after) and len(name) > len(before) + len(after)
    return name[len(before) : len(name) - len(after)] if fits else None


def _label(name: str, part: str) -> str:
    return f"{SETTINGS[name].label} of {part}" if part else SETTINGS[name].label


def _joined(values: tuple[str, ...]) -> str:
    return " and ".join(values)


def _unknown(values: tuple[str, ...]) -> bool:
    return any(value.startswith(("unknown", "none:")) for value in values)
