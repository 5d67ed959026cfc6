"""First boots of the hosts of a document: the same cloud-config and role scripts as in stacks of AWS."""

from collections.abc import Mapping

from assay.model.base import AssayError
from assay.rooms.deploy.model.stack_plan import HostGroup, StackPlan
from assay.rooms.deploy.work.roles.scripts import packed_script, role_variables
from assay.rooms.deploy.work.templates.boot import FirstBoot, cloud_config
from assay.rooms.deploy.work.tofu.document import TofuDocument

NAME = "ASSAY_HOST_NAME"
"""Stands for the name of a host in the user data of a role, which is the same for all its hosts otherwise."""
MAX_BYTES = 48_000
"""Bytes of user data at most: Azure takes 64 KiB in base64.

Source: learn.microsoft.com/azure/virtual-machines/custom-data
"""


def add_boots(document: TofuDocument, plan: StackPlan, mount: str) -> None:
    """Add the user data of each role as a local value `ROLE_user_data`.

    Args:
        document: The document.
        plan: What is built.
        mount: What clients mount, with references of the document; empty: nothing.
    """
    for group in plan.groups:
        _add(document, group.role, group.script, _server_values(group))
    if mount:
        document.values["mount"] = mount
    values = {
        "MOUNT": "${local.mount}" if mount else "",
        "MOUNT_TYPE": plan.mount_type,
        "MOUNT_POINT": plan.mount_point,
        "MOUNT_OPTIONS": plan.mount_options,
        "MPI": "${var.mpi}",
    }
    _add(document, "client", plan.client_script, values)


def _server_values(group: HostGroup) -> dict[str, str]:
    counted = {"POOL_DISK_COUNT": "${var.volume_count}"} if group.volumes else {}
    return {
        "ALLOWED": "${local.allowed}",
        "NFSD_THREADS": "${var.nfsd_threads}",
        "POOL": "${var.pool_layout}",
        "FILE_SYSTEM": "${var.disk_file_system}",
        **counted,
    }


def _add(document: TofuDocument, role: str, script: str, values: Mapping[str, str]) -> None:
    used = {name: value for name, value in values.items() if name in role_variables(script) and value}
    boot = FirstBoot(script, packed_script(script), used, host_name=NAME, user="${var.login_user}")
    text = cloud_config(boot)
    if len(text.encode()) > MAX_BYTES:
        raise AssayError(f"user data of {role} hosts: {len(text)} bytes, and {MAX_BYTES} fit", "take fewer values")
    document.values[f"{role}_user_data"] = text


def user_data(role: str) -> str:
    """Return the expression of a host's user data, within `${}`; `each.key` is its name."""
    boot = "client" if role == "login" else role
    return f'replace(local.{boot}_user_data, "{NAME}", each.key)'
