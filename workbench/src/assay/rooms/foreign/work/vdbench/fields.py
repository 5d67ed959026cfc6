"""Values of vdbench's parameters, and the fields of a workload that runs on luns and on files have in common."""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

from assay.model.base import AssayError
from assay.model.study.parameters import MAX_NS
from assay.model.units import format_size
from assay.rooms.foreign.work.notes import Notes
from assay.rooms.foreign.work.vdbench.scan import Definition, ParameterFile, VdbenchParameter

_NUMBER = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,6})?)(?:([kmgth%])b?)?", re.I)
_NAMES = re.compile(r"(.{0,80}?)([0-9]{1,9})-\1([0-9]{1,9})")
_NUMBERED = re.compile(r"(.{0,80}?)([0-9]{1,9})")
_FACTORS = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "h": 3600}
_MAX_VALUES, _MAX_COUNT = 1000, 1024
_MAX_SIZE = 2**60
FLAGS = {
    "o_direct": ("cache", "direct"),
    "directio": ("cache", "direct"),
    "o_sync": ("sync", "o_sync"),
    "o_rsync": ("sync", "o_sync"),
    "o_dsync": ("sync", "o_dsync"),
    "fsync": ("sync", "fsync"),
    "fsync_on_close": ("sync", "fsync"),
}
"""Word of `openflags` -> field and value (OpenFlags.java)."""
Field = dict[str, Any]


def number(text: str, parameter: VdbenchParameter) -> float:
    """Return a number with one of vdbench's suffixes: k, m, g and t are powers of 1024, h is 3600.

    A b may follow the letter, as in 64KB (Vdb_scan.java, not_numeric).

    Raises:
        AssayError: It is none.
    """
    match = _NUMBER.fullmatch(text)
    value = float(match[1]) * _FACTORS.get((match[2] or "").lower(), 1) if match else -1.0
    if not 0 <= value <= _MAX_SIZE:
        raise AssayError(f"{parameter.text}: {text[:40]!r} is no number", "write such as 4k, 1m or 64")
    return int(value) if value == int(value) else value


def numbers(parameter: VdbenchParameter | None) -> list[float]:
    """Return the numbers of a parameter, with ranges such as `1-64,d` (doubled) or `10-100,10` as lists.

    Raises:
        AssayError: One is no number, or there are too many.
    """
    if parameter is None:
        return []
    found: list[float] = []
    words = list(parameter.values)
    while words:
        word = words.pop(0)
        first, dash, last = word.partition("-")
        if not dash or not first:
            found.append(number(word, parameter))
            continue
        low, high = number(first, parameter), number(last, parameter)
        step = words.pop(0) if words else "d"
        found += _range(low, high, step, parameter)
        if len(found) > _MAX_VALUES:
            raise AssayError(f"{parameter.text}: more than {_MAX_VALUES} values", "write fewer")
    return found


def _range(low: float, high: float, step: str, parameter: VdbenchParameter) -> list[float]:
    by = 0.0 if step == "d" else number(step, parameter)
    found: list[float] = []
    value = low
    while value <= high and len(found) <= _MAX_VALUES:
        found.append(value)
        value = value * 2 if not by else value + by
        if not low and not by:
            break
    return found


def written(values: Sequence[Any]) -> Any:
    """Return a value, or a list of several."""
    unique = list(dict.fromkeys(values))
    return unique[0] if len(unique) == 1 else unique


def sizes(values: Sequence[float]) -> Any:
    """Return sizes as studies have them."""
    return written([format_size(int(one)) for one in values])


def named(names: Sequence[str], among: Sequence[Definition], what: Definition) -> list[Definition]:
    """Return the definitions that names mean, with `*` for any text.

    Raises:
        AssayError: A name is none of them.
    """
    found: dict[str, Definition] = {}
    for name in names or ("*",):
        some = [one for one in among if fnmatchcase(one.name.lower(), name.lower())] or _in_range(name, among)
        if not some:
            message = f"{what.kind}={what.name}, line {what.line}: there is no {name[:60]!r}"
            raise AssayError(message, "define it above")
        found |= {one.name: one for one in some}
    return list(found.values())


def first_of(definitions: Sequence[Definition], *names: str) -> VdbenchParameter | None:
    """Return a parameter of the first definition that has it under one of its names."""
    for definition in definitions:
        for name in names:
            if name in definition.parameters:
                return definition.parameters[name]
    return None


def _in_range(name: str, among: Sequence[Definition]) -> list[Definition]:
    """Return the definitions of a range of names such as `sd1-sd8`."""
    match = _NAMES.fullmatch(name.lower())
    if match is None:
        return []
    numbered = ((one, _NUMBERED.fullmatch(one.name.lower())) for one in among)
    low, high = int(match[2]), int(match[3])
    return [one for one, found in numbered if found and found[1] == match[1] and low <= int(found[2]) <= high]


def flag_fields(definitions: Sequence[Definition], notes: Notes) -> Field:
    """Return cache and sync, which `openflags` say; without them vdbench uses the page cache and flushes nothing."""
    found: Field = {"cache": "keep", "sync": "none"}
    parameter = first_of(definitions, "openflags")
    for word in parameter.values if parameter else ():
        if word.lower() in FLAGS:
            field, value = FLAGS[word.lower()]
            found[field] = value
        elif parameter:
            notes.add(parameter.text, f"{word} has no counterpart: cache and sync are what openflags may say")
    if found["cache"] == "keep":
        notes.add(
            "cache: keep", "as without openflags=o_direct: results may come from memory, and are judged accordingly"
        )
    return found


def skew_share(definitions: Sequence[Definition], one: Definition) -> float:
    """Return the part of a run's rate that one of its workloads has: its `skew`, or an equal part of what is left."""
    given = [numbers(other.parameters.get("skew")) for other in definitions]
    own = numbers(one.parameters.get("skew"))
    if own:
        return own[0] / 100
    left = max(0.0, 100 - sum(some[0] for some in given if some))
    return left / 100 / max(1, sum(not some for some in given))


def rate_fields(rd: Definition, wd: Definition | None, share: float, notes: Notes) -> Field:
    """Return the rate at which operations are asked for; none for `max`.

    Args:
        rd: The run definition, whose rate is that of all its workloads and targets together.
        wd: The workload definition.
        share: The part of it that is this workload's.
        notes: Receives a line for each difference.
    """
    parameter = first_of([rd, *([wd] if wd else [])], "iorate", "fwdrate", "foriorate", "forfwdrate")
    words = [word for word in parameter.values if word] if parameter else []
    if parameter is None or not words or any(word.lower() in ("max", "curve") for word in words):
        return {}
    if any("(" in word for word in words):
        notes.add(parameter.text, "rates that change within a run have no counterpart: as fast as possible")
        return {}
    rates = [round(one * share, 3) for one in numbers(parameter)]
    if not all(rates):
        return {}
    if share < 1:
        notes.add(parameter.text, "of all workloads and devices of the run together: each has its part")
    found: Field = {"rate": written([f"{one:g}/s" if one < 10**6 else f"{int(one)}/s" for one in rates])}
    arrivals = first_of([rd], "distribution")
    word = arrivals.values[0].lower() if arrivals and arrivals.values else "exponential"
    if "exponential".startswith(word[:3]):
        found["arrivals"] = "poisson"
    elif not "deterministic".startswith(word[:3]) and arrivals:
        notes.add(arrivals.text, "arrivals: constant; operations are evenly spaced")
    return found


def time_fields(rd: Definition, notes: Notes) -> Field:
    """Return the runtime or time_limit; vdbench's default is 30 seconds (RD_entry.java)."""
    parameter = first_of([rd], "elapsed")
    text = parameter.values[0] if parameter and parameter.values else "30"
    if parameter and text[-1:].lower() == "m":
        notes.add(parameter.text, "minutes; to vdbench 5.04.06 m is 2^20 seconds")
        seconds = number(text[:-1], parameter) * 60
    elif parameter and text[-1:].lower() == "s":
        seconds = number(text[:-1], parameter)
    else:
        seconds = number(text, parameter) if parameter else 30
    if not seconds:
        return {}
    if parameter and seconds * 10**9 > MAX_NS:
        most = f"a workload runs for {MAX_NS // 86_400_000_000_000} days at most"
        raise AssayError(f"{parameter.text}: {most}", "write the seconds that are to be measured")
    time = f"{seconds:g}s" if seconds < 10**6 else f"{int(seconds)}s"
    return {"time_limit" if _is_once(rd, notes) else "runtime": time}


def _is_once(rd: Definition, notes: Notes) -> bool:
    """Whether a run ends when as much was moved as there is data; other amounts are left out.

    Values up to 100 are multiples of all data, others are bytes (user guide, `maxdata=`).
    """
    parameter = first_of([rd], "maxdata", "maxdataread", "maxdatawritten")
    if parameter is None or numbers(parameter) == [0]:
        return False
    is_once = numbers(parameter) == [1]
    notes.add(parameter.text, "once over the data" if is_once else "a phase ends by its runtime")
    return is_once


def contents_fields(file: ParameterFile, rd: Definition, sd: Definition | None, reads: bool) -> Field:
    """Return what data is made of: a ratio of 2 means that a half is zeros, or copies."""
    found: Field = {}
    ratio = first_of([rd, file.general], "forcompratio", "compratio")
    share = first_of([rd, file.general], "forcompression", "compression")
    if ratio:
        found["compressible"] = written([_share(one) for one in numbers(ratio)])
    elif share:
        found["compressible"] = written([min(100, round(100 - one)) for one in numbers(share)])
    copies = first_of([*([sd] if sd else []), file.general], "dedupratio")
    if copies:
        found["duplicate"] = written([_share(one) for one in numbers(copies)])
    validate = file.general.values("validate")
    if reads and validate and not validate[0].lower().startswith("n"):
        found["verify"] = True
    return {name: value for name, value in found.items() if value not in (0,)}


def _share(ratio: float) -> int:
    return round(100 * (1 - 1 / ratio)) if ratio > 1 else 0


def largest_part(parameter: VdbenchParameter, notes: Notes) -> float:
    """Return the size that most transfers have; vdbench may mix several, an operation of Assay has one.

    Args:
        parameter: One size; sizes with their percent; or least, most and a multiple (WD_entry.java).
        notes: Receives a line if there are several.
    """
    values = numbers(parameter)
    if len(values) < 2:
        return values[0] if values else 4096
    if len(values) == 3:
        notes.add(parameter.text, f"sizes between two bounds: {format_size(int(values[0]))}, the least, for all")
        return values[0]
    parts = list(zip(values[::2], values[1::2], strict=False))
    size = max(parts, key=lambda part: (part[1], part[0]))[0]
    notes.add(parameter.text, f"a mix of sizes has no counterpart: {format_size(int(size))} for all")
    return size


def record_size_field(rd: Definition, workload: Definition, name: str, notes: Notes) -> Any:
    """Return the sizes of records: those of the run's loop, else of the workload's parameter, whose default is 4 KiB.

    Args:
        rd: The run definition.
        workload: The workload that it runs.
        name: The workload's parameter: `xfersize`, or `xfersizes` for files.
        notes: Where it is noted that one of several sizes was taken.

    Raises:
        AssayError: A size is none.
    """
    if loop := first_of([rd], "forxfersize", "xfersize"):
        return sizes(numbers(loop))
    parameter = workload.parameters.get(name)
    return format_size(int(largest_part(parameter, notes))) if parameter else "4KiB"


def counted(definition: Definition, name: str) -> list[Definition]:
    """Return the definitions that `count=(start,count)` makes of one.

    Numbers are put behind the name and the place; in that of a lun, they replace `*`.

    Args:
        definition: An SD or FSD.
        name: The parameter with its place: `lun` or `anchor`.

    Raises:
        AssayError: There are not two numbers, or too many.
    """
    parameter = definition.parameters.get("count")
    if parameter is None:
        return [definition]
    values, kind = numbers(parameter), definition.kind
    if len(values) != 2 or values[1] > _MAX_COUNT:
        message = f"{kind}={definition.name}: {parameter.text}"
        raise AssayError(message, f"write count=(START,COUNT), with {_MAX_COUNT} at most")
    first = int(values[0])
    place = "".join(definition.values(name))
    others = {key: one for key, one in definition.parameters.items() if key != "count"}
    found = []
    for at in range(first, first + int(values[1])):
        text = place.replace("*", str(at)) if name == "lun" and "*" in place else f"{place}{at}"
        numbered = {name: VdbenchParameter(name, (text,), f"{name}={text}")}
        found.append(Definition(kind, f"{definition.name}{at}", definition.line, others | numbered))
    return found


def share_fields(shares: Sequence[float], order: str, write: str) -> list[tuple[str, Field]]:
    """Return the operations for some shares of reads, as workloads of their own where they need other fields.

    Args:
        shares: Percents of reads.
        order: `random` or `sequential`.
        write: Operation that writes in sequence.
    """
    pure = []
    for share in shares:
        if share in (0, 100):
            kind = ("random_read" if share else "random_write") if order == "random" else ("read" if share else write)
            pure.append(kind)
    mixed = [round(share) for share in shares if share not in (0, 100)]
    found: list[tuple[str, Field]] = []
    if pure:
        found.append(("", {"operations": list(dict.fromkeys(pure))}))
    if mixed:
        found.append(("mix", {"operations": [f"{order}_mix"], "read_percent": written(mixed)}))
    return found
