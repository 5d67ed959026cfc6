"""What the made-up machine of the sample run can do at most."""

from collections.abc import Iterator

from assay.analyse.ceilings import Ceilings, unit_of
from assay.model.result.ceiling import HOST_WIDE, Ceiling, CeilingName
from assay.model.result.result import ResultRow
from assay.model.result.run import RunInfo
from assay.model.study.case import Case, job_kind


def ceilings_of(cases: list[Case], targets: tuple[str, ...]) -> Iterator[Ceiling]:
    """What the made-up machine can do at most; of targets with a made-up name nothing is known but the host's."""
    at_most: dict[str, list[tuple[CeilingName, float | None]]] = {
        HOST_WIDE: [("memory copy", 11e9), ("cache copy", 62e9)],
        "disk": [
            ("device write", 1.55e9),
            ("device read", 2.6e9),
            ("device random read", 52e3),
            ("device random write", None),
            ("page cache read", 6.6e9),
        ],
        "memory": [("page cache read", 12e9)],
    }
    for target in (HOST_WIDE, *targets):
        for name, value in at_most.get(target, ()):
            yield Ceiling(
                name=name,
                target=target,
                unit=unit_of(name),
                value=value,
                lowest=value and value * 0.94,
                how="made up, the better of 2 passes",
                reason="" if value else "its measurement failed",
            )
    kinds = {job_kind(case.parameters, operation) for case in cases for operation in case.operations}
    for place, kind in enumerate(sorted(kind for kind in kinds if kind)):
        rate = 9e6 / (1 + place)
        how = f"an equivalent job without storage ({kind})"
        yield Ceiling(name="engine", target=HOST_WIDE, unit="operations/s", value=rate, how=how, kind=kind)


def with_ceilings(rows: list[ResultRow], run: RunInfo) -> list[ResultRow]:
    """The rows held against the run's ceilings."""
    known = Ceilings(run.ceilings)
    places = {place.target: place for place in run.places}
    return [
        row.model_copy(
            update={
                "ceilings": known.bindings(row.case, row.operation, places[row.case.target], row.throughput, row.iops)
            }
        )
        for row in rows
    ]
