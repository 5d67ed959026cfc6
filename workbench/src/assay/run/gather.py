"""The hosts of a study: found, reached, given the engine; and the testbed that they may be in."""

import contextlib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assay.launch.binary import Engine
from assay.launch.install import launcher_for
from assay.launch.shell import close_shells
from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.site.host import Host
from assay.model.study.case import Case
from assay.model.study.hosts import Hosts
from assay.model.study.study import Study
from assay.run.boxes import box_hosts, brought_up, chosen_hosts, clients_of
from assay.run.fleet import Fleet
from assay.run.listener import Say
from assay.site.inventory.hosts import portable_inventory, resolve_hosts
from assay.store.entries import INVENTORY, TESTBED

if TYPE_CHECKING:
    from assay.model.site.box import Box
    from assay.site.box.running import RunningBox

Servers = dict[str, dict[str, str]]


def is_preset(name: str) -> bool:
    """Whether a testbed's name is that of a preset, not of a file."""
    from assay.site.box.box import preset_names

    return name in preset_names()


def keep_companions(study: Study, base: Path, folder: Path) -> None:
    """Copy the files that a study names into the folder of its run, which then holds all that is needed to go on.

    Args:
        study: The study.
        base: Folder of the study file, where relative names start.
        folder: Of the run.

    Raises:
        AssayError: There is no such file.
    """
    named = {INVENTORY: study.hosts.inventory, TESTBED: study.testbed}
    for kept, name in named.items():
        source = base / (name or "")
        if name is None or (kept == TESTBED and is_preset(name)) or os.path.lexists(folder / kept):
            continue
        try:
            content = portable_inventory(source) if kept == INVENTORY else _box_file(source, name)
            with (folder / kept).open("xb") as file:
                file.write(content)
        except OSError as error:
            raise AssayError(f"{folder / kept}: {error.strerror}", "see the rights and the space there") from None


def _box_file(source: Path, name: str) -> bytes:
    from assay.site.box.box import read_box_file

    return read_box_file(source, name)


@contextlib.contextmanager
def gathered(study: Study, cases: Sequence[Case], base: Path, engine: Engine, say: Say) -> Iterator[Fleet | None]:
    """The hosts that the cases need, with the engine on each; None where this machine alone is enough.

    A testbed is brought up before and taken down after.

    Args:
        study: The study.
        cases: Its cases.
        base: Folder with the files that `keep_companions` copies.
        engine: The engine of this machine.
        say: Takes what there is to say.

    Raises:
        AssayError: A host cannot be reached or used; the testbed is down again.
    """
    needed = max((case.parameters.hosts for case in cases), default=1)
    if study.local:
        if needed > 1:
            hint = "add a line such as `hosts: client[1-8]`"
            raise AssayError(f"the study needs {needed} hosts, but names none", hint, EXIT_REFUSED)
        yield None
        return
    _refuse_local_targets(study, cases)
    with _testbed(study, base, needed, say) as box:
        hosts = _reached(study.hosts, base, say) if box is None else chosen_hosts(box, study.hosts)
        _check_count(needed, [host.name for host in hosts], "name as many under `hosts`")
        try:
            used = hosts[:needed]
            launchers = tuple(launcher_for(host, engine) for host in used)
            others = () if box is None else tuple(host for host in box_hosts(box) if host not in used)
            yield Fleet(used, launchers, others, {} if box is None else _servers(box))
        finally:
            close_shells()


def _check_count(needed: int, names: Sequence[str], hint: str) -> None:
    if len(names) < needed:
        raise AssayError(
            f"the study needs {needed} hosts, and has {len(names)}: {', '.join(names)}", hint, EXIT_REFUSED
        )


def check_testbed(study: Study, cases: Sequence[Case], base: Path) -> None:
    """Refuse a study whose testbed is wrong or has too few hosts, before anything is brought up.

    Args:
        study: The study.
        cases: Its cases.
        base: Folder of the study file.

    Raises:
        AssayError: It is.
    """
    if study.testbed is not None:
        _load(study, study.testbed, base, max((case.parameters.hosts for case in cases), default=1))


def _load(study: Study, file: str, base: Path, needed: int) -> "Box":
    """The box of a study, whose description is in a file below `base` unless it is a preset."""
    from assay.site.box.box import load_box

    assert study.testbed is not None
    with _as_named(base / file, study.testbed):
        box = load_box(study.testbed if is_preset(study.testbed) else file, base)
    _check_count(needed, clients_of(box, study.hosts), "take a larger testbed, or name more of its hosts")
    return box


def _refuse_local_targets(study: Study, cases: Sequence[Case]) -> None:
    for name in sorted({case.target for case in cases}):
        if study.targets[name].whole_device:
            raise AssayError(
                f"target {name}: devices are measured on this machine only", "leave hosts and testbed out", EXIT_REFUSED
            )
    if any(case.parameters.cache == "limit" for case in cases):
        raise AssayError("cache: limit works on this machine only", "use another cache policy", EXIT_REFUSED)


@contextlib.contextmanager
def _testbed(study: Study, base: Path, needed: int, say: Say) -> Iterator["RunningBox | None"]:
    """The study's testbed; None without one."""
    if study.testbed is None:
        yield None
        return
    with brought_up(_load(study, TESTBED, base, needed), say) as running:
        yield running


def _servers(running: "RunningBox") -> Servers:
    return {
        f"server {host.name} {server.kind}": {
            "version": server.version,
            "configuration sha256": server.sha256,
            "exports": ", ".join(server.exports),
            "link": f"{host.link / 1e6:g} Mbit/s" if host.link else "unshaped",
        }
        for host in running.hosts
        for server in host.servers
    }


def _reached(written: Hosts, base: Path, say: Say) -> tuple[Host, ...]:
    if written.inventory is None:
        return resolve_hosts(written.written, base, say)
    with _as_named(base / INVENTORY, written.inventory):
        return resolve_hosts(written.model_copy(update={"inventory": INVENTORY}).written, base, say)


@contextlib.contextmanager
def _as_named(kept: Path, name: str) -> Iterator[None]:
    """What is wrong in the copy of a file is told with the name that the study gives it."""
    try:
        yield
    except AssayError as error:
        message = re.sub(rf"({re.escape(str(kept))}|^{re.escape(kept.name)})(?=:|$)", lambda _: name, error.message)
        raise AssayError(message, error.hint, error.exit_code) from None
