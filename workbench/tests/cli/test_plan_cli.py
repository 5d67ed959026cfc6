import json
import re
from functools import partial

import pytest
from counted import calls_of
from in_process import run_here
from paths import GOLDEN, REPOSITORY, expected_messages
from plan_tools import written
from soak import times

from assay.cli.studies.init import PRESETS

BAD = GOLDEN / "bad_studies"
NAMES = sorted(path.name for path in BAD.glob("*.yaml"))


def test_there_are_enough_bad_studies():
    assert len(NAMES) >= 36
    assert sorted(expected_messages(BAD)) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_bad_study_gets_one_clear_line_per_problem(name):
    result = run_here(BAD, "check", name)
    assert result.returncode == 2
    assert "Traceback" not in result.stderr and not result.stdout
    lines = result.stderr.splitlines()
    assert all(re.fullmatch(rf"{re.escape(name)}:[1-9][0-9]*: error: \S.*", line) for line in lines[::2])
    assert all(re.fullmatch(r"  hint: \S.*", line) for line in lines[1::2])
    assert result.stderr.replace(str(BAD), "HERE") == expected_messages(BAD)[name]


@pytest.mark.parametrize("arguments", [("check", "nowhere.yaml"), ("check", "."), ("plan", "nowhere.yaml")])
def test_a_study_that_cannot_be_read(tmp_path, arguments):
    result = run_here(tmp_path, *arguments)
    assert result.returncode == 2
    assert re.fullmatch(r"error: cannot read the study \S+: .+\nhint: .+\n", result.stderr)


@pytest.fixture
def good(tmp_path):
    file = tmp_path / "study.yaml"
    data = written(
        targets={"disk": {"kind": "file", "path": "place"}},
        w_lanes=[1, 2],
        w_exclude={"one": {"when": "lanes == 1", "why": "dull"}},
    )
    file.write_text(json.dumps(data))
    return file


def test_check_says_what_was_found_and_touches_nothing(good):
    result = run_here(good.parent, "check", good.name)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("ok: 1 case x 5 repeats, 1 excluded; about ")
    assert list(good.parent.iterdir()) == [good]


def test_check_looks_at_the_targets(good):
    (good.parent / "place").mkdir()
    (good.parent / "place" / "precious").touch()
    result = run_here(good.parent, "check", good.name)
    assert result.returncode == 2
    assert result.stderr.startswith("study.yaml:1: error: targets.disk.path: ")
    assert "precious" in result.stderr


def test_plan_shows_cases_reasons_and_absolute_paths(good):
    result = run_here(good.parent, "plan", good.name)
    assert result.returncode == 0
    for words in ("disk / w / lanes=2", "dull", str(good.parent / "place"), "order: random", "100 us per operation"):
        assert words in result.stdout


def test_a_plan_needs_no_engine(tmp_path, monkeypatch):
    for name in ("ASSAY_ENGINE", "ASSAY_ENGINE_MPI"):
        monkeypatch.setenv(name, "/none")
    file = tmp_path / "study.yaml"
    target = "{kind: mpiio, path: /var/tmp/assay-plan}"
    work = "{operations: [write], file_size: 1MiB, record_size: 64KiB, cache: keep, collective: [false, true]}"
    head = "study: mpi\nquestion: q?\nlauncher: mpirun\nhosts: a[1-2]\nrepeats: 3\n"
    file.write_text(f"{head}targets: {{disk: {target}}}\nworkloads: {{w: {work}}}\ndefaults: {{layout: shared}}\n")
    result = run_here(tmp_path, "plan", "study.yaml")
    assert (result.returncode, "disk / w / collective=true" in result.stdout) == (0, True), result


def test_plan_as_json(good):
    result = run_here(good.parent, "plan", good.name, "--json")
    plan = json.loads(result.stdout)
    assert [case["id"] for case in plan["cases"]] == ["c0001"]
    assert plan["cases"][0]["parameters"]["lanes"] == 2
    assert plan["order"]["jobs"] == [f"c0001-r{repeat}" for repeat in range(1, 6)]
    assert plan["excluded"][0]["reason"] == "dull"
    assert plan["estimate"]["written"] == 5 * 2 * 2**20
    assert plan["targets"]["disk"]["path"] == str(good.parent / "place")


def test_many_cases_are_cut_unless_all_are_wanted(tmp_path):
    data = written(targets={"n": {"kind": "null"}}, w_lanes={"from": 1, "to": 30, "step": 1})
    (tmp_path / "s.yaml").write_text(json.dumps(data))
    short = run_here(tmp_path, "plan", "s.yaml").stdout
    assert "c0020" in short and "c0021" not in short and "10 more" in short
    assert "c0030" in run_here(tmp_path, "plan", "s.yaml", "--all").stdout


def test_a_case_is_planned_in_few_calls_from_file_to_page(tmp_path):
    axes = {"w_lanes": {"from": 1, "to": 100, "step": 1}, "w_stride": {"from": 1, "to": times(10, 100), "step": 1}}
    data = written(targets={"n": {"kind": "null"}}, **axes, w_where="record_size <= file_size")
    (tmp_path / "s.yaml").write_text(json.dumps(data))
    result = run_here(tmp_path, "plan", "s.yaml")
    count = times(1000, 10_000)
    assert f"{count} cases x 5 repeats" in result.stdout
    # 10,000 cases take 0.8 s on a quiet machine that makes 2.3 million calls a second.
    assert calls_of(partial(run_here, tmp_path, "plan", "s.yaml")) / count < 1000


@pytest.mark.parametrize("preset", PRESETS)
def test_init_writes_a_study_that_is_right(tmp_path, preset):
    result = run_here(tmp_path, "init", "my.yaml", "--from", preset)
    assert (result.returncode, result.stdout) == (0, "wrote my.yaml; next: assay plan my.yaml\n")
    assert "$schema" not in (tmp_path / "my.yaml").read_text()
    assert run_here(tmp_path, "plan", "my.yaml").returncode == 0


def test_init_knows_its_presets(tmp_path):
    result = run_here(tmp_path, "init", "--from", "quikstart")
    assert result.returncode == 2
    assert "did you mean `quickstart`?" in result.stderr
    assert not list(tmp_path.iterdir())


def test_every_preset_is_offered():
    shipped = {path.stem for path in (REPOSITORY / "workbench/src/assay/presets").glob("*.yaml")}
    assert shipped == set(PRESETS)
    help_text = run_here(BAD, "init", "--help").stdout
    assert all(preset in help_text for preset in PRESETS)


@pytest.mark.parametrize("command", ["init", "check", "plan"])
def test_help_has_an_example(command):
    assert f"Example: `assay {command}" in run_here(BAD, command, "--help").stdout
