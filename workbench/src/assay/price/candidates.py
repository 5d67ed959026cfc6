"""The variants of designs that a need is compared with: parameters, sizes and prices."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache, cached_property
from itertools import product
from pathlib import Path
from typing import Any

from assay.model.base import AssayError
from assay.model.design import S3, Design, DynamoDb, Efs, FsxLustre, Use
from assay.model.need import Candidate, Need
from assay.model.price import Bill, Book, Payment, Term
from assay.model.units import UnitError, format_size, parse_size, parse_throughput
from assay.price.bill import make_bill, volume_count
from assay.price.catalog import catalog
from assay.price.cost import Cost, price_bill
from assay.price.designs import Template, load_template
from assay.price.limits import Limits, design_limits

SIZED = ("capacity", "stored")
"""Parameters that say how much a design stores; what the need asks for is tried besides their choices."""
GB = 10**9
Key = tuple[tuple[str, object], ...]


@dataclass(frozen=True, slots=True)
class Offer:
    """A price of a variant.

    Attributes:
        paid: All that is paid in the months of the need.
    """

    term: Term
    payment: Payment | None
    cost: Cost
    paid: Decimal


@dataclass(frozen=True, slots=True)
class Variant:
    """A design with values, its limits and what it costs.

    Attributes:
        values: Of all parameters.
        shown: Those that tell it from the others.
        offers: On each allowed term; the cheapest first.
        key: By which evidence finds it.
        label: `nfs-volumes instance=m5.large capacity=5TB`.
    """

    template: str
    values: Mapping[str, Any]
    shown: Mapping[str, Any]
    design: Design
    limits: Limits
    offers: tuple[Offer, ...]
    key: Key
    label: str

    @property
    def best(self) -> Offer:
        """The cheapest."""
        return self.offers[0]


@dataclass
class Tried:
    """All variants of one design, and those that never became one.

    Attributes:
        impossible: What the catalogue says of those that cannot be had -> how many.
        unpriced: What the book lacks -> how many.
    """

    name: str
    about: str
    variants: list[Variant] = field(default_factory=list)
    impossible: Counter[str] = field(default_factory=Counter)
    unpriced: Counter[str] = field(default_factory=Counter)

    @property
    def count(self) -> int:
        """All of them."""
        return len(self.variants) + self.impossible.total() + self.unpriced.total()


def try_design(candidate: Candidate, need: Need, book: Book, base: Path | None = None) -> Tried:
    """Build and price every variant of a design.

    Args:
        candidate: The design and the values to try.
        need: What it is for.
        book: The prices.
        base: Where paths of designs start.

    Raises:
        AssayError: There is no such design or parameter.
    """
    template = load_template(candidate.design, base)
    pricer = Pricer(need, book)
    tried = Tried(template.name, str(template.source.data.get("about", "")))
    axes = _axes(template, candidate)
    named = [key for key, values in axes.items() if len(values) > 1 or key in candidate.set]
    for values in _points(template, axes, candidate, need):
        try:
            design = template.build(values)
            bill = make_bill(design, pricer.use(design))
            limits = design_limits(design)
        except AssayError as error:
            tried.impossible[error.message] += 1
            continue
        offers = pricer.offers(bill)
        if not offers:
            tried.unpriced[pricer.lacks(bill)] += 1
            continue
        shown = {key: values[key] for key in values if key in named or _is_sized(template, key)}
        key = key_of(template, values)
        label = " ".join([tried.name, *(f"{name}={value}" for name, value in shown.items())])
        tried.variants.append(Variant(tried.name, values, shown, design, limits, offers, key, label))
    return tried


def key_of(template: Template, values: Mapping[str, Any]) -> Key:
    """What two ways of writing the same variant share: all its values, sizes in bytes."""
    full = {key: values.get(key, parameter.value) for key, parameter in template.parameters.items()}
    return ("design", template.name), *((key, _plain(full[key])) for key in sorted(full))


def _plain(value: Any) -> object:
    if isinstance(value, str):
        return _meaning(value)
    return value if isinstance(value, int | float | bool | None) else str(value)


@cache
def _meaning(text: str) -> object:
    for parse in (parse_size, parse_throughput):
        try:
            return parse(text)
        except UnitError:
            continue
    return text


def _axes(template: Template, candidate: Candidate) -> dict[str, tuple[Any, ...]]:
    for key in candidate.set:
        if key not in template.parameters:
            template.build({key: None})
    axes = {}
    for key, parameter in template.parameters.items():
        given = candidate.set.get(key, parameter.choices or (parameter.value,))
        axes[key] = tuple(given) if isinstance(given, list | tuple) else (given,)
    return axes


def _is_sized(template: Template, key: str) -> bool:
    return key in SIZED and key in template.parameters


def _points(
    template: Template, axes: Mapping[str, Sequence[Any]], candidate: Candidate, need: Need
) -> Iterator[dict[str, Any]]:
    """Each combination, and with each the size that the need asks for unless the candidate says the size."""
    size = next((key for key in SIZED if key in axes and key not in candidate.set), None)
    others = [key for key in axes if key != size]
    for point in product(*(axes[key] for key in others)):
        values = dict(zip(others, point, strict=True))
        if size is None:
            yield values
            continue
        fitting = _sized(template, values, size, need.capacity)
        choices = [*axes[size], *([fitting] if fitting is not None else [])]
        seen = set()
        for choice in choices:
            plain = _plain(choice)
            if plain not in seen:
                seen.add(plain)
                yield {**values, size: choice}


def _sized(template: Template, values: Mapping[str, Any], key: str, wanted: int) -> str | None:
    """The least value of the parameter with which the design has `wanted` usable bytes, as it can be bought.

    Usable capacity is in proportion to the parameter, so that one known pair gives it.
    """
    for choice in (template.parameters[key].value, *template.parameters[key].choices):
        try:
            start = parse_size(choice)
            usable = design_limits(template.build({**values, key: choice})).usable
        except (AssayError, UnitError):
            continue
        if usable <= 0:
            return None
        least = -(-wanted * start // usable)
        try:
            return format_size(_sold(template.build({**values, key: format_size(least)}), least))
        except AssayError:
            return None
    return None


def _sold(design: Design, least: int) -> int:
    """The next size that can be bought: whole GB of each volume, or a step of the service."""
    service = design.service
    if isinstance(service, FsxLustre):
        kind = catalog().filesystem(service.type)
        # Other file systems have no steps.
        return int(kind.capacity_for(least)) if hasattr(kind, "capacity_for") else least
    counts = [volume_count(group.volumes) for group in design.servers if group.volumes is not None]
    step = GB * max(counts, default=0)
    return -(-least // step) * step if step else least


def use_of(need: Need, design: Design) -> Use:
    """What the need's traffic of a month means for a design: requests of one record each."""
    monthly, record = need.monthly, need.profile.record
    gets, puts = Decimal(-(-monthly.read // record)), Decimal(-(-monthly.written // record))
    reads, writes = gets, puts
    if isinstance(design.service, DynamoDb):
        kind = catalog().table("dynamodb")
        reads, writes = gets * int(kind.read_units(record)), puts * kind.write_units(record)
    return Use(
        duty=need.duty,
        egress=monthly.egress,
        gets=gets,
        puts=puts,
        retrieved=monthly.read,
        written=monthly.written,
        table_reads=reads,
        table_writes=writes,
        volume_requests=gets + puts,
    )


def paid_by_request(design: Design) -> bool:
    """Reading and writing cost money, so that the bill depends on how much of it there is."""
    service = design.service
    return (
        isinstance(service, S3)
        or (isinstance(service, DynamoDb) and service.mode == "on-demand")
        or (isinstance(service, Efs) and service.type == "efs-elastic")
    )


class Pricer:
    """Prices bills on all terms that a need allows; what the book has is looked up once."""

    def __init__(self, need: Need, book: Book) -> None:
        """Keep the need and the book."""
        self._need, self._book = need, book
        self._use: dict[bool, Use] = {}
        self._plain = {(row.dimension, row.item) for row in book.rows if row.term == "on-demand"}
        self._terms: dict[tuple[Term, Payment | None], set[str]] = {}
        for row in book.rows:
            if row.dimension == "instance":
                self._terms.setdefault((row.term, row.payment), set()).add(row.item)

    def use(self, design: Design) -> Use:
        """What the need's traffic means for a design; the same for all but tables."""
        table = isinstance(design.service, DynamoDb)
        if table not in self._use:
            self._use[table] = use_of(self._need, design)
        return self._use[table]

    def offers(self, bill: Bill) -> tuple[Offer, ...]:
        """The bill on each allowed term that the book has for all of it, the cheapest first."""
        if any((line.dimension, line.item) not in self._plain for line in bill.lines if line.dimension != "instance"):
            return ()
        instances = {line.item for line in bill.lines if line.dimension == "instance"}
        if not instances:
            cost = price_bill(bill, self._book, duty=self._need.duty)
            return (Offer("on-demand", None, cost, cost.paid(self._need.months)),)
        found = []
        for (term, payment), items in self._allowed.items():
            if instances <= items:
                cost = price_bill(bill, self._book, term, payment, self._need.duty)
                found.append(Offer(term, payment, cost, cost.paid(self._need.months)))
        return tuple(sorted(found, key=lambda offer: offer.paid))

    def lacks(self, bill: Bill) -> str:
        """What the book has no price of."""
        for line in bill.lines:
            term = self._need.term or "on-demand"
            if line.dimension != "instance" and (line.dimension, line.item) not in self._plain:
                return f"{line.dimension} {line.item}"
            if line.dimension == "instance" and not any(line.item in items for items in self._allowed.values()):
                return f"instance {line.item}" + (f", {term}" if term != "on-demand" else "")
        return "any one term of all its instances"

    @cached_property
    def _allowed(self) -> dict[tuple[Term, Payment | None], set[str]]:
        """Terms: the one asked for, or all but spot. A reservation is paid whole, so that a short need is dear on it.

        Source: seed 001, Choosing: no spot for servers.
        """
        asked = self._need.term
        return {
            key: items
            for key, items in self._terms.items()
            if (key[0] == asked if asked is not None else key[0] != "spot")
        }
