"""`assay deploy status`."""

import datetime as dt
from typing import TYPE_CHECKING, Any

import typer

from assay.model.base import EXIT_INCOMPLETE, warning
from assay.rooms.deploy.commands import stack_output as output
from assay.terminal.output import note, print_json, print_line

if TYPE_CHECKING:
    from assay.rooms.deploy.model.priced import Prices
    from assay.rooms.deploy.model.stack import Stack, StackHost
    from assay.rooms.deploy.work.life.hosts import GroupState


def command(
    name: str = output.NAME,
    region: str = output.REGION,
    book: str = output.BOOK,
    as_json: bool = output.JSON,
) -> None:
    """Print a stack's state, hosts, what it costs, and the time that it has left.

    Exit codes: 0 it is up, 1 it failed, is gone, or lacks hosts, 2 wrong input, 3 refused: no credentials, no right, no
    such stack.

    Example: `assay deploy status nfs1`
    """
    from assay.rooms.deploy.work.life.charges import book_of, price_things
    from assay.rooms.deploy.work.life.deletion import attached_volumes, is_over, over_text
    from assay.rooms.deploy.work.life.hosts import client_group, stack_hosts
    from assay.rooms.deploy.work.life.inventory import find_tagged
    from assay.rooms.deploy.work.life.places import find_place

    place = find_place(name, region)
    if place.stack is None or place.stack.is_deleted:
        _print_deleted(name, place.stack, as_json)
    cloud, stack = place.cloud, place.stack
    assert stack is not None
    group = client_group(cloud, stack)
    hosts = stack_hosts(cloud, stack, group)
    inventory = find_tagged(cloud, name, attached_volumes(cloud, stack))
    prices = price_things((each.thing for each in inventory.found), book_of(cloud.region, book))
    now = dt.datetime.now(dt.UTC)
    if as_json:
        print_json(_facts(stack, cloud.region, hosts, group, prices, now))
    else:
        _print(stack, cloud.region, hosts, group, prices, now)
        for error in inventory.unanswered:
            note(warning(f"not counted: {error.message}"))
    if is_over(cloud, stack):
        note(over_text(name, cloud.region))
    lost = any(host.is_interrupted for host in hosts) or (group is not None and group.is_short)
    raise typer.Exit(EXIT_INCOMPLETE if stack.has_failed or lost else 0)


def _print_deleted(name: str, stack: "Stack | None", as_json: bool) -> None:
    if as_json:
        print_json({"name": name, "status": stack.status if stack else "not created"})
    elif stack is None:
        print_line(f"stack {name} was recorded, but never created: `assay deploy down {name}` forgets it")
    else:
        ended = " at its expiry or by hand: this machine did not delete it"
        print_line(f"stack {name} is deleted,{ended}; `assay deploy down {name}` looks for what is left")
    raise typer.Exit(EXIT_INCOMPLETE)


def _print(
    stack: "Stack",
    region: str,
    hosts: "list[StackHost]",
    group: "GroupState | None",
    prices: "Prices",
    now: dt.datetime,
) -> None:
    print_line(f"stack {stack.name} in {region}: {stack.status}{': ' if stack.reason else ''}{stack.reason}")
    output.print_hosts(hosts)
    if group is not None and group.is_short:
        note(warning(output.group_text(group)))
    lost = [host for host in hosts if host.is_interrupted]
    if lost:
        names = ", ".join(host.name or host.id for host in lost)
        note(warning(f"AWS took back {len(lost)} spot instances: {names}"))
    spent = output.cost_until(prices.hour, stack.created, now)
    print_line(f"price now: {output.sum_text(prices)}")
    print_line(f"cost since its creation: about {output.money(spent, prices.currency)}")
    left = output.left_text(stack.expires, now)
    rest = output.cost_until(prices.hour, now, stack.expires) if stack.expires else None
    print_line(f"time left: {left}; until then another {output.money(rest, prices.currency)}")
    output.warn_old(prices)


def _facts(
    stack: "Stack",
    region: str,
    hosts: "list[StackHost]",
    group: "GroupState | None",
    prices: "Prices",
    now: dt.datetime,
) -> dict[str, Any]:
    left = (stack.expires - now).total_seconds() if stack.expires else None
    return {
        **output.stack_facts(stack),
        "region": region,
        "hosts": [{**host.__dict__} for host in hosts],
        "clients_wanted": group.wanted if group else None,
        "clients_running": group.running if group else None,
        "currency": prices.currency,
        "per_hour": str(prices.hour),
        "is_price_complete": prices.is_complete,
        "spent": str(output.cost_until(prices.hour, stack.created, now)),
        "seconds_left": left,
    }
