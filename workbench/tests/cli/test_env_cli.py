"""How two environments differ, and what `assay env` says of runs."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import make_analysis, make_meta
from hypothesis import given
from hypothesis import strategies as st
from run_tools import assay, needs_engine, only_run, study

from assay.analyse.environments.diff import WHOLE_SECTION, environment_diff, varying_values
from assay.launch.doctor import examine_settings
from assay.launch.environment import capture_environment, sources_sha256
from assay.model.result.environment import EnvironmentDifference
from assay.report.document import Bullets, Facts
from assay.report.environments import readable_values
from assay.report.sections import environment as report_section
from assay.report.view import RunView
from assay.store import RunStore

Environment = dict[str, dict[str, str]]
WORDS = st.sampled_from(["0", "100 KiB", "unknown: x", "none: y", "4 bytes (/a)", "4 bytes (/b)"])
NAMES = ["release", "total", "available", "load_before", "groups", "memory", "path", "scheduler", "(resumed)"]
SECTIONS = ["kernel", "cpu", "memory", "control groups", "target disk", "versions", "kernel (resumed)"]
ENVIRONMENTS = st.dictionaries(st.sampled_from(SECTIONS), st.dictionaries(st.sampled_from(NAMES), WORDS, max_size=5))


@given(ENVIRONMENTS)
def test_an_environment_does_not_differ_from_itself(environment: Environment) -> None:
    assert environment_diff(environment, environment) == varying_values(environment, environment) == ()


@given(ENVIRONMENTS, ENVIRONMENTS)
def test_the_other_way_round_is_the_mirror_image(before: Environment, after: Environment) -> None:
    for find in (environment_diff, varying_values):
        back = {item.model_copy(update={"before": item.after, "after": item.before}) for item in find(after, before)}
        assert set(find(before, after)) == back


@given(ENVIRONMENTS, ENVIRONMENTS)
def test_every_difference_is_told_once_and_what_matters_first(before: Environment, after: Environment) -> None:
    found = environment_diff(before, after)
    keys = [(item.section, item.name) for item in (*found, *varying_values(before, after))]
    assert len(keys) == len(set(keys))
    assert [item.matters for item in found] == sorted((item.matters for item in found), reverse=True)
    for section in set(before) & set(after):
        for name in set(before[section]) | set(after[section]):
            old, new = before[section].get(name), after[section].get(name)
            if old is None or new is None:
                assert (section, name) in keys or name in ("available", "load_before", "groups")
            elif section != "control groups":
                assert ((section, name) in keys) == (old != new)
    assert {item.section for item in found if item.name == WHOLE_SECTION} == set(before) ^ set(after)


def difference(section: str, name: str, before: str | None, after: str | None) -> EnvironmentDifference | None:
    """The only difference, if there is one, of two environments that both have this section."""
    sides: list[Environment] = [{section: {} if text is None else {name: text}} for text in (before, after)]
    found = environment_diff(sides[0], sides[1])
    assert len(found) <= 1
    return found[0] if found else None


@pytest.mark.parametrize(
    ("section", "name", "before", "after", "matters"),
    [
        ("kernel", "release", "6.1", "6.2", True),
        ("cpu", "governor", "performance", "none: no cpufreq", True),
        ("memory", "transparent_huge_pages", "always", "never", True),
        ("versions", "engine_sha256", "ab", "cd", True),
        ("target a b", "scheduler", "none", "bfq", True),
        ("target disk", "options", "rw", "rw,noatime", True),
        ("network eth0", "mtu", "1500", "9000", True),
        ("control groups", "io_limits", "no limit", "8:0 rbps=1 (/a)", True),
        ("sysctl", "vm.dirty_ratio", "20", "40", True),
        ("memory", "total", "24000000 KiB", "8000000 KiB", True),
        ("sysctl", "fs.aio-max-nr", "1", "2", False),
        ("versions", "python", "3.11", "3.12", False),
        ("target disk", "path", "/a", "/b", False),
        # Not known on one side, or not recorded by an older release: that says nothing.
        ("cpu", "governor", "performance", "unknown: Permission denied", False),
        ("cpu", "governor", None, "performance", False),
        # But what is noted when a run goes on elsewhere is only ever on one side.
        ("kernel (resumed)", "release", None, "6.2", True),
        ("versions", "assay (resumed)", "0.2", None, True),
    ],
)
def test_what_commonly_changes_results(
    section: str, name: str, before: str | None, after: str | None, matters: bool
) -> None:
    found = difference(section, name, before, after)
    assert found == EnvironmentDifference(section=section, name=name, before=before, after=after, matters=matters)


@pytest.mark.parametrize(
    ("section", "name", "before", "after"),
    [
        ("control groups", "memory", "5 bytes (/docker/1)", "5 bytes (/docker/2)"),
        ("memory", "total", "24684092 KiB", "24684000 KiB"),
        ("memory", "numa_node0", "24684092 KiB, CPUs 0-1", "24684000 KiB, CPUs 0-1"),
        ("cpu", "load_before", "0.1", "9.0"),
    ],
)
def test_what_is_no_other_environment(section: str, name: str, before: str, after: str) -> None:
    assert difference(section, name, before, after) is None


def test_a_node_with_other_cpus_is_not_about_the_same() -> None:
    found = difference("memory", "numa_node0", "24684092 KiB, CPUs 0-1", "24684000 KiB, CPUs 0-3")
    assert found is not None
    assert found.matters


def test_load_and_space_are_told_apart() -> None:
    before, after = ({"cpu": {"load_before": text}, "target x": {"free_bytes": text}} for text in ("1", "2"))
    assert [(item.section, item.before, item.after) for item in varying_values(before, after)] == [
        ("cpu", "1", "2"),
        ("target x", "1", "2"),
    ]
    assert varying_values(before, {"cpu": {}}) == ()


Store = Callable[[str, Environment], str]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Stores a run with this id and environment below `assay-runs`."""

    def make(name: str, environment: Environment) -> str:
        meta = make_meta(id=name, versions={"assay": "0.1"})
        with RunStore.create(tmp_path / "assay-runs", meta, (), (), [], "study: s\n") as run:
            run.describe(environment=environment)
        return name

    return make


OLD: Environment = {"kernel": {"release": "6.1"}, "cpu": {"load_before": "0.1"}, "sysctl": {"fs.aio-max-nr": "1"}}
NEW: Environment = {"kernel": {"release": "6.2"}, "cpu": {"load_before": "0.2"}, "sysctl": {"fs.aio-max-nr": "2"}}


def test_env_prints_what_a_run_was_measured_in(tmp_path: Path, store: Store) -> None:
    store("20270101-000000-s", OLD)
    text = assay(tmp_path, "env", "last").stdout
    assert text == (
        "versions\n  assay  0.1\n\nkernel\n  release  6.1\n\ncpu\n  load_before  0.1\n\nsysctl\n  fs.aio-max-nr  1\n"
    )
    assert json.loads(assay(tmp_path, "env", "2027", "--json").stdout) == {"versions": {"assay": "0.1"}, **OLD}


def test_env_diff_prints_only_what_differs_in_three_parts(tmp_path: Path, store: Store) -> None:
    first, second = store("20270101-000000-s", OLD), store("20270102-000000-s", NEW)
    text = assay(tmp_path, "env", "--diff", first, "last").stdout
    lines = [line.split() for line in text.splitlines() if line.strip() and "─" not in line]
    heading = ["Section", "Name", first, second]
    assert [line[:4] for line in lines] == [
        ["These", "commonly", "change", "results:"],
        heading,
        ["kernel", "release", "6.1", "6.2"],
        ["These", "rarely", "change", "results,"],
        heading,
        ["sysctl", "fs.aio-max-nr", "1", "2"],
        ["These", "always", "vary", "and"],
        heading,
        ["cpu", "load_before", "0.1", "0.2"],
    ]
    told = json.loads(assay(tmp_path, "env", "--diff", first, second, "--json").stdout)
    assert (told["before"], told["after"]) == (first, second)
    assert [item["name"] for item in told["differences"]] == ["release", "fs.aio-max-nr"]
    assert [item["name"] for item in told["varying"]] == ["load_before"]


def test_env_diff_of_the_same_says_so(tmp_path: Path, store: Store) -> None:
    store("20270101-000000-s", OLD)
    done = assay(tmp_path, "env", "--diff", "last", "last")
    assert done.stdout == "the environments are the same: 4 items in 4 sections\n"
    store("20270102-000000-s", {})
    assert "20270102-000000-s has no stored description" in assay(tmp_path, "env", "--diff", "last", "20270101").stderr


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("--diff",), "error: --diff compares two runs, but none is named"),
        (("--diff", "a"), "error: --diff compares two runs, but 1 is named"),
        (("--diff", "a", "b", "c"), "error: --diff compares two runs, but 3 are named"),
        (("a", "b"), "error: 2 runs are named"),
        (("a", "--target", "/"), "error: --target describes a folder or device of this machine now, not of a run"),
        (("--target", ""), "error: --target is empty"),
        (("--target", "x" * 300), f"error: {'x' * 300}: File name too long"),
        (("--target", "nowhere"), "error: nowhere: there is no such folder or device"),
        (("a",), "error: there are no runs in assay-runs"),
    ],
)
def test_env_refuses_in_one_line(tmp_path: Path, arguments: tuple[str, ...], error: str) -> None:
    done = assay(tmp_path, "env", *arguments, expect=2)
    assert (done.stdout, done.stderr.splitlines()[0]) == ("", error)


def test_env_of_this_machine_needs_no_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_ENGINE", "/nowhere")
    found = json.loads(assay(tmp_path, "env", "--target", ".", "--json").stdout)
    here: Environment = capture_environment({str(tmp_path): (False, str(tmp_path))})
    versions = found.pop("versions")
    differences = (item for item in environment_diff(found, here) if not item.section.startswith("network"))
    assert [item for item in differences if item.matters or item.name == WHOLE_SECTION] == []
    assert versions["assay_sha256"] == sources_sha256()
    assert versions["assay-engine"].startswith("unknown: ASSAY_ENGINE=/nowhere")


def test_hash_of_the_sources_follows_every_byte_and_name(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.py").write_text("1")
    (tmp_path / "notes.txt").write_text("1")
    hashes = [sources_sha256(tmp_path)]
    (tmp_path / "notes.txt").write_text("2")
    assert sources_sha256(tmp_path) == hashes[0]
    (tmp_path / "a" / "x.py").write_text("2")
    hashes.append(sources_sha256(tmp_path))
    (tmp_path / "a" / "x.py").rename(tmp_path / "x.py")
    hashes.append(sources_sha256(tmp_path))
    assert len(set(hashes)) == 3


def test_report_shows_the_environment_in_brief_and_folds_all_of_it() -> None:
    here = capture_environment({"Disk": (False, "/")})
    here["target Disk"]["scheduler"] = "none"
    analysis = make_analysis()
    run = analysis.run.model_copy(update={"environment": here})
    view = RunView(analysis.model_copy(update={"run": run}))
    (facts,) = [block for block in report_section.section(view).blocks if isinstance(block, Facts)]
    assert dict(facts.items)["Memory"] == readable_values(here["memory"])["total"]
    (fold,) = report_section.folds(view)
    shown = [block.items for block in fold.blocks if isinstance(block, Facts)]
    assert shown == [tuple(readable_values(part).items()) for part in here.values()]


@needs_engine
def test_a_run_keeps_its_environment_and_what_changed_when_it_is_resumed(tmp_path: Path) -> None:
    assay(tmp_path, "run", str(study(tmp_path, repeats=3)))
    run = only_run(tmp_path)
    found = json.loads(assay(tmp_path, "env", "last", "--json").stdout)
    assert len(bytes.fromhex(found["versions"]["assay_sha256"])) == 32
    assert found["target place"]["path"] == f"{tmp_path}/target"
    with RunStore.open(run, write=True) as store:
        begun = store.info().environment
        begun["kernel"]["release"] = "2.6"
        begun["cpu"]["load_before"] = "99"
        store.describe(environment=begun)
        store.set_status("interrupted")
    done = assay(tmp_path, "run", str(run), "--resume")
    assert "the environment has changed since the run began: kernel release" in done.stderr
    with RunStore.open(run) as store:
        now = store.info().environment
    assert now["kernel (resumed)"] == {"release": found["kernel"]["release"]}
    # A virtual machine may be given memory, or lose some, meanwhile.
    others = {name: section for name, section in now.items() if name not in ("kernel (resumed)", "memory (resumed)")}
    assert others == begun


def test_settings_that_differ_are_one_line_each_in_env_and_report(tmp_path: Path, store: Store) -> None:
    hosts = {
        f"host {name}": {"smt": smt, "interface eth0": "mtu 1500, up"} for name, smt in (("a", "on"), ("b", "off"))
    }
    store("20270101-000000-s", {**hosts, "settings wanted": {"mtu": "9000"}})
    lines = [
        "host a: MTU of eth0: 1500; the study requires 9000",
        "host b: MTU of eth0: 1500; the study requires 9000",
        "SMT differs between hosts: on on host a, off on host b",
    ]
    assert assay(tmp_path, "env", "last").stderr.splitlines() == [f"settings: {line}" for line in lines]
    analysis = make_analysis()
    run = analysis.run.model_copy(update={"environment": {**hosts, "settings wanted": {"mtu": "9000"}}})
    assert Bullets(tuple(lines)) in report_section.section(RunView(analysis.model_copy(update={"run": run}))).blocks


def test_doctor_says_what_a_study_wants_otherwise(tmp_path: Path) -> None:
    here = capture_environment({})["kernel"]["clock_source"]
    file = study(tmp_path)
    text = file.read_text()
    assert [fact.found for fact in examine_settings({"clock": here}, {})] == ["as the study requires: clock"]
    file.write_text(f"{text}settings: {{clock: sundial}}\n")
    told = json.loads(assay(tmp_path, "doctor", file, "--json").stdout)
    (fact,) = [one for one in told if "the study requires" in one["found"]]
    assert (fact["status"], fact["found"]) == ("limited", f"{here}; the study requires sundial")
    assert "echo sundial" in fact["remedy"]
