"""The NFS server of the paper on storage for HPC in AWS (NFS-2016, Appendix CloudFormation), attached to a cluster.

Parameters, mappings, sizes and user data are the paper's. A launch template stands for its launch configuration, and
the tags, the own end, the role and the wait for the host are those of all stacks. The paper's file also had the
cluster's token, a secret, which has no place in user data.
"""

from typing import Any

from assay.rooms.deploy.work.roles.scripts import packed_script
from assay.rooms.deploy.work.templates import hosts
from assay.rooms.deploy.work.templates.boot import FirstBoot, HostFile, user_data
from assay.rooms.deploy.work.templates.draft import Draft
from assay.rooms.deploy.work.templates.ending import add_ending
from assay.rooms.deploy.work.templates.functions import differs, either, ref
from assay.rooms.deploy.work.templates.parameters import ADDRESS_PATTERN, add_run_parameters, allowed_ranges, pattern

NAME = "nfs-aws-2016"
CLUSTER, SERVER = "Cluster", "Storage server"
SIZES = {
    "Small-2TB": (2000, "m4.xlarge"),
    "Medium-5TB": (5000, "m4.2xlarge"),
    "Large-10TB": (10_000, "m4.4xlarge"),
    "XLarge-15TB": (15_000, "m4.10xlarge"),
}
"""Size that is asked for -> GB of its st1 volume, and the instance type that serves it."""
ROOT_GIB = 100
NONE = "None"
"""What stands for no placement group, and for no spot price."""
CONFIG = """\
cluster:
  name: '${CLUSTERNAME}'
  role: 'slave'
  master: '${LOGINIP}'
"""


def nfs_2016_template() -> dict[str, Any]:
    """Return the template."""
    draft = Draft(
        "One NFS server on an st1 volume for an existing cluster, as in the paper of 2016 on storage for HPC in AWS. "
        "It is charged until it is deleted, which it does by itself at ExpiryTime. All data in it is lost then."
    )
    add_run_parameters(draft)
    _add_parameters(draft)
    draft.mappings = {
        "StorageSize": {name: {"volumesize": size} for name, (size, _) in SIZES.items()},
        "InstanceFlavour": {name: {"instancetype": instance} for name, (_, instance) in SIZES.items()},
    }
    draft.conditions = {
        "UsePlacementGroup": differs(ref("PLACEMENTGROUP"), NONE),
        "UseSpot": differs(ref("SPOTPRICE"), NONE),
    }
    hosts.add_host_role(draft)
    draft.resource("StorageHandle", "AWS::CloudFormation::WaitConditionHandle", {})
    hosts.add_launch_template(draft, "Storage", _data(), (), user_data(_boot()), "storage", is_placed=False)
    hosts.add_storage_group(draft)
    hosts.add_wait(draft, "Storage", 1, ["Storage"])
    add_ending(draft)
    draft.output("StorageGroup", "Name of the group of the storage server", ref("Storage"))
    draft.output("LoginUser", "User who logs in to the server by ssh", ref("USERNAME"))
    return draft.document()


def _add_parameters(draft: Draft) -> None:
    text = "must have no quotation marks or backslashes"
    draft.parameter(CLUSTER, "CLUSTERNAME", "Name", "Cluster name", **pattern("^[A-Za-z0-9 _.-]{1,63}$", text))
    draft.parameter(
        CLUSTER,
        "LOGINIP",
        "Login host",
        "Environment login node internal IP",
        **pattern(f"^{ADDRESS_PATTERN}$", "must be an address such as 10.0.0.5"),
    )
    draft.parameter(CLUSTER, "SUBNETID", "Subnet", "Subnet ID", Type="AWS::EC2::Subnet::Id")
    group = "Security Group ID"
    draft.parameter(CLUSTER, "SECURITYGROUP", "Security group", group, Type="AWS::EC2::SecurityGroup::Id")
    draft.parameter(
        CLUSTER,
        "PLACEMENTGROUP",
        "Placement group",
        "Enter the name of your existing cluster's placement group - if your cluster is not part of one, enter None",
        **pattern("^[A-Za-z0-9 _.-]{1,255}$", "must be the name of a placement group, or None", Default=NONE),
    )
    draft.parameter(
        CLUSTER,
        "AllowedCidr",
        "May mount",
        "Addresses that may mount the storage",
        **allowed_ranges(),
    )
    draft.parameter(
        SERVER,
        "STORAGETYPE",
        "Size",
        "Select the type of storage server to deploy. This defines the number of cores and memory available - "
        "affecting the read/write performance of your storage",
        AllowedValues=[*SIZES],
        Default="Medium-5TB",
    )
    draft.parameter(
        SERVER,
        "SPOTPRICE",
        "Spot price",
        "Enter your spot price in USD per hour. If you do not wish to use spot, enter None",
        **pattern(
            r"^(None|(?=.*[1-9])[0-9]{1,3}([.][0-9]{1,5})?)$", "must be a price such as 0.25, or None", Default=NONE
        ),
    )
    draft.parameter(
        SERVER,
        "ImageId",
        "Image",
        "Parameter of the Systems Manager that has the id of the image",
        Type="AWS::SSM::Parameter::Value<AWS::EC2::Image::Id>",
        Default="/aws/service/debian/release/12/latest/amd64",
    )
    draft.parameter(
        SERVER,
        "USERNAME",
        "User",
        "Enter the name of your environment's cluster administrator user",
        **pattern("^[a-z_][a-z0-9_-]{0,31}$", "must be a name of a Linux user", Default="alces"),
    )
    draft.parameter(SERVER, "KEYPAIR", "Key pair", "Administrator keypair", Type="AWS::EC2::KeyPair::KeyName")


def _of_size(mapping: str, key: str) -> dict[str, Any]:
    return {"Fn::FindInMap": [mapping, ref("STORAGETYPE"), key]}


def _data() -> dict[str, Any]:
    interface = {"DeviceIndex": 0, "Groups": [ref("SECURITYGROUP")], "DeleteOnTermination": True}
    return {
        "ImageId": ref("ImageId"),
        "InstanceType": _of_size("InstanceFlavour", "instancetype"),
        "EbsOptimized": True,
        "KeyName": ref("KEYPAIR"),
        "NetworkInterfaces": [{**interface, "AssociatePublicIpAddress": False}],
        "Placement": either("UsePlacementGroup", {"GroupName": ref("PLACEMENTGROUP")}),
        "BlockDeviceMappings": [hosts.root_disk(ROOT_GIB), _volume()],
        **hosts.spot_market("SPOTPRICE", "UseSpot"),
    }


def _volume() -> dict[str, Any]:
    ebs = {"VolumeType": "st1", "VolumeSize": _of_size("StorageSize", "volumesize")}
    return {"DeviceName": "/dev/xvdb", "Ebs": {**ebs, "Encrypted": True, "DeleteOnTermination": True}}


def _boot() -> FirstBoot:
    role = "nfs-server"
    values = {
        "SIGNAL_URL": "${StorageHandle}",
        "ALLOWED": "${AllowedCidr}",
        "POOL": "lvm",
        "POOL_DISK_COUNT": "1",
        "FILE_SYSTEM": "xfs",
    }
    config = HostFile("/opt/clusterware/etc/config.yml", "0640", CONFIG.rstrip("\n"))
    return FirstBoot(role, packed_script(role), values, host_name="storage1", files=(config,), user="${USERNAME}")
