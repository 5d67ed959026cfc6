"""Measures two sides in turns, round by round, until their difference is decided or the time is spent."""

import time
from collections.abc import Callable, Sequence
from itertools import groupby

from assay.analyse.blocks import decided_cases, detectable_difference, ratio_deviations
from assay.model.base import PrintLine
from assay.model.study.blocks import Blocks
from assay.model.units import about_duration, about_number
from assay.plan.schedule import RepeatKey
from assay.run.analysis import rows_up_to_round
from assay.run.settle import repeats_time_s
from assay.store import RunStore

Execute = Callable[[Sequence[RepeatKey]], bool]
"""Executes repeats; returns whether nothing has stopped them."""
OnSettled = Callable[[str, int], None]
"""Called with a case, and how many fewer repeats it gets."""


LARGEST_USEFUL_SHARE = 1.0
"""Differences from this share on are found without any measurement tool."""
REPORT_FACTOR = 1.25
"""The detectable difference is printed again if it has changed by this factor."""


def run_rounds(
    store: RunStore,
    blocks: Blocks,
    jobs: Sequence[RepeatKey],
    execute: Execute,
    on_settled: OnSettled,
    print_line: PrintLine,
) -> None:
    """Execute rounds until each pair of cases is decided, the time is spent, or the user stops.

    Decisions depend only on what is stored and on the clock, so that a stopped run goes on as it would have.

    Args:
        store: The run.
        blocks: When results are evaluated, and when the run ends.
        jobs: Pending repeats, in the order of execution: round by round.
        execute: Executes the repeats of one round.
        on_settled: Called for what need not be measured any more.
        print_line: Prints which difference can be found in the time, as soon as the rounds show it.
    """
    begun, done = (
        time.monotonic() - repeats_time_s(store),
        max((attempt.repeat for attempt in store.attempts()), default=0),
    )
    evaluation = _Evaluation(store, blocks, on_settled, print_line)
    if jobs and jobs[0][1] > done and done in blocks.looks:
        # The workbench may have died between that round and its evaluation.
        evaluation.look(done, 0)
    for number, of_round in groupby(jobs, key=lambda job: job[1]):
        started = time.monotonic()
        if not execute(list(of_round)):
            return
        now = time.monotonic()
        # Another round as long as this one would end too late.
        late = number >= blocks.min_rounds and 2 * now - started - begun > blocks.seconds
        # Rounds that are completed later were evaluated before.
        if number >= done and (late or number in blocks.looks):
            more = int((blocks.seconds - (now - begun)) / max(now - started, 1e-3))
            evaluation.look(number, 0 if late else more)
        if late:
            _end(store, f"the time is over: {about_duration(now - begun)}, {number} rounds", on_settled)
        if len(store.settled()) == store.case_count():
            return


class _Evaluation:
    """Decides which cases are known well enough, and prints which difference can be found in the rest of the time."""

    def __init__(self, store: RunStore, blocks: Blocks, settled: OnSettled, print_line: PrintLine) -> None:
        self._store, self._blocks, self._settled, self._print_line = store, blocks, settled, print_line
        self._printed_share = 0.0

    def look(self, number: int, more: int) -> None:
        """Evaluate after round `number`, with time for `more` further rounds."""
        rows, blocks, settled = rows_up_to_round(self._store, number), self._blocks, self._store.settled()
        open_cases = [case for case in self._store.cases() if case.id not in settled]
        decided = decided_cases(open_cases, rows, blocks)
        for case, why in decided.items():
            self._settled(case, self._store.settle(case, why))
        undecided = [case.id for case in open_cases if case.id not in decided]
        differ = sorted(ratio_deviations(rows, blocks, undecided))
        if not more or not differ:
            return
        rounds, count = min(number + more, blocks.max_rounds), len(rows) // 2
        ends = (detectable_difference(one, rounds, count, len(blocks.looks)) for one in (differ[0], differ[-1]))
        # A smaller difference counts as equal.
        low, high = (max(blocks.within, one) for one in ends)
        if self._printed_share and 1 / REPORT_FACTOR < high / self._printed_share < REPORT_FACTOR:
            return
        self._printed_share = high
        prefix = f"after {number} rounds: in {about_duration(blocks.seconds)}"
        if low >= LARGEST_USEFUL_SHARE:
            self._print_line(f"{prefix} no difference below a factor of 2 can be detected: the rounds vary too much")
            return
        least, most = about_number(100 * low, 2), about_number(100 * min(high, LARGEST_USEFUL_SHARE), 2)
        worst = "" if least == most else f", in the row that varies most {most} %"
        self._print_line(f"{prefix} a difference of about {least} % or more can be detected{worst}")


def _end(store: RunStore, why: str, settled: OnSettled) -> None:
    known = store.settled()
    for case in store.cases():
        if case.id not in known:
            settled(case.id, store.settle(case.id, why, known=False))
