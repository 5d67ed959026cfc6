"""Limits that the clients set, whatever the design can do; rules of thumb with their sources."""

from collections.abc import Iterator
from dataclasses import dataclass

from assay.model.base import AssayError
from assay.model.money.design import S3, Design, Efs
from assay.model.units import about_size
from assay.money.cost.catalog import catalog
from assay.money.cost.limits import Metric
from assay.rooms.advice.model.need import Need
from assay.rooms.advice.work.candidates import Variant
from assay.rooms.advice.work.facts import BEEGFS_PAPER, PARALLEL
from assay.rooms.advice.work.texts import count_text

TEN_GIGABIT = 1.25e9
CLIENT_READ, CLIENT_WRITE = 1789e6 / 2, 1699e6 / 2
"""Bytes per second of one client with a link of 10 Gb/s: the most of two clients in the table of BeeGFS-2016."""
S3_STREAM = 85e6
"""Bytes per second of one S3 request that the S3 guide plans with."""
S3_STREAM_2012 = 30.85e6
"""The highest read rate of any instance in 2012: AWS-2012, IX.B, table of S3."""
S3_PATTERNS = "docs.aws.amazon.com/AmazonS3/latest/userguide/optimizing-performance-design-patterns.html"


@dataclass(frozen=True)
class Cap:
    """A limit that the clients set.

    Attributes:
        whole: All of the limit is expected; otherwise only the share that holds for component limits.
        assumed: What was assumed about the clients because the need does not state it; empty: nothing.
    """

    what: str
    value: float
    text: str
    source: str
    whole: bool = False
    assumed: str = ""


def caps(variant: Variant, metric: Metric, need: Need) -> Iterator[Cap]:
    """Yield the limits that the clients of a need set."""
    for rule in (parallel_clients, client_links, s3_streams, efs_clients):
        cap = rule(variant, metric, need)
        if cap is not None:
            yield cap


def client_link(need: Need) -> tuple[float, str] | None:
    """Return the bytes per second of each client's link and its name; None if the need does not state it.

    An instance has its sustained network rate of the catalogue.
    """
    if need.client is None:
        return None
    if isinstance(need.client, float):
        return need.client, f"a link of {about_size(need.client)}/s"
    try:
        rate = catalog().instance(need.client).network_baseline
    except AssayError:
        return None
    return (rate, need.client) if rate is not None else None


def client_rate(link: float, metric: Metric) -> float:
    """Return what one client of a parallel file system reads or writes over a link, in proportion to 10 Gb/s.

    Source: BeeGFS-2016, Benchmarking, results table: 2 clients of 8 servers read 1,789 MB/s and wrote 1,699 MB/s.
    """
    return (CLIENT_READ if metric == "read" else CLIENT_WRITE) * link / TEN_GIGABIT


def parallel_clients(variant: Variant, metric: Metric, need: Need) -> Cap | None:
    """Return the limit of all clients of a parallel file system on servers.

    Source: as `client_rate`.
    """
    if not _is_parallel_on_servers(variant.design) or need.clients is None or metric.endswith("_iops"):
        return None
    known = client_link(need)
    link, name = known or (TEN_GIGABIT, "10 Gb/s")
    each = client_rate(link, metric)
    text = f"{count_text(need.clients, 'client')} of {name} x {about_size(each)}/s"
    text += ", as two clients of 10 Gb/s did" if known is None else ", in proportion to two clients of 10 Gb/s"
    source = f"{BEEGFS_PAPER}, Benchmarking: 2 clients of 8 servers"
    assumed = "" if known is not None else "state `client`, its link or instance, if it has more than 10 Gb/s"
    return Cap("the clients", need.clients * each, text, source, assumed=assumed)


def _is_parallel_on_servers(design: Design) -> bool:
    """Return whether a design is a parallel file system on servers, rented or owned, as in the paper; not a service."""
    return design.family in PARALLEL and design.service is None


def client_links(variant: Variant, metric: Metric, need: Need) -> Cap | None:
    """Return the limit of the clients' links; clients of parallel file systems have their own, lower limit.

    Source: the need, or the catalogue's entry of the instance that it names.
    """
    known = client_link(need)
    if known is None or need.clients is None or not variant.design.served or _is_parallel_on_servers(variant.design):
        return None
    link, name = known
    source = "the need" if isinstance(need.client, float) else catalog().instance(str(need.client)).source
    value = need.clients * link / (need.profile.record if metric.endswith("_iops") else 1)
    text = f"{count_text(need.clients, 'client')} of {name} x {about_size(link)}/s"
    return Cap("the network of the clients", value, text, source)


def s3_streams(variant: Variant, metric: Metric, need: Need) -> Cap | None:
    """Return the limit of the number of S3 streams that the need states: a single request is slow.

    Source: the guide of S3: one concurrent request for each 85 to 90 MB/s.
    """
    service = variant.design.service
    if (
        not isinstance(service, S3)
        or catalog().object_class(service.storage_class).provider != "aws"
        or need.clients is None
        or "streams" not in need.profile.model_fields_set
    ):
        return None
    streams = need.clients * need.profile.streams
    text = (
        f"{count_text(need.clients, 'client')} x {count_text(need.profile.streams, 'stream')} x "
        f"{about_size(S3_STREAM)}/s"
    )
    rate = streams * S3_STREAM
    value = rate / need.profile.record if metric.endswith("_iops") else rate
    return Cap("the number of streams", value, text, S3_PATTERNS, whole=True)


def efs_clients(variant: Variant, metric: Metric, need: Need) -> Cap | None:
    """Return the limit of all EFS clients together, by EFS's limit for each client.

    Source: the catalogue's entry, which names the page of EFS.
    """
    service = variant.design.service
    if not isinstance(service, Efs) or need.clients is None or metric.endswith("_iops"):
        return None
    kind = catalog().filesystem(service.type)
    each = float(getattr(kind, "per_client", 0.0))
    text = f"{count_text(need.clients, 'client')} x {about_size(each)}/s"
    return Cap("the number of clients", need.clients * each, text, kind.source, whole=True) if each else None
