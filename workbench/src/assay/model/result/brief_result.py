"""A result in brief: the part that is stored for lists, without samples."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.model.result.verdict import PARTLY_CHECKED, Verdict
from assay.model.study.names import is_counted

if TYPE_CHECKING:
    from assay.model.result.result import ResultRow


@dataclass(frozen=True)
class BriefResult:
    """The result of one operation of one case in brief, as of the end of the run.

    Attributes:
        throughput: Median in bytes per second; None without a usable repeat or if no data is moved.
        low, high: Ends of the interval of the rate: of `throughput`, or of `iops` for counted operations.
        iops: Median of operations per second.
        n: Number of usable repeats.
        finding: Text of the worst finding; if the verdict is ok but not all checks could run, the checks that could
            not; else empty.
        further_verdicts: Its other verdicts, the worst first, separated by commas; empty if there are none.
        ceiling: Name of the closest ceiling; empty if none is known.
        share: Measured / that ceiling.
    """

    case: str
    label: str
    operation: str
    verdict: str
    throughput: float | None
    low: float | None
    high: float | None
    iops: float | None
    n: int
    finding: str
    further_verdicts: str = ""
    ceiling: str = ""
    share: float | None = None

    @property
    def is_counted(self) -> bool:
        """Its rate is operations per second, since it concerns names, or objects without their contents."""
        return is_counted(self.operation)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """All its verdicts, the worst first."""
        return tuple(Verdict(name) for name in (self.verdict, *self.further_verdicts.split(", ")) if name)

    @property
    def is_partly_checked(self) -> bool:
        """Its verdict is ok, but a rule that might have contradicted it lacked evidence."""
        return self.verdict == Verdict.OK and bool(self.finding)


def _unseen(row: "ResultRow") -> str:
    return f"{PARTLY_CHECKED}: {', '.join(row.unevaluated_rules)}" if row.is_partly_checked else ""


def summarise(row: "ResultRow") -> BriefResult:
    """Summarise a row of the analysis."""
    throughput, rate, binding = row.throughput, row.rate, row.limiting_ceiling
    others = dict.fromkeys(finding.verdict for finding in row.findings if finding.verdict is not row.verdict)
    return BriefResult(
        case=row.case.id,
        label=row.case.label,
        operation=row.operation,
        verdict=str(row.verdict),
        throughput=throughput.median if throughput else None,
        low=rate.low if rate else None,
        high=rate.high if rate else None,
        iops=row.iops.median if row.iops else None,
        n=rate.n if rate else 0,
        finding=row.findings[0].text if row.findings else _unseen(row),
        further_verdicts=", ".join(others),
        ceiling=binding.name if binding else "",
        share=binding.share if binding else None,
    )
