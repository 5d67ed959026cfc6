"""Records what results depend on in addition to the study: the machine, its kernel and its storage.

All values are text. `unknown: why` could not be read; `none: why` does not exist.
"""

from collections.abc import Mapping
from types import MappingProxyType

from assay.contract._answers import Look
from assay.launch.environment.cloud import SERVICE, describe_cloud
from assay.launch.environment.control_groups import describe_groups
from assay.launch.environment.cpu import describe_cpu
from assay.launch.environment.machine import (
    describe_host,
    describe_kernel,
    describe_limits,
    describe_memory,
    describe_settings,
)
from assay.launch.environment.modules import describe_modules
from assay.launch.environment.network import describe_interfaces, describe_network
from assay.launch.environment.reading import THIS_MACHINE, Files, Section
from assay.launch.environment.sources import sources_sha256
from assay.launch.environment.storage import describe_device, describe_target, mount_of
from assay.model.secret import redact

__all__ = [
    "Section",
    "capture_environment",
    "describe_device",
    "mount_of",
    "sources_sha256",
]


def capture_environment(
    targets: Mapping[str, tuple[bool, str]],
    files: Files = THIS_MACHINE,
    service: str = SERVICE,
    looks: Mapping[str, Look] = MappingProxyType({}),
) -> dict[str, Section]:
    """Return the environment of this machine and of its targets.

    Args:
        targets: Name of each target on this machine -> whether it is a block device, and its path.
        files: The files of /proc and /sys.
        service: Base address of a cloud's metadata service; queried only if the firmware names a cloud.
        looks: Name of a target -> an engine's report on its directory, which is then not touched.

    Returns:
        Section -> name -> value, without words that look like passwords: `host`, `cloud`, `kernel`, `cpu`, `memory`,
        `control groups`, `limits`, `sysctl`, `network` and `network NAME` for each interface that is up, and
        `target NAME` for each target; `modules` where environment modules are in use.
    """
    found = {
        "host": describe_host(files),
        "cloud": describe_cloud(files, service),
        "kernel": describe_kernel(files),
        "cpu": describe_cpu(files),
        "memory": describe_memory(files),
        "control groups": describe_groups(files),
        "limits": describe_limits(),
        "sysctl": describe_settings(files),
        "network": describe_network(files),
        **describe_interfaces(files),
    }
    if modules := describe_modules():
        found["modules"] = modules
    for name, (device, path) in targets.items():
        found[f"target {name}"] = describe_target(device, path, files, looks.get(name))
    return {section: {name: redact(value) for name, value in values.items()} for section, values in found.items()}
