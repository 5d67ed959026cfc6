"""Full advice in words and tables."""

from collections.abc import Iterator

from assay.model.money.amount import format_money
from assay.model.units import about_duration, about_size
from assay.rooms.advice.commands.advise_answer import (
    HEADS,
    assumed_words,
    dates_of,
    old_prices_words,
    print_answer,
    rejected_words,
)
from assay.rooms.advice.model.advice import Advice, AdviceOption
from assay.rooms.advice.model.need import Need
from assay.rooms.advice.work.texts import amount, count_text, percent, seconds, term_text
from assay.terminal.output import print_line, print_table

MAX_OPTIONS = 20
CLIENTS_WORDS = {"internet": "clients come over the internet", "leased-line": "clients come over a leased line"}
MIN_RATE = 10**6
"""Bytes per second below which a cost per GB/s is meaningless."""


def print_advice(advice: Advice, whole: bool = False) -> None:
    """Print advice for people.

    Args:
        advice: The advice.
        whole: Print everything: the choice and why, other options, what would change it, what is rejected. Else a few
            lines.
    """
    if not whole:
        print_answer(advice)
        return
    counts, prices = advice.counts, advice.prices
    print_line(f"need     {advice.need.need}: {_need_words(advice.need)}")
    print_line(f"profile  {_profile_words(advice.need)}")
    books = ", ".join(f"{book.book} ({book.region})" for book in advice.books or (prices,))
    print_line(
        f"prices   {books}, {dates_of(advice)}, {prices.currency}, {assumed_words(advice)}{old_prices_words(advice)}"
    )
    print_line(
        f"variants {counts.enumerated:,}: "
        f"{counts.met:,} meet the need, {counts.unproven:,} may, {counts.failed:,} fail; "
        f"{counts.unpriced:,} without a price, {counts.infeasible:,} not available"
    )
    print_line(f"\n{HEADS[advice.result]}{': ' if advice.recommended else ''}{' | '.join(advice.recommended)}")
    _print_reasons(advice)
    _print_bill(advice)
    _print_conditions(advice)
    _print_conflicts(advice)
    _print_options(advice)
    if advice.changes:
        print_line("What would change this:")
        for change in advice.changes:
            print_line(f"  {change.kind}: {change.text}")
        print_line("")
    _print_rejected(advice)
    for text in advice.notes:
        print_line(f"note: {text}")


def _print_bill(advice: Advice) -> None:
    """Print the bill of the choice: each line with its monthly cost, price book and date."""
    best = advice.choice
    if best is None:
        return
    print_line(f"What it costs in a month, line by line ({advice.prices.currency}, before support and tax):")
    columns = ["what", "price of", "month", "book", "date"]
    rows = [
        [line.what, f"{line.dimension} {line.item}", format_money(line.month), line.book, str(line.date)]
        for line in best.price.lines
    ]
    print_table(columns, rows, right=("month",))
    print_line("")


def _print_conditions(advice: Advice) -> None:
    best = advice.choice
    texts = () if best is None else best.conditions
    if texts:
        print_line("Conditions of this choice:")
        for text in texts:
            print_line(f"  {text}")
        print_line("")


def _need_words(need: Need) -> str:
    """Return the need in words, without its profile."""
    words = [f"{need.access}, {about_size(need.capacity)}"]
    for name in ("read", "write", "read_iops", "write_iops"):
        value = getattr(need, name)
        words += [f"{name.removesuffix('_iops')} {amount(name, value)}"] if value is not None else []
    words += [f"p99 {seconds(need.p99)}"] if need.p99 is not None else []
    words += [count_text(need.clients, "client")] if need.clients else []
    words += [f"durability {need.durability}"] if need.durability else []
    words += [f"{need.data} data" + (" with an archive elsewhere" if need.archive else "")]
    words += [count_text(need.months, "month")]
    words += [f"on {percent(need.duty)} of the time"] if need.duty < 1 else []
    words += [f"growth {percent(need.growth)}"] if need.growth else []
    words += [f"on term {need.term}"] if need.term else []
    if need.budget is not None:
        per = "a month" if need.budget.per == "month" else "in all"
        words.append(f"budget {format_money(need.budget.amount, need.budget.currency)} {per}")
    monthly = (("read", need.monthly.read), ("written", need.monthly.written), ("egress", need.monthly.egress or None))
    words += [f"{about_size(size)} {name} a month" for name, size in monthly if size is not None]
    words += [CLIENTS_WORDS[need.clients_at]] if need.clients_at != "region" else []
    words += list(_more_words(need))
    return ", ".join(words)


def _more_words(need: Need) -> Iterator[str]:
    """Yield the requirements that few needs state, in words."""
    if need.growth_per_year:
        yield f"growing by {percent(need.growth_per_year)} a year"
    if need.active is not None:
        yield f"{percent(need.active)} of the data in use"
    if need.availability is not None:
        yield f"available {need.availability:g} % of the time"
    if need.max_loss is not None:
        yield f"at most a {percent(need.max_loss)} chance of losing data in a year"
    if need.rpo is not None:
        yield f"at most {about_duration(need.rpo)} of writes lost"
    if need.recovery is not None:
        yield f"recovery within {about_duration(need.recovery)}"
    if need.burst is not None:
        rates = [about_size(rate) for rate in (need.burst.read, need.burst.write) if rate]
        yield f"bursts of {' and '.join(rates)}/s for {need.burst.hours:f} h a day"
    if need.snapshots:
        yield f"{about_size(need.snapshots)} of snapshots"
    if need.migration is not None:
        yield f"moved in from {need.migration.origin} at {about_size(need.migration.link)}/s"
    places = (*need.where.providers, *need.where.regions)
    if places:
        yield f"only in {' or '.join(places)}"
    if need.admin_hours:
        yield (
            "people "
            + ", ".join(f"{name} {hours.normalize():f} h" for name, hours in need.admin_hours.items())
            + " a month"
        )
    if need.support:
        yield "support " + ", ".join(f"{name} {percent(share)}" for name, share in need.support.items())
    if need.discount:
        yield f"discounted by {percent(need.discount)} a year"


def _profile_words(need: Need) -> str:
    profile = need.profile
    what = {"object": "objects", "table": "items"}.get(need.access, "records")
    words = [f"{profile.pattern}, {what} of {about_size(profile.record)}, {percent(profile.read_share)} reading"]
    words += [f"{count_text(profile.streams, 'stream')} of each client"]
    words += ["small files"] if profile.small_files is True else []
    words += [f"{profile.file_rate:,.0f} small files/s"] if profile.file_rate is not None else []
    words += ["cold"] if profile.cold else []
    written = profile.model_fields_set
    assumed = [name for name in ("pattern", "record", "read_share", "streams") if name not in written]
    return ", ".join(words) + (f" (assumed: {', '.join(assumed)})" if assumed else "")


def _print_reasons(advice: Advice) -> None:
    for reason in advice.reasons:
        sign = {"for": "+", "against": "-", "note": " "}[reason.stance]
        print_line(f"  {sign} {reason.text}")
        print_line(f"      {reason.rule}; {reason.source}" if reason.source else f"      {reason.rule}")
    print_line("")


def _print_conflicts(advice: Advice) -> None:
    if advice.conflicts:
        print_line("What each requirement excludes:")
        for conflict in advice.conflicts:
            print_line(f"  {' + '.join(conflict.requirements)}: {conflict.text}")
    if advice.relaxed:
        print_line("Options if one requirement is dropped:")
        for item in advice.relaxed:
            print_line(f"  {item.text} ({item.shortfall})")
    if advice.conflicts or advice.relaxed:
        print_line("")


def _print_options(advice: Advice) -> None:
    for title, options in (
        ("Options that meet the need", advice.options),
        ("Options that may meet it", advice.unproven),
    ):
        if options:
            _print_table(f"{title} (* Pareto-optimal in cost and throughput)", options, advice)
    if len(advice.options) > MAX_OPTIONS:
        print_line(f"... and {len(advice.options) - MAX_OPTIONS} more: --json prints all")


def _print_table(title: str, options: tuple[AdviceOption, ...], advice: Advice) -> None:
    currency = advice.prices.currency
    operations = _by_operations(advice.need)
    columns = [
        "",
        "option",
        "term",
        f"{currency}/month",
        "usable",
        f"{currency}/TB-month",
        "IOPS" if operations else "rate",
        f"{currency}/GB/s-month",
        "basis",
    ]
    print_line(f"{title}:")
    if not operations:
        print_line("(rate: the lower of the read and write rates that the need requires, both at the same time)")
    print_table(columns, list(_rows(options[:MAX_OPTIONS], advice)), right=tuple(columns[3:8]))


def _rows(options: tuple[AdviceOption, ...], advice: Advice) -> Iterator[list[str]]:
    for item in options:
        price = item.price
        rate, basis = _rate(item, advice.need)
        yield [
            "*" if item.label in advice.front else "",
            item.label,
            term_text(price.term, None, price.is_purchased),
            format_money(price.month),
            about_size(item.usable),
            format_money(price.per_tb_month),
            rate,
            format_money(price.per_gbs_month)
            if price.per_gbs_month is not None and (item.rate or 0.0) >= MIN_RATE
            else "",
            basis,
        ]


def _by_operations(need: Need) -> bool:
    """Return whether the need requires operations per second, and no bytes per second."""
    needs_bytes = need.read is not None or need.write is not None
    return not needs_bytes and (need.read_iops is not None or need.write_iops is not None)


def _rate(item: AdviceOption, need: Need) -> tuple[str, str]:
    """Return the rate that the need requires, the lesser of reading and writing, and its basis."""
    if not _by_operations(need):
        return (f"{about_size(item.rate)}/s" if item.rate else "not known", item.basis or "")
    figures = [figure for figure in item.figures if figure.metric.endswith("_iops")]
    if any(figure.value is None for figure in figures):
        return "not known", ""
    least = min(figures, key=lambda figure: figure.value or 0.0)
    return f"{least.value:,.0f}", least.basis


def _print_rejected(advice: Advice) -> None:
    if not advice.rejected:
        return
    print_line("Rejected designs, each with its closest variant:")
    other = [item for item in advice.rejected if any(check.requirement == "access" for check in item.failed_checks)]
    for item in advice.rejected:
        if item in other:
            continue
        name = item.closest.label if item.closest is not None else item.design
        print_line(f"  {name} ({item.variants} tried): {rejected_words(item)}")
    if other:
        # For a design without the required access, further reasons matter little.
        print_line(f"  without {advice.need.access} access: {count_text(len(other), 'design')}")
    print_line("")
