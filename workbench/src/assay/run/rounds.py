"""Two sides in turns, round by round, until they are told apart or the time is spent."""

import time
from collections.abc import Callable, Sequence
from itertools import groupby

from assay.analyse.blocks import decided_cases
from assay.model.study.blocks import Blocks
from assay.model.units import about_duration
from assay.plan.schedule import Job
from assay.run.analysis import rows_until
from assay.run.settle import spent
from assay.store import RunStore

Execute = Callable[[Sequence[Job]], bool]
"""Executes repeats; whether nobody has stopped it meanwhile."""
Settled = Callable[[str, int], None]
"""Is told a case, and how many repeats fewer are asked for."""


def run_rounds(store: RunStore, blocks: Blocks, jobs: Sequence[Job], execute: Execute, settled: Settled) -> None:
    """Execute rounds until each pair of cases is told apart, the time is spent, or somebody stops.

    What is done is decided from what is stored and the clock, so that a run that was stopped goes on as it would have.

    Args:
        store: The run.
        blocks: When it is looked at, and when it ends.
        jobs: What is pending, in the order of execution: round by round.
        execute: Executes those of one round.
        settled: Is told what need not be measured any more.
    """
    begun, done = time.monotonic() - spent(store), max((attempt.repeat for attempt in store.attempts()), default=0)
    if jobs and jobs[0][1] > done and done in blocks.looks:
        # The workbench may have died between that round and the look at it.
        _look(store, blocks, done, settled)
    for number, of_round in groupby(jobs, key=lambda job: job[1]):
        started = time.monotonic()
        if not execute(list(of_round)):
            return
        now = time.monotonic()
        # Another round as long as this one would end too late.
        late = number >= blocks.least and 2 * now - started - begun > blocks.seconds
        # What is caught up on was looked at before.
        if number >= done and (late or number in blocks.looks):
            _look(store, blocks, number, settled)
        if late:
            _end(store, f"time is up: {about_duration(now - begun)}, {number} rounds", settled)
        if len(store.settled()) == store.case_count():
            return


def _look(store: RunStore, blocks: Blocks, number: int, settled: Settled) -> None:
    known = store.settled()
    open_cases = [case for case in store.cases() if case.id not in known]
    for case, why in decided_cases(open_cases, rows_until(store, number), blocks).items():
        settled(case, store.settle(case, why))


def _end(store: RunStore, why: str, settled: Settled) -> None:
    known = store.settled()
    for case in store.cases():
        if case.id not in known:
            settled(case.id, store.settle(case.id, why))
