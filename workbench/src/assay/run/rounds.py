"""Two sides in turns, round by round, until they are told apart or the time is spent."""

import time
from collections.abc import Callable, Sequence
from itertools import groupby

from assay.analyse.blocks import decided_cases, deviations, findable
from assay.model.base import Say
from assay.model.study.blocks import Blocks
from assay.model.units import about_duration, about_number
from assay.plan.schedule import Job
from assay.run.analysis import rows_until
from assay.run.settle import spent
from assay.store import RunStore

Execute = Callable[[Sequence[Job]], bool]
"""Executes repeats; whether nobody has stopped it meanwhile."""
Settled = Callable[[str, int], None]
"""Is told a case, and how many repeats fewer are asked for."""


HOPELESS = 1.0
"""Differences from this share on need no tool to be found."""
NEWS = 1.25
"""What can be found is said again if it has changed by this factor."""


def run_rounds(
    store: RunStore, blocks: Blocks, jobs: Sequence[Job], execute: Execute, settled: Settled, say: Say
) -> None:
    """Execute rounds until each pair of cases is told apart, the time is spent, or somebody stops.

    What is done is decided from what is stored and the clock, so that a run that was stopped goes on as it would have.

    Args:
        store: The run.
        blocks: When it is looked at, and when it ends.
        jobs: What is pending, in the order of execution: round by round.
        execute: Executes those of one round.
        settled: Is told what need not be measured any more.
        say: Is told what can be found in the time, as soon as the rounds show it.
    """
    begun, done = time.monotonic() - spent(store), max((attempt.repeat for attempt in store.attempts()), default=0)
    looking = _Looking(store, blocks, settled, say)
    if jobs and jobs[0][1] > done and done in blocks.looks:
        # The workbench may have died between that round and the look at it.
        looking.look(done, 0)
    for number, of_round in groupby(jobs, key=lambda job: job[1]):
        started = time.monotonic()
        if not execute(list(of_round)):
            return
        now = time.monotonic()
        # Another round as long as this one would end too late.
        late = number >= blocks.least and 2 * now - started - begun > blocks.seconds
        # What is caught up on was looked at before.
        if number >= done and (late or number in blocks.looks):
            more = int((blocks.seconds - (now - begun)) / max(now - started, 1e-3))
            looking.look(number, 0 if late else more)
        if late:
            _end(store, f"time is up: {about_duration(now - begun)}, {number} rounds", settled)
        if len(store.settled()) == store.case_count():
            return


class _Looking:
    """Decides what is known well enough, and says what can be found in the rest of the time."""

    def __init__(self, store: RunStore, blocks: Blocks, settled: Settled, say: Say) -> None:
        self._store, self._blocks, self._settled, self._say = store, blocks, settled, say
        self._said = 0.0

    def look(self, number: int, more: int) -> None:
        """After so many rounds, with time for so many more."""
        rows, blocks, known = rows_until(self._store, number), self._blocks, self._store.settled()
        open_cases = [case for case in self._store.cases() if case.id not in known]
        decided = decided_cases(open_cases, rows, blocks)
        for case, why in decided.items():
            self._settled(case, self._store.settle(case, why))
        left = [case.id for case in open_cases if case.id not in decided]
        differ = sorted(deviations(rows, blocks, left))
        if not more or not differ:
            return
        rounds, count = min(number + more, blocks.most), len(rows) // 2
        ends = (findable(one, rounds, count, len(blocks.looks)) for one in (differ[0], differ[-1]))
        # What is less counts as equal.
        low, high = (max(blocks.within, one) for one in ends)
        if self._said and 1 / NEWS < high / self._said < NEWS:
            return
        self._said = high
        begin = f"after {number} rounds: in {about_duration(blocks.seconds)}"
        if low >= HOPELESS:
            self._say(f"{begin} no difference below a factor of 2 can be found: the rounds differ too much")
            return
        least, most = about_number(100 * low, 2), about_number(100 * min(high, HOPELESS), 2)
        worst = "" if least == most else f", in the row that varies most {most} %"
        self._say(f"{begin} a difference of about {least} % or more can be found{worst}")


def _end(store: RunStore, why: str, settled: Settled) -> None:
    known = store.settled()
    for case in store.cases():
        if case.id not in known:
            settled(case.id, store.settle(case.id, why, known=False))
