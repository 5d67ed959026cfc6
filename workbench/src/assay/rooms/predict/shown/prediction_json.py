"""Predictions for programs."""

from collections.abc import Sequence
from typing import Any

from assay.analyse.growth.known_limits import KnownLimit
from assay.analyse.growth.predict import HostsNeeded, Prediction
from assay.analyse.growth.totals import Range
from assay.rooms.predict.work.predictions import SeriesPrediction
from assay.rooms.predict.work.series import Series


def prediction_json(run: str, totals: Sequence[SeriesPrediction], sizes: Sequence[SeriesPrediction]) -> dict[str, Any]:
    """Return predictions by hosts and by size of data; rates are in `unit`, numbers without a value are None."""
    return {"run": run, "hosts": [_by_hosts(one) for one in totals], "sizes": [_by_size(one) for one in sizes]}


def _common(series: Series, number: str) -> dict[str, Any]:
    return {
        "target": series.target,
        "workload": series.workload,
        "operation": series.operation,
        "axes": dict(series.others),
        "unit": "operations/s" if series.is_counted else "bytes/s",
        "measured": [
            {number: count, "value": value, "low": low, "high": high, "repeats": len(series.rates[count])}
            for count, (value, low, high) in sorted(series.measured.items())
        ],
        "limits": [
            {"name": limit.name, "value": limit.value, "of_each_host": limit.grows, "how": limit.how}
            for limit in series.limits
        ],
    }


def _by_size(found: SeriesPrediction) -> dict[str, Any]:
    return {
        **_common(found.series, "size"),
        "size_unit": found.series.unit,
        "maybe_cached": found.series.unusable,
        "prediction": _total(found.rates[0], "size"),
    }


def _by_hosts(found: SeriesPrediction) -> dict[str, Any]:
    return {
        **_common(found.series, "hosts"),
        "totals": [_total(item, "hosts") for item in found.rates],
        "hosts_needed": found.needed and _needed(found.needed),
    }


def _total(found: Prediction, number: str) -> dict[str, Any]:
    return {
        number: found.number,
        "is_answer": found.is_answer,
        **_range(found.total),
        "basis": found.basis,
        "limit": _limit(found.limit, found.number),
        "reason": found.cause,
        "measure": found.measure,
    }


def _needed(found: HostsNeeded) -> dict[str, Any]:
    return {
        "rate": found.rate,
        "is_answer": found.cause is None,
        "is_out_of_reach": found.is_out_of_reach,
        "hosts": found.likely,
        "fewest": found.fewest,
        "enough": found.enough,
        "limit": _limit(found.limit, found.farthest),
        "highest": found.highest,
        "most_hosts": found.farthest,
        "reason": found.cause,
    }


def _range(total: Range | None) -> dict[str, float | None]:
    return dict(zip(("value", "low", "high"), total or (None, None, None), strict=True))


def _limit(limit: KnownLimit | None, hosts: int) -> dict[str, Any] | None:
    return limit and {"name": limit.name, "value": limit.at(hosts), "how": limit.how}
