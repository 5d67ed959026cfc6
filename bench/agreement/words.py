"""Sentences about a workload; each says what was measured, and nothing else."""

from __future__ import annotations

from results import RowResult
from tables import number

from agreement.compare import TOLERANCE, Line, Ratio, Verdict, against, compare
from agreement.series import CALLS
from agreement.show import MEASURES, both_runs, lines, of_ratio, percent
from agreement.workloads import Workload


def sentences(work: Workload, result: RowResult, twin: RowResult | None = None) -> list[str]:
    """What follows from the figures of a workload, and of the same work with buffers in huge pages."""
    found = {line.measure: line for line in lines(result)}
    if len(found) < len(MEASURES):
        return ["No round is whole, so nothing follows."]
    differing = [line for line in found.values() if line.verdict is Verdict.DIFFER]
    return [
        _noise(found),
        _outside(result, found["p50_us"]),
        *(_why(work, result, line, twin) for line in differing),
        *_by_chance(list(found.values()), twin),
    ]


def name(measure: str) -> str:
    """The measure without its unit."""
    return MEASURES[measure].partition(",")[0]


def _noise(found: dict[str, Line]) -> str:
    parts = [f"{name(m)} {percent(line.same_fio)} and {percent(line.same_assay)}" for m, line in found.items()]
    return f"Two runs of the same tool in one round are apart by (median; fio and Assay): {', '.join(parts)}."


def _outside(result: RowResult, p50: Line) -> str:
    """What the tools leave out of their latency, and the p50 with it."""
    parts = []
    for tool, label in (("fio", "fio"), ("assay", "Assay")):
        whole, outside = (both_runs(result.rounds, tool, measure) for measure in ("op_us", "outside_us"))
        if whole and outside:
            parts.append(f"{label} {number(max(0.0, outside.median))} of {number(whole.median)} µs")
    both = compare(result.rounds, "p50_all_us")
    words = f"In no latency is, of an operation's time: {', '.join(parts)}"
    if both:
        words += f"; with it the p50 latencies have the ratio {of_ratio(both.ratio)}, without it {of_ratio(p50.ratio)}"
    return words + "."


def _why(work: Workload, result: RowResult, line: Line, twin: RowResult | None) -> str:
    """For a measure that differs: what else was measured that moves it."""
    gap = abs(line.ratio.median - 1)
    reasons = []
    whole = compare(result.rounds, "p50_all_us") if line.measure == "p50_us" else None
    if whole and gap - abs(whole.ratio.median - 1) > TOLERANCE:
        reasons.append(f"with the time that is in no latency it is {percent(abs(whole.ratio.median - 1))}")
    for variant in work.variants:
        other = against(result.rounds, variant.key, line.measure)
        if other and _moves(other[0]):
            reasons.append(f"fio's own changes by × {of_ratio(other[0])} if it hands over {variant.batch} at a time")
    per_call = [_per_call(result, key) for key in ("fio", "assay")]
    if len(reasons) and work.variants and all(per_call):
        reasons.append(f"in a call fio hands over {number(per_call[0])} operations, Assay {number(per_call[1])}")
    reasons += _in_huge_pages(line, twin) + _requests(result)
    if not reasons:
        return f"**{name(line.measure)}** differs by {percent(gap)}, and nothing that is measured here explains it."
    return f"**{name(line.measure)}** differs by {percent(gap)}: {'; '.join(reasons)}."


def _by_chance(found: list[Line], twin: RowResult | None) -> list[str]:
    """What is apart, but not surely: where it goes once the one thing is gone that chance has a hand in."""
    return [
        f"**{name(line.measure)}** is {percent(abs(line.ratio.median - 1))} apart, which chance may do: {reason}."
        for line in found
        if line.verdict is Verdict.AGREE_BY_CHANCE
        for reason in _in_huge_pages(line, twin)
    ]


def _in_huge_pages(line: Line, twin: RowResult | None) -> list[str]:
    """Where the difference goes once all of an operation lies in one piece of memory."""
    same = compare(twin.rounds, line.measure) if twin else None
    if same is None or same.verdict is Verdict.DIFFER:
        return []
    return [f"with the buffers of both in huge pages, Assay / fio is {of_ratio(same.ratio)}"]


def _requests(result: RowResult) -> list[str]:
    """Whether the disk was asked more often by one of them."""
    found = compare(result.rounds, "requests_per_op")
    if found is None or not _moves(found.ratio):
        return []
    fio, assay = number(found.fio.median), number(found.assay.median)
    return [f"the disk got {fio} requests of fio for an operation, {assay} of Assay"]


def _moves(ratio: Ratio) -> bool:
    """More than what is tolerated, and not by luck: 1 is outside the interval."""
    return (
        abs(ratio.median - 1) > TOLERANCE
        and ratio.interval is not None
        and not (ratio.interval[0] <= 1 <= ratio.interval[1])
    )


def _per_call(result: RowResult, key: str) -> float:
    """Operations handed over in a call; 0 if not counted."""
    samples = result.rounds.get(CALLS.format(key), [])
    return (samples[0] or {}).get("ops_per_call", 0.0) if samples else 0.0
