"""What the output of any tool says, before it becomes a run."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, overload

from pydantic import AfterValidator, Field, PlainSerializer, ValidatorFunctionWrapHandler, WrapValidator

from assay.model.escape import escape_line
from assay.model.frozen import Frozen
from assay.model.result.imported import ImportedFile
from assay.model.result.sample import ErrorTally, KindCounts
from assay.model.secret import redact
from assay.model.study.axis import AxisValue
from assay.rooms.importers.audit.facts import MachineFacts

if TYPE_CHECKING:
    from assay.rooms.importers.work.table_roles import RolesFile

MAX_BYTES = 256 << 20
"""Largest `imported.json`."""

MAX_MESSAGE = 500
"""Most characters of what is wrong with an output."""
MAX_RESULTS = 20_000
"""Most results of one file, and of one run."""
_MAX_NUMBER = 2**63
"""Numbers are stored in 64 bits with a sign."""
results_left: ContextVar[int | None] = ContextVar("results_left", default=None)
"""How many results the file that is read may still have; None while none is read.

Readers collect results in many ways. Counting where a result is made ends them all before memory is full.
"""


def forget_result() -> None:
    """Count a result no longer that was made, and is not kept."""
    left = results_left.get()
    if left is not None:
        results_left.set(left + 1)


_END = "\x1e"
"""Ends each text of a figure that is held with others; none has it."""
Order = Literal["sequential", "random"]
"""The order of the offsets of reads and writes."""


Shown = Annotated[str, AfterValidator(redact)]
"""A name that is shown everywhere; people write keys and addresses with passwords into them, too."""


class ImportOptions(NamedTuple):
    """What the user states of outputs that do not say it.

    Attributes:
        order: Order of offsets; None if the user does not state it.
        roles: What the columns of tables are; None if the user does not state it.
        is_audit: What is read makes no run: rows of a table may be of the same work.
    """

    order: Order | None = None
    roles: "RolesFile | None" = None
    is_audit: bool = False


STATED_NOTHING = ImportOptions()
NO_ORDER = "it does not say whether offsets were sequential or random: state it with `assay import --order ORDER`"
"""Why a result is left out whose order of offsets nothing says."""


class OutputError(Exception):
    """An output that cannot be read.

    Attributes:
        line: Line of the file, from 1.
        message: What is wrong there.
        hint: How to mend it.
    """

    def __init__(self, line: int, message: str, hint: str) -> None:
        # A name in a damaged file may be as long as the file.
        short = escape_line(message, MAX_MESSAGE)
        super().__init__(short)
        self.line, self.message, self.hint = line, short, hint


class RolesNeeded(Exception):  # noqa: N818
    """A table whose columns have no roles yet.

    Attributes:
        text: A guess: a complete roles file.
        doubts: What is unsure in it, one line each.
        is_clear: As in `Guess`.
    """

    def __init__(self, text: str, doubts: tuple[str, ...], is_clear: bool) -> None:
        super().__init__("the columns of a table have no roles")
        self.text, self.doubts, self.is_clear = text, doubts, is_clear


class Figure(NamedTuple):
    """A number as the output prints it.

    Attributes:
        name: Where it is in the output, such as `read.clat_ns.percentile.99.000000`.
        text: The number, digit by digit.
        unit: Unit of the number, a key of `UNITS` of `assay.rooms.importers.work.figure_units`; empty for a count.
    """

    name: str
    text: str
    unit: str = ""


class Figures(Sequence[Figure]):
    """Figures in order, in little memory: as two texts, of which results with the same names share one."""

    __slots__ = ("_names", "_texts")

    def __init__(self, figures: Iterable[Figure]) -> None:
        parts = [tuple(part.replace(_END, " ") for part in one) for one in figures]
        self._names = _shared(_END.join(word for name, _, unit in parts for word in (name, unit)))
        self._texts = _END.join(text for _, text, _ in parts)

    def _all(self) -> tuple[Figure, ...]:
        if not self._names:
            return ()
        names = self._names.split(_END)
        return tuple(map(Figure, names[::2], self._texts.split(_END), names[1::2]))

    def __len__(self) -> int:
        return (self._names.count(_END) + 1) // 2

    def __iter__(self) -> Iterator[Figure]:
        return iter(self._all())

    @overload
    def __getitem__(self, at: int) -> Figure: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[Figure, ...]: ...

    def __getitem__(self, at: int | slice) -> Figure | tuple[Figure, ...]:
        return self._all()[at]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Figures):
            return self._names == other._names and self._texts == other._texts
        return self._all() == other

    def __hash__(self) -> int:
        return hash((self._names, self._texts))

    def __repr__(self) -> str:
        return repr(self._all())


@lru_cache(maxsize=256)
def _shared(names: str) -> str:
    return names


def _compact(value: Any, validate: ValidatorFunctionWrapHandler) -> Figures:
    return value if isinstance(value, Figures) else Figures(validate(value))


class Measurement(Frozen):
    """What one result contributes to a run, in Assay's units; the fields are those of `Sample`.

    Attributes:
        started_at: Seconds since 1970; None if the output does not say.
        elapsed_ns: How long it took; None if the output does not say.
        iops: Operations per second; None if the output does not say, which only operations on data may lack.
        ops: Operations; None if the output does not say, which only transfers over a network may lack.
        has_counts: The output says how many operations and bytes there were; if not, `ops` and the numbers of bytes
            are 0 here and missing in the run.
    """

    status: Literal["done", "time_limit", "failed"]
    ops: int | None
    bytes: int
    read_bytes: int
    write_bytes: int
    throughput: float
    iops: float | None
    has_counts: bool = True
    started_at: float | None = None
    elapsed_ns: int | None = None
    latency: dict[str, float] = Field(default_factory=dict)
    histogram: str | None = None
    kinds: tuple[KindCounts, ...] = ()
    method: str = ""
    errors: tuple[ErrorTally, ...] = ()


def rate_alone(
    throughput: Decimal | float,
    iops: Decimal | float | None,
    *,
    elapsed_ns: int | None = None,
    latency: Mapping[str, float] | None = None,
    errors: tuple[ErrorTally, ...] = (),
) -> Measurement:
    """Return the measurement of an output that does not say how many operations and bytes there were.

    Args:
        throughput: Bytes per second.
        iops: Operations per second; None if the output does not say.
        elapsed_ns: How long it took; None likewise.
        latency: Nanoseconds by name.
        errors: What failed.
    """
    return Measurement(
        status="failed" if errors else "done",
        has_counts=False,
        ops=0,
        bytes=0,
        read_bytes=0,
        write_bytes=0,
        throughput=float(throughput),
        iops=None if iops is None else float(iops),
        elapsed_ns=elapsed_ns,
        latency=dict(latency or {}),
        errors=errors,
    )


class ImportedResult(Frozen):
    """One result of an output: one operation with all its parameters.

    Attributes:
        name: Its name in the output.
        line: Line on which it begins, from 1; None if unknown.
        target: Name of what was under test.
        workload: Name that no other result has that ran at the same time.
        operation: One of `assay.model.study.names.WORK`; None if there is no counterpart.
        parameters: Known parameters of `assay.model.study.parameters`; all others are missing.
        options: What the tool was asked for, as printed.
        figures: All numbers of the result, as printed.
        latency_of: The tool's name of the time that the run has as latency; empty without latencies.
        measured: What becomes of it in a run; None if it is left out.
        left_out: Why it has no counterpart in a run; empty if it has one.
        case: Id of its case in the run; empty if it has none, or before there is a run.
        repeat: Number of its repeat; 0 likewise.
    """

    name: Shown
    line: int | None
    target: Shown
    workload: Shown
    operation: str | None
    parameters: dict[str, AxisValue]
    options: dict[str, str]
    figures: Annotated[
        Sequence[Figure], WrapValidator(_compact), PlainSerializer(tuple, return_type=tuple[Figure, ...])
    ]
    latency_of: str = ""
    measured: Annotated[Measurement | None, Field(exclude=True)] = None
    left_out: str = ""
    case: str = ""
    repeat: int = 0

    def model_post_init(self, _context: Any, /) -> None:
        """Check what was measured, and count the result towards those of the file that is read.

        Raises:
            OutputError: A number cannot be stored, or the file has more than `MAX_RESULTS`.
        """
        for name, number in self._numbers():
            if not 0 <= number < _MAX_NUMBER:
                message = f"{self.name}: {name} cannot be {number:.6g}"
                raise OutputError(self.line or 1, message, "give the file as the tool wrote it")
        left = results_left.get()
        if left is None:
            return
        if left < 1:
            raise OutputError(self.line or 1, f"more than {MAX_RESULTS:,} results", "give several smaller files")
        results_left.set(left - 1)

    def _numbers(self) -> Iterator[tuple[str, float]]:
        """Yield the numbers that a run has of the result."""
        measured = self.measured
        if measured is None:
            return
        kinds = [(f"{kind.kind} {name}", value) for kind in measured.kinds for name, value in kind]
        counts = [("errors", error.count) for error in measured.errors]
        for name, value in (*measured, *measured.latency.items(), *self.parameters.items(), *kinds, *counts):
            if isinstance(value, int | float):
                yield name, value


class SourceTable(Frozen):
    """A table that results come from, with all its cells, for the audit.

    Attributes:
        file: Its path as the user named it.
        line: Line of the headings.
        headings: Each different from the others.
        rows: Line and cells of each row, secrets left out.
        roles: Text of its roles file; empty for a table that formulas of another one sum up.
        others: The tables that its formulas sum up.
    """

    file: str
    line: int
    headings: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]
    roles: str = ""
    others: "tuple[SourceTable, ...]" = ()


class ToolOutput(Frozen):
    """One output of a tool; a file may hold several.

    Attributes:
        file: Where it comes from.
        results: In the order of the output.
        table: The table that it was read from; None for outputs of tools, and for all but the first of a table.
        facts: What the user stated of the machines when it was imported; None: nothing.
    """

    file: ImportedFile
    results: tuple[ImportedResult, ...]
    table: SourceTable | None = None
    facts: MachineFacts | None = None


class ImportedRun(Frozen):
    """All that the outputs say that a run was imported from; `imported.json` in its folder."""

    outputs: tuple[ToolOutput, ...]
