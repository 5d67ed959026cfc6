"""Existing hosts as a site."""

import contextlib
import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from assay.launch.shell import missing_program_error
from assay.model.base import PrintLine
from assay.model.quoting import FileOrigin
from assay.model.site.host import Host
from assay.model.study.hosts import Hosts
from assay.site.inventory.hosts import (
    chosen_hosts,
    converted_inventory,
    inventory_file,
    portable_inventory,
    read_data,
    read_inventory,
    resolve_hosts,
)
from assay.site.inventory.machines.documents import TERRAFORM, SiteFacts, facts_in, parse_json
from assay.site.inventory.machines.programs import query_tool
from assay.site.inventory.names import HostInventory
from assay.site.site import PARALLEL_HOSTS, REACH_SECONDS, Site, SiteState, refuse_too_few
from assay.site.stored_files import errors_as_named
from assay.store.entries import INVENTORY


class InventorySite(Site):
    """Hosts that a study names, alone, with a file that describes them, or as a tool knows them."""

    def __init__(self, written: Hosts, base: Path, is_run_folder: bool = False, typed: bool = False) -> None:
        """Read nothing yet.

        Args:
            written: The hosts as the study names them.
            base: Folder that the path of the inventory is relative to.
            is_run_folder: `base` is the folder of a run, which stores the inventory under a fixed name.
            typed: The user typed the name of the inventory, so that messages may quote it.
        """
        self._written, self._base, self._naming = written, base, FileOrigin(base, typed)
        self._is_stored = is_run_folder and written.is_described
        known_by = written.known_by
        self._name = written.inventory or (known_by.name if known_by is not None else "")
        # A run stores hosts in Assay's own format, whatever they were known by.
        self._known_by = None if self._is_stored else known_by
        self._tool = self._known_by.tool if self._known_by is not None else ""
        self._user = self._known_by.user if self._known_by is not None else None
        self._file = INVENTORY if self._is_stored else self._name

    @property
    def more_hosts_hint(self) -> str:
        """See `Site`."""
        few = "measure with fewer, such as --set hosts=1,2,4"
        return (
            f"make as many, or {few}" if self._written.known_by is not None else f"name as many under `hosts`, or {few}"
        )

    @property
    def files(self) -> Mapping[str, Callable[[], bytes]]:
        """The inventory, with paths of keys made absolute; of a tool what it says of hosts, and nothing else."""
        return {INVENTORY: self._portable} if self._written.is_described else {}

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

    def down(self, print_line: PrintLine) -> None:
        """Do nothing: `up` made nothing."""

    def _hosts(self, print_line: PrintLine) -> SiteState:
        nodes = list(self._written.nodes)
        if not self._written.is_described:
            return SiteState(resolve_hosts(nodes or ["localhost"], self._base, print_line))
        inventory = self._read(print_line)
        clients = chosen_hosts(inventory, nodes or None, self._name)
        names = {host.name for host in clients}
        others = tuple(host for name, host in inventory.hosts.items() if name not in names)
        return SiteState(clients, other_hosts=others)

    def known_hosts(self) -> tuple[Host, ...]:
        """Return all hosts that the file or the tool describes, also those that generate no load.

        Raises:
            AssayError: It cannot be read.
        """
        return tuple(self.inventory().hosts.values())

    def inventory(self) -> HostInventory:
        """Return all hosts and groups that the file or the tool describes.

        Raises:
            AssayError: It cannot be read.
        """
        return self._read(lambda _: None)

    def facts(self) -> SiteFacts:
        """Return what a tool says apart from hosts: storage that was made, and of which design it is.

        Raises:
            AssayError: It cannot be read.
        """
        data = self._answer if self._answer is not None else read_data(self._base / self._file, self._tool)
        document = parse_json(data.decode("utf-8-sig", "replace"))
        region = self._known_by.region if self._known_by is not None else None
        return SiteFacts() if document is None else facts_in(document, region or "")

    def _read(self, print_line: PrintLine) -> HostInventory:
        if self._answer is not None:
            return read_inventory(self._answer, self._answer_path, print_line, self._tool, self._user)
        path = self._base / self._file
        with errors_as_named(path, self._name) if self._is_stored else contextlib.nullcontext():
            return inventory_file(path, self._naming, print_line, self._tool, self._user)

    def _portable(self) -> bytes:
        if self._answer is not None:
            return converted_inventory(self._answer, self._answer_path, self._tool, self._user) or self._answer
        return portable_inventory(self._base / self._file, self._naming, self._tool, self._user)

    @cached_property
    def _answer(self) -> bytes | None:
        """What the tool answered when it was first queried; None if a file has it."""
        return query_tool(self._known_by, self._base) if self._known_by is not None else None

    @property
    def _answer_path(self) -> Path:
        """The name of the answer in messages, from whose folder paths of keys start."""
        return self._base / self._name / "outputs" if self._tool == TERRAFORM else Path(f"{self._tool} {self._name}")
