"""Run one command, or one contender, and see what it took."""

from __future__ import annotations

import bisect
import contextlib
import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from model import BenchError, Contender, Done, Sample, Setting, Step

TIMEOUT_SECONDS = 120.0
LOOK_SECONDS = 0.01
"""How often a watched command's CPU time is looked at."""


def _stop(process: subprocess.Popen[str]) -> None:
    """End the command and all it has started; it leads a process group of its own."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _reason(lines: list[str]) -> str:
    """The first line that speaks of an error, or the last that says anything."""
    lines = [line.strip() for line in lines if any(letter.isalnum() for letter in line)] or ["said nothing"]
    return next((line for line in lines if "error" in line.lower()), lines[-1])[:300]


def _child(parent: int) -> int | None:
    """The process that another has started; none yet, or no longer."""
    try:
        found = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    except OSError:
        return None
    return int(found[0]) if found else None


def _watch(parent: int, course: list[tuple[float, float]], end: threading.Event) -> None:
    """Note the CPU time of what `parent` has started, until it or the event ends."""
    while (pid := _child(parent)) is None and not end.wait(LOOK_SECONDS):
        pass
    if pid is None:
        return
    # As clock_getcpuclockid makes it: all threads of the process, those that have ended included.
    clock = ~pid << 3 | 2
    with contextlib.suppress(OSError):
        while not end.wait(LOOK_SECONDS):
            course.append((time.time(), time.clock_gettime(clock)))


@contextlib.contextmanager
def _watching(parent: int, watched: bool) -> Iterator[list[tuple[float, float]]]:
    course: list[tuple[float, float]] = []
    end = threading.Event()
    thread = threading.Thread(target=_watch, args=(parent, course, end), daemon=True)
    if watched:
        thread.start()
    try:
        yield course
    finally:
        end.set()
        if watched:
            thread.join()


def cpu_between(done: Done, begin: float, end: float) -> float:
    """CPU seconds that a watched command has used between two times, in seconds since 1970.

    Raises:
        BenchError: It was not watched for so long.
    """
    course = done.course
    if not course or begin < course[0][0] or end > course[-1][0]:
        raise BenchError("its CPU time was not seen from begin to end")

    def until(moment: float) -> float:
        at = max(1, bisect.bisect_left(course, (moment, 0.0)))
        (time0, cpu0), (time1, cpu1) = course[at - 1], course[at]
        return cpu0 + (cpu1 - cpu0) * (moment - time0) / (time1 - time0)

    return until(end) - until(begin)


def run(
    launcher: str, argv: list[str], folder: Path, environment: dict[str, str] | None = None, watched: bool = False
) -> Done:
    """Run a command through `assay-bare measure`, whose small memory does not hide the command's own peak.

    Raises:
        BenchError: The command did not end well.
    """
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        usage_file = Path(scratch) / "usage"
        process = subprocess.Popen(
            [launcher, "measure", str(usage_file), *argv],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            cwd=scratch,
            start_new_session=True,
            env={**os.environ, **(environment or {})},
        )
        try:
            with _watching(process.pid, watched) as course:
                output, errors = process.communicate(timeout=TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise BenchError(f"{Path(argv[0]).name}: not done after {TIMEOUT_SECONDS:.0f} s") from error
        finally:
            _stop(process)
        if process.returncode:
            why = _reason((errors.strip() or output.strip()).splitlines())
            raise BenchError(f"{Path(argv[0]).name}: exit code {process.returncode}: {why}")
        usage = json.loads(usage_file.read_text())
    done = Done(
        output=output,
        errors=errors,
        wall_s=usage["seconds"],
        cpu_s=(usage["user_ns"] + usage["system_ns"]) / 1e9,
        rss_bytes=usage["max_rss_bytes"],
        start_ns=usage["start_ns"],
        course=course,
    )
    if watched:
        _complete(done)
    return done


def _complete(done: Done) -> None:
    """Add the start and the end: on a busy machine the last look may be long before it."""
    start = done.start_ns / 1e9 + time.time() - time.monotonic()
    done.course.insert(0, (start, 0.0))
    done.course.append((start + done.wall_s, done.cpu_s))
    done.course.sort()


def run_step(launcher: str, step: Step, folder: Path) -> tuple[Sample, list[str]]:
    """The figures of one step, and its command as run: an Assay job stands in it as it is, not as a file's name.

    Raises:
        BenchError: The command failed, or its output is not what was expected.
    """
    argv = step.argv
    extra, shown = [], []
    if step.job is not None:
        job_file = folder / "job.json"
        shown = [json.dumps(step.job)]
        job_file.write_text(shown[0])
        extra = [str(job_file)]
    done = run(launcher, [*argv, *extra], folder, step.environment, step.watched)
    try:
        sample = step.parse(done)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, ZeroDivisionError) as error:
        name = Path(argv[0]).name
        raise BenchError(f"{name}: its output was not understood ({type(error).__name__}: {error})") from error
    sample.setdefault("rss_mib", done.rss_bytes / 2**20)
    return sample, [*argv, *shown]


def run_contender(contender: Contender, setting: Setting) -> tuple[Sample, list[list[str]]]:
    """All steps of a contender: figures, and commands as run."""
    launcher = setting.tool("assay-bare")
    sample: Sample = {}
    commands: list[list[str]] = []
    steps = contender.steps(setting)
    last: Sample | None = None
    while True:
        try:
            step = next(steps) if last is None else steps.send(last)
        except StopIteration:
            return sample, commands
        last, command = run_step(launcher, step, setting.memory)
        peak = max(sample.get("rss_mib", 0.0), last["rss_mib"])
        sample |= last | {"rss_mib": peak}
        commands.append(command)
