"""A guess at the roles of a table as the text of a roles file."""

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.rooms.importers.work.guess.roles import GuessedColumn, GuessedRoles

_PLAIN = re.compile(r"[^\W\d_]([\w ./()-]*[\w)])?")
_WORDS = frozenset(("true", "false", "null", "yes", "no", "on", "off", "y", "n"))
"""Words that YAML reads, or has read, as something else than text."""
_MAX_LINE = 100


def roles_text(guess: "GuessedRoles") -> str:
    """Return a guess as a roles file, with its doubts as comments."""
    numbers = guess.numbers
    head = {
        "rows": "results",
        "tool": guess.tool,
        "separator": guess.separator,
        "skip": guess.skip,
        "headings": guess.headings if guess.headings > 1 else 0,
        "decimal": numbers.decimal if numbers.decimal != "." else "",
        "thousands": numbers.thousands,
        "empty": list(numbers.empty),
        "marks": list(numbers.marks),
        "with": guess.constants,
    }
    lines = ["# A guess at what the columns are. Check it before you import with it."]
    lines += [f"# Not sure: {doubt}" for doubt in dict.fromkeys(guess.doubts)]
    lines += [f"{name}: {_flow(value)}" for name, value in head.items() if value]
    lines.append("columns:")
    for column in guess.columns:
        lines += _column_lines(column)
    return "\n".join(lines) + "\n"


def _column_lines(column: "GuessedColumn") -> list[str]:
    entry: dict[str, object] = {"role": column.role}
    if column.unit:
        entry["unit"] = column.unit
    entry |= column.constants
    if column.blank:
        entry["blank"] = "above"
    if column.values:
        entry["values"] = column.values
    line = f"  {_scalar(column.heading)}: {_flow(entry)}"
    if len(line) <= _MAX_LINE or not column.values:
        return [line]
    lines = [f"  {_scalar(column.heading)}:"]
    lines += [f"    {name}: {_flow(value)}" for name, value in entry.items() if name != "values"]
    return [*lines, "    values:", *(f"      {_scalar(text)}: {_flow(value)}" for text, value in column.values.items())]


def _flow(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_scalar(name)}: {_flow(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return _scalar(value)


def _scalar(value: object) -> str:
    """Return a value in YAML, in quotes where it would mean something else without them."""
    if not isinstance(value, str):
        return json.dumps(value)
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    if re.fullmatch(r"[0-9.]+[A-Za-z]+(/s)?", value) and not re.fullmatch(r"[0-9.]+[eE]?[0-9]*", value):
        return value
    return json.dumps(value, ensure_ascii=False)
