"""What is predicted of host counts that were not measured, and when the answer is no."""

import numpy as np
import pytest

from assay.analyse.growth.known_limits import KnownLimit
from assay.analyse.growth.predict import MAX_WIDTH, Basis, Prediction, Reason, hosts_needed, predict, to_measure

HOSTS = (1, 2, 4, 8)
FLAT = {1: 100.0, 2: 200.0, 4: 350.0, 6: 352.0, 8: 351.0}
SERVER = KnownLimit("server link", 360.0, False, "iperf3")
CLIENTS = KnownLimit("client link", 104.0, True, "iperf3")

Totals = dict[int, list[float]]


def repeated(totals: dict[int, float], spread: float = 0.01) -> Totals:
    """Three repeats of each total, of which two differ by a share."""
    return {count: [total * (1 - spread), total, total * (1 + spread)] for count, total in totals.items()}


def straight(hosts: tuple[int, ...] = HOSTS) -> Totals:
    return repeated({count: 100.0 * count for count in hosts})


def one(rates: Totals, count: int, *limits: KnownLimit) -> Prediction:
    (found,) = predict(rates, [count], limits)
    return found


def test_a_total_that_has_stopped_growing_stays() -> None:
    found = one(repeated(FLAT), 16)
    assert found.cause is None and found.basis is Basis.LEVEL and found.total is not None
    assert found.total.low <= 351 <= found.total.high and found.width <= MAX_WIDTH


def test_between_measured_numbers_a_total_is_known_well() -> None:
    found = one(straight(), 6)
    assert found.cause is None and found.basis is Basis.CURVE and found.width < 0.1
    assert found.total is not None and found.total.low <= 600 <= found.total.high


def test_how_far_a_total_that_still_grows_will_grow_is_not_known() -> None:
    found = one(straight(), 24)
    assert found.cause is Reason.STILL_GROWS and found.width > MAX_WIDTH
    # Between what was measured and a straight line.
    assert found.total is not None and found.total.low >= 700 and found.total.high <= 2600
    assert found.measure == to_measure(straight(), 24) == 16


def test_a_known_limit_cuts_totals_off() -> None:
    rates = repeated({1: 100.0, 2: 200.0, 3: 300.0, 4: 352.0})
    assert one(rates, 8).cause is Reason.CURVES_DISAGREE
    found = one(rates, 8, SERVER)
    assert found.cause is None and found.basis is Basis.LIMIT and found.limit is SERVER
    assert found.total is not None and found.total.high <= 360


def test_a_limit_of_each_host_grows_with_their_number() -> None:
    found = one(straight(), 10, CLIENTS)
    assert found.limit is CLIENTS and found.total is not None and found.total.high <= 1040
    # What was measured came within 4 % of the limit, so that more hosts do, too.
    assert found.basis is Basis.LIMIT and found.total.value > 990


@pytest.mark.parametrize(
    ("rates", "count", "cause"),
    [
        ({}, 4, Reason.FEW_COUNTS),
        (straight((1, 8)), 4, Reason.FEW_COUNTS),
        ({**straight(), 4: [0.0, 1.0]}, 6, Reason.NO_RATE),
        ({**straight(), 4: []}, 6, Reason.NO_RATE),
        (straight(), 33, Reason.TOO_FAR),
        (straight((16, 32, 64)), 3, Reason.TOO_FAR),
        (repeated(FLAT, 0.4), 12, Reason.NOISY),
        (repeated({1: 1.0, 2: 8.0, 4: 1.0, 8: 8.0}), 12, Reason.NO_CURVE_FITS),
        # No curve grows faster than the number of hosts.
        (repeated({count: float(count) ** 2 for count in HOSTS}), 12, Reason.NO_CURVE_FITS),
    ],
)
def test_what_cannot_be_said_has_a_reason(rates: Totals, count: int, cause: Reason) -> None:
    assert one(rates, count).cause is cause


def test_predictions_are_in_the_unit_of_the_rates_and_always_the_same() -> None:
    rates = repeated(FLAT)
    larger = {count: [1e6 * rate for rate in several] for count, several in rates.items()}
    limit = SERVER._replace(value=1e6 * SERVER.value)
    for first, second in zip(predict(rates, [6, 12], [SERVER]), predict(larger, [6, 12], [limit]), strict=True):
        assert first.total is not None and second.total is not None
        assert np.array(second.total) == pytest.approx(1e6 * np.array(first.total))
    assert predict(rates, [12]) == predict(rates, [12])


def test_a_falling_total_is_not_predicted_to_rise() -> None:
    found = one(repeated({1: 100.0, 2: 180.0, 4: 260.0, 8: 210.0}), 12)
    assert found.total is not None and found.total.value < 210


def test_a_rate_between_measured_totals_takes_a_known_number_of_hosts() -> None:
    found = hosts_needed(straight(), 550.0)
    assert found.cause is None and found.fewest in (5, 6) and found.enough == 6


def test_a_rate_beyond_a_known_limit_is_out_of_reach() -> None:
    found = hosts_needed(repeated(FLAT), 500.0, [SERVER])
    assert found.is_out_of_reach and found.limit is SERVER and found.highest <= 360


def test_a_rate_that_a_level_total_does_not_reach_is_out_of_reach() -> None:
    found = hosts_needed(repeated({**FLAT, 12: 351.0, 16: 350.0}), 600.0)
    assert found.is_out_of_reach and found.limit is None and 351 <= found.highest < 450


def test_whether_a_growing_total_reaches_a_rate_is_not_known() -> None:
    found = hosts_needed(straight(), 2000.0)
    assert found.cause is Reason.STILL_GROWS and found.fewest is not None and found.fewest >= 18
    assert found.enough is None


def test_no_rate_is_reached_without_totals() -> None:
    assert hosts_needed({}, 100.0).cause is Reason.FEW_COUNTS
