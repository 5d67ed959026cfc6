"""What page one warns of and what it advises against that: the same results, counted alike."""

import re
from collections.abc import Sequence

import numpy as np
from builders import make_analysis, make_case, make_place, make_row, row_of

from assay.analyse.compare import compare
from assay.analyse.decide import decide
from assay.model.result.host_loss import HostLoss
from assay.model.result.result import Estimate
from assay.model.result.verdict import RANK, Finding, Verdict
from assay.model.study.blocks import Blocks
from assay.report.document import plain_text
from assay.report.sections.environment import section
from assay.report.summary.caveats import caveats
from assay.report.summary.lines import is_usable
from assay.report.summary.lower_bounds import limit_sentences
from assay.report.summary.next_step import next_step
from assay.report.view import RunView

CPUS, FLUSH, FEWER = "Use fewer lanes.", "Use sync: fsync.", "Use one lane."


def finding(verdict: Verdict, remedy: str) -> Finding:
    return Finding(verdict=verdict, rule="r", text="seen", remedy=remedy, numbers={})


def view(*rows: Sequence[Finding]) -> RunView:
    """A run with a result for each of these findings."""
    found = []
    for number, findings in enumerate(rows, start=1):
        case = make_case(f"c{number:04d}", axes={"record_size": 4096 * number})
        ordered = tuple(sorted(findings, key=lambda one: RANK[one.verdict]))
        worst = ordered[0].verdict if ordered else Verdict.OK
        found.append(row_of(case, [100e6] * 3).model_copy(update={"findings": ordered, "verdict": worst}))
    cases = tuple(row.case for row in found)
    update = {"rows": tuple(found), "cases": cases, "comparisons": (), "decisions": ()}
    return RunView(make_analysis(places=(make_place(),)).model_copy(update=update))


def said(seen: RunView) -> tuple[str, str]:
    """The caveat about usable results, and its remedy; empty if there is none."""
    found = [caveat for caveat in caveats(seen, (), ()) if "usable" in caveat.text]
    return (found[0].text, found[0].remedy) if found else ("", "")


def step(seen: RunView) -> str:
    return plain_text(next_step(seen, set()))


SKEWED, CACHED = finding(Verdict.SKEWED, CPUS), finding(Verdict.CACHED, FLUSH)
BOUND = finding(Verdict.CLIENT_BOUND, CPUS)


def test_the_remedy_is_against_the_verdict_that_most_have_though_others_are_worse() -> None:
    # Four are cached first; against what is skewed, nothing but the other remedy helps.
    seen = view(*[(SKEWED, CACHED)] * 4, *[(SKEWED,)] * 7, *[(CACHED,)] * 2)
    assert said(seen) == (
        "None of 13 results is usable: 11 are skewed (4 of them in addition to another verdict).",
        CPUS,
    )
    assert step(seen).startswith(f"11 results are skewed. {CPUS} Why: assay show ")


def test_of_several_remedies_the_commonest_is_said() -> None:
    skewed = [finding(Verdict.SKEWED, remedy) for remedy in (CPUS, FEWER, FEWER, FLUSH)]
    assert said(view(*[(one,) for one in skewed])) == ("None of 4 results is usable: 4 are skewed.", FEWER)


def test_a_result_counts_once_however_many_findings_say_it() -> None:
    seen = view((SKEWED, SKEWED))
    assert said(seen) == ("None of 1 result is usable: 1 is skewed.", CPUS)
    assert step(seen).startswith(f"1 result is skewed. {CPUS} Why: ")


def test_what_fewer_than_half_have_is_neither_warned_of_nor_the_next_step() -> None:
    seen = view((SKEWED,), ())
    assert said(seen) == ("", "") and step(seen).startswith("Repeat it on another day: ")


def test_lower_bounds_are_an_answer_and_the_next_step_says_what_lifts_them() -> None:
    seen = view((BOUND,), (BOUND,), (finding(Verdict.NETWORK_BOUND, CPUS),), ())
    assert said(seen) == ("", "") and step(seen).startswith(f"2 results are client-bound. {CPUS} Why: ")
    assert limit_sentences(seen.analysis.rows) == (
        "The client's CPU held back 2 of 4 results. The network is the limit of 1 of 4 results."
    )
    both = view((BOUND, CACHED))
    assert limit_sentences(both.analysis.rows) == "", "what a cache answered is no lower bound"


def test_results_without_a_rate_and_without_a_finding_ask_for_nothing() -> None:
    seen = view(())
    bare = seen.analysis.rows[0].model_copy(update={"throughput": None, "iops": None})
    seen = RunView(seen.analysis.model_copy(update={"rows": (bare,)}))
    assert said(seen) == ("None of 1 result is usable.", "")
    assert step(seen).startswith("See why disk has no result")


def test_a_rate_known_within_a_factor_of_ten_is_no_answer() -> None:
    wide = view(()).analysis.rows[0]
    rate = Estimate(median=1e6, low=0.3e6, high=3e6, n=5, spread=0.9)
    loose = finding(Verdict.UNSTABLE, FEWER)
    row = wide.model_copy(update={"throughput": rate, "verdict": Verdict.UNSTABLE, "findings": (loose,)})
    seen = RunView(view(()).analysis.model_copy(update={"rows": (row,)}))
    assert said(seen) == ("None of 1 result is usable: 1 is unstable.", FEWER)
    assert not is_usable(row)


def test_two_sides_are_compared_anew_for_longer() -> None:
    chance = np.random.default_rng(4)
    rows = tuple(
        make_row(name, [float(rate) for rate in middle * np.exp(chance.normal(0, 0.3, 8))])
        for name, middle in (("A", 1e8), ("B", 1.5e8))
    )
    blocks = Blocks(base="A", other="B", seconds=40.0)
    command = "assay ab '/mnt/a b' /mnt/b --time 40s --study large.yaml"
    base = make_analysis(places=(make_place("A"), make_place("B")))
    run = base.run.model_copy(update={"blocks": blocks, "command": command, "status": "complete"})
    decisions = decide(rows, compare(rows, len(blocks.looks)))
    seen = RunView(base.model_copy(update={"run": run, "cases": (), "rows": rows, "decisions": decisions}))
    found = re.search(r"assay ab '/mnt/a b' /mnt/b --study large.yaml --time (\d+)s$", step(seen))
    assert found is not None and int(found[1]) > 40, step(seen)


def test_a_host_that_aws_took_back_is_a_caveat_and_without_its_server_a_run_is_begun_anew() -> None:
    loss = HostLoss(
        host="client2",
        instance="i-1",
        state="terminated",
        code="Server.SpotInstanceTermination",
        ended_at=1.8e9,
        noticed_at=1.8e9 + 9,
        case="c0003",
        repeat=2,
        replaced_by="i-2",
    )
    seen = view(()).analysis
    lost = RunView(seen.model_copy(update={"run": seen.run.model_copy(update={"host_losses": (loss,)})}))
    (caveat,) = [one for one in caveats(lost, [], []) if "i-1" in one.text]
    assert caveat.text == (
        "AWS took back the spot instance client2 (i-1), at 2027-01-15 08:00:00 UTC: Server.SpotInstanceTermination; "
        "repeat 2 of c0003 was lost and does not count; client2 is i-2 since then."
    )
    assert caveat.text in str(section(lost))
    server = loss.model_copy(update={"is_server": True, "replaced_by": "", "code": "", "ended_at": None})
    about = {"host_losses": (loss, server), "planned": 9, "finished": 6, "status": "interrupted"}
    ended = RunView(seen.model_copy(update={"run": seen.run.model_copy(update=about)}))
    assert step(ended) == f"Measure on another stack: {seen.run.command}"
    assert any(one.remedy == f"Measure on another stack: {seen.run.command}" for one in caveats(ended, [], []))
    assert any(
        "noticed at 2027-01-15 08:00:09 UTC" in one.text and "2 hosts" in one.text for one in caveats(ended, [], [])
    )
