"""Rules about what the machines can do, by the facts that the user states."""

from collections.abc import Iterator, Sequence

from assay.model.study.names import WORK
from assay.model.units import about_size
from assay.rooms.importers.audit.facts import MachineFacts
from assay.rooms.importers.audit.findings import Item, RuleFinding, rate_words

MEMORY_TIMES = 2
"""SNIA and iozone's documentation ask for data of at least twice the memory."""


def above_network(items: Sequence[Item], facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield rates above the links of all clients, or of the servers."""
    links = [
        (facts.link * facts.clients if facts.link else None, "the clients' links"),
        (facts.server_link, "the servers' links"),
    ]
    for item in items:
        measured = item.measured
        if measured is None:
            continue
        # Both ways of a link carry data at once.
        rate = max(measured.read_bytes, measured.write_bytes) / measured.bytes if measured.bytes else 1.0
        rate *= measured.throughput
        for limit, words in links:
            if limit and rate > limit:
                text = f"{rate_words(rate)} are more than {words} carry, {rate_words(limit)}"
                yield RuleFinding(item, text, {"rate": rate_words(rate), "limit": rate_words(limit)})
                break


def above_devices(items: Sequence[Item], facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield rates above what the devices can do."""
    for item in items:
        measured, operation = item.measured, item.result.operation
        if measured is None or operation is None:
            continue
        limit = facts.device_write if not WORK[operation].reads else facts.device_read
        if limit and measured.throughput > limit:
            text = f"{rate_words(measured.throughput)} are more than the devices can do, {rate_words(limit)}"
            yield RuleFinding(item, text, {"rate": rate_words(measured.throughput), "limit": rate_words(limit)})


def data_within_memory(items: Sequence[Item], facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield reads through the page cache of less data than twice the memory."""
    memory = (facts.memory or 0) * facts.clients
    for item in items:
        operation, size = item.result.operation, item.parameter("file_size")
        lanes = item.parameter("lanes") or item.parameter("streams")
        if not memory or operation is None or not WORK[operation].reads or not size or not lanes:
            continue
        if item.result.parameters.get("cache") == "direct":
            continue
        data = size * (lanes if item.result.parameters.get("layout") != "shared" else 1)
        if data < MEMORY_TIMES * memory:
            text = f"{about_size(data)} of data are less than twice the clients' memory, {about_size(memory)}"
            yield RuleFinding(item, f"{text}: reads may come from it", {"data": str(data), "memory": str(memory)})
