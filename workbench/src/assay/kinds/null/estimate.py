"""Speed of the null target, from its script."""

import math

from assay.kinds.null.study import ExponentialLatency, FixedLatency, NullTarget, UniformLatency
from assay.model.study.speed import Speed

OPERATION_SECONDS = 1e-6
"""Seconds of an operation that ends immediately."""


def speed(target: NullTarget) -> Speed:
    """See `Target.speed`."""
    each = max(_scripted_seconds(target), OPERATION_SECONDS)
    return Speed(math.inf, each, each, math.inf, "")


def _scripted_seconds(target: NullTarget) -> float:
    match target.latency:
        case FixedLatency():
            return target.latency.time / 1e9
        case UniformLatency():
            return (target.latency.min + target.latency.max) / 2e9
        case ExponentialLatency():
            return target.latency.mean / 1e9
    return 0.0
