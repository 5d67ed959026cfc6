"""The text of a file of another tool: unpacked, decoded, and without what terminals and loggers add to each line."""

import bz2
import html
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Protocol

from assay.model.base import AssayError

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
_MAX_CONTROL = 0.01
"""Share of control characters above which bytes are no text in any 8-bit code."""
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_SAMPLE = 4096


class _Unpacker(Protocol):
    @property
    def unused_data(self) -> bytes: ...

    @property
    def eof(self) -> bool: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


_PACKED: tuple[tuple[bytes, str, Callable[[], _Unpacker]], ...] = (
    (b"\x1f\x8b\x08", "gzip", lambda: zlib.decompressobj(zlib.MAX_WBITS | 16)),
    (b"BZh", "bzip2", bz2.BZ2Decompressor),
    (b"\xfd7zXZ\x00", "xz", lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=256 << 20)),
)
"""How a packed file begins, the name of the form, and what unpacks it."""
_ERRORS = (zlib.error, OSError, lzma.LZMAError, EOFError, ValueError)


def unpacked(path: str, data: bytes, most: int) -> bytes:
    """Return the content of a file, unpacked if it is gzip, bzip2 or xz.

    Args:
        path: The file, as the user named it.
        data: What is in it.
        most: Largest content in bytes.

    Raises:
        AssayError: It is damaged, or larger.
    """
    known = next(((name, start) for magic, name, start in _PACKED if data.startswith(magic)), None)
    if known is None:
        return data
    name, start = known
    parts: list[bytes] = []
    size = 0
    try:
        while data:
            unpacker = start()
            part = unpacker.decompress(data, most + 1 - size)
            size += len(part)
            parts.append(part)
            if size > most:
                hint = "unpack it, and give parts of it"
                raise AssayError(f"{path}: larger than {most >> 20} MiB when it is unpacked", hint)
            if not unpacker.eof:
                raise AssayError(f"{path}: {name}, but cut off", "give the whole file")
            # Several packed files may follow each other, as `cat a.gz b.gz` writes them.
            data = unpacker.unused_data.lstrip(b"\x00")
    except _ERRORS as error:
        raise AssayError(f"{path}: {name}, but damaged: {error}", "give the whole file") from None
    return b"".join(parts)


def decoded(path: str, data: bytes, hint: str) -> str:
    """Return bytes as text: UTF-8, UTF-16 (PowerShell's `>`), or else Windows-1252; without colours of terminals.

    Raises:
        AssayError: It is no text.
    """
    text = _utf16(data)
    if text is None:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            sample = data[max(0, error.start - _SAMPLE) : error.start + _SAMPLE].decode("latin-1")
            if len(_CONTROL.findall(sample)) > _MAX_CONTROL * len(sample):
                raise AssayError(f"{path}: not text in UTF-8, UTF-16 or Windows-1252", hint) from None
            # Latin-1 is a part of it. Five bytes mean nothing in it: they become marks of what is unknown.
            text = data.decode("cp1252", "replace")
    return _ESCAPES.sub("", text) if "\x1b" in text else text


def _utf16(data: bytes) -> str | None:
    """Return text in UTF-16, with or without a mark at its beginning; None if it is none."""
    code = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(data[:2], "")
    if not code and len(data) > 1:
        odd, even = data[1:_SAMPLE:2], data[:_SAMPLE:2]
        if odd.count(0) > 0.9 * len(odd) and not even.count(0):
            code = "utf-16-le"
        elif even.count(0) > 0.9 * len(even) and not odd.count(0):
            code = "utf-16-be"
    if not code:
        return None
    # A last byte alone is what a copy of half a file leaves.
    return data[: len(data) // 2 * 2].decode(code, "replace").removeprefix("\ufeff")


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


def without_entities(text: str) -> Iterator[str]:
    """Yield the text with `>` for `&gt;` and the like, if it was cut out of the source of a page; lines stay."""
    if _ENTITY.search(text):
        yield html.unescape(text)


def without_stamps(text: str) -> Iterator[str]:
    """Yield the text without the times that loggers have put before each line, for each form that fits most lines.

    Lines keep their numbers, since only their beginnings are cut.
    """
    lines = sum(1 for line in text.split("\n") if line.strip())
    for prefix in _PREFIXES:
        cut, count = prefix.subn("", text)
        if count >= max(2, _MIN_SHARE * lines):
            yield cut
