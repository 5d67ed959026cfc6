"""Repeats that were added to a completed run, for undecided points."""

from assay.model.frozen import Frozen


class AddedRepeats(Frozen):
    """Repeats added by one `assay run RUN --resume --settle`.

    Attributes:
        repeats: Case id -> number of its last repeat.
        seconds: Limit for the time of all of them, including the work before and after.
        after: Part of `seconds` reserved for the work after the last repeat.
        begun_at: Seconds since 1970.
        done: None of them is requested any more.
    """

    repeats: dict[str, int]
    seconds: float
    after: float
    begun_at: float
    done: bool = False
