"""The text of a file of another tool: unpacked, decoded, and without what terminals and loggers add to each line."""

import bz2
import html
import lzma
import re
import zlib
from codecs import getincrementaldecoder
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import chain, groupby
from typing import Protocol

from assay.model.base import AssayError
from assay.rooms.importers.work.long_text import Text

CHUNK = 1 << 20
"""Bytes that are read at once."""
MAX_LINE = 32 << 20
"""Longest line in bytes."""

_STAMP = r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?(?: ?Z| ?[+-][0-9]{2}:?[0-9]{2})?"
_SHORT = r"[A-Z][a-z]{2} [ 0-9][0-9] [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?"
_UNIT = r"[\w.-]{1,64} [\w./@:-]{1,64}?(?:\[[0-9]{1,10}\])?:(?: |$)"
_PREFIXES = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        # journalctl, --output=short, short-precise and short-iso: time, host, program and process.
        rf"^(?:{_SHORT}|{_STAMP}) {_UNIT}",
        # `gh run view --log`: job and step before the time.
        rf"^[^\t\n]{{1,100}}\t[^\t\n]{{1,100}}\t{_STAMP}(?: |$)",
        # kubectl logs --timestamps, docker logs --timestamps, GitHub Actions, `ts -i`, Jenkins.
        rf"^\[?{_STAMP}\]?(?: |$)",
        # `iperf3 --timestamps`, by default %c: `Mon Nov 30 12:15:17 2026`.
        rf"^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) {_SHORT} [0-9]{{4}}(?: |$)",
        # `ts` and its -s: by default `Nov 30 03:12:28`.
        rf"^\[?(?:{_SHORT}|[0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}(?:\.[0-9]{{1,9}})?)\]?(?: |$)",
    )
)
"""What loggers put before each line, the most specific first."""
_MIN_SHARE = 0.8
"""Share of lines that must have such a beginning: some have been written by others."""
_ESCAPES = re.compile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b\n]{0,500}(?:\x07|\x1b\\\\)|[()][0-9A-B]|[=>])")
"""Colours, movements of the cursor and titles of terminals (ECMA-48; xterm's control sequences)."""
_MARGIN = (" ", "\t", ">")
_BLANK = "".join((*_MARGIN, "\r"))
_FIRST = re.compile(r"(?:[ \t\r>]*\n)*([ \t>]*)")
_ENTITY = re.compile(r"&(?:gt|lt|amp|quot|#[0-9]{1,4});")
_BREAK = re.compile(r"<br ?/?>(?=[ \t\r]*\n)", re.IGNORECASE)
_MARKUP = re.compile(r"</?(?:pre|code|p|div|span|font|b|i|tt|samp|blockquote)(?: [^<>\n]{0,200})?>", re.IGNORECASE)
"""What pages put around preformatted lines; a line of a tool may have other words in angle brackets."""
_QUOTED = "content-transfer-encoding: quoted-printable"
_SOFT = re.compile(r"=[ \t]*\r?\n")
_OCTETS = re.compile(r"(?:=[0-9A-F]{2})+")
_MAX_CONTROL = 0.01
"""Share of control characters above which bytes are no text in any 8-bit code."""
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_SAMPLE = 4096


class _Unpacker(Protocol):
    @property
    def unused_data(self) -> bytes: ...

    @property
    def eof(self) -> bool: ...

    @property
    def needs_input(self) -> bool: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class _Gzip:
    """zlib's unpacker, with what those of bz2 and lzma have."""

    def __init__(self) -> None:
        self._unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
        self.needs_input = True

    @property
    def unused_data(self) -> bytes:
        return self._unpacker.unused_data

    @property
    def eof(self) -> bool:
        return self._unpacker.eof

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        part = self._unpacker.decompress(self._unpacker.unconsumed_tail + data, max_length)
        self.needs_input = len(part) < max_length
        return part


_PACKED: tuple[tuple[bytes, str, Callable[[], _Unpacker]], ...] = (
    (b"\x1f\x8b\x08", "gzip", _Gzip),
    (b"BZh", "bzip2", bz2.BZ2Decompressor),
    (b"\xfd7zXZ\x00", "xz", lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=256 << 20)),
)
"""How a packed file begins, the name of the form, and what unpacks it."""
_ERRORS = (zlib.error, OSError, lzma.LZMAError, EOFError, ValueError)


def unpacked(path: str, chunks: Iterable[bytes], most: int) -> Generator[bytes]:
    """Yield the content of a file, unpacked if it is gzip, bzip2 or xz.

    Args:
        path: The file, as the user named it.
        chunks: What is in it; the first one has its beginning, of some bytes at least.
        most: Largest content in bytes.

    Raises:
        AssayError: It is damaged, or larger.
    """
    rest = iter(chunks)
    first = next(rest, b"")
    known = next(((name, start) for magic, name, start in _PACKED if first.startswith(magic)), None)
    if known is None:
        yield from chain((first,), rest)
        return
    size = 0
    try:
        for part in _parts(path, known, chain((first,), rest)):
            size += len(part)
            if size > most:
                raise AssayError(f"{path}: larger than {most >> 20} MiB when it is unpacked", "unpack parts of it")
            yield part
    except _ERRORS as error:
        raise AssayError(f"{path}: {known[0]}, but damaged: {error}", "give the whole file") from None


def _parts(path: str, known: tuple[str, Callable[[], _Unpacker]], chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield what is unpacked, in limited parts; several packed files may follow each other (`cat a.gz b.gz`)."""
    name, start = known
    unpacker = None
    for data in chunks:
        while data or (unpacker is not None and not unpacker.needs_input):
            if unpacker is None and not (data := data.lstrip(b"\x00")):
                break
            unpacker = unpacker or start()
            part = unpacker.decompress(data, CHUNK)
            data = b""
            if part:
                yield part
            if unpacker.eof:
                data, unpacker = unpacker.unused_data, None
    if unpacker is not None:
        raise AssayError(f"{path}: {name}, but cut off", "give the whole file")


def decoded(path: str, chunks: Iterable[bytes], hint: str) -> Iterator[str]:
    """Yield bytes as text: UTF-8, UTF-16 (PowerShell's `>`), or else Windows-1252; without colours of terminals.

    Pieces end at ends of lines.

    Raises:
        AssayError: It is no text, or a line is too long.
    """
    code = "utf-8"
    for number, block in enumerate(_whole_lines(path, _without_utf16(chunks))):
        data = block.removeprefix(b"\xef\xbb\xbf") if not number else block
        if code == "utf-8":
            try:
                text = data.decode()
            except UnicodeDecodeError as error:
                sample = data[max(0, error.start - _SAMPLE) : error.start + _SAMPLE].decode("latin-1")
                if len(_CONTROL.findall(sample)) > _MAX_CONTROL * len(sample):
                    raise AssayError(f"{path}: not text in UTF-8, UTF-16 or Windows-1252", hint) from None
                code = "cp1252"
        if code != "utf-8":
            # Latin-1 is a part of it. Five bytes mean nothing in it: they become marks of what is unknown.
            text = data.decode(code, "replace")
        yield _ESCAPES.sub("", text) if "\x1b" in text else text


def _whole_lines(path: str, chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield blocks that end at ends of lines.

    Raises:
        AssayError: A line is longer than `MAX_LINE`.
    """
    parts: list[bytes] = []
    size = 0
    for chunk in chunks:
        end = chunk.rfind(b"\n") + 1
        if end:
            yield b"".join((*parts, chunk[:end]))
            parts, size = [], 0
        parts.append(chunk[end:])
        size += len(chunk) - end
        if size > MAX_LINE:
            raise AssayError(
                f"{path}: a line is longer than {MAX_LINE >> 20} MiB", "give the file as the tool wrote it"
            )
    if size:
        yield b"".join(parts)


def _without_utf16(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield text in UTF-16, with or without a mark at its beginning, as UTF-8; all else as it is."""
    rest = iter(chunks)
    first = next(rest, b"")
    code = _code_of_utf16(first)
    if not code:
        yield from chain((first,), rest)
        return
    # A last byte alone is what a copy of half a file leaves.
    decoder = getincrementaldecoder(code)("replace")
    for number, chunk in enumerate(chain((first,), rest)):
        text = decoder.decode(chunk)
        yield (text if number else text.removeprefix("\ufeff")).encode()


def _code_of_utf16(data: bytes) -> str:
    """Return which UTF-16 text is in, by its beginning; empty if it is in none."""
    code = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(data[:2], "")
    if not code and len(data) > 1:
        odd, even = data[1:_SAMPLE:2], data[:_SAMPLE:2]
        if odd.count(0) > 0.9 * len(odd) and not even.count(0):
            code = "utf-16-le"
        elif even.count(0) > 0.9 * len(even) and not odd.count(0):
            code = "utf-16-be"
    return code


def without_margin(text: str) -> str:
    """Return a text without what stands before all of its lines: spaces, or `> ` of what a mail quotes."""
    first = _FIRST.match(text)
    margin = first[1] if first else ""
    if not margin:
        return text
    lines = text.split("\n")
    for line in lines:
        if line.strip(_BLANK):
            while not line.startswith(margin):
                margin = margin[:-1]
            if not margin:
                return text
    return "\n".join(line.removeprefix(margin) if line.strip(_BLANK) else "" for line in lines)


def without_indents(text: str) -> Iterator[str]:
    """Yield the text of a page with every block that is indented or quoted moved to the left; lines stay."""
    moved: list[str] = []
    for is_indented, group in groupby(text.split("\n"), lambda line: line[:1] in _MARGIN or not line.strip()):
        lines = list(group)
        moved += without_margin("\n".join(lines)).split("\n") if is_indented else lines
    if (found := "\n".join(moved)) != text:
        yield found


def without_flow(text: str) -> Iterator[str]:
    """Yield the text of a mail without its soft line breaks, if it says `format=flowed` (RFC 3676); paragraphs stay.

    A line that ends with a blank goes on in the next, and one blank before a line is none of its own.
    """
    if "format=flowed" not in text.lower():
        return
    joined: list[str] = []
    goes_on, missing = False, 0
    for line in text.split("\n"):
        own = line.rstrip("\r").removeprefix(" ")
        if goes_on and own.strip():
            joined[-1] += own
            missing += 1
        else:
            if not own.strip():
                joined += [""] * missing
                missing = 0
            joined.append(own)
        goes_on = joined[-1].endswith(" ") and bool(joined[-1].strip()) and own != "-- "
    yield "\n".join(joined)


def without_entities(text: str) -> Iterator[str]:
    """Yield the text with `>` for `&gt;` and the like, if it was cut out of the source of a page; lines stay."""
    if _ENTITY.search(text):
        yield html.unescape(text)


def without_markup(text: str) -> Iterator[str]:
    """Yield the text of a page's source without breaks and marks of preformatted text; lines stay."""
    if _BREAK.search(text) or _MARKUP.search(text):
        broken = _BREAK.sub("", text)
        yield html.unescape(_MARKUP.sub("", re.sub("<br ?/?>", "\n", broken, flags=re.IGNORECASE)))


def without_quoting(text: str) -> Iterator[str]:
    """Yield the text of a mail without what quoted-printable has added, if its head names that (RFC 2045, 6.7)."""
    if _QUOTED in text.lower():
        joined = _SOFT.sub("", text)
        yield _OCTETS.sub(lambda octets: bytes.fromhex(octets[0].replace("=", "")).decode("utf-8", "replace"), joined)


def stamps_of(text: str) -> Iterator[re.Pattern[str]]:
    """Yield the forms of times that loggers have put before the lines of a text, each that fits most lines."""
    lines = sum(1 for line in text.split("\n") if line.strip())
    for prefix in _PREFIXES:
        if sum(1 for _ in prefix.finditer(text)) >= max(2, _MIN_SHARE * lines):
            yield prefix


def without(text: Text, prefix: re.Pattern[str]) -> Text:
    """Return a text without what a form of times matches; lines keep their numbers, since only beginnings are cut."""
    return prefix.sub("", text) if isinstance(text, str) else text.without(prefix)
