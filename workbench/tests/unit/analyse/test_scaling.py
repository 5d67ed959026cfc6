"""How a total grows with the hosts, where it stops, and the words for it."""

from collections.abc import Sequence

import numpy as np
import pytest
from builders import make_analysis, make_case, make_estimate, make_sample, rated_row
from hypothesis import given
from hypothesis import strategies as st
from report_parts import tables_of
from soak import times

from assay.analyse import hosts
from assay.analyse.scaling import PLATEAU_SHARE, scalings
from assay.model.result.ceiling import CeilingShare
from assay.model.result.result import Estimate, ResultRow, RunAnalysis
from assay.model.result.sample import HostShare
from assay.model.result.verdict import Verdict
from assay.model.study.growth import GROWING_AXES, work_scaling
from assay.report.document import Bullets, Fold, Section, Table
from assay.report.sections import hosts as hosts_section
from assay.report.sections.scaling import section
from assay.report.view import RunView

MB = 1e6


def row(
    count: int,
    rate: float | None,
    verdict: Verdict = Verdict.OK,
    share: float | None = None,
    operation: str = "read",
    **axes: object,
) -> ResultRow:
    case = make_case(f"c{count:04d}", "store", (operation,), axes={**axes, "hosts": count})
    known = make_estimate(rate) if rate is not None else None
    binding = CeilingShare(
        name="server link", unit="bytes/s", value=(rate or 1) / (share or 1), measured=rate or 0, share=share or 0,
        how="iperf3, 1 s",
    )  # fmt: skip
    ceilings = (binding,) if share is not None else ()
    return rated_row(case, known, samples(case.id, count, rate or 1.0), verdict, ceilings)


def samples(case: str, count: int, rate: float) -> list:  # type: ignore[type-arg]
    """Three repeats of hosts, of which the last one is slower than the first by a tenth."""
    found = []
    for repeat in (1, 2, 3):
        shares = tuple(
            HostShare(
                host=f"h{number}",
                status="done",
                bytes=1000 * number,
                elapsed_ns=10**9,
                throughput=rate / count * (1.05 - 0.1 * (number - 1) / max(1, count - 1)),
                iops=7.0 * number,
                latency={"p50": 1000.0, "p99": 5000.0},
                stonewall_bytes=900 * number,
                cpu_ns=5 * 10**8,
            )
            for number in range(1, count + 1)
        )
        found.append(
            make_sample(
                case, repeat, rate, hosts=shares, skew_ns=repeat * 100_000, clock_uncertainty_ns=repeat * 10_000
            )
        )
    return found


def rows(rates: Sequence[float | None], share: float | None = None) -> list[ResultRow]:
    """With 1, 2, 4, 8, ... hosts."""
    return [row(2**place, rate, share=share) for place, rate in enumerate(rates)]


def test_a_plateau_begins_where_the_rest_adds_nothing_that_counts() -> None:
    (found,) = scalings(rows([30 * MB, 60 * MB, 115 * MB, 118 * MB], share=0.97))
    assert found.saturated is not None
    assert (found.saturated.number, found.saturated.rate) == (4, 115 * MB)
    assert found.binding is not None and found.binding.name == "server link"
    assert [point.number for point in found.points] == [1, 2, 4, 8]
    assert found.points[-1].efficiency == pytest.approx(118 / 240)


def test_a_total_that_still_grows_has_no_plateau_and_binds_at_the_most_hosts() -> None:
    (found,) = scalings(rows([30 * MB, 60 * MB, 120 * MB], share=0.5))
    assert found.saturated is None and found.binding is None
    (near,) = scalings(rows([30 * MB, 60 * MB, 120 * MB], share=0.85))
    assert near.binding is not None


def test_a_dip_at_the_end_is_no_plateau() -> None:
    (found,) = scalings(rows([30 * MB, 60 * MB, 120 * MB, 80 * MB]))
    assert found.saturated is None and found.greatest.number == 4
    (level,) = scalings(rows([120 * MB, 119 * MB, 118 * MB]))
    assert level.saturated is not None and level.saturated.number == 1


@pytest.mark.parametrize("rates", [[], [30 * MB], [30 * MB, 60 * MB], [30 * MB, None, 60 * MB]])
def test_less_than_three_numbers_of_hosts_say_nothing(rates: list[float | None]) -> None:
    assert scalings(rows(rates)) == []


@pytest.mark.parametrize("verdict", [Verdict.CACHED, Verdict.IMPOSSIBLE, Verdict.INCOMPLETE])
def test_results_that_say_nothing_of_the_store_are_left_out(verdict: Verdict) -> None:
    good = rows([30 * MB, 60 * MB, 90 * MB])
    (found,) = scalings([*good, row(16, 900 * MB, verdict)])
    assert [point.number for point in found.points] == [1, 2, 4]
    assert scalings([*good[:2], row(4, 90 * MB, verdict)]) == []


def test_those_that_are_only_limited_are_kept() -> None:
    limited = [row(2**place, 90 * MB, Verdict.NETWORK_BOUND) for place in range(3)]
    assert len(scalings(limited)) == 1


def test_other_axes_operations_and_targets_are_apart_but_streams_go_with_the_hosts() -> None:
    several = [row(count, count * MB, record_size=size) for size in (4096, 65536) for count in (1, 2, 3)]
    found = scalings(several)
    assert [dict(item.others) for item in found] == [{"record_size": 4096}, {"record_size": 65536}]
    (streams,) = scalings([row(count, count * MB, streams=count) for count in (1, 2, 3)])
    assert streams.others == ()
    assert scalings([row(count, count * MB, streams=count + extra) for count in (1, 2, 3) for extra in (0, 9)]) == []
    (names,) = scalings([row(count, 500.0 * count, operation="stat") for count in (1, 2, 3)])
    assert names.points[-1].rate == 1500.0


@given(st.lists(st.floats(1e3, 1e10), min_size=3, max_size=8), st.randoms())
def test_what_is_called_a_plateau_is_one(rates: list[float], chance: object) -> None:
    every = rows(rates)
    chance.shuffle(every)  # type: ignore[attr-defined]
    (found,) = scalings(every)
    assert [point.number for point in found.points] == [2**place for place in range(len(rates))]
    assert found.points[0].efficiency == pytest.approx(1.0)
    if found.saturated is not None:
        after = [point.rate for point in found.points if point.number >= found.saturated.number]
        assert len(after) > 1 and min(after) >= PLATEAU_SHARE * max(rates)
        before = [point for point in found.points if point.number < found.saturated.number]
        assert not before or before[-1].rate < PLATEAU_SHARE * max(rates)
    else:
        assert min(rates[-2:]) < PLATEAU_SHARE * max(rates)


def test_the_summary_has_the_slowest_host_and_the_skew_as_medians() -> None:
    found = hosts.summary(row(4, 100 * MB))
    assert found is not None
    assert (found.host_count, found.min_transferred_bytes) == (4, 900)
    assert (found.min_rate, found.mean_rate, found.max_rate) == pytest.approx((25 * 0.95 * MB, 25 * MB, 25 * 1.05 * MB))
    assert (found.skew_ns, found.uncertainty_ns) == (200_000, 20_000)
    assert [line.host for line in hosts.lines(row(4, 100 * MB))] == ["h1", "h2", "h3", "h4"]
    (first, *_) = hosts.lines(row(4, 100 * MB))
    assert (first.bytes, first.stonewall_bytes, first.cpu_share, first.repeats) == (1000, 900, 0.5, 3)


def test_a_repeat_that_a_host_did_not_end_does_not_count() -> None:
    whole = row(2, 100 * MB)
    broken = whole.samples[0].hosts[0].model_copy(update={"status": "crashed", "throughput": 0.0})
    sample = whole.samples[0].model_copy(update={"hosts": (broken, whole.samples[0].hosts[1])})
    found = hosts.lines(whole.model_copy(update={"samples": (sample, *whole.samples[1:])}))
    assert [line.repeats for line in found] == [2, 2]
    alone = whole.model_copy(update={"samples": (sample,)})
    assert hosts.summary(alone) is None and hosts.lines(alone) == []


def report(every: list[ResultRow]) -> Section | None:
    analysis: RunAnalysis = make_analysis()
    cases = tuple(one.case for one in every)
    return section(RunView(analysis.model_copy(update={"rows": tuple(every), "cases": cases})))


def said(found: Section) -> list[str]:
    """The sentences, without the first one, which says what kind of scaling it is."""
    _, *sentences = [
        "".join(getattr(part, "text", str(part)) for part in item)
        for block in found.blocks
        if isinstance(block, Bullets)
        for item in block.items
    ]
    return sentences


def test_the_report_says_where_it_stops_and_what_binds() -> None:
    found = report(rows([30 * MB, 60 * MB, 115 * MB, 118 * MB], share=0.97))
    assert found is not None
    sentence, bend, law = said(found)
    assert sentence == (
        "Read, store: 1 host alone reaches 30.0 MB/s (97 % of the ceiling server link). The total grows up to 4 hosts "
        "and stops at 115 MB/s; more add nothing. The limit there is the ceiling server link (97 % of it; iperf3, 1 "
        "s)."
    )
    # Repeats of these rows are all alike, so that nothing is left to chance.
    assert bend == (
        "Read, store, bend: sharply, with 3.88 hosts (3.88 to 3.88): up to this number each adds as much"
        " as the first; more add nothing."
    )
    assert law == (
        "Read, store, by the universal scalability law: it does not describe the total, which is up to 12 % off its"
        " curve, more than repeats vary. So its parameters are not shown."
    )


def test_one_repeat_of_each_leaves_open_how_it_grows() -> None:
    once = [one.model_copy(update={"samples": one.samples[:1]}) for one in rows([30 * MB, 28 * MB, 29 * MB])]
    found = report(once)
    assert found is not None
    sentence = said(found)[0]
    assert sentence == (
        "Read, store: 1 host alone reaches 30.0 MB/s; 4 reach 29.0 MB/s."
        " One repeat is too few to say how the total grows."
    )


def test_the_report_says_that_it_grows_and_that_nothing_known_binds() -> None:
    found = report(rows([30 * MB, 58 * MB, 108 * MB]))
    assert found is not None
    sentence, bend = said(found)
    assert bend.endswith("no significant bend up to 4 hosts.")
    assert "4 reach 108 MB/s, 90 % of 4 times as much. The total still grows there." in sentence
    assert sentence.endswith("No known ceiling is near: the limit is the storage, or something that was not measured.")


def with_repeats(rates: Sequence[float], share: float | None = None) -> list[ResultRow]:
    """With 1, 2, 4, ... hosts; three repeats of each, 2 % from each other."""
    found = []
    for one in rows(rates, share):
        assert one.throughput is not None
        every = [one.throughput.median * factor for factor in (0.98, 1.0, 1.02)]
        several = zip(one.samples, every, strict=True)
        samples = tuple(sample.model_copy(update={"throughput": rate}) for sample, rate in several)
        found.append(one.model_copy(update={"samples": samples}))
    return found


def test_the_law_tells_a_peak_only_where_nothing_else_stops_the_total() -> None:
    grows = [30 * MB * n / (1 + 0.02 * (n - 1) + 0.01 * n * (n - 1)) for n in (1, 2, 4, 8)]
    free, stopped = report(with_repeats(grows)), report(with_repeats(grows, share=0.9))
    assert free is not None and stopped is not None
    law = said(free)[2]
    assert law.startswith("Read, store, by the universal scalability law: a host alone 30.0 (")
    assert " MB/s), contention 2.0 % (" in law and "coherency 1.0 % (" in law
    assert "of the curve. The total is greatest with about 10 hosts (" in law
    assert law.endswith("), beyond the largest number measured, 8.")
    assert said(stopped)[2].endswith("of the curve. No peak up to 8 hosts.")
    seen = report(with_repeats([30 * MB * n / (1 + 0.05 * n * (n - 1)) for n in (1, 2, 4, 8)], share=0.9))
    assert seen is not None
    assert "The total is greatest with about 4 hosts (4 to 5)." in said(seen)[2]


def test_the_report_says_that_it_falls_again_or_never_grew() -> None:
    falls = report(rows([30 * MB, 60 * MB, 120 * MB, 80 * MB], share=0.9))
    level = report(rows([120 * MB, 119 * MB, 118 * MB]))
    assert falls is not None and level is not None
    assert ". The total is greatest with 4 hosts, 120 MB/s; 8 reach only 80.0 MB/s. The limit there" in said(falls)[0]
    assert ": 1 host alone reaches 120 MB/s; more add nothing. No known" in said(level)[0]


def test_the_report_has_a_line_for_each_result_and_each_host() -> None:
    every = rows([30 * MB, 60 * MB])
    assert report(every) is None
    analysis = make_analysis().model_copy(update={"rows": tuple(every), "cases": tuple(one.case for one in every)})
    found = hosts_section.section(RunView(analysis))
    assert found is not None
    (total,) = [block for block in found.blocks if isinstance(block, Table)]
    (fold,) = [block for block in found.blocks if isinstance(block, Fold)]
    (each,) = [block for block in fold.blocks if isinstance(block, Table)]
    assert (len(total.rows), len(each.rows)) == (2, 3)


def test_without_hosts_there_is_no_section() -> None:
    assert section(RunView(make_analysis())) is None
    assert hosts_section.section(RunView(make_analysis())) is None


def grown(axis: str, numbers: Sequence[int], work: str, runtime: int | None = None) -> list[ResultRow]:
    """Of 30 MB/s each up to three of them; work is 64 MiB of each, or of all."""
    found = []
    for number in numbers:
        size = 64 << 20 if work == "weak" else (64 << 20) // number
        settings = {axis: number, "file_size": size, "record_size": 1 << 20, "runtime": runtime}
        case = make_case(f"c{number}", "store", ("read",), axes={axis: number}, **settings)
        rate = 30 * MB * min(number, 3)
        samples = [
            make_sample(case.id, repeat, rate * factor, elapsed_ns=int(size * number / rate / factor * 1e9))
            for repeat, factor in enumerate((0.98, 1.0, 1.02), 1)
        ]
        known = Estimate(median=rate, low=rate * 0.95, high=rate * 1.05, n=3, spread=0.02)
        found.append(
            row(number, rate).model_copy(update={"case": case, "samples": tuple(samples), "throughput": known})
        )
    return found


@pytest.mark.parametrize("axis", ["hosts", "lanes"])
@pytest.mark.parametrize("work", ["weak", "strong"])
def test_weak_and_strong_are_told_from_the_amounts(axis: str, work: str) -> None:
    (found,) = scalings(grown(axis, (1, 2, 4, 8), work), GROWING_AXES)
    assert (found.axis, found.work) == (axis, work)
    assert [point.efficiency for point in found.points] == pytest.approx([1, 1, 3 / 4, 3 / 8])
    first, *_, last = found.points
    assert (
        first.efficiency_interval == (1.0, 1.0)
        and last.efficiency_interval is not None
        and last.efficiency_interval[0] < 3 / 8 < last.efficiency_interval[1]
    )
    assert first.seconds == pytest.approx((64 << 20) / 30e6, rel=1e-6)
    # Eight do the whole of one in a third of its time, or eight times as much in eight thirds of it.
    assert last.seconds == pytest.approx(first.seconds * (8 / 3 if work == "weak" else 1 / 3), rel=1e-6)


def test_the_tasks_of_a_command_are_its_work() -> None:
    def with_tasks(tasks: dict[int, int]) -> str:
        cases = {hosts: make_case("c1", "disk", ("run",), hosts=hosts, tasks=count) for hosts, count in tasks.items()}
        return work_scaling({hosts: case.parameters for hosts, case in cases.items()})

    assert (with_tasks({1: 4, 4: 4}), with_tasks({1: 4, 4: 16}), with_tasks({1: 4, 4: 6})) == ("strong", "weak", "")


def test_a_phase_of_fixed_length_has_no_time_to_compare() -> None:
    (found,) = scalings(grown("hosts", (1, 2, 4), "weak", runtime=10**9))
    assert [point.seconds for point in found.points] == [None] * 3


def test_what_is_neither_weak_nor_strong_is_said() -> None:
    rows = grown("hosts", (1, 2), "strong") + grown("hosts", (4, 8), "weak")
    (found,) = scalings(rows)
    assert found.work == ""


def test_lanes_are_shown_but_only_hosts_are_an_answer() -> None:
    rows = grown("lanes", (1, 2, 4, 8), "weak")
    assert scalings(rows) == [] and len(scalings(rows, GROWING_AXES)) == 1
    found = report(rows)
    assert found is not None
    sentence, bend, _law = said(found)
    assert sentence.startswith("Read, store: 1 thread alone reaches 30.0 MB/s.")
    assert bend.startswith("Read, store, bend: sharply, with 3 threads (")
    (table,) = tables_of(found).values()
    assert [line[1].text for line in table.rows] == ["1 thread", "2 threads", "4 threads", "8 threads"]  # type: ignore[union-attr]


def test_intervals_of_efficiency_hold_what_was_put_in() -> None:
    random = np.random.default_rng(5)
    held, tries = [], times(100, 1000)
    for _ in range(tries):
        found = []
        for number, true in ((1, 1.0), (2, 1.8), (4, 2.8)):
            rates = 30 * MB * true * np.exp(random.normal(0, 0.05, 4))
            one = row(number, float(np.median(rates)))
            samples = tuple(make_sample(one.case.id, place, rate) for place, rate in enumerate(rates, 1))
            found.append(one.model_copy(update={"samples": samples}))
        (scaling,) = scalings(found)
        for point, true in zip(scaling.points[1:], (0.9, 0.7), strict=True):
            assert point.efficiency_interval is not None
            held.append(point.efficiency_interval[0] <= true <= point.efficiency_interval[1])
    # The interval is about the mean of logarithms, the value is a ratio of medians, which differ a little.
    assert np.mean(held) >= 0.9
