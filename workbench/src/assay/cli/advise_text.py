"""Advice in words and tables."""

from collections.abc import Iterator

import typer

from assay.cli.output import print_table
from assay.model.advice import Advice, Option
from assay.model.price import money
from assay.model.units import about_size

MOST_OPTIONS = 20
HEADS = {
    "recommended": "Recommended",
    "unproven": "Not proven to meet the need, but the best that may",
    "not separable": "Not separable",
    "none": "Nothing meets this need",
}


def print_advice(advice: Advice) -> None:
    """Print advice for people: the choice and why, the others, what would change it, what is excluded."""
    counts, prices = advice.counts, advice.prices
    typer.echo(f"need     {advice.need.need}: {_need_words(advice)}")
    typer.echo(f"prices   {prices.book} ({prices.region}, oldest of {prices.date}, {prices.currency})")
    typer.echo(
        f"variants {counts.enumerated:,}: "
        f"{counts.met:,} meet the need, {counts.unproven:,} may, {counts.failed:,} fail; "
        f"{counts.unpriced:,} without a price, {counts.impossible:,} cannot be had"
    )
    typer.echo(f"\n{HEADS[advice.result]}{': ' if advice.recommended else ''}{' | '.join(advice.recommended)}")
    _print_reasons(advice)
    _print_conflicts(advice)
    _print_options(advice)
    if advice.changes:
        typer.echo("What would change this:")
        for change in advice.changes:
            typer.echo(f"  {change.kind}: {change.text}")
        typer.echo("")
    _print_rejected(advice)
    for text in advice.notes:
        typer.echo(f"note: {text}")


def _need_words(advice: Advice) -> str:
    need = advice.need
    words = [f"{need.access}, {about_size(need.capacity)}"]
    words += [f"{name} {about_size(rate)}/s" for name, rate in (("read", need.read), ("write", need.write)) if rate]
    words += [f"{need.clients} clients"] if need.clients else []
    return ", ".join([*words, f"{need.data}", f"{need.months} months"])


def _print_reasons(advice: Advice) -> None:
    for reason in advice.reasons:
        sign = {"for": "+", "against": "-", "note": " "}[reason.speaks]
        typer.echo(f"  {sign} {reason.text}")
        typer.echo(f"      {reason.rule}; {reason.source}" if reason.source else f"      {reason.rule}")
    typer.echo("")


def _print_conflicts(advice: Advice) -> None:
    if advice.conflicts:
        typer.echo("Which requirement excludes what:")
        for conflict in advice.conflicts:
            typer.echo(f"  {' + '.join(conflict.requirements)}: {conflict.text}")
    if advice.relaxed:
        typer.echo("What could be had if one were given up:")
        for item in advice.relaxed:
            typer.echo(f"  {item.text}")
    if advice.conflicts or advice.relaxed:
        typer.echo("")


def _print_options(advice: Advice) -> None:
    for title, options in (("Options that meet the need", advice.options), ("Options that may", advice.unproven)):
        if options:
            _print_table(f"{title} (* on the front of cost against throughput)", options, advice)
    if len(advice.options) > MOST_OPTIONS:
        typer.echo(f"... and {len(advice.options) - MOST_OPTIONS} more: --json prints all")


def _print_table(title: str, options: tuple[Option, ...], advice: Advice) -> None:
    currency = advice.prices.currency
    columns = [
        "",
        "option",
        "term",
        f"{currency}/month",
        "usable",
        f"{currency}/TB-month",
        "rate",
        f"{currency}/GB/s-month",
        "by",
    ]
    typer.echo(f"{title}:")
    print_table(columns, list(_rows(options[:MOST_OPTIONS], advice)), right=tuple(columns[3:8]))


def _rows(options: tuple[Option, ...], advice: Advice) -> Iterator[list[str]]:
    for item in options:
        price = item.price
        basis = {figure.basis for figure in item.figures if figure.value == item.rate}
        yield [
            "*" if item.label in advice.front else "",
            item.label,
            price.term,
            money(price.month),
            about_size(item.usable),
            money(price.per_tb_month),
            f"{about_size(item.rate)}/s" if item.rate else "not known",
            money(price.per_gbs_month) if price.per_gbs_month is not None else "",
            min(basis, default=""),
        ]


def _print_rejected(advice: Advice) -> None:
    if not advice.rejected:
        return
    typer.echo("Rejected, with the variant of each that comes closest:")
    for item in advice.rejected:
        name = item.closest.label if item.closest is not None else item.design
        typer.echo(f"  {name} ({item.variants} tried)")
        # Of what cannot even be reached so, the rest says little.
        access = [check for check in item.fails if check.requirement == "access"]
        for check in access or item.fails:
            typer.echo(f"    {check.requirement}: {check.text}")
        if item.why:
            typer.echo(f"    {item.why}")
    typer.echo("")
