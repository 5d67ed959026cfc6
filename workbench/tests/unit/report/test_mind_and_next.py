"""What page one warns of and what it advises against that: the same results, counted alike."""

import re
from collections.abc import Sequence

import numpy as np
import pytest
from builders import make_analysis, make_case, make_row, row_of

from assay.analyse.compare import compare
from assay.analyse.decide import decide
from assay.model.result.verdict import RANK, Finding, Verdict
from assay.model.study.blocks import Blocks
from assay.report.document import words
from assay.report.first.caveats import caveats
from assay.report.first.held import limit_sentences
from assay.report.first.steps import steps
from assay.report.view import View

CPUS, FLUSH, FEWER = "Use fewer lanes.", "Use sync: fsync.", "Use one lane."


def finding(verdict: Verdict, remedy: str) -> Finding:
    return Finding(verdict=verdict, rule="r", text="seen", remedy=remedy, numbers={})


def view(*rows: Sequence[Finding]) -> View:
    """A run with a result for each of these findings."""
    found = []
    for number, findings in enumerate(rows, start=1):
        case = make_case(f"c{number:04d}", axes={"record_size": 4096 * number})
        ordered = tuple(sorted(findings, key=lambda one: RANK[one.verdict]))
        worst = ordered[0].verdict if ordered else Verdict.OK
        found.append(row_of(case, [100e6] * 3).model_copy(update={"findings": ordered, "verdict": worst}))
    cases = tuple(row.case for row in found)
    update = {"rows": tuple(found), "cases": cases, "comparisons": (), "decisions": ()}
    return View(make_analysis().model_copy(update=update))


def said(seen: View) -> tuple[str, str]:
    """What to mind, and what to do against it; empty if there is nothing."""
    mind = next((line for line in caveats(seen, (), ()) if "sound" in line), "")
    advice = (words(step) for step in steps(seen, set()))
    return mind, next((line for line in advice if line.startswith("Against")), "")


SKEWED, CACHED = finding(Verdict.SKEWED, CPUS), finding(Verdict.CACHED, FLUSH)
BOUND = finding(Verdict.CLIENT_BOUND, CPUS)


def test_the_advice_is_against_the_verdict_that_most_have_though_others_are_worse() -> None:
    # Four are cached first; against what is skewed, nothing but the other remedy helps.
    mind, advice = said(view(*[(SKEWED, CACHED)] * 4, *[(SKEWED,)] * 7, *[(CACHED,)] * 2))
    assert mind == "None of 13 results is sound (ok, or only unstable): 7 are skewed, 4 more are also skewed."
    assert advice == f"Against what makes 11 results skewed: {CPUS}"


def test_a_remedy_that_fits_some_says_of_how_many() -> None:
    skewed = [finding(Verdict.SKEWED, remedy) for remedy in (CPUS, FEWER, FEWER, FLUSH)]
    mind, advice = said(view(*[(one,) for one in skewed]))
    assert mind == "None of 4 results is sound (ok, or only unstable): 4 are skewed."
    assert advice == f"Against what makes 2 of 4 results skewed: {FEWER}"


def test_one_result_is_one() -> None:
    mind, advice = said(view((SKEWED,)))
    assert mind == "None of 1 result is sound (ok, or only unstable): 1 is skewed."
    assert advice == f"Against what makes 1 result skewed: {CPUS}"


def test_a_result_counts_once_however_many_findings_say_it() -> None:
    assert said(view((SKEWED, SKEWED)))[1] == f"Against what makes 1 result skewed: {CPUS}"


@pytest.mark.parametrize("sound", [10, 9])
def test_what_few_have_is_worth_no_step_and_no_warning(sound: int) -> None:
    mind, advice = said(view((SKEWED,), *[()] * sound))
    assert mind == ""
    assert bool(advice) == (sound == 9)


def test_lower_bounds_are_an_answer_and_the_advice_says_what_lifts_them() -> None:
    seen = view((BOUND,), (BOUND,), (finding(Verdict.NETWORK_BOUND, CPUS),), ())
    mind, advice = said(seen)
    assert mind == "" and advice == f"Against what makes 2 results client-bound: {CPUS}"
    assert limit_sentences(seen.analysis.rows) == (
        "The machine that made the load is the limit of 2 of 4 results. The network is the limit of 1 of 4 results."
    )
    both = view((BOUND, CACHED))
    assert limit_sentences(both.analysis.rows) == "", "what a cache answered is no lower bound"


def test_results_without_a_rate_and_without_a_finding_ask_for_nothing() -> None:
    seen = view(())
    bare = seen.analysis.rows[0].model_copy(update={"throughput": None, "iops": None})
    seen = View(seen.analysis.model_copy(update={"rows": (bare,)}))
    assert said(seen) == ("None of 1 result is sound (ok, or only unstable).", "")


def test_two_sides_are_compared_anew_for_longer() -> None:
    chance = np.random.default_rng(4)
    rows = tuple(
        make_row(name, [float(rate) for rate in middle * np.exp(chance.normal(0, 0.3, 8))])
        for name, middle in (("A", 1e8), ("B", 1.5e8))
    )
    blocks = Blocks(base="A", other="B", seconds=40.0)
    command = "assay compare --ab '/mnt/a b' /mnt/b --time 40s --study large.yaml"
    base = make_analysis()
    run = base.run.model_copy(update={"blocks": blocks, "command": command, "status": "complete"})
    decisions = decide(rows, compare(rows, len(blocks.looks)))
    seen = View(base.model_copy(update={"run": run, "rows": rows, "decisions": decisions}))
    step = next(words(step) for step in steps(seen, set()) if "undecided" in words(step))
    found = re.search(r"assay compare --ab '/mnt/a b' /mnt/b --study large.yaml --time (\d+)s$", step)
    assert found is not None and int(found[1]) > 40, step
