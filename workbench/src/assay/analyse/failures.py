"""Counts failed operations by reason, and describes them."""

import errno
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from assay.contract.messages import ErrorCount, ErrorSampleEvent, Fault
from assay.model.escape import escape_line
from assay.model.result.sample import ErrorTally

EXAMPLE_CHARS = 5000
"""Greatest length of a failure's description, in characters: a path may have 4,096."""

_Reason = tuple[str, str | None, int | None]
"""Kind of failure, domain of its code, and the code."""


def tallies(
    counts: Iterable[ErrorCount], examples: Sequence[ErrorSampleEvent], many: bool = False
) -> tuple[ErrorTally, ...]:
    """Return the failures of a phase: each reason once, with its first example.

    Args:
        counts: Failures that the engine counted by the end of the phase.
        examples: Failures that it described; those outside of operations (open, preallocate) may be only here.
        many: The failures are of many files or objects, which are identified by number.
    """
    listed = list(counts)
    names = {_reason(item.kind, item.fault): escape_line(item.name) for item in listed if item.name}
    uncounted = Counter(_reason(item.kind, item.fault) for item in examples)
    counted = {_reason(item.kind, item.fault): item.count for item in listed}
    return tuple(_tally(reason, count, names, examples, many) for reason, count in (uncounted | counted).items())


def _reason(kind: str, fault: Fault | None) -> _Reason:
    return (str(kind), None, None) if fault is None else (str(kind), fault.domain.value, fault.code)


def _tally(
    reason: _Reason, count: int, names: Mapping[_Reason, str], examples: Iterable[ErrorSampleEvent], many: bool
) -> ErrorTally:
    kind, domain, code = reason
    name = _name(domain, code, names.get(reason))
    first = next((item for item in examples if _reason(item.kind, item.fault) == reason), None)
    words = _words(reason, name, first)
    return ErrorTally(
        kind=kind,
        name=name,
        domain=domain,
        code=code,
        count=count,
        example=words if first is None else _example(first, words, many),
    )


def _example(failure: ErrorSampleEvent, words: str, many: bool) -> str:
    """Return a line such as `write /path/f0 at 1048576, 65536 bytes: No space left on device (ENOSPC)`."""
    place = f" at {failure.offset}, {failure.length} bytes" if failure.length else ""
    if many and failure.lane is not None:
        place = f" of number {failure.number}"
    return escape_line(f"{failure.action} {failure.object}{place}: {words}", EXAMPLE_CHARS)


def _words(reason: _Reason, name: str | None, first: ErrorSampleEvent | None) -> str:
    """Return what went wrong; for the kernel's codes, the text of this machine."""
    kind, domain, code = reason
    if domain == "os" and code is not None:
        words = os.strerror(code) if code in errno.errorcode else "unknown error"
        return f"{words} ({name})"
    if first is not None:
        return first.message
    return kind.replace("_", " ") if code is None else f"{domain} answered {name}"


def _name(domain: str | None, code: int | None, engine_name: str | None) -> str | None:
    """Return the name of a code: for the kernel's codes as on this machine, for others as the engine names it."""
    if code is None:
        return None
    if domain == "os":
        return errno.errorcode.get(code, f"errno {code}")
    return engine_name or f"{domain} {code}"
