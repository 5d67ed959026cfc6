"""The table of rates that iozone prints: which column a number is in, where tests were left out.

Tests that were not chosen (`-i`) leave blanks, whose width is not always that of the columns. Widths are those of
iozone.c: the formats of the rates in each test, and the blanks in `test_output`.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

HEADER = re.compile(r"[ \t]*[kK]B +reclen((?: +[a-z]+)+) *")
_SIZES = re.compile(r"[ \t]*([0-9]+)[ \t]+([0-9]+)")
_ROW = re.compile(r"[ \t]*([0-9]+)[ \t]+([0-9]+)(?:[ \t].*)?")
_WORDS = (
    *("write", "rewrite", "read", "reread", "read", "write", "read", "rewrite", "read"),
    *("fwrite", "frewrite", "fread", "freread"),
    *("pwrite", "repwrite", "pread", "repread", "pwritev", "repwritev", "preadv", "repreadv"),
)
"""The header's words after `reclen`; older lines above it have `random`, `bkwd`, `record` and `stride`."""
COLUMNS = (
    *("write", "rewrite", "read", "reread", "random read", "random write", "bkwd read", "record rewrite"),
    *("stride read", *_WORDS[9:]),
)
"""The names of these columns, each once."""
_GROUPS = ((0, 1), (2, 3), (4, 5), (6,), (7,), (8,), (9, 10), (11, 12), (13, 14), (15, 16), (17, 18), (19, 20))
"""Numbers of the columns that one test fills, in the order of printing."""
_TESTS = (0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12)
"""The number of each of these tests in `-i`; 8 has no column."""
_BLANKS = (18, 18, 18, 9, 10, 10, 18, 17, 18, 18, 18, 18)


class _Layout(NamedTuple):
    """Widths of the columns and of the blanks of tests left out."""

    widths: tuple[int, ...]
    blanks: tuple[int, ...]


_LAYOUTS = {
    16: _Layout(
        (8, 8, 9, 9, 8, 8, 8, 9, 9, 9, 9, 8, 9, 8, 9, 8, 9, 9, 10, 10, 9),
        (16, 18, 16, 8, 8, 8, 18, 16, 17, 19, 19, 19),
    ),
    18: _Layout((9, 9, 9, 9, 9, 9, 9, 10, 10, 9, 9, 9, 9, 9, 9, 8, 9, 9, 10, 10, 9), _BLANKS),
    19: _Layout((10, 10, 10, 10, 10, 10, 10, 11, 11, *(10,) * 12), _BLANKS),
    20: _Layout((10, 10, 10, 10, 10, 10, 10, 11, 11, *(10,) * 12), _BLANKS),
}
"""Characters from `reclen` to the end of `rewrite` in the header -> widths: iozone 3.414 and older, 3.444 to 3.489, and
3.508, where two makes of the header differ."""


class Row(NamedTuple):
    """One row: sizes in KB as printed, and column -> rate as printed."""

    file_size: str
    record_size: str
    cells: dict[str, str]


class RateTable:
    """A table whose header was read.

    Attributes:
        columns: Names of its columns.
    """

    def __init__(self, header: str, tests: frozenset[int]) -> None:
        """Read the header.

        Args:
            header: The line that begins with `KB reclen`.
            tests: The tests that `-i` chose; empty for all.

        Raises:
            ValueError: It has other columns than iozone prints.
        """
        match = HEADER.fullmatch(header)
        words = tuple(match[1].split()) if match else ()
        if not words or words != _WORDS[: len(words)]:
            raise ValueError("the header of the table has other columns than iozone prints")
        self.columns = COLUMNS[: len(words)]
        self._groups = [
            (number, group) for number, group in enumerate(_GROUPS) if all(column < len(words) for column in group)
        ]
        self._chosen = [
            COLUMNS[column]
            for number, group in self._groups
            for column in group
            if not tests or _TESTS[number] in tests
        ]
        end = re.search(r"reclen( +write +rewrite)", header)
        self._end = header.index("reclen") + len("reclen")
        self._layout = _LAYOUTS.get(len(end[1])) if end else None

    def row(self, line: str) -> Row:
        """Return a row.

        Raises:
            ValueError: It is none, or its numbers cannot be assigned to columns for certain.
        """
        # A rate as wide as its column follows the record size without a blank: then only the header says where.
        match = _SIZES.fullmatch(line[: self._end]) or _ROW.fullmatch(line)
        if match is None:
            raise ValueError("no row of sizes and rates")
        file_size, record_size, tail = match[1], match[2], line[match.end(2) :].rstrip()
        cells = self._placed(tail) or self._counted(tail)
        if cells is None:
            raise ValueError(f"the row of file size {file_size} and record size {record_size} does not fit the header")
        return Row(file_size, record_size, cells)

    def _placed(self, tail: str) -> dict[str, str] | None:
        """Return the rates by their positions; None if no or several columns are possible."""
        if self._layout is None:
            return None
        for is_whole in (True, False):
            found = set(_ways(tail, 0, self._groups, self._layout, is_whole))
            if len(found) == 1:
                return dict(found.pop())
            if found:
                return None
        return None

    def _counted(self, tail: str) -> dict[str, str] | None:
        """Return the rates by their order if every test that was chosen has its rates; None if not."""
        texts = tail.split()
        is_complete = len(texts) == len(self._chosen) and all(text.isascii() and text.isdigit() for text in texts)
        return dict(zip(self._chosen, texts, strict=True)) if is_complete else None


def tests_of(words: Sequence[str]) -> frozenset[int]:
    """Return the tests that a command line chooses with `-i`; empty if it chooses none."""
    text = " ".join(words)
    return frozenset(int(number) for number in re.findall(r"(?:^| )-[a-zA-Z]*i ?([0-9]{1,2})(?= |$)", text))


_Cells = tuple[tuple[str, str], ...]


def _ways(
    tail: str, at: int, groups: Sequence[tuple[int, tuple[int, ...]]], layout: _Layout, is_whole: bool
) -> Iterator[_Cells]:
    """Yield each way to assign the rates from a position on to columns.

    Args:
        tail: What follows the record size.
        at: The position.
        groups: The tests that are left, with their columns.
        layout: Widths.
        is_whole: A test has all its rates or none, as iozone prints them.
    """
    if not tail[at:].strip():
        yield ()
        return
    if not groups:
        return
    (number, columns), rest = groups[0], groups[1:]
    blanks = {layout.blanks[number]} | (set() if is_whole else {sum(layout.widths[one] for one in columns)})
    for width in blanks:
        if not tail[at : at + width].strip():
            yield from _ways(tail, at + width, rest, layout, is_whole)
    for cells, end in _cells(tail, at, columns, layout, is_whole):
        for others in _ways(tail, end, rest, layout, is_whole):
            yield (*cells, *others)


def _cells(tail: str, at: int, columns: Sequence[int], layout: _Layout, is_whole: bool) -> Iterator[tuple[_Cells, int]]:
    """Yield the rates of one test, at least one, and where they end."""
    found: list[tuple[str, str]] = []
    for column in columns:
        end = at + layout.widths[column]
        text = tail[at:end].strip()
        at = end
        if text and text.isascii() and text.isdigit() and len(tail) >= end and tail[end - 1] != " ":
            found.append((COLUMNS[column], text))
        elif text or is_whole:
            return
    if found:
        yield tuple(found), at
