"""Exact numbers for prices and payments: money, quantities, shares and terms."""

from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from typing import Annotated, Literal

from pydantic import BeforeValidator

from assay.model.study.axis import fault
from assay.model.units import display_value
from assay.model.user_text import ExactNumber

EXACT = Context(prec=60, traps=[InvalidOperation])
"""Has enough digits that no sum or product of prices and quantities is rounded visibly."""
MAX_AMOUNT, FINEST_AMOUNT = Decimal(10**15), Decimal("1e-12")
"""Bounds of written prices and quantities: a value beyond them is a typing error, and would not fit on a line."""

Term = Literal["on-demand", "savings-1y", "savings-3y", "reserved-1y", "reserved-3y", "spot"]
TERMS: tuple[Term, ...] = ("on-demand", "savings-1y", "savings-3y", "reserved-1y", "reserved-3y", "spot")
TERM_MONTHS: dict[str, int] = {"savings-1y": 12, "savings-3y": 36, "reserved-1y": 12, "reserved-3y": 36}
"""Months that a reservation lasts; it is paid for whether used or not."""
Payment = Literal["no-upfront", "partial-upfront", "all-upfront"]


def parse_decimal(written: object) -> Decimal:
    """Read an exact decimal number of 0 or more from a number or its text; a Decimal, being computed, has no bounds.

    Raises:
        PydanticCustomError: Not a number, negative, not finite, above `MOST` or finer than `FINEST_AMOUNT`.
    """
    value = _quantity(written)
    beyond = "" if isinstance(written, Decimal) else out_of_bounds(value)
    if beyond:
        text = written.text if isinstance(written, ExactNumber) else display_value(written)
        raise fault(f"{text} is {beyond}", "write at most 10^15, with at most 12 decimals")
    return value


def out_of_bounds(value: Decimal) -> str:
    """Return `more than 10^15` or `finer than 10^-12`; empty if the value may be a price."""
    if value > MAX_AMOUNT:
        return "more than 10^15"
    return "finer than 10^-12" if value.quantize(FINEST_AMOUNT, context=EXACT) != value else ""


def _quantity(written: object) -> Decimal:
    hint = "write a number such as 0.735, without currency or unit"
    if isinstance(written, bool) or not isinstance(written, int | float | str | Decimal):
        raise fault(f"{display_value(written)} is not a number", hint)
    try:
        if isinstance(written, ExactNumber):
            value = Decimal(written.text)
        else:
            value = Decimal(repr(written)) if isinstance(written, float) else Decimal(written)
    except InvalidOperation:
        raise fault(f"{display_value(written)} is not a number", hint) from None
    if not value.is_finite():
        raise fault(f"{display_value(written)} is not a finite number", hint)
    if value < 0:
        raise fault(f"{written} is negative", "prices and quantities are 0 or more")
    return value


def parse_share(written: object) -> Decimal:
    """Read a share from 0 to 1, written as `5%` or 0.05.

    Raises:
        PydanticCustomError: It has another form, or is above 1.
    """
    percent = isinstance(written, str) and written.strip().endswith("%")
    value = (
        parse_decimal(written.strip().removesuffix("%")) / 100
        if isinstance(written, str) and percent
        else parse_decimal(written)
    )
    if value > 1:
        raise fault(f"{display_value(written)} is more than 100%", "write a share as 5% or 0.05")
    if percent and out_of_bounds(value):
        raise fault(f"{display_value(written)} is {out_of_bounds(value)}", "write a share as 5% or 0.05")
    return value


Amount = Annotated[Decimal, BeforeValidator(parse_decimal)]
Quantity = Annotated[Decimal, BeforeValidator(_quantity)]
Share = Annotated[Decimal, BeforeValidator(parse_share)]


def round_half_up(amount: Decimal, digits: int = 2) -> Decimal:
    """Round half up for display, as papers and bills do."""
    return amount.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP, context=EXACT)


def format_money(amount: Decimal, currency: str = "") -> str:
    """Format for display: `1,440.62 USD`, `0.0231 USD`; amounts below 1 have three significant digits."""
    digits = 2 if not amount or abs(amount) >= 1 else max(2, 2 - amount.adjusted())
    return f"{round_half_up(amount, digits):,f} {currency}".rstrip()


def exact_sum(amounts: Iterable[Decimal]) -> Decimal:
    """Return the exact sum."""
    result = Decimal(0)
    for amount in amounts:
        result = EXACT.add(result, amount)
    return result
