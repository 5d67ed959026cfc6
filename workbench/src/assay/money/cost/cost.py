"""The cost of a bill per hour, month and year on each term, and the break-even points of two designs.

Every amount is an exact decimal. A month has the hours that its price book states.
"""

import functools
from collections.abc import Container, Iterable, MutableMapping
from decimal import Decimal

from assay.model.base import AssayError
from assay.model.frozen import Frozen
from assay.model.money.amount import EXACT, TERM_MONTHS, Payment, Term, exact_sum
from assay.model.money.price import UNITS, WITH_TERMS, Bill, BillItem, PriceBook, PriceRow, PriceTier

ZERO, ONE = Decimal(0), Decimal(1)
YEAR, THREE_YEARS = 12, 36
MAX_MONTHS = 240
"""Break-even points are searched for within this many months."""
MAX_TIMES = 1000
"""A job expected to take this many times its hours practically never ends."""


class Charge(Frozen):
    """A bill line with its price.

    Attributes:
        row: The price-book row that was used.
        running: Cost of a month in which the design is always on; falls in proportion to the duty cycle.
        fixed: Cost of each month, on or off.
        once: Paid at the start of every `once_months`.
        once_months: Months of the term or of the hardware's life; 0: `once` is paid at the beginning only.
        job: Cost of each job.
    """

    line: BillItem
    row: PriceRow
    running: Decimal = ZERO
    fixed: Decimal = ZERO
    once: Decimal = ZERO
    once_months: int = 0
    job: Decimal = ZERO

    def months_paid(self, months: int) -> int:
        """Return the months for which `fixed` is paid if needed for `months`: a commitment lasts to its term's end."""
        return -(-months // self.once_months) * self.once_months if self.once_months else months

    def times_paid(self, months: int) -> int:
        """Return how often `once` is paid if needed for `months`."""
        return -(-months // self.once_months) if self.once_months else 1

    def month(self, duty: Decimal) -> Decimal:
        """Return the cost of a month at a duty cycle, with a share of what is paid for each term or life."""
        spread = EXACT.divide(self.once, Decimal(self.once_months)) if self.once_months else ZERO
        return EXACT.add(EXACT.add(EXACT.multiply(self.running, duty), self.fixed), spread)


class Cost(Frozen):
    """The cost of a bill by one price book, on one term.

    Attributes:
        duty: Share of the time that the design is on.
    """

    currency: str
    hours_per_month: Decimal
    term: Term
    duty: Decimal
    charges: tuple[Charge, ...]

    @property
    def month(self) -> Decimal:
        """Cost of a month at the duty cycle, with shares of what is paid at once."""
        return exact_sum(charge.month(self.duty) for charge in self.charges)

    @property
    def hour(self) -> Decimal:
        """Cost of an hour of running: monthly costs are spread over the hours in which the design runs."""
        if not self.duty:
            return ZERO
        return EXACT.divide(self.month, EXACT.multiply(self.hours_per_month, self.duty))

    @property
    def year(self) -> Decimal:
        """Cost of twelve months."""
        return EXACT.multiply(self.month, Decimal(YEAR))

    @property
    def three_years(self) -> Decimal:
        """Cost of thirty-six months."""
        return EXACT.multiply(self.month, Decimal(THREE_YEARS))

    @property
    def job(self) -> Decimal:
        """What a job adds by itself, such as its egress, without the hours of the design."""
        return exact_sum(charge.job for charge in self.charges)

    @property
    def rows(self) -> tuple[PriceRow, ...]:
        """The price-book rows that were used, each once."""
        used: dict[tuple[str, ...], PriceRow] = {}
        for charge in self.charges:
            # A job's row may be only what the month leaves; the month's charge comes first and has the whole row.
            used.setdefault(charge.row.key, charge.row)
        return tuple(used.values())

    def paid_after(self, months: int) -> Decimal:
        """Return the total paid after so many months; a reservation or purchase is paid in full as its term starts."""
        return exact_sum(self._paid(charge, months) for charge in self.charges)

    def _paid(self, charge: Charge, months: int) -> Decimal:
        """Return what has been paid for one charge."""
        monthly = EXACT.add(EXACT.multiply(charge.running, self.duty), charge.fixed)
        paid = EXACT.multiply(monthly, Decimal(months))
        if charge.once:
            paid = EXACT.add(paid, EXACT.multiply(charge.once, Decimal(charge.times_paid(months))))
        return paid

    def committed_cost(self, months: int) -> Decimal:
        """Return all that must be paid to use it for so many months: as `paid`, but commitments to their term's end."""
        return exact_sum(
            EXACT.add(EXACT.multiply(charge.fixed, Decimal(charge.months_paid(months) - months)), paid)
            for charge, paid in ((charge, self._paid(charge, months)) for charge in self.charges)
        )

    def present_value(self, months: int, rate: Decimal) -> Decimal:
        """Return the present value of `owed`: payments at a month's end, or at once, are discounted by their date.

        Net present value: sum of amount / (1 + rate)^(years until payment).
        """
        ends = _present_value(1, months + 1, 1, rate)
        amounts = []
        for charge in self.charges:
            amounts.append(EXACT.multiply(EXACT.multiply(charge.running, self.duty), ends))
            amounts.append(EXACT.multiply(charge.fixed, _present_value(1, charge.months_paid(months) + 1, 1, rate)))
            if charge.once:
                every = charge.once_months or months
                amounts.append(EXACT.multiply(charge.once, _present_value(0, months, every, rate)))
        return exact_sum(amounts)


@functools.lru_cache(maxsize=1024)
def _present_value(first: int, end: int, step: int, rate: Decimal) -> Decimal:
    """Return the present value of paying 1 at the start of each month of a range."""
    return exact_sum(_discount_factor(month, rate) for month in range(first, end, step))


def _discount_factor(month: int, rate: Decimal) -> Decimal:
    """Return the present value of 1 paid at the start of a month, counted from 0: (1 + rate)^(-month / 12)."""
    return EXACT.power(ONE + rate, EXACT.divide(Decimal(-month), Decimal(YEAR)))


def price_bill(
    bill: Bill,
    book: PriceBook,
    term: Term = "on-demand",
    payment: Payment | None = None,
    duty: Decimal = ONE,
    on_demand_items: Container[str] = (),
    charge_cache: MutableMapping[tuple[int, str], tuple[BillItem, Charge]] | None = None,
) -> Cost:
    """Price each line of a bill.

    Args:
        bill: The lines.
        book: The prices.
        term: Term of the instances, and of units of tables if the book has them on it; other lines have no terms.
        payment: Payment option of a reservation; None: the first that the book has.
        duty: Share of the time that the design is on. A reservation is paid for all the time.
        on_demand_items: Instances that are on demand whatever the term.
        charge_cache: Cache of charges for one book and payment, by identity of the line: many bills share lines.

    Raises:
        AssayError: The duty cycle is not from 0 to 1, the book lacks a price, or years of use are not whole months.
    """
    if not ZERO <= duty <= ONE:
        raise AssayError(f"the duty cycle {duty} is not a share from 0 to 1", "write it as 25% or 0.25")
    return Cost(
        currency=book.currency,
        hours_per_month=book.hours_per_month,
        term=term,
        duty=duty,
        charges=tuple(
            _cached_charge(line, book, "on-demand" if line.item in on_demand_items else term, payment, charge_cache)
            for line in bill.lines
        ),
    )


def _cached_charge(
    line: BillItem,
    book: PriceBook,
    term: Term,
    payment: Payment | None,
    known: MutableMapping[tuple[int, str], tuple[BillItem, Charge]] | None,
) -> Charge:
    """Return the charge of a line from the cache, or price the line."""
    if known is None:
        return _charge(line, book, term, payment)
    entry = known.get((id(line), term))
    if entry is None or entry[0] is not line:
        entry = known[id(line), term] = line, _charge(line, book, term, payment)
    return entry[1]


def _row(line: BillItem, book: PriceBook, term: Term, payment: Payment | None) -> PriceRow:
    """Return the row that prices a line; what the book does not have on the term, and is no instance, is on demand."""
    if line.dimension != "instance" and not (
        line.dimension in WITH_TERMS and book.has_term(line.dimension, line.item, term, payment)
    ):
        return book.row(line.dimension, line.item, "on-demand", payment)
    return book.row(line.dimension, line.item, term, payment)


def _charge(line: BillItem, book: PriceBook, term: Term, payment: Payment | None) -> Charge:
    row = _row(line, book, term, payment)
    amount = row.cost(line.each, line.pieces)
    if line.per == "job":
        return Charge(line=line, row=row, job=amount)
    if line.per == "once":
        if line.years is None:
            return Charge(line=line, row=row, once=amount)
        months = EXACT.multiply(line.years, Decimal(YEAR))
        if months < 1 or months != months.to_integral_value():
            raise AssayError(f"{line.what}: {line.years} years is not a whole number of months", "write 5, 2.5 or 0.25")
        return Charge(line=line, row=row, once=amount, once_months=int(months))
    if line.per == "month":
        return (
            Charge(line=line, row=row, running=amount)
            if line.stops_when_off
            else Charge(line=line, row=row, fixed=amount)
        )
    monthly = EXACT.multiply(amount, book.hours_per_month)
    if row.term in TERM_MONTHS:
        once = EXACT.multiply(row.upfront, line.pieces)
        return Charge(line=line, row=row, fixed=monthly, once=once, once_months=TERM_MONTHS[row.term])
    return (
        Charge(line=line, row=row, running=monthly)
        if line.stops_when_off
        else Charge(line=line, row=row, fixed=monthly)
    )


def with_marginal_jobs(cost: Cost) -> Cost:
    """Return the cost with each job priced on top of the month's use: free quantities and tiers are used up only once.

    One job a month is assumed; a second job would start at the tier where the first one ends.
    """
    used: dict[tuple[str, ...], Decimal] = {}
    for charge in cost.charges:
        if charge.line.per == "month" and charge.line.pieces == 1:
            used[charge.row.key] = EXACT.add(used.get(charge.row.key, ZERO), charge.line.each)
    charges = [
        _marginal_charge(charge, used[charge.row.key])
        if charge.line.per == "job" and charge.row.key in used
        else charge
        for charge in cost.charges
    ]
    return cost.model_copy(update={"charges": tuple(charges)})


def _marginal_charge(charge: Charge, used: Decimal) -> Charge:
    """Return a job's charge by the part of its price row that the month leaves over."""
    row, line = charge.row, charge.line
    quantity = EXACT.divide(used, Decimal(UNITS[row.unit].factor))
    past = max(ZERO, EXACT.subtract(quantity, row.free))
    tiers = [
        PriceTier(up_to=None if tier.up_to is None else EXACT.subtract(tier.up_to, past), price=tier.price)
        for tier in row.tiers
        if tier.up_to is None or tier.up_to > past
    ]
    left = row.model_copy(update={"free": max(ZERO, EXACT.subtract(row.free, quantity)), "tiers": tuple(tiers)})
    return charge.model_copy(update={"row": left, "job": left.cost(line.each, line.pieces)})


def frozen_book(book: PriceBook, costs: Iterable[Cost], more: Iterable[PriceRow] = ()) -> PriceBook:
    """Return the book with only the rows that were used and `more`, as it is stored with a result."""
    used = {row.key for cost in costs for row in cost.rows} | {row.key for row in more}
    return PriceBook.model_validate(
        {**book.model_dump(exclude={"rows"}), "rows": [row.model_dump() for row in book.rows if row.key in used]}
    )


class BreakEven(Frozen):
    """The duty cycle at which two costs are equal.

    Attributes:
        duty: That duty cycle; None: one of the two is never more expensive.
        hours: Its hours in a month, by the first cost's book.
        below, above: Which one is cheaper below and above it, 0 or 1; both the same if `duty` is None.
    """

    duty: Decimal | None
    hours: Decimal | None
    below: int
    above: int


def break_even_duty(first: Cost, second: Cost) -> BreakEven:
    """Return the duty cycle at which two costs are equal, and which one is cheaper on each side of it.

    Month(d) = fixed + running x d for both, so they are equal at d = (fixed2 - fixed1) / (running1 - running2).

    Raises:
        AssayError: They are in different currencies.
    """
    _check_currency(first, second)
    ends = [_month_at(cost, ZERO) for cost in (first, second)]
    slopes = [EXACT.subtract(_month_at(cost, ONE), end) for cost, end in zip((first, second), ends, strict=True)]
    at_zero, at_one = ends[0] <= ends[1], ends[0] + slopes[0] <= ends[1] + slopes[1]
    if at_zero == at_one or slopes[0] == slopes[1]:
        cheaper = 0 if at_one else 1
        return BreakEven(duty=None, hours=None, below=cheaper, above=cheaper)
    duty = EXACT.divide(EXACT.subtract(ends[1], ends[0]), EXACT.subtract(slopes[0], slopes[1]))
    hours = EXACT.multiply(duty, first.hours_per_month)
    return BreakEven(duty=duty, hours=hours, below=0 if at_zero else 1, above=0 if at_one else 1)


def _check_currency(first: Cost, second: Cost) -> None:
    if first.currency != second.currency:
        raise AssayError(f"{first.currency} and {second.currency} cannot be compared", "take books of one currency")


def break_even_months(first: Cost, second: Cost) -> int | None:
    """Return the first month after which the cost that starts higher has cost less in total; None: not within 20 years.

    Raises:
        AssayError: They are in different currencies.
    """
    dearer, cheaper = _ordered(first, second)
    return next(
        (month for month in range(2, MAX_MONTHS + 1) if dearer.paid_after(month) < cheaper.paid_after(month)), None
    )


def stays_cheaper_from(first: Cost, second: Cost) -> int | None:
    """Return the month from which the cost that starts higher always has the lower total; None: not within 20 years.

    Payments at the start of each term can raise its total above the other again, so one whole term beyond 20 years is
    checked, too.

    Raises:
        AssayError: They are in different currencies.
    """
    dearer, cheaper = _ordered(first, second)
    if dearer.month >= cheaper.month:
        return None
    longest = max((charge.once_months for cost in (first, second) for charge in cost.charges), default=0)
    months = range(MAX_MONTHS + longest, 0, -1)
    last = next((month for month in months if dearer.paid_after(month) >= cheaper.paid_after(month)), 0)
    return last + 1 if last < MAX_MONTHS else None


def _ordered(first: Cost, second: Cost) -> tuple[Cost, Cost]:
    """Return the cost that is higher at the start, then the other."""
    _check_currency(first, second)
    return (first, second) if first.paid_after(1) > second.paid_after(1) else (second, first)


def expected_hours(hours: Decimal, interruptions: Decimal, hours_per_month: Decimal) -> Decimal:
    """Return the average hours until a job of `hours` has run through without an interruption.

    With a share p of instances interrupted in a month, the rate is r = -ln(1 - p) / hours of a month; a job that
    restarts from the beginning takes (exp(r t) - 1) / r. Source: J. T. Daly, A higher order estimate of the optimum
    checkpoint interval for restart dumps, FGCS 22 (2006) 303, with no checkpoint and no time to restart.

    Args:
        hours: Length of the job without interruption.
        interruptions: Share p of all instances that are interrupted in a month.
        hours_per_month: As the price book states them.

    Raises:
        AssayError: So many are interrupted that the job never, or practically never, ends.
    """
    if interruptions >= 1:
        raise AssayError("every instance is interrupted within a month", "a job on spot needs a share below 100 %")
    if not interruptions or not hours:
        return hours
    rate = EXACT.divide(-EXACT.ln(ONE - interruptions), hours_per_month)
    expected = EXACT.multiply(rate, hours)
    # Without this test the exponential could be too large to compute.
    if expected < MAX_TIMES:
        expected = EXACT.divide(EXACT.subtract(EXACT.exp(expected), ONE), rate)
        if expected <= EXACT.multiply(hours, Decimal(MAX_TIMES)):
            return expected
    hint = f"{hours.normalize():.6g} hours without an interruption are too many: take a shorter job, or on-demand"
    raise AssayError(f"the expected time of this job on spot is more than {MAX_TIMES:,} times its length", hint)


def _month_at(cost: Cost, duty: Decimal) -> Decimal:
    return exact_sum(charge.month(duty) for charge in cost.charges)
