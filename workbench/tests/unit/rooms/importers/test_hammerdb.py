"""HammerDB: NOPM is the rate, procedures of a timing profile have their latencies."""

import re

import pytest
from imported_samples import FILE, check_damage, check_units, recognising, sample_names, sample_text

from assay.rooms.importers.work.databases import hammerdb
from assay.rooms.importers.work.results import ImportedResult, OutputError

SAMPLES = sample_names("hammerdb")
PROFILE = "4.3-profile.txt"
RESULT = "System achieved 11400 NOPM from 26163 PostgreSQL TPM"


def results_of(name: str) -> list[ImportedResult]:
    return [one for output in hammerdb.read(sample_text("hammerdb", name), FILE) for one in output.results]


def texts(results: list[ImportedResult]) -> list[str]:
    return [one.text for result in results for one in result.figures]


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_are_known_and_survive_damage(name: str) -> None:
    text = sample_text("hammerdb", name)
    assert recognising(text) == "HammerDB"
    check_units(results_of(name))
    check_damage(hammerdb.read, text, name, 16)
    assert texts([one for o in hammerdb.read(text.replace("\n", "\r\n"), FILE) for one in o.results]) == texts(
        results_of(name)
    )


@pytest.mark.parametrize(("name", "nopm", "tpm", "lanes"), [
    ("4.0-mysql.txt", "8153", "24772", 4),
    ("4.5-postgresql.txt", "11400", "26163", 1),
    ("4.12-mysql.txt", "11", "25", 1),
])  # fmt: skip
def test_new_orders_are_the_rate(name: str, nopm: str, tpm: str, lanes: int) -> None:
    (one,) = results_of(name)
    assert texts([one])[:2] == [nopm, tpm] and {figure.unit for figure in one.figures[:2]} == {"1/min"}
    assert one.measured and one.measured.iops == pytest.approx(int(nopm) / 60)
    assert one.parameters["lanes"] == lanes and one.operation == "transaction" and not one.measured.has_counts
    assert one.measured.elapsed_ns == one.parameters["runtime"]


def test_every_number_of_a_profile_comes_back() -> None:
    text, results = sample_text("hammerdb", PROFILE), results_of(PROFILE)
    rows = [re.findall(r"[A-Z0-9]+: ([0-9.]+)", line) for line in text.splitlines() if re.match("CALLS|P99", line)]
    found = [figure.text for one in results for figure in one.figures if figure.name != "elapsed"]
    assert found == [number for row in rows for number in row] and len(found) > 400
    new = next(one for one in results if one.name == "NEWORD, all users")
    assert new.measured and new.measured.ops == 322104 and new.measured.latency["p99"] == 14_197_000
    assert new.measured.iops == pytest.approx(322104 / 904.548) and new.parameters["lanes"] == 8
    assert all("one virtual user" in one.left_out for one in results if "all users" not in one.name)


def test_queries_are_left_out_with_their_times() -> None:
    (one,) = results_of("4.0-tproc-h.txt")
    assert "no transactions" in one.left_out
    printed = re.findall(r"query [0-9]+ completed in (\S+) seconds", sample_text("hammerdb", "4.0-tproc-h.txt"))
    assert sorted(texts([one])) == sorted([*printed, "1", "91"])


def test_several_tests_and_both_orders_of_words_are_read() -> None:
    text = sample_text("hammerdb", "4.5-postgresql.txt")
    other = text.replace(RESULT, "System achieved 26163 PostgreSQL TPM at 11400 NOPM").replace(
        "1 Active Virtual Users", "8 Active Virtual Users"
    )
    first, second = hammerdb.read(text + "\n" + other, FILE)[0].results
    assert texts([first])[:2] == texts([second])[:2] and second.parameters["lanes"] == 8


def test_users_that_failed_are_errors_of_their_test() -> None:
    text = sample_text("hammerdb", "4.5-postgresql.txt")
    failed = text.replace("Vuser 2:FINISHED SUCCESS", "Vuser 2:FINISHED FAILED")
    first, second = hammerdb.read(failed + "\n" + text, FILE)[0].results
    assert first.measured and first.measured.errors[0].count == 1 and second.measured and not second.measured.errors


@pytest.mark.parametrize("number", ["many", "-5", "9" * 30, "1e400"])
def test_what_is_no_result_is_refused(number: str) -> None:
    text = sample_text("hammerdb", "4.5-postgresql.txt")
    with pytest.raises(OutputError) as error:
        hammerdb.read(text.replace("achieved 11400", f"achieved {number}"), FILE)
    assert "NOPM is no number" in error.value.message and error.value.hint


def test_passwords_are_not_kept() -> None:
    text = sample_text("hammerdb", "4.5-postgresql.txt").replace("1234", "hush")
    assert "hush" not in "".join(one.model_dump_json() for one in hammerdb.read(text, FILE))
