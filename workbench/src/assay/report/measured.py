"""What `assay measure` prints: a table of at most 80 columns for each place, and a picture that compares them."""

from collections.abc import Iterator, Sequence

from assay.analyse.scaling import BINDS
from assay.analyse.statistics.significance import t_quantile
from assay.model.result.result import Estimate, Row
from assay.model.result.verdict import SOUND, Verdict
from assay.report import numbers
from assay.report.first.groups import limit_on, reached_limits
from assay.report.view import View

WIDTH = 80
SURE = 0.10
"""An interval that reaches further to either side is worth a word."""
MISSED = 0.05
"""How often one of the intervals, or more, may not hold its number."""
NOISY = 0.995
"""From so wide an interval on, in shares of the median, a percentage says nothing."""
_BAR = 26
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_SEQUENTIAL = ("write", "read", "rewrite", "reread")
_SMALL = 64 << 10
_PERCENTILES = ("p50", "p99", "p99.9")
_WITHOUT = 53
"""Columns of a line without latencies."""


def work_words(row: Row) -> str:
    """Such as `random read  4 KiB x32`."""
    sizes = [row.case.parameters.known(name) for name in ("record_size", "object_size")]
    size = next((numbers.size(value) for value in sizes if isinstance(value, int)), "")
    depth = row.case.parameters.known("queue_depth")
    return f"{_operation(row):<13}{size:>8}{f' x{depth}' if depth else '':<5}"


def _operation(row: Row) -> str:
    """What is done; of a file from its beginning to its end it is `seq`."""
    title = numbers.operation_title(row.operation).lower()
    return f"seq {title}" if title.split(" ", 1)[0] in _SEQUENTIAL else title


def _rate(row: Row) -> tuple[str, Estimate | None]:
    """Small records as operations per second, large ones as MB/s, with the estimate that is shown."""
    size = row.case.parameters.known("record_size") or row.case.parameters.known("object_size") or 0
    counted = row.counted or (isinstance(size, int) and size <= _SMALL)
    value = row.iops if counted else row.throughput
    if value is None:
        return numbers.NONE, None
    number = numbers.count(value.median) if counted and value.median >= 100 else None
    text = number or (numbers.significant(value.median) if counted else numbers.mb_per_s(value.median))
    return f"{text} {'/s  ' if counted else 'MB/s'}", value


def reach(value: Estimate | None, together: int) -> float | None:
    """As `sure_within`, of an estimate."""
    return None if value is None else sure_within(value.median, value.low, value.high, value.n, together)


def sure_within(median: float | None, low: float | None, high: float | None, n: int, together: int) -> float | None:
    """How far an interval goes from the median, as a share of it, so that all of them hold at once; None without one.

    A 95 % interval by itself misses one number in twenty, and a table has more than that. It is widened as Student's
    quantile is by Bonferroni's correction.

    Args:
        median: The number.
        low: Lower end of its own 95 % interval.
        high: Upper end of it.
        n: Repeats.
        together: How many numbers are told at once.
    """
    if low is None or high is None or not median or n < 2:
        return None
    wider = t_quantile(1 - MISSED / 2 / max(1, together), n - 1) / t_quantile(1 - MISSED / 2, n - 1)
    return wider * max(high - median, median - low) / median


def _share(value: float | None) -> str:
    return numbers.NONE if value is None else f"± {100 * value:.0f} %" if value < NOISY else "> ± 100 %"


def table(rows: Sequence[Row], together: int, width: int = WIDTH) -> Iterator[str]:
    """A line for each result of a place: rate, how sure it is, latencies, and the verdict if it says more than that.

    Args:
        rows: Of the place.
        together: Results of all places, whose intervals hold at once.
        width: Columns of the terminal; the further percentiles are left out where they have no room.
    """
    names = _PERCENTILES[: max(0, (width - _WITHOUT) // 9)]
    yield f"  {'':<26} {'rate':>13} {'':>9}{''.join(f' {name:>8}' for name in names)}"
    for row in rows:
        rate, value = _rate(row)
        latencies = "".join(f" {_latency(row, name):>8}" for name in names)
        yield f"  {work_words(row)} {rate:>13} {_share(reach(value, together)):>9}{latencies}".rstrip()
        if not SOUND.issuperset(row.verdicts):
            worst = next(verdict for verdict in row.verdicts if verdict not in SOUND)
            finding = next((item for item in row.findings if item.verdict is worst), None)
            yield f"      {worst}: {finding.text}" if finding is not None else f"      {worst}"


def _latency(row: Row, name: str) -> str:
    found = row.percentile(name)
    return numbers.latency(found.value) if found is not None and found.value is not None else numbers.NONE


def limits(rows: Sequence[Row], view: View) -> Iterator[str]:
    """What binds: the ceilings that results come close to, a line for each; not those that a control group holds."""
    held = reached_limits(view)
    groups: dict[str, list[tuple[float, str]]] = {}
    for row in rows:
        if (
            limit_on(row, held, view) is None
            and row.binding is not None
            and row.binding.share >= BINDS
            and SOUND.issuperset(row.verdicts)
        ):
            groups.setdefault(row.binding.name, []).append((row.binding.share, " ".join(work_words(row).split())))
    for name, found in groups.items():
        best = max(share for share, _ in found)
        yield f"  limited by {name} (up to {numbers.share(best)} of it): {', '.join(words for _, words in found)}"


def picture(groups: Sequence[tuple[str, Sequence[Row]]], plain: bool = False, width: int = WIDTH) -> Iterator[str]:
    """Bars of the results with most operations in flight, one below the other for the places.

    Args:
        groups: Name of a place, and its rows.
        plain: The terminal has no letters but ASCII.
        width: Columns of the terminal.
    """
    deepest = max((row.case.parameters.known("queue_depth") or 0 for _, rows in groups for row in rows), default=0)
    shown: dict[str, list[tuple[str, Row, Estimate]]] = {}
    for name, rows in groups:
        for row in rows:
            _, value = _rate(row)
            if (row.case.parameters.known("queue_depth") or 0) == deepest and value is not None:
                shown.setdefault(" ".join(work_words(row).split()), []).append((name, row, value))
    wide = min(22, max((len(name) for name, _ in groups), default=0))
    room = max(4, min(_BAR, width - wide - 22))
    for words, found in shown.items():
        greatest = max(value.median for _, _, value in found)
        yield f"  {words}"
        for name, row, value in found:
            bar = _drawn(value.median / greatest if greatest else 0.0, plain, room)
            yield f"    {name[:wide]:<{wide}} {bar:<{room}} {_rate(row)[0].strip()}".rstrip()


def _drawn(share: float, plain: bool, room: int) -> str:
    """A bar; the least that is not nothing has a mark."""
    if plain:
        return "#" * max(1, round(share * room))
    eighths = max(1, round(share * room * 8))
    return "█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")


def how_sure(rows: Sequence[Row]) -> str:
    """One sentence on how well the numbers are known, from their intervals."""
    known = [(found, row) for row in rows if (found := reach(_rate(row)[1], len(rows))) is not None]
    if not known:
        return "There are no intervals: too few repeats."
    unsure = [row for found, row in known if found > SURE]
    widest, row = max(known, key=lambda pair: pair[0])
    where = f"{' '.join(work_words(row).split())} on {row.case.target}"
    far = f"± {100 * widest:.0f} %" if widest < NOISY else "more than ± 100 %"
    if not unsure:
        within = f"All {len(known)} numbers are within ± {100 * SURE:.0f} %"
        return f"{within} (simultaneous 95 % intervals; the widest is {far}: {where})."
    count = f"{len(unsure)} of {len(known)} numbers are not known within ± {100 * SURE:.0f} %"
    together = f"simultaneous 95 % intervals; the widest is {far}: {where}"
    return f"Uncertain: {count} ({together}). Measure longer, with --time."


def doubtful(rows: Sequence[Row]) -> int:
    """How many results have a verdict besides ok and unstable."""
    return sum(not SOUND.issuperset(row.verdicts) or row.verdict is Verdict.INCOMPLETE for row in rows)
