"""What lines of strace become: the order of operations, their offsets, and sizes of files when the trace began."""

from pathlib import Path

import pytest
from paths import GOLDEN
from trace_tools import strace_trace

from assay.rooms.traces.work.strace.lines import parse_line, unescape
from assay.rooms.traces.work.strace.reader import Inherited


def made(tmp_path: Path, text: str, **more: object) -> list[str]:
    """The operations and files of lines without ids of processes and times, which are made up: a call each 1,000 ns."""
    lines = []
    for number, line in enumerate(text.strip().splitlines()):
        pid, _, rest = line.strip().partition(" ")
        suffix = " <0.000000100>" if " = " in rest else ""
        lines.append(f"{pid} 100.{number:06}000 {rest}{suffix}")
    return strace_trace(lines, tmp_path, **more)[0]  # type: ignore[arg-type]


def moves(records: list[str]) -> list[tuple[str, ...]]:
    """Of reads and writes: task, operation, file, offset, bytes."""
    fields = [line.split("\t") for line in records]
    return [(one[3], one[4], one[5], one[6], one[8]) for one in fields if one[0] == "O" and one[4] in ("read", "write")]


def files(records: list[str]) -> dict[str, tuple[str, str]]:
    """Of files: name -> kind and size."""
    return {one[4]: (one[2], one[3]) for one in (line.split("\t") for line in records) if one[0] == "F"}


def test_a_program_with_shared_positions_renames_and_threads_is_as_it_was(tmp_path: Path) -> None:
    lines = (GOLDEN / "traces" / "python.strace").read_text().splitlines()
    records, losses = strace_trace(lines, tmp_path, after={"/w/log": 520, "/w/log2": 520})
    assert records == (GOLDEN / "traces" / "python.trace").read_text().splitlines()
    assert losses == {"mmap": 1, "mmap-bytes": 4096, "outside": 2}


def test_descriptors_of_one_open_file_share_its_position(tmp_path: Path) -> None:
    found = made(
        tmp_path,
        """
        7 openat(AT_FDCWD</w>, "a", O_RDONLY) = 3</w/a>
        7 read(3</w/a>, ""..., 10) = 10
        7 dup2(3</w/a>, 5) = 5</w/a>
        7 fcntl(5</w/a>, F_DUPFD_CLOEXEC, 0) = 6</w/a>
        7 read(6</w/a>, ""..., 10) = 4
        7 clone(child_stack=NULL, flags=SIGCHLD) = 8
        8 read(5</w/a>, ""..., 10) = 6
        7 close(3</w/a>) = 0
        7 openat(AT_FDCWD</w>, "a", O_RDONLY) = 3</w/a>
        7 read(3</w/a>, ""..., 10) = 10
        7 read(5</w/a>, ""..., 10) = 0
        """,
    )
    assert [one[3] for one in moves(found)] == ["0", "10", "14", "0", "20"]
    assert files(found) == {"a": ("f", "20")}


OPENS = """
        7 openat(AT_FDCWD</w>, "a", O_RDONLY) = 3</w/a>
"""


@pytest.mark.parametrize(
    ("lines", "closers"),
    [
        (["7 close(3</w/a>) = 0"], "1"),
        (["7 dup2(3</w/a>, 5) = 5</w/a>", "7 close(3</w/a>) = 0"], ""),
        (["7 dup(3</w/a>) = 5</w/a>", "7 close(3</w/a>) = 0", "7 close(5</w/a>) = 0"], "1"),
        (["7 fcntl(3</w/a>, F_DUPFD, 9) = 9</w/a>", "7 close(9</w/a>) = 0", "7 close(3</w/a>) = 0"], "1"),
        # Another file takes the place of the descriptor.
        (['7 openat(AT_FDCWD</w>, "b", O_RDONLY) = 4</w/b>', "7 dup2(4</w/b>, 3) = 3</w/b>"], "1"),
        (["7 dup2(1<pipe:[5]>, 3) = 3<pipe:[5]>"], "1"),
        (["7 close_range(3, 9, 0) = 0"], "1"),
        (["7 clone(flags=SIGCHLD) = 8", "8 close(3</w/a>) = 0"], ""),
        (["7 clone(flags=SIGCHLD) = 8", "7 close(3</w/a>) = 0", "8 close(3</w/a>) = 0"], "2"),
        (["7 clone(flags=SIGCHLD) = 8", "8 +++ exited with 0 +++", "7 close(3</w/a>) = 0"], "1"),
        (["7 clone(flags=CLONE_FILES|CLONE_THREAD) = 8", "8 close(3</w/a>) = 0"], "2"),
        (["7 clone(flags=CLONE_FILES|CLONE_THREAD) = 8", "8 +++ exited with 0 +++", "7 close(3</w/a>) = 0"], "1"),
        (["7 dup3(3</w/a>, 5, O_CLOEXEC) = 5</w/a>", '7 execve("/bin/x", ["x"], 0) = 0', "7 close(3</w/a>) = 0"], "1"),
    ],
)
def test_a_file_is_closed_with_its_last_descriptor(tmp_path: Path, lines: list[str], closers: str) -> None:
    found = made(tmp_path, OPENS + "\n".join(lines))
    fields = [line.split("\t") for line in found]
    assert "".join(one[3] for one in fields if one[0] == "O" and one[4] == "close" and one[5] == "1") == closers


def test_threads_share_descriptors_and_processes_do_not(tmp_path: Path) -> None:
    found = made(
        tmp_path,
        """
        7 openat(AT_FDCWD</w>, "a", O_RDONLY) = 3</w/a>
        7 clone(child_stack=0x1, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_THREAD) = 8
        7 clone(child_stack=NULL, flags=SIGCHLD) = 9
        8 close(3</w/a>) = 0
        8 openat(AT_FDCWD</w>, "b", O_RDONLY) = 3</w/b>
        7 read(3</w/b>, ""..., 5) = 5
        9 read(3</w/a>, ""..., 7) = 7
        """,
    )
    assert moves(found) == [("1", "read", "2", "0", "5"), ("3", "read", "1", "0", "7")]


def test_a_call_that_ends_later_keeps_its_descriptor_and_its_place_in_time(tmp_path: Path) -> None:
    found = made(
        tmp_path,
        """
        7 openat(AT_FDCWD</w>, "a", O_RDONLY) = 3</w/a>
        7 clone(child_stack=0x1, flags=CLONE_FILES|CLONE_THREAD <unfinished ...>
        8 pread64(3</w/a>,  <unfinished ...>
        7 <... clone resumed>) = 8
        7 close(3</w/a> <unfinished ...>
        8 openat(AT_FDCWD</w>, "b", O_WRONLY|O_CREAT|O_EXCL, 0600) = 3</w/b>
        """.replace("8 open", "9 open"),
    )
    assert moves(found) == []
    text = """
        7 openat(AT_FDCWD</w>, "a", O_RDONLY) = 3</w/a>
        7 clone(child_stack=0x1, flags=CLONE_FILES|CLONE_THREAD) = 8
        7 clone(child_stack=0x1, flags=CLONE_FILES|CLONE_THREAD) = 9
        8 pread64(3</w/a>,  <unfinished ...>
        7 close(3</w/a> <unfinished ...>
        9 openat(AT_FDCWD</w>, "b", O_WRONLY|O_CREAT|O_EXCL, 0600) = 3</w/b>
        7 <... close resumed>) = 0
        8 <... pread64 resumed>""..., 64, 4096) = 64
        9 write(3</w/b>, ""..., 9) = 9
        """
    found = made(tmp_path, text)
    ops = [line.split("\t")[3:7] for line in found if line[0] == "O"]
    assert ops == [
        *(["1", "open", "1", "-"], ["2", "read", "1", "4096"], ["1", "close", "1", "-"]),
        *(["3", "open", "2", "-"], ["3", "write", "2", "0"]),
    ]
    assert files(found) == {"a": ("f", "4160"), "b": ("f", "-")}


@pytest.mark.parametrize(
    ("calls", "after", "size", "offsets"),
    [
        # Two appends of 5 bytes, and 30 bytes afterwards: there were 20.
        ('write(3</w/l>, ""..., 5) = 5; write(3</w/l>, ""..., 5) = 5', {"/w/l": 30}, "20", ["20", "25"]),
        # It is gone afterwards: nothing says how large it was.
        ('write(3</w/l>, ""..., 5) = 5; unlink("/w/l") = 0', {}, "0", ["0"]),
        ('fstat(3</w/l>, {st_mode=S_IFREG|0644, st_size=8, ...}) = 0; write(3</w/l>, ""..., 5) = 5', {}, "8", ["8"]),
        ('write(3</w/l>, ""..., 5) = 5; lseek(3</w/l>, 0, SEEK_END) = 17', {}, "12", ["12"]),
    ],
)
def test_appends_are_at_the_end_of_the_file(
    tmp_path: Path, calls: str, after: dict[str, int], size: str, offsets: list[str]
) -> None:
    text = '7 openat(AT_FDCWD</w>, "l", O_WRONLY|O_APPEND) = 3</w/l>\n'
    found = made(tmp_path, text + "\n".join(f"7 {call}" for call in calls.split("; ")), after=after)
    assert files(found)["l"] == ("f", size)
    assert [one[3] for one in moves(found)] == offsets


@pytest.mark.parametrize(
    ("calls", "size"),
    [
        ('openat(AT_FDCWD</w>, "x", O_RDONLY) = -1 ENOENT (No such file or directory)', "-"),
        ('openat(AT_FDCWD</w>, "x", O_RDWR|O_CREAT|O_EXCL, 0600) = 3</w/x>', "-"),
        ('openat(AT_FDCWD</w>, "x", O_RDWR|O_CREAT, 0600) = 3</w/x>', "900"),
        ('openat(AT_FDCWD</w>, "x", O_RDWR|O_CREAT|O_TRUNC, 0600) = 3</w/x>', "-"),
        ('openat(AT_FDCWD</w>, "x", O_RDWR|O_CREAT, 0600) = 3</w/x>; read(3</w/x>, ""..., 64) = 64', "900"),
        (
            'openat(AT_FDCWD</w>, "x", O_RDWR|O_CREAT) = 3</w/x>; fstat(3</w/x>, {st_mode=S_IFREG, st_size=8}) = 0',
            "8",
        ),
        ('openat(AT_FDCWD</w>, "x", O_RDONLY) = 3</w/x>', "900"),
        ('stat("x", {st_mode=S_IFREG|0644, st_size=77, ...}) = 0', "77"),
        ('unlink("/w/x") = 0', "0"),
        ('rename("/w/x", "/w/y") = 0; openat(AT_FDCWD</w>, "y", O_RDONLY) = 3</w/y>', "900"),
    ],
)
def test_the_size_of_a_file_is_that_when_the_trace_began(tmp_path: Path, calls: str, size: str) -> None:
    found = made(tmp_path, "\n".join(f"7 {call}" for call in calls.split("; ")), after={"/w/x": 900, "/w/y": 900})
    assert files(found)["x"] == ("f", size)


def test_a_directory_of_which_no_call_says_that_it_is_one(tmp_path: Path) -> None:
    text = """
        7 access("d", X_OK) = 0
        7 access("d/f", R_OK) = 0
        7 access("e", X_OK) = 0
        7 access("none", X_OK) = -1 ENOENT (No such file or directory)
        7 access("none/f", X_OK) = -1 ENOENT (No such file or directory)
        """
    found = files(made(tmp_path, text, kind_of=lambda path: "d" if path == "/w/e" else ""))
    wanted = {"d": ("d", "-"), "d/f": ("f", "0"), "e": ("d", "-"), "none": ("f", "-"), "none/f": ("f", "-")}
    assert found == wanted


def test_what_came_with_its_directory_did_not_exist_there(tmp_path: Path) -> None:
    found = made(
        tmp_path,
        """
        7 stat("d/f", {st_mode=S_IFREG|0644, st_size=50, ...}) = 0
        7 rename("d", "e") = 0
        7 stat("e/f", {st_mode=S_IFREG|0644, st_size=50, ...}) = 0
        7 rename("e", "g") = 0
        7 openat(AT_FDCWD</w>, "g/h", O_RDONLY) = 3</w/g/h>
        """,
    )
    assert files(found) == {
        "d/f": ("f", "50"), "d": ("d", "-"), "e": ("d", "-"), "e/f": ("f", "-"), "g": ("d", "-"), "g/h": ("f", "-"),
    }  # fmt: skip


def test_a_program_that_is_started_has_no_descriptors_that_close_then(tmp_path: Path) -> None:
    text = """
        7 openat(AT_FDCWD</w>, "a", O_RDONLY|O_CLOEXEC) = 3</w/a>
        7 openat(AT_FDCWD</w>, "b", O_RDONLY) = 4</w/b>
        7 read(3</w/a>, ""..., 5) = 5
        7 read(4</w/b>, ""..., 5) = 5
        7 execve("/w/p", ["p"], 0x1) = 0
        7 openat(AT_FDCWD</w>, "c", O_RDONLY) = 3</w/c>
        7 read(3</w/c>, ""..., 5) = 5
        7 read(4</w/b>, ""..., 5) = 5
        """
    assert [one[2:4] for one in moves(made(tmp_path, text))] == [("1", "0"), ("2", "0"), ("3", "0"), ("2", "5")]


def test_standard_streams_are_those_of_the_caller_and_redirections_are_not(tmp_path: Path) -> None:
    inherited = [Inherited(0, "/w/in", 40, False), Inherited(1, "/w/out", 7, False), Inherited(2, "/w/out", 7, False)]
    lines = [
        '7 1.000000 read(0</w/in>, ""..., 5) = 5 <0.000001>',
        '7 1.000001 write(2</w/out>, ""..., 3) = 3 <0.000001>',
        '7 1.000002 openat(AT_FDCWD</w>, "own", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3</w/own> <0.000001>',
        "7 1.000003 fcntl(1</w/out>, F_DUPFD, 10) = 10</w/out> <0.000001>",
        "7 1.000004 dup2(3</w/own>, 1</w/out>) = 1</w/own> <0.000001>",
        '7 1.000005 write(1</w/own>, ""..., 3) = 3 <0.000001>',
        "7 1.000006 dup2(10</w/out>, 1</w/own>) = 1</w/out> <0.000001>",
        '7 1.000007 write(1</w/out>, ""..., 3) = 3 <0.000001>',
    ]
    records, losses = strace_trace(lines, tmp_path, inherited=inherited)
    assert files(records) == {"own": ("f", "-")}
    assert moves(records) == [("1", "write", "1", "0", "3")]
    assert losses == {"standard-streams": 3}


def test_a_copy_inside_the_kernel_asks_for_what_it_moved(tmp_path: Path) -> None:
    text = """
        7 openat(AT_FDCWD</w>, "a", O_RDONLY) = 3</w/a>
        7 openat(AT_FDCWD</w>, "b", O_WRONLY|O_CREAT|O_EXCL, 0666) = 4</w/b>
        7 copy_file_range(3</w/a>, NULL, 4</w/b>, NULL, 9223372035781033984, 0) = 500
        7 copy_file_range(3</w/a>, NULL, 4</w/b>, NULL, 9223372035781033984, 0) = 0
        """
    fields = [line.split("\t") for line in made(tmp_path, text)]
    found = [one for one in fields if one[0] == "O" and one[4] != "open"]
    assert [(one[4], one[6], one[7], one[8]) for one in found] == [
        ("read", "0", "500", "500"), ("write", "0", "500", "500"), ("read", "500", "0", "0"),
    ]  # fmt: skip
    assert [(int(one[1]), int(one[2])) for one in found[:2]] == [(2000, 100), (2100, 0)]


def test_a_descriptor_that_came_another_way_is_counted(tmp_path: Path) -> None:
    lines = ['7 1.000000 read(9</w/a>, ""..., 5) = 5 <0.000001>', "what?", "7 1.000003 +++ exited with 0 +++"]
    records, losses = strace_trace(lines, tmp_path)
    assert moves(records) == [("1", "read", "1", "0", "5")]
    assert losses == {"position-unknown": 1, "unread-lines": 1}


def test_a_call_that_is_interrupted_and_made_again_is_one(tmp_path: Path) -> None:
    text = """
        7 openat(AT_FDCWD</w>, "a", O_RDONLY) = 3</w/a>
        7 read(3</w/a>, 0x1, 10) = ? ERESTARTSYS (To be restarted if SA_RESTART is set)
        7 read(3</w/a>, ""..., 10) = 10
        7 sendfile(1<pipe:[4]>, 3</w/a>, NULL, 18446744073709551615) = 5
        7 copy_file_range(3</w/a>, NULL, 4</w/b>, NULL, 99, 0) = -1 EXDEV (Invalid cross-device link)
        7 copy_file_range(3</w/a>, [3], 4</w/b>, [7], 99, 0) = 0
        """
    assert moves(made(tmp_path, text)) == [
        *(("1", "read", "1", "0", "10"), ("1", "read", "1", "10", "5"), ("1", "read", "1", "3", "0")),
    ]


def test_files_outside_are_counted_and_those_of_the_system_too(tmp_path: Path) -> None:
    lines = [
        '7 1.000000 stat("/etc/passwd", {st_mode=S_IFREG|0644, st_size=5, ...}) = 0 <0.000001>',
        '7 1.000001 stat("/usr/lib/libc.so.6", {st_mode=S_IFREG|0644, st_size=5, ...}) = 0 <0.000001>',
        '7 1.000002 openat(AT_FDCWD</w>, "/dev/sda", O_RDONLY|O_DIRECT) = 3</dev/sda> <0.000001>',
        '7 1.000003 write(1</dev/pts/0>, ""..., 5) = 5 <0.000001>',
    ]
    assert strace_trace(lines, tmp_path, roots=("/w",)) == (["T\t1\t-\t0", "E\t1\t4000"], {"outside": 4})
    (tmp_path / "all").mkdir()
    records, losses = strace_trace(
        lines, tmp_path / "all", roots=(), kind_of=lambda path: "b" if path == "/dev/sda" else ""
    )
    assert files(records) == {"etc/passwd": ("f", "5"), "dev/sda": ("b", "0")} and losses == {"system-files": 2}


def test_a_wait_stands_behind_the_end_of_the_task(tmp_path: Path) -> None:
    lines = [
        "7 1.000000000 vfork( <unfinished ...>",
        '8 1.000001000 execve("/w/p", ["p"], 0x1 <unfinished ...>',
        "7 1.000002000 <... vfork resumed>) = 8 <0.000002000>",
        "7 1.000003000 wait4(-1,  <unfinished ...>",
        "8 1.000004000 <... execve resumed>) = 0 <0.000003000>",
        "8 1.000009000 +++ killed by SIGKILL +++",
        "7 1.000008500 <... wait4 resumed>[{WIFSIGNALED(s) && WTERMSIG(s) == SIGKILL}], 0, NULL) = 8 <0.000005500>",
        '7 1.000008800 stat("x", 0x1) = -1 ENOENT (No such file or directory) <0.000000100>',
        "7 1.000010000 +++ exited with 0 +++",
    ]
    records, losses = strace_trace(lines, tmp_path)
    assert losses == {}
    kinds = [line.split("\t")[:3] for line in records]
    assert kinds[:4] == [["T", "1", "-"], ["T", "2", "1"], ["E", "2", "8500"], ["W", "1", "2"]]
    assert kinds[4:] == [["F", "1", "f"], ["O", "8800", "100"], ["E", "1", "10000"]]


@pytest.mark.parametrize(
    ("printed", "path"),
    [("a b", "a b"), (r"a\tb\n\"\\", 'a\tb\n"\\'), (r"\303\251", "é"), (r"\74x\76", "<x>"), (r"\377", "\udcff")],
)
def test_paths_are_read_as_they_are_printed(printed: str, path: str) -> None:
    assert unescape(printed) == path


@pytest.mark.parametrize("line", ["", "strace: Process 9 attached", "7 x read(", "7 1.0 read(3", "7 1.0 read(3) = "])
def test_other_lines_are_no_calls(line: str) -> None:
    assert parse_line(line) is None
