"""A run of many cases, made up in full: for tests of the judge, and for `bench/judge`."""

import json
from collections.abc import Iterable
from pathlib import Path

from builders import MS, hdr, make_ceiling, make_meta, make_place, make_sample
from judge_tools import fill, make_change, make_course

from assay.model.result.ceiling import Ceiling
from assay.model.study.case import Case, job_kind
from assay.model.study.parameters import Parameters
from assay.store import RunStore

OPERATIONS = ("write", "random_read")
REPEATS = 5
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
        method_reason="one operation in flight: io_uring has nothing to batch",
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
