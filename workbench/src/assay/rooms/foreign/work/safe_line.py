"""A command line for the head of a study, without what must stay secret."""

import shlex
from collections.abc import Collection, Sequence

from assay.model.escape import escape_line
from assay.model.secret import REDACTED, redact


def safe_line(words: Sequence[str], secrets: Collection[str]) -> str:
    """Return words of a command line without secrets.

    Args:
        words: All words, as a shell has split them.
        secrets: Names of options whose values are secret, without dashes.
    """
    kept: list[str] = []
    hides = False
    for word in words:
        name, equals, _ = word.partition("=")
        is_variable = bool(equals) and name.replace("_", "").isalnum() and name.isupper()
        is_secret = name.startswith("-") and name.lstrip("-") in secrets
        if hides:
            kept.append(REDACTED)
        elif equals and (is_secret or is_variable):
            kept.append(f"{name}={REDACTED}")
        else:
            kept.append(word)
        hides = is_secret and not equals and not hides
    return escape_line(" ".join(_shown(word) for word in kept))


def _shown(word: str) -> str:
    """Return a word as for a shell, without passwords in it, such as those of an address."""
    safe = redact(word)
    return safe if REDACTED in safe else shlex.quote(safe)
