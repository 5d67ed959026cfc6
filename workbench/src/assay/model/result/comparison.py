"""Comparisons of two runs, and the history of the runs of a study."""

from assay.model.frozen import Frozen
from assay.model.result.environment import EnvironmentDifference
from assay.model.result.result import Comparison, Estimate, Percentile
from assay.model.result.run import RunInfo
from assay.model.result.verdict import NO_RESULT, Verdict


class RunLabel(Frozen):
    """What identifies a run in a list.

    Attributes:
        created_at: Seconds since 1970.
        disturbed: Something other than the storage influenced its results.
        imported: For a run that other tools measured: `imported from fio 3.33, FILE`; else empty.
    """

    id: str
    folder: str
    study: str
    status: str
    created_at: float
    disturbed: bool = False
    imported: str = ""

    @classmethod
    def of(cls, run: RunInfo) -> "RunLabel":
        """Return the identification of a run."""
        return cls(
            id=run.id,
            folder=run.folder,
            study=run.study,
            status=run.status,
            created_at=run.created_at,
            disturbed=run.machine is not None,
            imported=run.import_words,
        )


class ComparedSide(Frozen):
    """The result of one side of a comparison.

    Attributes:
        rate: In bytes per second, or operations per second for counted operations.
        finding: Why its verdict is not ok; empty if it is.
        p50, p99: Percentiles of latency; None if no latencies were recorded.
    """

    rate: Estimate
    verdict: Verdict
    finding: str
    p50: Percentile | None = None
    p99: Percentile | None = None


class ComparedRow(Frozen):
    """One operation with the same parameters on both sides.

    Attributes:
        what: Workload, parameters and operation in words, without the target.
        is_counted: The rate is in operations per second.
        comparison: Its `base` and `other` are the targets before and after.
        p50, p99: Comparisons of latency; None unless both sides have enough operations.
    """

    what: str
    is_counted: bool
    comparison: Comparison
    before: ComparedSide
    after: ComparedSide
    p50: Comparison | None = None
    p99: Comparison | None = None

    @property
    def is_judged(self) -> bool:
        """Both sides have valid numbers, all conditions are known, and there are enough repeats for a verdict."""
        return not self.comparison.has_too_few and self.comparison.conditions_known and not self.has_no_result

    @property
    def has_no_result(self) -> bool:
        """A side's number is not the storage's, or covers only part of the repeats."""
        return not NO_RESULT.isdisjoint((self.before.verdict, self.after.verdict))

    @property
    def name(self) -> str:
        """The row with its target: `disk / grid / record_size=4KiB, read`."""
        base, other = self.comparison.base, self.comparison.other
        return f"{base if base == other else f'{base} -> {other}'} / {self.what}"


class UncomparedRow(Frozen):
    """One operation that cannot be compared: it is in one run only, or a side has no rate.

    Attributes:
        name: The row with its target, as in `ComparedRow`.
        before, after: Verdicts in the two runs; None if the row is missing there.
        reason: Why it cannot be compared.
    """

    name: str
    before: Verdict | None
    after: Verdict | None
    reason: str


class RunsComparison(Frozen):
    """Two runs, or two targets of one run, compared row by row.

    Attributes:
        before: The first run.
        after: The second run; the same as `before` if targets of one run are compared.
        runs: Number of runs on each side; of several, `before` and `after` are the last ones.
        known_runs: Further runs of the study that show how much runs differ; 0 if that is not known.
        typical_difference: In 95 of 100 cases, two runs of a typical row with nothing changed differ by less than this
            share; None if not known.
        rows: By pair of targets, then in plan order.
        differences: Differences of the environments; those that commonly change results first.
    """

    before: RunLabel
    after: RunLabel
    runs: tuple[int, int] = (1, 1)
    known_runs: int = 0
    typical_difference: float | None = None
    rows: tuple[ComparedRow, ...]
    uncompared: tuple[UncomparedRow, ...]
    differences: tuple[EnvironmentDifference, ...]


class JointResult(Frozen):
    """A result of one run among several.

    Attributes:
        rate: In bytes per second, or operations per second for counted operations; None without a usable repeat.
        finding: Why its verdict is not ok; empty if it is.
    """

    rate: Estimate | None
    verdict: Verdict
    finding: str


class JointRow(Frozen):
    """One operation with the same parameters, in each of several runs.

    Attributes:
        target: Name of the target; empty if each run has another one.
        what: Workload, parameters and operation in words.
        is_counted: The rates are in operations per second.
        results: One for each run, in their order; None if the run does not have it.
        comparisons: With the first run, one for each run; None for the first, and where a side has no rate.
    """

    target: str
    what: str
    operation: str
    is_counted: bool
    results: tuple[JointResult | None, ...]
    comparisons: tuple[Comparison | None, ...]


class JointRuns(Frozen):
    """Any number of runs, row by row.

    Attributes:
        rows: In the order of the first run, then those that it does not have.
    """

    runs: tuple[RunLabel, ...]
    rows: tuple[JointRow, ...]


class HistoryPoint(Frozen):
    """The result of a row in one run.

    Attributes:
        run: Number of the run in the history.
        median: Bytes per second, or operations per second for counted operations.
        low, high: Ends of the 95 % interval; None with fewer than 2 repeats.
        n: Usable repeats.
    """

    run: int
    median: float
    low: float | None
    high: float | None
    n: int
    verdict: Verdict


class HistoryChange(Frozen):
    """A change of a row from one level to another.

    Attributes:
        before: Number of the last run at the old level.
        after: Number of the first run at the new level.
        ratio: Geometric mean of the new level's medians divided by that of the old level's.
        p: See `assay.analyse.statistics.changes`.
    """

    before: int
    after: int
    ratio: float
    p: float


class HistoryRow(Frozen):
    """One operation with the same parameters in all runs.

    Attributes:
        name: Target, workload, parameters and operation in words.
        is_counted: The rate is in operations per second.
        points: In order of time, without runs that have no usable number.
        left_out: Numbers of the runs in which its verdict is in `NO_RESULT`.
    """

    name: str
    is_counted: bool
    points: tuple[HistoryPoint, ...]
    left_out: tuple[int, ...]
    changes: tuple[HistoryChange, ...]


class RunBoundary(Frozen):
    """Differences of the environments of two consecutive runs between which a row changed.

    Attributes:
        before: Number of the earlier run.
        after: Number of the later one.
    """

    before: int
    after: int
    differences: tuple[EnvironmentDifference, ...]


class History(Frozen):
    """The results of the runs of one study over time.

    Attributes:
        runs: The oldest first.
        rows: Rows that changed come first, the latest change first; the others follow in plan order.
        boundaries: One for each place in `runs` at which a row changed, in order of time.
    """

    study: str
    runs: tuple[RunLabel, ...]
    rows: tuple[HistoryRow, ...]
    boundaries: tuple[RunBoundary, ...]
