"""Measures the ceilings of one place without a study, with the same precautions as a run."""

import contextlib
import json
import os
import secrets
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from assay.contract._answers import PlaceState
from assay.kinds.handler import handler_of
from assay.launch.binary import Engine, load_engine
from assay.launch.launcher import LocalLauncher
from assay.launch.locks import close_all
from assay.launch.place_commands import SilentStorageError
from assay.launch.places import inspect_path, path_problems
from assay.model.base import EXIT_REFUSED, AssayError, PrintLine, warning
from assay.model.result.ceiling import Ceiling
from assay.model.result.run import TargetPlace
from assay.model.study.study import Study
from assay.plan.load import load_study
from assay.run.ceilings.meter import CeilingMeter
from assay.run.interruption import Interruption
from assay.run.places import claims, targets
from assay.run.preconditions import refuse_place
from assay.store import RunMeta, RunStore, new_run_id
from assay.store.entries import RUN_LOCK
from assay.store.lock import is_locked
from assay.store.lookup import run_folders

TARGET_NAME = "place"
"""The one target of the study that is generated for the measurement."""
OWN_DIRECTORY = "assay-ceilings"
"""Directory that is made in a directory with other content."""
ENGINE_WAIT_SECONDS = 30.0
"""How long to wait for the engine of a dead workbench, which ends by itself when it notices."""


@dataclass(frozen=True)
class PlaceCeilings:
    """The result of a measurement.

    Attributes:
        place: Where the target is.
        ceilings: Those of the host first.
    """

    place: TargetPlace
    ceilings: tuple[Ceiling, ...]


def measure_place(path: Path, destroy: bool, print_line: PrintLine) -> PlaceCeilings:
    """Measure memory and one place; everything that was made is removed.

    The measurement is a run without cases, so that the journal has everything before it is made. If this call is
    killed, the next call removes it.

    Args:
        path: Absolute path of a directory that is Assay's or empty, of one in which another may be made, or of a block
            device.
        destroy: The user has confirmed that a block device may be overwritten.
        print_line: Prints a line.

    Raises:
        AssayError: The measurement is refused or impossible.
        KeyboardInterrupt: The user stopped it.
    """
    engine = load_engine()
    study, text = _study(path)
    root = _folder_of_runs()
    interruption = Interruption()
    try:
        _remove_leftovers(root, print_line)
        refuse_place(study, TARGET_NAME, destroy)
        with interruption.watch():
            store = _create(root, text)
            try:
                found = _measure(study, store, engine, destroy, interruption, print_line)
            finally:
                _remove(store)
    except AssayError as error:
        # The user has not named the target, so its generated name is left out.
        raise AssayError(error.what, error.hint, error.exit_code, error.others) from error
    finally:
        with contextlib.suppress(OSError):
            root.rmdir()
    if interruption.count:
        raise KeyboardInterrupt
    return found


def _study(path: Path) -> tuple[Study, str]:
    """Return a study of the place and its text; its workload is never executed."""
    kind, place = _kind_and_place(path)
    document = {
        "study": "ceilings",
        "question": "What can this place do at most?",
        "targets": {TARGET_NAME: {"kind": kind, "path": str(place)}},
        "workloads": {"none": {"operations": ["read"], "file_size": "1MiB", "record_size": "1MiB"}},
    }
    text = json.dumps(document)
    loaded = load_study(text.encode())
    if loaded.study is None:
        message = loaded.problems[0].message.removeprefix(f"targets.{TARGET_NAME}.path: ")
        raise AssayError(message, loaded.problems[0].hint)
    return loaded.study, text


def _kind_and_place(path: Path) -> tuple[str, Path]:
    """Return the kind of target and its path; for a directory with other content, a directory in it."""
    if path_problems(str(path)):
        return "file", path / OWN_DIRECTORY
    try:
        look = inspect_path(str(path))
    except SilentStorageError:
        raise
    except AssayError as error:
        raise AssayError(error.message, "name a directory or a block device") from error
    if look.state in (PlaceState.absent, PlaceState.no_parent, PlaceState.parent_not_directory):
        raise AssayError(f"{path}: no such directory", "name an existing directory or block device")
    if look.state in (PlaceState.not_directory, PlaceState.link) and path.is_block_device():
        return "device", path
    # For any other state, the inspection reports what is wrong.
    foreign = look.state == PlaceState.directory and look.mark is None and not look.bad_mark
    return "file", path / OWN_DIRECTORY if foreign else path


def _folder_of_runs() -> Path:
    """Return a folder of this user's own, always the same, so that the next call finds what a killed one has left.

    It must survive a reboot, as do the marks that name it; /tmp would not.
    """
    root = Path(os.environ.get("TMPDIR") or "/var/tmp", f"assay-ceilings-{os.getuid()}")
    try:
        with contextlib.suppress(FileExistsError):
            root.mkdir(mode=0o700)
        status = root.lstat()
    except OSError as error:
        raise AssayError(f"{root}: {error.strerror}", "set TMPDIR to a writable folder") from error
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise AssayError(
            f"{root}: not a folder that only this user can use",
            "remove it, or set TMPDIR to another folder",
            EXIT_REFUSED,
        )
    return root


def _create(root: Path, text: str) -> RunStore:
    now = time.time()
    meta = RunMeta(
        id=new_run_id("ceilings", now),
        study="ceilings",
        question="",
        description="",
        created_at=now,
        seed=1,
        order="sequential",
        repeats=1,
        command="assay ceilings",
    )
    try:
        return RunStore.create(root, meta, (), (), (), text)
    except AssayError as error:
        raise AssayError(error.message, "set TMPDIR to a folder with some MiB of space", error.exit_code) from error


def _measure(
    study: Study, store: RunStore, engine: Engine, destroy: bool, interruption: Interruption, print_line: PrintLine
) -> PlaceCeilings:
    """Claim the target, measure, and release the target whatever happens."""
    devices: list[int] = []
    target = study.targets[TARGET_NAME]
    try:
        devices = handler_of(target).lock(targets.MachineLocker(destroy, print_line))
        claims.claim_targets(study, [TARGET_NAME], store, print_line)
        launcher = LocalLauncher(engine.path, (store.engine_lock_fd, *devices))
        owner = claims.run_owner(store)
        backends = targets.probe_targets(study, [TARGET_NAME], engine, launcher, owner, destroy)
        places = targets.make_places(study, backends, targets.look_at_directories(study, [TARGET_NAME]))
        where = f"in {target.path}, with a file of at most 128 MiB"
        if target.whole_device:
            where = f"on the first 128 MiB of {target.path}"
        print_line(f"measuring for about 5 s, {where}")
        meter = CeilingMeter(
            study, launcher, owner, destroy, backends, print_line, (), places, stop=lambda: interruption.count
        )
        return PlaceCeilings(places[0], meter.measure())
    finally:
        _release(store, print_line)
        close_all(devices)


def _release(store: RunStore, print_line: PrintLine) -> None:
    for line in claims.release_targets(store):
        print_line(warning(f"could not be removed: {line}"))


def _remove(store: RunStore) -> None:
    """Remove the run, unless it is still needed to remove what it made."""
    if store.entries():
        store.set_status("interrupted")
        store.close()
    else:
        store.discard()


def _remove_leftovers(root: Path, print_line: PrintLine) -> None:
    """Remove what killed calls have left, at any target."""
    for folder in run_folders(root):
        if is_locked(folder / RUN_LOCK):
            continue
        # Another call may be cleaning up the folder at this moment. For a mount, renaming fails with EBUSY.
        with contextlib.suppress(AssayError, OSError), _set_aside(folder) as (own, name):
            store = RunStore.open(own, write=True, wait=ENGINE_WAIT_SECONDS, original_folder=name)
            _release(store, print_line)
            _remove(store)


@contextlib.contextmanager
def _set_aside(folder: Path) -> Iterator[tuple[Path, Path]]:
    """Yield the folder under a new name, which no other folder gets meanwhile, and its own name.

    SQLite finds its files by name, so the name must stay valid.

    Raises:
        AssayError: It is not a folder.
        OSError: It is gone, a mount, or cannot be renamed.
    """
    name = folder.with_name(folder.name.partition("~")[0])
    aside = folder.with_name(f"{name.name}~{secrets.token_hex(8)}")
    folder.rename(aside)
    try:
        if not stat.S_ISDIR(aside.lstat().st_mode):
            raise AssayError(f"{folder}: is not the folder of a run", "remove it", EXIT_REFUSED)
        yield aside, name
    finally:
        # It is renamed back if it is still needed, or was not a folder.
        with contextlib.suppress(OSError):
            aside.rename(name)
