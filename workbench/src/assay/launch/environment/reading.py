"""Read the files in which Linux tells about a machine."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

Section = dict[str, str]
"""Name -> value as text. `unknown: why` could not be found out; `none: why` is known not to be there."""


@dataclass(frozen=True)
class Files:
    """The files of a machine.

    Attributes:
        root: `/`, or a folder that stands for it.
    """

    root: Path = Path("/")

    def path(self, name: str) -> Path:
        """Where the file of this absolute name is."""
        return self.root / name.lstrip("/")

    def text(self, name: str) -> str:
        """Content with single spaces between words.

        Raises:
            OSError: It is not there or cannot be read.
        """
        found = self.path(name).read_text(encoding="utf-8", errors="replace")
        return re.sub(r"\s+", " ", found, flags=re.ASCII).strip(" ")

    def read(self, name: str, missing: str = "") -> str:
        """Content, or why there is none.

        Args:
            name: Absolute.
            missing: What it means that there is no such file; `unknown` if empty.
        """
        try:
            return self.text(name) or "none"
        except FileNotFoundError as error:
            return f"none: {missing}" if missing else f"unknown: {name}: {error.strerror}"
        except OSError as error:
            return f"unknown: {name}: {error.strerror}"

    def lines(self, name: str) -> list[str]:
        """Lines of a file; none if it cannot be read."""
        try:
            return self.path(name).read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return []

    def names(self, folder: str) -> list[str]:
        """Names in a folder, sorted with numbers as numbers; none if there is no such folder."""
        try:
            found = [entry.name for entry in self.path(folder).iterdir()]
        except OSError:
            return []
        return sorted(found, key=lambda name: re.sub(r"\d+", lambda digits: digits[0].zfill(8), name))

    def exists(self, name: str) -> bool:
        """Whether there is such a file or folder that this user can see."""
        try:
            return self.path(name).exists()
        except OSError:
            return False


THIS_MACHINE = Files()


def attempt(find: Callable[[], str]) -> str:
    """What `find` returns, or why it fails."""
    try:
        return find()
    except (OSError, ValueError, LookupError) as error:
        return f"unknown: {error}"


def chosen(text: str) -> str:
    """The value in brackets of a sysfs file such as `always [madvise] never`."""
    return text.split("[")[1].split("]")[0] if "[" in text and "]" in text else text


def yes_or_no(text: str) -> str:
    """`yes` for `1` and `no` for `0`; anything else as it is."""
    return {"0": "no", "1": "yes"}.get(text, text)


def number_list(numbers: Iterable[int]) -> str:
    """Such as `0-3,6`, as the kernel writes lists of CPUs."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(f"{first}-{last}" if last > first else str(first) for first, last in parts)
