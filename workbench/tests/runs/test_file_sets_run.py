"""Sets of files with the real engine: what the storage is asked for, what lies in the shares, what a run says of it."""

import json
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

from faulty import faulty_mount, needs_faults
from run_tools import assay, needs_engine

from assay.contract import SPEC_VERSION
from assay.launch.binary import find_engine
from assay.store import RunStore, find_run

pytestmark = needs_engine

LANES, FILES = 16, 28_000
RECORD, SIZE = 4096, 10_000


def marked(folder: Path) -> str:
    """A directory in which the engine may work."""
    folder.mkdir()
    (folder / ".assay-target").write_text("{}")
    return str(folder)


def job(roots: list[str], operations: list[str], **changes: Any) -> dict[str, Any]:
    target = {"kind": "file", "root": roots[0], "shares": roots[1:], "directory": "job"}
    phases = [{"operation": name, "measured": name != "prepare"} for name in operations]
    usual = {"file_size_bytes": SIZE, "record_size_bytes": RECORD, "data": {"verify": True}, "layout": "shared"}
    return {"spec_version": SPEC_VERSION, "id": "job", "target": target, "phases": phases, **usual, **changes}


def ends(what: dict[str, Any], folder: Path) -> list[dict[str, Any]]:
    """The ends of a job's phases; it must go well."""
    file = folder / "job.json"
    file.write_text(json.dumps(what))
    command = [str(find_engine()), "run", str(file)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    events = [json.loads(line) for line in done.stdout.splitlines()]
    return [event for event in events if event["event"] == "phase_end"]


def counted(end: dict[str, Any]) -> dict[str, int]:
    return {kind["operation"]: kind["ops"] for kind in end["operations"]}


@needs_faults
def test_the_storage_is_asked_for_what_the_events_say(tmp_path: Path) -> None:
    """Every call that reaches a file system is noted there; none is more or less than was asked for."""
    files, records = 53, 53 * 3
    with faulty_mount(tmp_path) as mount:
        mount.set("latency on open,create,read,write,fsync,release,unlink path */f*")
        seen: Counter[str] = Counter()

        def asked() -> dict[str, int]:
            now = Counter(call.operation for call in mount.injected())
            since = now - seen
            seen.update(since)
            return dict(since)

        tree = {"files": 17, "more": 2, "depth": 1, "width": 3}
        common = {"lanes": 3, "tree": tree, "keep_files": True}
        root = [marked(mount.path / "share")]
        (made,) = ends(job(root, ["prepare"], **common), tmp_path)
        assert counted(made) == {"create": files}
        calls = asked()
        assert (calls["create"], calls["write"], calls["release"]) == (files, records, files)
        for operation in ("read", "random_read", "rewrite", "random_write", "write"):
            (end,) = ends(job(root, [operation], reuse_files=True, **common), tmp_path)
            did, calls = counted(end), asked()
            assert (did["open"], did["close"], end["last_finisher"]["ops"]) == (files, files, records), operation
            assert calls.get("open", 0) + calls.get("create", 0) == calls["release"] == files, calls
            way = "read" if operation.endswith("read") else "write"
            assert did[way] == calls[way] == records, calls
            assert end["last_finisher"]["bytes"] == files * SIZE
            assert calls.get("fsync", 0) == did.get("sync", 0) == (files if way == "write" else 0)
        mixed = job(root, ["file_mix"], reuse_files=True, **common)
        mixed["phases"][0]["mix"] = {"read": 25, "write": 25, "create": 20, "stat": 10, "unlink": 20}
        (end,) = ends(mixed, tmp_path)
        did, calls = counted(end), asked()
        assert sum(did[kind] for kind in ("open", "create", "stat", "unlink")) == files
        assert did["create"] > 0 and (calls["create"], calls["unlink"]) == (did["create"], did["unlink"])
        assert calls["open"] + calls["create"] == calls["release"] == did["close"] == did["open"] + did["create"]
        assert (calls["read"], calls["write"]) == (did["read"], did["write"])


def test_28_000_files_by_16_threads_over_4_shares(tmp_path: Path) -> None:
    roots = [marked(tmp_path / f"share{number}") for number in range(4)]
    tree = {"files": FILES // LANES, "depth": 1, "width": 21}
    what = job(roots, ["prepare", "read"], lanes=LANES, tree=tree, file_size_bytes=RECORD, record_size_bytes=1024)
    made, read = ends({**what, "keep_files": True}, tmp_path)
    assert (counted(made), made["last_finisher"]["bytes"]) == ({"create": FILES}, FILES * RECORD)
    assert counted(read) == {"open": FILES, "read": 4 * FILES, "close": FILES}
    assert read["verified_bytes"] == read["last_finisher"]["bytes"] == FILES * RECORD
    for root in roots:
        leaves = list((Path(root) / "job" / "t0").iterdir())
        sizes = [file.stat().st_size for leaf in leaves for file in leaf.iterdir()]
        assert (len(leaves), len(sizes), set(sizes)) == (21, FILES // 4, {RECORD})


def test_a_run_says_how_many_files_were_opened(tmp_path: Path) -> None:
    shares = ", ".join(str(tmp_path / f"share{number}") for number in (2, 3, 4))
    (tmp_path / "study.yaml").write_text(
        f"""
study: sets
targets:
  nas: {{kind: file, path: {tmp_path}/share1, shares: [{shares}]}}
workloads:
  many:
    operations: [write, random_read, random_mix, file_mix, read]
    mix: {{read: 40, write: 20, stat: 10, create: 15, unlink: 15}}
    total_files: 2030
    scale: 0.1
    depth: 1
    width: 40
    file_sizes: {{1KiB: 50, 10KiB: 50}}
    record_size: 4KiB
    file_order: random
    lanes: 5
    layout: shared
    cache: keep
    verify: true
ceilings: none
repeats: 2
"""
    )
    assay(tmp_path, "run", "study.yaml")
    shown = json.loads(assay(tmp_path, "show", "last", "c0001", "--json").stdout)
    for row in shown["rows"]:
        for sample in row["samples"]:
            kinds = {kind["kind"]: kind["ops"] for kind in sample["kinds"]}
            mixed = row["operation"] == "file_mix"
            made, others = kinds.get("create", 0), kinds.get("stat", 0) + kinds.get("unlink", 0)
            assert mixed == (made > 0) == (others > 0)
            assert (sample["status"], kinds["open"] + made + others) == ("done", 203)
            assert kinds["close"] == kinds["open"] + made
            assert sample["ops"] == kinds.get("read", 0) + kinds.get("write", 0)
            assert 203 * 1024 < sample["bytes"] < 203 * 10240
    text = assay(tmp_path, "show", "last", "c0001").stdout
    assert "of which" in text and "close" in text
    assay(tmp_path, "report", "last", "--output", "report.html")
    assert "Sets of files" in (tmp_path / "report.html").read_text()
    assert not any((tmp_path / f"share{number}").exists() for number in range(1, 5))


def test_a_set_that_is_only_read_is_made_once(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(
        f"""
study: read
targets: {{place: {{kind: file, path: {tmp_path}/place}}}}
workloads:
  w:
    operations: [read, random_read]
    total_files: 30
    file_size: 10KiB
    record_size: [1KiB, 4KiB, 16KiB]
    lanes: 3
    cache: keep
    verify: true
ceilings: none
repeats: 2
"""
    )
    assay(tmp_path, "run", "study.yaml")
    with RunStore.open(find_run("last", tmp_path / "assay-runs")) as store:
        records = sorted(store.jobs(with_job=True), key=lambda record: record.started_at)
        assert {record.status for record in records} == {"ok"}
        assert [record.job["reuse_files"] for record in records] == [False, *[True] * 5]
        assert {record.job["target"]["directory"] for record in records} == {"c0001-r0"}
        phases = [
            json.loads(line)
            for record in records
            for line in store.events(record.case, record.repeat).split("\n")
            if line
        ]
    prepared = [phase for phase in phases if phase["event"] == "phase_end" and phase["operation"] == "prepare"]
    assert [phase["last_finisher"]["bytes"] for phase in prepared] == [30 * 10240, *[0] * 5], (
        "in the order of their ends"
    )
    assert not (tmp_path / "place").exists()


def test_a_rate_that_is_kept_counts_opens_and_closes(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(
        f"""
study: paced
targets: {{place: {{kind: file, path: {tmp_path}/place}}}}
workloads:
  w:
    operations: [read]
    total_files: 40
    file_size: 8KiB
    record_size: 4KiB
    cache: keep
    rate: 400/s
    runtime: 500ms
ceilings: none
repeats: 1
"""
    )
    assay(tmp_path, "run", "study.yaml")
    (row,) = json.loads(assay(tmp_path, "show", "last", "c0001", "--json").stdout)["rows"]
    (sample,) = row["samples"]
    started = sum(kind["ops"] for kind in sample["kinds"])
    assert (started, sample["ops"], sample["unstarted_ops"]) == (200, 100, 0)
    verdicts = {finding["verdict"] for finding in row["findings"]}
    assert "unsustained" not in verdicts or "contended" in verdicts, "only others on the machine may slow it down"
