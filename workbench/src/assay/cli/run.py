"""`assay run`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from assay.model.base import EXIT_INCOMPLETE, EXIT_INTERRUPTED, EXIT_OK, AssayError
from assay.model.named import look

if TYPE_CHECKING:
    from assay.store import RunStore


SHOWN_RESULTS = 200
"""More results than these are for `assay show RUN --all`."""


def command(
    study: str = typer.Argument("", metavar="STUDY", help="Study file; with --resume also a run: id, `last`, or path."),
    resume: bool = typer.Option(
        False, "--resume", help="Go on with the newest unfinished run of STUDY, or with that run."
    ),
    out: Path = typer.Option(Path("assay-runs"), "--out", help="Folder of the runs."),
    destroy: bool = typer.Option(
        False,
        "--destroy",
        help="Block devices named in the study may be overwritten, and buckets and tables written to.",
    ),
    budget: str | None = typer.Option(
        None, "--budget", help="Stop before the designs of the study have cost more than this, such as 5USD."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print the results as JSON."),
) -> None:
    """Measure a study and keep the results.

    Ctrl-C stops after removing the test data; `--resume` goes on from there, also after a crash. Exit codes: 0 all
    repeats went well, 1 some have errors, 2 the study is wrong, 3 refused, 130 interrupted, or stopped by the budget.

    Example: `assay run studies/quickstart/study.yaml`, then, if it was interrupted, `assay run --resume`
    """
    store = _resume(study, out, destroy, budget) if resume else _start(study, out, destroy, budget)
    try:
        code = _tell(store, as_json)
    finally:
        store.close()
    raise typer.Exit(code)


def _start(study: str, out: Path, destroy: bool, budget: str | None) -> "RunStore":
    from assay.cli.money.books import warn_stale
    from assay.cli.progress import TerminalListener
    from assay.cli.studyfile import load_study_file
    from assay.run.session import start

    if not study:
        raise AssayError("there is no study to run", "name one: `assay run STUDY`; `assay init` writes one")
    loaded = load_study_file(study_path(study))
    if loaded.prices is not None:
        warn_stale(loaded.prices.book)
    return start(loaded, out, destroy, TerminalListener(), budget)


def _resume(study: str, out: Path, destroy: bool, budget: str | None) -> "RunStore":
    from assay.cli.progress import TerminalListener
    from assay.cli.studyfile import read_study
    from assay.run.session import find_unfinished, resume
    from assay.store import find_run

    if not study:
        folder = find_unfinished(out)
    elif look(path := study_path(study)) == "file":
        folder = find_unfinished(out, read_study(path).decode("utf-8-sig", "replace"))
    else:
        folder = find_run(study, out)
    return resume(folder, destroy, TerminalListener(), budget)


def study_path(study: str) -> Path:
    """The study file; for a folder without a run the `study.yaml` in it."""
    path = Path(study)
    if look(path) != "folder" or look(path / "run.sqlite"):
        return path
    return path / "study.yaml" if look(path / "study.yaml") == "file" else path


def _data_text(store: "RunStore") -> str:
    """What has become of the test data, as far as everything that was made is seen to be gone."""
    if not store.journal():
        return "the test data is removed"
    return "some of the test data is still there: it was to be kept, or a warning above says why"


def tell_stopped(store: "RunStore") -> int:
    """Say of a run that was stopped how to go on with it; returns the exit code."""
    from assay.cli.output import note

    info = store.info()
    note(f"stopped: {info.finished} of {info.planned} repeats are done, {_data_text(store)}")
    if info.blocks is not None and info.blocks.engines:
        note("two engines are measured again from the beginning; a run does not keep programs")
        return EXIT_INTERRUPTED
    budget = store.budget()
    with_budget = "" if budget is None else f" --budget {budget}"
    note(f"go on with: assay run {store.folder} --resume{with_budget}{', or with more' if with_budget else ''}")
    return EXIT_INTERRUPTED


def _tell(store: "RunStore", as_json: bool) -> int:
    """Print what came out; returns the exit code."""
    from assay.cli.output import note, print_json, say
    from assay.cli.show import print_page, print_results, result_json, verdict_text

    info = store.info()
    folder = store.folder
    interrupted = info.status == "interrupted"
    counts = store.outcome_counts()
    if as_json:
        value: dict[str, Any] = {
            "run": info.id,
            "folder": info.folder,
            "status": info.status,
            "planned": info.planned,
            "finished": info.finished,
            "outcomes": counts,
            "verdicts": store.verdict_counts(),
            "answers": info.answers,
            "page": info.page,
            "machine": info.machine,
            "results": [result_json(result) for result in store.results()],
        }
        print_json(value)
    elif not interrupted:
        print_results(store, SHOWN_RESULTS)
        print_page(store)
        if info.machine is not None:
            say(f"The machine: {info.machine.text}")
    if interrupted:
        return tell_stopped(store)
    bad = {status: count for status, count in counts.items() if status != "ok"}
    note(f"{info.status}: {verdict_text(store.verdict_counts(), store.count_as_far_as_seen())}")
    if bad:
        note("repeats that did not go well: " + ", ".join(f"{count} {status}" for status, count in bad.items()))
    note(f"results: {folder}; report: assay report {folder}")
    if info.blocks is not None:
        note(f"the two sides: assay compare {folder}")
    return EXIT_INCOMPLETE if bad else EXIT_OK
