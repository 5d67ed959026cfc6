"""IOR's outputs: every figure comes back, parameters are those of the same command line, damage is refused."""

import csv
import json
import re
from pathlib import Path

import pytest
from ior_samples import DAMAGED, FILE, FOLDER, every_damage, names, numbers, planned, read, results_of, text_of, texts

from assay.model.study.names import WORK
from assay.rooms.foreign.work.ior import ior_study
from assay.rooms.importers.work import ior
from assay.rooms.importers.work.figure_units import UNITS
from assay.rooms.importers.work.registry import read_outputs
from assay.rooms.importers.work.results import ImportedResult, OutputError
from assay.rooms.importers.work.runs import make_run
from assay.store import RunStore

TEXTS, JSON, TABLE = names("ior", ".txt"), names("ior", ".json"), names("ior", ".csv")
WITHOUT_ROWS = ("2.10.3-once.txt", "2.10.3-repeats.txt")
"""Versions before 3.0 print iterations with -v -v only."""


def refused(text: str) -> OutputError:
    with pytest.raises(OutputError) as error:
        ior.read(text, FILE)
    assert error.value.hint
    return error.value


def figure(result: ImportedResult, name: str) -> tuple[str, str]:
    return next((one.text, one.unit) for one in result.figures if one.name == name)


@pytest.mark.parametrize("name", TEXTS)
def test_every_printed_number_of_text_comes_back(name: str) -> None:
    lines = text_of("ior", name).splitlines()
    rows = [line for line in lines if re.match(r"(write|read|remove) +[0-9-]", line)]
    printed = [word for line in rows for word in numbers(line)]
    printed += [word for line in lines if line.startswith("Max ") for word in re.findall(r"[0-9]+\.[0-9]+", line)]
    printed += [
        word for line in lines if line.startswith("stonewalling ") for word in re.findall(r"[0-9]+(?:\.[0-9])?", line)
    ]
    printed += [match[1] for line in lines if (match := re.match(r"WARNING: .* = ([0-9]+)", line))]
    removals = [line.split()[-1] for line in rows if line.startswith("remove")]
    found = texts(results_of("ior", name))
    # The number of an iteration stands in each row of removals, too.
    assert sorted(found + removals) == sorted(printed), name
    assert found and ior.recognise(text_of("ior", name))


@pytest.mark.parametrize("name", JSON)
def test_every_number_of_json_comes_back(name: str) -> None:
    clean = re.sub(r"^.*WARNING.*$", lambda line: line[0].split("WARNING")[0], text_of("ior", name), flags=re.M)
    document = json.loads(clean, parse_int=str, parse_float=str)
    parts = [{name: value for name, value in entry.items() if name != "TestID"} for entry in document["summary"]]
    for test in document["tests"]:
        parts += [test.get("max", {})]
        for entry in test["Results"]:
            parts += entry if isinstance(entry, list) else [entry]
    printed = [word for part in parts for value in part.values() for word in numbers(value)]
    printed += re.findall(r"WARNING: .* = ([0-9]+)", text_of("ior", name))
    assert sorted(texts(results_of("ior", name))) == sorted(printed)


@pytest.mark.parametrize("name", TABLE)
def test_every_number_of_csv_comes_back(name: str) -> None:
    rows = list(csv.reader(text_of("ior", name).splitlines()))[1:]
    results = results_of("ior", name)
    assert [[result.name, *(one.text for one in result.figures)] for result in results] == rows
    assert {result.parameters["record_size"] for result in results} == {47008}
    (output,) = ior.read(text_of("ior", name), FILE)
    assert all("--order" in result.left_out for result in output.results)


def test_units_operations_and_rates_are_assays() -> None:
    for name in (*TEXTS, *JSON, *TABLE):
        for result in results_of("ior", name):
            assert all(not one.unit or one.unit in UNITS for one in result.figures), name
            assert result.operation in WORK and result.measured is not None
            rate = next(one for one in result.figures if one.unit == "MiB/s" and not one.name.startswith("stone"))
            if "mean of" not in result.workload:
                assert result.measured.throughput == float(rate.text) * 2**20


@pytest.mark.parametrize("name", [name for name in (*TEXTS, *JSON) if "script" not in name])
def test_parameters_are_those_of_a_study_from_the_same_command_line(name: str) -> None:
    output = read("ior", text_of("ior", name))
    cases = planned(ior_study(output.file.command, lambda _path: "", 2))
    for result in output.results:
        ours = cases[result.workload.partition(" (")[0], str(result.operation)]
        for parameter, value in result.parameters.items():
            # With -C and -Q beyond the nodes, and with MPI-IO, a study has fields of its own.
            assert ours[parameter] == value, (name, result.line, parameter)


def test_iterations_are_repeats(tmp_path: Path) -> None:
    outputs = read_outputs(str(FOLDER / "ior" / "4.0.0-repeats.txt"))
    folder = make_run(outputs, tmp_path, "ior", "assay import")
    with RunStore.open(folder) as store:
        samples = store.samples()
    assert [(one.operation, one.repeat) for one in samples] == [
        (operation, repeat) for operation in ("write", "read") for repeat in (1, 2, 3)
    ]
    rates = [
        float(rate) for rate in re.findall(r"^write +([0-9.]+) .* [0-2]   $", text_of("ior", "4.0.0-repeats.txt"), re.M)
    ]
    assert [one.throughput for one in samples if one.operation == "write"] == [rate * 2**20 for rate in rates]


def test_the_summary_stands_in_for_iterations_that_are_not_printed() -> None:
    write, read_ = results_of("ior", "2.10.3-once.txt")
    assert write.workload == read_.workload == "ior"
    assert write.measured and write.measured.ops == 400 and write.measured.elapsed_ns == 25_570_000
    mean, _ = results_of("ior", "2.10.3-repeats.txt")
    assert mean.workload == "ior (mean of 3)" and mean.measured and not mean.measured.has_counts
    assert mean.measured.throughput == float(figure(mean, "summary.Mean(MiB)")[0]) * 2**20


def test_bytes_are_those_that_were_moved() -> None:
    (stopped,) = results_of("ior", "3.3.0-wear-out.txt")
    assert stopped.measured and stopped.measured.status == "time_limit"
    assert str(stopped.measured.bytes) == figure(stopped, "bytes moved")[0]
    assert stopped.parameters["time_limit"] == 10**9 and stopped.parameters["wear_out"] is True
    (json_,) = results_of("ior", "3.3.0-stonewall.json")
    assert json_.measured and json_.measured.bytes == 820387840 and json_.parameters["wear_out"] is False
    whole = results_of("ior", "3.0.1-repeats.txt")[0]
    assert whole.measured and whole.measured.ops == 12 and whole.measured.write_bytes == 6 << 20
    # What neither rate and time nor a warning tell is not known.
    slower = text_of("ior", "3.0.1-repeats.txt").replace("599.13 ", "399.13 ")
    assert read("ior", slower).results[0].measured.has_counts is False  # type: ignore[union-attr]


def test_a_size_that_is_printed_rounded_comes_from_elsewhere() -> None:
    text = text_of("ior", "3.0.1-repeats.txt")
    assert "1.50 MiB" in text and results_of("ior", "3.0.1-repeats.txt")[0].parameters["block_size"] == 1536 << 10
    without = text[: text.index("Summary of all tests")]
    assert read("ior", without).results[0].parameters["block_size"] == 1536 << 10
    unknown = read("ior", without.replace("-b 1536k", "-b 1m")).results[0]
    assert "block_size" not in unknown.parameters and "file_size" not in unknown.parameters
    assert unknown.measured and not unknown.measured.has_counts


def test_orders_and_direct_io() -> None:
    write, read_ = results_of("ior", "4.0.0-random.txt")
    assert (write.operation, read_.operation) == ("random_write", "random_read")
    assert write.parameters["cache"] == "direct" and "reorder" not in write.parameters
    (whole,) = results_of("ior", "4.1.0-io500-random.txt")
    assert whole.operation == "random_read" and "segments" not in whole.parameters
    # From 4.0 on -z shuffles within a block, where one transfer has nothing to be shuffled with.
    one = text_of("ior", "4.1.0-io500-random.txt").replace("-z -z", "-z")
    assert read("ior", one).results[0].operation == "read"


def test_what_a_script_sets_is_not_taken_from_the_command_line() -> None:
    results = results_of("ior", "4.0.0-script.txt")
    assert [one.workload for one in results] == ["test-1", "test-1", "test-2", "test-2"]
    assert "sync" not in results[0].parameters and results[2].parameters["layout"] == "separate"
    assert [figure(one, "summary.segcnt")[0] for one in results] == ["1", "1", "4", "4"]


def test_wrong_data_is_an_error() -> None:
    lines = text_of("ior", "3.3.0-wear-out.txt").split("\n")
    place = next(number for number, line in enumerate(lines) if line.startswith("write "))
    for warning, count in (("WARNING: incorrect data on write (7 errors found).", 7),
                           ("WARNING: Incorrect data on write (7 errors found).\n", 7),
                           ("WARNING: incorrect data on write.", 1)):  # fmt: skip
        (result,) = read("ior", "\n".join([*lines[: place + 1], warning, *lines[place + 1 :]])).results
        assert result.measured and [one.count for one in result.measured.errors] == [count]
    text = text_of("ior", "4.0.0-strided.json")
    at = text.index('"access": "read"')
    wrong = (
        text[: text.index("{", at)]
        + "WARNING: Incorrect data on read (2 errors found).\n"
        + text[text.index("{", at) :]
    )
    found = [bool(one.measured and one.measured.errors) for one in read("ior", wrong).results]
    assert found == [False, True, False, False]


def test_errors_of_ior_are_named_with_their_line() -> None:
    failed = refused(text_of("ior", DAMAGED[0]))
    assert failed.line == 40 and "IOR failed there: ior ERROR: read(" in failed.message
    for error in ("ERROR: open() failed, (aiori-POSIX.c:1)", "ERROR in IOR.c (line 5): no file."):
        assert refused(f"{text_of('ior', '4.0.0-repeats.txt')}{error}\n").message.endswith(error)
    assert "JSON of IOR 3.2 is damaged" in refused(text_of("ior", DAMAGED[1])).message


@pytest.mark.parametrize(
    ("sample", "change", "message"),
    [
        ("4.0.0-repeats.txt", ("672.03 ", "six "), "bw cannot be six"),
        ("4.0.0-repeats.txt", ("672.03 ", "9" * 20), "bw cannot be 999"),
        ("4.0.0-repeats.txt", ("672.03 ", ""), "a row of write has 10 columns, and the table 11"),
        ("4.0.0-repeats.txt", (" 1   \n", " 0   \n"), "iteration 0 of write is printed twice"),
        ("4.0.0-repeats.txt", (" 1   \n", " 1.0 \n"), "iteration 1.0 is no whole number"),
        ("4.0.0-repeats.txt", ("   NA", "     "), "a row of the summary has"),
        ("4.0.0-script.txt", ("TestID              : 1", "TestID              : 3"), "of test 1, which is missing"),
        ("4.0.0-strided.json", ('"TestID": 0, \n    "Ref', '"TestID": 5, \n    "Ref'), "of no test in this output"),
        ("4.0.0-strided.json", ('"bwMiB": ', '"bwMiB": -'), "bwMiB cannot be -"),
        ("4.0.0-strided.json", ('"access": "read"', '"access": "seek"'), "no access that IOR has"),
        ("4.0.0-strided.csv", (",2,1\n", ",2,0\n"), "iteration 0 of write is printed twice"),
        ("4.0.0-strided.csv", (",2,1\n", ",2\n"), "a row of 11 columns"),
    ],
)  # fmt: skip
def test_damage_is_refused(sample: str, change: tuple[str, str], message: str) -> None:
    text = text_of("ior", sample)
    assert change[0] in text
    assert message in refused(text.replace(*change)).message


def test_a_rate_that_is_none_is_left_out() -> None:
    text = text_of("ior", "4.0.0-repeats.txt")
    infinite = read("ior", text.replace("672.03 ", "inf    ")).results[0]
    assert not infinite.operation and "no finite rate" in infinite.left_out
    assert "rate is 0" in read("ior", text.replace("672.03 ", "0.000000 ")).results[0].left_out
    quoted = read("ior", text_of("ior", "4.0.0-strided.json").replace('"bwMiB": ', '"bwMiB": "inf", "x": ', 1))
    assert "no finite rate" in quoted.results[0].left_out


def test_several_outputs_hosts_and_dates() -> None:
    both = ior.read(text_of("ior", "3.2.1-random.txt") + text_of("ior", "2.10.3-verbose.txt"), FILE)
    assert [(one.file.version, one.file.host) for one in both] == [("3.2.1", "vm"), ("2.10.3", "vm")]
    assert both[1].file.line == 47 and both[0].file.date.startswith("Sun Nov 29")
    text = text_of("ior", "4.0.0-repeats.txt")
    several = text.replace("nodes               : 1", "nodes               : 2").replace(
        "per node    : 2", "per node    : 1"
    )
    assert read("ior", several).results[0].parameters["hosts"] == 2
    uneven = read("ior", text.replace("tasks               : 2", "tasks               : 3")).results[0].parameters
    assert uneven["streams"] == 3 and "lanes" not in uneven
    assert not ior.recognise("write 1 2 3\n") and not ior.recognise("")


def test_texts_are_escaped_and_hide_passwords() -> None:
    text = text_of("ior", "4.0.0-repeats.txt").replace("/var/tmp/io/x", "/a\x1b[31m/x?password=hush")
    text = text.replace("Linux vm", "Linux v\x1b]0;m")
    output = read("ior", text)
    assert "\\u001b" not in output.model_dump_json() and "hush" not in output.model_dump_json()


@pytest.mark.parametrize("name", ["2.10.3-verbose.txt", "3.3.0-wear-out.txt", "4.0.0-strided.csv"])
def test_no_damage_raises_anything_else(name: str) -> None:
    text = text_of("ior", name)
    for damaged in every_damage(text, range(0, len(text), 53)):
        try:
            ior.read(damaged, FILE)
        except OutputError as error:
            assert 1 <= error.line <= damaged.count("\n") + 1
