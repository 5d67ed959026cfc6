"""`assay prices`."""

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from assay.model.base import EXIT_INCOMPLETE, EXIT_USAGE, AssayError
from assay.model.units import choices_hint
from assay.terminal.command_group import group
from assay.terminal.output import as_path, note, print_json, print_line, print_problem, print_table
from assay.terminal.output_file import FORCE, OutputFile, check_one_printed, never_marked, output_option

if TYPE_CHECKING:
    from assay.model.money.price import PriceBook, PriceRow
    from assay.model.source import Problem

app = group()

MAX_TABLE_BYTES = 4 << 20
"""Size of a table to import at most; the book of a larger table would itself be too large to read."""
OUTPUT = output_option("File for the book. Default: NAME.yaml in this directory.")


@app.callback()
def command() -> None:
    """Show, check and renew price books: dated prices of one provider and region, each with its source.

    Commands that need prices take the name of a book that comes with Assay, or a file of your own.

    Example: `assay prices list`, `assay prices show aws-us-east-1 --dimension volume-capacity`
    """


@app.command(name="list")
def list_books(as_json: bool = typer.Option(False, "--json", help="Print JSON.")) -> None:
    """List the price books that come with Assay; those with old prices are marked.

    Example: `assay prices list`
    """
    from assay.money.books.books import book_names, load_book

    facts = [_facts(load_book(name)) for name in book_names()]
    if as_json:
        print_json(facts)
        return
    columns = ("book", "provider", "region", "date", "age in days", "rows", "currency", "")
    rows = [
        (
            *(str(fact[key]) for key in ("book", "provider", "region", "date", "age_days", "rows", "currency")),
            _mark(fact),
        )
        for fact in facts
    ]
    print_table(columns, rows, right=("age in days", "rows"))


def _facts(book: "PriceBook") -> dict[str, Any]:
    today = dt.date.today()
    return {
        "book": book.book,
        "provider": book.provider,
        "region": book.region,
        "date": str(book.date),
        "age_days": book.age_days(today),
        "rows": len(book.rows),
        "currency": book.currency,
        "hours_per_month": str(book.hours_per_month),
        "historic": book.historic,
        "stale_rows": len(book.stale_rows(today)),
    }


def _mark(fact: dict[str, Any]) -> str:
    from assay.model.money.price import STALE_DAYS

    if fact["historic"]:
        return "historic"
    return f"STALE: {fact['stale_rows']} rows are older than {STALE_DAYS} days" if fact["stale_rows"] else ""


@app.command()
def show(
    ref: str = typer.Argument(..., metavar="BOOK", help="A book that comes with Assay, or a file."),
    dimension: str = typer.Option(
        "", "--dimension", metavar="NAME", help="Only prices of this dimension, such as instance."
    ),
    item: str = typer.Option("", "--item", metavar="PATTERN", help="Only these items, such as 'm5.*' or gp3."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Show the prices of a book with unit, term, date and source.

    Example: `assay prices show aws-us-east-1 --item 'gp*'`
    """
    from fnmatch import fnmatchcase

    from assay.cli.money.books import warn_stale
    from assay.model.money.price import DIMENSIONS
    from assay.money.books.ages import dates_text
    from assay.money.books.books import load_book

    book = load_book(ref)
    if dimension and dimension not in DIMENSIONS:
        raise AssayError(f"there is no dimension `{dimension}`", choices_hint(dimension, DIMENSIONS))
    rows = [
        row
        for row in book.rows
        if dimension in ("", row.dimension) and (not item or fnmatchcase(row.item.lower(), item.lower()))
    ]
    if not rows:
        raise AssayError(f"{book.book} has no such price", f"`assay prices show {ref}` shows all")
    warn_stale(book, rows)
    if as_json:
        priced = [{**row.model_dump(mode="json"), "date": str(book.date_of(row))} for row in rows]
        print_json({**_facts(book), "about": book.about, "prices": priced})
        return
    print_line(
        f"{book.book}: {book.provider} {book.region}, {dates_text(book)}; a month has {book.hours_per_month} hours"
    )
    if book.about:
        print_line(book.about)
    columns = ("dimension", "item", "term", book.currency, "for each", "date", "source and note")
    print_table(columns, [_row(book, row) for row in rows], right=(book.currency,))


def _row(book: "PriceBook", row: "PriceRow") -> tuple[str, ...]:
    from assay.rooms.pricelists.work.refresh import price_text

    term = ", ".join(word for word in (row.term, row.payment or "") if word and word != "on-demand")
    unit = f"{row.unit} above {row.free:f}" if row.free else row.unit
    interrupted = f"; {row.interruptions * 100:f} % interrupted a month" if row.interruptions is not None else ""
    if row.interruptions_above is not None:
        interrupted = f"; more than {row.interruptions_above * 100:f} % interrupted a month"
    about = f"{row.source}{interrupted}{f'; note: {row.remarks}' if row.remarks else ''}"
    return row.dimension, row.item, term, price_text(row), unit, str(book.date_of(row)), about


@app.command()
def check(
    files: list[str] = typer.Argument(
        None, metavar="[BOOK]...", help="Files, or names of books of Assay; all of Assay's if left out."
    ),
    max_age: int = typer.Option(None, "--max-age", metavar="DAYS", min=0, help="Fail if a current price is older."),
) -> None:
    """Check price books, and list the prices that are older than 180 days.

    Each problem is one line `file:line: error: ...` with a hint below it; the exit code is then 2. Old prices are
    a problem only with `--max-age`.

    Example: `assay prices check`, `assay prices check own.yaml --max-age 180`
    """
    from assay.cli.money.books import warn_stale
    from assay.money.books.ages import dates_text
    from assay.money.books.books import book_names
    from assay.rooms.pricelists.commands.price_changes import print_ages

    wrong = False
    books: list[tuple[str, PriceBook]] = []
    for ref in files or book_names():
        try:
            book, problems = _read_book(ref)
        except AssayError as error:
            print_line(f"error: {error.message}", err=True)
            print_line(f"hint: {error.hint}", err=True)
            wrong = True
            continue
        for problem in problems:
            print_problem(problem, ref)
        wrong = wrong or bool(problems)
        if book is not None and not problems:
            books.append((ref, book))
    too_old = False
    for ref, book in books:
        dates = dates_text(book)
        oldest = "the oldest " if " to " in dates else ""
        age = "historic" if book.historic else f"{oldest}{book.age_days(dt.date.today())} days old"
        old = _older(book, max_age)
        verdict = "too old" if old else "ok"
        print_line(f"{verdict}: {ref}: {len(book.rows)} rows in {book.currency} of {dates}, {age}")
        print_ages(book)
        if files:
            warn_stale(book)
        if old:
            note(f"error: {ref}: {old} of {len(book.rows)} prices are older than {max_age} days")
        too_old = too_old or bool(old)
    if wrong or too_old:
        raise typer.Exit(EXIT_USAGE if wrong else EXIT_INCOMPLETE)


def _read_book(ref: str) -> "tuple[PriceBook | None, list[Problem]]":
    from assay.model.money.price import PriceBook
    from assay.model.source import FieldFault
    from assay.model.user_files import read_user_file
    from assay.model.user_text import MAX_FILE_BYTES
    from assay.model.yaml_files import read_with_problems
    from assay.money.books.books import BOOKS, GUIDE, WHAT, book_names
    from assay.rooms.pricelists.work.book_yaml import LATE_HINT

    if ref in book_names():
        data = (BOOKS / f"{ref}.yaml").read_bytes()
    else:
        data = read_user_file(ref, f"cannot read the price book {ref}", "give the path of a price book", MAX_FILE_BYTES)
    book, source = read_with_problems(PriceBook, data, GUIDE, WHAT)
    problems = list(source.problems)
    if book is not None:
        problems += [
            source.problem(FieldFault(path=where, message=f"{date} is in the future", hint=LATE_HINT))
            for where, date in book.future_dates(dt.date.today())
        ]
    return book, problems


def _older(book: "PriceBook", days: int | None) -> int:
    """Return how many rows of a current book are older than `days`; 0 for a historic book or without `days`."""
    if days is None or book.historic:
        return 0
    today = dt.date.today()
    return sum((today - book.date_of(row)).days > days for row in book.rows)


@app.command(name="import")
def import_table(
    table: Path = typer.Argument(
        ..., parser=as_path, metavar="CSV", help="The table; its first line names the columns."
    ),
    name: str = typer.Option(..., "--book", metavar="NAME", help="Name of the book."),
    provider: str = typer.Option(..., "--provider", metavar="NAME", help="Provider of these prices."),
    region: str = typer.Option(..., "--region", metavar="NAME", help="Region of these prices."),
    date: str = typer.Option(..., "--date", metavar="DATE", help="Date of these prices, such as 2026-01-31."),
    currency: str = typer.Option(..., "--currency", metavar="CODE", help="Currency, such as USD or EUR."),
    hours: str = typer.Option(..., "--hours", metavar="HOURS", help="Hours in a month, such as 730."),
    output: Path = OUTPUT,
    force: bool = FORCE,
) -> None:
    """Convert a table to a price book.

    Columns: dimension, item, unit, price; and, if needed, up_to, free, term, payment, upfront, interruptions, source,
    date, currency, note.

    Example: `assay prices import offer.csv --book ours --provider acme --region bern --date 2026-11-01
    --currency CHF --hours 730`
    """
    from assay.model.user_files import read_user_file
    from assay.rooms.pricelists.work.book_yaml import book_text
    from assay.rooms.pricelists.work.csv_import import import_csv

    file = _destination(output, name, force)
    data = read_user_file(table, f"cannot read {table}", "give a CSV file", MAX_TABLE_BYTES)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise AssayError(f"{table}:{line}: not UTF-8 text", "save the table as CSV in UTF-8") from None
    head = {"book": name, "provider": provider, "region": region, "date": date, "currency": currency}
    book, problems = import_csv(text, table.name, {**head, "hours_per_month": hours}, dt.date.today())
    if book is None:
        for problem in problems:
            print_problem(problem, str(table))
        raise typer.Exit(EXIT_USAGE)
    file.write(book_text(book, dt.date.today()))
    if not file.prints:
        print_line(f"{file.path}: {len(book.rows)} rows in {book.currency} of {book.date}")


@app.command()
def refresh(
    ref: str = typer.Argument(..., metavar="BOOK", help="A book that comes with Assay, or a file."),
    sources: list[str] = typer.Option(
        [],
        "--from",
        metavar="URL|FILE",
        help="A price list of the provider: CSV or JSON of AWS, pages of JSON of others. Default: the current lists.",
    ),
    fetched_on: str = typer.Option(
        "", "--read-on", metavar="DATE", help="Date on which files without a date in them were fetched."
    ),
    output: Path = OUTPUT,
    force: bool = FORCE,
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Renew the prices of a book from the public price lists of AWS, Azure or Google Cloud; the result is a new file.

    Rows that are not in the lists keep their price and date, and are listed. Google's list needs an API key in the
    environment variable GOOGLE_API_KEY, or copies of its pages: `--from FILE`.

    Example: `assay prices refresh aws-us-east-1 -o aws-now.yaml`, `assay prices refresh mine.yaml --from index.csv`
    """
    from assay.money.books.books import load_book
    from assay.rooms.pricelists.commands.price_changes import changes_data, print_changes
    from assay.rooms.pricelists.commands.prices_fetch import read_lists
    from assay.rooms.pricelists.work.book_yaml import book_text
    from assay.rooms.pricelists.work.refresh import needed_urls, product_filter, provider_of
    from assay.rooms.pricelists.work.refresh import refresh as renew

    book = load_book(ref)
    provider, day = provider_of(book), _day(fetched_on)
    file = _destination(output, book.book, force)
    check_one_printed(json=as_json, output=file)
    lists = sources or needed_urls(book)
    found = renew(
        book, read_lists(provider, lists, book, product_filter(book), allow_missing=not sources, fetched_on=day), day
    )
    file.write(book_text(found.book, dt.date.today()))
    if as_json:
        print_json(changes_data(found) | {"file": str(file.path)})
    elif not file.prints:
        print_changes(found, file.path)


def _day(written: str) -> dt.date | None:
    """Return the date of `--read-on`; None if it is empty."""
    if not written:
        return None
    try:
        day = dt.date.fromisoformat(written)
    except ValueError:
        raise AssayError(f"--read-on: {written!r} is not a date", "write it as 2026-01-31") from None
    if day > dt.date.today():
        raise AssayError(f"--read-on: {day} is in the future", "write the date on which the files were fetched")
    return day


def _destination(output: Path | None, name: str, force: bool) -> OutputFile:
    """Return the output file of a book; raise an error before anything is fetched if it may not be written."""
    import re

    from assay.money.books.books import BOOKS

    if output is None and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise AssayError(f"{name!r} cannot be the name of a file", "name the file with --output")
    path = output or Path(f"{name}.yaml")
    if path.resolve().is_relative_to(BOOKS.resolve()):
        raise AssayError(f"{path} is among the books that come with Assay", "choose another place with --output")
    return OutputFile(path, never_marked, force)
