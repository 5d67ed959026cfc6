"""Azure's public list of retail prices: https://prices.azure.com/api/retail/prices, pages of JSON.

Format: learn.microsoft.com/rest/api/cost-management/retail-prices/azure-retail-prices. Each entry is one price of one
meter in one region, for a quantity from `tierMinimumUnits` on, valid from `effectiveStartDate`. The list has no date
of its own: its prices are dated by the day they are read. The price of a reservation is the total of its term.
"""

import urllib.parse
from collections import defaultdict
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from assay.model.base import AssayError
from assay.rooms.pricelists.work.pages import (
    ListPage,
    PagedList,
    entries_of,
    flat_price,
    format_error,
    in_force,
    ranges_with_ends,
)
from assay.rooms.pricelists.work.price_list import (
    ON_DEMAND,
    RESERVED,
    SAVINGS,
    SPOT,
    WHOLE_TERM,
    ListedPrice,
    PriceListFile,
    ProductFilter,
    price_number,
)

ROOT = "https://prices.azure.com/api/retail/prices"
VERSION = "2023-01-01-preview"
"""Version of the interface that includes savings plans."""
WHAT = "a page of Azure's retail prices"
_NEEDED = ("retailPrice", "currencyCode", "meterName", "productName", "skuName", "serviceName", "unitOfMeasure", "type")
_NAMES = {
    "serviceName": "servicecode",
    "productName": "productname",
    "skuName": "skuname",
    "meterName": "metername",
    "armSkuName": "armskuname",
    "armRegionName": "regioncode",
    "meterId": "meterid",
    "skuId": "sku",
    "type": "type",
    "unitOfMeasure": "unit",
}


def list_url(query: str, currency: str) -> str:
    """Return the URL of the entries that a filter selects."""
    words = {"api-version": VERSION, "currencyCode": f"'{currency}'", "$filter": query}
    return f"{ROOT}?" + urllib.parse.urlencode(words, quote_via=urllib.parse.quote, safe="$'")


def read_page(data: Any, name: str) -> ListPage:
    """Parse a page, or a plain list of entries.

    Raises:
        AssayError: It is not a page, or has another number of entries than it states.
    """
    entries = entries_of(data, "Items", name, WHAT)
    if not isinstance(data, dict):
        return ListPage(entries, "")
    count = data.get("Count")
    if isinstance(count, int) and count != len(entries):
        raise AssayError(f"{name}: the page is truncated: {len(entries)} of {count} entries", "download it again")
    return ListPage(entries, str(data.get("NextPageLink") or ""))


def next_url(url: str, link: str) -> str:
    """Return the URL of the next page, which must be on the same server.

    Raises:
        AssayError: The link is not a URL, or leads to another server.
    """
    try:
        here, there = urllib.parse.urlsplit(url), urllib.parse.urlsplit(link)
    except ValueError:
        raise AssayError(
            f"{url}: the link to the next page is not a URL: {link[:200]}", "give the pages with --from"
        ) from None
    if (here.scheme, here.hostname) != (there.scheme, there.hostname):
        raise AssayError(
            f"{url}: the link to the next page leads to another server: {link[:200]}", "give the pages with --from FILE"
        )
    return link


def collect_prices(
    entries: Iterable[Mapping[str, Any]], file: PriceListFile, currency: str, wanted: ProductFilter
) -> None:
    """Add the wanted prices that are in force on the file's date to the file.

    Of two entries for one range, the one with the later start date counts.

    Raises:
        AssayError: An entry lacks a field, or has an invalid price.
    """
    by_meter: dict[tuple[str, ...], dict[Decimal, Mapping[str, Any]]] = defaultdict(dict)
    for entry in entries:
        missing = next((key for key in _NEEDED if key not in entry), None)
        if missing:
            raise format_error(file.name, WHAT, f"an entry has no {missing}")
        start, end = str(entry.get("effectiveStartDate") or ""), str(entry.get("effectiveEndDate") or "")
        if not wanted(attributes_of(entry)) or (file.date and not in_force(start, end, file.date)):
            continue
        if entry["currencyCode"] != currency:
            file.skipped_currencies.add(str(entry["currencyCode"]))
            continue
        begin = price_number(str(entry.get("tierMinimumUnits") or 0), _place_text(entry, file))
        ranges = by_meter[_key(entry)]
        if begin not in ranges or str(ranges[begin].get("effectiveStartDate") or "") < start:
            ranges[begin] = entry
    for ranges in by_meter.values():
        file.prices += _offered_prices(ranges, file)


def attributes_of(entry: Mapping[str, Any]) -> dict[str, str]:
    """Return the attributes that rules compare."""
    return {name: str(entry.get(key) or "") for key, name in _NAMES.items()}


def _key(entry: Mapping[str, Any]) -> tuple[str, ...]:
    names = (
        "meterId",
        "skuId",
        "armSkuName",
        "armRegionName",
        "type",
        "reservationTerm",
        "unitOfMeasure",
        "productName",
    )
    return tuple(str(entry.get(name) or "") for name in names)


def _place_text(entry: Mapping[str, Any], file: PriceListFile) -> str:
    return f"{file.name}, {entry['productName']}, {entry['meterName']}"


def _offered_prices(ranges: Mapping[Decimal, Mapping[str, Any]], file: PriceListFile) -> Iterable[ListedPrice]:
    entry = next(iter(ranges.values()))
    attributes, where = attributes_of(entry), _place_text(entry, file)
    sku, unit = attributes["sku"], attributes["unit"]
    prices = {begin: price_number(str(each["retailPrice"]), where) for begin, each in ranges.items()}
    if entry["type"] == "Reservation":
        lease = _lease(entry.get("reservationTerm"))
        yield from (flat_price(sku, attributes, RESERVED, lease, "", WHOLE_TERM, price) for price in prices.values())
        return
    if entry["type"] != "Consumption":
        return
    term = SPOT if attributes["metername"].endswith(" Spot") else ON_DEMAND
    for start, price, end in ranges_with_ends(prices.items()):
        yield ListedPrice(sku, attributes, term, "", "", "", unit, price, start, end)
    plans = entry.get("savingsPlan") or []
    for plan in plans if term == ON_DEMAND else []:
        price = price_number(str(plan.get("retailPrice", "")), where)
        yield flat_price(sku, attributes, SAVINGS, _lease(plan.get("term")), "No Upfront", unit, price)


def _lease(term: object) -> str:
    """Return the lease of a term: `3 Years` -> `3yr`."""
    return str(term or "").split(" ", 1)[0] + "yr"


AZURE_PAGES = PagedList(WHAT, read_page, collect_prices, next_url)
