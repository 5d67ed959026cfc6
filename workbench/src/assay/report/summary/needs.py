"""The needs of a study on the first page: a line for each need, and a sentence for each target."""

from collections.abc import Sequence

from assay.analyse.needs.answers import NeedAnswer
from assay.analyse.needs.outcome import NeedOutcome, NeedStatus
from assay.model.result.summary_page import SummaryLine
from assay.model.study.needs import TIME, TargetNeed
from assay.model.units import about_latency, about_number, about_size
from assay.report import numbers
from assay.report.summary.sentences import lower_bound_text
from assay.report.view import RunView


def need_lines(view: RunView, found: Sequence[NeedAnswer]) -> tuple[SummaryLine, ...]:
    """Return a line for each need: what each target reaches, and whether that is enough."""
    return tuple(
        SummaryLine(
            label=numbers.capitalized(need_words(need)),
            points=max(len(answer.results) for answer in found if answer.need is need),
            values={
                target: _cell(answer, view)
                for target in view.targets
                for answer in found
                if answer.need is need and answer.target == target
            },
        )
        for need in view.run.needs
        if any(answer.need is need for answer in found)
    )


def needs_sentence(view: RunView, found: Sequence[NeedAnswer]) -> str:
    """Return a sentence for each target on which needs it meets; empty without needs or without results."""
    parts = [_of_target(target, mine) for target in view.targets if (mine := [a for a in found if a.target == target])]
    return " ".join(parts)


def need_words(need: TargetNeed) -> str:
    """Return a need in words: `read at least 500 MB/s`, `fsync p99 at most 10 ms`."""
    if need.measure == TIME:
        return f"wall clock of {need.workload or 'each command'} at most {_amount(need, need.limit)}"
    name = need.operation.replace("_", " ")
    where = f" ({need.workload})" if need.workload else ""
    if need.is_upper_limit:
        return f"{name} {need.measure}{where} at most {_amount(need, need.limit)}"
    return f"{name}{where} at least {_amount(need, need.limit)}"


def _amount(need: TargetNeed, value: float) -> str:
    """Return a value with the unit of the need."""
    if need.measure == TIME:
        return numbers.seconds(value / 1e9)
    if need.is_upper_limit:
        return about_latency(value)
    return f"{about_number(value)} IOPS" if need.measure == "iops" else f"{about_size(value)}/s"


def _of_target(target: str, found: Sequence[NeedAnswer]) -> str:
    by = {other_needs: [answer for answer in found if answer.status is other_needs] for other_needs in NeedStatus}
    if len(by[NeedStatus.YES]) == len(found):
        every = "the need" if len(found) == 1 else "both needs" if len(found) == 2 else f"all {len(found)} needs"
        return f"Yes: {target} meets {every}{_margin(found)}."
    missed = [f"{need_words(one.need)}, {_short(one)}" for one in by[NeedStatus.NO]]
    unknown = [f"{need_words(one.need)}, {_short(one)}" for one in by[NeedStatus.UNDECIDED]]
    if missed:
        rest = f" Undecided: {'; '.join(unknown)}." if unknown else ""
        return f"No: {target} does not meet: {'; '.join(missed)}.{rest}"
    others = len(by[NeedStatus.YES])
    other_needs = f" It meets the other {'need' if others == 1 else f'{others} needs'}." if others else ""
    return f"Undecided for {target}: {'; '.join(unknown)}.{other_needs}"


def _margin(found: Sequence[NeedAnswer]) -> str:
    """Return the smallest margin by which the needs are met."""
    least = min(answer.margin for answer in found)
    return f", {'each ' if len(found) > 1 else ''}with a margin of at least {lower_bound_text(least)}"


def _short(answer: NeedAnswer) -> str:
    """Return what was measured, or why nothing is known."""
    one = answer.worst.outcome
    if one.value is None:
        return one.why
    return f"measured {_amount(answer.need, one.value)}{_interval(answer.need, one)}"


def _cell(answer: NeedAnswer, view: RunView) -> str:
    """Return a table cell: `yes: 612 MB/s (598 to 630)`; with several points, that of the worst one."""
    row, one = answer.worst
    what = "" if one.value is None else f"{_amount(answer.need, one.value)}{_interval(answer.need, one)}"
    why = f", {one.why}" if one.why and one.value is not None else one.why
    at = view.point_of(row)
    where = f", {at}" if len(answer.results) > 1 and at else ""
    met = sum(each.outcome.status is NeedStatus.YES for each in answer.results)
    count = f" ({met} of {len(answer.results)} combinations)" if len(answer.results) > 1 else ""
    return f"{one.status}{count}: {what}{why}{where}"


def _interval(need: TargetNeed, one: NeedOutcome) -> str:
    if one.low is None or one.high is None:
        return ""
    low, high = _amount(need, one.low), _amount(need, one.high)
    if low == high:
        return ""
    if need.measure == TIME:
        return f" ({low} to {high})"
    unit = low.rpartition(" ")[2]
    return f" ({low.removesuffix(f' {unit}') if high.endswith(f' {unit}') else low} to {high})"
