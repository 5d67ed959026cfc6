"""Inventories of other programs, converted to hosts and groups of Assay."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.model.base import AssayError, LineError
from assay.model.site.host import MAX_HOSTS, Host
from assay.site.inventory.names import MAX_MEMBERS, HostInventory, node_names, too_many_error
from assay.site.inventory.own_format import INVENTORY_HINT, host_entry

ReportLine = Callable[[str], None]


@dataclass
class ForeignInventory:
    """Hosts and groups read from another program's file.

    Attributes:
        fields: Host name -> its fields, as an inventory of Assay has them.
        groups: Group name -> its hosts.
        lines: Host name -> its line in the file.
        clients: Hosts that generate the load if a study names none: None for all; empty if that is unknown.
    """

    fields: dict[str, dict[str, Any]] = field(default_factory=dict)
    groups: dict[str, list[str]] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    clients: list[str] | None = None

    def hosts(self, path: Path) -> HostInventory:
        """Return the hosts and groups.

        Args:
            path: The file; relative paths of keys start from its folder.

        Raises:
            AssayError: There are no hosts or too many, or a field is wrong; the message has the line.
        """
        if not self.fields:
            raise AssayError("names no host", INVENTORY_HINT)
        if len(self.fields) > MAX_HOSTS or sum(map(len, self.groups.values())) > MAX_MEMBERS:
            raise too_many_error("what is named there")
        found: dict[str, Host] = {}
        for name, about in self.fields.items():
            try:
                (plain,) = node_names(name)
                found[plain] = host_entry(plain, about, many=False, base=path.parent)
            except AssayError as error:
                raise LineError(path, self.lines.get(name, 1), error.what, error.hint) from None
        groups = {name: " ".join(members) for name, members in self.groups.items() if members}
        return HostInventory(found, groups, self.clients)
