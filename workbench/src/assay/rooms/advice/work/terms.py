"""Rules of thumb about terms: reserved for long use, spot for short jobs that can restart."""

from collections.abc import Iterator

from assay.model.money.amount import TERM_MONTHS, format_money
from assay.rooms.advice.model.advice import Remark
from assay.rooms.advice.work.candidates import Variant
from assay.rooms.advice.work.facts import AWS_PAPER, BEEGFS_PAPER, NFS_PAPER, RuleInput, RuleResult, failed_check
from assay.rooms.advice.work.pricer import MAX_SPOT_MONTHS, TermOffer
from assay.rooms.advice.work.texts import count_text, percent


def spot(facts: RuleInput) -> Iterator[RuleResult]:
    """Check spot: only for servers of short scratch data; not for persistent data, and not for services.

    Source: BeeGFS-2016, Choosing your filesystem servers; NFS-2016, Expected costs; AWS-2012, II.
    """
    need, offer = facts.need, facts.variant.best
    if need.term == "spot" and not facts.design.servers:
        text = "it has no spot price, because it has no instances"
        yield failed_check("term", "spot", text, f"design {facts.variant.template}")
        return
    if need.term not in (None, "on-demand", "spot", offer.term) and not facts.design.servers:
        text = f"{need.term} is not sold for it: it has a single price"
        yield Remark(rule="long_term", stance="note", text=text, source=f"design {facts.variant.template}")
    if need.term != "spot" and offer.term != "spot":
        return
    if need.data != "scratch" and any(group.role != "client" for group in facts.design.servers):
        text = "its servers hold persistent data, and spot instances are interrupted"
        source = f"{BEEGFS_PAPER}, Choosing your filesystem servers: on demand for servers, spot for compute nodes"
        yield failed_check("term", "spot", text, source)
        return
    yield from _spot_remarks(facts)


def _spot_remarks(facts: RuleInput) -> Iterator[Remark]:
    need, offer = facts.need, facts.variant.best
    if offer.term != "spot":
        return
    chance = offer.interruption_chance
    if chance is not None:
        text = (
            f"in {count_text(need.months, 'month')} the chance that one of its servers is interrupted is "
            f"{percent(chance)}"
        )
        if facts.design.part_count == 1:
            text += ", which loses every file with a part on it"
        yield Remark(rule="spot", stance="against", text=text, source="price book: interruptions of a month")
    for text, source in interruptions(offer):
        yield Remark(rule="spot", stance="against", text=text, source=source)
    on_demand = next((other for other in facts.variant.offers if other.term == "on-demand"), None)
    if on_demand is not None and on_demand.total_cost > offer.total_cost:
        text = (
            "the data is scratch, and spot costs "
            f"{percent(1 - offer.total_cost / on_demand.total_cost)} less than on demand "
            f"({format_money(on_demand.total_cost / need.months, on_demand.cost.currency)} a month)"
        )
        source = f"{NFS_PAPER}, Expected costs, and {AWS_PAPER}, II: spot for what is short and can start again"
        yield Remark(rule="spot", stance="for", text=text, source=source)
    if need.months > MAX_SPOT_MONTHS:
        text = (
            f"{count_text(need.months, 'month')} is long for spot: each interruption loses the scratch data, and the "
        )
        text += "work on it starts again"
        source = f"{AWS_PAPER}, II: spot suits short runs of predictable length"
        yield Remark(rule="spot", stance="against", text=text, source=source)


def interruptions(offer: TermOffer) -> Iterator[tuple[str, str]]:
    """Yield how often each spot instance is interrupted, in words, with the source."""
    for row in offer.cost.rows:
        if row.dimension != "instance" or row.term != "spot":
            continue
        if row.interruptions:
            text = f"up to {percent(row.interruptions)} of {row.item} on spot are interrupted in a month"
            text += ", with loss of their data"
        elif row.interruptions_above is not None:
            text = f"more than {percent(row.interruptions_above)} of {row.item} on spot are interrupted in a month"
            text += ", with loss of their data"
        else:
            text = f"{row.item} on spot may be interrupted, with loss of its data; how often is not stated"
        yield text, row.source


def long_term(facts: RuleInput) -> Iterator[RuleResult]:
    """Yield that a reservation or savings plan suits long terms.

    Source: NFS-2016, Expected costs; AWS-2012, II.
    """
    offer = facts.variant.best
    is_rented = bool(facts.design.servers) and not facts.design.is_attached
    if facts.need.term is None and is_rented and not any(map(_is_committed, facts.variant.offers)):
        names = " and ".join(sorted({group.instance for group in facts.design.servers}))
        text = f"the book has no reserved price of {names}, so none was compared"
        yield Remark(rule="no_reserved_price", stance="note", text=text, source="price book")
    on_demand = next((other for other in facts.variant.offers if other.term == "on-demand"), None)
    if _is_committed(offer) and on_demand is not None and on_demand.total_cost > offer.total_cost:
        saved = percent(1 - offer.total_cost / on_demand.total_cost)
        months = facts.need.months
        fits = "is long enough" if months == 1 else "are long enough"
        text = f"{count_text(months, 'month')} {fits} for {_term_text(offer)}, which costs {saved} less than on demand"
        whole = paid_months(facts.variant, months)
        text += f", though it is paid for {whole} months" if whole > months else ""
        source = f"{NFS_PAPER}, Expected costs: reserved for the long term"
        yield Remark(rule="long_term", stance="for", text=text, source=source)


def paid_months(variant: Variant, months: int) -> int:
    """Return the months that a variant's best offer is paid: whole terms of a commitment, else the months of need."""
    term = TERM_MONTHS.get(variant.best.term)
    return months if term is None else -(-months // term) * term


def _is_committed(offer: TermOffer) -> bool:
    return offer.term in TERM_MONTHS


def _term_text(offer: TermOffer) -> str:
    return ", ".join(word for word in (offer.term, offer.payment) if word)
