"""The definitions of a workload's parameters: what follows from them must hold together."""

import json

import pytest

from assay.contract import _generated as contract
from assay.model.study.axis import Axis
from assay.model.study.parameters import DEFAULTS, DEFINITIONS, Parameters
from assay.model.study.study import Workload

PARTS = {
    "": contract.Job,
    "tuning": contract.Tuning,
    "tree": contract.Tree,
    "data": contract.DataSpec,
    "phase": contract.Phase,
    "target": contract.MpiioTarget,
}


@pytest.mark.parametrize("name", DEFINITIONS)
def test_a_definition_says_what_is_needed(name: str) -> None:
    item = DEFINITIONS[name]
    assert item.about.endswith(".") and not item.heading.endswith(".")
    assert item.unknown_text.startswith(("how", "what", "whether", "on which", "the "))
    part, _, field = item.job.rpartition(".")
    # Hints have names that the library knows.
    assert not field or part == "target.hints" or field in PARTS[part].model_fields
    for other, needed in item.needs:
        assert [DEFINITIONS[other].kind.value(value) for value in needed] == list(needed)


@pytest.mark.parametrize("name", DEFINITIONS)
def test_defaults_may_be_written(name: str) -> None:
    item = DEFINITIONS[name]
    if not item.is_required:
        assert item.kind.value(DEFAULTS[name]) == DEFAULTS[name]
        assert Workload.model_fields[name].get_default(call_default_factory=True) == Axis(listed=(DEFAULTS[name],))


def test_no_two_parameters_share_a_column_or_a_place() -> None:
    columns = [item.column or name for name, item in DEFINITIONS.items()]
    places = [item.job for item in DEFINITIONS.values() if item.job]
    assert len(set(columns)) == len(columns)
    assert len(set(places)) == len(places)


def test_the_engine_is_told_everything_or_plan_knows_why_not() -> None:
    own = {
        "file_size",
        "total_size",
        "total_files",
        "scale",
        "file_sizes",
        "file_order",
        "record_size",
        "segments",
        "reorder",
        "reorder_by",
        "objects",
        "object_size",
        "part_size",
        "range",
        "batch",
        "access",
        "mix",
        "tasks",
        "threads",
        "pace",
        "tasks_per_host",
        "hosts",
        "servers",
        "streams",
        "cache",
        "server_cache",
        "memory_limit",
        "runtime",
        "time_limit",
        "wear_out",
        "read_percent",
    }
    assert {name for name, item in DEFINITIONS.items() if not item.job} == own


def test_parameters_survive_json() -> None:
    values = Parameters(file_size=1 << 20, record_size=4096, rate=10.0)
    assert Parameters.model_validate_json(values.model_dump_json()) == values
    assert list(json.loads(values.model_dump_json())) == list(DEFINITIONS)
