"""Words for times, and for what a trace does not show."""

from collections.abc import Mapping

from assay.model.units import about_count, about_duration, about_latency, about_size

_WORDS = {
    "mmap": ("mapping", "of files into memory, through which reads and writes are not seen"),
    "io_uring": ("call", "of io_uring, whose operations are not seen"),
    "aio": ("call", "of io_submit, whose operations are not seen"),
    "allocate": ("call", "that reserve space or make holes"),
    "sync": ("call", "of sync, syncfs, sync_file_range or msync"),
    "metadata": ("call", "on owners, modes, times or attributes of files"),
    "locks": ("lock", "of files"),
    "hints": ("hint", "on what will be read (fadvise, readahead)"),
    "other-calls": ("other call", "on files: copies inside the kernel that failed, special files, exchanged names"),
    "position-unknown": ("read or write", "at an offset that is a guess"),
    "unfinished": ("operation", "that had not ended"),
    "unread-lines": ("line", "that could not be read"),
    "outside": ("operation", "on files outside"),
    "system-files": ("operation", "on /proc, /sys, /dev, shared libraries and locales"),
    "standard-streams": ("operation", "on files that are standard input, output or error of the command"),
    "no-durations": ("duration", "of operations"),
    "no-times": ("time", "of operations, which follow each other at once"),
    "no-order": ("operation", "of which only sums are known: their order and offsets are made up"),
    "streams": ("operation", "on streams of the C library, whose buffers make other reads and writes of them"),
    "missing-files": ("module", "of Darshan that ran out of memory: files are missing"),
    "no-results": ("result", "of operations, which count as done"),
    "discard": ("discard", ""),
    "other-operations": ("other operation", ""),
}
"""Code of a loss -> what is counted, and what it is about."""


def losses_words(losses: Mapping[str, int]) -> list[str]:
    """Return a line for each loss; codes that are not known stay as they are.

    Args:
        losses: Code -> count.
    """
    lines = []
    for code, count in sorted(losses.items()):
        if code == "mmap-bytes":
            continue
        what, about = _WORDS.get(code, (code, ""))
        line = f"{counted(count, what)} {about}".strip()
        if code == "mmap" and "mmap-bytes" in losses:
            line += f" ({about_size(losses['mmap-bytes'])})"
        lines.append(line)
    return lines


def counted(count: int, what: str) -> str:
    """Return a number of things: `1 file`, `1,204 files`."""
    return f"{about_count(count)} {what}{'s' * (count != 1)}"


def about_time(nanoseconds: float) -> str:
    """Format a time for display: below ten seconds as a latency, `47.6 ms`."""
    return about_latency(nanoseconds) if nanoseconds < 10e9 else about_duration(nanoseconds / 1e9)
