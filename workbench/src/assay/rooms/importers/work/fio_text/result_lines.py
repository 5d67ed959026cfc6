"""The lines that fio prints about a job in its normal output, of fio 2.0 to 3.42.

Source of the lines: fio, stat.c, `show_thread_status_normal` and what it calls. Figures are named as in fio's JSON.
Before 2.1, `num2str` ends numbers without a prefix with a space (lib/num2str.c): `iops=484 , runt= 10002msec`.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from assay.model.escape import escape_line
from assay.rooms.importers.work.figure_units import convert
from assay.rooms.importers.work.fio_measured import HINT, MAX_FIGURES, MAX_NAME
from assay.rooms.importers.work.fio_text.amounts import Amount, amount_of
from assay.rooms.importers.work.json_text import Number
from assay.rooms.importers.work.results import Figure, OutputError

RESULT = re.compile(
    r"(.{0,300}): \(groupid=([0-9]{1,9}), jobs=([0-9]{1,7})\): err= ?([0-9]{1,9})(?: \((.{0,300})\))?: "
    r"pid=([0-9]{1,10}): (\S.{0,60})\s*"
)
"""The first line of a job's result."""
_N, _F = r"\s*([0-9]{1,20})", r"\s*([0-9]{1,20}(?:\.[0-9]{1,6})?)"
_LABELS = re.compile(
    r"\s+(?:(?:read|write|trim|mixed) *: (?:IOPS|io)=|\||bw \(|iops +:|cpu +:|IO depths +:|submit +:|complete +:|"
    r"issued|errors +:|latency +:|steadystate +:)|.*(?:\([num]sec\) *:| percentiles |th=\[|%, .*=|, avg=|IOPS=|, iops=)"
)
"""What lines with figures have: such a line that is none of those known is damaged."""
_PRIORITY = r"(?: prio [0-9]{1,3}(?:/[0-9]{1,4}){1,2})?"
_TIME = rf"(?:high |low )?(?:prio_)?(?:slat|clat|lat|sync){_PRIORITY}"
"""Label of a time; those of a class of priorities follow those of all operations."""
_SHARE_OF = r"(?: \([0-9]{1,3}\.[0-9]{2}% of IOs\))?"
_PERCENTILES_OF = rf"(?:(?:high|low) prio \([0-9]{{1,3}}\.[0-9]{{2}}%\) )?(?:slat|clat|lat|sync){_PRIORITY}{_SHARE_OF}"
_TIMES = {"nsec": "ns", "usec": "us", "msec": "ms"}
_KINDS = ("read", "write", "trim", "sync")
_COUNTS = {"total": "total_ios", "short": "short_ios", "dropped": "drop_ios", "drop": "drop_ios"}


@dataclass
class TextDirection:
    """What is printed of a job's reads, writes, trims, or all together.

    Attributes:
        iops: Operations per second.
        rates: The same rate in one or two units.
        io: Bytes moved.
        runtime_ms: How long it took.
        times: Its latencies, as in fio's JSON, in nanoseconds.
    """

    iops: Amount
    rates: tuple[Amount, ...]
    io: Amount
    runtime_ms: int
    times: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass
class TextJob:
    """One result of the normal output.

    Attributes:
        name: Name of the job, or of the first one of those that were added up.
        group: Number of its group.
        jobs: Number of processes.
        error: Number of the error; 0 without one.
        pid: Number of its first process.
        date: When it was printed.
        line: Line on which it begins.
        report: How many reports are before it in the same output (--status-interval).
        has_right_fractions: As `is_fraction_known` of `Amount`.
        figures: All its numbers.
        directions: By name.
        counts: Numbers of operations, such as `total_ios` -> those of reads, writes, trims and syncs.
        errors: Number of errors and the first one, with continue_on_error; None if it is not printed.
        first: The first report of the same job, which this one counts again; None without one.
        later: How many later reports count it again.
        place: While it is read: the direction whose lines these are.
        percentiles: While it is read: label and unit of the percentiles whose lines these are.
    """

    name: str
    group: int
    jobs: int
    error: int
    pid: str
    date: str
    line: int
    report: int
    has_right_fractions: bool
    figures: list[Figure] = field(default_factory=list)
    directions: dict[str, TextDirection] = field(default_factory=dict)
    counts: dict[str, tuple[int, ...]] = field(default_factory=dict)
    errors: tuple[int, int] | None = None
    first: "TextJob | None" = None
    later: int = 0
    place: str = ""
    percentiles: tuple[str, str] = ("", "")
    _labels: set[str] = field(default_factory=set)

    @property
    def key(self) -> tuple[str, int, str]:
        """What it has in common with itself in other reports only."""
        return self.name, self.group, self.pid

    def read_line(self, line: str, number: int) -> None:
        """Take the figures of a line.

        Args:
            line: The line.
            number: Its number in the file, from 1.

        Raises:
            OutputError: It begins like a line with figures and is none, or repeats another.
        """
        try:
            for pattern, take in _LINES:
                if (match := pattern.fullmatch(line)) is not None:
                    take(self, match)
                    break
            else:
                if _LABELS.match(line):
                    raise ValueError("not a line that fio prints")
        except ValueError as error:
            shown = escape_line(line.strip(), MAX_NAME)
            raise OutputError(number, f"job {self.name}: {error}: {shown}", HINT) from None
        if len(self.figures) > MAX_FIGURES:
            raise OutputError(self.line, f"job {self.name} has more than {MAX_FIGURES:,} figures", HINT)

    def read_as_thousands(self, name: str) -> None:
        """Take the units of a direction of old output as powers of 1000 (kb_base=1000)."""
        part = self.directions[name]
        part.io, part.rates = part.io.in_thousands, tuple(rate.in_thousands for rate in part.rates)
        units = {f"{name}.io_bytes": part.io.unit, f"{name}.bw": part.rates[0].unit}
        self.figures = [one._replace(unit=units.get(one.name, one.unit)) for one in self.figures]

    def check_complete(self) -> None:
        """Refuse a result that ends too early.

        Raises:
            OutputError: A line is missing that fio always prints.
        """
        for name in ("cpu", "IO depths", "issued"):
            if name not in self._labels:
                raise OutputError(self.line, f"job {self.name}: the output has no line `{name}` after this one", HINT)

    def once(self, name: str) -> None:
        """Note that a line was there.

        Raises:
            ValueError: It is the second one.
        """
        if name in self._labels:
            raise ValueError(f"{name} is printed twice")
        self._labels.add(name)

    def add(self, name: str, text: str, unit: str = "") -> None:
        """Add a figure of the job."""
        self.figures.append(Figure(name, text, unit))

    def add_own(self, name: str, text: str, unit: str = "") -> None:
        """Add a figure of the direction whose lines these are."""
        self.add(f"{self.place}.{name}", text, unit)

    def begin(self, direction: str) -> None:
        """Begin the lines of a direction, or of syncs."""
        self.once(direction)
        self.place = direction


def _rate_line(job: TextJob, match: re.Match[str]) -> None:
    """`read: IOPS=118k, BW=461MiB/s (484MB/s)(16.0MiB/34msec)`, before 2.17 `read : io=16384KB, bw=481882KB/s, ...`."""
    is_old = match["old_io"] is not None
    known = job.has_right_fractions and not is_old
    job.begin(match[1])
    if match["bw"] == "0":
        # With unified_rw_reporting=both, fio 3.27 and later print zeros without units as the sum (stat.c).
        return
    iops = amount_of(match["old_iops"] or match["iops"], "1/s", is_fraction_known=known)
    words = (match["old_bw"],) if is_old else (match["bw"], match["bw_alt"])
    rates = tuple(amount_of(word.replace(" ", ""), "bytes/s", is_old, known) for word in words)
    io = amount_of((match["old_io"] or match["io"]).replace(" ", ""), "bytes", is_old, known)
    runtime = match["old_runtime"] or match["runtime"]
    job.directions[match[1]] = TextDirection(iops, rates, io, int(runtime))
    job.figures.append(iops.figure(f"{match[1]}.iops"))
    job.figures += [rate.figure(f"{match[1]}.{name}") for rate, name in zip(rates, ("bw", "bw_alt"), strict=False)]
    job.figures.append(io.figure(f"{match[1]}.io_bytes"))
    job.add_own("runtime", runtime, "ms")
    for name, text, unit in (("zone_resets", match["resets"], ""), ("cachehit", match["hits"], "%")):
        if text is not None:
            job.add_own(name, text, unit)


def _latency_line(job: TextJob, match: re.Match[str]) -> None:
    """`clat (usec): min=11, max=301, avg=27.04, stdev=31.38`."""
    label, unit = escape_line(match[1], MAX_NAME), _TIMES[match[2]]
    times: dict[str, Any] = {}
    job.once(f"{job.place}.{label}")
    prefix = "lat" if label == job.place else label
    for name, word in (("min", match[3]), ("max", match[4])):
        amount = amount_of(word, unit, is_fraction_known=job.has_right_fractions)  # type: ignore[arg-type]
        job.figures.append(amount.figure(f"{job.place}.{prefix}.{name}"))
        times[name] = Number(amount.value)
    for name, word in (("mean", match[5]), ("stddev", match[6])):
        job.add_own(f"{prefix}.{name}", word, unit)
        times[name] = Number(convert(word, unit))
    if (direction := job.directions.get(job.place)) is not None:
        direction.times[f"{label}_ns"] = times


def _percentiles_line(job: TextJob, match: re.Match[str]) -> None:
    """`clat percentiles (usec):`."""
    label = escape_line(match[1], MAX_NAME)
    job.once(f"{job.place}.{label} percentiles")
    job.percentiles = label, _TIMES[match[2]]


def _percentile_values(job: TextJob, match: re.Match[str]) -> None:
    """`| 99.00th=[  155], 99.50th=[  165]`."""
    label, unit = job.percentiles
    direction = job.directions.get(job.place)
    for percent, bracketed, plain in _PERCENTILE.findall(match[0]):
        time = bracketed or plain
        prefix = "lat" if label == job.place else label
        job.add_own(f"{prefix}.percentile.{percent}", time, unit)
        if direction is not None and f"{label}_ns" in direction.times and unit:
            direction.times[f"{label}_ns"].setdefault("percentile", {})[percent] = Number(convert(time, unit))


def _lifetime_line(job: TextJob, match: re.Match[str]) -> None:  # noqa: ARG001 - the signature of all
    """`block lifetime percentiles :`, of trims: the lines after it count erasures."""
    job.place, job.percentiles = "block_lifetime", ("cycles", "")


def _states_line(job: TextJob, match: re.Match[str]) -> None:
    """`states               : unwritten=0, trimmed=12`."""
    for name, count in re.findall(r"([a-z ]+)=([0-9]{1,20})", match[1]):
        job.add(f"block_lifetime.{name.strip()}", count)


def _bw_line(job: TextJob, match: re.Match[str]) -> None:
    """`bw (  KiB/s): min=80040, max=80088, per=100.00%, avg=80057.40, stdev=18.27, samples=5`."""
    job.once(f"{job.place}.bw samples")
    unit = amount_of(f"0{match[1]}/s", "bytes/s", is_old=match[1][0].isupper() and match[1][1] != "i").unit
    for name, text in zip(("bw_min", "bw_max"), match.group(2, 3), strict=True):
        job.add_own(name, text, unit)
    job.add_own("bw_agg", match[4], "%")
    job.add_own("bw_mean", match[5], unit)
    job.add_own("bw_dev", match[6], unit)
    if match[7]:
        job.add_own("bw_samples", match[7])


def _iops_line(job: TextJob, match: re.Match[str]) -> None:
    """`iops        : min=20010, max=20022, avg=20014.20, stdev= 4.60, samples=5`."""
    job.once(f"{job.place}.iops samples")
    for name, text in zip(("min", "max", "mean", "stddev"), match.groups(), strict=False):
        job.add_own(f"iops_{name}", text, "1/s")
    job.add_own("iops_samples", match[5])


def _shares_line(name: str, key: str) -> Callable[[TextJob, re.Match[str]], None]:
    """Return what takes a line of shares, such as `IO depths    : 1=100.0%, 2=0.0%`."""

    def take(job: TextJob, match: re.Match[str]) -> None:
        job.place = ""
        if name != "lat":
            job.once(name)
        place = key or f"latency_{_TIMES[match[1]]}"
        for above, share in _SHARE.findall(match[0].partition(":")[2]):
            job.add(f"{place}.{above}", share, "%")

    return take


def _sync_line(job: TextJob, match: re.Match[str]) -> None:  # noqa: ARG001 - the signature of all
    """`fsync/fdatasync/sync_file_range:`."""
    job.begin("sync")


def _cpu_line(job: TextJob, match: re.Match[str]) -> None:
    """`cpu          : usr=3.00%, sys=9.00%, ctx=181, majf=0, minf=57`."""
    job.once("cpu")
    for name, text, unit in zip(
        ("usr_cpu", "sys_cpu", "ctx", "majf", "minf"), match.groups(), ("%", "%", "", "", ""), strict=True
    ):
        job.add(name, text, unit)


def _issued_line(job: TextJob, match: re.Match[str]) -> None:
    """`issued rwts: total=0,256,0,60 short=0,0,0,0 dropped=0,0,0,0`, before 2.17 `issued    : total=r=0/w=384/d=0`."""
    job.once("issued")
    for word, counts in _ISSUED.findall(match[1]):
        numbers = re.findall(r"[0-9]{1,20}", counts)
        if len(numbers) < 3 or len(numbers) > 4 or any(len(one) > 17 for one in numbers):
            raise ValueError("not three or four counts")
        job.counts[_COUNTS[word]] = tuple(map(int, numbers))
        for kind, number in zip(_KINDS, numbers, strict=False):
            job.add(f"{kind}.{_COUNTS[word]}", number)


def _errors_line(job: TextJob, match: re.Match[str]) -> None:
    """`errors    : total=1, first_error=28/<No space left on device>`."""
    job.once("errors")
    job.errors = int(match[1]), int(match[2])
    job.add("total_err", match[1])
    job.add("first_error", match[2])


def _target_line(job: TextJob, match: re.Match[str]) -> None:
    """`latency   : target=0, window=0, percentile=100.00%, depth=1`; only 3.42 prints units."""
    job.once("latency")
    for name, text, unit in (("target", match[1], match[2]), ("window", match[3], match[4])):
        job.add(f"latency_{name}", text, unit)
    job.add("latency_percentile", match[5], "%")
    job.add("latency_depth", match[6])


def _steady_line(job: TextJob, match: re.Match[str]) -> None:
    """`steadystate  : attained=yes, bw=4004KiB/s (4004kB/s), iops=1001, iops slope=0.000%`."""
    job.once("steadystate")
    for name, text, kind in (("bw", match[2], "bytes/s"), ("bw_alt", match[3], "bytes/s"), ("iops", match[4], "1/s")):
        if text:
            old = "i" not in text and name == "bw" and match[3] is None
            job.figures.append(amount_of(text, kind, old).figure(f"steadystate.{name}"))  # type: ignore[arg-type]
    if match[5]:
        job.figures.append(amount_of(match[5], _TIMES[match[6]]).figure("steadystate.lat_mean"))  # type: ignore[arg-type]
    if match[7][-1].isdigit():
        job.add("steadystate.criterion", match[7], match[8])


_PERCENTILE = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,6})?)th=(?:\[ *([0-9]{1,20})\]|([0-9]{1,20}))")
_SHARE = re.compile(r"(>?=?[0-9]{1,4})=([0-9]{1,3}\.[0-9]{1,2})%")
_ISSUED = re.compile(r"(total|short|dropped|drop)=([rwd0-9=/,]+)")
_SHARES = r"(?:>?=?[0-9]{1,4}=[0-9]{1,3}\.[0-9]{1,2}%(?:, |\s*$))+"
_LINES: tuple[tuple[re.Pattern[str], Callable[[TextJob, re.Match[str]], None]], ...] = tuple(
    (re.compile(pattern), take)
    for pattern, take in (
        (r"  Description  : \[.*\]\s*", lambda job, match: None),  # noqa: ARG005 - the signature of all
        (
            r"\s+(read|write|trim|mixed) *: (?:IOPS=(?P<iops>\S+), BW=(?P<bw>\S+) \((?P<bw_alt>\S+)\)"
            r"\((?P<io>\S+?)/(?P<runtime>[0-9]{1,15})msec\)(?:; (?P<resets>[0-9]{1,20}) zone resets)?"
            r"(?:; Cachehit=(?P<hits>[0-9]{1,3}\.[0-9]{2})%)?|io=(?P<old_io>[^\s,]+(?: B)?), "
            r"bw=(?P<old_bw>[^\s,]+(?: B/s)?), iops=(?P<old_iops>[^\s,]+) ?, "
            r"runt= *(?P<old_runtime>[0-9]{1,15})msec)\s*",
            _rate_line,
        ),
        (rf"\s+({_TIME}) \(([num]sec)\) *: min=([^\s,]+) ?, max=([^\s,]+) ?, avg={_F}, stdev={_F}\s*", _latency_line),
        (rf"\s+({_PERCENTILES_OF}) percentiles \(([num]sec)\) *:\s*", _percentiles_line),
        (rf"\s+\|(?:\s*{_PERCENTILE.pattern},?)*\s*", _percentile_values),
        (r"\s+block lifetime percentiles *:\s*", _lifetime_line),
        (r"\s+states +:((?: [a-z ]+=[0-9]{1,20},?)+)\s*", _states_line),
        (
            rf"\s+bw \( *([KkM]i?(?:B|bit)) */s\) *: min={_N}, max={_N}, per={_F}%, avg={_F}, stdev={_F}"
            rf"(?:, samples={_N})?\s*",
            _bw_line,
        ),
        (rf"\s+iops +: min={_N}, max={_N}, avg={_F}, stdev={_F}, samples={_N}\s*", _iops_line),
        (rf"\s+lat \(([num]sec)\) +: {_SHARES}", _shares_line("lat", "")),
        (r"\s+fsync/fdatasync/sync_file_range\S*:\s*", _sync_line),
        (rf"\s+cpu +: usr={_F}%, sys={_F}%, ctx={_N}, majf={_N}, minf={_N}\s*", _cpu_line),
        (rf"\s+IO depths +: {_SHARES}", _shares_line("IO depths", "iodepth_level")),
        (rf"\s+submit +: {_SHARES}", _shares_line("submit", "iodepth_submit")),
        (rf"\s+complete +: {_SHARES}", _shares_line("complete", "iodepth_complete")),
        (
            r"\s+issued(?: rwts?)? *: (total=[rwd0-9=/,]+ short=[rwd0-9=/,]+(?: drop(?:ped)?=[rwd0-9=/,]+)?)\s*",
            _issued_line,
        ),
        (r"\s+errors +: total=([0-9]{1,18}), first_error=([0-9]{1,9})/<.*>\s*", _errors_line),
        (
            rf"\s+latency +: target={_F}((?:[num]?s)?), window={_F}((?:[num]?s)?), percentile={_F}%, depth={_N}\s*",
            _target_line,
        ),
        (
            r"\s+steadystate +: attained=(yes|no), bw=(\S+?)(?: \((\S+)\))?, iops=([^\s,]+)"
            r"(?:, lat=([^\s,]+?)([num]sec))?, (?:bw|iops|lat) (?:slope|mean dev)="
            r"(-?[0-9]{1,20}\.[0-9]{3}|-?nan|-?inf)(%?)\s*",
            _steady_line,
        ),
    )
)
"""Form of a line -> what takes its figures."""
