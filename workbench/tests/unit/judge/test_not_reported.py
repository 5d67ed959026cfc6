"""Evidence from elsewhere that does not tell everything: no rule concludes anything from what it was not told."""

import dataclasses
from typing import Any

import pytest
from any_evidence import any_evidence
from builders import make_case, make_place
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from judge_tools import bind, evidence
from soak import times

from assay.analyse.ceilings import Ceilings, unit_of
from assay.analyse.estimate import estimate
from assay.judge.judge import judge
from assay.judge.rules import RULES
from assay.model.partial import MissingValue
from assay.model.result.ceiling import HOST_WIDE, Ceiling, CeilingShare
from assay.model.result.evidence import Evidence
from assay.model.result.sample import Sample
from assay.model.result.verdict import Finding, Verdict
from assay.model.study.axis import AxisValue, ValueKind
from assay.model.study.case import Case, job_kind
from assay.model.study.names import DATA
from assay.model.study.parameters import DEFINITIONS, Parameters

NAMES = tuple(DEFINITIONS)


def values(name: str) -> st.SearchStrategy[AxisValue]:
    """What a parameter may be."""
    kind: ValueKind = DEFINITIONS[name].kind
    found: st.SearchStrategy[Any]
    if kind.choices:
        found = st.sampled_from(kind.choices)
    elif kind.column == "boolean":
        found = st.booleans()
    elif name == "cpus":
        found = st.sampled_from(["0", "0-3"])
    else:
        least, most = int(kind.min or 1), int(min(kind.max or 1, 64))
        found = st.integers(max(least, 1 if name in ("file_size", "read_percent") else least), max(most, least))
    return found | st.none() if kind.optional else found


def with_value(case: Case, name: str, value: AxisValue) -> Case:
    return case.model_copy(update={"parameters": case.parameters.model_copy(update={name: value})})


def untold(case: Case, *names: str) -> Case:
    kept = {name: value for name, value in case.parameters.__dict__.items() if name not in names}
    return case.model_copy(update={"parameters": Parameters.partial(**kept)})


def answers(found: Evidence) -> dict[str, Finding | str | None]:
    """Rule -> its finding, why it has none, or nothing."""
    _, findings, lacking = judge(found)
    said: dict[str, Finding | str | None] = dict.fromkeys(rule.__name__ for rule in RULES)
    said |= {finding.rule: finding for finding in findings}
    return said | {each.rule: str(each) for each in lacking}


@settings(max_examples=times(120, 20_000))
@given(any_evidence(), st.sampled_from(NAMES), st.data())
def test_what_is_said_holds_whatever_was_not_told(found: Evidence, name: str, data: st.DataObject) -> None:
    """A rule has no answer, or the one that it has for every value."""
    # Of evidence from elsewhere `lanes` are those of all that it had.
    assume(name != "tasks_per_host")
    told = answers(dataclasses.replace(found, case=with_value(found.case, name, data.draw(values(name)))))
    for rule, answer in answers(dataclasses.replace(found, case=untold(found.case, name))).items():
        if answer != f"{rule}: it is not known {DEFINITIONS[name].unknown_text} ({name})":
            assert told[rule] == answer, rule


@settings(max_examples=times(50, 5000))
@given(any_evidence())
def test_evidence_that_tells_no_parameter_is_judged(found: Evidence) -> None:
    verdict, findings, lacking = judge(dataclasses.replace(found, case=untold(found.case, *NAMES)))
    assert not any("cache" in finding.rule for finding in findings if finding.rule != "above_device")
    assert verdict is not Verdict.OK or lacking


NAMED = (
    *("engine", "cache copy", "memory copy", "page cache read", "device read", "device write", "device rewrite"),
    *("device random read", "device random write", "stated read", "stated write", "link"),
)


@settings(max_examples=times(100, 5000))
@given(st.sampled_from(DATA), st.sampled_from(NAMES), st.sets(st.sampled_from(NAMED)), st.data())
def test_ceilings_are_those_that_hold_whatever_was_not_told(
    operation: str, name: str, names: set[str], data: st.DataObject
) -> None:
    # Of evidence from elsewhere `lanes` are those of all that it had.
    assume(name != "tasks_per_host")
    case = make_case(operations=(operation,), cache=data.draw(st.sampled_from(["direct", "keep"])))
    told = with_value(case, name, data.draw(values(name)))
    wide = ("engine", "cache copy", "memory copy")
    known = Ceilings(
        [
            Ceiling(
                name=item,  # type: ignore[arg-type]
                target=HOST_WIDE if item in wide else "disk",
                unit=unit_of(item),  # type: ignore[arg-type]
                value=1e6,
                how="made up",
                kind=(job_kind(told.parameters, operation) or "") if item == "engine" else "",
            )
            for item in sorted(names)
        ]
    )
    rate = estimate([1e5, 1.1e5, 1.2e5])

    def bound(of: Case) -> set[CeilingShare]:
        return set(known.bindings(of, operation, make_place(), rate, rate))

    assert known.missing_parameter(told, operation, make_place()) is None
    less, missing = untold(case, name), known.missing_parameter(untold(case, name), operation, make_place())
    assert bound(less) <= bound(told)
    assert bound(less) == bound(told) or (missing is not None and missing.name == name)


def test_a_cache_that_nobody_told_is_no_bypassed_one() -> None:
    """Of all parameters the one whose default would say most."""
    bypassed = evidence("read", parameters={"cache": "direct"}, device_read_bytes=0)
    cached = dataclasses.replace(bypassed, case=untold(bypassed.case, "cache"))
    assert bypassed.bypasses_cache
    with pytest.raises(MissingValue, match="it is not known what was done about the page cache"):
        _ = cached.bypasses_cache
    verdict, findings, lacking = judge(cached)
    assert (verdict, findings) == (Verdict.OK, ())
    why = "it is not known what was done about the page cache (cache)"
    assert {f"{rule}: {why}" for rule in ("cached_read", "direct_read")} <= set(map(str, lacking))


def test_above_a_stated_ceiling_is_impossible_whatever_was_not_told() -> None:
    missing = MissingValue("cache", DEFINITIONS["cache"].unknown_text)
    over = dataclasses.replace(evidence(), ceilings=(bind("stated read", 1.5),), missing_value=missing)
    assert judge(dataclasses.replace(over, case=untold(over.case, *NAMES)))[0] is Verdict.IMPOSSIBLE
    below = dataclasses.replace(over, ceilings=(bind("stated read", 0.5),))
    lacking = answers(below)
    assert all(str(missing) in str(lacking[rule]) for rule in ("impossible", "engine_bound", "network_bound"))


@pytest.mark.parametrize("name", Sample.may_be_missing)
def test_a_sample_need_not_tell_all(name: str) -> None:
    whole = evidence(parameters={"lanes": 4})
    samples = tuple(
        Sample.partial(**{field: value for field, value in sample.__dict__.items() if field != name})
        for sample in whole.samples
    )
    assert all(sample.missing_names == (name,) for sample in samples)
    assert Sample.model_validate_json(samples[0].model_dump_json(exclude_defaults=True)) == samples[0]
    verdict, findings, lacking = judge(dataclasses.replace(whole, samples=samples, usable=samples))
    assert (verdict, findings) == (Verdict.OK, ())
    if name in ("elapsed_ns", "skew_ns", "finish_spread_ns", "wall_shift_ns", "cpu_user_ns"):
        assert any(f"({name})" in each.reason for each in lacking)
