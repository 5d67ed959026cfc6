"""Existing hosts as a site."""

import contextlib
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from assay.launch.shell import missing_program_error
from assay.model.base import PrintLine
from assay.model.quoting import FileOrigin
from assay.model.study.hosts import Hosts
from assay.site.inventory.hosts import known_hosts, portable_inventory, resolve_hosts
from assay.site.site import PARALLEL_HOSTS, REACH_SECONDS, SiteState, refuse_too_few
from assay.site.stored_files import errors_as_named
from assay.store.entries import INVENTORY


class InventorySite:
    """Hosts that a study names, alone or with an inventory that describes them."""

    more_hosts_hint = "name as many under `hosts`"

    def __init__(self, written: Hosts, base: Path, is_run_folder: bool = False, typed: bool = False) -> None:
        """Read nothing yet.

        Args:
            written: The hosts as the study names them.
            base: Folder that the path of the inventory is relative to.
            is_run_folder: `base` is the folder of a run, which stores the inventory under a fixed name.
            typed: The user typed the name of the inventory, so that messages may quote it.
        """
        self._written, self._base, self._naming = written, base, FileOrigin(base, typed)
        self._kept = is_run_folder
        self._inventory = INVENTORY if is_run_folder and written.inventory is not None else written.inventory

    @property
    def files(self) -> Mapping[str, Callable[[], bytes]]:
        """The inventory, with paths of keys made absolute."""
        name = self._inventory
        return {} if name is None else {INVENTORY: lambda: portable_inventory(self._base / name, self._naming)}

    @property
    def mount_points(self) -> Sequence[str]:
        """See `Site`."""
        return ()

    def check(self, _needed: int) -> None:
        """See `Site`: nothing is checked, since the file that names the hosts may still be made."""

    def check_ready(self, needed: int) -> None:
        """See `Site`: the inventory exists and has enough hosts, and ssh is installed if a host needs it."""
        clients = self._hosts(lambda _: None).clients
        refuse_too_few(needed, [host.name for host in clients], self.more_hosts_hint)
        remote = next((host for host in clients if host.kind == "ssh"), None)
        if remote is not None and shutil.which("ssh") is None:
            raise missing_program_error(remote, "ssh")

    def startup_seconds(self, needed: int) -> float:
        """See `Site`."""
        return REACH_SECONDS * (1 + needed / PARALLEL_HOSTS)

    def up(self, print_line: PrintLine) -> SiteState:
        """See `Site`; nothing has to be made."""
        return self._hosts(print_line)

    def _hosts(self, print_line: PrintLine) -> SiteState:
        written = self._written.model_copy(update={"inventory": self._inventory}).inventory_value
        if self._inventory is None:
            return SiteState(resolve_hosts(written, self._base, print_line))
        path = self._base / self._inventory
        with errors_as_named(path, self._written.inventory or "") if self._kept else contextlib.nullcontext():
            clients = resolve_hosts(written, self._base, print_line, self._naming)
            known = known_hosts(path, self._naming)
        return SiteState(clients, other_hosts=tuple(host for host in known if host not in clients))

    def down(self, print_line: PrintLine) -> None:
        """Do nothing: `up` made nothing."""
