"""Bad studies get their verdict and good ones none, executed for real."""

import pytest
from run_tools import needs_engine
from soak import times
from verdict_scenarios import OF_THE_MACHINE, SCENARIOS, Scenario, blamed, execute, faults, why_not

pytestmark = needs_engine

TRIES = times(2, 4)


def cases(prefix: str) -> list[Scenario]:
    return [scenario for scenario in SCENARIOS if scenario.file.startswith(prefix)]


@pytest.mark.parametrize("scenario", cases("bad"), ids=lambda scenario: scenario.file)
def test_bad_studies_get_their_verdicts(scenario: Scenario) -> None:
    if reason := why_not(scenario):
        pytest.skip(reason)
    for number in range(times(1, 20)):
        assert faults(scenario, execute(scenario)) == [], f"try {number + 1}"


@pytest.mark.parametrize("scenario", cases("good"), ids=lambda scenario: scenario.file)
def test_good_studies_get_none(scenario: Scenario) -> None:
    """No rule may fire on the same result each time.

    Other load on the machine makes one fire now and then, rightly. A try in which a rule blames the machine tells
    nothing of the others; of several tries two others are needed.
    """
    if reason := why_not(scenario):
        pytest.skip(reason)
    quiet: list[dict[tuple[str, str, str], str]] = []
    for _ in range(TRIES):
        texts = {key: found for key, every in execute(scenario).items() if (found := blamed(every))}
        fired = {(*key, text.split("(", 1)[1].split(":", 1)[0]): text for key, found in texts.items() for text in found}
        if not fired:
            return
        if not any(rule in OF_THE_MACHINE for *_, rule in fired):
            quiet.append(fired)
    if len(quiet) < min(TRIES, 2):
        pytest.skip(f"other load on this machine disturbed {TRIES - len(quiet)} of {TRIES} tries")
    assert {key: text for key, text in quiet[0].items() if all(key in fired for fired in quiet)} == {}


def test_every_bad_study_says_what_it_expects() -> None:
    for scenario in SCENARIOS:
        assert bool(scenario.expected) == scenario.file.startswith("bad")
