"""Google Cloud's price list: https://cloudbilling.googleapis.com/v1/services/SERVICE/skus, pages of JSON.

Format: cloud.google.com/billing/docs/reference/rest/v1/services.skus/list. Each SKU has its regions and a history of
prices. A price is given in whole units and nanos, for the SKU's usage unit. The list needs an API key, which is sent
with the request and stored nowhere.
"""

import urllib.parse
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from assay.rooms.pricelists.work.pages import ListPage, PagedList, entries_of, format_error, in_force, ranges_with_ends
from assay.rooms.pricelists.work.price_list import (
    ON_DEMAND,
    RESERVED,
    SPOT,
    ListedPrice,
    PriceListFile,
    ProductFilter,
    price_number,
)

ROOT = "https://cloudbilling.googleapis.com/v1/services"
KEY = "GOOGLE_API_KEY"
"""Environment variable with the API key."""
WHAT = "a page of Google Cloud's SKUs"
PAGE_SIZE = 5000
"""Most entries that the list returns at once."""
_TERMS = {"OnDemand": (ON_DEMAND, ""), "Preemptible": (SPOT, "")}
_TERMS |= {"Commit1Yr": (RESERVED, "1yr"), "Commit3Yr": (RESERVED, "3yr")}


def list_url(service: str, currency: str) -> str:
    """Return the URL of a service's SKUs."""
    return f"{ROOT}/{service}/skus?pageSize={PAGE_SIZE}&currencyCode={currency}"


def read_page(data: Any, name: str) -> ListPage:
    """Parse a page, or a plain list of SKUs.

    Raises:
        AssayError: It is not a page.
    """
    skus = entries_of(data, "skus", name, WHAT)
    return ListPage(skus, str(data.get("nextPageToken") or "") if isinstance(data, dict) else "")


def next_url(url: str, token: str) -> str:
    """Return the URL of the next page: the same query with its token."""
    parts = urllib.parse.urlsplit(url)
    query = [pair for pair in urllib.parse.parse_qsl(parts.query) if pair[0] != "pageToken"]
    return parts._replace(query=urllib.parse.urlencode([*query, ("pageToken", token)])).geturl()


def collect_prices(
    skus: Iterable[Mapping[str, Any]], file: PriceListFile, currency: str, wanted: ProductFilter
) -> None:
    """Add the wanted prices to the file: for each SKU the newest one in force on the file's date.

    Raises:
        AssayError: A SKU has another form.
    """
    for sku in skus:
        try:
            attributes = attributes_of(sku)
            if not wanted(attributes) or attributes["usagetype"] not in _TERMS:
                continue
            pricing = [each for each in sku["pricingInfo"] if not file.date or _is_in_force(each, file)]
            if pricing:
                file.prices += _offered_prices(attributes, pricing[-1]["pricingExpression"], file, currency)
        except (KeyError, TypeError, AttributeError) as error:
            name = sku.get("skuId") or sku.get("description") or "a SKU"
            raise format_error(file.name, WHAT, f"{name} has another form ({error})") from None


def attributes_of(sku: Mapping[str, Any]) -> dict[str, str]:
    """Return the attributes that rules compare; regions are joined by spaces."""
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


def _is_in_force(pricing: Mapping[str, Any], file: PriceListFile) -> bool:
    start = str(pricing.get("effectiveTime") or "")
    return file.date is None or in_force(start, "", file.date)


def _offered_prices(
    attributes: Mapping[str, str], pricing: Mapping[str, Any], file: PriceListFile, currency: str
) -> Iterable[ListedPrice]:
    term, lease = _TERMS[attributes["usagetype"]]
    where = f"{file.name}, {attributes['sku']}"
    ranges = []
    for rate in pricing["tieredRates"]:
        money = rate["unitPrice"]
        price_currency = str(money.get("currencyCode") or currency)
        if price_currency != currency:
            file.skipped_currencies.add(price_currency)
            return
        begin = price_number(str(rate.get("startUsageAmount") or 0), where)
        ranges.append((begin, price_number(str(_amount(money)), where)))
    unit = str(pricing.get("usageUnit", ""))
    for start, price, end in ranges_with_ends(ranges):
        yield ListedPrice(attributes["sku"], attributes, term, lease, "", "", unit, price, start, end)


def _amount(money: Mapping[str, Any]) -> Decimal:
    """Return whole units and nanos as one number."""
    return Decimal(str(money.get("units") or 0)) + Decimal(str(money.get("nanos") or 0)).scaleb(-9)


GCP_PAGES = PagedList(WHAT, read_page, collect_prices, next_url)
