"""Sentences on totals that grow with hosts, tasks, lanes or servers."""

import math
from collections.abc import Sequence

from assay.analyse.growth.bend import Bend, find_bend
from assay.analyse.growth.totals import Range
from assay.analyse.growth.usl import MIN_POINTS, Law, fit_law
from assay.analyse.scaling import BINDING_SHARE, Scaling
from assay.analyse.servers import Growth
from assay.model.study.commands import REPLAY, RUN
from assay.model.units import about_number
from assay.report import numbers
from assay.report.document import Strong, Text
from assay.report.measure import measure_of

_NOUNS = {
    "servers": ("server", "servers"),
    "hosts": ("host", "hosts"),
    "tasks_per_host": ("task on each host", "tasks on each host"),
    "lanes": ("thread", "threads"),
    "streams": ("stream", "streams"),
}


_LANES = {RUN: ("lane", "lanes"), REPLAY: ("copy", "copies")}
"""Nouns of the lanes of commands: what `threads` are is the programs' own affair."""


def _nouns(axis: str, operation: str) -> tuple[str, str]:
    """Return the singular and the plural noun of an axis for what is done along it."""
    return _LANES.get(operation, _NOUNS[axis]) if axis == "lanes" else _NOUNS[axis]


def number_words(axis: str, number: float, operation: str = "") -> str:
    """Return a number on an axis with its noun: `4 hosts`, `1 thread`, `3.4 hosts`; of commands `2 lanes`."""
    one, many = _nouns(axis, operation)
    return f"{number:,.3g} {one if number == 1 else many}" if number % 1 else numbers.plural(int(number), one, many)


def count_words(found: Scaling, number: float) -> str:
    """Return a number on the axis of a total with its noun."""
    return number_words(found.axis, number, found.operation)


def plural_noun(axis: str, operation: str = "") -> str:
    """Return the plural noun of an axis: `hosts`."""
    return _nouns(axis, operation)[1]


def scaling_sentence(found: Scaling, with_workload: bool = False) -> Text:
    """Return where a total stops growing and what limits it there; with `with_workload` it names the workload."""
    return (Strong(f"{scaling_title(found, with_workload)}: "), scaled_words(found))


def scaled_words(found: Scaling) -> str:
    """Return the sentence on a total without its beginning."""
    measure = measure_of(found.operation)
    first = found.points[0]
    one = f"{count_words(found, first.number)} alone {'reaches' if first.number == 1 else 'reach'}"
    begin = f"{one} {measure.text(first.rate)}"
    if first.binding is not None and first.binding.share >= BINDING_SHARE:
        begin += f" ({numbers.share(first.binding.share)} of the ceiling {first.binding.name})"
    end = f"{begin}{_growth(found)}"
    if not found.is_clear:
        last = found.points[-1]
        reached = f"; {last.number} reach {measure.text(last.rate)}" if last is not first else ""
        once = any(len(repeats) < 2 for repeats in found.repeats.values())
        why = "One repeat is too few" if once else "The repeats differ too much"
        return f"{begin}{reached}. {why} to say how the total grows."
    if found.client_bound:
        end += " The clients are the limit there, as the verdict states."
    elif found.binding is not None:
        share = numbers.share(found.binding.share)
        end += f" The limit there is the ceiling {found.binding.name} ({share} of it; {found.binding.how})."
    else:
        end += " No known ceiling is near: the limit is the storage, or something that was not measured."
    return end


def _growth(found: Scaling) -> str:
    """Return how the total grows from the fewest hosts on."""
    measure = measure_of(found.operation)
    first, last, stop, top = found.points[0], found.points[-1], found.saturated, found.greatest
    if stop is first:
        return "; more add nothing."
    if stop is not None:
        grows = f"The total grows up to {count_words(found, stop.number)} and stops at {measure.text(stop.rate)}"
        return f". {grows}; more add nothing."
    if top is not last:
        most = f"The total is greatest with {count_words(found, top.number)}, {measure.text(top.rate)}"
        return f". {most}; {last.number} reach only {measure.text(last.rate)}."
    times = f"{numbers.share(last.efficiency)} of {about_number(last.number / first.number)} times as much"
    return f"; {last.number} reach {measure.text(last.rate)}, {times}. The total still grows there."


def work_words(found: Scaling) -> str:
    """Return the kind of scaling and its meaning: `weak scaling: the work of each stays the same`."""
    return {
        "weak": "weak scaling: the work of each stays the same",
        "strong": "strong scaling: the total work stays the same",
        "": "neither weak nor strong scaling: the total work changes, but not in proportion to their number",
    }[found.work]


def law_sentence(found: Scaling, with_workload: bool = False) -> Text | None:
    """Return the parameters of the universal scalability law for a total; None with too few points to fit it."""
    law = fit_law(found.repeats)
    if law is None:
        return None
    head = Strong(f"{scaling_title(found, with_workload)}, by the universal scalability law: ")
    if not law.fits:
        words = f"it does not describe the total, which is up to {numbers.share(law.deviation)} off its curve,"
        return (head, f"{words} more than repeats vary. So its parameters are not shown.")
    measure = measure_of(found.operation)
    rate, ends = law.rate, (measure.number(law.rate.low), measure.text(law.rate.high))
    words = f"a {_nouns(found.axis, found.operation)[0]} alone {measure.number(rate.value)} ({ends[0]} to {ends[1]}), "
    words += f"contention {_range(law.contention)}, "
    words += f"coherency {_range(law.coherency)}; the points are within {numbers.share(law.deviation)} of the curve."
    return (head, f"{words} {_peak(found, law)}")


def _range(item: Range) -> str:
    """Return a range in percent, with two significant digits of its upper end."""
    decimals = max(0, 1 - math.floor(math.log10(100 * item.high))) if item.high > 0 else 0
    value, low, high = (f"{100 * part:.{decimals}f}" for part in item)
    return f"{value} % ({low} to {high} %)"


def _peak(found: Scaling, law: Law) -> str:
    """Return where the total peaks by the law; a total that a ceiling or plateau stops shows no peak."""
    stopped = found.saturated is not None or found.binding is not None
    if law.peak is None or (stopped and not law.falls):
        return f"No peak up to {count_words(found, law.max_hosts)}."
    value, low, high = (max(1, round(part)) for part in law.peak)
    beyond = f", beyond the largest number measured, {law.max_hosts}" if value > law.max_hosts else ""
    return f"The total is greatest with about {count_words(found, value)} ({low} to {high}){beyond}."


def bend_sentence(found: Scaling, with_workload: bool = False) -> Text | None:
    """Return at which number the total bends, with its interval; None with too few points."""
    bend = find_bend(found.repeats)
    if bend is None:
        return None
    head = Strong(f"{scaling_title(found, with_workload)}, bend: ")
    first, last = found.points[0].number, found.points[-1].number
    if not bend.fits:
        few = len(found.points) < MIN_POINTS
        which = "a sharp bend does not describe the totals, and three numbers show no smooth one"
        both = "neither a sharp bend nor the universal scalability law describes the totals"
        return (head, f"{which if few else both}, so no bend is reported.")
    if bend.at is None:
        return (head, f"no significant bend up to {count_words(found, last)}.")
    ends = f"({about_number(bend.at.low)} to {about_number(bend.at.high)})"
    if bend.is_sharp and bend.at.low <= first:
        return (
            head,
            f"{count_words(found, first)} {ends} {'is' if first == 1 else 'are'} enough; more add nothing.",
        )
    if bend.is_sharp:
        begin = f"sharply, with {count_words(found, round(bend.at.value, 2))} {ends}"
        return (head, f"{begin}: up to this number each adds as much as the first; more add nothing.")
    begin = f"smoothly; with {count_words(found, round(bend.at.value, 2))} {ends}"
    return (head, f"{begin} each reaches half the rate of a single one.")


def ratio_words(bend: Bend) -> str:
    """Return at how many hosts per server a total bends, with its interval; `bend.at` must be set."""
    assert bend.at is not None
    value, low, high = bend.at
    hosts = f"{about_number(value, 2)} host{'s' * (f'{about_number(value, 2)}' != '1')} for each server"
    interval = f"({about_number(low, 2)} to {about_number(high, 2)})"
    if bend.is_sharp:
        return f"From {hosts} on {interval}, more add nothing"
    return f"With {hosts} {interval} each host reaches half the rate of a single one"


def has_several_workloads(found: Sequence[Scaling]) -> bool:
    """Return whether the totals are of several workloads, so that each must name its own."""
    return len({one.workload for one in found}) > 1


def scaling_title(found: Scaling, with_workload: bool = False) -> str:
    """Return the title of a total: `Read, store, 4 KiB`; with `with_workload` the workload follows the target.

    A command has its name in any case: `Command align, store`.
    """
    if found.operation == RUN:
        return ", ".join([f"Command {found.workload}", found.target, *other_values(found.others, RUN)])
    work = [found.workload] if with_workload else []
    return ", ".join(
        [numbers.operation_title(found.operation), found.target, *work, *other_values(found.others, found.operation)]
    )


def other_values(others: tuple[tuple[str, object], ...], operation: str = "") -> list[str]:
    """Return the values of axes with their nouns and units, for a title: `2 servers`, `4 KiB`."""
    return [
        number_words(name, value, operation)
        if name in _NOUNS and isinstance(value, int)
        else numbers.axis_value(name, value)  # type: ignore[arg-type]
        for name, value in others
    ]


def growth_sentence(found: Growth) -> Text:
    """Return the total of the most servers against the sum of separate ones, and where it bends in hosts per server."""
    measure, most = measure_of(found.operation), found.most
    head = f"{numbers.operation_title(found.operation)} on {most.servers} servers"
    words = f"{measure.text(most.rate)} at most, with {numbers.plural(most.hosts, 'host')}"
    if most.efficiency is not None and most.parts is not None:
        words += f": {numbers.share(most.efficiency)} of the sum of the parts ({measure.text(most.parts)})"
    bend, ratio = found.bends.get(most.servers), found.ratios.get(most.servers)
    if ratio is not None and ratio.at is not None:
        words += f". {ratio_words(ratio)}"
    elif bend is not None:
        each = bend / most.servers
        words += f". From {about_number(each)} host{'s' * (each != 1)} for each server on, more add nothing"
    return (Strong(f"{', '.join([head, *other_values(found.others)])}: "), f"{words}.")
