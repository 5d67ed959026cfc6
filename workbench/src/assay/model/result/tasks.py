"""The tasks of a command, as one repeat ran them."""

from collections.abc import Sequence

from pydantic import Field

from assay.model.frozen import Frozen


class TaskIo(Frozen):
    """Bytes and calls of all processes of a task (proc_pid_io(5)). Accesses to mapped memory are no calls.

    Attributes:
        call_read_bytes: Bytes that read calls returned, from files, caches and pipes.
        call_write_bytes: Bytes that write calls took.
        reads: Read calls.
        writes: Write calls.
        read_bytes: Bytes fetched from the storage layer; most network file systems do not count here.
        write_bytes: Bytes sent to the storage layer, now or later.
    """

    call_read_bytes: int
    call_write_bytes: int
    reads: int
    writes: int
    read_bytes: int
    write_bytes: int


class TaskStates(Frozen):
    """What a task did, as seen by looking at its threads at intervals.

    Of several processes at a time those count that the end of the task has waited for.

    Attributes:
        looks: Number of looks.
        running_ns: A thread was on a CPU, or ready to be.
        storage_ns: No thread was running, and one waited for storage.
        network_ns: Neither, and a thread waited in a call on a socket.
        other_ns: None of these: all threads slept, or waited for each other.
        ideal_ns: The time that it would have taken if no process had waited for storage; None in older runs.
    """

    looks: int
    running_ns: int
    storage_ns: int
    network_ns: int
    other_ns: int
    ideal_ns: int | None = None

    @property
    def saved_share(self) -> float:
        """The share of its time that storage without any wait would save."""
        if not self.observed_ns:
            return 0.0
        saved = self.storage_ns if self.ideal_ns is None else self.observed_ns - self.ideal_ns
        return min(1.0, max(0.0, saved / self.observed_ns))

    @property
    def observed_ns(self) -> int:
        """The time that the looks account for."""
        return self.running_ns + self.storage_ns + self.network_ns + self.other_ns


class TaskResult(Frozen):
    """One execution of a command's program.

    Attributes:
        task: Its word: what $task stood for.
        lane: Number of the lane that ran it.
        host: Name of its host; empty on this machine alone.
        started_ns: From the start of the phase to its own.
        elapsed_ns: How long it took.
        exit_code: Exit code; None if a signal ended it or it could not be started.
        signal: Signal that ended it.
        failure: Why it has failed; empty if it has not.
        user_ns: CPU time in user space of all its processes.
        system_ns: CPU time in the kernel.
        max_rss_bytes: Greatest resident memory of one of its processes.
        left_running: Processes that were killed when it had ended.
        io: Its bytes and calls; None if the kernel does not count them.
        states: What it was seen to do; None if it was too short for a look.
        figures: Name -> number that it printed; those that it did not print are missing.
        slow_figure: Name of the figure whose pattern took too long on what it printed; empty if none did.
    """

    task: str
    lane: int
    host: str = ""
    started_ns: int
    elapsed_ns: int
    exit_code: int | None = None
    signal: int | None = None
    failure: str = ""
    user_ns: int = 0
    system_ns: int = 0
    max_rss_bytes: int = 0
    left_running: int = 0
    io: TaskIo | None = None
    states: TaskStates | None = None
    figures: dict[str, float] = Field(default_factory=dict)
    slow_figure: str = ""

    @property
    def cpu_ns(self) -> int:
        """CPU time of all its processes."""
        return self.user_ns + self.system_ns

    @property
    def failure_words(self) -> str:
        """How it failed, with its name: `task 1 ended with exit code 3: oops`; empty if it has not."""
        if not self.failure:
            return ""
        verb = " ended with " if self.exit_code else " was " if self.signal is not None else ": "
        return f"task {self.task}{verb}{self.failure}"


def all_io(tasks: Sequence[TaskResult]) -> TaskIo | None:
    """Return what all tasks did together; None if one was not counted."""
    counted = [task.io for task in tasks if task.io is not None]
    if not counted or len(counted) < len(tasks):
        return None
    return TaskIo(**{name: sum(getattr(io, name) for io in counted) for name in TaskIo.model_fields})
