"""Which role a column of a table has, by its heading and its cells."""

import re
from typing import NamedTuple

from assay.rooms.importers.work.guess.words import HeadingParts, operation_of

_SPREAD = re.compile(
    r"\bstd|stdev|dev\b|σ|varian|stabw|error|\bci\b|±|\bcv\b|relative|\bdiff|\bratio|factor|speedup|%(?! ?ile)|"
    r"percent\b|cost|price|usd|\$|ceiling|limit|network|\blink",
    re.IGNORECASE,
)
"""Numbers that are no results: spreads, ratios, prices."""
_STATISTICS = (
    ("p99.99", re.compile(r"99[.,]99")),
    ("p99.9", re.compile(r"99[.,]9")),
    ("p99", re.compile(r"(?<![0-9.])p?99(?![0-9.])")),
    ("p95", re.compile(r"(?<![0-9.])p?95(?![0-9.])")),
    ("p90", re.compile(r"(?<![0-9.])p?90(?![0-9.])")),
    ("p50", re.compile(r"(?<![0-9.])p?50(?![0-9.])|median")),
    ("mean", re.compile(r"avg|mean|average|mittel|durchschn|ø")),
    ("min", re.compile(r"\bmin")),
    ("max", re.compile(r"\bmax")),
)
_LATENCY = re.compile(r"\bc?lat|latenz|resp|antwort|percentile|perzentil|\bp[0-9]{2}|rtt")
_TIME = re.compile(r"time|runtime|elapsed|duration|seconds|dauer|zeit|wall")
_IOPS = re.compile(r"\biops\b|io/s")
_THROUGHPUT = re.compile(r"\bbw\b|bandwidth|throughput|\brate\b|speed|tput|bandbreite|durchsatz|datenrate|\bperf")
_MEASURED = re.compile(r"written|transferred|moved|data\b|total|daten|bytes|amount|volumen")
_NUMBERS = (
    ("read_percent", r"read ?(%|percent|share)|(%|percent) ?reads?|rwmix"),
    (
        "repeat",
        r"(?:test )?(iteration|run|repeat|repetition|rep|trial|lauf|durchlauf|wiederholung|versuch|round|try)"
        r"( ?(no|nr|number|id|#))?",
    ),
    ("queue_depth", r".*(queue|\bqd\b|io ?depth|outstanding|warteschlange).*"),
    ("object_size", r"obj\w* ?size|objektgröße"),
    ("record_size", r".*(record|reclen|\bblock|\bbs\b|xfer|transfer|request|payload|\bi ?o ?size|chunk|blockgr).*"),
    ("file_size", r".*(file ?size|dateigr|filesize|\bfile\b).*|size|größe"),
    ("streams", r".*(streams|total (threads|procs|processes|tasks)|ranks).*"),
    ("lanes", r".*(threads?|numjobs|\bjobs\b|process|procs|lanes|workers|\btasks|\bppn\b|prozesse).*"),
    ("hosts", r".*(clients?|nodes?|hosts?|\bvms?\b|knoten|rechner).*"),
    ("servers", r".*(servers?|\boss\b|\bosts?\b).*"),
    ("files", r".*(\bfiles\b|dateien).*"),
    ("objects", r".*(\bobjects\b|objekte).*"),
    ("ops", r".*(\bops\b|operations|requests|count|anzahl|\bios\b).*"),
)
_NUMBER_ROLES = tuple((name, re.compile(words)) for name, words in _NUMBERS)
_COMMENT = re.compile(
    r"note|comment|remark|bemerk|anmerk|kommentar|source|quelle|info|date\b|datum|\bhow\b|confidence|\blog\b|label|command|tool|when|began"
)
_TARGET = re.compile(
    r"target|device|disk|\bdev\b|drive|array|volume|\bfs\b|file ?system|storage|system|mount|path|server|bucket|"
    r"pool|gerät|laufwerk|platte|speicher|host|instance|option|backend|vendor|model|setup|config|node|client|region|share|export|"
    r"\bort\b",
)
DATES = re.compile(r"date|datum|timestamp|when|began|day|tag\b|zeitpunkt")
"""Headings of columns that tell repeats apart if nothing else does."""


UNKNOWN_HEADING = "its heading is not known"


class ColumnGuess(NamedTuple):
    """A guess at what a column is.

    Attributes:
        role: Its role.
        doubt: Why it is not sure; empty if it is.
    """

    role: str
    doubt: str = ""


def statistic_of(words: str) -> str:
    """Return which statistic a heading names, such as `p99` or `mean`; empty without one."""
    return next((name for name, pattern in _STATISTICS if pattern.search(words)), "")


def guess_numbers(heading: HeadingParts) -> ColumnGuess:
    """Return the role of a column of numbers."""
    words, kind = heading.name, heading.kind
    if re.search(r"read ?(%|percent)|rwmix", words):
        return ColumnGuess("read_percent")
    if _SPREAD.search(words):
        return ColumnGuess("ignored")
    if kind == "bytes/s":
        return _rate("throughput", words)
    if kind == "1/s" or _IOPS.search(words):
        return _rate("iops", words)
    if kind == "ns":
        return _time(words, heading.unit)
    if _LATENCY.search(words):
        return ColumnGuess(f"latency_{statistic_of(words) or 'mean'}", "" if statistic_of(words) else _NO_STATISTIC)
    if kind == "bytes" and _MEASURED.search(words):
        return ColumnGuess("bytes")
    if kind == "bytes" and not words:
        return ColumnGuess("record_size", "a size without a name is taken as that of records")
    for role, pattern in _NUMBER_ROLES:
        if pattern.fullmatch(words):
            return ColumnGuess(role, _DOUBTS.get(role, ""))
    if words == "#":
        return ColumnGuess("repeat", "`#` is taken as the number of the repeat")
    if _THROUGHPUT.search(words):
        return _rate("throughput", words)
    if operation_of(words) and not kind:
        return ColumnGuess("throughput", "numbers under an operation are taken as throughput")
    return ColumnGuess("ignored", UNKNOWN_HEADING)


_NO_STATISTIC = "it does not say which latency it is: mean is a guess"
_DOUBTS = {
    "hosts": "taken as hosts that generate load; if they are processes of one host, write lanes",
    "lanes": "taken as processes or threads of each host; if they are of all hosts together, write streams",
}


def _rate(role: str, words: str) -> ColumnGuess:
    statistic = statistic_of(words)
    if statistic in ("", "mean", "p50"):
        return ColumnGuess(role)
    return ColumnGuess("ignored", f"its {statistic} is not the rate of a whole result")


def _time(words: str, unit: str) -> ColumnGuess:
    statistic = statistic_of(words)
    if _LATENCY.search(words) or (statistic and not _TIME.search(words)):
        return ColumnGuess(f"latency_{statistic or 'mean'}", "" if statistic else _NO_STATISTIC)
    if _TIME.search(words):
        return ColumnGuess("time", "taken as how long each result took")
    if unit in ("ns", "us", "ms"):
        return ColumnGuess("latency_mean", "a short time is taken as the mean latency")
    return ColumnGuess("ignored", UNKNOWN_HEADING)


def is_comment(heading: HeadingParts) -> bool:
    """Whether a heading is that of notes."""
    return _COMMENT.search(heading.name) is not None


def guess_texts(heading: HeadingParts) -> ColumnGuess:
    """Return the role of a column of texts that name no operation."""
    words = heading.name
    for role, pattern in _NUMBER_ROLES:
        if role in ("object_size", "record_size", "file_size", "repeat") and pattern.fullmatch(words):
            return ColumnGuess(role)
    if is_comment(heading):
        return ColumnGuess("comment")
    if _TARGET.search(words):
        return ColumnGuess("target")
    return ColumnGuess("comment", UNKNOWN_HEADING)
