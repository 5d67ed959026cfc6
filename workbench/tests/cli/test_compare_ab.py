"""`assay ab`: what a side may be, what is refused, and what a stored run of two sides says."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from builders import make_case, make_meta, make_place, make_sample
from run_tools import ENGINE, assay, needs_engine
from stored_runs import noisy

from assay.model.study.blocks import Blocks
from assay.plan.blocks import block_order, pairs_of
from assay.store import RunStore, list_runs

STUDY = """
study: tiny
question: Which?
targets:
  one: {kind: "null", latency: {distribution: fixed, time: 1ms}}
  two: {kind: "null", latency: {distribution: fixed, time: 2ms}}
  three: {kind: "null"}
workloads:
  both: {operations: [random_read], file_size: 1MiB, record_size: 4KiB, runtime: 20ms}
  alone: {operations: [write], file_size: 1MiB, record_size: 64KiB, targets: [one]}
repeats: 4
order: sequential
schedule: {over: 24h}
ceilings: none
"""


def write_study(folder: Path, text: str = STUDY) -> None:
    (folder / "study.yaml").write_text(text)


def refused(folder: Path, *words: object, expect: int = 2) -> str:
    """The one line of a refusal, which has a hint and leaves nothing."""
    done = assay(folder, "ab", *words, expect=expect)
    *_, error, hint = done.stderr.splitlines()
    assert error.startswith("error: ") and hint.startswith("hint: ") and done.stdout == ""
    assert not list_runs(folder / "assay-runs")
    return error


@needs_engine
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("one", "two"), "'one' has no slash, so it names a target, but no study is named"),
        (("one", "four", "--study", "study.yaml"), "the study has no target 'four'"),
        (("one", "one", "--study", "study.yaml"), "both sides are one"),
        (("./a", "./none"), "./none: no such file or directory, or no permission to read it"),
        (("./a", "./a"), "both sides are ./a"),
        (("./a", "./b/../a"), "both sides are ./a"),
        (("./a", "./link"), "both sides are ./a"),
        (("./a", "one", "--study", "study.yaml"), "./a is a directory or device, one a target of the study"),
        (("./a", "./study.yaml"), "./study.yaml: is not executable"),
        (("./a", "/dev/null"), "/dev/null: is not a directory, device or engine"),
        (("./a", "./b", "--time", "5"), "--time: "),
        (("./a", "./b", "--time", "1ms"), "--time 1ms is too short"),
    ],
)
def test_what_a_side_is_must_be_clear(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    write_study(tmp_path)
    for name in "ab":
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to("a")
    assert message in refused(tmp_path, *words)
    assert not [path for name in "ab" for path in (tmp_path / name).iterdir()]


def test_compare_needs_a_run(tmp_path: Path) -> None:
    done = assay(tmp_path, "compare", expect=2)
    assert "no run is named" in done.stderr and "`assay ab A B` measures two sides" in done.stderr


@needs_engine
def test_a_run_is_no_side_and_no_program_is_an_engine(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "run.sqlite").write_text("")
    assert "./b: is the folder of a run" in refused(tmp_path, "./a", "./b")
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho nothing of ours\n")
    program.chmod(0o755)
    assert "./program: is not an engine: " in refused(tmp_path, ENGINE, "./program", expect=3)


@needs_engine
def test_engines_need_a_study_with_one_target(tmp_path: Path) -> None:
    write_study(tmp_path)
    other = Path(shutil.copy(ENGINE, tmp_path / "engine"))
    done = assay(tmp_path, "ab", ENGINE, "./engine", expect=2)
    assert "two engines need a study" in done.stderr
    done = assay(tmp_path, "ab", ENGINE, other, "--study", "study.yaml", expect=2)
    assert "has 3 targets, one, two, three: two engines are compared on a single target" in done.stderr


@needs_engine
def test_rounds_that_do_not_fit_into_the_time_are_refused_with_the_time_that_they_take(tmp_path: Path) -> None:
    write_study(tmp_path, STUDY.replace("runtime: 20ms", "runtime: 60s"))
    error = refused(tmp_path, "one", "two", "--study", "study.yaml", expect=3)
    assert "5 rounds of 2 repeats, the fewest for a decision, take about 10 min" in error
    assert error.endswith("more than the 5 min of --time")


def stored(folder: Path, rates: dict[str, list[float]], cached: bool = False, **changes: Any) -> None:
    """A finished run of two sides, made without the engine; with reads from the page cache besides, if wanted."""
    operations = ("write", "read") if cached else ("write",)
    cases = [make_case(f"c000{n}", side, operations, cache="keep") for n, side in enumerate(rates, start=1)]
    blocks = Blocks(base="A", other="B", seconds=60, **changes)
    meta = make_meta(
        id="r",
        study="tiny-ab",
        question="Is B slower than A, or faster?",
        created_at=1_795_288_503.0,
        repeats=blocks.max_rounds,
        versions={"assay": "0.1.0"},
        places=tuple(make_place(side) for side in rates),
        blocks=blocks,
    )
    order = block_order(pairs_of(cases, "A", "B"), blocks.max_rounds, 1)
    with RunStore.create(folder / "assay-runs", meta, cases, (), order, "study: tiny-ab\n") as store:
        for case in cases:
            for repeat, rate in enumerate(rates[case.target], start=1):
                attempt = store.begin_attempt(case.id, repeat, {})
                samples = [make_sample(case.id, repeat, rate, "write")]
                if cached:
                    unread = {"device_read_bytes": 0, "read_bytes": 1 << 26}
                    samples.append(make_sample(case.id, repeat, 20 * rate, "read", phase=1, **unread))
                store.finish_repeat(attempt, "ok", 0.5, "", "", samples)
            store.settle(case.id, "told apart")
        store.set_status("complete")


def gate(folder: Path, percent: str, expect: int) -> list[str]:
    return assay(folder, "compare", "r", "--fail-if-slower", percent, expect=expect).stderr.splitlines()


def test_the_gate_fails_for_what_is_slower_and_passes_what_is_equal(tmp_path: Path) -> None:
    same = {"A": noisy(3e8, 13, 0.01, seed=1), "B": noisy(3e8, 13, 0.01, seed=2)}
    stored(tmp_path, same)
    assert gate(tmp_path, "5%", expect=0) == []
    text = assay(tmp_path, "compare", "r").stdout
    assert "equal within 5 %: 1 row" in text and "13 rounds in 13 s" in text and "\ndecided: every row" in text
    shutil.rmtree(tmp_path / "assay-runs")
    stored(tmp_path, {**same, "B": noisy(2.6e8, 13, 0.01, seed=2)})
    (line,) = gate(tmp_path, "5%", expect=1)
    assert line.startswith("slower: A -> B / grid / , write: 13.") and line.endswith("%, more than 5 %")
    assert gate(tmp_path, "20%", expect=0) == []


def test_what_is_open_is_no_pass(tmp_path: Path) -> None:
    stored(tmp_path, {"A": noisy(3e8, 8, 0.15, seed=1), "B": noisy(3e8, 8, 0.15, seed=2)})
    judged, error, hint = gate(tmp_path, "5%", expect=3)
    assert judged.startswith("not judged: A -> B / grid / , write: undecided: B is −")
    assert error == "error: no row is decided, so --fail-if-slower cannot be checked" and hint.startswith("hint: ")
    assert "\nundecided: grid / , write: B is −" in assay(tmp_path, "compare", "r").stdout
    value = json.loads(assay(tmp_path, "compare", "r", "--json").stdout)["ab"]
    assert len(value["open"]) == 1 and value["equal"] == value["slower"] == value["faster"] == []
    assert (value["rounds"], value["seconds"], value["equal_within"]) == (8, 8.0, 0.05)


def test_a_row_that_is_none_does_not_pass_for_one_that_is_decided(tmp_path: Path) -> None:
    """Beside noise that decides nothing a cached row is no reason to pass, nor counts it as equal or faster."""
    stored(tmp_path, {"A": noisy(3e8, 8, 0.15, seed=1), "B": noisy(3e8, 8, 0.15, seed=2)}, cached=True)
    *_, error, hint = gate(tmp_path, "5%", expect=3)
    assert error == "error: no row is decided, so --fail-if-slower cannot be checked" and hint.startswith("hint: ")
    text = assay(tmp_path, "compare", "r").stdout
    assert "no result: grid / , read: A is cached; B is cached" in text and "\ndecided" not in text
    assert "1 with a side that is cached, impossible or incomplete" in text
    value = json.loads(assay(tmp_path, "compare", "r", "--json").stdout)["ab"]
    assert len(value["no_result"]) == len(value["open"]) == 1


def test_each_planned_look_makes_a_claim_dearer(tmp_path: Path) -> None:
    """The same numbers: significant if they were looked at once, but not if eight times."""
    rates = {"A": noisy(3e8, 5, 0.02, seed=3), "B": noisy(2.85e8, 5, 0.02, seed=8)}
    found = []
    for number, looks in enumerate(((5,), (5, 8, 13, 20, 32, 50, 80, 120))):
        folder = tmp_path / str(number)
        stored(folder, rates, looks=looks)
        for words in (("r",), ("r", "--by", "target")):
            (row,) = json.loads(assay(folder, "compare", *words, "--json").stdout)["rows"]
            found.append((row["significant"], row["p_adjusted"]))
    assert [significant for significant, _ in found] == [True, True, False, False]
    assert found[2][1] == pytest.approx(min(1.0, 8 * found[0][1]))
