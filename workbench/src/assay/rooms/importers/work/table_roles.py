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
from assay.rooms.importers.work.table_formula import FormulaError, parse_formula

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
DERIVED = "derived"
"""Role of a column that follows from others."""
PROCESSES: dict[str, tuple[str, Quantity]] = {
    "process_min": ("min", "bytes/s"),
    "process_max": ("max", "bytes/s"),
    "process_mean": ("avg", "bytes/s"),
    "process_least": ("min_xfer", "bytes"),
}
"""Role of a column of what iozone's throughput mode prints of its processes -> the figure's name as its logs have it,
and what it is. With them the column of rates is the sum over all processes, `children`."""
LOG = ("label", "command", "began")
"""Roles of columns that say what a log says beside its figures: the name of the test, the command line, the date."""
POINT = "point"
"""Role of a column over whose values a bound is judged as a whole: sizes at which a text claims something."""
COMMENT = "comment"
"""Role of a column of notes; rows with some text in it may make no result."""
ROLES = (*DESCRIPTIONS, *DEFINITIONS, *FIGURES, *PROCESSES, *LOG, DERIVED, POINT, COMMENT, IGNORED)
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
    if role == POINT:
        return "bytes"
    if role in DEFINITIONS:
        unit = DEFINITIONS[role].kind.unit
        return unit or None
    return PROCESSES[role][1] if role in PROCESSES else FIGURES.get(role)


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
_DERIVED_KEYS = ("formula", "table", "by", "where")
_CLAIM_KEYS = ("claim", "assumes")
_KEYS = ("role", "unit", "values", "blank", *_DERIVED_KEYS, *_CLAIM_KEYS)


class ColumnRole(Frozen):
    """What a column is.

    Attributes:
        role: One of `ROLES`.
        unit: Unit of its numbers; empty: each cell has its own, or it needs none.
        values: Text of a cell -> what it says; None: rows with that text make no result.
        blank: `above`: a blank cell means the same as the cell above.
        constants: What holds for all figures of the column.
        formula: What its cells follow from, by the headings of other columns; empty: it is not stated.
        table: File name of another table beside this one, over whose rows the formula sums up; empty: none.
        by: Headings that both tables have: the rows of the other one that a cell sums up have the same values there.
        where: Heading of the other table -> the text that its cells have in those rows.
        claim: What the source says by these cells, in the reader's words; for findings of the audit.
        assumes: What the formula assumes that the source does not say: what speaks against a cell is a warning then.
    """

    role: str
    unit: str = ""
    values: dict[str, dict[str, AxisValue] | None] = Field(default_factory=dict)
    blank: Literal["", "above"] = ""
    constants: dict[str, AxisValue] = Field(default_factory=dict)
    formula: Annotated[str, Field(max_length=300)] = ""
    table: Annotated[str, Field(max_length=200)] = ""
    by: tuple[str, ...] = ()
    where: dict[str, str] = Field(default_factory=dict)
    claim: Annotated[str, Field(max_length=400)] = ""
    assumes: Annotated[str, Field(max_length=200)] = ""


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
    _check_formula(role, written)
    if constants and role not in FIGURES:
        name = next(iter(constants))
        known = _KEYS if name not in DESCRIPTIONS and name not in DEFINITIONS else ()
        hint = choices_hint(name, known, "columns of numbers have such keys; what holds for all rows stands in `with`")
        raise fault(f"a column of the role {role} has no key `{name}`", hint, name)
    column = {name: written[name] for name in _KEYS if name in written}
    _check_unit(role, written)
    takes = {"values"} if role == COMMENT else set()
    if role in (*FIGURES, *PROCESSES, DERIVED, POINT, COMMENT, IGNORED) and (
        other := {"values", "blank"} & written.keys() - takes
    ):
        hint = "columns that say what was measured have such keys"
        raise fault(f"a column of the role {role} has no key `{min(other)}`", hint, min(other))
    return {**column, "values": _values(role, written.get("values", {})), "constants": _read_constants(constants)}


def _check_formula(role: str, written: Mapping[str, object]) -> None:
    """Refuse formulas that cannot be read, keys that need one, and columns of texts with one."""
    other = next((name for name in (*_DERIVED_KEYS, *_CLAIM_KEYS) if name in written), None)
    if role == DERIVED and "formula" not in written:
        hint = f"write {{role: {DERIVED}, formula: a / b}}, with the headings of columns; or {IGNORED}"
        raise fault(f"a column of the role {DERIVED} has no `formula`", hint)
    if other is None:
        return
    if role not in (DERIVED, *FIGURES, *PROCESSES, *DEFINITIONS):
        hint = f"columns of the role {DERIVED}, of figures and of parameters have such keys"
        raise fault(f"a column of the role {role} has no key `{other}`", hint, other)
    formula = written.get("formula")
    if not isinstance(formula, str):
        raise fault("`formula` is not a text", "write formula: a / b, with the headings of columns", "formula")
    try:
        parse_formula(formula)
    except FormulaError as error:
        raise fault(error.message, error.hint, "formula") from None
    for name in _CLAIM_KEYS:
        if not isinstance(written.get(name, ""), str):
            raise fault(f"`{name}` is not a text", "write a sentence in your words", name)
    if ("by" in written or "where" in written) and "table" not in written:
        raise fault("`by` and `where` choose rows of another table", "name it: table: other.csv", "formula")


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
        elif role == COMMENT:
            hint = f"write `{IGNORED}`: the rows with this text make no result"
            raise fault(f"a comment says nothing of a result, such as {display_value(value)}", hint, "values", text)
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
        rows: What a row is: `figures` were not measured, such as prices; they are audited, and make no run.
        tool: Tool that measured, with its version; empty if it is not stated.
        separator: Separator of cells; empty for Markdown, or to have it found.
        sheet: Sheet of a spreadsheet; empty: the first that has a table.
        skip: Rows above the headings.
        headings: Rows that the headings have.
        decimal: Decimal sign of numbers.
        thousands: Sign between groups of three digits; empty: none. A blank is any kind of blank.
        empty: Texts of cells that mean the same as an empty one.
        marks: Signs after numbers that point to a footnote.
        source: Where in the original the table stands, such as `table 3, page 12`.
        repeats: How often the source says that each result was measured, of which it prints one figure; 0: not known.
        book: Name of the price book that formulas with `price` look up; empty: none.
        constants: What holds for all results; `with` in the file.
        columns: HeadingParts -> what the column is.
    """

    rows: Literal["results", "figures"] = "results"
    tool: Annotated[str, Field(max_length=60)] = ""
    separator: Literal["", ",", ";", "tab", "|"] = ""
    sheet: Annotated[str, Field(max_length=100)] = ""
    skip: Annotated[int, Field(ge=0, le=1000)] = 0
    headings: Literal[1, 2] = 1
    decimal: Literal[".", ","] = "."
    thousands: Literal["", ",", ".", " ", "'"] = ""
    empty: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    source: Annotated[str, Field(max_length=200)] = ""
    repeats: Annotated[int, Field(ge=0, le=10**6)] = 0
    book: Annotated[str, Field(max_length=60)] = ""
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
        text: The whole file.
    """

    name: str
    roles: Roles
    text: str = ""


def read_roles(path: str) -> RolesFile:
    """Read a roles file.

    Raises:
        AssayError: It cannot be read, or is no roles file.
    """
    hint = "name a roles file; `assay import TABLE` prints one to start from"
    data = read_user_file(path, path, hint, MAX_BYTES)
    return RolesFile(path, parse_roles(data, path), data.decode("utf-8-sig", "replace"))


def parse_roles(data: bytes, name: str) -> Roles:
    """Return what a roles file states.

    Args:
        data: Its content.
        name: Its name, for messages.

    Raises:
        AssayError: It is no roles file.
    """
    return read_model(Roles, data, name, GUIDE, "roles file")
