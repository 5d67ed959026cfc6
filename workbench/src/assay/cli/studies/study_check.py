"""The work of `assay check`: read a study and inspect its targets without writing anything."""

from pathlib import Path

from assay.cli.studyfile import exit_with_faults, load_study_file
from assay.contract._answers import TraceContents
from assay.launch.free_space import SpaceRequirement
from assay.model.base import warning
from assay.model.units import about_count, about_size
from assay.plan.change import Change
from assay.plan.estimate import StudyEstimate, estimate_study
from assay.plan.study_warnings import study_warnings
from assay.report import numbers
from assay.run.study_plan import Plan, uncounted_text
from assay.terminal.output import note, print_line

_MAX_HOSTS_SHOWN = 16


def check_file(path: Path, change: Change | None, out: Path, on_root: bool) -> None:
    """Check a study with the changes of the command line; print a summary, and where its targets are.

    Args:
        path: File of the study.
        change: Changes that the command line makes to it.
        out: Folder in which a run would be stored.
        on_root: Directories for mounts may be on the root file system.

    Raises:
        AssayError: The file cannot be read, or the change fits nothing in it.
        typer.Exit: There are problems; they have been printed.
    """
    from assay.launch.binary import load_engine
    from assay.run.preconditions import CheckRequest, run_checks

    loaded = load_study_file(path, change)
    estimate = estimate_study(loaded.study, loaded.cases)
    # Only `run` checks whether a device may be overwritten.
    needs = SpaceRequirement(estimate.peak_space, on_root)
    found = run_checks(CheckRequest(loaded, load_engine(), destroy=True, space=needs, out=out, services=True))
    exit_with_faults(path, loaded.source, [*found.faults])
    if loaded.prices is not None:
        from assay.cli.money.books import warn_stale

        warn_stale(loaded.prices.book)
    print_line(f"ok: {summary(loaded, estimate)}")
    for name, place in found.places.items():
        print_line(f"    {name}: {place.words}")
    for name, words in found.absent.items():
        print_line(f"    {name}: {words}")
    for name, trace in found.traces.items():
        print_line(f"    {name}: {_trace_words(trace)}")
    if loaded.study.testbed is None and loaded.study.hosts.is_described:
        _print_hosts(loaded)
    for line in study_warnings(loaded.study, loaded.cases, estimate):
        note(warning(line))


def _print_hosts(loaded: Plan) -> None:
    """Print the hosts that a file or a tool describes, as ssh will reach them, and what was decided about them."""
    from assay.site.choose import site_of

    clients = site_of(loaded.study, loaded.folder).up(note).clients
    for host in clients[:_MAX_HOSTS_SHOWN]:
        login = f"{f'{host.user}@' if host.user else ''}{host.address}{f' port {host.port}' if host.port else ''}"
        print_line(f"    {host.name}: {login}{f' through {host.jump}' if host.jump else ''}")
    if len(clients) > _MAX_HOSTS_SHOWN:
        print_line(f"    and {len(clients) - _MAX_HOSTS_SHOWN} more hosts")


def _trace_words(trace: TraceContents) -> str:
    """Return what a trace holds, in words."""
    ops = trace.operations
    moved = [about_size(ops[kind].bytes if kind in ops else 0) for kind in ("read", "write")]
    count, spent_ns = (sum(getattr(one, name) for one in ops.values()) for name in ("count", "recorded_ns"))
    tasks = f"{trace.tasks} {'task' if trace.tasks == 1 else 'tasks'}"
    recorded, spent = numbers.seconds(trace.recorded_ns / 1e9), numbers.seconds(spent_ns / 1e9)
    return (
        f"{about_count(count)} operations of {tasks}, {moved[0]} read, {moved[1]} written, recorded in {recorded}, of "
        f"which {spent} are I/O; a copy begins with {about_size(trace.initial_bytes)} and needs up to "
        f"{about_size(trace.space_bytes)}"
    )


def summary(loaded: Plan, estimate: StudyEstimate) -> str:
    """Return one line about a study: cases, repeats, exclusions, time and bytes."""
    left_out = f", {len(loaded.excluded)} excluded" if loaded.excluded else ""
    up_to = "up to " if estimate.min_seconds < estimate.seconds else ""
    return (
        f"{len(loaded.cases)} {'case' if len(loaded.cases) == 1 else 'cases'} x {loaded.study.repeating.words}"
        f"{left_out}; {estimate.time_text}; "
        f"writes {up_to}{about_size(estimate.written)}, reads {estimate.read_summary(up_to)}"
        f"{estimate.requests_text}{uncounted_text(loaded.cases)}"
    )
