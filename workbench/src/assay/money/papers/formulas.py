"""The computations behind figures that papers print: from catalogue and price books, with the formula in words.

Each can be made with the usual mistakes of `assay.money.papers.audit`, to find out which one a printed figure has.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from assay.model.frozen import Frozen
from assay.model.money.amount import EXACT, Amount
from assay.model.money.catalog import efs_bursting
from assay.model.money.filesystems import LustreType
from assay.model.money.price import UNITS, Book
from assay.model.money.use import Size
from assay.money.cost.catalog import catalog
from assay.money.papers.audit import NONE, Mistakes

ONE, SECONDS = Decimal(1), Decimal(60)
GIB, MIB, TIB, TB = Decimal(2**30), Decimal(2**20), Decimal(2**40), Decimal(10**12)


class Context(NamedTuple):
    """What a formula takes from elsewhere.

    Attributes:
        book: The prices.
        found: Names of the figures before it -> their values.
    """

    book: Book
    found: Mapping[str, Decimal]


class EfsFormula(Frozen):
    """EFS in bursting mode, of the catalogue.

    Attributes:
        of: Baseline or burst, in `unit`; or how much of each day the burst can go on.
    """

    formula: Literal["efs"]
    stored: Size
    of: Literal["baseline", "burst", "hours", "minutes"]
    per: Literal["MiB/s", "GiB/s"] = "MiB/s"

    @property
    def knows(self) -> Mistakes:
        """Mistakes that `value` can make."""
        return frozenset({"decimal", "burst"}) if self.of == "baseline" else frozenset({"decimal"})

    def value(self, context: Context, mistakes: Mistakes = NONE) -> Decimal:  # noqa: ARG002
        """With some mistakes made: 1000 GiB taken as a TiB, burst taken for baseline."""
        stored = self.stored * 1024 // 1000 if "decimal" in mistakes else self.stored
        found = efs_bursting(stored)
        if self.of in ("hours", "minutes"):
            hours = EXACT.divide(24 * Decimal(found.baseline), Decimal(found.burst))
            return hours if self.of == "hours" else EXACT.multiply(hours, SECONDS)
        rate = found.burst if self.of == "burst" or "burst" in mistakes else found.baseline
        return EXACT.divide(Decimal(rate), MIB if self.per == "MiB/s" else GIB)

    def how(self, context: Context) -> str:  # noqa: ARG002
        """The formula with its numbers."""
        found = efs_bursting(self.stored)
        tib, keeps, burst = self.stored / 2**40, found.baseline / 2**20, found.burst / 2**20
        if self.of == "baseline":
            return f"50 MiB/s x {tib:.4g} TiB = {keeps:.4g} MiB/s"
        if self.of == "burst":
            return f"100 MiB/s x max(1, {tib:.4g} TiB) = {burst:.4g} MiB/s"
        day = "24 h" if self.of == "hours" else "24 x 60 min"
        return f"{day} x baseline {keeps:.4g} / burst {burst:.4g}"


class LustreFormula(Frozen):
    """Throughput of FSx for Lustre, of the catalogue, in MB/s of 10^6 bytes."""

    formula: Literal["fsx-lustre"]
    type: str
    capacity: Size

    @property
    def knows(self) -> Mistakes:
        """Mistakes that `value` can make."""
        return frozenset({"decimal", "tb", "burst"})

    def value(self, context: Context, mistakes: Mistakes = NONE) -> Decimal:  # noqa: ARG002
        """With some mistakes made: 1000 GiB taken as a TiB, TB taken for TiB, burst taken for baseline."""
        kind = self._kind()
        per_tib = Decimal(str((kind.network_burst if "burst" in mistakes else None) or kind.per_tib))
        return EXACT.multiply(self._tib(mistakes), per_tib)

    def how(self, context: Context) -> str:  # noqa: ARG002
        """The formula with its numbers."""
        return f"{self.capacity // 2**30} GiB / 1024 x {self._kind().per_tib:g} MB/s per TiB"

    def _kind(self) -> LustreType:
        kind = catalog().filesystem(self.type)
        assert isinstance(kind, LustreType)
        return kind

    def _tib(self, mistakes: Mistakes) -> Decimal:
        size = Decimal(self.capacity)
        if "tb" in mistakes:
            return EXACT.divide(size, TB)
        return EXACT.divide(EXACT.divide(size, GIB), Decimal(1000 if "decimal" in mistakes else 1024))


class PriceFormula(Frozen):
    """An amount at a price of the book.

    Attributes:
        amount: In `unit`, of one piece.
    """

    formula: Literal["price"]
    dimension: str
    item: str
    amount: Amount
    unit: str

    @property
    def knows(self) -> Mistakes:
        """Mistakes that `value` can make."""
        return NONE

    def value(self, context: Context, mistakes: Mistakes = NONE) -> Decimal:  # noqa: ARG002
        """What it costs."""
        each = EXACT.multiply(self.amount, Decimal(UNITS[self.unit].factor))
        return context.book.row(self.dimension, self.item).cost(each)

    def how(self, context: Context) -> str:
        """The formula with its numbers."""
        book = context.book
        row = book.row(self.dimension, self.item)
        return f"{self.amount} {self.unit} x {row.price} {book.currency} per {row.unit} ({book.book})"


class EgressFormula(Frozen):
    """Data that leave a provider at a rate for a time, at a price of the book.

    Attributes:
        minutes: How long.
        gbit: Rate in Gbit/s of 10^9 bits.
        share: Of it that leaves.
    """

    formula: Literal["egress"]
    item: str
    minutes: Amount
    gbit: Amount
    share: Amount = ONE

    @property
    def knows(self) -> Mistakes:
        """Mistakes that `value` can make."""
        return frozenset({"binary"})

    def value(self, context: Context, mistakes: Mistakes = NONE) -> Decimal:
        """With a mistake made: GB of 2^30 bytes."""
        bits = EXACT.multiply(EXACT.multiply(self.minutes * 60, self.gbit * 10**9), self.share)
        each = EXACT.divide(bits, Decimal(8))
        # The book's GB, of 10^9 bytes, taken as 2^30 bytes.
        if "binary" in mistakes:
            each = EXACT.divide(EXACT.multiply(each, Decimal(10**9)), GIB)
        return context.book.row("transfer-out", self.item).cost(each)

    def how(self, context: Context) -> str:
        """The formula with its numbers."""
        book = context.book
        row = book.row("transfer-out", self.item)
        share = f" x {self.share}" if self.share != 1 else ""
        hours = f"{EXACT.divide(self.minutes, SECONDS):.4g}"
        sent = f"{hours} h x 3600 x {self.gbit} Gb/s / 8{share}"
        return f"{sent} x {row.price} {book.currency} per {row.unit} ({book.book})"


class SumFormula(Frozen):
    """The sum of other figures of the preset, before they are rounded."""

    formula: Literal["sum"]
    of: tuple[str, ...]

    @property
    def knows(self) -> Mistakes:
        """Mistakes that `value` can make."""
        return NONE

    def value(self, context: Context, mistakes: Mistakes = NONE) -> Decimal:  # noqa: ARG002
        """Of the others' values."""
        result = Decimal(0)
        for name in self.of:
            result = EXACT.add(result, context.found[name])
        return result

    def how(self, context: Context) -> str:  # noqa: ARG002
        """The formula in words."""
        return " + ".join(self.of)


Formula = Annotated[
    EfsFormula | LustreFormula | PriceFormula | EgressFormula | SumFormula, Field(discriminator="formula")
]
