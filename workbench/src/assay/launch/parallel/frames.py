"""Lines of many hosts out of the one stream that a launcher gives for all: the other side of the engine's `relay`.

A launcher passes on what processes print in pieces, and mixes those of all. Frames have one length that divides each
piece, so that none is ever cut (`engine/crates/relay/src/frame.rs` says why); what is no frame is the launcher's own.
"""

import zlib
from dataclasses import dataclass
from typing import NamedTuple

LENGTH = 512
"""Bytes of a frame, its newline among them."""
_MARK = b"~"
_NODE, _NUMBER, _LETTER, _SIZE, _SUM = slice(1, 6), slice(6, 10), slice(10, 11), slice(11, 14), slice(14, 22)
_TEXT = 22
_KINDS = {b"e": "event", b"h": "host", b"x": "end"}
MOST_HOSTS = 1 << 20
"""So many have a number of five hexadecimal digits."""
MOST_LINE = 64 << 10
"""Bytes of a line of a host of which nothing else is known."""
MOST_UNFINISHED = 1 << 20
"""Bytes of the launcher's own words without a newline, of which more are not kept."""


@dataclass(frozen=True)
class Line:
    """What a host has said.

    Attributes:
        node: Number of the host.
        holds: `event`, `host` (its name, first of all) or `end` (how its engines have ended, last of all).
        text: The line.
    """

    node: int
    holds: str
    text: bytes


class Frames:
    """Reads a stream piece by piece."""

    def __init__(self, hosts: int = MOST_HOSTS) -> None:
        """Nothing was read yet.

        Args:
            hosts: How many there are: what says that it is of another one is no frame of ours.
        """
        self._rest = b""
        self._hosts = hosts
        self._begun: dict[int, bytearray] = {}
        self._next: dict[int, int] = {}
        self._most: dict[int, int] = {}
        self.lost: int | None = None
        """A host of which something is missing: the stream is not as it was written."""
        self.long: int | None = None
        """A host which has begun a line that is longer than any of its lines can be."""

    def expect(self, node: int, most: int) -> None:
        """Lines of a host have so many bytes at most."""
        self._most[node] = max(most, MOST_LINE)

    def feed(self, piece: bytes) -> tuple[list[Line], list[bytes]]:
        """The lines that are whole with this piece, and what else there was, line by line."""
        *whole, self._rest = (self._rest + piece).split(b"\n")
        self._rest = self._rest[-MOST_UNFINISHED:]
        lines: list[Line] = []
        others: list[bytes] = []
        for text in whole:
            head = text[: -(LENGTH - 1)] if len(text) >= LENGTH else b""
            frame = text[len(head) :]
            part = _read(frame)
            if part is None or part.node >= self._hosts:
                others.append(text)
                continue
            if head:
                # What others have printed without a newline.
                others.append(head)
            lines += self._put_together(part)
        return lines, others

    def _put_together(self, part: "_Part") -> list[Line]:
        """The line that ends with this part, if one does."""
        if part.number != self._next.get(part.node, 0):
            self.lost = part.node
        self._next[part.node] = (part.number + 1) & 0xFFFF
        begun = self._begun.pop(part.node, bytearray())
        begun += part.text
        if len(begun) > self._most.get(part.node, MOST_LINE):
            self.long = part.node
            return []
        if part.letter.islower():
            self._begun[part.node] = begun
            return []
        return [Line(part.node, _KINDS[part.letter.lower()], bytes(begun))]


class _Part(NamedTuple):
    node: int
    number: int
    letter: bytes
    text: bytes


def _read(frame: bytes) -> _Part | None:
    """What stands in a frame without its newline; None if it is none."""
    if len(frame) != LENGTH - 1 or frame[:1] != _MARK:
        return None
    if frame[_LETTER].lower() not in _KINDS:
        return None
    try:
        node, number = int(frame[_NODE], 16), int(frame[_NUMBER], 16)
        size, total = int(frame[_SIZE], 16), int(frame[_SUM], 16)
    except ValueError:
        return None
    text = frame[_TEXT : _TEXT + size]
    if zlib.crc32(frame[_NODE.start : _SIZE.stop] + text) != total:
        return None
    return _Part(node, number, frame[_LETTER], text)
