"""The cost of a variant on each term that a need allows, over the need's months, and its missing prices."""

from collections.abc import Container, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from assay.model.money.amount import EXACT, Payment, Term, exact_sum
from assay.model.money.design import S3, Design, DynamoDb
from assay.model.money.price import Bill, BillItem, PriceRow
from assay.model.money.use import Use
from assay.money.cost.bill import ONE, backup_item, book_item, first_upload, make_bill
from assay.money.cost.cost import ZERO, Charge, Cost, price_bill
from assay.money.cost.stored_prices import BY_USE
from assay.rooms.advice.model.need import Need
from assay.rooms.advice.work.market import Market, ProviderPrices
from assay.rooms.advice.work.migration import migration_cost
from assay.rooms.advice.work.traffic import (
    client_ports,
    cold_byte_share,
    people_key,
    requests_for,
    uploaded_bytes,
    use_of,
)

ASSUMED_HOURS = Decimal(1)
"""Hours of administration a month for each server that the user runs, where neither need nor design states any.

They rank designs and are in no total.
"""
ASSUMED_HOURS_SOURCE = (
    "a low end: 130 servers for each administrator at Facebook (datacenterknowledge.com, 2009-12-30), 10 to 50 "
    "elsewhere (Computerworld Australia, 2010-07-09)"
)
"""Source of `ASSUMED_HOURS`: 152 h of work a month / 130 servers are 1.2 h each."""
OPTIONAL_DIMENSIONS = BY_USE | {"administration", "support", "power", "rack"}
"""Dimensions that may lack a price: the storage itself is still priced without them."""
MAX_SPOT_MONTHS = 1
"""Most months for which spot is considered for scratch data if the need does not ask for it."""
MAX_INTERRUPTION_CHANCE = Decimal("0.5")
"""Probability of an interruption within the need's months above which spot is not considered."""


Part = tuple[str, str]
"""Dimension and item of a price."""


@dataclass(frozen=True, slots=True)
class TermOffer:
    """The cost of a variant on one term.

    Attributes:
        cost: Cost of all lines that have a price.
        total_cost: Total over the months of the need: whole commitments, support, tax and migration.
        factor: Factor on `cost` for support and tax.
        migration_cost: Part of the total that is paid for migration.
        present_value: Present value of the total; equals `total_cost` if the need has no discount.
        missing_prices: Items without a price, such as `object-requests s3-glacier/get`.
        missing_cost_max: Most that these cost in the months of the need; None: nothing comparable has a price.
        is_unpriced: Whether the storage itself has no price.
        assumed_work: Present value of administration that is not stated, which ranks variants and is in no total.
        client_cost: Cost of the instance that attached volumes are used on, on demand, which is in no total; infinite:
            the book has no price of it; 0 for other designs.
        interruption_chance: Probability that a spot instance is interrupted within the need's months; None: not stated.
    """

    term: Term
    payment: Payment | None
    cost: Cost
    total_cost: Decimal
    factor: Decimal = Decimal(1)
    migration_cost: Decimal = ZERO
    present_value: Decimal = ZERO
    missing_prices: tuple[str, ...] = ()
    missing_cost_max: Decimal | None = ZERO
    is_unpriced: bool = False
    assumed_work: Decimal = ZERO
    client_cost: Decimal = ZERO
    interruption_chance: Decimal | None = None

    @property
    def comparison_cost(self) -> Decimal:
        """Cost by which variants are compared: the present value, with administration that is not stated."""
        return EXACT.add(self.present_value, self.assumed_work)

    @property
    def upload_cost(self) -> Decimal:
        """Part of the total that is paid for the first upload."""
        lines = (charge.once for charge in self.cost.charges if charge.line.per == "once" and charge.line.years is None)
        return EXACT.multiply(exact_sum(lines), self.factor)


def assumed_hours(design: Design, need: Need) -> Decimal:
    """Return the hours of administration a month that are assumed, in proportion to the time that it is switched on.

    None are assumed where the need or the design states them.
    """
    is_stated = "own" in need.admin_hours or design.admin_hours or any(piece.admin_hours for piece in design.hardware)
    return Decimal(0) if is_stated else EXACT.multiply(ASSUMED_HOURS * design.run_servers, need.duty)


class Pricer:
    """Prices bills on all terms that a need allows; caches what the books have."""

    def __init__(self, need: Need, sold: ProviderPrices, market: Market) -> None:
        """Store the need and index the prices."""
        self._need, self._sold, self._market, self._book = need, sold, market, sold.book
        self._known: dict[Payment | None, dict[tuple[int, str], tuple[BillItem, Charge]]] = {}
        self._use: dict[tuple[bool, bool, Decimal, str | None, int], Use] = {}
        self._on_demand_items = {(row.dimension, row.item) for row in self._book.rows if row.term == "on-demand"}
        self._reservable = {
            (row.dimension, row.item)
            for row in self._book.rows
            if row.term != "on-demand" and row.dimension != "instance"
        }
        self._terms: dict[tuple[Term, Payment | None], set[Part]] = {}
        for row in self._book.rows:
            name = (row.dimension, row.item)
            if row.dimension == "instance" or name in self._reservable:
                self._terms.setdefault((row.term, row.payment), set()).add(name)

    def use(self, design: Design) -> Use:
        """Return the use of a design that follows from the need's traffic."""
        rare = cold_byte_share(design)
        provider = design.provider or self._sold.provider
        ports = client_ports(self._need, design)
        has_link = design.link is not None
        key = (isinstance(design.service, DynamoDb), has_link, rare, people_key(design, provider), ports)
        if key not in self._use:
            self._use[key] = use_of(self._need, design, self._book.hours_per_month, rare, provider)
        return self._use[key]

    def bill(self, design: Design) -> Bill:
        """Return the bill of a design: its parts, what the need's traffic adds, and the first upload.

        The instance that attached volumes are used on is not in it: it is a client, and no design is charged for those.

        Raises:
            AssayError: The catalogue does not have a part, or the capacity cannot be split evenly into volumes.
        """
        bill, size = make_bill(design, self.use(design)), self._uploaded
        is_attached = design.is_attached
        lines = [line for line in bill.lines if not (is_attached and line.dimension == "instance")]
        return Bill(lines=(*lines, *first_upload(design, size, requests_for(self._need, design, "write", size))))

    @cached_property
    def _uploaded(self) -> int:
        return uploaded_bytes(self._need, self._book.hours_per_month)

    def offers(self, bill: Bill, design: Design) -> tuple[TermOffer, ...]:
        """Return the cost on each allowed term, cheapest first; one `unpriced` offer if the storage has no price."""
        lacking = [line for line in bill.lines if line.dimension != "instance" and not self._has_price(line)]
        lacking += self._missing_backups(design)
        if any(line.dimension not in OPTIONAL_DIMENSIONS for line in lacking):
            return (self._unpriced_offer(bill, lacking),)
        priced = Bill(lines=tuple(line for line in bill.lines if line not in lacking)) if lacking else bill
        offers = list(self._offers(priced, lacking, design))
        if not offers:
            return (self._unpriced_offer(bill, lacking),)
        return tuple(sorted(offers, key=lambda offer: offer.present_value))

    def _offers(self, bill: Bill, lacking: list[BillItem], design: Design) -> Iterator[TermOffer]:
        """Yield the cost on each term that all instances, and all units that can be reserved, are sold on."""
        parts = {(line.dimension, line.item) for line in bill.lines}
        instances = {part for part in parts if part[0] == "instance"}
        # Who does not say how long a table is needed does not commit to its units.
        committed = instances | (parts & self._reservable if "months" in self._need.model_fields_set else set())
        if not committed or (not instances and not any(committed <= items for items in self._allowed.values())):
            # Without instances there may be no terms; a rule reports it if the need asks for one.
            yield self._offer("on-demand", None, self._price(bill, "on-demand", None), lacking, design)
            return
        for (term, payment), items in self._allowed.items():
            if term == "spot":
                yield from self._spot(bill, lacking, instances & items, instances, design)
            elif committed <= items:
                cost = self._price(bill, term, payment)
                yield self._offer(term, payment, cost, lacking, design)

    def _price(self, bill: Bill, term: Term, payment: Payment | None, but: Container[str] = ()) -> Cost:
        known = self._known.setdefault(payment, {})
        return price_bill(bill, self._book, term, payment, self._need.duty, but, known)

    def _spot(
        self, bill: Bill, lacking: list[BillItem], on_spot: set[Part], instances: set[Part], design: Design
    ) -> Iterator[TermOffer]:
        """Yield the bill with spot prices for instances that have one, and the others on demand."""
        on_demand = instances - on_spot
        if not on_spot or not on_demand <= self._terms.get(("on-demand", None), set()):
            return
        cost = self._price(bill, "spot", None, {item for _, item in on_demand})
        chance = self.interruption_chance(cost)
        is_required = self._need.term == "spot"
        if is_required or (chance is not None and chance <= MAX_INTERRUPTION_CHANCE):
            yield self._offer("spot", None, cost, lacking, design, chance)

    def interruption_chance(self, cost: Cost) -> Decimal | None:
        """Return the chance that a spot instance is interrupted in the need's months; None: a row does not state it.

        1 - product over the instances of (1 - share of a month)^(months x duty), as if they were independent.
        """
        undisturbed = Decimal(1)
        months = EXACT.multiply(Decimal(self._need.months), self._need.duty)
        for charge in cost.charges:
            if charge.row.term == "spot":
                if charge.row.interruptions is None:
                    return None
                power = EXACT.multiply(charge.line.pieces, months)
                undisturbed = EXACT.multiply(undisturbed, EXACT.power(1 - charge.row.interruptions, power))
        return 1 - undisturbed

    def _offer(
        self,
        term: Term,
        payment: Payment | None,
        cost: Cost,
        lacking: list[BillItem],
        design: Design,
        interrupted: Decimal | None = None,
    ) -> TermOffer:
        need = self._need
        provider = design.provider or self._sold.provider
        support = need.support.get(provider, ZERO) if provider else ZERO  # type: ignore[call-overload]
        factor = EXACT.multiply(1 + support, 1 + need.tax)
        once = EXACT.multiply(migration_cost(need, self._market, provider), 1 + need.tax)
        paid = EXACT.add(EXACT.multiply(cost.committed_cost(need.months), factor), once)
        present = paid
        if need.discount:
            present = EXACT.add(EXACT.multiply(cost.present_value(need.months, need.discount), factor), once)
        return TermOffer(
            term,
            payment,
            cost,
            paid,
            factor,
            once,
            present,
            tuple(dict.fromkeys(f"{line.dimension} {line.item}" for line in lacking)),
            self._beyond(lacking, factor),
            assumed_work=EXACT.multiply(
                self._assumed_work(design), EXACT.divide(present, paid) if need.discount and paid else ONE
            ),
            client_cost=self._client_cost(design),
            interruption_chance=interrupted,
        )

    def _assumed_work(self, design: Design) -> Decimal:
        """Return the cost of `assumed_hours` in all months of the need, with tax; 0 without a price."""
        return EXACT.multiply(assumed_hours(design, self._need), self._monthly_hour)

    @cached_property
    def _monthly_hour(self) -> Decimal:
        """Cost of one hour of administration in each month of the need."""
        hour = self._market.hour_of_work
        return ZERO if hour is None else EXACT.multiply(hour, Decimal(self._need.months) * (1 + self._need.tax))

    def _client_cost(self, design: Design) -> Decimal:
        """Return the cost on demand of the instance that attached volumes are used on; infinite if it is not known."""
        if not design.is_attached:
            return ZERO
        rows = [self._instance_rows.get(group.instance) for group in design.servers]
        hours = EXACT.multiply(self._book.hours_per_month, self._need.duty)
        known = [EXACT.multiply(row.cost(Decimal(1)), hours) for row in rows if row is not None]
        whole = EXACT.multiply(exact_sum(known), Decimal(self._need.months))
        return whole if len(known) == len(rows) else Decimal("Infinity")

    @cached_property
    def _instance_rows(self) -> dict[str, PriceRow]:
        return {row.item: row for row in self._book.rows if (row.dimension, row.term) == ("instance", "on-demand")}

    def _beyond(self, lacking: list[BillItem], factor: Decimal) -> Decimal | None:
        """Return what missing prices may come to: the provider's highest of the kind; None: nothing is comparable."""
        total = ZERO
        for line in lacking:
            highest = self._market.most_expensive(line, self._sold.provider)
            if highest is None:
                return None
            if line.per == "hour":
                highest = EXACT.multiply(highest, self._book.hours_per_month)
            times = 1 if line.per == "once" else self._need.months
            total = EXACT.add(total, EXACT.multiply(highest, Decimal(times)))
        return EXACT.multiply(total, factor)

    def _unpriced_offer(self, bill: Bill, lacking: list[BillItem]) -> TermOffer:
        """Return an offer without price, listing what has none."""
        names = [f"{line.dimension} {line.item}" for line in lacking if line.dimension not in OPTIONAL_DIMENSIONS]
        names += [
            self._instance_name(line)
            for line in bill.lines
            if line.dimension == "instance" and not self._has_instance(line)
        ]
        cost = Cost(
            currency=self._market.currency,
            hours_per_month=self._book.hours_per_month,
            term="on-demand",
            duty=self._need.duty,
            charges=(),
        )
        lacks = tuple(dict.fromkeys(names)) or ("a common term for all its instances",)
        return TermOffer("on-demand", None, cost, ZERO, missing_prices=lacks, missing_cost_max=None, is_unpriced=True)

    def _missing_backups(self, design: Design) -> Iterator[BillItem]:
        """Yield a line for backups that the need requires and the provider does not sell; they still need a price."""
        service = design.service
        if self._need.snapshots and not design.hardware and not isinstance(service, S3) and backup_item(design) is None:
            yield BillItem(
                what="backups",
                dimension="filesystem-backup",
                item=book_item(getattr(service, "type", design.design)),
                pieces=ONE,
                each=Decimal(self._need.snapshots),
                per="month",
            )

    def _has_price(self, line: BillItem) -> bool:
        return (line.dimension, line.item) in self._on_demand_items

    def _has_instance(self, line: BillItem) -> bool:
        return any((line.dimension, line.item) in items for items in self._allowed.values())

    def _instance_name(self, line: BillItem) -> str:
        term = self._need.term or "on-demand"
        return f"instance {line.item}" + (f", {term}" if term != "on-demand" else "")

    @cached_property
    def _allowed(self) -> dict[tuple[Term, Payment | None], set[Part]]:
        """Terms that the need allows: the required one, or all; spot without being required only for short scratch use.

        A reservation is paid in full, so it is expensive for a short need. Source: BeeGFS-2016, Choosing: no spot for
        servers that hold data; NFS-2016, Expected costs: spot for the short term.
        """
        need = self._need
        short = need.data == "scratch" and need.months <= MAX_SPOT_MONTHS
        return {
            key: items
            for key, items in self._terms.items()
            if (key[0] == need.term if need.term is not None else key[0] != "spot" or short)
        }
