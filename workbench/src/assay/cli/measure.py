"""`assay measure`."""

import math
import shutil
import sys
import time as clock
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from assay.cli.changes import ON_ROOT
from assay.model.base import EXIT_INCOMPLETE, EXIT_INTERRUPTED, EXIT_OK, EXIT_REFUSED, AssayError, Code
from assay.model.escape import escape_line
from assay.model.units import UnitError, about_duration, about_size, parse_duration
from assay.terminal.output import note, print_json, print_line, terminal_width
from assay.terminal.output_file import FORCE, PAGE_MARK, OutputFile, check_one_printed, never_marked, output_option
from assay.terminal.settings import RUNS

if TYPE_CHECKING:
    from assay.model.deadline import Deadline
    from assay.plan.measure import Scale, Speeds
    from assay.run.study_plan import Plan
    from assay.store import RunStore

MIN_SECONDS, MAX_SECONDS = 5.0, 86_400.0
PROBE_TIME_SHARE = 0.7
"""Share of the time that the first short writes may take."""
AFTER_PROBE_SECONDS = 0.3
"""CPU time in seconds that is needed after the first short writes."""
REPORT_CPU_SECONDS = 0.5
"""CPU time in seconds that a report takes."""
ENGINE_DELAY_FACTOR = 1.3
"""Factor by which a busy machine slows the start of engines at most: they compute little."""
TIME_STEP_SECONDS = 5.0
"""A suggested `--time` is a multiple of this many seconds."""


class Confirmations(NamedTuple):
    """What the user has confirmed."""

    destroy: bool
    on_root: bool


def command(
    places: list[str] = typer.Argument(
        ...,
        metavar="TARGET...",
        help="Directory, device, nfs://SERVER/EXPORT, smb://USER@SERVER/SHARE, aoe://INTERFACE/eSHELF.SLOT, "
        "s3://BUCKET/KEYS, dynamodb://TABLE.",
    ),
    time: str = typer.Option("30s", "--time", help="Total time, from start to end."),
    report: bool = typer.Option(False, "--report", help="Write the HTML report into the run, too."),
    output: Path | None = output_option("Write the HTML report to a file, too."),
    save: Path | None = typer.Option(None, "--save", metavar="FILE", help="Write the study that was measured."),
    force: bool = FORCE,
    out: Path = RUNS,
    destroy: bool = typer.Option(False, "--destroy", help="Devices may be overwritten, buckets and tables written to."),
    on_root: bool = typer.Option(False, "--yes-on-root", help=ON_ROOT),
    as_json: bool = typer.Option(False, "--json", help="Print the results as JSON."),
) -> None:
    """Measure one target, or compare several: reads and writes, sequential and random, large and small.

    In a directory, a folder for the test data is created and removed. A bucket is only read, unless --destroy is given.
    The run is stored: `assay show last`, `assay report last`. Exit codes are those of `assay run`.

    Example: `assay measure .`, `assay measure /var/tmp /dev/shm --report`
    """
    from assay.kinds.uri import parse_uri
    from assay.model.deadline import JUDGING_SECONDS, Deadline, process_age
    from assay.plan.measure import measure_study, measure_text, place_names

    seconds, confirmed = _seconds(time), Confirmations(destroy, on_root)
    # The time counts from the start of the process, if it was started for this command.
    begun = clock.monotonic() - (process_age() if sys.argv[1:2] == ["measure"] else 0.0)
    _check_words(places)
    page = None if output is None else OutputFile(output, PAGE_MARK, force)
    study = None if save is None else OutputFile(save, never_marked, force, "--save")
    check_one_printed(json=as_json, output=page, save=study)
    targets = {
        name: parse_uri(place, destroy)
        for name, place in zip(place_names([_absolute(place) for place in places]), places, strict=True)
    }
    deadline = Deadline(begun + seconds, JUDGING_SECONDS + REPORT_CPU_SECONDS * (report + (page is not None)))
    cache, chosen = _first_look(targets, places, seconds, deadline, confirmed, out)
    text = measure_text(measure_study(targets, chosen, cache), places)
    plan = _plan_of(text)
    note(_announcement(plan, chosen, seconds))
    store = _run(plan, out, confirmed, deadline, quiet=False)
    try:
        printed = any(file is not None and file.prints for file in (page, study))
        code = _print_results(store, {} if printed else dict(zip(targets, places, strict=True)), as_json)
        if store.info().status != "interrupted":
            _write_reports(store, report, page)
        if study is not None:
            _save(study, text)
    finally:
        store.close()
    raise typer.Exit(code)


def _check_words(places: Sequence[str]) -> None:
    for place in places:
        if not place.isprintable():
            raise AssayError(
                f"{escape_line(place)}: the path or address has unprintable characters",
                "use a symbolic link without them",
            )


def _absolute(place: str) -> str:
    """Return a directory as its absolute path, from whose last part its name is made; other places as they are."""
    path = Path(place)
    return str(path.absolute()) if path.is_dir() else place


def _seconds(written: str) -> float:
    try:
        seconds = parse_duration(written) / 1e9
    except UnitError as error:
        raise error.at("--time") from None
    if not MIN_SECONDS <= seconds <= MAX_SECONDS:
        raise AssayError(
            f"--time: {written} is not between 5s and 24h",
            "30s is usual; a longer time narrows the confidence intervals",
        )
    return seconds


def _first_look(
    targets: Mapping[str, Mapping[str, Any]],
    places: Sequence[str],
    seconds: float,
    deadline: "Deadline",
    confirmed: Confirmations,
    out: Path,
) -> "tuple[str, Scale]":
    """Measure short writes to each place; return how to bypass the page cache, and how much fits into the time."""
    from assay.model.deadline import Deadline
    from assay.plan.measure import holds_files, probe_study
    from assay.run.places.temporary_run import temporary_run_folder

    files = {name: target for name, target in targets.items() if holds_files(target)}
    if not files:
        return "keep", _scale_to_time(seconds, deadline, {}, {})
    note("writing briefly to each target, to fit the measurement into the time")
    end = Deadline(deadline.end - (1 - PROBE_TIME_SHARE) * seconds, AFTER_PROBE_SECONDS)
    for cache in ("direct", "evict"):
        try:
            with temporary_run_folder(out, note) as folder:
                speeds, free, after = _measure_speeds(
                    probe_study(files, cache, _min_space(places)), folder, end, confirmed
                )
                deadline.note_first_look(after)
        except KeyboardInterrupt:
            note("stopped: nothing was measured, and the test data is removed")
            raise typer.Exit(EXIT_INTERRUPTED) from None
        except AssayError as error:
            if cache == "direct" and error.code is Code.NO_DIRECT_IO:
                note(f"{error.message}: the page cache is emptied instead")
                continue
            raise
        return cache, _scale_to_time(seconds, deadline, speeds, free)
    raise AssayError("the page cache can be neither bypassed nor emptied here", "`assay doctor` says more")


def _scale_to_time(
    seconds: float, deadline: "Deadline", speeds: "Mapping[str, Speeds]", free: Mapping[str, int | None]
) -> "Scale":
    """Return how much is measured in the remaining time.

    Raises:
        AssayError: The time is too short for any result.
    """
    from assay.plan.measure import TooShort, choose_scale

    chosen = choose_scale(deadline.seconds_left(), speeds, free, min(ENGINE_DELAY_FACTOR, deadline.delayed()))
    if isinstance(chosen, TooShort):
        least = TIME_STEP_SECONDS * math.ceil((seconds + chosen.missing_s) / TIME_STEP_SECONDS)
        message = f"--time {about_duration(seconds)} is too short for the write speed and the current load here"
        raise AssayError(message, f"use --time {least:.0f}s or more", EXIT_REFUSED)
    return chosen


def _announcement(plan: "Plan", chosen: "Scale", seconds: float) -> str:
    """Return one line: how long the measurement takes, and what is done in that time."""
    from assay.plan.estimate import estimate_study
    from assay.report.numbers import plural

    kinds = {(case.workload, *case.axes.items(), word) for case in plan.cases for word in case.operations}
    where = "" if len(plan.study.targets) == 1 else f" on {len(plan.study.targets)} targets"
    estimate = estimate_study(plan.study, plan.cases)
    files = f" in files of {about_size(chosen.file_size)}"
    bytes_words = f", writes about {about_size(chosen.written)}{files}" if chosen.written else ""
    times = f"about {plural(chosen.rounds, 'time')}"
    work = f"{plural(len(kinds), 'kind')} of operation{where}, each {times}"
    words = f"{about_duration(seconds)} from start to end: {work}{bytes_words}"
    left_out = f"; no time for {chosen.left_out}" if chosen.left_out else ""
    return f"{words}{estimate.requests_text}{left_out}"


def _min_space(places: Sequence[str]) -> int | None:
    """Return the least free space of the directories and size of the devices, in bytes; None without any of them."""
    from assay.launch.devices import device_bytes

    free = [shutil.disk_usage(place).free for place in places if Path(place).is_dir()]
    sizes = [device_bytes(place) for place in places if Path(place).is_block_device()]
    return min((*free, *(size for size in sizes if size is not None)), default=None)


def _measure_speeds(
    study: Mapping[str, Any], folder: Path, deadline: "Deadline", confirmed: Confirmations
) -> "tuple[dict[str, Speeds], dict[str, int | None], float]":
    """Run the short writes; return speeds and free bytes of each place, and seconds from the last repeat to the end."""
    from assay.plan.measure import LARGE, SMALL, Speeds, measure_text
    from assay.run.analysis import analyse_store

    store = _run(_plan_of(measure_text(study, [])), folder, confirmed, deadline, quiet=True)
    try:
        ended = [attempt.started_at + attempt.seconds for attempt in store.attempts() if attempt.seconds is not None]
        after = max(0.0, clock.time() - max(ended, default=clock.time()))
        analysis = analyse_store(store, quick=True)
        places = {place.target: place.free_bytes for place in analysis.run.places}
    finally:
        store.close()
    rates = {
        (row.case.target, row.case.parameters.record_size): row.throughput.median
        for row in analysis.rows
        if row.throughput is not None
    }
    speeds = {}
    for name in study["targets"]:
        if (name, LARGE) not in rates or (name, SMALL) not in rates:
            late = "the first short write did not end in time" if deadline.is_over() else "the first write failed"
            why = next((job.reason for job in analysis.jobs if job.reason), late)
            hint = "use at least twice the --time" if deadline.is_over() else "`assay check` on a study of it says more"
            raise AssayError(f"{name}: {why}", hint, EXIT_REFUSED if deadline.is_over() else EXIT_INCOMPLETE)
        speeds[name] = Speeds(rates[name, SMALL], rates[name, LARGE])
    return speeds, places, after


def _plan_of(text: str) -> "Plan":
    from assay.cli.studyfile import check_study

    return check_study(Path("assay-measure.yaml"), text.encode())


def _run(plan: "Plan", out: Path, confirmed: Confirmations, deadline: "Deadline", quiet: bool) -> "RunStore":
    from assay.cli.progress import TerminalListener
    from assay.cli.quiet import QuietListener
    from assay.run.session import start

    listener = QuietListener() if quiet else TerminalListener()
    return start(plan, out, confirmed.destroy, listener, on_root=confirmed.on_root, deadline=deadline)


def _save(file: OutputFile, text: str) -> None:
    file.write(text)
    if not file.prints:
        note(f"the study: {file.path}")


def _write_reports(store: "RunStore", inside: bool, page: OutputFile | None) -> None:
    """Write the report into the run (`inside`), to `page`, or both; print the paths."""
    from assay.cli.report import write_report
    from assay.run.analysis import analyse_store

    for file in (*([None] if inside else []), *([page] if page is not None else [])):
        path = write_report(analyse_store(store), file)
        if path is not None:
            print_line(str(path))


def _print_results(store: "RunStore", places: Mapping[str, str], as_json: bool) -> int:
    """Print the results of the places, none if `places` is empty; return the exit code."""
    from assay.cli.run import print_stopped
    from assay.cli.show import result_json

    info = store.info()
    if info.status == "interrupted":
        return print_stopped(store)
    if as_json:
        from assay.report.measure_text import simultaneous_reach

        found = store.results()
        rates = [result.iops if result.is_counted else result.throughput for result in found]
        values = [
            {**result_json(one), "simultaneous_within": simultaneous_reach(rate, one.low, one.high, one.n, len(found))}
            for one, rate in zip(found, rates, strict=True)
        ]
        print_json({"run": info.id, "folder": info.folder, "places": places, "page": info.page, "results": values})
    elif places:
        _print_text(store, places)
    note(f"results: {store.folder}; details: assay show {store.folder}; report: assay report {store.folder}")
    counts = store.outcome_counts()
    if not counts:
        note("nothing was measured in the time: use at least twice the --time")
    return EXIT_OK if set(counts) == {"ok"} else EXIT_INCOMPLETE


def _print_text(store: "RunStore", places: Mapping[str, str]) -> None:
    """Print the tables, the chart, the answer, the caveats and how certain the results are."""
    from assay.model.result.summary_page import MAX_CAVEATS
    from assay.report import measure_text
    from assay.report.view import RunView
    from assay.run.analysis import analyse_store

    analysis = analyse_store(store)
    where = {place.target: place for place in analysis.run.places}
    groups = [(name, [row for row in analysis.rows if row.case.target == name]) for name in places]
    width = terminal_width() or measure_text.WIDTH
    for name, rows in groups:
        lies = where[name].storage_chain if name in where else ""
        named = "" if places[name] == name else f", named {name} below"
        print_line(f"\n{places[name]}{f' ({lies})' if lies else ''}{named}")
        _print_lines(measure_text.result_lines(rows, len(analysis.rows), width))
        _print_lines(measure_text.limit_lines(rows, RunView(analysis)))
    if len(groups) > 1:
        print_line()
        _print_lines(measure_text.bar_lines(groups, _lacks_block_characters(), width))
    page = analysis.run.page
    if len(groups) > 1 and page is not None:
        print_line(f"\n{page.answer}")
        _print_lines(f"  {line.label}: {line.text}" for line in page.lines)
    if page is not None:
        print_line()
        _print_lines(f"note: {caveat.words}" for caveat in page.caveats[:MAX_CAVEATS])
    print_line(f"\n{measure_text.certainty_sentence(analysis.rows)}")


def _print_lines(lines: "Sequence[str] | Any") -> None:
    """Print each line, wrapped at the terminal's width; continuation lines are indented further."""
    import textwrap

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 10_000
    for line in lines:
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        for part in textwrap.wrap(line, width, subsequent_indent=indent, break_on_hyphens=False) or [""]:
            print_line(part)


def _lacks_block_characters() -> bool:
    """Return whether the encoding of standard output lacks block characters."""
    try:
        "█".encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        return True
    return False
