"""Rules about jobs of fio: what was done against what was asked for, and its figures against each other."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from decimal import ROUND_CEILING, Decimal
from itertools import combinations, pairwise
from typing import NamedTuple

from assay.model.result.percentile import PERCENTILES
from assay.model.units import about_latency, about_number
from assay.rooms.importers.audit.facts import MachineFacts
from assay.rooms.importers.audit.findings import Item, RuleFinding, number
from assay.rooms.importers.work import fio_options
from assay.rooms.importers.work.figure_units import convert, whole_number

DIRECTIONS = ("read", "write", "trim", "mixed")
MILLISECOND_NS = 10**6
KIBIBYTE = 1024
_PERCENT = re.compile(r"\d{1,3}(?:\.\d{1,20})?", re.ASCII)
_SHARES = frozenset(
    ("verify", "rate", "rate_iops", "rate_min", "rwmixcycle", "flow", "bssplit", "bsrange", "rw_sequencer")
)
"""Options with which a mix has another share of reads: what is verified is read, and rates are limits of each."""
WITHOUT_DATA = fio_options.WITHOUT_READS_AND_WRITES | fio_options.WITHOUT_STORAGE.keys()
"""Engines of fio that write no data to storage."""
WHOLE_SIZES = frozenset(("psync", "sync", "pvsync", "pvsync2", "libaio", "io_uring", "posixaio", "mmap"))
"""Engines whose jobs move their size: others end earlier, or count otherwise."""
QUEUE_SHARE = 1.05
"""By how much operations in flight may be more than were asked for, by roundings and by time outside of operations."""
BIN_SHARE = Decimal("0.02")
"""Width of fio's bins of latencies: up to 1/64 of the value (stat.h, FIO_IO_U_PLAT_BITS)."""
SAME_RATE = 0.02
MIX_DEVIATIONS, MIX_SHARE = 5, 0.05
"""By how many standard deviations, and by how much at least, the share of reads may differ from what was asked for."""
MIN_SAME = 5
_OTHER_AMOUNTS = frozenset(
    (
        *("time_based", "io_size", "io_limit", "loops", "number_ios", "nrfiles", "filesize", "offset"),
        *("offset_increment", "size_percent", "fill_device", "fill_fs", "verify", "zonemode", "zonesize"),
        *("replay_redirect", "read_iolog", "bsrange", "bssplit", "bs_unaligned", "ramp_time", "file_append"),
        *("trim_percentage", "percentage_random", "latency_target", "rw_sequencer", "steadystate"),
    )
)
"""Options of fio with which a job does not move its size once."""


class JobDirection(NamedTuple):
    """What fio prints of the reads, writes or trims of a job.

    Attributes:
        name: One of `DIRECTIONS`.
        ops: Operations.
        iops: Operations per second.
        rate: Bytes per second; None if it is not printed.
        mean_ns: Mean latency, the lower one of `clat` and `lat`, since some engines make `clat` wrong; None if it is
            not printed, or zero.
        runtime_ns: How long it ran, rounded to a millisecond; 0 if it is not printed.
    """

    name: str
    ops: int
    iops: float
    rate: float | None
    mean_ns: float | None
    runtime_ns: float


def directions(item: Item) -> list[JobDirection]:
    """Return the parts of a job of fio in which something was done; empty for other tools."""
    found = []
    for name in DIRECTIONS if item.output.file.tool == "fio" else ():
        ops, iops = (item.figures.get(f"{name}.{what}") for what in ("total_ios", "iops"))
        if ops is None or iops is None or not number(ops.text):
            continue
        means = [item.figures.get(f"{name}.{what}.mean") for what in ("clat_ns", "clat", "lat_ns", "lat")]
        values = [float(convert(one.text, one.unit)) for one in means if one is not None]
        mean = min((value for value in values if value), default=None)
        time = item.figures.get(f"{name}.runtime")
        runtime = float(convert(time.text, time.unit or "ms")) if time is not None else 0.0
        rates = [item.figures.get(f"{name}.{what}") for what in ("bw_bytes", "bw")]
        rate = next((float(convert(one.text, one.unit)) for one in rates if one is not None), None)
        per_s = float(convert(iops.text, iops.unit) if iops.unit else number(iops.text))
        found.append(JobDirection(name, int(number(ops.text)), per_s, rate, mean, runtime))
    # With unified_rw_reporting=both the sum stands beside its parts.
    return found if len(found) == 1 else [part for part in found if part.name != "mixed"]


def operations_in_flight(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield results with more operations in flight than were asked for (Little's law: rate x mean latency)."""
    for item in items:
        rate, flying = _in_flight(item)
        asked = _requested_in_flight(item)
        if asked and flying > QUEUE_SHARE * asked:
            text = f"{about_number(rate)} operations a second of {about_latency(flying / rate * 1e9)} each are"
            text += f" {about_number(flying)} in flight, and {asked:,} {'was' if asked == 1 else 'were'} asked for"
            yield RuleFinding(item, text, {"in_flight": about_number(flying), "asked": asked})


def _in_flight(item: Item) -> tuple[float, float]:
    """Return operations a second, and how many were in flight on average: the sum of their times over the time."""
    parts, measured = [part for part in directions(item) if part.mean_ns is not None], item.measured
    longest = max((part.runtime_ns for part in parts), default=0.0)
    if longest:
        # The time is rounded to a millisecond.
        time = longest + MILLISECOND_NS / 2
        busy = sum(part.ops * (part.mean_ns or 0.0) for part in parts)
        return sum(part.ops for part in parts) / time * 1e9, busy / time
    if measured is not None and measured.iops:
        return measured.iops, measured.iops * measured.latency.get("mean", 0.0) / 1e9
    return 0.0, 0.0


def _requested_in_flight(item: Item) -> int:
    """Return how many operations were asked for at once; 0 if that is not known, or fio printed one of several jobs."""
    if _is_of_several_jobs(item):
        return 0
    depth, lanes = item.parameter("queue_depth"), item.parameter("lanes")
    if depth and lanes:
        return depth * lanes
    options = item.result.options
    # A job that trims has no parameters.
    if item.measured is not None or item.output.file.tool != "fio" or not options:
        return 0
    return (whole_number(options.get("iodepth", "1")) or 0) * (_processes(item) or 0)


def rate_of_operations(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield jobs whose bytes a second are not their operations a second times the size of an operation."""
    for item in items:
        for part in directions(item):
            sizes = [item.figures.get(f"{part.name}.{what}") for what in ("io_bytes", "io_kbytes")]
            size = next((float(convert(one.text, one.unit or "KiB")) for one in sizes if one is not None), None)
            if not size or not part.rate or not part.iops:
                continue
            each, shown = size / part.ops, part.rate / part.iops
            if abs(each - shown) > (SAME_RATE + _lost_carry(item, part)) * max(each, shown):
                text = f"{part.name}: operations moved {about_number(each, 5)} bytes each, and bytes a second over "
                text += f"operations a second are {about_number(shown, 5)}"
                yield RuleFinding(item, text, {"each": about_number(each, 5), "shown": about_number(shown, 5)})
                break


def _lost_carry(item: Item, part: JobDirection) -> float:
    """Return by which share figures of fio's text may be too small: before 3.26 it prints 12.0 as 11.0 (num2str)."""
    names = ("bw_bytes", "bw", "iops", "io_bytes", "io_kbytes")
    printed = [item.figures.get(f"{part.name}.{what}") for what in names]
    if item.output.file.form != "text":
        return 0.0
    return sum(1 / float(number(one.text)) for one in printed if one is not None and number(one.text))


def share_of_reads(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield mixes whose share of reads is not what was asked for, beyond what chance gives (binomial distribution)."""
    for item in items:
        parts = {part.name: part.ops for part in directions(item)}
        asked = item.parameter("read_percent")
        if not {"read", "write"} <= parts.keys() or not asked or _SHARES & item.result.options.keys():
            continue
        count = parts["read"] + parts["write"]
        share, wanted = parts["read"] / count, asked / 100
        deviation = (wanted * (1 - wanted) / count) ** 0.5
        if abs(share - wanted) > max(MIX_DEVIATIONS * deviation, MIX_SHARE):
            text = f"{share * 100:.1f} % of the operations are reads, and {asked} % were asked for"
            yield RuleFinding(item, text, {"share": f"{share:.4f}", "asked": f"{wanted:.2f}"})


def _counted(item: Item) -> int:
    """Return how many latencies fio says that it has; before it prints that, as many as operations. 0: not known."""
    parts = directions(item)
    if len(parts) != 1:
        return 0
    counted = item.figures.get(f"{parts[0].name}.{_measured_name(item)}.N")
    if counted is not None:
        return int(number(counted.text))
    return parts[0].ops if _moves_its_size(item) else 0


def _measured_name(item: Item) -> str:
    """Return the part of the output that latencies of the run are from: `clat_ns`, `lat_ns`."""
    return next((f"{item.result.latency_of}{end}" for end in ("_ns", "") if _has_part(item, end)), "")


def _has_part(item: Item, end: str) -> bool:
    part = f".{item.result.latency_of}{end}.mean"
    return any(name.endswith(part) for name in item.figures)


def mean_of_bins(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield jobs whose histogram of latencies has another count, or another mean, than is printed."""
    from assay.analyse import histograms

    for item in items:
        measured = item.measured
        if measured is None or measured.histogram is None or len(measured.kinds) > 1 or item.output.file.tool != "fio":
            continue
        found = histograms.decode(measured.histogram)
        count = _counted(item)
        mean, stated = histograms.moments(found)[0] if found.total else 0.0, measured.latency.get("mean")
        if count and found.total != count:
            text = f"its bins hold {found.total:,} latencies, and {count:,} are stated"
            yield RuleFinding(item, text, {"bins": found.total, "stated": count})
        elif mean and stated and abs(mean - stated) > float(BIN_SHARE) * max(mean, stated):
            text = f"the mean of its bins is {about_latency(mean)}, and {about_latency(stated)} is stated"
            yield RuleFinding(item, text, {"bins": about_latency(mean), "stated": about_latency(stated)})


def percentiles_in_order(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield printed percentiles of which a higher one is smaller, or that differ where one latency is both."""
    for item in items:
        groups: dict[str, list[tuple[Decimal, Decimal, str]]] = defaultdict(list)
        for name, figure in item.figures.items():
            what, _, percent = name.partition(".percentile.")
            if _PERCENT.fullmatch(percent):
                groups[what].append((number(percent), number(figure.text), figure.text))
        for what, values in groups.items():
            counted = item.figures.get(f"{what}.N")
            for lower, upper in pairwise(sorted(values)):
                names = [f"{each[0].normalize():f}" for each in (lower, upper)]
                if lower[1] > upper[1]:
                    text = f"percentile {names[1]} of {what}, {upper[2]}, is below percentile {names[0]}, {lower[2]}"
                    yield RuleFinding(item, text, {"lower": lower[2], "upper": upper[2]})
                    break
                if (
                    counted is not None
                    and lower[1] != upper[1]
                    and _rank(lower, counted.text) == _rank(upper, counted.text)
                ):
                    text = (
                        f"percentiles {names[0]} and {names[1]} of {counted.text} latencies ({what}) are the same one, "
                    )
                    text += f"and {lower[2]} and {upper[2]} are stated"
                    yield RuleFinding(item, text, {"lower": lower[2], "upper": upper[2]})
                    break


def _rank(value: tuple[Decimal, Decimal, str], count: str) -> Decimal:
    return (value[0] * number(count) / 100).to_integral_value(ROUND_CEILING)


def percentiles_of_bins(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield jobs with a percentile that is not that of their histogram of latencies, nor a neighbour of it."""
    from assay.analyse import histograms

    for item in items:
        measured = item.measured
        if measured is None or measured.histogram is None or len(measured.kinds) > 1 or not directions(item):
            continue
        found = histograms.decode(measured.histogram)
        for name, value in histograms.summary(found).items():
            # 99.9 % of 1,000 is the 999th or the 1,000th, by the last bit of 99.9.
            ends = [min(100.0, max(0.0, PERCENTILES[name] + 100 * step / found.total)) for step in (-1, 1)]
            low, high = (float(end) for end in histograms.percentiles(found, ends))
            stated, width = measured.latency.get(name), float(BIN_SHARE)
            if stated is not None and not low * (1 - width) <= stated <= high * (1 + width):
                text = f"{name} of its bins is {about_latency(value)}, and {about_latency(stated)} is stated"
                yield RuleFinding(item, text, {"bins": about_latency(value), "stated": about_latency(stated)})
                break


def one_rate_in_two_units(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield jobs whose `bw`, in KiB a second, is not their `bw_bytes`."""
    for item in items:
        for part in directions(item):
            both = [item.figures.get(f"{part.name}.{what}") for what in ("bw", "bw_bytes")]
            printed = [one for one in both if one is not None and one.unit in ("KiB/s", "B/s")]
            if len(printed) < len(both):
                continue
            small, exact = (convert(one.text, one.unit) for one in printed)
            if abs(small - exact) > KIBIBYTE:
                text = f"{part.name}: bw={printed[0].text} KiB/s is {small:,f} B/s, and bw_bytes is {exact:,f}"
                yield RuleFinding(item, text, {"bw": str(small), "bw_bytes": str(exact)})
                break


def jobs_of_a_group(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield jobs of which fio lists some processes, each by itself, but not as many as `numjobs` says."""
    counts = Counter((id(item.output), item.result.name) for item in items if item.output.file.tool == "fio")
    seen = set()
    for item in items:
        key, jobs = (id(item.output), item.result.name), _processes(item)
        if item.output.file.tool != "fio" or key in seen or jobs is None:
            continue
        seen.add(key)
        if 1 < counts[key] != jobs > 1 and counts[key] % jobs:
            text = f"numjobs={jobs}, and {counts[key]} jobs of this name are listed"
            yield RuleFinding(item, text, {"numjobs": jobs, "listed": counts[key]})


def directions_alike(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield jobs whose reads and writes have the same latencies, digit by digit."""
    for item in items:
        groups: dict[str, dict[str, str]] = defaultdict(dict)
        for name, figure in item.figures.items():
            part, _, rest = name.partition(".")
            if (
                part in DIRECTIONS[:3]
                and rest.split(".")[0] in ("clat_ns", "clat")
                and len(figure.text.strip("0.")) >= MIN_SAME
            ):
                groups[part][rest] = figure.text
        for one, two in combinations(groups, 2):
            shared = [name for name in groups[one] if name.endswith((".mean", ".stddev"))]
            if len(shared) == 2 and all(groups[one][name] == groups[two].get(name) for name in shared):
                text = (
                    f"mean and standard deviation of the latencies of {one} and of {two} are the same, digit by digit"
                )
                yield RuleFinding(item, text, {name: groups[one][name] for name in shared})


def bytes_of_operations(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield jobs of fio whose operations moved another size each than `bs` says."""
    for item in items:
        measured, size = item.measured, _single_size(item, "bs")
        if measured is None or not measured.ops or not size or measured.errors or _is_of_several_jobs(item):
            continue
        each, rest = divmod(measured.bytes, measured.ops)
        if each and not rest and each != size and each & (each - 1) == 0:
            text = (
                f"{measured.ops:,} operations moved {each:,} bytes each, and bs={item.result.options['bs']} is {size:,}"
            )
            yield RuleFinding(item, text, {"each": str(each), "bs": str(size)})


def amount_of_data(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield jobs of fio that moved another amount than their size, where nothing else ends them.

    Only of outputs with one result: fio does not print options without a value, such as `exitall`.
    """
    counts = Counter(id(item.output) for item in items)
    for item in items:
        measured, size, options = item.measured, _single_size(item, "size"), item.result.options
        if counts[id(item.output)] > 1 or measured is None or not size or not _moves_its_size(item):
            continue
        jobs = _processes(item) or 0
        block = fio_options.size_of(options.get("bs", "4k")) or 0
        wanted = size * jobs
        if abs(measured.bytes - wanted) >= max(block, 1) * jobs and not _is_of_several_jobs(item):
            of = f"{jobs} jobs of " if jobs > 1 else ""
            text = f"{measured.bytes:,} bytes were moved, and {of}size={options['size']} are {wanted:,}"
            yield RuleFinding(item, text, {"moved": measured.bytes, "size": wanted})


def _moves_its_size(item: Item) -> bool:
    """Return whether a job of fio has no option, and no fate, with which it moves another amount than its size."""
    measured, options = item.measured, item.result.options
    if measured is None or item.output.file.tool != "fio" or measured.status != "done" or not measured.has_counts:
        return False
    if options.get("ioengine", "psync") not in WHOLE_SIZES or _processes(item) is None:
        return False
    several = len(fio_options.files_of(options)) > 1 or "," in options.get("bs", "")
    return not several and not any(name in options for name in _OTHER_AMOUNTS)


def _single_size(item: Item, name: str) -> int:
    """Return an option of fio that is one size; 0 if it is not printed, or is none."""
    options = item.result.options
    # Which options `kb_base` applies to depends on their order, which fio does not print.
    return 0 if "kb_base" in options else fio_options.size_of(options.get(name, "")) or 0


def _is_of_several_jobs(item: Item) -> bool:
    """Return whether fio counted other jobs with this one: `job_runtime` is the sum over all processes."""
    total = item.figures.get("job_runtime")
    times = [number(figure.text) for name, figure in item.figures.items() if name.endswith(".runtime")]
    asked = _processes(item)
    if total is None or not any(times) or asked is None:
        return False
    return number(total.text) >= (asked + Decimal("0.5")) * max(times)


def _processes(item: Item) -> int | None:
    """Return how many processes a job of fio asked for; None if its option is no number."""
    return whole_number(item.result.options.get("numjobs", "1"))
