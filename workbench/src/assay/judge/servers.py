"""Evidence about data on servers from links and disks: whether it crossed the network, and whether disks supplied it.

The counts are of whole hosts and include their other traffic.
"""

from collections.abc import Callable, Sequence
from statistics import median

from assay.judge.answer import Answer, NotEvaluated, percent
from assay.model.result.evidence import Evidence
from assay.model.result.host_use import HostUse, LinkUse
from assay.model.result.sample import Sample
from assay.model.study.names import MIXES, READS, WRITES, is_counted

CROSSED_SHARE = 0.9
"""At or above this share of the bytes, the data came from the servers, or went there."""
MIN_ANSWER_BYTES = 80
"""Least bytes on the link of a server's answer to one operation: headers of Ethernet, IP and TCP are 66."""
UNKNOWN = "how much the servers answer from memory is not known"


def crossed_network(evidence: Evidence) -> bool:
    """Whether the operations were answered across the network, as the links of the client hosts show.

    This is checked where a program or the kernel gets the data from elsewhere. For each host the busiest link counts,
    since a bond and its parts carry the same bytes. The median repeat decides; repeats too short to count links are
    left out.
    """
    if not any(layer.kind in ("program", "network") for layer in evidence.layers):
        return False
    shares = [share for sample in evidence.usable if (share := _crossed_share(evidence, sample)) is not None]
    return bool(shares) and median(shares) >= CROSSED_SHARE


def _crossed_share(evidence: Evidence, sample: Sample) -> float | None:
    clients = _clients(evidence, sample)
    if not clients or sample.elapsed_ns <= 0:
        return None
    received = _busiest(clients, lambda link: link.received)
    parts = []
    if is_counted(evidence.operation) and sample.ops:
        parts.append(received / (MIN_ANSWER_BYTES * _rate(sample, sample.ops)))
    if sample.read_bytes and (evidence.operation in READS or evidence.operation in MIXES):
        parts.append(received / _rate(sample, sample.read_bytes))
    if sample.write_bytes:
        parts.append(_busiest(clients, lambda link: link.sent) / _rate(sample, sample.write_bytes))
    return min(parts, default=None)


def _rate(sample: Sample, amount: int) -> float:
    return amount / (sample.elapsed_ns / 1e9)


def _clients(evidence: Evidence, sample: Sample) -> Sequence[HostUse]:
    """Return what the load generating hosts did; empty if one of them was not counted."""
    first = sample.uses[: evidence.case.parameters.hosts]
    names = {share.host for share in sample.hosts} or {use.host for use in first}
    servers = set(evidence.place.servers) if evidence.place is not None else set()
    counted = {use.host for use in first} == names and len(first) == evidence.case.parameters.hosts
    return first if counted and not servers & names else ()


def _busiest(hosts: Sequence[HostUse], way: Callable[[LinkUse], float]) -> float:
    """Return the bytes per second of all hosts together, counting for each host the link that carried most."""
    return sum(max(map(way, host.outer_links), default=0.0) for host in hosts)


def answered_by_servers(evidence: Evidence, unknown: str = UNKNOWN) -> Answer:
    """Return None if the servers' disks moved all of the data, else what is unknown about the servers' part.

    Disks are known for servers that the target names, that were counted, and that share none with other hosts.

    Args:
        evidence: Evidence for an operation on a target on servers.
        unknown: The reason to return where the disks are not known.
    """
    reads = evidence.operation in READS
    if not reads and evidence.operation not in WRITES:
        return NotEvaluated(unknown)
    shares = [share for sample in evidence.usable if (share := _disk_share(evidence, sample, reads)) is not None]
    if not shares:
        return NotEvaluated(unknown)
    if median(shares) >= CROSSED_SHARE:
        return None
    what = "read" if reads else "written"
    moved = percent(median(shares))
    return NotEvaluated(f"the servers' disks moved {moved} of the bytes {what}; the rest was in the servers' memory")


def _disk_share(evidence: Evidence, sample: Sample, reads: bool) -> float | None:
    names = set(evidence.place.servers) if evidence.place is not None else set()
    servers = [use for use in sample.uses if use.host in names]
    requested = sample.read_bytes if reads else sample.write_bytes
    own = [disk for use in servers for disk in use.own_disks]
    if not names or len(servers) < len(names) or not requested or (not own and any(use.shared for use in servers)):
        return None
    moved = sum(disk.read if reads else disk.written for disk in own)
    return moved / _rate(sample, requested)
