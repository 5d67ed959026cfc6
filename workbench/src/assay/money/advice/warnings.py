"""What a variant must be told with, whatever the need: growth, losses, what was not measured, what costs by use."""

from collections.abc import Iterator

from assay.model.money.advice import Check, Remark
from assay.model.units import about_size
from assay.money.advice.facts import Facts, Said, excluded
from assay.money.advice.losses import yearly_loss
from assay.money.advice.traffic import follows_words, paid_by_request
from assay.money.advice.words import amount, percent
from assay.money.cost.limits import METRICS

MOST_LOSS = 0.01
"""Chance in a year to lose all data from which on one is warned, and which is borne where durability is asked for."""
LARGE_TRANSFER = 10**6


def growth(facts: Facts) -> Iterator[Said]:
    """What may grow is asked of every design from the start.

    Source: the need.
    """
    need = facts.need
    if need.growth:
        asked = [amount(name, value) for name in METRICS if (value := getattr(need, name)) is not None]
        text = f"{percent(need.growth)} of growth is counted in capacity and rates: {about_size(need.capacity)}"
        text += f" and {', '.join(asked)} are asked for and paid for from the start" if asked else " are asked for"
        yield Remark(rule="growth", speaks="note", text=text, source="the need")


def volume_loss(facts: Facts) -> Iterator[Said]:
    """Volumes fail seldom, but without redundancy the loss of one of many is the loss of all data.

    Persistent data without a copy elsewhere must not be lost with a higher chance than the need bears: what it says, or
    1 % a year if it asks for a class of durability. Else the chance is told.
    Source: the catalogue's entry of the type.
    """
    need, loss = facts.need, yearly_loss(facts.design)
    if need.data != "persistent":
        return
    borne = need.most_loss if need.most_loss is not None else MOST_LOSS if need.durability is not None else None
    if loss is None:
        if need.most_loss is not None and not facts.copied:
            text = f"the chance to lose the data in a year is not known; at most {percent(need.most_loss)} is borne"
            source = f"design {facts.variant.template}"
            yield Check(requirement="durability", outcome="unproven", text=text, rule="volume_loss", source=source)
    elif borne is not None and not facts.copied and loss.chance > borne:
        text = f"{loss.text}; at most {percent(borne)} is borne"
        text += "" if need.most_loss is not None else " unless `most_loss` says more"
        share = float(borne) / loss.chance
        yield excluded("durability", "volume_loss", text, loss.source, share)
    elif loss.chance > MOST_LOSS:
        yield Remark(rule="volume_loss", speaks="against", text=loss.text, source=loss.source)
    elif need.most_loss is not None:
        text = f"{loss.text}; at most {percent(need.most_loss)} is borne"
        yield Check(requirement="durability", outcome="met", text=text, rule="volume_loss", source=loss.source)


def both_at_once(facts: Facts) -> Iterator[Said]:
    """Reads and writes that were measured one after the other may share a disk.

    Source: the evidence.
    """
    need = facts.need
    for read, write in (("read", "write"), ("read_iops", "write_iops")):
        asked = getattr(need, read) is not None and getattr(need, write) is not None
        if asked and facts.measured(read) and facts.measured(write):
            text = "reads and writes were measured each alone; both at once were not measured"
            source = "; ".join(dict.fromkeys((facts.figures[read].source, facts.figures[write].source)))
            yield Remark(rule="evidence", speaks="note", text=text, source=source)


def requests_unknown(facts: Facts) -> Iterator[Said]:
    """Where requests or bytes are paid for, they follow from the rates unless `monthly` states them; or are unknown.

    Source: the design's bill.
    """
    need = facts.need
    if not paid_by_request(facts.design):
        return
    source = f"design {facts.variant.template}"
    text = follows_words(need, facts.variant.best.cost.hours_per_month)
    if text:
        yield Remark(rule="monthly", speaks="note", text=f"{text}; they cost money here", source=source)
    elif need.monthly.read is None and need.monthly.written is None:
        text = "reads and writes cost money here, and the price has 0 B of them: say monthly.read and monthly.written"
        yield Remark(rule="requests_unknown", speaks="against", text=text, source=source)
