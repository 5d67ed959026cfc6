"""The diagram of an inventory: its hosts, those of a group beside each other."""

from pathlib import Path

from assay.model.quoting import FileOrigin
from assay.model.site.host import LOCALHOST, Host
from assay.report import numbers
from assay.report.diagrams.designs import link_rate
from assay.report.diagrams.network import NETWORK, DrawnHost, DrawnLine, Network, NetworkBar, folded
from assay.site.inventory.hosts import inventory_file
from assay.site.inventory.names import HostInventory, node_names


def inventory_network(path: Path, naming: FileOrigin) -> Network:
    """Return what is drawn of an inventory.

    Raises:
        AssayError: The file cannot be read, or is no inventory.
    """
    found = inventory_file(path, naming)
    groups = {group: set(node_names(nodes, found.groups)) for group, nodes in found.groups.items()}
    hosts = [_host(host, groups, found) for host in found.hosts.values()]
    jumps = dict.fromkeys(host.jump for host in found.hosts.values() if host.jump)
    remarks = (f"Reached by ssh through {numbers.listing([str(jump) for jump in jumps])}.",) if jumps else ()
    return Network(folded(hosts), (NetworkBar(NETWORK, NETWORK, has_article=True),), remarks=remarks)


def _host(host: Host, groups: dict[str, set[str]], found: HostInventory) -> DrawnHost:
    """Return a host; it is above the network if it generates the load, as far as the inventory says so."""
    member_of = [group for group, names in groups.items() if host.name in names]
    lines = [f"in {numbers.listing(member_of)}"] if member_of else []
    lines += ["this machine"] if host.name == LOCALHOST else []
    rate = (link_rate(8 * host.link),) if host.link else ()
    is_client = host.name in found.clients if found.clients else any("client" in group for group in member_of)
    return DrawnHost(host.name, lines=tuple(lines), links=(DrawnLine(NETWORK, rate),), is_client=is_client)
