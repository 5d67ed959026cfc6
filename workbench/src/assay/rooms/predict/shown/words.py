"""Sentences and tables on predictions."""

import itertools
from collections.abc import Sequence

from assay.analyse.growth.known_limits import KnownLimit
from assay.analyse.growth.predict import (
    MAX_FACTOR,
    MIN_POINTS,
    Basis,
    HostsNeeded,
    Prediction,
    Reason,
)
from assay.model.units import about_count, about_number, about_size
from assay.report import numbers
from assay.report.document import Block, Num, Paragraph, Table
from assay.report.growth.sentences import other_values
from assay.report.measure import Measure, measure_of
from assay.rooms.predict.work.predictions import SeriesPrediction
from assay.rooms.predict.work.questions import LimitOption
from assay.rooms.predict.work.series import Series

NO_WORDS = "`no`: the interval is wider than 25 % of what is predicted, or there is none."


def prediction_blocks(found: Sequence[SeriesPrediction]) -> list[Block]:
    """Return tables of totals and of the hosts that a rate takes, for the terminal."""
    named = len({one.series.workload for one in found}) > 1
    blocks: list[Block] = []
    totals = [item for one in found for item in one.rates]
    if totals and all(item.cause is Reason.FEW_COUNTS for item in totals):
        words = reason_words(max((one.series for one in found), key=_host_counts), Reason.FEW_COUNTS)
        blocks.append(Paragraph(f"no total can be predicted: {words}"))
    elif totals:
        columns = ("Work", "Hosts", "Total", "95 % interval", "Why")
        rows = [_total_cells(one.series, item, named) for one in found for item in one.rates]
        blocks.append(Table.of(columns, rows, numeric_titles=columns[1:3]))
    if any(one.needed for one in found):
        columns = ("Work", "Rate", "Hosts", "Between", "Why")
        rows = [_needed_cells(one.series, one.needed, named) for one in found if one.needed]
        blocks.append(Table.of(columns, rows, numeric_titles=columns[1:3]))
    if any(item.cause not in (None, Reason.FEW_COUNTS) for item in totals):
        blocks.append(Paragraph(NO_WORDS))
    return blocks


def left_out_limits(stated: Sequence[LimitOption], series: Sequence[Series]) -> list[str]:
    """Return a sentence for each limit that the user stated and a measured total exceeds, so that it is none."""
    lines = []
    for option in stated:
        for one in series:
            applies = option.is_counted == one.is_counted and option.target in (None, one.target)
            if applies and one.measured and not any(_is_same(limit, option.limit) for limit in one.limits):
                measure = measure_of(one.operation)
                greatest = measure.text(max(rate.value for rate in one.measured.values()))
                text = measure.text(option.limit.value)
                lines.append(f"--limit {text} is left out for {_title(one, named=False)}: {greatest} was measured")
    return list(dict.fromkeys(lines))


def _is_same(limit: KnownLimit, stated: KnownLimit) -> bool:
    return limit.name == stated.name and limit.value == stated.value


def _host_counts(series: Series) -> int:
    return len(series.rates)


def size_blocks(found: Sequence[SeriesPrediction]) -> list[Block]:
    """Return a table of rates with more data, for the terminal."""
    named = len({one.series.workload for one in found}) > 1
    columns = ("Work", "Data", "Rate", "95 % interval", "Why")
    rows = [_size_cells(one.series, item, named) for one in found for item in one.rates]
    blocks: list[Block] = [Table.of(columns, rows, numeric_titles=columns[1:3])]
    return [*blocks, Paragraph(NO_WORDS)] if any(item.cause for one in found for item in one.rates) else blocks


def _size_cells(series: Series, found: Prediction, named: bool) -> tuple[str | Num, ...]:
    amount = size_words(series, found.number)
    value, ends = _value_cells(series.operation, found)
    words = size_reason_words(series, found) if found.cause else _size_basis(series, found)
    return _title(series, named), Num(amount, found.number), value, ends, words


def size_words(series: Series, size: float) -> str:
    """Return a size of data with its unit: `1.5 GB`, `20,000 files`."""
    return about_size(size) if series.unit == "bytes" else f"{about_count(size)} {series.unit}"


def _size_basis(series: Series, found: Prediction) -> str:
    if found.basis is Basis.MEASURED:
        return "measured"
    if found.basis is Basis.LIMIT and found.limit is not None:
        return f"limit: {_limit_words(measure_of(series.operation), found.limit, 1)}"
    ends = size_words(series, min(series.rates)), size_words(series, max(series.rates))
    words = f"curves through the rates with {ends[0]} to {ends[1]}"
    return words if found.number <= max(series.rates) else f"{words}, if no other cache ends beyond"


def size_reason_words(series: Series, found: Prediction) -> str:
    """Return why there is no rate for a size of data, and what to measure; `found` is no answer."""
    count, cause = len(series.rates), found.cause
    sizes = f"{count or 'no'} {'size' if count == 1 else 'sizes'} measured"
    if cause is Reason.MAYBE_CACHED:
        unknown = f"{numbers.plural(series.unusable, 'result')} may be memory's, not the storage's"
        return f"{unknown}; measure {MIN_POINTS} sizes beyond all memory, with cache: direct or drop"
    if cause is Reason.FEW_COUNTS:
        return f"{sizes}; measure at least {MIN_POINTS}, such as file_size: [1GiB, 4GiB, 16GiB]"
    if cause is Reason.SEVERAL_RESULTS:
        return "several results have the same size of data, so that it is not known which belong together"
    if cause is Reason.TOO_FAR and series.rates:
        ends = size_words(series, min(series.rates)), size_words(series, max(series.rates))
        return f"only up to {MAX_FACTOR:.0f} times the sizes measured, {ends[0]} to {ends[1]}"
    if cause is Reason.NOISY:
        return "the repeats differ too much; measure with more repeats"
    if cause is Reason.NO_RATE:
        return "a repeat has a rate of 0, so that no curve fits"
    if cause is Reason.NO_CURVE_FITS:
        return "no curve describes the measured rates: look at what changes between the sizes"
    return f"curves that fit the measured rates differ here; measure with {size_words(series, found.number)}"


def _title(series: Series, named: bool) -> str:
    work = [series.workload] if named else []
    parts = [numbers.operation_title(series.operation), series.target, *work, *other_values(series.others)]
    return ", ".join(parts)


def _total_cells(series: Series, found: Prediction, named: bool) -> tuple[str | Num, ...]:
    value, ends = _value_cells(series.operation, found)
    words = reason_words(series, found.cause, found.measure) if found.cause else basis_words(series, found)
    return _title(series, named), Num(str(found.number), found.number), value, ends, words


def _value_cells(operation: str, found: Prediction) -> tuple[str, str]:
    """Return a rate, or `no`, and its interval."""
    measure, total = measure_of(operation), found.total
    value = "no" if found.cause or total is None else measure.text(total.value)
    if total is None or total.low == total.high:
        return value, ""
    return value, f"{measure.number(total.low)} to {measure.text(total.high)}"


def basis_words(series: Series, found: Prediction) -> str:
    """Return what a prediction rests on, and the known limit; `found` is an answer."""
    measure, limit = measure_of(series.operation), found.limit
    most = numbers.plural(max(series.rates), "host")
    if found.basis is Basis.MEASURED:
        return "measured"
    if found.basis is Basis.LIMIT and limit is not None:
        return f"limit: {_limit_words(measure, limit, found.number)}"
    if found.basis is Basis.LEVEL:
        known = f"; the known limit is higher: {_limit_words(measure, limit, found.number)}" if limit else ""
        return f"the total no longer grows with {most}{known or '; what limits it was not measured'}"
    known = f"; below the limit {_limit_words(measure, limit, found.number)}" if limit else "; no limit is known"
    return f"curves through the measured totals{known}"


def _limit_words(measure: Measure, limit: KnownLimit, hosts: int) -> str:
    how = f" ({limit.how})" if limit.how else ""
    return f"{limit.name} {measure.text(limit.at(hosts))}{how}"


def reason_words(series: Series, reason: Reason, measure_hosts: int | None = None) -> str:
    """Return why there is no answer, and what to measure.

    Args:
        series: The totals.
        reason: Why.
        measure_hosts: Number of hosts to measure; None if that would not help.
    """
    count, most = len(series.rates), max(series.rates, default=0)
    advice = f"; measure {numbers.plural(measure_hosts, 'host')}" if measure_hosts else ""
    match reason:
        case Reason.FEW_COUNTS:
            left = f", and {numbers.plural(series.unusable, 'result')} cannot be used" if series.unusable else ""
            have = f"{count or 'no'} {'number' if count == 1 else 'numbers'} of hosts measured{left}"
            return f"{have}; measure at least {MIN_POINTS}, such as hosts: [1, 2, 4, 8]"
        case Reason.NO_RATE:
            return "a repeat has a rate of 0, so that no curve fits"
        case Reason.SEVERAL_RESULTS:
            return "several results have the same number of hosts, so that it is not known which belong together"
        case Reason.TOO_FAR:
            return f"only up to {MAX_FACTOR:.0f} times the hosts measured, {min(series.rates)} to {most}{advice}"
        case Reason.NOISY:
            return "the repeats differ too much; measure with more repeats"
        case Reason.STILL_GROWS:
            grows = f"the total still grows with {numbers.plural(most, 'host')}"
            return f"{grows}, and where it ends was not measured{advice}"
        case Reason.NO_CURVE_FITS:
            return "no curve describes the measured totals: look at what changes between the numbers of hosts"
        case Reason.MAYBE_CACHED:
            return "the results may be memory's"
        case Reason.CURVES_DISAGREE:
            return f"curves that fit the measured totals differ here{advice}"


def _needed_cells(series: Series, found: HostsNeeded, named: bool) -> tuple[str | Num, ...]:
    measure = measure_of(series.operation)
    hosts = "no" if found.cause else "none" if found.is_out_of_reach else about_number(found.likely or 0)
    first = "" if found.fewest is None else str(found.fewest)
    last = "" if found.fewest is None else f" to {found.enough}" if found.enough else " or more"
    if found.fewest == found.enough:
        last = ""
    return _title(series, named), measure.text(found.rate), hosts, f"{first}{last}", needed_words(series, found)


def needed_words(series: Series, found: HostsNeeded) -> str:
    """Return why a rate takes so many hosts, is out of reach, or why that cannot be said."""
    measure, limit = measure_of(series.operation), found.limit
    if found.cause:
        advice = None
        if found.cause in (Reason.STILL_GROWS, Reason.CURVES_DISAGREE) and found.fewest:
            advice = next(count for count in itertools.count(found.fewest) if count not in series.rates)
        return reason_words(series, found.cause, advice)
    if found.is_out_of_reach:
        if limit is not None:
            return f"out of reach: {_limit_words(measure, limit, found.farthest)}"
        return f"out of reach with up to {found.farthest} hosts: at most {measure.text(found.highest)}"
    return "so many hosts reach it together" if found.likely != 1 else "one host reaches it"
