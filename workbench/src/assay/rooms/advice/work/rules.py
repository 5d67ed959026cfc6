"""Rules of thumb: recommendations of papers and providers, each with its source.

A rule looks at one variant and one need. It excludes the variant (a failed `Check`), speaks for or against it (a
`Remark`), or yields nothing. Measurements of the same variant, and figures of the design or the catalogue, override a
rule about rates, capacity or clients; the rule is then a remark with its year.
"""

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal

from assay.model.money.catalog import LustreType
from assay.model.money.design import S3, Design, DynamoDb, FsxLustre, Managed
from assay.model.units import about_size
from assay.money.cost.catalog import catalog
from assay.money.cost.limits import Metric
from assay.rooms.advice.model.advice import ExpectedFigure, Outcome, Remark, RequirementCheck
from assay.rooms.advice.model.need import Need
from assay.rooms.advice.work.facts import (
    AOE_PAPER,
    ARRAY_PAPER,
    AWS_PAPER,
    BEEGFS_PAPER,
    NFS_PAPER,
    PARALLEL,
    RuleInput,
    RuleResult,
    failed_check,
)
from assay.rooms.advice.work.features import FEATURE_RULES
from assay.rooms.advice.work.hints import HINTS, provisioned_2012
from assay.rooms.advice.work.plausible import LIKELY, small_file_range
from assay.rooms.advice.work.requirements import REQUIREMENT_RULES
from assay.rooms.advice.work.terms import long_term, spot
from assay.rooms.advice.work.texts import amount, count_text, percent, seconds
from assay.rooms.advice.work.traffic import SIDES, active_share, monthly_traffic
from assay.rooms.advice.work.warnings import (
    both_at_once,
    doubtful_prices,
    growth,
    old_prices,
    requests_unknown,
    switch_ports,
    volume_loss,
)

NFS_CAPACITY, NFS_RATE, NFS_CLIENTS = 48 * 2**40, 1e9, 32
AOE_WRITE_SHARE = 0.1
MAX_NFS_CLIENTS = 10 * NFS_CLIENTS
"""Clients of one NFS server from which their number is in doubt whatever they read and write: ten times the rule."""
AOE_WRITE = 11e6
LINK_ROUND_TRIP = 1.82e-3
SECOND_LINK = 0.3
LARGE_TRANSFER = 10**6


def nfs_small(facts: RuleInput) -> Iterator[RuleResult]:
    """Check one NFS server against the advice for less than 48 TiB, 1 GB/s and 32 clients; several servers share these.

    The advice is of 2016: a figure of the design or the catalogue overrides it. Too many clients make it unproven, not
    failed.
    Source: NFS-2016, NFS.
    """
    if facts.design.family != "nfs" and not (
        facts.design.family in ("beegfs", "orangefs") and facts.storage_server_count == 1
    ):
        return
    need, source = facts.need, f"{NFS_PAPER}, NFS: below 48 TiB, 1 GB/s and 32 clients"
    clients = None if need.clients is None else -(-need.clients // facts.storage_server_count)
    capacity = need.capacity / facts.storage_server_count
    if capacity >= NFS_CAPACITY and facts.variant.limits.usable >= need.capacity:
        text = f"in 2016 one NFS server was for less than 48 TiB; each holds {about_size(capacity)} here"
        yield Remark(rule="nfs_small", stance="against", text=text, source=source)
    for metric in SIDES:
        wanted = getattr(need, metric)
        if wanted is not None and wanted / facts.storage_server_count >= NFS_RATE:
            yield _nfs_rate(facts, metric, wanted, source)
    if clients is not None and clients >= NFS_CLIENTS and facts.measured_clients < (need.clients or 0):
        yield _many_nfs_clients(clients, source)
    if clients is not None and clients < NFS_CLIENTS and capacity < NFS_CAPACITY:
        each = (
            "one NFS server is"
            if facts.storage_server_count == 1
            else f"each of {facts.storage_server_count} NFS servers is"
        )
        text = f"{about_size(capacity)} and {count_text(clients, 'client')} are within what {each} for"
        yield Remark(rule="nfs_small", stance="for", text=text, source=source)


def _many_nfs_clients(clients: int, source: str) -> RuleResult:
    """Return the result for more clients of each server than the rule: a remark; unproven for very many.

    What they read and write together is a requirement of its own.
    """
    text = f"in 2016 one NFS server was for fewer than 32 clients; each has {clients} here"
    if clients < MAX_NFS_CLIENTS:
        return Remark(rule="nfs_small", stance="against", text=text, source=source)
    return RequirementCheck(
        requirement="clients",
        outcome="unproven",
        chance=(MAX_NFS_CLIENTS - 1) / clients,
        share=(MAX_NFS_CLIENTS - 1) / clients,
        text=f"{text}: measure with this number",
        rule="nfs_small",
        source=source,
    )


def _nfs_rate(facts: RuleInput, metric: Metric, wanted: float, source: str) -> RuleResult:
    """Return the result for a rate above the rule: a measured or stated rate overrides it; without one it excludes."""
    figure, each = facts.figures[metric], amount(metric, wanted / facts.storage_server_count)
    if figure.basis == "measured":
        text = f"{metric} was measured, which overrides the rule of 2016 that one NFS server is for less than 1 GB/s"
        return Remark(rule="nfs_small", stance="note", text=text, source=figure.source)
    if figure.basis == "rule" and figure.value is not None:
        text = (
            f"in 2016 one NFS server was for less than 1 GB/s; each must {metric} {each} here, and by the figures of "
        )
        text += f"the design all do {amount(metric, figure.value)}"
        return Remark(rule="nfs_small", stance="note", text=text, source=f"{source}; {figure.source}")
    limit = facts.variant.limits.sustained(metric)
    if facts.need.profile.small_files and limit is not None and limit >= wanted:
        # What small files leave of it is a check of its own.
        text = f"in 2016 one NFS server was for less than 1 GB/s; each must {metric} {each} here, and the parts of all "
        return Remark(rule="nfs_small", stance="note", text=f"{text}carry {amount(metric, limit)}", source=source)
    text = f"in 2016 one NFS server was for less than 1 GB/s, and no figure of this one shows more; {each} are needed"
    return failed_check(metric, "nfs_small", text, source, NFS_RATE * facts.storage_server_count / wanted)


def one_host(facts: RuleInput) -> Iterator[RuleResult]:
    """Exclude disks that are used on their own instance if there are several clients, or the client is another one.

    Source: the design itself: `served: false`.
    """
    clients = facts.need.clients
    if not facts.design.served and clients is not None and clients > 1:
        text = f"only the instance itself can use it; the need has {clients} clients"
        yield failed_check("clients", "one_host", text, f"design {facts.variant.template}", 1 / clients)
    client = facts.need.client
    if facts.design.served or not isinstance(client, str):
        return
    hosts = [group.instance for group in facts.design.servers]
    if client not in hosts:
        text = f"it is used on {' and '.join(hosts)}; the client is {client}"
        yield failed_check("clients", "one_host", text, f"design {facts.variant.template}")


def instance_store(facts: RuleInput) -> Iterator[RuleResult]:
    """Exclude storage that survives no failure for persistent data without an archive.

    Source: NFS-2016, Instance-store backed storage, and Which option is best for me.
    """
    if facts.design.durability != "scratch":
        return
    source = f"{NFS_PAPER}, Which option is best for me: non-critical data, with an archive elsewhere"
    if facts.need.data == "persistent" and not facts.need.archive:
        text = "its data survives no failure; the need says persistent and names no archive"
        yield failed_check("data", "instance_store", text, source)
    elif facts.need.data == "persistent":
        text = "its data survives no failure: it must be restored from the archive afterwards"
        yield Remark(rule="instance_store", stance="against", text=text, source=source)
    else:
        text = "the data is scratch, so storage that survives no failure is acceptable"
        yield Remark(rule="instance_store", stance="for", text=text, source=source)
    if facts.need.duty < 1:
        text = f"switched on {percent(facts.need.duty)} of the time: the data must be loaded again after each stop"
        yield Remark(rule="instance_store", stance="against", text=text, source=source)


def volumes_for_integrity(facts: RuleInput) -> Iterator[RuleResult]:
    """Yield that volumes suit persistent data; important data must still be archived.

    Source: NFS-2016, Which option is best for me.
    """
    if facts.need.data == "persistent" and any(group.volumes for group in facts.design.servers):
        text = "the data is persistent: volumes are replicated in their zone and outlive the server"
        text += "" if facts.need.archive else "; take snapshots, and archive what matters"
        source = f"{NFS_PAPER}, Which option is best for me: volumes where integrity and resilience matter"
        yield Remark(rule="volumes_for_integrity", stance="for", text=text, source=source)


def _hard_disks_inside(facts: RuleInput) -> Iterator[RuleResult]:
    """Exclude instances with local hard disks for random access."""
    if facts.need.profile.pattern != "random" or _random_measured(facts):
        return
    for name in sorted({group.instance for group in facts.design.servers if group.local and group.role == "storage"}):
        instance = catalog().instance(name)
        if any(disks.kind == "hdd" for disks in instance.disks):
            text = f"{name} has hard disks, which are for streams; access is random, "
            text += f"in records of {about_size(facts.need.profile.record)}"
            yield failed_check("profile", "volume_types", text, instance.source)


def _unguaranteed_rates(facts: RuleInput) -> Iterator[RuleResult]:
    """Yield that a service's rates of random access are in doubt, by its entry in the catalogue."""
    service = facts.design.service
    if facts.need.profile.pattern != "random" or not isinstance(service, Managed) or _random_measured(facts):
        return
    kind = catalog().managed(service.type)
    if kind.unguaranteed:
        yield RequirementCheck(
            requirement="profile",
            outcome="unproven",
            chance=LIKELY,
            text=f"{kind.unguaranteed}; access is random, in records of {about_size(facts.need.profile.record)}",
            rule="volume_types",
            source=kind.source,
        )


def volume_types(facts: RuleInput) -> Iterator[RuleResult]:
    """Check the volume type: st1 for NFS streams, SSD volumes for databases, sc1 for cold data.

    Source: NFS-2016, EBS backed storage: Architecture.
    """
    source = f"{NFS_PAPER}, EBS Architecture: st1 for NFS, gp2 and io1 for databases, sc1 for cold data"
    profile = facts.need.profile
    service = facts.design.service
    if isinstance(service, FsxLustre) and profile.pattern == "random":
        kind_of = catalog().filesystem(service.type)
        if isinstance(kind_of, LustreType) and kind_of.media == "hdd" and not _random_measured(facts):
            text = f"{kind_of.name} has hard disks, which are for streams; access is random, "
            text += f"in records of {about_size(profile.record)}"
            yield failed_check("profile", "volume_types", text, f"{source}; likewise for {kind_of.source}")
    yield from _hard_disks_inside(facts)
    yield from _unguaranteed_rates(facts)
    for kind in sorted({group.volumes.type for group in facts.design.servers if group.volumes}):
        if profile.pattern == "random" and kind in ("st1", "sc1"):
            if not _random_measured(facts):
                text = f"{kind} volumes are for streams; access is random, in records of {about_size(profile.record)}"
                yield failed_check("profile", "volume_types", text, source)
        elif kind == "sc1" and not profile.cold:
            text = "sc1 volumes are for cold data, and the need does not set `cold`"
            yield failed_check("profile", "volume_types", text, source)
        elif kind == "sc1" or (kind == "st1" and facts.design.family == "nfs"):
            word = "the data is cold" if kind == "sc1" else "access is sequential, over NFS"
            yield Remark(rule="volume_types", stance="for", text=f"{word}, which is what {kind} is for", source=source)
        elif profile.pattern == "random":
            text = f"access is random, which is what SSD volumes such as {kind} are for"
            yield Remark(rule="volume_types", stance="for", text=text, source=source)


def scratch_is_temporary(facts: RuleInput) -> Iterator[RuleResult]:
    """Yield that scratch is temporary: results must be copied to object or protected storage.

    Source: BeeGFS-2016, How do I keep my data safe.
    """
    if facts.design.durability == "scratch" and facts.need.data == "scratch":
        source = f"{BEEGFS_PAPER}, How do I keep my data safe: scratch is temporary"
        text = "scratch is temporary: copy results to object storage or a protected file system before it stops"
        yield Remark(rule="scratch_is_temporary", stance="note", text=text, source=source)


def larger_transfers(facts: RuleInput) -> Iterator[RuleResult]:
    """Yield a remark on small records on shared file systems: larger transfers have less overhead.

    Source: AWS-2012, IX.C; threshold of variability 1 MB.
    """
    if "file" in facts.design.access and facts.design.served and facts.need.profile.pattern == "sequential":
        record = facts.need.profile.record
        if record < LARGE_TRANSFER:
            text = f"records of {about_size(record)} are below 1 MB, where throughput falls and varies: transfer more"
            source = f"{AWS_PAPER}, IX.C: larger transfer sizes"
            yield Remark(rule="larger_transfers", stance="against", text=text, source=source)


def s3_concurrency(facts: RuleInput) -> Iterator[RuleResult]:
    """Yield that S3 suits many concurrent streams.

    Source: AWS-2012, IX.B.
    """
    service = facts.design.service
    if not isinstance(service, S3):
        return
    need = facts.need
    if need.clients is not None and need.clients * need.profile.streams > 1:
        streams = need.clients * need.profile.streams
        text = f"{streams:,} streams at once, which do not slow each other down"
        yield Remark(rule="s3_concurrency", stance="for", text=text, source=f"{AWS_PAPER}, IX.B")


def archive_classes(facts: RuleInput) -> Iterator[RuleResult]:
    """Exclude classes whose first byte takes minutes or hours for data that must be read at once.

    Unless it is cold, that is all data without a recovery time; with one it is what is in use, if the need states that
    (`active`). Of cold data it is what is in use and read more than once a month.
    Source: the catalogue's entry of the class.
    """
    service = facts.design.service
    if not isinstance(service, S3):
        return
    cold = service.cold_share if service.cold_class is not None else Decimal(0)
    # A copy is read when the rest is lost: then all of it is as cold as the least used.
    parts = ((service.storage_class, 1 - cold), (service.cold_class, cold), (service.copy_class, Decimal(0)))
    for name, share in parts:
        kind = catalog().object_class(name) if name and (share or name == service.copy_class) else None
        if kind is None or not kind.retrieval_seconds:
            continue
        why = _why_read_at_once(facts, share)
        if why:
            text = f"reading from {kind.name} begins {kind.retrieval}, and {why}"
            yield failed_check("profile", "archive_classes", text, kind.source)


def _why_read_at_once(facts: RuleInput, share: Decimal) -> str:
    """Return why a share of the bytes, the least used ones, must be read at once; empty: it may be restored first."""
    need = facts.need
    if not need.profile.cold and need.recovery is None:
        return "the need does not set `cold` or `recovery`"
    if need.active is None or need.active <= 1 - share:
        return ""
    if not need.profile.cold:
        return f"{percent(need.active)} is in use (`active`), which must be read at once"
    return "what is in use (`active`) is read more than once a month" if _is_read_again(facts) else ""


def _is_read_again(facts: RuleInput) -> bool:
    """Return whether the active data are read more than once a month, so that restoring them each time is no use."""
    need, hours = facts.need, facts.variant.best.cost.hours_per_month
    return bool(need.active) and monthly_traffic(need, "read", hours).size_bytes > active_share(need) * need.capacity


def tape_waits(facts: RuleInput) -> Iterator[RuleResult]:
    """Exclude tape except for rare reads in long streams: a cartridge must be fetched, and the drive must wind.

    Source: the design; linear tape.
    """
    if facts.design.family != "tape":
        return
    need, source = facts.need, f"design {facts.variant.template}"
    begins = "reading begins after a cartridge was fetched and wound"
    if need.p99 is not None or need.read_iops is not None or need.profile.pattern == "random":
        text = "it reads in long streams after a cartridge was fetched and wound; single operations are not practical"
        yield failed_check("profile", "tape_waits", text, source)
    elif why := _why_read_at_once(facts, Decimal(1)):
        yield failed_check("profile", "tape_waits", f"{begins}, and {why}", source)
    if facts.design.copies < 2 and need.durability not in (None, "scratch"):
        text = "each byte is on one cartridge only, and is lost with it"
        yield failed_check("durability", "tape_waits", text, source)


def small_files(facts: RuleInput) -> Iterator[RuleResult]:
    """Check small files a second by what their round trips plausibly allow all clients together.

    Source: `small_file_range`.
    """
    wanted = facts.need.profile.file_rate
    if wanted is None:
        return
    found = small_file_range(facts.design, "read_iops", facts.need)
    needed, source = f"{wanted:,.0f} small files/s are needed", f"design {facts.variant.template}"
    if found is None:
        text = f"how many small files a second it does is not known; {needed}: measure it"
        yield RequirementCheck(requirement="small_files", outcome="unproven", text=text, source=source)
        return
    chance = found.share_above(wanted)
    text = f"plausible are {found.low:,.0f} to {found.high:,.0f} small files/s ({found.basis}); {needed}"
    outcome: Outcome = "met" if chance == 1 else "unproven" if chance else "failed"
    yield RequirementCheck(
        requirement="small_files",
        outcome=outcome,
        chance=chance if outcome == "unproven" else None,
        share=min(1.0, found.high / wanted),
        text=text,
        source="plausible ranges",
    )


def table_items(facts: RuleInput) -> Iterator[RuleResult]:
    """Exclude tables if a record is larger than the largest item.

    Source: the catalogue's entry of the table.
    """
    if isinstance(facts.design.service, DynamoDb):
        kind, record = catalog().table("dynamodb"), facts.need.profile.record
        if record > kind.largest_item:
            text = f"items of {about_size(record)} exceed the item limit of {about_size(kind.largest_item)}"
            yield failed_check("profile", "table_items", text, kind.source, kind.largest_item / record)


def aoe_profile(facts: RuleInput) -> Iterator[RuleResult]:
    """Check that AoE is mostly read, or accessed at random; it is not for serving files or keeping backups.

    A write rate stated by the design overrides the paper of 2007.
    Source: AoE-2007, section 7: sequential writes of large files at 11 MB/s.
    """
    if facts.design.family != "aoe":
        return
    profile, source = facts.need.profile, f"{AOE_PAPER}, section 7"
    written = 1 - float(profile.read_share)
    many = profile.pattern == "sequential" and written > AOE_WRITE_SHARE
    if many and not facts.is_measured("write"):
        text = f"{percent(written)} is written sequentially, which in 2007 fell to 11 MB/s over AoE"
        is_stated = "read_share" in profile.model_fields_set or (facts.need.write or 0.0) > AOE_WRITE
        if _states_writes(facts.design) or not is_stated:
            yield Remark(rule="aoe_profile", stance="against", text=text, source=source)
        else:
            yield failed_check("profile", "aoe_profile", text, source)
    else:
        word = "random" if profile.pattern == "random" else f"{percent(profile.read_share)} reading"
        yield Remark(rule="aoe_profile", stance="for", text=f"access is {word}, which AoE is for", source=source)


def _states_writes(design: Design) -> bool:
    """Return whether the design states its write rate, with another source than the paper."""
    stated = [*design.limits, *(piece for piece in design.hardware if piece.usable)]
    return any(item.write is not None and AOE_PAPER not in item.source for item in stated)


def second_link(facts: RuleInput) -> Iterator[RuleResult]:
    """Yield that a second leased line carries growth: 30 to 100 % need one. The rates themselves are checked elsewhere.

    Source: PowerScale-2020, sections 4.3 and 4.6.
    """
    link, need = facts.design.link, facts.need
    if link is not None and link.count > 1 and float(need.growth) >= SECOND_LINK:
        source = f"{ARRAY_PAPER}, 4.3 and 4.6: a second link for 30 to 100 % of growth"
        text = f"{link.count} lines carry {percent(need.growth)} of growth"
        yield Remark(rule="second_link", stance="for", text=text, source=source)


def close_data_centre(facts: RuleInput) -> Iterator[RuleResult]:
    """Check the round trip of a leased line: the data centre must be close to the region.

    Source: PowerScale-2020, section 9.3: pings of 1.82 to 2.33 ms next to the region, 87 ms abroad.
    """
    if facts.design.link is None:
        return
    source = f"{ARRAY_PAPER}, 9.3; pings in 2.3.2 and 5.3.2"
    wanted = facts.need.p99
    if wanted is not None and wanted < LINK_ROUND_TRIP and not facts.is_measured("read_p99"):
        text = f"in 2020 the round trip over a leased line was {seconds(LINK_ROUND_TRIP)} or more; "
        text += f"{seconds(wanted)} are needed"
        yield failed_check("p99", "close_data_centre", text, source, wanted / LINK_ROUND_TRIP)
    else:
        text = "take a data centre next to the region: 1.82 to 2.33 ms of round trip there, 87 ms from another country"
        yield Remark(rule="close_data_centre", stance="note", text=text, source=source)


AdviceRule = Callable[[RuleInput], Iterator[RuleResult]]

EXCLUDING_RULES: tuple[AdviceRule, ...] = (
    nfs_small,
    one_host,
    instance_store,
    spot,
    volume_types,
    s3_concurrency,
    archive_classes,
    tape_waits,
    table_items,
    aoe_profile,
    close_data_centre,
    volume_loss,
    provisioned_2012,
    small_files,
    *FEATURE_RULES,
    *REQUIREMENT_RULES,
)
"""Rules about single variants that may exclude; `saturated_nfs` compares variants, `caps` has rules for rates."""

REMARK_RULES: tuple[AdviceRule, ...] = (
    volumes_for_integrity,
    long_term,
    scratch_is_temporary,
    larger_transfers,
    second_link,
    requests_unknown,
    growth,
    both_at_once,
    switch_ports,
    *HINTS,
    old_prices,
    doubtful_prices,
)
"""Rules that only give remarks, applied to variants that are shown."""


def saturated_nfs(design: Design, need: Need, nfs: Mapping[str, float]) -> Remark | None:
    """Return a remark for a parallel file system if one NFS server is saturated; None if it is not.

    Source: BeeGFS-2016, What is a parallel filesystem.

    Args:
        design: The design to consider.
        need: The requirements.
        nfs: Metric -> the highest expected rate of one NFS server among the candidates.
    """
    paper = f"{BEEGFS_PAPER}, What is a parallel filesystem: for more throughput than one NFS server has"
    for metric in ("read", "write"):
        wanted = getattr(need, metric)
        limit = nfs.get(metric, NFS_RATE)
        if design.family in PARALLEL and wanted is not None and wanted >= limit:
            text = (
                f"one NFS server saturates at {amount(metric, limit)}; {amount(metric, wanted)} are needed ({metric})"
            )
            own = "" if limit == NFS_RATE else "; the figure: the best NFS server that was tried"
            return Remark(rule="saturated_nfs", stance="for", text=text, source=f"{paper}{own}")
    return None


_NOTHING = ExpectedFigure(metric="", value=None, basis="unknown", how="", source="")


def _random_measured(facts: RuleInput) -> bool:
    return any(facts.is_measured(metric) for metric in ("read", "read_iops", "write_iops"))
