"""Bad studies get their verdict and good ones none, executed for real."""

import pytest
from run_tools import needs_engine
from verdict_scenarios import SCENARIOS, Scenario, execute, faults, why_not

pytestmark = needs_engine

TRIES = 3


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.file)
def test_verdicts_are_those_that_must_be(scenario: Scenario) -> None:
    """Bad studies at once; good ones in one of three tries, since other load on the machine gets a verdict, rightly."""
    if reason := why_not(scenario):
        pytest.skip(reason)
    lines: list[str] = []
    for _ in range(TRIES if scenario.file.startswith("good") else 1):
        lines = faults(scenario, execute(scenario))
        if not lines:
            return
    raise AssertionError("\n".join(lines))


def test_every_result_of_a_bad_study_is_named() -> None:
    """A name that no result has would pass for a missing verdict."""
    for scenario in SCENARIOS:
        assert bool(scenario.expected) == scenario.file.startswith("bad")
