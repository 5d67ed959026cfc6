"""`assay report`."""

import gc
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from assay.model.base import AssayError
from assay.terminal.output import note, print_line
from assay.terminal.output_file import FORCE, PAGE_MARK, OutputFile, output_option, write_in_run
from assay.terminal.settings import RUNS, matching_runs

if TYPE_CHECKING:
    from assay.model.money.price import PriceBook
    from assay.model.result.result import RunAnalysis

FILE_NAME = "report.html"
JOINT_NAME = "runs.html"
"""Name of the page on several runs."""


def command(
    runs: list[str] = typer.Argument(
        ...,
        metavar="RUN...",
        autocompletion=matching_runs,
        help="Id of a run, a unique beginning of it, `last`, the name of a study, a path, or a file of another tool.",
    ),
    output: Path | None = output_option(
        "The file; `report.html` in the run if left out, FILE.html here for a FILE of another tool, or `runs.html` "
        "here for several runs."
    ),
    force: bool = FORCE,
    out: Path = RUNS,
    open_: bool = typer.Option(False, "--open", help="Open it in the browser."),
    prices: str | None = typer.Option(
        None, "--prices", metavar="today[=BOOK]", help="Show today's prices next to the run's own."
    ),
    other_run: str | None = typer.Option(
        None,
        "--beside",
        metavar="RUN",
        autocompletion=matching_runs,
        help="Draw the results of another run, such as imported figures, in the same charts.",
    ),
) -> None:
    """Write a run's report as one HTML file that opens without a network, and print its path.

    An existing page of Assay is replaced; another file only with --force. Costs use the prices stored with the run;
    `--prices today` also shows costs at today's prices, `--prices today=BOOK` at those of a price book. `--beside`
    draws another run, such as figures of a paper that `assay import` has read, in the same charts.

    Of several runs, one page has their results side by side: a column for each run and target, a row for each kind of
    work; then how they differ from the first run, and what differs between the runs and their machines.

    Example: `assay report last --output storage.html`, `assay report a b c -o runs.html`
    """
    from assay.run.analysis import load_analysis
    from assay.run.find_run import is_temporary

    destination = None if output is None else OutputFile(output, PAGE_MARK, force)
    if open_ and destination is not None and destination.prints:
        raise AssayError(
            "--open opens the report's file, but the report is printed",
            "name a file with --output, or leave --open out",
        )
    if len(runs) > 1:
        _refuse_options(prices, other_run)
        path = write_joint_report(runs, out, destination or OutputFile(Path(JOINT_NAME), PAGE_MARK, force))
        _show(path, open_)
        return
    (run,) = runs
    analysis = load_analysis(run, out)
    if destination is None and is_temporary(analysis.run.folder):
        destination = OutputFile(Path(f"{Path(run).resolve().name}.html"), PAGE_MARK, force)
    # What is loaded is needed until the end, so the garbage collector need not scan it repeatedly.
    gc.freeze()
    other = None if other_run is None else load_analysis(other_run, out, quick=True)
    _show(write_report(analysis, destination, _current_prices(analysis, prices), other), open_)


def _show(path: Path | None, in_browser: bool) -> None:
    """Print the path of a report that was not printed, and open it if that is wanted."""
    if path is None:
        return
    print_line(str(path))
    if in_browser:
        _open(path)


def _refuse_options(prices: str | None, other_run: str | None) -> None:
    """Refuse what only the report of one run has."""
    for option, value in (("--prices", prices), ("--beside", other_run)):
        if value is not None:
            raise AssayError(f"{option} is for the report of one run", "name one run, or leave it out")


def write_joint_report(runs: list[str], out: Path, output: OutputFile) -> Path | None:
    """Write one page on several runs.

    Args:
        runs: The runs, as the user named them.
        out: Folder of the runs.
        output: The file.

    Returns:
        Path of the page; None if it was printed.
    """
    from assay.report.html import render_html
    from assay.report.joint import joint_document
    from assay.run.between_runs import join_with_history
    from assay.terminal.named_runs import load_views

    views = load_views(runs, out)
    found = join_with_history(out, [view.analysis for view in views.values()])
    output.write(render_html(joint_document(views, found)))
    return None if output.prints else output.path


def _open(path: Path) -> None:
    """Show a page in the user's browser; without one, print its path: the page is written anyway."""
    import webbrowser

    if not webbrowser.open(path.absolute().as_uri()):
        note(f"no browser could be opened here; the report is {path}")


def _current_prices(analysis: "RunAnalysis", written: str | None) -> "PriceBook | None":
    if written is None:
        return None
    if analysis.run.prices is None:
        raise AssayError(
            f"run {analysis.run.id} has no stored prices", "only runs of studies with `prices:` have costs"
        )
    from assay.cli.money.books import warn_stale
    from assay.cli.money.study_prices import current_book, unpriced_lines

    book = current_book(analysis.run.prices, written)
    used = {row.key for row in analysis.run.prices.book.rows}
    warn_stale(book, [row for row in book.rows if row.key in used])
    for target, reasons in unpriced_lines(analysis.run.prices, book).items():
        note(f"{target} has no cost at today's prices: {'; '.join(reasons)}")
    return book


def write_report(
    analysis: "RunAnalysis",
    output: OutputFile | None,
    today: "PriceBook | None" = None,
    other: "RunAnalysis | None" = None,
) -> Path | None:
    """Write the HTML report, complete or not at all.

    Args:
        analysis: The run.
        output: The file that the user named; None: `report.html` in the run's folder, where no link is followed.
        today: Current prices to show with those of the run.
        other: Another run to draw with this one.

    Returns:
        Path of the report; None if it was printed.

    Raises:
        AssayError: The report cannot be written.
    """
    from assay.report.build import build_document
    from assay.report.html import render_html

    text = render_html(build_document(analysis, today, other))
    if output is not None:
        output.write(text)
        return None if output.prints else output.path
    path = Path(analysis.run.folder) / FILE_NAME
    write_in_run(path, text)
    return path
