"""`assay compare --fail-if-slower --junit`: the file says what the exit code says."""

from pathlib import Path
from xml.etree import ElementTree

from in_process import run_here
from run_tools import assay
from stored_runs import noisy, store_run
from test_compare_cli import GOOD, LATER, READ, WRITE, slower, two


def cases(path: Path) -> dict[str, ElementTree.Element]:
    """The test cases by name; the counts of all suites are those of their cases."""
    root = ElementTree.parse(path).getroot()
    for suite in (root, *root.iter("testsuite")):
        inside = list(suite.iter("testcase"))
        for count, kind in (("failures", "failure"), ("skipped", "skipped")):
            assert suite.get(count) == str(sum(case.find(kind) is not None for case in inside))
        assert suite.get("tests") == str(len(inside)) and suite.get("errors") == "0"
    return {str(case.get("name")): case for case in root.iter("testcase")}


def test_a_slower_row_is_a_failure_and_the_others_pass(tmp_path: Path) -> None:
    two(tmp_path, GOOD, slower(0.2))
    words = ("compare", "a", "b", "--fail-if-slower", "5%", "--junit", "check.xml")
    said = assay(tmp_path, *words, expect=1).stderr
    (slow,) = [name for name, case in cases(tmp_path / "check.xml").items() if case.find("failure") is not None]
    failure = cases(tmp_path / "check.xml")[slow].find("failure")
    assert failure is not None and f"slower: {slow}: " in said and slow.endswith("write")
    assert "more than 5 %" in str(failure.get("message")) and str(failure.text).startswith("before: ")
    assert len(cases(tmp_path / "check.xml")) == 2


def test_the_same_rates_pass(tmp_path: Path) -> None:
    two(tmp_path, GOOD, slower(0.0))
    assay(tmp_path, "compare", "a", "b", "--fail-if-slower", "5%", "--junit", "check.xml", expect=0)
    assert all(len(case) == 0 for case in cases(tmp_path / "check.xml").values())


def test_what_vanished_is_a_failure_and_what_cannot_be_judged_is_skipped(tmp_path: Path) -> None:
    two(tmp_path, GOOD, {WRITE: noisy(300e6, seed=3)})
    assay(tmp_path, "compare", "a", "b", "--fail-if-slower", "5%", "--junit", "check.xml", expect=1)
    assert [case.find("failure") is not None for case in cases(tmp_path / "check.xml").values()] == [False, True]
    store_run(tmp_path / "other", "a", GOOD)
    store_run(tmp_path / "other", "b", {WRITE: noisy(300e6), READ: noisy(500e6)}, **LATER)
    few = ("compare", "a", "b", "--out", "other", "--fail-if-slower", "5%", "--junit", "few.xml")
    assay(tmp_path, *few, expect=3)
    assert all(case.find("skipped") is not None for case in cases(tmp_path / "few.xml").values())


def test_without_a_check_there_is_nothing_to_write(tmp_path: Path) -> None:
    done = run_here(tmp_path, "compare", "a", "b", "--junit", "check.xml")
    assert done.returncode == 2 and "--fail-if-slower" in done.stderr
