"""warp, MinIO's load generator for S3 services."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from measure import cpu_between
from model import BenchError, Contender, Done, Sample, Setting, Step, Steps

from peers import objects
from peers.objects import Work

BUCKET = "warp-bench"
# Whole objects, none of them hashed: over HTTP it would sign each 64 KiB. It sends no checksum by itself.
SAME = ("--disable-multipart", "--disable-sha256-payload", "--lookup=path", "--region=us-east-1")
PAUSE_SECONDS = 3.0
"""What it waits for between its preparation and its benchmark, whatever it is told."""


def report(done: Done) -> dict[str, Any]:
    """What it prints with --json, behind an empty line or behind errors."""
    begin = done.output.index("{\n")
    return json.JSONDecoder().raw_decode(done.output[begin:])[0]


def figures(done: Done, operation: str) -> Sample:
    """Counts from the first request's start to the last one's end, and the CPU time that it has used meanwhile.

    Its preparation is before, and 3 s without work are between; its report is made behind.
    """
    part = report(done)["by_op_type"][operation.upper()]
    if part["total_errors"]:
        raise BenchError(f"warp: {part['total_errors']} errors: {part['first_errors'][0]}")
    begin, end = (datetime.fromisoformat(part[key]).timestamp() for key in ("start_time", "end_time"))
    cpu_s = cpu_between(done, begin, end)
    return objects.figures(part["total_requests"], part["total_bytes"], end - begin, cpu_s)


def runs(work: Work) -> Contender:
    """Puts of new objects, or gets of objects that it puts before."""

    def steps(setting: Setting) -> Steps:
        service = setting.served()
        service.forget()
        amount = [f"--obj.size={work.size}B", f"--concurrent={work.concurrent}", f"--duration={setting.seconds:g}s"]
        amount += [f"--objects={work.count}"] if work.operation == "get" else []
        out = ["--json", "--noclear", f"--benchdata=warp-{work.operation}"]
        words = [work.operation, f"--host={service.address}", f"--bucket={BUCKET}", *amount, *SAME, *out]
        yield Step(
            [setting.tool("warp"), *words],
            lambda done: figures(done, work.operation),
            environment={"WARP_ACCESS_KEY": service.access_key, "WARP_SECRET_KEY": service.secret_key},
            watched=True,
        )

    return Contender("warp", "warp", steps, overhead=PAUSE_SECONDS + 1.0)
