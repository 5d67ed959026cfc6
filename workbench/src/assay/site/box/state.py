"""What is stored of a box that is up, and whether it still is."""

from pathlib import Path

from pydantic import ValidationError

from assay.journal.owner import Process, boot_id
from assay.model.site.box_state import BoxState, RunningHost
from assay.site.box.folders import STATE


def write_state(folder: Path, state: BoxState) -> None:
    """Store it, in one step: a box without it is one whose making was cut short."""
    unfinished = folder / f"{STATE}.new"
    unfinished.write_text(state.model_dump_json(indent=1) + "\n")
    unfinished.rename(folder / STATE)


def read_state(folder: Path) -> BoxState | None:
    """What is stored in a folder; None if its box was not finished."""
    try:
        return BoxState.model_validate_json((folder / STATE).read_bytes())
    except (OSError, ValidationError):
        return None


def host_process(host: RunningHost) -> Process:
    """The init of a host."""
    return Process(host.pid, host.start)


def is_up(state: BoxState | None) -> bool:
    """Whether a box is still of use: what joins its hosts lives, a host does, and so does who it belongs to."""
    if state is None or state.boot != boot_id():
        return False
    if state.owner_pid and not Process(state.owner_pid, state.owner_start).alive:
        return False
    joined = Process(state.switch_pid, state.switch_start).alive
    return joined and any(host_process(host).alive for host in state.hosts)
