"""Files that a user names: regular ones, not too large, and Assay waits for none for ever."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest
from hang_guard import hang_guard
from hung_storage import hung, need_fuse
from hypothesis import given, settings
from hypothesis import strategies as st
from in_process import run_here
from run_tools import ASSAY, assay
from soak import times
from stored_runs import noisy, store_run

from assay.model import user_files
from assay.model.base import EXIT_REFUSED, EXIT_USAGE, AssayError
from assay.model.regular_files import IrregularError, TooLargeError, read_regular
from assay.model.site.host import MAX_HOSTS
from assay.model.source import MAX_FILE_BYTES, read_source
from assay.model.user_files import UnreadableError, open_user_file, read_user_file
from assay.rooms.testbed.work.box import load_box
from assay.site.inventory.hosts import resolve_hosts

MAX_BYTES = 1000


@pytest.fixture
def things(tmp_path: Path) -> Path:
    """A folder with one of each kind of thing that is no file to be read."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "to-zero").symlink_to("/dev/zero")
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(10 << 30)
    # The path may be longer than a socket's may be.
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as listener, contextlib.chdir(tmp_path):
        listener.bind("socket")
    return tmp_path


WRONG = {
    "fifo": "not a regular file",
    "socket": "not a regular file",
    "folder": "is a directory",
    "loop": "too many levels of symbolic links",
    "to-zero": "not a regular file",
    "/dev/zero": "not a regular file",
    "/dev/null": "not a regular file",
    "/proc/kmsg": "not a regular file",
    "/proc/self/mem": "not a regular file",
    "/proc/self/status": "not a regular file",
    "/sys/kernel/mm/transparent_hugepage/enabled": "not a regular file",
    "none": "no such file or directory",
    "folder/none": "no such file or directory",
    "huge/none": "not a directory",
    "x" * 300: "file name too long",
    "nul\0": "embedded null byte",
}


@pytest.mark.parametrize(("name", "reason"), WRONG.items(), ids=[ascii(name)[:20] for name in WRONG])
def test_what_is_no_file_is_one_line(things: Path, name: str, reason: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        read_user_file(things / name, "the name", "the hint", MAX_BYTES)
    assert caught.value.message == f"the name: {reason}"
    assert (caught.value.hint, caught.value.exit_code) == ("the hint", EXIT_USAGE)
    assert caught.value.missing == (reason in ("no such file or directory", "not a directory"))


def test_a_file_may_have_so_many_bytes_and_no_more(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * MAX_BYTES)
    assert read_user_file(path, "f", "", MAX_BYTES) == read_regular(path, MAX_BYTES) == b"x" * MAX_BYTES
    path.write_bytes(b"x" * (2 << 20))
    with pytest.raises(UnreadableError, match=r"^f: larger than 1 MiB, the limit for such files$"):
        read_user_file(path, "f", "", 1 << 20)
    with pytest.raises(TooLargeError):
        read_regular(path, MAX_BYTES)


def test_a_file_that_grows_while_it_is_read_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * MAX_BYTES)
    with open_user_file(path, "f", "", 1 << 20) as file, path.open("ab") as more:
        more.write(b"y" * 10)
        more.flush()
        assert len(file.read()) <= MAX_BYTES + 10


@settings(max_examples=times(20, 200))
@given(st.binary(max_size=300_000))
def test_a_file_is_read_as_it_is(content: bytes) -> None:
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        path = Path(file.name)
        assert read_user_file(path, "f", "", 1 << 20) == content == read_regular(path, 1 << 20)


def test_names_with_bytes_that_are_no_text_are_read(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"\xff\xfe\n\x1b[31m")
    path.write_bytes(b"a")
    assert read_user_file(path, "f", "", MAX_BYTES) == b"a"


def test_a_fifo_of_a_run_is_not_waited_for(things: Path) -> None:
    for name in ("fifo", "to-zero", "/proc/kmsg"):
        with pytest.raises(IrregularError):
            read_regular(things / name, MAX_BYTES)
    with pytest.raises(TooLargeError):
        read_regular(things / "huge", MAX_BYTES)


@need_fuse
def test_storage_that_does_not_answer_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Long enough for the process that reads to start, however busy the machine is.
    monkeypatch.setattr(user_files, "SILENCE_SECONDS", 5.0)
    with hung(tmp_path) as storage:
        with pytest.raises(UnreadableError, match=r"^f: its storage has not answered for 5 s\nhint: ") as caught:
            read_user_file(tmp_path / "study.yaml", "f", "", MAX_BYTES)
        assert caught.value.exit_code == EXIT_REFUSED
        assert storage.asked.is_set()
        left = user_files._LEFT.pop()
        assert left.poll() is None
    assert left.wait(60) != 0


@need_fuse
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_while_storage_does_not_answer_the_command_can_be_stopped(tmp_path: Path, how: signal.Signals) -> None:
    folder = tmp_path / "hung"
    folder.mkdir()
    with hung(folder) as storage:
        words = [ASSAY, "prices", "check", str(folder / "book.yaml")]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert storage.asked.wait(60)
            process.send_signal(how)
            _, said = process.communicate(timeout=600)
        assert process.returncode in (-how, 128 + how)
        assert "Traceback" not in said


HUNG = (
    ("check", "hung/study.yaml"),
    ("plan", "hung/study.yaml"),
    ("run", "hung/study.yaml"),
    ("run", "hung/study.yaml", "--resume"),
    ("history", "hung/study.yaml"),
    ("preflight", "hung/study.yaml"),
    ("preflight", "--hosts", "a", "--servers", "b", "--inventory", "hung/hosts.yaml"),
    ("testbed", "up", "hung/box.yaml"),
    ("advise", "hung/need.yaml"),
    ("price", "hung/design.yaml"),
    ("prices", "check", "hung/book.yaml"),
    ("prices", "show", "hung/book.yaml"),
    (
        *("prices", "import", "hung/table.csv", "--book", "o", "--provider", "p", "--region", "r"),
        *("--date", "2026-01-01", "--currency", "EUR", "--hours", "730"),
    ),
    ("prices", "refresh", "aws-us-east-1", "--output", "new.yaml", "--from", "hung/index.csv"),
)


@need_fuse
@pytest.mark.parametrize("words", HUNG, ids=lambda words: " ".join(words[:2]))
def test_every_command_on_storage_that_does_not_answer_ends_with_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setattr(user_files, "SILENCE_SECONDS", 1.0)
    folder = tmp_path / "hung"
    folder.mkdir()
    with hung(folder) as storage:
        with storage.guarded():
            done = run_here(tmp_path, *words)
        left = [user_files._LEFT.pop() for _ in range(len(user_files._LEFT))]
    lines = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    # `prices check` looks at several files, and says 2 if any of them is wrong; `refresh` 1 if prices are missing.
    expected = {("prices", "check"): 2, ("prices", "refresh"): 1}.get(words[:2], EXIT_REFUSED)
    assert (done.returncode, len(lines)) == (expected, 1), done.stderr
    assert "its storage has not answered for 1 s" in lines[0]
    for process in left:
        process.wait(600)


INVENTORIES = {
    "a date": "hosts:\n  a: {user: 2026-02-31}\n  b: {port: 2026-99-99 99:99:99}",
    "a date as a name": "hosts:\n  2026-01-01: {}\n  2026-99-99 99:99:99: {}",
    "deep": "hosts: " + "[" * 20_000,
    "deep mappings": "hosts: " + "{a: " * 900 + "1" + "}" * 900,
    "a long number": f"hosts:\n  a: {{port: {'9' * 5000}}}",
    "aliases": "a: &a [x,x,x,x,x,x,x,x]\n"
    + "".join(f"{b}: &{b} [{','.join([f'*{a}'] * 8)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True))
    + "hosts: *i",
    "a character that is none": 'hosts: {a: {user: "\\UFFFFFFFF"}}',
    "a version with many digits": f"%YAML {'9' * 5000}.1\n---\nhosts: {{a: }}",
    "a tag": "hosts: {a: {port: !!python/object/apply:os.system [id]}}",
    "twice": "hosts: {a: {}, a: {}}",
    "merge": "x: &x {user: a}\nhosts: {a: {<<: *x}}",
    "no mapping": "hosts: 7",
    "many hosts": "hosts:\n" + "".join(f"  h{number}:\n" for number in range(100_000)),
    "many sets": "hosts:\n" + "".join(f"  h{number}[1-4000]:\n" for number in range(1000)),
    "large sets": "hosts: {'h[1-4000]': , 'g[1-4000]': }",
    "many groups": "hosts: {'h[1-4096]': }\ngroups:\n" + "".join(f"  g{n}: 'h[1-4096]'\n" for n in range(4000)),
}


@pytest.mark.parametrize("text", INVENTORIES.values(), ids=INVENTORIES)
def test_an_inventory_that_is_a_bomb_is_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "hosts.yaml"
    path.write_text(text)
    with pytest.raises(AssayError) as caught:
        resolve_hosts({"inventory": str(path)}, Path.cwd())
    assert "\n" not in caught.value.message
    assert caught.value.message.startswith(str(path))
    assert len(caught.value.message) < len(str(path)) + 300


def test_hosts_are_counted_before_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is too much is seen at the first host that is, not after all of them."""
    path = tmp_path / "hosts.yaml"
    path.write_text("hosts:\n" + "".join(f"  h{number}:\n" for number in range(90_000)))
    monkeypatch.setattr("assay.site.inventory.hosts.node_names", lambda *_: pytest.fail("expanded"))
    with pytest.raises(AssayError, match=rf":{MAX_HOSTS + 3}: more than {MAX_HOSTS:,} entries in one place"):
        resolve_hosts({"inventory": str(path)}, Path.cwd())


def test_plain_lists_of_hosts_end_at_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text("".join(f"h{number}\n" for number in range(100_000)))
    with pytest.raises(AssayError, match=rf":{MAX_HOSTS + 1}: .* more than {MAX_HOSTS} hosts"):
        resolve_hosts({"inventory": str(path)}, Path.cwd())


@pytest.mark.parametrize("name", ["/dev/zero", "fifo", "/proc/kmsg", "huge", "folder", "loop"])
def test_boxes_and_inventories_are_files(things: Path, name: str) -> None:
    for read in (
        lambda: load_box(f"./{name}" if name[0] != "/" else name, things),
        lambda: resolve_hosts({"inventory": str(things / name)}, Path.cwd()),
    ):
        with pytest.raises(AssayError) as caught:
            read()
        assert "\n" not in caught.value.message and caught.value.exit_code == EXIT_USAGE


COMMANDS = (
    ("check",),
    ("plan",),
    ("run",),
    ("testbed", "up"),
    ("prices", "check"),
    ("prices", "show"),
    ("prices", "refresh", "aws-us-east-1", "--output", "new.yaml", "--from"),
    ("price",),
    ("advise",),
    ("preflight", "--hosts", "a", "--servers", "b", "--inventory"),
    (
        *("prices", "import", "--book", "o", "--provider", "p", "--region", "r", "--date", "2026-01-01"),
        *("--currency", "EUR", "--hours", "730"),
    ),
)


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words[:2]))
def test_no_command_waits_for_what_is_no_file(things: Path, words: tuple[str, ...]) -> None:
    for name in ("/dev/zero", "./fifo", "/proc/kmsg", "./huge", "./loop"):
        if (name, words[:2]) == ("./huge", ("prices", "refresh")):
            # It is read as a stream: 10 GB are possible, but these are no table.
            continue
        with hang_guard():
            done = run_here(things, *words, name)
        assert done.returncode in (1, 2), (name, done.stderr)
        assert "error: " in done.stderr and "bug" not in done.stderr
    assert not (things / "new.yaml").exists()


@settings(max_examples=times(50, 2000))
@given(st.text(alphabet="[]{}:,&*!|>'\"%@`#-? \n\tab01.~<=\\xU", max_size=80))
def test_any_yaml_is_values_or_a_line(text: str) -> None:
    source = read_source(text.encode())
    assert source.problems or source.data is not None or text.strip() != ""
    assert all("\n" not in problem.message for problem in source.problems)


def test_the_limit_is_said(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_bytes(b"#" * (MAX_FILE_BYTES + 1))
    message = "cannot read the study study.yaml: larger than 256 KiB, the limit for such files"
    assert assay(tmp_path, "check", "study.yaml", expect=2).stderr.startswith(f"error: {message}\n")


# Folders of runs, and the working directory.


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return store_run(tmp_path / "assay-runs", "run-1", {("disk", "write"): noisy(3e8, 4)})


@pytest.mark.parametrize("name", ["run.lock", "engine.lock"])
def test_a_lock_that_is_a_folder_is_one_line(tmp_path: Path, run: Path, name: str) -> None:
    (run / name).unlink(missing_ok=True)
    (run / name).mkdir()
    said = assay(tmp_path, "run", "run-1", "--resume", expect=EXIT_REFUSED).stderr.splitlines()
    assert said[0] == f"error: assay-runs/run-1/{name}: is a folder, not a file of a run"
    assert len(said) == 2
    assay(tmp_path, "list")
    assay(tmp_path, "show", "run-1")


@pytest.mark.parametrize("name", ["study.yaml", "prices.json", "alive.json", "intervals.csv.gz", "run.sqlite"])
@pytest.mark.parametrize("kind", ["folder", "fifo", "zero", "huge", "text"])
def test_a_run_with_other_things_for_files_never_hangs(tmp_path: Path, run: Path, name: str, kind: str) -> None:
    path = run / name
    path.unlink(missing_ok=True)
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "zero":
        path.symlink_to("/dev/zero")
    else:
        path.write_bytes(b"[" * 100_000 if kind == "text" else b"")
        os.truncate(path, 10 << 30 if kind == "huge" else 100_000)
    for words in (
        ("show", "run-1"),
        ("export", "run-1", "-f", "csv", "-o", "-"),
        ("run", "run-1", "--resume"),
        ("list",),
    ):
        with hang_guard():
            done = run_here(tmp_path, *words)
        assert done.returncode in (0, 1, 2, 3), done.stderr
        assert "Traceback" not in done.stderr


def test_a_folder_of_runs_that_is_none_is_one_line(tmp_path: Path, run: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "file").write_text("")
    shutil.copy(run / "study.yaml", tmp_path / "study.yaml")
    for name in ("fifo", "file"):
        assert "is not a folder" in assay(tmp_path, "list", "--out", name, expect=2).stderr
        assay(tmp_path, "show", "last", "--out", name, expect=2)


GONE = 'cd "$1" && rmdir "$1" && shift && exec "$@"'


@pytest.mark.parametrize(
    "words",
    [("check", "{0}/study.yaml"), ("run", "{0}/study.yaml"), ("list",), ("show", "last"), ("env",)],
    ids=" ".join,
)
def test_without_a_working_directory_there_is_one_line(tmp_path: Path, words: tuple[str, ...]) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    (tmp_path / "study.yaml").write_text("study: s\n")
    command = ["sh", "-c", GONE, "sh", str(gone), ASSAY, *(word.format(tmp_path) for word in words)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == EXIT_USAGE
    assert done.stderr == "error: the working directory does not exist\nhint: change to an existing directory\n"
