"""A profile: what an application needs of its storage, who says so, and the work that shows it."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from assay.analyse.needs.outcome import NeedLimit
from assay.model.base import AssayError
from assay.model.frozen import Frozen
from assay.model.study.axis import fault
from assay.model.study.names import OPERATIONS, READS, WRITES
from assay.model.study.parameters import Parameters
from assay.model.units import UnitError, choices_hint, parse_duration, parse_rate, parse_size, parse_throughput
from assay.rooms.fit.model.bound import parse_percent

GUIDE = "docs/guides/fit.md"
MEASURES = ("pNN", "mean", "throughput", "rate", "busy")

Text = Annotated[str, Field(min_length=1)]
Work = Literal["files", "objects"]


def _parsed(parse: Any) -> BeforeValidator:
    def read(written: object) -> object:
        try:
            return parse(written)
        except UnitError as error:
            raise fault(error.message, error.hint) from None

    return BeforeValidator(read)


def _parse_share(written: object) -> float:
    text = str(written).strip()
    number = text.removesuffix("%").strip()
    try:
        share = float(number) / 100
    except ValueError:
        share = -1.0
    if not text.endswith("%") or not 0 < share <= 1:
        raise UnitError(f"{written} is not a share", "write it as 90%")
    return share


class Source(Frozen):
    """A public text that states a requirement.

    Attributes:
        title: Author and title.
        url: Where it is.
        read: Date on which it was read, as YYYY-MM-DD.
        statement: What it states, in one sentence.
    """

    title: Text
    url: Annotated[str, Field(pattern="^https?://[^ ]+$")]
    read: Annotated[str, Field(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
    statement: Text


class Accelerator(Frozen):
    """How an accelerator uses the data that it reads.

    Attributes:
        step: Time that it computes for each batch, in nanoseconds.
        batch: Samples in a batch.
        sample: Mean size of a sample in bytes.
        prefetch: Batches that readers may be ahead.
    """

    step: Annotated[int, _parsed(parse_duration)]
    batch: Annotated[int, Field(ge=1)]
    sample: Annotated[int, _parsed(parse_size)]
    prefetch: Annotated[int, Field(ge=1)]

    @property
    def bytes_per_s(self) -> float:
        """Bytes per second that it uses if it never waits."""
        return self.batch * self.sample / self.step * 1e9


class Requirement(Frozen):
    """A number that the place must reach.

    Attributes:
        operation: Operation of the profile's work.
        kind: Only operations of this kind, of an operation that mixes several; empty: all.
        measure: `p99` or another percentile of latency, `mean` latency, `throughput`, `rate`, or `busy`: the share of
            the time in which accelerators compute.
        below: Upper bound of a latency, in nanoseconds; None for other measures.
        at_least: Lower bound: bytes per second, operations per second, or a share; None for latencies.
        accelerator: Of `busy`: how an accelerator uses data.
        source: Number of the source that states it, from 1.
    """

    operation: str
    kind: str = ""
    measure: str
    below: Annotated[int | None, _parsed(lambda text: None if text is None else parse_duration(text))] = None
    at_least: float | None = None
    accelerator: Accelerator | None = None
    source: Annotated[int, Field(ge=1)] = 1

    @model_validator(mode="before")
    @classmethod
    def _with_number(cls, written: Any) -> Any:
        """Read `at_least` in the unit of the measure."""
        if not isinstance(written, dict) or "at_least" not in written:
            return written
        parse = {"throughput": parse_throughput, "rate": parse_rate, "busy": _parse_share}.get(
            str(written.get("measure"))
        )
        if parse is None:
            raise fault("a latency has an upper bound", "write `below: 10ms`", "at_least")
        try:
            return {**written, "at_least": parse(written["at_least"])}
        except UnitError as error:
            raise fault(error.message, error.hint, "at_least") from None

    @model_validator(mode="after")
    def _whole(self) -> "Requirement":
        if self.operation not in OPERATIONS:
            raise fault(f"{self.operation} is not an operation", choices_hint(self.operation, OPERATIONS), "operation")
        if self.is_latency:
            if self.below is None:
                raise fault(f"{self.measure} has no bound", "write `below: 10ms`")
            self._check_percentile()
        elif self.measure not in MEASURES:
            raise fault(f"{self.measure} is not a measure", choices_hint(self.measure, MEASURES), "measure")
        elif self.at_least is None or self.below is not None:
            raise fault(f"{self.measure} has no lower bound", "write `at_least`")
        if (self.measure == "busy") != (self.accelerator is not None):
            raise fault("`busy` and `accelerator` belong together", "write both or neither")
        return self

    def _check_percentile(self) -> None:
        if self.measure == "mean":
            return
        try:
            parse_percent(self.measure)
        except AssayError as error:
            raise fault(error.message, error.hint, "measure") from None

    @property
    def is_latency(self) -> bool:
        """Its bound is an upper one of a latency."""
        return self.measure == "mean" or (self.measure.startswith("p") and self.measure[1:2].isdigit())

    @property
    def limit(self) -> NeedLimit:
        """What is required of the number."""
        value = self.at_least if self.below is None else self.below
        assert value is not None
        return NeedLimit("iops" if self.measure == "rate" else self.measure, value, self.kind)


class Data(Frozen):
    """How much of the application's data is laid out.

    Attributes:
        field: Field of the work that is reduced so that laying out takes a few seconds.
        full: How much the source has, in words.
        full_bytes: The same in bytes.
        min_bytes: Fewest bytes that give a result.
        max_bytes: Most bytes that are laid out.
        seconds: Nanoseconds that laying it out may take.
    """

    field: Literal["file_size", "total_files"]
    full: Text
    full_bytes: Annotated[int, _parsed(parse_size)]
    min_bytes: Annotated[int, _parsed(parse_size)]
    max_bytes: Annotated[int, _parsed(parse_size)]
    seconds: Annotated[int, _parsed(parse_duration)]


class ProfileJob(Frozen):
    """Something that the application does at once, whose time follows from the throughput.

    Attributes:
        what: What it is, in words.
        bytes: How much it moves in each requirement that is a throughput.
    """

    what: Text
    bytes: Annotated[int, _parsed(parse_size)]


class Profile(Frozen):
    """What an application needs of its storage.

    Attributes:
        profile: Its name.
        about: One line for lists.
        question: The question that is answered.
        sources: Who states the requirements.
        requires: The requirements; all must be satisfied.
        files: Fields of the workload in directories and on devices; None: it needs objects.
        objects: Fields of the workload in buckets; None: it needs files.
        data: How much data is laid out; None: what the work writes is small.
        repeats: Repeats of the work.
        jobs: What takes how long at the measured throughput; of profiles that require one.
        method: How the answer is found, where that is not plain.
        not_covered: What the answer does not say.
    """

    profile: Annotated[str, Field(pattern="^[a-z0-9][a-z0-9-]{0,30}$")]
    about: Text
    question: Text
    sources: Annotated[tuple[Source, ...], Field(min_length=1)]
    requires: Annotated[tuple[Requirement, ...], Field(min_length=1)]
    files: dict[str, Any] | None = None
    objects: dict[str, Any] | None = None
    data: Data | None = None
    repeats: Annotated[int, Field(ge=3, le=100)] = 6
    jobs: tuple[ProfileJob, ...] = ()
    method: str = ""
    not_covered: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> "Profile":
        if self.files is None and self.objects is None:
            raise fault("it has no work", "write `files` or `objects`: the fields of a workload")
        works = [work for work in (self.files, self.objects) if work is not None]
        for place, need in enumerate(self.requires):
            if need.source > len(self.sources):
                raise fault(f"there is no source {need.source}", f"there are {len(self.sources)}", "requires", place)
            does = [work for work in works if need.operation in _operations(work)]
            if not does:
                hint = (
                    f"its operations: {', '.join(dict.fromkeys(name for work in works for name in _operations(work)))}"
                )
                raise fault(f"the work does no {need.operation}", hint, "requires", place, "operation")
            known = dict.fromkeys(kind for work in does for kind in _kinds(need.operation, work))
            if need.kind and need.kind not in known:
                hint = f"write {' or '.join(known)}, or leave it out" if known else "leave it out"
                message = f"{need.operation} of this work has no operations of kind {need.kind}"
                raise fault(message, hint, "requires", place, "kind")
        for name, work in (("files", self.files), ("objects", self.objects)):
            if work is not None and not any(need.operation in _operations(work) for need in self.requires):
                raise fault("nothing is required of its operations", "add a requirement to `requires`", name)
        return self

    def work(self, kind: Work) -> dict[str, Any] | None:
        """Return the fields of the workload for a kind of place; None if it cannot run there."""
        return self.files if kind == "files" else self.objects


def _operations(work: dict[str, Any]) -> list[str]:
    """Return the operations of a workload; empty if they are written wrongly, which reading the study reports."""
    written = work.get("operations")
    return [name for name in written if isinstance(name, str)] if isinstance(written, list) else []


def _kinds(operation: str, work: dict[str, Any]) -> list[str]:
    """Return the kinds of operations that an operation on data consists of: a flush counts if it is a call."""
    flushes = work.get("sync", Parameters.model_fields["sync"].default) in ("fsync", "fdatasync")
    return [
        *(["read"] if operation in READS else []),
        *(["write"] if operation in WRITES else []),
        *(["sync"] if operation in WRITES and flushes else []),
    ]
