"""The providers whose public price lists are read."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from assay.model.money.price import PriceBook, PriceRow
from assay.rooms.pricelists.work import aws_items, azure_items, gcp_items
from assay.rooms.pricelists.work.azure import AZURE_PAGES
from assay.rooms.pricelists.work.gcp import GCP_PAGES
from assay.rooms.pricelists.work.pages import PagedList
from assay.rooms.pricelists.work.price_list import Attributes, ListedPrice, PriceListFile, ProductRule


@dataclass(frozen=True)
class Provider:
    """How the prices of one provider are found.

    Attributes:
        label: Name of its list in messages: a plural.
        pages: How pages are read; None: files are read as a stream, such as those of AWS.
        units: Unit of the list -> kind, and base units in one.
        rule_for: Returns the rule that finds a row's products.
        term_fits: Returns whether a price is on a row's term.
        list_urls: Returns the URLs of the lists that have a book's rows.
        index_key: Returns the index key of a product; an index finds its rules, because lists have millions of
            products.
        rule_keys: Returns the index keys of a rule.
    """

    name: str
    label: str
    pages: PagedList | None
    units: Mapping[str, tuple[str, int | None]]
    rule_for: Callable[[PriceRow], ProductRule | None]
    term_fits: Callable[[PriceRow, ListedPrice], bool]
    list_urls: Callable[[PriceBook], list[str]]
    index_key: Callable[[Attributes], str]
    rule_keys: Callable[[ProductRule], Sequence[str]]


def _service(attributes: Attributes) -> str:
    return attributes.get("servicecode", "")


def _by_service(rule: ProductRule) -> Sequence[str]:
    return rule.offers


def _by_usage(rule: ProductRule) -> Sequence[str]:
    return rule.usage if isinstance(rule, aws_items.AwsRule) else ()


PROVIDERS = {
    "aws": Provider(
        "aws",
        "AWS's price list files",
        None,
        aws_items.UNITS,
        aws_items.rule_for,
        aws_items.term_fits,
        aws_items.list_urls,
        aws_items.usage_of,
        _by_usage,
    ),
    "azure": Provider(
        "azure",
        "Azure's retail prices",
        AZURE_PAGES,
        azure_items.UNITS,
        azure_items.rule_for,
        azure_items.term_fits,
        azure_items.list_urls,
        _service,
        _by_service,
    ),
    "gcp": Provider(
        "gcp",
        "Google Cloud's SKUs",
        GCP_PAGES,
        gcp_items.UNITS,
        gcp_items.rule_for,
        gcp_items.term_fits,
        gcp_items.list_urls,
        _service,
        _by_service,
    ),
}


def source_of(provider: Provider, file: PriceListFile, prices: Sequence[ListedPrice]) -> str:
    """Return where a price was read, in words: the list, its name for the product, and the file if it is not public."""
    if provider.pages is None:
        return f"AWS price list of {file.offer}: {file.name}"
    first = prices[0].attributes
    names = [first.get("productname", ""), first.get("metername", "")]
    names += list(dict.fromkeys(each.attributes.get("description", "") for each in prices))
    what = ", ".join(name for name in names if name)
    return f"{provider.label}: {what}" + ("" if file.url else f" ({file.name})")


def url_of(file: PriceListFile, prices: Sequence[ListedPrice]) -> str:
    """Return the URL where a price can be looked up; empty: it was read from a file."""
    meter = prices[0].attributes.get("meterid", "")
    if not file.url or not re.fullmatch(r"[0-9A-Za-z-]+", meter):
        return file.url
    return f"{file.url}?$filter=meterId%20eq%20'{meter}'"
