"""Amounts of money that a run must stay within."""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from assay.model.base import AssayError
from assay.model.money.amount import EXACT, format_money

if TYPE_CHECKING:
    from assay.model.money.priced_designs import FrozenPrices

SECONDS_PER_HOUR = Decimal(3600)
HINT = "write an amount with its currency, such as --budget 5USD"

_BUDGET = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([A-Z]{3})")


@dataclass(frozen=True)
class Budget:
    """An amount of money."""

    amount: Decimal
    currency: str

    def __str__(self) -> str:
        return format_money(self.amount, self.currency)

    @property
    def as_option(self) -> str:
        """The amount in the form of `--budget`: `5USD`."""
        return f"{self.amount}{self.currency}"


def read_budget(written: str | None, prices: "FrozenPrices | None") -> Budget | None:
    """Parse the value of `--budget`; None if it is not given.

    Raises:
        AssayError: It is not an amount of money, the study has no prices, or they are in another currency.
    """
    if written is None:
        return None
    match = _BUDGET.fullmatch(written.strip())
    if match is None:
        raise AssayError(f"`{written}` is not a budget", HINT)
    if prices is None:
        raise AssayError("a budget needs prices, and the study names none", "add a section `prices:` to the study")
    budget = Budget(Decimal(match[1]), match[2])
    if budget.currency != prices.book.currency:
        message = f"the budget is in {budget.currency}, the prices of {prices.book.book} in {prices.book.currency}"
        raise AssayError(message, f"write --budget {match[1]}{prices.book.currency}, or take another book")
    return budget


def cost_of_time(seconds: float, hourly: Decimal) -> Decimal:
    """Return the cost of a stretch of time."""
    return EXACT.divide(EXACT.multiply(Decimal(repr(seconds)), hourly), SECONDS_PER_HOUR)
