"""`assay paper`."""

import re
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from assay.model.base import EXIT_INCOMPLETE, AssayError, warning
from assay.model.units import choices_hint
from assay.terminal.command_group import Group, group
from assay.terminal.output import as_path, print_line
from assay.terminal.output_file import FORCE, PAGE_MARK, Mark, OutputFile, anywhere, at_start, output_option
from assay.terminal.settings import RUNS, matching_runs

if TYPE_CHECKING:
    from assay.report.view import RunView
    from assay.rooms.paper.work.build import Paper
    from assay.rooms.paper.work.prose import ProseRemark

_ABOUT = "Make a paper that can be sent (PDF, HTML or Markdown) from runs and from what its authors write."
_SUFFIXES = (".yaml", ".yml")


class PaperForm(StrEnum):
    """The form of a paper, by the suffix of its file."""

    PDF = "pdf"
    HTML = "html"
    MD = "md"


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
        "The file: .pdf, .html or .md; a PDF named after the run or the description, here, if left out. Printed, it is "
        "Markdown."
    ),
    force: bool = FORCE,
    out: Path = RUNS,
) -> None:
    """Make a paper from runs, or from a description that orders its parts, and print its path.

    Without a description the paper has an abstract of what is decided, results with charts, cost, method, limits, and
    what repeats the run. The same inputs give the same bytes. A PDF needs the extra `paper`.

    Example: `assay paper last -o paper.pdf`
    """
    from assay.model.extras import require

    form = _form(output)
    if form is PaperForm.PDF:
        require("typst", "the PDF of a paper")
    destination = None if output is None else OutputFile(output, _mark(form), force)
    paper, remarks = _paper(sources, out)
    if destination is None:
        destination = OutputFile(Path(f"{_name(sources, paper)}.pdf"), _mark(form), force)
    _write(paper, form, destination)
    for remark in remarks:
        if not remark.kind.is_note:
            print_line(warning(f"{sources[0]}:{remark.line}: {remark.text}"), err=True)
    if not destination.prints:
        print_line(str(destination.path))


@app.command("new")
def new(runs: list[str] = _SOURCES, out: Path = RUNS) -> None:
    """Print a description of a paper to start from, with all parts and a number that refers to a result.

    Example: `assay paper new last > PAPER.yaml`
    """
    from assay.rooms.paper.work.description import description_text

    if _is_description(runs):
        raise AssayError(f"{runs[0]} is a description already", "name runs")
    views = _views(_named(runs), out)
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
    described.build(_views(described.description.runs, out, paper))
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
        raise AssayError(words, choices_hint(f".{suffix}", [f".{form}" for form in PaperForm]))
    return PaperForm(suffix or PaperForm.PDF)


def _mark(form: PaperForm) -> Mark:
    from assay.report.markdown import MARK
    from assay.report.typst import MARK as PDF_MARK

    marks: dict[PaperForm, Mark] = {PaperForm.HTML: PAGE_MARK, PaperForm.MD: partial(at_start, MARK.encode())}
    return marks.get(form, partial(anywhere, PDF_MARK.encode()))


def _name(sources: list[str], paper: "Paper") -> str:
    """Return the name of the PDF if the user names none: that of the description, or of the first run."""
    return Path(sources[0]).stem if _is_description(sources) else Path(paper.first_run).name


def _paper(sources: list[str], out: Path) -> "tuple[Paper, list[ProseRemark]]":
    from assay.rooms.paper.work.build import paper_of_runs
    from assay.rooms.paper.work.description import DescribedPaper

    if _is_description(sources):
        path = Path(sources[0])
        described = DescribedPaper(path)
        return described.build(_views(described.description.runs, out, path)), described.remarks
    return paper_of_runs(_views(_named(sources), out)), []


def _views(runs: dict[str, str], out: Path, described_in: Path | None = None) -> "dict[str, RunView]":
    from assay.report.view import RunView
    from assay.run.analysis import load_analysis

    found = {}
    for name, ref in runs.items():
        try:
            found[name] = RunView(load_analysis(ref, out))
        except AssayError as error:
            raise (error.at(f"{described_in}: runs.{name}") if described_in else error) from None
    return found


def _named(refs: list[str]) -> dict[str, str]:
    """Return runs by names that references can have: what the user wrote, without other signs."""
    found: dict[str, str] = {}
    for ref in refs:
        base = re.sub(r"[^A-Za-z0-9_.-]+", "-", Path(ref).name).strip("-.") or "run"
        name = base
        number = 2
        while name in found:
            name, number = f"{base}-{number}", number + 1
        found[name] = ref
    return found


def _write(paper: "Paper", form: PaperForm, destination: OutputFile) -> None:
    if form is PaperForm.PDF:
        from assay.report.typst import render_pdf

        data = render_pdf(paper.document, paper.created_at)
        destination.fill(partial(_write_bytes, data))
        return
    if form is PaperForm.HTML:
        from assay.report.html import render_html

        destination.write(render_html(paper.document))
        return
    from assay.report.markdown import render_markdown

    destination.write(render_markdown(paper.document))


def _write_bytes(data: bytes, path: Path) -> None:
    path.write_bytes(data)
