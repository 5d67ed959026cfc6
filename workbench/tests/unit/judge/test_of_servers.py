"""Rules about data on servers: links of the clients show that servers answered, disks of the servers what they had."""

from typing import Any

import pytest
from builders import make_place
from judge_tools import about_names, evidence

from assay.judge import layers, rules
from assay.judge.answer import NotEvaluated
from assay.model.result.evidence import Evidence
from assay.model.result.host_use import DiskUse, HostUse, LinkUse
from assay.model.result.layers import Layer
from assay.model.result.run import TargetPlace
from assay.model.result.verdict import Finding

RATE = 100e6
GLUSTER = make_place(
    layers=(Layer(kind="program", name="fuse.glusterfs"),),
    device=None,
    filesystem="fuse.glusterfs",
    servers=("server1", "server2"),
    remote=False,
)


def link(received: float = 0.0, sent: float = 0.0, name: str = "eth0") -> LinkUse:
    return LinkUse(name=name, received=received, sent=sent, received_peak=received, sent_peak=sent, drops=0)


def host(name: str, *links: LinkUse, disk: float = 0.0, shared: bool = True) -> HostUse:
    own = DiskUse(name="loop3", busy=0.4, busy_peak=0.5, read=disk, written=disk, queue=1)
    other = DiskUse(name="vda", busy=0.4, busy_peak=0.5, read=1e9, written=1e9, queue=1)
    disks = (own, other) if disk else (other,)
    return HostUse(host=name, shared=shared, seconds=2, cpu=None, cpu_peak=None, cpus=2, links=links, disks=disks)


def of(operation: str, *uses: HostUse, place: TargetPlace = GLUSTER, hosts: int = 1, **fields: Any) -> Evidence:
    parameters = {"cache": "direct", "hosts": hosts}
    return evidence(
        operation, (RATE,) * 3, place=place, parameters=parameters, device_read_bytes=0, uses=uses, **fields
    )


SERVERS = (host("server1", link(sent=RATE / 2)), host("server2", link(sent=RATE / 2)))


@pytest.mark.parametrize(("operation", "carried"), [("read", link(RATE)), ("write", link(0.0, RATE))])
def test_what_the_links_of_the_clients_carried_came_from_servers(operation: str, carried: LinkUse) -> None:
    answer = layers.unseen_cache(of(operation, host("client1", carried), *SERVERS))
    assert isinstance(answer, NotEvaluated)
    assert "servers answer from memory" in answer.reason


@pytest.mark.parametrize(
    "uses",
    [
        (),
        (host("client1", link(0.8 * RATE)), *SERVERS),
        (host("client1", link(0.0, RATE)), *SERVERS),
        (host("client1", link(RATE, name="lo")), *SERVERS),
        # A bond, and the two links that it consists of.
        (host("client1", link(0.5 * RATE, name="bond0"), link(0.5 * RATE), link(name="eth1")), *SERVERS),
        # The client was not counted.
        (host("server1", link(RATE)), host("server2", link(RATE))),
    ],
)
def test_less_than_that_may_be_of_the_clients_memory(uses: tuple[HostUse, ...]) -> None:
    assert isinstance(layers.unseen_cache(of("read", *uses)), Finding)


def test_all_clients_together_must_have_carried_it() -> None:
    half = [host(f"client{number}", link(RATE / 2)) for number in (1, 2)]
    assert isinstance(layers.unseen_cache(of("read", *half, *SERVERS, hosts=2)), NotEvaluated)
    assert isinstance(layers.unseen_cache(of("read", *half[:1], *SERVERS, hosts=2)), Finding)


def test_disks_of_the_servers_that_gave_all_leave_nothing_open() -> None:
    gave = [host(name, disk=RATE / 2) for name in ("server1", "server2")]
    client = host("client1", link(RATE))
    assert layers.unseen_cache(of("read", client, *gave)) is None
    assert rules.cached_read(of("read", client, *gave)) is None
    part = layers.unseen_cache(of("read", client, *(host(name, disk=RATE / 5) for name in ("server1", "server2"))))
    assert isinstance(part, NotEvaluated)
    assert "moved 40 % of the bytes read" in part.reason


def test_disks_that_hosts_share_say_nothing_of_one_server() -> None:
    answer = layers.unseen_cache(of("read", host("client1", link(RATE)), *SERVERS))
    assert isinstance(answer, NotEvaluated)
    assert "disks" not in answer.reason


def test_the_kernels_own_clients_get_the_same_from_the_disks() -> None:
    nfs = GLUSTER.model_copy(update={"layers": (Layer(kind="network", name="nfs4"),), "filesystem": "nfs4"})
    gave = [host(name, disk=RATE / 2) for name in ("server1", "server2")]
    assert layers.unseen_cache(of("read", host("client1", link(RATE)), *gave, place=nfs)) is None


def test_busy_links_say_nothing_of_a_disk_of_the_host() -> None:
    local = make_place(device=None, filesystem="zfs", layers=(Layer(kind="cache", name="zfs"),))
    assert isinstance(layers.unseen_cache(of("read", host("client1", link(RATE)), place=local)), Finding)


@pytest.mark.parametrize(("bytes_each", "seen"), [(200, True), (20, False)])
def test_names_take_an_answer_each(bytes_each: int, seen: bool) -> None:
    uses = (host("client1", link(1000.0 * bytes_each)), *SERVERS)
    answer = layers.unseen_cache(about_names("stat", (1000.0,) * 3, place=GLUSTER, uses=uses))
    assert isinstance(answer, NotEvaluated if seen else Finding)
