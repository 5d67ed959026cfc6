"""What links and disks of hosts show of data on servers: whether it crossed the network, and whether disks gave it.

The counts are of whole hosts, so that other traffic of theirs is among them.
"""

from collections.abc import Callable, Sequence
from statistics import median

from assay.judge.answer import Answer, NotEvaluated, percent
from assay.model.result.evidence import Evidence
from assay.model.result.sample import Sample
from assay.model.result.uses import HostUse, LinkUse
from assay.model.study.names import MIXES, READS, WRITES, is_counted

CROSSED_SHARE = 0.9
"""From this share of the bytes on, they came from the servers, or went there."""
LEAST_ANSWER = 80
"""Bytes on the link that a server's answer to one operation takes at least: headers of Ethernet, IP and TCP are 66."""
LOOPBACK = "lo"
UNKNOWN = "what the servers answer from their memory is not known"


def crossed(evidence: Evidence) -> bool:
    """Whether the operations were answered across the network, as the links of the hosts that asked show.

    Asked of places whose data a program or the kernel gets from elsewhere. Of each host the busiest link counts, since
    a bond and its parts carry the same bytes. The median repeat decides; repeats so short that links were not counted
    are left out.
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
        parts.append(received / (LEAST_ANSWER * _rate(sample, sample.ops)))
    if sample.read_bytes and (evidence.operation in READS or evidence.operation in MIXES):
        parts.append(received / _rate(sample, sample.read_bytes))
    if sample.write_bytes:
        parts.append(_busiest(clients, lambda link: link.sent) / _rate(sample, sample.write_bytes))
    return min(parts, default=None)


def _rate(sample: Sample, amount: int) -> float:
    return amount / (sample.elapsed_ns / 1e9)


def _clients(evidence: Evidence, sample: Sample) -> Sequence[HostUse]:
    """What the hosts did that generated the load; empty if one of them was not counted."""
    first = sample.uses[: evidence.case.parameters.hosts]
    names = {share.host for share in sample.hosts} or {use.host for use in first}
    servers = set(evidence.place.servers) if evidence.place is not None else set()
    counted = {use.host for use in first} == names and len(first) == evidence.case.parameters.hosts
    return first if counted and not servers & names else ()


def _busiest(hosts: Sequence[HostUse], way: Callable[[LinkUse], float]) -> float:
    """Bytes per second of all hosts together, of each one the link that carried most."""
    return sum(max((way(link) for link in host.links if link.name != LOOPBACK), default=0.0) for host in hosts)


def answered_by_servers(evidence: Evidence, unknown: str = UNKNOWN) -> Answer:
    """What is known of the servers' part: None where their disks moved all of it, else what is not known.

    Disks are known of servers that the target names, that were counted, and that share none with other hosts.

    Args:
        evidence: Of an operation on a target on servers.
        unknown: The answer where the disks are not known.
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
    return NotEvaluated(f"the servers' disks moved {moved} of the bytes {what}; the servers' memory had the rest")


def _disk_share(evidence: Evidence, sample: Sample, reads: bool) -> float | None:
    names = set(evidence.place.servers) if evidence.place is not None else set()
    servers = [use for use in sample.uses if use.host in names]
    asked = sample.read_bytes if reads else sample.write_bytes
    own = [disk for use in servers for disk in use.own_disks]
    if not names or len(servers) < len(names) or not asked or (not own and any(use.shared for use in servers)):
        return None
    moved = sum(disk.read if reads else disk.written for disk in own)
    return moved / _rate(sample, asked)
