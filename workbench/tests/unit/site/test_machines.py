"""Machines in the JSON of Terraform, CloudFormation, ParallelCluster and Ansible, and which of them generate load."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from soak import times

from assay.model.base import AssayError
from assay.model.site.host import MAX_HOSTS
from assay.site.inventory.foreign import ForeignInventory
from assay.site.inventory.hosts import chosen_hosts, converted_inventory, read_inventory
from assay.site.inventory.machines.documents import read_document
from assay.site.inventory.machines.machine import CloudMachine, inventory_of, named_apart

FILE = Path("/study/x.json")


def read(document: object, notes: list[str] | None = None) -> ForeignInventory:
    assert isinstance(document, dict)
    return read_document(document, FILE, (notes if notes is not None else []).append)


def login(document: object) -> dict[str, str]:
    """Host -> USER@ADDRESS:PORT via JUMP, of what a document names."""
    found = read(document)
    return {
        name: f"{about.get('user', '')}@{about['address']}:{about.get('port', '')} {about.get('jump', '')}".rstrip()
        for name, about in found.fields.items()
    }


def output(value: object, sensitive: bool = False) -> dict[str, object]:
    return {"sensitive": sensitive, "type": "dynamic", "value": value}


def outputs(**values: object) -> dict[str, Any]:
    """What `terraform output -json` prints."""
    return {name: output(value) for name, value in values.items()}


OUTPUTS: dict[str, tuple[dict[str, Any], str, str]] = {
    "a list": (
        outputs(client_ips=["10.0.1.5", "10.0.1.6"]),
        "client-0@10.0.1.5 client-1@10.0.1.6",
        "client-0 client-1",
    ),
    "clients and a server": (
        outputs(client_ips=["10.0.1.5"], nfs_server_ip="10.0.1.9"),
        "client-0@10.0.1.5 nfs-server@10.0.1.9",
        "client-0",
    ),
    "public and private": (
        outputs(client_public_ips=["3.4.5.6", "3.4.5.7"], client_private_ips=["10.0.0.1", "10.0.0.2"]),
        "client-0@3.4.5.6 client-1@3.4.5.7",
        "client-0 client-1",
    ),
    "a map": (
        outputs(vm_ips={"web-1": "192.168.1.10", "web-2": "192.168.1.11"}),
        "web-1@192.168.1.10 web-2@192.168.1.11",
        "web-1 web-2",
    ),
    "objects": (
        outputs(instances=[{"name": "n1", "public_ip": "3.4.5.6", "private_ip": "10.0.0.1", "user": "ubuntu"}]),
        "n1@3.4.5.6",
        "n1",
    ),
    "a map of objects": (
        outputs(hosts={"n1": {"private_ip": "10.0.0.1"}, "n2": {"private_dns": "ip-10-0-0-2.ec2.internal"}}),
        "n1@10.0.0.1 n2@ip-10-0-0-2.ec2.internal",
        "n1 n2",
    ),
    "text with blanks": (
        outputs(compute_ips="10.0.0.1 10.0.0.2", controller="10.0.0.3"),
        "compute-0@10.0.0.1 compute-1@10.0.0.2 controller@10.0.0.3",
        "compute-0 compute-1",
    ),
    "one machine each, and all of them": (
        outputs(
            mgmt01_ip="3.4.5.1", compute01_ip="3.4.5.2", private_ips={"mgmt01": "10.0.0.1", "compute01": "10.0.0.2"}
        ),
        "mgmt01@3.4.5.1 compute01@3.4.5.2",
        "compute01",
    ),
    "the same under two names": (
        outputs(all_ips=["10.0.0.1", "10.0.0.2"], worker_ips=["10.0.0.1"], master_ip="10.0.0.2"),
        "worker-0@10.0.0.1 master@10.0.0.2",
        "worker-0",
    ),
    "camel case": (outputs(clientPublicIPs=["3.4.5.6"]), "client-0@3.4.5.6", "client-0"),
    "names": (
        outputs(public_dns=["ec2-3-4-5-6.compute-1.amazonaws.com"]),
        "host-0@ec2-3-4-5-6.compute-1.amazonaws.com",
        "host-0",
    ),
    "nested lists": (
        outputs(worker_ips=[["10.0.0.1", "10.0.0.2"]]),
        "worker-0@10.0.0.1 worker-1@10.0.0.2",
        "worker-0 worker-1",
    ),
    "servers only": (
        outputs(server_ips=["10.0.0.1", "10.0.0.2"]),
        "server-0@10.0.0.1 server-1@10.0.0.2",
        "server-0 server-1",
    ),
    "a server of files": (outputs(server_ips={"nfs": "10.0.0.1"}), "nfs@10.0.0.1", ""),
    "storage only": (outputs(storage_ips=["10.0.0.1"]), "storage-0@10.0.0.1", ""),
    "several kinds of servers": (
        outputs(storage_ips=["10.0.0.1"], metadata_ips=["10.0.0.2"]),
        "storage-0@10.0.0.1 metadata-0@10.0.0.2",
        "",
    ),
}


@pytest.mark.parametrize("case", OUTPUTS)
def test_outputs_name_machines_and_which_generate_load(case: str) -> None:
    document, hosts, clients = OUTPUTS[case]
    found = read(document)
    assert [f"{name}@{about['address']}" for name, about in found.fields.items()] == hosts.split()
    assert found.clients == clients.split()


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ('["10.0.0.1", "10.0.0.2"]', "host-0@10.0.0.1 host-1@10.0.0.2"),
        ('[{"name": "a", "private_ip": "10.0.0.1"}]', "a@10.0.0.1"),
        ('{"a": "10.0.0.1", "b": "10.0.0.2"}', "a@10.0.0.1 b@10.0.0.2"),
        ('{"a": {"public_ip": "3.4.5.6"}}', "a@3.4.5.6"),
    ],
)
def test_the_value_of_one_output_names_machines(text: str, hosts: str) -> None:
    found = read_inventory(text.encode(), FILE, tool="terraform").hosts
    assert [f"{host.name}@{host.address}" for host in found.values()] == hosts.split()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('client_ips = [\n  "10.0.0.1",\n]\n', "is what `terraform output` prints as text"),
        ('client_ips = tolist([\n  "10.0.0.1",\n])\n', "is what `terraform output` prints as text"),
        ('{"client_ips": {"value"', "line 1 is not JSON"),
        ("[]", "is not a node set"),
        ('["a b"]', "no output has addresses"),
    ],
)
def test_other_text_is_refused(text: str, message: str) -> None:
    with pytest.raises(AssayError, match=message):
        read_inventory(text.encode(), FILE)


def test_other_addresses_are_no_machines() -> None:
    document = outputs(
        nat_gateway_public_ips=["54.232.74.230"],
        vpc_cidr="10.0.0.0/16",
        lb_dns_name="x.elb.amazonaws.com",
        efs_dns_name="fs-12.efs.eu-west-1.amazonaws.com",
        subnet_ids=["subnet-1"],
        version="1.2.3.4.5",
        client_ips=[],
        bucket_host="x.example.org",
        network_address="some-name",
        empty=None,
    )
    with pytest.raises(AssayError, match="no output has addresses of machines: nat_gateway_public_ips") as refused:
        read(document)
    assert "54.232" not in str(refused.value)
    with pytest.raises(AssayError, match="has no outputs"):
        read({})


def test_users_ports_and_keys_are_outputs_too() -> None:
    document = outputs(
        client_ips=["10.0.0.1"],
        server_ip="10.0.0.2",
        ssh_user="ubuntu",
        server_user="admin",
        ssh_port=2222,
        private_key_path="keys/id",
        private_key_pem="-----BEGIN\nx",
    )
    assert login(document) == {"client-0": "ubuntu@10.0.0.1:2222", "server": "admin@10.0.0.2:2222"}
    assert read(document).fields["server"]["identity"] == "keys/id"
    command = outputs(client_ips=["3.4.5.6"], ssh_command="ssh -i ~/k.pem rocky@3.4.5.6")
    assert login(command) == {"client-0": "rocky@3.4.5.6:"}


def test_others_are_reached_through_a_bastion_by_their_private_addresses() -> None:
    document = outputs(
        bastion_public_ip="3.4.5.1",
        client_public_ips=["3.4.5.2"],
        client_private_ips=["10.0.0.2"],
        storage_ips=["10.0.0.3"],
        ssh_user="ec2-user",
    )
    assert login(document) == {
        "bastion": "ec2-user@3.4.5.1:",
        "client-0": "ec2-user@10.0.0.2: ec2-user@3.4.5.1",
        "storage-0": "ec2-user@10.0.0.3: ec2-user@3.4.5.1",
    }
    assert read(document).clients == ["client-0"]


def test_from_a_machine_among_them_private_addresses_are_reached_directly() -> None:
    machines = [
        CloudMachine("head", ("head",), "3.4.5.1", "10.0.0.1"),
        CloudMachine("c", ("compute",), "3.4.5.2", "10.0.0.2", user="x"),
    ]
    inside = inventory_of(machines, is_own=lambda address: address == "10.0.0.1")
    assert inside.fields == {"head": {"address": "10.0.0.1"}, "c": {"address": "10.0.0.2", "user": "x"}}
    outside = inventory_of(machines, is_own=lambda _: False)
    assert outside.fields["c"] == {"address": "10.0.0.2", "user": "x", "jump": "3.4.5.1"}


def test_sensitive_addresses_are_refused_and_appear_nowhere() -> None:
    document = {"client_ips": output(["10.9.9.9"], sensitive=True), "db_password": output("geheim", sensitive=True)}
    with pytest.raises(AssayError, match="output client_ips is sensitive") as refused:
        read(document)
    assert "10.9.9.9" not in f"{refused.value} {refused.value.hint}"
    found = read({**document, "client_ips": output(["10.9.9.9"])})
    assert "geheim" not in repr(found)


def resource(kind: str, name: str, *instances: dict[str, Any], mode: str = "managed") -> dict[str, Any]:
    listed = [
        {**({"index_key": at} if len(instances) > 1 else {}), "attributes": one} for at, one in enumerate(instances)
    ]
    return {"mode": mode, "type": kind, "name": name, "instances": listed}


def state(*resources: dict[str, Any], **values: object) -> dict[str, Any]:
    return {"version": 4, "terraform_version": "1.9.5", "outputs": outputs(**values), "resources": list(resources)}


AWS = {
    "private_ip": "10.0.0.1",
    "public_ip": "",
    "instance_state": "running",
    "ami": "ami-1",
    "tags": {"Name": "load a"},
}
GOOGLE = {
    "name": "vm1",
    "current_status": "RUNNING",
    "metadata": {"ssh-keys": "ops:ssh-ed25519 AAAA x"},
    "network_interface": [{"network_ip": "10.1.0.2", "access_config": [{"nat_ip": "34.1.2.3"}]}],
}
AZURE = {"name": "vm2", "admin_username": "azureuser", "public_ip_address": "", "private_ip_address": "10.2.0.4"}


def test_a_state_names_machines_of_each_cloud_and_their_users() -> None:
    image = resource("aws_ami", "base", {"id": "ami-1", "name": "debian-12-amd64-20260101"}, mode="data")
    aws = resource(
        "aws_instance", "client", AWS, {**AWS, "private_ip": "10.0.0.2"}, {**AWS, "instance_state": "stopped"}
    )
    foreign = resource("aws_instance", "other", {"private_ip": "10.9.9.9"}, mode="data")
    vms = [resource("google_compute_instance", "vm", GOOGLE), resource("azurerm_linux_virtual_machine", "vm", AZURE)]
    clouds = [*vms, resource("hcloud_server", "web", {"name": "h", "ipv4_address": "5.6.7.8"})]
    notes: list[str] = []
    found = read(state(image, aws, foreign, *clouds), notes)
    assert login(state(image, aws, *clouds)) == {
        "load-a1": "admin@10.0.0.1:",
        "load-a2": "admin@10.0.0.2:",
        "vm1": "ops@34.1.2.3:",
        "vm2": "azureuser@10.2.0.4:",
        "h": "root@5.6.7.8:",
    }
    assert found.groups["client"] == found.clients == ["load-a1", "load-a2"]
    assert notes[0] == "note: not running, or without an address, and left out: client[2]"


def test_other_resources_of_a_state_give_machines_their_addresses() -> None:
    attached = [
        resource("aws_instance", "client", {**AWS, "id": "i-1", "public_ip": "3.3.3.3"}),
        resource("aws_eip", "client", {"instance": "i-1", "public_ip": "52.1.1.1"}),
        resource("openstack_compute_instance_v2", "login", {"id": "u", "name": "l", "access_ip_v4": "10.1.0.5"}),
        resource("openstack_compute_floatingip_associate_v2", "l", {"instance_id": "u", "floating_ip": "203.0.113.5"}),
        resource("proxmox_virtual_environment_vm", "n", {"name": "n", "ipv4_addresses": [["127.0.0.1"], ["10.8.0.2"]]}),
        resource("upcloud_server", "u", {"name": "u"}),
    ]
    attached[0]["instances"].append({"deposed": "0a", "attributes": {**AWS, "public_ip": "9.9.9.9"}})
    notes: list[str] = []
    found = read(state(*attached), notes)
    assert {name: (about["address"], about.get("jump")) for name, about in found.fields.items()} == {
        "load-a": ("10.0.0.1", "203.0.113.5"),
        "l": ("203.0.113.5", None),
        "n": ("10.8.0.2", "203.0.113.5"),
    }
    assert notes[0] == "note: machines of upcloud_server are not read: an output may name them"
    assert login(state(*attached[:2]))["load-a"] == "@52.1.1.1:"


def test_an_output_with_gaps_is_refused() -> None:
    with pytest.raises(AssayError, match="client-1 has no address"):
        read(outputs(client_ips=["10.0.0.1", None]))
    assert login(outputs(c_public_ips=["", "3.4.5.6"], c_private_ips=["10.0.0.1", "10.0.0.2"])) == {
        "c-0": "@10.0.0.1:",
        "c-1": "@3.4.5.6:",
    }


def test_outputs_of_a_state_add_to_its_machines() -> None:
    machine = resource("aws_instance", "this", {**AWS, "public_ip": "3.4.5.6"})
    found = read(state(machine, nfs_ip="10.0.0.1", client_ips=["10.0.0.7"], ssh_user="x"))
    assert found.fields == {
        "load-a": {"address": "3.4.5.6", "user": "x"},
        "client-0": {"address": "10.0.0.7", "user": "x"},
    }
    assert found.clients == ["client-0"]
    with pytest.raises(AssayError, match="the state has no machine") as refused:
        read(state(resource("aws_autoscaling_group", "x", {"name": "x"})))
    assert "aws_autoscaling_group" in refused.value.hint


def test_what_terraform_show_prints_has_modules() -> None:
    values = {
        "mode": "managed",
        "type": "aws_instance",
        "name": "n",
        "index": "a",
        "values": {"private_ip": "10.0.0.1"},
    }
    store = {**values, "values": {"private_ip": "10.0.0.9"}}
    inner = {"address": 'module.lab.module.clients["x"]', "resources": [values]}
    module = {"child_modules": [{"address": "module.lab", "child_modules": [inner], "resources": [store]}]}
    shown = {"format_version": "1.0", "terraform_version": "1.9.5", "values": {"outputs": {}, "root_module": module}}
    assert login(shown) == {"n-a1": "@10.0.0.9:", "n-a2": "@10.0.0.1:"}
    found = read(shown)
    assert found.groups == {"n": ["n-a1", "n-a2"], "lab": ["n-a1", "n-a2"], "clients": ["n-a2"]}
    assert found.clients == ["n-a2"]
    kept = resource("aws_instance", "n", {"private_ip": "10.0.0.1"})
    assert read(state({**kept, "module": "module.clients[0]"})).groups["clients"] == ["n"]
    # The name of the resource itself counts more.
    assert "clients" not in read(state({**kept, "name": "nfs", "module": "module.clients"})).groups


@pytest.mark.parametrize(
    ("kind", "values", "address"),
    [
        ("vultr_instance", {"main_ip": "45.76.1.2", "internal_ip": "10.1.96.4"}, "45.76.1.2"),
        (
            "scaleway_instance_server",
            {"public_ips": [{"address": "5.1.1.2"}], "private_ips": [{"address": "10.0.0.2"}]},
            "5.1.1.2",
        ),
        (
            "google_compute_instance",
            {"network_interface": [{"network_ip": "10.0.0.2"}, {"access_config": [{"nat_ip": "34.9.9.9"}]}]},
            "34.9.9.9",
        ),
        ("hcloud_server", {"ipv4_address": "", "ipv6_address": "2a01:4f8::1"}, "2a01:4f8::1"),
        ("hcloud_server", {"ipv4_address": "5.6.7.8", "status": "off"}, None),
        ("oci_core_instance", {"public_ip": "5.6.7.8", "state": "STOPPED"}, None),
    ],
)
def test_each_cloud_names_addresses_and_states_in_its_own_way(
    kind: str, values: dict[str, Any], address: str | None
) -> None:
    document = state(resource(kind, "n", {"name": "n", **values}))
    if address is not None:
        assert read(document).fields["n"]["address"] == address
        return
    with pytest.raises(AssayError, match="no machine with an address"):
        read(document)


def instance(role: str, private: str, public: str = "", **more: object) -> dict[str, Any]:
    tags = [{"Key": "assay:role", "Value": role}] if role else []
    about: dict[str, Any] = {"State": {"Name": "running"}, "PrivateIpAddress": private, "Tags": tags, **more}
    return {**about, **({"PublicIpAddress": public} if public else {})}


def stack(status: str = "CREATE_COMPLETE", *instances: dict[str, Any], **values: str) -> dict[str, Any]:
    listed = [{"OutputKey": name, "OutputValue": value} for name, value in values.items()]
    stacks = [{"StackName": "lab", "StackStatus": status, "Outputs": listed}]
    return {"Stacks": stacks, "Reservations": [{"Instances": list(instances)}]}


def test_a_stack_has_clients_storage_and_a_login_host() -> None:
    document = stack(
        "CREATE_COMPLETE",
        instance("client", "10.0.0.4", LaunchTime="2026-11-30T10:00:01Z"),
        instance("client", "10.0.0.5", LaunchTime="2026-11-30T10:00:00Z"),
        instance("client", "10.0.0.6", State={"Name": "shutting-down"}),
        instance("client", "10.0.0.7", Platform="windows"),
        instance("login", "10.0.0.2", "3.4.5.6"),
        instance("storage", "10.0.0.9"),
        StorageAddresses="10.0.0.9",
        LoginAddress="3.4.5.6",
        LoginUser="admin",
        Mount="10.0.0.9:/export",
        ClientGroup="lab-Clients-1",
    )
    notes: list[str] = []
    assert read(document, notes).clients == ["client1", "client2"]
    assert login(document) == {
        "client1": "admin@10.0.0.5: admin@3.4.5.6",
        "client2": "admin@10.0.0.4: admin@3.4.5.6",
        "login1": "admin@3.4.5.6:",
        "storage1": "admin@10.0.0.9: admin@3.4.5.6",
    }
    assert notes[0] == "note: 2 of 6 instances not running, or with Windows, left out"


def test_a_stack_of_others_has_machines_by_tags_and_outputs() -> None:
    tags = [{"Key": "Name", "Value": "bench"}, {"Key": "aws:cloudformation:logical-id", "Value": "NfsServer"}]
    document = stack("UPDATE_COMPLETE", instance("", "10.0.0.4", Tags=tags), WorkerPrivateIPs="10.0.0.7,10.0.0.8")
    found = read(document)
    assert found.groups == {"NfsServer": ["bench"], "WorkerPrivateIPs": ["worker-0", "worker-1"]}
    assert found.clients == ["worker-0", "worker-1"]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (stack("ROLLBACK_COMPLETE"), "the stack is in the state ROLLBACK_COMPLETE"),
        (stack("CREATE_IN_PROGRESS"), "the stack is in the state CREATE_IN_PROGRESS"),
        (stack("CREATE_COMPLETE", VpcId="vpc-1"), "nothing there names a machine"),
        ({"Stacks": [{}, {}]}, "describes 2 stacks"),
        ({"Stacks": [{"Outputs": [{}]}]}, "damaged"),
        ({"clusterName": "c", "headNode": {}}, "not its compute nodes"),
        ({"instances": [{"nodeType": "HeadNode"}]}, "no compute node of the cluster runs"),
        ({"instances": [{"nodeType": "ComputeNode"}], "nextToken": "x"}, "only a part of the machines"),
        ({**stack("CREATE_COMPLETE", instance("client", "10.0.0.4")), "NextToken": "x"}, "only a part of the machines"),
        ({"instances": [3]}, "no known form"),
        (outputs(my_ip="84.1.1.1", cluster_vip="10.0.0.100"), "no output has addresses"),
        ({"a": {"b": 1}}, "JSON of no known form"),
        ({"terraform_version": "0.11.1", "version": 3, "modules": []}, "state of version 3"),
        ({"terraform_version": "1.9.5", "version": 4, "resources": [{"instances": [{}]}]}, "damaged"),
    ],
)
def test_what_is_not_usable_is_refused(document: dict[str, Any], message: str) -> None:
    with pytest.raises(AssayError, match=message):
        read(document)


def test_a_cluster_has_compute_nodes_behind_its_head_node() -> None:
    """The answer is as that of ParallelCluster 3.x in its documentation."""
    node = {"instanceType": "c6i.4xlarge", "nodeType": "ComputeNode", "queueName": "queue1", "state": "running"}
    head = {
        "publicIpAddress": "54.82.234.236",
        "nodeType": "HeadNode",
        "privateIpAddress": "10.0.0.4",
        "state": "running",
    }
    nodes = [{**node, "privateIpAddress": f"10.0.21.{number}"} for number in (77, 78)]
    document = {"instances": [head, *nodes, {**node, "state": "pending", "privateIpAddress": "10.0.21.79"}]}
    found = read_document(document, FILE, lambda _: None, user="ec2-user")
    assert found.clients == ["queue1-1", "queue1-2"]
    assert found.fields["queue1-2"] == {"address": "10.0.21.78", "user": "ec2-user", "jump": "ec2-user@54.82.234.236"}


def test_ansible_lists_hosts_with_all_their_variables() -> None:
    document = {
        "_meta": {"hostvars": {"c1": {"ansible_host": "10.0.0.1", "ansible_user": "u"}, "c2": {"ansible_port": 2222}}},
        "all": {"children": ["ungrouped", "prod"]},
        "prod": {"children": ["web", "db"]},
        "web": {"hosts": ["c1", "c2"], "vars": {"ansible_ssh_common_args": "-o ProxyJump=ops@gate"}},
        "db": ["d1"],
    }
    found = read(document)
    assert found.fields == {
        "c1": {"address": "10.0.0.1", "user": "u", "jump": "ops@gate"},
        "c2": {"port": 2222, "jump": "ops@gate"},
        "d1": {},
    }
    assert (found.groups["prod"], found.clients) == (["c1", "c2", "d1"], None)


@pytest.mark.parametrize(
    ("arguments", "jump"),
    [
        ("-J g1", "g1"),
        ("-C -o StrictHostKeyChecking=no -oProxyJump=g0,g1:22", "g0,g1:22"),
        ('-o ProxyCommand="ssh -W %h:%p -q ops@g1"', "ops@g1"),
        ("-o ProxyCommand='ssh -i k -p 2222 -W [%h]:%p -q g1 -l ops'", "ops@g1:2222"),
        ("-o 'ProxyCommand ssh -o Port=22 -o User=ops -J g0 g1 -W %h:%p'", "g0,ops@g1:22"),
        ("-o ProxyCommand='ssh ops@g1 nc -w 5 %h %p'", "ops@g1"),
        ("-o ProxyCommand=none -o ControlMaster=auto", None),
    ],
)
def test_arguments_of_ssh_name_a_jump_host(arguments: str, jump: str | None) -> None:
    text = json.dumps({"_meta": {"hostvars": {"a": {"ansible_ssh_common_args": arguments}}}})
    assert read(json.loads(text)).fields["a"].get("jump") == jump


@pytest.mark.parametrize(
    "arguments",
    [
        "-o ProxyCommand='nc -x p:1080 %h %p'",
        "-o ProxyCommand='ssh g1 ./tunnel'",
        "-J 'g",
        "-F ssh.cfg",
        "-o ProxyCommand=ssh",
    ],
)
def test_other_ways_to_a_host_are_refused(arguments: str) -> None:
    document = {"_meta": {"hostvars": {"a": {"ansible_ssh_extra_args": arguments}}}}
    with pytest.raises(AssayError, match=r"a: (only ssh can (run|use)|arguments of ssh cannot be read)"):
        read(document)


def test_what_a_run_stores_has_hosts_groups_and_clients_and_no_secret() -> None:
    document = outputs(client_ips=["10.0.0.1"], server_ip="10.0.0.2", private_key_path="k", note="geheim")
    kept = converted_inventory(json.dumps(document).encode(), FILE)
    assert kept is not None and b"geheim" not in kept
    again = read_inventory(kept, Path("/run/hosts.yaml"))
    assert [host.name for host in chosen_hosts(again, None, "x")] == ["client-0"]
    assert again.hosts["server"].identity == "/study/k"
    ambiguous = converted_inventory(json.dumps(outputs(storage_ips=["10.0.0.1"], mds_ip="10.0.0.2")).encode(), FILE)
    assert ambiguous is not None
    inventory = read_inventory(ambiguous, Path("/run/hosts.yaml"))
    with pytest.raises(AssayError, match=r"which hosts of x generate the load is unknown"):
        chosen_hosts(inventory, None, "x")
    assert [host.name for host in chosen_hosts(inventory, "@mds_ip", "x")] == ["mds"]


def test_names_differ() -> None:
    names = ["client", "client", "client1", "n2", "n2", "Ü ü", "a b"]
    found = [item.name for item in named_apart([CloudMachine(name) for name in names])]
    assert found == ["client2", "client3", "client1", "n2-1", "n2-2", "host", "a-b"]


def test_as_many_machines_as_can_work_together_are_read_at_once() -> None:
    many = [instance("client", f"10.0.{number >> 8}.{number & 255}") for number in range(1000)]
    found = read(stack("CREATE_COMPLETE", *many, LoginUser="admin"))
    assert len(found.fields) == len(found.clients or ()) == 1000
    with pytest.raises(AssayError, match=f"more than {MAX_HOSTS} hosts"):
        read(outputs(client_ips=[f"10.{n >> 8}.{n & 255}.1" for n in range(MAX_HOSTS + 1)])).hosts(FILE)


SAMPLES = [
    OUTPUTS["one machine each, and all of them"][0],
    state(resource("google_compute_instance", "vm", GOOGLE), ssh_user="x"),
    stack("CREATE_COMPLETE", instance("client", "10.0.0.4"), LoginUser="u"),
    {"instances": [{"nodeType": "ComputeNode", "privateIpAddress": "10.0.0.1"}]},
    {"_meta": {"hostvars": {"c1": {"ansible_host": "10.0.0.1"}}}, "web": {"hosts": ["c1"]}},
]
PARTS = [None, 3, "", "x y", [], {}, [None], {"a": None}, "10.0.0.1", "-oProxyCommand=x", True]


@settings(max_examples=times(60, 20_000), deadline=None)
@given(st.integers(0, len(SAMPLES) - 1), st.integers(0, 2**32))
def test_damaged_documents_are_refused_and_raise_nothing_else(which: int, seed: int) -> None:
    document = json.loads(json.dumps(SAMPLES[which]))
    chance, node = random.Random(seed), document
    while True:
        key = chance.choice(list(node) if isinstance(node, dict) else range(len(node)))
        if isinstance(node[key], dict | list) and node[key] and chance.random() < 0.7:
            node = node[key]
            continue
        node[key] = chance.choice(PARTS)
        break
    try:
        read_inventory(json.dumps(document).encode(), FILE)
    except AssayError as error:
        assert str(error).startswith(str(FILE)) and "Traceback" not in str(error)
