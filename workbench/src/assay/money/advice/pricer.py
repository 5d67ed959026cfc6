"""What a variant costs on each term that a need allows, in the need's months, and what of it has no price."""

from collections.abc import Container, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from assay.model.money.amount import EXACT, Payment, Term
from assay.model.money.design import S3, Design, DynamoDb
from assay.model.money.need import Need
from assay.model.money.price import Bill, Line
from assay.model.money.use import Use
from assay.money.advice.market import Market, Sold
from assay.money.advice.moving import moving_cost
from assay.money.advice.traffic import rare_share, use_of
from assay.money.cost.bill import ONE, backup_item, sold_as
from assay.money.cost.cost import ZERO, Charge, Cost, price_bill
from assay.money.cost.frozen import BY_USE

BESIDES = BY_USE | {"people", "support", "power", "rack"}
"""Without a price of these a design has one all the same: what stores the data is paid for."""
BEYOND = 10
"""What has no price is taken to cost up to so many times the dearest of its kind that a book has."""
SHORT = 1
"""Months up to which scratch on spot is tried unasked."""
MOST_INTERRUPTED = Decimal("0.5")
"""Chance within the need's months above which it is not."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A price of a variant.

    Attributes:
        cost: Of what has a price.
        paid: All that is paid for the months of the need, commitments whole, with support, tax and moving in.
        factor: What `cost` is multiplied by for that, for support and tax.
        once: What of it is paid for moving in.
        present: The same as money of the first day; `paid` if the need has no discount.
        lacks: What has no price, such as `object-requests s3-glacier/get`.
        beyond: What that costs at most, in the months of the need; None: nothing alike has a price.
        unpriced: It has no price at all.
        interrupted: On spot: the chance that an instance is taken away within the need's months; None: not stated.
    """

    term: Term
    payment: Payment | None
    cost: Cost
    paid: Decimal
    factor: Decimal = Decimal(1)
    once: Decimal = ZERO
    present: Decimal = ZERO
    lacks: tuple[str, ...] = ()
    beyond: Decimal | None = ZERO
    unpriced: bool = False
    interrupted: Decimal | None = None


class Pricer:
    """Prices bills on all terms that a need allows; what the books have is looked up once."""

    def __init__(self, need: Need, sold: Sold, market: Market) -> None:
        """Keep the need and the prices."""
        self._need, self._sold, self._market, self._book = need, sold, market, sold.book
        self._known: dict[Payment | None, dict[tuple[int, str], tuple[Line, Charge]]] = {}
        self._use: dict[tuple[bool, Decimal], Use] = {}
        self._plain = {(row.dimension, row.item) for row in self._book.rows if row.term == "on-demand"}
        self._terms: dict[tuple[Term, Payment | None], set[str]] = {}
        for row in self._book.rows:
            if row.dimension == "instance":
                self._terms.setdefault((row.term, row.payment), set()).add(row.item)

    def use(self, design: Design) -> Use:
        """What the need's traffic means for a design."""
        rare = rare_share(design)
        key = (isinstance(design.service, DynamoDb), rare)
        if key not in self._use:
            provider = design.provider or self._sold.provider
            self._use[key] = use_of(self._need, design, self._book.hours_per_month, rare, provider)
        return self._use[key]

    def offers(self, bill: Bill, design: Design) -> tuple[Offer, ...]:
        """The bill on each allowed term, the cheapest first; one that is `unpriced` if the book lacks what counts."""
        lacking = [line for line in bill.lines if line.dimension != "instance" and not self._has(line)]
        lacking += self._not_kept(design)
        instances = {line.item for line in bill.lines if line.dimension == "instance"}
        if any(line.dimension not in BESIDES for line in lacking):
            return (self._without(bill, lacking),)
        priced = Bill(lines=tuple(line for line in bill.lines if line not in lacking)) if lacking else bill
        found = list(self._offers(priced, lacking, instances, design))
        if not found:
            return (self._without(bill, lacking),)
        return tuple(sorted(found, key=lambda offer: offer.present))

    def _offers(self, bill: Bill, lacking: list[Line], instances: set[str], design: Design) -> Iterator[Offer]:
        if not instances:
            # It has no terms; where the need asks for one, a rule says so.
            yield self._offer("on-demand", None, self._price(bill, "on-demand", None), lacking, design)
            return
        for (term, payment), items in self._allowed.items():
            if term == "spot":
                yield from self._spot(bill, lacking, instances & items, instances, design)
            elif instances <= items:
                cost = self._price(bill, term, payment)
                yield self._offer(term, payment, cost, lacking, design)

    def _price(self, bill: Bill, term: Term, payment: Payment | None, but: Container[str] = ()) -> Cost:
        known = self._known.setdefault(payment, {})
        return price_bill(bill, self._book, term, payment, self._need.duty, but, known)

    def _spot(
        self, bill: Bill, lacking: list[Line], on_spot: set[str], instances: set[str], design: Design
    ) -> Iterator[Offer]:
        """What has a spot price is on spot, the rest on demand."""
        but = instances - on_spot
        if not on_spot or not but <= self._terms.get(("on-demand", None), set()):
            return
        cost = self._price(bill, "spot", None, but)
        chance = self.interrupted(cost)
        asked = self._need.term == "spot"
        if asked or (chance is not None and chance <= MOST_INTERRUPTED):
            yield self._offer("spot", None, cost, lacking, design, chance)

    def interrupted(self, cost: Cost) -> Decimal | None:
        """Chance that an instance on spot is taken away in the need's months, while it is on; None: a row is silent.

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
        lacking: list[Line],
        design: Design,
        interrupted: Decimal | None = None,
    ) -> Offer:
        need = self._need
        provider = design.provider or self._sold.provider
        support = need.support.get(provider, ZERO) if provider else ZERO  # type: ignore[call-overload]
        factor = EXACT.multiply(1 + support, 1 + need.tax)
        once = EXACT.multiply(moving_cost(need, self._market, provider), 1 + need.tax)
        paid = EXACT.add(EXACT.multiply(cost.owed(need.months), factor), once)
        present = paid
        if need.discount:
            present = EXACT.add(EXACT.multiply(cost.present(need.months, need.discount), factor), once)
        return Offer(
            term,
            payment,
            cost,
            paid,
            factor,
            once,
            present,
            tuple(dict.fromkeys(f"{line.dimension} {line.item}" for line in lacking)),
            self._beyond(lacking, factor),
            interrupted=interrupted,
        )

    def _beyond(self, lacking: list[Line], factor: Decimal) -> Decimal | None:
        found = ZERO
        for line in lacking:
            dearest = self._market.dearest(line)
            if dearest is None:
                return None
            if line.per == "hour":
                dearest = EXACT.multiply(dearest, self._book.hours_per_month)
            found = EXACT.add(found, EXACT.multiply(dearest, Decimal(BEYOND * self._need.months)))
        return EXACT.multiply(found, factor)

    def _without(self, bill: Bill, lacking: list[Line]) -> Offer:
        """No price: what it lacks, with what else it could be."""
        names = [f"{line.dimension} {line.item}" for line in lacking if line.dimension not in BESIDES]
        names += [self._lacks(line) for line in bill.lines if line.dimension == "instance" and not self._rents(line)]
        cost = Cost(
            currency=self._market.currency,
            hours_per_month=self._book.hours_per_month,
            term="on-demand",
            duty=self._need.duty,
            charges=(),
        )
        lacks = tuple(dict.fromkeys(names)) or ("any one term of all its instances",)
        return Offer("on-demand", None, cost, ZERO, lacks=lacks, beyond=None, unpriced=True)

    def _not_kept(self, design: Design) -> Iterator[Line]:
        """Backups that the need asks for and nobody sells of the design, which keep their place all the same."""
        service = design.service
        if self._need.snapshots and not isinstance(service, S3) and backup_item(design) is None:
            yield Line(
                what="backups",
                dimension="filesystem-backup",
                item=sold_as(getattr(service, "type", design.design)),
                pieces=ONE,
                each=Decimal(self._need.snapshots),
                per="month",
            )

    def _has(self, line: Line) -> bool:
        return (line.dimension, line.item) in self._plain

    def _rents(self, line: Line) -> bool:
        return any(line.item in items for items in self._allowed.values())

    def _lacks(self, line: Line) -> str:
        term = self._need.term or "on-demand"
        return f"instance {line.item}" + (f", {term}" if term != "on-demand" else "")

    @cached_property
    def _allowed(self) -> dict[tuple[Term, Payment | None], set[str]]:
        """Terms: the one asked for, or all; spot unasked only for short scratch.

        A reservation is paid whole, so that a short need is dear on it. Source: BeeGFS-2016, Choosing: no spot for
        servers that hold data; NFS-2016, Expected costs: spot for the short term.
        """
        need = self._need
        short = need.data == "scratch" and need.months <= SHORT
        return {
            key: items
            for key, items in self._terms.items()
            if (key[0] == need.term if need.term is not None else key[0] != "spot" or short)
        }
