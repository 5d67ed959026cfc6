"""Rules about what the machines can do, by the facts that the user states, now or when a run was imported."""

from collections.abc import Iterator, Sequence

from assay.model.study.names import WORK
from assay.model.units import format_size
from assay.rooms.importers.audit.facts import MachineFacts
from assay.rooms.importers.audit.findings import Item, RuleFinding, rate_words

MEMORY_TIMES = 2
"""iozone's documentation asks for files larger than memory; twice is what benchmarks of file systems use."""


def above_network(items: Sequence[Item], stated: MachineFacts) -> Iterator[RuleFinding]:
    """Yield rates above the links of all clients, or of the servers."""
    for item in items:
        facts, measured = stated.over(item.output.facts), item.measured
        clients = _clients(item, facts)
        if measured is None:
            continue
        is_transfer = item.result.operation == "transfer"
        if is_transfer and (_is_local(item.result.target) or item.result.target == item.output.file.host):
            continue
        # Both ways of a link carry data at once; a transfer goes one way.
        has_ways = measured.bytes and not is_transfer
        share = max(measured.read_bytes, measured.write_bytes) / measured.bytes if has_ways else 1.0
        rate = share * measured.throughput
        clients = 1 if is_transfer else clients
        links = [(facts.server_link, "the servers' links carry")]
        if facts.link and clients:
            each = f"{clients} clients" if clients > 1 else "one client"
            links.insert(0, (facts.link * clients, f"the links of {each} carry"))
        for limit, words in links:
            if limit and rate > limit:
                text = f"{rate_words(rate)} are more than {words}, {rate_words(limit)}"
                text += ": are both ways added?" if is_transfer and rate <= 2 * limit else ""
                yield RuleFinding(item, text, {"rate": rate_words(rate), "limit": rate_words(limit)})
                break


def _is_local(target: str) -> bool:
    """Return whether a transfer went through no link."""
    return target in ("localhost", "::1") or target.startswith("127.")


def _clients(item: Item, facts: MachineFacts) -> int:
    """Return on how many hosts the tool ran; 0 if neither the facts nor the output say it."""
    return facts.clients or (1 if item.parameter("hosts") == 1 else 0)


def above_devices(items: Sequence[Item], stated: MachineFacts) -> Iterator[RuleFinding]:
    """Yield rates above what the devices can do."""
    for item in items:
        facts, measured, operation = stated.over(item.output.facts), item.measured, item.result.operation
        if measured is None or operation is None:
            continue
        limit = facts.device_write if not WORK[operation].reads else facts.device_read
        if limit and measured.throughput > limit:
            text = f"{rate_words(measured.throughput)} are more than the devices can do, {rate_words(limit)}"
            yield RuleFinding(item, text, {"rate": rate_words(measured.throughput), "limit": rate_words(limit)})


def data_within_memory(items: Sequence[Item], stated: MachineFacts) -> Iterator[RuleFinding]:
    """Yield reads through the page cache of less data than twice the memory."""
    for item in items:
        facts = stated.over(item.output.facts)
        memory = (facts.memory or 0) * _clients(item, facts)
        operation, size = item.result.operation, item.parameter("file_size")
        lanes = item.parameter("lanes") or item.parameter("streams")
        if not memory or operation is None or not WORK[operation].reads or not size or not lanes:
            continue
        if item.result.parameters.get("cache") == "direct":
            continue
        data = size * (lanes if item.result.parameters.get("layout") != "shared" else 1)
        if data < MEMORY_TIMES * memory:
            text = f"{format_size(data)} of data are less than twice the clients' memory, {format_size(memory)}"
            yield RuleFinding(item, f"{text}: reads may come from it", {"data": str(data), "memory": str(memory)})
