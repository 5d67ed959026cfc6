"""Lists of CPUs in the notation of the kernel: `0-3,6`."""

import re

from assay.model.units import UnitError, display_value

MAX_CPUS = 1024
"""Largest number of CPUs in a list; CPU numbers are below it."""

CPUS_PATTERN = r"^[0-9]{1,4}(-[0-9]{1,4})?(,[0-9]{1,4}(-[0-9]{1,4})?)*$"
"""Texts that `parse_cpus` accepts."""


def cpu_numbers(text: str) -> tuple[int, ...]:
    """Return the CPU numbers of a list such as `0-3,6`, in its order."""
    numbers: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        numbers.extend(range(int(first), int(last or first) + 1))
    return tuple(numbers)


def parse_cpus(written: object) -> str:
    """Check a list of CPUs and return it as text; a single CPU may be an int.

    Raises:
        UnitError: It is not such a list, or a CPU is named twice or numbered too high.
    """
    example = "write cpus as a text such as 0-3,6"
    whole = isinstance(written, int) and not isinstance(written, bool)
    text = str(written) if whole else written
    if not isinstance(text, str) or not re.fullmatch(CPUS_PATTERN, text):
        raise UnitError(f"{display_value(written)} is not a list of CPUs", example)
    for part in text.split(","):
        first, _, last = part.partition("-")
        if last and int(last) < int(first):
            raise UnitError(f"the range {part} ends before it starts", f"write {last}-{first}")
    numbers = cpu_numbers(text)
    if max(numbers) >= MAX_CPUS:
        raise UnitError(f"there is no CPU {max(numbers)}", f"CPUs are numbered from 0 to {MAX_CPUS - 1}")
    if len(set(numbers)) < len(numbers):
        raise UnitError(f"{display_value(text)} names a CPU twice", "name each CPU once")
    return text
