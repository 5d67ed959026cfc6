"""Repeats that were added to a run for what it had left undecided."""

from assay.model.frozen import Frozen


class Settling(Frozen):
    """Repeats added at once, by `assay run RUN --resume --settle`.

    Attributes:
        repeats: Case id -> number of its last repeat.
        seconds: All of them, with what comes before and after, end within so many seconds of work.
        after: So many of these seconds are kept for what comes after the last repeat.
        begun_at: Seconds since 1970.
        done: None of them is asked for any more.
    """

    repeats: dict[str, int]
    seconds: float
    after: float
    begun_at: float
    done: bool = False
