"""Rules about the texts of a table: names in two spellings, and what they count."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator

from assay.rooms.importers.audit.tables.cells import AuditedTable, TableColumn, TableFinding
from assay.rooms.importers.audit.tables.intervals import is_printed_number
from assay.rooms.importers.work.table_roles import DERIVED, FIGURES, IGNORED, LOG

MAX_LABEL = 60
"""Longer texts are sentences."""
MIN_AGREEING = 2
"""Fewest rows that must agree before another one disagrees."""
AGREEING = 0.5
"""Least share of rows that must agree."""
_BETWEEN = re.compile(r"(?<![0-9])[\s_-]+|[\s_-]+(?![0-9])")
"""Blanks and hyphens, those between two digits excepted."""
_LOOK_ALIKE = str.maketrans({"o": "0", "l": "1", "i": "1"})
_RANGE = re.compile(r"([0-9]{1,9}) ?(?:-|–|to|\.\.) ?([0-9]{1,9})")
_TIMES = re.compile(r"([0-9]{1,6}) ?[x×] ?\S.*")
_INSTANCE = re.compile(r"[a-z][a-z0-9-]{0,9}\.(?:nano|micro|small|medium|large|[0-9]{0,3}xlarge|metal)")


def spellings(table: AuditedTable) -> Iterator[TableFinding]:
    """Yield names that differ only in case, blanks, hyphens, or in characters that look alike."""
    for column in table.columns.values():
        if column in table.figures or table.role(column.heading) in (DERIVED, "comment", *LOG):
            continue
        seen: dict[str, str] = {}
        for row in table.rows():
            text = column.texts[row]
            if not text or len(text) > MAX_LABEL or is_printed_number(text):
                continue
            key = _normalised(text)
            first = seen.setdefault(key, text)
            if first != text and (other := f"{key}\n{text}") not in seen:
                seen[other] = text
                words = f"`{text}` and `{first}` are two spellings of one name"
                yield TableFinding(table.lines[row], column.heading, words, {"first": first, "second": text})


def _normalised(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).casefold()
    squeezed = _BETWEEN.sub("", plain)
    # A number in a name is written with digits: `r0` for `ro` is a name of its own, `1O` for `10` is not.
    return squeezed.translate(_LOOK_ALIKE) if re.search("[0-9]", squeezed) else squeezed


def counts_of_ranges(table: AuditedTable) -> Iterator[TableFinding]:
    """Yield ranges such as `491-510` that hold another number of pieces than a column says, which fits other rows."""
    for column in table.columns.values():
        yield from _counted(table, column, _RANGE, lambda found: int(found[2]) - int(found[1]) + 1)


def counts_in_words(table: AuditedTable) -> Iterator[TableFinding]:
    """Yield texts such as `8 x c3.8xlarge` with another count than a column says, which fits other rows."""
    for column in table.columns.values():
        yield from _counted(table, column, _TIMES, lambda found: int(found[1]))


def _counted(
    table: AuditedTable, column: TableColumn, pattern: re.Pattern[str], count: Callable[[re.Match[str]], int]
) -> Iterator[TableFinding]:
    counts = {}
    for row in table.rows():
        found = pattern.fullmatch(column.texts[row])
        if found is not None and count(found) > 0:
            counts[row] = count(found)
    for other in table.numeric:
        if other is column or not other.is_whole or table.role(other.heading) in (*FIGURES, DERIVED):
            continue
        known = {row: float(other.digits[row]) for row in counts if other.digits[row]}
        right = [row for row in known if known[row] == counts[row]]
        is_same = len({known[row] for row in right}) >= MIN_AGREEING and len(right) > AGREEING * len(known)
        for row in known if is_same else ():
            if known[row] != counts[row]:
                text = f"`{column.texts[row]}` is {counts[row]}, and `{other.heading}` is {other.digits[row]}"
                yield TableFinding(table.lines[row], column.heading, text, {"count": counts[row]})


def unknown_instances(table: AuditedTable) -> Iterator[TableFinding]:
    """Yield instance types that the catalogue does not have, though it has their family in other sizes."""
    from assay.money.cost.catalog import catalog

    names = set(catalog().instance_names())
    by_family: dict[str, list[str]] = {}
    for name in names:
        by_family.setdefault(name.partition(".")[0], []).append(name)
    for column in table.columns.values():
        if table.role(column.heading) in (IGNORED, "comment", *LOG):
            continue
        rows: dict[str, list[int]] = {}
        for row in table.rows():
            rows.setdefault(column.texts[row], []).append(row)
        for text, places in rows.items():
            family = by_family.get(text.partition(".")[0], [])
            if text in names or not family or not _INSTANCE.fullmatch(text):
                continue
            words = f"there is no `{text}`: the catalogue has {', '.join(sorted(family)[:4])} of this family"
            lines = tuple(table.lines[row] for row in places[1:])
            yield TableFinding(table.lines[places[0]], column.heading, words, {"name": text}, lines)


def units_of_cells(table: AuditedTable) -> Iterator[TableFinding]:
    """Yield columns whose cells have units of two kinds, such as MB/s and MiB/s, or Gb/s and GB/s."""
    # A list of statements has figures of many kinds in one column.
    listed = {"what", "place", "value"} <= {heading.casefold() for heading in table.columns}
    for column in () if listed else table.columns.values():
        units: Counter[str] = Counter()
        first: dict[str, int] = {}
        for row in table.rows():
            text, digits = column.texts[row], column.digits[row]
            unit = text[len(digits) :].strip() if digits and text.startswith(digits) else ""
            if unit:
                units[_kind(unit)] += 1
                first.setdefault(_kind(unit), row)
        if len(units) > 1 and "" not in units:
            row = first[units.most_common()[-1][0]]
            words = f"`{column.texts[row]}`: cells of this column have units of {' and of '.join(sorted(units))}"
            yield TableFinding(table.lines[row], column.heading, words, {"kinds": len(units)})


def _kind(unit: str) -> str:
    """Return what a unit counts: bytes or bits, in powers of 1000 or of 1024; empty for other units."""
    found = re.fullmatch(r"([kKMGTP]?)(i?)(B|b|bit)(?:/s|ps)?", unit)
    if found is None:
        return ""
    base = "" if not found[1] else "1024" if found[2] else "1000"
    return f"{'bytes' if found[3] == 'B' else 'bits'}{f', powers of {base}' if base else ''}"
