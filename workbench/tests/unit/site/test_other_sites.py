"""The option `--on`: what it may name, and what is found there."""

import json
from pathlib import Path
from typing import Any

import pytest

from assay.model.base import AssayError
from assay.model.site.storage import SiteStorage
from assay.plan.change_site import SiteDesign
from assay.site import other_site
from assay.site.inventory.machines import programs
from assay.site.other_site import find_site

DESIGN = json.dumps({"design": "nfs-gp3", "values": {"volumes": 4}, "assay": "1"})
OUTPUTS = {
    "StorageAddresses": "10.0.0.9",
    "Mount": "10.0.0.9:/export",
    "MountType": "nfs4",
    "MountPoint": "/scratch",
    "LoginUser": "admin",
    "AssayDesign": DESIGN,
}


def stack(
    region: str = "eu-west-1", kind: str = "c5n.9xlarge", vpc: str | None = None, public: str = "", **outputs: str
) -> dict[str, Any]:
    """A stack of one client; `vpc` is the value of its parameter, None if it has none."""
    tags = [{"Key": "assay:role", "Value": "client"}]
    machine = {"State": {"Name": "running"}, "PrivateIpAddress": "10.0.0.4", "Tags": tags, "InstanceType": kind}
    machine |= {"PublicIpAddress": public} if public else {}
    listed = [{"OutputKey": name, "OutputValue": value} for name, value in outputs.items()]
    about = {"StackId": f"arn:aws:cloudformation:{region}:1:stack/lab1/x", "StackName": "lab1", "Outputs": listed}
    about |= {"Parameters": [{"ParameterKey": "VpcId", "ParameterValue": vpc}]} if vpc is not None else {}
    return {"Stacks": [{**about, "StackStatus": "CREATE_COMPLETE"}], "Reservations": [{"Instances": [machine]}]}


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    hooks = {
        "is_known_stack": lambda name: name == "lab1",
        "stack_document": lambda *_: json.dumps(stack(**OUTPUTS)).encode(),
    }
    monkeypatch.setattr(other_site, "hook", hooks.__getitem__)
    monkeypatch.setattr(programs, "hook", hooks.__getitem__)


@pytest.mark.parametrize("written", ["lab1", "stack:lab1"])
@pytest.mark.usefixtures("known")
def test_a_stack_has_hosts_storage_and_design(written: str, tmp_path: Path) -> None:
    found = find_site(written, tmp_path)
    assert found.hosts == {"stack": "lab1"}
    servers, region = ("10.0.0.9",), "eu-west-1"
    assert found.storage == SiteStorage(
        servers=servers, mount="10.0.0.9:/export", mount_type="nfs4", mount_point="/scratch", region=region
    )
    assert found.design == SiteDesign("aws-eu-west-1", "nfs-gp3", {"volumes": 4}, {"c5n.9xlarge": 1})
    assert found.addresses == {"client1": "10.0.0.4", "storage": "10.0.0.9"}


@pytest.mark.usefixtures("known")
def test_files_and_folders_are_known_by_themselves_and_other_words_are_hosts(tmp_path: Path) -> None:
    (tmp_path / "lab1").mkdir()
    for name in ("outputs.json", "lab1/terraform.tfstate"):
        listed = {"client_ips": {"sensitive": False, "value": ["10.0.0.1"]}, "Mount": {"sensitive": True, "value": "x"}}
        machine = {
            "mode": "managed",
            "type": "aws_instance",
            "name": "c",
            "instances": [{"attributes": {"private_ip": "a.internal"}}],
        }
        state = {"version": 4, "terraform_version": "1.9", "outputs": listed, "resources": [machine]}
        (tmp_path / name).write_text(json.dumps(state if "tfstate" in name else {**listed}))
    (tmp_path / "hosts").write_text("n1\nn2\n")
    assert find_site("lab1", tmp_path).hosts == {"terraform": str(tmp_path / "lab1")}
    assert find_site("terraform:outputs.json", tmp_path).hosts == {"terraform": str(tmp_path / "outputs.json")}
    found = find_site("hosts", tmp_path)
    assert (found.hosts, found.storage, found.design) == ({"inventory": str(tmp_path / "hosts")}, None, None)
    assert find_site("bench@client[1-4]:2222", tmp_path).hosts == "bench@client[1-4]:2222"
    assert find_site("labor", tmp_path).note.startswith("no stack of that name")
    assert not find_site("a,b", tmp_path).note


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("nosuch.json", "--on nosuch.json: there is no such file"),
        ("terraform:nosuch", "nosuch: no such file or directory"),
        ("stack:-x", "--on stack:-x: `-x` is no name of a stack"),
        ("stack:", "is no name of a stack"),
        ("client[1-", "--on client\\[1-: "),
    ],
)
def test_what_names_no_site_is_refused(written: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(AssayError, match=message):
        find_site(written, tmp_path)


@pytest.mark.parametrize(
    ("document", "note"),
    [
        (stack("sa-east-1", **OUTPUTS), "no prices: there is no price book aws-sa-east-1"),
        (stack(**{**OUTPUTS, "AssayDesign": DESIGN.replace("4", '"many"')}), "no prices: "),
        (stack(**{**OUTPUTS, "AssayDesign": "no JSON"}), ""),
        (stack(**{**OUTPUTS, "AssayDesign": DESIGN.replace("nfs-gp3", "/etc/passwd")}), ""),
    ],
)
def test_what_has_no_price_is_named(
    document: dict[str, Any], note: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(programs, "hook", lambda _: lambda *_: json.dumps(document).encode())
    found = find_site("stack:lab1", tmp_path)
    assert found.design is None
    assert found.note.startswith(note) and bool(found.note) == bool(note)


@pytest.mark.parametrize(
    ("vpc", "public", "network"),
    [
        ("", "", {"nat-gateway": 1, "public-ipv4": 1}),
        ("", "192.0.2.1", {"nat-gateway": 1, "public-ipv4": 2}),
        ("vpc-0123456789abcdef0", "192.0.2.1", {"public-ipv4": 1}),
        ("vpc-0123456789abcdef0", "", {}),
        (None, "", {}),
    ],
)
def test_the_network_of_a_stack_is_paid_for(
    vpc: str | None, public: str, network: dict[str, int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A network of its own has a gateway with an address; each host has the address that it got."""
    document = json.dumps(stack(vpc=vpc, public=public, **OUTPUTS)).encode()
    monkeypatch.setattr(programs, "hook", lambda _: lambda *_: document)
    found = find_site("stack:lab1", tmp_path)
    assert found.design is not None and found.design.network == network and not found.note


def test_hosts_without_a_price_are_named_and_left_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    document = json.dumps(stack(kind="x9.none", **OUTPUTS)).encode()
    monkeypatch.setattr(programs, "hook", lambda _: lambda *_: document)
    found = find_site("stack:lab1", tmp_path)
    assert found.design is not None and not found.design.hosts
    assert found.note == "the price book aws-eu-west-1 has no price of x9.none: not in the cost"
