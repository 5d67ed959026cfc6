"""What the targets would cost as the designs they stand for, beside what was measured of them."""

from collections.abc import Iterable, Sequence
from decimal import Decimal

from assay.model.money.amount import EXACT, money
from assay.model.money.price import UNITS, Book, Row
from assay.model.money.priced import DesignCeiling, FrozenPrices
from assay.money.cost.cost import Charge, Cost
from assay.report import numbers
from assay.report.charts.pareto import pareto_chart
from assay.report.costs import METRICS, Metric, Ratio, TargetCost, cheapest, front, scale, target_costs, unit, what
from assay.report.document import (
    Block,
    Cell,
    Chart,
    Column,
    Facts,
    Fold,
    Gallery,
    Heading,
    Note,
    Num,
    Paragraph,
    Section,
    Share,
    Table,
)
from assay.report.view import View

_WORDS = (
    "What the targets would cost if they were the designs that the study names. That a target behaves as its design "
    "would is the study's claim; what was measured is the target. The prices are those that the run was begun with, "
    "and stay so."
)
_SPEED = (
    "Best sound result of each kind, with the ends of its 95 % interval: the cost of a month divided by it. IOPS are "
    "those of records up to 16 KiB. The best of several results is a little too good for all of them alike."
)
_FRONT = (
    "Each dot is the best sound result of a target with its 95 % interval. On the front: no design that costs as "
    "little reaches as much, and the intervals say so. The dashed line goes by the medians alone."
)


_HOURS = (
    "An hour is one of running: a whole month, with all its use and what is paid on or off, spread over the hours of "
    "running. The hour of `assay plan` and of a budget is another one: the design is switched on in it, and nothing is "
    "used; so the two differ where a design is not always on, or something is paid by use."
)


def section(view: View) -> Section | None:
    """The section; None if the study names no prices."""
    costs, prices = target_costs(view), view.run.prices
    if prices is None or not costs:
        return None
    currency = prices.book.currency
    blocks: list[Block] = [Paragraph(_WORDS), _facts(prices)]
    answer = cheapest(costs)
    blocks += [Paragraph(answer)] if answer is not None else []
    blocks.append(_table(costs, currency))
    blocks += _today(view, costs)
    blocks += [Heading("Cost of what was measured", "cost-measured"), Paragraph(_SPEED), _speeds(view, costs, currency)]
    charts = tuple(_charts(view, costs, currency))
    blocks += [Gallery(charts)] if charts else []
    blocks += [Note(_beyond(item), "warning") for item in costs if item.beyond]
    missing = [name for name in view.targets if name not in prices.designs]
    if missing:
        blocks.append(Note(f"The study names no design for {numbers.listing(missing)}."))
    blocks += [_fold(item, prices) for item in costs]
    return Section("cost", "Cost", tuple(blocks))


def _beyond(item: TargetCost) -> str:
    words = numbers.listing([what(metric) for metric in item.beyond])
    return (
        f"{item.target} did more {words} than its design can do, even for a while: it is not such a design, or a "
        "ceiling is wrong. Its costs of what was measured are then not those of the design."
    )


def _facts(prices: FrozenPrices) -> Facts:
    book = prices.book
    term = f"{prices.term}, {prices.payment}" if prices.payment else prices.term
    return Facts(
        (
            ("Price book", f"{book.book}: {book.provider}, {book.region}"),
            ("Prices of", f"{_dates(book, book.rows)}{', old on purpose' if book.historic else ''}"),
            ("Term", term),
            ("Switched on", f"{(prices.use.duty * 100).normalize():f} % of the time"),
            ("A month", f"{book.hours_per_month} hours"),
        )
    )


def _dates(book: Book, rows: Iterable[Row]) -> str:
    """When some of its prices held."""
    dates = sorted({book.date_of(row) for row in rows}) or [book.date]
    return str(dates[0]) if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"


def _table(costs: Sequence[TargetCost], currency: str) -> Table:
    columns = (
        Column("Target"),
        Column("Design"),
        *(Column(name, currency, numeric=True) for name in ("Hour", "Month", "Year", "Three years")),
        Column("Usable", "TB", numeric=True),
        Column("Usable TB, a month", currency, numeric=True),
    )
    rows: list[tuple[Cell, ...]] = []
    for item in costs:
        usable = None if not item.item.usable else item.item.usable / 1e12
        amounts = (item.hour, item.cost.month, item.cost.year, item.cost.three_years)
        rows.append(
            (
                item.target,
                item.item.chosen.label,
                *(_money(amount) for amount in amounts),
                Num(numbers.NONE if usable is None else numbers.significant(usable), usable),
                _money(item.per_terabyte),
            )
        )
    return Table("cost-table", columns, tuple(rows), _HOURS)


def _money(amount: Decimal | None) -> Num:
    return Num(numbers.NONE, None) if amount is None else Num(money(amount), float(amount))


def _today(view: View, costs: Sequence[TargetCost]) -> list[Block]:
    """The months by another book, if that was asked for."""
    if view.today is None or view.run.prices is None:
        return []
    old, new = view.run.prices.book, view.today
    taken = [row for item in costs if item.today is not None for row in item.today.rows]
    now = f", {_dates(new, taken)}" if taken else ""
    columns = (
        Column("Target"),
        Column("Month, frozen", f"{old.currency}, {_dates(old, old.rows)}", numeric=True),
        Column("Month, today", f"{new.currency}{now}", numeric=True),
        Column("Difference", old.currency, numeric=True),
        Column("Difference", "%", numeric=True),
        Column("Why not"),
    )
    rows = tuple(_differences(item) for item in costs)
    caption = (
        f"Frozen: {old.book}, as when the run began. Today: {new.book}. All other figures here are the frozen ones."
    )
    return [Table("cost-today", columns, rows, caption)]


def _differences(item: TargetCost) -> tuple[Cell, ...]:
    before = item.cost.month
    if item.today is None:
        return (item.target, _money(before), _money(None), _money(None), _money(None), item.no_today)
    more = EXACT.subtract(item.today.month, before)
    share = None if not before else float(EXACT.divide(more, before)) * 100
    sign = "+" if more > 0 else ""
    return (
        item.target,
        _money(before),
        _money(item.today.month),
        Num(f"{sign}{money(more)}", float(more)),
        Num(numbers.NONE if share is None else f"{share:+.1f}", share),
        "",
    )


def _speeds(view: View, costs: Sequence[TargetCost], currency: str) -> Table:
    columns = (
        Column("Target", facet=True),
        Column("Of", facet=True),
        Column("Measured", numeric=True),
        Column("Interval"),
        Column("At"),
        Column("A month of it", currency, numeric=True),
        Column("From", currency, numeric=True),
        Column("To", currency, numeric=True),
        Column("Of the design's ceiling", numeric=True),
    )
    rows = [_speed(view, item, metric) for item in costs for metric in METRICS]
    return Table("cost-speed", columns, tuple(rows))


def _speed(view: View, item: TargetCost, metric: Metric) -> tuple[Cell, ...]:
    rate, ratio, size = item.best.get(metric), item.per(metric), scale(metric)
    limit = item.ceiling(metric)
    if rate is None:
        return (item.target, what(metric), Num("nothing sound", None), "", "", *_ends(None), Share(None))
    interval = numbers.NONE
    if rate.low is not None and rate.high is not None:
        interval = f"{numbers.significant(rate.low / size)} to {numbers.significant(rate.high / size)}"
    where = view.point_of(rate.row) or rate.row.case.workload
    share = Share(None)
    if limit is not None:
        share = Share(rate.value / limit.value, f"{limit.layer}: {_rate(limit.value, metric)}")
    return (
        item.target,
        what(metric),
        Num(numbers.significant(rate.value / size), rate.value / size),
        interval,
        f"{numbers.operation_title(rate.row.operation)}, {where}",
        *_ends(ratio),
        share,
    )


def _ends(ratio: Ratio | None) -> tuple[Num, Num, Num]:
    if ratio is None:
        return _money(None), _money(None), _money(None)
    return _money(ratio.value), _money(ratio.low), _money(ratio.high)


def _rate(value: float, metric: Metric) -> str:
    return f"{numbers.significant(value / scale(metric))} {unit(metric).replace('1,000', 'thousand')}"


def _charts(view: View, costs: Sequence[TargetCost], currency: str) -> list[Chart]:
    designs = {item.target: item.item.chosen.label for item in costs}
    found = []
    metrics: tuple[Metric, ...] = ("read", "write")
    for metric in metrics:
        points = front(costs, metric)
        if len(points) > 1:
            spec = pareto_chart(points, designs, metric, currency, view.targets)
            on = [point.target for point in points if point.standing == "on the front"]
            words = f"{_FRONT} On the front: {numbers.listing(on) or 'none for certain'}."
            found.append(Chart(f"cost-{metric}", f"Cost against {metric} throughput", words, spec))
    return found


def _fold(item: TargetCost, prices: FrozenPrices) -> Fold:
    design = item.item.design
    facts = Facts(
        (
            ("Design", f"{design.design}: {design.about}" if design.about else design.design),
            ("Usable", f"{numbers.size(item.item.usable or 0)}: {item.item.how_usable}"),
            ("Durability", f"class {design.durability}; fails as one: {design.failure_domain}"),
        )
    )
    ceilings: tuple[Block, ...] = (_ceilings(item), _how(item)) if item.item.ceilings else ()
    return Fold(f"Bill of {item.target}: {item.item.chosen.label}", (facts, _bill(item, prices), *ceilings))


def _how(item: TargetCost) -> Facts:
    """How the ceilings were computed, layer by layer."""
    found = {ceiling.layer: f"{ceiling.how} ({ceiling.source})" for ceiling in item.item.ceilings}
    return Facts(tuple(found.items()))


def _bill(item: TargetCost, prices: FrozenPrices) -> Table:
    currency = prices.book.currency
    columns = (
        Column("What"),
        Column("Pieces", numeric=True),
        Column("Each"),
        Column("Price"),
        Column("Month", currency, numeric=True),
        Column("Share", numeric=True),
        Column("Prices of"),
        Column("Source"),
    )
    rows = tuple(_charge(charge, item.cost, prices) for charge in item.cost.charges)
    return Table(f"bill-{item.target}", columns, rows)


def _charge(charge: Charge, cost: Cost, prices: FrozenPrices) -> tuple[Cell, ...]:
    line, row = charge.line, charge.row
    month = charge.month(cost.duty)
    share = float(EXACT.divide(month, cost.month)) if cost.month else None
    each = EXACT.divide(line.each, Decimal(UNITS[row.unit].factor))
    per = {"job": " for each job", "once": " once"}.get(line.per, "")
    return (
        line.what,
        Num(f"{line.pieces.normalize():,f}", float(line.pieces)),
        f"{each.normalize():,f} {row.unit}{per}",
        price_words(charge, prices.book.currency),
        _money(month),
        Num(numbers.share(share), share),
        str(prices.book.date_of(row)),
        f"{row.source}{f'; {row.note}' if row.note else ''}",
    )


def price_words(charge: Charge, currency: str) -> str:
    """A row's price as it is in the book."""
    row = charge.row
    words = [f"{row.price.normalize():f} {currency} per {row.unit}"] if row.price is not None else []
    for tier in row.tiers:
        end = f"up to {tier.up_to.normalize():f}" if tier.up_to is not None else "above"
        words.append(f"{end}: {tier.price.normalize():f}")
    if row.tiers:
        words.append(f"{currency} per {row.unit}")
    if row.free:
        words.append(f"the first {row.free.normalize():f} of each free")
    if row.upfront:
        words.append(f"{row.upfront.normalize():f} {currency} upfront for {charge.once_months} months")
    return ", ".join(words)


def _ceilings(item: TargetCost) -> Table:
    columns = (
        Column("Of"),
        Column("For ever at most", numeric=True),
        Column("For a while", numeric=True),
        Column("How long"),
        Column("Set by"),
    )
    rows = tuple(_ceiling(found) for found in item.item.ceilings)
    return Table(f"design-ceilings-{item.target}", columns, rows)


def _ceiling(found: DesignCeiling) -> tuple[Cell, ...]:
    burst = Num(numbers.NONE, None) if found.burst is None else Num(_rate(found.burst, found.metric), found.burst)
    long = "" if found.burst is None else "not published"
    if found.burst is not None and found.burst_seconds is not None:
        long = numbers.seconds(found.burst_seconds)
    return (
        what(found.metric),
        Num(_rate(found.value, found.metric), found.value),
        burst,
        long,
        found.layer,
    )
