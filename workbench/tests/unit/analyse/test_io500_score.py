"""IO500's score, against a result that its authors publish, and what a run says of the rules that it has not kept."""

import math
from pathlib import Path

import pytest

from assay.analyse.io500_score import geometric_mean, io500_scores
from assay.model.result.observations import LimitProgress
from assay.model.result.result import ResultRow
from assay.model.result.sample import Sample
from assay.model.study.case import Case
from assay.model.study.io500 import PHASES
from assay.model.study.parameters import Parameters
from assay.plan.load import load_study
from assay.report.formats.io500 import score_summary

GIB = 2**30
STUDIES = Path(__file__).parents[4] / "studies"
# The example in the README of github.com/IO500/io500.
PUBLISHED = {
    "ior-easy-write": 0.186620,
    "mdtest-easy-write": 103.300821,
    "ior-hard-write": 0.001313,
    "mdtest-hard-write": 58.939081,
    "find": 1486.435084,
    "ior-easy-read": 1.575557,
    "mdtest-easy-stat": 839.392805,
    "ior-hard-read": 2.272671,
    "mdtest-hard-stat": 1212.558124,
    "mdtest-easy-delete": 160.765642,
    "mdtest-hard-read": 275.011939,
    "mdtest-hard-delete": 132.015851,
}
PUBLISHED_SCORE = (0.172092, 292.625029, 7.096374)

PARAMETERS = {
    "ior-easy": Parameters(file_size=GIB, record_size=1 << 20, lanes=2, hosts=2, reorder="node", wear_out=True),
    "ior-hard": Parameters(
        file_size=47008 * 400, record_size=47008, block_size=47008, layout="shared", lanes=2, hosts=2, reorder="node",
        wear_out=True,
    ),
    "mdtest-easy": Parameters(file_size=0, files=1000, lanes=2, hosts=2, reorder="node", wear_out=True),
    "mdtest-hard": Parameters(
        file_size=3901, files=1000, layout="shared", lanes=2, hosts=2, reorder="node", wear_out=True
    ),
    "mdtest-hard-read": Parameters(file_size=3901, record_size=3901, files=1000, lanes=2, hosts=2, reorder="node"),
}  # fmt: skip


def row(workload: str, operation: str, rate: float, bandwidth: bool, seconds: float = 300.0) -> ResultRow:
    """A phase that had this rate, in GiB/s or thousands per second, for so long."""
    amount = round(rate * seconds * (GIB if bandwidth else 1000))
    wall = LimitProgress(elapsed_ns=round(seconds * 1e9), ops=1, bytes=1, min_ops=1, max_ops=1)
    sample = Sample(
        case="c0001", repeat=1, phase=0, operation=operation, status="done", started_at=0.0,
        ops=1 if bandwidth else amount, bytes=amount if bandwidth else 0, elapsed_ns=round(seconds * 1e9),
        at_limit=wall,
    )  # fmt: skip
    case = Case.model_construct(
        id="c0001", target="place", workload=workload, operations=(operation,), parameters=PARAMETERS[workload],
        axes={}, label=workload,
    )  # fmt: skip
    return ResultRow.model_construct(case=case, operation=operation, samples=(sample,))


def rows(rates: dict[str, float], seconds: float = 300.0) -> list[ResultRow]:
    found = [
        row(phase.workload, phase.operation, rates[phase.name], phase.bandwidth, seconds)
        for phase in PHASES
        if phase.workload
    ]
    return [*found, *(row(name, "readdir", 0.001, bandwidth=False) for name in ("mdtest-easy", "mdtest-hard"))]


def test_the_published_score_comes_out_of_the_published_phases() -> None:
    bandwidth = geometric_mean(PUBLISHED[phase.name] for phase in PHASES if phase.bandwidth)
    iops = geometric_mean(PUBLISHED[phase.name] for phase in PHASES if not phase.bandwidth)
    assert bandwidth == pytest.approx(PUBLISHED_SCORE[0], rel=1e-3)
    assert iops == pytest.approx(PUBLISHED_SCORE[1], rel=1e-6)
    assert bandwidth is not None and iops is not None
    assert math.sqrt(bandwidth * iops) == pytest.approx(PUBLISHED_SCORE[2], rel=1e-3)


def test_a_run_has_the_values_of_its_phases() -> None:
    (score,) = io500_scores(rows(PUBLISHED))
    by_name = {phase.name: phase.value for phase in score.phases}
    assert [phase.name for phase in score.phases] == list(PUBLISHED)
    for name, value in PUBLISHED.items():
        if name != "find":
            assert by_name[name] == pytest.approx(value, rel=1e-3), name
    # All names of both trees, over the time of two listings and two looks of 300 s each.
    looked = (PUBLISHED["mdtest-easy-stat"] + PUBLISHED["mdtest-hard-stat"]) / 4
    assert by_name["find"] == pytest.approx(looked, rel=1e-6)
    assert score.bandwidth == pytest.approx(PUBLISHED_SCORE[0], rel=1e-3)
    assert score.total == pytest.approx(math.sqrt((score.bandwidth or 0) * (score.iops or 0)))
    assert len(score.broken_rules) == 3, score.broken_rules


def test_a_short_stonewall_and_own_files_are_named() -> None:
    short = io500_scores(rows(PUBLISHED, seconds=2.0))[0].broken_rules
    assert "ior-hard-write ran 2 s to the stonewall, not 300 s" in short
    alone = [
        item.model_copy(update={"case": item.case.model_copy(update={"parameters": item.case.parameters.model_copy(
            update={"reorder": "none"})})})
        for item in rows(PUBLISHED)
    ]  # fmt: skip
    assert any("files that it made itself" in rule for rule in io500_scores(alone)[0].broken_rules)


def test_a_phase_without_a_result_leaves_no_score() -> None:
    found = [item for item in rows(PUBLISHED) if (item.case.workload, item.operation) != ("ior-hard", "read")]
    (score,) = io500_scores(found)
    assert (score.bandwidth, score.total) == (None, None)
    assert score.iops is not None
    assert io500_scores([item for item in found if item.case.workload != "mdtest-easy"]) == ()


def test_the_summary_has_the_form_of_the_benchmarks() -> None:
    (score,) = io500_scores(rows(PUBLISHED))
    lines = list(score_summary(score, with_title=False))
    assert lines[0].startswith("; not an official IO500 submission")
    assert "[RESULT]       ior-easy-write        0.186620 GiB/s : time 300.000 seconds [INVALID]" in lines
    assert lines[-1].startswith("[SCORE ] Bandwidth 0.17") and lines[-1].endswith("[INVALID]")
    assert sum(line.startswith("[RESULT]") for line in lines) == len(PUBLISHED)


@pytest.mark.parametrize(
    ("reorder", "by", "own"),
    [
        ("lane", 1, True),
        ("lane", 2, False),
        ("lane", 3, True),
        ("node", 1, False),
        ("node", 2, True),
        ("random", 1, True),
    ],
)
def test_only_what_another_host_has_made_counts(reorder: str, by: int, own: bool) -> None:
    """Two hosts with two lanes each: three lanes on, one of two lanes is on its own host again."""
    changed = [
        item.model_copy(update={"case": item.case.model_copy(update={"parameters": item.case.parameters.model_copy(
            update={"reorder": reorder, "reorder_by": by})})}) if item.case.workload == "mdtest-hard-read" else item
        for item in rows(PUBLISHED)
    ]  # fmt: skip
    broken = io500_scores(changed)[0].broken_rules
    assert any("made itself (mdtest-hard-read)" in rule for rule in broken) == own


def test_the_shipped_study_goes_on_to_other_hosts() -> None:
    loaded = load_study((STUDIES / "io500" / "study.yaml").read_bytes())
    assert loaded.study is not None
    reordered = {name: work.axis("reorder").values() for name, work in loaded.study.workloads.items()}
    assert {name: list(values) for name, values in reordered.items()} == {name: ["node"] for name in reordered}
