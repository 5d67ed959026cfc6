"""Documents for Azure and Google, each built once, and what is in them."""

import functools
import json
from collections.abc import Iterator, Mapping
from typing import Any

from assay.rooms.deploy.commands.template import text_of
from assay.rooms.deploy.work.templates.plan import HostOptions

WRITTEN = {
    "nfs-azure-disks": HostOptions(clients=2),
    "nfs-azure-disks:volumes=8": HostOptions(login="Standard_D4s_v5"),
    "azure-files": HostOptions(),
    "azure-netapp-files:type=azure-netapp-files-flexible": HostOptions(clients=4),
    "nfs-gcp-hyperdisk": HostOptions(clients=2),
    "nfs-gcp-hyperdisk:instance=c3-standard-8": HostOptions(login="c3-standard-4"),
    "gcp-filestore": HostOptions(),
    "gcp-filestore-regional": HostOptions(),
}
"""Design -> options: together they use every part of the generator."""
AZURE = tuple(name for name in WRITTEN if "azure" in name)
GOOGLE = tuple(name for name in WRITTEN if "gcp" in name)


@functools.cache
def document(name: str) -> dict[str, Any]:
    """The document of a design; it is shared, so tests copy what they change."""
    found: dict[str, Any] = json.loads(text_of(name, [], "", WRITTEN[name]))
    return found


def bodies(content: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield type, name and body of each resource."""
    for kind, named in content["resource"].items():
        for name, body in named.items():
            yield kind, name, body
