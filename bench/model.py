"""The words of the bench: a row compares contenders, each of which runs steps; goals say what Assay must reach."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Sample = dict[str, float]


class BenchError(Exception):
    """Something that the user must know, in one line."""


class AbsentError(BenchError):
    """A contender that cannot run here; its column says why."""


@dataclass(frozen=True)
class Done:
    """A command that has ended well."""

    output: str
    errors: str
    wall_s: float
    cpu_s: float
    rss_bytes: int
    start_ns: int
    course: list[tuple[float, float]] = field(default_factory=list)
    """If it was watched: seconds since 1970, and of CPU time until then."""


@dataclass(frozen=True)
class Step:
    """One command of a contender, and how to read what it says."""

    argv: list[str]
    parse: Callable[[Done], Sample]
    job: dict[str, Any] | None = None
    """An Assay job; its file's name is put at the end of the command."""
    environment: dict[str, str] = field(default_factory=dict)
    """Variables besides those of the bench."""
    watched: bool = False
    """Its CPU time is looked at while it runs: for a program that does not say what its phases took."""


@dataclass(frozen=True)
class Service:
    """An S3 service that runs on this machine."""

    address: str
    """HOST:PORT; it speaks HTTP."""
    access_key: str
    secret_key: str
    forget: Callable[[], None]
    """Takes away all that is stored, so far as it takes room."""


@dataclass
class Setting:
    """Where the rows run and what they run with."""

    disk: Path
    memory: Path
    loop: Path | None
    loop_absent: str
    seconds: float
    tools: dict[str, Path]
    rate: float = 0.0
    """Operations per second of the row's first contender, from its trial run: others size fixed work by it."""
    seed: int = 0
    """Seed of random offsets and data, where a contender takes one."""
    service: Service | None = None
    """The S3 service of the row at hand."""
    service_absent: str = "the row names no service"

    def tool(self, name: str) -> str:
        """Path of a program, or AbsentError."""
        if name not in self.tools:
            raise AbsentError(f"{name} is not on PATH")
        return str(self.tools[name])

    def served(self) -> Service:
        """The S3 service of the row, or AbsentError."""
        if self.service is None:
            raise AbsentError(self.service_absent)
        return self.service

    @property
    def file(self) -> Path:
        """The file that reads read: made by Assay, 1 GiB."""
        return self.disk / "data" / "f0"

    def ops(self, least: int = 1000) -> int:
        """Operations that take about as long as a timed run."""
        return max(least, int(self.rate * self.seconds))


Steps = Generator[Step, Sample, None]


@dataclass(frozen=True)
class Contender:
    """One program in a row, set up in one way.

    Its steps are made one after the other, each when the one before has run; their figures are put together.
    What the generator does between two steps is outside all timing.
    """

    key: str
    label: str
    steps: Callable[[Setting], Steps]
    seconds: float | None = None
    """About how long it takes; none: the timed run."""
    overhead: float = 0.1
    """What it takes besides."""
    against: str | None = None
    """Key of the contender that its ratio is to; none: the row's limit."""


@dataclass(frozen=True)
class Goal:
    """A bound on a figure of one contender, or on its ratio to another's."""

    measure: str
    bound: float
    most: bool
    against: str | None = None
    contender: str = "assay"


def at_most(measure: str, bound: float, against: str | None = None, contender: str = "assay") -> Goal:
    """The figure, or its ratio to that of `against`, is at most `bound`."""
    return Goal(measure, bound, True, against, contender)


def at_least(measure: str, bound: float, against: str | None = None, contender: str = "assay") -> Goal:
    """The figure, or its ratio to that of `against`, is at least `bound`."""
    return Goal(measure, bound, False, against, contender)


@dataclass(frozen=True)
class Row:
    """One comparison. Ratios are made of the `headline` measures, to the contender named by `limit`."""

    key: str
    title: str
    contenders: list[Contender]
    measures: tuple[str, ...]
    headline: tuple[str, ...]
    goals: list[Goal] = field(default_factory=list)
    limit: str | None = "bare"
    cached: tuple[str, ...] = ()
    """Files that must be in the page cache: `file` or `memory file`."""
    note: str = ""
    service: str | None = None
    """The S3 service that must run meanwhile, by the name of its program."""


@dataclass(frozen=True)
class Measure:
    """How a figure is shown."""

    heading: str
    unit: str
    scale: float = 1.0


MEASURES = {
    "cpu_us": Measure("CPU", "µs/op"),
    "cpu_ns": Measure("CPU", "ns/op"),
    "ops_per_s": Measure("rate", "k op/s", 1e-3),
    "mops_per_s": Measure("rate", "M op/s"),
    "requests_per_s": Measure("requests", "1/s"),
    "requests_per_core": Measure("requests per second of CPU", "1/s"),
    "cpu_s_per_gb": Measure("CPU", "s/GB"),
    "mean_us": Measure("mean latency", "µs"),
    "p99_us": Measure("p99 latency", "µs"),
    "mb_per_s": Measure("bandwidth", "MB/s"),
    "gb_per_s": Measure("bandwidth", "GB/s"),
    "rss_mib": Measure("peak memory", "MiB"),
    "create_per_s": Measure("create", "k op/s", 1e-3),
    "stat_per_s": Measure("stat", "k op/s", 1e-3),
    "unlink_per_s": Measure("unlink", "k op/s", 1e-3),
    "closed_per_s": Measure("closed-loop rate", "k op/s", 1e-3),
    "target_share": Measure("done of what was due", "%", 100.0),
    "delay_p50_us": Measure("median delay of the start", "µs"),
    "delay_p999_us": Measure("p99.9 delay of the start", "µs"),
    "start_ms": Measure("start to first operation", "ms"),
    "lane_mib": Measure("memory per lane, without buffers", "MiB"),
}
