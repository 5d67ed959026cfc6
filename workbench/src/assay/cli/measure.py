"""`assay measure`."""

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from assay.cli.changes import ON_ROOT
from assay.cli.output import note, print_json, say, terminal_width
from assay.cli.settings import RUNS
from assay.cli.written import FORCE, PAGE, Output, edited, output_option, printing
from assay.model.base import EXIT_INCOMPLETE, EXIT_INTERRUPTED, EXIT_OK, AssayError
from assay.model.foreign import plain
from assay.model.units import UnitError, parse_duration

if TYPE_CHECKING:
    from assay.plan.measure import Scale
    from assay.store import RunStore

LEAST_SECONDS, MOST_SECONDS = 5.0, 86_400.0


class Confirmed(NamedTuple):
    """What the user has confirmed."""

    destroy: bool
    on_root: bool


def command(
    places: list[str] = typer.Argument(
        ...,
        metavar="PLACE...",
        help="Directory, device, nfs://SERVER/EXPORT, smb://USER@SERVER/SHARE, aoe://INTERFACE/eSHELF.SLOT, "
        "s3://BUCKET/KEYS, dynamodb://TABLE.",
    ),
    time: str = typer.Option("30s", "--time", help="How long it may take, about."),
    report: bool = typer.Option(False, "--report", help="Write the HTML report into the run, too."),
    output: Path | None = output_option("Write the HTML report to a file, too."),
    save: Path | None = typer.Option(None, "--save", metavar="FILE", help="Write the study that was measured."),
    force: bool = FORCE,
    out: Path = RUNS,
    destroy: bool = typer.Option(False, "--destroy", help="Devices may be overwritten, buckets and tables written to."),
    on_root: bool = typer.Option(False, "--yes-on-root", help=ON_ROOT),
    as_json: bool = typer.Option(False, "--json", help="Print the results as JSON."),
) -> None:
    """Measure one place, or compare several: reads and writes, sequential and random, large and small.

    In a directory a folder is made for the test data, and removed. A bucket is only read, unless --destroy is given.
    The run is kept: `assay show last`, `assay report last`. Exit codes as of `assay run`.

    Example: `assay measure .`, `assay measure /var/tmp /dev/shm --report`
    """
    from assay.kinds.spelled import spelled
    from assay.plan.measure import measure_study, measure_text, names_of

    seconds, how = _seconds(time), Confirmed(destroy, on_root)
    _check_words(places)
    page = None if output is None else Output(output, PAGE, force)
    study = None if save is None else Output(save, edited, force, "--save")
    printing(json=as_json, output=page, save=study)
    targets = {
        name: spelled(place, destroy)
        for name, place in zip(names_of([_whole(place) for place in places]), places, strict=True)
    }
    cache, chosen = _first_look(targets, places, seconds, how, out)
    text = measure_text(measure_study(targets, chosen, cache), places)
    store = _run(text, out, how, quiet=False)
    try:
        printed = any(file is not None and file.prints for file in (page, study))
        code = _tell(store, {} if printed else dict(zip(targets, places, strict=True)), as_json)
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
            raise AssayError(f"{plain(place)}: the place has unprintable characters", "name it by a link without them")


def _whole(place: str) -> str:
    """A directory by its whole path: `.` is no name."""
    path = Path(place)
    return str(path.absolute()) if path.is_dir() else place


def _seconds(written: str) -> float:
    try:
        seconds = parse_duration(written) / 1e9
    except UnitError as error:
        raise AssayError(f"--time: {error.message}", error.hint) from None
    if not LEAST_SECONDS <= seconds <= MOST_SECONDS:
        raise AssayError(f"--time: {written} is not between 5s and 24h", "30s is usual; longer makes surer")
    return seconds


def _first_look(
    targets: Mapping[str, Mapping[str, Any]], places: Sequence[str], seconds: float, how: Confirmed, out: Path
) -> "tuple[str, Scale]":
    """How the page cache is kept out, and how much can be done in the time: from a first short write to each place."""
    from assay.plan.measure import holds_files, probe_study, scale
    from assay.run.first_look import first_look

    files = {name: target for name, target in targets.items() if holds_files(target)}
    if not files:
        return "keep", scale(seconds, {}, {})
    note("a first look, to see how much can be done in the time")
    for cache in ("direct", "evict"):
        try:
            with first_look(out, note) as folder:
                speeds, free = _probed(probe_study(files, cache, _room(places)), folder, how)
        except KeyboardInterrupt:
            note("stopped: nothing was measured, and what was made is removed")
            raise typer.Exit(EXIT_INTERRUPTED) from None
        except AssayError as error:
            if cache == "direct" and "O_DIRECT" in error.message:
                note(f"{error.message}: the page cache is emptied instead")
                continue
            raise
        return cache, scale(seconds, speeds, free)
    raise AssayError("no way to keep the page cache out of the numbers was found", "`assay doctor` says more")


def _room(places: Sequence[str]) -> int | None:
    """Bytes that are free in the fullest of the directories and devices; None if none is one."""
    from assay.launch.devices import device_bytes

    free = [shutil.disk_usage(place).free for place in places if Path(place).is_dir()]
    sizes = [device_bytes(place) for place in places if Path(place).is_block_device()]
    return min((*free, *(size for size in sizes if size is not None)), default=None)


def _probed(study: Mapping[str, Any], folder: Path, how: Confirmed) -> tuple[dict[str, float], dict[str, int | None]]:
    from assay.plan.measure import measure_text
    from assay.run.analysis import analyse_store

    store = _run(measure_text(study, []), folder, how, quiet=True)
    try:
        analysis = analyse_store(store, quick=True)
        places = {place.target: place.free_bytes for place in analysis.run.places}
    finally:
        store.close()
    speeds = {row.case.target: row.throughput.median for row in analysis.rows if row.throughput is not None}
    for name in study["targets"]:
        if name not in speeds:
            why = next((job.reason for job in analysis.jobs if job.reason), "the first write failed")
            raise AssayError(f"{name}: {why}", "`assay check` on a study of it says more", EXIT_INCOMPLETE)
    return speeds, places


def _run(text: str, out: Path, how: Confirmed, quiet: bool) -> "RunStore":
    from assay.cli.progress import TerminalListener
    from assay.cli.quiet import QuietListener
    from assay.cli.studyfile import check_study
    from assay.run.session import start

    plan = check_study(Path("assay-measure.yaml"), text.encode())
    return start(plan, out, how.destroy, QuietListener() if quiet else TerminalListener(), on_root=how.on_root)


def _save(file: Output, text: str) -> None:
    file.write(text)
    if not file.prints:
        note(f"the study: {file.path}")


def _write_reports(store: "RunStore", inside: bool, page: Output | None) -> None:
    """Write the report into the run, or where the user says, or both; their paths are printed."""
    from assay.cli.report import write_report
    from assay.run.analysis import analyse_store

    for file in (*([None] if inside else []), *([page] if page is not None else [])):
        path = write_report(analyse_store(store), file)
        if path is not None:
            say(str(path))


def _tell(store: "RunStore", places: Mapping[str, str], as_json: bool) -> int:
    """Print what came out of the places, if any is to be printed; returns the exit code."""
    from assay.cli.run import tell_stopped
    from assay.cli.show import result_json

    info = store.info()
    if info.status == "interrupted":
        return tell_stopped(store)
    if as_json:
        from assay.report.measured import sure_within

        found = store.results()
        rates = [result.iops if result.counted else result.throughput for result in found]
        values = [
            {**result_json(one), "sure_within": sure_within(rate, one.low, one.high, one.n, len(found))}
            for one, rate in zip(found, rates, strict=True)
        ]
        print_json({"run": info.id, "folder": info.folder, "places": places, "page": info.page, "results": values})
    elif places:
        _print(store, places)
    note(f"results: {store.folder}; all of it: assay show {store.folder}; report: assay report {store.folder}")
    return EXIT_INCOMPLETE if set(store.outcome_counts()) - {"ok"} else EXIT_OK


def _print(store: "RunStore", places: Mapping[str, str]) -> None:
    """The tables, the picture, the answer, and how sure it is."""
    from assay.report import measured
    from assay.run.analysis import analyse_store

    analysis = analyse_store(store)
    where = {place.target: place for place in analysis.run.places}
    groups = [(name, [row for row in analysis.rows if row.case.target == name]) for name in places]
    width = terminal_width() or measured.WIDTH
    for name, rows in groups:
        lies = where[name].lies_on if name in where else ""
        named = "" if places[name] == name else f", named {name} below"
        say(f"\n{places[name]}{f' ({lies})' if lies else ''}{named}")
        _lines(measured.table(rows, len(analysis.rows), width))
        _lines(measured.limits(rows))
    if len(groups) > 1:
        say()
        _lines(measured.picture(groups, _plain(), width))
    page = analysis.run.page
    if len(groups) > 1 and page is not None:
        say(f"\n{page.answer}")
        _lines(f"  {line.label}: {line.text}" for line in page.lines)
    say(f"\n{measured.how_sure(analysis.rows)}")


def _lines(lines: "Sequence[str] | Any") -> None:
    """Each line as wide as a terminal allows; longer ones go on below, further in."""
    import textwrap

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 10_000
    for line in lines:
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        for part in textwrap.wrap(line, width, subsequent_indent=indent, break_on_hyphens=False) or [""]:
            say(part)


def _plain() -> bool:
    """Standard output knows few letters."""
    try:
        "█".encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        return True
    return False
