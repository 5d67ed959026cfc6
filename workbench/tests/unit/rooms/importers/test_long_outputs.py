"""Long outputs: what is added up takes no more memory for a longer file, and nothing of it is lost."""

import gzip
import hashlib
import json
import re
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain, count, cycle
from pathlib import Path

import pytest
from imported_samples import FOLDER, sample_paths, sample_text

from assay.model.base import AssayError
from assay.rooms.importers.work import file_text, json_pieces, long_text, table_text, text_source
from assay.rooms.importers.work.databases import pgbench
from assay.rooms.importers.work.fio_text import parts
from assay.rooms.importers.work.iperf import csv2, json3, rows, text2
from assay.rooms.importers.work.network import ping
from assay.rooms.importers.work.registry import UnknownColumnsError, read_outputs
from assay.rooms.importers.work.results import ImportedResult, ImportOptions, ToolOutput
from assay.rooms.importers.work.tools import IMPORTERS

RANDOM = ImportOptions(order="random")
MOST_SAMPLES = 2
"""About as many samples of a tool are read in small pieces."""
LONG, SHORT = 3 << 17, 1 << 16
MORE = (LONG - SHORT) // 2
"""Bytes that the long file may take more: if it were held, it would be its length several times over."""
SMALL = (
    (text_source, "_SHORT", 1 << 14),
    (text_source, "CHUNK", 1 << 14),
    (file_text, "CHUNK", 1 << 14),
    (json_pieces, "_MIN_READ", 1 << 12),
    (parts, "_MAX_LINES", 20),
    (rows, "MAX_ROWS", 100),
    (text2, "MAX_ROWS", 100),
    (csv2, "MAX_ROWS", 100),
    (json3, "_MAX_INTERVALS", 1 << 12),
    (ping, "MAX_FIGURES", 100),
    (pgbench, "MAX_FIGURES", 100),
)
"""Sizes of pieces, and how much is kept: small, so that short files are long."""


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, size in SMALL:
        assert getattr(module, name) > size
        monkeypatch.setattr(module, name, size)


def outputs_of(path: Path) -> list[ToolOutput]:
    return read_outputs(str(path), RANDOM)


def measured_in(outputs: list[ToolOutput]) -> list[ImportedResult]:
    return [one for output in outputs for one in output.results if one.measured]


def fio_json(name: str) -> Iterator[str]:
    """Outputs of one job, one each second."""
    text = sample_text("fio", name)
    for second in count(1):
        one = re.sub(r'("timestamp_ms" : )[0-9]+', rf"\g<1>{1_700_000_000_000 + second * 1000}", text)
        one = re.sub(r'("total_ios" : )[1-9][0-9]+', rf"\g<1>{100_000 + second}", one)
        yield re.sub(r'("runtime" : )[1-9][0-9]+', rf"\g<1>{second * 1000}", one)


def fio_text() -> Iterator[str]:
    head, *reports = re.split(r"(?=^n: \(groupid)", sample_text("fio", "3.33-status-interval.txt"), flags=re.MULTILINE)
    plain = [re.sub(r"^3;.*\n", "", one, flags=re.MULTILINE) for one in (head, *reports)]
    plain[0] = plain[0].replace("ioengine=null", "ioengine=psync")
    yield plain[0]
    while True:
        yield plain[1]


def fio_terse() -> Iterator[str]:
    fields = sample_text("fio", "3.33-terse-status-interval.txt").splitlines()[-1].split(";")
    for second in count(1):
        yield ";".join((*fields[:46], str(second * 4000), "4000", "1000", str(second * 1000), *fields[50:])) + "\n"


def warp_log() -> Iterator[str]:
    lines = sample_text("warp", "1.6.1-get.csv").splitlines()
    heads, row = lines[0].split("\t"), dict(zip(lines[0].split("\t"), lines[1].split("\t"), strict=True))
    yield lines[0] + "\n"
    begin = datetime(2026, 11, 29, tzinfo=UTC)
    for number in count():
        start = begin + timedelta(microseconds=200 * number)
        end = start + timedelta(microseconds=1000 + number % 97)
        row |= {"start": start.isoformat(timespec="microseconds"), "end": end.isoformat(timespec="microseconds")}
        row |= {"first_byte": row["end"], "duration_ns": str((1000 + number % 97) * 1000)}
        yield "\t".join(row[name] for name in heads) + "\n"


def iperf3_json() -> tuple[str, str, str]:
    """What stands before the intervals, the first one, and what stands behind it."""
    text = sample_text("iperf3", "3.12-parallel.json")
    at = text.index("{", text.index('"intervals"'))
    end = json.JSONDecoder().raw_decode(text, at)[1]
    return text[:at], f"{text[at:end]},\n", text[at:]


def repeat(tool: str, name: str, pattern: str) -> tuple[Iterator[str], str]:
    """A sample, in which the first line that matches stands again and again, and what stands from it on."""
    lines = sample_text(tool, name).splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if re.search(pattern, line))
    return chain(["".join(lines[:at])], cycle([lines[at]])), "".join(lines[at:])


LINES = {
    "vdbench, flatfile": ("vdbench", "5.04.06-sweep-flatfile.html", r"^[0-9:.]+ .*\s2\s"),
    "vdbench, console": ("vdbench", "5.04.06-sweep-console.txt", "         2  263868"),
    "ping": ("ping", "iputils-20221126.txt", "icmp_seq=2"),
    "iperf": ("iperf", "2.0.9-parallel.txt", "1.0- 2.0"),
    "iperf, CSV": ("iperf", "2.0.5-parallel.csv", "1.0-2.0"),
    "iperf3": ("iperf3", "3.12-parallel.txt", r"0\.00-1\."),
    "iperf3, stream": ("iperf3", "3.21-stream.json", '"event":"interval"'),
    "ioping": ("ioping", "1.3-count.txt", "request=3"),
    "sockperf": ("sockperf", "3.7-full-log.csv", "^2, "),
    "YCSB": ("ycsb", "0.17.0-status.txt", " 5 sec:"),
    "pgbench": ("pgbench", "15-builtins.txt", "^progress: 2"),
    "sysbench": ("sysbench", "1.0-oltp-perfkit.txt", r"^\[ 4s"),
}
"""A sample, and a line of it that a long file has more often."""


def endless(name: str) -> tuple[Iterator[str], str]:
    """Output without end, and what ends it."""
    if name == "iperf3, JSON":
        head, interval, rest = iperf3_json()
        return chain([head], cycle([interval])), rest
    if name in LINES:
        return repeat(*LINES[name])
    made = {
        "fio, JSON": lambda: fio_json("3.33-read.json"),
        "fio, JSON with bins": lambda: fio_json("3.33-randread-plus.json"),
        "fio, text": fio_text,
        "fio, terse": fio_terse,
        "warp": warp_log,
    }
    return made[name](), ""


NAMES = ["fio, JSON", "fio, JSON with bins", "fio, text", "fio, terse", "warp", "iperf3, JSON", *LINES]


def written(path: Path, name: str, size: int) -> Path:
    """A file of about some size."""
    parts, end = endless(name)
    length, found = 0, []
    while length < size:
        found.append(next(parts))
        length += len(found[-1])
    path.write_text("".join((*found, end)))
    return path


def peak_of(path: Path) -> tuple[list[ImportedResult], int]:
    tracemalloc.start()
    try:
        results = measured_in(outputs_of(path))
        return results, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", NAMES)
def test_a_longer_file_takes_no_more_memory(name: str, tmp_path: Path) -> None:
    short, long = (written(tmp_path / str(size), name, size) for size in (SHORT, LONG))
    # What is imported or remembered once does not count.
    outputs_of(short)
    results, least = peak_of(short)
    more, most = peak_of(long)
    if most - least >= MORE:
        # Other threads of the process count, too, but not each time; what reading holds is held each time.
        most = min(most, peak_of(long)[1])
    assert most - least < MORE, f"{least >> 10} KiB, {most >> 10} KiB"
    assert len(results) == len(more) > 0
    assert [one.operation for one in results] == [one.operation for one in more]


def plain(outputs: list[ToolOutput]) -> list[dict[str, object]]:
    """Outputs without what only tells files apart."""
    kept = {"tool", "form", "version", "line", "date", "measured_at", "host", "command"}
    return [{"file": one.file.model_dump(include=kept), "results": one.results} for one in outputs]


STREAMED = [one for one in IMPORTERS if one.reads_long]
SAMPLES = sorted(
    path
    for tool in (
        "fio",
        "vdbench",
        "warp",
        "iperf",
        "iperf3",
        "ping",
        "sockperf",
        "ycsb",
        "pgbench",
        "dd",
        "ioping",
        "sysbench",
    )
    for path in sample_paths(tool)
    # These have text and JSON: which of them counts depends on whether both stand in the first piece.
    if not (tool == "fio" and sum(one.recognise(path.read_text()) for one in STREAMED) > 1)
)


@pytest.mark.parametrize("tool", sorted({path.parent.name for path in SAMPLES}))
def test_it_does_not_matter_in_which_pieces_a_file_is_read(tool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    every = [path for path in SAMPLES if path.parent.name == tool]
    paths = every[:: max(1, len(every) // MOST_SAMPLES)]
    whole = [plain_or_refused(path) for path in paths]
    for module in (text_source, file_text):
        monkeypatch.setattr(module, "CHUNK", 997)
    monkeypatch.setattr(text_source, "_SHORT", 1)
    monkeypatch.setattr(json_pieces, "_MIN_READ", 1)
    assert [plain_or_refused(path) for path in paths] == whole


def plain_or_refused(path: Path) -> object:
    try:
        return plain(outputs_of(path))
    except AssayError as error:
        return error.message


@pytest.mark.usefixtures("small")
def test_packed_and_stamped_files_are_read_alike(tmp_path: Path) -> None:
    path = written(tmp_path / "plain", "fio, JSON", SHORT)
    text = path.read_text()
    stamped = "".join(f"2026-11-30T03:12:28.123Z {line}\n" for line in text.splitlines())
    ways = {
        "gz": gzip.compress(text.encode()),
        "utf16": b"\xff\xfe" + text.encode("utf-16-le"),
        "stamped": stamped.encode(),
        "both": gzip.compress(stamped.encode()),
    }
    wanted = plain(outputs_of(path))
    for name, data in ways.items():
        (tmp_path / name).write_bytes(data)
        assert plain(outputs_of(tmp_path / name)) == wanted, name
        assert outputs_of(tmp_path / name)[0].file.sha256 == hashlib.sha256(data).hexdigest()


@pytest.mark.usefixtures("small")
def test_a_summary_is_found_at_the_end_of_a_long_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_text, "MAX_HEAD", 1 << 15)
    assert len(measured_in(outputs_of(written(tmp_path / "a", "pgbench", SHORT)))) > 0


@pytest.mark.usefixtures("small")
def test_what_must_be_held_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_source, "MAX_WHOLE", 1 << 20)
    path = tmp_path / "table.csv"
    path.write_text("size,rate\n" + f"4096,{'1' * 500}\n" * (1 << 12))
    with pytest.raises(AssayError, match="larger than 1 MiB, the limit"):
        outputs_of(path)


def test_rows_of_a_table_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_text, "MAX_ROWS", 100)
    path = tmp_path / "table.csv"
    path.write_text("size,rate\n" + "4096,100\n" * 99)
    with pytest.raises(UnknownColumnsError):
        outputs_of(path)
    path.write_text("size,rate\n" + "4096,100\n" * 100)
    with pytest.raises(AssayError, match="more than 100 rows"):
        outputs_of(path)


def test_a_job_that_has_ended_is_counted_once_where_others_go_on(tmp_path: Path) -> None:
    """`--status-interval` with `stonewall`: fio prints the first job again while the second runs."""
    text = sample_text("fio", "3.33-sections.json")
    path = tmp_path / "a.json"
    parts = []
    for seconds in range(100, 103):
        one = re.sub(r'("timestamp_ms" : )[0-9]+', rf"\g<1>{10**12 + seconds * 1000}", text)
        parts.append(re.sub(r'("elapsed" : )[0-9]+', rf"\g<1>{seconds}", one))
    path.write_text("".join(parts))
    once, twice = (measured_in(outputs_of(one)) for one in (FOLDER / "fio" / "3.33-sections.json", path))
    assert [one.workload for one in twice] == [one.workload for one in once]
