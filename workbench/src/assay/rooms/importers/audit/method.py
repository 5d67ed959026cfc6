"""Rules about how results were measured: what a reader should know before using the number."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from assay.model.study.names import WORK
from assay.rooms.importers.audit.facts import MachineFacts
from assay.rooms.importers.audit.findings import Item, RuleFinding, time_words
from assay.rooms.importers.audit.fio_rules import WITHOUT_DATA
from assay.rooms.importers.work import fio, io500
from assay.rooms.importers.work.table_roles import parse_roles

MIN_SECONDS = 10
"""Shorter than this, a start or a hiccup weighs in the mean."""
ALL = 100
"""Percent."""
MIN_REPEATS = 3
"""Fewest repeats that give an interval."""


def _of_all(
    items: Sequence[Item], applies: Callable[[Item], bool], text: Callable[[list[Item], int], str]
) -> Iterator[RuleFinding]:
    """Yield one finding if there are such results."""
    members = [item for item in items if item.measured is not None]
    found = [item for item in members if applies(item)]
    if found:
        words = text(found, len(members))
        yield RuleFinding(found[0], words, {"results": len(found), "of": len(members)}, tuple(found[1:]))


def _share(found: list[Item], count: int) -> str:
    return "the result" if count == 1 else f"{len(found)} of {count} results"


def writes_unflushed(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield whether there are writes through the page cache without a flush in the time."""

    def applies(item: Item) -> bool:
        operation = item.result.operation
        measured, engine = item.measured, item.result.options.get("ioengine")
        if operation is None or not WORK[operation].writes or item.result.parameters.get("cache") == "direct":
            return False
        if engine in WITHOUT_DATA or (measured is not None and measured.has_counts and not measured.write_bytes):
            return False
        return item.result.parameters.get("sync") == "none"

    yield from _of_all(
        items,
        applies,
        lambda found, count: f"{_share(found, count)} may be writes into memory: buffered, and without a flush",
    )


def zeros_written(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield whether only zeros were written."""

    def applies(item: Item) -> bool:
        operation = item.result.operation
        return operation is not None and WORK[operation].writes and item.parameter("compressible") == ALL

    yield from _of_all(
        items,
        applies,
        lambda found, count: (
            f"{_share(found, count)} wrote zeros only: storage that compresses, or leaves out zeros, "
            "keeps next to nothing of them"
        ),
    )


def asynchronous_without_direct(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield whether there are jobs of fio's libaio with a queue but without direct I/O.

    Only fio's JSON has all options that were set: its other outputs never say `direct`.
    """

    def applies(item: Item) -> bool:
        is_direct = item.result.parameters.get("cache") == "direct" or item.output.file.form != fio.FORM
        return item.result.options.get("ioengine") == "libaio" and item.parameter("queue_depth") > 1 and not is_direct

    yield from _of_all(
        items,
        applies,
        lambda found, count: (
            f"{_share(found, count)} had iodepth above 1 with libaio and without direct=1: "
            "the kernel may do such operations one after the other"
        ),
    )


def short_time(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield whether there are results that took little time."""

    def seconds(item: Item) -> float:
        return (item.measured.elapsed_ns or 0) / 1e9 if item.measured else 0.0

    yield from _of_all(
        items,
        lambda item: 0 < seconds(item) < MIN_SECONDS,
        lambda found, count: (
            f"{_share(found, count)} took less than {MIN_SECONDS} s"
            f"{',' if count == 1 else ', the shortest'} {time_words(min(map(seconds, found)) * 1e9)}"
        ),
    )


def few_repeats(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield once that results which a reader compares have fewer repeats than an interval needs.

    A reader compares results of one operation that differ in something else.
    """
    groups: dict[str, dict[tuple[str, ...], list[Item]]] = defaultdict(lambda: defaultdict(list))
    for item in items:
        if item.measured is not None and _stated_repeats(item) < MIN_REPEATS:
            result = item.result
            # Of iozone's throughput mode the name is the operation once more.
            name = "" if item.is_throughput_test() else result.name
            key = result.target, result.workload, name, str(sorted(result.parameters.items()))
            groups[result.operation or ""][key].append(item)
    compared = [members for alike in groups.values() if len(alike) > 1 for members in alike.values()]
    few = [members for members in compared if len(members) < MIN_REPEATS]
    if few:
        text = f"{len(few)} of {len(compared)} different results have fewer than {MIN_REPEATS} repeats"
        first, *others = (members[0] for members in few)
        text = f"{text}: differences between them may be chance"
        yield RuleFinding(first, text, {"results": len(few)}, tuple(others))


def _stated_repeats(item: Item) -> int:
    """Return how often the roles file says that each result was measured, of which one figure is printed."""
    table = item.output.table
    return parse_roles(table.roles.encode(), table.file).repeats if table is not None and table.roles else 0


def marked_invalid(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield whether there are phases that IO500 marks as invalid."""
    yield from _of_all(
        [item for item in items if item.output.file.tool == io500.NAME],
        lambda item: io500.MARK in item.result.options,
        lambda found, count: f"IO500 marks {_share(found, count)} as invalid, such as a phase that was too short",
    )


def failed(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield results that the tool itself says have failed."""
    for item in items:
        measured = item.measured
        if measured is not None and measured.errors:
            first = measured.errors[0]
            text = f"{first.count:,} {'operation' if first.count == 1 else 'operations'} failed: {first.example}"
            yield RuleFinding(item, text, {"errors": first.count})
