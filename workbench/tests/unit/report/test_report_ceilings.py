"""What the report shows of ceilings and verdicts, and that no untrue number gets into its headline."""

import re
from typing import Any

import pytest
from builders import answered, make_analysis, make_case, make_ceiling, make_place, make_run, make_sample
from hypothesis import given, settings
from hypothesis import strategies as st
from paths import REPOSITORY
from report_parts import tables_of
from sample_run import estimate
from soak import times

from assay.judge import cache, course, lanes, limits, metadata, open_loop, rules, tenant
from assay.model.result.brief_result import summarise
from assay.model.result.ceiling import Ceiling, CeilingPass, CeilingShare, ExceedingRepeat
from assay.model.result.result import CEILING_TOLERANCE, ResultRow, RunAnalysis
from assay.model.result.verdict import RANK, Finding, Unevaluated, Verdict
from assay.report import numbers, unevaluated
from assay.report.build import build_document
from assay.report.document import Badge, Bullets, Num, Section, Share, Table
from assay.report.html import render_html
from assay.report.sections import ceilings, comparison, evidence, results, short_answer, verdicts
from assay.report.tables import results_table
from assay.report.view import NOT_STORAGE, RunView, is_false, is_sound

NOT_APPLICABLE = Unevaluated(rule="cached_read", reason="x", applies=False)


def lacks(**reasons: str) -> tuple[Unevaluated, ...]:
    """Rule -> what was missing."""
    return tuple(Unevaluated(rule=rule, reason=reason) for rule, reason in reasons.items())


def finding(verdict: Verdict, text: str = "seen", remedy: str = "do this") -> Finding:
    return Finding(verdict=verdict, rule=verdict.value, text=text, remedy=remedy, numbers={})


def binding(name: Any = "device read", share: float = 0.5, value: float = 1e9) -> CeilingShare:
    return CeilingShare(name=name, unit="bytes/s", value=value, measured=share * value, share=share, how="made up")


def judged(row: ResultRow, *found: Verdict, **fields: Any) -> ResultRow:
    """The row with these verdicts."""
    worst = min(found, key=RANK.__getitem__, default=Verdict.OK)
    findings = tuple(finding(verdict) for verdict in sorted(found, key=RANK.__getitem__))
    return row.model_copy(update={"verdict": worst, "findings": findings, **fields})


def column(table: Table, title: str) -> list[Any]:
    place = [column.title for column in table.columns].index(title)
    return [row[place] for row in table.rows]


def with_rows(*rows: ResultRow, ceilings: tuple[Ceiling, ...] = ()) -> RunAnalysis:
    nothing: dict[str, Any] = {"comparisons": (), "decisions": ()}
    return make_analysis().model_copy(update={"rows": rows, **nothing, "run": make_run(ceilings=ceilings)})


def row() -> ResultRow:
    return make_analysis().rows[1]


def test_table_of_results_has_the_closest_ceiling_of_each() -> None:
    exceeded = judged(row(), Verdict.CACHED, ceilings=(binding(share=5.6), binding("page cache read", 0.9)))
    near = judged(row(), ceilings=(binding(share=0.93), binding("memory copy", 0.1)))
    impossible = judged(row(), Verdict.IMPOSSIBLE, ceilings=(binding("stated read", 1.4), binding("memory copy", 0.3)))
    view = RunView(with_rows(exceeded, near, impossible, judged(row())))
    (table,) = results.results_tables(view)
    assert column(table, "Nearest limit") == ["page cache read", "device read", "stated read", "none known"]
    shares = column(table, "% of limit")
    assert shares == [Share(0.9, "device read: 5.6×"), Share(0.93), Share(1.4), Share(None)]


def test_page_draws_the_share_as_a_bar_and_says_what_is_above_it() -> None:
    over = judged(row(), Verdict.IMPOSSIBLE, ceilings=(binding(share=1.4),))
    near = judged(row(), ceilings=(binding(share=0.93),))
    page = render_html(build_document(with_rows(over, near)))
    assert '<td data-v=1.4>140 %<i class="bar over" style="--s:140"></i>' in page
    assert '<td data-v=0.93>93 %<i class="bar" style="--s:93"></i>' in page


def test_badge_shows_all_verdicts_and_the_filter_finds_the_worst() -> None:
    both = judged(row(), Verdict.UNSTABLE, Verdict.CLIENT_BOUND)
    (table,) = results.results_tables(RunView(with_rows(both)))
    assert table.rows[0][0] == Badge(Verdict.UNSTABLE, "seen seen", (Verdict.CLIENT_BOUND,))
    page = render_html(build_document(with_rows(both)))
    assert '<b class="v unstable" title="seen seen" data-also="+ client-bound">unstable</b>' in page


def test_ceilings_are_listed_with_what_comes_closest_and_why_one_is_missing() -> None:
    known = (
        make_ceiling("memory copy", 9e9, target="", lowest=8e9),
        make_ceiling("engine", 2e6, target="", kind="read lanes=1 depth=1"),
        make_ceiling("engine", 5e5, target="", kind="write lanes=1 depth=1"),
        make_ceiling("device read", 1e9),
        make_ceiling("device write", None, reason="less than 64 MiB are free"),
    )
    rows = (judged(row(), ceilings=(binding(share=0.93),)), judged(row(), ceilings=(binding(share=0.2),)))
    view = RunView(with_rows(*rows, ceilings=known))
    near = tables_of(ceilings.section(view))["limits-table"]
    assert near.rows == (("disk", "device read", Num("2", 2), Share((0.93 + 0.2) / 2), Share(0.93)),)
    found = tables_of(ceilings.folds(view))
    table = found["ceilings-table"]
    assert column(table, "Of") == ["this machine", "this machine", "disk", "disk"]
    assert column(table, "Limit") == ["memory copy", "engine", "device read", "device write"]
    assert [cell.text for cell in column(table, "Highest")] == [
        "9,000 MB/s",
        "2,000,000 operations/s",
        "1,000 MB/s",
        "–",
    ]
    assert [cell.text for cell in column(table, "Worst pass")] == ["8,000 MB/s", "500,000 operations/s", "–", "–"]
    assert column(table, "How it was measured, or why not")[-1] == "not known: less than 64 MiB are free"
    engine = found["engine-table"]
    assert column(engine, "Kind of job") == ["read lanes=1 depth=1", "write lanes=1 depth=1"]


def passes(*values: float, when: Any = "before") -> tuple[CeilingPass, ...]:
    return tuple(CeilingPass(at=1.8e9 + n, when=when, value=value, how="made up") for n, value in enumerate(values))


def bullets(found: Section) -> list[str]:
    return [text_of(item) for block in found.blocks if isinstance(block, Bullets) for item in block.items]


def text_of(item: Any) -> str:
    return "".join(part if isinstance(part, str) else part.text for part in item)


def test_a_ceiling_that_a_result_exceeded_is_called_wrong_with_what_it_was_and_what_exceeded_it() -> None:
    above = ExceedingRepeat(
        case="c0001", label="disk / grid", operation="rewrite", repeat=3, at=1.8e9, value=2e9, measured=1.6e9
    )
    known = (*passes(1.5e9, 1.6e9), CeilingPass(at=1.9e9, when="again", value=1.2e9, how="made up"))
    wrong = make_ceiling("device rewrite", 2e9, passes=known, lowest=1.2e9, low=1.1e9, high=1.9e9, exceeded=above)
    right = make_ceiling("device read", 1e9, passes=passes(0.9e9, 1e9), lowest=0.9e9, low=0.8e9, high=1.1e9)
    view = RunView(with_rows(row(), ceilings=(wrong, right)))
    assert bullets(ceilings.section(view)) == [
        "device rewrite of disk was underestimated: measured 1,600 MB/s, but Rewrite of disk / grid, repeat 3, "
        "reached 2,000 MB/s (1.25×) with no sign of a cache. The rate of the result counts as the limit. Measured "
        "again: 1,200 MB/s."
    ]
    found = tables_of(ceilings.folds(view))
    table = found["ceilings-table"]
    assert [cell.text for cell in column(table, "Passes")] == ["3", "2"]
    assert [cell.text for cell in column(table, "95 % interval")] == ["1,100 – 1,900 MB/s", "800 – 1,100 MB/s"]
    each = found["passes-table"]
    assert column(each, "When")[2] == "again, since a result exceeded it" and len(each.rows) == 5


def test_a_ceiling_that_was_right_when_it_was_measured_again_says_so() -> None:
    again = CeilingPass(at=1.9e9, when="again", value=2.5e9, how="made up")
    (line,) = bullets(
        ceilings.section(RunView(with_rows(row(), ceilings=(make_ceiling(value=2.5e9, passes=(*passes(1e9), again)),))))
    )
    assert line == (
        "device read of disk was underestimated: a result exceeded it. Measured again: 2,500 MB/s, before 1,000 MB/s."
    )


def test_a_hundred_engine_ceilings_are_one_line_and_folded() -> None:
    many = tuple(make_ceiling("engine", 1e6 + n, target="", kind=f"read lanes={n} depth=1") for n in range(100))
    left_out = make_ceiling(
        "engine", None, target="", reason="7 kinds of job were not measured: there are more than 100"
    )
    found = tables_of(ceilings.folds(RunView(with_rows(row(), ceilings=(*many, left_out)))))
    (line,) = found["ceilings-table"].rows
    assert "100 kinds" in str(line[-1]) and "not known: 7 kinds of job were not measured" in str(line[-1])
    assert len(found["engine-table"].rows) == 101


def test_run_without_ceilings_says_so() -> None:
    assert "No upper limit was measured or stated" in repr(ceilings.section(RunView(with_rows(row()))))


def test_reasons_are_listed_once_with_rules_and_number_of_results() -> None:
    few = "needs phases of at least 5 whole intervals"
    first = row().model_copy(
        update={"not_evaluated": lacks(bursting=few, throttled=few, cached_names="1.2 MB were fetched")}
    )
    second = row().model_copy(
        update={"not_evaluated": (*lacks(bursting=few, cached_names="340 kB were fetched"), NOT_APPLICABLE)}
    )
    assert unevaluated.group_by_reason([first, second]) == [
        unevaluated.UnevaluatedGroup(("bursting", "throttled"), few, 2, 0, True),
        unevaluated.UnevaluatedGroup(("cached_names",), "1.2 MB were fetched", 2, 1, True),
        unevaluated.UnevaluatedGroup(("cached_read",), "x", 1, 0, False),
    ]
    table = tables_of(verdicts.folds(RunView(with_rows(first, second))))["skipped-table"]
    assert column(table, "Rules") == ["bursting, throttled", "cached names", "cached read"]
    assert column(table, "Why") == [few, "1.2 MB were fetched (and 1 with other numbers)", "does not apply: x"]
    assert [cell.text for cell in column(table, "Results")] == ["2", "2", "1"]


def test_ok_says_how_far_it_goes() -> None:
    whole = judged(row(), not_evaluated=(NOT_APPLICABLE,))
    partly = judged(row(), not_evaluated=(*lacks(bursting="too few"), NOT_APPLICABLE))
    worse = judged(row(), Verdict.CACHED, not_evaluated=lacks(bursting="too few"))
    assert [one.verdict_words for one in (whole, partly, worse)] == ["ok", "ok, but not all checks could run", "cached"]
    assert [summarise(one).finding for one in (whole, partly)] == ["", "ok, but not all checks could run: bursting"]
    assert [summarise(one).is_partly_checked for one in (whole, partly, worse)] == [False, True, False]
    (table,) = results.results_tables(RunView(with_rows(whole, partly, worse)))
    assert [(badge.verdict, badge.is_partial) for badge in column(table, "Verdict")] == [
        (Verdict.OK, False),
        (Verdict.OK, True),
        (Verdict.CACHED, False),
    ]
    assert "bursting" in column(table, "Verdict")[1].hint
    counts = tables_of(verdicts.section(RunView(with_rows(whole, partly, worse))))["verdict-counts"]
    meant = dict(zip(column(counts, "Verdict"), column(counts, "What it means"), strict=True))
    assert "could run" not in meant[Badge(Verdict.OK)] and "could run" in meant[Badge(Verdict.OK, is_partial=True)]
    page = render_html(build_document(with_rows(whole, partly)))
    assert 'class="v ok partly"' in page
    records = results_table(with_rows(whole, partly, worse)).records
    assert [record["is_partly_checked"] for record in records] == [False, True, False]


def test_findings_that_are_the_same_for_several_operations_are_said_once() -> None:
    read, write = judged(row(), Verdict.INCOMPLETE), judged(make_analysis().rows[0], Verdict.INCOMPLETE)
    table = tables_of(verdicts.folds(RunView(with_rows(write, read))))["verdict-list"]
    assert column(table, "Where") == ["disk 2: write and read"]
    assert [cell.text for cell in column(table, "Results")] == ["2"]


def test_every_verdict_has_a_meaning() -> None:
    rows = [judged(row(), verdict) for verdict in Verdict if verdict is not Verdict.OK]
    table = tables_of(verdicts.section(RunView(with_rows(row(), *rows))))["verdict-counts"]
    assert {cell.verdict for cell in column(table, "Verdict")} == set(Verdict)
    assert all(len(text) > 10 for text in column(table, "What it means"))


@pytest.mark.parametrize("verdict", [Verdict.CLIENT_BOUND, Verdict.SKEWED, Verdict.NETWORK_BOUND])
def test_unstable_result_with_another_verdict_is_not_sound(verdict: Verdict) -> None:
    assert is_sound(judged(row(), Verdict.UNSTABLE))
    assert not is_sound(judged(row(), Verdict.UNSTABLE, verdict))


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.931, "93 %"), (0.0042, "0.42 %"), (0.0996, "10 %"), (1.304, "130 %"), (5.64, "5.6×"), (None, "–")],
)
def test_share(value: float | None, text: str) -> None:
    assert numbers.share(value) == text


OPERATIONS = ("write", "read", "random_read")
SIZES = (65536, 1 << 20)
HONEST, UNTRUE = (1e6, 9e9), (6e11, 9e14)
"""Bytes per second; an untrue number in MB/s is above every number that may stand in the headline."""
rates = st.floats(*HONEST, allow_subnormal=False)
doubts = st.sampled_from([verdict for verdict in Verdict if verdict is not Verdict.OK])
lists = st.sampled_from([[], [Verdict.CACHED], [Verdict.IMPOSSIBLE], [Verdict.UNSTABLE]]) | st.lists(
    doubts, max_size=3, unique=True
)


def made_row(target: str, size: int, operation: str, rate: float, found: list[Verdict], factor: float) -> ResultRow:
    """Four repeats around `rate`; if a verdict says that it is untrue, `factor` between the bounds of untrue ones."""
    case = make_case(f"c-{target}-{size}", target, OPERATIONS, record_size=size, axes={"record_size": size})
    untrue = not NOT_STORAGE.isdisjoint(found)
    middle = UNTRUE[0] + factor * (UNTRUE[1] - UNTRUE[0]) if untrue else rate
    speeds = [middle * share for share in (0.99, 1.0, 1.01, 1.02)]
    samples = tuple(make_sample(case.id, n, speed, operation) for n, speed in enumerate(speeds, start=1))
    near = binding("device read", middle / 5e9, 5e9)
    plain = ResultRow(
        case=case,
        operation=operation,
        throughput=estimate(speeds),
        iops=estimate([speed / size for speed in speeds]),
        latency={},
        curve=(),
        samples=samples,
        verdict=Verdict.OK,
        findings=(),
        ceilings=(near,),
    )
    return judged(plain, *found)


@st.composite
def runs(draw: st.DrawFn) -> tuple[RunAnalysis, RunAnalysis]:
    """Two runs that differ only in the rates of results that a verdict calls untrue."""
    pair: tuple[list[ResultRow], list[ResultRow]] = ([], [])
    targets = draw(st.sampled_from([("disk",), ("disk", "memory"), ("disk", "memory", "other")]))
    for target in targets:
        for size in SIZES:
            for operation in OPERATIONS:
                rate, found = draw(rates), draw(lists)
                for rows in pair:
                    rows.append(made_row(target, size, operation, rate, found, draw(st.floats(0, 1))))
    places = tuple(make_place(target) for target in targets)
    run = make_run(places=places)
    first, second = (answered(make_analysis().model_copy(update={"rows": tuple(rows), "run": run})) for rows in pair)
    return first, second


@settings(max_examples=times(25, 600))
@given(runs())
def test_headline_has_no_number_of_a_cached_or_impossible_result(pair: tuple[RunAnalysis, RunAnalysis]) -> None:
    first, second = (
        (
            short_answer.section(RunView(each)),
            *evidence.uncompared_blocks(RunView(each), set()),
            *comparison.evidence_blocks(RunView(each))[:1],
        )
        for each in pair
    )
    assert repr(first) == repr(second)
    text = re.sub(r"<Verdict[^>]*>|c-(?:disk|memory|other)-\d+", "", repr(first)).replace(pair[0].run.id, "")
    shown = [float(number.replace(",", "")) for number in re.findall(r"\d[\d,]*(?:\.\d+)?", text)]
    assert [number for number in shown if number >= UNTRUE[0] / 1e6] == []
    for analysis in pair:
        for row in analysis.rows:
            if is_false(row):
                assert row.throughput is not None
                assert numbers.mb_per_s(row.throughput.median) not in text


def test_guide_names_every_rule_and_verdict_with_its_thresholds() -> None:
    text = (REPOSITORY / "docs" / "reference" / "results.md").read_text()
    section = text[text.index("## The verdicts") : text.index("## The nearest limit")]
    assert [rule.__name__ for rule in rules.RULES if f"*{rule.__name__}*" not in section] == []
    assert [verdict for verdict in Verdict if f"| `{verdict}` |" not in section] == []
    said = (
        f"more than {limits.STATED_TOLERANCE:g} times what the study states",
        f"more than {CEILING_TOLERANCE:g} times what a link was found to carry",
        f"less than {rules.DEVICE_SHARE:.0%} of the bytes",
        f"less than {rules.DIRECT_SHARE:.0%} with O_DIRECT",
        f"more than {cache.MAX_LATER_RATIO:g} times as fast as in the first",
        f"at least {metadata.MEMORY_SHARE:.0%} of the names",
        f"less than {cache.FLUSHED_SHARE:.0%} of the data had reached",
        f"less than {rules.SUSTAINED:.0%} of the rate asked for",
        f"more than {course.RANGE_SHARE:.0%} of its mean",
        f"loses more than {course.SLOPE_SHARE:.0%}",
        f"the middle half of the intervals lies within {course.FLAT:.0%}",
        f"fewer than {cache.AHEAD_SHARE:g} requests each",
        f"or fewer than {cache.REACHED_SHARE:g}, and",
        f"or {open_loop.STILL_NS / 1e6:g} ms in one repeat",
        f"(and {tenant.MIN_BYTES >> 20} MiB) more",
        f"busy less than {course.FULL_SHARE:.0%}",
        f"at least {course.WAITING_RATIO:g} times as long",
        f"fell to {course.LOWER:.0%} or less",
        f"is more than {rules.MAX_UNCERTAINTY:.0%} from the median",
        f"more than {lanes.SKEW_SHARE:.0%} of the time or {lanes.SKEW_NS / 1e6:g} ms apart",
        f"more than {lanes.FINISH_SHARE:.0%} of it apart",
        f"less than {lanes.MIN_BALANCE:.0%} of the operations",
        f"at least {lanes.CLOCK_STEP_NS / 1e9:g} s",
        f"at least {limits.ENGINE_SHARE:.0%} of what the engine does",
        f"at least {limits.BUSY_SHARE:.0%} of the CPU time",
        f"waited for a CPU more than {limits.WAIT_SHARE:.0%}",
        f"not run for {limits.STOPPED_NS / 1e6:g} ms at once, or for more than {limits.WAIT_SHARE:.0%}",
        f"{open_loop.LATE_NS / 1e6:g} ms late",
        f"at least {limits.LINK_SHARE:.0%} of the bandwidth",
    )
    assert [words for words in said if words.replace("%", " %") not in section] == []
