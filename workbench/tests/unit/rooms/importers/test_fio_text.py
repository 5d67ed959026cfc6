"""fio's normal output: every figure of real outputs comes back, and says what its JSON of the same run says."""

import random
import re
from decimal import Decimal

import pytest
from fio_samples import FILE
from fio_samples import changed as changed_json
from fio_samples import read as read_json
from fio_text_samples import PLAIN, TEXTS, num2str, read, split, terse_results, text_results, whole_of
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.model.study.names import WORK
from assay.rooms.importers.work import fio, iozone
from assay.rooms.importers.work.figure_units import UNITS, convert
from assay.rooms.importers.work.fio_text import importer as fio_text
from assay.rooms.importers.work.fio_text.amounts import amount_of
from assay.rooms.importers.work.registry import read_outputs, recognised_words
from assay.rooms.importers.work.results import ImportedResult, ImportOptions, Measurement, OutputError

ALL_THREE = tuple(name for name in PLAIN if split(name)[1] and split(name)[2])
NUMBER = r"[0-9]+(?:\.[0-9]+)?"
RESULT = re.compile(r".*: \(groupid=([0-9]+), jobs=([0-9]+)\): err= ?([0-9]+)")


def printed_numbers(text: str) -> list[str]:
    """Every number of the results, groups and disks of a text, line by line."""
    found: list[str] = []
    for line in text.split("\n"):
        if match := RESULT.match(line):
            found += match.groups()
        elif re.match(r"\s+(Description|fsync)|\S", line) or not line.strip():
            continue
        elif ": ios=" in line:
            found += re.findall(NUMBER, line.partition(": ios=")[2])
        elif re.match(r"\s+(read|write|trim|mixed|READ|WRITE|TRIM|MIXED|issued.*|steadystate) *:", line):
            found += re.findall(r"(?:(?<==)-)?" + NUMBER, line)
        else:
            line = re.sub(r"first_error=([0-9]+)/<.*>", r"first_error=\1", line)
            found += re.findall(r"(?<!>)=\s*\[?\s*(" + NUMBER + ")", line)
    return found


def measured_of(result: ImportedResult) -> Measurement:
    assert result.measured is not None, result.left_out
    return result.measured


def refused(text: str) -> OutputError:
    with pytest.raises(OutputError) as error:
        fio_text.read(text, FILE)
    assert error.value.hint and error.value.line >= 1
    return error.value


def changed(name: str, old: str, new: str) -> str:
    """The text of a sample with one change."""
    text = split(name)[0]
    assert text.count(old) >= 1, old
    return text.replace(old, new, 1)


@pytest.mark.parametrize("name", PLAIN)
def test_every_printed_number_comes_back(name: str) -> None:
    results = text_results(name, "random")
    found = [figure.text for result in results for figure in result.figures]
    # Of three reports of one job, the second is counted again by the third.
    first, *middle, last = re.split(r"\n(?=n: \(groupid)", split(name)[0])[1:] if "interval" in name else ("", "")
    printed = f"{first}\n{last}" if middle else split(name)[0]
    assert sorted(found) == sorted(printed_numbers(printed)) and len(found) > 40
    for result in results:
        assert all(not figure.unit or figure.unit in UNITS for figure in result.figures)
        assert (result.operation in WORK) == (result.measured is not None) == (not result.left_out)


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_is_known_by_what_it_says(name: str) -> None:
    assert fio_text.recognise(whole_of(name)) and not iozone.recognise(whole_of(name))
    assert fio.recognise(whole_of(name)) == bool(split(name)[1])
    output = fio_text.read(whole_of(name), FILE)[0]
    assert output.file.version == ("" if name.endswith("terse-2") else name.split("-")[0])


def test_other_texts_are_not_those_of_fio() -> None:
    for text in ("", "Jobs: 1 (f=1)\n", "2;a;1;2;3;4;5;6;\n", "a: (groupid=0)\n", "fio-3.33\n", "x;y\n3;4\n"):
        assert not fio_text.recognise(text)


def plain_name(name: str) -> str:
    """A figure's name without what differs between forms: units and decimals of percentiles."""
    name = name.replace("_ns.", ".").replace("latency.", "latency_ns.")
    head, mark, percent = name.partition(".percentile.")
    return f"{head}{mark}{float(percent):g}" if mark else name


def values_of(result: ImportedResult) -> dict[str, tuple[Decimal, Decimal]]:
    """Figure -> its value in Assay's unit, and how much its last digit counts."""
    found = {}
    for one in result.figures:
        factor = UNITS[one.unit].factor if one.unit else Decimal(1)
        value = convert(one.text, one.unit) if one.unit else Decimal(one.text)
        found[plain_name(one.name)] = value, factor / 10 ** len(one.text.partition(".")[2])
    return found


def assert_same(first: ImportedResult, second: ImportedResult, rough: tuple[str, ...] = ()) -> int:
    """Compare all figures that two readings of one result share, to the last printed digit; returns how many."""
    one, other = values_of(first), values_of(second)
    shared = [name for name in one if name in other and name not in rough]
    for name in shared:
        (value, step), (expected, other_step) = one[name], other[name]
        assert abs(value - expected) <= step + other_step, (name, value, expected)
    return len(shared)


@pytest.mark.parametrize("name", ALL_THREE)
def test_text_terse_and_json_of_one_run_say_the_same(name: str) -> None:
    json = {result.workload: result for result in read_json(split(name)[1]).results}
    text, terse = text_results(name), terse_results(name)
    assert {one.workload for one in terse} == set(json) and {one.workload for one in text} <= set(json)
    # Decimals of rounded numbers are wrong before 2.20, and terse output adds nanoseconds to the first microseconds.
    garbled = ("write.bw", "write.io_bytes", "write.iops") if name.startswith("2.18") else ()
    for result in text:
        if result.figures:
            assert assert_same(result, json[result.workload], garbled) >= 40
    for result in terse:
        other = ["latency_us.2"]
        if name == "3.33-jobs":
            # With lat_percentiles=1 these are percentiles of lat.
            other += [one for one in values_of(result) if ".percentile." in one]
        assert assert_same(result, json[result.workload], (*other, "read.bw_agg", "write.bw_agg")) >= 40


@pytest.mark.parametrize("name", ALL_THREE)
def test_what_becomes_of_the_three_is_the_same(name: str) -> None:
    json = {result.workload: result for result in read_json(split(name)[1]).results}
    for result in text_results(name):
        expected = json[result.workload]
        if result.left_out and not result.figures:
            continue
        assert (result.operation, result.latency_of) == (expected.operation, expected.latency_of)
        assert result.parameters.items() <= expected.parameters.items()
        if expected.measured is None:
            continue
        ours, theirs = measured_of(result), expected.measured
        assert (ours.errors, ours.method) == (theirs.errors, theirs.method)
        assert (ours.status == "failed") == (theirs.status == "failed")
        if ours.status == "failed":
            continue
        assert (ours.ops, ours.elapsed_ns) == (theirs.ops, theirs.elapsed_ns)
        assert ours.iops == pytest.approx(theirs.iops, rel=1e-6)
        exact = 0 if "bw_bytes" in split(name)[1] else 1024 * max(1, len(ours.kinds))
        if result.parameters.get("record_size"):
            assert ours.bytes == theirs.bytes and 0 <= ours.throughput - theirs.throughput <= exact
        else:
            assert ours.throughput == pytest.approx(theirs.throughput, rel=0.1 if name.startswith("2.18") else 1e-3)
        assert [(kind.kind, kind.ops) for kind in ours.kinds] == [(kind.kind, kind.ops) for kind in theirs.kinds]
        for one, other in ((ours, theirs), *zip(ours.kinds, theirs.kinds, strict=True)):
            assert list(one.latency) == list(other.latency) and (one.latency or ours.kinds)
            for key, value in one.latency.items():
                # Text is in whole microseconds where latencies are that long.
                assert value == pytest.approx(other.latency[key], rel=1e-3, abs=1000 if value >= 1000 else 10), key


def test_options_become_parameters() -> None:
    (result,) = text_results("2.2.10-randread")
    assert result.parameters == {
        "hosts": 1,
        "lanes": 1,
        "layout": "separate",
        "record_size": 4096,
        "queue_depth": 4,
    }
    assert result.options == {"rw": "randread", "bs": "4K-4K/4K-4K/4K-4K", "ioengine": "libaio", "iodepth": "4"}
    group, mix = text_results("2.2.10-groups")
    assert (group.operation, group.parameters["lanes"], group.parameters["record_size"]) == ("random_write", 3, 65536)
    assert (mix.operation, mix.parameters["lanes"]) == ("sequential_mix", 1) and "layout" not in group.parameters
    assert text_results("3.33-fsync-grouped")[0].parameters["lanes"] == 4


def test_jobs_that_ran_at_the_same_time_have_unknown_lanes() -> None:
    each = text_results("3.33-jobs")
    assert [one.workload for one in each] == ["r (1 of 2)", "r (2 of 2)"]
    assert not any("lanes" in one.parameters for one in each)


def test_sizes_that_vary_or_are_rounded_are_not_known() -> None:
    (varied,) = text_results("2.2.10-range")
    assert "record_size" not in varied.parameters and measured_of(varied).bytes == 24064 << 10
    for size, known in (("4096B", 4096), ("64.0KiB", 65536), ("1024KiB", 1 << 20), ("97.7KiB", None), ("65.5kB", None)):
        text = split("3.33-progress")[0].replace("4096B-4096B", f"{size}-{size}").replace("issued rwts: total=59", "$")
        text = text.replace("$", "issued rwts: total=59")
        (result,) = read(text).results
        # Of these sizes only the real one fits what was moved.
        assert result.parameters.get("record_size") == (known if known == 4096 else None)


def test_exact_bytes_follow_from_records_and_rounded_ones_do_not() -> None:
    (exact,) = text_results("3.33-progress")
    ops = exact.measured.ops if exact.measured else 0
    assert measured_of(exact).bytes == ops * 4096
    assert measured_of(exact).throughput == ops * 4096 * 1000 // 3005
    (rough,) = read(changed("3.33-progress", "(R) 4096B-4096B", "(R) 4096B-8192B")).results
    assert measured_of(rough).bytes == 234 << 20 and measured_of(rough).throughput == 81.7e6
    (split_,) = text_results("2.18-split")
    assert not measured_of(split_).has_counts


def test_kb_base_of_old_outputs_is_found() -> None:
    text = split("2.2.10-range")[0].replace("4K-64K", "4K-4K").replace("r=813/", "r=5875/")
    ops = int(re.search(r"total=r=([0-9]+)", text)[1])  # type: ignore[index]
    text = text.replace("24064KB", f"{ops * 4096 // 1000}KB").replace("iops=", "iops=0")
    runtime = int(re.search(r"runt= *([0-9]+)", text)[1])  # type: ignore[index]
    text = re.sub(r"bw=[0-9]+KB/s, iops=[0-9]+", f"bw={ops * 4096 // runtime}KB/s, iops={ops * 1000 // runtime}", text)
    (result,) = read(text).results
    assert measured_of(result).bytes == ops * 4096
    units = {figure.name: figure.unit for figure in result.figures}
    assert (units["read.io_bytes"], units["read.bw"]) == ("kB (1000 B)", "kB/s (1000 B)")


def test_progress_does_not_hide_the_results() -> None:
    text = split("3.33-progress")[0]
    assert "\r" in text
    glued = re.sub(r"\r\n+n: ", "\rn: ", text)
    assert text_results("3.33-progress")[0].figures == read(glued).results[0].figures
    assert read(text.replace("\n", "\r\n")).results[0].figures == read(glued).results[0].figures


def test_of_snapshots_of_one_job_the_last_counts() -> None:
    results = text_results("3.33-status-interval")
    assert [bool(one.left_out) for one in results] == [True] * (len(results) - 1) + [False] and len(results) > 1
    assert "--status-interval" in results[0].left_out
    assert measured_of(results[-1]).ops == 39_890


def test_terse_lines_beside_text_count_once() -> None:
    for name in ("3.33-status-interval", "3.33-error"):
        text, _, terse = split(name)
        results = read(text + terse, "random").results
        assert sum(one.measured is not None for one in results) == sum(bool(one.measured) for one in text_results(name))
        assert any("normal output in this file" in one.left_out and one.figures for one in results)


def test_errors_and_jobs_without_results() -> None:
    full, counted, good, missing = text_results("3.33-error")
    assert [tally.code for tally in measured_of(full).errors] == [28] and measured_of(full).status == "failed"
    assert measured_of(counted).status == "failed" and full.operation == "write"
    assert measured_of(good).status == "done"
    assert (missing.name, missing.measured) == ("x", None) and "no result" in missing.left_out


def test_trims_and_unified_reporting() -> None:
    read_, write, trim = text_results("3.42-sections")
    assert (read_.operation, write.operation) == ("read", "random_write") and "trims" in trim.left_out
    for name in ("3.33-unified", "2.2.10-unified", "3.42-both"):
        result = text_results(name)[0]
        assert result.operation and not measured_of(result).kinds and measured_of(result).latency


def test_several_outputs_and_excerpts_are_read() -> None:
    first, second = split("2.2.10-randread")[0], split("3.0-randrw")[0]
    outputs = fio_text.read(first + "\n" + second, FILE)
    assert [one.file.version for one in outputs] == ["2.2.10", "3.0"]
    assert outputs[1].file.line == first.count("\n") + 2
    disks = first[first.index("Disk stats") :]
    assert [one.file.version for one in fio_text.read(f"{disks}\n{first}", FILE)] == ["2.2.10"]
    excerpt = first[first.index("r: (groupid") : first.index("Run status")]
    (result,) = read(excerpt, "sequential").results
    assert result.operation == "read" and measured_of(result).ops == 2048 and "record_size" not in result.parameters
    assert "--order" in read(excerpt).results[0].left_out


def test_a_sum_needs_the_lines_of_all_its_jobs() -> None:
    text = split("2.2.10-groups")[0]
    header = text.splitlines()[0]
    other = header.replace("w:", "v:").replace("randwrite", "randread")
    assert "sum of several jobs" in read(text.replace(header, f"{header}\n{other}")).results[0].left_out
    assert "--order" in read(text.replace(header, other)).results[0].left_out
    sizes = header.replace("w:", "v:").replace("64K-64K", "8K-8K")
    (sum_, _, *_) = read(text.replace(header, f"{header}\n{sizes}")).results
    assert sum_.operation == "random_write" and "record_size" not in sum_.parameters


@given(st.integers(0, 10**15), st.integers(4, 8), st.booleans(), st.booleans())
@settings(max_examples=100, deadline=None)
def test_rounded_numbers_are_within_their_bounds(number: int, digits: int, is_binary: bool, is_old: bool) -> None:
    for kind, letter in (("bytes", "B"), ("1/s", "")):
        binary = is_binary and kind == "bytes"
        if is_old and kind == "bytes":
            binary = True
        number = number if kind == "bytes" or not is_old else number % 10**9
        text = num2str(number, digits, binary, is_old) + letter
        amount = amount_of(text, kind, is_old, not is_old)  # type: ignore[arg-type]
        assert amount.fits(number), text
        assert is_old or abs(amount.value - number) <= amount.step


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("475MiB/s", 475 << 20),
        ("498MB/s", 498 * 10**6),
        ("4096kB/s", 4096 * 1000),
        ("423Mi", 423 << 20),
        ("2082Gibit/s", 2082 * 2**30 // 8),
        ("8590GB/s", 8590 * 10**9),
        ("12B/s", 12),
    ],
)
def test_amounts_are_those_of_their_units(text: str, value: int) -> None:
    assert amount_of(text, "bytes/s").value == value
    assert amount_of("151704KB/s", "bytes/s", is_old=True).value == 151704 * 1024


@pytest.mark.parametrize("text", ["", "MiB", "-4B", "4XB", "nan", "1e9", "4.B", "9" * 25, "9999PiB", "4KBB", "٣"])
def test_what_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no amount"):
        amount_of(text, "bytes")
    with pytest.raises(ValueError, match="no amount"):
        amount_of("4Ki", "1/s")


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("3.33-progress", "IOPS=19.9k", "IOPS=30.9k", "cannot have 30.9 k/s, with"),
        ("3.33-progress", "BW=77", "BW=98", "cannot have 98"),
        ("3.33-progress", "/3005msec", "/0msec", "cannot take 0 ms"),
        ("3.33-progress", "issued rwts", "issued rwxx", "not a line that fio prints"),
        ("3.33-progress", "  cpu          : usr=", "cpu", "not a line"),
        ("3.33-progress", "  cpu          : usr=48.40%, sys=0.23%, ctx=502, majf=0, minf=10\n", "", "no line `cpu`"),
        ("3.33-progress", "clat (nsec): min=", "clat (nsec): min=x", "no amount"),
        ("3.33-progress", "99.00th=[", "99.00th=", "not a line"),
        ("3.33-progress", "\nRun status group", "\nEnd of group", "cut off"),
        ("3.33-progress", "bs=(R) 4096B", "bs=(R) many", "are no sizes"),
        ("3.33-progress", "iodepth=1", "iodepth=x", "not a line that fio prints: n: (g=0)"),
        ("3.33-progress", "groupid=0, jobs=1", "groupid=0, jobs=x", "not a line that fio prints: n: (groupid"),
        ("3.33-progress", "   READ: bw=", "   READ: bw=x", "group 0"),
        ("2.2.10-randread", "  vda: ios=0/0", "  vda: ios=0/x", "disks"),
        ("2.2.10-randread", "fio-2.2.10\n", "fio-2.2.10\n<h1> r: (groupid=0, jobs=1)", "--client"),
        ("3.0-randrw", "  write: IOPS=", "  wrote: IOPS=", "not a line that fio prints"),
    ],
)
def test_damaged_text_is_refused(name: str, old: str, new: str, message: str) -> None:
    assert message in refused(changed(name, old, new)).message


def test_what_old_versions_lack_is_not_needed() -> None:
    text = split("2.2.10-randread")[0].replace(", drop=r=0/w=0/d=0", "")
    assert measured_of(read(text).results[0]).bytes == 8 << 20
    assert "before 2.1" in refused(re.sub(r"pid=([0-9]+): .*", r"pid=\1", text)).message


def test_an_output_that_ends_too_early_is_refused() -> None:
    text = split("3.33-progress")[0]
    assert "without results" in refused(text[: text.index("Jobs: 1")]).message
    assert "not a line" in refused(text[: text.index("submit") + 12]).message
    assert "no line `issued`" in refused(text[: text.index("     issued")]).message


def test_texts_are_escaped() -> None:
    text = split("3.33-progress")[0].replace("n: (g", "n\x1b[31m\u202e: (g")
    output = read(text.replace("ioengine=psync", "ioengine=\x1b]0;x"))
    assert "\x1b" not in output.model_dump_json() and "\\u001b" not in output.model_dump_json()
    error = refused(text.replace("IO depths    :", "IO depths    : \x1b[31m" + "9" * 5000))
    assert error.message.isprintable() and len(error.message) < 300


@pytest.mark.parametrize("name", [name for name in PLAIN if name not in ALL_THREE or name == "3.33-error"])
def test_no_damage_raises_anything_else(name: str) -> None:
    choice, text = random.Random(name), split(name)[0]
    for _ in range(15):
        at, length = choice.randrange(len(text)), choice.choice((0, 1, 2, 40, 10**6))
        put = choice.choice(("", "9" * 30, "-1", "nan", "\n", "\r", "|", ": ", "(", "=", text[at : at + 90]))
        damaged = text[:at] + put + text[at + length :]
        try:
            fio_text.read(damaged, FILE, ImportOptions("random"))
        except OutputError as error:
            assert 1 <= error.line <= damaged.count("\n") + 1 and error.hint


def test_a_file_says_what_was_recognised(tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("fio") / "x.log"
    file.write_text("$ fio job.fio\n" + split("3.33-jobs")[0])
    assert recognised_words("x.log", read_outputs(str(file))) == "x.log: fio 3.33, text: 2 results"


@pytest.mark.parametrize("engine", ["null", "falloc", "ftruncate"])
def test_engines_that_move_no_data_are_left_out(engine: str) -> None:
    text = split("3.33-progress")[0].replace("ioengine=psync", f"ioengine={engine}")
    (result,) = read(text).results
    assert result.measured is None and result.left_out.startswith(f"ioengine={engine}: ") and result.figures
    (read_job,) = read_json(changed_json("3.33-read", "jobs", 0, "job options", to={"ioengine": engine})).results
    assert read_job.left_out == result.left_out and read_job.measured is None


def test_numbers_before_2_1_end_with_a_space() -> None:
    """`num2str` of fio 2.0 has the prefix of thousands as its last character, which is a space below 1000."""
    text = """w: (g=0): rw=write, bs=512-512/512-512/512-512, ioengine=sync, iodepth=1
fio-2.0.15
Starting 1 process
w: (groupid=0, jobs=1): err= 0: pid=7: Mon Sep  9 11:42:55 2013
  write: io=512 B, bw=51 B/s, iops=0 , runt= 10002msec
    clat (usec): min=560 , max=3291 , avg=711.07, stdev=193.33
     lat (usec): min=561 , max=3291 , avg=711.35, stdev=193.33
  cpu          : usr=4.80%, sys=0.00%, ctx=106, majf=0, minf=4
  IO depths    : 1=100.0%, 2=0.0%, 4=0.0%, 8=0.0%, 16=0.0%, 32=0.0%, >=64=0.0%
     submit    : 0=0.0%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%
     complete  : 0=0.0%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%
     issued    : total=r=0/w=1/d=0, short=r=0/w=0/d=0

Run status group 0 (all jobs):
  WRITE: io=0KB, aggrb=0KB/s, minb=0KB/s, maxb=0KB/s, mint=10002msec, maxt=10002msec
"""
    ((result,),) = (output.results for output in fio_text.read(text, FILE))
    figures = {figure.name: figure.text for figure in result.figures}
    assert (figures["write.io_bytes"], figures["write.bw"], figures["write.iops"]) == ("512", "51", "0")
    assert (figures["write.clat.min"], figures["write.clat.max"]) == ("560", "3291")
    assert result.operation == "write" and measured_of(result).bytes == 512


def test_flushes_that_fio_counts_as_short_reads_leave_the_bytes_of_writes_exact() -> None:
    """Of 10029 records of 2300 bytes, fio 3.25 prints 21.0MiB, since before 3.26 it loses what is carried over."""
    text = """w: (g=0): rw=write, bs=(R) 2300B-2300B, (W) 2300B-2300B, (T) 2300B-2300B, ioengine=sync, iodepth=1
fio-3.25
Starting 1 process
w: (groupid=0, jobs=1): err= 0: pid=7: Sun Jun 25 15:33:23 2023
  write: IOPS=2317, BW=5205KiB/s (5330kB/s)(21.0MiB/4328msec); 0 zone resets
    clat (nsec): min=9759, max=58538, avg=12841.07, stdev=2262.21
     lat (nsec): min=9929, max=59068, avg=13088.08, stdev=2285.02
  cpu          : usr=0.92%, sys=10.98%, ctx=20061, majf=0, minf=11
  IO depths    : 1=200.0%, 2=0.0%, 4=0.0%, 8=0.0%, 16=0.0%, 32=0.0%, >=64=0.0%
     submit    : 0=0.0%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%
     complete  : 0=0.0%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%
     issued rwts: total=0,10029,0,0 short=10029,0,0,0 dropped=0,0,0,0
     latency   : target=0, window=0, percentile=100.00%, depth=1

Run status group 0 (all jobs):
  WRITE: bw=5205KiB/s (5330kB/s), 5205KiB/s-5205KiB/s (5330kB/s-5330kB/s), io=21.0MiB (23.1MB), run=4328-4328msec
"""
    ((result,),) = (output.results for output in fio_text.read(text, FILE))
    assert measured_of(result).bytes == 10029 * 2300
    ((short,),) = (output.results for output in fio_text.read(text.replace("short=10029,0,", "short=0,9,"), FILE))
    assert measured_of(short).bytes != 10029 * 2300
