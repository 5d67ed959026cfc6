"""Scaling: how totals grow with hosts, tasks, lanes and servers, where they bend, and the best rate at each number."""

from collections.abc import Iterator, Sequence

from assay.analyse.growth.best import best_points
from assay.analyse.scaling import HOSTS, Scaling, scalings
from assay.analyse.servers import growths
from assay.model.study.growth import GROWING_AXES
from assay.report import numbers
from assay.report.document import Block, Bullets, Chart, Fold, Gallery, Heading, Note, Paragraph, Section, Text
from assay.report.growth.charts import MAX_LINES, best_chart, efficiency_chart, totals_chart
from assay.report.growth.sentences import (
    bend_sentence,
    growth_sentence,
    has_several_workloads,
    law_sentence,
    plural_noun,
    scaling_sentence,
    work_words,
)
from assay.report.growth.stages import stage_lines, stages_table
from assay.report.growth.tables import best_table, servers_table, totals_table
from assay.report.view import RunView

MAX_SENTENCES = 12
"""Most totals that have sentences; the table has all."""
_BENDS = (
    "Where a total bends is estimated with a 95 % interval, by a bootstrap over repeats, from one of two curves: the "
    "sharp one if it is within 2 % of all totals, else the one that fits the repeats better. Sharply: each adds as "
    "much as the first until something is saturated (the asymptotic bounds of Lazowska and others, 1984). Smoothly: "
    "the universal scalability law (Gunther, 2007), which has no corner; the number given is where efficiency is a "
    "half."
)


def section(view: RunView) -> Section | None:
    """Return the section: sentences, charts and tables; None if the run varies no number of hosts, lanes or servers."""
    rows = view.analysis.rows
    scaled = scalings(rows, GROWING_AXES)
    grown = growths(rows, view.run.places)
    blocks: list[Block] = []
    if scaled:
        blocks += [Bullets(tuple(_sentences(scaled[:MAX_SENTENCES])))]
        if len(scaled) > MAX_SENTENCES:
            blocks.append(
                Note(
                    f"Only the first {MAX_SENTENCES} of {len(scaled):,} totals have sentences; the folded table has "
                    "all."
                )
            )
        blocks.append(Gallery(tuple(_charts(scaled))))
        blocks.append(Fold("Totals in numbers", (Paragraph(_BENDS), totals_table(scaled))))
    if grown:
        blocks += [Heading("Servers", "scaling-servers")]
        blocks += [Bullets(tuple(growth_sentence(found) for found in grown)), servers_table(grown)]
    if view.run.stages:
        words = (
            "The run was made in stages, each only after the one before was accepted. Stages were measured one after "
            "another, not in turns: changes in between are a part of their differences."
        )
        blocks += [Heading("Stages", "scaling-stages"), Paragraph(words), *map(Paragraph, stage_lines(view.run))]
        blocks.append(stages_table(view.run))
    blocks += _best(view)
    return Section("scaling", "Scaling", tuple(blocks)) if blocks else None


def _sentences(scaled: Sequence[Scaling]) -> Iterator[Text]:
    named = has_several_workloads(scaled)
    works = dict.fromkeys((one.workload, plural_noun(one.axis, one.operation), work_words(one)) for one in scaled)
    for workload, noun, words in works:
        yield f"With more {noun}, {f'{workload} is ' if named else ''}{words}."
    for one in scaled:
        texts = scaling_sentence(one, named), bend_sentence(one, named), law_sentence(one, named)
        yield from (text for text in texts if text)


def _charts(scaled: Sequence[Scaling]) -> Iterator[Chart]:
    """Yield two charts for each operation and axis: totals and efficiency."""
    groups: dict[tuple[str, str], list[Scaling]] = {}
    for one in scaled:
        groups.setdefault((one.operation, one.axis), []).append(one)
    for place, ((operation, axis), found) in enumerate(groups.items()):
        title = f"{numbers.operation_title(operation)}, total against {plural_noun(axis, operation)}"
        more = f" The first {MAX_LINES} of {len(found)} lines." if len(found) > MAX_LINES else ""
        words = f"Median and 95 % interval; dashed: each adds as much as the first.{more}"
        yield Chart(f"scaling-total-{place}", title, words, totals_chart(found))
        title = f"{numbers.operation_title(operation)}, efficiency against {plural_noun(axis, operation)}"
        yield Chart(f"scaling-share-{place}", title, f"With its 95 % interval.{more}", efficiency_chart(found))


def _best(view: RunView) -> list[Block]:
    """Return charts and tables of the best rate at each number of hosts, if other axes vary, too."""
    blocks: list[Block] = []
    for axis in HOSTS:
        found = best_points(view.analysis.rows, axis)
        if not found:
            continue
        charts = []
        for operation in dict.fromkeys(item.operation for item in found):
            title = f"{numbers.operation_title(operation)}, the best with each number of {plural_noun(axis)}"
            drawing = best_chart([item for item in found if item.operation == operation])
            charts.append(Chart(f"scaling-best-{axis}-{operation}", title, "Median and 95 % interval.", drawing))
        words = "The best of all other settings with each number, as after tuning the storage."
        heading = Heading(f"The best with each number of {plural_noun(axis)}", f"scaling-best-{axis}")
        table = Fold(f"The best with each number of {plural_noun(axis)}, in numbers", (best_table(found),))
        blocks += [heading, Paragraph(words), Gallery(tuple(charts)), table]
    return blocks
