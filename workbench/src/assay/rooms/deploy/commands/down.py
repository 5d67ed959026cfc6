"""`assay deploy down`."""

import datetime as dt
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from assay.model.base import EXIT_LEFT, EXIT_REFUSED, AssayError, warning
from assay.rooms.deploy.commands import stack_output as output
from assay.terminal.output import note, print_line

if TYPE_CHECKING:
    from assay.rooms.deploy.model.stack import Stack
    from assay.rooms.deploy.work.life.cloud import Cloud
    from assay.rooms.deploy.work.life.deletion import Deletion
    from assay.rooms.deploy.work.life.places import StackPlace


def command(
    name: str = output.NAME,
    region: str = output.REGION,
    with_data: bool = typer.Option(False, "--with-data", help="Delete the objects in the stack's buckets, too."),
    book: str = output.BOOK,
    yes: bool = output.YES,
) -> None:
    """Delete a stack, wait for the end, and look for what is left of it.

    All data of the stack is lost. A killed or failed deletion is finished by the same command. Exit codes: 0 nothing is
    left, 2 wrong input, 3 refused, 4 something is left, which is printed with what it costs a day.

    Example: `assay deploy down nfs1`
    """
    from assay.rooms.deploy.work.life.places import find_place

    take_down(find_place(name, region), name, with_data, yes, book)


def take_down(place: "StackPlace", name: str, with_data: bool, yes: bool, book: str) -> None:
    """Delete a stack and what its commands recorded of it, and look for what is left.

    Raises:
        AssayError: It is refused.
        Exit: With `EXIT_LEFT` if something is left.
    """
    from assay.rooms.deploy.work.life.deletion import Deletion, delete, ended_before
    from assay.rooms.deploy.work.life.staging import remove_staging

    cloud, stack = place.cloud, place.stack
    remove_staging(cloud, place.journal)
    ended = Deletion(None, None) if stack is None else ended_before(cloud, stack)
    if stack is not None and not stack.is_deleted:
        _check_owner(stack, yes)
        _clear_buckets(cloud, stack, with_data)
        ended = delete(cloud, stack, place.journal, note)
    if not ended.is_complete:
        _print_failure(name, ended)
    record = place.journal.read()
    is_clean = _print_left(cloud, name, ended, record.volumes if record else (), book)
    if not is_clean:
        raise typer.Exit(EXIT_LEFT)
    place.journal.forget()
    what = "was never created" if stack is None else "is gone"
    print_line(f"stack {name} {what}, and nothing of it is left")


def _check_owner(stack: "Stack", yes: bool) -> None:
    import getpass

    if stack.owner not in ("", getpass.getuser()):
        question = f"Stack {stack.name} belongs to {stack.owner}. Delete it?"
        if not output.confirm(question, yes):
            raise typer.Exit(EXIT_REFUSED)


def _clear_buckets(cloud: "Cloud", stack: "Stack", with_data: bool) -> None:
    """Empty the buckets of a stack: CloudFormation does not delete one with objects."""
    from assay.rooms.deploy.work.life.buckets import empty_bucket, filled_buckets

    filled = filled_buckets(cloud, stack)
    for content in filled:
        note(content.text())
    if filled and not with_data:
        if not output.has_terminal():
            hint = "copy what you need, and add --with-data to delete the rest"
            raise AssayError(f"{filled[0].text()}: nothing was deleted", hint, EXIT_REFUSED)
        if not typer.confirm("Delete these objects, too?"):
            raise typer.Exit(EXIT_REFUSED)
    for content in filled:
        empty_bucket(cloud, content.name)


def _print_failure(name: str, ended: "Deletion") -> None:
    assert ended.stack is not None
    print_line(f"stack {name} could not be deleted: {ended.stack.status}", err=True)
    for line in ended.cause.lines() if ended.cause else [ended.stack.reason or "no reason is stated"]:
        print_line(line, err=True)
    if ended.cause and ended.cause.hint:
        note(f"hint: {ended.cause.hint}")


def _print_left(cloud: "Cloud", name: str, ended: "Deletion", volumes: "Sequence[str]", book: str) -> bool:
    """Print what is left of a stack with its price; return whether nothing is."""
    from assay.rooms.deploy.work.life.charges import book_of, price_things
    from assay.rooms.deploy.work.life.deletion import find_left

    inventory = find_left(cloud, name, volumes)
    prices = price_things((each.thing for each in inventory.found), book_of(cloud.region, book))
    if inventory.found:
        output.print_things(zip(inventory.found, prices.things, strict=True), prices.currency, dt.datetime.now(dt.UTC))
        count = "1 thing" if len(inventory.found) == 1 else f"{len(inventory.found)} things"
        print_line(f"left of stack {name}: {count}, {output.sum_text(prices, 'day')}")
        output.warn_old(prices)
    for text in ended.retained:
        note(f"the template keeps {text}")
    for error in inventory.unanswered:
        note(warning(f"not looked for: {error.message}"))
    return ended.is_complete and not inventory.found
