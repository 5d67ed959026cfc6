"""The output of `assay price` for people."""

from collections.abc import Iterator, Sequence
from decimal import Decimal

from assay.cli.money.price_data import MAX_COMPARED
from assay.cli.money.price_sizing import incomparable_reason, unpriced_parameters
from assay.model.money.amount import EXACT, format_money, round_half_up
from assay.model.money.price import PriceBook
from assay.model.units import about_size
from assay.money.cost.limits import METRICS, Metric
from assay.money.cost.metrics import CostComparison, PricedOption, TermCost, compare
from assay.money.cost.stored_prices import design_ceilings
from assay.report import numbers
from assay.report.document import Block, Bullets, Cell, Column, Facts, Heading, Note, Num, Paragraph, Table
from assay.report.pricing import (
    amount_cells,
    amount_columns,
    bill_table,
    limit_facts,
    limit_table,
    metric_words,
    money_cell,
    rate_text,
)
from assay.terminal.output import print_blocks

_READING = "TB-month, GB/s and 1,000 IOPS: cost per month for each of them. Rates are sustained rates."


def print_options(options: Sequence[PricedOption], months: int | None, bill: bool, sized: bool = False) -> None:
    """Print one design in detail, or several in a table with their break-even points."""
    alone = len(options) == 1
    blocks = _alone(options[0], months) if alone else _side_by_side(options, months)
    if bill:
        for option in options:
            title = "Bill" if alone else f"Bill of {option.label}"
            blocks += [Heading(title, "bill"), bill_table("bill", option.cost, option.book)]
    print_blocks(*blocks, *(_terms(options[0]) if alone else _break_even_blocks(options, sized)))


def _break_even_blocks(options: Sequence[PricedOption], sized: bool) -> list[Block]:
    """Return the break-even points of several designs, if they hold equally much or are sized to one capacity."""
    if len(options) > MAX_COMPARED:
        return [Paragraph(f"Break-even points are computed for up to {MAX_COMPARED} designs.")]
    refused = None if sized else incomparable_reason(options)
    if refused is not None:
        return [Paragraph(f"{refused}.")]
    labels = _labels(options)
    names = {option.label: label for option, label in zip(options, labels, strict=True)}
    break_evens = _break_even_lines([pair.renamed(names) for pair in compare(options)])
    blocks: list[Block] = [Heading("Break-even points:", "meet"), break_evens]
    if sized:
        blocks.insert(
            0,
            Paragraph(
                "Each is the smallest available with that capacity and its other values; "
                "capacity beyond it is in the price."
            ),
        )
    accepted = {option.chosen.design: option.design.conditions for option in options if option.design.conditions}
    if accepted:
        lines = (f"{name}: {' '.join(conditions)}" for name, conditions in accepted.items())
        blocks += [Heading("Conditions of these designs:", "accept"), Bullets(tuple(lines))]
    losing = [label for option, label in zip(options, labels, strict=True) if option.loses_when_off]
    if losing:
        blocks.append(Paragraph(f"Data is lost when switched off: {', '.join(losing)}"))
    return blocks


def _alone(option: PricedOption, months: int | None) -> list[Block]:
    cost, limits, currency = option.cost, option.limits, option.cost.currency
    hour = f"{format_money(cost.hour)} an hour, " if cost.duty else ""
    lines = [
        ("design", option.label),
        ("", option.design.about),
        ("prices", prices_words([option])),
        (
            "cost",
            f"{hour}{format_money(cost.month)} a month, {format_money(cost.year)} a year, "
            f"{format_money(cost.three_years)} in three years ({currency})",
        ),
    ]
    if cost.duty != 1:
        hours = EXACT.multiply(cost.duty, cost.hours_per_month)
        lines.append(("on", f"{percent(cost.duty)} of the time, {round_half_up(hours, 1):f} hours of a month"))
        if option.loses_when_off:
            lines.append(("", "its data is lost each time it is switched off"))
    if option.by_use:
        lines.append(("usage", f"{format_money(option.by_use, currency)} a month for transfer, requests and access"))
    if months is not None:
        lines.append(
            ("paid", f"{format_money(cost.paid_after(months), currency)} after {numbers.plural(months, 'month')}")
        )
    lines += [
        ("usable", f"{about_size(limits.usable)} ({limits.how_usable})"),
        ("", f"{format_money(option.per_tb_month, currency)} for each usable TB and month"),
        *_job(option),
        ("data", f"durability {option.design.durability}; {option.design.failures_text}"),
        *(("unpriced", f"{key}: {why}") for key, why in unpriced_parameters(option).items()),
        *(("accept", text) for text in option.design.conditions),
        *(("note", text) for text in option.design.notes),
    ]
    ceilings = design_ceilings(limits)
    blocks: list[Block] = [Facts(tuple(lines))]
    if ceilings:
        table = limit_table("limits", ceilings, cost)
        blocks += [Heading("Limits", "limits"), table, limit_facts(ceilings)]
    return [*blocks, *_unknown(option)]


def prices_words(options: Sequence[PricedOption]) -> str:
    """Return each price book with the dates of its used prices, and the term."""
    found = {option.book.book: option.book for option in options}.values()
    return "; ".join(_prices_of(book, [option for option in options if option.book is book]) for book in found)


def _prices_of(book: PriceBook, options: Sequence[PricedOption]) -> str:
    costs = [option.cost for option in options]
    dates = sorted({book.date_of(row) for cost in costs for row in cost.rows} or {book.date})
    days = f"{dates[0]}" if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    payments = sorted({charge.row.payment for cost in costs for charge in cost.charges if charge.row.payment})
    term = ", ".join([costs[0].term, *payments])
    return f"{book.book} of {days}, {book.hours_per_month} hours a month, {term}"


def _unknown(option: PricedOption) -> Iterator[Note]:
    """Yield notes about layers whose rates are not known, so that they limit nothing."""
    layers: dict[str, list[str]] = {}
    for metric in METRICS:
        bound = option.limits.binding_layer(metric) is not None
        unknown = [layer.layer for layer in option.limits.layers if layer.sustained(metric) is None]
        if not bound or (unknown and metric in METRICS[:2]):
            words = ", ".join(unknown) or "any layer"
            layers.setdefault(words if bound else f"{words}; measure it", []).append(metric_words(metric))
    for words, metrics in layers.items():
        yield Note(f"{', '.join(metrics)}: unknown for {words}")


def _job(option: PricedOption) -> list[tuple[str, str]]:
    job, currency = option.job, option.cost.currency
    if job is None:
        return []
    hours = f"{round_half_up(job.hours, 2):f} h" + (" at its sustained rate" if job.by_rate else "")
    if job.expected is None:
        return [("job", f"{hours}; its cost is unknown, because the book does not say how often spot is interrupted")]
    assert job.money is not None and job.interruption_cost is not None, "they are known if the expected hours are"
    words = f"{format_money(job.money, currency)} in {hours}"
    if job.expected != job.hours:
        words = (
            f"{format_money(job.money, currency)}: {round_half_up(job.expected, 2):f} h expected for "
            f"{hours}, since an interrupted "
            f"job starts again; that costs {format_money(job.interruption_cost, currency)}"
        )
    if job.per_tb is not None:
        words += f"; {format_money(job.per_tb, currency)} for each TB"
    lines = [("job", words)]
    if job.needed_rate is not None:
        lines.append(("", f"  its bytes in that time need {rate_text(float(job.needed_rate), 'read')}"))
    return lines + [("", f"  {text}") for text in job_excess(option)]


def job_excess(option: PricedOption) -> list[str]:
    """Return what the job demands beyond the limits of a design: rates or capacity."""
    job, limits = option.job, option.limits
    if job is None or not job.exceeded:
        return []
    keeps = [
        f"{rate_text(limits.sustained(metric) or 0, metric)} of {'reading' if metric == 'read' else 'writing'}"
        for metric in METRICS[:2]
        if metric in job.exceeded
    ]
    found = [f"that exceeds its sustained rate: {', '.join(keeps)}"] if keeps else []
    if "capacity" in job.exceeded:
        found.append(f"its {about_size(option.use.job_bytes)} are more than the {about_size(limits.usable)} for data")
    return found


def _side_by_side(options: Sequence[PricedOption], months: int | None) -> list[Block]:
    currency, labels = options[0].cost.currency, _labels(options)
    blocks: list[Block] = [Paragraph(f"Prices in {currency}: {prices_words(options)}")]
    shared = _shared(options)
    if shared:
        words = " ".join(f"{key}={value}" for key, value in shared.items())
        blocks.append(Paragraph(f"All are {options[0].chosen.design} with {words}"))
    with_iops = any(option.limits.sustained("read_iops") for option in options)
    metrics = METRICS[:3] if with_iops else METRICS[:2]
    columns = [
        *(Column("Design"), *amount_columns(currency)),
        *(Column(name, is_numeric=True) for name in ("Read", "Write", "Read IOPS")[: len(metrics)]),
        *(
            Column(name, currency, is_numeric=True)
            for name in ("GB/s read", "GB/s write", "1,000 IOPS")[: len(metrics)]
        ),
        *([Column(f"Paid, {months} m", currency, is_numeric=True)] if months is not None else []),
        *([Column("Job", currency, is_numeric=True)] if any(option.job for option in options) else []),
        Column("Bound by"),
    ]
    rows: list[tuple[Cell, ...]] = []
    for label, option in zip(labels, options, strict=True):
        paid = [money_cell(option.cost.paid_after(months))] if months is not None else []
        job = [money_cell(option.job.money if option.job else None)] if any(one.job for one in options) else []
        amounts = amount_cells(option.cost, option.limits.usable)
        rates = (_rate(option, metric) for metric in metrics)
        per = (money_cell(option.per_month(metric)) for metric in metrics)
        rows.append((label, *amounts, *rates, *per, *paid, *job, _bound(option)))
    blocks.append(Table("designs", tuple(columns), tuple(rows), _READING))
    for label, option in zip(labels, options, strict=True):
        blocks += [
            Paragraph(f"The price of {label} does not depend on {key}: {why}")
            for key, why in unpriced_parameters(option).items()
        ]
        blocks += [Paragraph(f"The job exceeds {label}: {text}") for text in job_excess(option)]
    return blocks


def _shared(options: Sequence[PricedOption]) -> dict[str, object]:
    """Return the values that all options share, if they are of the same design."""
    first = options[0].chosen
    if any(option.chosen.design != first.design for option in options):
        return {}
    return {key: value for key, value in first.set.items() if all(one.chosen.set.get(key) == value for one in options)}


def _labels(options: Sequence[PricedOption]) -> list[str]:
    """Return the label of each option without the values that all share."""
    shared = _shared(options)
    if not shared:
        return [option.label for option in options]
    own = [[f"{key}={value}" for key, value in one.chosen.set.items() if key not in shared] for one in options]
    return [" ".join(words) or option.label for words, option in zip(own, options, strict=True)]


def _bound(option: PricedOption) -> str:
    """Return the layer that binds reading, and that which binds writing if it is another."""
    found = [option.limits.binding_layer(metric) for metric in METRICS[:2]]
    return ", ".join(dict.fromkeys(layer.layer for layer in found if layer is not None))


def _rate(option: PricedOption, metric: Metric) -> Num:
    keeps = option.limits.sustained(metric)
    return Num("not known" if keeps is None else rate_text(keeps, metric).removesuffix(" IOPS"), keeps)


def _terms(option: PricedOption) -> list[Block]:
    if len(option.terms) < 2:
        return []
    money_columns = amount_columns(option.cost.currency)[1:4]
    columns = (Column("Term"), *money_columns, Column("Saving", is_numeric=True))
    rows: list[tuple[Cell, ...]] = [
        (term.name, *amount_cells(term.cost, None)[1:4], percent_off(term, option.terms[0])) for term in option.terms
    ]
    return [
        Heading("On other terms", "terms"),
        Table("terms", columns, tuple(rows)),
        _break_even_lines(option.term_pairs),
    ]


def percent_off(term: TermCost, first: TermCost) -> Num:
    """Return by how much a month on `term` is cheaper than on `first`; empty if equal."""
    before, month = first.cost.month, term.cost.month
    if not before or month == before:
        return Num("", None)
    share = 1 - EXACT.divide(month, before)
    return Num(percent(share), float(share))


def _break_even_lines(found: Sequence[CostComparison]) -> Bullets:
    """Return a line for each pair; pairs without a break-even point are grouped by the cheaper one."""
    dearer: dict[str, list[str]] = {}
    lines: list[str] = []
    for pair in found:
        if pair.never_crosses and pair.break_even_months is None:
            names = (pair.first, pair.second)
            dearer.setdefault(names[pair.break_even_duty.above], []).append(names[1 - pair.break_even_duty.above])
        else:
            lines.append(pair_words(pair))
    lines += [
        f"{one} is always cheaper than {', '.join(others)}, however much of the month it runs"
        for one, others in dearer.items()
    ]
    return Bullets(tuple(lines))


def pair_words(pair: CostComparison) -> str:
    """Return which of two designs is cheaper, and when."""
    names = (pair.first, pair.second)
    duty = pair.break_even_duty
    if pair.is_equal:
        return f"{names[0]} and {names[1]} cost the same"
    if duty.duty is None or duty.hours is None:
        words = f"{names[duty.above]} is always cheaper than {names[1 - duty.above]}, however much of the month it runs"
    else:
        words = (
            f"{names[duty.below]} is cheaper than {names[1 - duty.below]} if it runs less than {percent(duty.duty)} of "
            f"the month ({round_half_up(duty.hours, 0):f} hours), and more expensive if it runs more"
        )
    if pair.break_even_months is None:
        return words
    if pair.stays_cheaper_from == pair.break_even_months:
        return (
            f"{words}; {pair.higher_start} has cost less in total from month {pair.break_even_months} on, "
            "though it costs more at first"
        )
    words += (
        f"; {pair.higher_start}, which costs more at first, has cost less in total after month "
        f"{pair.break_even_months} for the first time"
    )
    if pair.stays_cheaper_from is None:
        return f"{words}, but not permanently within 20 years: its upfront payment recurs"
    return (
        f"{words}, and permanently from month {pair.stays_cheaper_from} on; in between not always, "
        "because its upfront payment recurs"
    )


def percent(share: Decimal) -> str:
    """Return a share in percent: `37.5 %`."""
    return f"{round_half_up(share * 100, 1).normalize():f} %"
