"""Google Cloud's price list: https://cloudbilling.googleapis.com/v1/services/SERVICE/skus, pages of JSON.

Format: cloud.google.com/billing/docs/reference/rest/v1/services.skus/list. Each SKU has its regions and a line of time
of its prices; a price is in whole units and in nanos, and holds for its usage unit. The list needs an API key, which is
sent with the question and written nowhere.
"""

import urllib.parse
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from assay.money.books.listed import ON_DEMAND, RESERVED, SPOT, Offered, OfferFile, Wanted, price_number
from assay.money.books.pages import Page, PagedList, entries_of, in_force, joined, not_a_page

ROOT = "https://cloudbilling.googleapis.com/v1/services"
KEY = "GOOGLE_API_KEY"
"""The environment variable that has the API key."""
WHAT = "a page of Google Cloud's SKUs"
PAGE_SIZE = 5000
"""The most that the list gives at once."""
_TERMS = {"OnDemand": (ON_DEMAND, ""), "Preemptible": (SPOT, "")}
_TERMS |= {"Commit1Yr": (RESERVED, "1yr"), "Commit3Yr": (RESERVED, "3yr")}


def address(service: str, currency: str) -> str:
    """Where the SKUs of a service are."""
    return f"{ROOT}/{service}/skus?pageSize={PAGE_SIZE}&currencyCode={currency}"


def read_page(data: Any, name: str) -> Page:
    """A page, or a plain list of SKUs.

    Raises:
        AssayError: It is none.
    """
    skus = entries_of(data, "skus", name, WHAT)
    return Page(skus, str(data.get("nextPageToken") or "") if isinstance(data, dict) else "")


def follow(this: str, token: str) -> str:
    """The next page: the same question with its token."""
    parts = urllib.parse.urlsplit(this)
    query = [pair for pair in urllib.parse.parse_qsl(parts.query) if pair[0] != "pageToken"]
    return parts._replace(query=urllib.parse.urlencode([*query, ("pageToken", token)])).geturl()


def take(skus: Iterable[Mapping[str, Any]], file: OfferFile, currency: str, wanted: Wanted) -> None:
    """What the SKUs say of what is wanted: of each the newest price that is in force on the file's date.

    Raises:
        AssayError: A SKU has another form.
    """
    for sku in skus:
        try:
            attributes = attributes_of(sku)
            if not wanted(attributes) or attributes["usagetype"] not in _TERMS:
                continue
            pricing = [each for each in sku["pricingInfo"] if not file.date or _holds(each, file)]
            if pricing:
                file.found += _offered(attributes, pricing[-1]["pricingExpression"], file, currency)
        except (KeyError, TypeError, AttributeError) as error:
            name = sku.get("skuId") or sku.get("description") or "a SKU"
            raise not_a_page(file.name, WHAT, f"{name} has another form ({error})") from None


def attributes_of(sku: Mapping[str, Any]) -> dict[str, str]:
    """What rules look at; regions are joined by spaces."""
    category = sku["category"]
    return {
        "sku": str(sku["skuId"]),
        "description": str(sku["description"]),
        "servicecode": str(category["serviceDisplayName"]),
        "family": str(category.get("resourceFamily", "")),
        "group": str(category.get("resourceGroup", "")),
        "usagetype": str(category["usageType"]),
        "regions": " ".join(map(str, sku.get("serviceRegions") or ())),
    }


def _holds(pricing: Mapping[str, Any], file: OfferFile) -> bool:
    start = str(pricing.get("effectiveTime") or "")
    return file.date is None or in_force(start, "", file.date)


def _offered(
    attributes: Mapping[str, str], pricing: Mapping[str, Any], file: OfferFile, currency: str
) -> Iterable[Offered]:
    term, lease = _TERMS[attributes["usagetype"]]
    where = f"{file.name}, {attributes['sku']}"
    ranges = []
    for rate in pricing["tieredRates"]:
        money = rate["unitPrice"]
        given = str(money.get("currencyCode") or currency)
        if given != currency:
            file.others.add(given)
            return
        begin = price_number(str(rate.get("startUsageAmount") or 0), where)
        ranges.append((begin, price_number(str(_amount(money)), where)))
    unit = str(pricing.get("usageUnit", ""))
    for start, price, end in joined(ranges):
        yield Offered(attributes["sku"], attributes, term, lease, "", "", unit, price, start, end)


def _amount(money: Mapping[str, Any]) -> Decimal:
    """Whole units and nanos as one number."""
    return Decimal(str(money.get("units") or 0)) + Decimal(str(money.get("nanos") or 0)).scaleb(-9)


GCP_PAGES = PagedList(WHAT, read_page, take, follow)
