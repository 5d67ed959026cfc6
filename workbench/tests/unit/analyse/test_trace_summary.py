"""Sums of traces: order, mix, tasks, time; in memory that does not grow with operations."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analyse.traces.course import BINS, FIRST_WIDTH, MAX_PHASES, TraceCourse
from assay.analyse.traces.sizes import EXACT, SizeCounts
from assay.analyse.traces.summary import TraceSummary, summarise
from assay.model.trace.records import End, File, Record, Task, TraceHeader, TraceOperation, Wait


def op(start: int, op: str, offset: int | None, moved: int, task: int = 1, file: int = 1, **more: object) -> Record:
    values = {"duration": 10, "length": moved, "result": moved, "flags": "-", **more}
    return TraceOperation(start=start, task=task, op=op, file=file, offset=offset, **values)  # type: ignore[arg-type]


def summary(*records: Record) -> TraceSummary:
    files = [File(1, "f", 1000, "a"), File(2, "o", None, "b")]
    return summarise(TraceHeader("strace"), [Task(1, None, 0), *files, *records])


def test_what_begins_where_the_one_before_ended_is_sequential() -> None:
    found = summary(
        *(op(0, "read", 0, 10), op(20, "read", 10, 10), op(40, "read", 90, 10), op(60, "read", 100, 0)),
        Task(2, 1, 70),
        *(op(80, "read", 50, 10, task=2), op(90, "read", 60, 10, task=2), op(100, "read", 100, 10)),
    )
    reads = found.operations["read"]
    assert (reads.count, reads.placed, reads.sequential, reads.moved) == (7, 7, 5, 60)


def test_a_file_that_is_opened_again_is_read_from_its_beginning() -> None:
    found = summary(op(0, "read", 0, 10), op(20, "close", None, 0), op(40, "read", 0, 10), op(60, "read", 0, 10))
    assert found.operations["read"].sequential == 2


def test_failed_operations_and_objects_have_no_order() -> None:
    found = summary(op(0, "read", 0, 10, result="-EIO"), op(20, "get", 0, 10, file=2))
    assert (found.operations["read"].failed, found.operations["read"].placed) == (1, 0)
    assert (found.operations["get"].placed, found.operations["get"].moved) == (0, 10)


def test_tasks_and_operations_at_the_same_time_are_counted() -> None:
    found = summary(
        op(0, "read", 0, 10, duration=100), Task(2, 1, 10), op(20, "write", 0, 7, task=2), End(2, 40), Wait(1, 2),
        Task(3, 1, 50), op(99, "stat", None, 0, task=3), op(130, "stat", None, 0), End(3, 150), End(1, 160),
    )  # fmt: skip
    assert (found.tasks, found.max_tasks, found.moving_tasks, found.waits) == (3, 2, 2, 1)
    assert (found.max_in_flight, found.busy, found.end) == (2, 109 + 10, 160)
    assert [(one.file.name, one.read, one.written, one.size) for one in found.top_files()] == [("a", 10, 7, 1000)]


def test_sizes_are_those_of_what_was_moved_and_a_copy_is_one_operation_at_a_time() -> None:
    found = summary(
        *(op(0, "read", 0, 500), op(10, "write", 0, 500, duration=0)),
        *(op(20, "read", 500, 70, length=131072), op(40, "read", 570, 0, length=131072)),
    )
    assert list(found.operations["read"].sizes.items()) == [(70, 1), (500, 1)]
    assert found.max_in_flight == 1


@given(st.lists(st.integers(0, 2**40), min_size=1, max_size=50))
def test_bins_hold_all_however_long_it_takes(times: list[int]) -> None:
    course = TraceCourse()
    for time in times:
        course.add(time, 3, 1)
    spans = course.spans()
    assert len(spans) <= BINS and sum(one.operations for one in spans) == len(times)
    assert spans[-1].begin <= max(times) < spans[-1].end
    phases = course.phases()
    assert len(phases) <= MAX_PHASES and sum(one.read for one in phases) == 3 * len(times)
    assert phases[0].begin == 0 and all(a.end == b.begin for a, b in pairwise(phases))


def test_phases_are_what_happens_mostly() -> None:
    course = TraceCourse()
    for number in range(30):
        course.add(number * FIRST_WIDTH, 10 if number < 10 else 0, 10 if number >= 20 else 0)
    assert [one.kind for one in course.phases()] == ["reads", "no data", "writes"]
    course.add(60 * FIRST_WIDTH, 10, 10)
    assert [one.kind for one in course.phases()] == ["reads", "no data", "writes", "quiet", "reads and writes"]


def test_sizes_are_exact_until_there_are_many() -> None:
    sizes = SizeCounts()
    for size in (4096, 4096, 8192, 100):
        sizes.add(size)
    assert (sizes.quantile(0.5), sizes.quantile(0.95)) == (4096, 8192)
    assert sizes.common(2, 0.3) == [(4096, 0.5)]
    for size in range(1, 3 * EXACT):
        sizes.add(size)
    assert len(list(sizes.items())) <= EXACT
    assert sizes.total == 3 * EXACT + 3 and sizes.quantile(0.5) == pytest.approx(1.5 * EXACT, rel=0.01)
