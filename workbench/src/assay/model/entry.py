"""What entries of the catalogue share, and how their figures are read."""

import datetime as dt
from typing import Annotated

from pydantic import BeforeValidator, Field

from assay.model.axis import fault
from assay.model.base import Frozen
from assay.model.units import UnitError, parse_size, parse_throughput

KIB, MIB, GIB, TIB = 2**10, 2**20, 2**30, 2**40


def _size(written: object) -> object:
    try:
        return parse_size(written)
    except UnitError as error:
        raise fault(error.message, error.hint) from None


def _rate(written: object) -> object:
    """Text as people write it; a number is bytes per second already."""
    if not isinstance(written, str):
        return written
    try:
        return parse_throughput(written)
    except UnitError as error:
        raise fault(error.message, error.hint) from None


Size = Annotated[int, BeforeValidator(_size), Field(ge=0)]
Rate = Annotated[float, BeforeValidator(_rate), Field(ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]


class Entry(Frozen):
    """What every entry has.

    Attributes:
        source: Where the figures stand: an address, or a paper and the place in it.
        date: When they held; None if the source, a package with its version, says.
        note: What to know when using them.
    """

    name: str = Field(min_length=1)
    source: str = Field(min_length=1)
    date: dt.date | None = None
    note: str = ""


def mib(rate: float) -> str:
    """Bytes per second in MiB/s, for reading."""
    return f"{rate / MIB:.6g} MiB/s"
