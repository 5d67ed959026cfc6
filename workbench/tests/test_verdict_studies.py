"""Bad studies get their verdict and good ones none, executed for real."""

import pytest
from run_tools import needs_engine
from verdict_scenarios import SCENARIOS, Scenario, execute, faults, why_not

pytestmark = needs_engine

TRIES = 4
OF_THE_MACHINE = ("starved_client", "late_engine")
"""Rules that blame other load on the machine, of which this test knows nothing."""


def cases(prefix: str) -> list[Scenario]:
    return [scenario for scenario in SCENARIOS if scenario.file.startswith(prefix)]


@pytest.mark.parametrize("scenario", cases("bad"), ids=lambda scenario: scenario.file)
def test_bad_studies_get_their_verdicts(scenario: Scenario) -> None:
    if reason := why_not(scenario):
        pytest.skip(reason)
    assert faults(scenario, execute(scenario)) == []


@pytest.mark.parametrize("scenario", cases("good"), ids=lambda scenario: scenario.file)
def test_good_studies_get_none(scenario: Scenario) -> None:
    """No rule may fire on the same result each time; other load on the machine makes one fire now and then, rightly."""
    if reason := why_not(scenario):
        pytest.skip(reason)
    every: dict[tuple[str, str, str], str] | None = None
    for _ in range(TRIES):
        found = {
            (*key, rule): text
            for key, texts in execute(scenario).items()
            for text in texts
            if (rule := text.split("(", 1)[1].split(":", 1)[0]) not in OF_THE_MACHINE
        }
        every = found if every is None else {key: text for key, text in found.items() if key in every}
        if not every:
            return
    assert every == {}


def test_every_bad_study_says_what_it_expects() -> None:
    for scenario in SCENARIOS:
        assert bool(scenario.expected) == scenario.file.startswith("bad")
