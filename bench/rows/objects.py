"""Objects of an S3 service, put and got, beside warp: at a real service, and at one that does nothing."""

from __future__ import annotations

from model import Goal, Row, at_least, at_most
from peers import assay, warp
from peers.objects import KIB, MIB, Work

SIZES = {"4k": 4 * KIB, "64k": 64 * KIB, "1m": MIB, "8m": 8 * MIB}
CONCURRENT = (1, 8, 32)
NULL, REAL = "assay-service", "versitygw"
GOALS: dict[str, list[Goal]] = {
    # The service is the limit: nothing may be lost, at half of the cost. All requests carry the same, so that what
    # holds of the cost of a request holds of that of a byte.
    REAL: [at_least("requests_per_s", 1.0, "warp"), at_most("cpu_us", 0.5, "warp")],
    # The client may be the limit.
    NULL: [at_least("requests_per_core", 2.0, "warp")],
}
NOTES = {
    REAL: "The Versity gateway keeps its files in memory.",
    NULL: "The service throws away what is put, and has one thread.",
}


GET_NOTE = " Of gets warp needs to be told `Last-Modified`; a service that does not makes it fail."


def _row(service: str, name: str, operation: str, concurrent: int) -> Row:
    work = Work(operation, SIZES[name], concurrent)
    size = f"{work.size // KIB} KiB" if work.size < MIB else f"{work.size // MIB} MiB"
    many = "one at a time" if concurrent == 1 else f"{concurrent} at a time"
    return Row(
        key=f"{operation}-{name}-{concurrent}-{'null' if service == NULL else 'gateway'}",
        title=f"{operation} of {size}, {many}, {service}",
        contenders=[assay.objects(work, against="warp"), warp.runs(work)],
        measures=("requests_per_s", "mb_per_s", "cpu_us", "cpu_s_per_gb", "requests_per_core", "rss_mib"),
        headline=("requests_per_s", "cpu_us"),
        goals=GOALS[service],
        limit=None,
        note=NOTES[service] + (GET_NOTE if (service, operation) == (NULL, "get") else ""),
        service=service,
    )


ROWS = [
    _row(service, name, operation, concurrent)
    for service in (REAL, NULL)
    for operation in ("put", "get")
    for name in SIZES
    for concurrent in CONCURRENT
]
