"""Cases that are known well enough are not repeated any more."""

from collections.abc import Iterable

from assay.analyse.adaptive import case_reach
from assay.model.case import Case
from assay.model.repeats import Repeats
from assay.store import RunStore


def settle(store: RunStore, repeats: Repeats, case: Case) -> int:
    """Decide from what is stored of a case, and nothing else, whether it is known well enough, and record that.

    So a run that was killed and resumed decides as one that was not. A repeat that crashed and is executed again may
    undo the decision.

    Returns:
        How many repeats fewer the run has now; below 0 if they are more, always 0 if their number is fixed.
    """
    if repeats.within is None:
        return 0
    samples = store.samples(case.id)
    reach = case_reach(case, samples, repeats.least)
    if reach is None or reach > repeats.within:
        return store.settle(case.id, "")
    count = len({sample.repeat for sample in samples})
    return store.settle(case.id, f"known within {100 * reach:.2g} % after {count} repeats")


def settle_all(store: RunStore, repeats: Repeats, cases: Iterable[Case]) -> None:
    """Decide for every case: the workbench may have died between the last repeat of one and the decision."""
    if repeats.within is not None and store.outcome_counts():
        for case in cases:
            settle(store, repeats, case)
