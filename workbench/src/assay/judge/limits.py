"""Rules that compare a result with ceilings, and rules about the client's own limits.

As in `assay.judge.rules`, a rule returns a finding, None (all is well) or `NotEvaluated`.
"""

from collections.abc import Iterable
from statistics import median

from assay.judge.answer import MEMORY_ITSELF, Answer, NotApplicable, NotEvaluated, percent
from assay.model.result.ceiling import CeilingShare
from assay.model.result.evidence import Evidence
from assay.model.result.machine import WAIT_SHARE
from assay.model.result.result import CEILING_TOLERANCE
from assay.model.result.verdict import Finding, Verdict
from assay.model.result.watch import Watch
from assay.model.study.names import PAGES, Group
from assay.model.units import about_number, about_size

STATED_TOLERANCE = 1.05
"""A stated ceiling is exact, but rates are rounded when they are stated."""
ENGINE_SHARE = 0.8
"""At or above this share of the null backend's rate, the engine is part of what is measured: within 1.25x of it."""
LINK_SHARE = 0.9
"""At or above this share a link is full; protocols take some of the rest."""
BUSY_SHARE = 0.9
"""CPU time of the engine / the time it had on the CPUs it can use at once."""
IN_FLIGHT = 0.8
"""Least share of the requested queue depth that is in flight on average."""
MIN_TURNS = 50
"""Least requests for each slot in flight, so that beginning and end do not matter."""
BUSY_REMEDIES: dict[Group, str] = {
    "data": "Use larger records, more lanes on more CPUs, or more hosts; cache: direct costs less CPU a byte.",
    "names": "Use more lanes on more CPUs, or more hosts.",
    "objects": "Use larger objects, more lanes on more CPUs, or more hosts; verify: false costs less CPU a byte.",
    "programs": "Use more hosts, or fewer tasks at once.",
    "other": "Use more threads on more CPUs, or more hosts.",
}
STOPPED_NS = 100_000_000
"""An engine that did not run for this long without a break was stopped by something."""
MIN_NS = 10_000_000
"""CPU time is counted too coarsely for phases shorter than this."""

LINKS = ("link", "client link", "server link", "shared link")
FASTEST_COPY = 64 * 6.2e9
"""Bytes that no CPU can copy in a second of its time: the widest stores (64 bytes, AVX-512 and SVE) in every cycle of
the fastest clock that is sold (6.2 GHz)."""

NO_STORAGE = NotApplicable("the target is the engine's own null device")
NO_CEILINGS = NotEvaluated("no applicable ceiling is known")
NOT_WATCHED = NotEvaluated("the engine does not report stalls, or the phase was too short")
OPEN_LOOP = NotApplicable("open loop")
TOO_SHORT = NotEvaluated("the phases are shorter than 10 ms")


def impossible(evidence: Evidence) -> Answer:
    """Find a rate that cannot be true, for a known reason.

    It is above what the study states about its target, or above what the links on the data's path carry, or the data
    was copied in less CPU time than any CPU needs. Measured links count as exceeded only from 1.25 times on: they were
    measured in a fraction of a second. Other measured ceilings (of the machine's memory, of the engine or of a device)
    may have been measured in a bad moment and are no reason; caches before a device are for other rules.
    Source: docs/method.md, Ceilings.
    """
    hard = [item for item in evidence.ceilings if item.name in LINKS or _stated(item)]
    broken = [item for item in hard if item.share > (STATED_TOLERANCE if _stated(item) else CEILING_TOLERANCE)]
    if not broken and (found := _not_copied(evidence)) is not None:
        return found
    if not broken:
        every = evidence.all_ceilings
        known = any(item.name in LINKS or _stated(item) for item in every) or _copies(evidence)
        return None if known else NO_STORAGE if evidence.has_no_storage else NO_CEILINGS
    worst = max(broken, key=lambda item: item.share)
    return Finding(
        verdict=Verdict.IMPOSSIBLE,
        rule="impossible",
        text=f"{_rate(worst)} is {about_number(worst.share)} times the ceiling `{worst.name}` ({_ceiling(worst)};"
        f" {worst.how})",
        remedy="Do not use the number. Find out what answered instead (a cache, most often), or correct the ceiling.",
        numbers=_numbers(worst),
    )


def _copies(evidence: Evidence) -> bool:
    """Whether the CPUs copy the data, so that a ceiling for copies applies."""
    return _named(evidence.all_ceilings, "cache copy") is not None


def _not_copied(evidence: Evidence) -> Finding | None:
    """Find bytes that were reported as copied in less CPU time than that takes, in a median repeat.

    CPU time is that of the engine, kernel included (getrusage(2)); where it is unknown, all time of its CPUs.
    """
    if not _copies(evidence):
        return None
    rates = [
        sample.bytes * 1e9 / spent
        for sample in evidence.usable
        if sample.elapsed_ns >= MIN_NS
        and (spent := sample.cpu_user_ns + sample.cpu_system_ns or sample.elapsed_ns * evidence.lane_cpus(sample))
    ]
    rate = median(rates) if rates else 0.0
    if rate <= FASTEST_COPY:
        return None
    return Finding(
        verdict=Verdict.IMPOSSIBLE,
        rule="impossible",
        text=f"{about_size(rate)} for each second of CPU time: no CPU copies more than {about_size(FASTEST_COPY)}, so "
        "these bytes were not moved",
        remedy="Do not use the number. Find out what reported bytes that were not moved.",
        numbers={"bytes_per_cpu_s": rate, "max_bytes_per_cpu_s": FASTEST_COPY},
    )


def engine_bound(evidence: Evidence) -> Answer:
    """Find results at most 1.25 times slower than the engine without storage, with the same kind of job.

    The reference is the null backend; for services, what the engine's CPU time allows at one that answers at once.

    Source: docs/method.md, Ceilings.
    """
    if evidence.has_no_storage:
        return NO_STORAGE
    names = ("client", "engine")
    every = (_named(ceilings, name) for ceilings in (evidence.ceilings, evidence.all_ceilings) for name in names)
    found = next((binding for binding in every if binding is not None), None)
    if found is None:
        return NO_CEILINGS
    if found.share < ENGINE_SHARE:
        return None
    best = max((sample.iops for sample in evidence.usable), default=0.0)
    if best > CEILING_TOLERANCE * found.value:
        return NotEvaluated("the engine was faster with storage than measured without")
    records = evidence.case.group == "data"
    remedy = "Use larger records, or more lanes or hosts" if records else "Use more lanes or hosts"
    without = "without storage" if found.name == "engine" else "at a service that answers at once"
    return Finding(
        verdict=Verdict.CLIENT_BOUND,
        rule="engine_bound",
        text=f"{_rate(found)} is {percent(found.share)} of what the engine does {without} ({_ceiling(found)})",
        remedy=f"{remedy}: this measures the load generator.",
        numbers=_numbers(found),
    )


def busy_client(evidence: Evidence) -> Answer:
    """Find an engine that had no CPU time left, in a median repeat, so that faster storage would not show.

    The share is the CPU time of the engine, kernel included, over the elapsed time of as many CPUs as lanes can use at
    once.
    Source: getrusage(2).
    """
    parameters = evidence.case.parameters
    if evidence.has_no_storage:
        return NO_STORAGE
    if evidence.is_in_memory:
        return MEMORY_ITSELF
    if parameters.sqpoll or parameters.iopoll:
        return NotApplicable("polling keeps a CPU busy, however fast the storage is")
    lanes = parameters.all_lanes
    samples = [sample for sample in evidence.usable if sample.elapsed_ns >= MIN_NS]
    if not samples:
        return TOO_SHORT if evidence.usable else None
    used = [
        (sample.cpu_user_ns + sample.cpu_system_ns) / (sample.elapsed_ns * cpus)
        for sample in samples
        if (cpus := evidence.lane_cpus(sample))
    ]
    if not used:
        return NotEvaluated("how many CPUs the engine could use is unknown")
    share = median(used)
    if share < BUSY_SHARE:
        return None
    return Finding(
        verdict=Verdict.CLIENT_BOUND,
        rule="busy_client",
        text=f"the engine used {percent(share)} of the CPU time its {lanes} lane{'s' * (lanes > 1)} can use:"
        " faster storage would not show",
        remedy=BUSY_REMEDIES[evidence.case.group],
        numbers={"engine_cpu_share": share},
    )


def few_in_flight(evidence: Evidence) -> Answer:
    """Find fewer requests in flight than the study requests, while every lane was at work: the client was late.

    By Little's law the mean number in flight is the request rate times the latency. The rule finds a median repeat,
    with at least 50 requests for each slot, below 80 % of the lanes times their queue depth. In the missing time the
    engine was between two requests: it made and checked data, or waited for a CPU.
    Source: Little, A proof for the queuing formula L = lambda W, Operations Research 9 (3), 1961.
    """
    parameters = evidence.case.parameters
    if evidence.case.group != "objects" or evidence.has_no_storage:
        return None
    if parameters.rate is not None:
        return OPEN_LOOP
    requested = parameters.all_lanes * (1 if evidence.operation in PAGES else parameters.queue_depth)
    samples = [sample for sample in evidence.usable if sample.ops >= MIN_TURNS * requested and "mean" in sample.latency]
    if not samples:
        return NotEvaluated(f"needs phases of at least {MIN_TURNS * requested:,} requests") if evidence.usable else None
    found = median((sample.steady_iops or sample.iops) * sample.latency["mean"] / 1e9 for sample in samples)
    if found >= IN_FLIGHT * requested:
        return None
    return Finding(
        verdict=Verdict.CLIENT_BOUND,
        rule="few_in_flight",
        text=f"{about_number(found)} of {requested} requests were in flight on average (Little's law): the engine sent"
        " the others late",
        remedy="Use more lanes on more CPUs, or more hosts; verify: false and compressible data cost less CPU.",
        numbers={"in_flight": found, "asked_for": float(requested)},
    )


def starved_client(evidence: Evidence) -> Answer:
    """Find CPUs used by something else: lanes that were ready to run waited for one, or the hypervisor had taken them.

    In a median repeat this is more than 10 % of the lanes' time or of the host's CPU time. In open loop lanes watch the
    clock between operations and lose little when they are kept from that: `late_engine` reports whether they came late.
    Where a link is full, the link limited the rate, and there is no finding.
    Source: run delay of /proc/PID/schedstat (Documentation/scheduler/sched-stats.rst), steal of proc_stat(5).
    """
    samples = [sample for sample in evidence.usable if sample.elapsed_ns >= MIN_NS]
    if not samples:
        return TOO_SHORT if evidence.usable else None
    if any(item.name in LINKS and item.share >= LINK_SHARE for item in evidence.all_ceilings):
        return None
    lanes = evidence.all_lanes
    closed = evidence.case.parameters.rate is None
    known = [sample for sample in samples if sample.cpu_wait_ns is not None and closed]
    waits = [(sample.cpu_wait_ns or 0) / (sample.elapsed_ns * lanes) for sample in known]
    stolen = [
        sample.host_stolen_ns / total
        for sample in samples
        if sample.host_stolen_ns is not None
        and (total := (sample.host_busy_ns or 0) + (sample.host_idle_ns or 0) + sample.host_stolen_ns) >= MIN_NS
    ]
    if not waits and not stolen:
        return NotEvaluated("the kernel does not report how long lanes waited for a CPU") if closed else OPEN_LOOP
    wait, steal = median(waits or [0.0]), median(stolen or [0.0])
    parts = []
    if wait > WAIT_SHARE:
        parts.append(f"threads that were ready to run waited for a CPU {percent(wait)} of the time")
    if steal > WAIT_SHARE:
        parts.append(f"the hypervisor took {percent(steal)} of the host's CPU time")
    if not parts:
        return None
    return Finding(
        verdict=Verdict.CLIENT_BOUND,
        rule="starved_client",
        text="; ".join(parts),
        remedy="Stop what else runs on this machine, lift a quota of CPU time (cpu.max, cpu.cfs_quota_us)"
        f"{_FEWER[lanes > 1]}.",
        numbers={"cpu_wait_share": wait, "stolen_share": steal},
    )


_FEWER = (", or give the engine more CPUs", ", give the engine more CPUs, or use fewer lanes")


def stopped_engine(evidence: Evidence) -> Answer:
    """Find an engine that did not run, though no other process had its CPU: it was stopped, or its machine stalled.

    The rule looks for 100 ms without a break, or more than 10 % of the time, in any repeat. Storage is not the cause,
    but it shows in the tail of the latencies, and in closed loop in the rate.
    Source: the engine's own watch (`assay.model.result.watch`), less the run delay of the thread that watches
    (Documentation/scheduler/sched-stats.rst).
    """
    watches = [sample.watch for sample in evidence.usable if sample.watch is not None and sample.watch.elapsed_ns > 0]
    away = [(watch.away_ns, watch) for watch in watches if watch.away_ns is not None]
    if not away:
        return NOT_WATCHED if evidence.usable else None
    found = [pair for pair in away if _was_stopped(*pair)]
    if not found:
        return None
    lost, watch = max(found, key=lambda pair: pair[0] / pair[1].elapsed_ns)
    share = lost / watch.elapsed_ns
    return Finding(
        verdict=Verdict.CLIENT_BOUND,
        rule="stopped_engine",
        text=f"in {len(found)} of {len(away)} repeats the engine did not run for a while though no other process used"
        f" its CPU, in the worst one {percent(share)} of the time, for at most {watch.longest_ns / 1e6:,.3g} ms in a"
        " row: it was stopped, or its machine was paused",
        remedy="Measure where nothing stops the machine; the median latency is more reliable than the tail.",
        numbers={"away_share": share, "longest_stall_ns": watch.longest_ns, "repeats": len(found)},
    )


def _was_stopped(away_ns: int, watch: Watch) -> bool:
    return min(away_ns, watch.longest_ns) >= STOPPED_NS or away_ns > WAIT_SHARE * watch.elapsed_ns


def network_bound(evidence: Evidence) -> Answer:
    """Find a full link between client and server: at 90 % of its bandwidth or above.

    Of measured links the tightest is among the ceilings, for each direction separately.
    Source: docs/method.md, Ceilings.
    """
    links = [item for item in evidence.all_ceilings if item.name in LINKS]
    found, place = max(links, key=lambda item: item.share, default=None), evidence.place
    if found is None and place is not None and (place.device or place.memory_backed or place.has_no_storage):
        # There is no network on the data's path.
        return None
    if found is None:
        return NotEvaluated("no network link is known on the way to the target")
    if found.share < LINK_SHARE:
        return None
    return Finding(
        verdict=Verdict.NETWORK_BOUND,
        rule="network_bound",
        text=f"{_rate(found)} is {percent(found.share)} of {_link(found)} ({_ceiling(found)}; {found.how})",
        remedy="This measures the network: use a faster link or several, or more hosts, to measure the storage.",
        numbers=_numbers(found),
    )


def _link(item: CeilingShare) -> str:
    """Return text such as `the bandwidth of the client's link`."""
    owner = item.name.removesuffix("link").strip()
    if owner == "shared":
        return "the bandwidth of a link that all hosts share"
    return f"the bandwidth of the {owner}'s link" if owner else "the link's bandwidth"


def _stated(item: CeilingShare) -> bool:
    return item.name.startswith("stated") or item.name == "link"


def _named(ceilings: Iterable[CeilingShare], name: str) -> CeilingShare | None:
    return next((item for item in ceilings if item.name == name), None)


def _amount(item: CeilingShare, value: float) -> str:
    return f"{about_size(value)}/s" if item.unit == "bytes/s" else f"{value:,.4g} operations/s"


def _rate(item: CeilingShare) -> str:
    return _amount(item, item.measured)


def _ceiling(item: CeilingShare) -> str:
    return _amount(item, item.value)


def _numbers(item: CeilingShare) -> dict[str, float]:
    unit = "bytes_per_s" if item.unit == "bytes/s" else "per_s"
    return {"share": item.share, f"measured_{unit}": item.measured, f"ceiling_{unit}": item.value}
