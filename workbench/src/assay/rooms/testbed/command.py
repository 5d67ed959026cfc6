"""`assay testbed`: a cluster in a box."""

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from assay.model.base import EXIT_REFUSED, AssayError, warning
from assay.terminal.command_group import group

if TYPE_CHECKING:
    from assay.model.site.box_state import RunningHost
    from assay.rooms.testbed.work.running import RunningBox

app = group()

BOX = typer.Option("", "--box", help="Name of the box; needed only if several have a host of this name.")
USER = typer.Option("", "--user", help="One of the box's users, instead of root.")
IN_WORKING_DIRECTORY = 'cd "$0" 2>/dev/null; exec "$@"'
"""Shell text that runs a command in the user's current directory, since hosts see the machine's files."""
IN_HOME = 'cd && exec "$@"'
"""Shell text that runs a command in the home directory of a user of the box."""


@app.callback()
def command() -> None:
    """Build clusters on this machine: hosts in namespaces with shaped links, disks and real servers.

    A host is a set of namespaces; the machine's own network is not changed. Needs root.

    Example: `assay testbed up office`, `assay testbed exec client1 -- ping -c 3 server1`, `assay testbed down office`
    """


@app.command()
def up(
    ref: str = typer.Argument(..., metavar="NAME|FILE", help="A box that comes with Assay, or a file."),
    name: str = typer.Option(
        "", "--as", metavar="NAME", help="Name of the running box. Default: the name in its file."
    ),
) -> None:
    """Start a box; remains of earlier ones are removed first.

    Example: `assay testbed up cluster-8`
    """
    from assay.rooms.testbed.work.box import load_box
    from assay.rooms.testbed.work.up import bring_up
    from assay.terminal.output import note

    begin = time.monotonic()
    box = bring_up(load_box(ref, Path.cwd()), name)
    count = f"{len(box.hosts)} host{'' if len(box.hosts) == 1 else 's'}"
    note(f"box {box.name} is up after {time.monotonic() - begin:.1f} s: {count}; `assay testbed status {box.name}`")


@app.command()
def status(
    name: str = typer.Argument("", metavar="[NAME]", help="One box; all if left out."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """List the running boxes with hosts, addresses, links and servers; remains of others are removed.

    Example: `assay testbed status --json`
    """
    from assay.rooms.testbed.work.find import running_boxes
    from assay.rooms.testbed.work.programs import check_rights
    from assay.terminal.output import note, print_json, print_table

    check_rights()
    _sweep()
    boxes = [box for box in running_boxes() if name in ("", box.name)]
    if name and not boxes:
        raise AssayError(f"no box {name} is up", "`assay testbed status` lists the running boxes")
    facts = [_box_facts(box) for box in boxes]
    if as_json:
        print_json(facts)
    elif not boxes:
        note("no box is up; start one with `assay testbed up office`")
    else:
        columns = ("box", "host", "address", "roles", "link", "state", "servers")
        print_table(columns, [row for fact in facts for row in _rows(fact)])


@app.command()
def shell(
    host: str = typer.Argument(..., help="A host of a running box."),
    name: str = BOX,
    user: str = USER,
) -> None:
    """Open a shell on a host.

    Example: `assay testbed shell client1`
    """
    box = _box_of(host, name)
    if user:
        _exec_program([*box.enter_as(host, user), "/bin/sh", "-c", IN_HOME, "sh", "/bin/sh", "-i"])
    program = os.environ.get("SHELL", "")
    _exec_program(
        [
            *box.enter(host),
            "/bin/sh",
            "-c",
            IN_WORKING_DIRECTORY,
            str(Path.cwd()),
            program if program else "/bin/sh",
            "-i",
        ]
    )


@app.command(name="exec", context_settings={"ignore_unknown_options": True})
def execute(
    host: str = typer.Argument(..., help="A host of a running box."),
    words: list[str] = typer.Argument(..., metavar="-- CMD...", help="The command and its arguments."),
    name: str = BOX,
    user: str = USER,
) -> None:
    """Run a command on a host; the exit code is the command's.

    Example: `assay testbed exec client1 -- iperf3 -c server1`
    """
    box = _box_of(host, name)
    if user:
        _exec_program([*box.enter_as(host, user), "/bin/sh", "-c", IN_HOME, "sh", *words])
    _exec_program([*box.enter(host), "/bin/sh", "-c", IN_WORKING_DIRECTORY, str(Path.cwd()), *words])


@app.command()
def down(
    name: str = typer.Argument("", metavar="[NAME]", help="The box."),
    every: bool = typer.Option(False, "--all", help="All boxes."),
    force: bool = typer.Option(False, "--force", help="Remove a box even if a run uses it; the run then fails."),
) -> None:
    """Remove a box with all that runs in it, and remains of others.

    Example: `assay testbed down cluster-8`
    """
    from assay.rooms.testbed.work.clean import take_down
    from assay.rooms.testbed.work.find import running_boxes
    from assay.rooms.testbed.work.programs import check_rights
    from assay.terminal.output import note

    check_rights()
    if bool(name) == every:
        raise AssayError("no box is named", "name one of `assay testbed status`, or write --all")
    begin = time.monotonic()
    boxes = {box.name: box for box in running_boxes()}
    names = list(boxes) if every else [name]
    used = [one for one in names if one in boxes and boxes[one].state.owner_pid]
    if used and not force:
        owner = boxes[used[0]].state.owner_pid
        hint = "wait for the run or stop it, which removes the box; --force removes it now"
        raise AssayError(f"box {used[0]} is used by a run that is still running (process {owner})", hint, EXIT_REFUSED)
    for one in names:
        left = take_down(one)
        note(f"box {one} is removed after {time.monotonic() - begin:.1f} s{'; ' if left else ''}{left}")
    _sweep()
    if not names:
        note("no box is up")


def _sweep() -> None:
    from assay.rooms.testbed.work.find import remove_dead_boxes
    from assay.terminal.output import note

    names, problems = remove_dead_boxes()
    if names:
        note(f"removed remains of {', '.join(names)}")
    for problem in problems:
        note(warning(f"remains of an earlier box: {problem}"))


def _box_of(host: str, name: str) -> "RunningBox":
    """Return the running box that has this host; `name` narrows the search to one box."""
    from assay.rooms.testbed.work.find import running_boxes
    from assay.rooms.testbed.work.programs import check_rights

    check_rights()
    boxes = [box for box in running_boxes() if name in ("", box.name)]
    if not boxes:
        raise AssayError(f"no box{' ' + name if name else ''} is up", "start one with `assay testbed up NAME`")
    matches = [box for box in boxes if host in {one.name for one in box.hosts}]
    if len(matches) > 1:
        names = ", ".join(box.name for box in matches)
        raise AssayError(f"host {host} is in several boxes: {names}", "name one with --box NAME")
    if not matches:
        known = ", ".join(dict.fromkeys(one.name for box in boxes for one in box.hosts))
        raise AssayError(f"no running box has a host {host}", f"the hosts are {known}")
    return matches[0]


def _exec_program(words: list[str]) -> NoReturn:
    """Replace this process by another program, which then has the signals, the terminal and the exit code."""
    try:
        os.execvp(words[0], words)
    except OSError as error:
        raise AssayError(f"{words[0]}: {error.strerror}") from error


def _box_facts(box: "RunningBox") -> dict[str, Any]:
    hosts = [_host_facts(box, host) for host in box.hosts]
    return {"name": box.name, "box": box.state.box, "ssh_config": str(box.ssh_config), "hosts": hosts}


def _host_facts(box: "RunningBox", host: "RunningHost") -> dict[str, Any]:
    alive = box.is_alive(host.name)
    facts = host.model_dump(mode="json", exclude={"start", "servers", "group"})
    servers = []
    for server in host.servers:
        fault = box.server_fault(host.name, server) if alive else "the host is dead"
        servers.append({**server.model_dump(mode="json"), "ready": not fault, "fault": fault})
    return {**facts, "alive": alive, "servers": servers}


def _rows(facts: dict[str, Any]) -> list[tuple[str, ...]]:
    return [
        (
            facts["name"],
            host["name"],
            host["address"],
            ", ".join(host["roles"]),
            _link(host),
            "up" if host["alive"] else "dead",
            "; ".join(
                f"{server['kind']} {server['version']} {', '.join(_served_names(server))}: "
                f"{'ready' if server['ready'] else 'not ready'}"
                for server in host["servers"]
            ),
        )
        for host in facts["hosts"]
    ]


def _served_names(server: dict[str, Any]) -> list[str]:
    names = [name for key in ("exports", "devices", "buckets", "tables") for name in server[key]]
    return [*names, *([f"{server['source']} at {server['mount']}"] if server["mount"] else [])]


def _link(host: dict[str, Any]) -> str:
    from assay.model.units import format_duration, format_link, format_loss

    parts = [format_link(host["link"]) if host["link"] else "unshaped"]
    parts += [f"+{format_duration(host['delay'])}"] if host["delay"] else []
    parts += [f"{format_loss(host['loss'])} lost"] if host["loss"] else []
    parts += [f"at {host['site']}"] if host["site"] else []
    return " ".join(parts)
