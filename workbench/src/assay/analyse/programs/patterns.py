"""Looks for patterns of users in what programs print, in a process of its own that may take limited CPU time."""

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import NamedTuple

from assay.analyse.programs import pattern_process
from assay.model.base import AssayError

CPU_SECONDS = 5.0
"""CPU time that a pattern may take, beside what its texts' length allows."""
MIN_CHARS_PER_SECOND = 1e6
"""A pattern may be as slow as this: those without backtracking are ten times as fast."""


class PatternMatches(NamedTuple):
    """What patterns found in texts.

    Attributes:
        found: For each pattern and each text the last match of its group, None without one. The last lists are shorter
            or missing if the time was over.
        is_complete: Whether no pattern took too long.
    """

    found: list[list[str | None]]
    is_complete: bool


def last_matches(patterns: Sequence[str], texts: Sequence[str], cpu_seconds: float = CPU_SECONDS) -> PatternMatches:
    """Return the last match of each pattern in each text.

    Args:
        patterns: Regular expressions that can be compiled, with one group each.
        texts: What they are applied to.
        cpu_seconds: CPU time for each pattern, beside what the length of the texts allows.

    Raises:
        AssayError: The process ended for another reason than its time.
    """
    if not patterns or not texts:
        return PatternMatches([[] for _ in patterns], True)
    seconds = cpu_seconds + sum(map(len, texts)) / MIN_CHARS_PER_SECOND
    words = [sys.executable, "-I", "-S", pattern_process.__file__]
    request = json.dumps([patterns, texts, seconds])
    done = subprocess.run(words, input=request.encode(), capture_output=True, check=False)
    if done.returncode not in (0, -signal.SIGVTALRM):
        reason = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise AssayError(f"figures cannot be read: {reason or f'their process ended with {done.returncode}'}")
    values = [json.loads(line) for line in done.stdout.splitlines()]
    count = len(texts)
    return PatternMatches([values[at : at + count] for at in range(0, len(values), count)], done.returncode == 0)
