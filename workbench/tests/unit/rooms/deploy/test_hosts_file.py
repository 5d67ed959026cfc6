"""HOSTS.yaml, and what hosts report: who gets what, what is refused, and how many hosts are shown in few lines."""

import json
from pathlib import Path

import pytest
from paths import REPOSITORY

from assay.launch.shell import CommandResult
from assay.model.base import AssayError
from assay.model.site.host import Host
from assay.rooms.deploy.work.hosts.file import HostTask, read_hosts_file
from assay.rooms.deploy.work.hosts.outcome import parse_outcome
from assay.rooms.deploy.work.hosts.setup import plan_script
from assay.rooms.deploy.work.hosts.show import outcome_lines, summary
from assay.rooms.deploy.work.roles.scripts import role_script

STUDIES = REPOSITORY / "studies"
WHOLE = """
values: {PROXY: "http://proxy:3128", NFSD_THREADS: 16}
roles:
  - hosts: root@storage1
    role: nfs-server
    values: {ALLOWED: [10.0.0.0/16, 10.1.0.0/16], POOL: raid0, POOL_DISKS: [/dev/sdb, /dev/sdc]}
  - hosts: [client001, "client[002-004]"]
    role: nfs-client
    values: {MOUNT: "storage1:/export"}
"""
REPORT = {
    "role": "nfs-client",
    "state": "done",
    "plan": True,
    "steps": [
        {"step": "packages", "state": "would do", "seconds": 0, "detail": "install nfs-common with apt", "output": ""}
    ],
}


def _read(folder: Path, text: str) -> tuple[HostTask, ...]:
    (folder / "hosts.yaml").write_text(text)
    return read_hosts_file(folder / "hosts.yaml", print)


def test_hosts_get_their_role_and_values(tmp_path: Path) -> None:
    """Lists are joined, numbers are text, and common values reach the roles that know them only."""
    server, *clients = _read(tmp_path, WHOLE)
    assert (server.host.name, server.host.user, server.role, server.stage) == ("storage1", "root", "nfs-server", 0)
    assert server.values == {
        "PROXY": "http://proxy:3128",
        "NFSD_THREADS": "16",
        "ALLOWED": "10.0.0.0/16 10.1.0.0/16",
        "POOL": "raid0",
        "POOL_DISKS": "/dev/sdb /dev/sdc",
    }
    assert [task.host.name for task in clients] == ["client001", "client002", "client003", "client004"]
    assert clients[0].values == {"MOUNT_WAIT_S": "60", "PROXY": "http://proxy:3128", "MOUNT": "storage1:/export"}
    assert plan_script(server).startswith("ASSAY_VALUES='PROXY=http://proxy:3128\nNFSD_THREADS=16\n")


def test_hosts_come_from_an_inventory(tmp_path: Path) -> None:
    """Any form that Assay reads, with its groups."""
    (tmp_path / "hosts.ini").write_text("[servers]\ns1 ansible_host=10.0.0.9\n[clients]\nc[1:3]\n")
    text = "inventory: hosts.ini\nroles:\n  - {hosts: '@clients', role: client}\n"
    assert [task.host.name for task in _read(tmp_path, text)] == ["c1", "c2", "c3"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("roles: []", "hosts.yaml:1"),
        ("roles: [{hosts: a, role: nfs-servr}]", "no role is called `nfs-servr`"),
        ("roles: [{hosts: a, role: nfs-server}]", "needs ALLOWED"),
        ("roles: [{hosts: a, role: client, values: {POOL: lvm}}]", "has no value POOL"),
        ("roles: [{hosts: a, role: client, values: {MTU: jumbo}}]", "MTU: `jumbo`"),
        ("values: {PROXI: x}\nroles: [{hosts: a, role: client}]", "no role has a value PROXI"),
        ("roles: [{hosts: a, role: client, values: {CLUSTER_NAME: [{a: b}]}}]", "CLUSTER_NAME: a mapping"),
        ("roles: [{hosts: a, role: client+client}]", "twice"),
        ("roles: [{role: client}]", "no hosts are named"),
        ("roles:\n  - {hosts: a, role: client}\n  - {hosts: a, role: login}", "a is in two entries"),
        ("roles: [{hosts: 'a[1', role: client}]", "hosts.yaml:1"),
        ("inventory: no.ini\nroles: [{role: client}]", "no.ini"),
        ("role: [{hosts: a, role: client}]", "hosts.yaml:1"),
        ('roles: [{hosts: a, role: client, values: {HOST_NAME: "x\'; reboot"}}]', "HOST_NAME"),
        (
            "roles: [{hosts: a, role: ceph-node+glusterfs-server, values: {SERVERS: a, ALLOWED: 10.0.0.0/8}}]",
            "different",
        ),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, words: str) -> None:
    """The file and the line, the host or the value."""
    with pytest.raises(AssayError) as caught:
        _read(tmp_path, text)
    assert words in caught.value.message
    assert caught.value.hint


def test_reports_of_hosts_may_be_anything() -> None:
    """What is no report is a fault, with the last line that the host printed; control characters are not shown raw."""
    task = HostTask(Host(name="c1"), "client", 0)
    for out in ("", "{}", "[1]", "\x1b[2J", json.dumps({**REPORT, "state": "x"})):
        outcome = parse_outcome(task, CommandResult(1, out, "a\nsudo: a password is required\n"))
        assert (outcome.fault, outcome.has_failed) == ("sudo: a password is required", True)
    assert parse_outcome(task, CommandResult(0, f"Welcome {{}}\n{json.dumps(REPORT)}", "")).steps[0].step == "packages"
    steps = [{**REPORT["steps"][0], "state": "failed", "detail": "no\x1b[2J", "output": "one\nE: two\x07"}]
    outcome = parse_outcome(task, CommandResult(1, json.dumps({**REPORT, "steps": steps}), ""))
    lines = outcome_lines([outcome])
    assert lines[0] == "c1: client"
    assert "E: two" in lines[-1]
    assert all(line.isprintable() for line in lines)


def test_a_thousand_hosts_are_few_lines() -> None:
    """Hosts with the same plan are shown once; the script of a role is made once for all of them."""
    role_script.cache_clear()
    tasks = [HostTask(Host(name=f"client{i:04}"), "nfs-client", 0, {"MOUNT": "s:/x"}) for i in range(1000)]
    assert len({plan_script(task) for task in tasks}) == 1
    assert role_script.cache_info().misses == 1
    outcomes = [parse_outcome(task, CommandResult(0, json.dumps(REPORT), "")) for task in tasks]
    outcomes[7] = parse_outcome(tasks[7], CommandResult(255, "", "no route to host"))
    assert outcome_lines(outcomes) == [
        "client[0000-0006,0008-0999]: nfs-client",
        "  would do    packages             install nfs-common with apt",
        "client0007: nfs-client",
        "  failed      no route to host",
    ]
    assert summary(outcomes, 1000, is_plan=True) == (
        "1000 hosts planned; nothing was changed; 1 host cannot be set up so: client0007"
    )


def test_the_shipped_hosts_of_three_systems_have_their_scripts() -> None:
    """Each disk that a client of AoE takes is exported by one of the servers, a pair by different ones."""
    tasks = {task.host.name: task for task in read_hosts_file(STUDIES / "dasd-nfs-aoe" / "hosts.yaml", print)}
    assert all(role_script(task.role) for task in tasks.values())
    exported = {
        f"/dev/etherd/e{word.split(':')[0]}": name
        for name, task in tasks.items()
        for word in task.values.get("AOE_EXPORTS", "").split()
    }
    disks = tasks["client2"].values["POOL_DISKS"].split()
    assert sorted(disks) == sorted(exported)
    assert all(exported[first] != exported[second] for first, second in zip(disks[::2], disks[1::2], strict=True))
    assert "nfs_export" not in role_script(tasks["client1"].role)
