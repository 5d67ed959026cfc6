"""Follows a run that is a Slurm job: the queue while it waits, then its progress. Nothing of the run is locked."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from assay.model.base import EXIT_INCOMPLETE, AssayError, warning
from assay.rooms.slurm.work.facts import record_end
from assay.rooms.slurm.work.programs import SlurmError
from assay.rooms.slurm.work.progress_file import ProgressReader, Replay, lines_for_late_follower
from assay.rooms.slurm.work.record import Batch, last_output_lines, output_size, read_batch, write_batch
from assay.rooms.slurm.work.slurm import JobState, job_state
from assay.rooms.slurm.work.submit import newest_job
from assay.run.listener import Listener
from assay.store.entries import BATCH_OUTPUT

POLL_SECONDS = 0.5
"""Time between two reads of the job's progress."""
MIN_QUERY_SECONDS, MAX_QUERY_SECONDS = 1.0, 15.0
"""Seconds between two queries to Slurm, whose controller serves all users; they grow while nothing changes."""
QUERY_BACKOFF = 1.3
VISIBLE_TIMEOUT_SECONDS = 10.0
"""How long the job's last lines may take to be visible here, as through NFS, which caches."""
MAX_OUTPUT_LINES = 10


class Follower:
    """Follows the newest job of a run to its end."""

    def __init__(self, folder: Path, listener: Listener, skip_past: bool, sleep: Callable[[float], None] = time.sleep):
        """Find the job, and report its progress so far.

        Args:
            folder: Folder of the run.
            listener: Receives what there is to report.
            skip_past: The job may have reported much before, which is not repeated.
            sleep: Waits for this many seconds.

        Raises:
            AssayError: The run was never a job, or Slurm does not answer.
        """
        self._folder, self._listener, self._sleep = folder, listener, sleep
        self._batch = _batch_of(folder)
        job = newest_job(folder, self._batch)
        if job is None:
            hint = f"`assay run {folder} --resume` submits it"
            raise AssayError(f"run {folder.name} has no job in Slurm", hint)
        self.job, self.known = job.id, job.job
        self._over = job.has_ended
        self._last_line = ""
        self._reader, self._replay = ProgressReader(folder), Replay(listener)
        self._output = 0 if skip_past else output_size(folder)
        """Bytes that the run's jobs had printed before."""
        self.told_over = False
        """The job has reported that it is done with the run."""
        self.error: AssayError | None = None
        """The error that the job ended with, if any."""
        self._catch_up(skip_past)

    def _catch_up(self, later: bool) -> None:
        """Read the progress so far; that of earlier jobs of the run is skipped."""
        before: list[dict[str, Any]] = []
        while lines := list(self._reader.lines()):
            before += lines
        begun = max((place for place, line in enumerate(before) if line.get("what") == "job"), default=len(before))
        own_lines = before[begun:]
        if own_lines and str(own_lines[0].get("id")) == self.job:
            self._note_end(own_lines[-1])
            for line in lines_for_late_follower(own_lines) if later else own_lines:
                self._replay.play(line)

    def follow(self) -> JobState:
        """Follow the job until it is over.

        Returns:
            Its last state in the queue.

        Raises:
            KeyboardInterrupt: The user stops following; the job goes on.
        """
        state, interval_s, next_query = JobState(""), MIN_QUERY_SECONDS, 0.0
        try:
            while not self._over:
                if time.monotonic() >= next_query:
                    now = self._query_state(state)
                    interval_s = (
                        MIN_QUERY_SECONDS if now != state else min(MAX_QUERY_SECONDS, interval_s * QUERY_BACKOFF)
                    )
                    if not now.is_alive:
                        break
                    state, next_query = now, time.monotonic() + interval_s
                self._report_new()
                self._sleep(POLL_SECONDS)
            self._finish()
        finally:
            self._replay.close()
        return state

    def _query_state(self, before: JobState) -> JobState:
        """Return the state of the job; the last state if Slurm does not answer."""
        try:
            state = job_state(self.known)
        except SlurmError as error:
            self._print_once(warning(f"{error.message}; the job continues, and Slurm is queried again"))
            return before if before.is_alive else JobState("RUNNING")
        if state.is_waiting:
            about = f", expected to start at {state.start}" if state.start else ""
            self._print_once(f"job {self.job} waits: {state.reason or state.state}{about}")
        elif state.is_alive and before.is_waiting | (not before.state):
            self._print_once(f"job {self.job} is {state.state} on {state.nodes or 'its nodes'}")
        return state

    def _print_once(self, text: str) -> None:
        if text != self._last_line:
            self._listener.print_line(text)
            self._last_line = text

    def _report_new(self) -> None:
        """Report what is new."""
        for line in self._reader.lines():
            self._replay.play(line)
            self._note_end(line)

    def _note_end(self, line: dict[str, Any]) -> None:
        self.told_over = line.get("what") == "over"
        if self.told_over and "message" in line:
            code = line.get("code")
            known = code if isinstance(code, int) else EXIT_INCOMPLETE
            self.error = AssayError(f"job {self.job}: {line['message']}", str(line.get("hint", "")), known)

    def _finish(self) -> None:
        """Report the rest, and record how the job ended."""
        if self._over:
            return
        end = time.monotonic() + VISIBLE_TIMEOUT_SECONDS
        is_recorded = False
        while True:
            self._report_new()
            is_recorded = is_recorded or record_end(self._folder, self.known, self._batch.options)
            if (self.told_over and is_recorded) or time.monotonic() >= end:
                break
            self._sleep(POLL_SECONDS)
        self._replay.close()
        if not self.told_over:
            # The job was killed, or ended before the run began.
            for line in last_output_lines(self._folder, self._output)[-MAX_OUTPUT_LINES:]:
                self._listener.print_line(f"{BATCH_OUTPUT}: {line}")
        newest = self._batch.jobs[-1].model_copy(update={"id": self.job, "has_ended": True})
        write_batch(self._folder, self._batch.with_job(newest))


def _batch_of(folder: Path) -> Batch:
    batch = read_batch(folder)
    if batch is None:
        hint = f"`assay show {folder}` shows its results; `assay run STUDY --slurm OPTIONS` submits a run"
        raise AssayError(f"run {folder.name} was not submitted to Slurm", hint)
    return batch
