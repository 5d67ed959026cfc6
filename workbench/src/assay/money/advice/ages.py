"""How much of a price rests on rows that are old."""

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal

from assay.model.money.advice import Remark
from assay.model.money.amount import EXACT
from assay.money.advice.facts import Facts, Said
from assay.money.advice.words import percent
from assay.money.cost.cost import Cost

OLD_DAYS = 180
OLD_SHARE = Decimal("0.1")
"""Of a price: less from old rows is not worth a line."""
RULE = "old_prices"


def old_share(cost: Cost, months: int, today: dt.date) -> tuple[Decimal, dt.date] | None:
    """Which share of what is paid rests on rows older than `OLD_DAYS`, and the date of the oldest; None: on none.

    Args:
        cost: Its rows have dates; those without are taken as new.
        months: That it is paid for.
        today: The present day.
    """
    whole = cost.paid(months)
    old = [
        charge for charge in cost.charges if charge.row.date is not None and (today - charge.row.date).days > OLD_DAYS
    ]
    if not old or not whole:
        return None
    part = cost.model_copy(update={"charges": tuple(old)}).paid(months)
    dates = [charge.row.date for charge in old if charge.row.date is not None]
    return EXACT.divide(part, whole), min(dates)


def old_prices(facts: Facts) -> Iterator[Said]:
    """A price of today that rests on old rows by more than a tenth is told so. Books of the past are old on purpose.

    Source: the rows' dates.
    """
    if facts.variant.sold.book.historic:
        return
    found = old_share(facts.variant.best.cost, facts.need.months, dt.date.today())
    if found is not None and found[0] > OLD_SHARE:
        text = f"{percent(found[0])} of the price rests on rows older than {OLD_DAYS} days, the oldest of {found[1]}"
        yield Remark(rule=RULE, speaks="note", text=text, source="price book")
