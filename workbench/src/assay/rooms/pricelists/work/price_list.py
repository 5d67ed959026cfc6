"""What every provider's price list states about a price, whatever its format."""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Protocol

from assay.model.base import AssayError
from assay.model.money.amount import out_of_bounds

ON_DEMAND, RESERVED, SAVINGS, SPOT = "OnDemand", "Reserved", "SavingsPlan", "Spot"
UPFRONT = "quantity"
"""Unit of a fee that is paid once, at the start of a term."""
WHOLE_TERM = "whole term"
"""Unit of a price that is the total of a term, however it is paid."""

Attributes = Mapping[str, str]
ProductFilter = Callable[[Attributes], bool]
"""Returns whether a product is wanted, by its attributes."""


@dataclass(frozen=True)
class ListedPrice:
    """One price of a product: for one range of its quantity, on one term.

    Attributes:
        attributes: Attributes of the product; names in lower case without spaces and punctuation, `family` among them.
        term: `OnDemand`, `Reserved`, `SavingsPlan` or `Spot`.
        lease, payment, offering: Length, payment and class of a term: `1yr`, `No Upfront`, `standard`; empty on demand.
        unit: As the provider prints it: Hrs, GB-Mo, Quantity (of upfront fees), ...
        start, end: The range, in `unit`; end None: without bound.
    """

    sku: str
    attributes: Attributes
    term: str
    lease: str
    payment: str
    offering: str
    unit: str
    price: Decimal
    start: Decimal
    end: Decimal | None


@dataclass
class PriceListFile:
    """The prices of a list that has been read to its end.

    Attributes:
        name: File or URL.
        offer: Code of the service, such as AmazonEC2; empty: several services, by `servicecode` of the products.
        date: When its prices are valid: when the list was published, otherwise when it was read.
        prices: The wanted prices.
        skipped_currencies: Currencies of prices that were left out.
        url: Where it was read; empty: from a file.
    """

    name: str
    offer: str = ""
    date: dt.date | None = None
    prices: list[ListedPrice] = field(default_factory=list)
    skipped_currencies: set[str] = field(default_factory=set)
    url: str = ""

    def prices_of(self, offer: str) -> list[ListedPrice]:
        """Return the prices of one service; older AWS files also hold products of a second one."""
        if self.offer == offer:
            return self.prices
        return [each for each in self.prices if each.attributes.get("servicecode") == offer]


class ProductRule(Protocol):
    """Which products a row stands for."""

    @property
    def offers(self) -> Sequence[str]:
        """The services whose lists may have the products; empty: any."""

    @property
    def sums(self) -> Sequence[tuple[str, Decimal]]:
        """Unit and quantity of each part, for a price that is the sum of its parts. Empty: parts are tiers."""

    @property
    def bounds(self) -> Sequence[Decimal | None]:
        """Upper bound of each tier in the list's unit, for a price whose parts are tiers."""

    @property
    def units(self) -> Mapping[str, tuple[str, int | None]]:
        """Unit of the list -> kind, and base units in one, for these products."""

    def fits(self, attributes: Attributes, region: str) -> bool:
        """Return whether a product is one of these, in a region."""

    def parts(self, fitting: Sequence[ListedPrice]) -> list[list[ListedPrice]]:
        """Return the products of each part of the price; most prices have one part."""


def attribute_key(name: str) -> str:
    """Return a name in lower case without spaces and punctuation: `preInstalledSw` -> `preinstalledsw`."""
    return "".join(sign for sign in name.lower() if sign.isalnum())


def truncated_error(name: str) -> AssayError:
    """Return the error for a list that ends too early."""
    return AssayError(f"{name}: the file is truncated", "download it again")


def price_number(text: str, where: str) -> Decimal:
    """Parse a price or quantity exactly.

    Raises:
        AssayError: It is not a number from 0 up, or is out of the bounds of a book.
    """
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal(-1)
    if not value.is_finite() or value < 0:
        raise AssayError(f"{where}: {text[:40]!r} is not a price or quantity", "download the file again")
    beyond = out_of_bounds(value)
    if beyond:
        raise AssayError(f"{where}: {text[:40]!r} is {beyond}", "download the file again")
    return value


def price_range(start: str, end: str, where: str) -> tuple[Decimal, Decimal | None]:
    """Return the start and end of a price's range; an end of `Inf` or nothing is without bound."""
    bound = None if end.lower() in ("inf", "") else price_number(end, where)
    return price_number(start or "0", where), bound
