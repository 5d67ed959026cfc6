"""The file system that fails is a real one, fails as it is told to, and says so."""

import errno
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from faulty import HANG_GUARD, FaultyMount, Injected, faulty_mount, needs_faults, tree

from assay.launch.mounts import read_mounts

pytestmark = needs_faults
OLD, NEW = b"o" * 8192, b"n" * 8192


@pytest.fixture(params=["direct", "cached"])
def mount(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[FaultyMount]:
    with faulty_mount(tmp_path, *(["--cached"] if request.param == "cached" else [])) as mounted:
        yield mounted


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def in_thread(action: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=action, daemon=True)
    thread.start()
    return thread


def suppressed(action: Callable[[], object]) -> int | None:
    """The errno with which it fails."""
    try:
        action()
    except OSError as error:
        return error.errno
    return None


def test_without_faults_it_passes_everything_on(mount: FaultyMount) -> None:
    deep = mount.path / "a" / "b"
    deep.mkdir(parents=True)
    data = os.urandom(3_000_000)
    (deep / "one").write_bytes(data)
    with (deep / "one").open("r+b") as file:
        file.seek(1_000_001)
        file.write(b"other")
        file.flush()
        os.fsync(file.fileno())
        os.ftruncate(file.fileno(), 2_000_000)
        os.posix_fallocate(file.fileno(), 0, 2_100_000)
        assert os.fstat(file.fileno()).st_size == 2_100_000
    expected = data[:1_000_001] + b"other" + data[1_000_006:2_000_000] + bytes(100_000)
    assert (deep / "one").read_bytes() == expected == (mount.backing / "a/b/one").read_bytes()
    (deep / "link").symlink_to("one")
    os.link(deep / "one", deep / "second")
    assert (deep / "link").readlink() == Path("one") and (deep / "second").stat().st_nlink == 2
    (deep / "one").chmod(0o640)
    os.utime(deep / "one", ns=(1_000_000_007, 2_000_000_009))
    found = (mount.backing / "a/b/one").stat()
    assert (found.st_mode & 0o7777, found.st_mtime_ns) == (0o640, 2_000_000_009)
    deep.rename(mount.path / "c")
    for number in range(500):
        (mount.path / "c" / f"file-{number:03}").touch(mode=0o600)
    assert tree(mount.path) == tree(mount.backing) and len(tree(mount.path)) == 505
    (mount.path / "c" / "second").unlink()
    with (mount.path / "c" / "one").open("rb") as file:
        (mount.path / "c" / "one").unlink()
        assert file.read() == expected, "an open file outlives its name"
    with pytest.raises(OSError, match="not empty"):
        (mount.path / "c").rmdir()
    assert os.statvfs(mount.path).f_blocks == os.statvfs(mount.backing).f_blocks > 0
    assert mount.injected() == []


@pytest.mark.parametrize(
    ("operation", "action"),
    [
        ("write", lambda file: os.pwrite(file, b"x" * 4096, 0)),
        ("read", lambda file: os.pread(file, 4096, 0)),
        ("fsync", os.fsync),
        ("setattr", lambda file: os.ftruncate(file, 10)),
    ],
)
@pytest.mark.parametrize("fault", ["enospc", "edquot", "eio", "estale", "erofs"])
def test_an_open_file_gets_the_errno(
    tmp_path: Path, fault: str, operation: str, action: Callable[[int], object]
) -> None:
    with faulty_mount(tmp_path) as mount:
        (mount.path / "file").write_bytes(bytes(8192))
        mount.set(f"{fault} on {operation} path file count 1")
        file = os.open(mount.path / "file", os.O_RDWR)
        try:
            with pytest.raises(OSError) as caught:
                action(file)
            action(file)
        finally:
            os.close(file)
        assert caught.value.errno == getattr(errno, fault.upper())
        (one,) = mount.injected()
        assert (one.fault, one.operation, one.path) == (fault, operation, "file")


def test_a_call_is_interrupted(mount: FaultyMount) -> None:
    """Python makes an interrupted call again by itself, so that only the log tells."""
    mount.set("eintr on write count 3")
    (mount.path / "file").write_bytes(OLD)
    assert [(one.fault, one.operation) for one in mount.injected()] == [("eintr", "write")] * 3
    assert (mount.backing / "file").read_bytes() == OLD


@pytest.mark.parametrize(
    ("operation", "action"),
    [
        ("open", lambda path: (path / "file").open()),
        ("create", lambda path: (path / "new").touch()),
        ("unlink", lambda path: (path / "file").unlink()),
        ("lookup", lambda path: (path / "file").stat()),
        ("mkdir", lambda path: (path / "folder").mkdir()),
        ("rename", lambda path: (path / "file").rename(path / "other")),
        ("readdir", names),
        ("statfs", os.statvfs),
    ],
)
def test_a_name_gets_the_errno(mount: FaultyMount, operation: str, action: Callable[[Path], object]) -> None:
    (mount.path / "file").touch()
    before = tree(mount.backing)
    mount.set(f"eio on {operation}")
    with pytest.raises(OSError) as caught:
        action(mount.path)
    assert caught.value.errno == errno.EIO
    assert {one.operation for one in mount.injected()} == {operation}
    assert tree(mount.backing) == before


def written(mount: FaultyMount, rule: str) -> tuple[int, bytes, Injected]:
    """Old data overwritten by new under a rule: what the write said, what is stored, what was injected."""
    (mount.path / "file").write_bytes(OLD)
    mount.set(rule)
    file = os.open(mount.path / "file", os.O_RDWR)
    size = os.pwrite(file, NEW, 0)
    os.close(file)
    (one,) = mount.injected()
    return size, (mount.backing / "file").read_bytes(), one


def test_a_short_write_says_so(tmp_path: Path) -> None:
    with faulty_mount(tmp_path) as mount:
        size, stored, _ = written(mount, "short on write count 1")
    assert (size, stored) == (4096, NEW[:4096] + OLD[4096:])


def test_torn_lost_and_corrupt_writes_say_that_all_is_well(tmp_path: Path) -> None:
    for number, (fault, expected) in enumerate({"torn": NEW[:4096] + OLD[4096:], "lost": OLD}.items()):
        (tmp_path / str(number)).mkdir()
        with faulty_mount(tmp_path / str(number)) as mount:
            assert written(mount, f"{fault} on write count 1")[:2] == (8192, expected)
    (tmp_path / "corrupt").mkdir()
    with faulty_mount(tmp_path / "corrupt") as mount:
        size, stored, one = written(mount, "corrupt on write count 1")
    assert size == 8192
    assert [at for at in range(8192) if stored[at] != NEW[at]] == [one.offset + one.length // 3]


def test_a_lost_write_at_the_end_still_makes_the_file_longer(mount: FaultyMount) -> None:
    mount.set("lost on write count 1")
    (mount.path / "file").write_bytes(NEW)
    assert (mount.backing / "file").read_bytes() == bytes(8192)


def test_reads_are_short_corrupt_or_stale(tmp_path: Path) -> None:
    with faulty_mount(tmp_path) as mount:
        (mount.path / "file").write_bytes(OLD)
        file = os.open(mount.path / "file", os.O_RDWR)
        os.pwrite(file, NEW[:4096], 0)
        mount.set("short on read count 1")
        assert os.pread(file, 8192, 0) == NEW[:4096]
        mount.set("corrupt on read count 1")
        read = os.pread(file, 4096, 0)
        assert [at for at in range(4096) if read[at] != NEW[at]] == [4096 // 3]
        mount.set("stale on read count 1")
        assert os.pread(file, 4096, 0) == OLD[:4096]
        assert os.pread(file, 8192, 0) == NEW[:4096] + OLD[4096:]
        os.close(file)


def test_what_has_disappeared_has_no_names_and_stale_files(mount: FaultyMount) -> None:
    (mount.path / "file").write_bytes(OLD)
    with (mount.path / "file").open("rb", buffering=0) as file:
        mount.set("disappear on any")
        with pytest.raises(OSError) as caught:
            file.read()
        assert caught.value.errno == errno.ESTALE
        assert not (mount.path / "file").exists()
        mount.clear()
    assert (mount.path / "file").read_bytes() == OLD
    mount.set("disappear on readdir")
    assert names(mount.path) == []


def test_a_delay_is_a_delay(mount: FaultyMount) -> None:
    mount.set("latency on create delay 300")
    done = in_thread((mount.path / "file").touch)
    mount.wait_for(mount.injected, "the fault")
    assert not (mount.backing / "file").exists(), "it is not done yet"
    done.join(HANG_GUARD)
    assert (mount.path / "file").exists()


@pytest.mark.parametrize("operation", ["write", "fsync", "unlink", "readdir", "statfs"])
def test_what_hangs_holds_up_nothing_else_and_can_be_released(mount: FaultyMount, operation: str) -> None:
    (mount.path / "file").write_bytes(OLD)
    (mount.path / "folder").mkdir()
    (mount.path / "folder" / "other").touch()
    file = os.open(mount.path / "file", os.O_RDWR)
    actions: dict[str, Callable[[], object]] = {
        "write": lambda: os.pwrite(file, NEW, 0),
        "fsync": lambda: os.fsync(file),
        "unlink": (mount.path / "file").unlink,
        "readdir": lambda: names(mount.path),
        "statfs": lambda: os.statvfs(mount.path),
    }
    mount.set(f"hang on {operation} count 1")
    hung = in_thread(actions[operation])
    mount.wait_for(lambda: mount.waiting == 1, "a hanging call")
    assert names(mount.path / "folder") == ["other"]
    hung.join(0.2)
    assert hung.is_alive()
    mount.release()
    hung.join(HANG_GUARD)
    assert not hung.is_alive() and mount.waiting == 0
    os.close(file)


def test_whoever_hangs_gets_an_error_when_the_server_dies(mount: FaultyMount) -> None:
    mount.set("hang on create")
    caught: list[int | None] = []
    hung = in_thread(lambda: caught.append(suppressed((mount.path / "file").touch)))
    mount.wait_for(lambda: mount.waiting == 1, "a hanging call")
    mount.die()
    hung.join(HANG_GUARD)
    assert caught and caught[0] in (errno.ECONNABORTED, errno.ENOTCONN)
    with pytest.raises(OSError) as after:
        names(mount.path)
    assert after.value.errno == errno.ENOTCONN


def test_nothing_is_left_of_a_mount_in_which_something_hangs(tmp_path: Path) -> None:
    with faulty_mount(tmp_path) as mount:
        mount.set("hang on mkdir")
        hung = in_thread(lambda: suppressed((mount.path / "folder").mkdir))
        mount.wait_for(lambda: mount.waiting == 1, "a hanging call")
    hung.join(HANG_GUARD)
    assert not hung.is_alive()
    assert not [mount.point for mount in read_mounts() if mount.point.startswith(str(tmp_path))]
    assert mount.process.returncode == 0


def test_a_rule_that_makes_no_sense_is_an_error(mount: FaultyMount) -> None:
    with pytest.raises(AssertionError, match="no such fault"):
        mount.set("nonsense on write")
    with pytest.raises(AssertionError, match="cannot be torn"):
        mount.set("torn on read")
