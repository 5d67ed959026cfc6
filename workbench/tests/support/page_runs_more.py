"""Ten more finished runs: busy machines, links, needs, object stores, two sides in turns."""

from collections.abc import Mapping, Sequence
from typing import Any

from builders import MEMORY_PLACE, MIB, hdr, make_ceiling, make_place
from made_network import network
from page_run import DISK, KIB, NO_RATES, PageRun, Rates
from stored_runs import noisy

from assay.model.result.ceiling import Ceiling
from assay.model.result.machine import ControlReading
from assay.model.study.blocks import Blocks
from assay.model.study.needs import TargetNeed
from assay.run.control import describe_machine
from assay.store import RunStore

ONE_POINT = ("record_size", (MIB,))
SMALL = ("record_size", (4 * KIB,))


def _middles(middles: Mapping[str, float], sigma: float = 0.03, count: int = 10) -> Rates:
    """Rates about a middle of each target, or of each `target operation`."""

    def rates(target: str, operation: str, value: Any) -> Sequence[float]:
        middle = middles.get(f"{target} {operation}", middles.get(target, 0.0))
        seed = sum(map(ord, f"{target}{operation}{value}"))
        return noisy(middle, count, sigma, seed) if middle else NO_RATES

    return rates


def _busy(store: RunStore) -> None:
    """Controls of which half of the time was spent waiting for a CPU."""
    for number, rate in enumerate(noisy(1e6, 8, 0.1)):
        reading = ControlReading(
            at=1_795_288_500.0 + number * 10,
            rates={"works": rate, "waits": rate / 10},
            seconds=0.1,
            lane_ns=100_000_000,
            wait_ns=52_000_000,
        )
        store.add_control(reading)
    describe_machine(store)


def _with(*ceilings: Ceiling) -> Any:
    return lambda store: store.describe(ceilings=ceilings)


def _records(size: int, slow: int = 200_000) -> Any:
    """What a repeat of records of a size has: their number per second, and latencies of which one in fifty is slow."""

    def fields(operation: str, rate: float) -> Mapping[str, Any]:
        ops, iops = 2000, rate / size
        latencies = [120_000] * (ops - ops // 50) + [slow] * (ops // 50)
        told = {"min": 120_000.0, "p50": 120_000.0, "p99": float(slow), "max": float(slow), "mean": 121_600.0}
        return {"iops": iops, "ops": ops, "bytes": ops * size, "latency": told, "histogram": hdr(latencies)}

    return fields


_LINE_RATE = _middles({"store write": 114e6, "store read": 118e6}, 0.005)
_NAS = make_place(
    "store", kind="nfs", path="nas1:/export", filesystem="nfs4", device=None, remote=True, servers=("nas1",)
)
_BUCKET = make_place("bucket", kind="s3", path="s3://data", filesystem="s3", device=None, remote=True)
_OLD, _NEW = make_place("old"), make_place("new")
_SIDES = Blocks(base="old", other="new", seconds=60.0)

MORE_RUNS: dict[str, PageRun] = {
    "busy-machine": PageRun(
        "Disk or memory?", (DISK, MEMORY_PLACE), _middles({"disk": 300e6, "memory": 3e9}, 0.15), finish=_busy
    ),
    "wrong-ceiling": PageRun(
        "What does this memory do?",
        (MEMORY_PLACE,),
        _middles({"memory": 5e9}),
        finish=_with(make_ceiling("cache copy", 0.9e9, ""), make_ceiling("memory copy", 8e9, "")),
    ),
    "nfs-line-rate": PageRun(
        "How fast is this server, and is the link the limit?",
        (_NAS,),
        _LINE_RATE,
        axis=ONE_POINT,
        finish=lambda store: store.describe(hosts=("c1",), network=network({("c1", "nas1"): 948e6})),
    ),
    "one-place": PageRun(
        "What does /var/tmp do?",
        (DISK,),
        _middles({"disk write": 310e6, "disk read": 480e6}),
        axis=ONE_POINT,
        finish=_with(make_ceiling("device read", 490e6), make_ceiling("device write", 520e6)),
    ),
    "small-records": PageRun(
        "How many random operations does this disk do?",
        (DISK,),
        _middles({"disk random_read": 80e6, "disk random_write": 41e6}),
        ("random_read", "random_write"),
        axis=SMALL,
        fields=_records(4 * KIB),
    ),
    "objects-or-files": PageRun(
        "Files or objects for the data set?",
        (DISK, _BUCKET),
        _middles({"disk write": 300e6, "disk read": 450e6, "bucket put": 90e6, "bucket get": 130e6}),
        operations=("write", "read"),
        axis=ONE_POINT,
        of={"bucket": ("put", "get")},
    ),
    "sides-alike": PageRun(
        "Is new slower than old, or faster?",
        (_OLD, _NEW),
        _middles({"old": 500e6, "new": 505e6}, 0.06, 20),
        axis=ONE_POINT,
        blocks=_SIDES,
    ),
    "need-met": PageRun(
        "Is this disk fast enough for the database?",
        (DISK,),
        _middles({"disk random_read": 80e6, "disk random_write": 41e6}),
        ("random_read", "random_write"),
        axis=SMALL,
        fields=_records(4 * KIB),
        needs=(
            TargetNeed(operation="random_read", measure="iops", limit=15_000),
            TargetNeed(operation="random_write", measure="p99", limit=10e6),
        ),
    ),
    "need-missed": PageRun(
        "Which of them is fast enough for the database?",
        (DISK, MEMORY_PLACE),
        _middles({"disk": 41e6, "memory": 900e6}),
        ("random_write",),
        axis=SMALL,
        fields=_records(4 * KIB, slow=30_000_000),
        needs=(
            TargetNeed(operation="random_write", measure="iops", limit=20_000),
            TargetNeed(operation="random_write", measure="p99", limit=10e6),
        ),
    ),
    "need-unknown": PageRun(
        "Does it read 500 MB/s?",
        (DISK,),
        _middles({"disk": 495e6}, 0.08, 5),
        ("read",),
        axis=ONE_POINT,
        needs=(TargetNeed(operation="read", measure="throughput", limit=500e6),),
    ),
}
