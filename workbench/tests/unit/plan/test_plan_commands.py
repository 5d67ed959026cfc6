"""Jobs of commands."""

from pathlib import Path

import pytest

from assay.analyse.validate import InvalidEventsError, validate_events
from assay.contract._generated import CommandTarget, Job
from assay.contract.bounds import output_bounds
from assay.contract.reader import read_line
from assay.model.study.study import Study
from assay.plan.estimate import estimate_study
from assay.plan.expand import expand
from assay.plan.jobs import plan_job
from assay.plan.load import load_study

TEXT = """
study: s
targets: {disk: {kind: file, path: /var/tmp/x}}
commands:
  c:
    run: [bowtie2, -p$threads, -x, $inputs/idx, "$$HOME"]
    prepare: {shell: "build > idx"}
    inputs: {reads: /data/reads.fq}
    figures: {rate: '([0-9.]+)% overall'}
    environment: {LC_ALL: C}
    task_limit: 2m
    tasks: 7
    lanes: [2, 4]
    threads: 3
    hosts: 1
"""


def planned() -> tuple[Study, list[Job]]:
    study = load_study(TEXT.encode()).study
    assert study is not None
    return study, [plan_job(study, case, 1).job for case in expand(study).cases]


def target(job: Job) -> CommandTarget:
    assert isinstance(job.target, CommandTarget)
    return job.target


def test_tasks_are_dealt_to_lanes() -> None:
    _, (two, four) = planned()
    assert [(job.lanes, job.tree.files, job.tree.more) for job in (two, four) if job.tree] == [(2, 3, 1), (4, 1, 3)]
    assert target(two).tasks == [str(number) for number in range(1, 8)]
    assert (two.file_size_bytes, two.record_size_bytes, two.sync) == (0, 1, "none")
    assert [(phase.operation, phase.cache_before) for phase in two.phases] == [("run", "drop")]


def test_the_engine_gets_the_program() -> None:
    _, (job, _) = planned()
    command = target(job)
    assert command.program.words == ["bowtie2", "-p3", "-x", "$inputs/idx", "$$HOME"]
    assert command.prepare is not None and command.prepare.shell
    assert command.environment == {"threads": "3", "LC_ALL": "C"}
    assert [(one.name, one.path) for one in command.inputs] == [("reads", "/data/reads.fq")]
    assert (command.task_limit_ns, command.output_bytes) == (120 * 10**9, 64 << 10)
    assert command.figures == {"rate": "([0-9.]+)% overall"}
    assert (command.root, command.directory) == ("/var/tmp/x", "c0001-r1")


def test_a_command_may_take_as_long_as_its_tasks() -> None:
    study, (job, _) = planned()
    bounds = output_bounds(job)
    # Four rounds of two minutes, three times as long, and half an hour.
    assert bounds.seconds == 1800 + 3 * 4 * 120
    assert bounds.other_events >= 7 + 9 and bounds.bytes > 7 * 6 * (64 << 10)
    free = job.model_copy(update={"target": target(job).model_copy(update={"task_limit_ns": None})})
    assert output_bounds(free).seconds > 86_400
    estimate = estimate_study(study, expand(study).cases)
    assert estimate.max_seconds is None and "only a run can say" in estimate.assumptions[0]


def event(task: str) -> object:
    number, lane, elapsed = task.split()
    text = f'{{"event": "task", "task": {number}, "lane": {lane}, "at_ns": 5, "elapsed_ns": {elapsed}, "exit_code": 0, '
    return read_line(f'{text}"signal": null, "user_ns": 1, "system_ns": 1, "max_rss_bytes": 1, "io": null}}')


def events(*tasks: str) -> list[object]:
    return [event(task) for task in tasks]


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        (("7 0 1",), "task 7 of lane 0 is not one of the job"),
        (("1 0 1", "1 0 1"), "task 1 of lane 0 is not one of the job, or came twice"),
        (("1 2 1",), "task 1 of lane 2 is not one of the job"),
        (("1 1 99000000000",), "task 1 took 99 s, longer than the whole job"),
    ],
)
def test_tasks_that_cannot_be_are_refused(tasks: tuple[str, ...], message: str) -> None:
    _, (job, _) = planned()
    with pytest.raises(InvalidEventsError, match=message):
        validate_events(events(*tasks), job, 10.0)


def test_tasks_that_can_be_are_taken() -> None:
    _, (job, _) = planned()
    log = validate_events(events("0 0 1", "6 0 9000000000", "1 1 1"), job, 10.0)
    assert [task.task for task in log.tasks] == [0, 6, 1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("[cat, x, '|', wc]", "no shell reads a list"),
        ("[make, '&&', ./a]", "no shell reads a list"),
        ("[./tool.sh]", "each task starts in an empty directory"),
        ("[bin/tool]", "each task starts in an empty directory"),
        ("[cut, -d, '|', x]", None),
        ("[find, x, -exec, wc, '{}', ';']", None),
        ("[$inputs/tool.sh]", None),
        ("[../tool]", None),
        ("{shell: './tool.sh | wc && true'}", None),
    ],
)
def test_what_a_list_cannot_run_is_refused(words: str, message: str | None) -> None:
    text = f"study: s\ntargets: {{t: {{kind: file, path: /x}}}}\ncommands: {{c: {{run: {words}}}}}\n"
    problems = load_study(text.encode()).problems
    found = [one.message for one in problems if one.message.startswith("commands.c.run")]
    assert len(found) == (message is not None) and all(str(message) in one for one in found)


def test_inputs_are_written_in_each_repeat_and_need_room(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "a").write_bytes(bytes(3000))
    text = (
        "study: s\ntargets: {t: {kind: file, path: /x}}\nrepeats: 5\n"
        "commands: {c: {run: [cat], inputs: {a: ../a, b: ../a, none: no}}}\n"
    )
    study = load_study(text.encode(), folder=str(tmp_path / "one")).study
    assert study is not None
    estimate = estimate_study(study, expand(study).cases)
    assert (estimate.written, estimate.peak_space) == (5 * 6000, {"t": 6000})


@pytest.mark.parametrize(
    ("line", "word"),
    [("run: [a], env: {}", "environment"), ("run: [a], timeout: 5s", "task_limit"), ("cmd: [a]", "run")],
)
def test_keys_of_other_programs_are_understood(line: str, word: str) -> None:
    text = f"study: s\ntargets: {{t: {{kind: file, path: /x}}}}\ncommands: {{c: {{{line}}}}}\n"
    assert [one.hint for one in load_study(text.encode()).problems] == [f"did you mean `{word}`?"]


REPLICATED = (
    "\ntestbed: wan\nreplication: {r: {source: server1, replica: server2, replicator: rsync, scenario: initial}}"
)


@pytest.mark.parametrize(
    ("need", "more", "message"),
    [
        ("c time: 60s", "", ""),
        ("time: 60s", "", ""),
        ("d time: 60s", "", "need: `d` is not a command"),
        ("c read: 5MB/s", "", "need: no workload measures c read throughput"),
        ("c time: 60s", REPLICATED, ""),
        ("time: 60s", REPLICATED, "need: `time` names no command; write `c time`"),
        ("r time: 60s", REPLICATED, "need: `r` is not a command"),
    ],
)
def test_a_need_may_name_a_command(need: str, more: str, message: str) -> None:
    loaded = load_study(f"{TEXT}need: {{{need}}}{more}".encode())
    assert (loaded.study is not None) is not message
    text = " ".join(f"{one.message}; {one.hint}" for one in loaded.problems)
    assert message in text and bool(text) is bool(message)


def test_a_study_without_commands_needs_no_time() -> None:
    work = "workloads: {w: {operations: [write], file_size: 1MiB, record_size: 4KiB}}"
    text = f"study: s\ntargets: {{d: {{kind: file, path: /x}}}}\nneed: {{time: 1s}}\n{work}"
    loaded = load_study(text.encode())
    assert loaded.study is None and "only commands have a time" in loaded.problems[0].message
