"""Following a run that Slurm has: the queue while it waits, then what the job tells. Nothing of the run is locked."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from assay.model.base import EXIT_INCOMPLETE, AssayError, warning
from assay.run.batch.events import Reader, Replay, caught_up
from assay.run.batch.facts import keep_end
from assay.run.batch.kept import Batch, last_words, output_size, read_batch, write_batch
from assay.run.batch.programs import SlurmError
from assay.run.batch.slurm import JobState, job_state
from assay.run.batch.submit import newest_job
from assay.run.listener import Listener
from assay.store.entries import BATCH_OUTPUT

LOOK_SECONDS = 0.5
"""Time between two looks at what the job tells."""
LEAST_ASK, MOST_ASK = 1.0, 15.0
"""Seconds between two questions to Slurm: its controller serves everybody, and is asked less as nothing changes."""
SLOWER = 1.3
SEEN_SECONDS = 10.0
"""How long what a job wrote at its end may take to be seen, as through NFS, which looks every so often."""
MOST_WORDS = 10


class Follower:
    """Follows the newest job of a run to its end."""

    def __init__(self, folder: Path, listener: Listener, later: bool, sleep: Callable[[float], None] = time.sleep):
        """Nothing is asked yet.

        Args:
            folder: Of the run.
            listener: Takes what there is to tell.
            later: Somebody comes to a job that may have told much already, which is not told again.
            sleep: Waits for so many seconds.

        Raises:
            AssayError: The run never was a job, or Slurm does not answer.
        """
        self._folder, self._listener, self._sleep = folder, listener, sleep
        self._batch = _batch_of(folder)
        job = newest_job(folder, self._batch)
        if job is None:
            hint = f"`assay run {folder} --resume` submits it"
            raise AssayError(f"run {folder.name} was not taken by Slurm", hint)
        self.job, self.known = job.id, job.job
        self._over = job.over
        self._said = ""
        self._reader, self._replay = Reader(folder), Replay(listener)
        self._output = 0 if later else output_size(folder)
        """Bytes that the run's jobs had printed before."""
        self.told_over = False
        """The job has told that it is done with the run."""
        self.error: AssayError | None = None
        """What it ended with, if it was an error."""
        self._catch_up(later)

    def _catch_up(self, later: bool) -> None:
        """Take what was told so far; what earlier jobs of the run told is over."""
        before: list[dict[str, Any]] = []
        while lines := list(self._reader.lines()):
            before += lines
        begun = max((place for place, line in enumerate(before) if line.get("what") == "job"), default=len(before))
        mine = before[begun:]
        if mine and str(mine[0].get("id")) == self.job:
            self._hear_end(mine[-1])
            for line in caught_up(mine) if later else mine:
                self._replay.tell(line)

    def follow(self) -> JobState:
        """Until the job is over.

        Returns:
            How the queue knew it last.

        Raises:
            KeyboardInterrupt: The user has enough; the job goes on.
        """
        state, ask, next_ask = JobState(""), LEAST_ASK, 0.0
        try:
            while not self._over:
                if time.monotonic() >= next_ask:
                    now = self._ask(state)
                    ask = LEAST_ASK if now != state else min(MOST_ASK, ask * SLOWER)
                    if not now.alive:
                        break
                    state, next_ask = now, time.monotonic() + ask
                self._tell()
                self._sleep(LOOK_SECONDS)
            self._finish()
        finally:
            self._replay.close()
        return state

    def _ask(self, before: JobState) -> JobState:
        """Where the job stands; as before where Slurm does not answer."""
        try:
            state = job_state(self.known)
        except SlurmError as error:
            self._say(warning(f"{error.message}; the job goes on, and is asked for again"))
            return before if before.alive else JobState("RUNNING")
        if state.waits:
            about = f", expected to start at {state.start}" if state.start else ""
            self._say(f"job {self.job} waits: {state.reason or state.state}{about}")
        elif state.alive and before.waits | (not before.state):
            self._say(f"job {self.job} is {state.state} on {state.nodes or 'its nodes'}")
        return state

    def _say(self, text: str) -> None:
        if text != self._said:
            self._listener.say(text)
            self._said = text

    def _tell(self) -> None:
        """Tell what is new."""
        for line in self._reader.lines():
            self._replay.tell(line)
            self._hear_end(line)

    def _hear_end(self, line: dict[str, Any]) -> None:
        self.told_over = line.get("what") == "over"
        if self.told_over and "message" in line:
            code = line.get("code")
            known = code if isinstance(code, int) else EXIT_INCOMPLETE
            self.error = AssayError(f"job {self.job}: {line['message']}", str(line.get("hint", "")), known)

    def _finish(self) -> None:
        """Tell the rest, and write down how the job ended."""
        if self._over:
            return
        end = time.monotonic() + SEEN_SECONDS
        written = False
        while True:
            self._tell()
            written = written or keep_end(self._folder, self.known, self._batch.options)
            if (self.told_over and written) or time.monotonic() >= end:
                break
            self._sleep(LOOK_SECONDS)
        self._replay.close()
        if not self.told_over:
            # A job that was killed, or never came as far as the run.
            for line in last_words(self._folder, self._output)[-MOST_WORDS:]:
                self._listener.say(f"{BATCH_OUTPUT}: {line}")
        newest = self._batch.jobs[-1].model_copy(update={"id": self.job, "over": True})
        write_batch(self._folder, self._batch.with_job(newest))


def _batch_of(folder: Path) -> Batch:
    batch = read_batch(folder)
    if batch is None:
        hint = f"`assay show {folder}` tells what it has; --slurm submits a run"
        raise AssayError(f"run {folder.name} was not submitted to Slurm", hint)
    return batch
