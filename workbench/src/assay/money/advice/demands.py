"""What a need may ask for besides rates and capacity: availability, place, bursts, and how soon data are back."""

from collections.abc import Callable, Iterator

from assay.model.money.advice import Check, Outcome
from assay.model.money.design import S3, Efs, FsxLustre, Managed
from assay.model.units import about_duration, about_size
from assay.money.advice.bought import COMPONENT_SHARE
from assay.money.advice.facts import Facts, Said
from assay.money.advice.words import amount, percent
from assay.money.cost.catalog import catalog
from assay.money.cost.limits import Metric

HOUR, DAY_HOURS = 3600.0, 24.0
COPIED_BACK = ("scratch", "host")
"""Classes of durability after whose failures a copy must be brought back."""


def availability(facts: Facts) -> Iterator[Said]:
    """What is promised of the time must be what is asked for; what nobody promises is not known.

    Source: the design, else the catalogue's entry of its service.
    """
    wanted = facts.need.availability
    if wanted is None:
        return
    found, source = promised(facts)
    if found is None:
        text = f"no promise is known; {wanted:g} % are needed"
        yield Check(requirement="availability", outcome="unproven", text=text, source=source)
        return
    text = f"{found:g} % are promised; {wanted:g} % are needed"
    outcome: Outcome = "met" if found >= wanted else "failed"
    # The shares of the time that it may be away, since those of the time that it is there are all close to 1.
    share = min(1.0, (100 - wanted) / (100 - found)) if found < 100 else 1.0
    yield Check(requirement="availability", outcome=outcome, share=share, text=text, source=source)


def promised(facts: Facts) -> tuple[float | None, str]:
    """Percent of the time, and who says so.

    A bucket of two classes is promised what is promised for the worse of them.
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
        worst = min((catalog().object_class(name) for name in names), key=lambda each: each.promised or 0.0)
        return worst.promised, (worst.promised_source if worst.promised is not None else "") or worst.source
    return None, source


def where(facts: Facts) -> Iterator[Said]:
    """Data may lie only with the providers and in the regions that the need names. What is one's own lies anywhere.

    Source: the design, and the price book that it is priced by.
    """
    asked, provider = facts.need.where, facts.design.provider or facts.variant.sold.provider
    source = f"design {facts.variant.template}"
    if asked.providers:
        names = " or ".join(asked.providers)
        outcome: Outcome = "met" if provider in asked.providers else "failed"
        text = f"it is of {provider}; {names} is asked for"
        yield Check(requirement="where", outcome=outcome, text=text, source=source)
    if asked.regions and provider != "own":
        names = " or ".join(asked.regions)
        region = facts.variant.sold.region
        outcome = "met" if region in asked.regions else "failed"
        text = f"it is in {region} by its price book; {names} is asked for"
        yield Check(requirement="where", outcome=outcome, text=text, source="price book")


def burst(facts: Facts) -> Iterator[Said]:
    """A rate for some hours a day: kept for ever, or of credits that last so long and come back in the rest of it.

    What is taken in the burst above the rate that is kept comes back while less than that is used. Bandwidth to volumes
    is promised once a day, whatever is used in the rest of it.
    Source: the catalogue's entries.
    """
    asked = facts.need.burst
    if asked is None:
        return
    sides: tuple[tuple[Metric, float | None], ...] = (("read", asked.read), ("write", asked.write))
    for metric, wanted in sides:
        if wanted is not None:
            yield _burst_check(facts, metric, wanted, float(asked.hours))


def _burst_check(facts: Facts, metric: Metric, wanted: float, hours: float) -> Check:
    figure = facts.figures[metric]
    needed = f"{amount(metric, wanted)} for {hours:g} h a day are needed ({metric})"

    def answer(outcome: Outcome, text: str, share: float | None = None) -> Check:
        return Check(requirement="burst", outcome=outcome, share=share, text=text, source=figure.source)

    if figure.value is not None and figure.value >= wanted:
        unsure = figure.basis == "ceiling"
        return answer("unproven" if unsure else "met", f"{amount(metric, figure.value)} is sustained; {needed}", 1.0)
    found = facts.variant.limits.burst(metric)
    if found is None:
        if figure.value is None:
            return answer("unproven", f"{figure.how}; {needed}")
        text = f"{amount(metric, figure.value)} expected, without a burst; {needed}"
        return answer("unproven" if figure.basis == "ceiling" else "failed", text, figure.value / wanted)
    most, seconds = found[0] * COMPONENT_SHARE, found[1]
    text = f"it bursts to {amount(metric, most)}, {percent(COMPONENT_SHARE)} of {amount(metric, found[0])}"
    if most < wanted:
        return answer("failed", f"{text}; {needed}", most / wanted)
    if seconds is None:
        return answer("unproven", f"{text}, for how long is not published; {needed}")
    text += f", for {about_duration(seconds)}"
    if seconds < hours * HOUR:
        return answer("failed", f"{text}; {needed}", seconds / (hours * HOUR))
    lacking = _not_earned(facts, metric, wanted, hours)
    if lacking is not None:
        return answer("failed", f"{text}, but {lacking}; {needed}")
    return answer("met", f"{text}; {needed}", 1.0)


def _not_earned(facts: Facts, metric: Metric, wanted: float, hours: float) -> str | None:
    """Whether the credits of a day are more than what comes back in the rest of it, in words."""
    limits = facts.variant.limits
    layer = limits.binding(metric)
    keeps = limits.sustained(metric)
    if layer is None or keeps is None or layer.layer.startswith("volume bandwidth"):
        return None
    spent, steady = (wanted - keeps) * hours, getattr(facts.need, metric) or 0.0
    earned = max(0.0, keeps - steady) * (DAY_HOURS - hours)
    if spent <= earned:
        return None
    return (
        f"that takes {about_size(spent * HOUR)} of credits a day, and {about_size(earned * HOUR)} come back in the rest"
    )


def recovery(facts: Facts) -> Iterator[Said]:
    """How soon data can be read: from an archive class after it was restored, after a failure when copied back.

    Source: the catalogue's entry of the class; capacity / write rate.
    """
    wanted = facts.need.recovery
    if wanted is None:
        return
    needed = f"{about_duration(wanted)} is asked for"
    service = facts.design.service
    if isinstance(service, S3):
        kinds = [catalog().object_class(name) for name in (service.storage_class, service.cold_class) if name]
        for kind in kinds:
            if kind.retrieval_seconds:
                late = kind.retrieval_seconds > wanted
                text = f"reading from {kind.name} begins {kind.retrieval}: {about_duration(kind.retrieval_seconds)} at "
                text += f"standard retrieval; {needed}"
                share = min(1.0, wanted / kind.retrieval_seconds)
                outcome: Outcome = "failed" if late else "met"
                yield Check(requirement="recovery", outcome=outcome, share=share, text=text, source=kind.source)
                return
    source = f"design {facts.variant.template}"
    if facts.design.durability not in COPIED_BACK:
        text = f"its data survive failures of class {facts.design.durability}, so that nothing is copied back; {needed}"
        yield Check(requirement="recovery", outcome="met", share=1.0, text=text, source=source)
        return
    seconds, how = copying_back(facts)
    if not facts.copied or seconds is None:
        why = how if facts.copied else "no copy elsewhere is named, from which data could come back"
        yield Check(requirement="recovery", outcome="unproven", text=f"{why}; {needed}", source=source)
        return
    unsure = facts.figures["write"].basis == "ceiling"
    outcome = "failed" if seconds > wanted else "unproven" if unsure else "met"
    share = min(1.0, wanted / seconds)
    yield Check(requirement="recovery", outcome=outcome, share=share, text=f"{how}; {needed}", source=source)


def copying_back(facts: Facts) -> tuple[float | None, str]:
    """Seconds that it takes to write all data anew, and the sum; None: the rate is not known."""
    figure, capacity = facts.figures["write"], facts.need.capacity
    if not figure.value:
        return None, f"how long copying {about_size(capacity)} back takes is not known, since its write rate is not"
    seconds = capacity / figure.value
    rate = amount("write", figure.value)
    return seconds, f"copying {about_size(capacity)} back at {rate} takes {about_duration(seconds)}"


def zones_of(facts: Facts) -> int | None:
    """Zones that hold the data of a service; None: it is none, or nothing is stated."""
    service = facts.design.service
    if isinstance(service, S3):
        return catalog().object_class(service.storage_class).zones
    if isinstance(service, Managed):
        return catalog().managed(service.type).zones
    if isinstance(service, Efs):
        return 1 if service.zones == "one-zone" else catalog().filesystem(service.type).zones
    return catalog().filesystem(service.type).zones if isinstance(service, FsxLustre) else None


DEMANDS: tuple[Callable[[Facts], Iterator[Said]], ...] = (availability, where, burst, recovery)
