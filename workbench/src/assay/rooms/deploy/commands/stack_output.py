"""What the commands of stacks share: options, questions, and tables of prices, hosts and what is left."""

import datetime as dt
import sys
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

import typer

from assay.model.base import EXIT_REFUSED, AssayError

if TYPE_CHECKING:
    from assay.rooms.deploy.model.priced import PricedThing, Prices
    from assay.rooms.deploy.model.stack import Stack, StackHost
    from assay.rooms.deploy.work.life.hosts import GroupState
    from assay.rooms.deploy.work.life.inventory import Tagged

NAME = typer.Argument(..., metavar="NAME", help="Name of the stack.")
REGION = typer.Option("", "--region", metavar="REGION", help="Region. Default: where this machine made the stack.")
REGIONS = typer.Option(
    [],
    "--region",
    metavar="REGION",
    help="Region, or `all`. Repeatable. Default: yours, and those of stacks made here.",
)
BOOK = typer.Option("", "--book", metavar="BOOK", help="Price book: a name or a file. Default: that of the region.")
YES = typer.Option(False, "--yes", help="Do not ask; needed where there is no terminal.")
JSON = typer.Option(False, "--json", help="Print JSON.")


def confirm(question: str, yes: bool) -> bool:
    """Ask on the terminal.

    Args:
        question: The question.
        yes: The answer was given with --yes.

    Raises:
        AssayError: There is no terminal to ask on, and no --yes.
    """
    if yes:
        return True
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise AssayError(f"{question} There is no terminal to ask on", "add --yes to agree", EXIT_REFUSED)
    return typer.confirm(question)


def has_terminal() -> bool:
    """Return whether there is a terminal to ask on."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def time_text(moment: dt.datetime) -> str:
    """Return a time in UTC for display."""
    return f"{moment.astimezone(dt.UTC):%Y-%m-%d %H:%M} UTC"


def left_text(end: dt.datetime | None, now: dt.datetime) -> str:
    """Return how long it is until an end, or since then."""
    from assay.model.units import about_duration

    if end is None:
        return "no expiry"
    seconds = (end - now).total_seconds()
    return about_duration(seconds) if seconds > 0 else f"expired {about_duration(-seconds)} ago"


def cost_until(hour: Decimal, begin: dt.datetime, end: dt.datetime) -> Decimal:
    """Return what is paid from a time to another at a price an hour."""
    return hour * Decimal(max(0.0, (end - begin).total_seconds())) / 3600


def money(amount: Decimal | None, currency: str) -> str:
    """Return an amount for display; `?` if it is unknown."""
    from assay.model.money.amount import format_money

    return "?" if amount is None else format_money(amount, currency)


def print_prices(prices: "Prices") -> None:
    """Print what will be made, with the price an hour of each."""
    from assay.terminal.output import print_table

    rows = []
    for first, last, count in equal_things(prices.things):
        is_single = count == 1
        name = first.thing.id if is_single else f"{first.thing.id} ... {last.thing.id}"
        what = first.thing.what if is_single else f"{count} times {first.thing.what}"
        hour = None if first.hour is None else first.hour * count
        rows.append([name, what, money(hour, ""), first.remarks])
    source = prices.source or "no price book"
    columns = ["name", "what", f"{prices.currency} an hour", "note"]
    print_table(columns, rows, f"Prices: {source}", [f"{prices.currency} an hour"])


def warn_old(prices: "Prices") -> None:
    """Print a warning on standard error if prices that were used are old."""
    from assay.cli.money.books import warn_stale

    if prices.book is not None and prices.rows:
        warn_stale(prices.book, prices.rows)


def equal_things(things: Sequence["PricedThing"]) -> list[tuple["PricedThing", "PricedThing", int]]:
    """Return the first and the last of things that are the same but for their names, and how many these are."""
    groups: dict[tuple[object, ...], list[PricedThing]] = {}
    for each in things:
        groups.setdefault((each.thing.kind, each.thing.what, each.hour, each.remarks), []).append(each)
    return [(found[0], found[-1], len(found)) for found in groups.values()]


def sum_text(prices: "Prices", per: str = "hour") -> str:
    """Return the sum of prices for an hour or a day, with `at least` if something has no price."""
    amount = prices.hour if per == "hour" else prices.day
    least, article = "at least " if prices.has_unknown else "", "an" if per == "hour" else "a"
    use = ", and what is charged by use" if prices.has_use else ""
    return f"{least}{money(amount, prices.currency)} {article} {per}{use}"


def print_hosts(hosts: Sequence["StackHost"]) -> None:
    """Print the hosts of a stack."""
    from assay.terminal.output import print_table

    if not hosts:
        return
    rows = [
        [
            host.id,
            host.name,
            host.role,
            "taken back by AWS (spot)" if host.is_interrupted else host.state,
            host.address,
            host.public_address,
            f"{host.type}{' spot' if host.is_spot else ''}",
            host.zone,
        ]
        for host in hosts
    ]
    columns = ["instance", "name", "role", "state", "address", "public address", "type", "zone"]
    print_table(columns, rows, least=["zone", "public address"])


def group_text(group: "GroupState") -> str:
    """Return in words how many clients a group lacks, and why."""
    from assay.rooms.deploy.model.faults import MEANINGS

    meaning = f"{MEANINGS[group.kind]}: " if group.kind in MEANINGS else ""
    why = f": {meaning}{group.reason}" if group.reason else ""
    return f"{group.running} of {group.wanted} clients run{why}"


def print_things(things: Iterable[tuple["Tagged", "PricedThing"]], currency: str, now: dt.datetime) -> None:
    """Print things that carry tags of Assay, with the price of a day."""
    from assay.terminal.output import print_table

    rows = [
        [
            tagged.region,
            tagged.stack,
            priced.thing.id,
            priced.thing.what,
            money(priced.day, ""),
            "stack is gone" if tagged.is_left else left_text(tagged.expires, now),
            tagged.owner,
            priced.remarks,
        ]
        for tagged, priced in things
    ]
    columns = ["region", "stack", "id", "what", f"{currency} a day", "time left", "owner", "note"]
    print_table(columns, rows, right=[f"{currency} a day"], least=["note", "owner"])


def stack_facts(stack: "Stack") -> dict[str, object]:
    """Return a stack as plain values for JSON."""
    return {
        "name": stack.name,
        "id": stack.id,
        "status": stack.status,
        "created": stack.created.astimezone(dt.UTC).isoformat(),
        "expires": stack.expires.isoformat() if stack.expires else None,
        "owner": stack.owner,
        "run": stack.run,
        "outputs": dict(stack.outputs),
    }
