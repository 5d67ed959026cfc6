"""What fio's text says that was requested: the line of each job before the results.

`w: (g=0): rw=write, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=sync, iodepth=1` (fio, init.c,
`add_job`). Nothing else of the options is printed, and of `rw=read:4k` only `read`.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from assay.model.escape import escape_line
from assay.rooms.importers.work.figure_units import UNITS
from assay.rooms.importers.work.fio_measured import HINT, MAX_NAME
from assay.rooms.importers.work.fio_text.amounts import amount_of
from assay.rooms.importers.work.results import OutputError

_AMOUNT = r"([0-9]{1,10}(?:\.[0-9]{1,6})?[A-Za-z]{0,3})"
_RANGE = re.compile(rf"(?:\([RWT]\) )?{_AMOUNT}-{_AMOUNT}")
_SEPARATOR = re.compile(r", |,|/")
HEADER = re.compile(
    r"(?P<name>.{0,300}): \(g=(?P<group>[0-9]{1,9})\): rw=(?P<rw>[a-z]{1,20}), "
    r"(?P<word>bs|bs\(seq/rand\))=(?P<sizes>[^=]{3,200}), "
    r"ioengine=(?P<ioengine>[^,]{1,200}), iodepth=(?P<iodepth>[0-9]{1,9})\s*"
)
"""The line of a job before the run."""
LIKE_HEADER = re.compile(r".{0,300}: \(g=[0-9]*\)?: ?rw=")
_DIRECTIONS = ("read", "write", "trim")


class Header(NamedTuple):
    """What is printed of a job before it runs.

    Attributes:
        name: Its name.
        group: Number of its group.
        line: Line of the file, from 1.
        options: `rw`, `bs`, `ioengine` and `iodepth`, as printed.
        sizes: Direction -> bytes of a record; without those that vary, and that four digits do not show.
    """

    name: str
    group: int
    line: int
    options: dict[str, str]
    sizes: dict[str, int]


class CommonOptions(NamedTuple):
    """What several jobs of one result have in common.

    Attributes:
        options: Those with the same value in all.
        patterns: Their values of `rw`.
        sizes: Direction -> bytes of a record, as in `Header`, the same in all.
    """

    options: dict[str, str]
    patterns: tuple[str, ...]
    sizes: dict[str, int]

    def size_of(self, directions: Sequence[str]) -> int | None:
        """Return the size of records of all these directions; None if it differs or is not known."""
        found = {self.sizes.get(name) for name in directions}
        return found.pop() if len(found) == 1 else None


class Headers:
    """The jobs of an output, by group and name."""

    def __init__(self) -> None:
        self.all: list[Header] = []
        self._by_group: dict[int, list[Header]] = defaultdict(list)
        self._by_name: dict[tuple[int, str], list[Header]] = defaultdict(list)
        self._known: dict[tuple[int, str], CommonOptions] = {}

    def add(self, header: Header) -> None:
        """Add a job."""
        self.all.append(header)
        self._by_group[header.group].append(header)
        self._by_name[header.group, header.name].append(header)

    def has_several(self, group: int) -> bool:
        """Whether several jobs of a group are printed, besides the clones of each."""
        return len(self._by_group.get(group, [])) > 1

    def common_options(self, group: int, name: str, is_sum: bool) -> CommonOptions | None:
        """Return what was requested; None if it is not printed.

        A sum has the name of its first job. If that job is missing, others may be, too: with `--output` behind a job on
        the command line, fio prints the jobs before it on the terminal, and the rest into the file.

        Args:
            group: Number of the group.
            name: Name of the result.
            is_sum: It may count all jobs of the group (group_reporting).
        """
        own = self._by_name.get((group, name))
        if own is None:
            return None
        key = group, "" if is_sum else name
        if key not in self._known:
            self._known[key] = _common(self._by_group[group] if is_sum else own)
        return self._known[key]


def header_of(match: re.Match[str], number: int) -> Header:
    """Return what a line says.

    Args:
        match: Of `HEADER`.
        number: Line of the file, from 1.

    Raises:
        OutputError: Its sizes are none.
    """
    name, word, sizes = match["name"], match["word"], match["sizes"]
    options = {"rw": match["rw"], word: sizes, "ioengine": match["ioengine"], "iodepth": match["iodepth"]}
    ranges = [_RANGE.fullmatch(part) for part in _SEPARATOR.split(sizes.removesuffix(", bs_is_seq_rand"))]
    try:
        if len(ranges) not in (2, 3) or None in ranges:
            raise ValueError("no sizes")
        found = [_size(one[1]) if one[1] == one[2] else None for one in ranges if one]
    except ValueError:
        shown = escape_line(f"{word}={sizes}", MAX_NAME)
        raise OutputError(number, f"job {escape_line(name, MAX_NAME)}: {shown} are no sizes", HINT) from None
    return Header(
        name=escape_line(name, MAX_NAME),
        group=int(match["group"]),
        line=number,
        options={key: escape_line(value, MAX_NAME) for key, value in options.items()},
        # Two sizes are those of sequential and of random offsets (bs_is_seq_rand).
        sizes={key: size for key, size in zip(_DIRECTIONS, found, strict=True) if size} if len(found) == 3 else {},
    )


def _size(text: str) -> int | None:
    """Return a size of records; None if four digits do not say it, as in `97.7KiB` and `65.5kB`.

    Before 2.17, `K` and `M` are powers of 1024 that divide the size (fio, init.c, `fio_uint_to_kmg`).

    Raises:
        ValueError: It is none.
    """
    is_old = text[-1:] in tuple("KMGPE")
    amount = amount_of(f"{text}B" if is_old else text, "bytes", is_old)
    size = amount.value
    is_whole = amount.number.partition(".")[2].strip("0") == ""
    is_plain = not amount.has_prefix or UNITS[amount.unit].factor % 1024 == 0
    return int(size) if is_whole and is_plain and 0 < size < 2**50 else None


def _common(headers: Sequence[Header]) -> CommonOptions:
    first, *others = headers
    same = {key: value for key, value in first.options.items() if all(one.options.get(key) == value for one in others)}
    sizes = {key: size for key, size in first.sizes.items() if all(one.sizes.get(key) == size for one in others)}
    return CommonOptions(same, tuple(dict.fromkeys(one.options["rw"] for one in headers)), sizes)
