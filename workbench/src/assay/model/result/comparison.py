"""Two runs beside each other, and the runs of one study over time."""

from assay.model.frozen import Frozen
from assay.model.result.environment import EnvironmentDifference
from assay.model.result.result import Comparison, Estimate, Percentile
from assay.model.result.run import RunInfo
from assay.model.result.verdict import NO_RESULT, Verdict


class RunName(Frozen):
    """A run by name.

    Attributes:
        created_at: Seconds since 1970.
        disturbed: Something other than the storage had a part in what it measured.
    """

    id: str
    folder: str
    study: str
    status: str
    created_at: float
    disturbed: bool = False

    @classmethod
    def of(cls, run: RunInfo) -> "RunName":
        """That of a run."""
        return cls(
            id=run.id,
            folder=run.folder,
            study=run.study,
            status=run.status,
            created_at=run.created_at,
            disturbed=run.machine is not None,
        )


class Side(Frozen):
    """What one side of a comparison has measured.

    Attributes:
        rate: Bytes per second, of counted operations their number per second.
        finding: Why its verdict is not ok; empty if it is.
        p50: Of latency; None if none was recorded; likewise `p99`.
    """

    rate: Estimate
    verdict: Verdict
    finding: str
    p50: Percentile | None = None
    p99: Percentile | None = None


class ComparedRow(Frozen):
    """One operation at the same parameters, before and after.

    Attributes:
        what: Workload, parameters and operation in words, without the target.
        counted: The rate is operations per second.
        comparison: `base` and `other` are the targets before and after.
        p50: Of latency; None unless both sides have enough operations for it; likewise `p99`.
    """

    what: str
    counted: bool
    comparison: Comparison
    before: Side
    after: Side
    p50: Comparison | None = None
    p99: Comparison | None = None

    @property
    def judged(self) -> bool:
        """Both sides have numbers of the storage's own, all told, and enough repeats to call a difference."""
        return not self.comparison.too_few and self.comparison.told and not self.no_result

    @property
    def no_result(self) -> bool:
        """A side has a number that is not the storage's, or not whole."""
        return not NO_RESULT.isdisjoint((self.before.verdict, self.after.verdict))

    @property
    def name(self) -> str:
        """With the target: `disk / grid / record_size=4KiB, read`."""
        base, other = self.comparison.base, self.comparison.other
        return f"{base if base == other else f'{base} -> {other}'} / {self.what}"


class UncomparedRow(Frozen):
    """One operation that cannot be compared: it is in one run only, or a side has no rate.

    Attributes:
        name: With the target, as in `ComparedRow`.
        before: Its verdict in the first run; None if it is not there; likewise `after`.
        reason: Why, in words.
    """

    name: str
    before: Verdict | None
    after: Verdict | None
    reason: str


class RunsComparison(Frozen):
    """Two runs, or the targets of one, row by row.

    Attributes:
        before: The first run.
        after: The second one; the same if the targets of one run are compared.
        runs: How many runs there are on either side; of several, `before` and `after` are the last ones.
        known_runs: Other runs of the study that show how much its runs differ; 0 if that is not known.
        typical: Two runs of a typical row are apart by less than this share, in 95 of 100 cases, though nothing was
            changed; None if that is not known.
        rows: By pair of targets, then in plan order.
        differences: Of the environments, what commonly changes results first.
    """

    before: RunName
    after: RunName
    runs: tuple[int, int] = (1, 1)
    known_runs: int = 0
    typical: float | None = None
    rows: tuple[ComparedRow, ...]
    uncompared: tuple[UncomparedRow, ...]
    differences: tuple[EnvironmentDifference, ...]


class HistoryPoint(Frozen):
    """A row in one run.

    Attributes:
        run: Number of the run in the history.
        median: Bytes per second, of counted operations their number per second.
        low: Lower end of the 95 % interval; None with fewer than 2 repeats; likewise `high`.
        n: Usable repeats.
    """

    run: int
    median: float
    low: float | None
    high: float | None
    n: int
    verdict: Verdict


class HistoryChange(Frozen):
    """A row went from one level to another.

    Attributes:
        before: Number of the last run of the old level.
        after: Number of the first run of the new one.
        ratio: Geometric mean of the new level's medians divided by that of the old one's.
        p: See `assay.analyse.statistics.changes`.
    """

    before: int
    after: int
    ratio: float
    p: float


class HistoryRow(Frozen):
    """One operation at the same parameters in all runs.

    Attributes:
        name: Target, workload, parameters and operation in words.
        counted: The rate is operations per second.
        points: In time order; runs without a usable number are missing.
        left_out: Numbers of runs in which its verdict is one of `NO_RESULT`.
    """

    name: str
    counted: bool
    points: tuple[HistoryPoint, ...]
    left_out: tuple[int, ...]
    changes: tuple[HistoryChange, ...]


class Boundary(Frozen):
    """What differs between two runs between which something changed.

    Attributes:
        before: Number of the earlier run.
        after: Number of the later one.
    """

    before: int
    after: int
    differences: tuple[EnvironmentDifference, ...]


class History(Frozen):
    """The runs of one study.

    Attributes:
        runs: The oldest first.
        rows: Those that changed first, the latest change first; then in plan order.
        boundaries: One for each place in `rows` at which something changed, in time order.
    """

    study: str
    runs: tuple[RunName, ...]
    rows: tuple[HistoryRow, ...]
    boundaries: tuple[Boundary, ...]
