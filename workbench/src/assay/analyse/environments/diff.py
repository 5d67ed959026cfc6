"""Lists how two captured environments differ, and which of the differences commonly change results."""

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase

from assay.model.result.environment import EnvironmentDifference

Environment = Mapping[str, Mapping[str, str]]

WHOLE_SECTION = "(all of it)"
"""Name of a difference about a section that only one of the environments has."""

VARYING_VALUES = (
    "cpu/load_before",
    "memory/available",
    "control groups/groups",
    "target */free_bytes",
    "target */free_inodes",
)
"""Values that differ between any two moments or logins: no sign of another environment, but sometimes the reason."""

RELEVANT_VALUES = (
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
"""`section/name` patterns of values that commonly change results."""
IRRELEVANT_VALUES = (
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

APPROXIMATE_SIZES = ("memory/total", "memory/numa_node*", "target */filesystem_bytes")
"""Sizes that differ a little from boot to boot; differences up to ABOUT_SHARE are ignored."""
APPROXIMATE_SHARE = 0.01


def environment_diff(before: Environment, after: Environment) -> tuple[EnvironmentDifference, ...]:
    """Return the differences between two environments; those that commonly change results come first.

    Values that vary by nature are left out; see `varying_values`. A section that only one environment has, such as a
    further network interface or target, is one difference named `WHOLE_SECTION`.

    Args:
        before: Section -> name -> value, as captured; the versions may be a section `versions`.
        after: The other environment.
    """
    found = (
        _difference(section, name, old, new, _matters(section, name, old, new))
        for section, name, old, new in _pairs(before, after)
        if not _fits(section, name, VARYING_VALUES) and not _same(section, name, old, new)
    )
    return tuple(sorted(found, key=lambda difference: not difference.matters))


def varying_values(before: Environment, after: Environment) -> tuple[EnvironmentDifference, ...]:
    """Return differences in values that vary by nature, such as load and free space, if both environments have them."""
    return tuple(
        _difference(section, name, old, new, False)
        for section, name, old, new in _pairs(before, after)
        if _fits(section, name, VARYING_VALUES) and old is not None and new is not None and old != new
    )


def _difference(section: str, name: str, before: str | None, after: str | None, matters: bool) -> EnvironmentDifference:
    return EnvironmentDifference(section=section, name=name, before=before, after=after, matters=matters)


def _pairs(before: Environment, after: Environment) -> Iterator[tuple[str, str, str | None, str | None]]:
    """Yield (section, name, value before, value after) in the order of the environments."""
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
    """Whether a difference commonly changes results; a value that one side lacks or could not read shows nothing."""
    resumed = section.endswith("(resumed)") or name.endswith("(resumed)")
    if not resumed and not (_is_known(before) and _is_known(after)):
        return False
    return _fits(section, name, RELEVANT_VALUES) and not _fits(section, name, IRRELEVANT_VALUES)


def _is_known(value: str | None) -> bool:
    return value is not None and not value.startswith("unknown")


def _same(section: str, name: str, before: str | None, after: str | None) -> bool:
    if before == after:
        return True
    if before is None or after is None:
        return False
    if section == "control groups":
        # The group that sets a limit has a different name in each container and login.
        return _without_group(before) == _without_group(after)
    return _fits(section, name, APPROXIMATE_SIZES) and _is_about(before, after)


def _without_group(text: str) -> str:
    return re.sub(r" \(/[^)]*\)", "", text)


def _is_about(before: str, after: str) -> bool:
    """Whether both begin with nearly the same number and are otherwise equal."""
    old, new = (re.fullmatch(r"(\d+)(.*)", text) for text in (before, after))
    if not old or not new or old[2] != new[2]:
        return False
    sizes = int(old[1]), int(new[1])
    return max(sizes) - min(sizes) <= APPROXIMATE_SHARE * max(sizes)
