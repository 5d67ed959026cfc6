"""`assay run`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from assay.cli.changes import ON, ON_ROOT, ONLY, REPEATS, SET, TARGET, study_change, study_path
from assay.model.base import EXIT_INCOMPLETE, EXIT_INTERRUPTED, EXIT_OK, AssayError
from assay.model.room import hook
from assay.model.user_files import path_kind
from assay.store.entries import BATCH
from assay.store.safe_files import plain_file_status
from assay.terminal.settings import RUNS

if TYPE_CHECKING:
    from assay.plan.change import Change
    from assay.run.listener import Listener
    from assay.store import RunStore


SHOWN_RESULTS = 200
"""Results that are printed at the end of a run; `assay show RUN --all` prints all."""


def command(
    study: str = typer.Argument("", metavar="STUDY", help="Study file; with --resume also a run: id, `last`, or path."),
    resume: bool = typer.Option(
        False, "--resume", help="Continue the newest unfinished run of STUDY, or the named run."
    ),
    settle: bool = typer.Option(
        False,
        "--settle",
        help="With --resume and a complete RUN: add repeats to what it left undecided, within a time that is "
        "printed first.",
    ),
    values: list[str] = SET,
    repeats: int | None = REPEATS,
    only: list[str] = ONLY,
    targets: list[str] = TARGET,
    on: str = ON,
    out: Path = RUNS,
    destroy: bool = typer.Option(
        False,
        "--destroy",
        help="Block devices named in the study may be overwritten, and buckets and tables written to.",
    ),
    on_root: bool = typer.Option(False, "--yes-on-root", help=ON_ROOT),
    budget: str | None = typer.Option(
        None, "--budget", help="Stop before the designs of the study have cost more than this, such as 5USD."
    ),
    slurm: str | None = typer.Option(
        None,
        "--slurm",
        metavar="OPTIONS",
        help='Measure in a batch job of Slurm with these options of sbatch, such as "-p compute -N 16 -t 1:00:00".',
    ),
    stage: bool = typer.Option(
        False,
        "--stage",
        help="Measure with the fewest hosts, tasks or lanes, print the result, its cost and what the next stage "
        "takes, and stop; with --resume accept the result and measure the next stage.",
    ),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Print only warnings and the folder of the run."),
    as_json: bool = typer.Option(False, "--json", help="Print the results as JSON."),
) -> None:
    """Measure a study and store the results.

    Ctrl-C stops after removing the test data; `--resume` continues from there, also after a crash. Exit codes: 0 all
    repeats succeeded, 1 some have errors, 2 the study is wrong, 3 refused, 130 interrupted, stopped by the budget, or
    for want of a host that the cloud has ended.

    Example: `assay run studies/quickstart/study.yaml`, then, if it was interrupted, `assay run --resume`
    """
    change = study_change(values, repeats, only, targets, on)
    how = RunOptions(out, destroy, on_root, budget, change, listener_for(quiet), stage, slurm, settle)
    known = 0
    if settle and (not resume or stage):
        raise AssayError(
            "--settle adds repeats to a run that is complete", "name the run: `assay run RUN --resume --settle`"
        )
    if resume:
        folder = _complete(study, how) if settle else _unfinished(study, how)
        known = _stage_count(folder) if stage else 0
        store = _resume(folder, how)
    else:
        store = _start(study, how)
    ended = None
    try:
        if stage:
            from assay.cli.stages.steps import print_stage_stop, stage_by_stage

            again = how._replace(destroy=destroy, budget=None)
            prints = not (quiet or as_json)
            store, ended = stage_by_stage(store, known, lambda by: _resume(store.folder, again, by), prints)
        if ended is None or as_json:
            code = print_run_results(store, as_json, quiet, stage)
        if ended is not None:
            code = print_stage_stop(store, ended, quiet, as_json)
    finally:
        store.close()
    raise typer.Exit(code)


class RunOptions(NamedTuple):
    """The options of a run, apart from its study."""

    out: Path
    destroy: bool
    on_root: bool
    budget: str | None
    change: "Change | None"
    listener: "Listener"
    stage: bool = False
    slurm: str | None = None
    settle: bool = False


def listener_for(quiet: bool) -> "Listener":
    """Return the listener that prints messages and progress of a run; with `quiet`, warnings and failures only."""
    if quiet:
        from assay.cli.quiet import QuietListener

        return QuietListener()
    from assay.cli.progress import TerminalListener

    return TerminalListener()


def _start(study: str, how: RunOptions) -> "RunStore":
    from assay.cli.money.books import warn_stale
    from assay.cli.studyfile import load_study_file
    from assay.run.session import start

    if not study:
        raise AssayError("no study is named", "name one: `assay run STUDY`; `assay init` writes one")
    loaded = load_study_file(study_path(study), how.change)
    if loaded.prices is not None:
        warn_stale(loaded.prices.book)
    if how.slurm is not None:
        store: RunStore = hook("submit_run")(loaded, how.out, how.slurm, _job_options(how), how.listener)
        return store
    return start(loaded, how.out, how.destroy, how.listener, how.budget, how.on_root, how.stage)


def _unfinished(study: str, how: RunOptions) -> Path:
    """Return the folder of the run to resume."""
    from assay.run.session import find_unfinished
    from assay.store import find_run

    path = study_path(study)
    if study and path_kind(path) == "file":
        return find_unfinished(how.out, _stored_text(path, how.change))
    if how.change is not None:
        message = f"a run is resumed unchanged, without {how.change.options_text}"
        raise AssayError(message, "leave the change out, or name the study file")
    return find_run(study, how.out) if study else find_unfinished(how.out)


def _complete(ref: str, how: RunOptions) -> Path:
    """Return the folder of the run to which `--settle` adds repeats."""
    from assay.store import find_run

    if how.change is not None:
        message = f"--settle measures with the settings of the run, without {how.change.options_text}"
        raise AssayError(message, "leave the change out, or start a new run")
    return find_run(ref or "last", how.out)


def _resume(folder: Path, how: RunOptions, by: str = "by going on") -> "RunStore":
    from assay.run.session import resume

    if how.slurm is not None or plain_file_status(folder, BATCH):

        def measured(listener: "Listener") -> "RunStore":
            return resume(folder, how.destroy, listener, how.budget, how.stage, by, how.on_root, how.settle)

        store: RunStore = hook("resume_in_job")(folder, how.slurm, _job_options(how), how.listener, measured)
        return store
    return resume(folder, how.destroy, how.listener, how.budget, how.stage, by, settle=how.settle)


def _stage_count(folder: Path) -> int:
    """Return the number of stages of a run that were measured."""
    from assay.store import RunStore

    with RunStore.open(folder) as store:
        return len(store.info().stages)


def _job_options(how: RunOptions) -> list[str]:
    """Return the options of `assay run` that a batch job gets, too."""
    words = ["--destroy"] if how.destroy else []
    words += ["--yes-on-root"] if how.on_root else []
    words += ["--settle"] if how.settle else []
    words += ["--stage"] if how.stage else []
    return words + (["--budget", how.budget] if how.budget is not None else [])


def _stored_text(path: Path, change: "Change | None") -> str:
    """Return the text of a study as a run stores it, with the changes of the command line."""
    from assay.cli.studyfile import changed_study, read_study

    data = read_study(path)
    return (data if change is None else changed_study(path, data, change).text).decode("utf-8-sig", "replace")


def _data_text(store: "RunStore") -> str:
    """Return whether the test data is removed: it is, if the run's journal is empty."""
    if not store.entries():
        return "the test data is removed"
    return "some test data may remain: it was kept on request, or could not be removed"


def print_stopped(store: "RunStore", stage: bool = False) -> int:
    """Print how to resume a run that was stopped; return the exit code."""
    from assay.terminal.output import note

    info = store.info()
    note(f"stopped: {info.finished} of {info.planned} repeats are done, {_data_text(store)}")
    if info.blocks is not None and info.blocks.engines:
        note("a run of two engines cannot be resumed, as it does not store them; start it again")
        return EXIT_INTERRUPTED
    if info.lost_server is not None:
        note(f"it cannot be resumed: measure on another stack: {info.command}")
        return EXIT_INTERRUPTED
    budget = store.budget()
    with_budget = "" if budget is None else f" --budget {budget}"
    staged = " --stage" if stage else ""
    note(f"continue with: assay run {store.folder} --resume{staged}{with_budget}{', or more' if with_budget else ''}")
    return EXIT_INTERRUPTED


def print_run_results(store: "RunStore", as_json: bool, quiet: bool, stage: bool = False) -> int:
    """Print the results of a run; return the exit code."""
    from assay.cli.show import print_commands, print_results, print_summary, result_json
    from assay.terminal.output import note, print_json, print_line

    info = store.info()
    folder = store.folder
    interrupted = info.status == "interrupted"
    counts, verdicts = store.outcome_counts(), store.verdict_counts()
    if as_json:
        value: dict[str, Any] = {
            "run": info.id,
            "folder": info.folder,
            "status": info.status,
            "planned": info.planned,
            "finished": info.finished,
            "outcomes": counts,
            "verdicts": verdicts.by_worst,
            "further_verdicts": verdicts.by_further,
            "answers": info.answers,
            "page": info.page,
            "machine": info.machine,
            "stages": info.stages,
            "results": [result_json(result) for result in store.results()],
        }
        print_json(value)
    elif quiet:
        print_line(str(folder))
    elif not interrupted:
        print_commands(store)
        print_results(store, SHOWN_RESULTS)
        print_summary(store)
        if info.machine is not None:
            print_line(f"The machine: {info.machine.text}")
    if interrupted:
        return print_stopped(store, stage)
    bad = {status: count for status, count in counts.items() if status != "ok"}
    if quiet:
        return EXIT_INCOMPLETE if bad else EXIT_OK
    note(f"{info.status}: {verdicts.words}")
    if bad:
        note("failed repeats: " + ", ".join(f"{count} {status}" for status, count in bad.items()))
    note(f"results: {folder}; report: assay report {folder}")
    if info.blocks is not None:
        note(f"comparison: assay compare {folder}")
    return EXIT_INCOMPLETE if bad else EXIT_OK
