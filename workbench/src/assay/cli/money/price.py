"""`assay price`."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import typer

from assay.model.base import AssayError
from assay.model.units import choices_hint, display_value
from assay.model.user_files import path_kind

if TYPE_CHECKING:
    from assay.money.cost.metrics import PricedOption


def command(
    designs: list[str] = typer.Argument(
        None, metavar="[DESIGN]...", help="Shipped designs or files; values may follow: nfs-gp3:volumes=8,iops=16000."
    ),
    fixed: list[str] = typer.Option([], "--set", metavar="KEY=VALUE", help="Value of a parameter. Repeatable."),
    varied: list[str] = typer.Option(
        [], "--vary", metavar="KEY=A,B", help="Several values, each of which is a design."
    ),
    books: list[str] = typer.Option(
        [], "--book", metavar="BOOK", help="Price book: a name or a file. Default: the design's own, or aws-us-east-1."
    ),
    term: str = typer.Option("on-demand", "--term", help="on-demand, reserved-1y, reserved-3y or spot."),
    payment: str = typer.Option("", "--payment", help="no-upfront, partial-upfront or all-upfront."),
    months: int = typer.Option(0, "--months", help="Print the total paid after this many months."),
    capacity: str = typer.Option(
        "", "--capacity", metavar="SIZE", help="Size each design for this usable capacity, such as 40TB."
    ),
    use: list[str] = typer.Option([], "--use", metavar="KEY=VALUE", help="Usage of the designs, such as duty=25%."),
    bill: bool = typer.Option(False, "--bill", help="Print the bill of materials with prices and sources."),
    preset: str = typer.Option("", "--preset", help="Compute the tables of a paper instead."),
    listed: bool = typer.Option(False, "--list", help="Print the shipped designs and presets."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
    as_csv: bool = typer.Option(False, "--csv", help="Print CSV."),
) -> None:
    """Price storage designs: by the hour, month and year, by TB, GB/s, IOPS and job.

    Capacity and rates are the limits stated in the catalogue. Rates that it lacks, such as those of disks inside
    instances, limit nothing and are listed. Exit codes: 0 priced, 2 wrong input, 3 the book has no such price.

    Example: `assay price nfs-volumes --set capacity=24TB --vary volume=gp3,st1 --months 12`,
    `assay price nfs-gp3:volumes=8 efs-elastic --capacity 40TB --use retrieved=5TB --use duty=25%`,
    `assay price --preset nfs-aws-2016 --csv`
    """
    if as_json and as_csv:
        raise AssayError("--json and --csv exclude each other", "leave one out")
    if listed:
        _list(as_json)
    elif preset:
        if designs or fixed or varied or use or books or capacity:
            raise AssayError("a preset has its own designs, book and use", "leave all but --json or --csv out")
        from assay.cli.money.price_preset import show_preset

        show_preset(preset, as_json, as_csv)
    else:
        options = _options(designs or [], fixed, varied, capacity, _one_book(books), term, payment, use)
        _warn(options, use)
        _show(options, _checked_months(months), bill, as_json, as_csv, bool(capacity))


def _options(
    designs: list[str],
    fixed: list[str],
    varied: list[str],
    capacity: str,
    book: str,
    term: str,
    payment: str,
    use: list[str],
) -> "list[PricedOption]":
    from assay.cli.money.price_choose import combine_designs, parse_use
    from assay.cli.money.price_sizing import parse_capacity, size_designs
    from assay.model.money.amount import TERM_MONTHS, TERMS, Payment
    from assay.model.money.price import one_currency
    from assay.money.books.books import load_book
    from assay.money.cost.metrics import price_design

    if not designs:
        raise AssayError("no design is named", "`assay price --list` prints the shipped ones")
    chosen_term: Any = _checked_word("--term", term, TERMS)
    chosen_payment: Any = _checked_word("--payment", payment, get_args(Payment)) if payment else None
    if chosen_payment and chosen_term not in TERM_MONTHS:
        raise AssayError(f"--payment belongs to reservations, not to {chosen_term}", "add --term reserved-1y")
    used = parse_use(use)
    found = combine_designs(designs, fixed, varied)
    if capacity:
        found = size_designs(found, parse_capacity(capacity))
    places = [_book_place(chosen.design, book, design.book) for chosen, design in found]
    books = {place: load_book(*place) for place in dict.fromkeys(places)}
    one_currency(list(books.values()))
    return [
        price_design(chosen, design, books[place], chosen_term, chosen_payment, used)
        for (chosen, design), place in zip(found, places, strict=True)
    ]


def _one_book(written: list[str]) -> str:
    if len(written) > 1:
        raise AssayError("--book is given twice", "give it once: it applies to all designs")
    if written and not written[0].strip():
        raise AssayError("--book: the name is empty", "`assay prices list` prints the books; or give a file")
    return written[0] if written else ""


def _book_place(ref: str, book: str, own: str | None) -> tuple[str, Path | None]:
    """Return name and folder of the price book that the command or the design names.

    A design in a file may name a book in its own folder; the folder is None for others.
    """
    from assay.model.money.price import DEFAULT_BOOK

    if book or not own:
        return book or DEFAULT_BOOK, None
    folder = Path(ref).parent
    return own, folder if path_kind(ref) == "file" and path_kind(folder / own) else None


def _checked_word(option: str, written: str, words: Iterable[str]) -> str:
    if written not in words:
        raise AssayError(f"{option}: {display_value(written)} is unknown", choices_hint(written, words))
    return written


def _checked_months(months: int) -> int | None:
    if not 0 <= months <= 1200:
        raise AssayError(f"--months {months}: is not from 1 to 1200", "write whole months, such as 12")
    return months or None


def _warn(options: "list[PricedOption]", use: list[str]) -> None:
    """Warn about old prices among the rows that were used, and note `--use` values that change nothing."""
    from assay.cli.money.books import warn_all_stale
    from assay.cli.money.price_choose import unused_use_notes
    from assay.terminal.output import note

    for text in unused_use_notes(options, use):
        note(f"note: {text}")
    books = {option.book.book: option.book for option in options}
    used = {
        name: tuple(dict.fromkeys(row for option in options if option.book.book == name for row in option.cost.rows))
        for name in books
    }
    warn_all_stale({name: (book, used[name]) for name, book in books.items()})


def _show(
    options: "list[PricedOption]", months: int | None, bill: bool, as_json: bool, as_csv: bool, sized: bool
) -> None:
    if as_json:
        from assay.cli.money.price_data import prices_document
        from assay.terminal.output import print_json

        print_json(prices_document(options, months, sized))
    elif as_csv:
        from assay.cli.money.price_data import print_csv

        print_csv(options, months)
    else:
        from assay.cli.money.price_text import print_options

        print_options(options, months, bill, sized)


def _list(as_json: bool) -> None:
    from assay.money.cost.designs import design_names, load_template
    from assay.money.papers.presets import load_preset, preset_names
    from assay.terminal.output import print_json, print_table

    templates = [load_template(name) for name in design_names()]
    presets = [load_preset(name) for name in preset_names()]
    if as_json:
        designs = [
            {
                "design": each.name,
                "provider": each.source.data.get("provider"),
                "about": each.source.data["about"],
                "parameters": each.parameters,
            }
            for each in templates
        ]
        print_json({"designs": designs, "presets": [{"preset": each.preset, "about": each.about} for each in presets]})
        return
    rows = [
        [each.name, each.source.data.get("provider") or "any", each.source.data["about"], ", ".join(each.parameters)]
        for each in templates
    ]
    print_table(["design", "prices of", "what it is", "parameters"], rows)
    print_table(["preset", "what it computes"], [[each.preset, each.about] for each in presets])
