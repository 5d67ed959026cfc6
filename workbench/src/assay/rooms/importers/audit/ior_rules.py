"""Rules about outputs of IOR: rows against each other, and against the summary below them."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from statistics import mean

from assay.rooms.importers.audit.facts import MachineFacts
from assay.rooms.importers.audit.findings import Item, RuleFinding, by_output, half_digit, number

SAME_SIZE = Decimal("0.01")
SUMMARY: dict[str, Callable[[Sequence[Decimal]], Decimal]] = {"Max": max, "Min": min, "Mean": mean}
"""Figure of the summary -> what it is of the rates of all iterations."""


def _by_operation(items: Sequence[Item]) -> Iterator[dict[str, list[Item]]]:
    """Yield, for each output of IOR, operation -> its results in order."""
    for members in by_output([item for item in items if item.output.file.tool == "IOR"]):
        operations = defaultdict[str, list[Item]](list)
        for item in members:
            operations[item.result.name].append(item)
        yield operations


def missing_iteration(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield operations that lack an iteration which another operation of the same output has."""
    for operations in _by_operation(items):
        found = {
            name: {item.figures["iter"].text for item in members if "iter" in item.figures}
            for name, members in operations.items()
        }
        every = set[str]().union(*found.values())
        for name, numbers in found.items():
            if numbers and (lost := sorted(every - numbers, key=int)):
                text = f"iteration {', '.join(lost)} of {name} is missing, which other operations have"
                yield RuleFinding(operations[name][0], text, {"missing": ", ".join(lost)})


def summary_of_rows(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield operations whose summary is not the greatest, least or mean rate of the rows."""
    for operations in _by_operation(items):
        for members in operations.values():
            rows = [item.figures["bw"].text for item in members if "bw" in item.figures]
            numbers = {item.figures["iter"].text for item in members if "iter" in item.figures}
            last = members[-1]
            if len(numbers) < len(members):
                # Several tests of a script, each with a summary.
                continue
            for name, of in SUMMARY.items():
                stated = last.figures.get(f"summary.{name}(MiB)")
                if stated is None or len(rows) < len(members):
                    continue
                computed = of([number(text) for text in rows])
                slack = half_digit(stated.text) + max(half_digit(text) for text in rows)
                if abs(computed - number(stated.text)) > slack:
                    text = f"the summary has {name} {stated.text} MiB/s, and of the rows it is {computed:.2f}"
                    yield RuleFinding(last, text, {"stated": stated.text, "computed": f"{computed:.2f}"})
                    break


def one_size_of_all(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield summaries whose bytes and operations a second are of other sizes in writing and in reading."""
    for operations in _by_operation(items):
        known = []
        for members in operations.values():
            both = [members[-1].figures.get(f"summary.{name}") for name in ("Max(MiB)", "Max(OPs)")]
            rates = [number(one.text) for one in both if one is not None]
            if len(rates) == len(both) and all(rates):
                known.append((rates[0] / rates[1], members[-1]))
        for size, item in known[1:]:
            first, other = known[0]
            if abs(size - first) > SAME_SIZE * max(size, first):
                text = f"bytes over operations a second are {size:.4f} MiB, and {first:.4f} MiB of {other.result.name}"
                yield RuleFinding(item, text, {"size": f"{size:.4f}", "other": f"{first:.4f}"}, (other,))
