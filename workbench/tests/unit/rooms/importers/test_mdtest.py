"""mdtest's summaries and IO500's: every figure comes back, parameters are those of the same command line."""

import re

import pytest
from ior_samples import FILE, READERS, every_damage, names, numbers, planned, read, results_of, text_of, texts

from assay.analyse.io500_score import Phase, Score
from assay.model.study.names import WORK
from assay.report.formats.io500 import score_summary
from assay.rooms.foreign.work.mdtest import mdtest_study
from assay.rooms.importers.work import io500, mdtest
from assay.rooms.importers.work.each_once import left_out_twice
from assay.rooms.importers.work.figure_units import UNITS, convert
from assay.rooms.importers.work.results import ImportedResult, OutputError

SAMPLES = names("mdtest", ".txt")
SUMMARY = "result_summary.txt"


def refused(tool: str, text: str) -> OutputError:
    with pytest.raises(OutputError) as error:
        READERS[tool](text, FILE)
    assert error.value.hint
    return error.value


def of_operation(name: str, operation: str) -> ImportedResult:
    return next(one for one in results_of("mdtest", name) if one.operation == operation)


@pytest.mark.parametrize("name", SAMPLES)
def test_every_printed_number_comes_back(name: str) -> None:
    text = text_of("mdtest", name)
    rows = re.findall(r"^   (?:Directory|File|Tree) .*$", text, re.M)
    results = results_of("mdtest", name)
    assert sorted(texts(results)) == sorted(word for row in rows for word in numbers(row)) and rows
    assert mdtest.recognise(text)
    for result in results:
        assert all(one.unit in UNITS for one in result.figures)
        assert (result.operation in WORK) != bool(result.left_out)
        if result.measured:
            mean = next(one.text for one in result.figures if one.name == "Mean")
            assert result.measured.iops == float(mean)


@pytest.mark.parametrize("name", [name for name in SAMPLES if "1.9.4" not in name])
def test_parameters_are_those_of_a_study_from_the_same_command_line(name: str) -> None:
    output = read("mdtest", text_of("mdtest", name))
    cases = planned(mdtest_study(output.file.command.replace("'--dataPacketType=timestamp'", ""), 2))
    for result in output.results:
        if not result.operation:
            continue
        ours = cases[result.workload.partition(" (")[0], result.operation]
        for parameter, value in result.parameters.items():
            # A study goes on by the same number of lanes with each phase, and mdtest further each time.
            if parameter != "reorder_by" or result.operation == "stat":
                assert ours[parameter] == value, (name, result.name, parameter)


def test_bytes_and_operations_follow_from_the_options() -> None:
    create, read_ = (of_operation("4.0.0-files.txt", name) for name in ("create", "read"))
    assert create.measured and create.measured.ops == 100 and create.measured.write_bytes == 390_100
    assert read_.workload == "read" and read_.measured and read_.measured.throughput == read_.measured.iops * 3901
    assert [of_operation("4.0.0-files.txt", name).parameters["reorder_by"] for name in ("stat", "read", "unlink")] == [
        1,
        2,
        3,
    ]
    assert of_operation("3.3.0-both.txt", "open").parameters["reorder"] == "none"
    assert of_operation("1.9.4-files.txt", "create").parameters["sync"] == "o_sync"


def test_a_mean_of_several_iterations_is_called_so() -> None:
    tree = of_operation("4.0.0-tree.txt", "mkdir")
    assert tree.workload == "directories (mean of 3)" and tree.measured
    assert not tree.measured.has_counts and tree.measured.elapsed_ns is None
    assert (tree.parameters["files"], tree.parameters["depth"], tree.parameters["width"]) == (39, 2, 3)


def test_times_are_seconds_whatever_their_title_says() -> None:
    create = of_operation("4.1.0-io500-write.txt", "create")
    assert "SUMMARY time (in ms/op)" in text_of("mdtest", "4.1.0-io500-write.txt")
    # 400 files at that rate take as long.
    assert create.measured and create.measured.elapsed_ns == 34_000_000
    assert abs(400 / create.measured.iops - 0.034) < 0.001
    # With a stonewall, how many were made is not printed.
    assert not create.measured.has_counts and create.parameters["time_limit"] == 10**9


def test_the_old_count_of_nodes_is_not_believed() -> None:
    text = text_of("mdtest", "1.9.4-files.txt")
    assert "2 total task(s) on 2 node(s)" in text
    parameters = of_operation("1.9.4-files.txt", "create").parameters
    assert parameters["streams"] == 2 and "hosts" not in parameters
    eight = text.replace("2 total task(s) on 2", "8 total task(s) on 2").replace("2 tasks, 100", "8 tasks, 400")
    assert read("mdtest", eight).results[0].parameters["lanes"] == 4


def test_what_has_no_counterpart_says_why() -> None:
    reasons = {one.name: one.left_out for one in results_of("mdtest", "4.0.0-tree.txt") if one.left_out}
    assert list(reasons) == ["Directory stat", "Directory rename", "Tree creation", "Tree removal"]
    idle = {one.name: one.left_out for one in results_of("mdtest", "4.0.0-create-only.txt") if one.left_out}
    assert "not done" in idle["File stat"]
    text = text_of("mdtest", "4.0.0-tree.txt")
    times = text[: text.index("SUMMARY rate")] + text[text.index("SUMMARY time") :]
    assert all("add -P" in one.left_out for one in read("mdtest", times).results if one.name == "File creation")
    unknown = read("mdtest", text_of("mdtest", "3.3.0-both.txt").replace("'-i'", "'-?'")).results
    assert next("command line" in one.left_out for one in unknown if one.name == "File read")
    assert next(one.operation == "stat" for one in unknown if one.name == "File stat")


def test_statistics_of_ranks_and_stonewalls_are_figures() -> None:
    text = text_of("mdtest", "4.0.0-files.txt")
    row = next(line for line in text.splitlines() if "File stat" in line)
    wide = text.replace(row, f"{row[:20]} 9.000 1.000 5.000 {row[20:]}")
    stat = next(one for one in read("mdtest", wide).results if one.name == "File stat")
    assert [one.text for one in stat.figures[:3]] == ["9.000", "1.000", "5.000"] and stat.measured
    assert stat.measured.iops == float(row.split()[-2])
    stonewall = text.replace(
        row, f"   File create (stonewall)   :             NA             NA       5.000             NA\n{row}"
    )
    create = next(one for one in read("mdtest", stonewall).results if one.name == "File creation")
    assert [(one.name, one.text) for one in create.figures][-1] == ("stonewall.Mean", "5.000")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("92426.267", "many"), "no maximum, minimum"),
        (("92426.267", "-92426.267"), "no maximum, minimum"),
        (("92426.267 ", "9" * 20 + ".000 "), "no maximum, minimum"),
        (("File stat ", "File creation "), "is printed twice"),
        (("   File stat ", "   Nothing "), "not a row of a summary"),
        (("SUMMARY", "Summary"), "no summary in this output"),
        (("Nodemap: 11", "ERROR: cannot create, (mdtest.c:5)"), "mdtest failed there"),
    ],
)
def test_damaged_summaries_are_refused(change: tuple[str, str], message: str) -> None:
    text = text_of("mdtest", "4.0.0-files.txt")
    assert change[0] in text
    assert message in refused("mdtest", text.replace(*change)).message


def test_every_phase_of_io500_comes_back() -> None:
    text = text_of("io500", SUMMARY)
    results = results_of("io500", SUMMARY)
    lines = [line for line in text.splitlines() if " : time " in line]
    *phases, score = results
    assert [[one.text for one in result.figures] for result in phases] == [
        re.findall(r" ([0-9]+\.[0-9]+) ", line) for line in lines
    ]
    stated = next(line for line in text.splitlines() if line.startswith("[SCORE"))
    assert [one.text for one in score.figures] == re.findall(r" ([0-9]+\.[0-9]+)", stated)
    assert [one.name for one in results if one.left_out] == ["timestamp", "find", score.name]
    rates = {one.name: one.measured for one in results if one.measured}
    hard, stat = rates["ior-hard-write"], rates["mdtest-hard-stat"]
    assert hard.throughput == float(convert("0.755503", "GiB/s")) and hard.iops == hard.throughput / 47008
    assert rates["ior-easy-write"].iops is None and stat.iops == 564889.428
    assert next(one.options for one in results if one.name == "ior-hard-write") == {"marked": "[INVALID]"}


def result_file(text: str) -> str:
    """The result.txt of a summary, laid out as IO500 does (src/main.c): sections of pairs, times of four digits."""
    parts = ["; comment", "[run]", "procs               = 320", "version             = 02091cf", "mode = standard", ""]
    for name, rate, seconds, invalid in re.findall(r"\] +(\S+) +(\S+) \S+ : time (\S+) seconds( \[INVALID\])?", text):
        score = [f"score               = {rate}"] if name != "timestamp" else []
        marks = ["; ERROR INVALID Runtime of phase is below stonewall time."] if invalid else []
        parts += [
            f"[{name}]",
            "t_start             = 2026-11-29",
            *marks,
            *score,
            f"t_delta             = {seconds}0",
            "",
        ]
    return "\n".join([*parts, "[SCORE]", "SCORE               = 15.6 [INVALID]", "hash                = 1A2B", ""])


def test_result_files_of_io500_say_how_many_processes_there_were() -> None:
    summary = text_of("io500", SUMMARY)
    text = result_file(summary)
    assert io500.recognise(text)
    output = read("io500", text)
    assert (output.file.version, output.file.form) == ("02091cf", "result.txt, standard")
    wanted = {one.name: one for one in results_of("io500", SUMMARY) if one.name not in ("timestamp", "SCORE")}
    assert [one.name for one in output.results] == list(wanted)
    for one in output.results:
        other = wanted[one.name]
        assert (one.operation, one.measured, one.options) == (other.operation, other.measured, other.options)
        assert one.parameters == ({**other.parameters, "streams": 320} if one.operation else {})
        assert one.figures[0] == other.figures[0]
    assert "no number" in refused("io500", text.replace("= 320", "= many")).message
    assert "printed twice" in refused("io500", text.replace("[ior-easy-read]", "[ior-hard-read]")).message
    assert "no scores" in refused("io500", text.replace("score ", "source ")).message


def test_result_file_and_summary_of_io500_count_once() -> None:
    summary = text_of("io500", SUMMARY)
    texts = {"out/result.txt": result_file(summary), "out/result_summary.txt": summary}
    outputs = [one for name, text in texts.items() for one in io500.read(text, FILE.model_copy(update={"file": name}))]
    whole, short = left_out_twice(outputs)
    assert whole == outputs[0]
    assert {one.left_out for one in short.results if outputs[1].results[0].measured and one.name != "SCORE"} == {
        "result.txt has it with all its figures",
        "it marks a time, and measures nothing",
        next(one.left_out for one in outputs[1].results if one.name == "find"),
    }


def test_summaries_of_the_forerunner_of_io500_are_read() -> None:
    text = (
        "[RESULT-invalid] BW   phase 1            ior_easy_write                0.341 GB/s : time 305.48 seconds\n"
        "[RESULT] IOPS phase 1         mdtest_easy_write               12.345 kiops : time 301.20 seconds\n"
        "[SCORE] Bandwidth 0.341 GB/s : IOPS 12.345 kiops : TOTAL 2.05\n"
    )
    easy, create, score = read("io500", text).results
    assert [one.text for one in score.figures] == ["0.341", "12.345", "2.05"] and score.left_out
    # It divided IOR's MiB/s by 1024.
    assert easy.measured and easy.measured.throughput == float(convert("0.341", "GiB/s"))
    assert easy.options and create.measured and create.measured.iops == 12345
    assert (easy.operation, create.operation) == ("write", "create") and not create.options


def test_a_log_of_io500_that_has_its_summary_at_the_end_counts_once() -> None:
    phase = "[RESULT] BW   phase 1            ior_easy_write                4.936 GB/s : time 376.88 seconds\n"
    score = "[SCORE] Bandwidth 4.936 GB/s : IOPS 1.0 kiops : TOTAL 2.0\n"
    log = f"[Starting] ior_easy_write\n{phase}\n[Leaving] datafiles in /d\n{phase}{score}"
    assert [one.line for one in read("io500", log).results if one.measured] == [2]


def test_damaged_summaries_of_io500_are_refused() -> None:
    text = text_of("io500", SUMMARY)
    assert "no number" in refused("io500", text.replace("1.494209", "nan")).message
    error = refused("io500", text.replace("ior-easy-read", "ior-hard-read"))
    assert "printed twice, with other numbers" in error.message
    assert "no result of a phase" in refused("io500", text.replace("GiB/s : time 0.023", "TiB/s : time 0.023")).message
    assert "no results" in refused("io500", text.splitlines()[0]).message
    score = Score("disk", 1, (Phase("find", 1.0, False, 1.0),), 1.0, 1.0, 1.0, ())
    own = "\n".join(score_summary(score, False))
    assert io500.recognise(own) and "exported by Assay" in refused("io500", own).message


def test_texts_are_escaped_and_hide_passwords() -> None:
    output = read(
        "mdtest", text_of("mdtest", "4.0.0-files.txt").replace("/var/tmp/io/md", "/a\x1b[31m/x?password=hush")
    )
    assert "\\u001b" not in output.model_dump_json() and "hush" not in output.model_dump_json()


@pytest.mark.parametrize(("tool", "name"), [("mdtest", "4.0.0-tree.txt"), ("io500", SUMMARY)])
def test_no_damage_raises_anything_else(tool: str, name: str) -> None:
    text = text_of(tool, name)
    for damaged in every_damage(text, range(0, len(text), 37)):
        try:
            READERS[tool](damaged, FILE)
        except OutputError as error:
            assert 1 <= error.line <= damaged.count("\n") + 1
