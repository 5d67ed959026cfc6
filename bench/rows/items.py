"""Items of a table service, put and got, beside a loop around boto3."""

from __future__ import annotations

from model import Row, at_least
from peers import assay, boto3_items
from peers.objects import KIB, Work

SIZES = {"1k": KIB, "16k": 16 * KIB}
CONCURRENT = (1, 8)


def _row(name: str, operation: str, concurrent: int) -> Row:
    work = Work(operation, SIZES[name], concurrent)
    many = "one at a time" if concurrent == 1 else f"{concurrent} at a time"
    return Row(
        key=f"item-{operation}-{name}-{concurrent}",
        title=f"{operation} of items of {work.size // KIB} KiB, {many}, moto",
        contenders=[assay.items(work, against="boto3"), boto3_items.runs(work)],
        measures=("requests_per_s", "cpu_us", "requests_per_core", "rss_mib"),
        headline=("requests_per_s", "cpu_us"),
        goals=[at_least("requests_per_core", 5.0, "boto3")],
        limit=None,
        note="moto is a Python program, and the limit of both: what a request costs the client is what counts.",
        service="moto",
    )


ROWS = [_row(name, operation, many) for operation in ("put", "get") for name in SIZES for many in CONCURRENT]
