"""AWS savings plan files: the hourly price of a product for a customer who commits to an hourly amount.

Format: docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/reading-service-price-list-file-for-savings-plans.html.
A plan has a purchase option and a term; its rates name the products, by SKU and usage type.
"""

from collections.abc import Mapping
from typing import Any

from assay.rooms.pricelists.work.price_list import (
    SAVINGS,
    Attributes,
    ListedPrice,
    PriceListFile,
    ProductFilter,
    price_number,
)
from assay.rooms.pricelists.work.stream import Stream

RATE = "discountedrate"
"""Column that only tables of savings plans have."""


def csv_rate(cells: Attributes, where: str) -> ListedPrice:
    """Return the price in a line of a savings plan table."""
    attributes = {key: value for key, value in cells.items() if value}
    length = cells.get("leasecontractlength", "")
    unit = cells.get("leasecontractlengthunit", "year")
    lease = f"{length}yr" if length and unit.lower().startswith("year") else length + unit
    return _offered_price(attributes, lease, cells["unit"], cells[RATE], where)


def read_rates(
    stream: Stream, file: PriceListFile, currency: str, plans: Mapping[str, Attributes], wanted: ProductFilter
) -> None:
    """Add the wanted rates of all plans of a JSON file, read one by one: a plan may have hundreds of thousands.

    Raises:
        AssayError: It has another form.
    """
    for _ in stream.elements():
        plan, has_rates = "", False
        for key in stream.members():
            if key == "sku":
                plan = str(stream.value())
            elif key == "rates":
                has_rates = True
                if plan not in plans:
                    raise stream.format_error(f"the plan {plan or 'without SKU'} is not among the products")
                for _ in stream.elements():
                    _add_rate(stream, file, currency, plans[plan], wanted, plan)
            else:
                stream.value()
        if not has_rates:
            raise stream.format_error(f"the plan {plan} has no rates")


def _add_rate(
    stream: Stream, file: PriceListFile, currency: str, plan: Attributes, wanted: ProductFilter, sku: str
) -> None:
    rate = stream.value()
    try:
        attributes = _rate_attributes(rate, plan)
        if not wanted(attributes):
            return
        money = rate["discountedRate"]
        price_currency = str(money.get("currency", "USD"))
        if price_currency != currency:
            file.skipped_currencies.add(price_currency)
            return
        where = f"{file.name}, {rate.get('rateCode', sku)}"
        lease = plan.get("purchaseterm", "")
        file.prices.append(_offered_price(attributes, lease, str(rate.get("unit", "Hrs")), str(money["price"]), where))
    except (TypeError, KeyError, AttributeError):
        raise stream.format_error(f"a rate of {sku} has another form") from None


def _rate_attributes(rate: Any, plan: Attributes) -> dict[str, str]:
    """Return the attributes of the product; of the plan where the rate does not state them."""
    return {
        "family": plan.get("family", ""),
        "purchaseoption": plan.get("purchaseoption", ""),
        "discountedsku": str(rate["discountedSku"]),
        "usagetype": str(rate["discountedUsageType"]),
        "servicecode": str(rate["discountedServiceCode"]),
        "discountedoperation": str(rate.get("discountedOperation", "")),
        "regioncode": str(rate.get("discountedRegionCode", "")),
    }


def _offered_price(attributes: Attributes, lease: str, unit: str, price: str, where: str) -> ListedPrice:
    return ListedPrice(
        sku=attributes.get("discountedsku", ""),
        attributes=attributes,
        term=SAVINGS,
        lease=lease,
        payment=attributes.get("purchaseoption", ""),
        offering=attributes.get("family", ""),
        unit=unit,
        price=price_number(price, where),
        start=price_number("0", where),
        end=None,
    )
