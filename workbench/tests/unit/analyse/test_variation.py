"""How much results vary with the size of a transfer: what was put in is found, as often as the interval says."""

import numpy as np
import pytest
from builders import make_analysis, make_case, make_sample, rated_row
from report_parts import charts_of, tables_of
from scipy.stats import chi2
from soak import times

from assay.analyse.growth.best import best_points
from assay.analyse.growth.variation import pooled_variation, variations
from assay.analyse.statistics.special import chi_square_quantile
from assay.model.result.result import Estimate, ResultRow
from assay.model.result.verdict import Verdict
from assay.report.document import Bullets, plain_text
from assay.report.sections import scaling, variation
from assay.report.view import RunView

KIB, MIB = 1 << 10, 1 << 20
SIZES = (4 * KIB, 64 * KIB, MIB, 8 * MIB)


def row(size: int, hosts: int, rates: list[float], target: str = "store", verdict: Verdict = Verdict.OK) -> ResultRow:
    settings = {"hosts": hosts, "record_size": size, "file_size": 64 * MIB}
    axes: dict[str, object] = {"hosts": hosts, "record_size": size}
    case = make_case(f"{target}{size}-{hosts}", target, ("write",), axes=axes, **settings)
    known = Estimate(median=float(np.median(rates)), low=min(rates), high=max(rates), n=len(rates), spread=0.1)
    samples = [make_sample(case.id, repeat, rate) for repeat, rate in enumerate(rates, 1)]
    return rated_row(case, known, samples, verdict)


def measured(seed: int = 1, repeats: int = 6) -> list[ResultRow]:
    """Of small transfers repeats vary by 20 % and the total grows with the hosts; of large ones by 2 %; it is level."""
    random = np.random.default_rng(seed)
    found = []
    for size in SIZES:
        for hosts in (1, 2, 4):
            small = size < MIB
            rate = 1e7 * hosts if small else 1e8
            found.append(row(size, hosts, list(rate * np.exp(random.normal(0, 0.2 if small else 0.02, repeats)))))
    return found


@pytest.mark.parametrize("freedom", [1, 2, 3, 7, 40, 500])
@pytest.mark.parametrize("share", [0.001, 0.025, 0.5, 0.975, 0.999])
def test_chi_square_is_that_of_scipy(freedom: int, share: float) -> None:
    assert chi_square_quantile(freedom, share) == pytest.approx(chi2.ppf(share, freedom), rel=1e-6)


@pytest.mark.parametrize("deviation", [0.01, 0.1, 0.4])
@pytest.mark.parametrize("repeats", [3, 8])
def test_intervals_hold_what_was_put_in(deviation: float, repeats: int) -> None:
    random = np.random.default_rng(2)
    true = float(np.sqrt(np.expm1(deviation**2)))
    tries = times(300, 3000)
    held = []
    for _ in range(tries):
        groups = [list(rate * np.exp(random.normal(0, deviation, repeats))) for rate in (1.0, 50.0, 3.0)]
        found = pooled_variation(groups)
        assert found is not None
        held.append(found.low <= true <= found.high)
    # Three standard errors of the share around 95 %.
    assert abs(np.mean(held) - 0.95) <= 3 * np.sqrt(0.95 * 0.05 / tries)


def test_small_transfers_vary_more_where_they_do() -> None:
    (found,) = variations(measured())
    assert [item.size for item in found.sizes] == list(SIZES)
    assert found.small is not None and found.large is not None
    assert found.small.low < 0.202 < found.small.high and found.large.low < 0.02 < found.large.high
    said = plain_text(variation.variation_sentence(found) or "")
    assert said.startswith("Write, store, grid: repeats vary by ") and said.endswith("; small transfers vary more.")


def test_the_numbers_of_hosts_are_apart_from_the_repeats() -> None:
    (found,) = variations(measured())
    small, *_, large = found.sizes
    # 1, 2 and 4 times as much: a deviation of 1.53 from a mean of 2.33.
    assert small.hosts == pytest.approx(0.65, abs=0.15)
    assert large.hosts is not None and large.hosts < 0.05


def test_what_cannot_be_told_apart_is_said_to_be_so() -> None:
    random = np.random.default_rng(3)
    rows = [row(size, 1, list(1e8 * np.exp(random.normal(0, 0.1, 3)))) for size in SIZES]
    (found,) = variations(rows)
    assert plain_text(variation.variation_sentence(found) or "").endswith("; no clear difference.")


def test_few_sizes_single_repeats_and_what_says_nothing_are_left_out() -> None:
    assert variations([one for one in measured() if one.case.axes["record_size"] != MIB][:6]) == []
    cached = [row(size, 1, [1.0, 2.0, 3.0], verdict=Verdict.CACHED) for size in SIZES]
    assert variations(cached) == []
    assert pooled_variation([[1.0], [2.0]]) is None and pooled_variation([[1.0, 0.0]]) is None
    single = [row(size, 1, [1e8]) for size in SIZES]
    assert not list(variation.folds(view(single)))


def view(rows: list[ResultRow]) -> RunView:
    cases = tuple(one.case for one in rows)
    return RunView(make_analysis().model_copy(update={"rows": tuple(rows), "cases": cases}))


def test_the_report_has_charts_and_sentences() -> None:
    (found,) = variation.folds(view(measured()))
    assert [item.id for item in charts_of([found])] == ["variation-write", "variation-hosts-write"]
    assert any(isinstance(block, Bullets) for block in found.blocks)


def test_the_best_of_each_number_is_found_over_all_other_axes() -> None:
    rows = measured()
    found = best_points(rows, "hosts")
    assert [item.number for item in found] == [1, 2, 4]
    for item in found:
        same = [one for one in rows if one.case.axes["hosts"] == item.number and one.rate]
        assert item.point_count == len(SIZES) == len(same)
        assert item.rate == max(one.rate.median for one in same if one.rate)
    section = scaling.section(view(rows))
    assert section is not None
    assert len(tables_of(section)["best-table"].rows) == 3
    one_size = [one for one in rows if one.case.axes["record_size"] == MIB]
    assert best_points(one_size, "hosts") == []
