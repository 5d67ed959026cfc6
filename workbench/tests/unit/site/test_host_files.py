"""Host files as people have them: of MPI, schedulers, iozone, ssh and Ansible."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from soak import times

from assay.model.base import AssayError
from assay.model.site.host import Host
from assay.site.inventory.hosts import portable_inventory, resolve_hosts

SGE = """node01.cluster 8 all.q@node01.cluster UNDEFINED
node02.cluster 8 all.q@node02.cluster <NULL>
"""
LINES = {
    "mpich": ("node01:16\nnode02:16 ifhn=node02-ib\n", "node01 node02", "slots are ignored"),
    "stars": ("node01*16\nnode02*8\n", "node01 node02", "slots are ignored"),
    "openmpi": ("node01  slots=16 max_slots=20\nnode02 slots = 4\n", "node01 node02", "slots are ignored"),
    "lsf": ("hostA 4\nhostB 4\n", "hostA hostB", "slots are ignored"),
    "sge": (SGE, "node01.cluster node02.cluster", "slots are ignored"),
    "pbs": ("n001\nn001\nn002\nn001\n", "n001 n002", "slots are ignored"),
    "sge with cores": ("node01 8 all.q@node01 0,0:0,1\n", "node01", "slots are ignored"),
    "mpich binding": ("node01:2 binding=user:0,1\nnode02:2  # slow\n", "node01 node02", "slots are ignored"),
    "mvapich": ("node01:4:mlx5_0\n", "node01", "slots are ignored"),
    "lam": ("node01 cpu=2\nnode02 count=4\n", "node01 node02", "slots are ignored"),
    "ibm": ("! poe\nn1.x\n*  off: n3.x\nn2.x\n", "n1.x n2.x", ""),
    "slurm": ("tux[1-2],gpu-[01-02]\n", "tux1 tux2 gpu-01 gpu-02", ""),
    "iozone": ("c1 /mnt/t1 /usr/bin/iozone\nc2 /mnt/t2 /usr/bin/iozone ssh\n", "c1 c2", "directories and programs"),
    "crayex": ("nid001033\r\nnid001644\r\n", "nid001033 nid001644", ""),
    "mpich interfaces": ("node01:2 ifname=ib0\nnode02\n", "node01 node02", "slots are ignored"),
    "addresses with slots": ("10.0.0.1 slots=1 max_slots=4 # a\n10.0.0.2 slots=2\n", "10.0.0.1 10.0.0.2", "slots"),
    "any case": ("Node1\nnode1\nNODE2\n", "Node1 NODE2", "slots are ignored"),
    "addresses": ("\ufeff10.0.0.1\n10.0.0.2\n", "10.0.0.1 10.0.0.2", ""),
}


def read(tmp_path: Path, text: str, name: str = "hosts", chosen: object = None) -> tuple[list[Host], str]:
    (tmp_path / name).write_text(text)
    said: list[str] = []
    written = {"inventory": name, **({} if chosen is None else {"hosts": chosen})}
    return list(resolve_hosts(written, tmp_path, said.append)), "\n".join(said)


@pytest.mark.parametrize("kind", LINES)
def test_plain_files_name_hosts_and_what_else_they_say_is_told(kind: str, tmp_path: Path) -> None:
    text, names, note = LINES[kind]
    hosts, said = read(tmp_path, text)
    assert [host.name for host in hosts] == names.split()
    assert note in said
    assert bool(said) == bool(note)


def test_a_line_is_written_as_for_ssh(tmp_path: Path) -> None:
    hosts, said = read(tmp_path, "bench@node1\nbench@node2:2222  # the slow one\n")
    assert hosts == [Host(name="node1", user="bench"), Host(name="node2", user="bench", port=2222)]
    assert not said


def test_a_file_as_etc_hosts_gives_addresses_and_lam_a_user(tmp_path: Path) -> None:
    hosts, said = read(tmp_path, "127.0.0.1 localhost\nfd00::1\tn1 n1.lab\n10.0.0.2 n2\n")
    assert hosts == [Host(name="n1", address="fd00::1"), Host(name="n2", address="10.0.0.2")]
    assert "of this machine" in said
    hosts, said = read(
        tmp_path, "fe00::0 ip6-localnet\n255.255.255.255 broadcasthost\n10.0.0.1 n1\nfd00::1 n1 n1.lab\n"
    )
    assert hosts == [Host(name="n1", address="10.0.0.1")]
    assert "the first is taken" in said
    networks = "10.0.0.1 n1.lab n1\n10.1.0.1 n1-ib0\n10.9.0.1 n1-bmc\n10.0.0.2 web-ib\n"
    hosts, said = read(tmp_path, networks)
    assert [host.name for host in hosts] == ["n1.lab", "web-ib"]
    assert "note: n1-ib0, n1-bmc: other networks of listed hosts" in said
    assert [host.address for host in read(tmp_path, networks, chosen="n1-ib0")[0]] == ["10.1.0.1"]
    assert read(tmp_path, "n1 user=bench\n") == ([Host(name="n1", user="bench")], "")
    assert read(tmp_path, "n1:4 username=bench\n")[0] == [Host(name="n1", user="bench")]


@pytest.mark.parametrize(
    "text", ["2001:DB8:0::1\nbench@[2001:db8::2]:2222\n", "[a]\n2001:db8::1\n[2001:db8::2]:2222 ansible_user=bench\n"]
)
def test_hosts_may_have_only_an_ipv6_address(text: str, tmp_path: Path) -> None:
    first = Host(name="2001-db8--1", address="2001:db8::1")
    second = Host(name="2001-db8--2", address="2001:db8::2", user="bench", port=2222)
    assert read(tmp_path, text)[0] == [first, second]


INI = """# ours
gate.example.org
[clients]
c[01:03] ansible_user=bench   # first
x-[a:b].lab:2222 ansible_ssh_private_key_file='keys/id x'
[servers]
s1 ansible_host=10.0.0.9 ansible_become=true ansible_password=geheim
[lab:children]
clients
servers
[lab:vars]
ansible_user=root
ansible_port=2200
[clients:vars]
ansible_port = 2201
[all:vars]
ansible_user=nobody
site="a b"
"""
YAML = """all:
  vars: {ansible_user: nobody}
  hosts:
    gate.example.org:
  children:
    lab:
      vars: {ansible_user: root, ansible_port: 2200}
      children:
        clients:
          vars: {ansible_port: 2201}
          hosts:
            c[01:03]: {ansible_user: bench}
            x-[a:b].lab:2222: {ansible_ssh_private_key_file: keys/id x}
        servers:
          hosts:
            s1: {ansible_host: 10.0.0.9, ansible_password: geheim}
"""


@pytest.mark.parametrize(("text", "name"), [(INI, "hosts"), (INI, "lab.ini"), (YAML, "lab.yml"), (YAML, "lab")])
def test_an_inventory_of_ansible_is_read_with_its_groups(text: str, name: str, tmp_path: Path) -> None:
    hosts, said = read(tmp_path, text, name, ["@lab", "gate.example.org"])
    found = {host.name: (host.address, host.user, host.port) for host in hosts}
    assert list(found) == ["c01", "c02", "c03", "x-a.lab", "x-b.lab", "s1", "gate.example.org"]
    assert found["c02"] == ("c02", "bench", 2201)
    assert found["x-a.lab"] == ("x-a.lab", "root", 2222)
    assert found["s1"] == ("10.0.0.9", "root", 2200)
    assert found["gate.example.org"] == ("gate.example.org", "nobody", None)
    assert hosts[3].identity == str(tmp_path / "keys/id x")
    assert "ansible_password" in said
    assert "geheim" not in said
    assert [host.name for host in read(tmp_path, text, name, "@lab!@servers!c[02-03]")[0]] == [
        "c01",
        "x-a.lab",
        "x-b.lab",
    ]


SSH = """Host n1 n2
  HostName 10.0.0.1%h
  Port 2222
Host n3
  HostName "10.0.0.3"
  ProxyJump gate.example.org
  ProxyCommand touch /tmp/never
  IdentityFile ~/.ssh/lab
Host n4
  ProxyCommand ssh -p 2022 ops@gate.example.org nc %h %p
Host localhost
  Port 2222
Host *
  User bench
  Port 22
"""


def test_hosts_of_an_ssh_configuration(tmp_path: Path) -> None:
    hosts, said = read(tmp_path, SSH)
    assert [(host.name, host.address, host.user, host.port) for host in hosts] == [
        ("n1", "10.0.0.1n1", "bench", 2222),
        ("n2", "10.0.0.1n2", "bench", 2222),
        ("n3", "10.0.0.3", "bench", 22),
        ("n4", "n4", "bench", 22),
    ]
    assert [host.jump for host in hosts[2:]] == ["bench@gate.example.org:22", "ops@gate.example.org:2022"]
    assert hosts[2].identity == str(Path("~/.ssh/lab").expanduser())
    assert "localhost is ignored" in said


def test_jump_hosts_are_what_the_configuration_of_ssh_says_of_them(tmp_path: Path) -> None:
    gate = "Host gate\n HostName fd00::7\n User ops\n Port 2022\n"
    hosts, _ = read(tmp_path, f"{gate}Host door\n User x\nHost n1\n ProxyJump gate,b\nHost *\n ProxyJump door\n")
    assert {host.name: host.jump for host in hosts} == {
        "gate": "x@door",
        "door": None,
        "n1": "x@door,ops@[fd00::7]:2022,b",
    }


@pytest.mark.parametrize("text", [INI, YAML, SSH])
def test_what_a_run_keeps_of_them_is_read_the_same_anywhere(text: str, tmp_path: Path) -> None:
    first = read(tmp_path, text)[0]
    kept = tmp_path / "run"
    kept.mkdir()
    (kept / "inventory").write_bytes(portable_inventory(tmp_path / "hosts"))
    assert list(resolve_hosts({"inventory": "inventory"}, kept)) == first
    assert "geheim" not in (kept / "inventory").read_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[a]\nn1 ansible_port=x\n", "hosts:2: n1: port: "),
        ("[a]\nn1 ansible_host='x\n", "hosts:2: the line cannot be read"),
        ("[a]\n\nn1 ansible_host={{ip}}\n", "hosts:3: n1: ansible_host: only Ansible can resolve"),
        ("[a]\nn1 ansible_connection=winrm\n", "hosts:2: n1: ansible_connection is winrm"),
        ("[a]\nn1 ansible_connection=local\n", "hosts:2: n1: ansible_connection is local"),
        ("[a]\nn[1:99999]\n", "hosts:2: .* is more than 4096 hosts"),
        ("[a:children]\nb\n[b:children]\na\n[c]\nn1\n", "hosts: group a is below itself"),
        ("[a]\n-oProxyCommand=x ansible_user=b\n", "hosts:2: .*is not a host name"),
        ("[a]\nn1 ansible_host=-oX=y\n", "hosts:2: n1: address: `-oX=y` is not a host name or an IP address"),
        ("all:\n  hosts: [a, b]\n", "hosts:1: hosts, children and vars of group all are mappings"),
        ("Host a\n HostName x\nMatch exec true\n User b\n", "hosts:3: only ssh can evaluate `Match`"),
        ("Host a\n ProxyCommand corkscrew p 80 %h %p\n", "hosts:1: a: only ssh can run the ProxyCommand corkscrew"),
        ("hosts:\n  localhost: {port: 2222}\n", "hosts:2: localhost: port: localhost is this machine itself"),
        ("10.0.0.1-10.0.0.4\n", "hosts:1: `10.0.0.1-10.0.0.4` is not an IP address"),
        ("10.0.0.1 None running\n10.0.0.2 3.4.5.6 running\n", "hosts:2: `3.4.5.6` is no name for 10.0.0.2"),
        ("n1,10.0.0.1\n", "hosts:1: `n1,10.0.0.1` has a name and an address"),
        ("Hostname\nn1\n", "hosts:2: `hostname` above it looks like the heading of a column"),
        ("10.0.0.1@tcp\n", "hosts:1: `10.0.0.1@tcp` is not a host name"),
        ("slot1_2@node1\n", "hosts:1: `slot1_2@node1` is not a host name"),
        (
            "[a]\nn1 ansible_host = 10.0.0.1\n",
            "hosts:2: `=` behind a host is no variable|hosts:2: `ansible_host` behind",
        ),
        ("Host a\n Port nine\n", "hosts:1: a: port: "),
        ("Host *\n User bench\n", "hosts: names no host"),
    ],
)
def test_what_cannot_be_taken_is_one_line_with_its_place(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(AssayError, match=message) as caught:
        read(tmp_path, text)
    assert "\n" not in caught.value.message


def test_hosts_that_ssh_does_not_reach_and_this_machine_are_left_out(tmp_path: Path) -> None:
    text = "localhost ansible_connection=local\n[w]\nw1 ansible_connection=winrm\n[l]\nl1 ansible_password={p}\n"
    hosts, said = read(tmp_path, f"{text}[l:vars]\nansible_user=x\n")
    assert hosts == [Host(name="l1", user="x")]
    assert "left out: w1 (winrm)" in said and "this machine generates no load" in said
    tagged = (
        "all:\n  hosts:\n    l1: {ansible_user: !unsafe x}\n  vars:\n    ansible_password: !vault |\n      $ANSIBLE\n"
    )
    assert read(tmp_path, tagged)[0] == hosts


def test_variables_of_ansible_in_files_beside_override_those_in_it(tmp_path: Path) -> None:
    for name, text in (
        ("group_vars/all.yml", "ansible_user: rocky\nsecret: !vault x\n"),
        ("group_vars/c", "ansible_port: 2222"),
        ("host_vars/c2.yaml", "ansible_host: 10.0.0.2"),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    hosts, _ = read(tmp_path, "[c]\nc1\nc2 ansible_host=10.9.9.9\n[c:vars]\nansible_port=1\n")
    assert hosts == [
        Host(name="c1", user="rocky", port=2222),
        Host(name="c2", address="10.0.0.2", user="rocky", port=2222),
    ]
    (tmp_path / "ansible.cfg").write_text(
        "[defaults]\nremote_user=no\nprivate_key_file=k\n[ssh_connection]\nssh_args=-C -J g\n"
    )
    kept = [(host.user, host.jump, host.identity) for host in read(tmp_path, "[c]\nc1\n")[0]]
    assert kept == [("rocky", "g", str(tmp_path / "k"))]
    with pytest.raises(AssayError, match="is a table"):
        read(tmp_path, "c1\n", "c.csv")
    (tmp_path / "host_vars/c1").mkdir()
    with pytest.raises(AssayError, match="variables in the folder host_vars/c1 are not read"):
        read(tmp_path, "[c]\nc1\n")


PIECES = st.sampled_from([
    *("[a]", "[a:vars]", "[b:children]", "a", "b", "n[1:3]", "n[3:1]", "x[a:f]", "ansible_host=", "{{x}}"),
    *("'", "\n", "\r\n", " ", "=", "Host ", "HostName ", "Port ", "*", "!a", "10.0.0.1", ":22", "*4", "slots=4", "@a"),
    *("all:\n", "  hosts:\n", "    n1:\n", "  children:\n", "hosts:\n", "{", "}", "[", "]", "|", "#", "\0", "/x", "\\"),
])  # fmt: skip


@settings(max_examples=times(60, 2000), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(PIECES, max_size=20).map("".join), st.sampled_from(["h", "h.yml", "h.ini"]))
def test_any_file_is_hosts_or_one_error(tmp_path: Path, text: str, name: str) -> None:
    try:
        hosts, _ = read(tmp_path, text, name)
    except AssayError as error:
        assert "\n" not in error.message
        return
    (tmp_path / "kept").write_bytes(portable_inventory(tmp_path / name))
    assert list(resolve_hosts({"inventory": "kept"}, tmp_path)) == hosts
