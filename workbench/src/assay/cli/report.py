"""`assay report`."""

from pathlib import Path

import typer

from assay.model.result import RunAnalysis

FILE_NAME = "report.html"


def command(
    run: str = typer.Argument(..., metavar="RUN", help="Id of the run, a unique beginning of it, `last`, or a path."),
    output: Path | None = typer.Option(
        None, "--output", "-o", help="File to write; default: `report.html` in the run."
    ),
    out: Path = typer.Option(Path("assay-runs"), "--out", help="Folder of the runs."),
) -> None:
    """Write a run's report as one HTML file that opens without a network, and print its path.

    An existing report is replaced: the same run gives the same file.

    Example: `assay report last --output storage.html`
    """
    from assay.cli.analysis import load_analysis

    analysis = load_analysis(run, out)
    path = output or Path(analysis.run.folder) / FILE_NAME
    write_report(analysis, path)
    typer.echo(str(path))


def write_report(analysis: RunAnalysis, path: Path) -> None:
    """Write the HTML report to `path`, whole or not at all.

    Raises:
        AssayError: It cannot be written.
    """
    from assay.report.atomic import write_whole
    from assay.report.build import build_document
    from assay.report.html import render_html

    text = render_html(build_document(analysis))
    write_whole(path, lambda temporary: _write(temporary, text), force=True)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
