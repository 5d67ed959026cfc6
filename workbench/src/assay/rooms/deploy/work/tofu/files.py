"""Managed file systems of Azure and Google in a document, and which designs none can build."""

from collections.abc import Callable
from dataclasses import dataclass

from assay.model.base import AssayError
from assay.model.money.design import Design, Managed
from assay.rooms.deploy.model.stack_plan import StackPlan
from assay.rooms.deploy.work.tofu import azure
from assay.rooms.deploy.work.tofu.document import TofuDocument, matches
from assay.rooms.deploy.work.tofu.variables import OWN_SERVICE, choice

GIB, TIB, MIB = 2**30, 2**40, 2**20
Refusal = tuple[str, str] | None
AZURE_FILES_TYPES = {"azure-files-premium-lrs": "LRS", "azure-files-premium-zrs": "ZRS"}
"""Type of the catalogue -> replication of its storage account."""
AZURE_FILES_OPTIONS = "vers=4,minorversion=1,sec=sys,nconnect=4,hard,noresvport,actimeo=30"
"""Source: learn.microsoft.com/azure/storage/files/storage-files-how-to-mount-nfs-shares"""
NETAPP_LEVELS = {f"azure-netapp-files-{name.lower()}": name for name in ("Standard", "Premium", "Ultra", "Flexible")}
NETAPP_OPTIONS = "vers=4.1,sec=sys,hard,rsize=262144,wsize=262144"
"""Source: learn.microsoft.com/azure/azure-netapp-files/azure-netapp-files-mount-unmount-volumes-for-virtual-machines"""
NETAPP_VERSIONS = ">= 5.10.0, < 6.0.0"
"""Releases of the provider in which a volume has `mount_target`; before 5, it had `mount_ip_addresses`."""
NETAPP_FLEXIBLE_MIB = 128
"""MiB/s of a pool of the level Flexible that are included."""
MAX_NETAPP_TIB = 100
FILESTORE_TIERS = {
    "filestore-zonal": "ZONAL",
    "filestore-zonal-large": "ZONAL",
    "filestore-regional": "REGIONAL",
    "filestore-regional-large": "REGIONAL",
}
"""Type of the catalogue -> tier that speaks NFS 4.1."""
FILESTORE_OPTIONS = "vers=4.1,sec=sys,hard,nconnect=2"
"""Source: cloud.google.com/filestore/docs/mounting-fileshares"""


@dataclass(frozen=True)
class FileService:
    """How a managed file system becomes a part of a document.

    Attributes:
        add: Adds its resources; returns what clients mount, with references.
        refusal: Returns why no document can build a design, and what to take instead; None: one can.
        mount_options: As in /etc/fstab.
        has_exports: Whether it has a list of addresses that may mount.
    """

    add: Callable[[TofuDocument, StackPlan], str]
    refusal: Callable[[Managed], Refusal]
    mount_options: str
    has_exports: bool
    client: str = "nfs-client"
    mount_type: str = "nfs4"

    def check(self, design: Design) -> None:
        """Raise an error if no document can build a design.

        Raises:
            AssayError: The design needs what no document has.
        """
        assert isinstance(design.service, Managed)
        found = self.refusal(design.service)
        if found is not None:
            raise AssayError(f"design {design.design}: {found[0]}", found[1])


def managed(plan: StackPlan) -> Managed:
    """Return the managed service of a plan."""
    assert isinstance(plan.service, Managed)
    return plan.service


def _azure_files_refusal(service: Managed) -> Refusal:
    if service.type in AZURE_FILES_TYPES:
        return None
    if "ssd-v2" in service.type:
        what = "the provider azurerm cannot set rate and IOPS of a share that is provisioned by version 2"
        return what, "take azure-files, or make the share in the portal"
    return f"{service.type} has no NFS", "take azure-files, which is on SSD"


def _add_azure_files(document: TofuDocument, plan: StackPlan) -> str:
    """Add an NFS share, which is reached through a private endpoint only.

    NFS has no encryption of its own: the account must not require secure transfer, and nothing outside reaches it.
    The provider must not wait for the account's public endpoint, which is closed.
    """
    service = managed(plan)
    document.settings["features"] = {"storage": {"data_plane_available": False}}
    document.variable(
        "storage_account_name",
        "Name of the storage account, unique in all of Azure. Empty: made of run_name.",
        "",
        check=matches("storage_account_name", "^(|[a-z0-9]{3,24})$"),
        words="3 to 24 lower-case letters and digits, or empty",
    )
    size = -(-service.capacity // GIB)
    about = "GiB of the share, from which its rate and IOPS follow."
    whole = "var.share_size >= 100 && var.share_size <= 102400 && floor(var.share_size) == var.share_size"
    document.variable("share_size", about, size, "number", whole, "a whole number from 100 to 102400")
    parts = 'substr(replace(var.run_name, "-", ""), 0, 16), substr(sha256(azurerm_resource_group.run.id), 0, 8)'
    own = f'format("%s%s", {parts})'
    account = azure.group(
        name=f'${{var.storage_account_name == "" ? {own} : var.storage_account_name}}',
        account_kind="FileStorage",
        account_tier="Premium",
        account_replication_type=AZURE_FILES_TYPES[service.type],
        https_traffic_only_enabled=False,
        min_tls_version="TLS1_2",
        public_network_access_enabled=False,
        shared_access_key_enabled=False,
        allow_nested_items_to_be_public=False,
        cross_tenant_replication_enabled=False,
    )
    document.resource("azurerm_storage_account", "files", **account)
    account_id = "${azurerm_storage_account.files.id}"
    share = {"name": "data", "enabled_protocol": "NFS", "quota": "${var.share_size}"}
    document.resource("azurerm_storage_share", "files", storage_account_id=account_id, **share)
    connection = {
        "name": "files",
        "is_manual_connection": False,
        "private_connection_resource_id": account_id,
        "subresource_names": ["file"],
    }
    endpoint = azure.group(
        name="${var.run_name}-files", subnet_id="${local.subnet_id}", private_service_connection=connection
    )
    document.resource("azurerm_private_endpoint", "files", **endpoint)
    address = "${azurerm_private_endpoint.files.private_service_connection[0].private_ip_address}"
    return f"{address}:/${{azurerm_storage_account.files.name}}/${{azurerm_storage_share.files.name}}"


def _netapp_refusal(service: Managed) -> Refusal:
    if service.capacity > MAX_NETAPP_TIB * TIB:
        return f"one volume has {MAX_NETAPP_TIB} TiB at most", f"take --set capacity={MAX_NETAPP_TIB}TiB"
    if service.type not in NETAPP_LEVELS:
        return f"{service.type} is no service level", f"there are: {', '.join(NETAPP_LEVELS)}"
    return None


def _add_netapp(document: TofuDocument, plan: StackPlan) -> str:
    """Add a volume in a pool of its own, in a subnet that is delegated to the service."""
    service = managed(plan)
    document.versions = NETAPP_VERSIONS
    document.settings["resource_providers_to_register"] = ["Microsoft.NetApp"]
    document.variable(
        "netapp_subnet_id",
        "Id of an existing subnet that is delegated to Microsoft.Netapp/volumes, beside subnet_id. Empty: an own one.",
        "",
        check='var.netapp_subnet_id == "" || can(regex("/subnets/[^/]+$", var.netapp_subnet_id))',
        words="the resource id of a subnet, or empty",
    )
    about = "TiB of the capacity pool, which is what one pays for; the volume has all of it."
    whole = f"var.pool_size >= 1 && var.pool_size <= {MAX_NETAPP_TIB} && floor(var.pool_size) == var.pool_size"
    size = -(-service.capacity // TIB)
    document.variable("pool_size", about, size, "number", whole, f"a whole number from 1 to {MAX_NETAPP_TIB}")
    choice(document, "service_level", "Service level.", NETAPP_LEVELS[service.type], tuple(NETAPP_LEVELS.values()))
    delegation = {
        "name": "netapp",
        "service_delegation": {
            "name": "Microsoft.Netapp/volumes",
            "actions": [
                "Microsoft.Network/networkinterfaces/*",
                "Microsoft.Network/virtualNetworks/subnets/join/action",
            ],
        },
    }
    azure.add_subnet(document, "netapp", OWN_SERVICE, delegation=[delegation])
    level, name = "${var.service_level}", "${var.run_name}"
    is_flexible = 'var.service_level == "Flexible"'
    rate = f"${{{is_flexible} ? {NETAPP_FLEXIBLE_MIB} : null}}"
    account = "${azurerm_netapp_account.run.name}"
    document.resource("azurerm_netapp_account", "run", **azure.group(name=name))
    pool = {
        "account_name": account,
        "service_level": level,
        "size_in_tb": "${var.pool_size}",
        "qos_type": f'${{{is_flexible} ? "Manual" : "Auto"}}',
        "custom_throughput_mibps": rate,
    }
    document.resource("azurerm_netapp_pool", "run", **azure.group(name=name, **pool))
    volume = azure.group(
        name=name,
        account_name=account,
        pool_name="${azurerm_netapp_pool.run.name}",
        service_level=level,
        volume_path=name,
        subnet_id='${var.netapp_subnet_id == "" ? one(azurerm_subnet.netapp[*].id) : var.netapp_subnet_id}',
        network_features="Standard",
        protocols=["NFSv4.1"],
        security_style="unix",
        storage_quota_in_gb="${var.pool_size * 1024}",
        throughput_in_mibps=rate,
        export_policy_rule=[
            {
                "rule_index": 1,
                "allowed_clients": ["${local.allowed}"],
                "protocol": ["NFSv4.1"],
                "unix_read_write": True,
                "root_access_enabled": True,
            }
        ],
    )
    both = {
        "condition": '${(var.subnet_id == "") == (var.netapp_subnet_id == "")}',
        "error_message": "subnet_id and netapp_subnet_id go together: give both, or neither.",
    }
    document.resource("azurerm_netapp_volume", "data", **volume, lifecycle={"precondition": [both]})
    return "${azurerm_netapp_volume.data.mount_target[0].ip_address}:/${azurerm_netapp_volume.data.volume_path}"


def _filestore_refusal(service: Managed) -> Refusal:
    if service.type in FILESTORE_TIERS:
        return None
    return f"{service.type} has NFS 3 only, and clients mount NFS 4.1", "take --set type=filestore-zonal"


def _add_filestore(document: TofuDocument, plan: StackPlan) -> str:
    """Add an instance of Filestore in the network of the hosts; a regional one is in the region, not in a zone."""
    service = managed(plan)
    tier = FILESTORE_TIERS[service.type]
    about = "GiB of the file system, in the steps of its tier."
    size = -(-service.capacity // GIB)
    whole = "var.filestore_size >= 1024 && var.filestore_size <= 102400"
    document.variable("filestore_size", about, size, "number", whole, "from 1024 to 102400")
    about = "Name of a key of Cloud KMS that encrypts the file system. Null: a key of Google's."
    document.variable("kms_key_name", about, None)
    options = {"access_mode": "READ_WRITE", "squash_mode": "NO_ROOT_SQUASH", "ip_ranges": ["${local.allowed}"]}
    document.resource(
        "google_filestore_instance",
        "run",
        name="${var.run_name}",
        location="${var.region}" if tier == "REGIONAL" else "${var.zone}",
        tier=tier,
        protocol="NFS_V4_1",
        file_shares={"name": "data", "capacity_gb": "${var.filestore_size}", "nfs_export_options": [options]},
        networks=[{"network": "${local.network_name}", "modes": ["MODE_IPV4"], "connect_mode": "DIRECT_PEERING"}],
        kms_key_name="${var.kms_key_name}",
        deletion_protection_enabled=False,
    )
    document.values["network_name"] = "${basename(local.network)}"
    return "${google_filestore_instance.run.networks[0].ip_addresses[0]}:/data"


AZURE_SERVICES = {
    "azure-files": FileService(_add_azure_files, _azure_files_refusal, AZURE_FILES_OPTIONS, has_exports=False),
    "netapp-files": FileService(_add_netapp, _netapp_refusal, NETAPP_OPTIONS, has_exports=True),
}
"""Family of a design of Azure -> its service."""
GOOGLE_SERVICES = {"filestore": FileService(_add_filestore, _filestore_refusal, FILESTORE_OPTIONS, has_exports=True)}
"""Family of a design of Google -> its service."""
