"""The section on commands: tables, sentences, and charts of cost over the number of hosts."""

from collections.abc import Sequence

import pytest
from builders import make_case, make_sample, row_of
from priced import VOLUMES, near, priced_run, prices

from assay.model.result.host_use import HostUse, LinkUse
from assay.model.result.sample import HostShare
from assay.model.result.tasks import TaskResult, TaskStates
from assay.model.study.needs import TargetNeed
from assay.model.study.replication_figures import figure_of
from assay.money.cost.bill import hosts_bill
from assay.money.cost.stored_prices import hour_of_hosts
from assay.report.document import Chart, Gallery, Num, Table, plain_text
from assay.report.sections.commands import command_blocks
from assay.report.sections.commands_figures import missing_figures, stated_units
from assay.report.summary.next_step import _unknown_needs
from assay.report.summary.page import first_page
from assay.report.view import RunView

SECOND = 10**9
STUDY = """
study: s
targets: {disk: {kind: file, path: /x}}
commands: {grid: {run: [a], figures: {depth: {pattern: '([0-9]+)', unit: m}}}}
"""


def use(host: str, io_full: float | None) -> HostUse:
    names = {"eth0": (3e6, 1e6), "lo": (5e6, 5e6)}
    links = tuple(
        LinkUse(name=name, received=received, sent=sent, received_peak=received, sent_peak=sent, drops=0)
        for name, (received, sent) in names.items()
    )
    waits = {"io_some": io_full, "io_full": io_full}
    return HostUse(host=host, shared=False, seconds=2.0, cpu=0.5, cpu_peak=0.5, cpus=2, links=links, **waits)


def view(seconds: dict[int, float], io_full: float | None = 0.0) -> RunView:
    """Of a command with four tasks; number of hosts -> its wall clock."""
    rows = []
    for hosts, wall in seconds.items():
        case = make_case(f"c{hosts}", operations=("run",), axes={"hosts": hosts})
        names = [f"h{number}" for number in range(hosts)]
        states = TaskStates(looks=100, running_ns=SECOND, storage_ns=SECOND, network_ns=0, other_ns=0)
        one = TaskResult(
            task="1", lane=0, started_ns=0, elapsed_ns=2 * SECOND, states=states, figures={"depth": 1234.0}
        )
        fields = {
            "operation": "run",
            "elapsed_ns": round(wall * SECOND),
            "tasks": (one,) * 4,
            "hosts": tuple(HostShare(host=name, status="done") for name in names),
            "uses": tuple(use(name, io_full) for name in names),
        }
        samples = tuple(make_sample(case.id, repeat, **fields) for repeat in (1, 2, 3))
        rows.append(row_of(case, [1.0] * 3, operation="run").model_copy(update={"samples": samples}))
    analysis = priced_run(prices(disk=VOLUMES).model_copy(update={"hosts": hosts_bill({"c4.large": 4})}))
    run = analysis.run.model_copy(update={"study_text": STUDY})
    update = {"rows": tuple(rows), "cases": tuple(row.case for row in rows), "comparisons": (), "decisions": ()}
    return RunView(analysis.model_copy(update={**update, "run": run}))


def table(seen: RunView, name: str) -> Table:
    return next(block for block in command_blocks(seen) if isinstance(block, Table) and block.id == name)


def numbers_of(found: Table, column: str, detail: str = "") -> Sequence[float | None]:
    place = next(at for at, one in enumerate(found.columns) if (one.title, one.unit) == (column, detail))
    cells = [line[place] for line in found.rows]
    return [cell.value for cell in cells if isinstance(cell, Num)]


def test_a_point_pays_for_its_own_hosts() -> None:
    seen = view({1: 8.0, 2: 4.0, 4: 3.0})
    assert seen.run.prices is not None
    hosts = hour_of_hosts(seen.run.prices)
    one, two, four = numbers_of(table(seen, "command-costs"), "An hour", "USD")
    assert one is not None and two is not None and four is not None
    assert near(four - two, float(hosts) / 2) and near(two - one, float(hosts) / 4)


def test_cost_and_time_are_drawn_over_three_numbers_of_hosts() -> None:
    (drawn,) = (block for block in command_blocks(view({1: 8.0, 2: 4.0, 4: 3.0})) if isinstance(block, Gallery))
    charts = [figure for figure in drawn.figures if isinstance(figure, Chart)]
    assert [chart.title for chart in charts] == ["Cost of a task over hosts", "Wall clock over hosts"]
    assert not [block for block in command_blocks(view({1: 8.0, 2: 4.0})) if isinstance(block, Gallery)]


def test_what_machines_counted_is_beside_the_commands() -> None:
    found = table(view({1: 8.0, 2: 4.0}), "command-machines")
    # 2 s of 3 MB/s from each host, in megabits per second of the wall clock.
    assert numbers_of(found, "Links in", "Mb/s") == [6.0, 24.0]
    assert numbers_of(found, "Loopback", "Mb/s") == [10.0, 40.0]
    assert "NFS" not in {column.title for column in found.columns}
    unknown = table(view({1: 8.0}, None), "command-machines")
    assert "does not count waits" in plain_text(unknown.caption)
    assert "does not count waits" not in plain_text(found.caption)


@pytest.mark.parametrize(("io_full", "words"), [(0.9, "Other programs waited"), (0.5, ""), (0.1, "waits for FUSE")])
def test_a_sentence_says_where_the_kernel_does_not_agree(io_full: float, words: str) -> None:
    sentence = str(command_blocks(view({1: 8.0}, io_full))[1])
    assert (words in sentence) and (("does not agree" in sentence) is bool(words))


def test_figures_have_the_unit_of_the_study() -> None:
    (cell,) = (line[-1] for line in table(view({1: 8.0}), "figures-table").rows)
    assert isinstance(cell, Num) and cell.text == "1,234 m"


def test_a_figure_that_nothing_matched_is_named() -> None:
    seen = view({1: 8.0})
    row = seen.analysis.rows[0]
    lacking = row.samples[0].tasks[0].model_copy(update={"figures": {}})
    sample = row.samples[0].model_copy(update={"tasks": (lacking, *row.samples[0].tasks[1:])})
    changed = row.model_copy(update={"samples": (sample, *row.samples[1:])})
    assert missing_figures(seen, row, stated_units(seen)) == []
    (line,) = missing_figures(seen, changed, stated_units(seen))
    assert line.endswith("figure depth: in what 1 of 12 tasks printed its pattern found no number.")


def test_a_replication_prints_what_its_scenario_has_and_nothing_is_missing() -> None:
    seen = view({1: 8.0})
    figures = {figure_of("initial", "duration"): 1.0}
    rows = tuple(
        row.model_copy(
            update={
                "samples": tuple(
                    sample.model_copy(
                        update={"tasks": tuple(one.model_copy(update={"figures": figures}) for one in sample.tasks)}
                    )
                    for sample in row.samples
                )
            }
        )
        for row in seen.analysis.rows
    )
    assert missing_figures(seen, rows[0], stated_units(seen))
    replicated = RunView(seen.analysis.model_copy(update={"rows": rows}))
    blocks = command_blocks(replicated)
    assert "replication-syncs" in [block.id for block in blocks if isinstance(block, Table)]
    assert "found no number" not in str(blocks)


def test_more_repeats_do_not_settle_what_other_programs_may_have_slowed() -> None:
    need = TargetNeed(operation="", measure="time", limit=5 * SECOND)
    for busy, words in ((0, "No: disk"), (20 * SECOND, "Undecided for disk")):
        seen = view({1: 8.0})
        row = seen.analysis.rows[0]
        samples = tuple(one.model_copy(update={"host_busy_ns": busy}) for one in row.samples)
        run = seen.run.model_copy(update={"needs": (need,)})
        rows = (row.model_copy(update={"samples": samples}),)
        changed = RunView(seen.analysis.model_copy(update={"rows": rows, "run": run}))
        lead = plain_text(first_page(changed).lead)
        assert lead.startswith(words) and "wall clock of each command at most 5 s, measured 8 s" in lead
        steps = [plain_text(step) for step in _unknown_needs(changed)]
        assert [step.startswith("Repeat it on an idle machine: ") for step in steps] == [True] * bool(busy)
