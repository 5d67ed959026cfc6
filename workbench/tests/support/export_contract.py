"""What tests of each protocol of exports do against real servers: every operation, with every byte checked."""

from collections.abc import Sequence
from typing import Any

import pytest
from nfs_tools import execute, job
from operations import ON_ONE_FILE
from run_tools import ENGINE
from testbed_tools import said

from assay.contract._generated import BackendCapabilities
from assay.launch.binary import load_engine
from assay.model.result.sample import ErrorTally, Sample
from assay.model.study.names import METADATA, MIXES, READS, WRITES
from assay.rooms.testbed.work.running import RunningBox

FILE, RECORD = 1_000_003, 37_777
"""Bytes, odd on purpose. Of a file whole records are used."""
CLIENTS = ("client1", "client2")


def capabilities_of(kind: str) -> BackendCapabilities:
    """What the engine says it can do with a kind of target; the test is skipped if there is no engine."""
    if not ENGINE:
        pytest.skip("assay-engine is not built: run `make engine`")
    (found,) = (backend for backend in load_engine().capabilities.backends if backend.kind == kind)
    return found


def names(able: BackendCapabilities, among: tuple[str, ...]) -> list[str]:
    """The operations it says it can do, in the order of `among`."""
    can = {operation.value for operation in able.operations}
    return [name for name in among if name in can]


def phase(operation: str) -> dict[str, Any]:
    """Half of a mix are reads."""
    mix = {"mix": {"read": 50, "write": 50}} if operation in MIXES else {}
    return {"operation": operation, **mix}


def check_data(sample: Sample, whole: int) -> None:
    """All of the data was moved the right way, and what was read was checked to the last byte."""
    name = sample.operation
    assert (sample.status, sample.errors) == ("done", ()), (name, sample.status, sample.errors)
    if name == "record_rewrite":
        assert sample.write_bytes > 0
    else:
        assert sample.read_bytes + sample.write_bytes == whole, name
    if name in MIXES:
        assert sample.read_bytes > 0 < sample.write_bytes
    else:
        assert (sample.read_bytes > 0, sample.write_bytes > 0) == (name in READS, name in WRITES), name
    assert sample.verified_bytes == sample.read_bytes, name
    assert sample.method == "protocol"


def check_operations_on_data(
    box: RunningBox, able: BackendCapabilities, layout: str, lanes: int, **fields: Any
) -> Sequence[Sample]:
    """Two hosts do every operation on data; the fields are further ones of the job."""
    operations = names(able, ON_ONE_FILE)
    one = job(
        layout=layout,
        lanes=lanes,
        file_size_bytes=FILE,
        record_size_bytes=RECORD,
        data={"verify": True},
        phases=[phase(name) for name in operations],
        **fields,
    )
    done, samples = execute(box, CLIENTS, one)
    assert done.status == "ok", done.reason
    assert [sample.operation for sample in samples] == operations
    whole = FILE // RECORD * RECORD * (len(CLIENTS) * lanes if layout == "separate" else 1)
    for sample in samples:
        check_data(sample, whole)
        assert len(sample.hosts) == len(CLIENTS) and all(share.bytes > 0 for share in sample.hosts)
    return samples


def check_operations_on_names(box: RunningBox, able: BackendCapabilities, layout: str, target: dict[str, Any]) -> None:
    """Two hosts do every operation on names."""
    order = ["mkdir", "rmdir", "create", "stat", "open", "readdir", "rename", "unlink"]
    assert sorted(order) == sorted(names(able, METADATA))
    files, lanes, size = 61, 2, 3001
    one = job(
        target=target,
        layout=layout,
        lanes=lanes,
        queue_depth=4,
        file_size_bytes=size,
        record_size_bytes=4096,
        tree={"files": files, "depth": 2, "width": 3},
        phases=[{"operation": name} for name in order],
    )
    done, samples = execute(box, CLIENTS, one)
    assert done.status == "ok", done.reason
    assert [sample.operation for sample in samples] == order
    count = files * lanes * len(CLIENTS)
    for sample in samples:
        assert (sample.status, sample.errors) == ("done", ()), (sample.operation, sample.errors)
        if sample.operation == "readdir":
            assert sample.ops > 0
        else:
            assert sample.ops == count, sample.operation
        assert sample.bytes == (size * count if sample.operation == "create" else 0)


def find_changed_byte(box: RunningBox, target: dict[str, Any]) -> tuple[int, ErrorTally]:
    """Write a file on one host, change a bit of it on server1, and read it on another: where, and what that finds."""
    fields: dict[str, Any] = {
        "target": target,
        "file_size_bytes": FILE,
        "record_size_bytes": RECORD,
        "data": {"verify": True},
    }
    done, _ = execute(box, CLIENTS[:1], job(**fields, keep_files=True, phases=[{"operation": "write"}]))
    assert done.status == "ok", done.reason
    (path,) = said(box, "server1", "find", "/export/assay/job", "-type", "f").split()
    at = 17 * RECORD + 4711
    script = f"""
with open({path!r}, "r+b") as file:
    file.seek({at})
    byte = file.read(1)[0]
    file.seek({at})
    file.write(bytes([byte ^ 4]))
"""
    said(box, "server1", "python3", "-c", script)
    done, (read,) = execute(box, CLIENTS[1:], job(**fields, reuse_files=True, phases=[{"operation": "read"}]))
    assert done.status == "errors"
    (tally,) = read.errors
    assert (tally.kind, tally.count) == ("corrupt", 1)
    return at, tally
