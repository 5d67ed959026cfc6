"""vdbench's outputs: every figure of an average comes back, and what a run was follows from what the output says.

Outputs of 5.04.06 and 5.02 were made by these versions, built from their source (CDDL). 5.04.07-layout-console.txt has
the exact layout of a real one, and numbers of our own.
"""

import random
import re
import time
from decimal import Decimal
from functools import cache

import pytest
from paths import GOLDEN

from assay.model.result.imported import ImportedFile
from assay.model.study.names import WORK
from assay.rooms.importers.work.each_once import left_out_twice
from assay.rooms.importers.work.figure_units import UNITS
from assay.rooms.importers.work.registry import IMPORTERS
from assay.rooms.importers.work.results import ImportedResult, ImportOptions, OutputError, ToolOutput
from assay.rooms.importers.work.vdbench import reader

FOLDER = GOLDEN / "imports" / "vdbench"
SAMPLES = sorted(path.name for path in FOLDER.iterdir() if "vdbench" not in path.name)
FILE = ImportedFile(tool="vdbench", version="", form="", file="x", line=1, sha256="0" * 64, size_bytes=1)
RANDOM = ImportOptions("random")


@cache
def text_of(name: str) -> str:
    return (FOLDER / name).read_text()


def read(text: str, stated: ImportOptions = RANDOM) -> ToolOutput:
    (output,) = reader.read(text, FILE, stated)
    return output


def results_of(name: str, stated: ImportOptions = RANDOM) -> tuple[ImportedResult, ...]:
    return read(text_of(name), stated).results


def refused(text: str) -> OutputError:
    with pytest.raises(OutputError) as error:
        reader.read(text, FILE, RANDOM)
    assert error.value.hint
    return error.value


def figure(result: ImportedResult, name: str) -> str:
    return next(one.text for one in result.figures if one.name == name)


def printed(text: str) -> list[str]:
    """Every number that a text has in an average, or as a count of a histogram."""
    found = []
    for line in text.splitlines():
        if match := re.search(r"avg_\d+-\d+ +(.*)", line):
            found += match[1].split()
        elif match := re.match(r" +[0-9.]+ < +[0-9.max]+ +([0-9,]+) ", line):
            found.append(match[1].replace(",", ""))
    return [word for word in found if word not in ("n/a", "NaN")]


@pytest.mark.parametrize("name", SAMPLES)
def test_every_number_of_an_average_comes_back(name: str) -> None:
    text, results = text_of(name), results_of(name)
    assert sorted(one.text for result in results for one in result.figures) == sorted(printed(text))
    assert reader.recognise(text) and [one.name for one in IMPORTERS if one.recognise(text)] == ["vdbench"]
    for result in results:
        assert all(not one.unit or one.unit in UNITS for one in result.figures)
        assert (result.measured is None) == bool(result.left_out) == (result.operation is None)
        assert result.operation in (*WORK, None)


@pytest.mark.parametrize("name", [name for name in SAMPLES if "histogram" not in name])
def test_each_run_is_a_result(name: str) -> None:
    text = text_of(name)
    started = re.findall(r"\d Starting RD=([^;\s<]+)", text)
    if "flatfile" in name:
        started = re.findall(r"(\S+) +avg_\d+-\d+ ", text)
    assert [result.name for result in results_of(name)] == started


def test_a_flatfile_says_what_was_asked_for() -> None:
    results = results_of("5.04.06-sweep-flatfile.html", ImportOptions())
    found = [(one.operation, one.parameters.get("record_size"), one.parameters.get("read_percent")) for one in results]
    loops = [("random_read", None), ("random_mix", 70), ("random_write", None)]
    assert found[0][0] == "write" and found[13][0] == "read"
    assert found[1:13] == [(name, size, share) for size in (4096, 65536) for name, share in loops for _ in (1, 4)]
    assert [one.workload for one in results[1:3]] == ["rand threads=1", "rand threads=4"]
    assert [one.parameters.get("rate") for one in results[-2:]] == [100.0, 400.0]
    assert "record_size" not in results[-1].parameters, "a mix of sizes, of which vdbench prints the first"


def test_rates_and_latencies_are_in_assays_units() -> None:
    result = results_of("5.04.06-sweep-flatfile.html")[3]
    assert result.measured and result.latency_of == "resp"
    assert figure(result, "rate") == "226982.5000" and result.measured.iops == 226982.5
    assert result.measured.throughput == 226982.5 * 4096
    assert result.measured.latency == {"mean": 3100.0, "max": 72041000.0}
    layout = results_of("5.04.07-layout-console.txt", ImportOptions())[1]
    assert layout.measured and layout.measured.latency["max"] == 3750000.0
    assert (layout.operation, layout.parameters) == ("random_mix", {"record_size": 8192, "rate": 1000.0})


def test_console_and_flatfile_of_one_run_say_the_same() -> None:
    for name in ("sweep", "files"):
        console, flat = (results_of(f"5.04.06-{name}-{form}") for form in ("console.txt", "flatfile.html"))
        assert len(console) == len(flat)
        for one, other in zip(console, flat, strict=True):
            assert one.measured and other.measured and one.measured.iops and other.measured.iops
            assert one.measured.iops == pytest.approx(other.measured.iops, rel=0.02)
            assert one.measured.throughput == pytest.approx(other.measured.throughput, rel=0.02)


def test_operations_on_files_are_those_that_were_asked_for() -> None:
    found = [one.operation or one.left_out for one in results_of("5.04.06-names-flatfile.html")]
    expected = ["mkdir", "create", "stat", "no like setattr", "no like access", "open", "unlink", "rmdir", "write"]
    assert [one.replace("Assay has no operation like", "no like") for one in found[1:]] == [*expected, "random_mix"]
    results = results_of("5.04.06-files-console.txt")
    assert [one.operation for one in results] == ["write", "random_read", *["random_write"] * 2, *["random_mix"] * 2]
    assert [one.parameters.get("rate") for one in results[2:4]] == [200.0, 400.0]
    (mixed,) = {one.operation for one in results_of("5.04.06-mix-summary.html") if one.name == "rd1"}
    assert mixed == "random_mix"


def test_several_operations_at_once_are_results_of_their_own() -> None:
    text = text_of("5.04.06-files-console.txt").split("Starting RD=rd2")[0]
    text = re.sub(r"(avg_2-3 +)49290  0.006(.*)", r"\g<1>52370  0.013\2", text)
    results = read(text).results
    assert [(one.name, one.operation) for one in results[1:]] == [("rd1 (read)", "random_read"), ("rd1 (open)", "open")]
    assert results[2].measured and results[2].measured.latency == {"mean": 120000.0}
    assert sorted(one.text for result in results for one in result.figures) == sorted(printed(text))


def test_runs_of_one_loop_are_no_repeats_of_each_other() -> None:
    flat = results_of("5.04.06-files-flatfile.html")
    assert [one.workload for one in flat[-2:]] == ["rd3 (1 of 2)", "rd3 (2 of 2)"]
    assert [one.workload for one in flat[2:4]] == ["rd2", "rd2"], "their rates tell them apart"
    console = results_of("5.04.06-files-console.txt")
    assert [one.workload for one in console[-2:]] == ["rd3 threads=1", "rd3 threads=2"]
    for name in SAMPLES:
        keys = [repr((one.workload, one.operation, one.parameters)) for one in results_of(name) if one.measured]
        assert len(keys) == len(set(keys)), name


def test_reports_of_one_folder_count_once() -> None:
    """Parts, such as the report of an SD, would be repeats of the whole; other files are runs of their own."""

    def named(name: str, place: str) -> ToolOutput:
        (output,) = reader.read(text_of(name), FILE.model_copy(update={"file": place}), RANDOM)
        return output

    flat = named("5.04.06-sweep-flatfile.html", "out/flatfile.html")
    totals, part = (named("5.04.06-sweep-totals.html", f"out/{name}.html") for name in ("totals", "sd1"))
    elsewhere = [named("5.04.06-sweep-totals.html", "out2/sd1.html"), named("5.04.06-curve-console.txt", "out/c.txt")]
    kept = left_out_twice([part, flat, totals, *elsewhere])
    assert [sum(one.measured is not None for one in output.results) for output in kept] == [
        0,
        *(sum(one.measured is not None for one in output.results) for output in (flat,)),
        0,
        *(sum(one.measured is not None for one in output.results) for output in elsewhere),
    ]
    assert {one.left_out for one in kept[0].results} == {"flatfile.html has all of it"}


@pytest.mark.parametrize("name", ["sweep", "files"])
@pytest.mark.parametrize("stated", [RANDOM, ImportOptions()])
def test_a_console_beside_the_reports_of_the_same_run_is_no_run_of_its_own(name: str, stated: ImportOptions) -> None:
    def read_as(sample: str, place: str) -> ToolOutput:
        (output,) = reader.read(text_of(f"5.04.06-{name}-{sample}"), FILE.model_copy(update={"file": place}), stated)
        return output

    flat, console = read_as("flatfile.html", "run/out/flatfile.html"), read_as("console.txt", "run/log.txt")
    kept = left_out_twice([console, flat])
    assert kept[1] == flat
    assert {one.left_out for one in kept[0].results} == {"run/out/flatfile.html has it, with the same figures"}
    first, *rest = console.results
    faster = [figure._replace(text="777777.00") if figure.name == "rate" else figure for figure in first.figures]
    other = console.model_copy(update={"results": (first.model_copy(update={"figures": tuple(faster)}), *rest)})
    reasons = ["same figures" in one.left_out for one in left_out_twice([other, flat])[0].results]
    assert reasons == [False] + [True] * len(rest)


def test_what_vdbench_does_not_say_is_asked_for_or_missing() -> None:
    (first, *_, last) = results_of("5.04.06-curve-console.txt", ImportOptions())
    assert "--order" in first.left_out and last.name == "rd1_(90%)"
    (first, *_) = results_of("5.04.06-curve-console.txt")
    assert first.parameters == {"record_size": 8192} and first.measured and not first.measured.has_counts
    assert "record_size" not in results_of("5.04.06-luns-sd1.html")[0].parameters
    assert results_of("5.04.06-luns-sd1.html")[1].target == "sd1"
    partly = text_of("5.02-flatfile.html").replace("100.0000     0.0625", " 60.0000     0.0625")
    assert all("partly random" in one.left_out for one in read(partly, ImportOptions()).results)
    assert [one.operation for one in read(partly).results] == ["random_mix"] * 2


def test_what_did_not_end_is_left_out() -> None:
    *_, last = results_of("5.04.06-cut-console.txt")
    assert last.name == "rd1_(30%)" and "no average" in last.left_out and not last.figures
    (empty, _) = results_of("5.04.07-layout-console.txt")
    assert "nothing was done" in empty.left_out and figure(empty, "rate") == "0.0"
    assert all("no rate" in one.left_out for one in results_of("5.04.06-luns-histogram.html"))


def test_errors_make_a_run_failed() -> None:
    text = text_of("5.02-console.txt").replace(
        "Vdbench execution", "* Total Data Validation or I/O error count: 7\nVdbench execution"
    )
    first, last = (one.measured for one in read(text).results)
    assert first and first.status == "done" and last and last.status == "failed" and last.errors[0].count == 7


def test_megabytes_are_what_the_output_counts() -> None:
    decimal = text_of("5.02-console.txt").replace("1024**2", "1000**2").replace("581.05", "609.28")
    figures = [one for one in read(decimal.replace("1445.38", "1515.60")).results[0].figures if one.name == "MB/sec"]
    assert [one.unit for one in figures] == ["MB/sec (1000**2)"]
    flat = text_of("5.02-flatfile.html").replace(" 581.0527", " 609.2780").replace("1445.3848", "1515.5958")
    assert {one.unit for result in read(flat).results for one in result.figures if one.name == "MB/sec"} == {
        "MB/sec (1000**2)"
    }
    assert "MB/sec is not" in refused(text_of("5.02-console.txt").replace(" 581.05", " 301.05")).message


def test_noise_ends_of_lines_and_commas_do_not_matter() -> None:
    name = "5.04.06-files-console.txt"
    noisy = "\ufeff$ ./vdbench -f x\r\n" + text_of(name).replace("\n", "\r\n") + "\r\n$ echo done\r\n"
    assert [one.measured for one in read(noisy).results] == [one.measured for one in results_of(name)]
    lines = [re.sub(r"(?<=\d)\.(?=\d+(?: |$))", ",", line) if "avg" in line else line
             for line in text_of("5.02-console.txt").splitlines()]  # fmt: skip
    commas = read(re.sub(r"(\d\d:\d\d:\d\d),", r"\1.", "\n".join(lines)))
    assert [one.measured for one in commas.results] == [one.measured for one in results_of("5.02-console.txt")]
    glued = text_of("5.02-console.txt").replace("   avg_2-3", "avg_31-150")
    assert [one.measured for one in read(glued).results] == [one.measured for one in results_of("5.02-console.txt")]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_damaged_output_is_read_or_refused(name: str) -> None:
    choice, text = random.Random(name), text_of(name)
    for _ in range(12):
        at, length = choice.randrange(len(text)), choice.choice((1, 2, 40, len(text)))
        put = choice.choice(("", "9" * 400, "-", "NaN", "1e999", "\x00", " ", "\n", ",", text[at : at + 90]))
        try:
            reader.read(text[:at] + put + text[at + length :], FILE, RANDOM)
        except OutputError as error:
            assert error.line >= 1 and error.message and error.hint


def test_wrong_rows_are_refused_with_their_line() -> None:
    text = text_of("5.02-console.txt")
    line = text.splitlines().index(next(one for one in text.splitlines() if "avg_2-3" in one)) + 1
    error = refused(text.replace("148749.50", "14x8749.50"))
    assert (error.line, "rate cannot be" in error.message) == (line, True)
    assert "rate cannot be -" in refused(text.replace("148749.50", "-48749.50")).message
    assert "columns" in refused(text.replace("   0.180 NaN NaN", "")).message
    assert "second line of a header" in refused(text.replace("1024**2", "nothing")).message
    flat = text_of("5.02-flatfile.html")
    assert "columns" in refused(flat.replace("n/a NaN", "NaN", 1)).message
    assert "no bucket" in refused(text_of("5.04.06-luns-histogram.html").replace(" 0.020 < ", " 0.020 < x", 3)).message


def seconds_of_cpu(count: int) -> float:
    """CPU time for a console with so many rows, as many unclosed tags, and a line of as many dots."""
    text = text_of("5.02-console.txt")
    row = next(line for line in text.splitlines() if "NaN" in line and " 1 " in line)
    long = text + f"{row}\n" * count + "<a " * (30 * count) + "\n" + "." * (60 * count)
    started = time.process_time()
    assert reader.recognise(long) and read(long).results
    return time.process_time() - started


def test_time_grows_with_the_length_of_a_file() -> None:
    # Four times the length takes four times as long; sixteen times if each part looked at all others.
    assert seconds_of_cpu(16_000) < 9 * seconds_of_cpu(4_000)


def test_rates_of_a_format_are_those_of_writing() -> None:
    (result, *_) = results_of("5.04.06-files-flatfile.html", ImportOptions())
    assert result.operation == "write" and result.measured
    assert Decimal(figure(result, "Write_rate")) == Decimal(str(result.measured.iops))


def test_a_flatfile_of_files_has_capitals_since_5_04_07() -> None:
    columns = "tod timestamp Run Interval Xfersize Threads Reqrate Rate Resp Resp_max MB/sec MB_read MB_write Read_rate"
    row = (
        "11:47:28.046 04/11/2019-11:47:28-ICT rd1 avg_2-60 4093 n/a 9999988 33891.39 1.8743 2864.126 132.3209 132.3209"
    )
    text = f"<pre>\n     {columns} Read_resp\n{row} 0 33891.39 1.8743\n"
    (result,) = read(text).results
    assert result.operation == "random_read" and result.measured and result.measured.iops == 33891.39
    assert result.measured.latency == {"mean": 1874300.0, "max": 2864126000.0}
