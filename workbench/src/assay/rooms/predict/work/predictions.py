"""Predicts every series of a run."""

from collections.abc import Sequence
from typing import NamedTuple

from assay.analyse.growth.predict import Basis, HostsNeeded, Prediction, Reason, hosts_needed, predict
from assay.rooms.predict.work.series import HostSeries


class SeriesPrediction(NamedTuple):
    """What can be said of one series.

    Attributes:
        totals: One for each requested number of hosts.
        needed: How many hosts a rate takes; None if no rate was requested, or one in another unit.
    """

    series: HostSeries
    totals: tuple[Prediction, ...]
    needed: HostsNeeded | None


def predict_series(
    series: Sequence[HostSeries], hosts: Sequence[int], rate: tuple[float, bool] | None
) -> list[SeriesPrediction]:
    """Return the predictions of each series.

    Args:
        series: As `host_series` returns them.
        hosts: Requested numbers of hosts.
        rate: A requested total, and whether it is of operations.
    """
    found = []
    for one in series:
        needed = hosts_needed(_rates(one), rate[0], one.limits) if rate and rate[1] == one.is_counted else None
        found.append(SeriesPrediction(one, tuple(_totals(one, hosts)), needed and _several(one, needed)))
    return found


def _rates(series: HostSeries) -> dict[int, tuple[float, ...]]:
    return {} if series.has_several else series.rates


def _totals(series: HostSeries, hosts: Sequence[int]) -> list[Prediction]:
    """Return the predictions of a series; what was measured is not predicted but returned as it is."""
    if not hosts:
        return []
    found = predict(_rates(series), hosts, series.limits)
    return [_measured(series, one) for one in found]


def _measured(series: HostSeries, found: Prediction) -> Prediction:
    if series.has_several:
        return found._replace(cause=Reason.SEVERAL_RESULTS)
    if found.number not in series.measured:
        return found
    return found._replace(total=series.measured[found.number].total, cause=None, basis=Basis.MEASURED, measure=None)


def _several(series: HostSeries, found: HostsNeeded) -> HostsNeeded:
    return found._replace(cause=Reason.SEVERAL_RESULTS) if series.has_several else found
