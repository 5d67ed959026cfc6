"""Records of traces: what is written is read, and nothing else is."""

import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trace_tools import HEAD, packed

from assay.model.base import AssayError
from assay.model.trace.reader import read_trace
from assay.model.trace.records import (
    FILE_KINDS,
    MAX_NUMBER,
    OPS,
    End,
    File,
    Record,
    RecordError,
    Task,
    TraceHeader,
    TraceOperation,
    Wait,
    header_line,
    parse_header,
    parse_record,
    record_line,
    unescape_name,
)

NUMBERS = st.integers(0, MAX_NUMBER)
IDS = st.integers(1, 2**32)
NAMES = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\udc80\udcff\\\t\n\r"))
RECORDS = st.one_of(
    st.builds(File, IDS, st.sampled_from(sorted(FILE_KINDS)), st.none() | NUMBERS, NAMES),
    st.builds(Task, IDS, st.none() | IDS, NUMBERS),
    st.builds(End, IDS, NUMBERS),
    st.builds(Wait, IDS, IDS),
    st.builds(
        TraceOperation,
        *(NUMBERS, NUMBERS, IDS, st.sampled_from(sorted(OPS)), IDS, st.none() | NUMBERS, st.none() | NUMBERS),
        NUMBERS | st.sampled_from(["-ENOENT", "-EIO"]),
        st.sampled_from(["-", "rw", "wct", ">7"]),
    ),
)
HEADERS = st.builds(
    TraceHeader,
    st.sampled_from(["strace", "fio", "sai3"]),
    st.none() | st.lists(st.text(st.characters(exclude_categories=["Cs"]))),
    st.none() | st.just("2026-03-01T12:00:00+00:00"),
    st.none() | NUMBERS,
    st.none() | NUMBERS,
    st.dictionaries(st.sampled_from(["mmap", "sync"]), st.integers(1, 99)),
)


@given(RECORDS)
def test_a_record_is_read_as_it_was_written(record: Record) -> None:
    line = record_line(record)
    assert "\n" not in line and "\r" not in line
    # Bytes that are not UTF-8 are escaped, so that every line can be encoded.
    assert parse_record(line.encode().decode()) == record


@given(HEADERS)
def test_a_header_is_read_as_it_was_written(header: TraceHeader) -> None:
    assert parse_header(header_line(header)) == header


@pytest.mark.parametrize(
    "line",
    [
        *(
            "",
            "X\t1",
            "O\t1",
            "E\t1\t2\t3",
            "E\t-1\t2",
            "E\t1_0\t2",
            f"E\t1\t{MAX_NUMBER + 1}",
            "E\t١\t2",
            "T\t1\t-\t",
            "F\t1\tx\t-\tn",
        ),
        *("F\t1\tf\t-\ta\\q", "O\t0\t0\t1\tcopy\t1\t-\t-\t0\t-", "O\t0\t0\t1\tread\t1\t-\t-\tENOENT\t-"),
        *("O\t0\t0\t1\topen\t1\t-\t-\t0\tq", "O\t0\t0\t1\trename\t1\t-\t-\t0\t>0", "O\t0\t0\t1\topen\t1\t-\t-\t0\t"),
    ],
)
def test_other_lines_are_no_records(line: str) -> None:
    with pytest.raises(RecordError):
        parse_record(line)


def test_escapes_of_names_are_few() -> None:
    assert unescape_name(r"a\\b\t\n\r\xff") == "a\\b\t\n\r\udcff"


TASK, FILE, READ = "T\t1\t-\t5", "F\t1\tf\t-\tx", "O\t9\t0\t1\tread\t1\t0\t1\t1\t-"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "trace: the file is empty"),
        (b"plain", "trace: this is not compressed by gzip"),
        (packed(TASK)[:-9], "trace: the trace is cut off after line 2"),
        (packed(TASK) + b"more", "trace: the trace is damaged"),
        (gzip.compress(b"x\n", mtime=0), "trace:1: the first line is not that of a trace"),
        (gzip.compress(b"[]\n", mtime=0), "trace:1: the first line is not that of a trace"),
        (gzip.compress(HEAD.encode(), mtime=0), "trace:1: the trace is cut off within a line"),
        (gzip.compress(b"\xff\n", mtime=0), "trace:1: this is not text in UTF-8"),
        (packed(head='{"assay_trace":2,"source":"fio"}'), "trace:1: format 2 of traces is not known, only 1"),
        (packed(head='{"assay_trace":1,"source":"x"}'), "trace:1: the source of a trace is one of strace, fio"),
        (packed(TASK, FILE, "x" * 70000), "trace:4: the line is too long"),
        (packed(TASK, READ), "trace:3: file 1 has no record F before this one"),
        (packed(FILE, READ), "trace:3: task 1 has no record T before this one"),
        (packed(TASK, FILE, READ, "E\t1\t8"), "trace:5: 8 ns is before the record above, which is at 9 ns"),
        (packed(TASK, TASK), "trace:3: task 1: the id is taken"),
        (packed(FILE, "F\t0\tf\t-\tx"), "trace:3: ids begin with 1"),
        (packed(TASK, FILE, READ.replace("\t-", "\t>2")), "trace:4: file 2 has no record F before this one"),
        (packed(TASK, "W\t1\t2"), "trace:3: task 2 has no record T before this one"),
    ],
)
def test_a_trace_that_breaks_the_format_is_one_line(content: bytes, message: str) -> None:
    with pytest.raises(AssayError) as error:
        list(read_trace(io.BytesIO(content), "trace").records)
    assert error.value.message.startswith(message) and error.value.hint


def test_several_members_are_one_trace() -> None:
    content = packed(TASK, FILE) + gzip.compress(f"{READ}\n".encode())
    found = list(read_trace(io.BytesIO(content), "trace").records)
    assert found == [Task(1, None, 5), File(1, "f", None, "x"), TraceOperation(9, 0, 1, "read", 1, 0, 1, 1, "-")]
