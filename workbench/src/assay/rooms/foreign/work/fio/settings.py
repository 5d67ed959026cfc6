"""Caches, flushes, data and hardware of a job of fio, as fields of a workload."""

import re
from typing import Any

from assay.rooms.foreign.work.fio.engines import FioEngine
from assay.rooms.foreign.work.fio.jobs import FioJob
from assay.rooms.foreign.work.fio.place import Place
from assay.rooms.foreign.work.fio.values import whole_of
from assay.rooms.foreign.work.notes import Notes

_WRITING = ("write", "rewrite", "random_write", "sequential_mix", "random_mix")
_CPUS = re.compile(r"[0-9]{1,4}(-[0-9]{1,4})?(,[0-9]{1,4}(-[0-9]{1,4})?)*")


def settings_of(
    job: FioJob, place: Place, engine: FioEngine, operation: str, is_set: bool, notes: Notes
) -> dict[str, Any]:
    """Return the fields for how a job reads and writes.

    Args:
        job: The job.
        place: Where it works.
        engine: Its engine.
        operation: What it does.
        is_set: It works on several files.
        notes: Receives a line for each difference.

    Raises:
        AssayError: It has no counterpart.
    """
    found: dict[str, Any] = {}
    if engine.place == "nothing":
        found["cache"] = "keep"
    if place.is_device or place.is_folder:
        found["cache"] = _cache(job, engine, notes)
        if is_set and found["cache"] == "evict":
            found["cache"] = _cache_of_set(operation, notes)
    found["sync"] = _sync(job, operation, engine.method == "mmap", notes)
    if operation == "write" and place.is_folder and not is_set and _preallocates(job, notes):
        found["preallocate"] = True
    if job.has("verify"):
        found |= _verify(job, operation, notes)
    return found | _data(job, operation, notes) | _hardware(job, engine, found.get("cache", ""), notes)


def _cache(job: FioJob, engine: FioEngine, notes: Notes) -> str:
    direct, before = False, job.text("exec_prerun")
    if before and (job.has("direct") or "drop_caches" not in before):
        notes.add("exec_prerun", "Assay starts no commands: run it before")
    for name, value in job.values.items():
        if name in ("direct", "buffered"):
            direct = (value.value.strip() != "0") == (name == "direct")
    if direct and engine.method == "mmap":
        notes.add("direct=1", "a mapping has no O_DIRECT")
    elif direct:
        return "direct"
    if "drop_caches" in before:
        return "drop"
    if job.has("pre_read"):
        notes.add("pre_read=1", "cache: keep: what was prepared is in memory, as far as it fits")
        return "keep"
    return "evict" if job.text("invalidate", "1").strip() != "0" else "keep"


def _cache_of_set(operation: str, notes: Notes) -> str:
    """Return how the cache is emptied for a set of files, which cannot be taken out of it one by one."""
    if operation == "write":
        return "keep"
    notes.add(
        "invalidate", "drop: the host's whole page cache is dropped, which needs root; fio drops that of each file"
    )
    return "drop"


def _sync(job: FioJob, operation: str, is_mapped: bool, notes: Notes) -> str:
    if operation not in _WRITING:
        return "none"
    for name, counterpart in (("fsync", "o_sync"), ("fdatasync", "o_dsync")):
        if not job.has(name):
            continue
        every = whole_of(job.text(name))
        if every != 1:
            raise job.error(name, "a flush every so many writes has no counterpart", f"write {name}=1, or end_fsync=1")
        if is_mapped:
            raise job.error(name, "a mapping is not flushed after each write", "write end_fsync=1, or another ioengine")
        notes.add(f"{name}=1", f"{counterpart}: each write is stable when it ends, without a call of its own; the "
                  "latency of a write is that of both of fio's calls")  # fmt: skip
        return counterpart
    written = job.text("sync", "none").strip()
    if written not in ("0", "none"):
        if written not in ("1", "sync", "dsync"):
            raise job.error("sync", "fio has no such value", "write none, sync or dsync")
        if is_mapped:
            notes.add(job.values["sync"].written, "a mapping has no O_SYNC, with fio too")
            return "none"
        return "o_dsync" if written == "dsync" else "o_sync"
    ends = [name for name in ("end_fsync", "fsync_on_close", "end_syncfs") if job.has(name)]
    if not ends:
        notes.add("sync: none", "as fio without fsync: the data may still be in memory when the clock stops")
    return "fsync" if ends else "none"


def _preallocates(job: FioJob, notes: Notes) -> bool:
    written = job.text("fallocate", "native").strip()
    if written in ("none", "0", "truncate"):
        return False
    if written == "keep":
        notes.add("fallocate=keep", "preallocate: the file has its size before it is written")
    return True


def _verify(job: FioJob, operation: str, notes: Notes) -> dict[str, Any]:
    written = job.text("verify")
    if written == "null" or (job.text("do_verify", "1").strip() == "0" and operation in _WRITING):
        notes.add(job.values["verify"].written, "nothing is checked, as with fio")
        return {}
    if job.is_timed and operation in ("write", "rewrite", "random_write"):
        notes.add(job.values["verify"].written, "nothing is read after a time_based write, with fio too")
        return {}
    notes.add(job.values["verify"].written, "every byte that is read is checked, against seed, file and offset")
    return {"verify": True}


def _data(job: FioJob, operation: str, notes: Notes) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, field in (("buffer_compress_percentage", "compressible"), ("dedupe_percentage", "duplicate")):
        if not job.has(name):
            continue
        share = whole_of(job.text(name))
        if share is None or share > 100:
            raise job.error(name, "this is not a percentage", "write 0 to 100")
        found[field] = share
    if job.has("zero_buffers"):
        found["compressible"] = 100
    if job.text("norandommap", "0") != "0" and operation.startswith("random"):
        notes.add("norandommap", "each block comes once before any comes again; fio's may come twice or never")
    return found


def _hardware(job: FioJob, engine: FioEngine, cache: str, notes: Notes) -> dict[str, Any]:
    found: dict[str, Any] = {}
    cpus = job.text("cpus_allowed").replace(" ", "")
    mask = whole_of(job.text("cpumask")) if "cpumask" in job.values else None
    if mask:
        cpus = ",".join(str(at) for at in range(mask.bit_length()) if mask >> at & 1)
    if cpus and not _CPUS.fullmatch(cpus):
        raise job.error("cpus_allowed", "these are no CPUs", "write them as 0-3,6")
    if cpus:
        found["cpus"] = cpus
        if not cpus.isdigit() and job.text("cpus_allowed_policy", "shared") != "split":
            notes.add(f"cpus_allowed={cpus}", "lane i runs on the i-th of them; fio's jobs may move among them")
    for name in ("numa_cpu_nodes", "numa_mem_policy"):
        node = whole_of(job.text(name).rpartition(":")[2])
        if node is not None:
            found["numa_node"] = node
        elif job.has(name) and job.text(name).strip() not in ("default", "local"):
            notes.add(job.values[name].written, "a workload has one numa_node")
    if job.text("mem").startswith(("mmaphuge", "shmhuge")):
        found["huge_pages"] = True
    if engine.method == "io_uring" and job.has("sqthread_poll"):
        found["sqpoll"] = True
    if engine.method == "io_uring" and job.has("hipri") and cache == "direct":
        found["iopoll"] = True
    return found
