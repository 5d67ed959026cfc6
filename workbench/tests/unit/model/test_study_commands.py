"""Commands of a study: what may be written, and what is said of mistakes."""

import jsonschema
import pytest
import yaml
from paths import REPOSITORY

from assay.model.base import AssayError
from assay.model.study.commands import replaced
from assay.model.study.study import Study, study_schema
from assay.plan.change import Change
from assay.plan.load import LoadedStudy, load_study
from assay.plan.text import study_text

HEAD = "study: s\ntargets: {disk: {kind: file, path: /var/tmp/x}, other: {kind: file, path: /var/tmp/y}}\n"


def load(command: str, more: str = "") -> LoadedStudy:
    return load_study(f"{HEAD}commands:\n  c: {command}\n{more}".encode())


def good(command: str, more: str = "") -> Study:
    loaded = load(command, more)
    assert loaded.study is not None, loaded.problems
    return loaded.study


def problem(command: str) -> str:
    (found,) = load(command).problems
    assert found.hint
    return found.message


def test_a_command_is_read_beside_the_workloads() -> None:
    study = good(
        "{run: [gzip, -c, $inputs/a, 3], tasks: [2, 4], lanes: 2, targets: [disk]}",
        "workloads: {w: {operations: [write], file_size: 1MiB, record_size: 4KiB}}\n",
    )
    assert list(study.workloads) == ["w", "c"]
    found = study.workloads["c"]
    assert found.operations == ("run",) and found.group == "programs" and found.swept_fields == ("tasks",)
    assert found.command is not None and found.command.run.words == ("gzip", "-c", "$inputs/a", "3")
    assert found.cache.values() == ("drop",) and found.sync.values() == ("none",)
    assert study.workloads["w"].command is None


def test_defaults_of_workloads_are_taken_where_a_command_has_the_field() -> None:
    study = good("{run: [a], tasks: 3}", "defaults: {lanes: 3, record_size: 4KiB, cache: keep, file_size: 1MiB}\n")
    assert study.workloads["c"].lanes.values() == (3,) and study.workloads["c"].cache.values() == ("keep",)


def test_tasks_may_be_words() -> None:
    found = good("{run: [echo, $task], tasks: [ERR1, 7, b c]}").workloads["c"]
    assert found.tasks.values() == (3,) and found.swept_fields == ()
    assert found.command is not None and found.command.task_words == ("ERR1", "7", "b c")


def test_the_shell_gets_one_text() -> None:
    found = good("{run: {shell: 'sort < $inputs/a | head -$x'}}").workloads["c"].command
    assert found is not None and found.run.shell and list(found.run.variables) == []
    assert found.run.words == ("sort < $inputs/a | head -$x",)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("{tasks: 4}", "commands.c: `run` is missing"),
        ("{run: gzip -k file}", "commands.c.run: `gzip -k file` is not a command"),
        ("{run: []}", "commands.c.run: the list is empty"),
        ("{run: [a, {b: c}]}", "commands.c.run[1]: a mapping is not a word"),
        ("{run: [a, $frame]}", "commands.c.run: there is no variable $frame"),
        ("{run: [a], prepare: [b, $task]}", "commands.c.prepare: $task is known only while tasks are run"),
        ("{run: [a, $threads]}", "commands.c.run: $threads has no value"),
        ("{run: [a], tasks: 0}", "commands.c.tasks: 0 is out of range"),
        ("{run: [a], tasks: [a, b, a]}", "commands.c.tasks[2]: `a` comes twice"),
        ("{run: [a], tasks: 2, lanes: 4}", "commands.c.tasks: 2 tasks cannot keep 4 lanes busy"),
        ("{run: [a], cache: direct}", "commands.c.cache: cache: direct is for the engine's own reads and writes"),
        ("{run: [a], record_size: 4KiB}", "commands.c: unknown key `record_size`"),
        ("{run: [a], figures: {n: '(a)(b)'}}", "commands.c.figures.n: the pattern has 2 groups, not one"),
        ("{run: [a], figures: {n: '(a'}}", "commands.c.figures.n: the pattern cannot be read"),
        ("{run: [a], figures: {n: '(a{9999999999})'}}", "commands.c.figures.n: the pattern cannot be read"),
        ("{run: [a], outputs: {out: abc}}", "commands.c.outputs.out: `abc` is not a SHA-256"),
        ("{run: [a], inputs: {in: [x]}}", "commands.c.inputs.in: a list is not a file"),
        ("{run: [a], environment: {A=B: x}}", "commands.c.environment: `A=B` is not a name of a variable"),
        ("{run: [a], task_limit: soon}", "commands.c.task_limit: "),
        ("[gzip]", "commands.c: a list is not a mapping"),
    ],
)
def test_mistakes_are_named_where_they_are_written(command: str, message: str) -> None:
    assert problem(command).startswith(message)


def test_a_pattern_that_python_cannot_compile_is_refused() -> None:
    deep = "(" * 9999 + "a" + ")" * 9999
    assert problem(f"{{run: [a], figures: {{n: '{deep}'}}}}").startswith("commands.c.figures.n: the pattern cannot be")


def test_mistakes_have_the_line_of_the_command() -> None:
    text = f"{HEAD}commands:\n  good: {{run: [a]}}\n  bad:\n    run: [a]\n    lanes: none\n"
    (found,) = load_study(text.encode()).problems
    assert (found.line, found.message.split(":")[0]) == (7, "commands.bad.lanes")


def test_a_name_is_either_a_command_or_a_workload() -> None:
    more = "workloads: {c: {operations: [write], file_size: 1MiB, record_size: 4KiB}}\n"
    assert load("{run: [a]}", more).problems[0].message == "commands.c: `c` is a workload, too"


def test_run_is_no_operation_of_a_workload() -> None:
    text = f"{HEAD}workloads: {{w: {{operations: [run], file_size: 1MiB, record_size: 4KiB}}}}\n"
    (found,) = load_study(text.encode()).problems
    assert found.message == "workloads.w.operations: `run` needs a program" and "commands:" in found.hint


def test_targets_without_a_directory_run_no_programs() -> None:
    text = "study: s\ntargets: {d: {kind: device, path: /dev/null}}\ncommands: {c: {run: [a]}}\n"
    (found,) = load_study(text.encode()).problems
    assert "has no directory in which programs can work" in found.message
    assert "kind file" in found.hint


def test_other_hosts_have_no_inputs_of_this_one() -> None:
    (found,) = load("{run: [a], inputs: {a: /etc/passwd}}", "hosts: node[1-2]\n").problems
    assert found.message.startswith("commands.c.inputs: inputs are copied from this machine")


def test_relative_inputs_start_at_the_study() -> None:
    loaded = load_study(f"{HEAD}commands: {{c: {{run: [a], inputs: {{x: data/x}}}}}}\n".encode(), "/home/me/study")
    assert loaded.study is not None
    command = loaded.study.workloads["c"].command
    assert command is not None and command.inputs["x"].path == "/home/me/study/data/x"


@pytest.mark.parametrize(
    ("word", "expected"),
    [("-p$threads", "-p4"), ("${threads}x", "4x"), ("$$threads", "$$threads"), ("$threads2", "$threads2")],
)
def test_threads_are_put_in(word: str, expected: str) -> None:
    assert replaced(word, "threads", "4") == expected


def test_the_schema_takes_what_is_taken_and_refuses_the_rest() -> None:
    validator = jsonschema.Draft202012Validator(study_schema())
    whole = (
        "{run: [a, 3], prepare: {shell: x}, inputs: {a: b, c: {path: d}}, check: [e], tasks: [f, g], lanes: [1, 2], "
        "threads: 4, figures: {n: '([0-9]+)', m: {pattern: '(x)', unit: s}}, environment: {A: b}, task_limit: 10s, "
        "targets: [disk], where: lanes > 1}"
    )
    data = yaml.safe_load(f"{HEAD}commands:\n  c: {whole}\n")
    validator.validate(data)
    assert good(whole)
    for bad in ("{}", "{run: text}", "{run: [a], file_size: 4KiB}", "{run: [a], command: {}}"):
        assert list(validator.iter_errors(yaml.safe_load(f"{HEAD}commands:\n  c: {bad}\n"))), bad
    assert list(validator.iter_errors(yaml.safe_load(HEAD))), "a study has workloads or commands"


def test_the_schema_that_is_shipped_has_commands() -> None:
    assert "commands" in (REPOSITORY / "contract" / "study.schema.json").read_text()


def changed(**change: object) -> dict[str, object]:
    text = (
        f"{HEAD}commands: {{c: {{run: [a], tasks: 4}}, d: {{run: [b], targets: [other]}}}}\n"
        "workloads: {w: {operations: [write], file_size: 1MiB, record_size: 4KiB, lanes: 2}}\n"
    )
    data = load_study(text.encode()).source.data
    return Change(**change).apply(data)  # type: ignore[arg-type]


def test_options_change_commands_as_they_change_workloads() -> None:
    assert "workloads" not in changed(only=("c",)) and changed(only=("c",))["commands"] == {
        "c": {"run": ["a"], "tasks": 4}
    }
    assert "commands" not in changed(only=("w",))
    found = changed(values=("lanes=3", "c.tasks=8"))
    assert found["commands"] == {
        "c": {"run": ["a"], "tasks": 8, "lanes": 3},
        "d": {"run": ["b"], "targets": ["other"], "lanes": 3},
    }
    assert found["workloads"]["w"]["lanes"] == 3  # type: ignore[index]
    assert list(changed(targets=("disk",))["commands"]) == ["c"]  # type: ignore[call-overload]
    with pytest.raises(AssayError, match="the study has no workload `x`"):
        changed(only=("x",))


def test_a_changed_study_is_a_study_again() -> None:
    text = study_text(changed(values=("c.tasks=2,4",)), [])
    loaded = load_study(text.encode())
    assert loaded.study is not None and loaded.study.workloads["c"].tasks.values() == (2, 4)


def test_a_workload_holds_no_command() -> None:
    text = f"{HEAD}workloads: {{w: {{operations: [run], command: {{run: [a]}}}}}}\n"
    (found,) = load_study(text.encode()).problems
    assert found.message == "workloads.w: unknown key `command`"
