"""Recommendations of papers: remarks with numbers, source and year, which exclude nothing that can be built."""

import datetime as dt
from collections.abc import Callable, Iterator
from contextlib import suppress
from decimal import Decimal

from assay.model.base import AssayError
from assay.model.money.amount import format_money
from assay.model.money.design import S3
from assay.model.money.volumes import ProvisionedVolume
from assay.model.units import about_number, about_size
from assay.money.cost.bill import volume_count, volume_size
from assay.money.cost.catalog import catalog
from assay.rooms.advice.model.advice import Remark
from assay.rooms.advice.work.caps import S3_STREAM_2012, client_link, client_rate
from assay.rooms.advice.work.facts import (
    AOE_PAPER,
    ARRAY_PAPER,
    AWS_PAPER,
    BEEGFS_PAPER,
    PARALLEL,
    RuleInput,
    RuleResult,
    failed_check,
)
from assay.rooms.advice.work.texts import amount, count_text

CLIENTS_PER_SERVER = 2
GB, GIGABIT = 10**9, 1.25e8
IOPS_PER_GB, IOPS_MIN, IOPS_MAX = 10, 100, 1000
"""Provisioned IOPS of a volume in 2012."""
END_OF_2012 = dt.date(2012, 12, 31)
LUSTRE = frozenset({"fsx-lustre", "lustre"})


def clients_per_server(facts: RuleInput) -> Iterator[RuleResult]:
    """Yield a remark if a parallel file system has fewer than two clients for each storage server.

    Source: BeeGFS-2016, Benchmarking: two clients for each storage server at 10 GbE.
    """
    servers, clients = facts.storage_server_count, facts.need.clients
    parallel = facts.design.family in PARALLEL and facts.design.service is None
    if parallel and clients is not None and clients < CLIENTS_PER_SERVER * servers:
        text = (
            f"{count_text(clients, 'client')} for {count_text(servers, 'server')}: in 2016 two for each "
            "server at 10 Gb/s "
        )
        text += "gave the highest rate"
        source = f"{BEEGFS_PAPER}, Benchmarking: two clients for each storage server at 10 GbE"
        yield Remark(rule="clients_per_server", stance="note", text=text, source=source)


def client_choice(facts: RuleInput) -> Iterator[RuleResult]:
    """Yield which network the clients need, and whether one client can saturate an NFS server.

    Source: AWS-2012, VIII.C: m1.medium as the cost-efficient client, m1.xlarge as the server of NFS.
    """
    need, clients = facts.need, facts.need.clients
    rates = [rate for rate in (need.read, need.write) if rate is not None]
    if "file" not in facts.design.access or not facts.design.served or clients is None or not rates:
        return
    source = f"{AWS_PAPER}, VIII.C: m1.medium as the cost-efficient client, m1.xlarge as the NFS server"
    each, known = max(rates) / clients, client_link(need)
    if known is None:
        link = each / client_rate(1.0, "read" if need.read == max(rates) else "write") / GIGABIT
        text = (
            f"each of {count_text(clients, 'client')} carries {about_size(each)}/s: take the cheapest instance whose "
        )
        text += f"network keeps {about_number(link, 2)} Gb/s, by what a client of 10 Gb/s reached in 2016"
        text += _cheapest_client(facts, link * GIGABIT)
        yield Remark(rule="client_choice", stance="note", text=text, source=f"{source}; {BEEGFS_PAPER}, Benchmarking")
        return
    for layer in facts.variant.limits.layers:
        link_rate = layer.sustained("read")
        if facts.design.family != "nfs" or clients == 1 or not layer.layer.startswith("network") or link_rate is None:
            continue
        if link_rate / facts.storage_server_count <= known[0]:
            text = f"one client with {known[1]} can fill the network of a server ({about_size(link_rate)}/s): take a "
            text += "server with a faster network than its clients"
            yield Remark(rule="client_choice", stance="against", text=text, source=f"{source}; {layer.source}")


def _cheapest_client(facts: RuleInput, link: float) -> str:
    """Return the cheapest instance of the book with this sustained network rate, in words; empty if there is none."""
    found = []
    for row in facts.variant.prices.book.rows:
        if (row.dimension, row.term) == ("instance", "on-demand"):
            with suppress(AssayError):
                if (catalog().instance(row.item).network_baseline or 0.0) >= link:
                    found.append((row.cost(Decimal(1)), row.item))
    if not found:
        return ""
    price, name = min(found)
    return f": {name}, {format_money(price, facts.variant.best.cost.currency)} an hour on demand"


def nic_per_disk(facts: RuleInput) -> Iterator[RuleResult]:
    """Yield how to make AoE faster: a network card for each disk, then faster disks, other file systems, raw devices.

    Source: AoE-2007, section 7.
    """
    if facts.design.family != "aoe":
        return
    storage = [piece for piece in facts.design.hardware if piece.usable]
    cards = [piece for piece in facts.design.hardware if not piece.usable and piece.read is not None]
    for piece in storage:
        wire = sum(card.count * (card.read or 0.0) for card in cards) / piece.count if cards else piece.read
        if wire is None or (cards and piece.read is not None and wire >= piece.read):
            continue
        disks = f" for disks of {amount('read', piece.read)}" if cards and piece.read is not None else " for its disks"
        text = (
            f"each server has {amount('read', wire)} of network{disks}: one network card for each disk avoids a shared "
            "link; "
        )
        text += "then faster disks, XFS for large files, Reiser3 for small ones, or raw devices"
        yield Remark(rule="nic_per_disk", stance="note", text=text, source=f"{AOE_PAPER}, section 7")


def stripe_targets(facts: RuleInput) -> Iterator[RuleResult]:
    """Yield that files of Lustre must be striped over several object storage targets, which takes administration.

    Source: PowerScale-2020, 9.2.
    """
    need = facts.need
    rates = [rate for rate in (need.read, need.write) if rate is not None]
    if facts.design.family in LUSTRE and need.profile.pattern == "sequential" and rates:
        streams = (need.clients or 1) * need.profile.streams
        text = f"stripe files over several storage targets (OST): {count_text(streams, 'stream')} of "
        text += (
            f"{about_size(max(rates) / streams)}/s each must spread over {about_size(facts.variant.limits.usable)}, "
        )
        text += "and a file on one target has the rate of that one"
        source = f"{ARRAY_PAPER}, 9.2: AWS recommends striping files over several OSTs"
        yield Remark(rule="stripe_targets", stance="note", text=text, source=source)


def provisioned_2012(facts: RuleInput) -> Iterator[RuleResult]:
    """Check provisioned IOPS against the limits of 2012: at most 10 for each GB, and 100 to 1,000 in all.

    Only variants with prices of that time are excluded; for present ones the catalogue has the limits.
    Source: AWS-2012, IX.A.
    """
    source = f"{AWS_PAPER}, IX.A: 100 to 1000 IOPS, and 10 for each GB"
    for group in facts.design.servers:
        volumes = group.volumes
        if volumes is None or volumes.iops is None:
            continue
        kind = catalog().volume(volumes.type)
        if not isinstance(kind, ProvisionedVolume) or not kind.name.startswith("io"):
            continue
        size = volume_size(volumes) / GB
        most = min(IOPS_MAX, IOPS_PER_GB * size)
        limits = f"in 2012 a volume of {size:,.0f} GB had {IOPS_MIN} to {most:,.0f} provisioned IOPS"
        dates = [row.date for row in facts.variant.best.cost.rows if row.dimension.startswith("volume") and row.date]
        if dates and max(dates) <= END_OF_2012 and not IOPS_MIN <= volumes.iops <= most:
            text = (
                f"{limits}; {count_text(volume_count(volumes), 'volume')} of {volumes.iops:,} are "
                "required, at prices of 2012"
            )
            yield failed_check("read_iops", "provisioned_2012", text, source, most / volumes.iops)
        elif volumes.iops > most:
            text = f"{limits}; the catalogue's limit of {kind.name} is {kind.max_iops(volume_size(volumes)):,}"
            yield Remark(rule="provisioned_2012", stance="note", text=text, source=f"{source}; {kind.source}")


def slow_streams_2012(facts: RuleInput) -> Iterator[RuleResult]:
    """Yield a remark if each S3 stream must carry more than any stream did in 2012.

    Source: AWS-2012, IX.B, table of S3.
    """
    need = facts.need
    if not isinstance(facts.design.service, S3) or need.read is None or need.clients is None:
        return
    each = need.read / (need.clients * need.profile.streams)
    if each > S3_STREAM_2012:
        text = f"each stream must read {about_size(each)}/s; in 2012 no stream of any instance read more than "
        text += f"{about_size(S3_STREAM_2012)}/s: measure one, or take more streams"
        yield Remark(rule="slow_streams_2012", stance="against", text=text, source=f"{AWS_PAPER}, IX.B: S3 (table)")


HINTS: tuple[Callable[[RuleInput], Iterator[RuleResult]], ...] = (
    clients_per_server,
    client_choice,
    nic_per_disk,
    stripe_targets,
    slow_streams_2012,
)
"""Rules that only give remarks; `provisioned_2012` may exclude."""
