"""`make test` counts what its suites say, forgives only what may be disturbed, and keeps to its budget."""

import sys
from pathlib import Path

import pytest
from paths import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "tools"))

import run_tests

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
=========================== slowest 10 durations ===========================
1.52s call     tests/unit/test_a.py::test_two
0.31s setup    tests/unit/test_a.py::test_one
=========================== short test summary info ===========================
SKIPPED [2] tests/unit/test_a.py:4: needs root
FAILED tests/unit/test_a.py::test_two[a b] - assert 1 == 2
ERROR tests/unit/test_a.py::test_three - OSError: no
1 failed, 3 passed, 2 skipped, 1 error in 0.12s
"""
ONCE_BAD = """
from pathlib import Path
def test_of_the_second_try():
    mark = Path(__file__).with_name("mark")
    known = mark.exists()
    mark.touch()
    assert known
def test_good():
    pass
"""


@pytest.fixture
def teller(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> run_tests.Teller:
    monkeypatch.setattr(run_tests, "LOGS", tmp_path / "logs")
    monkeypatch.setattr(run_tests, "CACHES", tmp_path / "caches")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.delenv("ASSAY_SOAK", raising=False)
    return run_tests.Teller()


def suite(folder: Path, text: str, again: bool) -> run_tests.Step:
    (folder / "test_it.py").write_text(text)
    step = run_tests.tests("some tests", ".", again=again)
    return run_tests.Step(step.name, step.words, str(folder), suite=True, again=again)


def test_cargo_is_counted_over_its_binaries_and_a_test_that_says_skipped_has_not_passed() -> None:
    assert run_tests.count(CARGO) == (8, 1, 3)
    assert run_tests.failed_tests(CARGO) == ["lanes::two"]


def test_pytest_is_counted_with_its_errors() -> None:
    assert run_tests.count(PYTEST) == (3, 2, 2)
    assert run_tests.failed_tests(PYTEST) == ["tests/unit/test_a.py::test_two[a b]", "tests/unit/test_a.py::test_three"]


def test_skips_and_slowest_are_shown() -> None:
    assert run_tests.notable(PYTEST) == [
        "SKIPPED [2] tests/unit/test_a.py:4: needs root",
        "1.52s call     tests/unit/test_a.py::test_two",
        "0.31s setup    tests/unit/test_a.py::test_one",
    ]


def test_what_may_be_disturbed_is_tried_twice_and_named(
    tmp_path: Path, teller: run_tests.Teller, capsys: pytest.CaptureFixture[str]
) -> None:
    run_tests.run_step(suite(tmp_path, ONCE_BAD, again=True), teller)
    assert teller.counts == run_tests.Counts(passed=2, late=1)
    assert "failed at first: test_it.py::test_of_the_second_try" in capsys.readouterr().out


def test_any_other_test_that_fails_has_failed(tmp_path: Path, teller: run_tests.Teller) -> None:
    run_tests.run_step(suite(tmp_path, ONCE_BAD, again=False), teller)
    assert teller.counts == run_tests.Counts(
        passed=1, failed=1, names=["some tests: test_it.py::test_of_the_second_try"]
    )


def test_what_fails_twice_has_failed(tmp_path: Path, teller: run_tests.Teller) -> None:
    bad = ONCE_BAD.replace("assert known", "assert False")
    run_tests.run_step(suite(tmp_path, bad, again=True), teller)
    assert teller.counts == run_tests.Counts(
        passed=1, failed=1, names=["some tests: test_it.py::test_of_the_second_try"]
    )


def test_if_many_fail_it_is_not_the_machine(tmp_path: Path, teller: run_tests.Teller) -> None:
    many = run_tests.MOST_AGAIN + 1
    text = f"import pytest\n@pytest.mark.parametrize('n', range({many}))\n" + ONCE_BAD.replace("second_try()", "all(n)")
    text = text.replace("from pathlib import Path\n", "").replace(
        "import pytest", "import pytest\nfrom pathlib import Path"
    )
    text = text.replace('"mark"', 'f"mark{n}"')
    run_tests.run_step(suite(tmp_path, text, again=True), teller)
    assert (teller.counts.failed, teller.counts.late) == (many, 0)


@pytest.mark.parametrize("text", ["import nothing_of_this_name", "import os; os._exit(3)", ""])
def test_a_suite_that_cannot_run_has_failed(tmp_path: Path, teller: run_tests.Teller, text: str) -> None:
    run_tests.run_step(suite(tmp_path, text, again=True), teller)
    assert teller.counts.passed == 0
    assert teller.counts.failed >= 1


def test_a_check_counts_as_one(teller: run_tests.Teller) -> None:
    for code in ("pass", "print('SKIPPED: no valgrind')", "raise SystemExit(2)"):
        run_tests.run_step(run_tests.Step("check", [sys.executable, "-c", code]), teller)
    assert teller.counts == run_tests.Counts(passed=1, skipped=1, failed=1, names=["check"])


def test_cpu_time_is_held_against_the_loop(teller: run_tests.Teller, monkeypatch: pytest.MonkeyPatch) -> None:
    teller.loops = [0.1, 9.0, 0.1]
    step = run_tests.Step("tier", [], budget=run_tests.TURNS * 10)
    assert run_tests.over_budget(step, 0.9, teller) == []
    (line,) = run_tests.over_budget(step, 1.1, teller)
    assert "tools/run_tests.py" in line
    monkeypatch.setenv("ASSAY_SOAK", "1")
    assert run_tests.over_budget(step, 1.1, teller) == []


def test_every_tier_is_run_once() -> None:
    tiers = [
        next(word for word in step.words if word.startswith(("tests/", "not ")))
        for lanes in run_tests.PHASES
        for lane in lanes
        for step in lane
        if step.folder == "workbench" and step.suite
    ]
    assert sorted(tiers) == ["not box and not install and not quiet", "tests/boxes", "tests/installs", "tests/quiet"]


def test_what_users_set_for_their_own_work_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = {"PYTEST_ADDOPTS": "-x", "FORCE_COLOR": "1", "GIT_DIR": "/x", "ASSAY_ENGINE": "/x", "HTTPS_PROXY": "kept"}
    monkeypatch.setattr("os.environ", theirs)
    run_tests.settle_environment()
    assert theirs == {"ASSAY_ENGINE": str(REPOSITORY / "target/release/assay-engine"), "HTTPS_PROXY": "kept"}
