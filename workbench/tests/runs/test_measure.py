"""`assay measure`, with the real engine."""

import json
from pathlib import Path
from typing import NamedTuple

import pytest
from in_process import run_here

from assay.model.base import EXIT_REFUSED
from assay.store import RunStore, list_runs


class Done(NamedTuple):
    code: int
    out: str
    err: str


def assay(*words: str) -> Done:
    done = run_here(Path.cwd(), *words)
    return Done(done.returncode, done.stdout, done.stderr)


def in_time(*words: str) -> Done:
    """In the least of some times that is enough: a machine that is busy with other tests needs more."""
    for seconds in (10, 20, 40):
        done = assay("measure", *words, "--time", f"{seconds}s")
        if done.code != EXIT_REFUSED:
            break
    return done


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    return tmp_path


def test_two_places_are_measured_compared_and_left_as_they_were(here: Path) -> None:
    done = in_time("a", "b", "--save", "study.yaml", "--report")
    assert done.code == 0, done.err
    for word in ("random read", "1 MiB x1", "p99.9", "simultaneous 95 %", "seq write"):
        assert word in done.out
    assert [path.name for path in here.iterdir() if path.name in "ab" and any(path.iterdir())] == []
    (run,) = list_runs(here / "assay-runs")
    assert run.status == "complete"
    assert (Path(run.folder) / "report.html").exists()
    with RunStore.open(Path(run.folder)) as store:
        assert store.study_text() == (here / "study.yaml").read_text()
    assert assay("check", "study.yaml").code == 0


def test_one_place_as_json(here: Path) -> None:
    done = in_time("a", "--json")
    assert done.code == 0, done.err
    value = json.loads(done.out)
    # On a busy machine there are fewer kinds of work, and that is said.
    kinds = len(value["results"])
    assert value["places"] == {"a": "a"} and kinds in (4, 8, 16)
    assert f" from start to end: {kinds} kinds of operation" in done.err
    assert ("no time for" in done.err) is (kinds < 16)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("measure", "nothing"), "neither a directory nor a device"),
        (("measure", "a", "--time", "1s"), "between 5s and 24h"),
        (("measure", "a", "--time", "soon"), "--time"),
        (("measure", "a", "--save", "there.yaml"), "exists already"),
    ],
)
def test_what_cannot_be_measured_gets_one_line(here: Path, words: tuple[str, ...], said: str) -> None:
    (here / "there.yaml").write_text("x")
    done = assay(*words)
    assert done.code in (2, 3) and said in done.err and "Traceback" not in done.err
    assert not (here / "assay-runs").exists()
