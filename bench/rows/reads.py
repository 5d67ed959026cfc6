"""Random 4 KiB reads of a file of 1 GiB: from the page cache, and from the disk."""

from __future__ import annotations

from model import Goal, Row, at_least, at_most
from peers import assay, bare, elbencho, fio, ior, iozone

NEW = {"tool": "fio-new", "label": "fio, newest"}
MEASURES = ("cpu_us", "ops_per_s", "mean_us", "p99_us", "rss_mib")
LATENCY = ("--lat", "--latpercent")
# What was found best for cached reads by trying: batches, registered file, no random map, and hardly any clock.
TUNED = (
    "--norandommap",
    "--registerfiles=1",
    "--iodepth_batch_submit=32",
    "--iodepth_batch_complete_min=1",
    "--iodepth_batch_complete_max=32",
    "--gtod_reduce=1",
)

SYNC = Row(
    key="sync-1",
    title="Cached random reads, one at a time",
    contenders=[
        bare.loop(lambda s: ["pread", str(s.file), "--seconds", str(s.seconds)], "bare pread loop"),
        assay.reads(),
        fio.reads("psync", label="fio psync"),
        fio.reads("psync", **NEW | {"label": "fio psync, newest"}),
        elbencho.reads(key="elbencho-plain", label="elbencho"),
        elbencho.reads(*LATENCY, label="elbencho --lat"),
        ior.reads(),
        iozone.reads(),
    ],
    measures=MEASURES,
    headline=("cpu_us",),
    goals=[
        at_most("cpu_us", 1.05, "bare"),
        at_most("cpu_us", 0.85, "fio"),
        at_most("cpu_us", 0.85, "fio-new"),
        at_most("cpu_us", 0.92, "elbencho-plain"),
        at_most("cpu_us", 0.92, "elbencho"),
        at_most("cpu_us", 0.75, "ior"),
        at_most("cpu_us", 0.88, "iozone"),
    ],
    cached=("file",),
)

MMAP = Row(
    key="mmap",
    title="Cached random reads through a mapping",
    contenders=[
        bare.loop(lambda s: ["mmap", str(s.file), "--seconds", str(s.seconds)], "bare copy loop"),
        assay.reads(method="mmap"),
        fio.reads("mmap", label="fio mmap"),
        elbencho.reads("--mmap", *LATENCY, label="elbencho --mmap --lat"),
    ],
    measures=MEASURES,
    headline=("ops_per_s",),
    goals=[
        at_least("ops_per_s", 0.9, "bare"),
        at_least("ops_per_s", 1.3, "elbencho"),
        at_least("ops_per_s", 1.9, "fio"),
    ],
    cached=("file",),
)

RING_32 = Row(
    key="ring-32",
    title="Cached random reads, 32 in flight",
    contenders=[
        bare.loop(lambda s: ["ring", str(s.file), "--depth", "32", "--seconds", str(s.seconds)], "bare io_uring loop"),
        assay.reads(depth=32),
        fio.reads("io_uring", "--iodepth=32", label="fio io_uring"),
        fio.reads("io_uring", "--iodepth=32", **NEW | {"label": "fio io_uring, newest"}),
        fio.reads("io_uring", "--iodepth=32", *TUNED, tool="fio-new", key="fio-tuned", label="fio io_uring, tuned"),
        fio.ring(32),
        elbencho.reads("--iodepth", "32", *LATENCY, label="elbencho libaio --lat"),
    ],
    measures=MEASURES,
    headline=("cpu_us", "ops_per_s"),
    goals=[
        at_most("cpu_us", 1.06, "bare"),
        at_least("ops_per_s", 1.75, "fio"),
        at_least("ops_per_s", 1.75, "fio-new"),
        at_least("ops_per_s", 1.1, "fio-tuned"),
        at_least("ops_per_s", 1.65, "elbencho"),
    ],
    cached=("file",),
)

RING_1 = Row(
    key="ring-1",
    title="Cached random reads through io_uring, one in flight",
    contenders=[
        bare.loop(lambda s: ["ring", str(s.file), "--depth", "1", "--seconds", str(s.seconds)], "bare io_uring loop"),
        assay.reads(method="io_uring"),
        fio.reads("io_uring", label="fio io_uring"),
        fio.reads("io_uring", **NEW | {"label": "fio io_uring, newest"}),
    ],
    measures=MEASURES,
    headline=("ops_per_s",),
    goals=[at_least("ops_per_s", 1.1, "fio"), at_least("ops_per_s", 1.1, "fio-new")],
    cached=("file",),
)


def _direct(depth: int, *goals: Goal) -> Row:
    """O_DIRECT reads: pread at depth 1, io_uring or libaio above."""
    deep = depth > 1
    kind = ["ring", "--depth", str(depth), "--fixed-buffers"] if deep else ["pread"]
    engine = "io_uring" if deep else "psync"
    return Row(
        key=f"direct-{depth}",
        title=f"Direct random reads of the disk, {depth} in flight" if deep else "Direct random reads, one at a time",
        contenders=[
            bare.loop(
                lambda s: [kind[0], str(s.file), *kind[1:], "--direct", "--seconds", str(s.seconds)],
                f"bare {kind[0]} loop",
            ),
            # Few operations in a run: a start of 10 ms would weigh as much as a tenth of what they cost.
            assay.reads(depth=depth, direct=True, parse=assay.one_phase),
            fio.reads(engine, "--direct=1", f"--iodepth={depth}", label=f"fio {engine}"),
            elbencho.reads("--direct", "--iodepth", str(depth), *LATENCY, label="elbencho --lat"),
        ],
        measures=MEASURES,
        headline=("ops_per_s", "cpu_us"),
        goals=[at_least("ops_per_s", 0.98, "fio"), at_most("cpu_us", 1.0, "fio"), *goals],
    )


ROWS = [SYNC, MMAP, RING_32, RING_1, _direct(1), _direct(32), _direct(128, at_most("cpu_us", 1.1, "bare"))]
