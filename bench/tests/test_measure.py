"""Commands are run with what they need, and watched."""

from __future__ import annotations

import sys

import pytest
from measure import cpu_between, run
from model import BenchError, Done


def seen(looks: list[tuple[float, float]]) -> Done:
    """A command that was looked at."""
    return Done("", "", 1.0, 2.0, 1 << 20, 0, looks)


def test_cpu_time_is_that_between_two_times():
    """On a line between two looks; not guessed where nobody has looked."""
    watched = seen([(10.0, 1.0), (10.5, 2.0), (11.0, 2.0)])
    assert cpu_between(watched, 10.25, 10.75) == pytest.approx(0.5)
    assert cpu_between(watched, 10.0, 11.0) == pytest.approx(1.0)
    for begin, end in ((9.9, 10.5), (10.5, 11.1)):
        with pytest.raises(BenchError, match="not seen"):
            cpu_between(watched, begin, end)
    with pytest.raises(BenchError, match="not seen"):
        cpu_between(seen([]), 1.0, 2.0)


LAUNCHER = """#!{python}
import json, resource, subprocess, sys, time
start = time.monotonic()
subprocess.run(sys.argv[3:], check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
usage = {{"user_ns": used.ru_utime * 1e9, "system_ns": used.ru_stime * 1e9, "max_rss_bytes": 1}}
usage |= {{"seconds": time.monotonic() - start, "start_ns": start * 1e9}}
open(sys.argv[2], "w").write(json.dumps(usage))
"""


def test_a_watched_command_is_seen_at_work(tmp_path):
    """Its environment is what was asked for, and its CPU time grows from nothing to what it has used in all."""
    launcher = tmp_path / "launcher"
    launcher.write_text(LAUNCHER.format(python=sys.executable))
    launcher.chmod(0o700)
    spin = "import os, time\nprint(os.environ['WORD'])\nwhile time.process_time() < 0.3: pass"
    done = run(str(launcher), [sys.executable, "-c", spin], tmp_path, {"WORD": "here"}, watched=True)
    assert done.output == "here\n"
    (begin, nothing), (end, everything) = done.course[0], done.course[-1]
    assert (nothing, everything) == (0.0, done.cpu_s)
    assert end - begin == pytest.approx(done.wall_s)
    assert cpu_between(done, begin, end) == pytest.approx(done.cpu_s)
    used = [cpu for _, cpu in done.course[:-1]]
    assert used == sorted(used) and len(used) > 2
