"""Other instances in place of lost ones: hosts keep their names, and no instance has two."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from assay.model.site.host import Host
from assay.site.inventory.hosts import inventory_text, read_inventory
from assay.site.inventory.machines.cloudformation import instance_states
from assay.site.inventory.names import HostInventory
from assay.site.inventory.replacement import with_replacements


def inventory(clients: list[int], servers: list[int]) -> HostInventory:
    """Hosts as a stack numbers them, with instances of these numbers."""
    hosts = [
        Host(name=f"{role}{place}", address=f"10.0.0.{number}", instance=f"i-{number}")
        for role, numbers in (("client", clients), ("storage", servers))
        for place, number in enumerate(numbers, 1)
    ]
    names = [host.name for host in hosts]
    groups = {"client": " ".join(name for name in names if name.startswith("client"))} if clients else {}
    return HostInventory({host.name: host for host in hosts}, groups, [name for name in names if name[0] == "c"])


def instances(found: HostInventory) -> dict[str, str | None]:
    return {name: host.instance for name, host in found.hosts.items()}


def test_the_one_that_is_left_keeps_its_name_and_the_new_one_gets_that_of_the_lost() -> None:
    found = with_replacements(inventory([1, 2], [9]), inventory([2, 3], [9]), ["client1", "client2"])
    assert instances(found.inventory) == {"client1": "i-3", "client2": "i-2", "storage1": "i-9"}
    assert {name: host.address for name, host in found.replaced.items()} == {"client1": "10.0.0.3"}
    assert not found.missing


def test_a_server_is_never_replaced_and_a_client_only_if_the_run_uses_it() -> None:
    found = with_replacements(inventory([1, 2], [9]), inventory([3, 4], [8]), ["client2"])
    assert instances(found.inventory) == {"client1": "i-1", "client2": "i-3", "storage1": "i-9"}
    assert found.missing == {"client1": "i-1", "storage1": "i-9"}


def test_a_host_that_moved_is_reached_where_it_is_now() -> None:
    stored = inventory([1], [])
    moved = Host(name="client1", address="10.0.0.77", jump="gate", instance="i-1")
    (host,) = with_replacements(stored, HostInventory({"client1": moved}, {}), ["client1"]).inventory.hosts.values()
    assert (host.address, host.jump) == ("10.0.0.77", "gate")


def test_hosts_of_no_cloud_stay_as_they_are() -> None:
    stored = HostInventory({"a": Host(name="a"), "b": Host(name="b")}, {})
    found = with_replacements(stored, inventory([1, 2], []), ["a", "b"])
    assert found.inventory.hosts == stored.hosts and not found.replaced and not found.missing


NUMBERS = st.lists(st.integers(1, 30), unique=True, min_size=1, max_size=8)


@given(NUMBERS, NUMBERS)
def test_each_client_is_one_live_instance_or_missing(before: list[int], after: list[int]) -> None:
    stored = inventory(before, [])
    found = with_replacements(stored, inventory(after, []), list(stored.hosts))
    live = {name: instance for name, instance in instances(found.inventory).items() if name not in found.missing}
    assert set(live.values()) <= {f"i-{number}" for number in after}
    assert len(set(live.values())) == len(live)
    assert len(live) == min(len(before), len(after)), "as many as the stack has"
    kept = set(before) & set(after)
    assert all(instances(stored)[name] == live[name] for name in live if instances(stored)[name] in kept)


def test_an_inventory_with_instances_is_read_as_it_was_written() -> None:
    stored = inventory([1, 2], [9])
    found = read_inventory(inventory_text(stored), Path("/run/inventory"))
    assert (found.hosts, list(found.clients or ()), found.groups) == (stored.hosts, stored.clients, stored.groups)


def test_states_of_instances_have_reason_time_and_group() -> None:
    by_hand = "User initiated (2026-11-30 19:48:20 GMT)"
    document = {
        "Reservations": [
            {
                "Instances": [
                    {"InstanceId": "i-1", "State": {"Name": "running"}, "StateReason": {"Code": "", "Message": ""}},
                    {
                        "InstanceId": "i-2",
                        "State": {"Name": "shutting-down"},
                        "StateReason": {"Code": "Client.UserInitiatedShutdown", "Message": "x"},
                        "StateTransitionReason": by_hand,
                        "Tags": [{"Key": "aws:autoscaling:groupName", "Value": "clients"}],
                    },
                ]
            }
        ]
    }
    states = instance_states(document)
    assert states["i-1"].is_live and not states["i-1"].has_group and states["i-1"].ended_at is None
    assert (states["i-2"].is_live, states["i-2"].has_group) == (False, True)
    assert states["i-2"].code == "Client.UserInitiatedShutdown" and states["i-2"].ended_at == 1796068100.0
