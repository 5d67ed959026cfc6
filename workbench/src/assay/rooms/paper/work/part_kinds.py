"""Which kinds of parts papers have: those of this room, then those that other rooms add."""

import functools
from collections.abc import Callable, Mapping, Sequence

from assay.model.room import load, rooms
from assay.report.document import Block, Table
from assay.report.paper_part import PaperContext, PartKind, PartOptions, part_of_each
from assay.report.selection.charts import ChartOptions, chart_blocks
from assay.report.selection.tables import TableOptions, table_blocks
from assay.report.view import RunView
from assay.rooms.paper.work import parts
from assay.rooms.paper.work.price_part import PRICE
from assay.rooms.paper.work.references_part import REFERENCES
from assay.rooms.paper.work.schedule_part import SCHEDULE
from assay.rooms.paper.work.several_runs import joint_abstract, joint_appendix, joint_results, part_of_all

_OF_RUNS = {
    "abstract": ("Abstract", parts.abstract_blocks),
    "results": ("Results", parts.results_blocks),
    "cost": ("Cost", parts.cost_blocks),
    "method": ("Method and environment", parts.method_blocks),
    "appendix": ("Appendix: how to repeat it", parts.appendix_blocks),
}


def _tables(options: TableOptions, context: PaperContext) -> list[Table]:
    return table_blocks(options, context.named_runs(options.run_names))


def _charts(options: ChartOptions, context: PaperContext) -> list[Block]:
    return chart_blocks(options, context.named_runs(options.run_names))


def _of_runs(
    name: str, make: Callable[[RunView], Sequence[Block]]
) -> Callable[[PartOptions, PaperContext], list[Block]]:
    """Return what makes a part of one run or of several, of which some parts say something together."""
    joint = {"abstract": (joint_abstract, 2), "results": (joint_results, 2), "appendix": (joint_appendix, 4)}
    return part_of_all(make, *joint[name]) if name in joint else part_of_each(make)


def _limits(options: PartOptions, context: PaperContext) -> list[Block]:
    has_audit = "audit" in context.kinds
    return part_of_each(lambda view: parts.limits_blocks(view, has_audit))(options, context)


@functools.cache
def part_kinds() -> Mapping[str, PartKind]:
    """Return the kinds by name; the usual ones in the order of a paper that no description orders."""
    usual = {name: PartKind(_of_runs(name, make), title, is_usual=True) for name, (title, make) in _OF_RUNS.items()}
    appendix = usual.pop("appendix")
    usual["limits"] = PartKind(_limits, "Limits and threats to validity", is_usual=True)
    usual["appendix"] = appendix
    ordered = {"table": PartKind(_tables, options=TableOptions), "chart": PartKind(_charts, options=ChartOptions)}
    own = {"price": PRICE, "schedule": SCHEDULE, "references": REFERENCES}
    added = {name: load(reference) for room in rooms() for name, reference in room.paper_parts.items()}
    return usual | ordered | own | added
