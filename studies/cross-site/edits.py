"""Shows how soon one site sees what the other one does to a shared directory: edits.py DIRECTORY TASK TASKS.

Task 1 does something to a file and waits until task 2 says that it sees it; then they change places. Both say so by
files of the same directory. Prints the median of each kind, from the beginning of the change to when the answer of the
other site is seen: there and back. A change that is not seen within 30 seconds ends it with exit code 1.
"""

import hashlib
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROUNDS = 4
LIMIT = 30.0
POLL = 0.002


def wait(what: str, seen: Callable[[], bool]) -> None:
    """Wait until something is seen."""
    end = time.monotonic() + LIMIT
    while not seen():
        if time.monotonic() > end:
            sys.exit(f"not seen within {LIMIT:.0f} s: {what}")
        time.sleep(POLL)


def content(path: Path) -> bytes:
    """Return what a file holds, as a program sees it that opens it now; empty if it is not there."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def write(path: Path, data: bytes) -> None:
    """Write a file and close it after a flush, as editors do."""
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def names(folder: Path) -> set[str]:
    """Return the names in a directory."""
    return {entry.name for entry in os.scandir(folder)}


def steps(folder: Path, number: int) -> list[tuple[str, Callable[[], None], Callable[[], bool]]]:
    """Return the changes of a round in their order: kind, what is done, and whether it is seen."""
    first, second = folder / f"draft{number}", folder / f"final{number}"
    old, new = (hashlib.sha256(f"{word} {number}".encode()).digest() * 256 for word in ("old", "new"))
    return [
        ("create", lambda: write(first, old), lambda: content(first) == old),
        ("edit", lambda: write(first, new), lambda: content(first) == new),
        ("rename", lambda: first.rename(second), lambda: not first.exists() and content(second) == new),
        ("delete", second.unlink, lambda: second.name not in names(folder) and not second.exists()),
    ]


def main() -> None:
    """Do this site's part."""
    folder, task = Path(sys.argv[1]), int(sys.argv[2])
    if sys.argv[3] != "2":
        sys.exit("two tasks are needed, one on each site")
    times: dict[str, list[float]] = {}
    for number in range(2 * ROUNDS):
        is_mine = number % 2 == task - 1
        for kind, act, is_seen in steps(folder, number):
            answer = folder / f"seen-{number}-{kind}"
            if is_mine:
                begin = time.monotonic()
                act()
                wait(f"{kind} of round {number} by the other site", answer.exists)
                times.setdefault(kind, []).append(time.monotonic() - begin)
            else:
                wait(f"{kind} of round {number}", is_seen)
                write(answer, b"")
    for kind, seconds in times.items():
        print(f"{kind}: {1000 * statistics.median(seconds):.1f} ms")


if __name__ == "__main__":
    main()
