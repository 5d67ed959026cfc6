"""How two captured environments differ, and which of the differences commonly change results."""

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase

from assay.model.result.environment import EnvironmentDifference

Environment = Mapping[str, Mapping[str, str]]

WHOLE_SECTION = "(all of it)"
"""Name in a difference about a section that only one of the environments has."""

VARIES = (
    "cpu/load_before",
    "memory/available",
    "control groups/groups",
    "target */free_bytes",
    "target */free_inodes",
)
"""What differs between any two moments or logins: no sign of another environment, but at times the reason."""

MATTERS = (
    "versions/assay*",
    "versions/engine_sha256*",
    "versions/study_sha256*",
    "host/name",
    "host/vendor",
    "host/product",
    "host/hypervisor",
    "host/container",
    "host/user",
    "cloud/*",
    "kernel/*",
    "cpu/*",
    "memory/*",
    "control groups/*",
    "limits/*",
    "modules/loaded",
    "sysctl/vm.*",
    "sysctl/kernel.*",
    "sysctl/net.*_rmem",
    "sysctl/net.*_wmem",
    "sysctl/net.core.[rw]mem_max",
    "sysctl/net.core.default_qdisc",
    "sysctl/net.ipv4.tcp_congestion_control",
    "sysctl/net.ipv4.tcp_slow_start_after_idle",
    "sysctl/sunrpc.*",
    "network */*",
    "target */*",
    "server */version",
    "host */*",
    "hosts */*",
    "* (resumed)/*",
)
"""`section/name` patterns of what commonly changes results."""
HARMLESS = (
    "kernel/clock_sources",
    "cpu/vulnerable_to",
    "control groups/version",
    "network */state",
    "host* */interface *",
    "target */path",
    "target */mount_point",
    "target */filesystem_bytes",
)
"""Exceptions to MATTERS."""

ABOUT = ("memory/total", "memory/numa_node*", "target */filesystem_bytes")
"""Sizes that differ a little from boot to boot; up to ABOUT_SHARE counts as the same."""
ABOUT_SHARE = 0.01


def environment_diff(before: Environment, after: Environment) -> tuple[EnvironmentDifference, ...]:
    """What two environments do not have in common, what commonly changes results first.

    What varies by nature is left out; `varying_values` has that. A section that only one of them has, such as another
    network interface or target, is one difference named `WHOLE_SECTION`.

    Args:
        before: Section -> name -> value, as captured; the versions may be a section `versions`.
        after: The other one.
    """
    found = (
        _difference(section, name, old, new, _matters(section, name, old, new))
        for section, name, old, new in _pairs(before, after)
        if not _fits(section, name, VARIES) and not _same(section, name, old, new)
    )
    return tuple(sorted(found, key=lambda difference: not difference.matters))


def varying_values(before: Environment, after: Environment) -> tuple[EnvironmentDifference, ...]:
    """What two environments both have and what varies by nature, such as load and free space, if it is not the same."""
    return tuple(
        _difference(section, name, old, new, False)
        for section, name, old, new in _pairs(before, after)
        if _fits(section, name, VARIES) and old is not None and new is not None and old != new
    )


def _difference(section: str, name: str, before: str | None, after: str | None, matters: bool) -> EnvironmentDifference:
    return EnvironmentDifference(section=section, name=name, before=before, after=after, matters=matters)


def _pairs(before: Environment, after: Environment) -> Iterator[tuple[str, str, str | None, str | None]]:
    """(section, name, value before, value after) in the order of the environments."""
    for section in dict.fromkeys((*before, *after)):
        old, new = before.get(section), after.get(section)
        if old is None or new is None:
            sizes = [None if found is None else f"{len(found)} items" for found in (old, new)]
            yield section, WHOLE_SECTION, sizes[0], sizes[1]
            continue
        for name in dict.fromkeys((*old, *new)):
            yield section, name, old.get(name), new.get(name)


def _fits(section: str, name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(f"{section}/{name}", pattern) for pattern in patterns)


def _matters(section: str, name: str, before: str | None, after: str | None) -> bool:
    """What one side does not have or could not find out says nothing about the machine."""
    resumed = section.endswith("(resumed)") or name.endswith("(resumed)")
    if not resumed and not (_is_known(before) and _is_known(after)):
        return False
    return _fits(section, name, MATTERS) and not _fits(section, name, HARMLESS)


def _is_known(value: str | None) -> bool:
    return value is not None and not value.startswith("unknown")


def _same(section: str, name: str, before: str | None, after: str | None) -> bool:
    if before == after:
        return True
    if before is None or after is None:
        return False
    if section == "control groups":
        # The group that a limit was found in has another name in each container and login.
        return _without_group(before) == _without_group(after)
    return _fits(section, name, ABOUT) and _is_about(before, after)


def _without_group(text: str) -> str:
    return re.sub(r" \(/[^)]*\)", "", text)


def _is_about(before: str, after: str) -> bool:
    """Both begin with numbers that are nearly the same, and the rest is the same."""
    old, new = (re.fullmatch(r"(\d+)(.*)", text) for text in (before, after))
    if not old or not new or old[2] != new[2]:
        return False
    sizes = int(old[1]), int(new[1])
    return max(sizes) - min(sizes) <= ABOUT_SHARE * max(sizes)
