"""Upper limits: the most that memory, engine and targets can do, and how near results come to it."""

from collections.abc import Iterable, Iterator

from assay.model.result.ceiling import HOST_WIDE, Ceiling, CeilingShare, ExceedingRepeat
from assay.report import numbers
from assay.report.document import (
    Block,
    Bullets,
    Cell,
    Column,
    Fold,
    Heading,
    Note,
    Num,
    Paragraph,
    Section,
    Share,
    Strong,
    Table,
    Text,
)
from assay.report.measure import COUNTED, DATA, works_without_storage
from assay.report.view import RunView

_WORDS = (
    "The highest rates that machine and storage can reach, measured in this run or stated in the study. Each result is "
    "compared with the limits that apply to it: from about 80 % on, the nearest limit is what limits the result."
)
_DEVICES = (
    "Devices are measured before, between and after the cases; a higher rate of a result counts, too. The interval is "
    "that of the median over the passes."
)
_SHORT = "A pass takes fractions of a second, so up to 125 % of a limit is not a contradiction."
_LITTLE = {"engine": "the engine", "client": "the client", "copy": "a copy in memory"}
_NONE = "No upper limit was measured or stated, so results could not be compared with what {what} can do."
_COLUMNS = (
    Column("Of", is_filter=True),
    Column("Limit"),
    Column("Highest", is_numeric=True),
    Column("Worst pass", is_numeric=True),
    Column("95 % interval", is_numeric=True),
    Column("Passes", is_numeric=True),
    Column("How it was measured, or why not"),
)
_FAR = 1.05
_MAX_OPEN = 3
"""Most limits per target, and most sentences, outside the folded part."""
_THIS_MACHINE = "this machine"
_WHEN: dict[str, str] = {
    "before": "before the cases",
    "between": "between cases",
    "after": "after the last case",
    "again": "again, since a result exceeded it",
}


def section(view: RunView) -> Section:
    """Return the section: for each target the limits nearest to its results, and limits that were underestimated."""
    if not view.run.ceilings:
        return Section("ceilings", "Upper limits", (Note(_NONE.format(what=_measured(view)), "warning"),))
    blocks: list[Block] = [Paragraph(_words(view.run.ceilings)), *_nearest(view)]
    wrong = _underestimated(view)
    if len(wrong) <= _MAX_OPEN:
        blocks += [Bullets(wrong)] if wrong else []
    else:
        blocks.append(Paragraph(f"{len(wrong):,} limits were underestimated; the appendix says by what."))
    return Section("ceilings", "Upper limits", tuple(blocks))


def _measured(view: RunView) -> str:
    """Return what the results are of."""
    rows = view.analysis.rows
    if not works_without_storage(rows):
        return "machine and storage"
    return "the machines" if all(works_without_storage([row]) for row in rows) else "machines and storage"


def folds(view: RunView) -> Iterator[Fold]:
    """Yield all limits and passes; limits of the engine, one per kind of job, have tables of their own."""
    ceilings = view.run.ceilings
    if not ceilings:
        return
    engine = [item for item in ceilings if item.name == "engine"]
    client = [item for item in ceilings if item.name == "client"]
    others = [item for item in ceilings if item.name not in ("engine", "client")]
    rows = [_cells(item) for item in others if item.target == HOST_WIDE]
    rows += [_of_kinds(engine)] if engine else []
    for target in dict.fromkeys(item.target for item in client):
        rows.append(_of_kinds([item for item in client if item.target == target]))
    rows += [_cells(item) for item in others if item.target != HOST_WIDE]
    blocks: list[Block] = [Table("ceilings-table", _COLUMNS, tuple(rows), " ".join(_details(ceilings)))]
    wrong = _underestimated(view)
    if len(wrong) > _MAX_OPEN:
        blocks.append(Bullets(wrong))
    if passes := [item for item in others if len(item.passes) > 1]:
        blocks += [Heading("Pass by pass", "ceilings-passes", 4), _passes(passes, view.run.created_at)]
    for name, found in (("engine", engine), ("client", client)):
        if len(found) > 1:
            title = f"Of the {name}, one per kind of job"
            blocks += [Heading(title, f"ceilings-{name}", 4), _kinds(found, name)]
    yield Fold("All upper limits", tuple(blocks), "ceilings-all")


def _nearest(view: RunView) -> list[Block]:
    """Return a table of the limits that the results of each target are nearest to."""
    rows: list[tuple[Cell, ...]] = []
    for target in view.targets:
        found: dict[str, list[CeilingShare]] = {}
        for row in view.analysis.rows:
            if row.case.target == target and row.limiting_ceiling is not None:
                found.setdefault(row.limiting_ceiling.name, []).append(row.limiting_ceiling)
        nearest = sorted(found.items(), key=lambda item: -max(one.share for one in item[1]))[:_MAX_OPEN]
        for name, bindings in nearest:
            shares = [one.share for one in bindings]
            count = Num(numbers.count(len(shares)), len(shares))
            rows.append((target, name, count, Share(numbers.median(shares)), Share(max(shares))))
    columns = (
        Column("Target"),
        Column("Nearest limit"),
        Column("Of results", is_numeric=True),
        Column("% of limit", "median", is_numeric=True),
        Column("% of limit", "highest", is_numeric=True),
    )
    caption = f"At most {_MAX_OPEN} of each target, the nearest first."
    return [Table("limits-table", columns, tuple(rows), caption)] if rows else []


def _underestimated(view: RunView) -> tuple[Text, ...]:
    return tuple(_wrong(item) for item in view.run.ceilings if _was_wrong(item))


def _was_wrong(item: Ceiling) -> bool:
    if item.exceeded is not None:
        return _by_far(item.exceeded)
    return any(one.when == "again" for one in item.passes)


def _by_far(one: ExceedingRepeat) -> bool:
    """Return whether a result exceeded a measured limit by 5 % or more; less is no reason to doubt the measurement."""
    return one.value >= _FAR * one.measured


def _words(ceilings: Iterable[Ceiling]) -> str:
    """Return the introduction, with a remark if limits are of the engine, the client or memory."""
    names = {item.name for item in ceilings if item.value}
    little = [f"to {words}" for word, words in _LITTLE.items() if any(word in name for name in names)]
    return f"{_WORDS} A result close {' or '.join(little)} says little about the storage." if little else _WORDS


def _details(ceilings: Iterable[Ceiling]) -> Iterator[str]:
    if any(item.value and item.name.startswith("device") for item in ceilings):
        yield _DEVICES
    if any(item.lowest is not None for item in ceilings):
        yield _SHORT


def _wrong(item: Ceiling) -> Text:
    """Return what was measured of an underestimated ceiling, what exceeded it, and the result of measuring again."""
    measure = DATA if item.unit == "bytes/s" else COUNTED
    again = max((one.value for one in item.passes if one.when == "again"), default=None)
    known = max((one.value for one in item.passes if one.when != "again"), default=None)
    head = Strong(f"{item.name} of {item.target or _THIS_MACHINE} was underestimated: ")
    if item.exceeded is None:
        # It was measured again, and the new value is above the result.
        words = f"a result exceeded it. Measured again: {measure.text(again or 0.0)}"
        return (head, words + (f", before {measure.text(known)}." if known else "."))
    found = item.exceeded
    result = f"{numbers.operation_title(found.operation)} of {found.label}, repeat {found.repeat}"
    words = f"measured {measure.text(found.measured)}, but {result}, reached"
    words += f" {measure.text(found.value)} ({numbers.ratio(found.value / found.measured)})"
    words += " with no sign of a cache" if item.name.startswith("device") else ""
    end = "It was not measured again." if again is None else f"Measured again: {measure.text(again)}."
    return (head, f"{words}. The rate of the result counts as the limit. {end}")


def _passes(items: Iterable[Ceiling], begun: float) -> Table:
    columns = (
        Column("Of", is_filter=True),
        Column("Limit", is_filter=True),
        Column("Started after", is_numeric=True),
        Column("When"),
        Column("Best attempt", is_numeric=True),
        Column("How"),
    )
    rows = [
        (
            item.target or _THIS_MACHINE,
            item.name if not item.kind else f"{item.name} ({item.kind})",
            Num(numbers.seconds(max(0.0, one.at - begun)), one.at - begun),
            _WHEN[one.when],
            _value(one.value, item.unit),
            one.how,
        )
        for item in items
        for one in item.passes
    ]
    return Table("passes-table", columns, tuple(rows))


def _cells(item: Ceiling) -> tuple[Cell, ...]:
    return (
        item.target or _THIS_MACHINE,
        item.name,
        _value(item.value, item.unit),
        _value(item.lowest, item.unit),
        _interval(item),
        Num(numbers.count(len(item.passes)), len(item.passes)) if item.passes else Num(numbers.NONE, None),
        item.how if item.value else f"not known: {item.reason}",
    )


def _of_kinds(engine: list[Ceiling]) -> tuple[Cell, ...]:
    """Return one row for all kinds of job, with the range of their limits."""
    known = [item.value for item in engine if item.value]
    missing = "; ".join(dict.fromkeys(item.reason for item in engine if not item.value))
    name, target = engine[0].name, engine[0].target
    without = (
        "without storage" if name == "engine" else "at a service in the engine that answers immediately, by CPU time"
    )
    how = f"the same kinds of job {without}: {numbers.plural(len(known), 'kind')}, the fastest and the slowest"
    words = "; ".join(part for part in (how if known else "", f"not known: {missing}" if missing else "") if part)
    unit = engine[0].unit
    ends = (_value(max(known, default=None), unit), _value(min(known, default=None), unit))
    none = Num(numbers.NONE, None)
    return (target or _THIS_MACHINE, name, *ends, none, none, words)


def _kinds(engine: Iterable[Ceiling], name: str) -> Table:
    columns = (
        Column("Kind of job"),
        Column("Best pass", is_numeric=True),
        Column("Worst pass", is_numeric=True),
        Column("Why not"),
    )
    rows = [
        (
            " ".join(filter(None, (item.target, item.kind))) or numbers.NONE,
            _value(item.value, item.unit),
            _value(item.lowest, item.unit),
            item.reason,
        )
        for item in sorted(engine, key=lambda item: (item.target, item.kind))
    ]
    return Table(f"{name}-table", columns, tuple(rows), "Operations that verify what they read have no such limit.")


def _interval(item: Ceiling) -> Num:
    if item.low is None or item.high is None:
        return Num(numbers.NONE, None)
    measure = DATA if item.unit == "bytes/s" else COUNTED
    return Num(f"{measure.number(item.low)} – {measure.text(item.high)}", item.low)


def _value(value: float | None, unit: str) -> Num:
    if value is None:
        return Num(numbers.NONE, None)
    return Num((DATA if unit == "bytes/s" else COUNTED).text(value), value)
