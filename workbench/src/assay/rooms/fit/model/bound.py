"""A bound of a latency, as users write it: `p99<2ms`."""

import re
from typing import NamedTuple

from assay.model.base import AssayError
from assay.model.units import UnitError, about_latency, about_number, display_value, parse_duration

_FORM = re.compile(r"\s*(?P<name>[A-Za-z0-9.]+)\s*(?P<sign><=?|>=?|=|≤)\s*(?P<limit>.*?)\s*")
_PERCENTILE = re.compile(r"p(?P<percent>[0-9]{1,2}(?:\.[0-9]{1,3})?)")
_EXAMPLE = 'write it as "p99<2ms", with quotes for the shell'


class LatencyBound(NamedTuple):
    """An upper bound of a latency percentile.

    Attributes:
        percent: The percentile, above 0 and below 100.
        limit_ns: The bound in nanoseconds.
    """

    percent: float
    limit_ns: int

    @property
    def name(self) -> str:
        """Name of the percentile, such as `p99`."""
        return f"p{about_number(self.percent, 5)}"

    @property
    def allowed_share(self) -> float:
        """Share of the operations that may take longer."""
        return 1 - self.percent / 100

    def __str__(self) -> str:
        """Return the bound for people: `p99 < 2 ms`."""
        return f"{self.name} < {about_latency(self.limit_ns)}"


def parse_percent(name: str) -> float:
    """Read `p99` or `p99.9` as a percentile.

    Raises:
        AssayError: It is none, or one that no number of operations can show.
    """
    if name == "max":
        message = "no measurement shows that an operation never takes longer"
        raise AssayError(f"max cannot be held for certain: {message}", "write p99.9 or p99.99 instead")
    found = _PERCENTILE.fullmatch(name)
    percent = float(found["percent"]) if found else 0.0
    if not percent:
        raise AssayError(f"{display_value(name)} is not a percentile", "write p50, p95, p99 or p99.9")
    return percent


def parse_latency_bound(text: str) -> LatencyBound:
    """Read `p99<2ms`.

    Raises:
        AssayError: It has another form, an unknown percentile, or a latency without unit.
    """
    found = _FORM.fullmatch(text)
    if found is None:
        raise AssayError(f"{display_value(text)} is not a bound of a latency", _EXAMPLE)
    if found["sign"] not in ("<", "<=", "≤"):
        raise AssayError(f"{display_value(text)}: a bound of a latency is an upper one", _EXAMPLE)
    percent = parse_percent(found["name"])
    try:
        limit = parse_duration(found["limit"])
    except UnitError as error:
        raise AssayError(f"{display_value(text)}: {error.message}", error.hint) from None
    if limit < 1:
        raise AssayError(f"{display_value(text)}: the latency is not above 0", _EXAMPLE)
    return LatencyBound(percent, limit)
