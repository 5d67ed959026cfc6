"""Rule about traces that were replayed at a recorded pace and fell behind it.

As in `assay.judge.rules`, a rule returns a finding, None (all is well) or `NotEvaluated`.
"""

from collections.abc import Sequence
from statistics import median

from assay.judge.answer import Answer, percent
from assay.model.result.evidence import Evidence
from assay.model.result.replays import ReplayResult
from assay.model.result.verdict import Finding, Verdict
from assay.model.study.commands import FAST, pace_factor
from assay.model.units import about_duration, about_number

LATE_SHARE = 0.05
"""A replay that ends later than it is due by more than this share of its time has fallen behind."""
STORAGE_SHARE = 0.5
"""If the operations took less than this share of the time by which a replay was late, the storage did not cause it."""


def late_replay(evidence: Evidence) -> Answer:
    """Find a trace that was to be replayed at its recorded times, or faster, and ended too late in a median repeat.

    The storage can have delayed it by no more than all its operations took together. If that is less than half of the
    delay, the engine or its machine was late.
    Source: docs/method.md, Replays.
    """
    pace = evidence.case.parameters.get_value("pace")
    repeats = [sample.replays for sample in evidence.usable if sample.replays]
    if not repeats or pace is None or pace == FAST:
        return None
    due_ns = repeats[0][0].recorded_ns / pace_factor(pace)
    late_ns = median(max(replay.elapsed_ns for replay in replays) for replays in repeats) - due_ns
    spent_ns = median(_spent(replays) for replays in repeats)
    if late_ns <= LATE_SHARE * due_ns:
        return None
    by_storage = spent_ns >= STORAGE_SHARE * late_ns
    text = (
        f"the replay ended {_time(late_ns)} after the {_time(due_ns)} that its pace takes, {percent(late_ns / due_ns)} "
        f"later; its operations took {_time(spent_ns)} together"
    )
    storage = "Replay it at a lower pace, or with pace: fast; latencies include the time by which operations were late."
    machine = "The engine or its machine was late: use fewer lanes, or stop what else runs there."
    return Finding(
        verdict=Verdict.UNSUSTAINED if by_storage else Verdict.CLIENT_BOUND,
        rule="late_replay",
        text=text,
        remedy=storage if by_storage else machine,
        numbers={"late_ns": late_ns, "due_ns": due_ns, "spent_ns": spent_ns},
    )


def _spent(replays: Sequence[ReplayResult]) -> int:
    """Return the time of all operations of the copy that ended last."""
    return max(replays, key=lambda replay: replay.elapsed_ns).io_ns


def _time(nanoseconds: float) -> str:
    return about_duration(nanoseconds / 1e9) if nanoseconds >= 1e9 else f"{about_number(nanoseconds / 1e6)} ms"
