"""One process reads one file after another; after anything odd the next file gets another process."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from assay.model import user_files
from assay.model.user_files import UnreadableError, open_user_file, path_kind, read_user_file

MOST = 1 << 20


@pytest.fixture
def idle() -> Iterator[None]:
    """No process waits before the test, and none after it."""
    user_files._end_idle()
    yield
    user_files._end_idle()


def waiting() -> list[int]:
    return [process.pid for _, process in user_files._IDLE]


def read(path: Path | str) -> bytes:
    return read_user_file(path, "f", "", MOST)


@pytest.mark.usefixtures("idle")
def test_files_are_read_by_one_process(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"first")
    (tmp_path / "b").write_bytes(b"x" * 300_000)
    (tmp_path / "empty").touch()
    assert read(tmp_path / "a") == b"first"
    (first,) = waiting()
    assert read(tmp_path / "b") == b"x" * 300_000
    assert read(tmp_path / "empty") == b""
    for odd in ("nothing", "", "a/b"):
        with pytest.raises(UnreadableError) as caught:
            read(tmp_path / odd if odd else "")
        assert caught.value.missing
    for name in (tmp_path, "/dev/zero", "/dev/stdin"):
        with pytest.raises(UnreadableError):
            read(name)
    assert (path_kind(tmp_path), path_kind(tmp_path / "a"), path_kind("/dev/zero")) == ("folder", "file", "other")
    assert waiting() == [first]


@pytest.mark.usefixtures("idle")
def test_a_relative_path_starts_where_assay_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a").write_text(name)
        monkeypatch.chdir(tmp_path / name)
        assert read("a").decode() == name
        assert read_user_file("one/a", "f", "", MOST, inside="..").decode() == "one"
    (tmp_path / "two/a").unlink()
    (tmp_path / "two").rmdir()
    with pytest.raises(UnreadableError) as caught:
        read("a")
    assert caught.value.missing


@pytest.mark.usefixtures("idle")
def test_a_file_that_is_not_read_to_its_end_costs_its_process(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 300_000)
    with open_user_file(tmp_path / "a", "f", "", MOST) as file:
        assert file.read(10) == b"x" * 10
    assert waiting() == []
    assert read(tmp_path / "a") == b"x" * 300_000


@pytest.mark.usefixtures("idle")
def test_two_files_can_be_open_at_once(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(name * 10)
    with (
        open_user_file(tmp_path / "a", "f", "", MOST) as one,
        open_user_file(tmp_path / "b", "f", "", MOST) as other,
    ):
        assert (one.read(5), other.read(), one.read()) == (b"aaaaa", b"b" * 10, b"aaaaa")
    assert len(waiting()) == 2


@pytest.mark.usefixtures("idle")
def test_a_waiting_process_that_was_killed_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    assert read(tmp_path / "a") == b"a"
    ((_, process),) = user_files._IDLE
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert read(tmp_path / "a") == b"a"
    assert waiting() != [process.pid]


@pytest.mark.usefixtures("idle")
def test_threads_may_read_at_once(tmp_path: Path) -> None:
    for name in "abcdefgh":
        (tmp_path / name).write_text(name * 1000)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda name: read(tmp_path / name).decode(), "abcdefgh" * 8))
    assert found == [name * 1000 for name in "abcdefgh" * 8]
