"""How many engines each host has, and what started them, in the report."""

from collections.abc import Sequence
from typing import Any

import pytest
from builders import make_analysis, make_case, make_sample, row_of
from report_parts import tables_of

from assay.model.result.sample import HostShare
from assay.report.document import Paragraph, plain_text
from assay.report.sections import hosts, method
from assay.report.view import RunView


def share(host: str) -> HostShare:
    return HostShare(
        host=host,
        status="done",
        bytes=1000,
        elapsed_ns=10**9,
        throughput=50e6,
        iops=7.0,
        latency={"p50": 1000.0},
        stonewall_bytes=900,
        cpu_ns=10**8,
    )


def view(tasks: Sequence[int], launcher: str = "") -> RunView:
    """Results of two hosts, one for each of these numbers of tasks."""
    rows = []
    for number, count in enumerate(tasks, start=1):
        axes: dict[str, Any] = {"tasks_per_host": count} if len(tasks) > 1 else {}
        case = make_case(f"c{number:04d}", axes=axes, **({"tasks_per_host": count} if not axes else {}), hosts=2)
        samples = tuple(make_sample(case.id, n, 100e6, hosts=(share("h1"), share("h2"))) for n in (1, 2, 3))
        rows.append(row_of(case, [100e6] * 3).model_copy(update={"samples": samples}))
    environment = {"launcher": {"name": launcher}} if launcher else {}
    update = {"rows": tuple(rows), "cases": tuple(row.case for row in rows), "comparisons": (), "decisions": ()}
    return RunView(make_analysis(environment=environment).model_copy(update=update))


def sentence(seen: RunView) -> str:
    """What the section on hosts says before the first semicolon."""
    found = hosts.section(seen)
    assert found is not None
    return next(plain_text(block.text) for block in found.blocks if isinstance(block, Paragraph)).split(";")[0]


@pytest.mark.parametrize(
    ("tasks", "launcher", "said"),
    [
        ([1], "", "with an engine of its own"),
        ([1], "ssh", "with an engine of its own"),
        ([1], "mpirun", "with an engine of its own, started by mpirun"),
        ([2], "ssh", "with 2 engines of its own, which count as one in these numbers"),
        ([2], "srun", "with 2 engines of its own, started by srun, which count as one in these numbers"),
        (
            [4, 1, 2],
            "srun",
            "with 1 to 4 engines of its own (tasks per host), started by srun, which count as one in these numbers",
        ),
    ],
)
def test_the_hosts_section_says_how_many_engines_a_host_has(tasks: list[int], launcher: str, said: str) -> None:
    assert sentence(view(tasks, launcher)) == f"Each host is a machine {said}"


@pytest.mark.parametrize(("tasks", "value"), [([1], None), ([2], "2"), ([1, 2, 4], "1, 2, 4")])
def test_the_method_has_tasks_per_host_where_they_are_not_one(tasks: list[int], value: str | None) -> None:
    table = tables_of(method.folds(view(tasks)))["method-table"]
    found = {str(row[0]): row[1] for row in table.rows}
    assert found.get("Tasks per host") == value
    if value is not None:
        # It stands with what else makes the load.
        names = list(found)
        assert names.index("Hosts") < names.index("Tasks per host") < names.index("Lanes")
