"""Hosts of a stack that are lost during a run: why they are gone, and other instances in their place."""

import json
import time
from collections.abc import Sequence

from assay.launch.shell import make_shell
from assay.model.base import EXIT_REFUSED, AssayError, PrintLine, warning
from assay.model.result.host_loss import HostLoss
from assay.model.room import hook
from assay.model.site.host import Host, instance_ids
from assay.model.site.instance import FORGOTTEN
from assay.model.steady_clock import steady_time
from assay.model.study.case import Case
from assay.model.study.hosts import HostTool
from assay.model.study.study import Study
from assay.model.units import about_duration
from assay.run.context import RunContext
from assay.run.study_plan import Plan
from assay.site.inventory.machines.cloudformation import instance_states
from assay.site.inventory.machines.documents import STACK
from assay.site.inventory.replacement import Replacement, find_replacements, store_inventory
from assay.site.inventory.site import InventorySite
from assay.store import RunStore
from assay.store.entries import INVENTORY
from assay.store.safe_files import plain_file_status

REPLACEMENT_SECONDS = 900.0
"""Longest wait for other instances: a group notices a loss within minutes, and a client sets itself up in minutes."""
POLL_SECONDS = 20.0
"""Time between two looks whether they are there."""
STOP_POLL_SECONDS = 0.2
"""Time between two checks whether to stop, while the run waits."""
SET_UP_SECONDS = 60.0
"""Longest wait for a login and the answer of the command below."""
STILL_SETTING_UP = 124
"""Exit code of timeout(1) when the command was still running."""
SET_UP = (0, 2)
"""Exit codes of `cloud-init status` when all is done; 2: with errors that it recovered from (docs.cloud-init.io)."""
_WAIT_FOR_SET_UP = "command -v cloud-init >/dev/null || exit 0; timeout 20 cloud-init status --wait >/dev/null 2>&1"


def find_losses(context: RunContext, case: Case, repeat: int) -> tuple[HostLoss, ...]:
    """Query once which hosts of a repeat that did not end well have ended, and print a line for each.

    Only a stack is queried; hosts of any other site are never lost in this sense.

    Args:
        context: The session.
        case: The case that was measured.
        repeat: The repeat that did not end well.
    """
    fleet, stack = context.fleet, _stack_of(context.plan.study)
    names = context.plan.study.targets[case.target].server_names
    servers = fleet.serving_hosts(names) if names else []
    hosts = {host.instance: host for host in (*fleet.hosts[: case.parameters.hosts], *servers) if host.instance}
    if stack is None or not hosts:
        return ()
    try:
        states = instance_states(json.loads(hook("stack_document")(stack.name, stack.region or "")))
    except AssayError as error:
        context.print_line(warning(f"whether AWS has ended a host is unknown: {error.message}"))
        return ()
    losses = []
    for instance, host in hosts.items():
        state = states.get(instance, FORGOTTEN)
        if state.is_live:
            continue
        loss = HostLoss(
            host=host.name,
            instance=instance,
            state=state.state,
            code=state.code,
            ended_at=state.ended_at,
            noticed_at=steady_time(),
            case=case.id,
            repeat=repeat,
            is_server=host in servers,
            is_in_group=state.has_group,
        )
        context.print_line(warning(loss.sentence))
        losses.append(loss)
    if losses:
        context.store.store_host_losses((*context.store.info().host_losses, *losses))
    return tuple(losses)


def wait_for_replacements(context: RunContext) -> bool:
    """Wait until other instances are in place of the hosts that the session has lost, and have set themselves up.

    Args:
        context: The session, whose site is down.

    Returns:
        Whether the run can go on with them; else a line says why not.
    """
    names, losses = [host.name for host in context.fleet.hosts], context.losses
    if server := next((loss for loss in losses if loss.is_server), None):
        context.print_line(f"{server.host} had the data under test: this run cannot go on; what was measured is kept")
        return False
    if single := next((loss for loss in losses if not loss.is_in_group), None):
        context.print_line(f"nothing starts another instance in place of {single.host}")
        return False
    lost = ", ".join(loss.host for loss in losses)
    wait = about_duration(REPLACEMENT_SECONDS)
    context.print_line(f"waiting up to {wait} for the group to start another instance in place of {lost}")
    end, printed = time.monotonic() + REPLACEMENT_SECONDS, ""
    while reason := _replace(context, names):
        if reason != printed:
            context.print_line(reason)
            printed = reason
        if not _pause(context, min(POLL_SECONDS, end - time.monotonic())):
            return False
    return True


def take_replacements(plan: Plan, store: RunStore, print_line: PrintLine) -> None:
    """Before a run on a stack is resumed, take the instances that are now in place of those that it has lost.

    If the stack cannot be queried, the hosts stay as they were.

    Args:
        plan: The run's study and the cases that are to be measured.
        store: The run, open for writing.
        print_line: Prints a line.

    Raises:
        AssayError: A host is gone, and no other instance is in its place.
    """
    stack = _stack_of(plan.study)
    if stack is None or plain_file_status(store.folder, INVENTORY) is None:
        return
    needed = max((case.parameters.hosts for case in plan.cases), default=1)
    site = InventorySite(plan.study.hosts, store.folder, is_run_folder=True).up(lambda _: None)
    clients = [host.name for host in site.clients[:needed]]
    try:
        found = find_replacements(plan.study.hosts, store.folder, clients)
    except AssayError as error:
        print_line(warning(f"hosts are taken as they were: {error.message}"))
        return
    _refuse_missing(found, clients, plan.study, stack, store)
    _store_replacements(found, store, print_line)


def _stack_of(study: Study) -> HostTool | None:
    known_by = study.hosts.known_by
    return known_by if known_by is not None and known_by.tool == STACK else None


def _refuse_missing(found: Replacement, clients: Sequence[str], study: Study, stack: HostTool, store: RunStore) -> None:
    served = {name for target in study.targets.values() for name in target.server_names}
    hosts = found.inventory.hosts
    for name, instance in found.missing.items():
        if {name, hosts[name].address} & served:
            message = f"{name} ({instance}) of stack {stack.name} is gone with the data under test"
            raise AssayError(message, f"measure on another stack: {store.info().command}", EXIT_REFUSED)
    if gone := [f"{name} ({found.missing[name]})" for name in clients if name in found.missing]:
        message = f"no other instance of stack {stack.name} is in place of {', '.join(gone)}"
        hint = f"when `assay deploy status {stack.name}` shows one: assay run {store.folder} --resume"
        raise AssayError(message, hint, EXIT_REFUSED)


def _replace(context: RunContext, names: Sequence[str]) -> str:
    """Take other instances in place of the lost ones, if they are ready; return why not, or an empty text."""
    study, store = context.plan.study, context.store
    try:
        found = find_replacements(study.hosts, store.folder, names)
    except AssayError as error:
        return f"whether other instances are there is unknown: {error.message}"
    if missing := [name for name in names if name in found.missing]:
        return f"no other instance is in place of {', '.join(missing)} yet"
    for host in found.replaced.values():
        if reason := _unready_reason(host):
            return reason
    _store_replacements(found, store, context.print_line)
    return ""


def _unready_reason(host: Host) -> str:
    """Return why a new instance cannot be used yet; empty if it can."""
    what = f"{host.name} ({host.instance})"
    try:
        code = make_shell(host).run(["sh", "-c", _WAIT_FOR_SET_UP], SET_UP_SECONDS).code
    except AssayError as error:
        return f"{what} cannot be used yet: {error.message}; {error.hint}"
    if code in SET_UP:
        return ""
    if code == STILL_SETTING_UP:
        return f"{what} is still setting itself up"
    return f"{what} could not set itself up: see `cloud-init status --long` there"


def _store_replacements(found: Replacement, store: RunStore, print_line: PrintLine) -> None:
    store_inventory(store.folder, found.inventory)
    instances = instance_ids(found.replaced.values())
    losses = [
        loss.model_copy(update={"replaced_by": instances[loss.host]})
        if not loss.replaced_by and loss.host in instances
        else loss
        for loss in store.info().host_losses
    ]
    store.store_host_losses(losses)
    for name, instance in instances.items():
        print_line(f"{name} is the instance {instance} from now on; what was lost with the other one is measured again")


def _pause(context: RunContext, seconds: float) -> bool:
    """Wait; False if there is no time left, or the user, the deadline or the budget ends the wait."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        is_used_up = context.meter is not None and context.meter.is_used_up()
        if context.stop_level() or is_used_up:
            return False
        time.sleep(min(STOP_POLL_SECONDS, left))
    return seconds > 0
