"""Looks up the results that references of a text name: each one number with its unit, and what speaks against it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from assay.model.money.amount import format_money
from assay.model.result.result import ResultRow
from assay.model.result.verdict import MEANINGS, Verdict
from assay.model.units import choices_hint
from assay.report import numbers
from assay.report.costs import target_costs
from assay.report.measure import measure_of
from assay.report.selection.decided import undecided_reasons
from assay.report.selection.options import ValueChoice
from assay.report.selection.properties import (
    OF_ROW,
    RunResult,
    how_to_choose,
    is_value,
    property_names,
    property_value,
    value_words,
)
from assay.report.selection.quantities import TIMES, quantity_of
from assay.report.view import RunView
from assay.rooms.paper.work.references import ReferenceCall, WrongReferenceError


@dataclass(frozen=True, slots=True)
class Quoted:
    """A number for a text.

    Attributes:
        text: The number with its unit.
        doubts: Why it should not stand there without a remark; empty if nothing speaks against it.
    """

    text: str
    doubts: tuple[str, ...] = ()


def quoted(call: ReferenceCall, views: Mapping[str, RunView]) -> Quoted:
    """Return the number that a reference names.

    Args:
        call: The reference.
        views: The runs of the paper by their names in it.

    Raises:
        WrongReferenceError: It names no result, or several.
    """
    kinds: dict[str, Callable[[ReferenceCall, Mapping[str, RunView]], Quoted]] = {
        "rate": _rate,
        "ratio": _ratio,
        "cost": _cost,
        **dict.fromkeys(("interval", "iops", *TIMES), _value),
    }
    if call.name not in kinds:
        raise WrongReferenceError(f"there is no reference `{call.name}`", choices_hint(call.name, kinds))
    return kinds[call.name](call, views)


def _rate(call: ReferenceCall, views: Mapping[str, RunView]) -> Quoted:
    _, row = _row(call, views)
    assert row.rate is not None
    return Quoted(measure_of(row.operation).text(row.rate.median), _doubts(row))


def _value(call: ReferenceCall, views: Mapping[str, RunView]) -> Quoted:
    """Return a quantity of a result by the name that tables have for it."""
    run, row = _row(call, views)
    result = RunResult(run, views[run], row)
    quantity = quantity_of(ValueChoice(name=call.name), [result])
    found = quantity.get(result)
    if found is None:
        raise WrongReferenceError(f"`{call.written}`: {quantity.missing}", "name another result or another value")
    unit = quantity.unit(result)
    if unit.dimension == "time":
        return Quoted(numbers.latency(found.value), _doubts(row))
    text = f"{numbers.significant(found.value / unit.scale)} {unit.name}"
    if not quantity.has_interval:
        return Quoted(text, _doubts(row))
    if found.low is None or found.high is None:
        raise WrongReferenceError(f"`{call.written}`: a single measurement has no interval", "write rate(...)")
    ends = " to ".join(numbers.significant(end / unit.scale) for end in (found.low, found.high))
    return Quoted(f"{text} ({ends})", _doubts(row))


def _doubts(row: ResultRow) -> tuple[str, ...]:
    where = f"{row.case.target}, {row.operation}"
    if row.verdict is not Verdict.OK:
        return (f"{where}: the result is {row.verdict}; usable: {MEANINGS[row.verdict].use}",)
    return (f"{where}: its interval is too wide for an answer",) if row.is_vague else ()


def _ratio(call: ReferenceCall, views: Mapping[str, RunView]) -> Quoted:
    if len(call.positional) != 2 or call.named or not all(_is_rate(item) for item in call.positional):
        raise WrongReferenceError("`ratio` needs two rates", "write ratio(rate(...), rate(...))")
    (first_run, first), (second_run, second) = (
        _row(item, views) for item in call.positional if isinstance(item, ReferenceCall)
    )
    if first.is_counted is not second.is_counted:
        raise WrongReferenceError(
            f"`{call.written}` divides bytes and operations per second", "name two of the same kind"
        )
    assert first.rate is not None and second.rate is not None
    if second.rate.median <= 0:
        raise WrongReferenceError(f"`{call.written}` divides by a rate of 0", "name another result")
    value = first.rate.median / second.rate.median
    doubts = (*_doubts(first), *_doubts(second))
    if not doubts:
        doubts = undecided_reasons(views[first_run], first, second) if first_run == second_run else (_OTHER_RUN,)
    return Quoted(numbers.ratio(value), doubts)


_OTHER_RUN = "rates of different runs: `assay compare` says whether they differ"


def _is_rate(item: object) -> bool:
    return isinstance(item, ReferenceCall) and item.name == "rate"


def _cost(call: ReferenceCall, views: Mapping[str, RunView]) -> Quoted:
    properties = _arguments(call, ("run", "target"), views)
    if extra := properties.keys() - {"run", "target"}:
        raise WrongReferenceError(f"`cost` has no `{min(extra)}`", choices_hint(min(extra), ("run", "target")))
    run = _run(properties, views)
    if views[run].run.prices is None:
        raise WrongReferenceError(f"run {run} has no prices", "only runs of studies with `prices:` have costs")
    costs = {item.target: item for item in target_costs(views[run])}
    target = properties.get("target") or (next(iter(costs)) if len(costs) == 1 else "")
    if target not in costs:
        words = f"no target `{target}` has a cost" if target else "`cost` names no target"
        raise WrongReferenceError(f"{words} in run {run}", choices_hint(target, costs))
    item = costs[target]
    doubts = (f"the cost of {target} excludes requests",) if item.excludes_requests else ()
    return Quoted(format_money(item.cost.month, item.cost.currency), doubts)


def _row(call: ReferenceCall, views: Mapping[str, RunView]) -> tuple[str, ResultRow]:
    """Return the run and the result that `rate(...)` names: the only one with all these properties."""
    properties = _arguments(call, OF_ROW, views)
    run = _run(properties, views)
    rows: Sequence[ResultRow] = views[run].analysis.rows
    for key, wanted in properties.items():
        if key == "run":
            continue
        values = {property_value(row, key): None for row in rows}
        if values.keys() == {None}:
            raise WrongReferenceError(
                f"`{call.written}`: no result has a `{key}`", choices_hint(key, property_names(rows))
            )
        rows = [row for row in rows if is_value(key, property_value(row, key), wanted)]
        if not rows:
            choices = [value_words(key, value) for value in values if value is not None]
            raise WrongReferenceError(
                f"`{call.written}`: no result has {key} `{wanted}`", choices_hint(wanted, choices)
            )
    if len(rows) > 1:
        raise WrongReferenceError(f"`{call.written}` names {len(rows):,} results", how_to_choose(rows))
    if rows[0].rate is None:
        raise WrongReferenceError(
            f"`{call.written}`: there is no rate, the result is {rows[0].verdict_words}", "leave it out"
        )
    return run, rows[0]


def _arguments(call: ReferenceCall, names: Sequence[str], views: Mapping[str, RunView]) -> dict[str, str]:
    """Return the properties that a call names; the run may be left out in a paper of one run."""
    values = [*call.positional, *(value for _, value in call.named)]
    if any(isinstance(value, ReferenceCall) for value in values):
        raise WrongReferenceError(f"`{call.written}` has a call inside", "only `ratio` has rates inside")
    texts = [str(value) for value in call.positional]
    has_run = len(views) > 1 or len(texts) == len(names) or (bool(texts) and texts[0] in views)
    order = names if has_run and not any(key == "run" for key, _ in call.named) else names[1:]
    if len(texts) > len(order):
        raise WrongReferenceError(
            f"`{call.written}` has too many values without a name", f"the order is {', '.join(names)}"
        )
    properties = dict(zip(order, texts, strict=False))
    named = {key: str(value) for key, value in call.named}
    if doubled := properties.keys() & named.keys():
        raise WrongReferenceError(f"`{call.written}` gives `{min(doubled)}` twice", "leave one out")
    return properties | named


def _run(properties: Mapping[str, str], views: Mapping[str, RunView]) -> str:
    if "run" not in properties and len(views) == 1:
        return next(iter(views))
    run = properties.get("run", "")
    if run not in views:
        words = f"the paper has no run `{run}`" if run else "the reference names no run"
        raise WrongReferenceError(words, choices_hint(run, views))
    return run
