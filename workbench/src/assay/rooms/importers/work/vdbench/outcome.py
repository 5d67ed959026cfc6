"""What becomes of a run of vdbench: one result, or one of each operation on files that ran at the same time."""

from collections.abc import Collection, Iterator
from decimal import Decimal
from itertools import combinations

from assay.model.result.sample import ErrorTally
from assay.model.study.axis import AxisValue
from assay.model.study.names import WORK
from assay.model.units import UnitError, parse_size
from assay.rooms.importers.work.figure_units import convert
from assay.rooms.importers.work.results import (
    NO_ORDER,
    Figure,
    ImportedResult,
    Measurement,
    Order,
    OutputError,
    rate_alone,
)
from assay.rooms.importers.work.vdbench.runs import HINT, NAME, VdbenchRun, half_digit
from assay.rooms.importers.work.vdbench.tables import OPERATIONS

_UNLIMITED = (9999988, 999988, 9999977, 999977)
"""Requested rates that mean as fast as possible: MAX_RATE and CURVE_RATE of RD_entry.java, of 5.04 and of 5.02."""
_METADATA = {
    "mkdir": "mkdir",
    "rmdir": "rmdir",
    "create": "create",
    "open": "open",
    "delete": "unlink",
    "getattr": "stat",
}
"""Operation of vdbench -> operation. There is none like setattr, access, close, copy and move (Operations.java)."""
_DATA = ("read", "write")
_MIX = "read and write"
_NEVER_IN_NAMES = ("elapsed", "warmup", "iorate", "fwdrate", "reqrate", "operation")


def results_of(run: VdbenchRun, target: str, order: Order | None) -> Iterator[ImportedResult]:
    """Yield the results of a run.

    Args:
        run: The run.
        target: Name of what was under test.
        order: Order of offsets that the user states, for outputs that do not say it.

    Raises:
        OutputError: Its figures contradict each other.
    """
    left_out = _why_left_out(run)
    if left_out:
        yield _result(run, target, "", left_out)
    elif run.has_files:
        yield from _file_results(run, target, order)
    else:
        _check_rate(run)
        operation, left_out, known = _disk_operation(run, order)
        yield _result(run, target, operation, left_out, known)


def _why_left_out(run: VdbenchRun) -> str:
    if run.is_histogram:
        return "a histogram has no rate: import flatfile.html or totals.html, too"
    if not run.average:
        return "vdbench printed no average of it: it did not end, or is cut off"
    if not run.value("rate"):
        return "nothing was done in the intervals that the average is of"
    return ""


def _check_rate(run: VdbenchRun) -> None:
    """Refuse a run whose MB/sec does not follow from its rate and its mean bytes of a transfer.

    Raises:
        OutputError: It does not, beyond what rounding explains.
    """
    figures = [run.figures.get(name) for name in ("rate", "bytes/io", "MB/sec")]
    if any(one is None for one in figures):
        return
    (rate, half), (size, _), (moved, other) = (_bounds(one) for one in figures if one is not None)
    slack = other + half * (size + 1) + rate
    if abs(rate * size - moved) > slack:
        raise OutputError(run.line, "MB/sec is not what i/o rate and bytes of a transfer make it", HINT)


def _bounds(figure: Figure) -> tuple[Decimal, Decimal]:
    """Return a figure and the error of its rounding, in Assay's units."""
    if not figure.unit:
        return Decimal(figure.text), half_digit(figure.text)
    return convert(figure.text, figure.unit), convert(str(half_digit(figure.text)), figure.unit)


def _disk_operation(run: VdbenchRun, order: Order | None) -> tuple[str, str, dict[str, AxisValue]]:
    """Return the operation of a run on luns, why there is none, and the parameters that follow."""
    if run.is_format:
        return "write", "", {}
    asked = _number(run.options.get("rdpct"))
    share = asked if asked is not None and asked >= 0 else run.value("read%")
    offsets, left_out = _order(run, order)
    if share is None or left_out:
        return "", left_out or "it does not say what part of it was reads", {}
    if share in (0, 100):
        return _named("read" if share else "write", offsets), "", {}
    known: dict[str, AxisValue] = {}
    if asked is not None and asked == int(asked):
        known = {"read_percent": int(asked)}
    return _named(_MIX, offsets), "", known


def _order(run: VdbenchRun, order: Order | None) -> tuple[Order | None, str]:
    """Return the order of offsets, or why it is not known: `seekpct` is the share of random ones (WD_entry.java)."""
    asked = _number(run.options.get("seekpct"))
    if asked is None:
        return order, "" if order else NO_ORDER
    if asked <= 0:
        return "sequential", ""
    if asked == 100:
        return "random", ""
    if order:
        return order, ""
    partly = f"seekpct={run.options['seekpct']}: offsets are partly random and partly sequential"
    return None, f"{partly}: `assay import --order random` counts them as random"


def _named(kind: str, order: Order | None) -> str:
    if kind == _MIX:
        return f"{order}_mix"
    return f"random_{kind}" if order == "random" else kind


def _number(text: str | None) -> Decimal | None:
    """Return a number that was asked for; None if it is none."""
    if text is None or len(text) > 20 or not text.replace(".", "", 1).removeprefix("-").isdecimal():
        return None
    return Decimal(text)


def _file_results(run: VdbenchRun, target: str, order: Order | None) -> Iterator[ImportedResult]:
    """Yield the results of a run on files: reads and writes together are one, each other operation one of its own."""
    requested = _requested(run)
    if not requested:
        yield _result(run, target, "", "which of its operations were asked for does not follow from its figures")
        return
    data = [name for name in _DATA if name in requested]
    parts = ([_MIX] if len(data) == 2 else data) + [name for name in requested if name not in _DATA]
    for place, part in enumerate(parts):
        operation, left_out = _METADATA.get(part, ""), ""
        if part in (*_DATA, _MIX):
            offsets = "sequential" if run.is_format else order
            operation, left_out = _named(part, offsets), "" if offsets else NO_ORDER
        elif not operation:
            left_out = f"Assay has no operation like {part}"
        suffix = f" ({part})" if len(parts) > 1 else ""
        own = set(_DATA) if part == _MIX else {part}
        others = set(requested) - own if not place else set(OPERATIONS) - own
        yield _result(run, target, operation, left_out, {}, part, suffix, others, has_rest=not place)


def _requested(run: VdbenchRun) -> list[str]:
    """Return the operations that were asked for: those whose rates and times make up the total (FwdStats.java).

    The others are what comes with them, such as opening what is read.
    """
    if run.name.startswith("format_for_"):
        return ["write"]
    if run.options.get("operation") in OPERATIONS:
        return [run.options["operation"]]
    used = [name for name in OPERATIONS if run.value(f"{name.capitalize()}_rate")]
    fitting = [list(some) for count in (1, 2, 3) for some in combinations(used, count) if _makes_total(run, some)]
    # What is read or written is opened as often, if files are small.
    fitting = [some for some in fitting if set(some) <= set(_DATA)] or fitting
    found = [some for some in fitting if len(some) == len(fitting[0])]
    return found[0] if len(found) == 1 else []


def _makes_total(run: VdbenchRun, names: tuple[str, ...]) -> bool:
    total, mean = run.figures.get("rate"), run.figures.get("resp")
    rates = [run.figures[f"{name.capitalize()}_rate"] for name in names]
    times = [run.figures.get(f"{name.capitalize()}_resp") for name in names]
    if total is None or mean is None or None in times:
        return False
    slack = half_digit(total.text) + sum(half_digit(one.text) for one in rates)
    amount = sum((Decimal(one.text) for one in rates), Decimal(0))
    if abs(amount - Decimal(total.text)) > slack:
        return False
    products = (Decimal(one.text) * Decimal(time.text) for one, time in zip(rates, times, strict=True) if time)
    spent = sum(products, Decimal(0))
    return abs(spent / amount - Decimal(mean.text)) <= 2 * half_digit(mean.text) + Decimal("0.001") * Decimal(mean.text)


def _result(
    run: VdbenchRun,
    target: str,
    operation: str,
    left_out: str,
    known: dict[str, AxisValue] | None = None,
    part: str = "",
    suffix: str = "",
    others: Collection[str] = (),
    has_rest: bool = True,
) -> ImportedResult:
    """Return a result.

    Args:
        run: The run.
        target: Name of what was under test.
        operation: Its operation.
        left_out: Why it has no counterpart; empty if it has one.
        known: Parameters that are known besides those that are in the options.
        part: Which operation of a run on files it is.
        suffix: What its name has besides the run's.
        others: Operations whose figures other results hold.
        has_rest: It also holds figures that are of no single operation.
    """
    parameters, names = ({}, "") if left_out else _parameters(run, operation)
    if not left_out:
        parameters |= known or {}
    figures = tuple(
        figure for name, figure in run.figures.items() if (_owner(name) not in others if _owner(name) else has_rest)
    )
    measured = None if left_out else _measurement(run, operation, part, parameters)
    return ImportedResult(
        name=f"{run.name or NAME}{suffix}",
        line=run.line,
        target=target,
        workload=f"{run.name or NAME}{names}{suffix}",
        operation=None if left_out else operation,
        parameters=parameters,
        options=run.options,
        figures=figures + run.buckets,
        latency_of="resp" if measured and measured.latency else "",
        measured=measured,
        left_out=left_out,
    )


def _owner(name: str) -> str:
    """Return the operation that a column is of; empty if it is of all together."""
    owner = name.partition("_")[0].lower()
    return owner if owner in OPERATIONS and name != "read%" else ""


def _parameters(run: VdbenchRun, operation: str) -> tuple[dict[str, AxisValue], str]:
    """Return the known parameters, and the options that are not among them in words for the workload's name."""
    found: dict[str, AxisValue] = {}
    said = []
    is_data = WORK[operation].group == "data"
    if is_data and (size := _record_size(run)):
        found["record_size"] = size
    rate = _number(run.options.get("reqrate") or run.options.get("iorate") or run.options.get("fwdrate"))
    if rate is not None and rate not in _UNLIMITED and 0 < rate <= 10**9 and not run.is_format:
        found["rate"] = float(rate)
    for name, text in run.options.items():
        in_parameters = (
            (name == "xfersize" and "record_size" in found)
            or (name == "rdpct" and is_data)
            or name == "seekpct"
            or name in _NEVER_IN_NAMES
        )
        number = _number(text)
        is_unset = name in ("rhpct", "whpct", "compratio", "dedupratio") and number in (0, 1)
        if not in_parameters and not is_unset:
            said.append(f"{name}={text.removesuffix('.0000')}")
    return found, "".join(f" {one}" for one in said)


def _record_size(run: VdbenchRun) -> int | None:
    """Return the size of all transfers: what was asked for if the mean is that, or the mean of all intervals alike."""
    mean = run.figures.get("Xfersize" if run.has_files else "bytes/io")
    if mean is None or len(mean.text) > 10 or not mean.text.isdecimal():
        return None
    size = int(mean.text)
    asked = _bytes(run.options.get("xfersize", ""))
    # The last transfer of a file may be shorter, and means are rounded down.
    if asked and (asked == size or (run.has_files and asked - 1 == size)):
        return asked
    is_constant = not asked and run.intervals > 1 and run.sizes == {mean.text}
    return size if is_constant and 0 < size <= 2**30 else None


def _bytes(text: str) -> int:
    """Return a size as vdbench prints it, in which k and m are powers of 1024; 0 if it is none."""
    if text.isdecimal() and len(text) < 11:
        return int(text)
    try:
        return int(parse_size(f"{text[:-1]}{text[-1:].upper()}iB"))
    except UnitError:
        return 0


def _measurement(run: VdbenchRun, operation: str, part: str, parameters: dict[str, AxisValue]) -> Measurement:
    is_data = WORK[operation].group == "data"
    rate, mean, moved = _amounts(run, part)
    size = parameters.get("record_size")
    if not is_data:
        moved = Decimal(0)
    elif isinstance(size, int) and not run.has_files:
        moved = rate * size
    latency = {"mean": float(mean * 10**6)} if mean else {}
    longest = run.value("resp_max") or max(run.value("read_max") or 0, run.value("write_max") or 0)
    if mean and longest:
        latency["max"] = float(longest * 10**6)
    errors: tuple[ErrorTally, ...] = ()
    if run.errors:
        words = f"vdbench counted {run.errors} errors of data validation or I/O"
        errors = (ErrorTally(kind="fault", name=None, count=run.errors, example=words),)
    return rate_alone(moved, rate, latency=latency, errors=errors)


def _amounts(run: VdbenchRun, part: str) -> tuple[Decimal, Decimal, Decimal]:
    """Return operations per second, mean milliseconds and bytes per second of a result."""
    names = _DATA if part == _MIX else (part,) if part else ()
    if not names:
        return run.value("rate") or Decimal(0), run.value("resp") or Decimal(0), _moved(run, "MB/sec")
    rates = [run.value(f"{name.capitalize()}_rate") or Decimal(0) for name in names]
    times = [run.value(f"{name.capitalize()}_resp") or Decimal(0) for name in names]
    total = sum(rates, Decimal(0))
    spent = sum((rate * time for rate, time in zip(rates, times, strict=True)), Decimal(0))
    moved = _moved(run, "MB/sec" if part == _MIX else f"MB_{part}")
    return total, spent / total if total else Decimal(0), moved


def _moved(run: VdbenchRun, name: str) -> Decimal:
    """Return bytes per second. Rates too small for the printed digits are the mean bytes of a transfer times rate."""
    figure = run.figures.get(name)
    moved = convert(figure.text, figure.unit) if figure else Decimal(0)
    if moved:
        return moved
    size = run.value("Xfersize" if run.has_files else "bytes/io") or Decimal(0)
    return size * (run.value("rate") or Decimal(0))
