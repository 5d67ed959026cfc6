"""`assay paper`."""

import contextlib
import time
from datetime import datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from assay.model.base import EXIT_INCOMPLETE, AssayError, warning
from assay.terminal.command_group import Group, group
from assay.terminal.named_runs import named_runs
from assay.terminal.output import as_path, print_line
from assay.terminal.output_file import (
    FORCE,
    PAGE_MARK,
    Mark,
    OutputFile,
    anywhere,
    at_start,
    in_workbook,
    output_option,
)
from assay.terminal.settings import RUNS, matching_runs

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.report.view import RunView
    from assay.rooms.paper.work.build import Paper
    from assay.rooms.paper.work.description import DescribedPaper
    from assay.rooms.paper.work.prose import ProseRemark

_ABOUT = "Make a paper that can be sent (PDF, DOCX, HTML or Markdown) from runs and from what its authors write."
_SUFFIXES = (".yaml", ".yml")
_POLL_SECONDS = 0.5
"""Time between two looks at the files of a watched paper."""


class PaperForm(StrEnum):
    """The form of a paper, by the suffix of its file."""

    PDF = "pdf"
    DOCX = "docx"
    HTML = "html"
    MD = "md"
    XLSX = "xlsx"


class PaperGroup(Group):
    """A group in which `build` need not be written: `assay paper last` is `assay paper build last`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put `build` before words that begin with no command of the group."""
        if args and args[0] not in self.commands and args[0] != "--help":
            args = ["build", *args]
        return super().parse_args(ctx, args)


app = group(_ABOUT, PaperGroup)
_SOURCES = typer.Argument(
    ...,
    metavar="RUN... | PAPER.yaml",
    autocompletion=matching_runs,
    help="Runs, as `assay report` names them, or a description.",
)


@app.command("build")
def build(
    sources: list[str] = _SOURCES,
    output: Path | None = output_option(
        "The file: .pdf, .docx, .html, .md, or .xlsx with its tables; a PDF named after the run or the description, "
        "here, if left out. Printed, it is Markdown."
    ),
    force: bool = FORCE,
    watch: bool = typer.Option(
        False, "--watch", help="Make it again whenever the description, a file that it names, or a run changes."
    ),
    out: Path = RUNS,
) -> None:
    """Make a paper from runs, or from a description that orders its parts, and print its path.

    Without a description the paper has an abstract of what is decided, results with charts, cost, method, limits, and
    what repeats the run. The same inputs give the same bytes. PDF and DOCX need the extra `paper`.

    Example: `assay paper last -o paper.pdf`

    Example: `assay paper PAPER.yaml -o paper.pdf --watch`
    """
    from assay.model.extras import require

    form = _form(output)
    if form in (PaperForm.PDF, PaperForm.DOCX):
        require("typst", f"the {form.upper()} of a paper")
    destination = None if output is None else OutputFile(output, _mark(form), force)
    if not watch:
        destination, remarks = _build(sources, out, form, destination, force)
        for remark in remarks:
            print_line(warning(f"{sources[0]}:{remark.line}: {remark.text}"), err=True)
        if not destination.prints:
            print_line(str(destination.path))
        return
    if destination is not None and destination.prints:
        raise AssayError("--watch writes a file again and again", "name a file with --output")
    _watch(sources, out, partial(_build, sources, out, form, destination, force))


def _build(
    sources: list[str], out: Path, form: PaperForm, destination: OutputFile | None, force: bool
) -> "tuple[OutputFile, list[ProseRemark]]":
    """Make the paper once; return its file, and what is doubtful in it."""
    paper, remarks = _paper(sources, out)
    if destination is None:
        destination = OutputFile(Path(f"{_name(sources, paper)}.pdf"), _mark(form), force)
    _write(paper, form, destination)
    return destination, [remark for remark in remarks if not remark.kind.is_note]


def _watch(sources: list[str], out: Path, build: "Callable[[], tuple[OutputFile, list[ProseRemark]]]") -> None:
    """Make the paper at each change, until the user ends it with Ctrl-C."""
    from assay.model.steady_clock import steady_time
    from assay.rooms.paper.work.watch import PaperFiles, build_at_changes
    from assay.run.find_run import remove_temporary_runs

    def built() -> str:
        start = steady_time()
        # What other tools wrote is imported again, since it may have changed.
        remove_temporary_runs()
        destination, remarks = build()
        size = destination.path.stat().st_size
        doubts = f"; {len(remarks)} doubtful: assay paper check {sources[0]}" if remarks else ""
        words = f"{destination.path}: {size / 1000:,.0f} kB in {steady_time() - start:.1f} s{doubts}"
        return f"{datetime.now():%H:%M:%S} {words}"

    files = PaperFiles(sources, _is_description(sources), out)
    # Ctrl-C is how it ends; a file that is being written then stays as it was.
    with contextlib.suppress(KeyboardInterrupt):
        build_at_changes(built, files.times, partial(time.sleep, _POLL_SECONDS), print_line)


@app.command("new")
def new(runs: list[str] = _SOURCES, out: Path = RUNS) -> None:
    """Print a description of a paper to start from, with all parts and a number that refers to a result.

    Example: `assay paper new last > PAPER.yaml`
    """
    from assay.rooms.paper.work.description import description_text

    if _is_description(runs):
        raise AssayError(f"{runs[0]} is a description already", "name runs")
    views = _views(named_runs(runs), out)
    typer.echo(description_text({name: view.run.id for name, view in views.items()}, views), nl=False)


@app.command("check")
def check(
    paper: Path = typer.Argument(..., parser=as_path, metavar="PAPER.yaml", help="The description."), out: Path = RUNS
) -> None:
    """Check a description: its references, and each sentence of its texts against the runs; exit with 1 for a fault.

    It names numbers that the runs do not have, claims that they contradict or do not decide, wrong units and prices.
    What is only not supported does not change the exit code.

    Example: `assay paper check PAPER.yaml`
    """
    from assay.rooms.paper.work.description import DescribedPaper

    described = DescribedPaper(paper)
    described.build(_views(described.description.runs, out, described))
    remarks = described.remarks
    for remark in remarks:
        print_line(f"{paper}:{remark.line}: {remark.text}")
    if any(not remark.kind.is_note for remark in remarks):
        raise typer.Exit(EXIT_INCOMPLETE)
    print_line(f"ok: {paper}")


def _is_description(sources: list[str]) -> bool:
    """Return whether a description is named, which has its runs inside.

    Raises:
        AssayError: Something else is named, too.
    """
    described = [source for source in sources if Path(source).suffix in _SUFFIXES]
    if described and len(sources) > 1:
        raise AssayError(f"{described[0]} is a description, which names its runs itself", "leave the others out")
    return bool(described)


def _form(output: Path | None) -> PaperForm:
    """Return the form by the suffix; a file without one is a PDF, and what is printed is Markdown."""
    if output is not None and str(output) == "-":
        return PaperForm.MD
    suffix = "" if output is None else output.suffix.removeprefix(".").lower()
    if suffix and suffix not in list(PaperForm):
        words = f"{output}: a paper has no form `.{suffix}`"
        raise AssayError(words, f"one of: {', '.join(f'.{form}' for form in PaperForm)}")
    return PaperForm(suffix or PaperForm.PDF)


def _mark(form: PaperForm) -> Mark:
    from assay.report.markdown import MARK
    from assay.report.typst import MARK as PRINT_MARK

    in_properties = partial(in_workbook, PRINT_MARK.encode())
    marks: dict[PaperForm, Mark] = {
        PaperForm.PDF: partial(anywhere, PRINT_MARK.encode()),
        PaperForm.DOCX: in_properties,
        PaperForm.HTML: PAGE_MARK,
        PaperForm.MD: partial(at_start, MARK.encode()),
        PaperForm.XLSX: in_properties,
    }
    return marks[form]


def _name(sources: list[str], paper: "Paper") -> str:
    """Return the name of the PDF if the user names none: that of the description, or of the first run."""
    return Path(sources[0]).stem if _is_description(sources) else Path(paper.first_run).name


def _paper(sources: list[str], out: Path) -> "tuple[Paper, list[ProseRemark]]":
    from assay.rooms.paper.work.build import paper_of_runs
    from assay.rooms.paper.work.description import DescribedPaper

    if _is_description(sources):
        path = Path(sources[0])
        described = DescribedPaper(path)
        return described.build(_views(described.description.runs, out, described)), described.remarks
    return paper_of_runs(_views(named_runs(sources), out)), []


def _views(runs: dict[str, str], out: Path, described: "DescribedPaper | None" = None) -> "dict[str, RunView]":
    from assay.model.shared_values import SharedValues
    from assay.report.view import RunView
    from assay.run.analysis import load_analysis

    found = {}
    shared = SharedValues()
    for name, ref in runs.items():
        try:
            analysis = load_analysis(ref, out)
            shared.share(analysis)
            found[name] = RunView(analysis)
            _refuse_twice(name, found)
        except AssayError as error:
            raise (error.at(described.place_of_run(name)) if described else error) from None
    return found


def _refuse_twice(name: str, views: "dict[str, RunView]") -> None:
    """Refuse a run that stands there under another name, too: a paper would show it as another one."""
    run = views[name].run
    for other, view in views.items():
        if other != name and (view.run.id, view.run.created_at) == (run.id, run.created_at):
            raise AssayError(f"run {run.id} is named more than once, as {other} and {name}", "name each run once")


def _write(paper: "Paper", form: PaperForm, destination: OutputFile) -> None:
    document, created_at = paper.document, paper.created_at
    match form:
        case PaperForm.PDF:
            from assay.report.typst import render_pdf

            destination.fill(partial(_write_bytes, render_pdf(document, created_at)))
        case PaperForm.DOCX:
            from assay.report.docx.package import render_docx

            destination.fill(partial(_write_bytes, render_docx(document, created_at)))
        case PaperForm.XLSX:
            from assay.report.export_document_xlsx import render_document_xlsx

            destination.fill(partial(_write_bytes, render_document_xlsx(document, created_at)))
        case PaperForm.HTML:
            from assay.report.html import render_html

            destination.write(render_html(document))
        case PaperForm.MD:
            from assay.report.markdown import render_markdown

            destination.write(render_markdown(document))


def _write_bytes(data: bytes, path: Path) -> None:
    path.write_bytes(data)
