"""Other instances in place of lost ones: a run's inventory goes on with the names that its hosts have had."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.model.base import AssayError
from assay.model.site.host import Host
from assay.model.study.hosts import Hosts
from assay.site.inventory.hosts import inventory_text
from assay.site.inventory.names import HostInventory
from assay.site.inventory.site import InventorySite
from assay.store.entries import INVENTORY, INVENTORY_NEW, open_new


@dataclass(frozen=True)
class Replacement:
    """A run's inventory beside the instances that there are now.

    Attributes:
        inventory: The hosts under the names that they have in the run, with their present addresses.
        replaced: Name of a host -> the instance that is in place of its lost one.
        missing: Name of a host -> its lost instance, where no other one is in its place.
    """

    inventory: HostInventory
    replaced: Mapping[str, Host]
    missing: Mapping[str, str]


def with_replacements(stored: HostInventory, current: HostInventory, clients: Sequence[str]) -> Replacement:
    """Return the inventory of a run with other instances in place of those of its clients that are gone.

    Hosts keep their names as long as their instances exist, although a tool numbers those that are left anew. Of
    clients that the run does not know, the first takes the place of the first lost one. Servers are not replaced: their
    data are gone with them.

    Args:
        stored: The inventory of the run.
        current: The inventory of the same site as it is now.
        clients: Names of the hosts that generate the load of the run.
    """
    live = {host.instance: host for host in current.hosts.values() if host.instance}
    known = {host.instance for host in stored.hosts.values()}
    able = current.hosts if current.clients is None else current.clients
    fresh = [current.hosts[name] for name in able if current.hosts[name].instance not in known]
    hosts, replaced, missing = dict(stored.hosts), dict[str, Host](), dict[str, str]()
    for name in (*clients, *(name for name in hosts if name not in clients)):
        if name not in hosts or not (lost := hosts[name].instance):
            continue
        if lost in live:
            hosts[name] = _renamed(live[lost], hosts[name])
        elif name in clients and fresh:
            hosts[name] = replaced[name] = _renamed(fresh.pop(0), hosts[name])
        else:
            missing[name] = lost
    return Replacement(HostInventory(hosts, stored.groups, stored.clients), replaced, missing)


def _renamed(instance: Host, host: Host) -> Host:
    """Return a host as a tool describes its instance now, with the name and the link that it has in the run."""
    return instance.model_copy(update={"name": host.name, "link": host.link})


def find_replacements(written: Hosts, folder: Path, clients: Sequence[str]) -> Replacement:
    """Return the inventory in the folder of a run beside what the tool says now.

    Args:
        written: The hosts as the study names them, by a tool.
        folder: Folder of the run.
        clients: As for `with_replacements`.

    Raises:
        AssayError: The tool cannot be queried, or the inventory cannot be read.
    """
    stored = InventorySite(written, folder, is_run_folder=True).inventory()
    return with_replacements(stored, InventorySite(written, folder).inventory(), clients)


def store_inventory(folder: Path, inventory: HostInventory) -> None:
    """Replace the inventory in the folder of a run, as a whole.

    Raises:
        AssayError: It cannot be written.
    """
    try:
        with open_new(folder / INVENTORY_NEW) as file:
            file.write(inventory_text(inventory))
        (folder / INVENTORY_NEW).replace(folder / INVENTORY)
    except OSError as error:
        message = f"{folder / INVENTORY}: {error.strerror}"
        raise AssayError(message, "check the permissions and the free space there") from None
