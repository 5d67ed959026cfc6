"""fio's terse output: every field of real lines comes back, and damaged lines are refused."""

import random
import re

import pytest
from fio_samples import FILE
from fio_text_samples import TERSE, read, split, terse_results

from assay.rooms.importers.work.figure_units import UNITS
from assay.rooms.importers.work.fio_text import importer as fio_text
from assay.rooms.importers.work.results import ImportedResult, ImportOptions, OutputError

LAST = {"read.iops", "usr_cpu", "iodepth_level.>=64", "latency_ms.>=2000"}


def fields_of(line: str) -> list[str]:
    """The numbers of a line, of version 2 without the versions of the format and of fio."""
    fields = line.rstrip("\n").split(";")[2 if line.startswith("2;") else 3 :]
    values = [re.sub(r"^[0-9.]+%=|%$", "", one) for one in fields if one != "0%=0"]
    return [one for one in values if re.fullmatch(r"[0-9.]+", one)]


def figures_of(result: ImportedResult) -> dict[str, tuple[str, str]]:
    return {one.name: (one.text, one.unit) for one in result.figures}


def refused(text: str) -> OutputError:
    with pytest.raises(OutputError) as error:
        fio_text.read(text, FILE)
    assert error.value.hint
    return error.value


@pytest.mark.parametrize("name", TERSE)
def test_every_field_comes_back(name: str) -> None:
    lines, results = split(name)[2].splitlines(), terse_results(name)
    if "interval" in name:
        # Of the reports of a job, the first one stands for all that the last one counts again.
        lines = lines[: len(results) // 2] + lines[-(len(results) // 2) :]
    assert len(lines) == len(results)
    for line, result in zip(lines, results, strict=True):
        assert [one.text for one in result.figures] == fields_of(line)
        assert all(not one.unit or one.unit in UNITS for one in result.figures)
        assert figures_of(result).keys() >= LAST - ({"read.iops"} if "mixed.iops" in figures_of(result) else set())
        assert not result.parameters


@pytest.mark.parametrize("form", [2, 3, 4])
def test_versions_differ_in_their_fields(form: int) -> None:
    (result,) = terse_results(f"2.2.10-terse-{form}")
    found = figures_of(result)
    assert ("trim.iops" in found) == (form != 3) and ("disk.vda.util" in found) == (form != 2)
    assert result.operation == "random_mix" and result.measured and result.measured.ops == 2048
    assert found["read.clat.percentile.99.000000"][1] == found["write.lat.mean"][1] == "us"
    assert (found["read.io_kbytes"][1], found["read.bw"][1], found["read.runtime"][1]) == ("KiB", "KiB/s", "ms")


def test_version_5_has_samples_of_iops() -> None:
    (result,) = terse_results("3.42-both")
    assert {"read.bw_samples", "read.iops_stddev", "trim.iops_samples", "mixed.iops"} <= figures_of(result).keys()
    assert result.operation == "random_mix" and result.measured and not result.measured.kinds


def test_the_order_is_for_the_user_to_say() -> None:
    (result,) = terse_results("2.2.10-terse-3", None)
    assert result.measured is None and "--order" in result.left_out
    (result,) = terse_results("2.2.10-terse-3", "sequential")
    assert result.operation == "sequential_mix"
    trim = terse_results("3.42-sections")[2]
    assert trim.left_out == "it has operations of trim"


def with_rate(kib: int, ms: int, iops: int) -> str:
    """A line that only reads, at some rate."""
    fields = split("2.2.10-terse-3")[2].split(";")
    fields[5:9] = [str(kib), str(kib * 1000 // ms), str(iops), str(ms)]
    fields[46:50] = ["0"] * 4
    return ";".join(fields)


def test_rates_are_the_most_precise_of_those_that_are_printed() -> None:
    (long,) = read(with_rate(1000, 7000, 35), "random").results
    assert long.measured and long.measured.throughput == pytest.approx(1000 * 1024 / 7)
    (short,) = read(with_rate(1000, 7, 35000), "random").results
    assert short.measured and short.measured.throughput == 142857 * 1024


def test_operations_are_known_where_they_follow_to_a_hundredth() -> None:
    for ms, iops, ops in ((7000, 35, None), (800, 35, 28), (7000, 100, 700), (7001, 100, 701)):
        (result,) = read(with_rate(1000, ms, iops), "random").results
        assert result.measured and result.measured.iops == iops
        assert (result.measured.ops if result.measured.has_counts else None) == ops


def test_errors_are_counted() -> None:
    first, counted, start, good = terse_results("3.33-error")
    assert first.measured is None and "no kind" in first.left_out
    assert figures_of(counted)["first_error"] == ("28", "") and figures_of(start)["error"] == ("20", "")
    assert good.operation == "random_read"
    failed = split("2.2.10-terse-3")[2].replace(";m;0;0;", ";m;0;5;")
    (result,) = read(failed, "random").results
    assert result.measured and result.measured.status == "failed" and result.measured.errors[0].code == 5


@pytest.mark.parametrize("name", ["read.clat.mean", "read.lat.mean", "read.lat.stddev"])
def test_a_latency_that_is_not_a_number_is_no_figure(name: str) -> None:
    line = split("2.2.10-terse-3")[2]
    (whole,) = read(line, "random").results
    (result,) = read(line.replace(f";{figures_of(whole)[name][0]};", ";nan;"), "random").results
    assert figures_of(whole).keys() - figures_of(result).keys() == {name}
    assert result.measured and result.measured.iops


def test_a_job_that_has_not_begun_in_the_first_lines_is_one_job() -> None:
    results = terse_results("3.33-terse-status-interval-stonewall")
    assert [(one.name, one.workload, one.operation) for one in results if one.measured] == [
        ("r", "r", "random_read"), ("w", "w", "random_write"),
    ]  # fmt: skip


def test_lines_that_count_the_same_again_are_snapshots() -> None:
    results = terse_results("3.33-terse-status-interval")
    kept = [one for one in results if not one.left_out]
    assert [one.workload for one in kept] == ["n (1 of 2)", "n (2 of 2)"] and len(results) > 2
    assert kept == list(results[-2:]) and all("--status-interval" in one.left_out for one in results[:-2])
    one = split("3.33-terse-status-interval")[2].splitlines()[-1]
    assert [result.workload for result in read(f"{one}\n{one}\n", "random").results] == ["n (1 of 2)", "n (2 of 2)"]
    fields = one.split(";")
    # Nothing was read: without the 41 fields of writing, the line is that of a job of unified_rw_reporting.
    idle = ";".join(fields[:46] + fields[87:])
    assert [result.workload for result in read(f"{idle}\n{one}\n", "random").results] == ["n (1 of 2)", "n (2 of 2)"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (";4232;", ";-4232;", "read.io_kbytes cannot be -4232"),
        (";4232;", ";4242;", "read.bw cannot be 48090 KiB/s, with 4242 KiB in 88 ms"),
        (";12022;", ";1e4;", "read.iops cannot be 1e4"),
        ("1.000000%=41", "1.000000%41", "percentile cannot be"),
        (";m;", ";m;m;", "not the fields of terse output, version 3"),
        (";m;0;", ";m;x;", "not the fields"),
        ("100.0%", "100.0", "iodepth_level.1 cannot be 100.0"),
        ("0.000000%;", "", "not the fields"),
        (";88;", ";" + "9" * 25 + ";", "runtime cannot be"),
    ],
)
def test_damaged_lines_are_refused(old: str, new: str, message: str) -> None:
    text = split("2.2.10-terse-3")[2]
    assert old in text
    error = refused(f"\n{text.replace(old, new, 1)}")
    assert message in error.message and error.line == 2


def test_what_c_prints_for_the_share_of_nothing_is_no_figure() -> None:
    text = split("2.2.10-terse-3")[2].replace("100.0%;", "-nan%;", 1)
    assert "iodepth_level.1" not in figures_of(read(text).results[0])


def test_cut_lines_are_refused() -> None:
    (text,) = split("2.2.10-terse-4")[2].splitlines()
    for length in range(20, text.index("vda") - 8, 97):
        assert "not the fields" in refused(text[:length]).message


@pytest.mark.parametrize("name", [name for name in TERSE if "terse" in name])
def test_no_damage_raises_anything_else(name: str) -> None:
    choice, text = random.Random(name), split(name)[2]
    for _ in range(15):
        at, length = choice.randrange(len(text)), choice.choice((0, 1, 2, 40, 10**6))
        put = choice.choice(("", "9" * 30, "-1", "nan", "\n", ";", "%", "=", text[at : at + 90]))
        damaged = text[:at] + put + text[at + length :]
        try:
            fio_text.read(damaged, FILE, ImportOptions("random"))
        except OutputError as error:
            assert 1 <= error.line <= damaged.count("\n") + 1 and error.hint
