"""Real runs of two sides in turns: targets, directories, engines; stopped and gone on with."""

import json
import random
import shutil
import signal
import stat
import subprocess
from collections import Counter
from pathlib import Path

from in_process import run_here
from killing import GUARD, Start, strike, wait_for_line
from paths import this_python
from run_tools import ASSAY, ENGINE, assay, check_nothing_left, needs_engine, only_run
from soak import times

from assay.model.study.blocks import Blocks
from assay.plan.blocks import block_order, pairs_of
from assay.plan.load import load_study
from assay.store import RunStore

pytestmark = needs_engine

TARGETS = """
study: tiny
question: Which?
targets:
  one: {kind: "null", latency: {distribution: fixed, time: 1ms}}
  two: {kind: "null", latency: {distribution: fixed, time: 2ms}}
  wild: {kind: "null", latency: {distribution: exponential, mean: 5ms}}
workloads:
  both: {operations: [random_read], file_size: 1MiB, record_size: 4KiB, runtime: 100ms}
  alone: {operations: [write], file_size: 1MiB, record_size: 64KiB, targets: [one]}
repeats: 4
order: sequential
schedule: {over: 24h}
ceilings: none
"""
SHORT = """
study: short
question: Which?
targets: {{here: {{kind: file, path: {path}}}}}
workloads: {{w: {{operations: [write], file_size: 1MiB, record_size: 64KiB, queue_depth: 4, cache: keep}}}}
ceilings: none
"""


def write_study(folder: Path, text: str = TARGETS) -> None:
    (folder / "study.yaml").write_text(text)


def blocks_of(store: RunStore) -> Blocks:
    blocks = store.info().blocks
    assert blocks is not None
    return blocks


def check_rounds(store: RunStore) -> int:
    """Whole rounds, in the order that was planned, each repeat once; returns how many there are."""
    blocks = blocks_of(store)
    pairs = pairs_of(store.cases(), blocks.base, blocks.other)
    assert tuple(store.order()) == block_order(pairs, blocks.max_rounds, store.info().seed)
    jobs = [(job.case, job.repeat) for job in store.jobs()]
    rounds = max(repeat for _, repeat in jobs)
    assert Counter(jobs) == Counter(
        (case, number) for pair in pairs for case in pair for number in range(1, rounds + 1)
    )
    assert (store.info().planned, store.info().status) == (len(jobs), "complete")
    assert store.pending() == []
    assert rounds == blocks.max_rounds or {case.id for case in store.cases()} == set(store.settled())
    return rounds


def test_targets_of_a_study_are_measured_in_turns_and_the_run_is_like_others(tmp_path: Path) -> None:
    write_study(tmp_path)
    done = assay(tmp_path, "ab", "one", "two", "--study", "study.yaml", "--fail-if-slower", "5%", expect=1)
    assert done.stdout.splitlines()[:2] == ["one", "two"] and "two against one" in done.stdout
    assert "1 row: 0 faster, 1 slower" in done.stdout
    assert "decided: every row shows whether two is faster, slower, or equal within 5 %" in done.stdout
    *_, line = done.stderr.splitlines()
    assert line.startswith("slower: one -> two / both, random_read: ") and line.endswith(" %, more than 5 %")
    assert assay(tmp_path, "compare", "last").stdout == done.stdout
    assert "note: left out, because they do not run on both sides: alone" in done.stderr
    assert "one and two in turns" in assay(tmp_path, "show", "last").stdout
    with RunStore.open(only_run(tmp_path)) as store:
        info, blocks = store.info(), blocks_of(store)
        assert check_rounds(store) in blocks.looks
        executed = [(attempt.case, attempt.repeat) for attempt in store.attempts()]
        assert executed == store.order()[: len(executed)]
        assert (info.study, blocks.base, blocks.other, blocks.seconds) == ("tiny-ab", "one", "two", 300)
        loaded = load_study(info.study_text.encode(), str(tmp_path))
        assert loaded.study is not None and loaded.study.schedule is None and list(loaded.study.workloads) == ["both"]
        assert set(store.settled().values()) == {"decided: two is slower"}
    for words in ("show last c0001", "export last -f csv -o -", "report last -o report.html", "list"):
        assay(tmp_path, *words.split())
    assert "measured on both sides, one right after the other" in (tmp_path / "report.html").read_text()


def test_the_time_ends_a_run_whatever_is_open_but_not_before_the_fewest_rounds(tmp_path: Path) -> None:
    write_study(tmp_path)
    words = ("wild", "one", "--study", "study.yaml")
    assay(tmp_path, "ab", *words, "--time", "4s")
    with RunStore.open(only_run(tmp_path)) as store:
        rounds = check_rounds(store)
        assert rounds >= 5
        told = set(store.settled().values())
    assert told == {"decided: one is faster"} or all("the time is over" in why for why in told)


def test_two_directories_are_left_as_they_were(tmp_path: Path) -> None:
    write_study(tmp_path, SHORT.format(path="/nowhere/at/all"))
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine").write_text("mine")
    words = ("./a", tmp_path / "b", "--study", "study.yaml", "--time", "5s", "--json")
    done = run_here(tmp_path, "ab", *words)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["ab"]["sides"] == {name.upper(): f"{tmp_path}/{name}/assay-ab" for name in "ab"}
    assert len(found["rows"]) == 1 and found["ab"]["rounds"] >= 5
    assert "note: both sides are on the same file system" in done.stderr
    for name in "ab":
        assert [path.name for path in (tmp_path / name).iterdir()] == ["mine"]


def other_engine(folder: Path, name: str) -> str:
    """A program that becomes the engine, so that it is another one that speaks the same contract."""
    path = folder / name
    path.write_text(f"{this_python()}import os, sys\n# {name}\nos.execv({ENGINE!r}, [{ENGINE!r}, *sys.argv[1:]])\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return f"./{name}"


def test_two_engines_measure_in_one_place_and_are_told_apart(tmp_path: Path) -> None:
    write_study(tmp_path, SHORT.format(path=tmp_path / "data"))
    names = [other_engine(tmp_path, name) for name in ("old", "new")]
    words = (*names, "--study", "study.yaml", "--time", "8s")
    text = assay(tmp_path, "ab", *words).stdout
    assert "B against A" in text and text.startswith("A  assay-engine ")
    assert not (tmp_path / "data").exists()
    run = only_run(tmp_path)
    with RunStore.open(run) as store:
        info = store.info()
        assert [place.path for place in info.places] == [f"{tmp_path}/data"] * 2
        assert len({info.versions[f"engine_sha256 {side}"] for side in "AB"}) == 2
        found: dict[str, set[tuple[str, str]]] = {side: set() for side in "AB"}
        for choice in info.methods:
            found[choice.target].add((choice.direction, choice.method))
        assert found["A"] == found["B"] and found["A"]
        assert info.blocks is not None and info.blocks.engines
        check_rounds(store)
    done = assay(tmp_path, "run", run, "--resume", expect=3)
    assert "compares two engines, which a run does not store" in done.stderr
    assert only_run(tmp_path) == run


def test_the_engine_of_a_side_is_the_one_that_measures_it(tmp_path: Path) -> None:
    """Both write down that they were started."""
    write_study(tmp_path, SHORT.format(path=tmp_path / "data"))
    for name in ("old", "new"):
        path = Path(tmp_path / other_engine(tmp_path, name))
        note = f"if sys.argv[1] == 'run':\n    open({str(tmp_path / 'log')!r}, 'a').write('{name}\\n')\n"
        path.write_text(path.read_text().replace("# ", f"{note}# "))
    assay(tmp_path, "ab", "./old", "./new", "--study", "study.yaml", "--time", "8s")
    with RunStore.open(only_run(tmp_path)) as store:
        targets = {case.id: case.target for case in store.cases()}
        started = [{"A": "old", "B": "new"}[targets[attempt.case]] for attempt in store.attempts()]
    assert (tmp_path / "log").read_text().split() == started


def test_ctrl_c_stops_it_and_it_goes_on_where_it_was(tmp_path: Path) -> None:
    write_study(tmp_path)
    command = [ASSAY, "ab", "one", "wild", "--study", "study.yaml"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    wait_for_line(process, "[1/")
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=GUARD)
    assert process.returncode == 130, output
    run = only_run(tmp_path)
    assert (
        f"continue with: assay run {run} --resume" in output.replace("assay-runs", str(run.parent))
        or run.name in output
    )
    done = assay(tmp_path, "run", "--resume")
    assert f"comparison: assay compare assay-runs/{run.name}" in done.stderr
    with RunStore.open(run) as store:
        assert check_rounds(store) in blocks_of(store).looks
    assert "wild against one" in assay(tmp_path, "compare", "last").stdout
    check_nothing_left(tmp_path)


def test_kill_9_at_random_moments_then_resume(tmp_path: Path, start: Start) -> None:
    seed = random.randrange(10**6)
    print(f"seed {seed}")
    chance = random.Random(seed)
    write_study(tmp_path)
    assay(tmp_path, "ab", "one", "wild", "--study", "study.yaml")
    whole = only_run(tmp_path)
    for _ in range(times(1, 10)):
        _begin_again(whole)
        process = start("--resume")
        strike(process, "workbench", chance, 1)
        process.communicate(timeout=GUARD)
        with RunStore.open(whole) as store:
            over = store.info().status == "complete"
        if not over:
            assay(tmp_path, "run", "--resume")
        with RunStore.open(whole) as store:
            assert check_rounds(store) in blocks_of(store).looks
    shutil.rmtree(whole)
    check_nothing_left(tmp_path)


def _begin_again(run: Path) -> None:
    """As if only the first four rounds had been measured."""
    with RunStore.open(run, write=True) as store:
        for case in list(store.settled()):
            store.settle(case, "")
        with store._transaction():
            for table in ("samples", "outcomes", "attempts"):
                store._db.execute(f"DELETE FROM {table} WHERE repeat > 4")
        store.set_status("interrupted")
