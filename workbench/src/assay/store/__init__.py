"""Runs on disk: a folder each, with the study, an SQLite index of everything measured, and a Parquet time series."""

from assay.store.entries import ENGINE_LOCK
from assay.store.find import RunSummary, find_run, list_runs
from assay.store.lock import RunLock, foreign_run_state, lock_holders, run_is_alive
from assay.store.records import Attempt, JournalEntry, Result, RunMeta
from assay.store.run import RunStore, new_run_id

__all__ = [
    "ENGINE_LOCK",
    "Attempt",
    "JournalEntry",
    "Result",
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
