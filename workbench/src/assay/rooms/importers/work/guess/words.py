"""What headings and cells of tables mean, in the words that people use: English and German."""

import re
from typing import NamedTuple

from assay.model.study.axis import AxisValue
from assay.model.units import UnitError, format_size, parse_size

TOTALS = re.compile(
    r"(grand )?(total|sum|average|avg|mean|median|geomean|summe|gesamt|insgesamt|overall|"
    r"mittelwert|mittel|durchschnitt|ø|Σ|std\.? ?dev|stdev|standard deviation)\b.*",
    re.I,
)
"""First words of rows that sum up others."""
EMPTY = frozenset(
    ("n/a", "na", "n.a.", "-", "–", "—", "--", "none", "null", "nan", "?", "tbd", "failed", "fail", "k.a.")
)
"""Texts, in small letters, in place of a number that there is not."""
_SIZE = re.compile(
    r"(?:^|[^a-z0-9.])([0-9]+(?:\.[0-9]+)?) ?(k|m|g|t)(i?b|ib?)?(?![a-z0-9])|(?:seq|rnd)([0-9]+)(k|m)", re.I
)
_EXTRAS = (
    ("queue_depth", re.compile(r"(?:^|[^a-z])(?:q|qd|iodepth|qd=|iodepth=) ?([0-9]{1,4})(?![0-9])", re.I)),
    (
        "lanes",
        re.compile(r"(?:q[0-9]+t|[^a-z]t|numjobs=?)([0-9]{1,4})(?![0-9])|([0-9]{1,4}) ?(?:threads|jobs|procs)", re.I),
    ),
    ("hosts", re.compile(r"([0-9]{1,4}) ?(?:clients?|nodes?|hosts?)", re.I)),
)
_RANDOM = re.compile(r"ra?nd|zuf", re.I)
_SEQUENTIAL = re.compile(r"seq", re.I)
_VERBS = (
    ("re_fwrite", r"re-?fwrit\w*|frewrite"),
    ("re_fread", r"re-?fread|freread"),
    ("fwrite", r"fwrit\w*"),
    ("fread", r"fread\w*"),
    ("record_rewrite", r"record[ _-]?re-?writ\w*"),
    ("backward_read", r"(backward|bkwd|reverse)[ _-]?read\w*"),
    ("stride_read", r"strided?[ _-]?read\w*"),
    ("rewrite", r"re-?writ\w*|überschreiben"),
    ("reread", r"re-?read\w*"),
    ("mkdir", r"mkdir|director(y|ies) creat\w*|creat\w* director\w*|tree creation"),
    ("rmdir", r"rmdir|director(y|ies) (remov|delet)\w*|tree removal"),
    ("create", r"creates?|(file )?creation|anlegen"),
    ("stat", r"stats?"),
    ("unlink", r"unlinks?|rm|(file )?remov\w*|(file )?delet\w* files?|löschen"),
    ("readdir", r"readdir|ls|listing"),
    ("rename", r"renames?"),
    ("put", r"puts?|uploads?"),
    ("get", r"gets?|downloads?"),
    ("head", r"head"),
    ("delete", r"deletes?"),
    ("mix", r"rw|mixed|mix|readwrite|randrw|read ?/ ?write|r/w"),
    ("read", r"reads?|reading|readers?|rd|lesen|randread|rread|lesend"),
    ("write", r"writes?|writing|writers?|written|wr|schreiben|randwrite|rwrite|schreibend|initial writers?"),
)
_OPERATIONS = tuple((name, re.compile(rf"(?<![a-z])(?:{words})(?![a-z])", re.I)) for name, words in _VERBS)
_PREFIX = re.compile(r"(?<![a-z])(rand(?:om)?|rnd|seq(?:uential)?)(?=(read|write|rw))", re.I)
_RATE = re.compile(
    r"(?<![a-z])([kmgt]?)(i?)(bits?|bytes?|b)(?: ?/ ?| ?p(?=s)| per )(?:s|sec|second)(?![a-z])", re.IGNORECASE
)
_COUNT_RATES = re.compile(
    r"(?<![a-z])(k|m)? ?(iops|i/os? ?/ ?s|(?:ops?|req|requests|files|objects|1|tps) ?(?:/|per) ?"
    r"s(?:ec(?:ond)?)?)(?![a-z])",
    re.I,
)
_TIME = re.compile(
    r"(?<![a-zµμ0-9])(ns|nsec|us|µs|μs|usec|ms|msec|s|sec|secs|seconds?|sekunden|min|minutes|h|hours)(?![a-z])", re.I
)
_TIMES = {"n": "ns", "u": "us", "µ": "us", "μ": "us", "ms": "ms", "mi": "min", "s": "s", "h": "h"}
_BYTES = re.compile(r"(?<![a-z0-9])([kmgt])(i?)(?:b|bytes?)(?![a-z/])|(?<![a-z])(bytes?)(?![a-z])", re.I)


class HeadingParts(NamedTuple):
    """A heading in parts.

    Attributes:
        name: Its words in small letters, without the unit.
        unit: Its unit, a key of the table of `figure_units`; empty without one.
        kind: Quantity of the unit as in `assay.rooms.importers.work.figure_units`; empty without one.
        doubt: Why the unit is not sure; empty if it is.
    """

    name: str
    unit: str = ""
    kind: str = ""
    doubt: str = ""


def split_heading(text: str) -> HeadingParts:
    """Return a heading in parts: `Write BW [MB/s]` is `write bw` in MB/s."""
    # Names of columns in programs: kb_per_s, mb_s.
    plain = re.sub(r"(?<=[a-z])_(?:per_)?(s|sec|second)(?=_|$)", r"/\1", text.strip(), flags=re.I).replace("_", " ")
    plain = re.sub(r"(?<=[a-z0-9])([kmg]i?b)$", r" \1", plain)
    if match := _RATE.search(plain):
        unit, doubt = _rate_unit(match)
        return HeadingParts(_rest(plain, match), unit, "bytes/s", doubt)
    if match := re.search(r"(?<![a-z])bw ?[\[(]?([mkg]i?b)(?![a-z/])", plain, re.I):
        unit = {"k": "K", "m": "M", "g": "G"}[match[1][0].lower()] + ("iB/s" if "i" in match[1].lower() else "B/s")
        return HeadingParts(
            "bw", "KiB/s" if unit == "KB/s" else unit, "bytes/s", "" if "i" in unit else _decimal_doubt(unit)
        )
    if match := _COUNT_RATES.search(plain):
        thousand = (match[1] or "").lower() == "k" or re.search(r"[\[(] ?k ?[\])]|thousand|tsd", plain, re.I)
        million = (match[1] or "") in ("M", "m")
        unit = "kIOPS" if thousand else "MIOPS" if million else "1/s"
        return HeadingParts(_rest(plain, match), unit, "1/s")
    if match := _BYTES.search(plain):
        unit, doubt = _size_unit(match)
        return HeadingParts(_rest(plain, match), unit, "bytes", doubt)
    times = list(_TIME.finditer(plain))
    # The last word, since `s` and `h` may also stand for something else.
    if times and (plain[times[-1].end() :].strip(" )]") == "" or times[-1][0] in ("us", "ms", "µs", "ns")):
        word = times[-1][0].lower()
        unit = next(unit for start, unit in _TIMES.items() if word.startswith(start))
        return HeadingParts(_rest(plain, times[-1]), unit, "ns")
    return HeadingParts(_clean(plain))


def _rest(text: str, match: re.Match[str]) -> str:
    return _clean(text[: match.start()] + " " + text[match.end() :])


def _clean(text: str) -> str:
    return " ".join(re.sub(r"[\[\]()/:,|]|(?<=\w)-(?=\w)", " ", text.lower()).split())


def _rate_unit(match: re.Match[str]) -> tuple[str, str]:
    letter, binary, what = match[1], bool(match[2]), match[3]
    bits = what.lower().startswith("bit") or (what == "b" and letter in ("M", "G", "K"))
    if what == "b" and letter.islower() and letter:
        bits = False
    if match[0].lower().endswith("bps") and what != "B":
        bits = True
    prefix = {"": "", "k": "k", "m": "M", "g": "G", "t": "T"}[letter.lower()]
    if bits:
        unit = f"{prefix}bit/s"
        return (unit, "" if what.lower().startswith("bit") else f"`{match[0]}` is taken as bits")
    if binary:
        return f"{prefix.upper()}iB/s", ""
    if letter == "K" or (letter == "k" and what == "b"):
        return "KiB/s", f"`{match[0]}` is taken as 1024 bytes per second; if it is 1000, write kB/s"
    unit = f"{prefix}B/s"
    return unit, _decimal_doubt(unit) if prefix else ""


def _decimal_doubt(unit: str) -> str:
    power = {"k": 1, "M": 2, "G": 3, "T": 4}[unit[0]]
    binary = f"{unit[0].upper()}iB/s"
    return f"{unit} is taken as 10^{3 * power} bytes per second; if the tool means 2^{10 * power}, write {binary}"


def _size_unit(match: re.Match[str]) -> tuple[str, str]:
    if match[3]:
        return "bytes", ""
    letter, binary = match[1].upper(), bool(match[2])
    if binary:
        return f"{letter}iB", ""
    if letter == "K":
        return "KiB", f"`{match[0]}` is taken as 1024 bytes"
    return f"{letter}B", f"{letter}B is taken as a power of 10; if it is a power of 2, write {letter}iB"


def operation_of(text: str) -> str:
    """Return the operation that a text names, in the words of `WORK`; empty if it names none."""
    plain = text.replace("_", " ")
    base = next((name for name, words in _OPERATIONS if words.search(plain)), "")
    if not base and (prefix := _PREFIX.search(plain)):
        base = {"read": "read", "write": "write", "rw": "mix"}[prefix[2].lower()]
    if base == "mix":
        return "random_mix" if _RANDOM.search(plain) else "sequential_mix"
    if base in ("read", "write") and _RANDOM.search(plain):
        return f"random_{base}"
    return base


def order_of(text: str) -> str:
    """Return the order of offsets that a text names; empty if it names none."""
    return "random" if _RANDOM.search(text) else "sequential" if _SEQUENTIAL.search(text) else ""


def size_of(text: str) -> str:
    """Return the size in a text, as studies write it, with k as 1024: `4k` is `4KiB`; empty without one."""
    try:
        return format_size(parse_size(text))
    except UnitError:
        pass
    match = _SIZE.search(text)
    if match is None:
        return ""
    number, letter = match[1] or match[4], (match[2] or match[5]).upper()
    try:
        return format_size(parse_size(f"{number}{letter}iB"))
    except UnitError:
        return ""


def extras_of(text: str) -> dict[str, AxisValue]:
    """Return the parameters that the name of a job has, such as `4k-randread-qd32`."""
    found: dict[str, AxisValue] = {"record_size": size} if (size := size_of(text)) else {}
    for name, words in _EXTRAS:
        if match := words.search(text):
            found[name] = int(next(part for part in match.groups() if part))
    return found
