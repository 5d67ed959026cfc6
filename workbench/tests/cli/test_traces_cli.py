"""Traces by command: described, made from recordings, refused in one line; nothing is half-written."""

import json
from pathlib import Path

import pytest
from in_process import run_here
from paths import GOLDEN
from trace_tools import packed

SMALL = GOLDEN / "traces" / "small.trace.gz"


def test_a_trace_is_described(tmp_path: Path) -> None:
    done = run_here(tmp_path, "trace", "show", SMALL)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert "duration     2.5 ms; 1.9 ms without tracing" in lines
    assert "reads        12 kB, in 2 operations, 100 % sequential, 6 MB/s" in lines
    assert (
        "mix          50 % of operations on data are reads, and 36.9 % of bytes; 50 % of all operations are on data"
        in lines
    )
    assert "not in the trace: 3 calls on owners, modes, times or attributes of files" in lines
    assert "src/a.c  12 kB           4  12 kB" in lines


def test_files_that_are_missing_are_not_new_and_flags_of_opens_are_named(tmp_path: Path) -> None:
    (tmp_path / "t.trace.gz").write_bytes(
        packed(
            "T\t1\t-\t0",
            *("F\t1\tf\t1000\ta\\nb", "F\t2\tf\t5000000\tbig", "F\t3\tf\t-\tnew", "F\t4\tf\t-\tgone", "F\t5\td\t-\td"),
            *("O\t1\t9\t1\topen\t1\t-\t-\t0\trd", "O\t2\t9\t1\topen\t3\t-\t-\t0\twcs"),
            *("O\t3\t9\t1\topen\t4\t-\t-\t-ENOENT\tr", "O\t4\t9\t1\tread\t1\t0\t131072\t1000\t-"),
            *("O\t5\t9\t1\tread\t1\t1000\t131072\t0\t-", "O\t6\t9\t1\tlist\t5\t-\t-\t0\t-"),
        )
    )
    done = run_here(tmp_path, "trace", "show", "t.trace.gz").stdout
    kinds = "2 that existed (5 MB: 1 of at most 4KiB, 1 of at most 16MiB), 1 new, 1 looked for and missing, 1 directory"
    assert f"files        {kinds}\n" in done
    assert "opened with  1 O_DIRECT, 1 O_SYNC or O_DSYNC, of 3 opens\n" in done
    assert "a\\nb" in done and "missing" in done
    found = json.loads(run_here(tmp_path, "trace", "show", "t.trace.gz", "--json").stdout)
    assert (found["files"]["new"], found["files"]["missing"], found["open_flags"]["d"]) == (1, 1, 1)
    assert found["operations"]["read"]["median_size"] == 1000


def test_json_has_bytes_and_nanoseconds(tmp_path: Path) -> None:
    found = json.loads(run_here(tmp_path, "trace", "show", SMALL, "--json").stdout)
    assert found["operations"]["read"] == {
        "count": 2, "failed": 0, "time_ns": 16000, "bytes": 12000, "median_size": 1760, "p95_size": 10240,
        "placed": 2, "sequential": 2,
    }  # fmt: skip
    assert found["files"]["new"] == 1 and found["losses"] == [{"code": "metadata", "count": 3}]


def test_a_recording_becomes_a_trace_and_a_study_that_check_accepts(tmp_path: Path) -> None:
    log = "fio version 3 iolog\n1 /x/a add\n2 /x/a open\n" + "".join(
        f"{at + 3} /x/a read {(at * 37 % 64) * 4096} 4096\n" for at in range(64)
    )
    (tmp_path / "job.log").write_text(log)
    done = run_here(tmp_path, "trace", "import", "job.log")
    assert (done.returncode, done.stdout) == (0, "")
    assert "from fio: 65 operations, 262 kB read, 0 B written" in done.stderr
    assert "next: assay trace show job.log.trace.gz" in done.stderr
    assert "x/a" not in run_here(tmp_path, "trace", "show", "job.log.trace.gz").stdout
    assert run_here(tmp_path, "study", "from", "trace", "job.log.trace.gz", "-o", "s.yaml").returncode == 0
    checked = run_here(tmp_path, "check", "s.yaml")
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["trace", "show", "none"], "none: no such file or directory"),
        (["trace", "show", "plain"], "plain: this is not compressed by gzip"),
        (["trace", "import", "plain"], "plain: this is no recording of a known tool"),
        (["trace", "import", "broken"], "broken:2: 'jump' is no action of fio with 0 numbers"),
        (["trace", "import", "broken", "-o", "-"], "a trace is compressed and not printed"),
        (["study", "from", "trace", "plain", "-o", "s"], "plain: this is not compressed by gzip"),
    ],
)
def test_what_is_refused_is_one_line_and_leaves_nothing(tmp_path: Path, words: list[str], error: str) -> None:
    (tmp_path / "plain").write_text("plain")
    (tmp_path / "broken").write_text("fio version 3 iolog\n1 /x jump\n")
    done = run_here(tmp_path, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {error}") and len(done.stderr.splitlines()) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken", "plain"]


@pytest.mark.parametrize(
    ("words", "path", "code", "error"),
    [
        (["--", "true"], "", 3, "there is no strace on PATH, which records the calls of a program"),
        (["--", "no-such-program"], None, 127, "no-such-program: there is no such program"),
        (["true --help"], None, 127, "true --help: there is no such program"),
        (["--", "./programs"], None, 126, "./programs is a directory"),
        (["--", "./mine"], None, 126, "./mine may not be executed"),
        (["--below", "none", "--", "true"], None, 2, "--below none: there is no such directory"),
        (["-o", "-", "--", "true"], None, 2, "a trace is compressed and not printed"),
        (["-o", "mine", "--", "true"], None, 2, "mine exists already"),
        (["-o", "/proc/self/t.trace.gz", "--", "true"], None, 2, "cannot write /proc/self/t.trace.gz: "),
    ],
)
def test_a_recording_that_cannot_begin_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], path: str | None, code: int, error: str
) -> None:
    (tmp_path / "mine").write_text("mine")
    programs = tmp_path / "programs"
    programs.mkdir()
    strace = programs / "strace"
    strace.write_text("#!/bin/sh\necho 'strace -- version 6.1'\n")
    strace.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path) if path == "" else f"{programs}:/usr/bin:/bin")
    done = run_here(tmp_path, "record", *words)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith(f"error: {error}") and len(done.stderr.splitlines()) == 2
    assert (tmp_path / "mine").read_text() == "mine" and len(list(tmp_path.iterdir())) == 2


def test_where_strace_may_not_trace_nothing_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    strace = tmp_path / "strace"
    strace.write_text(
        "#!/bin/sh\ncase $1 in -V) echo 'strace -- version 6.1'; exit;; esac\n"
        "echo 'strace: PTRACE_TRACEME: Operation not permitted' >&2; echo 'strace: more' >&2; exit 1\n"
    )
    strace.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    done = run_here(tmp_path, "record", "--", "touch", "made")
    assert (done.returncode, done.stdout) == (126, "")
    error, hint = done.stderr.splitlines()
    assert error == "error: strace may not trace programs here: PTRACE_TRACEME: Operation not permitted"
    assert hint.startswith("hint: nothing was run")
    assert [path.name for path in tmp_path.iterdir()] == ["strace"]


def test_options_of_the_command_are_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for words in (["--", "true", "--save", "x"], ["true", "--save", "x"]):
        assert "there is no strace" in run_here(tmp_path, "record", *words).stderr
