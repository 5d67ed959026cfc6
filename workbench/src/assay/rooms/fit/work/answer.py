"""The answer of a run to a profile."""

from typing import NamedTuple

from assay.analyse.usable import usable
from assay.model.result.result import ResultRow, RunAnalysis
from assay.rooms.fit.model.answer import Answer, NeedOutcome, overall
from assay.rooms.fit.model.profile import Profile, Requirement
from assay.rooms.fit.work.accelerators import Delivery
from assay.rooms.fit.work.decide import Deliveries, decide
from assay.store import RunStore


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
    def answer(self) -> Answer:
        """The answer to the profile's question."""
        return overall([outcome.answer for _, outcome in self.outcomes])


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
    outcomes = tuple(
        (need, decide(need, rows.get(need.operation), course.get(need.operation), accelerators)) for need in needs
    )
    return FitAnswer(profile, outcomes, accelerators, max(map(_repeats, rows.values()), default=0))


def _repeats(row: ResultRow) -> int:
    return len(usable(row.samples))


def _deliveries(store: RunStore) -> dict[str, Deliveries]:
    """Return operation -> repeat -> what was read in each interval of its phase."""
    from assay.run.series import run_rows
    from assay.terminal.output import note

    found: dict[str, dict[int, list[Delivery]]] = {}
    for row in run_rows(store, note):
        seconds = (row["end_ns"] - row["start_ns"]) / 1e9
        delivery = Delivery(seconds, float(row["read_bytes"] + row["object_bytes"]))
        found.setdefault(row["operation"], {}).setdefault(row["repeat"], []).append(delivery)
    return {operation: dict(repeats) for operation, repeats in found.items()}
