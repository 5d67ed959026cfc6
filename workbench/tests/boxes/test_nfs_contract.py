"""Everything that the NFS client says it can do, done against a real server, with every byte that is read checked.

One host is the contract suite, `assay-engine conform`; what takes several hosts at the same files is done here.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from export_contract import (
    RECORD,
    capabilities_of,
    check_operations_on_data,
    check_operations_on_names,
    find_changed_byte,
    names,
    phase,
)
from nfs_tools import box_of, boxes_below, execute, job, target
from run_tools import ENGINE
from soak import times
from testbed_tools import inside

from assay.contract._generated import BackendCapabilities
from assay.model.study.names import DATA, METADATA, STDIO
from assay.rooms.testbed.work.running import RunningBox

HOSTS = """
  client[1-2]: {}
  server[1-2]: {disks: [{size: 512MiB, mount: /export}], servers: [{kind: nfs-ganesha, exports: [/export]}]}
"""
LAYOUTS: dict[str, tuple[str, ...]] = {"separate": ("server1", "server2"), "shared": ("server1",)}
"""Layout -> servers; lanes take turns among them, and servers do not share files."""


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBox]:
    folder = tmp_path_factory.mktemp("contract")
    with boxes_below(folder), box_of(folder, HOSTS) as running:
        yield running


@pytest.fixture(scope="module")
def able() -> BackendCapabilities:
    return capabilities_of("nfs")


def servers(box: RunningBox, layout: str) -> list[str]:
    return [box.host(name).address for name in LAYOUTS[layout]]


def test_the_operations_are_all_that_make_sense_without_a_file_system(able: BackendCapabilities) -> None:
    assert names(able, DATA) == [name for name in DATA if name not in STDIO]
    assert names(able, METADATA) == list(METADATA)
    assert {layout.value for layout in able.layouts} == set(LAYOUTS)
    assert able.verify is True


EXPORTS: list[tuple[tuple[str, ...], dict[str, Any]]] = [
    (("server1",), {}),
    *times([], [(("server1",), {"nconnect": 2, "rsize": 8192, "wsize": 5000})]),
    (("server1", "server2"), {"nconnect": 2, "rsize": 4097, "wsize": 12_289}),
]
"""Servers, and how they are used."""


@pytest.mark.parametrize(("names_of_servers", "how"), EXPORTS)
def test_everything_holds_of_a_real_server(
    box: RunningBox, able: BackendCapabilities, tmp_path: Path, names_of_servers: tuple[str, ...], how: dict[str, Any]
) -> None:
    described = tmp_path / "target.json"
    described.write_text(json.dumps(target(*(box.host(name).address for name in names_of_servers), **how)))
    done = inside(box, "client1", ENGINE, "conform", "--json", str(described), seconds=300)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads(done.stdout)["report"]["rows"]
    assert {operation.value for operation in able.operations} <= {row["check"] for row in rows}
    assert {f"sync {policy.value}" for policy in able.sync} <= {row["check"] for row in rows}
    shared = any("shared" in row["way"] for row in rows)
    assert shared == (len(names_of_servers) == 1), "servers do not share files"
    nothing_stays(box)


CASES: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    # layout, sync, of the target, of the job
    ("separate", "fsync", {"nconnect": 2, "rsize": 8192, "wsize": 5000}, {"lanes": 2, "queue_depth": 8}),
    ("separate", "o_sync", {"rsize": 5001, "wsize": 16384}, {"lanes": 2, "queue_depth": 1}),
    ("shared", "none", {"rsize": 9999}, {"lanes": 3, "queue_depth": 16}),
    ("shared", "fsync", {"nconnect": 2, "rsize": 4097, "wsize": 4097}, {"lanes": 1, "queue_depth": 2}),
]


@pytest.mark.parametrize(("layout", "sync", "how", "fields"), CASES)
def test_every_operation_on_data_by_two_hosts(
    box: RunningBox, able: BackendCapabilities, layout: str, sync: str, how: dict[str, Any], fields: dict[str, Any]
) -> None:
    there = target(*servers(box, layout), **how)
    samples = check_operations_on_data(box, able, layout, target=there, sync=sync, **fields)
    assert len(samples) == len(able.operations) - len(METADATA) - 1
    nothing_stays(box)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_operation_on_names_by_two_hosts(box: RunningBox, able: BackendCapabilities, layout: str) -> None:
    check_operations_on_names(box, able, layout, target(*servers(box, layout), nconnect=2, wsize=1999))
    assert len(names(able, METADATA)) + len(names(able, DATA)) == len(able.operations)
    nothing_stays(box)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_set_of_files_by_two_hosts_on_two_servers(box: RunningBox, layout: str) -> None:
    """Also with one tree for all: each server has one for the lanes that work there."""
    files, more, lanes, hosts = 30, 3, 2, 2
    order = ["prepare", "read", "random_write", "random_read", "random_mix", "write", "reread"]
    done, samples = execute(
        box,
        ["client1", "client2"],
        job(
            target=target(*servers(box, "separate"), rsize=5001, wsize=4097),
            layout=layout,
            lanes=lanes,
            file_size_bytes=30_001,
            record_size_bytes=8192,
            data={"verify": True},
            tree={"files": files, "more": more, "depth": 1, "width": 4},
            phases=[{**phase(name), "measured": name != "prepare", "file_order": "sequential"} for name in order],
        ),
    )
    assert done.status == "ok", done.reason
    assert [sample.operation for sample in samples] == order[1:]
    count = files * lanes * hosts + more
    for sample in samples:
        kinds = {kind.kind: kind.ops for kind in sample.kinds}
        assert (sample.status, sample.errors) == ("done", ()), (sample.operation, sample.errors)
        assert (kinds["open"], kinds["close"], sample.ops, sample.bytes) == (count, count, 4 * count, 30_001 * count)
        assert sample.verified_bytes == sample.read_bytes
        assert len(sample.hosts) == hosts and all(share.bytes > 0 for share in sample.hosts)
    nothing_stays(box)


def test_a_byte_that_was_changed_on_the_server_is_found_by_another_host(box: RunningBox) -> None:
    """Otherwise nothing above would mean anything."""
    at, tally = find_changed_byte(box, target(*servers(box, "shared")))
    assert str(at) in tally.example or str(17 * RECORD) in tally.example, tally.example
    nothing_stays(box)


def nothing_stays(box: RunningBox) -> None:
    """A job takes its directory with it, on each server."""
    for server in ("server1", "server2"):
        found = inside(box, server, "find", "/export", "-mindepth", "2", "-not", "-name", ".assay-target")
        assert found.stdout == "", found.stdout
