"""Node sets and inventories."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from soak import times

from assay.model.base import AssayError
from assay.model.site.host import MAX_HOSTS, THIS_HOST, Host
from assay.plan.load import load_study
from assay.site.inventory.hosts import resolve_hosts
from assay.site.inventory.names import node_names

HERE = Path()
REST = 'targets: {n: {kind: "null"}}\nworkloads: {w: {operations: [read], file_size: 1MiB, record_size: 4KiB}}\n'


def names(written: object, base: Path = HERE) -> list[str]:
    return [host.name for host in resolve_hosts(written, base)]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("localhost", ["localhost"]),
        ("client1", ["client1"]),
        ("client[1-3]", ["client1", "client2", "client3"]),
        ("client[08-10]", ["client08", "client09", "client10"]),
        ("client[1-2,5]", ["client1", "client2", "client5"]),
        ("client[1-7/3]", ["client1", "client4", "client7"]),
        ("rack[1-2]n[01-02]", ["rack1n01", "rack1n02", "rack2n01", "rack2n02"]),
        ("a,b", ["a", "b"]),
        ("client[1-8]!client[2-7]", ["client1", "client8"]),
        (["b", "a[1-2]"], ["b", "a1", "a2"]),
        (["client[2-3]", "localhost"], ["client2", "client3", "localhost"]),
        ("10.0.0.[1-2]", ["10.0.0.1", "10.0.0.2"]),
        (f"n[1-{MAX_HOSTS}]", [f"n{number}" for number in range(1, MAX_HOSTS + 1)]),
    ],
)
def test_node_sets(written: object, expected: list[str]) -> None:
    assert names(written) == expected


def test_the_word_localhost_is_this_machine_and_others_are_reached_by_ssh() -> None:
    assert resolve_hosts(["localhost", "a"], HERE) == (THIS_HOST, Host(name="a", address="a", kind="ssh"))


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("", "the node set is empty"),
        ([], "names no host"),
        ([""], "the node set is empty"),
        ("a!a", "names no host"),
        (7, "`7` is not a node set|7 is not a node set"),
        (None, "nothing is not a node set"),
        ({"inventory": ""}, "no inventory is named"),
        ({"inventry": "x"}, "`inventry` is not a valid key"),
        ("client[1-", "is not a node set"),
        ("client[a-b]", "is not a node set"),
        ("a,a", "a is named twice"),
        ("client[1-3],client2", "client2 is named twice"),
        (["a", "a"], "a is named twice"),
        (["localhost", "localhost"], "localhost is named twice"),
        ("@all", "there is no group `@all`"),
        (f"n[1-{MAX_HOSTS + 1}]", "more than 4096 hosts"),
        ("n[1-999999999999]", "more than 4096 hosts"),
        ("a[1-4000]b[1-4000]c[1-4000]", "more than 4096 hosts"),
        ([f"a[1-{MAX_HOSTS}]", "b"], "more than 4096 hosts"),
        ("root@", "is not a host name"),
        ("node01:16", "16 may be tasks, and not a port"),
        ("root@client1:99999", "there is no such port"),
        ("root@a,b!c", "is not a host name|is not a node set"),
        ("-oProxyCommand=x", "is not a host name|is not a node set"),
        ("a;b", "is not a host name"),
        ("$(x)", "is not a host name"),
    ],
)
def test_what_cannot_be_hosts_is_one_clear_error(written: object, message: str) -> None:
    with pytest.raises(AssayError, match=message) as caught:
        resolve_hosts(written, HERE)
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(
    ("written", "hosts"),
    [
        ("bench@node1", [("node1", "bench", None)]),
        ("bench@node[1-2]:2222", [("node1", "bench", 2222), ("node2", "bench", 2222)]),
        ("node1:2222", [("node1", None, 2222)]),
        ("node1:22,root@node2", [("node1", None, 22), ("node2", "root", None)]),
        (["node[1,3]", "bench@node2:10022"], [("node1", None, None), ("node3", None, None), ("node2", "bench", 10022)]),
    ],
)
def test_hosts_are_written_as_for_ssh(written: object, hosts: list[tuple[str, str | None, int | None]]) -> None:
    assert [(host.name, host.user, host.port) for host in resolve_hosts(written, HERE)] == hosts
    nodes = written if isinstance(written, list) else [written]
    loaded = load_study(f"study: s\nquestion: q?\nhosts: {json.dumps(nodes)}\n{REST}".encode())
    assert loaded.study is not None, loaded.problems


@settings(max_examples=times(60, 600))
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 40), st.integers(0, 9)), min_size=1, max_size=5))
def test_a_written_list_is_what_its_parts_are(parts: list[tuple[str, int, int]]) -> None:
    expected = [f"{name}{number}" for name, first, more in parts for number in range(first, first + more + 1)]
    text = [f"{name}[{first}-{first + more}]" for name, first, more in parts]
    if len(set(expected)) == len(expected):
        assert node_names(text) == expected
        assert sorted(node_names(",".join(text))) == sorted(expected)
    else:
        for written in (text, ",".join(text)):
            with pytest.raises(AssayError, match="named twice"):
                node_names(written)


@settings(max_examples=times(50, 2000))
@given(st.text(alphabet="ab[]0123456789-,/!@&^ x\n\t\0\x85%{}", max_size=24))
def test_any_text_is_hosts_or_one_error(text: str) -> None:
    try:
        found = node_names(text)
    except AssayError as error:
        assert "\n" not in error.message
        return
    assert 0 < len(found) == len(set(found)) <= MAX_HOSTS


INVENTORY = """
hosts:
  client[1-2]: {user: bench, jump: gate.example.org}
  client3:
    address: 10.0.0.3
    port: 2222
    identity: keys/id
    link: 10Gb/s
  store: {address: "fd00::1"}
groups:
  clients: client[1-3]
  few: "@clients!client2"
  stores: store
"""


@pytest.fixture
def inventory(tmp_path: Path) -> Path:
    path = tmp_path / "hosts.yaml"
    path.write_text(INVENTORY)
    return path


def test_an_inventory_says_how_to_reach_hosts(inventory: Path) -> None:
    hosts = resolve_hosts({"inventory": str(inventory)}, Path.cwd())
    assert [host.name for host in hosts] == ["client1", "client2", "client3", "store"]
    assert (hosts[0].address, hosts[0].user, hosts[0].jump) == ("client1", "bench", "gate.example.org")
    assert (hosts[2].address, hosts[2].port, hosts[2].link) == ("10.0.0.3", 2222, 1.25e9)
    assert hosts[2].identity == str(inventory.parent / "keys/id")
    assert hosts[3].address == "fd00::1"


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ("@clients", ["client1", "client2", "client3"]),
        ("@few", ["client1", "client3"]),
        (["store", "client2"], ["store", "client2"]),
        (["@few", "localhost"], ["client1", "client3", "localhost"]),
    ],
)
def test_groups_and_parts_of_an_inventory(inventory: Path, chosen: object, expected: list[str]) -> None:
    assert names({"inventory": inventory.name, "hosts": chosen}, inventory.parent) == expected


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ("@cients", "there is no group `@cients`"),
        ("client4", "client4 is not in"),
        (["@clients", "client1"], "client1 is named twice"),
    ],
)
def test_who_is_not_in_the_inventory(inventory: Path, chosen: object, message: str) -> None:
    with pytest.raises(AssayError, match=message) as caught:
        names({"inventory": str(inventory), "hosts": chosen})
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hosts: {a: {adress: x}}", "hosts.yaml:1: a: there is no field `adress`"),
        ("hosts: {a: {address: -oX=y}}", "hosts.yaml:1: a: address: `-oX=y` is not a host name or an IP address"),
        ("hosts: {a: {port: 70000}}", "hosts.yaml:1: a: port: "),
        ("hosts: {a: {user: 7}}", "hosts.yaml:1: a: user: "),
        ("hosts: {a: {link: 10G}}", "hosts.yaml:1: a: link: "),
        ("hosts: {a: 7}", "hosts.yaml:1: a: 7 is not a mapping"),
        ("hosts: {'a[1-2]': {address: 10.0.0.1}}", "have the same address"),
        ("hosts: {a: {address: x}, b: {address: x}}", "a and b have the same address x"),
        ("hosts: {'a[1-2]': {}, a2: {}}", "hosts.yaml:1: a2 is named twice"),
        ("hosts: {}", "hosts.yaml: names no host"),
        ("hosts: [a]", "hosts.yaml: has no `hosts:`"),
        ("hosts: {a: }\nusers: {}", "hosts.yaml: `users` is not a valid key there"),
        ("hosts: {a: }\ngroups: [a]", "hosts.yaml: `groups` is not a mapping"),
        ("hosts: {a: }\ngroups: {g: b}", "hosts.yaml:2: group g: b is not one of the hosts of the inventory"),
        ("hosts: {a: }\ngroups: {g: '@h'}", "hosts.yaml:2: there is no group `@h`"),
        ("hosts: {a: \n  [", "hosts.yaml:2: not valid YAML: the bracket that opens here is not closed"),
        ("hosts: {'n[1-9999]': }", "hosts.yaml:1: .* is more than 4096 hosts"),
        ("\udc80", "hosts.yaml:1: not a text file: byte 0x80 is not UTF-8"),
    ],
)
def test_what_is_wrong_with_an_inventory_is_one_line_with_the_file(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "hosts.yaml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(AssayError, match=message) as caught:
        resolve_hosts({"inventory": str(path)}, Path.cwd())
    assert "\n" not in caught.value.message


def test_a_missing_inventory_is_named(tmp_path: Path) -> None:
    with pytest.raises(AssayError, match=r"cannot read the inventory .*/none: no such file"):
        names({"inventory": "none"}, tmp_path)


def test_a_hostfile_of_mpi_is_an_inventory(tmp_path: Path) -> None:
    path = tmp_path / "machines"
    path.write_text("# ours\nnode1 slots=8\nnode[2-3]  slots=4 max_slots=8 # fast ones\n\nlocalhost\n")
    said: list[str] = []
    hosts = resolve_hosts({"inventory": "machines"}, tmp_path, said.append)
    assert [host.name for host in hosts] == ["node1", "node2", "node3", "localhost"]
    assert hosts[3] == THIS_HOST
    assert len(said) == 1
    assert "slots are ignored" in said[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\nb gpus=3\n", "machines:2: `gpus=3` after the node set"),
        ("a,a\n", "machines:1: a is named twice"),
        ("a\nbench@a\n", "machines:2: a is named twice"),
        ("node1:1611\n", "machines:1: `node1:1611`: whether 1611 is a port of sshd is ambiguous"),
        ("a 4 b 4\n", "machines:1: `4` after the node set"),
        ("a\n[\n", "machines:2: "),
        ("# nothing\n", "machines: names no host"),
    ],
)
def test_what_is_wrong_with_a_hostfile_is_told_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "machines").write_text(text)
    with pytest.raises(AssayError, match=message):
        names({"inventory": "machines"}, tmp_path)
