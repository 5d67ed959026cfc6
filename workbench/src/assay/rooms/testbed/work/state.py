"""The stored state of a box, and whether the box is still up."""

from pathlib import Path

from pydantic import ValidationError

from assay.journal.processes import ProcessIdentity, boot_id
from assay.model.site.box_state import BoxState, RunningHost
from assay.rooms.testbed.work.folders import STATE


def write_state(folder: Path, state: BoxState) -> None:
    """Store the state of a finished box atomically: a box without it was never finished."""
    unfinished = folder / f"{STATE}.new"
    unfinished.write_text(state.model_dump_json(indent=1) + "\n")
    unfinished.rename(folder / STATE)


def read_state(folder: Path) -> BoxState | None:
    """Return the state stored in the folder of a box; None if the box was never finished."""
    try:
        return BoxState.model_validate_json((folder / STATE).read_bytes())
    except (OSError, ValidationError):
        return None


def host_process(host: RunningHost) -> ProcessIdentity:
    """Return the init process of a host."""
    return ProcessIdentity(host.pid, host.start)


def is_up(state: BoxState | None) -> bool:
    """Return whether a box is still usable: its switch, at least one host and its owner process, if any, are alive."""
    if state is None or state.boot != boot_id():
        return False
    if state.owner_pid and not ProcessIdentity(state.owner_pid, state.owner_start).is_alive:
        return False
    has_switch = ProcessIdentity(state.switch_pid, state.switch_start).is_alive
    return has_switch and any(host_process(host).is_alive for host in state.hosts)
