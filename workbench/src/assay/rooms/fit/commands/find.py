"""`assay find`."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from assay.cli.changes import ON_ROOT
from assay.model.base import EXIT_INTERRUPTED, EXIT_USAGE, AssayError
from assay.model.units import (
    UnitError,
    about_count,
    about_duration,
    about_latency,
    about_number,
    parse_duration,
    parse_size,
)
from assay.terminal.output import note, print_json, print_line
from assay.terminal.settings import RUNS

if TYPE_CHECKING:
    from assay.analyse.needs.outcome import NeedOutcome, NeedStatus
    from assay.rooms.fit.commands.runner import Runner
    from assay.rooms.fit.model.bound import LatencyBound
    from assay.rooms.fit.work.find import FindResult
    from assay.rooms.fit.work.load import RateLoad
    from assay.rooms.fit.work.place import FitPlace
    from assay.store import RunStore

MIN_SECONDS, MAX_SECONDS = 20.0, 3600.0
NARROW = 0.03
"""Relative width of an interval to each side beyond which more time is recommended."""
MAX_IN_FLIGHT = 1024


def command(
    place: str = typer.Argument(..., metavar="PLACE", help="Directory, device, export, share, bucket or table."),
    latency: str = typer.Option(..., "--latency", metavar="BOUND", help='What must hold, such as "p99<2ms".'),
    operation: str = typer.Option("", "--operation", help="Operation; random_read, of buckets get, if left out."),
    size: str = typer.Option("4KiB", "--size", help="Size of a record or of an object that is put."),
    read_percent: int | None = typer.Option(None, "--read-percent", min=0, max=100, help="A mix: percent of reads."),
    in_flight: int = typer.Option(32, "--in-flight", min=1, max=MAX_IN_FLIGHT, help="Most operations in flight."),
    time: str = typer.Option("2m", "--time", help="Time for the search, from 20s to 1h."),
    out: Path = RUNS,
    destroy: bool = typer.Option(False, "--destroy", help="Devices may be overwritten, buckets written to."),
    on_root: bool = typer.Option(False, "--yes-on-root", help=ON_ROOT),
    as_json: bool = typer.Option(False, "--json", help="Print the result as JSON."),
) -> None:
    """Find the highest rate of operations at which a place holds a latency.

    Operations start at a rate whatever the place does (open loop), and latency counts from the moment at which they
    were due. The rate is bisected; then rates near the likely one take turns, at the end in a run that is kept:
    `assay show last`. Exit codes: 0 found, 1 no rate holds, 3 undecided.

    Example: `assay find . --latency "p99<2ms"`, `assay find /mnt/a --latency "p99.9<10ms" --read-percent 70`
    """
    from assay.rooms.fit.commands.runner import Runner
    from assay.rooms.fit.model.bound import parse_latency_bound
    from assay.rooms.fit.work.place import find_place

    bound = parse_latency_bound(latency)
    seconds = _seconds(time)
    where = find_place(place, destroy)
    load = _load(where, operation, size, read_percent, in_flight)
    runner = Runner(out, destroy, on_root)
    try:
        code = _find(where, load, bound, seconds, runner, as_json)
    except KeyboardInterrupt:
        note("stopped: the test data is removed")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    raise typer.Exit(code)


def _seconds(written: str) -> float:
    try:
        seconds = parse_duration(written) / 1e9
    except UnitError as error:
        raise error.at("--time") from None
    if not MIN_SECONDS <= seconds <= MAX_SECONDS:
        raise AssayError(f"--time: {written} is not between 20s and 1h", "2m is usual", EXIT_USAGE)
    return seconds


def _load(place: "FitPlace", operation: str, size: str, read_percent: int | None, in_flight: int) -> "RateLoad":
    """Return the work that the options describe.

    Raises:
        AssayError: The place has no such operation, or options contradict each other.
    """
    from assay.model.study.names import OPERATIONS, WORK
    from assay.model.units import choices_hint
    from assay.rooms.fit.work.load import RateLoad
    from assay.rooms.fit.work.place import refuse_existing

    try:
        size_bytes = parse_size(size)
    except UnitError as error:
        raise error.at("--size") from None
    if read_percent is not None and (place.work == "objects" or operation not in ("", "random_mix", "sequential_mix")):
        raise AssayError("--read-percent is of random_mix and sequential_mix only", "leave it out", EXIT_USAGE)
    mix = "random_mix" if read_percent is not None else "random_read"
    word = operation or ("get" if place.work == "objects" else mix)
    group = "objects" if place.work == "objects" else "data"
    able = [name for name in OPERATIONS if WORK[name].group == group]
    if word not in able:
        raise AssayError(f"--operation: {place.written} has no {word}", choices_hint(word, able), EXIT_USAGE)
    if WORK[word].writes and place.work == "objects":
        refuse_existing(place)
    return RateLoad(word, size_bytes, in_flight, read_percent)


def _find(
    place: "FitPlace", load: "RateLoad", bound: "LatencyBound", seconds: float, runner: "Runner", as_json: bool
) -> int:
    """Search, print the result, and return the exit code."""
    from assay.rooms.fit.work.find import Finder
    from assay.rooms.fit.work.load import file_size_for
    from assay.run.places.temporary_run import temporary_run_folder

    if place.work == "files":
        look = runner.look(place, is_needed=True)
        size = file_size_for(look.bytes_per_s, look.free_bytes)
        load = load._replace(file_size=size, cache="direct" if look.is_direct else "evict")
    run_name = ""

    def run_final(text: str) -> "RunStore":
        nonlocal run_name
        note("measuring rates about the likely one, in turns")
        store = runner.run_stored(text)
        run_name = str(store.folder)
        return store

    with temporary_run_folder(runner.out, note) as folder:
        report = lambda rate, outcome: note(_rate_text(rate, outcome, bound))  # noqa: E731
        finder = Finder(place, load, bound, runner.run, run_final, folder, report)
        note(f"searching for the highest rate of {load.operation} with {bound}, for about {about_duration(seconds)}")
        found = finder.find(seconds)
    if as_json:
        print_json(_json(found, place, load, bound, run_name))
    else:
        for line in _lines(found, place, load, bound, seconds):
            print_line(line)
    note(f"results: {run_name}; details: assay show {run_name}")
    return _status(found).exit_code


def _status(found: "FindResult") -> "NeedStatus":
    """Return yes if a rate holds, no if none does, else undecided."""
    from assay.analyse.needs.outcome import NeedStatus

    if found.has_rate:
        return NeedStatus.YES
    return NeedStatus.UNDECIDED if found.doubt or found.rate.fails_at is None else NeedStatus.NO


def _rate_text(rate: float, outcome: "NeedOutcome", bound: "LatencyBound") -> str:
    measured = "" if outcome.value is None else f", {bound.name} {about_latency(outcome.value)}"
    words = {"yes": "holds", "no": "fails"}.get(str(outcome.status), "near the bound, or too few operations")
    return f"{about_count(rate)}/s: {words}{measured}"


def _lines(
    found: "FindResult", place: "FitPlace", load: "RateLoad", bound: "LatencyBound", seconds: float
) -> list[str]:
    rate, what = found.rate, f"{place.written}: {load.operation}"
    if found.doubt:
        lines = [f"{what}: undecided: {found.doubt}"]
    elif rate.low is None and rate.fails_at is not None:
        lines = [f"{what}: no rate holds {bound} that was tried: the lowest, {about_count(rate.fails_at)}/s, fails"]
    elif rate.low is None or rate.estimate is None or rate.high is None:
        least = "" if rate.low is None else f" it holds {bound} up to {about_count(rate.low)}/s at least;"
        waits = f"operations waited for a CPU of this host for {about_number(100 * rate.wait_share)} % of the time"
        lines = [f"{what}: undecided:{least} {waits}, and repeats differ"]
    else:
        between = f"95 %: {about_count(rate.low)}/s to {about_count(rate.high)}/s"
        lines = [f"{what}: holds {bound} up to about {about_count(rate.estimate)}/s ({between})"]
        lines += _more_time(rate.low, rate.high, seconds)
    lines.append(f"  as fast as possible, with {load.in_flight} in flight: {about_count(found.closed_per_s)}/s")
    return lines


def _more_time(low: float, high: float, seconds: float) -> list[str]:
    """Return how much time gives an interval of 3 % to each side, if this one is wider: it narrows with the root."""
    needed = seconds * (math.log(high / low) / (2 * NARROW)) ** 2
    if needed <= seconds or needed > MAX_SECONDS:
        return []
    return [f"  more time narrows the interval: about 3 % to each side with --time {math.ceil(needed / 60)}m"]


def _json(found: "FindResult", place: "FitPlace", load: "RateLoad", bound: "LatencyBound", run: str) -> dict[str, Any]:
    """Return the result for programs; rates in operations per second, latencies in ns."""
    rate = found.rate
    return {
        "answer": str(_status(found)),
        "place": place.written,
        "operation": load.operation,
        "size_bytes": load.size,
        "in_flight": load.in_flight,
        "percentile": bound.percent,
        "limit_ns": bound.limit_ns,
        "estimate_per_s": rate.estimate,
        "low_per_s": rate.low,
        "high_per_s": rate.high,
        "closed_loop_per_s": found.closed_per_s,
        "why": found.doubt,
        "rates": [
            {
                "rate_per_s": each,
                "repeats": len(repeats),
                "ops": sum(one.ops for one in repeats),
                "over": sum(one.over(bound.limit_ns).over for one in repeats),
            }
            for each, repeats in sorted(rate.measured.items())
        ],
        "folder": run,
    }
