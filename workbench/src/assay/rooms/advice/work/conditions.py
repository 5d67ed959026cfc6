"""Drawbacks to accept with a design, for which a user might refuse it: sentences with their numbers."""

from collections.abc import Iterator

from assay.model.money.catalog import ObjectClass
from assay.model.money.design import S3, DynamoDb, Managed
from assay.model.units import about_duration, about_number, about_size, format_size
from assay.money.cost.catalog import catalog
from assay.money.cost.limits import METRICS
from assay.rooms.advice.work.facts import RuleInput
from assay.rooms.advice.work.losses import yearly_loss
from assay.rooms.advice.work.requirements import RESTORED_DURABILITIES, restore_time, zones_of
from assay.rooms.advice.work.terms import interruptions, paid_months
from assay.rooms.advice.work.texts import amount, count_text, percent
from assay.rooms.advice.work.traffic import cold_byte_share, cold_reads
from assay.rooms.advice.work.warnings import MAX_LOSS

RESTORE_WORDS = ("restored", "rehydrated", "offline")


def conditions_of(facts: RuleInput) -> tuple[str, ...]:
    """Return all drawbacks of a variant for a need, each once, the most important first."""
    rules = (_cold, _line, _quotas, _stated, _classes, _failures, _taken_away, _loss, _committed)
    return tuple(dict.fromkeys(text for rule in rules for text in rule(facts)))


def _cold(facts: RuleInput) -> Iterator[str]:
    """Yield how many of the reads are assumed to hit the class for cold data."""
    need, rare = facts.need, cold_byte_share(facts.design)
    if not rare or need.profile.cold:
        return
    text = f"{percent(rare)} of the bytes are in the class for cold data"
    if need.active is None:
        yield f"{text}, and the same share of the reads is assumed to hit it; state `active` if it is less"
        return
    read = cold_reads(need, rare)
    part = f"{percent(read)} of the reads are" if read else "none of the reads are"
    yield f"{text}; {percent(need.active)} are active, so {part} from it"


def _line(facts: RuleInput) -> Iterator[str]:
    """Yield that a leased line of the need is not in the price; the design may have its own."""
    if facts.need.clients_at == "leased-line" and facts.leaving is not None and facts.design.link is None:
        yield "the price has what leaves the cloud over the leased line, but not the line: it is taken as there already"


def _taken_away(facts: RuleInput) -> Iterator[str]:
    """Yield how often spot instances are interrupted."""
    yield from (text for text, _ in interruptions(facts.variant.best))


def _classes(facts: RuleInput) -> Iterator[str]:
    """Yield how soon data of an object class can be read, and what the class charges at least."""
    service = facts.design.service
    if not isinstance(service, S3):
        return
    for name in filter(None, (service.storage_class, service.cold_class)):
        kind = catalog().object_class(name)
        known_text = " ".join((*kind.conditions, *facts.design.conditions)).lower()
        if kind.retrieval_seconds:
            # Not repeated if the catalogue or the design has its own sentence about it.
            if not any(word in known_text for word in RESTORE_WORDS):
                wait = about_duration(kind.retrieval_seconds)
                yield f"data in {kind.name} must be restored before it is read: {kind.retrieval} ({wait} counted)"
            if facts.need.read is not None:
                yield f"the {amount('read', facts.need.read)} that are needed apply to restored copies only"
        if kind.min_days and f"{kind.min_days} days" not in known_text:
            yield f"{kind.name} charges at least {kind.min_days} days of each object, even if it is deleted earlier"
        yield from small_objects(kind, facts.need.profile.record)


def small_objects(kind: ObjectClass, record: int) -> Iterator[str]:
    """Yield the minimum size and the overhead that a class charges for each object.

    Args:
        kind: Class of the catalogue.
        record: Bytes of an object.
    """
    if kind.min_object_size > record:
        times = kind.min_object_size / record
        yield (
            f"{kind.name} charges at least {format_size(kind.min_object_size)} of each object: "
            f"objects of {about_size(record)} cost {about_number(times)} times as much"
        )
    elif kind.min_object_size:
        yield f"{kind.name} charges at least {format_size(kind.min_object_size)} of each object"
    if kind.overhead:
        more = percent(kind.overhead / record)
        yield (
            f"{kind.name} charges {format_size(kind.overhead)} of overhead for each object: "
            f"{more} more for objects of {about_size(record)}"
        )


def _failures(facts: RuleInput) -> Iterator[str]:
    """Yield which data a failure affects, and how long restoring it takes."""
    design, need = facts.design, facts.need
    if design.durability in RESTORED_DURABILITIES:
        yield f"its failure domain: {design.failure_domain}"
        if facts.has_copy:
            yield f"after such a failure {restore_time(facts)[1]}"
    elif zones_of(facts) == 1 and need.data == "persistent":
        yield "all data is in one availability zone: unavailable while that zone is down, lost if it is destroyed"


def _loss(facts: RuleInput) -> Iterator[str]:
    loss = yearly_loss(facts.design)
    if loss is not None and loss.chance > MAX_LOSS:
        yield loss.text


def _quotas(facts: RuleInput) -> Iterator[str]:
    """Yield which first quotas the provider must raise."""
    need, service = facts.need, facts.design.service
    for layer in facts.variant.limits.layers:
        for metric in METRICS if layer.raised else ():
            wanted, quota = getattr(need, metric), layer.sustained(metric)
            if wanted is not None and quota is not None and wanted > quota:
                yield (
                    f"{amount(metric, wanted)} are above the first quota of {layer.layer}, {amount(metric, quota)}: "
                    f"{layer.raised} ({layer.source})"
                )
    if isinstance(service, DynamoDb):
        kind = catalog().table("dynamodb")
        for side, units, quota in (
            ("read", service.read_units, kind.table_reads),
            ("write", service.write_units, kind.table_writes),
        ):
            if units is not None and units > quota:
                yield (
                    f"{units:,} {side} units are above the first quota of a table, {quota:,}: "
                    f"{kind.raised} ({kind.source})"
                )


def _committed(facts: RuleInput) -> Iterator[str]:
    months, whole = facts.need.months, paid_months(facts.variant, facts.need.months)
    if whole > months:
        term = facts.variant.best.term
        yield f"on {term} it is paid for {whole} months, {count_text(whole - months, 'month')} longer than needed"


def _stated(facts: RuleInput) -> Iterator[str]:
    """Yield the conditions of the design and its catalogue entries, and whether the price includes administration."""
    design, need = facts.design, facts.need
    works = design.admin_hours or any(piece.admin_hours for piece in design.hardware)
    if design.is_self_run and not works and not need.admin_hours.get("own"):
        yield "the price includes no hours of the people who run it; write `admin_hours: {own: 20}` for a month"
    yield from design.conditions
    service = facts.design.service
    if isinstance(service, Managed):
        kind = catalog().managed(service.type)
        yield from kind.conditions
        if kind.min_days and f"{kind.min_days} days" not in " ".join(kind.conditions):
            yield f"{kind.label} charges at least {kind.min_days} days"
    if isinstance(service, S3):
        for name in filter(None, (service.storage_class, service.cold_class)):
            yield from catalog().object_class(name).conditions
