"""Writes a check for slowdowns as JUnit XML, which CI pipelines show as tests.

JUnit XML has no standard; this is the form that Jenkins, GitHub Actions and GitLab read
(https://github.com/testmoapp/junitxml): a suite for each workload, a test case for each row, with `failure` if it is
slower or broken, and `skipped` if it was not judged.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from assay.analyse.runs import Gate, UnjudgedRow
from assay.model.escape import escape_line
from assay.model.result.comparison import ComparedRow, RunsComparison

SUITE = "assay compare"
OTHERS = "not compared"
"""Suite for what has no workload: rows that are missing in one run, and the check as a whole."""


@dataclass(frozen=True)
class _Case:
    suite: str
    name: str
    kind: str = ""
    message: str = ""
    text: str = ""


def junit_text(
    found: RunsComparison, result: Gate, slower: Sequence[ComparedRow], unjudged: Sequence[UnjudgedRow], allowed: float
) -> str:
    """Return the check as XML; all text is valid in XML 1.0.

    Args:
        found: The comparison.
        result: The outcome of the check; its broken rows fail.
        slower: Rows that fail because they are slower: those of `result`, or fewer for two sides measured in turns.
        unjudged: Rows that neither pass nor fail.
        allowed: Greatest slowdown that passes, as a share of the rate before.
    """
    cases = _cases(found, result, slower, unjudged, allowed)
    root = ElementTree.Element("testsuites", _counts(SUITE, cases))
    for suite in dict.fromkeys(case.suite for case in cases):
        inside = [case for case in cases if case.suite == suite]
        element = ElementTree.SubElement(root, "testsuite", _counts(suite, inside))
        for case in inside:
            _write(element, case)
    ElementTree.indent(root)
    return "<?xml version='1.0' encoding='UTF-8'?>\n" + ElementTree.tostring(root, encoding="unicode") + "\n"


def _cases(
    found: RunsComparison, result: Gate, slower: Sequence[ComparedRow], unjudged: Sequence[UnjudgedRow], allowed: float
) -> list[_Case]:
    """Return a case for each row, then one for each broken or unjudged item that is no row of the comparison."""
    broken = {one.row: one.why for one in result.lost}
    unknown = {one.row: one.why for one in unjudged}
    slow = {row.name for row in slower}
    cases = []
    for row in found.rows:
        ratio, suite = row.comparison.ratio, row.comparison.workload
        if row.name in slow:
            message = f"slower by {100 * (1 - ratio):.1f} %, more than {100 * allowed:g} %"
            cases.append(_Case(suite, row.name, "failure", message, _figures(row)))
        elif row.name in broken:
            cases.append(_Case(suite, row.name, "failure", broken[row.name], _figures(row)))
        elif row.name in unknown:
            cases.append(_Case(suite, row.name, "skipped", unknown[row.name]))
        else:
            cases.append(_Case(suite, row.name))
    known = {case.name for case in cases}
    return cases + _others(broken, "failure", known) + _others(unknown, "skipped", known)


def _others(reasons: Mapping[str, str], kind: str, known: set[str]) -> list[_Case]:
    return [_Case(OTHERS, name or "the check", kind, why) for name, why in reasons.items() if name not in known]


def _figures(row: ComparedRow) -> str:
    """Return both medians with their intervals, as the text of a failure."""
    unit = "operations/s" if row.is_counted else "bytes/s"
    sides = [(name, side.rate, side.verdict) for name, side in (("before", row.before), ("after", row.after))]
    return "\n".join(
        f"{name}: {rate.median:.6g} {unit}{_interval(rate.low, rate.high)}, n = {rate.n}, {verdict}"
        for name, rate, verdict in sides
    )


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f" (95 %: {low:.6g} to {high:.6g})"


def _counts(name: str, cases: Sequence[_Case]) -> dict[str, str]:
    failures, skipped = (sum(case.kind == kind for case in cases) for kind in ("failure", "skipped"))
    counts = {"tests": len(cases), "failures": failures, "errors": 0, "skipped": skipped}
    return {"name": _safe(name), **{key: str(count) for key, count in counts.items()}}


def _write(suite: ElementTree.Element, case: _Case) -> None:
    names = {"classname": _safe(f"assay.{case.suite}"), "name": _safe(case.name)}
    element = ElementTree.SubElement(suite, "testcase", names)
    if case.kind:
        inner = ElementTree.SubElement(element, case.kind, {"message": _safe(case.message)})
        inner.text = "\n".join(map(_safe, case.text.split("\n"))) or None


def _safe(text: str) -> str:
    """Return a line without the characters that XML 1.0 forbids (section 2.2): controls, surrogates, U+FFFE, U+FFFF."""
    return escape_line(text, max_chars=2000)
