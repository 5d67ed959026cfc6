"""Hosts that are there already."""

import contextlib
from collections.abc import Callable, Mapping
from pathlib import Path

from assay.model.base import Say
from assay.model.study.hosts import Hosts
from assay.site.inventory.hosts import known_hosts, portable_inventory, resolve_hosts
from assay.site.kept import as_named
from assay.site.site import Standing
from assay.store.entries import INVENTORY


class InventorySite:
    """Hosts by their names, or as an inventory describes them."""

    more = "name as many under `hosts`"

    def __init__(self, written: Hosts, base: Path, kept: bool = False) -> None:
        """Nothing is read yet.

        Args:
            written: As a study names them.
            base: Folder at which the name of the inventory starts.
            kept: It is the folder of a run, which has the inventory under a name of its own.
        """
        self._written, self._base = written, base
        self._kept = kept
        self._inventory = INVENTORY if kept and written.inventory is not None else written.inventory

    @property
    def files(self) -> Mapping[str, Callable[[], bytes]]:
        """The inventory, with absolute paths of keys."""
        name = self._inventory
        return {} if name is None else {INVENTORY: lambda: portable_inventory(self._base / name)}

    def check(self, _needed: int) -> None:
        """See `Site`: hosts are looked up when they are reached, since their file may be made until then."""

    def up(self, say: Say) -> Standing:
        """See `Site`; nothing is made."""
        written = self._written.model_copy(update={"inventory": self._inventory}).written
        if self._inventory is None:
            return Standing(resolve_hosts(written, self._base, say))
        path = self._base / self._inventory
        with as_named(path, self._written.inventory or "") if self._kept else contextlib.nullcontext():
            clients = resolve_hosts(written, self._base, say)
            known = known_hosts(path)
        return Standing(clients, known=tuple(host for host in known if host not in clients))

    def down(self, say: Say) -> None:
        """Nothing was made."""
