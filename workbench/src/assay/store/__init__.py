"""Runs on disk: a folder each, with the study, an SQLite database of all measurements, and the time series as CSV."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.store.entries import ENGINE_LOCK
    from assay.store.lock import RunLock, foreign_run_state, lock_holders, run_is_alive
    from assay.store.lookup import RunSummary, find_run, list_runs
    from assay.store.records import Attempt, RunMeta
    from assay.store.run import RunStore, new_run_id

__all__ = [
    "ENGINE_LOCK",
    "Attempt",
    "RunLock",
    "RunMeta",
    "RunStore",
    "RunSummary",
    "find_run",
    "foreign_run_state",
    "list_runs",
    "lock_holders",
    "new_run_id",
    "run_is_alive",
]


def __getattr__(name: str) -> Any:
    """Import a name of `__all__` from the first module that has it: listing runs need not load what writes them."""
    for module in ("entries", "lookup", "lock", "records", "run") if name in __all__ else ():
        loaded = import_module(f"{__name__}.{module}")
        if hasattr(loaded, name):
            return getattr(loaded, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
