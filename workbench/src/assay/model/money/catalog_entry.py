"""The base class of catalogue entries, and how their figures are read."""

import datetime as dt
from typing import Annotated

from pydantic import BeforeValidator, Field

from assay.model.frozen import Frozen
from assay.model.study.axis import parse_validator
from assay.model.units import parse_size, parse_throughput

MIB, GIB, TIB = 2**20, 2**30, 2**40


Size = Annotated[int, BeforeValidator(parse_validator(parse_size)), Field(ge=0)]
Rate = Annotated[
    float, BeforeValidator(parse_validator(parse_throughput, (int, float))), Field(ge=0, allow_inf_nan=False)
]
Count = Annotated[int, Field(ge=0)]


class CatalogEntry(Frozen):
    """An entry of the catalogue.

    Attributes:
        source: Source of the figures: a URL, or a paper and the place in it.
        date: Date of the figures; None if the source, such as a package with its version, implies it.
        stated: What the source states of the limits, in our words: which bytes, which class, which way, sum or each.
        checked: Day on which a second reader compared the limits with a copy of the source; None: not yet.
        consistency: When readers see what was written, with its source; empty: not found, or it has no readers besides.
        note: What users of the figures must know.
    """

    name: str = Field(min_length=1)
    source: str = Field(min_length=1)
    date: dt.date | None = None
    stated: str = ""
    checked: dt.date | None = None
    consistency: str = ""
    note: str = ""

    def source_lines(self) -> tuple[str, ...]:
        """Return the consistency, the note, the source and what it says, a line each, as they are shown."""
        lines = [f"Consistency: {self.consistency}"] if self.consistency else []
        lines += [f"Note: {self.note}"] if self.note else []
        lines.append(f"Source: {self.source}{f', {self.date}' if self.date else ''}")
        if self.stated:
            compared = f"compared with a copy on {self.checked}" if self.checked else "not compared by a second reader"
            lines.append(f"It states: {self.stated} ({compared})")
        return tuple(lines)


def format_mib(rate: float) -> str:
    """Format bytes per second for display in the unit in which they are whole: MiB/s, else MB/s or GB/s."""
    if abs(rate / MIB - round(rate / MIB)) < 1e-6:
        return f"{rate / MIB:.6g} MiB/s"
    return f"{rate / 1e9:.5g} GB/s" if rate >= 1e9 else f"{rate / 1e6:.5g} MB/s"
