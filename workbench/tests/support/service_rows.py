"""A made-up run at a bucket and a table."""

from typing import Any

from builders import make_case, make_place, make_run, make_sample

from assay.analyse.rows import analyse
from assay.judge.judge import judge
from assay.model.result.observations import ServiceCounts
from assay.model.result.result import RunAnalysis
from assay.model.result.sample import ErrorTally, KindCounts, Sample
from assay.model.study.case import Case

LIMIT = "no cache on this side, but the service's cannot be bypassed or emptied"
SERVICES = {"bucket": "s3", "table": "dynamodb"}


def service_place(target: str) -> Any:
    """Where a target of this name is."""
    kind = SERVICES[target]
    nothing = {"direct_bypasses_cache": False, "free_bytes": None, "device": None}
    path = f"https://{kind}.eu-central-1.amazonaws.com/{target}"
    return make_place(target, kind=kind, path=path, filesystem=kind, limits=(LIMIT,), servers=("s",), **nothing)


def service_case(number: int, target: str, operations: tuple[str, ...] = ("put", "get"), **more: Any) -> Case:
    """Of objects of 4 KiB."""
    usual = {"file_size": 0, "record_size": None, "objects": 64, "object_size": 4096, "cache": "keep", "sync": "none"}
    return make_case(f"c{number:04}", target, operations, **{**usual, **more})


def service_sample(case: Case, repeat: int, phase: int, **more: Any) -> Sample:
    """Of one phase; the throughput is around 1 MB/s."""
    operation, size = case.operations[phase], 256 * 1024
    kinds = (KindCounts(kind=operation, ops=64, bytes=size),)
    usual = {"method": "protocol", "phase": phase, "ops": 64, "bytes": size, "kinds": kinds}
    return make_sample(case.id, repeat, 1e6 + 1e3 * repeat, operation, **{**usual, **more})


def service_run(*cases: Case, throttled: int = 0, **run: Any) -> RunAnalysis:
    """Each case three times; of each phase on a table this many requests were throttled."""
    samples = []
    for case in cases:
        told = ServiceCounts(read_units=32.0) if case.target == "table" else None
        errors = ()
        if throttled and told is not None:
            name = "ProvisionedThroughputExceededException"
            errors = (ErrorTally(kind="fault", name=name, domain="dynamodb", code=1, count=throttled, example="x"),)
        phases = [(repeat, phase) for repeat in (1, 2, 3) for phase in range(len(case.operations))]
        samples += [service_sample(case, *where, service=told, errors=errors) for where in phases]
    targets = dict.fromkeys(case.target for case in cases)
    info = make_run(**{"places": tuple(map(service_place, targets)), **run})
    return analyse(info, cases, (), samples, (), judge)
