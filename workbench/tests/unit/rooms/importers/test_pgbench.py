"""pgbench: every number comes back, the run and each of its scripts are transactions."""

import re

import pytest
from imported_samples import FILE, check_damage, check_units, recognising, sample_names, sample_text

from assay.rooms.importers.work.databases import pgbench
from assay.rooms.importers.work.results import ImportedResult, OutputError

SAMPLES = sample_names("pgbench")
NUMBER = r"(?<![\w.])[0-9]+(?:\.[0-9]+)?(?![\w.])"
SKIPPED = ("pgbench", "starting vacuum", "SQL script", "transaction type", "query mode", "statement latencies")


def results_of(name: str) -> list[ImportedResult]:
    return [one for output in pgbench.read(sample_text("pgbench", name), FILE) for one in output.results]


def printed(text: str) -> list[str]:
    """The numbers of each line; of statements those in front, of progress the first four but the time."""
    found = []
    for line in text.splitlines():
        if line.startswith("progress: "):
            found += re.findall(NUMBER, line)[1:4]
        elif re.match(r"\s+[0-9]", line):
            found += re.match(r"\s+([0-9.]+(?:\s+[0-9]+(?=\s))*)", line)[1].split()  # type: ignore[index]
        elif not line.strip(" -").startswith(SKIPPED):
            found += re.findall(NUMBER, line)
    return found


@pytest.mark.parametrize("name", SAMPLES)
def test_every_printed_number_comes_back(name: str) -> None:
    text, results = sample_text("pgbench", name), results_of(name)
    assert sorted(one.text for result in results for one in result.figures) == sorted(printed(text))
    assert recognising(text) == "pgbench"
    check_units(results)
    noise = f"$ pgbench -c 4\r\n{text}\nreal 0m3.1s\n".replace("\n", "\r\n")
    assert [one.figures for output in pgbench.read(noise, FILE) for one in output.results] == [
        one.figures for one in results
    ]


@pytest.mark.parametrize("name", SAMPLES)
def test_no_damage_raises_anything_else(name: str) -> None:
    check_damage(pgbench.read, sample_text("pgbench", name), name, 12)


def test_rates_leave_out_connections() -> None:
    (one,) = results_of("9.5-statements.txt")
    assert one.measured and one.measured.iops == 13.062579 and one.measured.ops == 77
    assert one.measured.latency == {"mean": 1_108_418_000.0}
    assert one.parameters == {"hosts": 1, "lanes": 16, "runtime": 5_000_000_000}
    assert any(item.text == "558.017753" and item.unit == "ms" and "tellers" in item.name for item in one.figures)
    (connect,) = results_of("15-connect.txt")
    assert connect.measured and connect.measured.iops == 109.425275


def test_scripts_have_their_own_rates() -> None:
    whole, a, b = results_of("15-scripts.txt")
    assert (whole.workload, a.workload, b.workload) == (
        "multiple scripts", "multiple scripts: a.sql", "multiple scripts: b.sql",
    )  # fmt: skip
    assert a.measured and a.measured.iops == 1324.580896 and a.measured.ops == 3912
    assert b.measured and b.measured.latency["mean"] == 7_878_000


def test_several_runs_in_a_file_are_swept() -> None:
    outputs = pgbench.read(sample_text("pgbench", "15-sweep.txt"), FILE)
    assert [one.results[0].parameters["lanes"] for one in outputs] == [1, 2, 4]
    assert {one.file.version for one in outputs} == {"15.18"}


def test_failures_and_aborted_runs_are_errors() -> None:
    (one,) = results_of("15-failed.txt")
    assert one.measured and [tally.count for tally in one.measured.errors] == [1506]
    (none,) = results_of("15-aborted.txt")
    assert none.left_out == "no transaction was finished"
    text = (
        sample_text("pgbench", "15-tpcb.txt") + "pgbench: error: Run was aborted; the above results are incomplete.\n"
    )
    (aborted,) = pgbench.read(text, FILE)[0].results
    assert aborted.measured and "aborted" in aborted.measured.errors[0].example


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("latency average = 10.663", "latency average = ten"), "latency average is no number"),
        (("tps = 375.136917", "tps = -375.136917"), "is no number"),
        (("processed: 1497", "processed: " + "9" * 19 + "9"), "is no number"),
        (("initial connection time", "latency average"), "printed twice"),
        (("processed: 1497", "processed"), "no number of transactions"),
    ],
)
def test_damaged_outputs_are_refused(change: tuple[str, str], message: str) -> None:
    text = sample_text("pgbench", "15-tpcb.txt")
    assert change[0] in text
    with pytest.raises(OutputError) as error:
        pgbench.read(text.replace(*change), FILE)
    assert message in error.value.message and error.value.hint


def test_settings_that_make_another_work_stand_in_the_name() -> None:
    names = ("15-tpcb", "15-select-prepared", "15-connect", "15-rate-limit")
    endings = [results_of(f"{name}.txt")[0].workload.partition(">")[2] for name in names]
    assert endings == ["", ", prepared", ", a connection each", ", limited rate"]
    text = sample_text("pgbench", "15-scripts.txt").replace("scaling factor: 1", "scaling factor: 20")
    assert all(", scale 20" in one.workload for one in pgbench.read(text, FILE)[0].results)
