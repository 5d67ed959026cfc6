"""Rules about one result: its numbers against each other, and against how the tool works."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import pairwise

from assay.model.result.percentile import PERCENTILES
from assay.model.study.names import WORK
from assay.model.units import about_duration, about_latency, about_number, about_size, format_size
from assay.rooms.importers.audit.facts import MachineFacts
from assay.rooms.importers.audit.findings import Item, RuleFinding, half_digit, number, rate_words
from assay.rooms.importers.work import fio_options
from assay.rooms.importers.work.figure_units import UNITS, convert

BIN_SHARE = 0.02
"""By how much a percentile may be beyond the extremes: fio's bins are up to 1/64 wide (stat.h, FIO_IO_U_PLAT_BITS)."""
RATE_SHARE = 0.02
CLOCK_NS = 2_000_000
"""What two roundings to a millisecond change of a time."""
QUEUE_SHARE = 1.05
"""By how much operations in flight may be more than were asked for, by roundings and by time outside of operations."""
STOP_SHARE = Decimal("0.01")
MIN_STOP_SECONDS = 5
"""Shortest test whose processes are taken to have started at once: they begin within some tenths of a second."""
_OTHER_AMOUNTS = frozenset(
    (
        *("time_based", "io_size", "io_limit", "loops", "number_ios", "nrfiles", "filesize", "offset"),
        *(
            "offset_increment",
            "size_percent",
            "fill_device",
            "fill_fs",
            "verify",
            "zonemode",
            "zonesize",
            "replay_redirect",
        ),
        *(
            "read_iolog",
            "bsrange",
            "bssplit",
            "bs_unaligned",
            "ramp_time",
            "file_append",
            "trim_percentage",
            "steadystate",
        ),
    )
)
"""Options of fio with which a job does not move its size once."""
TESTS = {
    "initial writers": 0,
    "writers": 0,
    "rewriters": 0,
    "re-writers": 0,
    "readers": 1,
    "initial readers": 1,
    "re-readers": 1,
    "random readers": 2,
    "random writers": 2,
    "reverse readers": 3,
    "stride readers": 5,
    "mixed workload": 8,
    "pwrite writers": 9,
    "pread readers": 10,
    "fwriters": 6,
    "freaders": 7,
}
"""Label in iozone's throughput mode -> number of its test for `-i` (iozone.c, usage text and multi_throughput_test)."""
LABELS = TESTS.keys() - {"writers", "re-writers", "initial readers"}
"""Labels that iozone prints; the others are known from logs that people edited."""


def latency_order(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield latencies that are not in order: least, percentiles, greatest; and means outside of them."""
    for item in items:
        latency = item.measured.latency if item.measured else {}
        names = [name for name in ("min", *PERCENTILES, "max") if name in latency]
        for lower, upper in pairwise(names):
            slack = 1 + BIN_SHARE if "min" in (lower, upper) or "max" in (lower, upper) else 1
            if latency[lower] > latency[upper] * slack:
                yield _latency_finding(item, lower, upper, latency)
                break
        else:
            if "mean" in latency and "max" in latency and latency["mean"] > latency["max"]:
                yield _latency_finding(item, "mean", "max", latency)
            elif "mean" in latency and "min" in latency and latency["mean"] < latency["min"]:
                yield _latency_finding(item, "min", "mean", latency)


def percentiles_in_order(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield printed percentiles of which a higher one is smaller."""
    for item in items:
        groups: dict[str, list[tuple[Decimal, Decimal, str]]] = defaultdict(list)
        for name, figure in item.figures.items():
            what, _, percent = name.partition(".percentile.")
            if percent:
                groups[what].append((number(percent), number(figure.text), figure.text))
        for what, values in groups.items():
            for lower, upper in pairwise(sorted(values)):
                if lower[1] > upper[1]:
                    text = f"percentile {upper[0].normalize():f} of {what}, {upper[2]}, is below "
                    text += f"percentile {lower[0].normalize():f}, {lower[2]}"
                    yield RuleFinding(item, text, {"lower": lower[2], "upper": upper[2]})
                    break


def _latency_finding(item: Item, lower: str, upper: str, latency: dict[str, float]) -> RuleFinding:
    low, high = (about_latency(latency[name]) for name in (lower, upper))
    return RuleFinding(
        item, f"the {lower} latency, {low}, is above the {upper} latency, {high}", {lower: low, upper: high}
    )


def rate_from_bytes(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield rates that are not the bytes over the time that the output states."""
    for item in items:
        measured = item.measured
        if measured is None or not measured.elapsed_ns or not measured.has_counts or len(measured.kinds) > 1:
            continue
        slack = RATE_SHARE + CLOCK_NS / measured.elapsed_ns
        for what, amount, stated, words in (
            ("bytes", measured.bytes, measured.throughput, rate_words),
            ("operations", measured.ops, measured.iops, lambda rate: f"{about_number(rate)}/s"),
        ):
            rate = amount / measured.elapsed_ns * 1e9
            if max(rate, stated) > 0 and abs(rate - stated) > slack * max(rate, stated):
                time = about_duration(measured.elapsed_ns / 1e9)
                count = about_size(amount) if what == "bytes" else f"{amount:,} operations"
                text = f"{count} in {time} are {words(rate)}, and {words(stated)} are stated"
                yield RuleFinding(item, text, {"computed": words(rate), "stated": words(stated)})
                break


def operations_in_flight(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield results with more operations in flight than were asked for (Little's law: rate x mean latency)."""
    for item in items:
        measured, depth, lanes = item.measured, item.parameter("queue_depth"), item.parameter("lanes")
        mean = measured.latency.get("mean") if measured else None
        if measured is None or not mean or not depth or not lanes:
            continue
        flying = measured.iops * mean / 1e9
        if flying > QUEUE_SHARE * depth * lanes:
            rate, time = about_number(measured.iops), about_latency(mean)
            text = f"{rate} operations a second of {time} each are {about_number(flying)} in flight"
            yield RuleFinding(
                item, f"{text}, and {depth * lanes:,} were asked for", {"in_flight": about_number(flying)}
            )


def whole_records(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield what iozone says that a process moved, if that is no whole number of records."""
    for item in items:
        record = item.parameter("record_size")
        for name, figure in item.figures.items():
            if record and (name == "min_xfer" or name.endswith(".xfer")) and UNITS[figure.unit].quantity == "bytes":
                moved = convert(figure.text, figure.unit)
                slack = half_digit(figure.text) * UNITS[figure.unit].factor
                rest = moved % record
                if min(rest, record - rest) > slack:
                    records = about_number(moved / record, 7)
                    text = f"{name} {figure.text} {figure.unit} is {records} records of {format_size(record)}"
                    yield RuleFinding(item, f"{text}: iozone counts whole records", {"records": records})
                    break


def sum_of_processes(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield tests of iozone whose sum, mean, least and greatest rate of the processes do not fit each other."""
    for item in items:
        count = _processes(item)
        if not item.is_throughput_test() or not count:
            continue
        text = {name: item.figures[name].text for name in ("children", "min", "max", "avg")}
        value = {name: number(printed) for name, printed in text.items()}
        slack = sum(half_digit(printed) for printed in text.values()) * count + value["children"] * Decimal("1e-6")
        if abs(value["avg"] * count - value["children"]) > slack:
            words = f"{count} processes of {text['avg']} on average are {value['avg'] * count:,}"
            yield RuleFinding(item, f"{words}, and {text['children']} are stated as their sum", {"mean": text["avg"]})
        elif min_seconds(item) < MIN_STOP_SECONDS:
            # Least and greatest of a short test leave out processes that were stopped before their first record.
            continue
        elif not _is_sum(value, count, slack):
            words = f"no {count} rates between {text['min']} and {text['max']}"
            yield RuleFinding(item, f"{words} have the sum {text['children']}", {"sum": text["children"]})


def _is_sum(value: Mapping[str, Decimal], count: int, slack: Decimal) -> bool:
    """Return whether so many rates, the least and the greatest among them, can have the sum."""
    if count == 1:
        return abs(value["min"] - value["children"]) <= slack and abs(value["max"] - value["children"]) <= slack
    low, high = value["min"], value["max"]
    return low <= high and (count - 1) * low + high - slack <= value["children"] <= (count - 1) * high + low + slack


def stop_of_the_fastest(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield reading tests of iozone whose least amount does not follow from the rates.

    All processes stop when the first has read its file (iozone.c, `stop_flag`), so that each has moved its rate times
    the same time: least amount / file size = least rate / greatest rate. Writing tests may flush after that.
    """
    for item in items:
        size, operation = item.parameter("file_size"), item.result.operation
        if not item.is_throughput_test() or not size or operation is None or not WORK[operation].reads:
            continue
        figures = item.figures
        if "-x" in item.result.options or UNITS[figures["min_xfer"].unit].quantity != "bytes":
            continue
        if min_seconds(item) < MIN_STOP_SECONDS:
            continue
        least, most = number(figures["min"].text), number(figures["max"].text)
        moved, rates = convert(figures["min_xfer"].text, figures["min_xfer"].unit) / size, least / most
        if abs(moved - rates) > STOP_SHARE:
            text = f"the slowest process moved {moved:.1%} of its file at {rates:.1%} of the greatest rate".replace(
                "%", " %"
            )
            yield RuleFinding(
                item,
                f"{text}: in a reading test of iozone these shares are the same",
                {"moved": f"{moved:.4f}", "rates": f"{rates:.4f}"},
            )


def label_of_iozone(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield tests in throughput mode whose label iozone does not print."""
    for item in items:
        if item.is_throughput_test() and item.result.name in TESTS and item.result.name not in LABELS:
            text = f"the label `{item.result.name}` is none that iozone prints: the output was edited"
            yield RuleFinding(item, text, {"label": item.result.name})


def test_that_was_chosen(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield tests in throughput mode that the command line did not ask for."""
    for item in items:
        words = item.output.file.command.split()
        chosen = {int(second) for first, second in pairwise(words) if first == "-i" and second.isdigit()}
        test = TESTS.get(item.result.name)
        if item.is_throughput_test() and chosen and test is not None and test not in chosen:
            asked = " ".join(f"-i {name}" for name in sorted(chosen))
            text = f"the command line has {asked}, and `{item.result.name}` are of -i {test}"
            yield RuleFinding(item, text, {"asked": asked, "label": item.result.name})


def unit_of_rates(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield outputs of iozone whose command line asks for another unit than the output says."""
    seen = set()
    for item in items:
        words = item.output.file.command.split()
        is_cell = item.output.file.tool == "iozone" and not item.is_throughput_test() and item.result.figures
        if not is_cell or not words or id(item.output) in seen:
            continue
        seen.add(id(item.output))
        unit = item.result.figures[-1].unit
        asked = next((flag for flag in ("-O", "-N") if flag in words), "")
        expected = {"-O": ("ops/sec",), "-N": ("us/op",)}.get(asked, ("kB/sec", "KB/sec"))
        if unit not in expected:
            asked_words = f"the command line has {asked}" if asked else "the command line has neither -O nor -N"
            text = f"{asked_words}, which gives {expected[0]}, and the output says {unit}"
            yield RuleFinding(item, text, {"unit": unit})


def bytes_of_operations(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield jobs of fio whose operations moved another size each than `bs` says."""
    for item in items:
        measured, size = item.measured, _single_size(item, "bs")
        if measured is None or not measured.ops or not size or measured.errors or _is_of_several_jobs(item):
            continue
        each, rest = divmod(measured.bytes, measured.ops)
        if each and not rest and each != size and each & (each - 1) == 0:
            text = f"{measured.ops:,} operations moved {format_size(each)} each, and bs is {item.result.options['bs']}"
            yield RuleFinding(item, text, {"each": str(each), "bs": str(size)})


def amount_of_data(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield jobs of fio that moved another amount than their size, where nothing else ends them."""
    for item in items:
        measured, size, options = item.measured, _single_size(item, "size"), item.result.options
        processes = options.get("numjobs", "1")
        if measured is None or not size or measured.status != "done" or not processes.isdigit():
            continue
        if any(name in options for name in _OTHER_AMOUNTS) or ":" in options.get("filename", ""):
            continue
        # Without group_reporting, which fio does not print, each process is a result of its own.
        if item.output.file.tool != "fio" or item.result.workload != item.result.name:
            continue
        wanted = size * int(processes)
        if measured.has_counts and measured.bytes != wanted and not _is_of_several_jobs(item):
            jobs = f"{processes} jobs of " if processes != "1" else ""
            text = (
                f"{format_size(measured.bytes)} were moved, and {jobs}size={options['size']} are {format_size(wanted)}"
            )
            yield RuleFinding(item, text, {"moved": str(measured.bytes), "asked": str(wanted)})


def _single_size(item: Item, name: str) -> int:
    """Return an option of fio that is one size; 0 if it is not printed, or is none."""
    options = item.result.options
    return fio_options.size_of(options.get(name, ""), options.get("kb_base", "1024")) or 0


def _is_of_several_jobs(item: Item) -> bool:
    """Return whether fio counted other jobs with this one: `job_runtime` is the sum over all processes."""
    total = item.figures.get("job_runtime")
    times = [number(figure.text) for name, figure in item.figures.items() if name.endswith(".runtime")]
    asked = item.result.options.get("numjobs", "1")
    if total is None or not any(times) or not asked.isdigit():
        return False
    return number(total.text) > (int(asked) + Decimal("0.5")) * max(times)


def record_above_file(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield results whose record is larger than the file."""
    for item in items:
        record, size = item.parameter("record_size"), item.parameter("file_size")
        if record and size and record > size:
            text = f"a record of {format_size(record)} does not fit into a file of {format_size(size)}"
            yield RuleFinding(item, text, {"record": str(record), "file": str(size)})


def min_seconds(item: Item) -> float:
    """Return how long a test of iozone's throughput mode took at least, in which the fastest process had its file.

    0 for other results, and if the size of the files is not known.
    """
    if not item.is_throughput_test() or UNITS[item.figures["max"].unit].quantity != "bytes/s":
        return 0.0
    fastest = convert(item.figures["max"].text, item.figures["max"].unit)
    return float(item.parameter("file_size") / fastest) if fastest else 0.0


def _processes(item: Item) -> int:
    return item.parameter("lanes") or item.parameter("streams")
