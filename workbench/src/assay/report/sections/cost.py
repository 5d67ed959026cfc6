"""What the targets would cost as the designs that the study assigns to them, with their measured rates."""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from assay.model.money.amount import EXACT, format_money
from assay.model.money.price import PriceBook, PriceRow
from assay.model.money.priced_designs import FrozenPrices
from assay.model.result.run import RunInfo
from assay.model.units import about_duration
from assay.money.cost.limits import METRICS, Metric
from assay.money.cost.stored_prices import hour_of_all_running, hour_of_hosts
from assay.report import numbers
from assay.report.charts.pareto import pareto_chart
from assay.report.costs import TargetCost, UnitCost, cheapest_text, cost_points, price_unit_size, target_costs
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
from assay.report.pricing import (
    amount_cells,
    amount_columns,
    bill_table,
    ceiling_share,
    limit_facts,
    limit_table,
    metric_words,
    money_cell,
)
from assay.report.view import RunView

_WORDS = (
    "What the targets would cost if they were the designs that the study assigns to them. The target was measured; "
    "that its design would perform the same is the study's assumption. The prices are frozen at the start of the run."
)
_SPEED = (
    "Best usable result of each kind, with the ends of its 95 % interval: the cost of a month divided by it. IOPS are "
    "those of records and objects up to 16 KiB. The best of several results is slightly too high, for all targets "
    "alike."
)
_FRONT = (
    "Each dot is the best usable result of a target with its 95 % interval. On the front: no design with the "
    "same or a lower cost is as fast, also by the intervals. The dashed line uses the medians alone."
)


_HOURS = (
    "Hour: the cost of a whole month, with all use and all that is also paid when switched off, divided by the hours "
    "switched on. The hour of `assay plan` and of a budget is different: the design is switched on, and nothing is "
    "used; so the two differ if a design is not always on, or if something is paid by use."
)


def section(view: RunView) -> Section | None:
    """Return the section; None if the study names no prices."""
    costs, prices = target_costs(view), view.run.prices
    if prices is None or not costs:
        return None
    currency = prices.book.currency
    blocks: list[Block] = [Paragraph(_WORDS), _facts(prices, view.run)]
    answer = cheapest_text(costs)
    blocks += [Paragraph(answer)] if answer is not None else []
    blocks.append(_table(costs, currency))
    blocks += _today(view, costs)
    blocks += [Heading("Cost of what was measured", "cost-measured"), Paragraph(_SPEED), _speeds(view, costs, currency)]
    charts = tuple(_charts(view, costs, currency))
    blocks += [Gallery(charts)] if charts else []
    blocks += [Note(_beyond(item), "warning") for item in costs if item.exceeded_metrics]
    blocks += [Note(_without(item), "warning") for item in costs if item.excludes_requests]
    missing = [name for name in view.targets if name not in prices.designs]
    if missing:
        blocks.append(Note(f"The study names no design for {numbers.listing(missing)}."))
    blocks += [_fold(item, prices) for item in costs]
    return Section("cost", "Cost", tuple(blocks))


def _beyond(item: TargetCost) -> str:
    words = numbers.listing([metric_words(metric) for metric in item.exceeded_metrics])
    return (
        f"{item.target} exceeded the limits of its design in {words}, even those of bursts: the target is not this "
        "design, or a limit is wrong. Its cost of what was measured is then not that of the design."
    )


def _without(item: TargetCost) -> str:
    fields = " and ".join(item.design.unpriced_fields)
    return (
        f"{item.target}: its design charges for each request, and the study does not state the requests "
        f"of a month ({fields} of prices.use). Its costs exclude requests, and are not compared with others."
    )


def _facts(prices: FrozenPrices, run: RunInfo) -> Facts:
    book = prices.book
    term = f"{prices.term}, {prices.payment}" if prices.payment else prices.term
    return Facts(
        (
            ("Price book", f"{book.book}: {book.provider}, {book.region}"),
            ("Prices of", f"{_dates(book, book.rows)}{', historic' if book.historic else ''}"),
            ("Term", term),
            ("Switched on", f"{(prices.use.duty * 100).normalize():f} % of the time"),
            ("A month", f"{book.hours_per_month} hours"),
            *_of_this_run(prices, run),
        )
    )


def _of_this_run(prices: FrozenPrices, run: RunInfo) -> Iterator[tuple[str, str]]:
    """Yield what the run cost, if everything was rented from its beginning to its end."""
    hosts = ", ".join(f"{line.pieces:f} x {line.item}" for line in prices.hosts.lines)
    if hosts:
        is_network = any(line.dimension != "instance" for line in prices.hosts.lines)
        yield (
            f"Rented hosts{' and network' if is_network else ''}",
            f"{hosts}: {format_money(hour_of_hosts(prices), prices.book.currency)} an hour",
        )
    if run.finished_at is not None and run.finished_at > run.created_at:
        seconds = run.finished_at - run.created_at
        hour = hour_of_all_running(prices)
        cost = EXACT.divide(EXACT.multiply(Decimal(repr(seconds)), hour), Decimal(3600))
        text = format_money(cost, prices.book.currency)
        yield (
            "This run",
            f"{text} for {about_duration(seconds)}, if all is rented from its beginning to its end",
        )


def _dates(book: PriceBook, rows: Iterable[PriceRow]) -> str:
    """Return the date of these prices, or the earliest and the latest date."""
    dates = sorted({book.date_of(row) for row in rows}) or [book.date]
    return str(dates[0]) if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"


def _table(costs: Sequence[TargetCost], currency: str) -> Table:
    columns = (Column("Target"), Column("Design"), *amount_columns(currency))
    rows = tuple(
        (item.target, item.design.chosen.label, *amount_cells(item.cost, item.design.usable, item.excludes_requests))
        for item in costs
    )
    return Table("cost-table", columns, tuple(rows), _HOURS)


def _today(view: RunView, costs: Sequence[TargetCost]) -> list[Block]:
    """Return a table of monthly costs by another price book; nothing without one."""
    if view.today is None or view.run.prices is None:
        return []
    old, new = view.run.prices.book, view.today
    used = [row for item in costs if item.current_cost is not None for row in item.current_cost.rows]
    now = f", {_dates(new, used)}" if used else ""
    columns = (
        Column("Target"),
        Column("Month, frozen", f"{old.currency}, {_dates(old, old.rows)}", is_numeric=True),
        Column("Month, today", f"{new.currency}{now}", is_numeric=True),
        Column("Difference", old.currency, is_numeric=True),
        Column("Difference", "%", is_numeric=True),
        Column("Why not"),
    )
    rows = tuple(_differences(item) for item in costs)
    caption = (
        f"Frozen: {old.book}, as when the run began. Today: {new.book}. All other numbers here use the frozen prices."
    )
    return [Table("cost-today", columns, rows, caption)]


def _differences(item: TargetCost) -> tuple[Cell, ...]:
    before = item.cost.month
    if item.current_cost is None:
        return (
            item.target,
            money_cell(before),
            money_cell(None),
            money_cell(None),
            money_cell(None),
            item.no_current_cost_reason,
        )
    more = EXACT.subtract(item.current_cost.month, before)
    share = None if not before else float(EXACT.divide(more, before)) * 100
    sign = "+" if more > 0 else ""
    return (
        item.target,
        money_cell(before),
        money_cell(item.current_cost.month),
        Num(f"{sign}{format_money(more)}", float(more)),
        Num(numbers.NONE if share is None else f"{share:+.1f}", share),
        "",
    )


def _speeds(view: RunView, costs: Sequence[TargetCost], currency: str) -> Table:
    columns = (
        Column("Target", is_filter=True),
        Column("Of", is_filter=True),
        Column("Measured", is_numeric=True),
        Column("Interval"),
        Column("At", drop_rank=1),
        Column("Month per unit", currency, is_numeric=True),
        Column("From", currency, is_numeric=True),
        Column("To", currency, is_numeric=True),
        Column("Of the design's ceiling", is_numeric=True, drop_rank=2),
    )
    rows = [_speed(view, item, metric) for item in costs for metric in METRICS]
    return Table("cost-speed", columns, tuple(rows))


def _speed(view: RunView, item: TargetCost, metric: Metric) -> tuple[Cell, ...]:
    rate, ratio, size = item.best.get(metric), item.unit_cost(metric), price_unit_size(metric)
    if rate is None:
        return (item.target, metric_words(metric), Num("none usable", None), "", "", *_ends(None), Share(None))
    interval = numbers.NONE
    if rate.low is not None and rate.high is not None:
        interval = f"{numbers.significant(rate.low / size)} to {numbers.significant(rate.high / size)}"
    where = view.point_of(rate.row) or rate.row.case.workload
    return (
        item.target,
        metric_words(metric),
        Num(numbers.significant(rate.value / size), rate.value / size),
        interval,
        f"{numbers.operation_title(rate.row.operation)}, {where}",
        *_ends(ratio, item.excludes_requests),
        ceiling_share(rate.value, item.ceiling(metric)),
    )


def _ends(ratio: UnitCost | None, without_requests: bool = False) -> tuple[Num, Num, Num]:
    if ratio is None:
        return money_cell(None), money_cell(None), money_cell(None)
    return money_cell(ratio.value, without_requests), money_cell(ratio.low), money_cell(ratio.high)


def _charts(view: RunView, costs: Sequence[TargetCost], currency: str) -> list[Chart]:
    designs = {item.target: item.design.chosen.label for item in costs}
    found = []
    metrics: tuple[Metric, ...] = ("read", "write")
    for metric in metrics:
        points = cost_points(costs, metric)
        if len(points) > 1:
            drawing = pareto_chart(points, designs, metric, currency, view.targets)
            on = [point.target for point in points if point.position == "on the front"]
            words = f"{_FRONT} On the front: {numbers.listing(on) or 'none for certain'}."
            found.append(Chart(f"cost-{metric}", f"Cost against {metric} throughput", words, drawing))
    return found


def _fold(item: TargetCost, prices: FrozenPrices) -> Fold:
    design = item.design.design
    facts = Facts(
        (
            ("Design", f"{design.design}: {design.about}" if design.about else design.design),
            ("Usable", f"{numbers.size(item.design.usable or 0)}: {item.design.how_usable}"),
            ("Durability", f"class {design.durability}; {design.failures_text}"),
        )
    )
    ceilings = item.design.ceilings
    limits: tuple[Block, ...] = ()
    if ceilings:
        limits = (limit_table(f"design-ceilings-{item.target}", ceilings, item.cost), limit_facts(ceilings))
    bill = bill_table(f"bill-{item.target}", item.cost, prices.book)
    return Fold(f"Bill of {item.target}: {item.design.chosen.label}", (facts, bill, *limits))
