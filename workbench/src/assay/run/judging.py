"""Judging a run at its end, on several CPUs if it is large."""

import os
import signal
from collections.abc import Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

from assay.model.base import AssayError
from assay.model.result.brief import Result, brief
from assay.run.analysis import judged_rows
from assay.store import RunStore

LEAST_CASES = 2000
"""A further process takes half a second to start, in which some 2,000 cases are judged."""
MOST_PROCESSES = 4


def judged_results(store: RunStore, processes: int | None = None) -> Iterator[Result]:
    """What the analysis says of each operation of each case in brief, in plan order.

    Args:
        store: The run; what is to be judged is committed.
        processes: How many to use; as many as there are CPUs and the run is worth if left out.
    """
    parts = processes or max(1, min(len(os.sched_getaffinity(0)), MOST_PROCESSES, store.case_count() // LEAST_CASES))
    others = [_Other(store.folder, part, parts) for part in range(1, parts)]
    try:
        yield from map(brief, judged_rows(store, 0, parts))
        for part, other in enumerate(others, start=1):
            yield from other.results() or map(brief, judged_rows(store, part, parts))
    finally:
        for other in others:
            other.end()


class _Other:
    """Another process, which judges one part."""

    def __init__(self, folder: Path, part: int, parts: int) -> None:
        # Not a fork: a process must not use the database that another one has opened, nor find it open.
        context = get_context("spawn")
        self._answer, there = context.Pipe(duplex=False)
        self._process = context.Process(target=_judge_part, args=(folder, part, parts, there), daemon=True)
        self._process.start()
        there.close()

    def results(self) -> list[Result] | None:
        """What it found; None if it died."""
        try:
            found: list[Result] = self._answer.recv()
        except (EOFError, OSError):
            return None
        return found

    def end(self) -> None:
        """It has answered, or nobody needs its answer any more."""
        self._answer.close()
        self._process.terminate()
        self._process.join()


def _judge_part(folder: Path, part: int, parts: int, answer: Connection) -> None:
    """In a process of its own, which says nothing and ends by itself when nobody waits for it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with RunStore.open(folder) as store:
            answer.send([brief(row) for row in judged_rows(store, part, parts)])
    except (AssayError, OSError):
        # The process that waits meets the same, and has someone to tell it to.
        answer.close()
