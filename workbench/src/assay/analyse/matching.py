"""Pairs the rows of two runs, or of two targets: which rows are of the same work."""

from collections import Counter
from collections.abc import Iterable, Sequence

from assay.analyse.compare import has_rate
from assay.model.result.comparison import UncomparedRow
from assay.model.result.result import ResultRow
from assay.model.study.parameters import DEFINITIONS

MAX_NAMED = 3
"""Most differing parameters that are named."""
Key = tuple[str, str, str, int]


def keyed_rows(rows: Iterable[ResultRow], target: str) -> dict[Key, ResultRow]:
    """Return the rows of a target by workload, operation, parameters, and a number for those of which all are equal."""
    found: dict[Key, ResultRow] = {}
    counts: Counter[tuple[str, str, str]] = Counter()
    for row in rows:
        if row.case.target == target:
            key = (row.case.workload, row.operation, row.case.parameters.model_dump_json())
            found[*key, counts[key]] = row
            counts[key] += 1
    return found


def matched_rows(
    before: Sequence[ResultRow], after: Sequence[ResultRow], targets: Sequence[tuple[str, str]], sides: tuple[str, str]
) -> tuple[list[tuple[ResultRow, ResultRow]], list[UncomparedRow]]:
    """Return pairs of the same row, and the rows that have no partner with a rate.

    Rows with the same parameters are the same. Of outputs of other tools, which do not say all of them, two rows of the
    same operation are so, too, if all that both say is equal and no other row fits.
    """
    matched: list[tuple[ResultRow, ResultRow]] = []
    rest: list[UncomparedRow] = []
    for first, second in targets:
        here, there = keyed_rows(before, first), keyed_rows(after, second)
        pairs = [(here[key], there.get(key)) for key in here] + [(None, there[key]) for key in there if key not in here]
        alone = [old for old, new in pairs if old and not new], [new for old, new in pairs if new and not old]
        likely = _likely_pairs(*alone)
        found = {id(row) for pair in likely for row in pair}
        for old, new in (*(pair for pair in pairs if id(pair[0] or pair[1]) not in found), *likely):
            if old is not None and new is not None and has_rate(old) and has_rate(new):
                matched.append((old, new))
            else:
                rest.append(_uncompared(old, new, sides, alone))
    return matched, rest


def _likely_pairs(here: Sequence[ResultRow], there: Sequence[ResultRow]) -> list[tuple[ResultRow, ResultRow]]:
    """Return pairs of rows that differ in nothing that both know, and of which neither fits to another row."""
    fits = [(old, new) for old in here for new in there if _is_same_work(old, new) and not _differences(old, new)]
    counts = Counter(id(row) for pair in fits for row in pair)
    return [pair for pair in fits if all(counts[id(row)] == 1 for row in pair)]


def _is_same_work(old: ResultRow, new: ResultRow) -> bool:
    return (old.case.workload, old.operation) == (new.case.workload, new.operation)


def _differences(old: ResultRow, new: ResultRow) -> list[str]:
    """Return the names of parameters that both rows have, with different values."""
    return [
        name
        for name in DEFINITIONS
        if old.case.parameters.has(name)
        and new.case.parameters.has(name)
        and old.case.parameters.get_value(name) != new.case.parameters.get_value(name)
    ]


def row_label(row: ResultRow) -> str:
    """Return workload, parameters and operation of a row, without its target."""
    return f"{row.case.label.removeprefix(f'{row.case.target} / ')}, {row.operation}"


def _uncompared(
    old: ResultRow | None,
    new: ResultRow | None,
    sides: tuple[str, str],
    alone: tuple[Sequence[ResultRow], Sequence[ResultRow]],
) -> UncomparedRow:
    row = old or new
    assert row is not None
    if old is None or new is None:
        reason = f"only in the {sides[old is None]}{_nearest_words(row, alone[old is not None])}"
    else:
        both = zip((old, new), sides, strict=True)
        reason = "; ".join(_without_rate(row, side) for row, side in both if not has_rate(row))
    targets = dict.fromkeys(side.case.target for side in (old, new) if side is not None)
    return UncomparedRow(
        name=f"{' -> '.join(targets)} / {row_label(row)}",
        before=old.verdict if old else None,
        after=new.verdict if new else None,
        reason=reason,
    )


def _nearest_words(row: ResultRow, others: Sequence[ResultRow]) -> str:
    """Return in what the most similar row of the other side differs that has no partner either; empty without any."""
    near = [(_differences(row, other), other) for other in others if _is_same_work(row, other)]
    if not near:
        return ""
    names, other = min(near, key=lambda pair: len(pair[0]))
    words = [f"{name} {_shown(row, name)}, there {_shown(other, name)}" for name in names[:MAX_NAMED]]
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return f": {'; '.join(words)}{more}" if words else ""


def _shown(row: ResultRow, name: str) -> str:
    return DEFINITIONS[name].kind.display(row.case.parameters.get_value(name))


def _without_rate(row: ResultRow, side: str) -> str:
    why = f": {row.findings[0].text}" if row.findings else ""
    return f"no usable repeat in the {side}{why}"
