"""User data of the hosts: a cloud-config that cloud-init takes, within the limit of EC2, with the script of a role."""

import base64
import functools
import gzip
import json
from typing import Any

import pytest
import yaml
from stack_templates import NAMES, Values, launch_data, template

from assay.rooms.deploy.work.roles.scripts import check_values, role_script, script_path
from assay.rooms.deploy.work.templates.boot import MAX_USER_DATA_BYTES, user_data_bytes

KNOWN = {"locale", "user", "hostname", "packages", "write_files", "runcmd"}
"""Keys of cloud-config that are used; cloud-init leaves out unknown ones without a word."""
FILE_KEYS = {"path", "permissions", "content", "encoding"}
SIGNAL = "https://cloudformation-waitcondition-eu-west-1.s3.eu-west-1.amazonaws.com/" + "x" * 500
GIVEN = {"ServersHandle": SIGNAL, "ClientsHandle": SIGNAL, "LoginHandle": SIGNAL, "StorageHandle": SIGNAL}
TYPED = {
    "CLUSTERNAME": "hpc",
    "LOGINIP": "10.0.0.5",
    "ManagementAddress": "10.0.0.6",
    "MountTarget.IpAddress": "10.0.0.9",
}


class Booted(Values):
    """Values in which addresses of hosts are addresses."""

    def _ref(self, name: str) -> str | None:
        found = super()._ref(name)
        if found and found.endswith(("PrivateIp>", "PrimaryPrivateIpAddress>")):
            return "10.42.16.7"
        return found.strip("<>") if found and found.startswith("<") else found


@functools.cache
def configs(name: str) -> dict[str, tuple[str, dict[str, Any]]]:
    """Launch template -> its user data, as text and as cloud-init reads it."""
    values = Booted(template(name), **GIVEN, **TYPED)
    texts = {each: values(data["UserData"]) for each, data in launch_data(template(name)).items()}
    return {each: (text, yaml.safe_load(text)) for each, text in texts.items()}


def file_of(config: dict[str, Any], path: str) -> dict[str, Any]:
    (found,) = [each for each in config["write_files"] if each["path"] == path]
    return dict(found)


def role_files(config: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The script of the role, which runcmd runs, and its values."""
    _, script = config["runcmd"][-1]
    return file_of(config, script), file_of(config, script.removesuffix(".sh") + ".env")


def values_of(config: dict[str, Any]) -> dict[str, str]:
    lines = role_files(config)[1]["content"].splitlines()
    return dict(line.split("=", 1) for line in lines)


@pytest.mark.parametrize("name", NAMES)
def test_cloud_init_takes_it(name: str) -> None:
    for text, config in configs(name).values():
        assert text.startswith("#cloud-config\n") and len(text.encode()) <= MAX_USER_DATA_BYTES
        assert config.keys() <= KNOWN and all(each.keys() <= FILE_KEYS for each in config["write_files"])
        assert config["runcmd"][-1][0] == "sh" and "${" not in text


@pytest.mark.parametrize("name", NAMES)
def test_script_is_that_of_a_role_with_values_that_it_takes(name: str) -> None:
    for _, config in configs(name).values():
        packed, _ = role_files(config)
        assert packed["encoding"] == "gz+b64" and packed["permissions"] == "0755"
        script = gzip.decompress(base64.b64decode(packed["content"])).decode()
        (role,) = [line.removeprefix("ROLE=") for line in script.splitlines() if line.startswith("ROLE=")]
        assert "main" in script and len(script) <= len(role_script(role))
        assert (packed["path"], config["runcmd"][-1][1]) == (script_path(role), script_path(role))
        check_values(role, values_of(config))


def test_host_with_secrets_of_nobody() -> None:
    """No parameter that could hold a secret goes into user data, and no value is readable by all users of a host."""
    for name in NAMES:
        assert not any(body.get("NoEcho") for body in template(name)["Parameters"].values())
        assert all(role_files(config)[1]["permissions"] == "0600" for _, config in configs(name).values())


def test_packages_come_by_the_proxy_from_the_first_one_on() -> None:
    values = Booted(template("nfs-gp3"), **GIVEN, ProxyUrl="http://10.0.0.9:80")
    config = yaml.safe_load(values(launch_data(template("nfs-gp3"))["StorageLaunchTemplate"]["UserData"]))
    assert values_of(config)["PROXY"] == "http://10.0.0.9:80" and config["packages"] == ["curl"]
    assert file_of(config, "/etc/apt/apt.conf.d/95assay")["content"] == 'Acquire::http::Proxy "http://10.0.0.9:80";\n'
    # Amazon Linux has no apt; the role's own step has the proxy there.
    lustre = configs("fsx-lustre-hdd")["ClientLaunchTemplate"][1]
    assert values_of(lustre)["PROXY"] == "" and all("apt" not in each["path"] for each in lustre["write_files"])


def test_longest_values_fit() -> None:
    """Eight ranges, the longest proxy and addresses of three digits each are within what is counted beforehand."""
    ranges = " ".join(["255.255.255.255/32"] * 8)
    for name in ("orangefs", "beegfs-volumes", "nfs-gp3"):
        given = {
            "AllowedCidr": ranges,
            "ProxyUrl": f"http://{'x' * 90}",
            "VpcId": "vpc-12345678",
            "SubnetId": "subnet-1",
        }
        values = Booted(template(name), **GIVEN, **TYPED, **given)
        for data in launch_data(template(name)).values():
            assert len(values(data["UserData"]).encode()) <= user_data_bytes(data["UserData"]) <= MAX_USER_DATA_BYTES


def test_hosts_have_names() -> None:
    beegfs = configs("beegfs-volumes")
    assert values_of(beegfs["MetadataLaunchTemplate"][1])["HOST_NAME"] == "metadata1"
    storage = beegfs["StorageLaunchTemplate"][1]
    assert "hostname" not in storage and "tags/instance/assay:host" in storage["runcmd"][0]
    options = launch_data(template("beegfs-volumes"))["StorageLaunchTemplate"]["MetadataOptions"]
    assert options["InstanceMetadataTags"] == "enabled"
    made = Values(template("beegfs-volumes")).resources()
    names = [
        tag["Value"] for n in "123" for tag in made[f"Storage{n}"]["Properties"]["Tags"] if tag["Key"] == "assay:host"
    ]
    assert names == ["storage1", "storage2", "storage3"]


def test_what_clients_mount() -> None:
    mounts = {name: values_of(each["ClientLaunchTemplate"][1]) for name in NAMES if len(each := configs(name)) > 1}
    assert mounts["nfs-gp3"]["MOUNT"] == "10.42.16.7:/export" and mounts["nfs-gp3"]["MOUNT_TYPE"] == "nfs4"
    assert mounts["beegfs-volumes"]["SERVERS"] == "10.42.16.7" and mounts["beegfs"]["SERVERS"] == "10.0.0.6"
    assert mounts["beegfs-volumes"]["MOUNT_POINT"] == "/sharedscratch"
    assert values_of(configs("orangefs")["StorageLaunchTemplate"][1])["SERVERS"].count("10.42.16.7") == 2
    gluster = configs("glusterfs-volumes")
    assert values_of(gluster["StorageLaunchTemplate"][1])["VOLUME"] == "replica-2"
    assert values_of(gluster["ClientLaunchTemplate"][1])["MOUNT"] == "10.42.16.7:/assay"
    lustre = values_of(configs("fsx-lustre-hdd")["ClientLaunchTemplate"][1])
    assert lustre["MOUNT"] == "FileSystem.DNSName@tcp:/FileSystem.LustreMountName"
    assert "MOUNT" not in values_of(configs("s3-tiered")["ClientLaunchTemplate"][1])


def test_server_of_the_paper() -> None:
    """The nine parameters, both mappings, and the user data of NFS-2016, Appendix CloudFormation."""
    document = template("nfs-aws-2016")
    paper = ("SUBNETID", "SECURITYGROUP", "CLUSTERNAME", "LOGINIP", "STORAGETYPE", "USERNAME", "PLACEMENTGROUP")
    assert {*paper, "SPOTPRICE", "KEYPAIR"} <= document["Parameters"].keys()
    assert document["Parameters"]["STORAGETYPE"]["AllowedValues"] == [*document["Mappings"]["StorageSize"]]
    sizes = {"Small-2TB": (2000, "m4.xlarge"), "XLarge-15TB": (15_000, "m4.10xlarge")}
    for kind, (size, instance) in sizes.items():
        made = Values(document, STORAGETYPE=kind, KEYPAIR="ann", PLACEMENTGROUP="hpc", SPOTPRICE="0.4").resources()
        data = made["StorageLaunchTemplate"]["Properties"]["LaunchTemplateData"]
        assert data["InstanceType"] == instance and data["BlockDeviceMappings"][1]["Ebs"]["VolumeSize"] == size
        assert data["BlockDeviceMappings"][1]["Ebs"]["VolumeType"] == "st1" and data["Placement"] == {
            "GroupName": "hpc"
        }
        assert data["BlockDeviceMappings"][0]["Ebs"]["VolumeSize"] == 100 and data["KeyName"] == "ann"
        assert data["InstanceMarketOptions"]["SpotOptions"]["MaxPrice"] == "0.4"
    plain = Values(document).resources()["StorageLaunchTemplate"]["Properties"]["LaunchTemplateData"]
    assert not {"Placement", "InstanceMarketOptions"} & plain.keys()
    _, config = configs("nfs-aws-2016")["StorageLaunchTemplate"]
    assert config["hostname"] == "storage1" and config["user"] == {"name": "alces"}
    written = file_of(config, "/opt/clusterware/etc/config.yml")
    cluster = {"name": "hpc", "role": "slave", "master": "10.0.0.5"}
    assert written["permissions"] == "0640" and yaml.safe_load(written["content"]) == {"cluster": cluster}
    group = document["Resources"]["Storage"]
    assert group["Type"] == "AWS::AutoScaling::AutoScalingGroup" and group["Properties"]["MaxSize"] == "1"


def test_design_is_among_the_outputs() -> None:
    value = json.loads(template("orangefs")["Outputs"]["AssayDesign"]["Value"])
    assert value["design"] == "orangefs" and value["values"] == {"nodes": 2}
    assert template("orangefs")["Outputs"]["StorageAddresses"]["Value"]["Fn::Sub"].count(",") == 1


@pytest.mark.parametrize("name", NAMES)
def test_the_image_has_what_the_clients_need(name: str) -> None:
    """AWS has clients of FSx for Lustre for Amazon Linux, not for Debian; Amazon Linux has its own package of curl."""
    of_amazon = name.startswith("fsx-lustre")
    parameters = template(name)["Parameters"]
    assert ("amazon-linux" in parameters["ImageId"]["Default"]) == of_amazon
    if "LoginUser" in parameters:
        assert parameters["LoginUser"]["Default"] == ("ec2-user" if of_amazon else "admin")
    assert all(("packages" in config) != of_amazon for _, config in configs(name).values())
