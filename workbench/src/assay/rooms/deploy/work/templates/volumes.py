"""Parameters of the disks of storage hosts, and snapshots of their volumes."""

from typing import Any

from assay.model.money.design import Layout
from assay.rooms.deploy.model.stack_plan import DataVolumes, HostGroup, StackPlan
from assay.rooms.deploy.work.templates.draft import Draft, tags
from assay.rooms.deploy.work.templates.families import FAMILIES
from assay.rooms.deploy.work.templates.functions import STACK_NAME, attribute, differs, equals, ref, sub
from assay.rooms.deploy.work.templates.hosts import SNAPSHOT_TAG
from assay.rooms.deploy.work.templates.parameters import STORAGE, YES_NO, whole_number
from assay.rooms.deploy.work.templates.rights import add_role, allow, own_arn

VOLUME_TYPES = ("gp3", "gp2", "io1", "io2", "st1", "sc1")
TYPES_WITH_IOPS = ("gp3", "io1", "io2")
"""Types of volumes whose IOPS are stated."""
POOLS: dict[Layout, str] = {"lvm": "lvm-linear"}
"""Layout of a design -> what the roles call it, where that is another word: in a design `lvm` is concatenated."""
LAYOUTS = ("single", "raid0", "lvm", "lvm-linear", "raid1", "raid10", "raid5", "raid6")
INCLUDED_IOPS, INCLUDED_MIB = 3000, 125
"""What a gp3 volume has without charge."""


def add_volume_parameters(draft: Draft, plan: StackPlan) -> None:
    """Add the parameters of the storage hosts' disks."""
    group = plan.group("storage")
    if group is None:
        return
    if group.volumes is not None:
        _add_volumes(draft, group.volumes)
    if FAMILIES[plan.family].has_pool:
        _add_pool(draft, group)
    if plan.family == "nfs":
        draft.parameter(
            STORAGE,
            "NfsdThreads",
            "NFS threads",
            "Threads of the kernel's NFS server, which distributions set to 8.",
            **whole_number(64, 1, 10_000, "must be a whole number from 1 to 10000"),
        )


def _add_pool(draft: Draft, group: HostGroup) -> None:
    layout = group.layout or "single"
    draft.parameter(
        STORAGE,
        "PoolLayout",
        "Disks are combined by",
        "How the disks of each storage host are combined; lvm is striped, lvm-linear is one after the other.",
        AllowedValues=list(LAYOUTS),
        Default=POOLS.get(layout, layout),
    )
    draft.parameter(
        STORAGE,
        "DiskFileSystem",
        "File system of the disks",
        "File system on the combined disks of each storage host.",
        AllowedValues=["xfs", "ext4", "ext3"],
        Default="xfs",
    )


def _add_volumes(draft: Draft, volumes: DataVolumes) -> None:
    draft.parameter(
        STORAGE,
        "VolumeType",
        "Type of volumes",
        "EBS type of the data volumes of each storage host.",
        AllowedValues=list(VOLUME_TYPES),
        Default=volumes.type,
    )
    draft.parameter(
        STORAGE,
        "VolumeSize",
        "GiB of each volume",
        "GiB of each data volume. gp2 and io1 have up to 16384; st1 and sc1 125 to 16384.",
        **whole_number(volumes.size_gib, 1, 65_536, "must be GiB from 1 to 65536"),
    )
    draft.parameter(
        STORAGE,
        "VolumeIops",
        "IOPS of each volume",
        "IOPS of each data volume, for gp3 (3000 are included), io1 and io2; other types take none.",
        **whole_number(
            volumes.iops or INCLUDED_IOPS,
            100,
            256_000,
            "must be IOPS from 100 to 256000, and for gp3 from 3000 to 80000",
        ),
    )
    draft.parameter(
        STORAGE,
        "VolumeThroughput",
        "MiB/s of each volume",
        "MiB/s of each data volume, for gp3 (125 are included); other types take none.",
        **whole_number(volumes.throughput_mib or INCLUDED_MIB, 125, 2000, "must be MiB/s from 125 to 2000"),
    )
    draft.parameter(
        STORAGE,
        "DeleteVolumes",
        "Delete volumes",
        "Whether the data volumes are deleted with their hosts. no: they remain, and are charged, after the stack.",
        Default="yes",
        **YES_NO,
    )
    draft.parameter(
        STORAGE,
        "SnapshotHours",
        "Snapshots each",
        "Hours between snapshots of the data volumes. They remain, and are charged, when the stack is gone. 0: none.",
        Type="Number",
        Default=0,
        AllowedValues=[0, 1, 2, 3, 4, 6, 8, 12, 24],
        ConstraintDescription="must be 0, 1, 2, 3, 4, 6, 8, 12 or 24",
    )
    draft.conditions |= {
        "HasVolumeIops": {"Fn::Or": [equals(ref("VolumeType"), each) for each in TYPES_WITH_IOPS]},
        "HasVolumeThroughput": equals(ref("VolumeType"), "gp3"),
        "KeepVolumes": equals(ref("DeleteVolumes"), "no"),
        "HasSnapshots": differs(ref("SnapshotHours"), 0),
    }


def add_snapshots(draft: Draft) -> None:
    """Add the policy that makes snapshots of the storage hosts' volumes, if asked for, and its role."""
    about = "Lets the Data Lifecycle Manager make snapshots of the stack's volumes"
    source = sub("arn:${AWS::Partition}:dlm:${AWS::Region}:${AWS::AccountId}:policy/*")
    add_role(draft, "SnapshotRole", about, "dlm", "snapshots", _snapshot_rights(), source, "HasSnapshots")
    schedule = {
        "Name": "each few hours",
        "CreateRule": {"Interval": ref("SnapshotHours"), "IntervalUnit": "HOURS"},
        "RetainRule": {"Count": 3},
        "CopyTags": True,
    }
    details = {
        "PolicyType": "EBS_SNAPSHOT_MANAGEMENT",
        # All volumes of a host at the same moment, because together they hold one file system.
        "ResourceTypes": ["INSTANCE"],
        "TargetTags": [{"Key": SNAPSHOT_TAG, "Value": STACK_NAME}],
        "Parameters": {"ExcludeBootVolume": True},
        "Schedules": [schedule],
    }
    policy = {
        "Description": "Snapshots of the volumes of an Assay stack",
        "State": "ENABLED",
        "ExecutionRoleArn": attribute("SnapshotRole", "Arn"),
        "PolicyDetails": details,
        "Tags": tags("snapshots"),
    }
    draft.resource("SnapshotPolicy", "AWS::DLM::LifecyclePolicy", policy, "HasSnapshots")


def _snapshot_rights() -> list[dict[str, Any]]:
    """Return the rights to make snapshots of the stack's instances, and to delete them when there are newer ones.

    The policy that AWS keeps for this, AWSDataLifecycleManagerServiceRole, also allows to share and copy snapshots, and
    to delete those of others.

    Source: docs.aws.amazon.com/ebs/latest/userguide/service-role.html
    """
    reading = ["ec2:DescribeInstances", "ec2:DescribeSnapshots", "ec2:DescribeVolumes"]
    snapshots = sub("arn:${AWS::Partition}:ec2:${AWS::Region}::snapshot/*")
    of_stack = {"StringEquals": {"aws:ResourceTag/assay:stack": STACK_NAME}}
    return [
        allow("Look", reading, "*"),
        allow("OfHosts", ["ec2:CreateSnapshots"], [own_arn("instance/*"), own_arn("volume/*")], of_stack),
        allow("Make", ["ec2:CreateSnapshots", "ec2:CreateTags"], snapshots),
        # Snapshots get the tags of their volumes.
        allow("DeleteTagged", ["ec2:DeleteSnapshot"], snapshots, of_stack),
    ]
