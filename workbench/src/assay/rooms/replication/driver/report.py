"""What a scenario prints: one line for each number, which the study's patterns find again."""

from __future__ import annotations

SYNC_FIGURES = {
    "start": "s",
    "duration": "s",
    "network": "B",
    "data": "B",
    "new": "files",
    "updated": "files",
    "deleted": "files",
    "unchanged": "files",
    "errors": "",
    "rate": "Mbit/s",
    "utilisation": "%",
}
"""Numbers of one sync, as a replication report has them, and their units. Start is in seconds since 1970, in UTC."""
SYNCS = {
    "initial": ("initial",),
    "update": ("initial", "update"),
    "steady": ("initial", "steady"),
    "cut": ("initial", "cut", "resumed"),
    "kill": ("initial", "killed", "restarted"),
    "full": ("initial", "full", "repeated"),
    "changing": ("initial", "changing", "final"),
    "failover": ("initial", "steady", "failback", "again"),
}
"""Scenario -> its syncs in order."""
_STEADY = {"lag median": "s", "lag 95 %": "s", "lag longest": "s", "syncs": "", "writes": ""}
_PARTLY = {"changes": "files", "changes there": "files", "torn files": "files"}
FIGURES = {
    "initial": {},
    "update": {},
    "steady": _STEADY,
    "cut": {**_PARTLY, "seconds cut": "s"},
    "kill": _PARTLY,
    "full": _PARTLY,
    "changing": {"torn files": "files", "changed meanwhile": ""},
    "failover": {
        **_STEADY,
        "recovery point": "s",
        "recovery time": "s",
        "detection": "s",
        "promotion": "s",
        "writes lost": "",
        "refused syncs": "",
        "conflicts": "files",
        "kept files": "files",
    },
}
"""Scenario -> its further numbers, and their units."""
COMMON = {"write refused": "", "different files": "files"}
"""Numbers that each scenario prints: whether the replica refused a write before it was promoted, and how many files of
the two trees differ in the end."""


def names(scenario: str) -> dict[str, str]:
    """Return the numbers of a scenario and their units."""
    syncs = {f"{sync} {name}": unit for sync in SYNCS[scenario] for name, unit in SYNC_FIGURES.items()}
    return {**syncs, **FIGURES[scenario], **COMMON}


def line(name: str, value: float) -> str:
    """Return the line of a number."""
    return f"replication {name} = {value:.9g}" if abs(value) < 1e9 else f"replication {name} = {value:.3f}"  # noqa: PLR2004


def pattern(name: str) -> str:
    """Return the regular expression that finds a number."""
    return f"^replication {name} = ([-0-9.e+]+)$"
