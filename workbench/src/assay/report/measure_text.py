"""The output of `assay measure`: a table of at most 80 columns for each place, and bars that compare the places."""

from collections.abc import Iterator, Sequence

from assay.analyse.scaling import BINDING_SHARE
from assay.analyse.statistics.significance import t_quantile
from assay.model.result.result import Estimate, ResultRow
from assay.model.result.verdict import OWN_SPEED
from assay.report import numbers
from assay.report.summary.control_groups import limit_of_row, reached_limits
from assay.report.view import RunView

WIDTH = 80
CERTAIN_REACH = 0.10
"""A number whose interval reaches further than this share to either side is called uncertain."""
FAMILY_ERROR = 0.05
"""Probability that at least one of the simultaneous intervals does not contain its true value."""
WIDEST_SHARE = 0.995
"""From this half width on, as a share of the median, an interval is printed as `> ± 100 %`."""
_BAR = 26
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_SEQUENTIAL = ("write", "read", "rewrite", "reread")
_SMALL = 64 << 10
_PERCENTILES = ("p50", "p99", "p99.9")
_WITHOUT = 53
"""Width of a line without latencies, in columns."""


def work_words(row: ResultRow) -> str:
    """Return what was measured, padded to a fixed width: `random read  4 KiB x32`."""
    sizes = [row.case.parameters.get_value(name) for name in ("record_size", "object_size")]
    size = next((numbers.size(value) for value in sizes if isinstance(value, int)), "")
    depth = row.case.parameters.get_value("queue_depth")
    return f"{_operation(row):<13}{size:>8}{f' x{depth}' if depth else '':<5}"


def _operation(row: ResultRow) -> str:
    """Return the operation in lower case; sequential ones begin with `seq`."""
    title = numbers.operation_title(row.operation).lower()
    return f"seq {title}" if title.split(" ", 1)[0] in _SEQUENTIAL else title


def _rate(row: ResultRow) -> tuple[str, Estimate | None]:
    """Return the rate in words and its estimate: operations per second for small records, MB/s for large ones."""
    size = row.case.parameters.get_value("record_size") or row.case.parameters.get_value("object_size") or 0
    counted = row.is_counted or (isinstance(size, int) and size <= _SMALL)
    value = row.iops if counted else row.throughput
    if value is None:
        return numbers.NONE, None
    number = numbers.count(value.median) if counted and value.median >= 100 else None
    text = number or (numbers.significant(value.median) if counted else numbers.mb_per_s(value.median))
    return f"{text} {'/s  ' if counted else 'MB/s'}", value


def estimate_reach(value: Estimate | None, number_count: int) -> float | None:
    """Return `simultaneous_reach` of an estimate."""
    return None if value is None else simultaneous_reach(value.median, value.low, value.high, value.n, number_count)


def simultaneous_reach(
    median: float | None, low: float | None, high: float | None, n: int, number_count: int
) -> float | None:
    """Return the reach of a simultaneous 95 % interval, as a share of the median; None without an interval.

    One 95 % interval in twenty misses its number, and a table may have more numbers than that. So the interval is
    widened by the ratio of Student's quantiles with and without Bonferroni's correction.

    Args:
        median: The number.
        low: Lower end of its own 95 % interval.
        high: Upper end of its own 95 % interval.
        n: The number of repeats.
        number_count: How many numbers are reported together.
    """
    if low is None or high is None or not median or n < 2:
        return None
    wider = t_quantile(1 - FAMILY_ERROR / 2 / max(1, number_count), n - 1) / t_quantile(1 - FAMILY_ERROR / 2, n - 1)
    return wider * max(high - median, median - low) / median


def _share(value: float | None) -> str:
    return numbers.NONE if value is None else f"± {100 * value:.0f} %" if value < WIDEST_SHARE else "> ± 100 %"


def result_lines(rows: Sequence[ResultRow], number_count: int, width: int = WIDTH) -> Iterator[str]:
    """Yield a line for each result of a place: rate, interval, latencies, and a verdict other than ok and unstable.

    Args:
        rows: The results of the place.
        number_count: The number of results of all places, for simultaneous intervals.
        width: Columns of the terminal; the higher percentiles are left out if there is no room.
    """
    names = _PERCENTILES[: max(0, (width - _WITHOUT) // 9)]
    yield f"  {'':<26} {'rate':>13} {'':>9}{''.join(f' {name:>8}' for name in names)}"
    for row in rows:
        rate, value = _rate(row)
        latencies = "".join(f" {_latency(row, name):>8}" for name in names)
        yield f"  {work_words(row)} {rate:>13} {_share(estimate_reach(value, number_count)):>9}{latencies}".rstrip()
        if not OWN_SPEED.issuperset(row.verdicts):
            worst = next(verdict for verdict in row.verdicts if verdict not in OWN_SPEED)
            finding = next((item for item in row.findings if item.verdict is worst), None)
            yield f"      {worst}: {finding.text}" if finding is not None else f"      {worst}"


def _latency(row: ResultRow, name: str) -> str:
    found = row.percentile(name)
    return numbers.latency(found.value) if found is not None and found.value is not None else numbers.NONE


def limit_lines(rows: Sequence[ResultRow], view: RunView) -> Iterator[str]:
    """Yield a line for each ceiling that results come close to, without results that a control group limits."""
    reached = reached_limits(view)
    groups: dict[str, list[tuple[float, str]]] = {}
    for row in rows:
        if (
            limit_of_row(row, reached, view) is None
            and row.limiting_ceiling is not None
            and row.limiting_ceiling.share >= BINDING_SHARE
            and OWN_SPEED.issuperset(row.verdicts)
        ):
            groups.setdefault(row.limiting_ceiling.name, []).append(
                (row.limiting_ceiling.share, " ".join(work_words(row).split()))
            )
    for name, found in groups.items():
        best = max(share for share, _ in found)
        yield f"  limited by {name} (up to {numbers.share(best)} of it): {', '.join(words for _, words in found)}"


def bar_lines(
    groups: Sequence[tuple[str, Sequence[ResultRow]]], plain: bool = False, width: int = WIDTH
) -> Iterator[str]:
    """Yield bars that compare the places, for the results at the greatest queue depth.

    Args:
        groups: Name and results of each place.
        plain: The terminal can show only ASCII.
        width: Columns of the terminal.
    """
    deepest = max((row.case.parameters.get_value("queue_depth") or 0 for _, rows in groups for row in rows), default=0)
    shown: dict[str, list[tuple[str, ResultRow, Estimate]]] = {}
    for name, rows in groups:
        for row in rows:
            _, value = _rate(row)
            if (row.case.parameters.get_value("queue_depth") or 0) == deepest and value is not None:
                shown.setdefault(" ".join(work_words(row).split()), []).append((name, row, value))
    name_width = min(22, max((len(name) for name, _ in groups), default=0))
    room = max(4, min(_BAR, width - name_width - 22))
    for words, found in shown.items():
        greatest = max(value.median for _, _, value in found)
        yield f"  {words}"
        for name, row, value in found:
            bar = _drawn(value.median / greatest if greatest else 0.0, plain, room)
            yield f"    {name[:name_width]:<{name_width}} {bar:<{room}} {_rate(row)[0].strip()}".rstrip()


def _drawn(share: float, plain: bool, room: int) -> str:
    """Return a bar, which is never empty."""
    if plain:
        return "#" * max(1, round(share * room))
    eighths = max(1, round(share * room * 8))
    return "█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")


def certainty_sentence(rows: Sequence[ResultRow]) -> str:
    """Return one sentence on how well the numbers are known, from their intervals."""
    known = [(found, row) for row in rows if (found := estimate_reach(_rate(row)[1], len(rows))) is not None]
    if not known:
        return "There are no intervals: too few repeats."
    unsure = [row for found, row in known if found > CERTAIN_REACH]
    widest, row = max(known, key=lambda pair: pair[0])
    where = f"{' '.join(work_words(row).split())} on {row.case.target}"
    far = f"± {100 * widest:.0f} %" if widest < WIDEST_SHARE else "more than ± 100 %"
    if not unsure:
        within = f"All {len(known)} numbers are within ± {100 * CERTAIN_REACH:.0f} %"
        return f"{within} (simultaneous 95 % intervals; the widest is {far}: {where})."
    count = f"{len(unsure)} of {len(known)} numbers are not known within ± {100 * CERTAIN_REACH:.0f} %"
    together = f"simultaneous 95 % intervals; the widest is {far}: {where}"
    return f"Uncertain: {count} ({together}). Measure longer, with --time."
