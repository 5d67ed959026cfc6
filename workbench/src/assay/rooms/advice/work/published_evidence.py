"""Evidence files: published measurements of designs, and runs with the design that each has measured.

Those of `evidence/` come with Assay and always count.
"""

import functools
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from assay.model.frozen import Frozen
from assay.model.money.priced_designs import DesignEvidence, EvidenceMetric, MeasuredValue
from assay.model.money.use import DesignChoice, Size
from assay.model.source import YamlSource
from assay.model.study.axis import fault
from assay.model.units import UnitError, parse_duration, parse_rate, parse_throughput
from assay.model.user_files import read_user_file
from assay.model.user_text import MAX_FILE_BYTES
from assay.model.yaml_files import read_located_model, read_model

EVIDENCE = Path(__file__).with_name("evidence")
GUIDE = "docs/guides/advise.md"
LABEL = "file of figures"


def _amount(metric: str, written: object) -> float:
    if metric.endswith("latency_p99") or metric.startswith("recovery"):
        return parse_duration(written) / 1e9
    return parse_rate(written) if metric.endswith("_iops") else parse_throughput(written)


class PublishedFigure(Frozen):
    """One figure.

    Attributes:
        value: `151.3MB/s`, `5000/s` for operations, `2ms` for latencies; `low` and `high` are written the same way.
        clients: Number of hosts that measured it.
        source: The place in the file's source.
    """

    design: str = Field(min_length=1)
    set: dict[str, Any] = Field(default_factory=dict)
    metric: EvidenceMetric
    value: Any
    low: Any = None
    high: Any = None
    pattern: Literal["sequential", "random"] | None = None
    record: Size | None = Field(None, gt=0)
    clients: int | None = Field(None, ge=1)
    source: str = ""

    @model_validator(mode="after")
    def _measured(self) -> "PublishedFigure":
        self.measured()
        return self

    def measured(self) -> MeasuredValue:
        """Return the value and its interval; without an interval, both ends are the value.

        Raises:
            PydanticCustomError: It cannot be read, or is not between the ends.
        """
        parsed: dict[str, float] = {}
        for name in ("value", "low", "high"):
            written = getattr(self, name)
            written = self.value if written is None else written
            try:
                parsed[name] = _amount(self.metric, written)
            except UnitError as error:
                raise fault(error.message, error.hint, name) from None
        if not 0 < parsed["low"] <= parsed["value"] <= parsed["high"]:
            low, high = (self.value if end is None else end for end in (self.low, self.high))
            raise fault(f"{self.value} is not between {low} and {high}", "write low <= value <= high", "value")
        return MeasuredValue(**parsed)


class MeasuredRun(Frozen):
    """A run, and the design that it has measured.

    Attributes:
        run: A run as `assay show` takes it, also a file of another tool; paths start at the folder of the file.
        target: The run's target that was of the design; None: its only one.
        clients: Hosts that measured, where the run does not say it.
        record: Bytes of each operation, likewise.
        uncached: The user states that storage did the work, and not the memory of a client.
    """

    run: str = Field(min_length=1)
    target: str | None = None
    design: str = Field(min_length=1)
    set: dict[str, Any] = Field(default_factory=dict)
    clients: int | None = Field(None, ge=1)
    record: Size | None = Field(None, gt=0)
    uncached: bool = False


class EvidenceFile(Frozen):
    """The figures of one source, and runs; at least one of the two."""

    evidence: str = Field(min_length=1)
    about: str = ""
    source: str = ""
    figures: tuple[PublishedFigure, ...] = ()
    runs: tuple[MeasuredRun, ...] = ()

    @model_validator(mode="after")
    def _complete(self) -> "EvidenceFile":
        if not self.figures and not self.runs:
            raise fault("neither `figures` nor `runs`", f"add one of them; see {GUIDE}")
        if self.figures and not self.source:
            raise fault("`source` is missing", f"add where the figures are from; see {GUIDE}")
        return self

    def all(self) -> tuple[DesignEvidence, ...]:
        """Return each figure as evidence."""
        return tuple(
            DesignEvidence(
                chosen=DesignChoice(design=item.design, set=item.set),
                metric=item.metric,
                measured=item.measured(),
                pattern=item.pattern,
                record=item.record,
                clients=item.clients,
                source=", ".join(part for part in (self.source, item.source) if part),
            )
            for item in self.figures
        )


def read_evidence_file(path: Path) -> tuple[EvidenceFile, YamlSource]:
    """Return the content of a file, and the source with the lines of its values.

    Raises:
        AssayError: It cannot be read, or is wrong; the message names the line.
    """
    data = read_user_file(path, str(path), "give a run, or an evidence file", MAX_FILE_BYTES)
    return read_located_model(EvidenceFile, data, str(path), GUIDE, LABEL)


@functools.cache
def published_evidence() -> tuple[DesignEvidence, ...]:
    """Return all figures that come with Assay."""
    files = sorted(EVIDENCE.glob("*.yaml"))
    read = [read_model(EvidenceFile, path.read_bytes(), str(path), GUIDE, LABEL) for path in files]
    return tuple(item for each in read for item in each.all())
