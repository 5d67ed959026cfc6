"""Read a provider's price lists from the network or from copies."""

import contextlib
import datetime as dt
import gzip
import http.client
import io
import os
import urllib.error
import urllib.parse
import urllib.request
import zlib
from collections.abc import Iterator, Sequence
from typing import IO, Any, TextIO, cast

from assay.model.base import EXIT_INCOMPLETE, AssayError, warning
from assay.model.money.price import PriceBook
from assay.model.user_files import UnreadableError, open_user_file
from assay.model.user_text import first_unprintable
from assay.rooms.pricelists.work import gcp
from assay.rooms.pricelists.work.aws import read_offers, savings_table_url
from assay.rooms.pricelists.work.aws_items import PLANS
from assay.rooms.pricelists.work.pages import MAX_PAGE, MAX_PAGES, ListPage, PagedList, decode_page
from assay.rooms.pricelists.work.price_list import PriceListFile, ProductFilter
from assay.rooms.pricelists.work.providers import Provider
from assay.terminal.output import note

TIMEOUT_SECONDS = 60
MAX_BYTES = 16 << 30
"""Size of a price list file at most. It is read as a stream; those of EC2 have gigabytes."""
HINT = "fetch the files elsewhere and name them with --from FILE"
_MISSING_STATUSES = (403, 404)
"""HTTP status codes of Amazon's file server for a missing file."""


def read_lists(
    provider: Provider,
    refs: Sequence[str],
    book: PriceBook,
    wanted: ProductFilter,
    allow_missing: bool,
    fetched_on: dt.date | None,
) -> list[PriceListFile]:
    """Read the offers for the wanted products from price lists.

    Args:
        provider: Provider of the lists.
        refs: Addresses and paths; for lists of pages the address of each list's first page, or all pages as files.
        book: The price book to renew; the prices are read in its currency.
        wanted: Picks the products.
        allow_missing: Note and skip a file that the server does not have.
        fetched_on: When files without a date of their own were fetched; None: not stated.

    Raises:
        AssayError: A list cannot be read, or is not a price list.
    """
    for ref in refs:
        if first_unprintable(ref):
            raise AssayError(f"{ref!r} has an unprintable character", "rename the file")
    if provider.pages:
        _check_key(refs)
        return _read_paged(provider.pages, refs, book, wanted, fetched_on)
    files = []
    for ref in refs:
        note(f"reading {ref}")
        with _one_line_errors(ref, allow_missing):
            address = _plans_of(book.region) if ref == PLANS else ref
            with _opened(address) as data, _as_text(data) as text:
                file = _not_in_future(read_offers(text, address, book.currency, wanted))
                _read_to_end(text)
            file.url = address if _is_address(address) else ""
            files.append(file)
    return files


def _check_key(refs: Sequence[str]) -> None:
    """Raise an error if Google's list is to be read without an API key."""
    if any(_needs_key(ref) for ref in refs) and not os.environ.get(gcp.KEY):
        message = f"Google Cloud's price list needs an API key, but the environment variable {gcp.KEY} is not set"
        raise AssayError(message, f"set {gcp.KEY}, or name a list that was fetched elsewhere with --from FILE")


def _needs_key(ref: str) -> bool:
    return ref.startswith(gcp.ROOT + "/")


def _read_paged(
    pages: PagedList, refs: Sequence[str], book: PriceBook, wanted: ProductFilter, fetched_on: dt.date | None
) -> list[PriceListFile]:
    """Read lists of several pages: follow each address to its last page; files are the pages of one list."""
    files, today = [], dt.date.today()
    copies = [ref for ref in refs if not _is_address(ref)]
    if copies and fetched_on is None:
        raise AssayError(f"{copies[0]} does not say when it was fetched", "add --read-on DATE")
    for ref in (ref for ref in refs if _is_address(ref)):
        try:
            urllib.parse.urlsplit(ref)
        except ValueError as error:
            raise AssayError(f"--from {ref}: not an address: {error}", "write https://HOST/PATH") from None
        note(f"reading {ref}")
        # Without the query: it may be long, and is no part of the source of a price.
        file = PriceListFile(ref, date=today, url=urllib.parse.urlsplit(ref)._replace(query="").geturl())
        pages.collect_prices(
            (entry for page in _pages(pages, ref) for entry in page.entries), file, book.currency, wanted
        )
        files.append(file)
    if copies:
        file = PriceListFile(", ".join(copies), date=fetched_on)
        read = []
        for ref in copies:
            note(f"reading {ref}")
            read.append(_page(pages, ref))
        pages.collect_prices((entry for page in read for entry in page.entries), file, book.currency, wanted)
        if len(copies) <= sum(bool(page.next_link) for page in read):
            note(warning(f"{copies[-1]} is not the last page of the list: prices on the other pages keep their values"))
        files.append(file)
    return files


def _pages(pages: PagedList, ref: str) -> Iterator[ListPage]:
    address = ref
    visited: set[str] = set()
    while address:
        if address in visited:
            raise AssayError(f"{ref}: its pages lead back to {address[:200]}", HINT, EXIT_INCOMPLETE)
        if len(visited) >= MAX_PAGES:
            raise AssayError(f"{ref}: it has more than {MAX_PAGES} pages", HINT, EXIT_INCOMPLETE)
        visited.add(address)
        page = _page(pages, address)
        yield page
        address = pages.next_url(address, page.next_link) if page.next_link else ""


def _page(pages: PagedList, ref: str) -> ListPage:
    with _one_line_errors(ref, may_lack=False):
        data = _whole(ref)
    return pages.read_page(decode_page(data, ref, pages.what), ref)


def _whole(ref: str) -> bytes:
    with _opened(ref) as file:
        data = _unpacked(file).read(MAX_PAGE + 1)
        if len(data) > MAX_PAGE:
            raise OSError(f"a page has more than {MAX_PAGE >> 20} MiB")
    return data


def _plans_of(region: str) -> str:
    """Return the address of a region's savings plans, from their index."""
    return savings_table_url(decode_page(_whole(PLANS), PLANS, "an index of AWS's price lists"), region, PLANS)


@contextlib.contextmanager
def _one_line_errors(ref: str, may_lack: bool) -> Iterator[None]:
    """Turn errors about a list into an AssayError of one line; with `may_lack`, warn about a missing file instead."""
    try:
        yield
    except urllib.error.HTTPError as error:
        if 300 <= error.code < 400:
            endless = "infinite loop" in str(error.reason)
            why = "redirects endlessly" if endless else f"redirects to a forbidden address ({error.code})"
            raise AssayError(f"{ref}: the server {why}", HINT, EXIT_INCOMPLETE) from None
        if not may_lack or error.code not in _MISSING_STATUSES:
            raise AssayError(f"{ref}: the server answers {error.code} {_reason(error)}", HINT) from None
        note(warning(f"{ref}: the server has no such file; the prices in it stay as they are"))
    except UnreadableError as error:
        raise AssayError(error.message, HINT, EXIT_INCOMPLETE) from None
    except UnicodeDecodeError as error:
        raise AssayError(f"{ref}: not UTF-8 text: {error.reason}", "give an index.csv or index.json") from None
    except (OSError, EOFError, zlib.error, http.client.HTTPException, ValueError) as error:
        raise AssayError(f"cannot read {ref}: {_reason(error).lower()}", HINT, EXIT_INCOMPLETE) from None


def _not_in_future(file: PriceListFile) -> PriceListFile:
    """Return the file with a date of today at most; raise an error if it is dated after today in UTC.

    West of UTC the local date may still be yesterday's.
    """
    if file.date is not None and file.date > dt.datetime.now(dt.UTC).date():
        hint = "fetch the file again, or set the clock of this machine"
        raise AssayError(f"{file.name}: its publication date {file.date} is in the future", hint)
    file.date = min(file.date, dt.date.today()) if file.date else None
    return file


def _reason(error: Exception) -> str:
    inner = error.reason if isinstance(error, urllib.error.URLError) else error
    text = (inner.strerror if isinstance(inner, OSError) else None) or str(inner) or type(inner).__name__
    return " ".join(text.split())


def _is_address(ref: str) -> bool:
    return ref.startswith(("http://", "https://"))


@contextlib.contextmanager
def _opened(ref: str) -> Iterator[io.BufferedReader]:
    """Yield the bytes of a file or of a server's answer; raise OSError if the answer ends early."""
    if not _is_address(ref):
        with open_user_file(ref, f"cannot read {ref}", HINT, MAX_BYTES) as file:
            yield cast("io.BufferedReader", file)
        return
    request = urllib.request.Request(ref, headers={"Accept-Encoding": "gzip", "User-Agent": "assay"})
    if _needs_key(ref):
        # The key is for this server only: not for a redirect, and not for messages.
        request.add_unredirected_header("X-Goog-Api-Key", os.environ.get(gcp.KEY, ""))
    with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
        length = answer.headers.get("Content-Length")
        counted = _Counted(answer)
        yield cast("io.BufferedReader", io.BufferedReader(counted))
        # Only the count shows that a server stopped early.
        if length is not None and counted.ended and counted.count != int(length):
            raise OSError(f"{counted.count} of {length} bytes received")


class _Counted(io.RawIOBase):
    """A raw stream over a server's answer that counts its bytes."""

    def __init__(self, answer: http.client.HTTPResponse) -> None:
        super().__init__()
        self.answer, self.count, self.ended = answer, 0, False

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into `buffer` and count the bytes."""
        size = self.answer.readinto(buffer)
        self.count += size
        self.ended = self.ended or not size
        return size


def _read_to_end(text: TextIO) -> None:
    """Read to the end, so that all bytes are counted: the reader of a list stops at its last character."""
    text.read(2**20)


def _unpacked(file: IO[bytes] | io.BufferedReader) -> IO[bytes]:
    start = cast("io.BufferedReader", file).peek(2)[:2]
    return cast("IO[bytes]", gzip.GzipFile(fileobj=file) if start == b"\x1f\x8b" else file)


def _as_text(file: IO[bytes] | io.BufferedReader) -> TextIO:
    return io.TextIOWrapper(cast("io.BufferedReader", _unpacked(file)), encoding="utf-8", newline="")
