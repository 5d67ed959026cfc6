"""Applies all rules to a result."""

from assay.judge.answer import NotApplicable, NotEvaluated
from assay.judge.rules import OF_OWN_RUNS, OF_PROGRAMS, RULES
from assay.model.partial import MissingValue
from assay.model.result.evidence import Evidence
from assay.model.result.verdict import RANK, Finding, Unevaluated, Verdict

ANOTHER_TOOL = (
    "another tool measured: this takes rates over time, counts of the kernel and ceilings, which only Assay's own runs"
    " have"
)

OF_OWN_OPERATIONS = (
    "it is about reads and writes of the engine itself, and here a program decides what is read and written"
)


def judge(evidence: Evidence) -> tuple[Verdict, tuple[Finding, ...], tuple[Unevaluated, ...]]:
    """Apply every rule.

    Returns:
        The worst verdict, which is `ok` only if no rule that could be evaluated found anything; the findings, the worst
        first; and each rule that lacked evidence or does not apply.
    """
    findings: list[Finding] = []
    not_evaluated: list[Unevaluated] = []
    for rule in RULES:
        if evidence.case.group == "programs" and rule not in OF_PROGRAMS:
            not_evaluated.append(Unevaluated(rule=rule.__name__, reason=OF_OWN_OPERATIONS, applies=False))
            continue
        try:
            answer = rule(evidence)
        except MissingValue as missing:
            # The rule needs a value that was not recorded, so it has no answer.
            answer = NotEvaluated(str(missing))
        if answer is None:
            continue
        if isinstance(answer, NotEvaluated):
            applies = not isinstance(answer, NotApplicable)
            # What would mend it in a run of Assay does not help here.
            reason = ANOTHER_TOOL if applies and evidence.is_imported and rule in OF_OWN_RUNS else answer.reason
            not_evaluated.append(Unevaluated(rule=rule.__name__, reason=reason, applies=applies))
        else:
            findings.append(answer)
    findings.sort(key=lambda finding: RANK[finding.verdict])
    verdict = findings[0].verdict if findings else Verdict.OK
    return verdict, tuple(findings), tuple(not_evaluated)
