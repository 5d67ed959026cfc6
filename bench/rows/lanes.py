"""Many lanes and given rates: what is lost with more lanes than cores, memory, start, and delay."""

from __future__ import annotations

from model import Contender, Row, at_least, at_most
from peers import assay, elbencho, fio


def _fio(jobs: int, against: str | None = None) -> Contender:
    return fio.reads(
        "psync",
        f"--numjobs={jobs}",
        "--group_reporting",
        key=f"fio-{jobs}",
        label=f"fio psync, {jobs} jobs",
        against=against,
    )


def _elbencho(threads: int, against: str | None = None) -> Contender:
    return elbencho.reads(
        threads=threads, key=f"elbencho-{threads}", label=f"elbencho, {threads} threads", against=against
    )


LANES = Row(
    key="lanes",
    title="Cached random reads, 16 lanes against 2 on all cores",
    contenders=[
        assay.reads(lanes=2, key="assay-2", label="Assay, 2 lanes"),
        assay.reads(lanes=16, key="assay-16", label="Assay, 16 lanes", against="assay-2"),
        _fio(2),
        _fio(16, "fio-2"),
        _elbencho(2),
        _elbencho(16, "elbencho-2"),
    ],
    measures=("ops_per_s", "cpu_us", "p99_us", "rss_mib"),
    headline=("ops_per_s",),
    goals=[at_least("ops_per_s", 0.95, "assay-2", contender="assay-16")],
    limit=None,
    cached=("file",),
)

START = Row(
    key="start",
    title="256 lanes: start and memory",
    contenders=[assay.start(256)],
    measures=("start_ms", "lane_mib", "rss_mib"),
    headline=(),
    goals=[at_most("start_ms", 50), at_most("lane_mib", 1)],
    limit=None,
    cached=("file",),
    note="The peers do not say when their first operation starts.",
)

OPEN_LOOP = Row(
    key="open-loop",
    title="Open loop at 90 % of the closed-loop rate",
    contenders=[assay.open_loop(0.9)],
    measures=("closed_per_s", "target_share", "delay_p50_us", "delay_p999_us"),
    headline=(),
    goals=[at_most("delay_p999_us", 50)],
    limit=None,
    cached=("file",),
    note="The delay is from an operation's intended start to its start.",
)

ROWS = [OPEN_LOOP, LANES, START]
