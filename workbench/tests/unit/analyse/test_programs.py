"""What programs took and what bounds them, from the events of their tasks."""

import pytest
from builders import make_case, make_sample, row_of
from hypothesis import given
from hypothesis import strategies as st

from assay.analyse.programs.bound import MIN_LOOKS, Bound, bound_of, median_bound, pressure_difference
from assay.analyse.programs.results import command_result
from assay.analyse.programs.tasks import figures
from assay.model.result.host_use import HostUse, LinkUse, MountUse
from assay.model.result.sample import HostShare
from assay.model.result.tasks import TaskIo, TaskResult, TaskStates, all_io

SECOND = 10**9


def task(lane: int = 0, elapsed: int = SECOND, host: str = "", **shares: float) -> TaskResult:
    """A task that was looked at a hundred times a second; `shares` of its time, the rest sleeping."""
    ns = {name: round(share * elapsed) for name, share in shares.items()}
    states = TaskStates(
        looks=elapsed * 100 // SECOND,
        running_ns=ns.get("running", 0),
        storage_ns=ns.get("storage", 0),
        network_ns=ns.get("network", 0),
        other_ns=elapsed - sum(ns.values()),
    )
    times = {"started_ns": 0, "elapsed_ns": elapsed, "user_ns": states.running_ns}
    return TaskResult(task="1", lane=lane, host=host, states=states, **times)


def bound(*tasks: TaskResult, full: bool = False) -> Bound:
    found = bound_of(tasks, full)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("shares", "kind", "saving"),
    [
        ({"running": 0.9, "storage": 0.1}, "compute", 0.1),
        ({"running": 0.3, "storage": 0.7}, "storage", 0.7),
        ({"network": 0.8, "running": 0.2}, "network", 0.0),
        ({"running": 0.1}, "waiting", 0.0),
        ({"running": 0.4, "storage": 0.4}, "mixed", 0.4),
    ],
)
def test_what_takes_half_of_the_time_bounds_it(shares: dict[str, float], kind: str, saving: float) -> None:
    found = bound(task(**shares))
    assert (found.kind, round(found.saving, 6)) == (kind, saving)


@pytest.mark.parametrize(("cpu", "kind"), [(0.9, "compute"), (0.5, "compute"), (0.45, "busy"), (0.05, "busy")])
def test_only_cpu_time_makes_a_task_bound_by_computing(cpu: float, kind: str) -> None:
    one = task(running=0.9, storage=0.1).model_copy(update={"user_ns": round(cpu * SECOND)})
    assert bound(one).kind == kind and median_bound([bound(one)] * 3).kind == kind


def test_waiting_behind_a_full_link_is_waiting_for_the_network() -> None:
    one = task(running=0.2, storage=0.7)
    assert bound(one).kind == "storage" and bound(one, full=True).kind == "network"


def test_what_else_would_last_as_long_limits_what_is_saved() -> None:
    """A chain of processes beside the one with the waits may be the next to end."""
    one = task(storage=0.8, running=0.2)
    assert one.states is not None
    limited = one.model_copy(update={"states": one.states.model_copy(update={"ideal_ns": 85 * SECOND // 100})})
    found = bound(limited)
    assert (found.kind, round(found.saving, 6)) == ("storage", 0.15)


def test_a_few_looks_say_nothing() -> None:
    short = task(elapsed=MIN_LOOKS * SECOND // 100 - SECOND // 100, storage=1.0)
    assert bound_of([short]) is None and bound_of([]) is None
    unseen = task(storage=1.0).model_copy(update={"states": None})
    assert bound_of([unseen]) is None
    assert bound_of([short, short]) is not None


def test_the_lane_that_would_then_be_last_decides_what_is_saved() -> None:
    # Without its waits the first lane ends after 2 s, but the second computes for 3.
    found = bound(task(0, 4 * SECOND, storage=0.5, running=0.5), task(1, 3 * SECOND, running=1.0))
    assert round(found.saving, 6) == 0.25
    # Lanes of other hosts have the same numbers.
    found = bound(task(0, SECOND, "a", storage=1.0), task(0, SECOND, "b", storage=1.0))
    assert round(found.saving, 6) == 1.0


SHARES = st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)).filter(lambda shares: sum(shares) <= 1)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(SECOND, 50 * SECOND), SHARES), min_size=1, max_size=8))
def test_shares_are_parts_of_the_whole(rows: list[tuple[int, int, tuple[float, float, float]]]) -> None:
    tasks = [
        task(lane, elapsed, running=shares[0], storage=shares[1], network=shares[2]) for lane, elapsed, shares in rows
    ]
    found = bound(*tasks)
    parts = (found.running, found.storage, found.network, found.other)
    assert all(0 <= part <= 1 for part in parts) and abs(sum(parts) - 1) < 1e-6
    most = max(shares[1] for _, _, shares in rows)
    assert -1e-9 <= found.saving <= most + 1e-6
    assert median_bound([found, found, found]).kind == found.kind


PRINTED = (
    ("98.5% overall", r"([0-9.]+)% overall", 98.5),
    ("read 1,234,567 bytes", r"read ([0-9,]+) bytes", 1234567.0),
    ("t: 1\nt: 2\nt: 3\n", r"^t: (\d+)$", 3.0),
    ("1.5e-3 s", r"(\S+) s", 0.0015),
    ("rate: -2", r"(?<=rate: )(\S+)", -2.0),
    ("rate: fast", r"rate: (\S+)", None),
    ("", r"(\d+)$", None),
)
"""What a task prints, the pattern of a figure, and its value."""


def test_the_last_number_counts() -> None:
    found = figures([text for text, _, _ in PRINTED], {pattern: pattern for _, pattern, _ in PRINTED})
    assert [values.get(pattern) for (values, _), (_, pattern, _) in zip(found, PRINTED, strict=True)] == [
        value for _, _, value in PRINTED
    ]
    assert not any(slow for _, slow in found)


def test_a_pattern_that_takes_too_long_is_named_with_its_task() -> None:
    """The figures before it stay; those after it are missing."""
    patterns = {"first": r"(\d+)", "second": r"(a+)+$x", "third": r"(\d)"}
    found = figures(["1", "2 " + "a" * 60, "3"], patterns, cpu_seconds=0.05)
    assert found == [({"first": 1.0}, ""), ({"first": 2.0}, "second"), ({"first": 3.0}, "")]
    assert figures([], patterns) == [] and figures(["1"], {}) == [({}, "")]


def test_bytes_are_added_up_if_all_were_counted() -> None:
    io = TaskIo(call_read_bytes=1, call_write_bytes=2, reads=3, writes=4, read_bytes=5, write_bytes=6)
    counted, not_counted = task().model_copy(update={"io": io}), task()
    added = all_io([counted, counted])
    assert added is not None and (added.call_read_bytes, added.write_bytes) == (2, 12)
    assert all_io([counted, not_counted]) is None and all_io([]) is None


def test_time_without_a_cpu_is_known_from_cpu_time() -> None:
    """Ready and running look the same; a task that ran all the time would have used as much CPU time."""
    one = task(running=0.9).model_copy(update={"user_ns": SECOND // 2, "system_ns": SECOND // 10})
    assert round(bound(one).starved, 6) == 0.3
    threads = task(running=0.9).model_copy(update={"user_ns": 3 * SECOND})
    assert bound(threads).starved == 0.0


@pytest.mark.parametrize(
    ("some", "full", "expected"),
    [(0.9, 0.6, None), (None, None, None), (1.0, 0.9, "kernel"), (0.2, 0.1, "looks"), (0.4, 0.1, None)],
)
def test_the_kernel_may_not_agree(some: float | None, full: float | None, expected: str | None) -> None:
    assert pressure_difference(bound(task(storage=0.6, running=0.4)), some, full) == expected


def host_use(host: str, received: float, sent: float) -> HostUse:
    link = LinkUse(name="eth0", received=received, sent=sent, received_peak=received, sent_peak=sent, drops=0)
    inside = link.model_copy(update={"name": "lo", "received": 1e9, "sent": 1e9})
    return HostUse(
        host=host,
        shared=False,
        seconds=2.0,
        cpu=None,
        cpu_peak=None,
        cpus=2,
        links=(link, inside),
        mounts=(MountUse(name="/mnt", read=0.0, written=500.0),),
        io_some=0.5,
        io_full=0.4,
    )


def test_the_links_of_the_hosts_that_ran_the_tasks_are_added_up() -> None:
    hosts = tuple(HostShare(host=name, status="done", ops=1, elapsed_ns=2 * SECOND) for name in ("a", "b"))
    uses = (host_use("a", 1e6, 2e6), host_use("b", 3e6, 4e6), host_use("server", 5e6, 6e6))
    none: tuple[float | None, ...] = (None,) * 5
    for where, some, expected in (
        (hosts, uses, (8e6, 12e6, 4e9, 2e3, 0.4)),
        (hosts, uses[2:], none),
        (hosts, (), none),
        # This machine alone.
        ((), uses[:1], (2e6, 4e6, 2e9, 1e3, 0.4)),
    ):
        fields = {"operation": "run", "tasks": (task(),), "hosts": where, "elapsed_ns": 2 * SECOND}
        row = row_of(make_case("c0001", "disk", ("run",)), [1.0])
        sample = make_sample("c0001", 1, uses=some, **fields)
        result = command_result(row.model_copy(update={"samples": (sample,)}))
        assert result is not None
        found = result.machines
        assert (found.received, found.sent, found.loopback, found.nfs_written, found.io_full) == expected
        assert found.device_read is None
