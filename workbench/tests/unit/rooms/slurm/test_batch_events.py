"""What a job tells whoever follows it, and what of it is told again."""

import json
from pathlib import Path
from typing import Any

import pytest

from assay.rooms.slurm.work.progress_file import (
    IntervalMerger,
    ProgressReader,
    RecordingListener,
    Replay,
    lines_for_late_follower,
)
from assay.run.listener import HostInterval, Progress, Stretch, TimeLeft
from assay.store.entries import PROGRESS

SECOND = 10**9


class Listening:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.heard: list[Any] = []

    def print_line(self, text: str) -> None:
        self.heard.append(text)

    def progress(self, total: int, done: int, left: TimeLeft) -> Progress:
        self.heard.append((total, done, round(left.seconds())))
        return _Shown(self.heard)  # type: ignore[return-value]


class _Shown:
    def __init__(self, heard: list[Any]) -> None:
        self._heard = heard

    def __enter__(self) -> "_Shown":
        return self

    def __exit__(self, *_: object) -> None:
        self._heard.append("closed")

    def __getattr__(self, name: str) -> Any:
        return lambda *given: self._heard.append((name, *given[:1]))


def heard(host: str, second: int, moved: float, length: float = 1.0) -> HostInterval:
    start = int(second * SECOND)
    return HostInterval(host, Stretch(start, start + int(length * SECOND), moved, moved / 10), in_operations=False)


def test_intervals_of_hosts_become_those_of_one() -> None:
    merger, found = IntervalMerger(), []
    for second in range(5):
        for host in ("a", "b", "c"):
            found += merger.add(heard(host, second, 100.0))
    assert [done for done, _ in found] == [
        Stretch(second * SECOND, (second + 1) * SECOND, 300.0, 30.0) for second in range(3)
    ]


def test_a_host_that_is_late_by_one_interval_is_counted_with_the_others() -> None:
    merger = IntervalMerger()
    assert merger.add(heard("a", 0, 1.0)) == []
    assert merger.add(heard("a", 1, 1.0)) == []
    assert merger.add(heard("b", 0, 5.0)) == []
    ((whole, _),) = merger.add(heard("a", 2, 1.0))
    assert whole.bytes == 6.0


def test_what_is_told_is_told_again(tmp_path: Path) -> None:
    inner, outer = Listening(), Listening()
    telling = RecordingListener(inner, tmp_path, "17")
    telling.print_line("one")
    with telling.progress(8, 2, TimeLeft(30.0)) as progress:
        progress.phase("write", lambda _bytes, _ops: None)
        progress.print_line("two")
        progress.drop_repeats(3)
    telling.append("over", status="complete")
    replay = Replay(outer)
    for line in ProgressReader(tmp_path).lines():
        replay.play(line)
    assert outer.heard == ["one", (8, 2, 30), ("phase", "write"), ("print_line", "two"), ("drop_repeats", 3), "closed"]


def test_a_line_that_is_not_whole_waits(tmp_path: Path) -> None:
    reader, path = ProgressReader(tmp_path), tmp_path / PROGRESS
    assert list(reader.lines()) == []
    path.write_text('{"what":"say","text":"a"}\n{"what":"say","te')
    assert [line["text"] for line in reader.lines()] == ["a"]
    with path.open("a") as file:
        file.write('xt":"b"}\nnot json\n[1]\n')
    assert [line["text"] for line in reader.lines()] == ["b"]


@pytest.mark.parametrize(
    "line",
    [{}, {"what": "progress"}, {"what": "begin", "case": {}, "repeat": 1}, {"what": "say"}, {"what": 7}, {"left": "x"}],
)
def test_what_cannot_be_read_is_left_out(line: dict[str, Any]) -> None:
    outer = Listening()
    replay = Replay(outer)
    replay.play({"what": "progress", "total": 1, "done": 0, "left": 1.0, "at_most": False})
    replay.play(line)
    assert outer.heard == [(1, 0, 1)]


def test_whoever_comes_later_is_told_how_far_it_is() -> None:
    lines = [
        {"what": "job", "id": "1"},
        {"what": "say", "text": "old"},
        {"what": "progress", "total": 9, "done": 1, "left": 50.0, "at_most": True},
        {"what": "begin", "repeat": 1, "left": 50.0},
        {"what": "finish", "repeat": 1, "left": 40.0},
        {"what": "fewer", "count": 2},
        {"what": "begin", "repeat": 2, "left": 39.0},
        {"what": "phase", "operation": "write"},
    ]
    assert lines_for_late_follower(lines) == [
        {"what": "progress", "total": 7, "done": 2, "left": 39.0, "at_most": True},
        {"what": "begin", "repeat": 2, "left": 39.0},
        {"what": "phase", "operation": "write"},
    ]


def test_a_disk_that_is_full_is_said_once_and_ends_nothing(tmp_path: Path) -> None:
    inner = Listening()
    telling = RecordingListener(inner, tmp_path / "gone", "17")
    telling.print_line("a")
    telling.print_line("b")
    assert [text for text in inner.heard if "cannot be written" in text] == inner.heard[:1]
    assert inner.heard[1:] == ["a", "b"]
    assert json.dumps(inner.heard)
