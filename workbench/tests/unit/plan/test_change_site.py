"""A study on another site: its hosts, its storage as the target, its design and prices."""

from typing import Any

import pytest

from assay.model.base import AssayError
from assay.model.site.storage import SiteStorage
from assay.plan.change import Change
from assay.plan.change_site import OtherSite, SiteDesign

WORK = {"w": {"operations": ["write"], "file_size": "1MiB", "record_size": "64KiB"}}
NFS = {"kind": "nfs", "servers": "server1", "export": "/old", "mount_port": 3, "nconnect": 2, "description": "in a box"}
TWO = SiteStorage(servers=("a", "b"), mount="b:/e", mount_type="nfs")
EFS = SiteStorage(mount="fs-1.efs.x:/", mount_type="nfs4", mount_point="/m")
SERVER = SiteStorage(servers=("10.0.0.9",), mount="10.0.0.9:/export", mount_type="nfs4", mount_point="/scratch")


def data(**targets: dict[str, Any]) -> dict[str, Any]:
    return {"study": "s", "question": "q", "testbed": "box.yaml", "targets": targets, "workloads": WORK}


def on(storage: SiteStorage | None, study: dict[str, Any], **more: Any) -> dict[str, Any]:
    return OtherSite("lab", {"stack": "lab"}, storage, **more).apply(study)


def test_a_study_of_a_box_is_of_a_stack() -> None:
    found = on(SERVER, data(nfs=NFS))
    assert found["targets"] == {"nfs": {"kind": "nfs", "servers": ["10.0.0.9"], "export": "/export", "nconnect": 2}}
    assert found["hosts"] == {"stack": "lab"}
    assert "testbed" not in found


@pytest.mark.parametrize(
    ("target", "storage", "fields"),
    [
        (
            {"kind": "file", "path": "/mnt/x", "mounts": [{"source": "a:/b", "at": "/mnt/x"}], "shares": ["/y"]},
            SERVER,
            {"kind": "file", "path": "/scratch/assay", "servers": ["10.0.0.9"]},
        ),
        (
            {"kind": "file", "path": "/mnt/x"},
            SiteStorage(mount="fs-1.efs.eu-west-1.amazonaws.com:/", mount_type="nfs4", mount_point="/efs/"),
            {"kind": "file", "path": "/efs/assay"},
        ),
        (
            {"kind": "s3", "bucket": "x", "server": "moto", "prefix": "p"},
            SiteStorage(bucket="lab-bucket", region="eu-west-1"),
            {"kind": "s3", "bucket": "lab-bucket", "region": "eu-west-1", "prefix": "p"},
        ),
        (
            {"kind": "dynamodb", "table": "x", "endpoint": "http://h:1"},
            SiteStorage(table="lab-table"),
            {"kind": "dynamodb", "table": "lab-table"},
        ),
        ({"kind": "null"}, SERVER, {"kind": "null"}),
        (
            NFS,
            SiteStorage(servers=("a", "b"), mount="b:/e", mount_type="nfs"),
            {**NFS, "servers": ["a", "b"], "export": "/e"},
        ),
        (NFS, SiteStorage(servers=("a",), mount="c:/e", mount_type="nfs"), {**NFS, "servers": ["c"], "export": "/e"}),
    ],
)
def test_each_kind_of_target_finds_its_storage(
    target: dict[str, Any], storage: SiteStorage, fields: dict[str, Any]
) -> None:
    found = on(storage, data(t=target))["targets"]["t"]
    assert found == {key: value for key, value in fields.items() if key not in ("mount_port", "description")}


@pytest.mark.parametrize(
    ("targets", "storage", "message", "hint"),
    [
        ({"a": NFS, "b": NFS}, SERVER, "the site has one storage, and the study 2 targets", "--target a"),
        ({"a": NFS}, SiteStorage(bucket="x"), "target a is an NFS export, and the site has bucket x", "kind s3"),
        (
            {"a": NFS},
            SiteStorage(mount="fs-1.efs.x:/", mount_type="nfs4", mount_point="/m"),
            "nfs4 fs-1.efs",
            "kind file",
        ),
    ],
)
def test_what_does_not_fit_is_refused(targets: dict[str, Any], storage: SiteStorage, message: str, hint: str) -> None:
    with pytest.raises(AssayError, match=message) as refused:
        on(storage, data(**targets))
    assert hint in refused.value.hint


def test_one_of_several_targets_may_be_measured() -> None:
    site = OtherSite("lab", "client[1-4]", SERVER)
    change = Change(targets=("b",), site=site)
    assert change.options_text == "--target b --on lab"
    assert list(change.apply(data(a=NFS, b=NFS))["targets"]) == ["b"]


def test_servers_are_named_by_the_addresses_of_the_site() -> None:
    addresses = {"server1": "10.0.0.9", "s2": "10.0.0.8"}
    found = on(None, data(a=NFS, b={**NFS, "servers": "s[1-2]"}, c={"kind": "null"}), addresses=addresses)["targets"]
    assert found["a"] == {**NFS, "servers": ["10.0.0.9"]}
    assert found["b"]["servers"] == ["s1", "10.0.0.8"]
    assert found["c"] == {"kind": "null"}
    assert on(None, data(a=NFS))["targets"]["a"] == NFS


def test_the_design_of_the_site_is_that_of_the_target() -> None:
    design = SiteDesign("aws-eu-west-1", "nfs-gp3", {"volumes": 4}, {"c5n.large": 8})
    named = {"design": "nfs-gp3", "set": {"volumes": 4}}
    assert on(SERVER, data(nfs=NFS), design=design)["prices"] == {
        "book": "aws-eu-west-1",
        "hosts": {"c5n.large": 8},
        "designs": {"nfs": named},
    }
    own = {"book": "mine", "use": {"duty": "10%"}, "designs": {"nfs": {"design": "x"}}}
    found = on(SERVER, {**data(nfs=NFS), "prices": own}, design=design)["prices"]
    assert found == {**own, "hosts": {"c5n.large": 8}, "designs": {"nfs": named}}


def test_the_network_of_the_site_is_priced_by_the_book_that_has_its_prices() -> None:
    """A book of the user's need not have them."""
    design = SiteDesign("aws-eu-west-1", "nfs-gp3", {}, {}, {"nat-gateway": 1})
    assert on(SERVER, data(nfs=NFS), design=design)["prices"]["network"] == {"nat-gateway": 1}
    for name, is_priced in (("aws-eu-west-1", True), ("mine", False)):
        own = {"book": name, "designs": {"nfs": {"design": "x"}}}
        assert ("network" in on(SERVER, {**data(nfs=NFS), "prices": own}, design=design)["prices"]) == is_priced
