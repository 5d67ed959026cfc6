"""Runs the scripts of roles on hosts, over the shells by which Assay reaches them."""

import contextlib
import shlex
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby

from assay.launch.shell import Shell, close_shells, make_shell
from assay.model.base import AssayError
from assay.rooms.deploy.work.hosts.file import HostTask
from assay.rooms.deploy.work.hosts.outcome import HostOutcome, failed_outcome, parse_outcome
from assay.rooms.deploy.work.roles.scripts import env_path, role_env, role_script, script_path

AT_ONCE = 32
"""Hosts that are set up at the same time."""
FACTS_SECONDS = 300.0
"""Longest time of a plan: blank disks are read at many places."""
SETUP_SECONDS = 7200.0
"""Longest time of a role: packages, file systems of many TB, and servers that come up meanwhile."""
COPY_SECONDS = 60.0
_WRITE = (
    "umask 022 && mkdir -p /etc/assay && umask 077 && "
    'cat >"$0.new" && [ "$(wc -c <"$0.new")" -eq "$1" ] && sync "$0.new" && mv "$0.new" "$0"'
)
"""Writes a file of so many bytes; what a connection that breaks has sent so far never takes its place."""


def plan_script(task: HostTask) -> str:
    """Return what a host's shell reads to plan: the values, and the role's script."""
    return f"ASSAY_VALUES={shlex.quote(role_env(task.values))}\n{role_script(task.role)}"


def plan_hosts(tasks: Sequence[HostTask]) -> list[HostOutcome]:
    """Return what would be done on each host; nothing is written there."""
    with _pool() as pool:
        return list(pool.map(_plan, tasks))


def set_up_hosts(tasks: Sequence[HostTask], report: Callable[[HostOutcome], None]) -> list[HostOutcome]:
    """Set hosts up, one stage after the other; a stage in which a host fails is the last one.

    Args:
        tasks: In the order of their stages.
        report: Called with each outcome, in the order of `tasks`.

    Returns:
        Outcomes, without those of stages that were not begun.
    """
    outcomes: list[HostOutcome] = []
    with _pool() as pool:
        for _, stage in groupby(tasks, key=lambda task: task.stage):
            for outcome in pool.map(_set_up, list(stage)):
                outcomes.append(outcome)
                report(outcome)
            if any(outcome.has_failed for outcome in outcomes):
                break
    return outcomes


@contextlib.contextmanager
def _pool() -> Iterator[ThreadPoolExecutor]:
    """Yield threads for the hosts; when the user interrupts, those that wait for a host are not waited for."""
    pool = ThreadPoolExecutor(AT_ONCE)
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        close_shells()
        raise
    pool.shutdown()


def _plan(task: HostTask) -> HostOutcome:
    try:
        shell = make_shell(task.host)
        command = [*_as_root(shell), "sh", "-s", "--", "--plan", "--json"]
        return parse_outcome(task, shell.run(command, FACTS_SECONDS, plan_script(task).encode()))
    except AssayError as error:
        return failed_outcome(task, error)


def _set_up(task: HostTask) -> HostOutcome:
    try:
        shell = make_shell(task.host)
        root = _as_root(shell)
        # The same two files as at a first boot, so that it can be run again there, by hand too.
        for path, text in (
            (env_path(task.role), role_env(task.values)),
            (script_path(task.role), role_script(task.role)),
        ):
            data = text.encode()
            copied = shell.run([*root, "sh", "-c", _WRITE, path, str(len(data))], COPY_SECONDS, data)
            if copied.code:
                return HostOutcome(task, fault=f"{path} cannot be written: {copied.last_line}")
        return parse_outcome(task, shell.run([*root, "sh", script_path(task.role), "--json"], SETUP_SECONDS))
    except AssayError as error:
        return failed_outcome(task, error)


def _as_root(shell: Shell) -> list[str]:
    words = shell.run(["id", "-u"], COPY_SECONDS).out.split()
    if words[-1:] == ["0"]:
        return []
    refused = shell.run(["sudo", "-n", "true"], COPY_SECONDS)
    if refused.code:
        hint = "log in as root, or let this user use sudo without a password"
        raise AssayError(f"only root can set up a host: {refused.last_line}", hint)
    return ["sudo", "-n"]
