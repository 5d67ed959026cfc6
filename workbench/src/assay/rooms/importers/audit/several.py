"""Rules about several results: copies, multiples, and runs that cannot have been at the time that they state."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import combinations

from assay.model.units import about_duration, format_size
from assay.rooms.importers.audit.facts import MachineFacts
from assay.rooms.importers.audit.findings import (
    THROUGHPUT_FIGURES,
    Item,
    RuleFinding,
    by_output,
    first_of_outputs,
    number,
    tail,
)
from assay.rooms.importers.audit.iozone_rules import (
    began_at,
    min_seconds,
    stop_of_the_fastest,
    sum_of_processes,
    whole_records,
)

MAX_ITEMS = 2_000
"""Most results that are compared in pairs."""
PROPORTION = Decimal("0.0002")
"""By how much ratios of rounded figures of one multiple may differ."""
SIGNIFICANT = 5
LEADING = 2
"""Digits that figures of like size share anyway."""
CHANCE = 1e-5
"""Chance below which matching digits are no coincidence, over all pairs that are compared."""


def copies(items: Sequence[Item]) -> dict[int, Item]:
    """Return the outputs that stand in an earlier file, too: id of each -> first result of the earlier one."""
    first: dict[tuple[str, int], Item] = {}
    found = {}
    for item in first_of_outputs(items):
        file = item.output.file
        earlier = first.setdefault((file.sha256, file.line), item) if file.sha256 else item
        if earlier is not item:
            found[id(item.output)] = earlier
    return found


def same_file(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield files that are an earlier one byte by byte."""
    found, seen = copies(items), set()
    for item in first_of_outputs(items):
        earlier = found.get(id(item.output))
        if earlier is not None and item.output.file.file not in seen:
            seen.add(item.output.file.file)
            yield RuleFinding(item, f"the file is {earlier.output.file.file}, byte by byte", {}, (earlier,))


def same_figures(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield results all of whose figures are those of another one, digit by digit."""
    seen: dict[tuple[str, ...], Item] = {}
    repeated = copies(items)
    for item in items:
        # What is left out may be printed again: a job that had ended, in each output of --status-interval.
        if id(item.output) in repeated or item.measured is None:
            continue
        key = _vector(item)
        if key is None:
            continue
        first = seen.setdefault(key, item)
        if first is not item and first.place != item.place:
            text = f"all {len(key)} figures are those of {_name(first)}, digit by digit"
            yield RuleFinding(item, text, {"figures": len(key)}, (first,))


def constant_multiple(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield tests of iozone all of whose figures are one multiple of those of another test."""
    for first, second in _pairs(items):
        ratios = []
        for name in THROUGHPUT_FIGURES:
            one, two = (number(item.figures[name].text) for item in (first, second))
            if not one or not two:
                break
            ratios.append(two / one)
        if len(ratios) < len(THROUGHPUT_FIGURES) or abs(ratios[0] - 1) < PROPORTION:
            continue
        if max(ratios) - min(ratios) <= PROPORTION * ratios[0]:
            whole, of, factor = _rounder(first, second, ratios[0])
            text = f"all five figures are {factor:.4f} times those of {_name(of)}"
            yield RuleFinding(
                whole, f"{text}: two measurements never agree so exactly", {"factor": f"{factor:.6f}"}, (of,)
            )


def digits_alike(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield tests of iozone whose figures have more digits in common with another test's than chance gives.

    Of the digits behind the first two, each agrees with a chance of 1/10; binomial distribution.
    """
    pairs = list(_pairs(items))
    for first, second in pairs:
        digits = matching = 0
        for name in THROUGHPUT_FIGURES:
            one, two = (_digits(item.figures[name].text) for item in (first, second))
            if len(one) == len(two):
                digits += max(0, len(one) - LEADING)
                matching += sum(a == b for a, b in zip(one[LEADING:], two[LEADING:], strict=True))
        if digits == matching or digits < 3 * SIGNIFICANT:
            continue
        if tail(digits, matching, 0.1) * len(pairs) < CHANCE:
            copy, of = _later(first, second)
            text = f"{matching} of {digits} digits behind the leading two are those of {_name(of)}"
            yield RuleFinding(copy, f"{text}: by chance a tenth would be", {"digits": matching}, (of,))


def rows_in_order(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield rows of iozone's automatic mode that do not follow the row before: sizes rise, in a file records rise."""
    before: dict[int, tuple[Item, tuple[int, int]]] = {}
    for item in items:
        sizes = item.parameter("file_size"), item.parameter("record_size")
        if item.output.file.tool != "iozone" or item.is_throughput_test() or not all(sizes):
            continue
        last, known = before.get(id(item.output), (item, sizes))
        before[id(item.output)] = (item, sizes)
        if sizes < known and "-a" in item.result.options:
            words = [f"{format_size(record)} of {format_size(size)}" for size, record in (sizes, known)]
            yield RuleFinding(
                item, f"records of {words[0]} follow those of {words[1]}: iozone's sizes rise", {}, (last,)
            )


def same_second(items: Sequence[Item], facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield distributed runs of iozone in several files that state the same second as their beginning.

    Of two, the finding is about the one whose figures contradict each other, if it is one of them.
    """
    seen: dict[str, Item] = {}
    repeated, doubtful = copies(items), _contradicted(items, facts)
    for item in first_of_outputs(items):
        file = item.output.file
        if id(item.output) in repeated or item.result.measured is None:
            continue
        if not file.date or "-+m" not in file.command:
            continue
        first = seen.setdefault(file.date, item)
        if first is not item and (first.output.file.file != file.file or first.result.target != item.result.target):
            is_first = id(first.output) in doubtful and id(item.output) not in doubtful
            one, two = (first, item) if is_first else (item, first)
            text = f"it began in the same second as {_log(two, one)}: {file.date}"
            yield RuleFinding(one, text, {"date": file.date}, (two,))


def began_too_early(items: Sequence[Item], facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield runs of iozone that began before another one on the same clients can have ended.

    A test takes at least the size of a file over the greatest rate of a process. Where that rate is in doubt, and the
    other run is not, the finding is about the run with the doubtful rate.
    """
    doubtful = _contradicted(items, facts)
    runs = []
    for members in by_output(items):
        item = members[0]
        began, hosts = began_at(item), _clients(item)
        if began is not None and hosts:
            lasted = sum(min_seconds(one) for one in members)
            runs.append((began, lasted, hosts, item))
    runs.sort(key=lambda run: run[0])
    for (began, lasted, hosts, item), (later, _, other_hosts, other) in combinations(runs, 2):
        gap = (later - began).total_seconds()
        if hosts == other_hosts and 0 < gap < lasted:
            numbers: dict[str, object] = {"gap_s": f"{gap:.0f}", "lasted_s": f"{lasted:.0f}"}
            if id(item.output) in doubtful and id(other.output) not in doubtful:
                text = f"its tests took at least {about_duration(lasted)}, and {_log(other, item)} began "
                text += f"{about_duration(gap)} after it on the same list of clients"
                yield RuleFinding(item, text, numbers, (other,))
                continue
            text = f"it began {about_duration(gap)} after {_log(item, other)}, whose tests took at least "
            text += f"{about_duration(lasted)} on the same list of clients"
            yield RuleFinding(other, text, numbers, (item,))


def _contradicted(items: Sequence[Item], facts: MachineFacts) -> set[int]:
    """Return the ids of the outputs whose tests have figures that cannot be."""
    rules = (whole_records, sum_of_processes, stop_of_the_fastest)
    return {id(found.item.output) for rule in rules for found in rule(items, facts)}


def _later(one: Item, two: Item) -> tuple[Item, Item]:
    """Return two tests, first the one that is a copy if one is: of two dates the later, else that which stands last."""
    began = began_at(one), began_at(two)
    is_first_later = began[0] is not None and began[1] is not None and began[0] > began[1]
    return (one, two) if is_first_later else (two, one)


def _log(item: Item, other: Item) -> str:
    """Return the file of an output; with its line if that file, such as a table of logs, has the other one, too."""
    return item.output.file.file if item.output.file.file != other.output.file.file else item.place


def _rounder(first: Item, second: Item, factor: Decimal) -> tuple[Item, Item, Decimal]:
    """Return the test that is a multiple, that which it is one of, and the factor: the way with fewer digits."""
    ways = [(second, first, factor), (first, second, 1 / factor)]
    return min(ways, key=lambda way: abs(way[2] - round(way[2], 2)) / way[2])


def _vector(item: Item) -> tuple[str, ...] | None:
    """Return the figures that hardly ever agree by chance: five of iozone, or rates and mean latency of others."""
    if item.is_throughput_test():
        return tuple(item.figures[name].text for name in THROUGHPUT_FIGURES)
    exact = [figure.text for figure in item.result.figures if len(_digits(figure.text).strip("0")) >= SIGNIFICANT]
    return tuple(exact) if len(exact) >= SIGNIFICANT else None


def _pairs(items: Sequence[Item]) -> Iterator[tuple[Item, Item]]:
    """Yield pairs of tests of iozone's throughput mode."""
    repeated = copies(items)
    tests = [item for item in items if item.is_throughput_test() and id(item.output) not in repeated][:MAX_ITEMS]
    yield from combinations(tests, 2)


def _digits(text: str) -> str:
    return re.sub(r"\D", "", re.sub(r"\.0+$", "", text))


def _name(item: Item) -> str:
    return f"{item.result.name} ({item.place})"


def _clients(item: Item) -> str:
    """Return the list of clients in a command line of iozone; empty without one."""
    words = item.output.file.command.split()
    after = words[words.index("-+m") + 1 :] if "-+m" in words else []
    names = []
    for word in after:
        if word.startswith("-"):
            break
        names.append(word)
    return re.sub(r"\W+", " ", " ".join(names))
