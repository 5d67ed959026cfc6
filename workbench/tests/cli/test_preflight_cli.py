"""Which clients and servers `assay preflight` takes, and what it refuses."""

from pathlib import Path

import pytest
from in_process import run_here
from run_tools import assay

from assay.launch.shell import LocalShell, SshShell
from assay.model.site.host import THIS_HOST, Host
from assay.plan.load import load_study
from assay.run.preflight_hosts import PreflightHosts, named_hosts, servers_of_study
from assay.site.inventory.hosts import resolve_hosts

HERE = Path()

INVENTORY = """
hosts:
  client[1-2]: {user: bench}
  store1: {address: 10.0.0.5, link: 10Gb/s}
groups: {stores: store1}
"""

STUDY = """
study: many
question: How fast?
targets:
  one: {kind: nfs, servers: "store[1-2]", export: /e}
  two: {kind: nfs, servers: [store2, "10.0.0.9:2050"], export: /e, ceilings: {link: 1Gb/s}}
  here: {kind: "null"}
workloads: {w: {operations: [write], file_size: 1MiB, record_size: 1MiB}}
"""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no servers are named"),
        (["--hosts", "client[1-2]"], "no servers are named"),
        (["--servers", "store1", "--time", "0.5s"], "--time 0.5s: is not a whole number of seconds from 1 to 60"),
        (["--servers", "store1", "--time", "2"], "--time: "),
        (["--servers", "store1", "--parallel", "0"], "--parallel 0: is not from 1 to 64"),
        (["--servers", "store1", "--link", "10G"], "--link: "),
        (["--servers", "store1", "--output", "none/x.json"], "cannot write none/x.json: there is no folder none"),
        (["--servers", "store1", "--output", "."], "cannot write .: it is a folder"),
        (["--servers", "store1", "--hosts", "a,a"], "a is named twice"),
        (["--servers", "a b a:5300"], "server a is named twice"),
        (["--servers", "a[1-"], "--servers: `a[1-` is not a list of servers"),
        (["--box", "none"], "no box none is up"),
        (["--box", "none", "--inventory", "x"], "exclude each other"),
        (["study.yaml", "--hosts", "a"], "exclude each other"),
        (["none.yaml"], "cannot read the study none.yaml"),
        (["--inventory", "none", "--servers", "a"], "/none: no such file"),
    ],
)
def test_wrong_input_is_refused_before_anything_is_measured(words: list[str], message: str, tmp_path: Path) -> None:
    done = assay(tmp_path, "preflight", *words, expect=2)
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_study_without_a_network_has_no_servers(tmp_path: Path) -> None:
    text = STUDY.replace(STUDY[STUDY.index("  one:") : STUDY.index("  here:")], "")
    (tmp_path / "study.yaml").write_text(text)
    done = assay(tmp_path, "preflight", "study.yaml", expect=2)
    assert "no target of the study is reached over a network" in done.stderr


def from_words(hosts: str, servers: str, inventory: str, base: Path) -> PreflightHosts:
    with named_hosts(hosts, servers, inventory, base, print) as places:
        return places


def test_servers_as_words() -> None:
    places = from_words("client[1-2]", "store[1-2],10.0.0.7:5300 [fd00::1]:5301", "", HERE)
    assert [host.name for host in places.clients] == ["client1", "client2"]
    found = [(server.name, server.address, server.iperf_port) for server in places.servers]
    assert found == [
        ("store1", "store1", None),
        ("store2", "store2", None),
        ("10.0.0.7", "10.0.0.7", 5300),
        ("fd00::1", "fd00::1", 5301),
    ]
    assert [isinstance(server.shell, SshShell) for server in places.servers] == [True, True, False, False]


def test_without_hosts_this_machine_is_the_client() -> None:
    assert from_words("", "store1", "", HERE).clients == (THIS_HOST,)
    (server,) = from_words("", "localhost", "", HERE).servers
    assert server.address == "127.0.0.1"
    assert isinstance(server.shell, LocalShell)


def test_an_inventory_says_how_to_reach_clients_and_servers(tmp_path: Path) -> None:
    (tmp_path / "hosts.yaml").write_text(INVENTORY)
    places = from_words("", "@stores, 10.0.0.6:5300 other", "hosts.yaml", tmp_path)
    assert [(host.name, host.user) for host in places.clients] == [("client1", "bench"), ("client2", "bench")]
    found = [(server.name, server.address, server.iperf_port, server.link) for server in places.servers]
    assert found == [
        ("store1", "10.0.0.5", None, 1.25e9),
        ("10.0.0.6", "10.0.0.6", 5300, None),
        ("other", "other", None, None),
    ]


def test_the_servers_of_a_study_each_once() -> None:
    study = load_study(STUDY.encode(), "/").study
    assert study is not None
    known = [*resolve_hosts("client1", HERE), Host(name="store2", address="10.0.0.2", link=5e8)]
    servers = servers_of_study(study, known)
    assert [(server.name, server.address, server.tcp_port) for server in servers] == [
        ("store1", "store1", 2049),
        ("store2", "10.0.0.2", 2049),
        ("10.0.0.9", "10.0.0.9", 2050),
    ]
    assert [server.iperf_port for server in servers] == [5201, None, 5201]
    assert isinstance(servers[1].shell, SshShell)
    assert [server.link for server in servers] == [None, 5e8, 1.25e8]


def test_what_hosts_would_not_mount_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter").write_text("dear")
    mount = f'{{source: "127.0.0.9:/x", at: {tmp_path}/full, type: ceph}}'
    target = f"{{kind: file, path: {tmp_path}/full/assay, servers: 127.0.0.9, mounts: [{mount}]}}"
    work = "{operations: [write], file_size: 1MiB, record_size: 1MiB}"
    study = tmp_path / "study.yaml"
    study.write_text(
        f"study: s\nquestion: q\nhosts: [localhost, n1]\ntargets: {{one: {target}}}\nworkloads: {{w: {work}}}\n"
    )
    refused = run_here(tmp_path, "preflight", study)
    assert refused.returncode == 3 and "is not empty: what it holds would be hidden" in refused.stderr
