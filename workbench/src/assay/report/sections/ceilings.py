"""The ceilings: what memory, engine and targets can do at most, and how many results come close to it."""

from collections.abc import Iterable

from assay.model.result.ceiling import HOST_WIDE, Binding, Ceiling
from assay.report import numbers
from assay.report.document import (
    Block,
    Bullets,
    Cell,
    Column,
    Fold,
    Note,
    Num,
    Paragraph,
    Section,
    Share,
    Strong,
    Table,
    Text,
)
from assay.report.measure import COUNTED, DATA
from assay.report.view import View

_WORDS = (
    "What could be had at most was measured, or is stated in the study. Each result is held against the ceilings that "
    "apply to it; the one it comes closest to is named beside it."
)
_DEVICES = (
    "Devices are measured before the cases, between them and after them, since they do not do the same at all times; "
    "what a result of the run itself shows to be possible counts, too. The interval is that of the median over the "
    "passes."
)
_SHORT = "A pass takes fractions of a second, so that up to 125 % of a ceiling is no contradiction."
_LITTLE = {"engine": "the engine", "client": "the client", "copy": "a copy in memory"}
_NONE = "No ceiling was measured or stated, so that no result could be held against what machine and storage can do."
_COLUMNS = (
    Column("Of", facet=True),
    Column("Ceiling"),
    Column("Most seen", numeric=True),
    Column("Worst pass", numeric=True),
    Column("95 % interval", numeric=True),
    Column("Passes", numeric=True),
    Column("Closest for", "results", numeric=True),
    Column("Closest result", numeric=True),
    Column("How it was found, or why not"),
)
_THIS_MACHINE = "this machine"
_WHEN: dict[str, str] = {
    "before": "before the cases",
    "between": "between cases",
    "after": "after the last case",
    "again": "again, since a result exceeded it",
}

Key = tuple[str, str]
"""Target and name of a ceiling."""


def section(view: View) -> Section:
    """One table of all ceilings; those of the engine, one per kind of job, are one line there and a fold below."""
    ceilings = view.run.ceilings
    if not ceilings:
        return Section("ceilings", "Ceilings", (Note(_NONE, "warning"),))
    engine = [item for item in ceilings if item.name == "engine"]
    client = [item for item in ceilings if item.name == "client"]
    bound = _bound(view)
    others = [item for item in ceilings if item.name not in ("engine", "client")]
    rows = [_cells(item, bound) for item in others if item.target == HOST_WIDE]
    rows += [_of_kinds(engine, bound)] if engine else []
    for target in dict.fromkeys(item.target for item in client):
        rows.append(_of_kinds([item for item in client if item.target == target], bound))
    rows += [_cells(item, bound) for item in others if item.target != HOST_WIDE]
    blocks: list[Block] = [Paragraph(_words(ceilings)), Table("ceilings-table", _COLUMNS, tuple(rows))]
    wrong = tuple(_wrong(item) for item in ceilings if item.exceeded or any(one.when == "again" for one in item.passes))
    if wrong:
        blocks.insert(1, Bullets(wrong))
    if passes := [item for item in ceilings if len(item.passes) > 1]:
        blocks.append(Fold("Pass by pass", (_passes(passes, view.run.created_at),)))
    if len(engine) > 1:
        summary = f"The engine's own, one per kind of job: {numbers.plural(len(engine), 'kind')}"
        blocks.append(Fold(summary, (_kinds(engine, "engine"),)))
    if len(client) > 1:
        summary = f"The client's own, one per target and kind of job: {numbers.plural(len(client), 'kind')}"
        blocks.append(Fold(summary, (_kinds(client, "client"),)))
    return Section("ceilings", "Ceilings", tuple(blocks))


def _words(ceilings: Iterable[Ceiling]) -> str:
    """What is to be known of those that there are."""
    names = {item.name for item in ceilings if item.value}
    little = [f"to {words}" for word, words in _LITTLE.items() if any(word in name for name in names)]
    said = [_WORDS]
    if little:
        said.append(f"A result close {' or '.join(little)} says little about the storage.")
    if any(name.startswith("device") for name in names):
        said.append(_DEVICES)
    if any(item.lowest is not None for item in ceilings):
        said.append(_SHORT)
    return " ".join(said)


def _bound(view: View) -> dict[Key, list[Binding]]:
    """Target and ceiling -> how close the results come that are closest to it."""
    host = {item.name for item in view.run.ceilings if item.target == HOST_WIDE}
    found: dict[Key, list[Binding]] = {}
    for row in view.analysis.rows:
        if row.binding is not None:
            target = HOST_WIDE if row.binding.name in host else row.case.target
            found.setdefault((target, row.binding.name), []).append(row.binding)
    return found


def _wrong(item: Ceiling) -> Text:
    """What was measured of a ceiling, what exceeded it, and what came of measuring it again."""
    measure = DATA if item.unit == "bytes/s" else COUNTED
    again = max((one.value for one in item.passes if one.when == "again"), default=None)
    known = max((one.value for one in item.passes if one.when != "again"), default=None)
    head = Strong(f"{item.name} of {item.target or _THIS_MACHINE} was wrong: ")
    if item.exceeded is None:
        # Then it was measured again, and that was more than the result.
        words = f"a result exceeded it. Measured again at the end: {measure.text(again or 0.0)}"
        return (head, words + (f", before {measure.text(known)}." if known else "."))
    found = item.exceeded
    result = f"{numbers.operation_title(found.operation)} of {found.label}, repeat {found.repeat}"
    words = f"{measure.text(found.measured)} was the most that was measured, but {result}, reached"
    words += f" {measure.text(found.value)} ({numbers.ratio(found.value / found.measured)})"
    words += ", and nothing says that a cache served it" if item.name.startswith("device") else ""
    end = "It was not measured again." if again is None else f"Measured again at the end: {measure.text(again)}."
    return (head, f"{words}. The ceiling counts as what was reached. {end}")


def _passes(items: Iterable[Ceiling], begun: float) -> Table:
    columns = (
        Column("Of", facet=True),
        Column("Ceiling", facet=True),
        Column("Begun after", numeric=True),
        Column("When"),
        Column("Best try", numeric=True),
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


def _cells(item: Ceiling, bound: dict[Key, list[Binding]]) -> tuple[Cell, ...]:
    return (
        item.target or _THIS_MACHINE,
        item.name,
        _value(item.value, item.unit),
        _value(item.lowest, item.unit),
        _interval(item),
        Num(numbers.count(len(item.passes)), len(item.passes)) if item.passes else Num(numbers.NONE, None),
        *_closest(bound.get((item.target, item.name), [])),
        item.how if item.value else f"not known: {item.reason}",
    )


def _of_kinds(engine: list[Ceiling], bound: dict[Key, list[Binding]]) -> tuple[Cell, ...]:
    """One line for all kinds of job: their range."""
    known = [item.value for item in engine if item.value]
    missing = "; ".join(dict.fromkeys(item.reason for item in engine if not item.value))
    name, target = engine[0].name, engine[0].target
    without = "without storage" if name == "engine" else "at a service in the engine that answers at once, by CPU time"
    how = f"the same kinds of job {without}: {numbers.plural(len(known), 'kind')}, the fastest and the slowest"
    words = "; ".join(part for part in (how if known else "", f"not known: {missing}" if missing else "") if part)
    unit = engine[0].unit
    ends = (_value(max(known, default=None), unit), _value(min(known, default=None), unit))
    none = Num(numbers.NONE, None)
    return (target or _THIS_MACHINE, name, *ends, none, none, *_closest(bound.get((target, name), [])), words)


def _closest(bindings: list[Binding]) -> tuple[Num, Share]:
    """How many results are closest to a ceiling, and how close the closest one is."""
    number = len(bindings)
    return Num(numbers.count(number), float(number)), Share(max((item.share for item in bindings), default=None))


def _kinds(engine: Iterable[Ceiling], name: str) -> Table:
    columns = (
        Column("Kind of job"),
        Column("Best pass", numeric=True),
        Column("Worst pass", numeric=True),
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
    caption = "What decides the engine's own cost of an operation. Operations that verify what they read have none."
    return Table(f"{name}-table", columns, tuple(rows), caption)


def _interval(item: Ceiling) -> Num:
    if item.low is None or item.high is None:
        return Num(numbers.NONE, None)
    measure = DATA if item.unit == "bytes/s" else COUNTED
    return Num(f"{measure.number(item.low)} – {measure.text(item.high)}", item.low)


def _value(value: float | None, unit: str) -> Num:
    if value is None:
        return Num(numbers.NONE, None)
    return Num((DATA if unit == "bytes/s" else COUNTED).text(value), value)
