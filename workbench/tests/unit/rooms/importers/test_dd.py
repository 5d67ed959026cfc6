"""dd's statistics: every figure comes back, in any language; the command line says what was done."""

import re
from pathlib import Path

import pytest
from tool_samples import FILE, check_damage, in_a_terminal, only_reader, paths_of, results, sample, texts

from assay.rooms.importers.work.disks import dd
from assay.rooms.importers.work.disks.dd_command import commands_of
from assay.rooms.importers.work.results import OutputError

SAMPLES = paths_of("dd")
OTHERS = """$ dd if=/dev/zero of=/tmp/x bs=1m count=1024
1024+0 records in
1024+0 records out
1073741824 bytes transferred in 0.387 secs (2774526935 bytes/sec)
$ busybox dd if=/dev/zero of=/tmp/x bs=1M count=256 conv=fsync
256+0 records in
256+0 records out
268435456 bytes (256.0MB) copied, 0.345678 seconds, 740.6MB/s
# dd if=/dev/sda of=/dev/null bs=64k count=16384
16384+0 records in
16384+0 records out
1073741824 bytes (1.1 GB) copied, 9.76172 seconds, 110 MB/s
"""
"""Layouts of FreeBSD's dd.c (args and position.c of macOS are the same), BusyBox's and of coreutils before 7."""


@pytest.mark.parametrize("path", [path for path in SAMPLES if "progress" not in path.name], ids=lambda path: path.name)
def test_every_printed_number_comes_back(path: Path) -> None:
    text = path.read_text()
    found = results(dd.read, text)
    printed = []
    for line in text.splitlines():
        if re.search(r"[0-9]\+[0-9]", line):
            printed += re.findall(r"[0-9]+", line)
        elif line.endswith("B/s"):
            words = re.sub(r"\(.*\)", "", line)
            printed += [word.replace(",", ".") for word in re.findall(r"[0-9]+(?:[.,][0-9]+)?(?:e-[0-9]+)?", words)]
    assert texts(found) == sorted(printed) and found
    assert only_reader(path) == "dd's statistics"


def test_all_languages_say_the_same() -> None:
    text = sample("dd", "9.1-languages.txt")
    found = results(dd.read, text)
    assert len(found) == 2 * text.count("# ") and {one.figures[-3].text for one in found} == {"16777216", "32"}
    assert {one.figures[-1].unit for one in found} == {"MB/s", "GB/s", "kB/s"}
    assert all("write its command line above it" in one.left_out for one in found)


def test_a_command_line_that_is_written_above_says_what_was_done() -> None:
    text = "16777216 bytes (17 MB, 16 MiB) copied, 0.1 s, 168 MB/s\n"
    (unknown,) = results(dd.read, text)
    example = re.search("`(dd [^`]*)`", unknown.left_out)
    assert example and unknown.operation is None and unknown.figures[0].text == "16777216"
    (found,) = results(dd.read, f"{example[1]}\n{text}")
    assert (found.operation, found.target, found.parameters["record_size"]) == ("write", "FILE", 1 << 20)


def test_the_command_line_says_what_was_done() -> None:
    found = results(dd.read, sample("dd", "9.1-options.txt"))
    kept = [(one.operation, one.parameters.get("sync"), one.parameters.get("cache")) for one in found if one.operation]
    assert kept == [
        *(("write", "fdatasync", None), ("write", "none", None), ("write", "none", "direct")),
        *(("write", "o_dsync", None), ("write", "o_sync", "direct"), ("read", None, "direct"), ("read", None, None)),
        *(("write", "fsync", None), ("write", "fsync", None)),
    ]
    assert [one.left_out for one in found if one.left_out] == [
        "it read one file and wrote another at the same time",
        "no storage took part",
    ]
    first = found[0]
    assert first.parameters["record_size"] == 2**20 and first.parameters["file_size"] == 256 << 20
    assert first.measured and (first.measured.ops, first.measured.bytes) == (256, 256 << 20)
    assert first.measured.elapsed_ns == 2_186_410_000
    assert first.measured.throughput == pytest.approx((256 << 20) / 2.18641)
    assert [one.parameters.get("compressible") for one in found if one.operation][-2:] == [0, 100]
    assert "file_size" not in found[-2].parameters and found[-2].operation == "write"


def test_loops_are_repeats_and_traces_follow_their_commands() -> None:
    for name in ("9.1-loop.txt", "9.1-last-lines.txt"):
        outputs = dd.read(in_a_terminal(sample("dd", name)), FILE)
        assert [len(output.results) for output in outputs] == [3]
        assert len({one.model_dump_json(include={"target", "parameters"}) for one in outputs[0].results}) == 1
    trace = dd.read(sample("dd", "9.1-trace.txt"), FILE)
    assert [(output.results[0].operation, output.results[0].target) for output in trace] == [
        *(("write", "/mnt/data/x1"), ("read", "/mnt/data/x1"), ("write", "/mnt/data/x2"), ("read", "/mnt/data/x2"))
    ]
    both = "$ for i in 1 2; do dd if=/dev/zero of=x bs=1M count=1; dd if=x of=/dev/null bs=1M; done\n"
    line = "1048576 bytes (1.0 MB, 1.0 MiB) copied, 0.01 s, 105 MB/s\n"
    assert [one.operation for one in results(dd.read, both + 4 * line)] == ["write", "read", "write", "read"]


def test_progress_and_signals_are_no_results() -> None:
    (progress,) = results(dd.read, sample("dd", "9.1-progress.txt"))
    assert [one.text for one in progress.figures] == ["6000", "0", "6000", "0", "6291456000", "46.912", "134"]
    # A log that ends before dd did: its last whole line counts.
    cut = sample("dd", "9.1-progress.txt").partition("6000+0")[0]
    (killed,) = results(dd.read, cut)
    assert killed.measured and killed.measured.bytes == 6060769280
    first, second, last = results(dd.read, sample("dd", "9.1-signal.txt"))
    assert "on the way" in first.left_out and "on the way" in second.left_out
    assert last.measured and last.measured.bytes == 6290550784


def test_other_dds_have_their_own_units() -> None:
    bsd, busybox, old = results(dd.read, OTHERS)
    assert (bsd.figures[-1].unit, busybox.figures[-1].unit, old.figures[-1].unit) == ("B/s", "MB/s of 2^20", "MB/s")
    assert busybox.measured and busybox.measured.throughput == pytest.approx(268435456 / 0.345678)
    assert bsd.parameters["record_size"] == 2**20 and old.target == "/dev/sda"
    # uutils prints one digit of the time: the rate is more exact.
    write, read = results(dd.read, sample("dd", "uutils-0.0.17.txt"))
    assert write.measured and write.measured.throughput == 729e6 and write.measured.elapsed_ns == 92_056_055
    assert read.operation == "read"


def test_rates_that_contradict_bytes_and_time_stand_as_printed() -> None:
    text = sample("dd", "9.1-device.txt").replace("1.4 GB/s", "2.4 GB/s")
    (result,) = results(dd.read, text)
    assert result.measured and result.measured.throughput == 2.4e9 and result.measured.elapsed_ns == 188_786_000


def test_a_copy_that_failed_says_so() -> None:
    text = OTHERS.replace("1024+0 records in", "dd: error writing '/tmp/x': No space left on device\n1024+0 records in")
    first = results(dd.read, text)[0]
    assert first.measured and "No space left" in first.measured.errors[0].example
    assert "nothing was copied" in results(dd.read, sample("dd", "9.1-failed.txt"))[0].left_out


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("# sudo dd if=/dev/zero of='/mnt/my disk/x' bs=64KiB count=2x8", ("write", 65536, 16 * 65536)),
        ("time /bin/dd of=/dev/null if=/dev/nvme0n1 ibs=1MB count=3", ("read", 10**6, None)),
        ("dd if=/dev/sda of=/dev/null bs=$bs", ("read", None, None)),
        ("$(dd if=/dev/urandom of=x 2>&1)", ("write", 512, None)),
        ("cat x | dd of=/mnt/x bs=1M", ("", 2**20, None)),
    ],
)
def test_command_lines(line: str, expected: tuple[str, int | None, int | None]) -> None:
    (command,) = commands_of(line)
    wanted = command.wanted() if expected[2] else None
    assert (command.operation, command.record_size, wanted) == expected
    assert commands_of("add if=x of=y") == commands_of("odd bs=4") == []


def test_numbers_that_dd_cannot_print_are_refused() -> None:
    with pytest.raises(OutputError) as error:
        dd.read(f"\n{'9' * 30} bytes (1.0 MB, 1.0 MiB) copied, 0.01 s, 105 MB/s\n", FILE)
    assert error.value.line == 2 and error.value.hint
    with pytest.raises(OutputError, match="no statistics"):
        dd.read("1+0 records in\n", FILE)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_damaged_outputs_are_read_or_refused(path: Path) -> None:
    check_damage(dd.read, path)
