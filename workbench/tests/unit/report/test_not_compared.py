"""What a report says of pairs of targets that cannot be compared: each reason once, however many pairs there are."""

from itertools import combinations

import pytest

from assay.model.result.decision import PointDecision, PointOutcome, TargetDecision
from assay.report.claims import ComparisonClaim
from assay.report.document import plain_text
from assay.report.summary.sentences import headline, pairs_cell

WHY = "it is not known how large the files were"


def _claim(base: str, other: str) -> ComparisonClaim:
    point = PointDecision(axes={}, outcome=PointOutcome.BARRED, ratio=2.0, why=WHY)
    decision = TargetDecision(workload="w", operation="read", base=base, other=other, points=(point,))
    return ComparisonClaim("sequential read", base, other, (decision,))


ALL = list(combinations("abcd", 2))


@pytest.mark.parametrize(
    ("pairs", "named"),
    [
        (ALL[:1], "a and b cannot"),
        (ALL, "a, b, c and d cannot"),
        (ALL[:4], "4 pairs of targets, such as a and b, cannot"),
    ],
)
def test_the_reason_stands_once_for_all_pairs(pairs: list[tuple[str, str]], named: str) -> None:
    claims = [_claim(*pair) for pair in pairs]
    text = plain_text(headline(claims))
    assert text.startswith(named) and text.count(WHY) == 1
    assert pairs_cell(claims).count(WHY) == 1
