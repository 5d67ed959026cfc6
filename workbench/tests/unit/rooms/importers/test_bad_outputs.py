"""Files that are not what a tool writes: one line that says where and how to mend it, and never a traceback."""

import json
import random
import re
import time
from pathlib import Path

import pytest
from fio_samples import FILE, SAMPLES, changed, text_of
from imported_samples import Reader, sample_text

from assay.model.base import AssayError
from assay.model.result.sample import ErrorTally
from assay.rooms.importers.audit.facts import read_facts
from assay.rooms.importers.audit.rules import audit
from assay.rooms.importers.work import fio, ior, iozone, mdtest
from assay.rooms.importers.work.databases import pgbench, ycsb
from assay.rooms.importers.work.disks import bonnie
from assay.rooms.importers.work.figure_units import whole_number
from assay.rooms.importers.work.fio_measured import MAX_JOBS
from assay.rooms.importers.work.iperf import importer3 as iperf3
from assay.rooms.importers.work.network import sockperf
from assay.rooms.importers.work.registry import read_outputs, recognised_words
from assay.rooms.importers.work.results import MAX_MESSAGE, ImportedResult, ImportOptions, OutputError
from assay.rooms.importers.work.tools import IMPORTERS

READ = ("jobs", 0, "read")
DEEP = 100_000


def refused(text: str) -> OutputError:
    with pytest.raises(OutputError) as error:
        fio.read(text, FILE)
    return error.value


def with_number(text: str) -> str:
    """A sample whose count of reads is some text."""
    return text_of("3.33-read").replace('"total_ios" : 256', f'"total_ios" : {text}')


@pytest.mark.parametrize("number", ["-1", "1e30", "9" * 20, '"many"', "[]", "true"])
def test_numbers_that_nothing_counts_are_refused(number: str) -> None:
    error = refused(with_number(number))
    assert "total_ios cannot be" in error.message and error.line == 8 and error.hint


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "9" * 5000, "nan", "-nan", "0x10", "1" * 41, "1e999", "-1e999",
                                    "1e-999", "1e99999999999999999999"])  # fmt: skip
def test_numbers_that_are_none_are_refused(number: str) -> None:
    assert "JSON" in refused(with_number(number)).message


def test_deep_nesting_is_refused() -> None:
    head = '{"fio version" : "fio-3.33", "jobs" : '
    for text in ("[" * DEEP + "]" * DEEP, '{"a":' * DEEP + "1" + "}" * DEEP):
        assert "nested too deeply" in refused(head + text + "}").message
    inner = "1"
    for _ in range(20):
        inner = f'{{"a": {inner}}}'
    assert "nested too deeply" in refused(head + f'[{{"jobname": "x", "read": {inner}}}]' + "}").message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"fio version" : "fio-3.33"}', "no list `jobs`"),
        ('{"fio version" : "fio-3.33", "jobs" : {}}', "no list `jobs`"),
        ('{"fio version" : "fio-3.33", "jobs" : [1]}', "not a job"),
        ('{"fio version" : "fio-3.33", "jobs" : [{"jobname": "x"', "not JSON"),
    ],
)
def test_what_is_not_fios_structure_is_refused(text: str, message: str) -> None:
    assert message in refused(text).message


def test_bins_and_latencies_are_checked() -> None:
    for key, value in (("x", 1), ("1e400", 1), ("-5", 1), ("5", -1), ("5", "x"), ("9" * 19, 1)):
        text = changed("3.33-randread-plus", *READ, "clat_ns", "bins", to={key: value})
        assert "bin of latencies" in refused(text).message
    assert "latency" in refused(changed("3.33-read", *READ, "clat_ns", "mean", to=-1)).message
    many = changed("3.33-randread-plus", *READ, "clat_ns", "bins", to={str(at): 1 for at in range(20_000)})
    assert "more than fio has" in refused(many).message


def test_sizes_are_bounded() -> None:
    jobs = json.loads(text_of("3.33-read"))["jobs"]
    many = json.dumps({"fio version": "fio-3.33", "jobs": [{"jobname": "x"}] * (MAX_JOBS + 1)})
    assert "more than 20,000" in refused(many).message
    jobs[0]["other"] = {str(number): number for number in range(6000)}
    assert "figures" in refused(json.dumps({"fio version": "fio-3.33", "jobs": jobs})).message


def test_names_and_options_are_safe_to_print() -> None:
    document = json.loads(text_of("3.33-read"))
    document["jobs"][0] |= {"jobname": "a\x1b[31m\u202e" + "b" * 500}
    document["jobs"][0]["job options"]["filename"] = "\x07\n" * 500
    ((output,), (result,)) = ((found := fio.read(json.dumps(document), FILE)), found[0].results)
    assert output.file.tool == "fio"
    for text in (result.name, result.workload, result.target):
        assert text.isprintable() and len(text) <= 320


@pytest.mark.parametrize("name", [name for name in SAMPLES if name != "3.33-jobs"])
def test_a_damaged_output_is_read_or_refused(name: str) -> None:
    """Bytes that are cut off, doubled or changed: never another exception."""
    choice = random.Random(name)
    text = text_of(name)
    for _ in range(12):
        at = choice.randrange(len(text))
        length = choice.choice((1, 1, 2, 40, len(text)))
        put = choice.choice(
            ("", '"', "{", "}", "[", "-", "9" * 30, "null", "1e9", ",", text[at : at + 30], "true", '""')
        )
        damaged = text[:at] + put + text[at + length :]
        try:
            fio.read(damaged, FILE, ImportOptions("random"))
        except OutputError as error:
            assert error.line >= 1 and error.message and error.hint


@pytest.mark.parametrize("name", ["3.33-sections", "3.33-randrw-plus", "2.21-unified", "2.2.10-rw"])
def test_values_of_other_kinds_are_read_or_refused(name: str) -> None:
    """Each value of an output becomes another one in turn."""
    text = text_of(name)
    document = json.loads(text[text.index("{") :])

    def places(part: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
        items = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
        return [path, *(each for key, value in items for each in places(value, (*path, key)))]

    choice = random.Random(name)
    every = [path for path in places(document) if path and path != ("fio version",) and "bins" not in path]
    for path in choice.sample(every, min(20, len(every))):
        for value in (None, -1, 10**30, "x", [], {}, [1], {"a": 1}, True):
            try:
                fio.read(changed(name, *path, to=value), FILE, ImportOptions("random"))
            except OutputError as error:
                assert error.message


def test_a_file_is_known_by_what_is_in_it(tmp_path: Path) -> None:
    named = tmp_path / "results.csv"
    named.write_text(f"fio: a warning\n\n{text_of('3.33-read')}trailing\n")
    outputs = read_outputs(str(named))
    assert recognised_words("results.csv", outputs) == "results.csv: fio 3.33, JSON: 1 result"
    assert outputs[0].file.line == 3 and outputs[0].file.size_bytes == named.stat().st_size


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"", "empty"),
        (b"hello\n", "not a format"),
        (b"\xff\x00\x01\x02" * 9, "not text"),
        (b'{"jobs": []}', "not a format"),
    ],
)
def test_unknown_files_are_named(tmp_path: Path, data: bytes, word: str) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(data)
    with pytest.raises(AssayError) as error:
        read_outputs(str(file))
    assert word in error.value.message and str(file) in error.value.message
    assert all(one.name in error.value.hint for one in IMPORTERS)


def test_damage_that_readers_let_pass_does_not_stop_the_audit() -> None:
    text = text_of("3.33-read").replace('"99.000000"', '"99 %"')
    outputs = fio.read(text, FILE)
    assert any("99 %" in figure.name for figure in outputs[0].results[0].figures)
    assert {finding.severity for finding in audit(outputs, read_facts(""))} == {"note"}


@pytest.mark.parametrize("number", ["\u00b2", "\u0663", "-1", "", "9" * 5000, "9" * 19, "1e3"])
def test_options_that_are_no_numbers_stop_neither_reading_nor_audit(number: str) -> None:
    assert whole_number(number) is None
    for sample, name in (("3.33-read", "numjobs"), ("3.33-trim", "iodepth"), ("3.33-trim", "numjobs")):
        outputs = fio.read(changed(sample, "jobs", 0, "job options", name, to=number), FILE)
        assert outputs[0].results and audit(outputs, read_facts("")) is not None
    text = sample_text("iozone", "3.414-throughput.txt").replace(" -i 0", f" -i {number}")
    assert audit(iozone.read(text, FILE), read_facts("")) is not None
    text = sample_text("sockperf", "3.7-full-log.csv").replace("--msg-size=14", f"--msg-size={number}")
    (result,) = sockperf.read(text, FILE)[0].results
    assert result.measured and not result.parameters


def test_names_of_figures_that_another_tool_has_are_not_its() -> None:
    text = sample_text("ior", "3.3.0-separate.json").replace('"blockKiB"', '"min_xfer"')
    outputs = ior.read(text, FILE)
    assert any(one.name == "min_xfer" for one in outputs[0].results[0].figures)
    assert "whole-records" not in {finding.rule for finding in audit(outputs, read_facts(""))}


@pytest.mark.parametrize(
    ("read", "sample", "place", "line", "many"),
    [
        (iozone.read, "iozone/3.414-throughput.txt", "Build: ", "Build: x{}x", " "),
        (iozone.read, "iozone/3.414-throughput.txt", "\tRun began", "Run began: x{}x\n\tRun began", " "),
        (iozone.read, "iozone/3.414-throughput.txt", "Command line used: ", "Command line used: {}x ", " "),
        (iozone.read, "iozone/3.414-throughput.txt", "\tRun", "Children see throughput for 4 a{}\n\tRun", " "),
        (mdtest.read, "mdtest/1.9.4-files.txt", "File stat  ", "File creation  :  x{}x\n   File stat ", " "),
        (ycsb.read, "ycsb/0.17.0-run-a.txt", "YCSB Client", "{}\nYCSB Client", "java -cp "),
        (iperf3.read, "iperf3/3.0.12-parallel.txt", "Gbits/sec   46 ", "Gbits/sec   46{}x", " "),
        (pgbench.read, "pgbench/9.5-statements.txt", "\t37.609597\tEND;", "{}\t37.609597\tEND;", "\t36.29\tBEGIN;\n"),
        (ior.read, "ior/4.0.0-repeats.txt", "access   ", "ab: b{}c\naccess  ", " "),
    ],
)
def test_time_grows_with_the_length_of_a_text(read: Reader, sample: str, place: str, line: str, many: str) -> None:
    text = sample_text(*sample.split("/"))
    assert place in text

    def seconds_of_cpu(length: int) -> float:
        changed = text.replace(place, line.format(many * (length // len(many))), 1)
        started = time.process_time()
        try:
            audit(read(changed, FILE, ImportOptions("random")), read_facts(""))
        except OutputError as error:
            assert error.line
        return time.process_time() - started

    # Four times the length takes four times as long at most; sixteen times if each part looked at all others.
    short, long = (min(seconds_of_cpu(length) for _ in range(3)) for length in (10_000, 40_000))
    assert long < 9 * short


@pytest.mark.parametrize("number", [-1, -0.5, 2**63, 1e300, float("inf"), float("nan")])
def test_numbers_that_cannot_be_stored_are_refused(number: float) -> None:
    result = fio.read(text_of("3.33-rw"), FILE)[0].results[0]
    measured = result.measured
    assert measured is not None and measured.kinds
    kind = measured.kinds[0].model_copy(update={"ops": number})
    error = ErrorTally(kind="fault", name=None, count=1, example="").model_copy(update={"count": number})
    wrong: list[tuple[str, dict[str, object]]] = [
        ("iops", {"iops": number}),
        ("bytes", {"bytes": number}),
        ("elapsed_ns", {"elapsed_ns": number}),
        ("p99", {"latency": {"p99": number}}),
        (f"{kind.kind} ops", {"kinds": (kind,)}),
        ("errors", {"errors": (error,)}),
    ]
    for name, update in wrong:
        with pytest.raises(OutputError, match=f": {name} cannot be ") as refusal:
            ImportedResult(**{**dict(result), "measured": measured.model_copy(update=update)})
        assert refusal.value.line == result.line
    with pytest.raises(OutputError, match="file_size cannot be"):
        ImportedResult(**{**dict(result), "parameters": {"file_size": number}})


def test_a_size_that_is_too_large_is_refused_with_its_line() -> None:
    text = sample_text("bonnie", "2.00-quiet.csv")
    with pytest.raises(OutputError, match=r"file_size cannot be 1\.07374e") as error:
        bonnie.read(re.sub(r"^((?:[^,]*,){5})[^,]*", r"\g<1>999999999999G", text, count=1), FILE)
    assert error.value.line == 1


def test_what_is_wrong_is_said_in_a_short_line_however_long_a_name_is() -> None:
    error = OutputError(1, f"Min({'Mi' * 10_000}\n) cannot be x", "give the whole file")
    assert len(error.message) == MAX_MESSAGE and error.message == str(error) and error.message.isprintable()
