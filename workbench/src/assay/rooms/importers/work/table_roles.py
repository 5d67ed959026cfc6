"""Roles files: what each column of a table is, and what holds for all its rows."""

from collections.abc import Mapping
from typing import Annotated, Literal, NamedTuple

from pydantic import BeforeValidator, Field, model_validator

from assay.model.frozen import Frozen
from assay.model.study.axis import AxisValue, fault
from assay.model.study.names import WORK
from assay.model.study.parameters import DEFINITIONS
from assay.model.units import UnitError, choices_hint, display_value
from assay.model.user_files import read_user_file
from assay.model.user_text import ExactNumber
from assay.model.yaml_files import read_model
from assay.rooms.importers.work.figure_units import Quantity

GUIDE = "docs/guides/import.md"
MAX_BYTES = 256 << 10
"""Largest roles file."""
UNKNOWN = "?"
"""Stands in a guess for what the table does not say; it must be replaced."""
IGNORED = "ignored"
"""Role of columns, and value of rows, that make no result."""
LATENCIES = ("min", "mean", "p50", "p90", "p95", "p99", "p99.9", "p99.99", "max")
FIGURES: dict[str, Quantity] = {
    "throughput": "bytes/s",
    "iops": "1/s",
    **{f"latency_{name}": "ns" for name in LATENCIES},
    "ops": "1",
    "bytes": "bytes",
    "time": "ns",
}
"""Role of a column of numbers -> what they are."""
DESCRIPTIONS = ("target", "workload", "operation", "order", "repeat")
"""Roles of columns that say what was measured; `order` is that of offsets."""
ROLES = (*DESCRIPTIONS, *DEFINITIONS, *FIGURES, "comment", IGNORED)
"""All roles."""
UNITS: dict[Quantity, tuple[str, ...]] = {
    "bytes/s": (
        *("B/s", "kB/s", "KiB/s", "MB/s", "MiB/s", "GB/s", "GiB/s", "TB/s", "TiB/s"),
        *("kbit/s", "Mbit/s", "Gbit/s"),
    ),
    "1/s": ("1/s", "kIOPS", "MIOPS"),
    "ns": ("ns", "us", "ms", "s", "min", "h"),
    "bytes": ("bytes", "KiB", "MB", "MiB", "GB", "GiB", "TB", "TiB"),
    "1": (),
}
"""Quantity -> its units in roles files, keys of the table of `figure_units`. kB of sizes is missing: iozone means 1024
bytes by it, others 1000."""
DEFAULT_UNITS = {"iops": "1/s", "ops": ""}
"""Role -> unit of numbers without one; elsewhere such numbers are refused."""
_ORDERS = ("sequential", "random")
_TEXTS = ("target", "workload", "repeat")
_FILL_IN = "the table does not say it: write it in place of `?`"


def quantity_of(role: str) -> Quantity | None:
    """Return what the numbers of a column are; None for texts, counts, words and the like."""
    if role in DEFINITIONS:
        unit = DEFINITIONS[role].kind.unit
        return unit or None
    return FIGURES.get(role)


def parse_value(name: str, written: object) -> AxisValue:
    """Return the value of a description or parameter that a file states.

    Args:
        name: One of `DESCRIPTIONS`, or a parameter.
        written: The value as YAML gives it, or text of a cell.

    Raises:
        UnitError: It is no such value.
    """
    if written == UNKNOWN:
        raise UnitError("`?` is no value", _FILL_IN)
    if name in _TEXTS:
        if isinstance(written, bool | dict | list) or written is None:
            raise UnitError(f"{display_value(written)} is not a text", "write a name")
        return written.text if isinstance(written, ExactNumber) else str(written)
    if name == "operation":
        if written not in WORK:
            raise UnitError(f"{display_value(written)} is no operation", choices_hint(written, WORK))
        return str(written)
    if name == "order":
        if written not in _ORDERS:
            raise UnitError(f"{display_value(written)} is no order of offsets", choices_hint(written, _ORDERS))
        return str(written)
    return DEFINITIONS[name].kind.value(written)


def _parsed(name: str, written: object, *path: str) -> AxisValue:
    try:
        return parse_value(name, written)
    except UnitError as error:
        raise fault(error.message, error.hint, *path) from None


def _read_constants(written: object) -> object:
    """Check names and values that hold for many results."""
    if not isinstance(written, dict):
        raise fault(f"{display_value(written)} is not a mapping", "write {operation: write, file_size: 1GiB}")
    for name in written:
        if name not in DESCRIPTIONS and name not in DEFINITIONS:
            hint = choices_hint(name, (*DESCRIPTIONS, *DEFINITIONS))
            raise fault(f"unknown key `{name}`", hint, name)
    return {name: _parsed(name, value, name) for name, value in written.items()}


Constants = Annotated[dict[str, AxisValue], BeforeValidator(_read_constants)]
"""Description or parameter -> its value."""
_KEYS = ("role", "unit", "values", "blank")


class ColumnRole(Frozen):
    """What a column is.

    Attributes:
        role: One of `ROLES`.
        unit: Unit of its numbers; empty: each cell has its own, or it needs none.
        values: Text of a cell -> what it says; None: rows with that text make no result.
        blank: `above`: a blank cell means the same as the cell above.
        constants: What holds for all figures of the column.
    """

    role: str
    unit: str = ""
    values: dict[str, dict[str, AxisValue] | None] = Field(default_factory=dict)
    blank: Literal["", "above"] = ""
    constants: dict[str, AxisValue] = Field(default_factory=dict)


def _read_column(written: object) -> object:
    """Check a column's role and the keys that go with it."""
    if isinstance(written, ColumnRole):
        return written
    if isinstance(written, str):
        written = {"role": written}
    if not isinstance(written, dict):
        raise fault(f"{display_value(written)} is not a role", "write {role: throughput, unit: MB/s}")
    role = written.get("role")
    if role not in ROLES:
        what = "`role` is missing" if role is None else f"{display_value(role)} is no role"
        raise fault(what, choices_hint(role, ROLES), *(("role",) if "role" in written else ()))
    constants = {name: value for name, value in written.items() if name not in _KEYS}
    if constants and role not in FIGURES:
        name = next(iter(constants))
        known = _KEYS if name not in DESCRIPTIONS and name not in DEFINITIONS else ()
        hint = choices_hint(name, known, "columns of numbers have such keys; what holds for all rows stands in `with`")
        raise fault(f"a column of the role {role} has no key `{name}`", hint, name)
    column = {name: written[name] for name in _KEYS if name in written}
    _check_unit(role, written)
    if role in (*FIGURES, "comment", IGNORED) and (other := {"values", "blank"} & written.keys()):
        hint = "columns that say what was measured have such keys"
        raise fault(f"a column of the role {role} has no key `{min(other)}`", hint, min(other))
    return {**column, "values": _values(role, written.get("values", {})), "constants": _read_constants(constants)}


def _check_unit(role: str, written: Mapping[str, object]) -> None:
    if "unit" not in written:
        return
    quantity, unit = quantity_of(role), written["unit"]
    units = UNITS[quantity] if quantity else ()
    if not units:
        raise fault(f"a column of the role {role} has no unit", "leave it out", "unit")
    if unit not in units:
        what = "`?` is no unit" if unit == UNKNOWN else f"{display_value(unit)} is no unit of {role}"
        hint = choices_hint(unit, units)
        if str(unit).lower() == "kb":
            hint = "1000 bytes to some, 1024 to others: write KiB, or each size in `values`"
        raise fault(what, f"{_FILL_IN}; {hint}" if unit == UNKNOWN else hint, "unit")


def _values(role: str, written: object) -> dict[str, dict[str, AxisValue] | None]:
    """Return what the texts of cells say."""
    if not isinstance(written, dict):
        raise fault(f"{display_value(written)} is not a mapping", "write {seq read: read, seq write: write}", "values")
    found: dict[str, dict[str, AxisValue] | None] = {}
    for text, value in written.items():
        if value == IGNORED:
            found[text] = None
        elif isinstance(value, dict) and role in DESCRIPTIONS:
            inner = {name: _parsed_inner(name, one, text) for name, one in value.items()}
            found[text] = inner
        else:
            found[text] = {role: _parsed(role, value, "values", text)}
    return found


def _parsed_inner(name: str, value: object, text: str) -> AxisValue:
    if name not in DESCRIPTIONS and name not in DEFINITIONS:
        raise fault(f"unknown key `{name}`", choices_hint(name, (*DESCRIPTIONS, *DEFINITIONS)), "values", text, name)
    return _parsed(name, value, "values", text, name)


Column = Annotated[ColumnRole, BeforeValidator(_read_column)]


class Roles(Frozen):
    """What a roles file states.

    Attributes:
        rows: What a row is.
        tool: Tool that measured, with its version; empty if it is not stated.
        separator: Separator of cells; empty for Markdown, or to have it found.
        sheet: Sheet of a spreadsheet; empty: the first that has a table.
        skip: Rows above the headings.
        headings: Rows that the headings have.
        decimal: Decimal sign of numbers.
        thousands: Sign between groups of three digits; empty: none. A blank is any kind of blank.
        empty: Texts of cells that mean the same as an empty one.
        marks: Signs after numbers that point to a footnote.
        constants: What holds for all results; `with` in the file.
        columns: HeadingParts -> what the column is.
    """

    rows: Literal["results"] = "results"
    tool: Annotated[str, Field(max_length=60)] = ""
    separator: Literal["", ",", ";", "tab", "|"] = ""
    sheet: Annotated[str, Field(max_length=100)] = ""
    skip: Annotated[int, Field(ge=0, le=1000)] = 0
    headings: Literal[1, 2] = 1
    decimal: Literal[".", ","] = "."
    thousands: Literal["", ",", ".", " ", "'"] = ""
    empty: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    constants: Constants = Field(default_factory=dict, alias="with")
    columns: dict[str, Column]

    @model_validator(mode="after")
    def _check_separators(self) -> "Roles":
        if self.thousands == self.decimal:
            raise fault(f"`{self.decimal}` is the decimal sign, too", "name another sign, or leave it out", "thousands")
        return self


class RolesFile(NamedTuple):
    """A roles file.

    Attributes:
        name: As the user named it.
        roles: What it states.
    """

    name: str
    roles: Roles


def read_roles(path: str) -> RolesFile:
    """Read a roles file.

    Raises:
        AssayError: It cannot be read, or is no roles file.
    """
    hint = "name a roles file; `assay import TABLE` prints one to start from"
    return RolesFile(path, parse_roles(read_user_file(path, path, hint, MAX_BYTES), path))


def parse_roles(data: bytes, name: str) -> Roles:
    """Return what a roles file states.

    Args:
        data: Its content.
        name: Its name, for messages.

    Raises:
        AssayError: It is no roles file.
    """
    return read_model(Roles, data, name, GUIDE, "roles file")
