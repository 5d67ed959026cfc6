"""Studies for many hosts: what may be written, what is wrong and where, and the arithmetic of the plan."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paths import REPOSITORY
from plan_tools import load, study, written
from run_tools import assay

from assay.kinds.nfs.study import NfsTarget
from assay.model.study.hosts import Hosts
from assay.model.study.study import Study
from assay.plan.estimate import estimate_case, estimate_study
from assay.plan.expand import expand
from assay.plan.jobs import LEASE_NS, joint_job, plan_job, rank_job
from assay.site.inventory.hosts import resolve_hosts

NFS = {"store": {"kind": "nfs", "servers": "server[1-4]", "export": "/export"}}
MIB = 1 << 20


def many(**changes: Any) -> Study:
    return study(**{"targets": NFS, "hosts": "client[1-8]", **changes})


@pytest.mark.parametrize(
    ("text", "nodes", "inventory"),
    [
        ("localhost", ("localhost",), None),
        (["localhost"], ("localhost",), None),
        ("client[1-8]", ("client[1-8]",), None),
        ("client[1-8]!client3", ("client[1-8]!client3",), None),
        (["a", "b[01-04]"], ("a", "b[01-04]"), None),
        ({"inventory": "hosts.yaml"}, (), "hosts.yaml"),
        ({"inventory": "hosts.yaml", "hosts": "@few"}, ("@few",), "hosts.yaml"),
        ({"inventory": "hosts.yaml", "hosts": ["a", "@few"]}, ("a", "@few"), "hosts.yaml"),
    ],
)
def test_hosts_as_they_may_be_written(text: object, nodes: tuple[str, ...], inventory: str | None) -> None:
    assert study(hosts=text).hosts == Hosts(nodes=nodes, inventory=inventory)


@pytest.mark.parametrize("text", ["client[1-8]!client3", "rack[1-2]n[01-04]", "client[1-3,7]", ["b", "a"], "c[1-2000]"])
def test_a_study_and_a_command_line_mean_the_same_hosts(text: Any) -> None:
    """Both have readers of their own: one names the line of the study, the other knows inventories."""
    from assay.model.study.hosts import expand_names

    found = study(hosts=text).hosts
    assert list(expand_names(found.nodes, "host")) == [
        host.name for host in resolve_hosts(list(found.nodes), REPOSITORY)
    ]


def test_servers_are_written_out_and_keep_their_ports() -> None:
    target = many(targets={"s": {**NFS["store"], "servers": ["nas:2050", "server[1-2]", "[fe80::1]:2049"]}}).targets[
        "s"
    ]
    assert isinstance(target, NfsTarget)
    assert target.servers == ("nas:2050", "server1", "server2", "[fe80::1]:2049")
    assert target.server_names == ("nas", "server1", "server2", "fe80::1")
    assert target.path == "nas:2050 and 3 more:/export/assay"


def test_all_fields_of_an_export_reach_the_engine() -> None:
    fields = {
        "servers": "server[1-2]",
        "export": "/data/",
        "directory": "mine",
        "port": 2050,
        "mount_port": 635,
        "nconnect": 4,
        "rsize": "256KiB",
        "wsize": "128KiB",
        "uid": 1000,
        "gid": 100,
        "timeout": "5s",
    }
    found = many(targets={"s": {"kind": "nfs", **fields}})
    job = plan_job(found, expand(found).cases[0], 1).job
    assert job.target.model_dump(mode="json") == {
        "kind": "nfs",
        "servers": ["server1:2050", "server2:2050"],
        "export": "/data",
        "root": "mine",
        "directory": "c0001-r1",
        "mount_port": 635,
        "nconnect": 4,
        "rsize": 256 << 10,
        "wsize": 128 << 10,
        "uid": 1000,
        "gid": 100,
        "timeout_ns": 5 * 10**9,
    }


TEXT = """study: test
question: Does it work?
targets:
  store:
    kind: nfs
    servers: s1
    export: /export
hosts: client[1-4]
workloads:
  w:
    operations: [write]
    file_size: 1MiB
    record_size: 64KiB
    hosts: [1, 2]
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("hosts: client[1-4]", "hosts: client[1-", 8, "not a set of hosts"),
        ("hosts: client[1-4]", "hosts: 5", 8, "names no hosts"),
        ("hosts: client[1-4]", "hosts: []", 8, "names no hosts"),
        ("hosts: client[1-4]", "hosts: [a, a]", 8, "host a comes twice"),
        ("hosts: client[1-4]", "hosts: a!a", 8, "has 0 hosts"),
        ("hosts: client[1-4]", "hosts: {hosts: a}", 8, "no inventory file"),
        ("hosts: client[1-4]", "hosts: {inventory: a, host: b}", 8, "there is no field `host` in hosts"),
        ("hosts: client[1-4]", "hosts: a\ntestbed: 3", 9, "is not text"),
        ("hosts: client[1-4]", "hosts: a\nnetwork: maybe", 9, "network"),
        ("servers: s1", "servers: []", 6, "names no servers"),
        ("servers: s1", "servers: [s1, s1]", 6, "server s1 comes twice"),
        ("servers: s1", "servers: s1/x", 6, "is not a set of hosts"),
        ("export: /export", "export: export", 7, "is not an exported path"),
        ("export: /export", "export: /a/../b", 7, "has a `.` or `..` part"),
        ("export: /export", "export: /e\n    directory: a/b", 8, "is not a plain name"),
        ("export: /export", "export: /e\n    nconnect: 17", 8, "nconnect"),
        ("export: /export", "export: /e\n    rsize: 512B", 8, "rsize"),
        ("export: /export", "export: /e\n    timeout: 1ms", 8, "timeout"),
        ("export: /export", "export: /e\n    mount: soft", 8, "mount"),
        ("hosts: [1, 2]", "hosts: [0, 2]", 14, "hosts"),
        ("hosts: [1, 2]", "hosts: 2\n    streams: 3", 15, "3 streams cannot be shared out evenly among 2 hosts"),
        ("hosts: [1, 2]", "hosts: 2\n    streams: 4096", 15, "more than 1024"),
        ("hosts: [1, 2]", "servers: [0]", 14, "servers"),
        ("hosts: [1, 2]", "servers: [1, 2]", 14, "2 servers, but target store has 1"),
    ],
)
def test_what_is_wrong_is_one_line_with_its_place(old: str, new: str, line: int, words: str) -> None:
    assert TEXT.count(old) == 1
    loaded = load(TEXT.replace(old, new))
    problems = list(loaded.problems)
    if loaded.study is not None:
        problems = [loaded.source.problem(fault) for fault in expand(loaded.study).faults]
    (problem,) = problems
    text = problem.text("study.yaml").splitlines()[0]
    assert text.startswith(f"study.yaml:{line}: error: ") and words in text, text
    assert problem.hint


@given(st.integers(1, 8), st.integers(1, 64))
def test_streams_are_shared_out_evenly_or_refused(hosts: int, streams: int) -> None:
    found = expand(many(w_hosts=hosts, w_streams=streams))
    if streams % hosts:
        (fault,) = found.faults
        assert fault.path == ("workloads", "w", "streams")
        return
    assert not found.faults
    (case,) = found.cases
    assert case.parameters.lanes * hosts == case.parameters.all_lanes == streams


def test_axes_of_hosts_and_streams_go_together_or_are_kept_by_where() -> None:
    spread = expand(many(w_hosts=[1, 2, 4], w_streams=4))
    assert [(case.parameters.hosts, case.parameters.lanes) for case in spread.cases] == [(1, 4), (2, 2), (4, 1)]
    zipped = expand(many(w_hosts=[1, 2, 4], w_streams=[1, 2, 4], w_zip=[["hosts", "streams"]]))
    assert [(case.parameters.hosts, case.parameters.lanes) for case in zipped.cases] == [(1, 1), (2, 1), (4, 1)]
    kept = expand(many(w_hosts=[1, 2, 3], w_streams=[2, 3], w_where="streams % hosts == 0"))
    assert not kept.faults
    assert [(case.axes["hosts"], case.axes["streams"]) for case in kept.cases] == [(1, 2), (1, 3), (2, 2), (3, 3)]
    assert {rule.rule for rule in kept.excluded} == {"where"}


@given(st.integers(1, 8), st.integers(1, 4), st.sampled_from(["separate", "shared"]))
def test_data_of_all_hosts_is_counted(hosts: int, lanes: int, layout: str) -> None:
    one = many(targets={"store": {**NFS["store"], "servers": "s1"}}, w_file_size="64MiB", w_layout=layout)
    more = many(
        targets={"store": {**NFS["store"], "servers": "s1"}},
        w_file_size="64MiB",
        w_layout=layout,
        w_hosts=hosts,
        w_lanes=lanes,
    )
    (single,), (several,) = expand(one).cases, expand(more).cases
    before, after = (estimate_case(one.targets["store"], case) for case in (single, several))
    files = hosts * lanes if layout == "separate" else 1
    assert (before.written, before.read, before.space) == (64 * MIB, 64 * MIB, 64 * MIB)
    assert (after.written, after.read, after.space) == tuple(files * 64 * MIB for _ in range(3))


def test_a_server_across_a_network_is_not_expected_to_be_a_disk() -> None:
    found = many(w_file_size="1GiB")
    estimate = estimate_study(found, expand(found).cases)
    assert "1 Gbit/s" in estimate.assumptions[0]
    assert estimate.seconds > 3 * 2 * 1024 * MIB / 500e6


def test_small_files_of_all_hosts_are_counted() -> None:
    fields = {"operations": ["create", "unlink"], "files": 100, "file_size": "4KiB", "lanes": 2, "hosts": 3}
    found = many(workloads={"w": fields})
    (case,) = expand(found).cases
    assert case.parameters.all_files == 600
    assert estimate_case(found.targets["store"], case).written == 600 * 4096


def test_a_shared_file_has_a_record_for_each_lane_of_each_host() -> None:
    target = {"store": {**NFS["store"], "servers": "s1"}}
    sizes = {"w_file_size": "64KiB", "w_record_size": "16KiB", "w_layout": "shared", "w_lanes": 2}
    assert not expand(many(targets=target, **sizes, w_hosts=2)).faults
    (fault,) = expand(many(targets=target, **sizes, w_hosts=4)).faults
    assert "lane's part of the file" in fault.message


def test_the_servers_axis_takes_the_first_ones() -> None:
    found = many(w_servers=[1, 3, None])
    jobs = [plan_job(found, case, 1).job for case in expand(found).cases]
    assert [len(job.target.servers) for job in jobs] == [1, 3, 4]  # type: ignore[union-attr]
    assert jobs[1].target.servers == ["server1", "server2", "server3"]  # type: ignore[union-attr]


def test_ranks_of_a_job_differ_in_nothing_but_their_number() -> None:
    found = many(w_hosts=3, w_lanes=2)
    whole = plan_job(found, expand(found).cases[0], 1).job
    assert (whole.ranks, whole.wait_for_go, whole.lease_ns, whole.lanes) == (3, True, LEASE_NS, 2)
    ranks = [rank_job(whole, rank).model_dump() for rank in range(3)]
    assert [job.pop("rank") for job in ranks] == [0, 1, 2]
    assert ranks[0] == ranks[1] == ranks[2]
    alone = plan_job(many(), expand(many()).cases[0], 1).job
    assert (alone.ranks or 1, alone.wait_for_go) == (1, False)
    assert joint_job(alone, 1).wait_for_go


STUDIES = {
    "nfs-scaling": 8,
    "nfs-streams": 3,
    "gluster-scaling": 8,
    "mpi-scaling": 8,
    "mpiio-gluster": 2,
    "parallel-fs": 2,
    "dasd-nfs-aoe": 1,
    "raid0-volumes": 1,
    "backing-file-systems": 1,
    "replication": 2,
    "failover": 2,
}
"""Studies on several hosts -> the most hosts of a case."""
MAX_ESTIMATE_SECONDS = 600
"""Of what the plan of such a study computes; no time is measured."""


@pytest.mark.parametrize("name", STUDIES)
def test_the_studies_that_come_with_assay_are_right_and_short(name: str) -> None:
    folder = REPOSITORY / "studies" / name
    loaded = load((folder / "study.yaml").read_text(), str(folder))
    assert loaded.study is not None, loaded.problems
    found = expand(loaded.study)
    assert not found.faults
    assert (folder / str(loaded.study.testbed)).is_file()
    estimate = estimate_study(loaded.study, found.cases)
    assert estimate.seconds < MAX_ESTIMATE_SECONDS
    assert max(case.parameters.hosts for case in found.cases) == STUDIES[name]


def test_written_forms_that_are_refused_name_what_helps() -> None:
    (problem,) = load(written(hosts="client[1-8")).problems
    assert "client[1-8]" in problem.hint


@pytest.mark.parametrize("name", STUDIES)
def test_the_studies_can_be_checked_before_they_are_run(tmp_path: Path, name: str) -> None:
    """Exports are no paths of this machine, which `assay check` looks at."""
    assert assay(tmp_path, "check", REPOSITORY / "studies" / name / "study.yaml").stdout.startswith("ok:")
