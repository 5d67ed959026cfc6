"""Look up the prices that a study names."""

import contextlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from assay.model.base import AssayError, LineError
from assay.model.money.amount import Payment, Term
from assay.model.money.design import Design
from assay.model.money.price import Bill, PriceBook, one_currency
from assay.model.money.priced_designs import FrozenPrices, PricedDesign
from assay.model.money.study_prices import StudyDesign, StudyPrices
from assay.model.money.use import DesignChoice, Use
from assay.model.quoting import FileOrigin, hide_content
from assay.model.source import FieldFault, read_source
from assay.model.study.study import Study
from assay.model.units import choices_hint, display_value
from assay.model.user_files import UnreadableError, path_kind, read_user_file
from assay.model.user_text import MAX_FILE_BYTES

if TYPE_CHECKING:
    pass

SECTION = "prices"
_DESIGN_KEYS = (*Design.model_fields, "parameters")


def find_prices(
    study: Study, base: Path, used: Collection[str] | None = None
) -> tuple[FrozenPrices | None, list[FieldFault]]:
    """Return the designs of a study's targets with their prices, or their faults.

    Args:
        study: The study.
        base: Folder of its file, where relative file names start.
        used: Targets that have a case; None: all.

    Returns:
        The prices, None without `prices` in the study or with faults; and the faults.
    """
    if study.prices is None:
        return None, []
    has_commands = any(workload.command is not None for workload in study.workloads.values())
    prices, faults = _look_up(study.prices, base, with_egress=has_commands)
    for name in study.prices.designs if used is not None else ():
        if name in study.targets and name not in (used or ()):
            message = "no workload uses this target: its design would cost money without a measurement"
            hint = "leave it out of `designs`, or let a workload use the target"
            faults.append(FieldFault(path=(SECTION, "designs", name), message=message, hint=hint))
    return (None if faults else prices), faults


def prices_of_targets(prices: FrozenPrices | None, used: Collection[str]) -> FrozenPrices | None:
    """Return the prices with the designs of the targets in `used` only."""
    if prices is None:
        return None
    return prices.model_copy(update={"designs": {key: item for key, item in prices.designs.items() if key in used}})


def remaining_price_faults(data: Any, base: Path) -> list[FieldFault]:
    """Return the faults in the prices of a study that has other problems, without consequences of those.

    Args:
        data: The study as it is written.
        base: Folder of its file, where relative file names start.
    """
    section = data.get(SECTION) if isinstance(data, dict) else None
    with contextlib.suppress(ValidationError):
        return _look_up(StudyPrices.model_validate(section), base)[1]
    try:
        # File names can be looked up even if another key of the section is wrong.
        designs = {name: {"design": item["design"]} for name, item in section["designs"].items()}  # type: ignore[index]
        bare = StudyPrices.model_validate({"book": section["book"], "designs": designs})  # type: ignore[index]
    except (ValidationError, LookupError, TypeError, AttributeError):
        return []
    return [fault for fault in _look_up(bare, base)[1] if fault.path[-1] in ("book", "design")]


def _look_up(
    wanted: StudyPrices, base: Path, with_egress: bool = False
) -> tuple[FrozenPrices | None, list[FieldFault]]:
    from assay.money.books.books import load_book
    from assay.money.cost.bill import hosts_bill
    from assay.money.cost.stored_prices import freeze, unpriced_items

    book, faults, found = None, [], {}
    try:
        _check_name(wanted.book, base)
        book = load_book(wanted.book, base)
    except AssayError as error:
        faults.append(_fault(error, SECTION, "book"))
    for target, item in wanted.designs.items():
        try:
            found[target] = _design(target, item, wanted, book, base)
        except _FaultError as error:
            faults.append(error.fault)
    hosts = hosts_bill(wanted.hosts, wanted.network)
    if book is not None:
        missing = unpriced_items(hosts, book, wanted.term, wanted.payment, wanted.use)
        keys = {name: "network" if name in wanted.network else "hosts" for name in missing}
        faults += [_fault(error, SECTION, keys[name], name) for name, error in missing.items()]
    if faults or book is None:
        return None, faults
    return freeze(found, book, wanted.term, wanted.payment, wanted.use, hosts, with_egress), []


class _FaultError(Exception):
    def __init__(self, fault: FieldFault) -> None:
        super().__init__(fault.message)
        self.fault = fault


@contextlib.contextmanager
def _at(*path: str) -> Iterator[None]:
    try:
        yield
    except AssayError as error:
        raise _FaultError(_fault(error, *path)) from error


def _design(target: str, item: StudyDesign, wanted: StudyPrices, book: PriceBook | None, base: Path) -> PricedDesign:
    """Return the design of a target, priced if there is a book.

    Raises:
        _FaultError: The design is wrong, or cannot be priced.
    """
    from assay.money.cost.designs import design_names, load_template
    from assay.money.cost.stored_prices import priced_design

    at = (SECTION, "designs", target)
    with _at(*at, "design"):
        _check_name(item.design, base)
        if item.design not in design_names():
            _check_keys(base / item.design, item.design, base)
        template = load_template(item.design, base)
    with _at(*at, "set"):
        design = template.build(item.set)
        plain = priced_design(item.choice, design, Use())
    if book is None:
        return plain
    error = _unpriced(item.choice, design, book, wanted.term, wanted.payment, wanted.use)
    if error is not None:
        raise _FaultError(_fault(error, *_cause(item.choice, design, book, wanted, at)))
    return priced_design(item.choice, design, wanted.use)


def _unpriced(
    chosen: DesignChoice, design: Design, book: PriceBook, term: Term, payment: Payment | None, use: Use
) -> AssayError | None:
    """Return why the design cannot be priced on these terms; None if it can."""
    from assay.money.cost.stored_prices import design_cost, freeze, priced_design

    try:
        design_cost(freeze({"": priced_design(chosen, design, use)}, book, term, payment, use), "")
    except AssayError as error:
        return error
    return None


def _cause(
    chosen: DesignChoice, design: Design, book: PriceBook, wanted: StudyPrices, at: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the key of the study that is to blame if a design cannot be priced: without it, the design could be."""

    def fails(term: Term = "on-demand", payment: Payment | None = None, **use: Any) -> bool:
        return _unpriced(chosen, design, book, term, payment, Use().model_copy(update=use)) is not None

    term, payment = wanted.term, wanted.payment
    if fails():
        return at
    if fails(term, payment):
        return (SECTION, "payment") if payment is not None and not fails(term) else (SECTION, "term")
    stated = {name: value for name, value in wanted.use if name in wanted.use.model_fields_set}
    # `egress_way` costs nothing by itself: it is to blame if the egress could be priced by another way.
    way = {"egress_way": stated.pop("egress_way")} if "egress_way" in stated else {}
    for name, value in stated.items():
        if fails(term, payment, **way, **{name: value}):
            named = way and not fails(term, payment, **{name: value})
            return (SECTION, "use", "egress_way" if named else name)
    return (SECTION, "use", "egress_way") if way and fails(term, payment, **way) else (SECTION, "use")


def current_book(frozen: FrozenPrices, written: str) -> PriceBook:
    """Return the price book that `--prices today[=BOOK]` means.

    Without a name it is the newest shipped current book of the same provider and region.

    Raises:
        AssayError: The option is written differently, there is no such book, or it is in another currency.
    """
    from assay.money.books.books import book_names, load_book

    word, _, name = written.partition("=")
    if word != "today" or written == "today=":
        raise AssayError(
            f"--prices {display_value(written)} is not valid", "write --prices today, or --prices today=BOOK"
        )
    old = frozen.book
    if name:
        _check_name(name, Path())
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


def unpriced_lines(prices: FrozenPrices, book: PriceBook) -> dict[str, list[str]]:
    """Return target -> messages about lines of its bill that `book` has no price for; without priced targets."""
    from assay.money.cost.cost import price_bill

    found: dict[str, dict[str, None]] = {}
    for target, item in prices.designs.items():
        for line in item.bill.lines:
            try:
                price_bill(Bill(lines=(line,)), book, prices.term, prices.payment, prices.use.duty)
            except AssayError as error:
                found.setdefault(target, {})[error.message] = None
    return {target: list(lines) for target, lines in found.items()}


def _check_name(ref: str, base: Path) -> None:
    """Raise an error if the name is too long for a file."""
    try:
        path_kind(base / ref)
    except UnreadableError as error:
        if not error.unnamable:
            raise
        raise AssayError(f"{display_value(ref)}: file name too long", error.hint) from None


def _check_keys(path: Path, file: str, base: Path) -> None:
    """Raise an error about the first unknown key of a design file, before errors that follow from it."""
    try:
        data = read_user_file(path, file, "", MAX_FILE_BYTES)
        source = read_source(data)
    except AssayError:
        # Loading the design raises the error with its reason.
        return
    if source.problems or not isinstance(source.data, dict):
        return
    for key in source.data:
        if key not in _DESIGN_KEYS:
            line, _ = source.key_position((key,))
            with hide_content(file, "a design", f"assay price {file}", FileOrigin(base), path, data):
                raise LineError(file, line, f"unknown key `{key}`", choices_hint(key, _DESIGN_KEYS))


def _fault(error: AssayError, *path: str) -> FieldFault:
    return FieldFault(path=path, message=error.message, hint=error.hint or "see docs/guides/cost-in-a-report.md")
