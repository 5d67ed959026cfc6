"""What a run of two sides says while it goes on, by a store that is made up and a clock of the test's own."""

import time
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pytest
from builders import make_case, row_of

from assay.model.study.blocks import Blocks
from assay.run import rounds
from assay.run.rounds import run_rounds

BLOCKS = Blocks(base="A", other="B", seconds=40)


class Store:
    """Two cases whose rates differ from round to round by so much."""

    def __init__(self, deviation: float) -> None:
        random = np.random.default_rng(3)
        self.rates = {side: 5e8 * np.exp(deviation * random.standard_normal(120)) for side in "AB"}
        self.known: dict[str, str] = {}
        self.made = [make_case(side, side) for side in "AB"]

    def attempts(self) -> Sequence[Any]:
        return ()

    def cases(self) -> Sequence[Any]:
        return self.made

    def case_count(self) -> int:
        return 2

    def settled(self) -> dict[str, str]:
        return self.known

    def settle(self, case: str, why: str, known: bool = True) -> int:
        self.known[case] = why
        return 1


def said(monkeypatch: pytest.MonkeyPatch, deviation: float, seconds: float) -> list[str]:
    """Lines of a run whose rounds take so long."""
    store, now, lines = Store(deviation), [0.0], []

    def rows(_store: object, number: int) -> list[Any]:
        return [row_of(case, store.rates[case.id][:number].tolist()) for case in store.made]

    def execute(_jobs: object) -> bool:
        now[0] += seconds
        return True

    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(rounds, "rows_up_to_round", rows)
    jobs = [(side, number) for number in range(1, 121) for side in "AB"]
    run_rounds(cast(Any, store), BLOCKS, jobs, execute, lambda _case, _fewer: None, lines.append)
    return lines


def percent(line: str) -> float:
    return float(line.split("about ")[1].split(" ")[0])


def test_what_can_be_found_is_said_once_the_rounds_show_it(monkeypatch: pytest.MonkeyPatch) -> None:
    noisy, long, quiet = (said(monkeypatch, *shape) for shape in ((0.08, 1.0), (0.08, 2.0), (0.001, 1.0)))
    assert noisy[0].startswith("after 5 rounds: in 40 s a difference of about ")
    # Fewer rounds find less.
    assert percent(long[0]) > percent(noisy[0])
    hopeless = said(monkeypatch, 1.5, 4.0)[0]
    assert "no difference below a factor of 2" in hopeless
    # What is decided at the first look needs no word.
    assert quiet == []
