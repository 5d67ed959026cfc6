"""`assay deploy up`."""

import datetime as dt
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

import typer

from assay.model.base import EXIT_INCOMPLETE, EXIT_REFUSED, AssayError, warning
from assay.model.units import choices_hint, display_value
from assay.rooms.deploy.commands import stack_output as output
from assay.terminal.output import note, print_line

if TYPE_CHECKING:
    from assay.rooms.deploy.model.stack import Stack
    from assay.rooms.deploy.work.life.cloud import Cloud
    from assay.rooms.deploy.work.life.ordering import PricedOrder
    from assay.rooms.deploy.work.life.records import StackJournal
    from assay.rooms.deploy.work.life.template import TemplateBody
    from assay.rooms.deploy.work.templates.plan import HostOptions


def command(
    design: str = typer.Argument("", metavar="[DESIGN]", help="A design; values may follow: nfs-gp3:volumes=8."),
    fixed: list[str] = typer.Option([], "--set", metavar="KEY=VALUE", help="Value of a parameter of the design."),
    capacity: str = typer.Option("", "--capacity", metavar="SIZE", help="Size the design for this usable capacity."),
    clients: int = typer.Option(None, "--clients", metavar="N", min=0, max=1000, help="Client hosts. Default: 1."),
    client_instance: str = typer.Option("", "--client-instance", metavar="TYPE", help="Instance type of the clients."),
    login: str = typer.Option("", "--login", metavar="TYPE", help="Add a login host of this instance type."),
    attach: bool = typer.Option(False, "--attach", help="Join a BeeGFS that exists, with storage hosts only."),
    name: str = typer.Option(..., "--name", metavar="NAME", help="Name of the stack."),
    region: str = typer.Option(
        "", "--region", metavar="REGION", help="Region. Default: that of the AWS configuration."
    ),
    template: str = typer.Option("", "--template", metavar="FILE", help="A template of your own instead of a design."),
    parameters: list[str] = typer.Option(
        [], "--parameter", metavar="KEY=VALUE", help="Value of a parameter of the template. Repeatable."
    ),
    expires: str = typer.Option("8h", "--expires", metavar="TIME", help="Time until the stack ends by itself."),
    budget: str = typer.Option("", "--budget", metavar="USD", help="Refuse what costs more than this until then."),
    on_failure: str = typer.Option(
        "remove", "--on-failure", help="remove: take a failed stack down; keep: leave it for diagnosis, and pay for it."
    ),
    owner: str = typer.Option("", "--owner", help="Value of the tag `assay:owner`. Default: your user name."),
    book: str = output.BOOK,
    yes: bool = output.YES,
) -> None:
    """Create a stack: show what will be made and its price, ask, create it, and follow it to the end.

    The stack goes on without this command: after Ctrl-C or a lost connection the same command follows it again, and
    `assay deploy down NAME` removes it. Exit codes: 0 it is up, 1 its creation failed, 2 wrong input, 3 refused.

    Example: `assay deploy up nfs-gp3 --name nfs1 --parameter KeyName=ann --expires 8h --budget 25`
    """
    from assay.rooms.deploy.work.life.charges import book_of
    from assay.rooms.deploy.work.life.cloud import Cloud
    from assay.rooms.deploy.work.life.creation import Failure
    from assay.rooms.deploy.work.life.ordering import Options, check_input, make_order, parse_budget, read_body
    from assay.rooms.deploy.work.life.records import StackJournal
    from assay.rooms.deploy.work.life.stacks import check_name
    from assay.rooms.deploy.work.life.template import parse_pairs
    from assay.rooms.deploy.work.templates.plan import HostOptions

    check_name(name)
    if on_failure not in tuple(Failure):
        raise AssayError(f"--on-failure: {display_value(on_failure)} is unknown", choices_hint(on_failure, Failure))
    if bool(design) == bool(template):
        raise AssayError("name a design or, with --template, a file, and not both", "such as nfs-gp3")
    if template:
        if fixed or capacity or clients is not None or client_instance or login or attach:
            raise AssayError("--template names a whole template: options of designs do not apply", "use --parameter")
        body = read_body(template)
    else:
        body = _designed_body(design, fixed, capacity, HostOptions(clients, client_instance, login, attach))
    limit, now = parse_budget(budget), dt.datetime.now(dt.UTC)
    options = Options(name, region, parse_pairs(parameters), expires, limit, Failure(on_failure), owner)
    check_input(body, options, now)
    cloud = Cloud(region)
    order = make_order(body, replace(options, region=cloud.region), book_of(cloud.region, book), now)
    journal = StackJournal(cloud.identity.account, cloud.region, name)
    stack, is_ready = _existing_or_new(cloud, journal, order, limit, yes)
    _finish(stack if is_ready else _followed(cloud, stack), cloud, journal, yes)


def _designed_body(design: str, fixed: list[str], capacity: str, hosts: "HostOptions") -> "TemplateBody":
    """Return the template of a design, as `assay deploy template` writes it."""
    from assay.rooms.deploy.commands.template import plan_of
    from assay.rooms.deploy.work.life.template import body_of
    from assay.rooms.deploy.work.templates.build import build_template
    from assay.rooms.deploy.work.templates.render import template_json

    document = build_template(plan_of(design, fixed, capacity, hosts))
    return body_of(document, template_json(document), design)


def _existing_or_new(
    cloud: "Cloud", journal: "StackJournal", order: "PricedOrder", limit: "Decimal | None", yes: bool
) -> tuple["Stack", bool]:
    """Return the stack of this order's owner that is there already, or a new one; and whether it is up."""
    from assay.rooms.deploy.work.life.creation import Situation, adopt, create, situation
    from assay.rooms.deploy.work.life.stacks import find_stack
    from assay.rooms.deploy.work.life.zones import with_zone

    stack = find_stack(cloud, order.order.name)
    found = situation(stack, journal.read(), order.order.owner)
    if stack is not None and found in (Situation.READY, Situation.BEGUN):
        word = "is up already" if found is Situation.READY else "is being created already"
        note(f"stack {stack.name} {word}, since {output.time_text(stack.created)}: nothing new is made")
        adopt(cloud, journal, stack)
        return stack, found is Situation.READY
    if stack is not None:
        _clear_name(cloud, journal, stack, yes)
    order = with_zone(cloud, order)
    _print_plan(cloud, order, limit)
    _check_account(cloud, order)
    if not output.confirm("Create it?", yes):
        raise typer.Exit(EXIT_REFUSED)
    return create(cloud, order.order, journal), False


def _clear_name(cloud: "Cloud", journal: "StackJournal", stack: "Stack", yes: bool) -> None:
    """Remove a failed stack, which blocks its name, or wait for one that is being deleted."""
    from assay.rooms.deploy.model.faults import CloudError, FaultKind
    from assay.rooms.deploy.work.life.deletion import delete, is_over

    if stack.status != "DELETE_IN_PROGRESS":
        note(f"stack {stack.name} is left from an earlier attempt ({stack.status}) and blocks the name")
        # One that was rolled back or is over has nothing left; others may be there for diagnosis: --yes is not enough.
        is_empty = stack.status == "ROLLBACK_COMPLETE" or is_over(cloud, stack)
        if not (is_empty or output.has_terminal()) or not output.confirm("Remove it first?", yes and is_empty):
            hint = f"`assay deploy down {stack.name}` removes it"
            raise CloudError(FaultKind.NAME_TAKEN, f"stack {stack.name} is {stack.status}", hint)
    ended = delete(cloud, stack, journal, note)
    if not ended.is_complete:
        lines = "; ".join(ended.cause.lines()) if ended.cause else "no reason is stated"
        raise CloudError(FaultKind.NAME_TAKEN, f"stack {stack.name} cannot be removed: {lines}")
    journal.forget()


def _print_plan(cloud: "Cloud", order: "PricedOrder", limit: "Decimal | None") -> None:
    from assay.model.units import about_duration
    from assay.rooms.deploy.work.life.template import capabilities

    output.print_prices(order.prices)
    end = f"{output.time_text(order.end)}, in {about_duration(float(order.hours) * 3600)}"
    most = "" if order.prices.is_complete else ", and what the notes above name"
    print_line(f"stack {order.order.name} in {cloud.region}, account {cloud.identity.account}, {cloud.identity.arn}")
    print_line(f"price: {output.sum_text(order.prices)}")
    print_line(f"ends: {end}; until then at most {output.money(order.most, order.prices.currency)}{most}")
    if limit is not None and not order.prices.is_complete:
        print_line("the budget does not cover what the notes above name")
    zone = order.order.values.get("AvailabilityZone")
    if zone and "AvailabilityZone" not in order.order.written:
        print_line(f"zone: {zone}, which offers all these instance types")
    if capabilities(order.order.body.template):
        print_line("it makes roles of IAM: your credentials need the right to make them")
    output.warn_old(order.prices)


def _check_account(cloud: "Cloud", order: "PricedOrder") -> None:
    """Print the vCPUs that are needed and what keeps the user from logging in; refuse what exceeds a quota."""
    from assay.rooms.deploy.work.life.access import access_gaps
    from assay.rooms.deploy.work.life.quotas import check_quotas, vcpu_needs, vcpu_text

    needs, is_complete = vcpu_needs(each.thing for each in order.prices.things)
    if needs:
        print_line(f"vCPUs: {vcpu_text(needs, is_complete)}")
    has_hosts = bool(needs) or not is_complete
    for gap in access_gaps(order.order.body.template, order.order.values) if has_hosts else ():
        note(warning(gap))
    check_quotas(cloud, needs)


def _followed(cloud: "Cloud", stack: "Stack") -> "Stack":
    """Follow a stack to the end; if this command ends before, say how to go on."""
    from assay.rooms.deploy.work.life.creation import follow

    try:
        return follow(cloud, stack, note)
    except (AssayError, KeyboardInterrupt):
        note(
            f"the stack goes on: `assay deploy status {stack.name}` shows it, `assay deploy down {stack.name}` ends it"
        )
        raise


def _finish(stack: "Stack", cloud: "Cloud", journal: "StackJournal", yes: bool) -> None:
    """Print the end of a creation: hosts and next commands, or the first cause of the failure."""
    from assay.rooms.deploy.work.life.events import first_cause
    from assay.rooms.deploy.work.life.stacks import stack_events

    if not stack.has_failed and not stack.is_deleted:
        _print_hosts(cloud, stack)
        return
    cause = first_cause(stack_events(cloud, stack.id, set()))
    print_line(f"stack {stack.name} failed: {stack.status}", err=True)
    for line in cause.lines() if cause else [stack.reason or "CloudFormation states no reason"]:
        print_line(cloud.scrub(line), err=True)
    if cause and cause.hint:
        note(f"hint: {cause.hint}")
    if stack.is_deleted:
        journal.forget()
    elif output.has_terminal() and not yes and output.confirm("Take it down now?", False):
        from assay.rooms.deploy.commands.down import take_down
        from assay.rooms.deploy.work.life.places import StackPlace

        take_down(StackPlace(cloud, journal, journal.read(), stack), stack.name, False, True, "")
    else:
        note(f"`assay deploy down {stack.name} --region {cloud.region}` takes it down")
    raise typer.Exit(EXIT_INCOMPLETE)


def _print_hosts(cloud: "Cloud", stack: "Stack") -> None:
    from assay.rooms.deploy.work.life.hosts import client_group, stack_hosts

    group = client_group(cloud, stack)
    hosts = stack_hosts(cloud, stack, group)
    output.print_hosts(hosts)
    if group is not None and group.is_short:
        note(warning(output.group_text(group)))
    for key in ("Mount", "MountPoint", "LoginAddress", "BucketName", "TableName", "FileSystemId"):
        if stack.outputs.get(key):
            print_line(f"{key}: {stack.outputs[key]}")
    where = f"{stack.name} --region {cloud.region}"
    print_line(f"next: `assay deploy status {where}`, `assay run STUDY --on {stack.name}`, `assay deploy down {where}`")
