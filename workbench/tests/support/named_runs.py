"""Made-up runs of metadata operations."""

from typing import Any

from builders import hdr, make_case, make_names, make_run, make_sample

from assay.analyse.rows import analyse
from assay.judge.judge import judge
from assay.model.result.result import RunAnalysis
from assay.model.result.sample import Sample
from assay.model.study.case import Case


def names_run(*more: tuple[Case, list[Sample]]) -> RunAnalysis:
    """Files that are made, with contents, and looked at, by one lane and two, on two targets; memory is faster."""
    cases: list[Case] = []
    samples: list[Sample] = []
    for target, times in (("disk", 1), ("memory", 3)):
        for lanes in (1, 2):
            case = make_case(
                f"c{len(cases) + 1:04}", target, ("create", "stat"), file_size=4096, axes={"lanes": lanes}
            ).model_copy(update={"workload": "names"})
            cases.append(case)
            samples += [about(case, repeat, lanes * times) for repeat in (1, 2, 3, 4) for about in (_create, _stat)]
    for case, own in more:
        cases.append(case)
        samples += own
    return analyse(make_run(), cases, (), samples, (), judge)


def _create(case: Case, repeat: int, times: int, **fields: Any) -> Sample:
    rate = 20e3 * times * (1 + repeat / 97)
    moved = {"bytes": 4096 * 1000, "throughput": rate * 4096}
    return named(case, repeat, rate, operation="create", phase=0, **moved)


def _stat(case: Case, repeat: int, times: int) -> Sample:
    return named(case, repeat, 500e3 * times * (1 + repeat / 97), phase=1)


def named(case: Case, repeat: int, rate: float, **fields: Any) -> Sample:
    values = [1000, 2000, 2000, 3000]
    latency = {"min": 1000.0, "mean": 2000.0, "p50": 2000.0, "p99": 3000.0, "max": 3000.0}
    return make_names(case.id, repeat, rate, latency=latency, histogram=hdr(values), **fields)


def with_data() -> RunAnalysis:
    """The same beside a workload of data."""
    case = make_case("c0009", operations=("read",))
    return names_run((case, [make_sample("c0009", repeat) for repeat in (1, 2, 3)]))
