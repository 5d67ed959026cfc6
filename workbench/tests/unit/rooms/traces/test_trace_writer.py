"""Traces are sorted outside of memory, and names of files are replaced."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trace_tools import text_of

from assay.model.trace.reader import open_trace
from assay.model.trace.records import End, File, Task, TraceHeader, TraceOperation
from assay.rooms.traces.work import writer
from assay.rooms.traces.work.names import Names
from assay.rooms.traces.work.writer import TraceWriter


class Some:
    """Files of which every third is left out; those of operations that append had 100 bytes."""

    def record(self, file: int) -> File | None:
        """The record of a file."""
        return None if file % 3 == 0 else File(file, "f", 100, f"f{file}")

    def base(self, file: int) -> int:
        """The size to which offsets of appends are relative."""
        return 100 * file


def operation(start: int, file: int, offset: int = 0) -> TraceOperation:
    return TraceOperation(start, 1, 1, "write", file, offset, 5, 5, "-")


@pytest.mark.parametrize(("chunk", "pieces"), [(50_000, 128), (3, 128), (3, 2)])
def test_records_of_any_order_are_sorted_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int, pieces: int
) -> None:
    monkeypatch.setattr(writer, "CHUNK", chunk)
    monkeypatch.setattr(writer, "MAX_PIECES", pieces)
    made = TraceWriter()
    made.add(Task(1, None, 0))
    starts = [(number * 7919) % 101 for number in range(1, 60)]
    for start in starts:
        made.add(operation(start, 1 + start % 4))
    made.add(operation(50, 2, offset=7), appended=True)
    made.add(End(1, 1000))
    totals = made.write(tmp_path / "t.trace.gz", TraceHeader("strace"), Some())
    kept = [start for start in starts if (1 + start % 4) % 3]
    assert totals == (len(kept) + 1, 0, 5 * (len(kept) + 1))
    with open_trace(tmp_path / "t.trace.gz") as trace:
        found = list(trace.records)
    assert [one.start for one in found if isinstance(one, TraceOperation)] == sorted([*kept, 50])
    assert [one.id for one in found if isinstance(one, File)] == [1, 2, 3]
    appended = [one for one in found if isinstance(one, TraceOperation) and one.offset]
    assert [(one.start, one.offset) for one in appended] == [(50, 207)]
    assert found[0] == Task(1, None, 0) and found[-1] == End(1, 1000)
    assert [path.name for path in tmp_path.iterdir()] == ["t.trace.gz"]


def test_equal_traces_have_equal_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        made = TraceWriter()
        made.add(operation(1, 1))
        made.write(tmp_path / name, TraceHeader("fio"), Some())
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert text_of(tmp_path / "a")[1:] == ["F\t1\tf\t100\tf1", "O\t1\t1\t1\twrite\t1\t0\t5\t5\t-"]


PATHS = st.lists(st.text("ab.é\udcff", min_size=1, max_size=9).filter(lambda part: set(part) != {"."}), min_size=1)


@given(PATHS)
def test_parts_of_names_are_replaced_and_depth_stays(parts: list[str]) -> None:
    path = "/w/" + "/".join(parts)
    name = Names(["/w"], salt=b"s").of_path(path)
    assert len(name.split("/")) == len(parts)
    assert Names(["/w"], salt=b"s").of_path(path) == name
    assert Names(["/w"], salt=b"other").of_path(path) != name
    assert Names(["/w"], keep=True).of_path(path) == "/".join(parts)


def test_extensions_stay_and_equal_parts_are_equal() -> None:
    names = Names(["/w/a", "/w/b"], salt=b"s")
    first, second = (names.of_path(path).split("/") for path in ("/w/a/x.tar.gz", "/w/b/x.tar.gz"))
    assert first[1] == second[1] and first[1].endswith(".gz") and first[0] != second[0] and len(first[1]) == 13
    assert names.of_path("/w") == "." and "." not in names.of_path("/w/a/.bashrc")
    assert "." not in Names(salt=b"s").of_path("/w/a.verylongextension")
