"""Tables, for the terminal and for the page."""

from __future__ import annotations

from figures import Rounds, Spread, of_measure
from results import RowResult
from tables import Table, number, with_spread

from agreement.compare import Line, Ratio, Verdict, again, against, compare
from agreement.series import CALLS
from agreement.workloads import Workload

MEASURES = {
    "ops_per_s": "IOPS",
    "mb_per_s": "bandwidth, MB/s",
    "p50_us": "p50 latency, µs",
    "p99_us": "p99 latency, µs",
}
"""What must agree."""
PARTS = {
    "op_us": "time of an operation: depth / IOPS, µs",
    "mean_us": "mean latency, µs",
    "outside_us": "time outside the latency, µs",
    "p50_all_us": "p50 latency and time outside, µs",
    "clat_p50_us": "p50 latency, fio's from issue (clat), µs",
    "cpu_us": "CPU time of an operation, µs",
    "requests_per_op": "requests to the disk per operation",
}
"""What an operation's time consists of."""


def lines(result: RowResult) -> list[Line]:
    """What must agree, as far as it was measured."""
    return [line for measure in MEASURES if (line := compare(result.rounds, measure))]


def percent(share: float | None) -> str:
    """`3.1 %`."""
    return "" if share is None else f"{100 * share:.1f} %"


def of_ratio(found: Ratio) -> str:
    """`1.012 (0.987–1.034)`."""
    if found.interval is None:
        return f"{found.median:.3f}"
    return f"{found.median:.3f} ({found.interval[0]:.3f}–{found.interval[1]:.3f})"


def of_workload(result: RowResult) -> Table:
    """One line per measure: both tools, their ratio, what chance would do, and the verdict."""
    table = [
        [
            "",
            "fio",
            "Assay",
            "Assay / fio",
            "fio / fio",
            "Assay / Assay",
            "by chance",
            "",
        ]
    ]
    for line in lines(result):
        ends = [
            percent(line.same_fio),
            percent(line.same_assay),
            percent(line.chance),
            line.verdict.value,
        ]
        both = [with_spread(line.fio), with_spread(line.assay)]
        table.append([MEASURES[line.measure], *both, of_ratio(line.ratio), *ends])
    return table


def of_parts(result: RowResult) -> Table:
    """What an operation's time consists of, by tool."""
    table = [["", "fio", "Assay", "Assay / fio"]]
    for measure, words in PARTS.items():
        line = None if measure == "outside_us" else compare(result.rounds, measure)
        both = [with_spread(both_runs(result.rounds, tool, measure)) for tool in ("fio", "assay")]
        table.append([words, *both, of_ratio(line.ratio) if line else ""])
    return table


def of_variants(work: Workload, result: RowResult) -> Table:
    """What fio does if it is told to do the same in another way."""
    head = [
        "",
        "IOPS",
        "IOPS / fio above",
        "Assay's / this",
        "p50 latency, µs",
        "p50 / fio above",
        "CPU, µs/op",
    ]
    table = [head]
    for variant in work.variants:
        rate, latency = (against(result.rounds, variant.key, measure) for measure in ("ops_per_s", "p50_us"))
        samples = result.rounds.get(variant.key, [])
        if not rate or not latency:
            continue
        spreads = [with_spread(of_measure(samples, measure)) for measure in ("ops_per_s", "p50_us", "cpu_us")]
        ratios = [of_ratio(found) for found in (*rate, latency[0])]
        table.append(
            [
                variant.label,
                spreads[0],
                ratios[0],
                ratios[1],
                spreads[1],
                ratios[2],
                spreads[2],
            ]
        )
    return table


def of_calls(works: list[tuple[Workload, RowResult]]) -> Table:
    """How operations reach the kernel."""
    table = [
        [
            "",
            "",
            "calls of io_uring_enter per operation",
            "operations handed over in a call",
        ]
    ]
    for work, result in works:
        labels = {"fio": "fio", "assay": "Assay"} | {v.key: v.label for v in work.variants}
        for key, label in labels.items():
            counted = CALLS.format(key)
            if counted in result.absent:
                table.append([work.title, label, f"not counted: {result.absent[counted]}", ""])
                continue
            for sample in filter(None, result.rounds.get(counted, [])):
                table.append(
                    [
                        work.title,
                        label,
                        number(sample["calls_per_op"]),
                        number(sample["ops_per_call"]),
                    ]
                )
    return table


def summary(works: list[tuple[Workload, RowResult]]) -> Table:
    """All lines, short."""
    table = [["", "", "fio", "Assay", "Assay / fio", ""]]
    for work, result in works:
        for line in lines(result):
            both = [number(line.fio.median), number(line.assay.median)]
            table.append(
                [
                    work.title,
                    MEASURES[line.measure],
                    *both,
                    of_ratio(line.ratio),
                    line.verdict.value,
                ]
            )
    return table


def tally(works: list[tuple[Workload, RowResult]]) -> str:
    """How many lines agree."""
    found = [line.verdict for _, result in works for line in lines(result)]
    counts = {verdict: found.count(verdict) for verdict in Verdict if verdict in found}
    parts = [f"{count} {verdict.value}" for verdict, count in counts.items()]
    return f"{len(found)} lines: {'; '.join(parts)}."


def both_runs(rounds: Rounds, tool: str, measure: str) -> Spread | None:
    """Both runs of a tool in each round, all rounds."""
    return of_measure([*rounds.get(tool, []), *rounds.get(again(tool), [])], measure)
