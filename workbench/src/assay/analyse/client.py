"""What a client of a service can do at most, from the CPU time that its requests took."""

from collections.abc import Iterable, Mapping
from statistics import median

from assay.analyse.ceilings import Pass
from assay.model.result.ceiling import Ceiling, CeilingPass
from assay.model.result.result import Sample


def client_ceilings(
    target: str, kinds: Mapping[int, str], samples: Iterable[Sample], how: str, during: Pass, reason: str = ""
) -> list[Ceiling]:
    """The operations per second that so many lanes can ask for, if each has a CPU for itself while there are CPUs.

    Of a service in the same process only the lane's own CPU time counts: how fast the service is does not matter. It is
    the median of the passes, since a client is not faster for once having been fast.

    Args:
        target: As in `Ceiling`.
        kinds: Number of lanes -> kind of job.
        samples: Of the job, which has one lane.
        how: As in `Ceiling`.
        during: The pass that the job is part of.
        reason: Why the job gave no samples, if it did not.
    """
    told = [
        (sample.ops * 1e9 / (sample.cpu_user_ns + sample.cpu_system_ns), sample.cpus)
        for sample in samples
        if sample.status in ("done", "time_limit") and not sample.errors and sample.ops and sample.cpu_user_ns
    ]
    one, cpus = (median(rate for rate, _ in told), max(1, told[0][1])) if told else (0.0, 1)
    found = []
    for lanes, kind in kinds.items():
        value = one * min(lanes, cpus)
        found.append(
            Ceiling(
                name="client",
                target=target,
                unit="operations/s",
                value=value or None,
                how=how,
                reason="" if value else reason or "its measurement failed",
                kind=kind,
                passes=(CeilingPass(at=during.at, when=during.when, value=value, how=how),) if value else (),
            )
        )
    return found
