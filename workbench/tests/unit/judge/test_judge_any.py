"""Whatever the evidence, judging it ends with a verdict, and with words and numbers that can be printed."""

import math
import re

from any_evidence import any_evidence
from hypothesis import given, settings
from soak import times

from assay.judge.answer import NotEvaluated
from assay.judge.judge import judge
from assay.judge.rules import RULES
from assay.model.result.evidence import Evidence
from assay.model.result.verdict import RANK, Finding, Verdict


@settings(max_examples=times(150, 5000))
@given(any_evidence())
def test_any_evidence_is_judged(evidence: Evidence) -> None:
    verdict, findings, not_evaluated = judge(evidence)
    answers = [rule(evidence) for rule in RULES]
    assert sorted(map(repr, findings)) == sorted(repr(answer) for answer in answers if isinstance(answer, Finding))
    assert len(not_evaluated) == sum(isinstance(answer, NotEvaluated) for answer in answers)
    places = [RANK[finding.verdict] for finding in findings]
    assert places == sorted(places)
    assert verdict is (findings[0].verdict if findings else Verdict.OK)
    assert Verdict.OK not in [finding.verdict for finding in findings]
    names = [rule.__name__ for rule in RULES]
    told = [finding.rule for finding in findings] + [each.rule for each in not_evaluated]
    assert len(told) == len(set(told)) and set(told) <= set(names)
    for text in (
        *(each.reason for each in not_evaluated),
        *(part for finding in findings for part in (finding.text, finding.remedy)),
    ):
        assert text.isprintable() and text == text.strip()
        assert not re.search(r"\b(nan|inf|None)\b", text), text
    for finding in findings:
        assert finding.remedy.endswith(".") and finding.numbers
        assert all(math.isfinite(value) for value in finding.numbers.values()), finding
