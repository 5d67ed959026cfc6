"""A result counts once, under its most serious verdict: last line, page one, Verdicts, `show` and the export."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_runs import RUNS, store_page_run

from assay.cli.run import print_run_results
from assay.cli.show import command as show
from assay.model.result.verdict import RANK, Verdict
from assay.model.result.verdict_counts import VerdictCounts, count_verdicts
from assay.report.document import Badge, Num, Table
from assay.report.export_json import json_document
from assay.report.sections import verdicts
from assay.report.view import RunView
from assay.run.analysis import load_analysis
from assay.run.answers import store_conclusions
from assay.store import RunStore


def counts_in(text: str) -> dict[str, int]:
    """What `80 ok, 83 unstable` says."""
    known = "|".join(map(re.escape, Verdict))
    return {name: int(count.replace(",", "")) for count, name in re.findall(rf"([\d,]+) ({known})\b", text)}


@pytest.mark.parametrize("name", RUNS)
def test_counts_agree(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = store_page_run(tmp_path, name)
    with RunStore.open(folder, write=True) as store:
        store_conclusions(store)
        store.set_status("complete")
        each = {str(verdict): count for verdict, count in store.verdict_counts().by_worst.items()}
        print_run_results(store, as_json=False, quiet=False)
    last = next(line for line in capsys.readouterr().err.splitlines() if line.startswith("complete"))
    assert counts_in(last) == each and re.fullmatch(r"complete: [\w, -]+", last), last
    analysis = load_analysis(str(folder), tmp_path)
    assert sum(each.values()) == len(analysis.rows)
    assert Counter(str(row.verdict) for row in analysis.rows) == each

    show(str(folder), "", tmp_path, everything=True, tables=False, as_json=False)
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("verdicts"))
    assert counts_in(line.split(";")[0]) == each
    show(str(folder), "", tmp_path, everything=True, tables=False, as_json=True)
    shown = json.loads(capsys.readouterr().out)["results"]
    assert Counter(one["verdict"] for one in shown) == each

    view = RunView(analysis)
    table = next(one for one in verdicts.section(view).blocks if isinstance(one, Table) and one.id == "verdict-counts")
    per_verdict: Counter[str] = Counter()
    for badge, *cells in table.rows:
        assert isinstance(badge, Badge)
        per_verdict[str(badge.verdict)] += sum(int(cell.value or 0) for cell in cells if isinstance(cell, Num))
    assert per_verdict == each
    exported = json_document(analysis)
    assert Counter(one["verdict"] for one in exported["results"]) == each
    page = " ".join(store_page(folder))
    for count, verdict in re.findall(r"([\d,]+) (?:is|are) (unstable|client-bound|cached|incomplete)\b", page):
        assert int(count) == each[verdict], page


def store_page(folder: Path) -> tuple[str, ...]:
    with RunStore.open(folder) as store:
        page = store.info().page
    assert page is not None
    return tuple(one.words for one in page.caveats)


GRAVEST_FIRST = st.sets(st.sampled_from(list(Verdict)), min_size=1).map(
    lambda found: sorted(found, key=RANK.__getitem__)
)


@given(st.lists(GRAVEST_FIRST))
def test_each_result_counts_once_and_its_other_verdicts_beside(results: list[list[Verdict]]) -> None:
    counts: VerdictCounts = count_verdicts(results)
    assert counts.total == len(results)
    for verdict in Verdict:
        have = sum(verdict in one for one in results)
        assert counts.by_worst.get(verdict, 0) + counts.by_further.get(verdict, 0) == have
    assert counts_in(counts.words) == {str(verdict): count for verdict, count in counts.by_worst.items()}


def test_words() -> None:
    one = count_verdicts([(Verdict.OK,), *[(Verdict.UNSTABLE, Verdict.CLIENT_BOUND)] * 3, (Verdict.CLIENT_BOUND,)])
    assert one.words == "1 ok, 3 unstable, 1 client-bound"
    assert one.also_words == "3 results are also client-bound"
    assert one.words_for(Verdict.CLIENT_BOUND) == "4 are client-bound (3 of them in addition to another verdict)"
    assert count_verdicts([]).words == "no results"
