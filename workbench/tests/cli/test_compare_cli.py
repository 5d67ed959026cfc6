"""`assay compare`: two runs, or the targets of one; what makes a check fail, and what it says."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from in_process import run_here
from run_tools import assay
from stored_runs import DAY, STARTED, noisy, store_run

from assay.analyse.runs import compare_runs, gate
from assay.model.result.comparison import RunsComparison
from assay.model.result.environment import EnvironmentDifference
from assay.report import comparison_page
from assay.report.comparison_page import comparison_document
from assay.report.document import Table
from assay.report.environments import differences_table
from assay.report.html import render_html
from assay.run.analysis import load_analysis
from assay.run.between_runs import spread_between_runs

WRITE, READ = ("disk", "write"), ("disk", "read")
GOOD = {WRITE: noisy(300e6, seed=1), READ: noisy(500e6, seed=2)}
LATER = {"created_at": STARTED + DAY}


def two(folder: Path, before: dict[tuple[str, str], list[float]], after: Any, **changes: Any) -> None:
    """Runs `a` and `b` of the same study, and what tells how much its runs differ."""
    earlier(folder, before, changes.pop("sigma", 0.01))
    store_run(folder / "assay-runs", "a", before)
    store_run(folder / "assay-runs", "b", after, **LATER, **changes)


def earlier(folder: Path, speeds: dict[tuple[str, str], list[float]], sigma: float = 0.01) -> None:
    """Six runs before, whose levels differ a little."""
    for number in range(6):
        level = float(np.exp(np.random.default_rng(50 + number).normal(0, sigma)))
        same = {key: [rate * level for rate in rates] for key, rates in speeds.items()}
        store_run(folder / "assay-runs", f"earlier-{number}", same, created_at=STARTED - (9 - number) * DAY)


def slower(by: float, count: int = 10) -> dict[tuple[str, str], list[float]]:
    return {WRITE: noisy(300e6 * (1 - by), count, seed=3), READ: noisy(500e6, count, seed=4)}


def assay_code(folder: Path, *words: str) -> int:
    return run_here(folder, *words).returncode


def check(folder: Path, expect: int, percent: str = "5%") -> list[str]:
    """Lines on standard error of a check of `b` against `a`."""
    return assay(folder, "compare", "a", "b", "--fail-if-slower", percent, expect=expect).stderr.splitlines()


def test_text_has_a_line_for_each_row_and_what_differs_in_the_environment(tmp_path: Path) -> None:
    kernel = {"kernel": {"release": "6.1.0-29-amd64"}, "memory": {"total": "8 GiB"}}
    two(tmp_path, GOOD, slower(0.1), environment=kernel)
    lines = assay(tmp_path, "compare", "a", "last").stdout.splitlines()
    assert lines[0].startswith("before  a (complete, 2026-11-21 19:15 UTC)")
    assert lines[3] == "disk"
    head, units, _, write, read = lines[4:9]
    assert " ".join(head.split()) == "What Before ± After ± Difference 95 % from to p Effect n Remark"
    assert units.split()[:2] == ["MB/s", "%"]
    assert " ".join(write.split()[:8]) == "grid / record_size=65536, write 303 1.8 267 4.5"
    assert "  −11.9 %  " in write and write.split()[-3:] == ["<0.001", "–", "1"]
    assert "  ~ " in read and "~" not in write and read.endswith("1")
    (mean,) = (line for line in lines if line.startswith("geometric mean of 2 ratios: −"))
    assert mean.endswith(" %") and "/s" not in mean, "rates of unlike rows have no mean"
    assert "2 rows: 0 faster, 1 slower, 1 without a significant difference (~)" in lines
    assert ["kernel", "release", "6.1.0-28-amd64", "6.1.0-29-amd64"] in [line.split() for line in lines]


def test_json_has_the_figures(tmp_path: Path) -> None:
    two(tmp_path, GOOD, slower(0.1))
    found = json.loads(assay(tmp_path, "compare", "a", "b", "--json").stdout)
    assert (found["before"]["id"], found["after"]["id"]) == ("a", "b")
    write, read = found["rows"]
    assert (write["significant"], read["significant"]) == (True, False)
    assert write["difference_low"] < write["difference"] < write["difference_high"] < 0
    assert write["before"]["median"] == pytest.approx(303.2e6, rel=1e-3) and write["before"]["n"] == 10
    assert write["unit"] == "bytes/s" and write["axes"] == {"record_size": 65536}
    assert write["p_adjusted"] == pytest.approx(2 * write["p"]) and write["effect"] is None
    assert (write["observations"], found["other_runs"]) == ("run", 7) and 0.01 < found["typical_difference"] < 0.06
    assert found["environment_differences"] == [] and found["uncompared"] == [] and "gate" not in found


def test_the_same_rates_pass_and_a_slowdown_fails(tmp_path: Path) -> None:
    two(tmp_path, GOOD, slower(0.0))
    assert check(tmp_path, expect=0) == []
    store_run(tmp_path / "assay-runs", "c", slower(0.1), created_at=STARTED + 2 * DAY)
    done = assay(tmp_path, "compare", "a", "c", "--fail-if-slower", "5 %", "--json", expect=1)
    assert done.stderr == "slower: disk / grid / record_size=65536, write: 11.9 %, more than 5 %\n"
    answer = json.loads(done.stdout)["gate"]
    assert answer["slower"] == ["disk / grid / record_size=65536, write"] and answer["broken"] == []
    assay(tmp_path, "compare", "a", "c", "--fail-if-slower", "20%")
    assay(tmp_path, "compare", "c", "a", "--fail-if-slower", "5%")


def test_results_that_vanish_or_break_fail_the_check(tmp_path: Path) -> None:
    two(tmp_path, GOOD, {WRITE: noisy(300e6, seed=3)})
    assert check(tmp_path, expect=1) == ["broken: disk / grid / record_size=65536, read: only in the first run"]
    short = {WRITE: noisy(300e6, seed=3), READ: noisy(500e6, 9, seed=4)}
    store_run(tmp_path / "assay-runs", "c", short, **LATER)
    told = assay(tmp_path, "compare", "a", "c", "--fail-if-slower", "5%", expect=1).stderr.splitlines()
    (line,) = (one for one in told if not one.startswith("note: "))
    assert line.startswith("broken: disk / grid / record_size=65536, read: incomplete now: 1 of 10 repeats missing")
    store_run(tmp_path / "assay-runs", "d", GOOD, **LATER, samples={READ: {"status": "failed"}})
    (line,) = assay(tmp_path, "compare", "a", "d", "--fail-if-slower", "5%", expect=1).stderr.splitlines()
    assert line.startswith("broken: disk / grid / record_size=65536, read: no usable repeat in the second run")


def test_a_false_number_is_never_counted_silently(tmp_path: Path) -> None:
    cached = {"samples": {READ: {"device_read_bytes": 0}}}
    fast = {WRITE: noisy(300e6, seed=3), READ: noisy(5e9, seed=4)}
    two(tmp_path, GOOD, fast, **cached)
    (line,) = check(tmp_path, expect=1)
    assert line.startswith("broken: disk / grid / record_size=65536, read: cached now: ")
    text = assay(tmp_path, "compare", "a", "b").stdout
    assert "after is cached" in text and "geometric mean of 1 ratio: " in text
    # Honest now: slower than the cache was, but that is no slowdown.
    lines = assay(tmp_path, "compare", "b", "a", "--fail-if-slower", "5%").stderr.splitlines()
    assert lines == ["not judged: disk / grid / record_size=65536, read: before is cached"]
    store_run(tmp_path / "assay-runs", "c", slower(0.0) | {READ: noisy(4e9, seed=5)}, **LATER, **cached)
    lines = assay(tmp_path, "compare", "b", "c", "--fail-if-slower", "5%").stderr.splitlines()
    assert lines == ["not judged: disk / grid / record_size=65536, read: before is cached and after is cached"]


def test_two_runs_alone_show_no_difference_and_say_how_to_find_out(tmp_path: Path) -> None:
    store_run(tmp_path / "assay-runs", "a", GOOD)
    store_run(tmp_path / "assay-runs", "b", slower(0.5), **LATER)
    *_, error, hint = check(tmp_path, expect=3)
    assert error.startswith("error: these runs cannot be judged") and "3 times a side" in hint
    text = assay(tmp_path, "compare", "a", "b").stdout
    assert "0 faster, 0 slower" in text and "two runs alone cannot separate a change from day-to-day variation" in text


def test_three_runs_a_side_tell_by_themselves(tmp_path: Path) -> None:
    for number in range(3):
        store_run(tmp_path / "assay-runs", f"a{number}", slower(0.002 * number), created_at=STARTED + number * DAY)
        store_run(tmp_path / "assay-runs", f"b{number}", slower(0.3 + 0.002 * number), created_at=STARTED + 9 * DAY)
    text = assay(tmp_path, "compare", "a0,a1,a2", "b0, b1,b2").stdout
    assert "each run counts as one: 3 before, 3 after" in text and "2 rows: 0 faster, 1 slower" in text
    assay(tmp_path, "compare", "a0,a1,a2", "b0,b1,b2", "--fail-if-slower", "5%", expect=1)
    # What is shown is of all runs: the columns, the rows and their mean say the same.
    read = next(line for line in text.splitlines() if line.startswith("grid / record_size=65536, read"))
    assert read.split()[4] == "499" and "a2 (complete" in text and "the last of 3" in text
    both = [["compare", "a0,a0,a1", "b0,b1,b2"], ["compare", "a0,a1", "--by", "target"]]
    assert "run a0 is named more than once on a side" in assay(tmp_path, *both[0], expect=2).stderr
    assert "--by target compares the targets of one run" in assay(tmp_path, *both[1], expect=2).stderr
    assert "both are run a1" in assay(tmp_path, "compare", "a0,a1", "a1,b0", expect=2).stderr
    assert "has no run after a comma" in assay(tmp_path, "compare", "a0,,a1", "b0", expect=2).stderr


def test_a_machine_that_differs_from_day_to_day_fails_no_check(tmp_path: Path) -> None:
    """Each run repeats itself to a hundredth, but the levels of the runs are 10 % apart."""
    for number in range(8):
        level = float(np.exp(np.random.default_rng(90 + number).normal(0, 0.1)))
        rates = {key: noisy(level * 300e6, sigma=0.01, seed=number) for key in (WRITE, READ)}
        store_run(tmp_path / "assay-runs", f"r{number}", rates, created_at=STARTED + number * DAY)
    codes = [
        assay_code(tmp_path, "compare", f"r{first}", f"r{second}", "--fail-if-slower", "5%")
        for first in range(8)
        for second in range(first + 1, 8)
    ]
    assert codes.count(0) >= 26 and codes.count(3) == 0


def test_rows_of_one_run_only_are_listed(tmp_path: Path) -> None:
    more = slower(0.0) | {("ssd", "read"): noisy(1e9, seed=5)}
    two(tmp_path, GOOD, more)
    listed = "ssd / grid / record_size=65536, read  –       ok     only in the second run"
    assert listed in assay(tmp_path, "compare", "a", "b").stdout.splitlines()
    assert check(tmp_path, expect=0) == ["not judged: ssd / grid / record_size=65536, read: only in the second run"]


def test_rows_that_are_not_judged_for_one_reason_are_one_line(tmp_path: Path) -> None:
    places = {(f"ssd{number}", "read"): noisy(1e9, seed=number) for number in range(5)}
    two(tmp_path, GOOD, slower(0.0) | places)
    rows = "not judged: 5 rows, the first ssd0 / grid / record_size=65536, read: only in the second run"
    assert check(tmp_path, expect=0) == [rows]


def test_other_parameters_are_other_rows(tmp_path: Path) -> None:
    two(tmp_path, GOOD, GOOD, axes={"record_size": 4096})
    found = json.loads(assay(tmp_path, "compare", "a", "b", "--json").stdout)
    assert found["rows"] == [] and len(found["uncompared"]) == 4


def test_one_target_each_is_compared_whatever_its_name(tmp_path: Path) -> None:
    two(tmp_path, {("old", "read"): noisy(500e6, seed=1)}, {("new", "read"): noisy(700e6, seed=2)})
    text = assay(tmp_path, "compare", "a", "b").stdout
    assert "\nnew against old\n" in text and "1 row: 1 faster" in text


def test_targets_without_a_common_name_need_a_word(tmp_path: Path) -> None:
    def speeds(*names: str) -> dict[tuple[str, str], list[float]]:
        return {(name, "read"): noisy(500e6, seed=seed) for seed, name in enumerate(names)}

    two(tmp_path, speeds("p", "q"), speeds("r"))
    refused = assay(tmp_path, "compare", "a", "b", expect=2).stderr
    assert "no target in common: p, q and r" in refused and "hint: `--by target`" in refused
    text = assay(tmp_path, "compare", "a", "b", "--by", "target").stdout
    assert "r against p" in text and "r against q" in text


def test_targets_of_one_run(tmp_path: Path) -> None:
    rates = {"p": 1e8, "q": 2e8, "r": 4e8}
    three = {(name, "read"): noisy(rate, seed=seed) for seed, (name, rate) in enumerate(rates.items())}
    store_run(tmp_path / "assay-runs", "a", three)
    text = assay(tmp_path, "compare", "a", "--by", "target").stdout
    assert [line for line in text.splitlines() if " against " in line] == ["q against p", "r against p", "r against q"]
    assert "3 rows: 3 faster, 0 slower" in text and "environment" not in text
    store_run(tmp_path / "assay-runs", "b", {("p", "read"): noisy(1e8)})
    assert "has one target, p" in assay(tmp_path, "compare", "b", "--by", "target", expect=2).stderr


def test_work_of_one_target_is_listed_once_however_many_targets_there_are(tmp_path: Path) -> None:
    """`read` is only on a, `write` on all three: no pair of targets repeats it."""
    speeds = {("a", "read"): noisy(3e8), **{(name, "write"): noisy(2e8, seed=n) for n, name in enumerate("abc")}}
    store_run(tmp_path / "assay-runs", "r", speeds)
    found = json.loads(assay(tmp_path, "compare", "r", "--by", "target", "--json").stdout)
    assert len(found["rows"]) == 3
    (alone,) = found["uncompared"]
    assert alone["reason"] == "on no other target" and alone["name"].startswith("a /")


def test_runs_of_one_name_that_began_at_different_times_are_two(tmp_path: Path) -> None:
    store_run(tmp_path / "first", "a", GOOD)
    store_run(tmp_path / "second", "a", slower(0.1), created_at=STARTED + 0.25)
    earlier(tmp_path, GOOD)
    text = assay(tmp_path, "compare", "first/a", "second/a").stdout
    assert "2 rows: 0 faster, 1 slower, 1 without a significant difference (~)" in text
    copied = shutil.copytree(tmp_path / "first" / "a", tmp_path / "copy" / "a")
    assert "both are run a" in assay(tmp_path, "compare", "first/a", copied, expect=2).stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a",), "one run is named"),
        (("a", "a"), "both are run a"),
        (("a", "b", "a"), "run a is named more than once"),
        (("a", "b", "earlier-0", "--fail-if-slower", "5%"), "3 runs are named, and this needs two sides"),
        (("a", "b", "--by", "kernel"), "--by 'kernel' is unknown"),
        (("a", "b", "--by", ""), "--by '' is unknown"),
        (("a", "a", "--by", "target"), "run a has one target, disk"),
        (("a", "b", "--fail-if-slower", ""), "'' is not a percentage"),
        (("a", "b", "--fail-if-slower", "5"), "'5' is not a percentage"),
        (("a", "b", "--fail-if-slower", "-5%"), "'-5%' is not a percentage"),
        (("a", "b", "--fail-if-slower", "100%"), "'100%' is not a percentage"),
        (("a", "b", "--fail-if-slower", "x%"), "'x%' is not a percentage"),
        (("a", "z"), "there is no run or study 'z'"),
        (("assay-runs", "a"), "the folder assay-runs is not a run"),
        (("a", "b" * 300), "File name too long"),
        (("a", "b", "--out", "b" * 300), "File name too long"),
        (("a", "b", "--output", "b" * 300), "File name too long"),
    ],
)
def test_what_is_wrong_is_one_line_and_a_hint(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    two(tmp_path, GOOD, GOOD)
    done = assay(tmp_path, "compare", *arguments, expect=2)
    error, hint = done.stderr.splitlines()
    assert error.startswith("error: ") and message in error and hint.startswith("hint: ") and done.stdout == ""


def test_more_than_two_runs_stand_side_by_side(tmp_path: Path) -> None:
    """c is half as fast as a in writing, which eight other runs make significant, and has no reads on the disk."""
    two(tmp_path, GOOD, slower(0.0))
    third = {WRITE: noisy(150e6, seed=9), ("memory", "read"): noisy(9e9, seed=10)}
    store_run(tmp_path / "assay-runs", "c", third, created_at=STARTED + 2 * DAY)
    found = json.loads(assay(tmp_path, "compare", "a", "b", "c", "--json").stdout)
    assert [run["id"] for run in found["runs"]] == ["a", "b", "c"]
    write, read, memory = found["rows"]
    assert [one["rate"]["n"] for one in write["results"]] == [10, 10, 10]
    assert write["comparisons"][0] is None and not write["comparisons"][1]["separable"]
    assert write["comparisons"][2]["separable"] and 0.45 < write["comparisons"][2]["ratio"] < 0.55
    assert read["results"][2] is None and read["comparisons"][2] is None
    assert memory["target"] == "memory" and memory["results"][:2] == [None, None]
    text = assay(tmp_path, "compare", "a", "b", "c").stdout
    assert "c: 1 common result: 0 faster, 1 slower, 0 without a significant difference." in text


def test_runs_of_one_target_each_are_of_the_same_target(tmp_path: Path) -> None:
    for place, target in enumerate("pqr"):
        store_run(tmp_path / "assay-runs", target, {(target, "read"): noisy(1e8 * (place + 1))}, study=f"on-{target}")
    (row,) = json.loads(assay(tmp_path, "compare", "p", "q", "r", "--json").stdout)["rows"]
    assert row["target"] == "" and all(row["results"])


def test_of_many_rows_those_with_a_difference_are_shown(tmp_path: Path) -> None:
    same = {(f"t{number:02}", "read"): noisy(5e8, 5, seed=number) for number in range(50)}
    other = {key: noisy(5e8, 5, seed=200 + place) for place, key in enumerate(same)}
    other["t47", "read"] = noisy(1e9, 5, seed=7)
    two(tmp_path, same, other, sigma=0.05)
    text = assay(tmp_path, "compare", "a", "b").stdout
    assert "\nt47\n" in text and "\nt48\n" not in text
    assert "10 more rows without a significant difference: --all" in text
    assert "50 rows: 1 faster, 0 slower, 49 without" in text
    assert "\nt48\n" in assay(tmp_path, "compare", "a", "b", "--all").stdout


def test_the_page_is_whole_and_holds_every_row(tmp_path: Path) -> None:
    two(tmp_path, GOOD, slower(0.1))
    page = tmp_path / "page.html"
    page.write_text("old")
    mine = assay(tmp_path, "compare", "a", "b", "--output", "page.html", expect=2).stderr
    assert "page.html exists already" in mine and "--output FILE" in mine and page.read_text() == "old"
    assert "wrote page.html" in assay(tmp_path, "compare", "a", "b", "--output", "page.html", "--force").stderr
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>") and text.rstrip().endswith("</html>")
    assert "default-src 'none'" in text and "grid / record_size=65536, write" in text
    assert {path.name for path in tmp_path.iterdir()} == {"assay-runs", "page.html"}
    refused = assay(tmp_path, "compare", "a", "b", "--output", "none/page.html", expect=2).stderr
    assert "cannot write none/page.html" in refused and "--output" in refused


def comparison(folder: Path) -> RunsComparison:
    root = folder / "assay-runs"
    before, after = (load_analysis(name, root) for name in "ab")
    return compare_runs([before], [after], variation=spread_between_runs(before.run.study, [after.run.folder], root))


def test_the_document_tells_false_numbers_apart(tmp_path: Path) -> None:
    two(tmp_path, GOOD, slower(0.1) | {READ: noisy(5e9, seed=4)}, samples={READ: {"device_read_bytes": 0}})
    found = comparison(tmp_path)
    document = comparison_document(found)
    assert document == comparison_document(found)
    tables = {block.id: block for part in document.sections for block in part.blocks if isinstance(block, Table)}
    assert [row[1] for row in tables["rows-0"].rows] == ["slower", "a side is cached, impossible or incomplete"]
    assert all(len(row) == len(table.columns) for table in tables.values() for row in table.rows)
    answer = document.sections[0]
    assert "2 rows: 0 faster, 1 slower, 0 without a significant difference (~), 1 with a side that is" in repr(answer)
    # The false rate is in no headline.
    assert "5,0" not in repr(answer)
    assert 'id="rows-0"' in render_html(document)


def test_long_tables_can_be_sorted_and_end_at_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison_page, "_MAX_ROWS", 10)
    two(tmp_path, {READ: noisy(5e8, 5)}, {READ: noisy(5e8, 5, seed=2)})
    (row,) = comparison(tmp_path).rows
    found = [comparison_page.difference_tables([row] * count, "rows") for count in (1, 8, 9, 10, 11)]
    assert [(len(table.rows), table.is_interactive) for (table,) in found] == [
        (1, False),
        (8, False),
        (9, True),
        (10, True),
        (10, True),
    ]
    assert [table.caption for (table,) in found] == ["", "", "", "", "The first 10 of 11."]
    changed = [EnvironmentDifference(section="kernel", name="release", before="1", after="2", matters=True)]
    assert [differences_table(changed * count).is_interactive for count in (8, 9, 10)] == [False, True, True]


def test_names_from_a_study_cannot_break_the_page(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    two(tmp_path, {(evil, "read"): noisy(1e8)}, {(evil, "read"): noisy(1e8, seed=2)})
    assert "<script>alert" not in render_html(comparison_document(comparison(tmp_path)))


def test_rates_of_metadata_have_their_own_unit_and_mean(tmp_path: Path) -> None:
    rates = {("disk", "write"): noisy(3e8, 5), ("names", "stat"): [50e3] * 5}
    two(tmp_path, rates, rates)
    text = assay(tmp_path, "compare", "a", "b").stdout
    assert ["50,000", "0.0", "50,000", "0.0"] in [line.split()[4:8] for line in text.splitlines()]
    assert " operations/s" in text
    assert text.count("geometric mean of 1 ratio: ") == 2
    units = [row["unit"] for row in json.loads(assay(tmp_path, "compare", "a", "b", "--json").stdout)["rows"]]
    assert units == ["bytes/s", "operations/s"]


def test_a_slowdown_counts_only_beyond_what_is_allowed(tmp_path: Path) -> None:
    two(tmp_path, GOOD, slower(0.1))
    found = comparison(tmp_path)
    fall = 1 - found.rows[0].comparison.ratio
    assert [row.what for row in gate(found, fall - 1e-6).slower] == ["grid / record_size=65536, write"]
    assert gate(found, fall + 1e-6) == ((), (), (), False)


def test_standard_output_is_json_alone(tmp_path: Path) -> None:
    two(tmp_path, GOOD, slower(0.1))
    words = ("compare", "a", "b", "--json", "--fail-if-slower", "5%", "--output", "page.html")
    assert json.loads(assay(tmp_path, *words, expect=1).stdout)["gate"]["allowed"] == 0.05
