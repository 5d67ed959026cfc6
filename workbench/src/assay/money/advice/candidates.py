"""The variants of designs that a need is compared with: parameters, sizes and prices."""

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

from assay.model.base import AssayError
from assay.model.money.amount import Payment, Term
from assay.model.money.design import DURABILITIES, S3, Design, DynamoDb, Servers
from assay.model.money.need import Candidate, Need
from assay.model.money.price import Bill, Book
from assay.model.money.use import Use
from assay.model.money.volumes import ProvisionedVolume
from assay.money.advice.bought import bought_names
from assay.money.advice.points import SIZED, Given, axes_of, points_of
from assay.money.advice.traffic import sides_of, use_of
from assay.money.cost.bill import make_bill, volume_count
from assay.money.cost.catalog import catalog
from assay.money.cost.cost import Cost, price_bill
from assay.money.cost.designs import load_template
from assay.money.cost.limits import Limits, design_limits

Key = Hashable


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
        name: For labels.
        design: As a candidate names it.
        impossible: What the catalogue says of those that cannot be had -> how many.
        unpriced: What the book lacks -> how many.
        uncompared: Prices of requests that alone are lacking of variants that might do -> label of the first.
    """

    name: str
    about: str
    design: str = ""
    variants: list[Variant] = field(default_factory=list)
    impossible: Counter[str] = field(default_factory=Counter)
    unpriced: Counter[str] = field(default_factory=Counter)
    uncompared: dict[str, str] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """All of them."""
        return len(self.variants) + self.impossible.total() + self.unpriced.total()


def try_design(candidate: Candidate, need: Need, book: Book, base: Path | None = None, name: str = "") -> Tried:
    """Build and price every variant of a design.

    Args:
        candidate: The design and the values to try.
        need: What it is for.
        book: The prices.
        base: Where paths of designs start.
        name: For labels; empty: the design's.

    Raises:
        AssayError: There is no such design or parameter.
        BadValueError: With one of the candidate's values no variant can be built.
    """
    template = load_template(candidate.design, base)
    pricer = Pricer(need, book)
    tried = Tried(name or template.name, str(template.source.data.get("about", "")), candidate.design)
    axes = axes_of(template, candidate)
    given = Given(candidate, axes)
    named = {key for key, values in axes.items() if len(values) > 1 or key in candidate.set}
    named |= {*bought_names(template, candidate.set), *(key for key in SIZED if key in template.parameters)}
    known: set[Key] = set()
    for values, sized in points_of(template, axes, candidate, need):
        try:
            design = template.build(values)
            bill = make_bill(design, pricer.use(design))
            limits = design_limits(design)
        except AssayError as error:
            tried.impossible[error.message] += 1
            given.failed(values, error)
            continue
        given.built(values)
        key = key_of(design)
        if sized and key in known:
            continue
        known.add(key)
        telling = {key: values[key] for key in values if key in named and values[key] is not None}
        label = " ".join([tried.name, *(f"{name}={value}" for name, value in telling.items())])
        offers = pricer.offers(bill)
        if not offers:
            tried.unpriced[pricer.lacks(bill)] += 1
            lacking = pricer.lacks_requests_only(bill) if _suits(design, limits, need) else ""
            if lacking:
                tried.uncompared.setdefault(lacking, label)
            continue
        tried.variants.append(Variant(tried.name, values, telling, design, limits, offers, key, label))
    given.check()
    return tried


def _suits(design: Design, limits: Limits, need: Need) -> bool:
    """It has the access, capacity and durability that are needed, and is read at once unless the data are cold."""
    service = design.service
    if (
        isinstance(service, S3)
        and not need.profile.cold
        and catalog().object_class(service.storage_class).retrieval_seconds
    ):
        return False
    order = DURABILITIES.index
    durable = need.durability is None or order(design.durability) >= order(need.durability)
    return need.access in design.access and limits.usable >= need.capacity and durable


def key_of(design: Design) -> Key:
    """What two ways of writing the same thing share: all that is built, with numbers of volumes and what is included.

    Names, texts and sources say nothing about it.
    """
    servers = tuple(_resolved(group) for group in design.servers)
    return (
        design.family,
        design.served,
        design.copies,
        design.erasure,
        design.usable,
        design.overhead,
        servers,
        design.service,
        tuple(piece.model_copy(update={"source": ""}) for piece in design.hardware),
        design.link,
    )


def _resolved(group: Servers) -> Servers:
    volumes = group.volumes
    if volumes is None:
        return group
    changes: dict[str, Any] = {"count": volume_count(volumes)}
    kind = catalog().volume(volumes.type)
    if isinstance(kind, ProvisionedVolume):
        changes |= {"iops": volumes.iops or kind.iops_free, "throughput": volumes.throughput or kind.rate_free}
    if changes["count"] == 1 and volumes.layout in ("raid0", "lvm"):
        # One volume is no more than itself, however it is called.
        changes["layout"] = "single"
    return group.model_copy(update={"volumes": volumes.model_copy(update=changes)})


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
            self._use[table] = use_of(self._need, design, self._book.hours_per_month)
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

    def lacks_requests_only(self, bill: Bill) -> str:
        """The prices of requests and of bytes read that the book lacks, if it has all others; else empty."""
        found = []
        for line in bill.lines:
            if line.dimension == "instance":
                lacks = not any(line.item in items for items in self._allowed.values())
            else:
                lacks = (line.dimension, line.item) not in self._plain
            if lacks and not sides_of(line.dimension, line.item):
                return ""
            if lacks:
                found.append(f"{line.dimension} {line.item}")
        return ", ".join(found)

    @cached_property
    def _allowed(self) -> dict[tuple[Term, Payment | None], set[str]]:
        """Terms: the one asked for, or all but spot. A reservation is paid whole, so that a short need is dear on it.

        Source: BeeGFS-2016, Choosing: no spot for servers.
        """
        asked = self._need.term
        return {
            key: items
            for key, items in self._terms.items()
            if (key[0] == asked if asked is not None else key[0] != "spot")
        }
