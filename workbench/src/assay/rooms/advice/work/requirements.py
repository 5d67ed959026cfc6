"""Requirements other than rates and capacity: availability, location, bursts, and recovery time."""

import math
from collections.abc import Callable, Iterator, Mapping

from assay.model.money.design import S3, Design, Efs, FsxLustre, Managed
from assay.model.money.priced_designs import DesignEvidence
from assay.model.units import about_duration, about_size
from assay.money.cost.catalog import catalog
from assay.money.cost.limits import Limits, Metric
from assay.money.cost.sizing import usable_share
from assay.rooms.advice.model.advice import Outcome, RequirementCheck
from assay.rooms.advice.work.facts import RuleInput, RuleResult
from assay.rooms.advice.work.plausible import availability_chance
from assay.rooms.advice.work.texts import amount, percent

HOUR, DAY_HOURS = 3600.0, 24.0
INSTANCE_PROMISES: Mapping[str, tuple[float, str]] = {
    "aws": (
        99.5,
        "service level agreement of EC2 for one instance, as javadeveloper.io of 2022 and mikaelvesavuori/cloud-sla of "
        "2022-04-24 have it: it covers the machine, not what runs on it",
    ),
    "azure": (
        99.9,
        "https://azure.microsoft.com/sv-se/support/legal/sla/virtual-machines/v1_8/ of 2018-03: one machine whose "
        "disks are all of premium storage, that of the system as well; not what runs on it",
    ),
    "gcp": (
        99.9,
        "https://cloud.google.com/compute/sla (the copy has no date): one instance that is not memory-optimized; not "
        "what runs on it",
    ),
}
"""Provider -> percent of the time that is promised of one rented server, and the source."""
TAPE_SECONDS = 12 * HOUR
"""Time until a cartridge is in a drive: by people in the course of a working day; a library takes minutes."""
RESTORED_DURABILITIES = ("scratch", "host")
"""Classes of durability whose failures lose the data, so that a copy must be restored."""


def availability(facts: RuleInput) -> Iterator[RuleResult]:
    """Check the promised availability; without a promise it is unproven.

    Source: the design, else the catalogue's entry of its service.
    """
    wanted = facts.need.availability
    if wanted is None:
        return
    promise, source = promised_availability(facts)
    needed = f"{wanted:g} % is needed"
    if promise is None:
        text = f"no committed availability is known; {needed}"
        chance = availability_chance(facts.design, wanted)
        yield RequirementCheck(requirement="availability", outcome="unproven", chance=chance, text=text, source=source)
        return
    computed = facts.design.availability is None and bool(facts.design.servers)
    text = f"{_servers_text(facts.design, promise) if computed else f'{promise:g} % is committed'}; {needed}"
    unsure = computed and facts.design.part_count > 1
    outcome: Outcome = "failed" if promise < wanted else "unproven" if unsure else "met"
    # Compare unavailable time: shares of available time are all close to 1.
    share = min(1.0, (100 - wanted) / (100 - promise)) if promise < 100 else 1.0
    yield RequirementCheck(requirement="availability", outcome=outcome, share=share, text=text, source=source)


def promised_availability(facts: RuleInput) -> tuple[float | None, str]:
    """Return the promised availability in percent, None if unknown, and its source.

    A bucket of two classes has the lower promise of the two. Rented servers have what `servers_availability` computes.
    """
    design, source = facts.design, f"design {facts.variant.template}"
    if design.availability is not None:
        return design.availability, design.availability_source or source
    service = design.service
    if isinstance(service, Managed):
        kind = catalog().managed(service.type)
        return kind.availability, kind.availability_source or kind.source
    if isinstance(service, S3):
        names = [service.storage_class] + ([service.cold_class] if service.cold_class is not None else [])
        worst = min((catalog().object_class(name) for name in names), key=lambda each: each.sla_availability or 0.0)
        return worst.sla_availability, (worst.sla_source if worst.sla_availability is not None else "") or worst.source
    is_run = bool(design.servers) and not design.is_attached
    one = INSTANCE_PROMISES.get(design.provider or facts.variant.prices.provider) if is_run else None
    return (None, source) if one is None else (100 * servers_availability(design, one[0] / 100), one[1])


def servers_availability(design: Design, one: float) -> float:
    """Return the share of the time that enough servers of a design run, each `one` of it, if they fail independently.

    Without copies all servers must run: one^n. With copies or parts on g servers, of which f may fail, a group runs
    with sum over i = 0..f of C(g, i) (1 - one)^i one^(g - i), and all groups must. Servers that take over do so at once
    here, and a zone that fails takes all with it; so with copies it is an upper end, and no promise.
    """
    share = 1.0
    spare = design.erasure[1] if design.erasure is not None else design.copies - 1
    for group in design.servers:
        if group.role == "client":
            continue
        size = min(design.part_count, group.count)
        failures = range(min(spare, size - 1) + 1)
        runs = sum(math.comb(size, each) * (1 - one) ** each * one ** (size - each) for each in failures)
        share *= runs ** -(-group.count // size)
    return share


def _servers_text(design: Design, promise: float) -> str:
    """Return what follows for rented servers from the promise of one, in words."""
    count = sum(group.count for group in design.servers if group.role != "client")
    if design.part_count > 1:
        text = f"{count} servers with {design.redundancy} run {promise:.6g} % of the time at most, if each runs as "
        return f"{text}promised, they fail independently and take over at once; that is no promise"
    return f"{promise:.6g} % is committed" + (
        f" if {count} servers, which must all run, fail independently" if count > 1 else ""
    )


def location(facts: RuleInput) -> Iterator[RuleResult]:
    """Check that the data is with the providers and in the regions that the need names; own hardware may be anywhere.

    Source: the design, and the price book that it is priced by.
    """
    allowed, provider = facts.need.where, facts.design.provider or facts.variant.prices.provider
    source = f"design {facts.variant.template}"
    if allowed.providers:
        names = " or ".join(allowed.providers)
        outcome: Outcome = "met" if provider in allowed.providers else "failed"
        text = f"the provider is {provider}; {names} is required"
        yield RequirementCheck(requirement="where", outcome=outcome, text=text, source=source)
    if allowed.regions and provider != "own":
        names = " or ".join(allowed.regions)
        region = facts.variant.prices.region
        outcome = "met" if region in allowed.regions else "failed"
        text = f"the region of its price book is {region}; {names} is required"
        yield RequirementCheck(requirement="where", outcome=outcome, text=text, source="price book")


def burst(facts: RuleInput) -> Iterator[RuleResult]:
    """Check a rate for some hours a day: sustained, or by credits that last so long and are earned back afterwards.

    Credits used above the sustained rate are earned back while less than that rate is used. Instance bandwidth to
    volumes can burst once a day, whatever is used during the rest.
    Source: the catalogue's entries.
    """
    required = facts.need.burst
    if required is None:
        return
    sides: tuple[tuple[Metric, float | None], ...] = (("read", required.read), ("write", required.write))
    for metric, wanted in sides:
        if wanted is not None:
            yield _burst_check(facts, metric, wanted, float(required.hours))


def _burst_check(facts: RuleInput, metric: Metric, wanted: float, hours: float) -> RequirementCheck:
    figure = facts.figures[metric]
    needed = f"{amount(metric, wanted)} for {hours:g} h a day are needed ({metric})"

    def check(outcome: Outcome, text: str, share: float | None = None) -> RequirementCheck:
        return RequirementCheck(requirement="burst", outcome=outcome, share=share, text=text, source=figure.source)

    if figure.value is not None and figure.value >= wanted:
        unsure = figure.basis == "ceiling"
        return check("unproven" if unsure else "met", f"{amount(metric, figure.value)} is sustained; {needed}", 1.0)
    limit_burst = facts.variant.limits.burst(metric)
    if limit_burst is None:
        if figure.value is None:
            return check("unproven", f"{figure.how}; {needed}")
        text = f"{amount(metric, figure.value)} expected, without a burst; {needed}"
        return check("unproven" if figure.basis == "ceiling" else "failed", text, figure.value / wanted)
    most, text = _expected_burst(facts.variant.limits, metric)
    seconds = limit_burst[1]
    if most < wanted:
        return check("failed", f"{text}; {needed}", most / wanted)
    if seconds is None:
        return check("unproven", f"{text}, for an unpublished time; {needed}")
    text += f", for {about_duration(seconds)}"
    if seconds < hours * HOUR:
        return check("failed", f"{text}; {needed}", seconds / (hours * HOUR))
    lacking = _credit_shortage(facts, metric, wanted, hours)
    if lacking is not None:
        return check("failed", f"{text}, but {lacking}; {needed}")
    return check("met", f"{text}; {needed}", 1.0)


def _expected_burst(limits: Limits, metric: Metric) -> tuple[float, str]:
    """Return the highest rate for a while that is expected, and the sentence about it."""
    known = [
        (rate * usable_share(layer), rate) for layer in limits.layers if (rate := layer.burst_rate(metric)) is not None
    ]
    most, rate = min(known)
    text = f"it bursts to {amount(metric, most)}"
    return most, text if most == rate else f"{text}, {percent(most / rate)} of {amount(metric, rate)}"


def _credit_shortage(facts: RuleInput, metric: Metric, wanted: float, hours: float) -> str | None:
    """Return, in words, that a day's burst takes more credits than the rest of the day earns; None if it does not."""
    limits = facts.variant.limits
    layer = limits.binding_layer(metric)
    sustained = limits.sustained(metric)
    if layer is None or sustained is None or layer.layer.startswith("volume bandwidth"):
        return None
    spent, steady = (wanted - sustained) * hours, getattr(facts.need, metric) or 0.0
    earned = max(0.0, sustained - steady) * (DAY_HOURS - hours)
    if spent <= earned:
        return None
    return (
        f"a day's burst uses {about_size(spent * HOUR)} of credits, and only {about_size(earned * HOUR)} are earned "
        "back"
    )


def recovery(facts: RuleInput) -> Iterator[RuleResult]:
    """Check how soon data can be read: restored from an archive class, or copied back after a failure.

    Source: the catalogue's entry of the class; capacity / write rate.
    """
    wanted = facts.need.recovery
    if wanted is None:
        return
    needed = f"a recovery within {about_duration(wanted)} is required"
    if (known := facts.slowest_recovery("recovery_time")) is not None:
        yield _measured_check("recovery", known, wanted, f"its replica took over within {{}}; {needed}")
        return
    service = facts.design.service
    if isinstance(service, S3):
        names = (service.storage_class, service.cold_class, service.copy_class)
        for kind in (catalog().object_class(name) for name in names if name):
            if kind.retrieval_seconds:
                late = kind.retrieval_seconds > wanted
                text = f"reading from {kind.name} begins {kind.retrieval}: {about_duration(kind.retrieval_seconds)} at "
                text += f"standard retrieval; {needed}"
                share = min(1.0, wanted / kind.retrieval_seconds)
                outcome: Outcome = "failed" if late else "met"
                yield RequirementCheck(
                    requirement="recovery", outcome=outcome, share=share, text=text, source=kind.source
                )
                return
    source = f"design {facts.variant.template}"
    if facts.design.family == "tape":
        yield _tape_recovery(wanted, needed, source)
        return
    if facts.design.durability not in RESTORED_DURABILITIES:
        text = f"its data survives failures of class {facts.design.durability}, so no data is copied back; {needed}"
        yield RequirementCheck(requirement="recovery", outcome="met", share=1.0, text=text, source=source)
        return
    seconds, how = restore_time(facts)
    if not facts.has_copy or seconds is None:
        why = how if facts.has_copy else "the need names no copy elsewhere to restore from"
        yield RequirementCheck(requirement="recovery", outcome="unproven", text=f"{why}; {needed}", source=source)
        return
    unsure = facts.figures["write"].basis == "ceiling"
    outcome = "failed" if seconds > wanted else "unproven" if unsure else "met"
    share = min(1.0, wanted / seconds)
    yield RequirementCheck(requirement="recovery", outcome=outcome, share=share, text=f"{how}; {needed}", source=source)


def rpo(facts: RuleInput) -> Iterator[RuleResult]:
    """Check how much of what was written last may be lost: nothing if a write ends when all copies have it.

    Source: the design: `copy_lag_minutes`.
    """
    wanted, lag = facts.need.rpo, facts.design.copy_lag_minutes
    if wanted is None:
        return
    source, needed = f"design {facts.variant.template}", f"at most {about_duration(wanted)} may be lost"
    if (known := facts.slowest_recovery("recovery_point")) is not None:
        yield _measured_check("rpo", known, wanted, f"its replica was up to {{}} behind; {needed}")
        return
    if facts.design.durability == "scratch":
        text, outcome, share = f"nothing of it survives a failure; {needed}", "failed", 0.0
    elif lag is None:
        text, outcome, share = f"a write ends when all copies have it; {needed}", "met", 1.0
    elif lag * 60 > wanted:
        text = f"the copy is {lag} minutes behind; {needed}"
        outcome, share = "failed", wanted / (lag * 60)
    else:
        text = f"the copy is up to {lag} minutes behind for the most part, and nothing promises that; {needed}"
        outcome, share = "unproven", 1.0
    yield RequirementCheck(requirement="rpo", outcome=outcome, share=share, text=text, source=source)


def _measured_check(requirement: str, known: DesignEvidence, wanted: float, text: str) -> RequirementCheck:
    """Return the check of a time that replications of the design have measured: certain if its whole interval is.

    Args:
        requirement: Field of the need.
        known: The longest time.
        wanted: The longest that is allowed, in seconds.
        text: What it says, with a place for the time.
    """
    low, high = known.measured.low, known.measured.high
    outcome: Outcome = "met" if high <= wanted else "failed" if low > wanted else "unproven"
    return RequirementCheck(
        requirement=requirement,
        outcome=outcome,
        share=min(1.0, wanted / known.measured.value),
        text=text.format(about_duration(high)),
        source=known.source,
    )


def _tape_recovery(wanted: float, needed: str, source: str) -> RequirementCheck:
    """Return the check of tape: as from an archive class, reading begins when a cartridge is in the drive."""
    text = f"reading begins when a cartridge was fetched, within {about_duration(TAPE_SECONDS)} where people do it; "
    text += f"reading all takes its time at the rate of the drives; {needed}"
    outcome: Outcome = "met" if wanted >= TAPE_SECONDS else "unproven"
    return RequirementCheck(requirement="recovery", outcome=outcome, text=text, source=source)


def restore_time(facts: RuleInput) -> tuple[float | None, str]:
    """Return the seconds it takes to write all data again, and the calculation in words; None: the rate is unknown."""
    figure, capacity = facts.figures["write"], facts.need.capacity
    if not figure.value:
        return None, f"how long copying {about_size(capacity)} back takes is unknown, because the write rate is unknown"
    seconds = capacity / figure.value
    rate = amount("write", figure.value)
    return seconds, f"copying {about_size(capacity)} back at {rate} takes {about_duration(seconds)}"


def zones_of(facts: RuleInput) -> int | None:
    """Return in how many zones a service keeps the data; None: it is not a service, or no number is stated."""
    service = facts.design.service
    if isinstance(service, S3):
        return catalog().object_class(service.storage_class).zones
    if isinstance(service, Managed):
        return catalog().managed(service.type).zones
    if isinstance(service, Efs):
        return 1 if service.zones == "one-zone" else catalog().filesystem(service.type).zones
    return catalog().filesystem(service.type).zones if isinstance(service, FsxLustre) else None


REQUIREMENT_RULES: tuple[Callable[[RuleInput], Iterator[RuleResult]], ...] = (
    availability,
    location,
    burst,
    rpo,
    recovery,
)
