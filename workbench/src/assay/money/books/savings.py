"""AWS files of savings plans: what an hour of a product costs for whoever commits to pay so much an hour.

Format: docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/reading-service-price-list-file-for-savings-plans.html.
A plan is named by its purchase option and its term; its rates name the products, by SKU and usage type.
"""

from collections.abc import Mapping
from typing import Any

from assay.money.books.listed import SAVINGS, Attributes, Offered, OfferFile, Wanted, price_number
from assay.money.books.stream import Stream

RATE = "discountedrate"
"""Column of a table of savings plans that no other price list has."""


def csv_rate(cells: Attributes, where: str) -> Offered:
    """A line of a table of savings plans."""
    attributes = {key: value for key, value in cells.items() if value}
    length = cells.get("leasecontractlength", "")
    unit = cells.get("leasecontractlengthunit", "year")
    lease = f"{length}yr" if length and unit.lower().startswith("year") else length + unit
    return _offered(attributes, lease, cells["unit"], cells[RATE], where)


def read_rates(stream: Stream, file: OfferFile, currency: str, plans: Mapping[str, Attributes], wanted: Wanted) -> None:
    """The rates of all plans of a JSON file, one after the other: a plan may have hundreds of thousands.

    Raises:
        AssayError: It has another form.
    """
    for _ in stream.elements():
        plan, rates = "", False
        for key in stream.members():
            if key == "sku":
                plan = str(stream.value())
            elif key == "rates":
                rates = True
                if plan not in plans:
                    raise stream.wrong(f"the plan {plan or 'without SKU'} is not among the products")
                for _ in stream.elements():
                    _take(stream, file, currency, plans[plan], wanted, plan)
            else:
                stream.value()
        if not rates:
            raise stream.wrong(f"the plan {plan} has no rates")


def _take(stream: Stream, file: OfferFile, currency: str, plan: Attributes, wanted: Wanted, sku: str) -> None:
    rate = stream.value()
    try:
        attributes = _of_rate(rate, plan)
        if not wanted(attributes):
            return
        money = rate["discountedRate"]
        given = str(money.get("currency", "USD"))
        if given != currency:
            file.others.add(given)
            return
        where = f"{file.name}, {rate.get('rateCode', sku)}"
        lease = plan.get("purchaseterm", "")
        file.found.append(_offered(attributes, lease, str(rate.get("unit", "Hrs")), str(money["price"]), where))
    except (TypeError, KeyError, AttributeError):
        raise stream.wrong(f"a rate of {sku} has another form") from None


def _of_rate(rate: Any, plan: Attributes) -> dict[str, str]:
    """What is said of the product, and of the plan where the product says nothing."""
    return {
        "family": plan.get("family", ""),
        "purchaseoption": plan.get("purchaseoption", ""),
        "discountedsku": str(rate["discountedSku"]),
        "usagetype": str(rate["discountedUsageType"]),
        "servicecode": str(rate["discountedServiceCode"]),
        "discountedoperation": str(rate.get("discountedOperation", "")),
        "regioncode": str(rate.get("discountedRegionCode", "")),
    }


def _offered(attributes: Attributes, lease: str, unit: str, price: str, where: str) -> Offered:
    return Offered(
        sku=attributes.get("discountedsku", ""),
        attributes=attributes,
        term=SAVINGS,
        lease=lease,
        paid=attributes.get("purchaseoption", ""),
        offering=attributes.get("family", ""),
        unit=unit,
        price=price_number(price, where),
        start=price_number("0", where),
        end=None,
    )
