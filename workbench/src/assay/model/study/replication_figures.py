"""Numbers that the cases of a replication print: their names, units and patterns."""

from collections.abc import Mapping

SYNC_FIGURES: Mapping[str, str] = {
    "start": "s",
    "duration": "s",
    "sent": "B",
    "received": "B",
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
SYNCS: Mapping[str, tuple[str, ...]] = {
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
_STEADY: Mapping[str, str] = {
    "lag median": "s",
    "lag 95 %": "s",
    "lag longest": "s",
    "syncs": "",
    "late syncs": "",
    "writes": "",
}
_PARTLY: Mapping[str, str] = {"changes": "files", "changes there": "files", "torn files": "files"}
FIGURES: Mapping[str, Mapping[str, str]] = {
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
        "files set aside": "files",
    },
}
"""Scenario -> its further numbers, and their units."""
SPECIAL = ("symbolic links", "hard links", "sparse files", "extended attributes", "empty directories")
"""What a tree has beside files and their contents; a replicator keeps it or not."""
COMMON: Mapping[str, str] = {
    "write refused": "",
    "different files": "files",
    "different attributes": "files",
    **{f"{kind} kept": "" for kind in SPECIAL},
}
"""Numbers that each scenario prints: whether the replica refused a write before it was promoted; how many files differ
in the end in their contents, or in mode, owner and time; and whether each of `SPECIAL` arrived as it was."""


KEY_TIMES = (
    "recovery time",
    "lag longest",
    *(f"{labels[-1]} duration" for scenario, labels in SYNCS.items() if scenario not in ("initial", "failover")),
    "initial duration",
)
"""Times that stand for a scenario where there is room for one; the first that a case has counts."""


def figure_of(sync: str, name: str) -> str:
    """Return the name of a number of a sync."""
    return f"{sync} {name}"


def scenario_figures(scenario: str) -> dict[str, str]:
    """Return the numbers of a scenario and their units."""
    syncs = {figure_of(sync, name): unit for sync in SYNCS[scenario] for name, unit in SYNC_FIGURES.items()}
    return {**syncs, **FIGURES[scenario], **COMMON}


def figure_pattern(name: str) -> str:
    """Return the regular expression that finds a number in what a case prints."""
    return f"^replication {name} = ([-0-9.e+]+)$"
