"""What is predicted of sizes of data that were not measured."""

import pytest

from assay.analyse.growth.predict import Prediction, Reason, predict
from assay.analyse.growth.size_shapes import size_shapes

GIB = 1 << 30


def one(rates: dict[int, float], size: int) -> Prediction:
    repeated = {number: [0.99 * rate, rate, 1.01 * rate] for number, rate in rates.items()}
    (found,) = predict(repeated, [size], shapes_of=size_shapes)
    return found


def test_a_rate_that_stays_with_more_data_stays() -> None:
    found = one({GIB: 500.0, 4 * GIB: 505.0, 16 * GIB: 498.0, 64 * GIB: 501.0}, 128 * GIB)
    assert found.cause is None and found.total is not None and found.total.low <= 501 <= found.total.high


def test_a_rate_of_which_a_cache_holds_less_and_less_ends_where_it_holds_nothing() -> None:
    def rate(size: float) -> float:
        return 100 / (1 - 0.9 * min(1.0, 8 / size))

    sizes = (4, 16, 32, 64, 128, 256)
    found = one({size * GIB: rate(size) for size in sizes}, 400 * GIB)
    assert found.total is not None and found.total.low <= rate(400) <= found.total.high


@pytest.mark.parametrize(
    ("rates", "size", "cause"),
    [
        ({GIB: 500.0, 4 * GIB: 500.0}, 8 * GIB, Reason.FEW_COUNTS),
        ({GIB: 500.0, 4 * GIB: 500.0, 16 * GIB: 500.0}, 100 * GIB, Reason.TOO_FAR),
        ({GIB: 2000.0, 4 * GIB: 1990.0, 16 * GIB: 700.0}, 60 * GIB, Reason.CURVES_DISAGREE),
    ],
)
def test_what_cannot_be_said_has_a_reason(rates: dict[int, float], size: int, cause: Reason) -> None:
    assert one(rates, size).cause is cause
