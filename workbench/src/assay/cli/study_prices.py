"""The prices that a study names, looked up."""

from pathlib import Path

from assay.model.base import AssayError
from assay.model.price import Book
from assay.model.priced import FrozenPrices
from assay.model.source import Fault
from assay.model.study import Study


def find_prices(study: Study, base: Path) -> tuple[FrozenPrices | None, list[Fault]]:
    """The designs of a study's targets with their prices, or what is wrong with them.

    Args:
        study: The study.
        base: Folder of its file, where names of other files start.

    Returns:
        None without `prices` or with faults; and the faults.
    """
    if study.prices is None:
        return None, []
    from assay.price.book import load_book
    from assay.price.designs import load_template
    from assay.price.frozen import design_cost, freeze, priced_design

    wanted, at = study.prices, ("prices",)
    try:
        book = load_book(wanted.book, base)
    except AssayError as error:
        return None, [_fault(error, *at, "book")]
    found, faults = {}, []
    for target, item in wanted.designs.items():
        place: tuple[str, ...] = (*at, "designs", target, "design")
        try:
            template = load_template(item.design, base)
            place = (*at, "designs", target, "set")
            design = priced_design(item.chosen, template.build(item.set), wanted.use)
            place = (*at, "designs", target)
            one = freeze({target: design}, book, wanted.term, wanted.payment, wanted.use)
            design_cost(one, target)
            found[target] = design
        except AssayError as error:
            faults.append(_fault(error, *place))
    if faults:
        return None, faults
    return freeze(found, book, wanted.term, wanted.payment, wanted.use), []


def current_book(frozen: FrozenPrices, written: str) -> Book:
    """The book that `--prices today[=BOOK]` means.

    Without a name it is the newest shipped book of the present day, of the same provider and region.

    Raises:
        AssayError: It is written otherwise, there is no such book, or it is in another currency.
    """
    from assay.model.price import one_currency
    from assay.price.book import book_names, load_book

    word, _, name = written.partition("=")
    if word != "today" or written == "today=":
        raise AssayError(f"--prices {written} says nothing", "write --prices today, or --prices today=BOOK")
    old = frozen.book
    if name:
        book = load_book(name)
    else:
        books = [load_book(each) for each in book_names()]
        like = [each for each in books if (each.provider, each.region) == (old.provider, old.region)]
        if not (present := [each for each in like if not each.historic]):
            hint = "name a book: --prices today=BOOK; `assay prices list` shows them"
            raise AssayError(f"no shipped price book has today's prices of {old.provider}, {old.region}", hint)
        book = max(present, key=lambda each: each.date)
    one_currency([old, book])
    return book


def _fault(error: AssayError, *path: str) -> Fault:
    return Fault(path=path, message=error.message, hint=error.hint or "see docs/guides/cost-in-a-report.md")
