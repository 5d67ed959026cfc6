"""Files as they arrive: packed, in other codes, with colours, or with times before each line."""

import bz2
import gzip
import html
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest
from paths import GOLDEN

from assay.model.base import AssayError, LineError
from assay.rooms.importers.work import file_text
from assay.rooms.importers.work.file_text import decoded, stamps_of, unpacked, without
from assay.rooms.importers.work.registry import read_outputs, recognised_words
from assay.rooms.importers.work.results import ImportOptions
from assay.rooms.importers.work.several_files import read_path

SAMPLES = GOLDEN / "imports"
FIO, IOZONE, IOR = (SAMPLES / name for name in ("fio/3.33-read.json", "iozone/3.414-auto.txt", "ior/3.0.1-repeats.txt"))
RANDOM = ImportOptions(order="random")
STAMPS = {
    "docker and kubectl": "2026-11-30T03:12:28.123456789Z ",
    "ts": "Nov 30 03:12:28 ",
    "ts -s": "00:00:01 ",
    "iperf3 --timestamps": "Mon Nov 30 03:12:28 2026 ",
    "ts -i with a pattern": "2026-11-30 03:12:28.123 ",
    "Jenkins": "[2026-11-30T03:12:28.123Z] ",
    "journalctl": "Nov 30 03:12:28 node-1 bench[123]: ",
    "journalctl -o short-iso": "2026-11-30T03:12:28+0100 node-1 fio.service[1]: ",
    "gh run view --log": "bench\tRun it\t2026-11-30T03:12:28.1234567Z ",
}
CODES: dict[str, Callable[[str], bytes]] = {
    "PowerShell": lambda text: b"\xff\xfe" + text.replace("\n", "\r\n").encode("utf-16-le"),
    "UTF-16 without a mark": lambda text: text.encode("utf-16-le"),
    "UTF-16 of the other order": lambda text: b"\xfe\xff" + text.encode("utf-16-be"),
    "Windows-1252": lambda text: f"Ger\u00e4t \u2013 3 \u20ac\n{text}".encode("cp1252"),
    "colours": lambda text: b"\x1b]0;title\x07" + text.replace("\n", "\x1b[0m\n\x1b[1;32m").encode(),
    "gzip": lambda text: gzip.compress(text.encode()),
    "gzip in parts": lambda text: gzip.compress(text[:500].encode()) + gzip.compress(text[500:].encode()),
    "bzip2": lambda text: bz2.compress(text.encode()),
    "xz of UTF-16": lambda text: lzma.compress(b"\xff\xfe" + text.encode("utf-16-le")),
}


def results_of(path: Path) -> list[object]:
    return [result.figures for output in read_outputs(str(path)) for result in output.results]


@pytest.mark.parametrize("stamp", STAMPS.values(), ids=STAMPS)
@pytest.mark.parametrize("sample", [FIO, IOZONE, IOR], ids=lambda path: path.parent.name)
def test_times_before_lines_do_not_matter(tmp_path: Path, sample: Path, stamp: str) -> None:
    lines = sample.read_text().splitlines()
    path = tmp_path / "log"
    path.write_text("".join(f"{stamp}{line}".rstrip(" ") + "\n" for line in lines))
    assert results_of(path) == results_of(sample)
    # A lost line is found where it is.
    assert read_outputs(str(path))[0].results[0].line == read_outputs(str(sample))[0].results[0].line


@pytest.mark.parametrize("code", CODES.values(), ids=CODES)
@pytest.mark.parametrize("sample", [IOZONE, IOR], ids=lambda path: path.parent.name)
def test_codes_do_not_matter(tmp_path: Path, sample: Path, code: Callable[[str], bytes]) -> None:
    path = tmp_path / "log"
    path.write_bytes(code(sample.read_text()))
    assert results_of(path) == results_of(sample)


def test_text_from_the_source_of_a_page_is_read(tmp_path: Path) -> None:
    sample = SAMPLES / "fio" / "3.33-jobs.txt"
    path = tmp_path / "page.html"
    path.write_text(f"<pre>{html.escape(sample.read_text())}</pre>")
    assert "&gt;=64" in path.read_text() and results_of(path) == results_of(sample)


INDENTED = ("fio/2.2.10-groups.txt", "ior/3.0.1-repeats.txt", "vdbench/5.02-console.txt", "pgbench/15-tpcb.txt")


@pytest.mark.parametrize("margin", ["    ", "> ", "\t"])
@pytest.mark.parametrize("name", INDENTED)
def test_text_may_be_indented_or_quoted(tmp_path: Path, name: str, margin: str) -> None:
    sample, whole, page = SAMPLES / name, tmp_path / "whole", tmp_path / "page"
    block = "".join(f"{margin}{line}".rstrip() + "\n" for line in sample.read_text().splitlines())
    whole.write_text(block)
    page.write_text(f"We measured 3 times, on 2 hosts, with this result:\n\n{block}\nThat is all, but 1, 2, 3.\n")
    expected = read_outputs(str(sample), RANDOM)
    for path, above in ((whole, 0), (page, 2)):
        found = read_outputs(str(path), RANDOM)
        assert [one.file.version for one in found] == [one.file.version for one in expected]
        moved = [one.model_copy(update={"line": one.line + above}) for output in expected for one in output.results]
        assert [one for output in found for one in output.results] == moved


def flowed(line: str, width: int) -> str:
    """A line as mail programs write it (RFC 3676): broken behind blanks, with one more blank before blanks and `>`."""
    pieces: list[str] = []
    rest = line
    while len(rest) > width and (at := rest.rfind(" ", 40, width)) > 0 and rest[:at].strip():
        pieces.append(rest[: at + 1])
        rest = rest[at + 1 :]
    return "\n".join(f" {one}" if one.startswith((" ", ">")) else one for one in (*pieces, rest))


@pytest.mark.parametrize("name", ["fio/2.2.10-groups.txt", "fio/3.33-jobs.txt"])
def test_text_may_be_broken_into_the_lines_of_a_mail(tmp_path: Path, name: str) -> None:
    sample, path = SAMPLES / name, tmp_path / "mail"
    body = "\n".join(flowed(line.rstrip(), 72) for line in sample.read_text().splitlines())
    assert len(body.splitlines()) > len(sample.read_text().splitlines())
    path.write_text(f"Content-Type: text/plain; format=flowed\n\nHere it is:\n\n{body}\n\nThat is all.\n")
    assert results_of(path) == results_of(sample)


def test_all_tools_of_a_page_are_read_in_its_order(tmp_path: Path) -> None:
    names = ("iozone/3.414-auto.txt", "ping/iputils-20221126.txt", "fio/2.2.10-groups.txt")
    samples = [SAMPLES / name for name in names]
    path = tmp_path / "README.md"
    path.write_text("".join(f"# A test\n```\n{one.read_text()}```\n" for one in samples))
    found = read_outputs(str(path))
    assert [output.file.tool for output in found] == ["iozone", "ping", "fio"]
    assert results_of(path) == [figures for one in samples for figures in results_of(one)]
    words = recognised_words("README.md", found)
    assert words.startswith("README.md: iozone 3.414, table of rates and ping, text and fio 2.2.10, text: ")


def test_the_line_of_a_file_says_what_counts_as_repeats(tmp_path: Path) -> None:
    sample = SAMPLES / "sockperf" / "3.7-ping-pong.txt"
    path = tmp_path / "log"
    path.write_text(sample.read_text() * 3)
    words = recognised_words("log", read_outputs(str(path)))
    assert words.endswith(": 3 results of 3 outputs, repeats of 1 case")


def test_a_table_that_is_none_does_not_stop_the_import_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "disk.json").write_bytes(FIO.read_bytes())
    (tmp_path / "notes.csv").write_text("a,b,c\n1,2,3\n1,2\n")
    read = read_path(str(tmp_path))
    assert [Path(file).name for file, _ in read.found] == ["disk.json"] and not read.damaged
    assert [error.message for error in read.unread] == [f"{tmp_path}/notes.csv:3: 2 cells in this row, and 3 headings"]


def test_damage_names_its_line_whatever_stands_before(tmp_path: Path) -> None:
    text = IOZONE.read_text()
    at = next(number for number, line in enumerate(text.splitlines(), 1) if line.split()[:2] == ["64", "32"])
    lines = text.splitlines()
    lines[at - 1] = lines[at - 1].replace("64", "16", 1)
    path = tmp_path / "log"
    for stamp in ("", STAMPS["docker and kubectl"]):
        path.write_text("".join(f"{stamp}{line}\n" for line in lines))
        with pytest.raises(LineError) as error:
            read_outputs(str(path))
        assert error.value.line == at


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (gzip.compress(FIO.read_bytes())[:300], "gzip, but cut off"),
        (gzip.compress(FIO.read_bytes())[:-8] + bytes(8), "gzip, but damaged"),
        (b"BZh9" + bytes(50), "bzip2, but damaged"),
        (b"\xfd7zXZ\x00" + bytes(50), "xz, but damaged"),
        (gzip.compress(bytes(2 << 20)), "larger than 1 MiB when it is unpacked"),
    ],
)
def test_damaged_packed_files_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(AssayError, match=message):
        list(unpacked("x", [data], 1 << 20))


def text_of(data: bytes, step: int) -> str:
    """Bytes as text, where only so many arrive at once."""
    chunks = (data[at : at + step] for at in range(0, len(data), step))
    return "".join(decoded("x", unpacked("x", chunks, 1 << 30), ""))


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(AssayError, match="not text in UTF-8, UTF-16 or Windows-1252"):
        text_of(bytes(range(256)) * 20, 9999)
    assert text_of(b"\xef\xbb\xbfa", 9) == "a" and text_of(b"\xff\xfea\x00b", 9) == "a"


@pytest.mark.parametrize("code", CODES.values(), ids=CODES)
def test_it_does_not_matter_how_much_arrives_at_once(code: Callable[[str], bytes]) -> None:
    data = code(IOZONE.read_text())
    assert len({text_of(data, step) for step in (101, 4096, len(data))}) == 1


def test_a_line_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_text, "MAX_LINE", 1 << 20)
    with pytest.raises(AssayError, match="a line is longer than 1 MiB"):
        text_of(b"a\n" + b"a" * (1 << 20 | 1), 5000)


def cut(text: str) -> list[str]:
    """A text without what each form of times that fits it matches."""
    return [one for one in (without(text, form) for form in stamps_of(text)) if isinstance(one, str)]


def test_few_times_are_no_log() -> None:
    assert cut("2026-11-30 03:12:28 x\ny\nz\n") == []
    assert cut("2026-11-30 03:12:28 x\n") == []
    assert cut("Nov 30 03:12:28 x\nNov 30 03:12:29   y\n")[0] == "x\n  y\n"
