"""Inventories of other programs as Assay's own: hosts with their fields, and groups."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.model.base import AssayError, LineError
from assay.model.site.host import MOST_HOSTS, Host
from assay.site.inventory.described import INVENTORY_HINT, entry
from assay.site.inventory.names import MOST_MEMBERS, Groups, node_names, too_many

Tell = Callable[[str], None]


@dataclass
class Foreign:
    """What another program's file says.

    Attributes:
        fields: Name of a host -> its fields, as an inventory of Assay has them.
        groups: Name of a group -> its hosts.
        lines: Name of a host -> its line; 0 where that is not known.
    """

    fields: dict[str, dict[str, Any]] = field(default_factory=dict)
    groups: dict[str, list[str]] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    def hosts(self, path: Path) -> tuple[dict[str, Host], Groups]:
        """The hosts and groups.

        Args:
            path: Of the file: relative keys lie beside it.

        Raises:
            AssayError: There are none, or too many, or a field is not right; the message has the line.
        """
        if not self.fields:
            raise AssayError("names no host", INVENTORY_HINT)
        if len(self.fields) > MOST_HOSTS or sum(map(len, self.groups.values())) > MOST_MEMBERS:
            raise too_many("what is named there")
        found: dict[str, Host] = {}
        for name, about in self.fields.items():
            try:
                (plain,) = node_names(name)
                found[plain] = entry(plain, about, many=False, base=path.parent)
            except AssayError as error:
                raise LineError(path, self.lines.get(name, 1), error.what, error.hint) from None
        return found, {name: " ".join(members) for name, members in self.groups.items() if members}

    def as_inventory(self, path: Path) -> Mapping[str, Any]:
        """As an inventory of Assay, which is read the same from any folder."""
        hosts, groups = self.hosts(path)
        keys = ("address", "user", "port", "jump", "identity")
        about = {
            host.name: {key: value for key in keys if (value := getattr(host, key)) is not None and value != host.name}
            for host in hosts.values()
        }
        return {"hosts": about, **({"groups": dict(groups)} if groups else {})}
