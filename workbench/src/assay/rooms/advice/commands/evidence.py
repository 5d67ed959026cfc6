"""Evidence for advice: usable results of runs whose targets name designs, and files of published figures."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from assay.model.base import AssayError, Code
from assay.model.money.priced_designs import DesignEvidence, EvidenceMetric, MeasuredValue
from assay.model.money.use import DesignChoice
from assay.model.study.names import MIXES, READS, WRITES
from assay.model.user_files import UnreadableError, read_user_file
from assay.model.user_text import MAX_FILE_BYTES

if TYPE_CHECKING:
    from assay.model.result.result import Estimate, ResultRow

_RANDOM = frozenset({"random_read", "random_write"})


@dataclass
class GatheredEvidence:
    """The evidence from a run or file.

    Attributes:
        evidence: The figures that count.
        left_out: Reason -> number of results that do not count.
    """

    evidence: tuple[DesignEvidence, ...] = ()
    left_out: Counter[str] = field(default_factory=Counter)


def gather_evidence(ref: str, runs: Path) -> GatheredEvidence:
    """Return the evidence from a run or file, and what is left out.

    A run gives the rows and intervals of its report, but only those with sound verdicts.

    Args:
        ref: A file of evidence, or a run as `assay show` takes it, also of what another tool wrote.
        runs: Folder of all runs.

    Raises:
        AssayError: There is no such file or run, the file is wrong, or the run has no designs.
    """
    from assay.rooms.advice.work.published_evidence import read_evidence_file
    from assay.run.analysis import load_analysis

    if _has_figures(Path(ref)):
        return GatheredEvidence(read_evidence_file(Path(ref)))
    try:
        analysis = load_analysis(ref, runs)
    except AssayError as error:
        if error.code is not Code.NEWER_RUN:
            raise
        return GatheredEvidence(left_out=Counter({error.message: 1}))
    prices = analysis.run.prices
    if prices is None:
        hint = "name the designs of its targets under `prices` in the study, and run it again"
        if analysis.run.imports:
            hint = "write what it says of a design in a file of figures: docs/guides/advise.md"
        raise AssayError(f"the run {analysis.run.id} names no design for its targets", hint)
    found = GatheredEvidence()
    evidence = []
    for row in analysis.rows:
        chosen = prices.designs[row.case.target].chosen if row.case.target in prices.designs else None
        why = _unfit(row, chosen is not None)
        if why:
            found.left_out[why] += 1
        elif chosen is not None:
            evidence += list(_evidence(row, chosen, analysis.run.id))
    found.evidence = tuple(evidence)
    return found


def _has_figures(path: Path) -> bool:
    """Whether a file is one of figures: by its suffix, and JSON, in which other tools write too, by its first key."""
    if path.suffix != ".json":
        return path.suffix in (".yaml", ".yml")
    try:
        return b'"evidence"' in read_user_file(path, str(path), "", MAX_FILE_BYTES)
    except UnreadableError as error:
        return error.missing


def _unfit(row: "ResultRow", has_design: bool) -> str:
    """Return why a row is no evidence; empty if it is."""
    from assay.report.view import is_sound

    if not has_design:
        return f"the target {row.case.target} names no design"
    if row.case.group != "data":
        return f"operations on {row.case.group}, which no need can require"
    if row.rate is None:
        return "no repeat succeeded"
    if not is_sound(row):
        return ", ".join(str(verdict) for verdict in row.verdicts)
    return "reads and writes are mixed" if _operation(row) in MIXES else ""


def _operation(row: "ResultRow") -> str:
    return row.operation.split(" ", 1)[0]


def _evidence(row: "ResultRow", chosen: DesignChoice, run: str) -> Iterator[DesignEvidence]:
    operation = _operation(row)
    random = operation in _RANDOM
    read = operation in READS
    assert read or operation in WRITES
    metrics: list[tuple[EvidenceMetric, Estimate | None]] = [
        ("read" if read else "write", row.throughput),
        ("read_iops" if read else "write_iops", row.iops),
    ]
    values = [(metric, _measured(estimate)) for metric, estimate in metrics if estimate is not None]
    if (p99 := _p99(row)) is not None:
        values.append(("read_latency_p99" if read else "write_latency_p99", p99))
    for metric, measured in values:
        yield DesignEvidence(
            chosen=chosen,
            metric=metric,
            measured=measured,
            pattern="random" if random else "sequential",
            record=row.case.parameters.get_value("record_size"),
            clients=row.case.parameters.get_value("hosts"),
            source=f"run {run}, {row.case.id} {row.operation}",
        )


def _measured(estimate: "Estimate") -> MeasuredValue:
    low = estimate.median if estimate.low is None else estimate.low
    high = estimate.median if estimate.high is None else estimate.high
    return MeasuredValue(value=estimate.median, low=low, high=high)


def _p99(row: "ResultRow") -> MeasuredValue | None:
    """Return the row's p99 in seconds, with its interval if it has one; None if there were too few operations."""
    tail = row.percentile("p99")
    if tail is None or not tail.value:
        return None
    low, high = (tail.value if end is None else end for end in tail.interval)
    return MeasuredValue(value=tail.value / 1e9, low=low / 1e9, high=high / 1e9)
