"""What the job of a run tells whoever follows it: a line of JSON for each thing that a listener is told.

The job appends to a file of the run's folder, and whoever follows only reads it. Nothing else is relied on than that
what is appended on one machine is seen on another after a while: no lock, and no database, which file systems of
clusters share badly.
"""

import json
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pydantic import ValidationError

from assay.model.base import AssayError, Warned, warning
from assay.model.result.sample import Sample
from assay.model.study.case import Case
from assay.run.listener import Heard, Limits, Listener, Progress, Stretch, TimeLeft
from assay.store.door import open_file
from assay.store.entries import PROGRESS, open_to_append

MOST_READ = 1 << 24
"""Bytes that are read at once; the rest the next time."""
MOST_BYTES = 1 << 40
"""Of a file that is read on."""


class TellingListener:
    """Tells another listener, and whoever follows the run."""

    def __init__(self, inner: Listener, folder: Path, job: str) -> None:
        """Begin to append.

        Args:
            inner: Is told everything.
            folder: Of the run.
            job: Id of the job that this process is in.
        """
        self._inner = inner
        self._folder = folder
        self._fails = False
        self.tell("job", id=job)

    def tell(self, what: str, **facts: Any) -> None:
        """Append a line. That it cannot be done is said once: who follows sees less then, and the run goes on."""
        line = json.dumps({"at": time.time(), "what": what, **facts}, separators=(",", ":"))
        try:
            with open_to_append(self._folder / PROGRESS) as file:
                file.write(f"{line}\n".encode())
        except OSError as error:
            if not self._fails:
                why = (error.strerror or str(error)).lower()
                self._inner.say(warning(f"{self._folder / PROGRESS}: cannot be written: {why}"))
            self._fails = True

    def say(self, text: str) -> None:
        """See `Listener`."""
        self._inner.say(text)
        self.tell("say", text=text, warning=isinstance(text, Warned))

    def progress(self, total: int, done: int, left: TimeLeft) -> Progress:
        """See `Listener`."""
        self.tell("progress", total=total, done=done, left=left.seconds(), at_most=left.at_most)
        return _TellingProgress(self._inner.progress(total, done, left), self, left)


class _TellingProgress:
    def __init__(self, inner: Progress, teller: TellingListener, left: TimeLeft) -> None:
        self._inner, self._teller, self._left = inner, teller, left
        self._merger = Merger()

    def __enter__(self) -> Self:
        self._inner.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._inner.__exit__(kind, error, trace)

    def begin(self, case: Case, repeat: int) -> None:
        self._inner.begin(case, repeat)
        self._teller.tell("begin", case=case.model_dump(mode="json"), repeat=repeat, left=self._left.seconds())

    def phase(self, operation: str, limits: Limits) -> None:
        self._inner.phase(operation, limits)
        self._merger = Merger()
        self._teller.tell("phase", operation=operation)

    def interval(self, heard: Heard) -> None:
        self._inner.interval(heard)
        for done, counted in self._merger.add(heard):
            self._teller.tell("interval", done=done, counted=counted)

    def finish(
        self, case: Case, repeat: int, status: str, reason: str, seconds: float, samples: Sequence[Sample]
    ) -> None:
        self._inner.finish(case, repeat, status, reason, seconds, samples)
        self._teller.tell(
            "finish",
            case=case.model_dump(mode="json"),
            repeat=repeat,
            status=status,
            reason=reason,
            seconds=seconds,
            samples=[sample.model_dump(mode="json") for sample in samples],
            left=self._left.seconds(),
        )

    def fewer(self, count: int) -> None:
        self._inner.fewer(count)
        self._teller.tell("fewer", count=count)

    def left_out(self, count: int) -> None:
        self._inner.left_out(count)
        self._teller.tell("left_out", count=count)

    def say(self, text: str) -> None:
        self._inner.say(text)
        self._teller.tell("say", text=text, warning=isinstance(text, Warned))


class Merger:
    """Intervals of many hosts as those of one: a line for each, however many hosts there are."""

    def __init__(self) -> None:
        """Nothing was heard yet."""
        self._length = 0
        self._open: dict[int, tuple[Stretch, bool]] = {}

    def add(self, heard: Heard) -> list[tuple[Stretch, bool]]:
        """Take an interval of a host; returns those of all that are whole: two later ones have begun."""
        done = heard.done
        self._length = self._length or max(1, done.end_ns - done.start_ns)
        number = done.start_ns // self._length
        known, counted = self._open.get(number, (Stretch(done.start_ns, done.end_ns, 0.0, 0.0), False))
        whole = Stretch(
            min(known.start_ns, done.start_ns),
            max(known.end_ns, done.end_ns),
            known.bytes + done.bytes,
            known.ops + done.ops,
        )
        self._open[number] = (whole, counted or heard.counted)
        ready = sorted(one for one in self._open if one < number - 1)
        return [self._open.pop(one) for one in ready]


class ToldTime(TimeLeft):
    """The time left as the job told it last."""

    def __init__(self, seconds: float, at_most: bool) -> None:
        """Begin with what was told."""
        super().__init__(0.0, at_most)
        self.tell(seconds)

    def tell(self, seconds: float) -> None:
        """Take what was told now."""
        self._told, self._told_at = seconds, time.monotonic()

    def seconds(self) -> float:
        """See `TimeLeft`."""
        return max(0.0, self._told - (time.monotonic() - self._told_at))


class Reader:
    """Reads what the jobs of a run tell, from where it last was."""

    def __init__(self, folder: Path) -> None:
        """Nothing is read yet."""
        self._folder = folder
        self._place = 0

    def lines(self) -> Iterator[dict[str, Any]]:
        """What was told since the last time; a line that is not whole yet is left for the next time."""
        try:
            # Opened anew each time: NFS asks its server then.
            fd = open_file(self._folder, PROGRESS, MOST_BYTES)
            try:
                data = os.pread(fd, MOST_READ, self._place)
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
    """Tells a listener what a job has told."""

    def __init__(self, listener: Listener) -> None:
        """Nothing is told yet."""
        self._listener = listener
        self._progress: Progress | None = None
        self._left = ToldTime(0.0, False)

    def close(self) -> None:
        """End what is shown of the repeats."""
        if self._progress is not None:
            self._progress.__exit__(None, None, None)
            self._progress = None

    def tell(self, line: dict[str, Any]) -> None:
        """One thing that the job told; what cannot be read is left out."""
        try:
            self._tell(line)
        except (KeyError, TypeError, ValueError, ValidationError):
            return

    def _tell(self, line: dict[str, Any]) -> None:
        what, shown = line.get("what"), self._progress
        if "left" in line:
            self._left.tell(float(line["left"]))
        if what == "say":
            text = str(line["text"])
            (shown or self._listener).say(Warned(text) if line.get("warning") else text)
        elif what == "progress":
            left = ToldTime(float(line["left"]), bool(line["at_most"]))
            total, done = int(line["total"]), int(line["done"])
            self.close()
            self._left, self._progress = left, self._listener.progress(total, done, left)
            self._progress.__enter__()
        elif what in ("job", "over"):
            self.close()
        elif shown is not None:
            _shown(shown, what, line)


def _shown(shown: Progress, what: object, line: dict[str, Any]) -> None:
    if what == "begin":
        shown.begin(Case.model_validate(line["case"]), int(line["repeat"]))
    elif what == "phase":
        shown.phase(str(line["operation"]), lambda _bytes, _ops: None)
    elif what == "interval":
        start, end, moved, ops = line["done"]
        if end > start >= 0:
            shown.interval(Heard("", Stretch(int(start), int(end), float(moved), float(ops)), bool(line["counted"])))
    elif what == "finish":
        samples = [Sample.model_validate(sample) for sample in line["samples"]]
        case, repeat = Case.model_validate(line["case"]), int(line["repeat"])
        shown.finish(case, repeat, str(line["status"]), str(line["reason"]), float(line["seconds"]), samples)
    elif what == "fewer":
        shown.fewer(int(line["count"]))
    elif what == "left_out":
        shown.left_out(int(line["count"]))


def caught_up(lines: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What is left to be told to somebody who comes later: how far the run is, and the repeat at hand.

    Args:
        lines: All that was told before.
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
