"""Predict totals that are known, and say how often the interval holds them; --page writes docs/prediction.md."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from prediction.held_out import HeldOut, held_out, tables
from prediction.simulated import FACTORS, FAMILIES, Simulated, simulate

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent.parent / "docs" / "prediction.md"
TEMPLATE = HERE / "prediction.md.in"


def main() -> None:
    """Read the options, predict, print or write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", action="store_true", help="write docs/prediction.md")
    parser.add_argument("--simulations", type=int, default=400, help="studies of each kind (400)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    known = [one for table in tables() for one in held_out(table)]
    made = list(simulate(options.simulations, options.seed))
    text = TEMPLATE.read_text()
    for name, part in (
        ("known", known_summary(known)),
        ("points", point_table(known)),
        ("simulated", simulated_summary(made)),
        ("studies", f"{options.simulations:,}"),
        ("seed", str(options.seed)),
    ):
        text = text.replace("{{" + name + "}}", part)
    if options.page:
        PAGE.write_text(text)
        print(f"wrote {PAGE}")
    else:
        print(text)


def known_summary(found: Sequence[HeldOut]) -> str:
    """A line of the table for each source, and one for all."""
    lines = [
        "| known totals | held out | predicted | inside | median width | *no* | inside, of *no* |",
        "|---|---|---|---|---|---|---|",
    ]
    sources = dict.fromkeys(one.table.source for one in found)
    lines += [f"| {source} | {_shares([one for one in found if one.table.source == source])} |" for source in sources]
    beyond = [one for one in found if one.prediction.number > max(one.measured)]
    between = [one for one in found if one.prediction.number < max(one.measured)]
    lines += [f"| all, between measured numbers | {_shares(between)} |", f"| all, beyond them | {_shares(beyond)} |"]
    return "\n".join([*lines, f"| **all** | {_shares(found)} |"])


def simulated_summary(found: Sequence[Simulated]) -> str:
    """A line of the table for each family of curves and each factor, and one for all."""
    head = "| curve | hosts, over the most measured | predictions | predicted | inside | median width |"
    lines = [f"{head} *no* | inside, of *no* |", "|" + 8 * "---|"]
    for family in FAMILIES:
        for factor in FACTORS:
            chosen = [one for one in found if (one.family, one.factor) == (family, factor)]
            lines.append(f"| {family} | {factor:g} | {_shares(chosen)} |")
    lines.append(f"| **all** | | {_shares(found)} |")
    for repeats in (1, 3, 5):
        chosen = [one for one in found if one.repeats == repeats]
        lines.append(f"| all, {repeats} repeat{'s' * (repeats > 1)} | | {_shares(chosen)} |")
    return "\n".join(lines)


def _shares(found: Sequence[HeldOut] | Sequence[Simulated]) -> str:
    """How many are predicted, how many intervals hold the total, how wide they are."""
    answers = [one for one in found if one.prediction.is_answer]
    others = [one for one in found if one.prediction.total is not None and not one.prediction.is_answer]
    width = f"{median(one.prediction.width for one in answers):.0%}" if answers else "–"
    cells = (f"{len(found)}", f"{len(answers)}", _part(answers), width, f"{len(found) - len(answers)}", _part(others))
    return " | ".join(cells).replace("%", " %")


def _part(found: Sequence[HeldOut] | Sequence[Simulated]) -> str:
    """How many of them hold the total."""
    inside = sum(one.prediction.holds(one.actual) for one in found)
    return f"{inside} ({inside / len(found):.0%})" if found else "–"


def point_table(found: Sequence[HeldOut]) -> str:
    """A line for each total that was held out."""
    lines = [
        "| source | what | measured | held out | actual, MB/s | prediction | 95 % interval | |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for one in found:
        total = one.prediction.total
        ends = "" if total is None else f"{total.low:,.0f} to {total.high:,.0f}"
        value = f"{total.value:,.0f}" if total is not None and one.prediction.is_answer else "no"
        how = one.prediction.basis if one.prediction.is_answer else one.prediction.cause
        miss = "" if one.prediction.holds(one.actual) or total is None else ", **outside**"
        counts = ", ".join(map(str, one.measured))
        place = f"{one.prediction.number} {one.table.growing}"
        cells = (one.table.source, one.table.what, counts, place, f"{one.actual:,.0f}", value, ends, f"{how}{miss}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
