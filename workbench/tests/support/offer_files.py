"""Small AWS price list files in their real format: the same products as CSV and as JSON."""

import csv
import datetime as dt
import io
import json
from dataclasses import dataclass, field

TITLES = {
    "instanceType": "Instance Type",
    "operatingSystem": "Operating System",
    "tenancy": "Tenancy",
    "preInstalledSw": "Pre Installed S/W",
    "capacitystatus": "CapacityStatus",
    "usagetype": "usageType",
    "operation": "operation",
    "location": "Location",
    "locationType": "Location Type",
    "regionCode": "Region Code",
    "volumeType": "Volume Type",
    "volumeApiName": "Volume API Name",
    "storageClass": "Storage Class",
    "accessType": "Access Type",
    "fileSystemType": "File System Type",
    "transferType": "Transfer Type",
    "fromLocation": "From Location",
    "fromRegionCode": "From Region Code",
    "toLocation": "To Location",
    "toRegionCode": "To Region Code",
    "virtualInterfaceType": "Virtual Interface Type",
    "group": "Group",
}
PRICE_COLUMNS = (
    *("SKU", "OfferTermCode", "RateCode", "TermType", "PriceDescription", "EffectiveDate", "StartingRange"),
    *("EndingRange", "Unit", "PricePerUnit", "Currency", "RelatedTo", "LeaseContractLength", "PurchaseOption"),
    *("OfferingClass", "Product Family", "serviceCode"),
)


PUBLISHED = f"{dt.date.today()}T10:00:00Z"


@dataclass
class Price:
    """One price dimension; of a reservation with its term."""

    unit: str
    usd: str
    start: str = "0"
    end: str = "Inf"
    lease: str = ""
    paid: str = ""
    offering: str = ""
    currency: str = "USD"


@dataclass
class Product:
    family: str
    attributes: dict[str, str]
    prices: list[Price] = field(default_factory=list)


def as_csv(offer: str, products: list[Product], date: str = PUBLISHED) -> str:
    """As index.csv: five lines on the file, then the columns, then a line for each price."""
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
    head = {"FormatVersion": "v1.0", "Disclaimer": "For information, only", "Publication Date": date}
    writer.writerows([*head.items(), ("Version", "20261120100000"), ("OfferCode", offer)])
    writer.writerow([*PRICE_COLUMNS, *TITLES.values()])
    for place, product in enumerate(products):
        for number, price in enumerate(product.prices):
            term = "Reserved" if price.lease else "OnDemand"
            ranges = ("", "") if price.unit == "Quantity" else (price.start, price.end)
            codes = (f"SKU{place}", f"T{price.lease}{price.paid}{price.offering}", f"SKU{place}.T.{number}", term)
            of_term = (price.lease, price.paid, price.offering)
            named = (product.attributes.get(name, "") for name in TITLES)
            money = (*ranges, price.unit, price.usd, price.currency, "")
            words = ("described, in words", "2026-11-01")
            writer.writerow([*codes, *words, *money, *of_term, product.family, offer, *named])
    return out.getvalue()


def as_json(offer: str, products: list[Product], date: str = PUBLISHED) -> str:
    """As index.json: products by SKU, then terms by kind and SKU."""
    listed, terms = {}, {"OnDemand": {}, "Reserved": {}}
    for place, product in enumerate(products):
        sku = f"SKU{place}"
        attributes = {"servicecode": offer, **product.attributes}
        listed[sku] = {"sku": sku, "productFamily": product.family, "attributes": attributes}
        for number, price in enumerate(product.prices):
            code = f"{sku}.T{price.lease}{price.paid}{price.offering}".replace(" ", "")
            of_kind = terms["Reserved" if price.lease else "OnDemand"].setdefault(sku, {})
            named = {"LeaseContractLength": price.lease, "PurchaseOption": price.paid, "OfferingClass": price.offering}
            offered = of_kind.setdefault(
                code, {"sku": sku, "termAttributes": named if price.lease else {}, "priceDimensions": {}}
            )
            ranges = {} if price.unit == "Quantity" else {"beginRange": price.start, "endRange": price.end}
            offered["priceDimensions"][f"{code}.{number}"] = {
                **ranges,
                "unit": price.unit,
                "pricePerUnit": {price.currency: price.usd},
                "appliesTo": [],
            }
    head = {"formatVersion": "v1.0", "disclaimer": "{[", "offerCode": offer, "publicationDate": date}
    return json.dumps({**head, "products": listed, "terms": terms, "attributesList": {}}, indent=2)


def instance(name: str, usd: str, *more: Price, prefix: str = "", **changes: str) -> Product:
    """A Linux instance with shared tenancy."""
    attributes = {
        "instanceType": name,
        "operatingSystem": "Linux",
        "tenancy": "Shared",
        "preInstalledSw": "NA",
        "capacitystatus": "Used",
        "usagetype": f"{prefix}BoxUsage:{name}",
        "operation": "RunInstances",
        "location": "US East (N. Virginia)",
        "locationType": "AWS Region",
        "regionCode": "us-east-1",
    }
    return Product("Compute Instance", attributes | changes, [Price("Hrs", usd), *more])


def plain(usage: str, *prices: Price, family: str = "Storage", **attributes: str) -> Product:
    """A product of us-east-1 by its usage type."""
    place = {"location": "US East (N. Virginia)", "locationType": "AWS Region", "regionCode": "us-east-1"}
    return Product(family, {**place, "usagetype": usage, **attributes}, list(prices))
