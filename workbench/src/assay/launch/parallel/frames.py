"""Reads the lines of many hosts from the single stream of a launcher; the engine's `relay` writes them.

A launcher passes on the output of processes in pieces, and mixes them. All frames have the same length, which divides
each piece, so that no frame is ever cut (`engine/crates/relay/src/frame.rs` explains it). Everything else in the stream
is output of the launcher itself.
"""

import zlib
from dataclasses import dataclass
from typing import NamedTuple

LENGTH = 512
"""Bytes of a frame, newline included."""
_MARK = b"~"
_NODE, _NUMBER, _LETTER, _SIZE, _SUM = slice(1, 6), slice(6, 10), slice(10, 11), slice(11, 14), slice(14, 22)
_TEXT = 22
_KINDS = {b"e": "event", b"h": "host", b"x": "end"}
MAX_HOSTS = 1 << 20
"""Most hosts that five hexadecimal digits can number."""
MAX_LINE_BYTES = 64 << 10
"""Most bytes of a line of a host, unless `expect` allows more."""
MAX_UNFINISHED_BYTES = 1 << 20
"""Most bytes kept of the launcher's own output without a newline."""


@dataclass(frozen=True)
class HostLine:
    """A line of a host.

    Attributes:
        node: Number of the host.
        kind: `event`, `host` (its name, the first line) or `end` (how its engines ended, the last line).
        text: The line.
    """

    node: int
    kind: str
    text: bytes


class FrameReader:
    """Reads frames from a stream, piece by piece."""

    def __init__(self, hosts: int = MAX_HOSTS) -> None:
        """Start with nothing read.

        Args:
            hosts: Number of hosts; a frame with a higher host number is not ours.
        """
        self._rest = b""
        self._hosts = hosts
        self._begun: dict[int, bytearray] = {}
        self._next: dict[int, int] = {}
        self._most: dict[int, int] = {}
        self.lost: int | None = None
        """Number of a host whose frames are incomplete; None if none are."""
        self.long: int | None = None
        """Number of a host with a line longer than allowed; None if there is none."""

    def expect(self, node: int, most: int) -> None:
        """Allow lines of up to `most` bytes for a host."""
        self._most[node] = max(most, MAX_LINE_BYTES)

    def feed(self, piece: bytes) -> tuple[list[HostLine], list[bytes]]:
        """Return the lines that this piece completes, and other output, line by line."""
        *whole, self._rest = (self._rest + piece).split(b"\n")
        self._rest = self._rest[-MAX_UNFINISHED_BYTES:]
        lines: list[HostLine] = []
        others: list[bytes] = []
        for text in whole:
            head = text[: -(LENGTH - 1)] if len(text) >= LENGTH else b""
            frame = text[len(head) :]
            part = _read(frame)
            if part is None or part.node >= self._hosts:
                others.append(text)
                continue
            if head:
                # Output of another process without a newline.
                others.append(head)
            lines += self._assemble(part)
        return lines, others

    def _assemble(self, part: "_Part") -> list[HostLine]:
        """Return the line that ends with this part, in a list; empty if none does."""
        if part.number != self._next.get(part.node, 0):
            self.lost = part.node
        self._next[part.node] = (part.number + 1) & 0xFFFF
        begun = self._begun.pop(part.node, bytearray())
        begun += part.text
        if len(begun) > self._most.get(part.node, MAX_LINE_BYTES):
            self.long = part.node
            return []
        if part.letter.islower():
            self._begun[part.node] = begun
            return []
        return [HostLine(part.node, _KINDS[part.letter.lower()], bytes(begun))]


class _Part(NamedTuple):
    node: int
    number: int
    letter: bytes
    text: bytes


def _read(frame: bytes) -> _Part | None:
    """Parse a frame without its newline; None if it is no frame."""
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
