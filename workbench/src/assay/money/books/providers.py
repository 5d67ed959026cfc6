"""The providers whose public price lists are read."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from assay.model.money.price import Book, Row
from assay.money.books import azure_items, gcp_items, offers
from assay.money.books.azure import AZURE_PAGES
from assay.money.books.gcp import GCP_PAGES
from assay.money.books.listed import Attributes, Offered, OfferFile, Rule
from assay.money.books.pages import PagedList


@dataclass(frozen=True)
class Provider:
    """How the prices of one provider are found.

    Attributes:
        label: Its list, for texts: a plural.
        pages: How pages are read; None: files are read as they come, such as those of AWS.
        units: What the list's units mean.
        key: A word of a product by which its rules are found at once: lists have millions of products.
        keys: The words by which a rule is found.
    """

    name: str
    label: str
    pages: PagedList | None
    units: Mapping[str, tuple[str, int | None]]
    rule_for: Callable[[Row], Rule | None]
    term_fits: Callable[[Row, Offered], bool]
    addresses: Callable[[Book], list[str]]
    key: Callable[[Attributes], str]
    keys: Callable[[Rule], Sequence[str]]


def _service(attributes: Attributes) -> str:
    return attributes.get("servicecode", "")


def _by_service(rule: Rule) -> Sequence[str]:
    return rule.offers


def _by_usage(rule: Rule) -> Sequence[str]:
    return rule.usage if isinstance(rule, offers.Rule) else ()


PROVIDERS = {
    "aws": Provider(
        "aws",
        "AWS's price list files",
        None,
        offers.UNITS,
        offers.rule_for,
        offers.term_fits,
        offers.addresses,
        offers.usage_of,
        _by_usage,
    ),
    "azure": Provider(
        "azure",
        "Azure's retail prices",
        AZURE_PAGES,
        azure_items.UNITS,
        azure_items.rule_for,
        azure_items.term_fits,
        azure_items.addresses,
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
        gcp_items.addresses,
        _service,
        _by_service,
    ),
}


def source_of(provider: Provider, file: OfferFile, found: Sequence[Offered]) -> str:
    """Where a price was read, in words: the list, what it calls the thing, and the file if it is not public."""
    if provider.pages is None:
        return f"AWS price list of {file.offer}: {file.name}"
    first = found[0].attributes
    names = [first.get("productname", ""), first.get("metername", "")]
    names += list(dict.fromkeys(each.attributes.get("description", "") for each in found))
    what = ", ".join(name for name in names if name)
    return f"{provider.label}: {what}" + ("" if file.url else f" ({file.name})")


def url_of(file: OfferFile, found: Sequence[Offered]) -> str:
    """Where a price can be looked up again; empty: it was read from a file."""
    meter = found[0].attributes.get("meterid", "")
    if not file.url or not re.fullmatch(r"[0-9A-Za-z-]+", meter):
        return file.url
    return f"{file.url}?$filter=meterId%20eq%20'{meter}'"
