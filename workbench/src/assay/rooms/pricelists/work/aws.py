"""AWS price list files, as https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws publishes them, in CSV or JSON.

They are read as a stream, because those of EC2 have hundreds of megabytes to gigabytes; unwanted entries are dropped
at once. Format: docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/reading-service-price-list-file-for-
services.html. Files of savings plans have another format: see `savings`.
"""

import csv
import datetime as dt
import itertools
from collections.abc import Iterator, Mapping
from typing import Any, TextIO

from assay.model.base import AssayError
from assay.rooms.pricelists.work.aws_savings import RATE, csv_rate, read_rates
from assay.rooms.pricelists.work.price_list import (
    Attributes,
    ListedPrice,
    PriceListFile,
    ProductFilter,
    attribute_key,
    price_number,
    price_range,
    truncated_error,
)
from assay.rooms.pricelists.work.stream import Stream

HOST = "https://pricing.us-east-1.amazonaws.com"
ROOT = f"{HOST}/offers/v1.0/aws"
WHAT, HINT = "an AWS price list file", "give an index.csv or index.json of one service"
HEAD_LINES = 20
"""The line with the column names is among the first so many lines."""
_PRICES = {"termtype", "startingrange", "endingrange", "unit", "priceperunit", "currency"}
_RATES = {RATE, "currency", "unit", "discountedsku", "discountedusagetype", "discountedservicecode", "purchaseoption"}


def read_offers(text: TextIO, name: str, currency: str, wanted: ProductFilter) -> PriceListFile:
    """Read the prices of the wanted products.

    Args:
        text: The file, opened with newline="".
        name: Its name or URL, for messages.
        currency: Prices in other currencies are left out.
        wanted: Returns whether a product is wanted.

    Raises:
        AssayError: It is not an AWS price list file, or is truncated.
    """
    file = PriceListFile(name)
    stream = Stream(text, name, WHAT, HINT)
    reader = _read_json if stream.first_char == "{" else _read_csv
    reader(stream, file, currency, wanted)
    if not file.offer or file.date is None:
        raise stream.format_error("it has no offer code or no publication date")
    return file


def _date(text: str, stream: Stream) -> dt.date:
    try:
        return dt.date.fromisoformat(text[:10])
    except ValueError:
        raise stream.format_error(f"its publication date is {text[:40]!r}") from None


def _read_csv(stream: Stream, file: PriceListFile, currency: str, wanted: ProductFilter) -> None:
    reader = csv.reader(stream.lines())
    try:
        columns, width = _csv_head(stream, reader, file)
        parse = csv_rate if RATE in columns else _csv_offer
        for cells in reader:
            if not cells:
                continue
            where = f"{file.name}:{reader.line_num}"
            if stream.cut or len(cells) < width:
                raise truncated_error(where)
            attributes = _Cells(columns, cells)
            if wanted(attributes):
                price_currency = attributes.get("currency", "")
                if price_currency == currency:
                    file.prices.append(parse(attributes, where))
                else:
                    file.skipped_currencies.add(price_currency)
        if stream.cut:
            raise truncated_error(file.name)
    except csv.Error as error:
        raise stream.format_error(str(error)) from None


class _Cells(Mapping[str, str]):
    """A line of a table as a mapping from column names to cells, without a copy."""

    def __init__(self, columns: Mapping[str, int], cells: list[str]) -> None:
        self.columns, self.cells = columns, cells

    def __getitem__(self, key: str) -> str:
        place = self.columns[key]
        return self.cells[place].strip() if place < len(self.cells) else ""

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)


def _csv_head(stream: Stream, reader: Iterator[list[str]], file: PriceListFile) -> tuple[dict[str, int], int]:
    """Return the columns by name and their number; the lines before the column names give the service and date."""
    for cells in itertools.islice(reader, HEAD_LINES):
        keys = [attribute_key(cell) for cell in cells]
        if keys[:1] == ["sku"]:
            columns = {key: place for place, key in reversed(list(enumerate(keys)))}
            missing = (_RATES if RATE in columns else _PRICES) - set(columns)
            if missing:
                raise stream.format_error(f"it has no column {min(missing)}")
            if RATE in columns:
                # The rate is for the discounted product; the plan's own usage type does not matter.
                columns["usagetype"] = columns["discountedusagetype"]
                columns["servicecode"] = columns["discountedservicecode"]
                columns["regioncode"] = columns.get("discountedregioncode", len(cells))
            columns["family"] = columns.get("productfamily", len(cells))
            return columns, len(cells)
        if keys[:1] == ["offercode"] and len(cells) > 1:
            file.offer = cells[1]
        if keys[:1] == ["publicationdate"] and len(cells) > 1:
            file.date = _date(cells[1], stream)
    raise stream.format_error("no line names the columns, SKU first")


def _csv_offer(cells: Attributes, where: str) -> ListedPrice:
    start, end = price_range(cells["startingrange"], cells["endingrange"], where)
    return ListedPrice(
        sku=cells["sku"],
        attributes={key: value for key, value in cells.items() if value},
        term=cells["termtype"],
        lease=cells.get("leasecontractlength", ""),
        payment=cells.get("purchaseoption", ""),
        offering=cells.get("offeringclass", ""),
        unit=cells["unit"],
        price=price_number(cells["priceperunit"], where),
        start=start,
        end=end,
    )


def _read_json(stream: Stream, file: PriceListFile, currency: str, wanted: ProductFilter) -> None:
    products: dict[str, Attributes] = {}
    has_products = False
    for key in stream.members():
        if key == "products":
            has_products = True
            if stream.peek() == "[":
                products = _json_plans(stream)
                file.offer = "AWSComputeSavingsPlan"
                continue
            for sku in stream.members():
                attributes = _json_product(stream, sku, stream.value())
                if wanted(attributes):
                    products[sku] = attributes
        elif key == "terms":
            if not has_products:
                raise stream.format_error("the terms come before the products")
            _json_terms(stream, file, currency, products, wanted)
        else:
            value = stream.value()
            if key == "offerCode":
                file.offer = str(value)
            elif key == "publicationDate":
                file.date = _date(str(value), stream)


def _json_product(stream: Stream, sku: str, product: Any) -> Attributes:
    try:
        attributes = {attribute_key(key): str(value) for key, value in product["attributes"].items()}
    except (TypeError, KeyError, AttributeError):
        raise stream.format_error("a product has no attributes") from None
    return attributes | {"family": str(product.get("productFamily", "")), "sku": sku}


def _json_plans(stream: Stream) -> dict[str, Attributes]:
    """Return the plans of a file of savings plans, by SKU."""
    plans: dict[str, Attributes] = {}
    for _ in stream.elements():
        plan = stream.value()
        sku = str(plan.get("sku", "")) if isinstance(plan, dict) else ""
        plans[sku] = _json_product(stream, sku, plan)
    return plans


def _json_terms(
    stream: Stream, file: PriceListFile, currency: str, products: Mapping[str, Attributes], wanted: ProductFilter
) -> None:
    for term in stream.members():
        if stream.peek() == "[":
            read_rates(stream, file, currency, products, wanted)
            continue
        for sku in stream.members():
            offers = stream.value()
            if sku in products:
                try:
                    file.prices += _json_offers(sku, products[sku], term, offers, currency, file)
                except (TypeError, KeyError, AttributeError):
                    raise stream.format_error(f"a term of {sku} has another form") from None


def _json_offers(
    sku: str, attributes: Attributes, term: str, offers: Any, currency: str, file: PriceListFile
) -> Iterator[ListedPrice]:
    for offer in offers.values():
        of_term = {attribute_key(key): value for key, value in offer.get("termAttributes", {}).items()}
        for code, dimension in offer["priceDimensions"].items():
            price = dimension["pricePerUnit"].get(currency)
            if price is None:
                file.skipped_currencies.update(dimension["pricePerUnit"])
                continue
            where = f"{file.name}, {code}"
            start, end = price_range(dimension.get("beginRange", "0"), dimension.get("endRange", "Inf"), where)
            yield ListedPrice(
                sku=sku,
                attributes=attributes,
                term=term,
                lease=of_term.get("leasecontractlength", ""),
                payment=of_term.get("purchaseoption", ""),
                offering=of_term.get("offeringclass", ""),
                unit=str(dimension["unit"]),
                price=price_number(str(price), where),
                start=start,
                end=end,
            )


def savings_table_url(index: Any, region: str, where: str) -> str:
    """Return the URL of a region's savings plan table, from an index of regions.

    Raises:
        AssayError: It is not such an index, or does not have the region.
    """
    regions = index.get("regions") if isinstance(index, dict) else None
    if isinstance(regions, dict):
        regions = list(regions.values())
    for each in regions if isinstance(regions, list) else []:
        if isinstance(each, dict) and each.get("regionCode") == region:
            path = str(each.get("versionUrl") or each.get("currentVersionUrl") or "")
            if path.startswith("/"):
                return HOST + path.removesuffix(".json") + ".csv"
    raise AssayError(f"{where}: it has no list of the region {region}", "name the list with --from URL|FILE")
