"""Predicts each series of a run."""

from collections.abc import Sequence
from typing import NamedTuple

from assay.analyse.growth.predict import MIN_POINTS, Basis, HostsNeeded, Prediction, Reason, hosts_needed, predict
from assay.analyse.growth.shapes import shapes
from assay.analyse.growth.size_shapes import size_shapes
from assay.rooms.predict.work.series import Series


class SeriesPrediction(NamedTuple):
    """What can be said of one series.

    Attributes:
        rates: One for each requested number of hosts, or size of data.
        needed: How many hosts a rate takes; None if no rate was requested, or one in another unit.
    """

    series: Series
    rates: tuple[Prediction, ...]
    needed: HostsNeeded | None = None


def predict_series(
    series: Sequence[Series], numbers: Sequence[int], rate: tuple[float, bool] | None = None
) -> list[SeriesPrediction]:
    """Return the predictions of each series.

    Args:
        series: All by number of hosts, or all by size.
        numbers: Requested numbers of hosts, or sizes in the unit of the series.
        rate: A requested total of hosts, and whether it is of operations.
    """
    found = []
    for one in series:
        needed = _needed(one, rate[0]) if rate and rate[1] == one.is_counted else None
        found.append(SeriesPrediction(one, tuple(_rates(one, numbers)), needed))
    return found


def _rates(series: Series, numbers: Sequence[int]) -> list[Prediction]:
    """Return the prediction for each number; what was measured is not predicted but returned as it is."""
    if series.has_several:
        return [Prediction(number, None, Reason.SEVERAL_RESULTS, None) for number in numbers]
    unknown = [number for number in numbers if number not in series.measured]
    found = {number: Prediction(number, rate.total, None, Basis.MEASURED) for number, rate in series.measured.items()}
    if series.unit != "hosts" and len(series.rates) < MIN_POINTS and series.unusable:
        found |= {number: Prediction(number, None, Reason.MAYBE_CACHED, None) for number in unknown}
    elif unknown:
        curves = shapes if series.unit == "hosts" else size_shapes
        predicted = predict(series.rates, unknown, series.limits, shapes_of=curves)
        found |= dict(zip(unknown, predicted, strict=True))
    return [found[number] for number in numbers]


def _needed(series: Series, rate: float) -> HostsNeeded:
    found = hosts_needed({} if series.has_several else series.rates, rate, series.limits)
    return found._replace(cause=Reason.SEVERAL_RESULTS) if series.has_several else found
