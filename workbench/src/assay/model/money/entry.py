"""What entries of the catalogue share, and how their figures are read."""

import datetime as dt
from typing import Annotated

from pydantic import BeforeValidator, Field

from assay.model.frozen import Frozen
from assay.model.study.axis import reading
from assay.model.units import parse_size, parse_throughput

KIB, MIB, GIB, TIB = 2**10, 2**20, 2**30, 2**40


Size = Annotated[int, BeforeValidator(reading(parse_size)), Field(ge=0)]
Rate = Annotated[float, BeforeValidator(reading(parse_throughput, (int, float))), Field(ge=0, allow_inf_nan=False)]
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
