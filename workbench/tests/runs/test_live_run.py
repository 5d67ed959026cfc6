"""The live view of a real run on a real terminal, and that the terminal is left as it was."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
from collections.abc import Mapping
from pathlib import Path

import pytest
from run_tools import ASSAY, needs_engine, study

pytestmark = needs_engine

HIDDEN, SHOWN = b"\x1b[?25l", b"\x1b[?25h"


def on_terminal(
    folder: Path, columns: int, environment: Mapping[str, str], until: bytes = b"", then: int = 0
) -> tuple[int, bytes]:
    """Run the study on a terminal of its own: exit code and all that was written to it.

    Args:
        folder: Has the study.
        columns: Of the terminal.
        environment: What differs from ours.
        until: When this was written, `then` is sent.
        then: A signal.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    changed = {"TERM": "xterm", "PYTHONUTF8": "1", **environment}
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
    process = subprocess.Popen(
        [ASSAY, "run", "study.yaml"], cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs, env={**kept, **changed}
    )
    before = termios.tcgetattr(theirs)
    said = b""
    try:
        while process.poll() is None or _readable(ours):
            if _readable(ours):
                said += os.read(ours, 1 << 16)
            if until and until in said:
                process.send_signal(then)
                until = b""
        assert termios.tcgetattr(theirs) == before
    finally:
        process.kill()
        process.wait()
        os.close(ours)
        os.close(theirs)
    return process.returncode, said


def _readable(fd: int) -> bool:
    return bool(select.select([fd], [], [], 0.1)[0])


def paced(folder: Path, seconds: int = 3) -> None:
    """A study that lasts long enough to be looked at."""
    study(folder, operations="random_read", record="64KiB", extra=f"runtime: {seconds}s\n    rate: 200/s", repeats=1)


def test_a_run_is_seen_while_it_goes_on(tmp_path: Path) -> None:
    paced(tmp_path)
    code, said = on_terminal(tmp_path, 80, {})
    text = said.decode()
    assert code == 0, text
    assert "repeat 1, random_read; place / grid" in text
    assert re.search(r"[kM]B/s \(\d+ ops/s\) now, [0-9.]+ [kM]B/s over the last \d", text)
    for part in ("p50 ", " in the last interval", "none known", " up to ", "0/1 ─"):
        assert part in text, (part, text)
    assert said.count(HIDDEN) == said.count(SHOWN) == 1
    assert text.index("complete: ") > text.rindex("history"), "the panel is gone when the results come"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_request_to_stop_leaves_the_terminal_as_it_was(tmp_path: Path, number: int) -> None:
    paced(tmp_path, 60)
    code, said = on_terminal(tmp_path, 80, {}, b"in the last interval", number)
    assert code not in (0, -number), said
    assert said.rindex(SHOWN) > said.rindex(HIDDEN)
    assert b"Traceback" not in said


def test_a_narrow_terminal_without_colours_and_with_few_letters(tmp_path: Path) -> None:
    paced(tmp_path)
    environment = {"NO_COLOR": "1", "PYTHONUTF8": "0", "PYTHONIOENCODING": "latin-1"}
    code, said = on_terminal(tmp_path, 40, environment)
    assert code == 0, said
    assert b"0/1 ---" in said
    assert b"\x1b[3" not in said, "a colour"
    assert re.search(rb"[_.=+*#@-]+ up to", said)
    assert rb"\u2" not in said, "a letter that had to be spelled out"


def test_a_terminal_that_cannot_move_its_cursor_gets_plain_lines(tmp_path: Path) -> None:
    paced(tmp_path, 1)
    code, said = on_terminal(tmp_path, 80, {"TERM": "dumb"})
    assert code == 0, said
    assert b"[1/1] c0001 repeat 1 ok" in said
    assert b"\x1b" not in said
