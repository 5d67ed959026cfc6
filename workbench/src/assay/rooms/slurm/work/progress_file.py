"""The progress of a batch job, for processes that follow it: a JSON line for each call of a listener.

The job appends to a file of the run's folder, and followers only read it. This relies only on appended data becoming
visible on another machine after a while. It uses no locks and no database, which cluster file systems share badly.
"""

import json
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pydantic import ValidationError

from assay.model.base import AssayError, WarningLine, warning
from assay.model.result.sample import Sample
from assay.model.study.case import Case
from assay.run.listener import ClosestCeiling, HostInterval, Listener, Progress, Stretch, TimeLeft
from assay.store.entries import PROGRESS, open_to_append
from assay.store.safe_files import open_file

MAX_READ = 1 << 24
"""Most bytes of one read; the rest is read the next time."""
MAX_BYTES = 1 << 40
"""Largest accepted size of the file."""


class RecordingListener:
    """Passes calls on to another listener, and records them for followers of the run."""

    def __init__(self, inner: Listener, folder: Path, job: str) -> None:
        """Start to append.

        Args:
            inner: Receives all calls.
            folder: Folder of the run.
            job: Id of the job that this process is in.
        """
        self._inner = inner
        self._folder = folder
        self._fails = False
        self.append("job", id=job)

    def append(self, what: str, **facts: Any) -> None:
        """Append a line. A failure is reported once: followers then see less, and the run goes on."""
        line = json.dumps({"at": time.time(), "what": what, **facts}, separators=(",", ":"))
        try:
            with open_to_append(self._folder / PROGRESS) as file:
                file.write(f"{line}\n".encode())
        except OSError as error:
            if not self._fails:
                reason = (error.strerror or str(error)).lower()
                self._inner.print_line(warning(f"{self._folder / PROGRESS}: cannot be written: {reason}"))
            self._fails = True

    def print_line(self, text: str) -> None:
        """See `Listener`."""
        self._inner.print_line(text)
        self.append("say", text=text, warning=isinstance(text, WarningLine))

    def progress(self, total: int, done: int, left: TimeLeft) -> Progress:
        """See `Listener`."""
        self.append("progress", total=total, done=done, left=left.seconds(), at_most=left.at_most)
        return _RecordingProgress(self._inner.progress(total, done, left), self, left)


class _RecordingProgress(Progress):
    def __init__(self, inner: Progress, recorder: RecordingListener, left: TimeLeft) -> None:
        self._inner, self._recorder, self._left = inner, recorder, left
        self._merger = IntervalMerger()

    def __enter__(self) -> Self:
        self._inner.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._inner.__exit__(kind, error, trace)

    def begin(self, case: Case, repeat: int) -> None:
        self._inner.begin(case, repeat)
        self._recorder.append("begin", case=case.model_dump(mode="json"), repeat=repeat, left=self._left.seconds())

    def phase(self, operation: str, limits: ClosestCeiling) -> None:
        self._inner.phase(operation, limits)
        self._merger = IntervalMerger()
        self._recorder.append("phase", operation=operation)

    def interval(self, host_interval: HostInterval) -> None:
        self._inner.interval(host_interval)
        for done, counted in self._merger.add(host_interval):
            self._recorder.append("interval", done=done, counted=counted)

    def finish(
        self, case: Case, repeat: int, status: str, reason: str, seconds: float, samples: Sequence[Sample]
    ) -> None:
        self._inner.finish(case, repeat, status, reason, seconds, samples)
        self._recorder.append(
            "finish",
            case=case.model_dump(mode="json"),
            repeat=repeat,
            status=status,
            reason=reason,
            seconds=seconds,
            samples=[sample.model_dump(mode="json") for sample in samples],
            left=self._left.seconds(),
        )

    def drop_repeats(self, count: int) -> None:
        self._inner.drop_repeats(count)
        self._recorder.append("fewer", count=count)

    def drop_any_repeats(self, count: int) -> None:
        self._inner.drop_any_repeats(count)
        self._recorder.append("left_out", count=count)

    def print_line(self, text: str) -> None:
        self._inner.print_line(text)
        self._recorder.append("say", text=text, warning=isinstance(text, WarningLine))


class IntervalMerger:
    """Merges the intervals of many hosts into intervals of all, so that the file has one line for each."""

    def __init__(self) -> None:
        """Start without intervals."""
        self._length = 0
        self._open: dict[int, tuple[Stretch, bool]] = {}

    def add(self, host_interval: HostInterval) -> list[tuple[Stretch, bool]]:
        """Add an interval of a host; returns the merged intervals that are complete: two later ones have begun."""
        done = host_interval.work
        self._length = self._length or max(1, done.end_ns - done.start_ns)
        number = done.start_ns // self._length
        known, counted = self._open.get(number, (Stretch(done.start_ns, done.end_ns, 0.0, 0.0), False))
        whole = Stretch(
            min(known.start_ns, done.start_ns),
            max(known.end_ns, done.end_ns),
            known.bytes + done.bytes,
            known.ops + done.ops,
        )
        self._open[number] = (whole, counted or host_interval.in_operations)
        ready = sorted(one for one in self._open if one < number - 1)
        return [self._open.pop(one) for one in ready]


class ReportedTimeLeft(TimeLeft):
    """The time left as the job reported it last."""

    def __init__(self, seconds: float, at_most: bool) -> None:
        """Start with a reported time."""
        super().__init__(0.0, at_most)
        self.update(seconds)

    def update(self, seconds: float) -> None:
        """Note the time that was reported now."""
        self._reported_s, self._reported_at = seconds, time.monotonic()

    def seconds(self) -> float:
        """See `TimeLeft`."""
        return max(0.0, self._reported_s - (time.monotonic() - self._reported_at))


class ProgressReader:
    """Reads the progress of the jobs of a run, each time from where the last read ended."""

    def __init__(self, folder: Path) -> None:
        """Start at the beginning of the file."""
        self._folder = folder
        self._place = 0

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield the new lines; a line that is not complete yet is left for the next time."""
        try:
            # The file is opened anew each time, so that NFS asks its server.
            fd = open_file(self._folder, PROGRESS, MAX_BYTES)
            try:
                data = os.pread(fd, MAX_READ, self._place)
            finally:
                os.close(fd)
        except (AssayError, OSError):
            return
        end = data.rfind(b"\n") + 1
        self._place += end
        for line in data[:end].splitlines():
            try:
                found = json.loads(line)
            except ValueError:
                continue
            if isinstance(found, dict):
                yield found


class Replay:
    """Repeats a job's recorded calls to a listener."""

    def __init__(self, listener: Listener) -> None:
        """Start without progress."""
        self._listener = listener
        self._progress: Progress | None = None
        self._left = ReportedTimeLeft(0.0, False)

    def close(self) -> None:
        """End the display of the repeats."""
        if self._progress is not None:
            self._progress.__exit__(None, None, None)
            self._progress = None

    def play(self, line: dict[str, Any]) -> None:
        """Repeat one recorded call; an invalid one is skipped."""
        try:
            self._replay(line)
        except (KeyError, TypeError, ValueError, ValidationError):
            return

    def _replay(self, line: dict[str, Any]) -> None:
        what, shown = line.get("what"), self._progress
        if "left" in line:
            self._left.update(float(line["left"]))
        if what == "say":
            text = str(line["text"])
            (shown or self._listener).print_line(WarningLine(text) if line.get("warning") else text)
        elif what == "progress":
            left = ReportedTimeLeft(float(line["left"]), bool(line["at_most"]))
            total, done = int(line["total"]), int(line["done"])
            self.close()
            self._left, self._progress = left, self._listener.progress(total, done, left)
            self._progress.__enter__()
        elif what in ("job", "over"):
            self.close()
        elif shown is not None:
            _replay_progress(shown, what, line)


def _replay_progress(shown: Progress, what: object, line: dict[str, Any]) -> None:
    if what == "begin":
        shown.begin(Case.model_validate(line["case"]), int(line["repeat"]))
    elif what == "phase":
        shown.phase(str(line["operation"]), lambda _bytes, _ops: None)
    elif what == "interval":
        start, end, moved, ops = line["done"]
        if end > start >= 0:
            shown.interval(
                HostInterval("", Stretch(int(start), int(end), float(moved), float(ops)), bool(line["counted"]))
            )
    elif what == "finish":
        samples = [Sample.model_validate(sample) for sample in line["samples"]]
        case, repeat = Case.model_validate(line["case"]), int(line["repeat"])
        shown.finish(case, repeat, str(line["status"]), str(line["reason"]), float(line["seconds"]), samples)
    elif what == "fewer":
        shown.drop_repeats(int(line["count"]))
    elif what == "left_out":
        shown.drop_any_repeats(int(line["count"]))


def lines_for_late_follower(lines: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the lines that a later follower needs: how far the run is, and the current repeat.

    Args:
        lines: All lines so far.
    """
    begun = max((place for place, line in enumerate(lines) if line.get("what") == "progress"), default=None)
    if begun is None:
        return list(lines[-1:])
    head, rest = dict(lines[begun]), lines[begun + 1 :]
    ends = [place for place, line in enumerate(rest) if line.get("what") == "finish"]
    changes = [line for line in rest if line.get("what") in ("fewer", "left_out")]
    head["done"] = int(head.get("done", 0)) + len(ends)
    head["total"] = int(head.get("total", 0)) - sum(int(line.get("count", 0)) for line in changes)
    head["left"] = next((line["left"] for line in reversed(rest) if "left" in line), head.get("left", 0.0))
    after = rest[ends[-1] + 1 :] if ends else rest
    return [head, *(line for line in after if line.get("what") not in ("say", "fewer", "left_out"))]
