"""Evidence for advice: usable results of runs whose targets stand for designs, and files of published figures."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from assay.model.base import AssayError, Code
from assay.model.money.priced_designs import DesignEvidence, EvidenceMetric, MeasuredValue, RecoveryMetric
from assay.model.money.use import DesignChoice
from assay.model.result.verdict import OWN_SPEED
from assay.model.study.names import MIXES, READS, WRITES
from assay.model.units import format_size
from assay.model.user_files import UnreadableError, read_user_file
from assay.model.user_text import MAX_FILE_BYTES

if TYPE_CHECKING:
    from assay.model.result.result import Estimate, ResultRow, RunAnalysis
    from assay.rooms.advice.work.published_evidence import MeasuredRun

_RANDOM = frozenset({"random_read", "random_write"})
_UNFLUSHED = "unflushed_write"
"""The rule that finds writes without a flush; of what another tool measured, the user may know better."""


@dataclass
class GatheredEvidence:
    """The evidence from a run or file.

    Attributes:
        evidence: The figures that count.
        left_out: Reason -> number of results that do not count.
    """

    evidence: tuple[DesignEvidence, ...] = ()
    left_out: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class _Measured:
    """What is known of the results of one target, beside what they say themselves.

    Attributes:
        chosen: The design that the target stands for.
        clients: Hosts that measured, where a result does not say it; None: not stated.
        record: Bytes of each operation, likewise.
        uncached: The user states that storage did the work.
    """

    chosen: DesignChoice
    clients: int | None = None
    record: int | None = None
    uncached: bool = False


def gather_evidence(ref: str, runs: Path) -> GatheredEvidence:
    """Return the evidence from a run or file, and what is left out.

    A run gives the rows and intervals of its report, but only those with sound verdicts.

    Args:
        ref: A file of evidence, or a run as `assay show` takes it.
        runs: Folder of all runs.

    Raises:
        AssayError: There is no such file or run, the file is wrong, or the run has no designs.
    """
    from assay.run.analysis import load_analysis

    if _has_figures(Path(ref)):
        return _of_file(Path(ref), runs)
    try:
        analysis = load_analysis(ref, runs)
    except AssayError as error:
        if error.code is not Code.NEWER_RUN:
            raise
        return GatheredEvidence(left_out=Counter({error.message: 1}))
    prices = analysis.run.prices
    if prices is None:
        raise AssayError(
            f"{ref}: nothing says of which design its results are",
            f"write a file with `evidence: NAME` and `runs: [{{run: {ref}, design: DESIGN}}]`, and give it instead:"
            " docs/guides/advise.md, Results of other tools",
        )
    return _of_run(analysis, {target: _Measured(priced.chosen) for target, priced in prices.designs.items()})


def _of_file(path: Path, runs: Path) -> GatheredEvidence:
    """Return the figures of a file, and those of the runs that it names; errors as in `gather_evidence`."""
    from assay.rooms.advice.work.published_evidence import read_evidence_file

    file, source = read_evidence_file(path)
    found = GatheredEvidence(file.all())
    for place, each in enumerate(file.runs):
        try:
            gathered = _of_named(each, path.parent, runs)
        except AssayError as error:
            raise error.at(f"{path}:{source.position(('runs', place, 'run'))[0]}") from None
        found.evidence += gathered.evidence
        found.left_out += gathered.left_out
    return found


def _of_named(each: "MeasuredRun", folder: Path, runs: Path) -> GatheredEvidence:
    """Return what a run that a file names says of the design that the file names with it."""
    analysis = _analysis_of_named(each.run, folder, runs)
    targets = list(dict.fromkeys(row.case.target for row in analysis.rows))
    known = f"its targets are {', '.join(targets)}"
    if each.target is None and len(targets) > 1:
        raise AssayError(f"{each.run}: {known}", "add `target`, and an entry for each that counts")
    if each.target is not None and each.target not in targets:
        raise AssayError(f"{each.run}: no target {each.target}", known)
    chosen = DesignChoice(design=each.design, set=each.set)
    stated = _Measured(chosen, each.clients, each.record, each.uncached)
    return _of_run(analysis, dict.fromkeys([each.target] if each.target else targets, stated), is_named=True)


def _analysis_of_named(ref: str, folder: Path, runs: Path) -> "RunAnalysis":
    """Return the analysis of a run that a file names; paths start at the folder of the file.

    The file may come from a stranger and name any file of the user: what is wrong in such a file is not quoted, unless
    it is in the same folder.
    """
    from assay.run.analysis import load_analysis

    path = folder / ref
    if not path.exists():
        return load_analysis(ref, runs)
    try:
        return load_analysis(str(path), runs)
    except AssayError:
        if path.resolve().is_relative_to(folder.resolve()):
            raise
        raise AssayError(f"{ref}: cannot be read as results", f"`assay show {path}` shows why") from None


def _of_run(analysis: "RunAnalysis", designs: Mapping[str, _Measured], is_named: bool = False) -> GatheredEvidence:
    """Return the evidence from a run.

    Args:
        analysis: The run.
        designs: Target -> its design.
        is_named: Only the targets in `designs` are meant: the others are not left out for want of a design.
    """
    found = GatheredEvidence()
    is_imported = bool(analysis.run.imports)
    origin = analysis.run.import_words or f"run {analysis.run.id}"
    for row in analysis.rows:
        measured = designs.get(row.case.target)
        if measured is None and is_named:
            continue
        why = _unfit(row, measured, is_imported)
        if why:
            found.left_out[why] += 1
        elif measured is not None:
            found.evidence += tuple(_evidence(row, measured, origin))
    return found


def _has_figures(path: Path) -> bool:
    """Whether a file is one of figures: by its suffix, and JSON, in which other tools write too, by its first key."""
    if path.suffix != ".json":
        return path.suffix in (".yaml", ".yml")
    try:
        return b'"evidence"' in read_user_file(path, str(path), "", MAX_FILE_BYTES)
    except UnreadableError as error:
        return error.missing


def _unfit(row: "ResultRow", measured: _Measured | None, is_imported: bool) -> str:
    """Return why a row is no evidence; empty if it is."""
    if measured is None:
        return f"the target {row.case.target} names no design"
    if row.case.group == "programs" and _recovery(row):
        return ""
    if row.case.group != "data":
        return f"operations on {row.case.group}, which no need can require"
    if row.rate is None:
        return "no repeat succeeded"
    verdicts = [each.verdict for each in row.findings if not (is_imported and each.rule == _UNFLUSHED)]
    if not OWN_SPEED.issuperset(verdicts):
        return ", ".join(dict.fromkeys(verdicts))
    if _operation(row) in MIXES:
        return "reads and writes are mixed"
    return _unsaid(row, measured) if is_imported else ""


def _unsaid(row: "ResultRow", measured: _Measured) -> str:
    """Return what another tool's output lacks, without which nobody knows what its rate proves; empty if nothing.

    From runs of Assay itself the verdict says whether memory did the work.
    """
    get = row.case.parameters.get_value
    if get("record_size", measured.record) is None:
        return "the size of its records is not known: state `record`"
    if measured.uncached:
        return ""
    if _operation(row) in WRITES:
        why = "memory may still have held what was written, as no flush is stated"
        return f"{why}: if not, state `uncached: true`" if get("sync") in (None, "none") else ""
    why = "memory may have answered the reads, as direct I/O is not stated"
    return f"{why}: if not, state `uncached: true`" if get("cache") != "direct" else ""


def _operation(row: "ResultRow") -> str:
    return row.operation.split(" ", 1)[0]


def _recovery(row: "ResultRow") -> dict[RecoveryMetric, "Estimate"]:
    """Return what a replication says of recovery; empty if the row is none, or has no sound repeat."""
    from assay.analyse.programs.results import command_result

    result = command_result(row)
    figures = {} if result is None else result.figures
    names: dict[RecoveryMetric, str] = {"recovery_point": "lag longest", "recovery_time": "recovery time"}
    return {metric: figures[name] for metric, name in names.items() if name in figures and figures[name].median > 0}


def _evidence(row: "ResultRow", known: _Measured, origin: str) -> Iterator[DesignEvidence]:
    if row.case.group == "programs":
        for name, time in _recovery(row).items():
            source = f"{origin}, {row.case.id} {row.case.workload}"
            yield DesignEvidence(chosen=known.chosen, metric=name, measured=_measured(time), source=source)
        return
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
    record, clients = _agreed(row, "record_size", known.record), _agreed(row, "hosts", known.clients)
    for metric, measured in values:
        yield DesignEvidence(
            chosen=known.chosen,
            metric=metric,
            measured=measured,
            pattern="random" if random else "sequential",
            record=record,
            clients=clients,
            source=f"{origin}, {row.case.id} {row.operation}{_stated_words(row, known)}",
        )


def _agreed(row: "ResultRow", name: str, stated: int | None) -> int | None:
    """Return a parameter of a row as it says it, or as the user states it.

    Raises:
        AssayError: The two contradict each other.
    """
    said = row.case.parameters.get_value(name)
    if said is not None and stated is not None and said != stated:
        key, show = ("record", format_size) if name == "record_size" else ("clients", str)
        message = f"`{key}` is {show(stated)}, but {row.case.id} {row.operation} was measured with {show(said)}"
        raise AssayError(message, f"leave `{key}` out where the results say it")
    return stated if said is None else int(said)


def _stated_words(row: "ResultRow", known: _Measured) -> str:
    """Return what the user states of a row that does not say it: `; as stated: 8 clients`; empty if nothing."""
    get = row.case.parameters.get_value
    parts = [
        f"records of {format_size(known.record)}" if known.record and get("record_size") is None else "",
        f"{known.clients} client{'s' * (known.clients > 1)}" if known.clients and get("hosts") is None else "",
        "not in memory" if known.uncached else "",
    ]
    words = ", ".join(part for part in parts if part)
    return f"; as stated: {words}" if words else ""


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
