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
    assert read(tmp_path, "n1 user=bench\n") == ([Host(name="n1", user="bench")], "")


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
    ]
    assert hosts[2].jump == "gate.example.org"
    assert hosts[2].identity == str(Path("~/.ssh/lab").expanduser())
    assert "ProxyCommand: ignored here" in said


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
        ("Host a\n Port nine\n", "hosts:1: a: port: "),
        ("Host *\n User bench\n", "hosts: names no host"),
    ],
)
def test_what_cannot_be_taken_is_one_line_with_its_place(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(AssayError, match=message) as caught:
        read(tmp_path, text)
    assert "\n" not in caught.value.message


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
