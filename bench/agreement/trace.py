#!/usr/bin/env python3
"""Whether Assay and fio say what the kernel saw: each under bpftrace, which counts calls, bytes and times by itself.

Operations and bytes must be the same to the last one. A tool's percentile must not be shorter than the tracer's, which
begins after the call has reached the kernel, nor longer by more than `LONGER`. Exit code 1 if one is.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path

if __name__ == "__main__":
    # The bench's modules, in place of this directory's.
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

import tables
from measure import run_contender
from model import Contender, Done, Sample, Setting, Step, Steps
from program import start
from setting import one_file

from agreement.workloads import WORKLOADS, Workload, by_assay, by_fio

SECONDS = 2.0
BIN_NS = 250
"""Width of the tracer's bins of time."""
LONGER = 0.25
"""What a percentile of one operation in flight may be longer than the tracer's: the way into the kernel and back, and
the tracer's own work, which is in the tool's time and not in its own."""
SHORTER = 0.01
"""What it may be shorter: the widths of both tools' bins."""
CALLS = {
    "sync": "tracepoint:syscalls:sys_enter_{call} /pid == cpid/ {{ @from[tid] = nsecs; }}"
    " tracepoint:syscalls:sys_exit_{call} /@from[tid]/ {{ $from = @from[tid]; $bytes = args->ret; delete(@from[tid]);",
    # Opcodes of data (linux/io_uring.h): READV, WRITEV, READ_FIXED, WRITE_FIXED, READ, WRITE.
    "io_uring": "tracepoint:io_uring:io_uring_submit_req /pid == cpid && (args->opcode == 1 || args->opcode == 2"
    " || args->opcode == 4 || args->opcode == 5 || args->opcode == 22 || args->opcode == 23)/"
    " {{ @from[(uint64)args->req] = nsecs; }}"
    " tracepoint:io_uring:io_uring_complete /@from[(uint64)args->req]/"
    " {{ $from = @from[(uint64)args->req]; $bytes = args->res; delete(@from[(uint64)args->req]);",
}
RUNNER = 'BPFTRACE_MAP_KEYS_MAX=1000000 exec "$1" -q -f json -o "$2" -e "$3" -c "$4${5:+ $5}"'
"""bpftrace takes the whole command as one word; the name of the engine's job comes behind all others."""
TOTALS = (
    " if ($bytes == {record}) {{ @ops = count(); @bytes = sum($bytes); @took[(nsecs - $from) / {bin}] = count(); }} }}"
    " END {{ clear(@from); }}"
)
"""Other calls of the same kind are of other lengths: the loader reads libraries so, the engine what /proc tells."""


@dataclass(frozen=True)
class Line:
    """What a tool says of one run, and what the tracer saw of it."""

    title: str
    tool: str
    depth: int
    reported: Sample
    observed: Sample

    @property
    def faults(self) -> list[str]:
        """What does not fit."""
        found = [f"{name} differ" for name in ("ops", "bytes") if self.reported[name] != self.observed[name]]
        for name in ("p50_us", "p99_us"):
            least = self.observed[name] * (1 - SHORTER) - BIN_NS / 1e3
            if self.reported[name] < least:
                found.append(f"{name} is shorter than the kernel's")
            if self.depth == 1 and name == "p50_us" and self.reported[name] > self.observed[name] * (1 + LONGER):
                found.append(f"{name} is longer than the kernel's by more than {100 * LONGER:.0f} %")
        return found


def program(method: str, work: Workload) -> str:
    """The text for bpftrace."""
    call = "pwrite64" if "write" in work.rw else "pread64"
    return (CALLS[method] + TOTALS).format(call=call, record=work.record, bin=BIN_NS)


def traced(contender: Contender, method: str, work: Workload) -> Contender:
    """The same under bpftrace."""

    def steps(setting: Setting) -> Steps:
        (step,) = contender.steps(setting)
        observed = setting.memory / "observed"
        argv = [setting.tool("bpftrace"), str(observed), program(method, work), " ".join(step.argv)]

        def parse(done: Done) -> Sample:
            # bpftrace ends with an empty line.
            done = replace(done, output=done.output.strip())
            return step.parse(done) | {f"observed {name}": value for name, value in read_observed(observed).items()}

        yield Step(["/bin/sh", "-c", RUNNER, "sh", *argv], parse, job=step.job)

    return Contender(contender.key, contender.label, steps, overhead=5.0)


def read_observed(file: Path) -> Sample:
    """Operations, bytes and percentiles from what bpftrace wrote."""
    found: dict[str, object] = {}
    for line in file.read_text().splitlines():
        entry = json.loads(line) if line.startswith("{") else {}
        if entry.get("type") == "map":
            found |= entry["data"]
    took = {int(key): int(count) for key, count in dict(found["@took"]).items()}
    observed = {"ops": float(found["@ops"]), "bytes": float(found["@bytes"])}
    return observed | {f"p{share}_us": percentile(took, share / 100) for share in (50, 99)}


def percentile(took: dict[int, int], share: float) -> float:
    """Middle of the bin that has it, in microseconds."""
    left = share * sum(took.values())
    for key in sorted(took):
        left -= took[key]
        if left <= 0:
            break
    return (key + 0.5) * BIN_NS / 1e3


def by_call(contender: Contender) -> Contender:
    """The same by pread(2) and pwrite(2) in place of a ring."""

    def steps(setting: Setting) -> Steps:
        (step,) = contender.steps(setting)
        ring = ("--registerfiles", "--fixedbufs", "--ioengine")
        argv = [word for word in step.argv if not word.startswith(ring)]
        argv += ["--ioengine=psync"] if step.job is None else []
        yield Step(argv, step.parse, job=step.job and step.job | {"method": "sync"})

    return Contender(contender.key, contender.label, steps)


def lines(work: Workload, setting: Setting) -> list[Line]:
    """Both tools by a ring, and by plain calls where there is one operation in flight."""
    found = []
    for method in ("io_uring", "sync") if work.depth == 1 else ("io_uring",):
        for made in (by_assay(work), by_fio(work)):
            contender = by_call(made) if method == "sync" else made
            setting.seed += 1
            sample, _ = run_contender(traced(contender, method, work), setting)
            observed = {
                name.removeprefix("observed "): value for name, value in sample.items() if name.startswith("observed ")
            }
            found.append(Line(f"{work.title}, {method}", made.label, work.depth, sample, observed))
    return found


def table(found: list[Line]) -> list[list[str]]:
    """What was reported beside what was observed."""
    rows = [["", "", "operations", "bytes", "p50 µs, tool", "tracer", "p99 µs, tool", "tracer", ""]]
    for line in found:
        both = [
            f"{line.reported[name]:.0f}"
            + ("" if line.reported[name] == line.observed[name] else f", tracer {line.observed[name]:.0f}")
            for name in ("ops", "bytes")
        ]
        times = [f"{side[name]:.1f}" for name in ("p50_us", "p99_us") for side in (line.reported, line.observed)]
        rows.append([line.title, line.tool, *both, *times, "; ".join(line.faults) or "ok"])
    return rows


def main() -> int:
    """Exit code 1 if a tool does not say what the tracer saw."""
    with one_file(SECONDS, Path("/var/tmp")) as setting:
        if missing := {"bpftrace", "fio"} - set(setting.tools):
            print(f"SKIPPED: nothing is traced: {' and '.join(sorted(missing))} not on PATH")
            return 0
        found = [line for work in WORKLOADS if not work.huge for line in lines(work, setting)]
    print(tables.plain(table(found)))
    bad = sum(bool(line.faults) for line in found)
    print(f"{len(found) - bad} of {len(found)} runs are as the tracer saw them")
    return 1 if bad else 0


if __name__ == "__main__":
    start("trace", main)
