"""The computations behind figures that papers print, from catalogue and price books, with the formula in words.

Each can be computed with the mistakes of `assay.money.papers.audit`, to find the one that a printed figure has.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from assay.model.frozen import Frozen
from assay.model.money.amount import EXACT, Amount
from assay.model.money.catalog import efs_bursting
from assay.model.money.filesystems import LustreType
from assay.model.money.price import UNITS, PriceBook
from assay.model.money.use import Size
from assay.money.cost.catalog import catalog
from assay.money.papers.audit import NONE, Mistakes

ONE, SECONDS = Decimal(1), Decimal(60)
GIB, MIB, TB = Decimal(2**30), Decimal(2**20), Decimal(10**12)


class FormulaInput(NamedTuple):
    """The inputs of a formula beside its own parameters.

    Attributes:
        book: The prices.
        values: Values of the preset's earlier figures, by name.
    """

    book: PriceBook
    values: Mapping[str, Decimal]


class EfsFormula(Frozen):
    """Throughput of EFS in bursting mode, by the catalogue.

    Attributes:
        stored: Bytes stored.
        of: `baseline` or `burst`, in `per`; `hours` or `minutes` of each day that the burst can last.
    """

    formula: Literal["efs"]
    stored: Size
    of: Literal["baseline", "burst", "hours", "minutes"]
    per: Literal["MiB/s", "GiB/s"] = "MiB/s"

    @property
    def possible_mistakes(self) -> Mistakes:
        """The mistakes that `value` can make."""
        return frozenset({"decimal", "burst"}) if self.of == "baseline" else frozenset({"decimal"})

    def value(self, context: FormulaInput, mistakes: Mistakes = NONE) -> Decimal:  # noqa: ARG002
        """Return the value; mistakes take 1000 GiB as a TiB, or burst as baseline."""
        stored = self.stored * 1024 // 1000 if "decimal" in mistakes else self.stored
        rates = efs_bursting(stored)
        if self.of in ("hours", "minutes"):
            hours = EXACT.divide(24 * Decimal(rates.baseline), Decimal(rates.burst))
            return hours if self.of == "hours" else EXACT.multiply(hours, SECONDS)
        rate = rates.burst if self.of == "burst" or "burst" in mistakes else rates.baseline
        return EXACT.divide(Decimal(rate), MIB if self.per == "MiB/s" else GIB)

    def how(self, context: FormulaInput) -> str:  # noqa: ARG002
        """Return the formula with its numbers."""
        rates = efs_bursting(self.stored)
        tib, baseline, burst = self.stored / 2**40, rates.baseline / 2**20, rates.burst / 2**20
        if self.of == "baseline":
            return f"50 MiB/s x {tib:.4g} TiB = {baseline:.4g} MiB/s"
        if self.of == "burst":
            return f"100 MiB/s x max(1, {tib:.4g} TiB) = {burst:.4g} MiB/s"
        day = "24 h" if self.of == "hours" else "24 x 60 min"
        return f"{day} x baseline {baseline:.4g} / burst {burst:.4g}"


class LustreFormula(Frozen):
    """Throughput of FSx for Lustre by the catalogue, in MB/s of 10^6 bytes."""

    formula: Literal["fsx-lustre"]
    type: str
    capacity: Size

    @property
    def possible_mistakes(self) -> Mistakes:
        """The mistakes that `value` can make."""
        return frozenset({"decimal", "tb", "burst"})

    def value(self, context: FormulaInput, mistakes: Mistakes = NONE) -> Decimal:  # noqa: ARG002
        """Return the value; mistakes take 1000 GiB as a TiB, TB as TiB, or burst as baseline."""
        kind = self._kind()
        per_tib = Decimal(str((kind.network_burst if "burst" in mistakes else None) or kind.per_tib))
        return EXACT.multiply(self._tib(mistakes), per_tib)

    def how(self, context: FormulaInput) -> str:  # noqa: ARG002
        """Return the formula with its numbers."""
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
    """The cost of an amount at a price of the book.

    Attributes:
        amount: Amount of one piece, in `unit`.
    """

    formula: Literal["price"]
    dimension: str
    item: str
    amount: Amount
    unit: str

    @property
    def possible_mistakes(self) -> Mistakes:
        """The mistakes that `value` can make: none."""
        return NONE

    def value(self, context: FormulaInput, mistakes: Mistakes = NONE) -> Decimal:  # noqa: ARG002
        """Return the cost."""
        each = EXACT.multiply(self.amount, Decimal(UNITS[self.unit].factor))
        return context.book.row(self.dimension, self.item).cost(each)

    def how(self, context: FormulaInput) -> str:
        """Return the formula with its numbers."""
        book = context.book
        row = book.row(self.dimension, self.item)
        return f"{self.amount} {self.unit} x {row.price} {book.currency} per {row.unit} ({book.book})"


class EgressFormula(Frozen):
    """The cost of data that leaves a provider at a rate for a time, at a price of the book.

    Attributes:
        minutes: How long data is sent.
        gbit: Rate in Gbit/s of 10^9 bits.
        share: Share of the data that leaves the provider.
    """

    formula: Literal["egress"]
    item: str
    minutes: Amount
    gbit: Amount
    share: Amount = ONE

    @property
    def possible_mistakes(self) -> Mistakes:
        """The mistakes that `value` can make."""
        return frozenset({"binary"})

    def value(self, context: FormulaInput, mistakes: Mistakes = NONE) -> Decimal:
        """Return the cost; the mistake takes a GB as 2^30 bytes."""
        bits = EXACT.multiply(EXACT.multiply(self.minutes * 60, self.gbit * 10**9), self.share)
        each = EXACT.divide(bits, Decimal(8))
        # The book's GB of 10^9 bytes is taken as 2^30 bytes.
        if "binary" in mistakes:
            each = EXACT.divide(EXACT.multiply(each, Decimal(10**9)), GIB)
        return context.book.row("transfer-out", self.item).cost(each)

    def how(self, context: FormulaInput) -> str:
        """Return the formula with its numbers."""
        book = context.book
        row = book.row("transfer-out", self.item)
        share = f" x {self.share}" if self.share != 1 else ""
        hours = f"{EXACT.divide(self.minutes, SECONDS):.4g}"
        sent = f"{hours} h x 3600 x {self.gbit} Gb/s / 8{share}"
        return f"{sent} x {row.price} {book.currency} per {row.unit} ({book.book})"


class SumFormula(Frozen):
    """The sum of other figures of the preset, before rounding."""

    formula: Literal["sum"]
    of: tuple[str, ...]

    @property
    def possible_mistakes(self) -> Mistakes:
        """The mistakes that `value` can make: none."""
        return NONE

    def value(self, context: FormulaInput, mistakes: Mistakes = NONE) -> Decimal:  # noqa: ARG002
        """Return the sum of the other figures' values."""
        result = Decimal(0)
        for name in self.of:
            result = EXACT.add(result, context.values[name])
        return result

    def how(self, context: FormulaInput) -> str:  # noqa: ARG002
        """Return the names of the summed figures, joined by `+`."""
        return " + ".join(self.of)


Formula = Annotated[
    EfsFormula | LustreFormula | PriceFormula | EgressFormula | SumFormula, Field(discriminator="formula")
]
