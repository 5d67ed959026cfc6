"""Rules about what the machines can do, by the facts that the user states, now or when a run was imported."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from assay.model.study.names import WORK
from assay.model.units import format_size
from assay.rooms.importers.audit.facts import MachineFacts
from assay.rooms.importers.audit.findings import Item, RuleFinding, rate_words

MEMORY_TIMES = 2
"""iozone's documentation asks for files larger than memory; twice is what benchmarks of file systems use."""
MAX_SINGLE = 3
"""Most results of one work that have a finding each."""
NOT_FROM_MEMORY = ("direct", "drop", "evict", "remount")
"""Values of `cache` with which the clients' memory has nothing of what is read."""


class _Above(NamedTuple):
    """A result above a limit: its rate and the limit in bytes per second, what has the limit, and a further remark."""

    item: Item
    rate: float
    limit: float
    words: str
    remark: str = ""


def _alike(limits: Iterable[tuple[Item, object]]) -> list[list[Item]]:
    """Return results by output, target, workload, operation and limit, if these are many; others one by one."""
    groups: dict[tuple[object, ...], list[Item]] = defaultdict(list)
    for item, limit in limits:
        result = item.result
        groups[id(item.output), result.target, result.workload, result.operation, limit].append(item)
    return [
        part
        for members in groups.values()
        for part in ([members] if len(members) > MAX_SINGLE else [[each] for each in members])
    ]


def _many(members: Sequence[Item]) -> str:
    """Return how many results of what: `133 results of NFS reread`."""
    result = members[0].result
    which = " ".join(filter(None, (result.target, result.workload, result.operation)))
    return f"{len(members)} results{f' of {which}' if which else ''}"


def _findings(above: Iterable[_Above]) -> Iterator[RuleFinding]:
    """Yield a finding for each result above a limit, or one for many of one target, workload and operation.

    Limits are stated in round figures: what is the same in the digits that are shown is not above.
    """
    found = {id(each.item): each for each in above if rate_words(each.rate) != rate_words(each.limit)}
    for members in _alike((each.item, (each.words, each.limit)) for each in found.values()):
        greatest = max((found[id(item)] for item in members), key=lambda each: each.rate)
        numbers = {"rate": rate_words(greatest.rate), "limit": rate_words(greatest.limit)}
        text = f"are more than {greatest.words}, {numbers['limit']}"
        if len(members) == 1:
            text = f"{numbers['rate']} {text}{greatest.remark}"
        else:
            text = f"{_many(members)} {text}, the greatest {numbers['rate']}{greatest.remark}"
        yield RuleFinding(members[0], text, {**numbers}, tuple(members[1:]))


def above_network(items: Sequence[Item], stated: MachineFacts) -> Iterator[RuleFinding]:
    """Yield rates above the links of all clients, or of the servers."""
    yield from _findings(found for item in items if (found := _above_links(item, stated.over(item.output.facts))))


def _above_links(item: Item, facts: MachineFacts) -> _Above | None:
    measured, is_transfer = item.measured, item.result.operation == "transfer"
    if measured is None:
        return None
    if is_transfer and (_is_local(item.result.target) or item.result.target == item.output.file.host):
        return None
    # Both ways of a link carry data at once; a transfer goes one way. One way has at least half of a mix.
    work = WORK.get(item.result.operation or "")
    share = 0.5 if work is not None and work.reads and work.writes else 1.0
    if measured.bytes and not is_transfer:
        share = max(measured.read_bytes, measured.write_bytes) / measured.bytes
    rate = share * measured.throughput
    clients = 1 if is_transfer else _clients(item, facts)
    links = [(facts.server_link, "the servers' links carry")]
    if facts.link and clients:
        each = f"{clients} clients" if clients > 1 else "one client"
        links.insert(0, (facts.link * clients, f"the links of {each} carry"))
    for limit, words in links:
        if limit and rate > limit:
            return _Above(
                item, rate, limit, words, ": are both ways added?" if is_transfer and rate <= 2 * limit else ""
            )
    return None


def _is_local(target: str) -> bool:
    """Return whether a transfer went through no link."""
    return target in ("localhost", "::1") or target.startswith("127.")


def _clients(item: Item, facts: MachineFacts) -> int:
    """Return on how many hosts the tool ran; 0 if neither the facts nor the output say it."""
    return facts.clients or item.parameter("hosts")


def above_devices(items: Sequence[Item], stated: MachineFacts) -> Iterator[RuleFinding]:
    """Yield rates above what the devices can do."""
    yield from _findings(found for item in items if (found := _above_limit(item, stated.over(item.output.facts))))


def _above_limit(item: Item, facts: MachineFacts) -> _Above | None:
    measured, operation = item.measured, item.result.operation
    if measured is None or operation is None:
        return None
    limit = facts.device_write if not WORK[operation].reads else facts.device_read
    if not limit or measured.throughput <= limit:
        return None
    return _Above(item, measured.throughput, limit, "the devices can do")


def data_within_memory(items: Sequence[Item], stated: MachineFacts) -> Iterator[RuleFinding]:
    """Yield reads through the page cache of less data than twice the memory."""
    found = {}
    for item in items:
        facts = stated.over(item.output.facts)
        memory, data = (facts.memory or 0) * _clients(item, facts), _data_read(item)
        if 0 < data < MEMORY_TIMES * memory:
            found[id(item)] = item, data, memory
    for members in _alike((item, memory) for item, _, memory in found.values()):
        sizes = [found[id(item)][1] for item in members]
        least, most, memory = min(sizes), max(sizes), found[id(members[0])][2]
        words = format_size(least) if least == most else f"{format_size(least)} to {format_size(most)}"
        text = f"{words} of data are" if len(members) == 1 else f"{_many(members)} are of {words} of data,"
        text += f" less than twice the clients' memory, {format_size(memory)}: reads may come from it"
        yield RuleFinding(members[0], text, {"data": str(most), "memory": str(memory)}, tuple(members[1:]))


def _data_read(item: Item) -> int:
    """Return how many bytes a result read through the page cache; 0 if it is not known, or nothing."""
    operation, size = item.result.operation, item.parameter("file_size")
    lanes = item.parameter("streams") or item.parameter("lanes") * max(1, item.parameter("hosts"))
    if operation is None or not WORK[operation].reads or item.result.parameters.get("cache") in NOT_FROM_MEMORY:
        return 0
    return size * (lanes if item.result.parameters.get("layout") != "shared" else min(1, lanes))
