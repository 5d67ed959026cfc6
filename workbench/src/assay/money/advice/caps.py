"""Rules of thumb about clients: what they can ask for, whatever the design can do."""

from collections.abc import Iterator
from dataclasses import dataclass

from assay.model.money.design import S3, Efs
from assay.model.money.need import Need
from assay.model.units import about_size
from assay.money.advice.candidates import Variant
from assay.money.advice.rules import AWS_PAPER, BEEGFS_PAPER, PARALLEL
from assay.money.advice.words import counted, percent
from assay.money.cost.catalog import catalog
from assay.money.cost.limits import Metric

CLIENTS_PER_SERVER = 2
S3_STREAM = 30.85e6
"""Bytes per second of one stream to S3: the most that the paper's table reaches when reading."""


@dataclass(frozen=True)
class Cap:
    """A limit that the clients set, before `COMPONENT_SHARE` is taken."""

    what: str
    value: float
    text: str
    source: str


def caps(variant: Variant, metric: Metric, need: Need) -> Iterator[Cap]:
    """What the clients of a need let through, whatever the design can do."""
    for rule in (clients_per_server, s3_streams, efs_clients):
        cap = rule(variant, metric, need)
        if cap is not None:
            yield cap


def clients_per_server(variant: Variant, metric: Metric, need: Need) -> Cap | None:
    """A parallel file system needs two clients for each storage server; fewer reach a part of its network only.

    Source: BeeGFS-2016, Benchmarking: two clients for each storage server at 10 GbE.
    """
    design = variant.design
    servers = sum(group.count for group in design.servers if group.role == "storage")
    if design.family not in PARALLEL or need.clients is None or not servers or metric.endswith("_iops"):
        return None
    share = need.clients / (CLIENTS_PER_SERVER * servers)
    network = next((layer for layer in variant.limits.layers if layer.layer.startswith("network")), None)
    rate = network.keeps(metric) if network is not None else None
    if share >= 1 or rate is None:
        return None
    text = f"{need.clients} of the {CLIENTS_PER_SERVER * servers} clients that {servers} servers need: {percent(share)}"
    source = f"{BEEGFS_PAPER}, Benchmarking: two clients for each storage server at 10 GbE"
    return Cap("the number of clients", rate * share, text, source)


def s3_streams(variant: Variant, metric: Metric, need: Need) -> Cap | None:
    """S3 is for many at once: a single stream to it is slow.

    Source: AWS-2012, section IX.B: at most 30.85 MB/s of any instance; many at once did not slow each other down.
    """
    if not isinstance(variant.design.service, S3) or need.clients is None:
        return None
    streams = need.clients * need.profile.streams
    text = f"{counted(need.clients, 'client')} x {counted(need.profile.streams, 'stream')} x {about_size(S3_STREAM)}/s"
    rate = streams * S3_STREAM
    value = rate / need.profile.record if metric.endswith("_iops") else rate
    return Cap(
        "the number of streams", value, text, f"{AWS_PAPER}, IX.B: S3 (table), the highest figure of one instance"
    )


def efs_clients(variant: Variant, metric: Metric, need: Need) -> Cap | None:
    """EFS gives each client so much at most.

    Source: the catalogue's entry, which names the page of EFS.
    """
    service = variant.design.service
    if not isinstance(service, Efs) or need.clients is None or metric.endswith("_iops"):
        return None
    kind = catalog().filesystem(service.type)
    each = float(getattr(kind, "per_client", 0.0))
    text = f"{counted(need.clients, 'client')} x {about_size(each)}/s"
    return Cap("the number of clients", need.clients * each, text, kind.source) if each else None
