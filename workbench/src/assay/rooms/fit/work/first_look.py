"""How fast a place takes a first write, so that not more data is laid out than fits into the time."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from assay.model.base import AssayError, Code
from assay.plan.text import study_text
from assay.rooms.fit.work.place import FitPlace
from assay.store import RunStore

Run = Callable[[str, Path], RunStore]
"""Measures the study of a text, and stores the run in a folder."""


class FirstLook(NamedTuple):
    """What a first write showed.

    Attributes:
        bytes_per_s: Its speed; None if it failed or took too long.
        free_bytes: Free space; None if unknown.
        is_direct: The place has O_DIRECT.
    """

    bytes_per_s: float | None
    free_bytes: int | None
    is_direct: bool


def first_look(place: FitPlace, folder: Path, run: Run) -> FirstLook:
    """Write briefly to a place that holds files.

    Args:
        place: The place.
        folder: Folder for the run, which is not kept.
        run: Measures a study.

    Raises:
        KeyboardInterrupt: The user stopped it; the test data is removed.
    """
    from assay.run.analysis import analyse_store

    for cache in ("direct", "evict"):
        text = study_text(_first_study(place, cache), ("A first write, which shows how fast a place is.",))
        try:
            with run(text, folder) as store:
                if store.current_status() == "interrupted":
                    raise KeyboardInterrupt
                analysis = analyse_store(store, quick=True)
        except AssayError as error:
            if cache == "direct" and error.code is Code.NO_DIRECT_IO:
                continue
            raise
        rates = [row.throughput.median for row in analysis.rows if row.throughput is not None]
        free = next((each.free_bytes for each in analysis.run.places), None)
        return FirstLook(max(rates, default=None), free, cache == "direct")
    return FirstLook(None, None, False)


def _first_study(place: FitPlace, cache: str) -> dict[str, Any]:
    """Return the study of a first write; on slow places it ends after its first records."""
    work: dict[str, Any] = {"operations": ["write"], "file_size": "16MiB", "record_size": "1MiB", "queue_depth": 4}
    work |= {"cache": cache, "sync": "fsync", "time_limit": "200ms"}
    if not place.has_files:
        work["layout"] = "shared"
    return {
        "study": "fit-first",
        "question": "How fast is a first write?",
        "targets": {place.name: dict(place.target)},
        "workloads": {"first": work},
        "repeats": 1,
        "ceilings": "none",
        "network": "none",
    }
