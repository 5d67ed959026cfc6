"""The answer of a run to a profile."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from assay.analyse.needs.decide import decide
from assay.analyse.needs.outcome import NeedOutcome, NeedStatus, worst_status
from assay.analyse.usable import usable
from assay.model.result.result import ResultRow, RunAnalysis
from assay.model.result.sample import Sample
from assay.rooms.fit.model.profile import Profile, Requirement
from assay.rooms.fit.work.accelerators import busy_share, course_of
from assay.store import RunStore

Deliveries = Mapping[int, Sequence[tuple[int, int, int]]]
"""Repeat -> start and end of each interval in nanoseconds, and the bytes that were read in it."""


class FitAnswer(NamedTuple):
    """What a run shows about a profile.

    Attributes:
        outcomes: Each requirement, and what was measured of it.
        accelerators: Number of emulated accelerators.
        repeats: Repeats that count.
    """

    profile: Profile
    outcomes: tuple[tuple[Requirement, NeedOutcome], ...]
    accelerators: int
    repeats: int

    @property
    def answer(self) -> NeedStatus:
        """The answer to the profile's question: no if any requirement is not satisfied, yes if all are."""
        return worst_status(outcome.status for _, outcome in self.outcomes)


def fit_answer(
    profile: Profile, needs: list[Requirement], analysis: RunAnalysis, store: RunStore, accelerators: int
) -> FitAnswer:
    """Return what a run shows about the requirements.

    Args:
        profile: The profile.
        needs: Its requirements of such a place.
        analysis: The run, judged.
        store: The run.
        accelerators: Number of emulated accelerators.
    """
    rows = {row.operation: row for row in analysis.rows}
    course = _deliveries(store) if any(need.measure == "busy" for need in needs) else {}
    outcomes = []
    for need in needs:
        row, deliveries = rows.get(need.operation), course.get(need.operation, {})
        outcome = NeedOutcome(NeedStatus.UNDECIDED, why="nothing was measured")
        if row is not None:
            outcome = decide(need.limit, row, _busy_share(need, deliveries, accelerators))
        if outcome.value is None:
            outcome = outcome._replace(why=next((job.reason for job in analysis.jobs if job.reason), outcome.why))
        outcomes.append((need, outcome))
    return FitAnswer(profile, tuple(outcomes), accelerators, max(map(_repeats, rows.values()), default=0))


def _busy_share(
    need: Requirement, deliveries: Deliveries, accelerators: int
) -> Callable[[Sample], float | None] | None:
    """Return how busy accelerators are in a repeat; None for a requirement of another number."""
    accelerator = need.accelerator
    if accelerator is None:
        return None

    def share(sample: Sample) -> float | None:
        found = deliveries.get(sample.repeat)
        return busy_share(course_of(found, sample.elapsed_ns), accelerator, accelerators) if found else None

    return share


def _repeats(row: ResultRow) -> int:
    return len(usable(row.samples))


def _deliveries(store: RunStore) -> dict[str, Deliveries]:
    """Return operation -> repeat -> what was read in each interval of its phase."""
    from assay.run.series import run_rows
    from assay.terminal.output import note

    found: dict[str, dict[int, list[tuple[int, int, int]]]] = {}
    for row in run_rows(store, note):
        interval = row["start_ns"], row["end_ns"], row["read_bytes"] + row["object_bytes"]
        found.setdefault(row["operation"], {}).setdefault(row["repeat"], []).append(interval)
    return dict(found)
