"""What every provider's price list says of a price, whatever its form."""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Protocol

from assay.model.base import AssayError
from assay.model.money.amount import out_of_bounds

ON_DEMAND, RESERVED, SAVINGS, SPOT = "OnDemand", "Reserved", "SavingsPlan", "Spot"
UPFRONT = "quantity"
"""Unit of a fee that is paid once at the begin of a term."""
WHOLE_TERM = "whole term"
"""Unit of a price that is the total of a term, however it is paid."""

Attributes = Mapping[str, str]
Wanted = Callable[[Attributes], bool]
"""Whether a product is of interest, by its attributes."""


@dataclass(frozen=True)
class Offered:
    """One price of a product: of one range of its quantity, on one term.

    Attributes:
        attributes: Of the product, by names in small letters without spaces and signs, `family` among them.
        term: `OnDemand`, `Reserved`, `SavingsPlan` or `Spot`.
        lease, paid, offering: Of a term: `1yr`, `No Upfront`, `standard`; empty on demand.
        unit: As the provider prints it: Hrs, GB-Mo, Quantity (of upfront fees), ...
        start, end: The range, in `unit`; end None: without bound.
    """

    sku: str
    attributes: Attributes
    term: str
    lease: str
    paid: str
    offering: str
    unit: str
    price: Decimal
    start: Decimal
    end: Decimal | None


@dataclass
class OfferFile:
    """What is known of a list once it has been read to its end.

    Attributes:
        name: File or address.
        offer: Code of the service, such as AmazonEC2; empty: of several services, by `servicecode` of the products.
        date: When its prices held: when it was published, or else when it was read.
        others: Currencies of prices that were left out.
        url: Where it was read; empty: from a file.
    """

    name: str
    offer: str = ""
    date: dt.date | None = None
    found: list[Offered] = field(default_factory=list)
    others: set[str] = field(default_factory=set)
    url: str = ""

    def of(self, offer: str) -> list[Offered]:
        """Its prices of one service; older files of AWS hold products of a second one."""
        if self.offer == offer:
            return self.found
        return [each for each in self.found if each.attributes.get("servicecode") == offer]


class Rule(Protocol):
    """Which products a row stands for."""

    @property
    def offers(self) -> Sequence[str]:
        """The services whose lists may have them; none: any."""

    @property
    def sums(self) -> Sequence[tuple[str, Decimal]]:
        """Of a price that is the sum of its parts: unit and quantity of each. Empty: parts are tiers."""

    @property
    def bounds(self) -> Sequence[Decimal | None]:
        """Of a price whose parts are tiers: their ends, in the list's unit."""

    @property
    def units(self) -> Mapping[str, tuple[str, int | None]]:
        """What units of the list mean for these products: kind, and base units in one."""

    def fits(self, attributes: Attributes, region: str) -> bool:
        """Whether a product is among them."""

    def parts(self, fitting: Sequence[Offered]) -> list[list[Offered]]:
        """The products of each part of the price; mostly it has but one."""


def key_name(name: str) -> str:
    """`Pre Installed S/W`, `preInstalledSw` -> `preinstalledsw`."""
    return "".join(sign for sign in name.lower() if sign.isalnum())


def broken_off(name: str) -> AssayError:
    """The list ends where it should go on."""
    return AssayError(f"{name}: the file breaks off", "fetch it anew")


def price_number(text: str, where: str) -> Decimal:
    """A price or quantity, exact.

    Raises:
        AssayError: It is none, or none that a book can hold.
    """
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal(-1)
    if not value.is_finite() or value < 0:
        raise AssayError(f"{where}: {text[:40]!r} is not a price or quantity", "fetch the file anew")
    beyond = out_of_bounds(value)
    if beyond:
        raise AssayError(f"{where}: {text[:40]!r} is {beyond}", "fetch the file anew")
    return value


def price_range(start: str, end: str, where: str) -> tuple[Decimal, Decimal | None]:
    """The range of a price; `Inf` or nothing as its end: without bound."""
    bound = None if end.lower() in ("inf", "") else price_number(end, where)
    return price_number(start or "0", where), bound
