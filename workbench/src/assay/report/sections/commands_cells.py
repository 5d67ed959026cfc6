"""Words and cells of tables of commands."""

from assay.model.result.result import Estimate, ResultRow
from assay.report import numbers
from assay.report.document import Num
from assay.report.view import RunView

MIN_REPEATS = 3
"""With fewer repeats an interval is shown nowhere: that of two is as wide as a guess."""
_BITS_PER_MEGABIT = 1e6


def place_words(view: RunView, row: ResultRow) -> str:
    """Return a command and its target in words, with the point on the axes."""
    return f"{row.case.workload} on {row.case.target}{_at(view, row)}"


def _at(view: RunView, row: ResultRow) -> str:
    point = view.point_of(row)
    return f" ({point})" if point else ""


def time_words(value: Estimate) -> str:
    """Return a median in seconds, with its interval if there are enough repeats."""
    middle = numbers.seconds(value.median)
    if value.low is None or value.high is None or value.n < MIN_REPEATS:
        return middle
    return f"{middle} ({numbers.seconds(value.low)} to {numbers.seconds(value.high)})"


def megabits_cell(amount: float | None, seconds: float) -> Num:
    """Return bytes in some seconds as Mb/s."""
    if amount is None:
        return Num(numbers.NONE, None)
    value = 8 * amount / seconds / _BITS_PER_MEGABIT
    return Num(numbers.significant(value), value)


def size_cell(amount: float | None) -> Num:
    """Return a number of bytes; a dash for None."""
    return Num(numbers.NONE, None) if amount is None else Num(numbers.size(round(amount)), amount)


def share_cell(share: float | None) -> Num:
    """Return a share in percent; a dash for None."""
    return Num(numbers.NONE, None) if share is None else Num(f"{100 * share:.0f} %", share)
