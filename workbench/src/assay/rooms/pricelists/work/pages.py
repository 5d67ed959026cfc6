"""Price lists that come as pages of JSON: those of Azure and of Google Cloud."""

import datetime as dt
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from assay.model.base import AssayError
from assay.rooms.pricelists.work.price_list import ListedPrice, PriceListFile, ProductFilter

MAX_PAGE = 64 << 20
"""Most bytes of a page; real pages have less than one megabyte."""
MAX_PAGES = 2000
"""Most pages of one list; a service of one region has some hundred at most."""


@dataclass(frozen=True)
class ListPage:
    """A page of a list.

    Attributes:
        entries: Its entries.
        next_link: Link or token of the next page; empty: it is the last.
    """

    entries: tuple[dict[str, Any], ...]
    next_link: str


@dataclass(frozen=True)
class PagedList:
    """How a provider's pages are read.

    Attributes:
        what: What a page is, for messages.
        read_page: Parses a page.
        collect_prices: Adds the wanted prices of the entries of all pages to a file whose date and name are set.
        next_url: Returns the URL of the next page, from the URL of this page and its link or token.
    """

    what: str
    read_page: Callable[[Any, str], ListPage]
    collect_prices: Callable[[Iterable[Mapping[str, Any]], PriceListFile, str, ProductFilter], None]
    next_url: Callable[[str, str], str]


def decode_page(data: bytes, name: str, what: str) -> Any:
    """Parse a page as JSON; numbers with a decimal point stay text, so that they are exact.

    Raises:
        AssayError: It is not JSON, or is truncated.
    """
    try:
        text = data.decode("utf-8-sig")
        return json.loads(text, parse_float=str)
    except UnicodeDecodeError as error:
        raise AssayError(f"{name}: not UTF-8 text: {error.reason}", f"give {what}") from None
    except (RecursionError, OverflowError):
        raise format_error(name, what, "it is nested too deeply") from None
    except json.JSONDecodeError as error:
        if text.lstrip()[:1] in ("{", "[") and error.pos >= len(text.rstrip()) - 1:
            raise AssayError(f"{name}: the page is truncated", "download it again") from None
        raise format_error(name, what, f"line {error.lineno} is not JSON: {error.msg.lower()}") from None
    except ValueError:
        # Python refuses to parse integers of thousands of digits.
        raise format_error(name, what, "it has a number that is too long") from None


def format_error(name: str, what: str, why: str) -> AssayError:
    """Return the error for data in another format than expected."""
    return AssayError(f"{name}: not {what}: {why}", f"give {what}")


def entries_of(data: Any, key: str, name: str, what: str) -> tuple[dict[str, Any], ...]:
    """Return the entries of a page, or of a plain list.

    Raises:
        AssayError: It has no list of entries.
    """
    entries = data.get(key) if isinstance(data, dict) else data
    if not isinstance(entries, list) or not all(isinstance(each, dict) for each in entries):
        raise format_error(name, what, f"it has no list of {key}")
    return tuple(entries)


def in_force(start: str, end: str, day: dt.date) -> bool:
    """Return whether a price is valid at noon of a day: lists end a price at midnight, or a minute before."""
    return (not start or start[:10] <= str(day)) and (not end or end[:16] > f"{day}T12:00")


def ranges_with_ends(ranges: Iterable[tuple[Decimal, Decimal]]) -> list[tuple[Decimal, Decimal, Decimal | None]]:
    """Return start, price and end of each range, from start and price: each range ends where the next one starts."""
    ordered = sorted(ranges)
    ends: list[Decimal | None] = [start for start, _ in ordered[1:]]
    return [(start, price, end) for (start, price), end in zip(ordered, [*ends, None], strict=True)]


def flat_price(
    sku: str, attributes: Mapping[str, str], term: str, lease: str, paid: str, unit: str, price: Decimal
) -> ListedPrice:
    """Return a price without ranges."""
    return ListedPrice(sku, attributes, term, lease, paid, "", unit, price, Decimal(0), None)
