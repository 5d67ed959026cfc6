"""Assay's engine: jobs, and how to read its events."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from model import AbsentError, BenchError, Contender, Done, Sample, Setting, Step, Steps

from peers import objects as requests
from peers.objects import MIB, Work

GIB = 1 << 30


def file_target(root: Path, directory: str) -> dict[str, Any]:
    """Files in a directory below a marked root."""
    return {"kind": "file", "root": str(root), "directory": directory}


def job(target: dict[str, Any], phases: list[dict[str, Any]], **fields: Any) -> dict[str, Any]:
    """A job; whatever is not said stays at the engine's default."""
    base: dict[str, Any] = {"spec_version": 2, "id": "bench", "target": target}
    return base | {"file_size_bytes": GIB, "record_size_bytes": 4096} | fields | {"phases": phases}


def timed(operation: str, setting: Setting, **fields: Any) -> dict[str, Any]:
    """A phase that runs by time."""
    return {"operation": operation, "runtime_ns": int(setting.seconds * 1e9)} | fields


def events(done: Done) -> list[dict[str, Any]]:
    """The engine's events; BenchError if the job did not end well."""
    found = [json.loads(line) for line in done.output.splitlines()]
    bye = found[-1]
    if bye["event"] != "bye" or bye["status"] != "ok":
        raise BenchError(f"assay-engine: {bye.get('reason') or bye['event']}")
    return found


def ends(done: Done) -> dict[str, dict[str, Any]]:
    """The phase_end event of each measured phase, by operation."""
    return {e["operation"]: e for e in events(done) if e["event"] == "phase_end" and e["measured"]}


def counts(end: dict[str, Any]) -> tuple[int, int, float]:
    """Operations, bytes and seconds of a phase, its flush included."""
    kinds = end["operations"]
    window = end["last_finisher"]
    seconds = (window["end_ns"] - window["start_ns"]) / 1e9
    return sum(kind["ops"] for kind in kinds), sum(kind["bytes"] for kind in kinds), seconds


def phase_figures(end: dict[str, Any]) -> Sample:
    """The figures of one phase: its own CPU time, rates and latency."""
    ops, amount, seconds = counts(end)
    used = end["resources"]
    cpu_us = (used["user_ns"] + used["system_ns"]) / 1e3 / ops
    sample = {
        "ops": ops,
        "bytes": amount,
        "phase_cpu_us": cpu_us,
        "cpu_us": cpu_us,
        "cpu_ns": cpu_us * 1e3,
        "ops_per_s": ops / seconds,
        "mops_per_s": ops / seconds / 1e6,
        "mb_per_s": amount / 1e6 / seconds,
        "gb_per_s": amount / 1e9 / seconds,
    }
    latency = next((kind["latency"] for kind in end["operations"] if kind.get("latency")), None)
    if latency:
        sample |= {f"{name}_us": latency[f"{name}_ns"] / 1e3 for name in ("mean", "p50", "p99")}
    return sample


def whole_process(done: Done) -> Sample:
    """The figures of a job with one measured phase: rates of the phase, CPU time of the process from start to end."""
    (end,) = ends(done).values()
    sample = phase_figures(end)
    cpu_us = done.cpu_s * 1e6 / counts(end)[0]
    return sample | {"cpu_us": cpu_us, "cpu_ns": cpu_us * 1e3}


def one_phase(done: Done) -> Sample:
    """The figures of the one measured phase, CPU time included."""
    (end,) = ends(done).values()
    return phase_figures(end)


def all_phases(done: Done) -> Sample:
    """Bandwidth and CPU time of all measured phases together."""
    found = [e for e in events(done) if e["event"] == "phase_end" and e["measured"]]
    ops, amount, seconds = (sum(column) for column in zip(*(counts(e) for e in found), strict=True))
    cpu_ns = sum(e["resources"]["user_ns"] + e["resources"]["system_ns"] for e in found)
    return {"mb_per_s": amount / 1e6 / seconds, "cpu_us": cpu_ns / 1e3 / ops}


def runs(
    make: Callable[[Setting], dict[str, Any]],
    parse: Callable[[Done], Sample] = whole_process,
    key: str = "assay",
    label: str = "Assay",
    seconds: float | None = None,
    against: str | None = None,
) -> Contender:
    """The engine with one job."""

    def steps(setting: Setting) -> Steps:
        yield Step([setting.tool("assay-engine"), "run"], parse, job=make(setting))

    return Contender(key, label, steps, seconds=seconds, against=against)


def reads(
    depth: int = 1,
    direct: bool = False,
    method: str | None = None,
    lanes: int = 1,
    **more: Any,
) -> Contender:
    """Random 4 KiB reads of the common file."""

    def make(setting: Setting) -> dict[str, Any]:
        fields: dict[str, Any] = {"keep_files": True, "reuse_files": True}
        fields |= {"queue_depth": depth} if depth > 1 else {}
        fields |= {"direct": True} if direct else {}
        fields |= {"method": method} if method else {}
        fields |= {"lanes": lanes, "layout": "shared"} if lanes > 1 else {}
        return job(file_target(setting.disk, "data"), [timed("random_read", setting)], **fields)

    return runs(make, **more)


def null(depth: int = 1) -> Contender:
    """Random reads of nothing: each block once, a histogram, no storage."""
    return runs(lambda setting: job({"kind": "null"}, [timed("random_read", setting)], queue_depth=depth))


def names(root: Callable[[Setting], Path], count: int) -> Contender:
    """Create, stat and unlink `count` empty files, in one job of three phases; like the peers, without a flush."""

    def make(setting: Setting) -> dict[str, Any]:
        phases = [{"operation": operation} for operation in ("create", "stat", "unlink")]
        tree = {"files": count, "depth": 0, "width": 1}
        return job(file_target(root(setting), "names"), phases, file_size_bytes=0, tree=tree, sync="none")

    def parse(done: Done) -> Sample:
        return {f"{name}_per_s": phase_figures(end)["ops_per_s"] for name, end in ends(done).items()}

    return runs(make, parse, seconds=1.0)


def open_loop(share: float) -> Contender:
    """A closed loop, then an open loop at a share of its rate: how late operations start."""

    def parse(done: Done) -> Sample:
        (end,) = ends(done).values()
        if not end.get("start_delay"):
            raise AbsentError("this engine does not say when operations start")
        delay = end["start_delay"]
        return {
            "delay_p50_us": delay["p50_ns"] / 1e3,
            "delay_p999_us": delay["p999_ns"] / 1e3,
            "target_share": phase_figures(end)["ops_per_s"] / end["target_per_s"],
        }

    def steps(setting: Setting) -> Steps:
        engine = [setting.tool("assay-engine"), "run"]
        target = file_target(setting.disk, "data")
        kept = {"keep_files": True, "reuse_files": True}
        closed = job(target, [timed("random_read", setting)], **kept)
        rate = yield Step(engine, lambda done: {"closed_per_s": one_phase(done)["ops_per_s"]}, job=closed)
        phase = timed("random_read", setting, rate_per_s=round(rate["closed_per_s"] * share))
        yield Step(engine, parse, job=job(target, [phase], **kept))

    return Contender("assay", "Assay", steps, seconds=1.5)


def start(lanes: int) -> Contender:
    """How long from the start of the process to the first operation, and what memory a lane takes."""

    def make(setting: Setting) -> dict[str, Any]:
        phase = {"operation": "random_read", "runtime_ns": 100_000_000}
        fields = {"lanes": lanes, "layout": "shared", "keep_files": True, "reuse_files": True}
        return job(file_target(setting.disk, "data"), [phase], **fields)

    def parse(done: Done) -> Sample:
        found = events(done)
        ready = next(e for e in found if e["event"] == "ready")
        first = next(e for e in found if e["event"] == "phase_start")
        end = next(e for e in found if e["event"] == "phase_end")
        begun_ns = first["at_ns"] + min(lane["start_ns"] for lane in end["lanes"])
        return {
            "start_ms": (begun_ns - done.start_ns) / 1e6,
            "lane_mib": (done.rss_bytes - ready["buffer_bytes"]) / 2**20 / lanes,
        }

    return runs(make, parse, seconds=0.3)


def items(work: Work, against: str | None = None) -> Contender:
    """Puts of items, or gets of items that it puts before; by one lane, whose CPU time of the phase counts."""
    return _requests(work, against, {"kind": "dynamodb", "table": "assay-bench"}, {"objects": {"count": 200}})


def objects(work: Work, against: str | None = None) -> Contender:
    """Puts of new objects, or gets of objects that it puts before; by one lane, whose CPU time of the phase counts."""
    # As warp does, puts make new objects all the time; the bench takes them away.
    many = {"objects": {"count": work.count if work.operation == "get" else 1_000_000}, "keep_files": True}
    return _requests(work, against, {"kind": "s3", "bucket": "assay-bench"}, many)


def _requests(work: Work, against: str | None, place: dict[str, Any], many: dict[str, Any]) -> Contender:
    def make(setting: Setting) -> dict[str, Any]:
        getting = work.operation == "get"
        target = {**place, "endpoints": [f"http://{setting.served().address}"]}
        # A new directory each time: what a job has kept is refused.
        target |= {"root": "assay", "directory": f"objects-{time.time_ns()}"}
        sizes = {"file_size_bytes": work.size, "record_size_bytes": min(work.size, MIB)}
        before = [{"operation": "put", "measured": False}] if getting else []
        phases = [*before, timed(work.operation, setting)]
        return job(target, phases, queue_depth=work.concurrent, **sizes, **many)

    def parse(done: Done) -> Sample:
        (end,) = ends(done).values()
        failed = sum(kind["errors"] for kind in end["operations"])
        if failed:
            raise BenchError(f"assay-engine: {failed} errors: {end['errors'][0]['name']}")
        used = end["resources"]
        return requests.figures(*counts(end), (used["user_ns"] + used["system_ns"]) / 1e9)

    def steps(setting: Setting) -> Steps:
        service = setting.served()
        service.forget()
        keys = {"AWS_ACCESS_KEY_ID": service.access_key, "AWS_SECRET_ACCESS_KEY": service.secret_key}
        yield Step([setting.tool("assay-engine"), "run"], parse, job=make(setting), environment=keys)

    return Contender("assay", "Assay", steps, overhead=1.0, against=against)
