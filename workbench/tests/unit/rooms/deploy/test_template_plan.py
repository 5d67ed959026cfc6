"""From designs to stacks: sizes, instance types, and which designs no template can build."""

import copy
import json
from typing import Any

import pytest
import yaml
from stack_templates import template

from assay.model.base import AssayError
from assay.rooms.deploy.commands.template import plan_of
from assay.rooms.deploy.model.stack_plan import StackPlan
from assay.rooms.deploy.work.templates.draft import Draft
from assay.rooms.deploy.work.templates.functions import either, ref
from assay.rooms.deploy.work.templates.plan import AWS, HostOptions
from assay.rooms.deploy.work.templates.render import template_json, template_yaml
from assay.rooms.deploy.work.templates.simplify import decide

NONE = HostOptions()


def plan(design: str, *fixed: str, capacity: str = "", options: HostOptions = NONE) -> StackPlan:
    return plan_of(design, [*fixed], capacity, options)


@pytest.mark.parametrize(
    ("capacity", "instance"),
    [("500GB", "i3.2xlarge"), ("3TB", "i4i.4xlarge"), ("7TB", "i4i.8xlarge"), ("50TB", "i3en.24xlarge")],
)
def test_type_of_the_server_follows_from_the_capacity(capacity: str, instance: str) -> None:
    (group,) = plan("nfs-instance-store", capacity=capacity).groups
    assert group.instance == instance and instance in group.choices


def test_volumes_and_hosts_follow_from_the_capacity() -> None:
    (group,) = plan("nfs-volumes", capacity="40TB").groups
    assert group.volumes is not None and group.volumes.count * group.volumes.size_gib * 2**30 >= 40e12
    storage = plan("beegfs", capacity="100TB").group("storage")
    assert storage is not None and storage.count * 3.75e12 >= 100e12


def test_choices_have_the_same_processor_and_disks() -> None:
    (group,) = plan("nfs-instance-store", "instance=im4gn.4xlarge").groups
    assert {AWS.architecture(name) for name in group.choices} == {"arm64"}
    assert plan("nfs-instance-store", "instance=im4gn.4xlarge").architecture == "arm64"


@pytest.mark.parametrize(
    ("instance", "expected"),
    [
        ("c6in.xlarge", "amd64"),
        ("c7gn.large", "arm64"),
        ("im4gn.4xlarge", "arm64"),
        ("a1.large", "arm64"),
        ("g4dn.xlarge", "amd64"),
        ("g5g.xlarge", "arm64"),
        ("x2gd.metal", "arm64"),
        ("m7i-flex.large", "amd64"),
    ],
)
def test_architecture_of_an_instance_type(instance: str, expected: str) -> None:
    assert AWS.architecture(instance) == expected


REFUSED: tuple[tuple[str, HostOptions, str], ...] = (
    ("own-ceph", NONE, "CloudFormation cannot build it"),
    ("s3-leased-link", NONE, "CloudFormation cannot build it"),
    ("fsx-windows", NONE, "there is no template for fsx-windows"),
    ("s3-replicated", NONE, "a bucket of another region"),
    ("s3-express", NONE, "of another kind"),
    ("fsx-openzfs-multi-az", NONE, "two zones"),
    ("fsx-lustre-efa", NONE, "no role sets up clients"),
    ("beegfs-mirrored", NONE, "copies"),
    ("ceph-volumes:nodes=101", NONE, "more than 100 servers"),
    ("direct-volumes", NONE, "there is no template for"),
    ("nfs-gp3", HostOptions(attaches=True), "cannot join"),
    ("nfs-gp3", HostOptions(client_instance="c7gn.xlarge"), "one image cannot start both"),
    ("nfs-gp3", HostOptions(client_instance="c9x.nosuch"), "c9x.nosuch"),
    ("nfs-gp3:volumes=30,capacity=30TB", NONE, "30 volumes"),
    ("orangefs:nodes=101", NONE, "more than 100 servers"),
)


@pytest.mark.parametrize(("design", "options", "words"), REFUSED)
def test_refused_in_one_line_with_a_way_out(design: str, options: HostOptions, words: str) -> None:
    with pytest.raises(AssayError) as error:
        plan(design, options=options)
    assert words in error.value.what and error.value.hint and "\n" not in error.value.what


class _Loader(yaml.SafeLoader):
    """Reads short forms back into functions."""


def _read_function(loader: _Loader, suffix: str, node: yaml.Node) -> Any:
    name = suffix if suffix == "Ref" else f"Fn::{suffix}"
    if isinstance(node, yaml.ScalarNode):
        text = loader.construct_scalar(node)
        return {name: text.split(".") if suffix == "GetAtt" else text}
    if isinstance(node, yaml.SequenceNode):
        return {name: loader.construct_sequence(node, deep=True)}
    assert isinstance(node, yaml.MappingNode)
    return {name: loader.construct_mapping(node, deep=True)}


_Loader.add_multi_constructor("!", _read_function)


@pytest.mark.parametrize("name", ["beegfs", "efs-one-zone", "nfs-aws-2016"])
def test_yaml_says_the_same(name: str) -> None:
    text = template_yaml(template(name))
    assert yaml.load(text, _Loader) == template(name)
    assert "&id" not in text and "\t" not in text
    assert json.loads(template_json(template(name))) == template(name)


def test_decided_condition_leaves_nothing_behind() -> None:
    draft = Draft("d")
    draft.conditions = {"Own": {}, "Other": {}}
    draft.resources = {
        "Vpc": {"Type": "V", "Condition": "Own"},
        "Host": {
            "Type": "H",
            "Properties": {"Net": either("Own", ref("Vpc"), ref("VpcId")), "List": [either("Own", 1), 2]},
            "Metadata": {"After": either("Own", ref("Vpc"))},
        },
        "Group": {"Type": "G", "Condition": "Other", "Properties": {"Only": either("Other", ref("Host"))}},
    }
    other = copy.deepcopy(draft)
    decide(draft, "Own", holds=False)
    assert draft.conditions == {"Other": {}}
    assert draft.resources == {
        "Host": {"Type": "H", "Properties": {"Net": {"Ref": "VpcId"}, "List": [2]}},
        "Group": other.resources["Group"],
    }
    decide(other, "Own", holds=True)
    assert other.resources["Vpc"] == {"Type": "V"}
    assert other.resources["Host"]["Properties"] == {"Net": {"Ref": "Vpc"}, "List": [1, 2]}
