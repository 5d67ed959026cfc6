"""Reading a provider's price list files, from the network or from a copy."""

import contextlib
import datetime as dt
import gzip
import http.client
import io
import urllib.error
import urllib.request
import zlib
from collections.abc import Iterator, Sequence
from typing import IO, Any, TextIO, cast

from assay.cli.output import note
from assay.model.base import EXIT_INCOMPLETE, AssayError
from assay.model.named import UnreadableError, opened
from assay.model.written import unprintable
from assay.money.books.bulk import OfferFile, Wanted, read_offers

TIMEOUT_S = 60
MOST_BYTES = 16 << 30
"""Of a price list file. It is read as a stream; those of EC2 have gigabytes."""
HINT = "fetch the files elsewhere and name them with --from FILE"
_GONE = (403, 404)
"""Amazon's file server answers so where there is no such file."""


def read_files(refs: Sequence[str], currency: str, wanted: Wanted, may_lack: bool) -> list[OfferFile]:
    """What price list files say of the products that are wanted.

    Args:
        refs: Addresses and paths.
        currency: Of the prices.
        wanted: Picks the products.
        may_lack: A file that the server does not have is noted and left out.

    Raises:
        AssayError: A file cannot be read, or is none.
    """
    files = []
    for ref in refs:
        if unprintable(ref):
            raise AssayError(f"{ref!r} has an unprintable character", "rename the file")
        note(f"reading {ref}")
        try:
            with _opened(ref) as text:
                files.append(_of_the_past(read_offers(text, ref, currency, wanted)))
        except urllib.error.HTTPError as error:
            if not may_lack or error.code not in _GONE:
                raise AssayError(f"{ref}: the server answers {error.code} {error.reason}", HINT) from None
            note(f"warning: {ref}: the server has no such file; the prices in it stay as they are")
        except UnreadableError as error:
            raise AssayError(error.message, HINT, EXIT_INCOMPLETE) from None
        except UnicodeDecodeError as error:
            raise AssayError(f"{ref}: not UTF-8 text: {error.reason}", "give an index.csv or index.json") from None
        except (OSError, EOFError, zlib.error, http.client.HTTPException, ValueError) as error:
            raise AssayError(f"cannot read {ref}: {_reason(error)}", HINT, EXIT_INCOMPLETE) from None
    return files


def _of_the_past(file: OfferFile) -> OfferFile:
    """The file if it is published already; where today has not begun yet, one of today in UTC is of today too."""
    if file.date is not None and file.date > dt.datetime.now(dt.UTC).date():
        hint = "fetch the file anew, or set the clock of this machine"
        raise AssayError(f"{file.name}: its publication date {file.date} is in the future", hint)
    file.date = min(file.date, dt.date.today()) if file.date else None
    return file


def _reason(error: Exception) -> str:
    inner = error.reason if isinstance(error, urllib.error.URLError) else error
    text = (inner.strerror if isinstance(inner, OSError) else None) or str(inner) or type(inner).__name__
    return " ".join(text.lower().split())


@contextlib.contextmanager
def _opened(ref: str) -> Iterator[TextIO]:
    if not ref.startswith(("http://", "https://")):
        with opened(ref, f"cannot read {ref}", HINT, MOST_BYTES) as file, _as_text(file) as text:
            yield text
        return
    request = urllib.request.Request(ref, headers={"Accept-Encoding": "gzip", "User-Agent": "assay"})
    with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
        length = answer.headers.get("Content-Length")
        counted = _Counted(answer)
        with _as_text(io.BufferedReader(counted)) as text:
            yield text
            # A server that stops early is noticed only by the count.
            if length is not None and not text.read(1) and counted.count != int(length):
                raise OSError(f"{counted.count} of {length} bytes came")


class _Counted(io.RawIOBase):
    """Bytes of an answer, counted."""

    def __init__(self, answer: http.client.HTTPResponse) -> None:
        super().__init__()
        self.answer, self.count = answer, 0

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """As of any raw stream."""
        size = self.answer.readinto(buffer)
        self.count += size
        return size


def _as_text(file: IO[bytes] | io.BufferedReader) -> TextIO:
    start = cast("io.BufferedReader", file).peek(2)[:2]
    plain = gzip.GzipFile(fileobj=cast("io.BufferedReader", file)) if start == b"\x1f\x8b" else file
    return io.TextIOWrapper(cast("io.BufferedReader", plain), encoding="utf-8", newline="")
