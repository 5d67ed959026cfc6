"""A run of many cases, made up in full, and what it costs to judge it.

`python tests/support/judge_large.py` builds a run of 10,000 cases in a temporary folder, judges it in a process
of its own as `assay run` does at its end, and prints seconds and memory.
"""

import argparse
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from statistics import median

from builders import MS, hdr, make_ceiling, make_meta, make_place, make_sample
from judge_tools import fill, make_change, make_course

from assay.model.result.brief import Result
from assay.model.result.ceiling import Ceiling
from assay.model.study.case import Case, job_kind
from assay.model.study.parameters import Parameters
from assay.run.judging import judged_results
from assay.store import RunStore

OPERATIONS = ("write", "random_read")
REPEATS = 5
WHO = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
TARGETS = ("disk", "nas")


def build(root: Path, cases: int, bad: bool = False) -> Path:
    """A finished run whose results are not kept yet, with everything in its samples that the engine tells today.

    Args:
        root: Folder of the runs.
        cases: How many.
        bad: Every result gets several verdicts.
    """
    planned = [_case(number) for number in range(cases)]
    meta = make_meta(
        id="20270115-080000-large",
        study="large",
        repeats=REPEATS,
        command="assay run large.yaml",
        environment={"memory": {"total": "8 GiB"}},
        places=tuple(make_place(target) for target in TARGETS),
    )
    order = [(case.id, repeat) for case in planned for repeat in range(1, REPEATS + 1)]
    with RunStore.create(root, meta, planned, (), order, "study: large\n") as store:
        store.describe(ceilings=_ceilings(planned))
        _insert(store, order, [_document(phase, operation, bad) for phase, operation in enumerate(OPERATIONS)])
        store.set_status("complete")
        return store.folder


def _case(number: int) -> Case:
    target, lanes, record = TARGETS[number % 2], 1 + number % 4, 4096 * (1 + number % 16)
    return Case(
        id=f"c{number:05}",
        target=target,
        workload="grid",
        operations=OPERATIONS,
        parameters=Parameters(file_size=1 << 30, record_size=record, lanes=lanes, runtime=10**9),
        axes={"record_size": record, "lanes": lanes, "file_size": number},
        label=f"{target} / grid / record_size={record} lanes={lanes} file_size={number}",
    )


def _ceilings(cases: Iterable[Case]) -> list[Ceiling]:
    kinds = {job_kind(case.parameters, operation) for case in cases for operation in case.operations}
    names = ("device read", "device write", "device random read", "page cache read", "link", "stated read")
    return [
        make_ceiling("memory copy", 1e10, ""),
        *(make_ceiling(name, 1e9, target) for target in TARGETS for name in names),
        *(make_ceiling("engine", 1e6, "", kind=kind) for kind in sorted(filter(None, kinds))),
    ]


def _document(phase: int, operation: str, bad: bool) -> str:
    """A sample as the store keeps it, with `%d` and `%f` where repeats differ."""
    latency = {"min": 90e3, "mean": 152e3, "p50": 138e3, "p90": 181e3, "p99": 315e3, "p99.9": 2.5e6, "max": 2.6e6}
    sample = make_sample(
        "CASE",
        throughput=100e6,
        operation=operation,
        phase=phase,
        bytes=100 << 20,
        elapsed_ns=1000 * MS,
        latency=latency,
        histogram=hdr([int(90_000 * 1.01**number) for number in range(300)]),
        steady=100.5e6,
        first_finisher=101e6,
        method_reason="one operation in flight: a ring has nothing to batch",
        skew_ns=200 * MS if bad else 30_000,
        finish_spread_ns=200 * MS if bad else MS,
    )
    changes = (make_change(150e6, 50e6),) if bad else ()
    course = make_course(
        range_share=0.9 if bad else 0.05, changes=changes, effective=17.5, low=98e6, high=103e6, middle_range=0.04
    )
    sample = fill(sample.model_copy(update={"course": course}), 4, ("latency", "course"))
    wait = {"cpu_wait_ns": 900 * MS, "wall_shift_ns": 2000 * MS} if bad else {}
    fields = sample.model_copy(update=wait).model_dump(mode="json", exclude_defaults=True)
    return json.dumps(fields, separators=(",", ":"))


def _insert(store: RunStore, order: Iterable[tuple[str, int]], documents: list[str]) -> None:
    """Fill the tables at once: 50,000 repeats one by one take minutes."""
    assert all('"repeat":1,' in text and '"throughput":100000000.0' in text for text in documents)
    job = json.dumps({"id": "made up", "phases": [{"operation": name, "runtime_ns": 10**9} for name in OPERATIONS]})
    done = list(enumerate(order, start=1))
    connection = store._db
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany(
        "INSERT INTO attempts (id, case_id, repeat, started_at, seconds, status, reason, job)"
        " VALUES (?, ?, ?, 1.0, 2.5, 'ok', '', ?)",
        ((number, case, repeat, job) for number, (case, repeat) in done),
    )
    connection.executemany(
        "INSERT INTO outcomes VALUES (?, ?, 'ok', ?)", ((case, repeat, number) for number, (case, repeat) in done)
    )
    connection.executemany(
        "INSERT INTO samples (case_id, repeat, phase, operation, status, throughput, iops, document)"
        " VALUES (?, ?, ?, ?, 'done', 1e8, 1525.9, ?)",
        (
            (case, repeat, phase, OPERATIONS[phase], _filled(text, case, repeat))
            for _, (case, repeat) in done
            for phase, text in enumerate(documents)
        ),
    )
    connection.execute("COMMIT")


def _filled(text: str, case: str, repeat: int) -> str:
    rate = f'"throughput":{100e6 + repeat * 1e6}'
    text = text.replace('"case":"CASE"', f'"case":"{case}"', 1).replace('"repeat":1,', f'"repeat":{repeat},', 1)
    return text.replace('"throughput":100000000.0', rate, 1)


def judged(folder: Path) -> dict[str, float]:
    """Judge a run and keep its results, in this process.

    Returns:
        `rows`; `findings`: rows with any; `seconds` on the wall; `cpu` seconds, other processes included; `reference`:
        CPU seconds of a loop in Python, which says how fast this machine is just now; `peak_bytes` of memory of
        this process and of the largest other one.
    """
    before = reference_loop()
    started, cpu = time.perf_counter(), cpu_seconds()
    findings = 0
    with RunStore.open(folder, write=True) as store:

        def counted() -> Iterable[Result]:
            nonlocal findings
            for result in judged_results(store):
                findings += bool(result.finding)
                yield result

        store.save_results(counted())
        rows = sum(store.verdict_counts().values())
    cpu, seconds = cpu_seconds() - cpu, time.perf_counter() - started
    # Memory in KiB. For this process getrusage(2) would tell the size of the one that started it, if that was larger.
    own = int(re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1])
    peak = 1024 * (own + resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
    reference = median([*before, *reference_loop()])
    return {
        "rows": rows,
        "findings": findings,
        "seconds": seconds,
        "cpu": cpu,
        "reference": reference,
        "peak_bytes": peak,
    }


def cpu_seconds() -> float:
    """Of this process and those that it has waited for."""
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, WHO))


def reference_loop() -> list[float]:
    """CPU seconds of the same work in Python, several times."""
    times = []
    for _ in range(5):
        started, total = time.process_time(), 0
        for number in range(1_000_000):
            total += number * number % 7
        times.append(time.process_time() - started)
    return times


def judged_apart(folder: Path) -> dict[str, float]:
    """`judged` in a fresh process."""
    command = [sys.executable, __file__, "--judge", str(folder)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--bad", action="store_true", help="every result gets several verdicts")
    parser.add_argument("--judge", type=Path, help="judge this run and print JSON")
    options = parser.parse_args()
    if options.judge:
        print(json.dumps(judged(options.judge)))
        return
    with tempfile.TemporaryDirectory() as folder:
        found = judged_apart(build(Path(folder), options.cases, options.bad))
    print(
        f"{options.cases:,} cases, {found['rows']:,} results, {found['findings']:,} findings: {found['seconds']:.2f} s,"
        f" {found['cpu']:.2f} s of CPU time ({found['cpu'] / found['reference']:.0f} times the reference loop),"
        f" {found['peak_bytes'] / 1e6:.0f} MB"
    )


if __name__ == "__main__":
    main()
