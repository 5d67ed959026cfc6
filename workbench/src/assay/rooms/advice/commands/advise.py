"""`assay advise`."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from assay.model.base import EXIT_INCOMPLETE, AssayError
from assay.model.units import choices_hint, display_value
from assay.terminal.output import as_path, note, print_json
from assay.terminal.output_file import FORCE, PAGE_MARK, OutputFile, check_one_printed, output_option
from assay.terminal.settings import RUNS

if TYPE_CHECKING:
    from assay.model.money.price import PriceBook
    from assay.model.money.priced_designs import DesignEvidence
    from assay.model.source import YamlSource
    from assay.rooms.advice.model.advice import Advice
    from assay.rooms.advice.model.need import Need

GUIDE = "docs/guides/advise.md"
SIZES = (
    ("capacity",),
    ("profile", "record"),
    ("snapshots",),
    ("migration", "size"),
    *(("monthly", name) for name in ("read", "written", "egress", "zone")),
)
"""Keys of a need whose values must have a unit: a plain number would mean bytes, which is hardly intended."""


def command(
    need: Path = typer.Argument(
        ..., parser=as_path, metavar="NEED", help="What the storage must do; see docs/guides/advise.md."
    ),
    evidence: list[str] = typer.Option(
        [],
        "--evidence",
        metavar="RUN|FILE",
        help="A run whose targets name designs, or a file that names figures or runs. Repeatable.",
    ),
    book: list[str] = typer.Option(
        [],
        "--book",
        metavar="BOOK",
        help="Price book, instead of the need's. Repeatable: each provider's designs use its own book.",
    ),
    design: list[str] = typer.Option(
        [], "--design", metavar="DESIGN", help="Consider only this design, shipped or a file. Repeatable."
    ),
    term: str = typer.Option("", "--term", help="on-demand, reserved-1y, reserved-3y or spot. Default: the cheapest."),
    out: Path = RUNS,
    whole: bool = typer.Option(False, "--all", help="Print all reasons, options and rejected designs."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
    output: Path | None = output_option("Write the answer as an HTML page, with charts of what would change it."),
    force: bool = FORCE,
) -> None:
    """Recommend a storage design for a need: what it costs, why, and what would change the choice.

    Every variant of every design is priced and checked. Evidence about a design replaces rules of thumb.
    Exit codes: 0 a design meets the need, 1 no design is proven to, 2 wrong input.

    Example: `assay advise need.yaml`, `assay advise need.yaml --all --evidence last --book aws-eu-west-1`
    """
    from assay.rooms.advice.commands.advise_text import print_advice
    from assay.rooms.advice.work.advise import advise
    from assay.rooms.advice.work.grid import BadValueError

    if sys.__stdout__ is None:
        raise AssayError("standard output is closed", "redirect it to a file or a pipe, such as > advice.txt")
    page = None if output is None else OutputFile(output, PAGE_MARK, force)
    check_one_printed(json=as_json, output=page)
    stated, source = read_need(need)
    if page is not None and page.path.exists() and page.path.samefile(need):
        raise AssayError(f"--output {output}: this is the need itself", "name another file")
    requested = _with_options(stated, design, term)
    base = need.absolute().parent
    books = need_books(requested, source, need, book)
    check_names(requested, books, source, need, bool(design))
    known = _evidence(evidence, out)
    try:
        advice = advise(requested, books, known, base)
    except BadValueError as error:
        place = next((place for place, each in enumerate(stated.candidates) if each is error.candidate), None)
        if place is None:
            raise
        inner = () if error.place is None else (error.place,)
        raise error.at(_line(source, need, "candidates", place, "set", error.key, *inner)) from None
    if page is not None:
        from assay.rooms.advice.work.outlook.picture import picture

        advice = advice.model_copy(update={"sensitivity": picture(advice, books, known, base)})
    if as_json:
        print_json(advice)
    elif page is None or not page.prints:
        print_advice(advice, whole)
    if page is not None:
        _write_page(advice, page)
    if advice.result in ("none", "unproven"):
        raise typer.Exit(EXIT_INCOMPLETE)


def _write_page(advice: "Advice", page: OutputFile) -> None:
    """Write the page, complete or not at all, and print its path on standard error."""
    import datetime as dt

    from assay.report.html import render_html
    from assay.rooms.advice.shown.page import build_page

    page.write(render_html(build_page(advice, dt.date.today())))
    if not page.prints:
        note(f"the page is {page.path}")


def need_books(need: "Need", source: "YamlSource", path: Path, refs: list[str]) -> "tuple[PriceBook, ...]":
    """Return the price books of the command line, else of the need; relative paths in a need start at its folder."""
    from assay.money.books.books import load_book

    if refs:
        return tuple(load_book(name) for name in refs)
    if need.book is None and not need.books:
        return _default_books(need)
    named: list[tuple[str, tuple[str | int, ...]]] = [
        (name, ("books", place)) for place, name in enumerate(need.books)
    ] or [(need.book or "", ("book",))]
    found = []
    for name, key in named:
        with _with_line(source, path, *key):
            found.append(load_book(name, path.absolute().parent))
    names = [book.book for book in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        where = _line(source, path, "books")
        raise AssayError(f"{where}: the price book {twice} is named twice", "name each once")
    return tuple(found)


def _default_books(need: "Need") -> "tuple[PriceBook, ...]":
    """Return the books for a need that names none: one of each provider, or all that fit its providers and regions."""
    from assay.money.books.books import book_names, load_book
    from assay.rooms.advice.model.need import DEFAULT_BOOKS

    requested = need.where
    names = [*DEFAULT_BOOKS, *(name for name in book_names() if requested.regions and name not in DEFAULT_BOOKS)]
    found = []
    for book in map(load_book, names):
        there = not requested.regions or book.provider == "own" or book.region in requested.regions
        if there and not book.historic and (not requested.providers or book.provider in requested.providers):
            found.append(book)
    return tuple(found) or tuple(map(load_book, DEFAULT_BOOKS))


def read_need(path: Path) -> "tuple[Need, YamlSource]":
    """Return the need in a file, and the source with the lines of its values."""
    from assay.model.user_files import read_user_file
    from assay.model.user_text import MAX_FILE_BYTES
    from assay.model.yaml_files import read_with_problems
    from assay.rooms.advice.model.need import Need

    data = read_user_file(path, f"cannot read the need {path}", f"give a file as {GUIDE} describes it", MAX_FILE_BYTES)
    found, source = read_with_problems(Need, data, GUIDE, "need")
    if found is None:
        first = source.problems[0]
        raise AssayError(f"{path}:{first.line}: {first.message}", first.hint)
    for key in SIZES:
        written = source.data
        for part in key:
            written = written.get(part) if isinstance(written, dict) else None
        if isinstance(written, int) and written:
            message = f"{path}:{source.position(key)[0]}: {'.'.join(key)}: {written} has no unit"
            raise AssayError(message, f"write {written}TB, {written}GiB or {written}B")
    return found, source


def _with_options(need: "Need", designs: list[str], term: str) -> "Need":
    from assay.model.money.amount import TERMS
    from assay.rooms.advice.model.need import CandidateDesign

    changes: dict[str, object] = {}
    if term and term not in TERMS:
        raise AssayError(f"--term: unknown term {display_value(term)}", choices_hint(term, TERMS))
    if designs:
        # A design that the need names, too, keeps the parameters stated there.
        known = {candidate.design: candidate for candidate in need.candidates}
        changes["candidates"] = tuple(known.get(name, CandidateDesign(design=name)) for name in designs)
    return need.model_copy(update={**changes, **({"term": term} if term else {})})


def check_names(
    need: "Need", books: "tuple[PriceBook, ...]", source: "YamlSource", path: Path, designs_replaced: bool
) -> None:
    """Raise an error, with the line of the need, if something that the need names does not exist."""
    from assay.money.cost.catalog import catalog
    from assay.money.cost.designs import load_template
    from assay.rooms.advice.work.checks import check_currency
    from assay.rooms.advice.work.market import market_of

    with _with_line(source, path, "books"):
        market = market_of(need, books)
    with _with_line(source, path, "budget"):
        check_currency(need, market.currency)
    if isinstance(need.client, str):
        with _with_line(source, path, "client"):
            catalog().instance(need.client)
    for place, candidate in enumerate(need.candidates):
        with nullcontext() if designs_replaced else _with_line(source, path, "candidates", place):
            template = load_template(candidate.design, path.absolute().parent)
            for key in candidate.set:
                if key not in template.parameters:
                    template.build({key: None})


@contextmanager
def _with_line(source: "YamlSource", path: Path, *key: str | int) -> Iterator[None]:
    """Add file and line of a key of the need to errors."""
    try:
        yield
    except AssayError as error:
        raise error.at(_line(source, path, *key)) from None


def _line(source: "YamlSource", path: Path, *key: str | int) -> str:
    return f"{path}:{source.position(key)[0]}"


def _evidence(refs: list[str], runs: Path) -> "tuple[DesignEvidence, ...]":
    """Return published evidence and that of the runs and files named; note how many results are left out, and why."""
    from assay.rooms.advice.commands.evidence import gather_evidence
    from assay.rooms.advice.work.published_evidence import published_evidence

    found = [*published_evidence()]
    for ref in refs:
        gathered = gather_evidence(ref, runs)
        found += gathered.evidence
        count = len(gathered.evidence)
        note(f"{ref}: {count} {'figure' if count == 1 else 'figures'} of evidence")
        for why, number in sorted(gathered.left_out.items()):
            note(f"{ref}: {number} {'result' if number == 1 else 'results'} left out: {why}")
    return tuple(found)
