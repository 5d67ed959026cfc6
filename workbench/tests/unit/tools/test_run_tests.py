"""`make test` counts what its suites say, forgives only what may be disturbed, and keeps to its budget."""

import json
import sys
from pathlib import Path

import pytest
from paths import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "tools"))

import run_tests
import test_steps

CARGO = """
running 2 tests
test lanes::one ... ok
test lanes::two ... FAILED
SKIPPED: needs root
test result: FAILED. 6 passed; 1 failed; 2 ignored; 0 measured; 0 filtered out
   Doc-tests assay_core
test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out
"""
PYTEST = """
..s.F                                                                    [100%]
=========================== short test summary info ===========================
SKIPPED [2] tests/unit/test_a.py:4: needs root
FAILED tests/unit/test_a.py::test_two[a b] - assert 1 == 2
ERROR tests/unit/test_a.py::test_three - OSError: no
1 failed, 3 passed, 2 skipped, 1 error in 0.12s
"""
NAMES = [f"test_it.py::test_{number}" for number in range(run_tests.MAX_AGAIN + 1)]
SUITE = """
import pathlib, sys
first, second = (names.split() for names in sys.argv[1].split(","))
mark = pathlib.Path("mark")
failed, passed = (second, len(first) - len(second)) if mark.exists() else (first, 1)
mark.touch()
for name in failed:
    print("FAILED", name, "- assert 1 == 2")
print(f"{len(failed)} failed, {passed} passed in 0.01s")
sys.exit(bool(failed))
"""
"""Prints what pytest would: of two runs, which tests fail in each; the second runs those that failed in the first."""


@pytest.fixture
def tally(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> run_tests.Tally:
    monkeypatch.setattr(run_tests, "LOGS", tmp_path / "logs")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.delenv("ASSAY_SOAK", raising=False)
    return run_tests.Tally()


def suite(folder: Path, first: list[str], second: list[str], again: bool) -> run_tests.Step:
    words = [sys.executable, "-c", SUITE, f"{' '.join(first)},{' '.join(second)}"]
    return run_tests.Step("some tests", words, str(folder), suite=True, again=again)


def test_cargo_is_counted_over_its_binaries_and_a_test_that_says_skipped_has_not_passed() -> None:
    assert run_tests.count(CARGO) == (8, 1, 3)
    assert run_tests.failed_tests(CARGO) == ["lanes::two"]


def test_pytest_is_counted_with_its_errors() -> None:
    assert run_tests.count(PYTEST) == (3, 2, 2)
    assert run_tests.failed_tests(PYTEST) == ["tests/unit/test_a.py::test_two[a b]", "tests/unit/test_a.py::test_three"]


def test_skips_and_the_costliest_tests_are_shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert run_tests.skipped_tests(PYTEST) == ["SKIPPED [2] tests/unit/test_a.py:4: needs root"]
    monkeypatch.setattr(run_tests, "LOGS", tmp_path)
    (tmp_path / "some-tests.costs").mkdir()
    (tmp_path / "some-tests.costs" / "gw0.tsv").write_text(
        "0.100\t0.500\ta.py::test_one[a b]\n0.010\t0.000\tb.py::two\n"
    )
    (tmp_path / "some-tests.costs" / "gw1.tsv").write_text("0.300\t0.000\tc.py::three\n")
    assert run_tests.costliest_tests("some tests") == [
        "0.60 s of CPU  a.py::test_one[a b]",
        "0.30 s of CPU  c.py::three",
        "0.01 s of CPU  b.py::two",
    ]


def test_what_may_be_disturbed_is_tried_twice_and_named(
    tmp_path: Path, tally: run_tests.Tally, capsys: pytest.CaptureFixture[str]
) -> None:
    run_tests.run_step(suite(tmp_path, NAMES[:1], [], again=True), tally)
    assert tally.counts == run_tests.Counts(passed=2, late=1)
    assert f"failed at first: {NAMES[0]}" in capsys.readouterr().out


@pytest.mark.parametrize(("second", "again"), [([], False), (NAMES[:1], True)], ids=["tried once", "fails twice"])
def test_any_other_test_that_fails_has_failed(
    tmp_path: Path, tally: run_tests.Tally, second: list[str], again: bool
) -> None:
    run_tests.run_step(suite(tmp_path, NAMES[:1], second, again=again), tally)
    assert tally.counts == run_tests.Counts(passed=1, failed=1, names=[f"some tests: {NAMES[0]}"])


def test_if_many_fail_it_is_not_the_machine(tmp_path: Path, tally: run_tests.Tally) -> None:
    run_tests.run_step(suite(tmp_path, NAMES, [], again=True), tally)
    assert (tally.counts.failed, tally.counts.late) == (run_tests.MAX_AGAIN + 1, 0)


@pytest.mark.parametrize("code", ["import nothing_of_this_name", "import os; os._exit(3)", "raise SystemExit(5)"])
def test_a_suite_that_cannot_run_has_failed(tmp_path: Path, tally: run_tests.Tally, code: str) -> None:
    step = run_tests.Step("some tests", [sys.executable, "-c", code], str(tmp_path), suite=True, again=True)
    run_tests.run_step(step, tally)
    assert tally.counts.passed == 0
    assert tally.counts.failed >= 1


def test_a_check_counts_as_one(tally: run_tests.Tally) -> None:
    for code in ("pass", "print('SKIPPED: no valgrind')", "raise SystemExit(2)"):
        run_tests.run_step(run_tests.Step("check", [sys.executable, "-c", code]), tally)
    assert tally.counts == run_tests.Counts(passed=1, skipped=1, failed=1, names=["check"])


def test_cpu_time_is_held_against_the_loop(tally: run_tests.Tally, monkeypatch: pytest.MonkeyPatch) -> None:
    tally.loops = [0.1, 9.0, 0.1]
    tally.spent.update({"": 1e9, "one": 0.9, "two": 1.1})
    budgets = {"one": run_tests.TURNS * 10 / 1e6, "two": run_tests.TURNS * 10 / 1e6}
    (line,) = run_tests.over_budget(tally, budgets)
    assert line.startswith("two: over its budget") and "docs/testing.md" in line
    monkeypatch.setenv("ASSAY_SOAK", "1")
    assert run_tests.over_budget(tally, budgets) == []


def test_the_budget_of_each_command_is_the_sum_of_its_steps() -> None:
    budgets = json.loads(run_tests.BUDGETS.read_text())
    lines = {part: {step.budget for step in test_steps.steps(part)} - {""} for part in test_steps.PARTS}
    assert lines["test"] | lines["rest"] == set(budgets["steps"])
    assert sum(budgets["steps"][name] for name in lines["test"]) == budgets["make test"]
    assert sum(budgets["steps"].values()) == budgets["make test-all"]


def test_every_folder_of_tests_is_run_by_one_command() -> None:
    here = REPOSITORY / "workbench" / "tests"
    folders = {path.parent.relative_to(here).parts[0] for path in here.rglob("test_*.py")} - {"support", "golden"}
    assert sorted(folders) == sorted([*test_steps.TEST_FOLDERS, *test_steps.REST_FOLDERS, *test_steps.OWN_FOLDERS])
    for part, expected in (("test", test_steps.TEST_FOLDERS), ("rest", test_steps.REST_FOLDERS)):
        suites = [step for step in test_steps.steps(part) if step.suite]
        words = [word for step in suites for word in step.words if word.startswith("tests/")]
        assert sorted(words) == sorted(f"tests/{folder}" for folder in expected)


def test_what_users_set_for_their_own_work_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = {"PYTEST_ADDOPTS": "-x", "FORCE_COLOR": "1", "GIT_DIR": "/x", "ASSAY_ENGINE": "/x", "HTTPS_PROXY": "kept"}
    monkeypatch.setattr("os.environ", theirs)
    run_tests.settle_environment()
    assert theirs == {"ASSAY_ENGINE": str(REPOSITORY / "target/release/assay-engine"), "HTTPS_PROXY": "kept"}
