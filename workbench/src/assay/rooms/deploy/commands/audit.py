"""`assay deploy audit`."""

import datetime as dt
from typing import TYPE_CHECKING, Any

import typer

from assay.model.base import EXIT_LEFT, warning
from assay.rooms.deploy.commands import stack_output as output
from assay.terminal.output import note, print_json, print_line

if TYPE_CHECKING:
    from assay.rooms.deploy.model.priced import PricedThing, Prices
    from assay.rooms.deploy.work.life.inventory import Tagged


def command(
    regions: list[str] = output.REGIONS,
    book: str = output.BOOK,
    as_json: bool = output.JSON,
) -> None:
    """List everything tagged by Assay that costs money, with its price a day; what is overdue comes first.

    Exit codes: 0 nothing is overdue, 2 wrong input, 3 refused: no credentials, no such region, 4 something has expired
    or lost its stack, and still costs money.

    Example: `assay deploy audit --region all`
    """
    from assay.rooms.deploy.work.life.charges import book_of, price_things
    from assay.rooms.deploy.work.life.cloud import Cloud, regions_of
    from assay.rooms.deploy.work.life.deletion import compare_stacks, over_text
    from assay.rooms.deploy.work.life.inventory import find_tagged
    from assay.rooms.deploy.work.life.records import all_records

    now = dt.datetime.now(dt.UTC)
    found: list[tuple[Tagged, PricedThing]] = []
    sums: list[tuple[str, Prices]] = []
    chosen = regions_of(regions, (record.region for record in all_records()))
    for region in chosen:
        cloud = Cloud(region)
        inventory = find_tagged(cloud)
        tagged_things, over = compare_stacks(cloud, inventory.found)
        prices = price_things((each.thing for each in tagged_things), book_of(region, book))
        costly = [pair for pair in zip(tagged_things, prices.things, strict=True) if pair[1].hour != 0]
        found += costly
        sums += [(region, prices)] if costly else []
        output.warn_old(prices)
        for name in over:
            note(over_text(name, region))
        for error in inventory.unanswered:
            note(warning(f"{region}: not looked at: {error.message}"))
    found.sort(key=lambda pair: (not pair[0].is_expired(now), -(pair[1].hour or 0), pair[0].stack))
    if as_json:
        print_json([_facts(tagged, priced, now) for tagged, priced in found])
    elif found:
        output.print_things(found, sums[0][1].currency, now)
        for region, prices in sums:
            print_line(f"{region}: {output.sum_text(prices, 'day')}")
    else:
        note(f"nothing tagged by Assay costs money in {', '.join(chosen)}")
    raise typer.Exit(EXIT_LEFT if any(tagged.is_expired(now) for tagged, _ in found) else 0)


def _facts(tagged: "Tagged", priced: "PricedThing", now: dt.datetime) -> dict[str, Any]:
    return {
        "region": tagged.region,
        "stack": tagged.stack,
        "owner": tagged.owner,
        "id": priced.thing.id,
        "kind": priced.thing.kind,
        "what": priced.thing.what,
        "per_day": None if priced.day is None else str(priced.day),
        "note": priced.remarks,
        "expires": tagged.expires.isoformat() if tagged.expires else None,
        "is_left": tagged.is_left,
        "is_expired": tagged.is_expired(now),
    }
