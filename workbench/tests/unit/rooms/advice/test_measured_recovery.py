"""What replications have measured, as evidence for a recovery point and a recovery time that a need requires."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from assay.model.money.priced_designs import DesignEvidence, MeasuredValue, RecoveryMetric
from assay.model.money.use import DesignChoice
from assay.rooms.advice.work.expect import mismatch_reason
from assay.rooms.advice.work.facts import RuleInput
from assay.rooms.advice.work.requirements import recovery, rpo


def evidence(metric: RecoveryMetric, value: float, high: float) -> DesignEvidence:
    return DesignEvidence(
        chosen=DesignChoice(design="own-nfs-server"),
        metric=metric,
        measured=MeasuredValue(value=value, low=value, high=high),
        source="run X, c0001 rsync",
    )


def facts(*known: DesignEvidence, **need: float) -> RuleInput:
    design = SimpleNamespace(service=None, copy_lag_minutes=15, durability="disk", family="nfs")
    variant = SimpleNamespace(template="own-nfs-server", design=design)
    wanted = SimpleNamespace(**{"rpo": None, "recovery": None, **need})
    return RuleInput(cast("Any", variant), cast("Any", wanted), {}, recovery=known)


@pytest.mark.parametrize(("wanted", "outcome"), [(60, "met"), (7, "unproven"), (5, "failed")])
def test_the_longest_lag_that_was_measured_is_held_against_the_recovery_point(wanted: float, outcome: str) -> None:
    known = [evidence("recovery_point", 2, 3), evidence("recovery_point", 6, 8), evidence("recovery_time", 99, 99)]
    (check,) = rpo(facts(*known, rpo=wanted))
    assert (check.requirement, check.outcome, check.source) == ("rpo", outcome, "run X, c0001 rsync")
    assert "up to 8.0 s behind" in check.text


@pytest.mark.parametrize(("wanted", "outcome"), [(60, "met"), (2, "failed")])
def test_a_measured_failover_is_held_against_the_recovery_time(wanted: float, outcome: str) -> None:
    (check,) = recovery(facts(evidence("recovery_time", 3, 3), recovery=wanted))
    assert (check.requirement, check.outcome) == ("recovery", outcome)


def test_without_a_measurement_the_design_counts() -> None:
    (check,) = rpo(facts(rpo=3600))
    assert check.outcome == "unproven"
    assert "nothing promises" in check.text


def test_recovery_is_no_evidence_for_a_need_without_it() -> None:
    need = cast("Any", SimpleNamespace(profile=None, rpo=None, recovery=60.0))
    assert mismatch_reason(evidence("recovery_time", 3, 3), need) == ""
    assert mismatch_reason(evidence("recovery_point", 3, 3), need) == "the need requires no rpo"
