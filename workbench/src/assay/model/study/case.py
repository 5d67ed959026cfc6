"""One point of a study, with all defaults filled in."""

from assay.model.frozen import Frozen
from assay.model.study.axis import AxisValue
from assay.model.study.names import (
    ANY_ORDER,
    BATCHES,
    DATA,
    MIXES,
    OBJECTS,
    READS,
    SEARCHES,
    VISIBILITY,
    WORK,
    Group,
    group_of,
    is_metadata,
)
from assay.model.study.parameters import Parameters


class Case(Frozen):
    """One point of the study: a target, a sequence of operations, and all parameters.

    Attributes:
        id: `c0001`, `c0002`, ... in plan order.
        axes: The swept parameters only, in the study's order, as resolved values (bytes, nanoseconds).
        label: One line for display, e.g. `disk / grid / file_size=64MiB record_size=4KiB`.
    """

    id: str
    target: str
    workload: str
    operations: tuple[str, ...]
    parameters: Parameters
    axes: dict[str, AxisValue]
    label: str

    @property
    def group(self) -> Group:
        """What its operations work on; the same for all operations of a case."""
        return group_of(self.operations[0])

    @property
    def is_metadata(self) -> bool:
        """Whether its operations work on names and attributes."""
        return self.group == "names"


class ExcludedPoint(Frozen):
    """A point that the study leaves out, with the reason."""

    target: str
    workload: str
    axes: dict[str, AxisValue]
    rule: str
    reason: str


def job_kind(parameters: Parameters, operation: str) -> str | None:
    """Return what determines the engine's own cost of an operation; None if it cannot be measured without storage.

    The engine does not look at data that it reads, so record and file sizes do not matter. Data to be verified would
    have to be written first, which needs storage.
    """
    shape = f"lanes={parameters.host_lanes} depth={parameters.queue_depth}"
    if is_metadata(operation):
        contents = f" bytes={parameters.file_size}" if operation == "create" else ""
        return f"{operation} {shape}{contents}"
    if operation in OBJECTS:
        return _object_kind(parameters, operation, shape)
    if operation not in DATA or operation == "file_mix" or (operation in READS and parameters.verify):
        return None
    if operation in READS and operation not in MIXES:
        return f"{'random_read' if operation == 'random_read' else 'read'} {shape}"
    made = f"record={parameters.record_size} compressible={parameters.compressible} duplicate={parameters.duplicate}"
    if operation in MIXES:
        return f"{operation} {shape} read_percent={parameters.read_percent} {made}"
    return f"{'random_write' if operation == 'random_write' else 'write'} {shape} {made}"


def _object_kind(parameters: Parameters, operation: str, shape: str) -> str | None:
    """Return the same as `job_kind` for an operation on objects, which are generated and examined piece by piece."""
    work = WORK[operation]
    # Reading objects of unknown size cannot be measured without storage either.
    if (work.reads and (parameters.verify or parameters.has_existing_objects)) or operation in SEARCHES | VISIBILITY:
        return None
    words = [operation, shape]
    if work.reads or work.writes:
        words.append(f"object_size={parameters.object_size}")
    if operation == "get" and parameters.range is not None:
        words.append(f"range={parameters.range}")
    if operation == "object_mix":
        words.append(f"mix={parameters.mix}")
    if operation in BATCHES:
        words.append(f"batch={parameters.batch}")
    if operation in ANY_ORDER and parameters.access != "uniform":
        words.append(f"access={parameters.access}")
    if work.writes:
        if parameters.part_size is not None:
            words.append(f"part_size={parameters.part_size}")
        words.append(f"compressible={parameters.compressible} duplicate={parameters.duplicate}")
    return " ".join(words)
