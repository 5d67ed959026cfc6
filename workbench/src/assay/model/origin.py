"""Where the results of a run come from that other tools measured, in words."""

from collections.abc import Sequence

MAX_NAMED = 3
"""Most tools that a headline names."""


def program_words(programs: Sequence[str]) -> str:
    """Return tools with their versions, each once: `fio 3.33 and fio 2.21`; empty without any."""
    names = list(dict.fromkeys(programs))
    if len(names) > MAX_NAMED:
        return f"{', '.join(names[:MAX_NAMED])} and {len(names) - MAX_NAMED} more"
    return " and ".join(names)


def origin_words(programs: Sequence[str], files: Sequence[str]) -> str:
    """Return where results come from: `imported from fio 3.33, results.json`; empty if Assay measured them.

    Args:
        programs: Tool and version of each output.
        files: The file of each output.
    """
    if not files:
        return ""
    names = list(dict.fromkeys(files))
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"imported from {program_words(programs)}, {names[0]}{more}"
