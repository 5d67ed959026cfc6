"""What the program of a trace did, beside what one repeat of a study does by its plan."""

from collections import Counter
from collections.abc import Iterator, Mapping

from assay.analyse.traces.summary import TraceSummary
from assay.model.study.case import Case
from assay.model.study.mixes import mix_of, moved_shares, read_share
from assay.model.study.names import METADATA
from assay.model.study.parameters import Parameters
from assay.model.units import about_count, about_size
from assay.plan.estimate import once_through
from assay.plan.expand import expand
from assay.plan.load import load_study
from assay.plan.phases import plan_phases

READ, WRITTEN, PREPARED = "bytes read", "bytes written", "prepare"
READS, WRITES, FLUSHES = "reads", "writes", "flushes"


def amount_lines(summary: TraceSummary, study: str, names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield each amount that differs in the study: what it is, and both amounts in words.

    Args:
        summary: The trace.
        study: The text of the study.
        names: Operation of a trace -> operation of the study, of those on names.
    """
    recorded, planned = _recorded(summary, names), _planned(study)
    for what in (READ, READS, WRITTEN, WRITES, FLUSHES, *names.values()):
        words = about_size if what in (READ, WRITTEN) else about_count
        before, after = words(recorded[what]), words(round(planned[what]))
        if before != after:
            yield what, f"{before} recorded, {after} in each repeat of the study"
    if planned[PREPARED]:
        yield PREPARED, f"{about_size(planned[PREPARED])} of files are made before the clock starts"


def _recorded(summary: TraceSummary, names: Mapping[str, str]) -> Counter[str]:
    found: Counter[str] = Counter()
    for reads, moved, count in ((True, READ, READS), (False, WRITTEN, WRITES)):
        total = summary.total(reads)
        found[moved], found[count] = total.moved, total.sizes.total
    # Each write is a flush, too, where a file was opened with O_SYNC or O_DSYNC.
    found[FLUSHES] = sum(one.flushes + one.writes * one.is_synced for one in summary.files.values())
    for op, name in names.items():
        found[name] = name_count(summary, op)
    return found


def name_count(summary: TraceSummary, op: str) -> int:
    """Return how often the program did an operation on names; lists are those of whole directories."""
    count = summary.operations[op].count if op in summary.operations else 0
    # At least two calls list a directory: the last one finds no more entries.
    return -(-count // 2) if op == "list" else count


def _planned(study: str) -> Counter[str]:
    loaded = load_study(study.encode(), ".")
    found: Counter[str] = Counter()
    for case in expand(loaded.study).cases if loaded.study is not None else ():
        _add(case, found)
    return found


def _add(case: Case, found: Counter[str]) -> None:
    parameters = case.parameters
    for operation, measured in plan_phases(case):
        if not measured:
            found[PREPARED] += parameters.data_set_bytes if operation == "prepare" else 0
            continue
        count, each = once_through(operation, parameters)
        if parameters.rate is not None and parameters.runtime is not None:
            count = parameters.rate * parameters.runtime / 1e9
        if operation in METADATA:
            found[operation] += round(count)
            continue
        share = read_share(operation, parameters)
        reads, writes = moved_shares(operation, parameters) if mix_of(operation, parameters) else (share, 1 - share)
        found[READS] += round(count * reads)
        found[READ] += round(count * share * each)
        found[WRITES] += round(count * writes)
        found[WRITTEN] += round(count * (1 - share) * each)
        if writes:
            found[FLUSHES] += _flushes(parameters, round(count * writes))


def _flushes(parameters: Parameters, writes: int) -> int:
    if parameters.sync in ("fsync", "fdatasync"):
        return parameters.all_files or parameters.all_lanes
    return writes if parameters.sync in ("o_sync", "o_dsync") else 0
