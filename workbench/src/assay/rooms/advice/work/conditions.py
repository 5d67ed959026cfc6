"""Drawbacks to accept with a design, for which a user might refuse it: sentences with their numbers."""

import math
from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal

from assay.model.base import AssayError
from assay.model.money.amount import EXACT, format_money
from assay.model.money.catalog import ObjectClass
from assay.model.money.design import S3, Design, DynamoDb, Efs, FsxLustre, Managed
from assay.model.money.price import PriceRow
from assay.model.units import about_duration, about_number, about_size, format_size
from assay.money.cost.bill import BACKUPS, backup_item
from assay.money.cost.catalog import catalog
from assay.money.cost.limits import METRICS
from assay.rooms.advice.work.caps import S3_STREAM
from assay.rooms.advice.work.facts import RuleInput
from assay.rooms.advice.work.losses import yearly_loss
from assay.rooms.advice.work.market import transfer_out
from assay.rooms.advice.work.migration import moving_seconds
from assay.rooms.advice.work.plausible import small_file_range
from assay.rooms.advice.work.pricer import ASSUMED_HOURS, assumed_hours
from assay.rooms.advice.work.requirements import RESTORED_DURABILITIES, restore_time, zones_of
from assay.rooms.advice.work.terms import interruptions, paid_months
from assay.rooms.advice.work.texts import amount, count_text, percent
from assay.rooms.advice.work.traffic import (
    SIDES,
    charged_units,
    cold_byte_share,
    cold_reads,
    first_bytes,
    leased_way,
    monthly_traffic,
)
from assay.rooms.advice.work.warnings import MAX_LOSS, reading_cost

DAY = 86400
LARGE_STEP = 0.2
"""A step of at least this share of the capacity is worth a sentence."""
RESTORE_WORDS = ("restored", "rehydrated", "offline")


def conditions_of(facts: RuleInput) -> tuple[str, ...]:
    """Return all drawbacks of a variant for a need, each once, the most important first."""
    rules = (
        _client,
        _record,
        _growth,
        _steps,
        _part_of_time,
        _not_measured,
        _streams,
        _small_files,
        _latency,
        _cold,
        _line,
        _quotas,
        _table_use,
        _stated,
        _classes,
        _failures,
        _taken_away,
        _loss,
        _backups,
        _committed,
        _moving_in,
        _moving_out,
    )
    return tuple(dict.fromkeys(text for rule in rules for text in rule(facts)))


def _money(cost: Decimal, facts: RuleInput) -> str:
    return format_money(cost, facts.variant.best.cost.currency)


def _month_of(row: PriceRow, size: int, facts: RuleInput) -> str:
    """Return what so many bytes cost in a month at the price of a row, with support and tax."""
    return _money(EXACT.multiply(row.cost(Decimal(size)), facts.variant.best.factor), facts)


def _client(facts: RuleInput) -> Iterator[str]:
    """Yield that the instance which attached volumes are used on is not in the price."""
    if not facts.design.is_attached:
        return
    offer, names = facts.variant.best, ", ".join(group.instance for group in facts.design.servers)
    month = offer.client_cost / facts.need.months
    cost = f", {format_money(month, offer.cost.currency)} a month on demand" if month.is_finite() else ""
    yield f"the instance that uses the volumes is not in the price: {names}{cost}, or another with its rates to volumes"


def _record(facts: RuleInput) -> Iterator[str]:
    """Yield which size of operations is assumed where rates are operations a second."""
    need, size = facts.need, format_size(facts.need.profile.record)
    if (need.read_iops or need.write_iops) and "record" not in need.profile.model_fields_set:
        yield f"operations of {size} are assumed: state `profile: {{record: {size}}}`, or what they are"


def _growth(facts: RuleInput) -> Iterator[str]:
    """Yield what of the growth is paid from the start, and what as it grows."""
    need = facts.need
    if need.growth_per_year:
        text = f"it grows by {percent(need.growth_per_year)} a year to {about_size(need.capacity)} in the last month"
        yield f"{text}: what is paid by the byte stored is the mean of all months, all else is for the end"
    if need.growth:
        yield f"{percent(need.growth)} of growth is in the capacity and rates, and paid from the start"


def _steps(facts: RuleInput) -> Iterator[str]:
    """Yield what a step of a service costs that is sold in large ones."""
    service, need = facts.design.service, facts.need
    if not isinstance(service, Managed):
        return
    kind = catalog().managed(service.type)
    if not kind.step or kind.step < LARGE_STEP * need.capacity:
        return
    with suppress(AssayError):
        row = facts.variant.prices.book.row("filesystem-capacity", kind.prices.capacity, "on-demand", None)
        month = _month_of(row, kind.step, facts)
        yield f"it is sold in steps of {about_size(kind.step)}, each {month} a month on demand"


def _part_of_time(facts: RuleInput) -> Iterator[str]:
    """Yield that rented storage of scratch data is paid for a part of the time only if it is deleted in between."""
    need = facts.need
    if need.duty < 1 and need.data == "scratch" and not facts.design.hardware:
        what = (
            "the month: delete it after that"
            if need.months == 1
            else "the time: it must be deleted whenever it is not used, and made and filled again"
        )
        yield f"the price is for {percent(need.duty)} of {what}; what is left switched on costs the whole month"


def _not_measured(facts: RuleInput) -> Iterator[str]:
    """Yield that the rates of what the user runs follow from limits of its parts."""
    need, figures = facts.need, facts.figures
    metrics = [name for name in METRICS if getattr(need, name) is not None and figures[name].basis == "rule"]
    if facts.design.is_self_run and not facts.design.is_attached and metrics:
        rates = " and ".join(amount(name, getattr(need, name)) for name in metrics)
        how = f"measure with all {need.clients:,} clients at once" if (need.clients or 1) > 1 else "measure"
        yield f"{rates} follow from limits of its parts and were not measured: {how} before you buy (`assay measure`)"


def _streams(facts: RuleInput) -> Iterator[str]:
    """Yield how many requests at once the rates take of each client of S3, if the need does not state them."""
    need, service = facts.need, facts.design.service
    if not isinstance(service, S3) or need.clients is None or "streams" in need.profile.model_fields_set:
        return
    rate = max(need.read or 0, need.write or 0)
    each = math.ceil(rate / need.clients / S3_STREAM)
    if catalog().object_class(service.storage_class).provider == "aws" and each > 1:
        stream = f"{about_size(S3_STREAM)}/s"
        yield f"each of {need.clients:,} clients must read or write {each} objects at once, at {stream}"


def _small_files(facts: RuleInput) -> Iterator[str]:
    """Yield what small files take, which no provider promises."""
    found = small_file_range(facts.design, "read_iops", facts.need) if facts.need.profile.small_files else None
    if found is not None:
        yield (
            f"small files are slower than the rates say, and no provider commits to a number: plausible are "
            f"{found.low:,.0f} to {found.high:,.0f} a second of all clients, by {found.basis}"
        )


def _latency(facts: RuleInput) -> Iterator[str]:
    """Yield that no provider commits to the 99th percentile that is expected."""
    found = [figure for name, figure in facts.figures.items() if name.endswith("_p99")]
    if facts.need.p99 is not None and found and all(figure.basis != "measured" for figure in found):
        yield "no provider commits to a 99th percentile of latency: measure it under your load (`assay measure`)"


def _cold(facts: RuleInput) -> Iterator[str]:
    """Yield how many of the reads are assumed to hit the class for cold data."""
    need, rare = facts.need, cold_byte_share(facts.design)
    if not rare or need.profile.cold:
        return
    text = f"{percent(rare)} of the bytes are in the class for cold data"
    if need.active is None:
        yield f"{text}, and the same share of the reads is assumed to hit it; state `active` if it is less"
        return
    read, once = cold_reads(need, rare), reading_cost(facts)
    text += "" if not once else f", where reading costs extra (all data once: {_money(once, facts)})"
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
    if design.servers and not design.is_attached and design.part_count == 1:
        servers = facts.storage_server_count
        which = "its server" if servers == 1 else f"any of its {servers} servers"
        yield f"while {which} fails or is updated, nothing takes over: what is on it cannot be read"
    if design.durability in RESTORED_DURABILITIES or design.survives:
        yield design.failures_text
    if design.durability in RESTORED_DURABILITIES and facts.has_copy:
        yield f"after a failure of it {restore_time(facts)[1]}"
    if need.data == "scratch":
        yield "results that must outlive it are yours to copy elsewhere, which is not in the price"
    elif design.durability == "zone" and (zones_of(facts) == 1 or design.is_attached):
        yield "all data is in one availability zone: unavailable while that zone is down, lost if it is destroyed"


def _loss(facts: RuleInput) -> Iterator[str]:
    loss = yearly_loss(facts.design)
    if loss is not None and (loss.chance > MAX_LOSS or (facts.design.servers and facts.need.data == "persistent")):
        yield loss.text


def _backups(facts: RuleInput) -> Iterator[str]:
    """Yield what backups that the need does not ask for would cost: one of all data, at the price of the book.

    Not of scratch, nor where a copy is kept elsewhere.
    """
    need, offer, book, sold = facts.need, facts.variant.best, facts.variant.prices.book, backup_item(facts.design)
    if need.snapshots or need.data != "persistent" or facts.has_copy:
        return
    if sold is None:
        if isinstance(facts.design.service, Efs | FsxLustre | Managed):
            yield "backups are not in the price, and the catalogue has no price of them: ask the provider"
        return
    try:
        row = book.row(*sold, "on-demand", None)
    except AssayError:
        yield f"{BACKUPS[sold[0]]} are not in the price, and the book {book.book} has no price of them: bring one"
    else:
        month = _month_of(row, need.capacity, facts)
        is_plain = row.price is not None and offer.factor == 1
        each = f" at {row.price:.4g} {offer.cost.currency}/{row.unit}" if is_plain else ""
        what = f"one of all {about_size(need.capacity)} is {month} a month{each}"
        yield f"{BACKUPS[sold[0]]} are not in the price: {what}"


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


def _table_use(facts: RuleInput) -> Iterator[str]:
    """Yield how much of the stated peak requests paid one by one are, and from where on bought units cost less.

    A unit costs as much as its requests at (price of an hour) / (3600 x price of a request) of its rate.
    """
    need, service, book = facts.need, facts.design.service, facts.variant.prices.book
    if not isinstance(service, DynamoDb) or service.mode != "on-demand":
        return
    hours = facts.variant.best.cost.hours_per_month
    spent = peak = bought = Decimal(0)
    for side in SIDES:
        with suppress(AssayError):
            request = book.row("table-requests", f"dynamodb/{side}", "on-demand", None).cost(Decimal(1))
            unit = book.row(f"table-{side}", "dynamodb", "on-demand", None).cost(Decimal(1))
            units = charged_units(need, facts.design, side, Decimal(getattr(need, f"{side}_iops") or 0)) * hours
            month = monthly_traffic(need, side, hours).operations
            spent += charged_units(need, facts.design, side, month) * request
            peak, bought = peak + units * 3600 * request, bought + units * unit
    if peak and spent < bought:
        text = f"on average {percent(spent / peak)} of the stated rates is used"
        yield f"{text}; above {percent(bought / peak)} provisioned units would cost less"


def _committed(facts: RuleInput) -> Iterator[str]:
    months, whole = facts.need.months, paid_months(facts.variant, facts.need.months)
    term = facts.variant.best.term
    if isinstance(facts.design.service, DynamoDb) and term != "on-demand":
        yield f"on {term} the units are owed to the end of each term, used or not"
    if whole > months:
        yield f"on {term} it is paid for {whole} months, {count_text(whole - months, 'month')} longer than needed"


def _moving_in(facts: RuleInput) -> Iterator[str]:
    """Yield how long moving the data in takes over the link of the need, and what leaving the present cloud costs."""
    need, plan = facts.need, facts.need.migration
    if plan is not None and plan.origin != (facts.design.provider or facts.variant.prices.provider):
        days = about_number(moving_seconds(need, plan.link) / DAY)
        size = about_size(first_bytes(need))
        text = f"moving {size} from {plan.origin} over {about_size(plan.link)}/s takes {days} days"
        paid = facts.variant.best.migration_cost
        leaving = (
            f"leaving {plan.origin} costs {_money(paid, facts)} once" if paid else "leaving it is not in the price"
        )
        yield text if plan.origin == "own" else f"{text}; {leaving}"


def _moving_out(facts: RuleInput) -> Iterator[str]:
    """Yield what moving all data out of a bucket once costs: reading them, and leaving the cloud."""
    need, offer, book = facts.need, facts.variant.best, facts.variant.prices.book
    if not isinstance(facts.design.service, S3) or need.data != "persistent":
        return
    read = reading_cost(facts)
    leave = transfer_out(book, need.capacity, leased_way(need, book.provider) or "internet")
    if read is not None and leave is not None:
        leave = EXACT.multiply(leave, offer.factor)
        whole, out = (format_money(each, offer.cost.currency) for each in (read + leave, leave))
        yield f"moving all {about_size(need.capacity)} out once costs {whole}, {out} of it for leaving the cloud"


def _is_appliance(design: Design) -> bool:
    """Return whether it is a NAS, which has its own software."""
    return any(piece.item.startswith("nas-") for piece in design.hardware)


def _stated(facts: RuleInput) -> Iterator[str]:
    """Yield the conditions of the design and its catalogue entries, and whether the price includes administration."""
    design, need = facts.design, facts.need
    hours = assumed_hours(design, need)
    if hours:
        each = f"{ASSUMED_HOURS:f} for each server" + (" while it runs" if need.duty < 1 else "")
        work = f"{about_number(hours)} h a month of it, {each}"
        state = "state `admin_hours: {own: 20}`"
        yield f"the price includes no administration: designs are compared with {work}; {state}"
    yield from design.conditions
    if need.snapshots and design.hardware:
        yield f"{about_size(need.snapshots)} of snapshots are kept on the same hardware, and are lost with it"
    if need.protocol == "smb" and design.family == "nfs" and not _is_appliance(design):
        yield "SMB is served by Samba on its server, which you set up"
    if need.monthly.egress and design.hardware and design.link is None:
        yield f"{about_size(need.monthly.egress)} a month leave over your own line, which is not in the price"
    service = facts.design.service
    if isinstance(service, Managed):
        kind = catalog().managed(service.type)
        yield from kind.conditions
        if kind.min_days and f"{kind.min_days} days" not in " ".join(kind.conditions):
            yield f"{kind.label} charges at least {kind.min_days} days"
    if isinstance(service, S3):
        if service.copy_class is not None:
            yield "The copy in another region lacks what was written last; it is taken at this region's prices."
        for name in filter(None, (service.storage_class, service.cold_class)):
            yield from catalog().object_class(name).conditions
