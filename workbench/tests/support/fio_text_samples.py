"""Normal and terse outputs of fio 2.2.10 to 3.42, some with its JSON of the same run; and a writer of its numbers."""

from functools import cache

from fio_samples import FILE, FOLDER

from assay.rooms.importers.work.fio_text import importer as fio_text
from assay.rooms.importers.work.results import ImportedResult, ImportOptions, Order, ToolOutput

TEXTS = tuple(sorted(path.stem for path in FOLDER.glob("*.txt")))


@cache
def whole_of(name: str) -> str:
    """The text of a sample, with its carriage returns."""
    return (FOLDER / f"{name}.txt").read_bytes().decode()


@cache
def split(name: str) -> tuple[str, str, str]:
    """What a sample has of text, of JSON, and of terse output; empty where it has none.

    Some were made with an engine that moves no data, whose jobs are left out: here they have one that does.
    """
    whole = (
        whole_of(name).replace("ioengine=null", "ioengine=psync").replace('"ioengine" : "null"', '"ioengine" : "psync"')
    )
    json = ""
    if "\n{\n" in whole:
        start, end = whole.index("\n{\n") + 1, whole.rindex("\n}\n") + 3
        whole, json = whole[:start] + whole[end:], whole[start:end]
    lines = [f"{line}\n" for line in whole.removesuffix("\n").split("\n")]
    terse = [line for line in lines if line[:2] in ("2;", "3;", "4;", "5;")]
    text = [line for line in lines if line not in terse and not line.startswith(";")]
    return ("".join(text) if any("groupid" in line for line in text) else "", json, "".join(terse))


PLAIN = tuple(name for name in TEXTS if split(name)[0])
"""Samples that have text."""
TERSE = tuple(name for name in TEXTS if split(name)[2])
"""Samples that have terse output."""


def read(text: str, order: Order | None = None) -> ToolOutput:
    """The only output in a text."""
    (output,) = fio_text.read(text, FILE, ImportOptions(order))
    return output


def text_results(name: str, order: Order | None = None) -> tuple[ImportedResult, ...]:
    """What is read from the text of a sample."""
    return read(split(name)[0], order).results


def terse_results(name: str, order: Order | None = "random") -> tuple[ImportedResult, ...]:
    """What is read from the terse output of a sample."""
    return read(split(name)[2], order).results


def num2str(number: int, digits: int, is_binary: bool, is_old: bool) -> str:
    """Write a number as fio's lib/num2str.c does: that of 2.2.10 (old), or that of 3.42."""
    thousand = 1024 if is_binary else 1000
    prefixes = ("", *"KMGPE") if is_old else ("", *"kMGTPE")
    power, rest = 0, -1
    while len(str(number)) > digits:
        number, rest = divmod(number, thousand)
        power += 1
    prefix = prefixes[power] if is_old or not is_binary or not power else f"{prefixes[power].upper()}i"
    room = digits - len(str(number)) - 1
    if rest < 0:
        return f"{number}{prefix}"
    if room <= 0:
        return f"{number + (rest >= thousand // 2)}{prefix}"
    if is_old:
        while len(str(rest)) > room:
            rest = (rest + 9) // 10
        return f"{number}.{rest}{prefix}"
    whole, decimals = f"{rest / thousand:.{room}f}".split(".")
    return f"{number + int(whole)}.{decimals}{prefix}"
