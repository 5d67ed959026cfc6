"""Writes IO500's summary in the format of its result_summary.txt."""

from collections.abc import Iterable, Iterator

from assay.analyse.io500_score import Score, io500_scores
from assay.model.base import AssayError
from assay.model.result.result import RunAnalysis

UNOFFICIAL = "not an official IO500 submission: made by Assay, not by the benchmark"


def io500_text(analysis: RunAnalysis) -> str:
    """Return the summary of each repeat on each target.

    Raises:
        AssayError: The run lacks some of IO500's workloads.
    """
    scores = io500_scores(analysis.rows)
    if not scores:
        message = f"run {analysis.run.id} has not all of IO500's workloads"
        raise AssayError(message, "run studies/io500/study.yaml, or one with its workloads")
    return "\n".join(line for score in scores for line in (*score_summary(score, len(scores) > 1), ""))


def score_summary(score: Score, with_title: bool) -> Iterator[str]:
    """Yield the lines of one repeat; with `with_title` they begin with target and repeat."""
    if with_title:
        yield f"; {score.target}, repeat {score.repeat}"
    yield f"; {UNOFFICIAL}"
    yield from (f"; broken rule: {rule}" for rule in score.broken_rules)
    for phase in score.phases:
        unit = "GiB/s" if phase.bandwidth else "kIOPS"
        value = "none" if phase.value is None else f"{phase.value:.6f}"
        yield f"[RESULT] {phase.name:>20} {value:>15} {unit} : time {phase.seconds:.3f} seconds [INVALID]"
    values = (score.bandwidth, score.iops, score.total)
    bandwidth, iops, total = ("none" if value is None else f"{value:.6f}" for value in values)
    yield f"[SCORE ] Bandwidth {bandwidth} GiB/s : IOPS {iops} kiops : TOTAL {total} [INVALID]"


def score_lines(scores: Iterable[Score]) -> list[str]:
    """Return the lines of all scores, for a terminal."""
    found = list(scores)
    return [line for score in found for line in score_summary(score, len(found) > 1)]
