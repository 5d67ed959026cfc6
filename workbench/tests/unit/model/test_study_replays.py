"""Commands that replay a trace: what may be written, what is said of mistakes, and the jobs that follow."""

import jsonschema
import pytest
import yaml

from assay.contract._generated import Pace
from assay.contract.bounds import command_of, output_bounds, replay_of
from assay.model.study.study import Study, study_schema
from assay.plan.estimate import estimate_study
from assay.plan.expand import expand
from assay.plan.jobs import plan_job
from assay.plan.load import LoadedStudy, load_study

HEAD = "study: s\ntargets: {disk: {kind: file, path: /var/tmp/x}}\n"


def load(command: str, more: str = "") -> LoadedStudy:
    return load_study(f"{HEAD}commands:\n  c: {command}\n{more}".encode(), "/home/me")


def good(command: str, more: str = "") -> Study:
    loaded = load(command, more)
    assert loaded.study is not None, loaded.problems
    return loaded.study


def test_a_trace_is_read_beside_programs() -> None:
    study = good("{replay: t.gz, pace: [recorded, fast, 2], lanes: [1, 4]}", "defaults: {pace: 3, tasks: 7}\n")
    work = study.workloads["c"]
    assert work.operations == ("replay",) and work.group == "programs" and work.swept_fields == ("pace", "lanes")
    assert work.replay is not None and work.replay.replay.path == "/home/me/t.gz" and work.command is None
    assert work.cache.values() == ("drop",)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("{replay: t, run: [a]}", "commands.c.run: a command has either `run` or `replay`"),
        ("{replay: t, prepare: [a]}", "commands.c.prepare: a trace is replayed without a program"),
        ("{replay: t, tasks: 4}", "commands.c.tasks: a trace is replayed without a program"),
        ("{replay: t, threads: 4}", "commands.c.threads: a trace is replayed without a program"),
        ("{replay: t, figures: {n: '(a)'}}", "commands.c.figures: a trace is replayed without a program"),
        ("{replay: t, copies: 4}", "commands.c.copies: each lane replays one copy"),
        ("{replay: [t]}", "commands.c.replay: a list is not a file"),
        ("{replay: {file: t, path: t}}", "commands.c.replay: unknown key `file`"),
        ("{replay: {path: t, sha256: abc}}", "commands.c.replay.sha256: `abc` is not a SHA-256"),
        ("{replay: t, pace: slow}", "commands.c.pace: `slow` is not a pace"),
        ("{replay: t, pace: 0}", "commands.c.pace: 0 is out of range"),
        ("{replay: t, pace: true}", "commands.c.pace: true is not a pace"),
        ("{replay: t, cache: direct}", "commands.c.cache: cache: direct is for the engine's own reads and writes"),
        ("{run: [a], pace: fast}", "commands.c: unknown key `pace`"),
        ("{run: [a], verify: true}", "commands.c: unknown key `verify`"),
    ],
)
def test_mistakes_are_named_where_they_are_written(command: str, message: str) -> None:
    (found,) = load(command).problems
    assert found.message.startswith(message) and found.hint


def test_replay_is_no_operation_of_a_workload() -> None:
    for workload in (
        "{operations: [replay]}",
        "{operations: [write], file_size: 1MiB, record_size: 4KiB, replay: {replay: t}}",
    ):
        (found,) = load_study(f"{HEAD}workloads: {{w: {workload}}}\n".encode()).problems
        assert "below `commands:`" in found.hint


def test_targets_without_a_directory_replay_nothing() -> None:
    text = 'study: s\ntargets: {d: {kind: "null"}}\ncommands: {c: {replay: t}}\n'
    (found,) = load_study(text.encode()).problems
    assert "kind file" in found.hint


def test_the_schema_takes_what_is_taken_and_refuses_the_rest() -> None:
    validator = jsonschema.Draft202012Validator(study_schema())
    for command, fits in (
        ("{replay: t, pace: [recorded, fast, 2], lanes: 4, verify: true, cache: keep}", True),
        ("{replay: {path: t}, targets: [disk]}", True),
        ("{replay: t, run: [a]}", False),
        ("{replay: t, tasks: 4}", False),
        ("{replay: t, pace: slow}", False),
        ("{run: [a], pace: fast}", False),
    ):
        data = yaml.safe_load(f"{HEAD}commands:\n  c: {command}\n")
        assert (not list(validator.iter_errors(data))) is fits, command


def test_each_lane_replays_a_copy() -> None:
    study = good("{replay: t, pace: [recorded, fast, 2.5], lanes: 2, hosts: 3}", "hosts: n[1-3]\n")
    jobs = [plan_job(study, case, 1).job for case in expand(study).cases]
    targets = [target for job in jobs if (target := replay_of(job)) is not None]
    assert [(target.pace, target.rate) for target in targets] == [
        (Pace.recorded, 1.0),
        (Pace.fast, 1.0),
        (Pace.recorded, 2.5),
    ]
    assert targets[0].trace == "/home/me/t" and command_of(jobs[0]) is None
    job = jobs[0]
    assert (job.lanes, job.ranks, job.phases[0].operation.value) == (2, 3, "replay")
    assert job.tree is not None and (job.tree.files, job.tree.more) == (1, 0)
    # One event for each of its two lanes, beside those of any job.
    plain = output_bounds(job.model_copy(update={"target": study.targets["disk"].job_target("a")}), 1.0)
    assert output_bounds(job).other_events == plain.other_events + 2
    # A trace may have pauses of hours.
    assert output_bounds(job, 1.0).seconds > 86_400 > plain.seconds


def test_a_trace_that_cannot_be_read_is_estimated_as_a_task() -> None:
    study = good("{replay: /nowhere/t, pace: 2}")
    estimate = estimate_study(study, expand(study).cases)
    assert estimate.cases[0].seconds > 1.0 and any("as long as its recording" in line for line in estimate.assumptions)
