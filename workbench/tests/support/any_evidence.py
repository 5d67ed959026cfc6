"""Evidence of any kind, for what must hold of all."""

from typing import Any

from builders import MEMORY_PLACE, make_case, make_place
from hypothesis import strategies as st
from judge_tools import LOOP_PLACE, NFS_PLACE, NULL_PLACE

from assay.analyse.estimate import estimate
from assay.analyse.usable import usable
from assay.model.result.ceiling import CeilingShare
from assay.model.result.course import Course, RateChange
from assay.model.result.evidence import Evidence
from assay.model.result.observations import BlockDeviceUse
from assay.model.result.sample import ErrorTally, Sample
from assay.model.result.watch import Watch
from assay.model.study.names import DATA, METADATA, is_metadata

NS = st.sampled_from([0, 1, 10**6, 10**9]) | st.integers(0, 10**13)
BYTES = st.sampled_from([0, 1, 4096, 1 << 20, 16 << 20]) | st.integers(0, 2**45)
COUNT = st.sampled_from([0, 1, 2]) | st.integers(0, 10**9)
RATE = st.just(0.0) | st.floats(1e-3, 1e13)
SHARE = st.sampled_from([0.0, 0.05, 0.2, 1.0]) | st.floats(0, 50)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


LATENCY = st.just({}) | st.builds(lambda mean, tail: {"mean": mean, "p99.9": mean + tail}, SHARE, RATE)
COURSES = st.builds(
    Course,
    intervals=st.integers(2, 40),
    interval_ns=st.integers(10**7, 10**9),
    mean=RATE,
    variation=SHARE,
    middle_range=maybe(SHARE),
    range_share=maybe(SHARE),
    slope_share=maybe(SHARE | SHARE.map(lambda share: -share)),
    changes=st.lists(st.builds(RateChange, at_ns=NS, before=RATE, after=RATE, p=st.floats(0, 1)), max_size=3).map(
        tuple
    ),
    first_pass=maybe(RATE),
    later_passes=maybe(RATE),
)
BLOCKS = st.builds(
    BlockDeviceUse, **{name: BYTES if "bytes" in name else COUNT for name in BlockDeviceUse.model_fields}
)
WATCHES = st.builds(Watch, interval_ns=NS, elapsed_ns=NS, stalls=COUNT, stalled_ns=NS, longest_ns=NS, away_ns=maybe(NS))
TALLIES = st.builds(
    ErrorTally,
    kind=st.sampled_from(["fault", "corrupt", "short_read"]),
    name=st.sampled_from([None, "EIO", "ENOSPC", "ESTALE"]),
    count=st.integers(1, 10**6),
    example=st.just("read /t/f0 at 4096, 4096 bytes: it failed"),
)
BINDINGS = st.builds(
    lambda name, value, share: CeilingShare(
        name=name,
        unit="operations/s" if name == "engine" or name.endswith("IOPS") or "random" in name else "bytes/s",
        value=value,
        measured=share * value,
        share=share,
        how="made up",
    ),
    st.sampled_from(CeilingShare.model_fields["name"].annotation.__args__),  # type: ignore[union-attr]
    st.floats(1, 1e13),
    SHARE,
)
PARAMETERS = st.fixed_dictionaries(
    {},
    optional={
        "file_size": st.integers(0, 2**40),
        "lanes": st.integers(1, 64),
        "layout": st.sampled_from(["separate", "shared"]),
        "queue_depth": st.integers(1, 64),
        "cache": st.sampled_from(["direct", "drop", "evict", "keep"]),
        "sync": st.sampled_from(["none", "fsync", "o_dsync"]),
        "rate": st.floats(0.001, 1e6),
        "arrivals": st.sampled_from(["constant", "poisson"]),
        "compressible": st.sampled_from([0, 50]),
        "cpus": st.sampled_from(["0", "0-3"]),
        "iopoll": st.booleans(),
    },
)
FIELDS = st.fixed_dictionaries(
    {"ops": COUNT, "elapsed_ns": NS, "throughput": RATE, "iops": RATE},
    optional={
        "bytes": BYTES,
        "read_bytes": BYTES,
        "write_bytes": BYTES,
        "latency": LATENCY,
        "start_delay": LATENCY,
        "skew_ns": NS,
        "finish_spread_ns": NS,
        "method": st.sampled_from(["io_uring", "sync", ""]),
        "cache_done": st.sampled_from(["", "dropped"]),
        "target_per_s": st.floats(0.001, 1e6),
        "unstarted_ops": COUNT,
        "device_read_bytes": maybe(BYTES),
        "cpu_user_ns": NS,
        "cpu_system_ns": NS,
        "cpu_wait_ns": maybe(NS),
        "cpus": st.integers(0, 64),
        "host_busy_ns": maybe(NS),
        "host_idle_ns": maybe(NS),
        "host_stolen_ns": maybe(NS),
        "block": maybe(BLOCKS),
        "flush_ns": NS,
        "lane_balance": maybe(st.floats(0, 1)),
        "wall_shift_ns": st.integers(-(10**12), 10**12),
        "watch": maybe(WATCHES),
        "course": maybe(COURSES),
    },
)
FATE = st.fixed_dictionaries({"status": st.sampled_from(["done"] * 20 + ["time_limit"])}) | st.fixed_dictionaries(
    {
        "status": st.sampled_from(["done", "failed", "skipped", "stopped", "crashed"]),
        "errors": st.lists(TALLIES, max_size=2).map(tuple),
    }
)


@st.composite
def any_evidence(draw: st.DrawFn) -> Evidence:
    """Evidence that hangs together: usable repeats and the estimate are those of the samples."""
    operation = draw(st.sampled_from(DATA + METADATA))
    alike, fates = draw(FIELDS), draw(st.sampled_from([FATE, st.just({"status": "done"})]))
    samples = tuple(
        Sample(
            **{**alike, **draw(st.just({}) | st.just({}) | FIELDS)},
            case="c0001",
            repeat=repeat,
            phase=0,
            operation=operation,
            started_at=1.0,
            **draw(fates),
        )
        for repeat in range(1, draw(st.integers(0, 5)) + 1)
    )
    counted = usable(samples)
    rates = [sample.rate for sample in counted]
    files = {"files": draw(st.integers(1, 10**6))} if is_metadata(operation) else {}
    return Evidence(
        case=make_case(operations=(operation,), **draw(PARAMETERS), **files),
        operation=operation,
        samples=samples,
        usable=counted,
        place=draw(st.sampled_from([None, make_place(), MEMORY_PLACE, NULL_PLACE, NFS_PLACE, LOOP_PLACE])),
        memory_bytes=draw(maybe(BYTES)),
        estimate=estimate(rates) if rates else None,
        ceilings=tuple(draw(st.lists(BINDINGS, max_size=4))),
        planned=draw(st.integers(0, 8)),
        reasons=tuple(draw(st.lists(st.just("repeat 1 crashed: killed"), max_size=2))),
        within=draw(maybe(st.floats(0.001, 0.5))),
    )
