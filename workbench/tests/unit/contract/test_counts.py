"""Counts by kind of operation: which are put together, added up, and count as progress."""

from dataclasses import dataclass

from assay.contract._generated import OpKind
from assay.contract.counts import group_by_kind, moved_bytes, operation_count, progress_counts, summed_fields


@dataclass(frozen=True)
class Part:
    operation: OpKind
    ops: int = 0
    bytes: int = 0
    errors: int = 0


OPENED, WRITTEN, CLOSED, READ = (
    Part(OpKind.open, 1, 0, 5),
    Part(OpKind.write, 20, 300, 7),
    Part(OpKind.close, 4000, 0, 0),
    Part(OpKind.read, 50_000, 600_000, 11),
)


def test_only_what_moves_data_is_progress_of_a_phase_on_data() -> None:
    parts = [OPENED, WRITTEN, CLOSED, READ]
    assert progress_counts(parts, data=True) == [WRITTEN, READ]
    assert progress_counts(parts, data=False) == parts


def test_operations_bytes_and_errors_are_each_added_up() -> None:
    more = Part(OpKind.write, 3, 40, 500)
    assert group_by_kind([OPENED, WRITTEN, READ, more]) == [[OPENED], [WRITTEN, more], [READ]]
    assert summed_fields(iter([WRITTEN, more])) == {"operation": OpKind.write, "ops": 23, "bytes": 340, "errors": 507}
    assert (operation_count([OPENED, WRITTEN, READ]), moved_bytes([OPENED, WRITTEN, READ])) == (50_021, 600_300)
