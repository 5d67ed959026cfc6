"""Evidence for the tests of the rules: good throughout, apart from what a test changes."""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import pytest
from builders import GIB, MS, NO_STORAGE_PLACE, make_case, make_names, make_place, make_sample

from assay.analyse.estimate import estimate
from assay.analyse.usable import usable
from assay.judge.answer import Answer, NotEvaluated
from assay.judge.judge import judge
from assay.judge.rules import RULES
from assay.model.result.ceiling import CeilingName, CeilingShare
from assay.model.result.course import Course, RateChange
from assay.model.result.evidence import Evidence
from assay.model.result.layers import Layer
from assay.model.result.observations import BlockDeviceUse
from assay.model.result.run import TargetPlace
from assay.model.result.sample import Sample
from assay.model.result.verdict import Finding, Verdict
from assay.model.result.watch import Watch
from assay.model.study.names import is_metadata

Rule = Callable[[Evidence], Answer]

NULL_PLACE = NO_STORAGE_PLACE.model_copy(update={"target": "null"})
NFS_PLACE = make_place("nfs", filesystem="nfs4", device=None)
LOOP_PLACE = make_place(
    "loop",
    device="/dev/loop7",
    direct_bypasses_cache=False,
    stacked_on="/dev/loop7, a loop device without direct I/O",
)


def stacked(how: str, filesystem: str = "ext4") -> TargetPlace:
    """A directory on a loop device, /dev/loop7, whose file is on a disk, /dev/vda."""
    words = "a loop device with direct I/O" if how == "direct" else "a loop device without direct I/O"
    layers = (
        Layer(kind="file system", name=filesystem),
        Layer(kind="loop", name="/dev/loop7", detail=f"{words}, its file /images/a", depth=1, number="7:7"),
        Layer(kind="file system", name="ext4", depth=2),
        Layer(kind="virtual disk", name="/dev/vda", depth=3, number="254:0"),
    )
    on = None if how == "direct" else f"/dev/loop7, {words}"
    direct = {"device": "/dev/loop7", "direct_bypasses_cache": on is None, "stacked_on": on}
    return make_place("stacked", filesystem=filesystem, layers=layers, **direct)


def below(loop: BlockDeviceUse, **changes: Any) -> dict[str, Any]:
    """Fields of a sample at a `stacked` place: what the loop device did, and the disk, which differs by the changes."""
    return {"block": None, "devices": {"7:7": loop, "254:0": loop.model_copy(update=changes)}}


def make_course(**changes: Any) -> Course:
    """A second in which the rate neither drifts nor is held."""
    ordinary = {"intervals": 20, "interval_ns": 50 * MS, "mean": 100e6, "variation": 0.08}
    steady = {"range_share": 0.05, "slope_share": 0.02, "first_pass": 100e6, "later_passes": 101e6}
    return Course(**{**ordinary, **steady, **changes})


def make_change(before: float, after: float, at_s: float = 0.5, p: float = 0.001) -> RateChange:
    return RateChange(at_ns=int(at_s * 1e9), before=before, after=after, p=p)


def make_block(sample: Sample, **changes: Any) -> BlockDeviceUse:
    """What a device counts that moved what the sample moved, and was busy most of the time."""
    ordinary = {
        "read_bytes": sample.read_bytes,
        "write_bytes": sample.write_bytes,
        "reads": sample.ops if sample.read_bytes else 0,
        "writes": sample.ops if sample.write_bytes else 0,
        "read_ns": sample.ops * 150_000 if sample.read_bytes else 0,
        "write_ns": sample.ops * 150_000 if sample.write_bytes else 0,
        "busy_ns": int(0.8 * sample.elapsed_ns),
    }
    return BlockDeviceUse(**{**ordinary, **changes})


def bind(name: CeilingName, share: float) -> CeilingShare:
    """A result at this share of a ceiling."""
    counted = name == "engine" or "random" in name or name.endswith("IOPS")
    value = 50_000.0 if counted else 1e9
    unit = "operations/s" if counted else "bytes/s"
    return CeilingShare(name=name, unit=unit, value=value, measured=share * value, share=share, how="made up")


CEILINGS = (bind("device read", 0.7), bind("link", 0.3), bind("stated read", 0.3), bind("engine", 0.1))


def fill(sample: Sample, lanes: int, given: Sequence[str], **changes: Any) -> Sample:
    """The sample with all that a kernel and an engine of today tell, where the test has not `given` it.

    `block` may be the fields of the device's counts that are changed.
    """
    block = changes.pop("block", {})
    known: dict[str, Any] = {
        "latency": {"mean": 200_000.0},
        "cpus": 2,
        "cpu_user_ns": sample.elapsed_ns // 10,
        "cpu_system_ns": sample.elapsed_ns // 10,
        "cpu_wait_ns": sample.elapsed_ns // 100,
        "host_busy_ns": sample.elapsed_ns,
        "host_idle_ns": sample.elapsed_ns,
        "host_stolen_ns": 0,
        "block": make_block(sample, **block) if isinstance(block, dict) else block,
        "cached_bytes": 0,
        "watch": Watch(interval_ns=5_000_000, elapsed_ns=sample.elapsed_ns, stalls=0, away_ns=0),
        "lane_balance": 0.95 if lanes > 1 else None,
        "course": make_course(),
    }
    return sample.model_copy(update={name: value for name, value in known.items() if name not in given})


def evidence(
    operation: str = "read",
    speeds: tuple[float, ...] = (100e6, 102e6, 101e6),
    place: TargetPlace | None = None,
    parameters: dict[str, Any] | None = None,
    samples: tuple[Sample, ...] | None = None,
    changes: Sequence[dict[str, Any]] | None = None,
    **fields: Any,
) -> Evidence:
    """Good evidence, apart from what is changed.

    Args:
        operation: As the engine names it.
        speeds: Of each repeat, in bytes per second.
        place: Where the target is.
        parameters: Of the case.
        samples: Instead of good ones.
        changes: Fields of the samples, one mapping for each repeat.
        fields: Fields of `Evidence`; others are those of each sample.
    """
    facts = {name: fields.pop(name) for name in ("memory_bytes", "ceilings", "planned", "reasons") if name in fields}
    facts |= {"within": fields.pop("within", None)}
    case = make_case(operations=(operation,), **(parameters or {"cache": "direct"}))
    if samples is None:
        each = changes or [{}] * len(speeds)
        speed = iter(speeds if changes is None else [100e6 + number for number in range(len(each))])
        samples = tuple(
            _sample(case.parameters.lanes, operation, repeat, next(speed), {**fields, **more})
            for repeat, more in enumerate(each, start=1)
        )
    counted = usable(samples)
    rates = [sample.rate for sample in counted]
    ordinary = {"memory_bytes": GIB, "ceilings": CEILINGS, "planned": len(samples)}
    return Evidence(
        case=case,
        operation=operation,
        samples=samples,
        usable=counted,
        place=make_place() if place is None else place,
        estimate=estimate(rates) if rates else None,
        **{**ordinary, **facts},
    )


def _sample(lanes: int, operation: str, repeat: int, speed: float, fields: dict[str, Any]) -> Sample:
    block = fields.pop("block", {})
    made = make_names if is_metadata(operation) else make_sample
    rate = {"iops": speed} if is_metadata(operation) else {"throughput": speed}
    sample = made(repeat=repeat, operation=operation, **{**rate, **fields})
    return fill(sample, lanes, tuple(fields), block=block)


def about_names(operation: str = "stat", rates: tuple[float, ...] = (50e3, 51e3, 52e3), **changes: Any) -> Evidence:
    """Good evidence about metadata operations; arguments as of `evidence`."""
    changes.setdefault("parameters", {"cache": "keep"})
    return evidence(operation, rates, **changes)


def fires(rule: Rule, verdict: Verdict, words: str, bad: Evidence) -> Finding:
    """Check the finding of a rule, and that it is among those of all rules."""
    found = rule(bad)
    assert isinstance(found, Finding)
    assert (found.verdict, found.rule) == (verdict, rule.__name__)
    assert words in found.text
    assert found.remedy.endswith(".") and found.numbers
    assert found in judge(bad)[1]
    return found


def lacks(rule: Rule, words: str, poor: Evidence) -> None:
    """Check that a rule says what it lacks, and that it is said with the verdict."""
    found = rule(poor)
    assert isinstance(found, NotEvaluated)
    _, findings, not_evaluated = judge(poor)
    assert all(finding.rule != rule.__name__ for finding in findings)
    (said,) = (each for each in not_evaluated if each.rule == rule.__name__)
    assert said.reason == found.reason and words in str(said)


def fires_test(cases: Sequence[tuple[Rule, Verdict, str, Evidence]]) -> Callable[..., None]:
    """A test that rules fire: rule, verdict, words of its text, evidence."""

    @pytest.mark.parametrize(("rule", "verdict", "words", "bad"), cases)
    def test(rule: Rule, verdict: Verdict, words: str, bad: Evidence) -> None:
        fires(rule, verdict, words, bad)

    return test


def silent_test(cases: Sequence[tuple[Rule, Evidence]]) -> Callable[..., None]:
    """A test that rules find nothing in evidence."""

    @pytest.mark.parametrize(("rule", "good"), cases)
    def test(rule: Rule, good: Evidence) -> None:
        assert rule(good) is None

    return test


def lacks_test(cases: Sequence[tuple[Rule, str, Evidence]]) -> Callable[..., None]:
    """A test that rules say what they lack: rule, words of what it says, evidence."""

    @pytest.mark.parametrize(("rule", "words", "poor"), cases)
    def test(rule: Rule, words: str, poor: Evidence) -> None:
        lacks(rule, words, poor)

    return test


def coverage_test(module: ModuleType, *cases: Sequence[tuple[Any, ...]]) -> Callable[[], None]:
    """A test that each list of cases has all rules of the module, and no others."""

    def test() -> None:
        here = {rule for rule in RULES if rule.__module__ == module.__name__}
        assert here and all({rule for rule, *_ in each} == here for each in cases)

    return test


def rule_tests(
    module: ModuleType,
    firing: Sequence[tuple[Rule, Verdict, str, Evidence]],
    silent: Sequence[tuple[Rule, Evidence]],
    unanswered: Sequence[tuple[Rule, str, Evidence]],
) -> tuple[Callable[..., None], ...]:
    """Tests of the rules of a module: they fire, they find nothing, they say what they lack, and all have cases."""
    covered = coverage_test(module, firing, silent, unanswered)
    return fires_test(firing), silent_test(silent), lacks_test(unanswered), covered


def odd_repeats(rule: Rule, bad: dict[str, Any], odd: int, of: int, **fields: Any) -> bool:
    """Whether a rule fires when so many repeats are bad and the others good."""
    return isinstance(rule(evidence(changes=[*[bad] * odd, *[{}] * (of - odd)], **fields)), Finding)
