"""All rules together."""

from assay.judge.answer import Answer, NotEvaluated
from assay.judge.rules import RULES, Rule
from assay.model.result.evidence import Evidence
from assay.model.result.verdict import RANK, Finding, Verdict
from assay.model.told import NotTold


def _answer(rule: Rule, evidence: Evidence) -> Answer:
    """What a rule says; one that looks at what nobody has told has no answer."""
    try:
        return rule(evidence)
    except NotTold as missing:
        return NotEvaluated(str(missing))


def judge(evidence: Evidence) -> tuple[Verdict, tuple[Finding, ...], tuple[str, ...]]:
    """Try every rule.

    Returns:
        The worst verdict, which is `ok` only if every rule that could be evaluated was content; the
        findings, the worst first; and `rule: reason` for each rule that lacked evidence or does not apply.
    """
    findings: list[Finding] = []
    not_evaluated: list[str] = []
    for rule in RULES:
        answer = _answer(rule, evidence)
        if isinstance(answer, NotEvaluated):
            not_evaluated.append(f"{rule.__name__}: {answer.words}")
        elif answer is not None:
            findings.append(answer)
    findings.sort(key=lambda finding: RANK[finding.verdict])
    verdict = findings[0].verdict if findings else Verdict.OK
    return verdict, tuple(findings), tuple(not_evaluated)
