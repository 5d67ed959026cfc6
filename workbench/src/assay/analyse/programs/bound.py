"""What bounds a command: storage, a network, or its own computing; and what faster storage would save at most.

The shares come from looks at the threads of its tasks (`TaskStates`): a moment counts for storage only if no thread was
running, because computing that goes on meanwhile hides the wait.
"""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Literal

from assay.model.frozen import Frozen
from assay.model.result.tasks import TaskResult

BoundKind = Literal["storage", "network", "compute", "busy", "waiting", "mixed"]
"""busy: what bounds it is not known, because its threads were mostly ready without a CPU; waiting: it sleeps, or
waits for something that is neither storage nor network; mixed: nothing takes half."""
MAIN_SHARE = 0.5
"""At or above this share of the time, one of them is what bounds it."""
MIN_LOOKS = 20
"""Fewest looks at all tasks of a repeat: with fewer, a share of 0.5 has an error of more than 0.11 (one standard
error of a proportion)."""

PRESSURE_DIFFERENCE = 0.25
"""From this difference on, a share of looks and one that the kernel counts do not agree."""

SHARES = ("running", "storage", "network", "other", "starved", "saving")
"""The fields of a `Bound` that are shares of the time."""


class Bound(Frozen):
    """What bounds a command in one repeat.

    Attributes:
        kind: What takes most of the time.
        running, storage, network, other: Shares of the observed time of all tasks.
        starved: Least share of the time in which no thread had a CPU although one was ready: the tasks used less CPU
            time than was counted as running.
        saving: Most that storage without any wait would save, as a share of the wall clock: that of the lane which
            would then be the last to end.
        looks: Number of looks that this rests on.
    """

    kind: BoundKind
    running: float
    storage: float
    network: float
    other: float
    starved: float
    saving: float
    looks: int


def bound_of(tasks: Sequence[TaskResult], link_is_full: bool = False) -> Bound | None:
    """Return what bounds the tasks of one repeat; None if there were too few looks.

    Args:
        tasks: All tasks of the repeat.
        link_is_full: The links that lead to the storage carry all that they can, so that waiting for storage is
            waiting for a network.
    """
    seen = [task.states for task in tasks if task.states is not None]
    looks = sum(states.looks for states in seen)
    observed = sum(states.observed_ns for states in seen)
    if looks < MIN_LOOKS or not observed:
        return None
    running, storage, network = (
        sum(getattr(states, f"{name}_ns") for states in seen) / observed for name in ("running", "storage", "network")
    )
    shares = {
        "running": running,
        "storage": storage,
        "network": network,
        "other": max(0.0, 1 - running - storage - network),
        "starved": max(0.0, running - sum(task.cpu_ns for task in tasks if task.states is not None) / observed),
        "saving": _saving(tasks),
    }
    return _with_kind(shares, looks, link_is_full)


def median_bound(bounds: Sequence[Bound], link_is_full: bool = False) -> Bound:
    """Return what bounds a command over its repeats; arguments as for `bound_of`, `bounds` at least one."""
    shares = {name: median(getattr(bound, name) for bound in bounds) for name in SHARES}
    return _with_kind(shares, sum(bound.looks for bound in bounds), link_is_full)


def pressure_difference(
    bound: Bound, io_some: float | None, io_full: float | None
) -> Literal["kernel", "looks"] | None:
    """Return which saw clearly more waits for storage: the kernel's count (PSI), or looks; None if they agree.

    A task waits at least while all of the machine does, and at most while any thread does.

    Args:
        bound: What the looks saw.
        io_some: Share of the time in which one thread of the machine waited for I/O; None if not counted.
        io_full: Share in which all threads that were not idle did; None if not counted.
    """
    if io_full is not None and io_full - bound.storage >= PRESSURE_DIFFERENCE:
        return "kernel"
    if io_some is not None and bound.storage - io_some >= PRESSURE_DIFFERENCE:
        return "looks"
    return None


def _with_kind(shares: Mapping[str, float], looks: int, link_is_full: bool) -> Bound:
    """Return shares, named as in `Bound`, with the kind that follows from them."""
    kind = _kind(shares["running"], shares["storage"], shares["network"], shares["other"], link_is_full)
    if kind == "compute" and shares["starved"] >= shares["running"] / 2:
        kind = "busy"
    return Bound(kind=kind, looks=looks, **shares)


def _kind(running: float, storage: float, network: float, other: float, link_is_full: bool) -> BoundKind:
    shares: dict[BoundKind, float] = {"compute": running, "waiting": other}
    if link_is_full:
        shares |= {"network": network + storage, "storage": 0.0}
    else:
        shares |= {"network": network, "storage": storage}
    kind, most = max(shares.items(), key=lambda item: item[1])
    return kind if most >= MAIN_SHARE else "mixed"


def _saving(tasks: Sequence[TaskResult]) -> float:
    """Return the share of the wall clock that would be saved if no task waited for storage."""
    before: dict[tuple[str, int], float] = {}
    after: dict[tuple[str, int], float] = {}
    for task in tasks:
        lane = (task.host, task.lane)
        waits = task.states.saved_share if task.states is not None else 0.0
        before[lane] = before.get(lane, 0.0) + task.elapsed_ns
        after[lane] = after.get(lane, 0.0) + task.elapsed_ns * (1 - waits)
    longest = max(before.values(), default=0.0)
    return 1 - max(after.values()) / longest if longest else 0.0
