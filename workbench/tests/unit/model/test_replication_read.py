"""Replications of a study: what may be written, which cases come of it, and what is said of mistakes."""

import json

import jsonschema
import pytest
import yaml

from assay.model.study.replication import StudyReplication
from assay.model.study.replication_figures import FIGURES, SYNCS, figure_pattern, scenario_figures
from assay.model.study.study import study_schema
from assay.plan.change import Change
from assay.plan.load import LoadedStudy, load_study

HEAD = "study: s\ntestbed: wan\ntargets: {disk: {kind: file, path: /data/assay}}\nreplication:\n  r:\n"
PAIR = {"source": "a", "replica": "b"}


def load(**fields: object) -> LoadedStudy:
    return load_study(f"{HEAD}    {json.dumps({**PAIR, **fields})}\n".encode())


def problem(**fields: object) -> tuple[str, str]:
    (found,) = load(**fields).problems
    return found.message, found.hint


def test_each_combination_is_a_command_on_the_two_hosts() -> None:
    study = load(replicator=["rsync", "rclone"], scenario=["update", "steady"], trigger=["every 5s", "on change"]).study
    assert study is not None
    assert list(study.workloads) == [
        "r-rsync-update",
        "r-rsync-steady-5s",
        "r-rsync-steady-on-change",
        "r-rclone-update",
        "r-rclone-steady-5s",
        "r-rclone-steady-on-change",
    ]
    assert study.hosts.nodes == ("a", "b")
    workload = study.workloads["r-rsync-steady-5s"]
    assert workload.command is not None
    assert (workload.axis("hosts").values(), workload.axis("tasks").values()) == ((2,), (1,))
    assert set(workload.command.figures) == set(scenario_figures("steady"))
    job = json.loads(workload.command.environment["REPLICATION_JOB"])
    assert (job["replicator"], job["every"], job["write_every"], job["file_size"]) == ("rsync", 5.0, 0.2, 65536)


def test_the_same_study_has_the_same_program_each_time() -> None:
    first, second = load().study, load().study
    assert first is not None
    assert first == second
    assert list(first.workloads) == ["r"]


def test_one_entry_can_be_measured_alone() -> None:
    data = yaml.safe_load(f"{HEAD}    {json.dumps(PAIR)}\n  other: {json.dumps(PAIR)}\n")
    changed = Change(only=("other",)).apply(data)
    assert list(changed["replication"]) == ["other"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"replica": "a"}, "replication.r.replica: source and replica are the same host, a"),
        ({"replicator": "rsinc"}, "replication.r.replicator: `rsinc` is not a replicator"),
        ({"replicator": {"run": ["cp", "$there"]}}, "replication.r.replicator.run[1]: there is no variable $there"),
        ({"scenario": ["update", "fire"]}, "replication.r.scenario[1]: `fire` is not a scenario"),
        ({"trigger": "hourly"}, "replication.r.trigger: `hourly` is not a trigger"),
        ({"trigger": "every 5"}, "replication.r.trigger: no unit in `5`"),
        ({"streams": 0}, "replication.r.streams: 0 is not a number of streams"),
        ({"files": 9}, "replication.r.updated: of 9 files, 10 cannot be updated and 5 deleted"),
        ({"scenario": "kill", "new": 0}, "replication.r.new: without new files there is nothing to disturb"),
        ({"write_every": "10s"}, "replication.r.runtime: the application would write nothing"),
        (
            {"replicator": {"run": ["true"]}, "scenario": "failover"},
            "replication.r.replicator: a command of your own cannot bring the state back",
        ),
        (
            {"replicator": "lsyncd", "scenario": "cut"},
            "replication.r.scenario: lsyncd never gives up, so there is no scenario `cut` with it",
        ),
        ({"replicator": "lsyncd", "trigger": "every 5s"}, "replication.r.trigger: lsyncd replicates on change"),
        ({"filez": 1}, "replication.r: unknown key `filez`"),
    ],
)
def test_mistakes_are_reported_once_and_at_their_place(fields: dict[str, object], message: str) -> None:
    found, hint = problem(**fields)
    assert found == message
    assert hint


def test_replication_harms_only_hosts_of_a_box() -> None:
    text = f"{HEAD}    {json.dumps({**PAIR, 'scenario': 'cut'})}\n".replace("testbed: wan\n", "")
    (found,) = load_study(text.encode()).problems
    assert found.message == "replication.r.scenario: `cut` would harm what others use on these hosts"


def test_the_hosts_of_a_study_are_source_and_replica() -> None:
    text = f"hosts: [b, a]\n{HEAD}    {json.dumps(PAIR)}\n"
    (found,) = load_study(text.encode()).problems
    assert "source and its replica, a and b" in found.message


def test_editors_know_what_may_be_written() -> None:
    fields = {**PAIR, "replicator": ["rsync", {"run": ["x"]}], "scenario": "cut", "link": "1 Gbit/s"}
    text = f"{HEAD}    {json.dumps(fields)}\n"
    jsonschema.validate(yaml.safe_load(text), study_schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(yaml.safe_load(text.replace("cut", "fire")), study_schema())


def test_every_scenario_has_its_numbers() -> None:
    entry = StudyReplication.model_validate({**PAIR, "scenario": list(SYNCS)})
    assert [case.scenario for case in entry.cases("r")] == list(SYNCS) == list(FIGURES)
    assert figure_pattern("lag 95 %") == "^replication lag 95 % = ([-0-9.e+]+)$"
