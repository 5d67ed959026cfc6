"""Managed file systems of a stack: EFS, and FSx for Lustre, OpenZFS and NetApp ONTAP."""

from typing import Any

from assay.model.money.design import Efs, FsxLustre, Managed
from assay.rooms.deploy.model.stack_plan import StackPlan
from assay.rooms.deploy.model.storage_facts import StorageFacts
from assay.rooms.deploy.work.templates.draft import Draft, tags
from assay.rooms.deploy.work.templates.ending import ROLE
from assay.rooms.deploy.work.templates.functions import attribute, differs, either, equals, ref
from assay.rooms.deploy.work.templates.network import allowed_range, own_zone, private_subnet
from assay.rooms.deploy.work.templates.parameters import STORAGE, whole_number
from assay.rooms.deploy.work.templates.rights import allow, document, own_arn

GIB, MIB = 2**30, 2**20
EVERYBODY = "*"
"""Clients of an export of OpenZFS, which takes one range only; the security group lets in its members alone."""
EFS_OPTIONS = "nfsvers=4.1,rsize=1048576,wsize=1048576,hard,timeo=600,retrans=2,noresvport"
"""Source: docs.aws.amazon.com/efs/latest/ug/mounting-fs-nfs-mount-settings.html"""
OPENZFS_OPTIONS = "nfsvers=4.2,rsize=1048576,wsize=1048576,hard,timeo=600"
"""Source: docs.aws.amazon.com/fsx/latest/OpenZFSGuide/attach-linux-client.html"""
EFS_MODES = {"efs-bursting": "bursting", "efs-provisioned": "provisioned", "efs-elastic": "elastic"}
LUSTRE_TYPES = {
    "fsx-lustre-scratch-1": ("SCRATCH_1", "SSD", 0),
    "fsx-lustre-scratch-2": ("SCRATCH_2", "SSD", 0),
    "fsx-lustre-persistent-50": ("PERSISTENT_1", "SSD", 50),
    "fsx-lustre-persistent-100": ("PERSISTENT_1", "SSD", 100),
    "fsx-lustre-persistent-200": ("PERSISTENT_1", "SSD", 200),
    "fsx-lustre-persistent-ssd-125": ("PERSISTENT_2", "SSD", 125),
    "fsx-lustre-persistent-ssd-250": ("PERSISTENT_2", "SSD", 250),
    "fsx-lustre-persistent-ssd-500": ("PERSISTENT_2", "SSD", 500),
    "fsx-lustre-persistent-ssd-1000": ("PERSISTENT_2", "SSD", 1000),
    "fsx-lustre-persistent-hdd-12": ("PERSISTENT_1", "HDD", 12),
    "fsx-lustre-persistent-hdd-40": ("PERSISTENT_1", "HDD", 40),
}
"""Type of the catalogue -> deployment type, disks, and MB/s for each TiB; 0: the deployment type has only one rate."""
LUSTRE_VERSION = "2.15"
OPENZFS_TYPES = {
    "fsx-openzfs-single-az-1": "SINGLE_AZ_1",
    "fsx-openzfs-single-az-ha-1": "SINGLE_AZ_HA_1",
    "fsx-openzfs-single-az-2": "SINGLE_AZ_2",
    "fsx-openzfs-single-az-ha-2": "SINGLE_AZ_HA_2",
}
ONTAP_TYPES = {"fsx-ontap-single-az-1": "SINGLE_AZ_1", "fsx-ontap-single-az-2": "SINGLE_AZ_2"}
MIN_ONTAP_GIB = 1024
"""GiB of SSD of a file system of ONTAP at least."""


def add_efs(draft: Draft, plan: StackPlan) -> StorageFacts:
    """Add a file system of EFS and its mount target."""
    service = plan.service
    assert isinstance(service, Efs)
    draft.parameter(
        STORAGE,
        "ThroughputMode",
        "Throughput mode",
        "Throughput mode of EFS: bursting follows the bytes stored, elastic is paid by the byte.",
        AllowedValues=sorted(EFS_MODES.values()),
        Default=EFS_MODES.get(service.type, "bursting"),
    )
    draft.parameter(
        STORAGE,
        "ProvisionedThroughput",
        "Provisioned MiB/s",
        "MiB/s of EFS in the mode provisioned; other modes take none.",
        **whole_number(round((service.provisioned or 128 * MIB) / MIB), 1, 10_240, "must be MiB/s from 1 to 10240"),
    )
    days = [1, 7, 14, 30, 60, 90, 180, 270, 365]
    draft.parameter(
        STORAGE,
        "InfrequentAccess",
        "Move to infrequent access",
        "When EFS moves files that are not read to the class for infrequent access. NEVER: it does not.",
        AllowedValues=["NEVER", *(f"AFTER_{each}_DAY{'S' * (each > 1)}" for each in days)],
        Default="AFTER_30_DAYS" if service.infrequent else "NEVER",
    )
    draft.conditions |= {
        "IsProvisioned": equals(ref("ThroughputMode"), "provisioned"),
        "HasInfrequentAccess": differs(ref("InfrequentAccess"), "NEVER"),
    }
    properties: dict[str, Any] = {
        "Encrypted": True,
        "PerformanceMode": "generalPurpose",
        "ThroughputMode": ref("ThroughputMode"),
        "ProvisionedThroughputInMibps": either("IsProvisioned", ref("ProvisionedThroughput")),
        "LifecyclePolicies": either("HasInfrequentAccess", [{"TransitionToIA": ref("InfrequentAccess")}]),
        "BackupPolicy": {"Status": "DISABLED"},
        "FileSystemTags": tags("storage"),
    }
    if service.zones == "one-zone" or service.type == "efs-one-zone":
        properties["AvailabilityZoneName"] = own_zone()
        draft.rules["ZoneOfSubnet"] = {
            "RuleCondition": differs(ref("SubnetId"), ""),
            "Assertions": [
                {
                    "Assert": differs(ref("AvailabilityZone"), ""),
                    "AssertDescription": "EFS in one zone needs AvailabilityZone, that of SubnetId",
                }
            ],
        }
    draft.resource("FileSystem", "AWS::EFS::FileSystem", properties)
    target = {"FileSystemId": ref("FileSystem"), "SubnetId": private_subnet(), "SecurityGroups": _members()}
    _add_target_rights(draft)
    draft.resource("MountTarget", "AWS::EFS::MountTarget", target, after=("MountTargetRights",))
    return StorageFacts("${MountTarget.IpAddress}:/", outputs=_file_system())


def _add_target_rights(draft: Draft) -> None:
    """Add the right to delete the mount target's interface, which EFS makes without tags, to the role of the end.

    Source: docs.aws.amazon.com/efs/latest/ug/API_DeleteMountTarget.html
    """
    in_subnet = {"ArnEquals": {"ec2:Subnet": own_arn("subnet/${Subnet}", Subnet=private_subnet())}}
    interfaces = own_arn("network-interface/*")
    statement = allow("DeleteTargetInterface", ["ec2:DeleteNetworkInterface"], interfaces, in_subnet)
    properties = {
        "PolicyName": "delete-mount-target",
        "RoleName": ref(ROLE),
        "PolicyDocument": document([statement]),
    }
    draft.resource("MountTargetRights", "AWS::IAM::RolePolicy", properties)


def _members() -> list[Any]:
    return [attribute("ClusterSecurityGroup", "GroupId")]


def _file_system() -> dict[str, tuple[str, Any]]:
    return {"FileSystemId": ("Id of the file system", ref("FileSystem"))}


def _add_capacity(draft: Draft, gib: int, least: int, most: int) -> None:
    draft.parameter(
        STORAGE,
        "StorageCapacity",
        "GiB",
        "GiB of the file system. Each type of FSx has steps of its own.",
        **whole_number(gib, least, most, f"must be GiB from {least} to {most}, in the steps of the type"),
    )


def add_lustre(draft: Draft, plan: StackPlan) -> StorageFacts:
    """Add a file system of FSx for Lustre, of any deployment type."""
    service = plan.service
    assert isinstance(service, FsxLustre)
    draft.parameter(
        STORAGE,
        "LustreType",
        "Type",
        "Deployment type of FSx for Lustre; the number at its end is MB/s for each TiB.",
        AllowedValues=[*LUSTRE_TYPES],
        Default=service.type,
    )
    _add_capacity(draft, -(-service.capacity // GIB), 1200, 1_000_000)
    draft.mappings["LustreTypes"] = {
        name: {"Deployment": deployment, "Disks": disks, "Throughput": rate}
        for name, (deployment, disks, rate) in LUSTRE_TYPES.items()
    }
    scratch = [equals(ref("LustreType"), name) for name, (_, _, rate) in LUSTRE_TYPES.items() if not rate]
    disks = [equals(ref("LustreType"), name) for name, (_, disks, _) in LUSTRE_TYPES.items() if disks == "HDD"]
    oldest = differs(ref("LustreType"), "fsx-lustre-scratch-1")
    draft.conditions |= {
        "IsPersistent": {"Fn::Not": [{"Fn::Or": scratch}]},
        "HasHardDisks": {"Fn::Or": disks},
        "HasLaterVersion": oldest,
    }
    configuration = {
        "DeploymentType": _of_type("Deployment"),
        "PerUnitStorageThroughput": either("IsPersistent", _of_type("Throughput")),
        "DriveCacheType": either("HasHardDisks", "NONE"),
        "AutomaticBackupRetentionDays": either("IsPersistent", 0),
        "DataCompressionType": "NONE",
    }
    properties = {
        "FileSystemType": "LUSTRE",
        "FileSystemTypeVersion": either("HasLaterVersion", LUSTRE_VERSION),
        "StorageCapacity": ref("StorageCapacity"),
        "StorageType": _of_type("Disks"),
        "SubnetIds": [private_subnet()],
        "SecurityGroupIds": _members(),
        "LustreConfiguration": configuration,
        "Tags": tags("storage"),
    }
    draft.resource("FileSystem", "AWS::FSx::FileSystem", properties)
    return StorageFacts("${FileSystem.DNSName}@tcp:/${FileSystem.LustreMountName}", outputs=_file_system())


def _of_type(name: str) -> dict[str, Any]:
    return {"Fn::FindInMap": ["LustreTypes", ref("LustreType"), name]}


def _add_throughput(draft: Draft, service: Managed, choices: list[int]) -> None:
    wanted = round((service.throughput or choices[0] * MIB) / MIB)
    draft.parameter(
        STORAGE,
        "ThroughputCapacity",
        "MB/s",
        "MB/s that the file server provides.",
        Type="Number",
        AllowedValues=sorted({*choices, wanted}),
        Default=wanted,
    )


def _add_iops(draft: Draft, service: Managed) -> dict[str, Any]:
    """Add the IOPS as a parameter; return the configuration of the disks."""
    draft.parameter(
        STORAGE,
        "DiskIops",
        "IOPS",
        "IOPS of the SSDs. 0: those that are included, 3 for each GiB.",
        **whole_number(service.iops or 0, 0, 2_400_000, "must be IOPS, or 0"),
    )
    draft.conditions["HasDiskIops"] = differs(ref("DiskIops"), 0)
    stated = {"Mode": "USER_PROVISIONED", "Iops": ref("DiskIops")}
    return either("HasDiskIops", stated, {"Mode": "AUTOMATIC"})


def add_openzfs(draft: Draft, plan: StackPlan) -> StorageFacts:
    """Add a file system of FSx for OpenZFS in one zone."""
    service = plan.service
    assert isinstance(service, Managed)
    _add_capacity(draft, -(-service.capacity // GIB), 64, 524_288)
    first = [64, 128, 256, 512, 1024, 2048, 3072, 4096]
    second = [160, 320, 640, 1280, 2560, 3840, 5120, 7680, 10_240]
    _add_throughput(draft, service, second if service.type.endswith("2") else first)
    clients = {"Clients": allowed_range(EVERYBODY), "Options": ["rw", "no_root_squash", "crossmnt"]}
    configuration = {
        "DeploymentType": OPENZFS_TYPES[service.type],
        "ThroughputCapacity": ref("ThroughputCapacity"),
        "DiskIopsConfiguration": _add_iops(draft, service),
        "AutomaticBackupRetentionDays": 0,
        "Options": ["DELETE_CHILD_VOLUMES_AND_SNAPSHOTS"],
        "RootVolumeConfiguration": {
            "DataCompressionType": "NONE",
            "NfsExports": [{"ClientConfigurations": [clients]}],
        },
    }
    draft.resource("FileSystem", "AWS::FSx::FileSystem", _fsx("OPENZFS", "OpenZFSConfiguration", configuration))
    return StorageFacts("${FileSystem.DNSName}:/fsx", outputs=_file_system())


def _fsx(kind: str, key: str, configuration: dict[str, Any]) -> dict[str, Any]:
    return {
        "FileSystemType": kind,
        "StorageCapacity": ref("StorageCapacity"),
        "StorageType": "SSD",
        "SubnetIds": [private_subnet()],
        "SecurityGroupIds": _members(),
        key: configuration,
        "Tags": tags("storage"),
    }


def add_ontap(draft: Draft, plan: StackPlan) -> StorageFacts:
    """Add a file system of FSx for NetApp ONTAP in one zone, with a virtual machine and a volume that is exported."""
    service = plan.service
    assert isinstance(service, Managed)
    on_ssd = service.capacity - int(service.capacity * service.infrequent)
    _add_capacity(draft, max(MIN_ONTAP_GIB, -(-on_ssd // GIB)), MIN_ONTAP_GIB, 524_288)
    is_second = service.type.endswith("2")
    _add_throughput(draft, service, [384, 768, 1536, 3072, 6144] if is_second else [128, 256, 512, 1024, 2048, 4096])
    draft.parameter(
        STORAGE,
        "VolumeMegabytes",
        "MiB of the volume",
        "MiB of the exported volume, which ONTAP calls megabytes; what is in the capacity pool counts, too.",
        **whole_number(-(-service.capacity // MIB), 20, 314_572_800, "must be MiB from 20 to 314572800"),
    )
    draft.parameter(
        STORAGE,
        "TieringPolicy",
        "Tiering",
        "Which data ONTAP moves to the capacity pool.",
        AllowedValues=["NONE", "SNAPSHOT_ONLY", "AUTO", "ALL"],
        Default="AUTO" if service.infrequent else "NONE",
    )
    rate = "ThroughputCapacityPerHAPair" if is_second else "ThroughputCapacity"
    configuration = {
        "DeploymentType": ONTAP_TYPES[service.type],
        **({"HAPairs": 1} if is_second else {}),
        rate: ref("ThroughputCapacity"),
        "DiskIopsConfiguration": _add_iops(draft, service),
        "AutomaticBackupRetentionDays": 0,
    }
    draft.resource("FileSystem", "AWS::FSx::FileSystem", _fsx("ONTAP", "OntapConfiguration", configuration))
    machine = {
        "FileSystemId": ref("FileSystem"),
        "Name": "assay",
        "RootVolumeSecurityStyle": "UNIX",
        "Tags": tags("storage"),
    }
    draft.resource("StorageVirtualMachine", "AWS::FSx::StorageVirtualMachine", machine)
    volume = {
        "StorageVirtualMachineId": ref("StorageVirtualMachine"),
        "JunctionPath": "/data",
        "OntapVolumeType": "RW",
        "SecurityStyle": "UNIX",
        "SizeInMegabytes": ref("VolumeMegabytes"),
        "StorageEfficiencyEnabled": "false",
        "TieringPolicy": {"Name": ref("TieringPolicy")},
    }
    draft.resource(
        "Volume",
        "AWS::FSx::Volume",
        {"Name": "data", "VolumeType": "ONTAP", "OntapConfiguration": volume, "Tags": tags("storage")},
    )
    mount = "${StorageVirtualMachine}.${FileSystem}.fsx.${AWS::Region}.${AWS::URLSuffix}:/data"
    return StorageFacts(mount, ready=("Volume",), outputs=_file_system())
