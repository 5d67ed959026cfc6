"""Rules about figures that one output prints twice, or that its other figures give: sums, means, rates in two units."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import combinations
from typing import NamedTuple

from assay.model.units import about_number
from assay.rooms.importers.audit.facts import MachineFacts
from assay.rooms.importers.audit.findings import Item, Rule, RuleFinding, by_output, half_digit, number
from assay.rooms.importers.work.figure_units import UNITS, convert
from assay.rooms.importers.work.results import Figure

MIN_ROW = 5
"""Fewest rates of a row, and digits of each, that another row has by no chance."""
MIN_DIGITS = 8
"""Fewest digits of times and rates together that two different operations share by no chance."""
PAIR_SHARE, WARP_SHARE, SCORE_SHARE = Decimal("0.02"), Decimal("0.01"), Decimal("0.001")
_THREAD = re.compile(r"(total|read|write)\.thread\.[0-9]+\.(bytes|ios|rate|iops)")
_BANDWIDTHS = ("ior-easy-write", "ior-hard-write", "ior-easy-read", "ior-hard-read")
_METADATA = (
    *("mdtest-easy-write", "mdtest-hard-write", "find", "mdtest-easy-stat", "mdtest-hard-stat"),
    *("mdtest-easy-delete", "mdtest-hard-read", "mdtest-hard-delete"),
)
"""The phases that count in IO500's score (src/main.c): the geometric mean of each kind, and of the two means."""


_WARP_MIX = ("DELETE", "GET", "PUT", "STAT")
"""What warp's mixed run does; less may be listed where some are not done, or were left out."""


class _Pair(NamedTuple):
    """Names of a rate in operations, and of the same rate in bytes."""

    operations: str
    rate: str


_PAIRS = {
    "CrystalDiskMark": (_Pair("iops", "rate"),),
    "sysbench": (_Pair("reads/s", "read, MiB/s"), _Pair("writes/s", "written, MiB/s")),
    "diskspd": tuple(_Pair(f"{part}.iops", f"{part}.rate") for part in ("total", "read", "write")),
    "elbencho": tuple(_Pair(f"IOPS.{end}", f"Throughput MiB/s.{end}") for end in ("first", "last")),
}
"""Tool -> the rates that it prints twice: each is divided by the same time."""


def _share(figure: Figure) -> Decimal:
    """Return by which share a printed number may be off because it is rounded."""
    value = number(figure.text)
    return half_digit(figure.text) / abs(value) if value else Decimal(0)


def operations_by_size(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield results whose bytes a second are not their operations a second times the size of one."""
    for item in items:
        size, measured = item.parameter("record_size"), item.measured
        if item.output.table is not None and size and measured and measured.iops and measured.throughput:
            computed, stated = Decimal(measured.iops) * size, Decimal(measured.throughput)
            if abs(computed - stated) > PAIR_SHARE * max(computed, stated):
                yield _unlike_rates(item, f"{measured.iops:g}", size, computed, stated)
        for pair in _PAIRS.get(item.output.file.tool, ()) if size and item.measured else ():
            operations, rate = item.figures.get(pair.operations), item.figures.get(pair.rate)
            if operations is None or rate is None or not number(operations.text) or not number(rate.text):
                continue
            computed, stated = number(operations.text) * size, convert(rate.text, rate.unit)
            # Files smaller than a record, and their ends, make operations smaller: bytes may be fewer there.
            slack = PAIR_SHARE + _share(operations) + _share(rate)
            is_short = stated < computed and item.output.file.tool == "elbencho" and _has_ends(item, size)
            if abs(computed - stated) > slack * max(computed, stated) and not is_short:
                yield _unlike_rates(item, operations.text, size, computed, stated)
                break


def _unlike_rates(item: Item, operations: str, size: int, computed: Decimal, stated: Decimal) -> RuleFinding:
    words = [f"{about_number(float(rate), 4)} B/s" for rate in (computed, stated)]
    text = f"{operations} operations/s of {size:,} bytes are {words[0]}, and {words[1]} are printed"
    return RuleFinding(item, text, {"computed": f"{computed:.0f}", "stated": f"{stated:.0f}"})


def _has_ends(item: Item, size: int) -> bool:
    file_size = item.parameter("file_size")
    return not file_size or bool(file_size % size)


def sum_of_threads(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield totals of diskspd that are not the sum of its threads."""
    for item in items:
        if item.output.file.tool != "diskspd":
            continue
        parts = defaultdict[tuple[str, str], list[Figure]](list)
        for name, figure in item.figures.items():
            if found := _THREAD.fullmatch(name):
                parts[found[1], found[2]].append(figure)
        for (of, what), figures in parts.items():
            whole = item.figures.get(f"{of}.{what}")
            if whole is None or len(figures) != item.parameter("lanes"):
                # Outputs in documents often have some threads of many.
                continue
            if _is_unlike_sum(whole, figures):
                text = f"{of} {what}: {whole.text} is printed, and {_sum(figures)} is the sum of {len(figures)} threads"
                yield RuleFinding(item, text, {"stated": whole.text, "computed": str(_sum(figures))})
                break


def _sum(figures: Sequence[Figure]) -> Decimal:
    return sum((number(figure.text) for figure in figures), Decimal(0))


def _is_unlike_sum(whole: Figure, parts: Sequence[Figure], share: Decimal = Decimal(0)) -> bool:
    """Return whether a figure is not the sum of others of its unit, within the printed rounding and a share."""
    stated = number(whole.text)
    slack = sum((half_digit(one.text) for one in (*parts, whole)), share * abs(stated))
    return abs(_sum(parts) - stated) > slack


def total_of_operations(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield totals of a mixed run of warp that are not the sum of its operations."""
    for members in by_output([item for item in items if item.output.file.tool == "warp"]):
        whole = next((item for item in members if item.result.operation == "object_mix"), None)
        if whole is None:
            continue
        for name in ("Average.objects", "Average"):
            total = whole.figures.get(name)
            parts = [item.figures[name] for item in members if item is not whole and name in item.figures]
            if total is None or not parts or any(one.unit != total.unit for one in parts):
                continue
            is_whole = _sum(parts) > number(total.text) or len(members) > len(_WARP_MIX)
            if is_whole and _is_unlike_sum(total, parts, WARP_SHARE):
                text = f"{total.text} {total.unit} is printed, and {_sum(parts)} is the sum of its operations"
                yield RuleFinding(whole, text, {"stated": total.text, "computed": str(_sum(parts))})
                break


def mean_within_extremes(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield results of mdtest whose mean rate is not between its least and its greatest one."""
    for item in items:
        found = [item.figures.get(name) for name in ("Min", "Mean", "Max")]
        known = [figure for figure in found if figure is not None]
        if item.output.file.tool != "mdtest" or len(known) < len(found):
            continue
        low, mean, high = (number(figure.text) for figure in known)
        slack = half_digit(known[1].text) * 2
        if not low - slack <= mean <= high + slack:
            text = f"a mean of {known[1].text} is not between {known[0].text} and {known[2].text}"
            yield RuleFinding(item, text, {"mean": known[1].text})


def score_of_phases(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield scores of IO500 that are not the geometric means of the phases."""
    for members in by_output([item for item in items if item.output.file.tool == "IO500"]):
        rates = {item.result.name.lower(): item.figures.get("rate") for item in members}
        score = next((item for item in members if item.result.name == "SCORE"), None)
        if score is None:
            continue
        means: dict[str, Decimal] = {}
        for name, phases in (("bandwidth", _BANDWIDTHS), ("iops", _METADATA)):
            found = [figure for phase in phases if (figure := rates.get(phase)) is not None and number(figure.text)]
            if len(found) == len(phases):
                means[name] = _geometric_mean([number(figure.text) for figure in found])
        if len(means) == 2:
            means["total"] = _geometric_mean(list(means.values()))
        for name, computed in means.items():
            stated = score.figures[name]
            if abs(computed - number(stated.text)) > SCORE_SHARE * computed + half_digit(stated.text):
                text = f"the score's {name} is {stated.text}, and the geometric mean of the phases {computed:.6f}"
                yield RuleFinding(score, text, {"stated": stated.text, "computed": f"{computed:.6f}"})
                break


def _geometric_mean(values: Sequence[Decimal]) -> Decimal:
    return (sum((value.ln() for value in values), Decimal(0)) / len(values)).exp()


def operations_alike(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield two operations of one output whose rates and times are the same, digit by digit."""
    for members in by_output(items):
        seen: dict[tuple[tuple[str, str], ...], Item] = {}
        for item in members:
            key = tuple((name, figure.text) for name, figure in item.figures.items() if figure.unit)
            measured = [figure for figure in item.figures.values() if _is_measured(figure)]
            if item.measured is None or len({_digits(one.text) for one in measured}) < 2:
                continue
            first = seen.setdefault(key, item)
            shared = sum(len(_digits(one.text)) for one in measured)
            if first.result.operation != item.result.operation and shared >= MIN_DIGITS:
                text = f"rates and times are those of {first.result.name}, digit by digit"
                yield RuleFinding(item, text, {"digits": shared}, (first,))


def _is_measured(figure: Figure) -> bool:
    unit = UNITS.get(figure.unit)
    return unit is not None and unit.quantity in ("bytes/s", "1/s", "ns")


def _digits(text: str) -> str:
    return re.sub(r"\D", "", text).strip("0")


def rows_alike(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield rows of iozone's automatic mode that have all rates of another row."""
    for members in by_output([item for item in items if item.output.file.tool == "iozone"]):
        rows = defaultdict[int, list[Item]](list)
        for item in members:
            if item.result.line and item.result.figures and not item.is_throughput_test():
                rows[item.result.line].append(item)
        for first, other in _same_rows(rows):
            text = f"all {len(other)} rates of the row are those of line {first[0].line}, digit by digit"
            yield RuleFinding(other[0], text, {"rates": len(other)}, (first[0],))


def _same_rows(rows: Mapping[int, list[Item]]) -> Iterator[tuple[list[Item], list[Item]]]:
    seen: dict[tuple[tuple[str, str], ...], list[Item]] = {}
    for row in rows.values():
        key = tuple((item.result.name, item.result.figures[-1].text) for item in row)
        if sum(len(_digits(text)) >= MIN_ROW for _, text in key) < MIN_ROW:
            continue
        first = seen.setdefault(key, row)
        if first is not row:
            yield first, row


_PERCENTILE_NAMES = (
    re.compile(r"(?P<of>)percentile (?P<percent>[0-9.]{1,20})"),
    re.compile(r"(?P<of>.{1,60})\.(?P<percent>[0-9.]{1,20})(?:%|th)"),
    re.compile(r"(?P<of>.{1,60} lat % us)\.(?P<percent>[0-9.]{1,20})"),
    re.compile(r"(?P<of>.{0,60}latency\.)p(?P<percent>[0-9.]{1,20})"),
)
"""How sockperf, warp, elbencho and others name percentiles in their figures."""


def named_percentiles(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield printed percentiles of which a higher one is smaller."""
    for item in items:
        groups = defaultdict[str, list[tuple[Decimal, Decimal, Figure]]](list)
        for name, figure in item.figures.items():
            found = next((one for pattern in _PERCENTILE_NAMES if (one := pattern.fullmatch(name))), None)
            unit = UNITS.get(figure.unit)
            if found and found["percent"].count(".") < 2 and found["percent"] != "." and unit and unit.quantity == "ns":
                groups[found["of"]].append((Decimal(found["percent"]), convert(figure.text, figure.unit), figure))
        for values in groups.values():
            values.sort(key=lambda value: value[0])
            for lower, upper in combinations(values, 2):
                if lower[1] > upper[1] + half_digit(upper[2].text) * UNITS[upper[2].unit].factor:
                    low, high = (f"{one[2].text} {one[2].unit}" for one in (lower, upper))
                    text = f"percentile {upper[0]}, {high}, is below percentile {lower[0]}, {low}"
                    yield RuleFinding(item, text, {"lower": low, "upper": high})
                    break


PRINTED_RULES: tuple[Rule, ...] = (
    Rule(
        "named-percentiles",
        "error",
        "A higher percentile of sockperf, warp or elbencho is smaller than a lower one.",
        "order statistics, within the printed rounding",
        named_percentiles,
    ),
    Rule(
        "operations-by-size",
        "error",
        "Bytes a second are not operations by their size (CrystalDiskMark, diskspd, elbencho, sysbench, tables).",
        "both rates are over the same time; 2 % and the printed rounding are allowed",
        operations_by_size,
    ),
    Rule(
        "sum-of-threads",
        "error",
        "A total of diskspd is not the sum of its threads.",
        "arithmetic, within the printed rounding",
        sum_of_threads,
    ),
    Rule(
        "total-of-operations",
        "error",
        "The total of a mixed run of warp is not the sum of its operations.",
        "arithmetic, within the printed rounding and 1 %",
        total_of_operations,
    ),
    Rule(
        "mean-within-extremes",
        "error",
        "A mean rate of mdtest is not between the least and the greatest one.",
        "order statistics",
        mean_within_extremes,
    ),
    Rule(
        "score-of-phases",
        "error",
        "The score of IO500 is not the geometric mean of its phases.",
        "IO500's src/main.c; 0.1 % and the printed rounding are allowed",
        score_of_phases,
    ),
    Rule(
        "operations-alike",
        "warning",
        "Two operations of an output have the same rates and times, digit by digit.",
        "two measurements do not agree in eight digits",
        operations_alike,
    ),
    Rule(
        "rows-alike",
        "error",
        "A row of iozone's automatic mode has all rates of another row.",
        "two measurements do not agree in five rates of five digits or more",
        rows_alike,
    ),
)
"""In the order in which they are documented."""
