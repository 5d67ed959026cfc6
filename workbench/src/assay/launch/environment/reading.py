"""Reads the files in which Linux describes a machine."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

Section = dict[str, str]
"""Name -> value as text. `unknown: why` could not be read; `none: why` does not exist."""


@dataclass(frozen=True)
class Files:
    """The files of a machine.

    Attributes:
        root: `/`, or a folder in its place.
    """

    root: Path = Path("/")

    def path(self, name: str) -> Path:
        """Return the path of the file with this absolute name, below `root`."""
        return self.root / name.lstrip("/")

    def text(self, name: str) -> str:
        """Return the content with single spaces between words.

        Raises:
            OSError: It does not exist or cannot be read.
        """
        found = self.path(name).read_text(encoding="utf-8", errors="replace")
        return re.sub(r"\s+", " ", found, flags=re.ASCII).strip(" ")

    def read(self, name: str, missing: str = "") -> str:
        """Return the content, or `none: ...` or `unknown: ...` with the reason.

        Args:
            name: Absolute name of the file.
            missing: Reason to report if the file does not exist; empty: its absence is an unknown value.
        """
        try:
            return self.text(name) or "none"
        except FileNotFoundError as error:
            return f"none: {missing}" if missing else f"unknown: {name}: {error.strerror}"
        except OSError as error:
            return f"unknown: {name}: {error.strerror}"

    def lines(self, name: str) -> list[str]:
        """Return the lines of a file; empty if it cannot be read."""
        try:
            return self.path(name).read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return []

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder, sorted with numbers as numbers; empty if there is no such folder."""
        try:
            found = [entry.name for entry in self.path(folder).iterdir()]
        except OSError:
            return []
        return sorted(found, key=lambda name: re.sub(r"\d+", lambda digits: digits[0].zfill(8), name))

    def exists(self, name: str) -> bool:
        """Return whether a file or folder exists and this user can see it."""
        try:
            return self.path(name).exists()
        except OSError:
            return False


THIS_MACHINE = Files()


def value_or_unknown(find: Callable[[], str]) -> str:
    """Return what `find` returns, or `unknown: ...` with the reason if it fails."""
    try:
        return find()
    except (OSError, ValueError, LookupError) as error:
        return f"unknown: {error}"


def bracketed_value(text: str) -> str:
    """Return the value in brackets of a text such as `always [madvise] never`; the text if it has no brackets."""
    return text.split("[")[1].split("]")[0] if "[" in text and "]" in text else text


def yes_or_no(text: str) -> str:
    """Return `yes` for `1` and `no` for `0`; any other text unchanged."""
    return {"0": "no", "1": "yes"}.get(text, text)


def number_list(numbers: Iterable[int]) -> str:
    """Return numbers as ranges such as `0-3,6`, as the kernel writes lists of CPUs."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(f"{first}-{last}" if last > first else str(first) for first, last in parts)
