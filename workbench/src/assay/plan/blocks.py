"""In which order two sides are measured, so that neither drift nor what came before favours one of them.

A round has each case of both sides once. The two cases of a pair, which differ in the side only, follow each other at
once: what the machine does for longer than a repeat meets both alike. Which of them is first is drawn, in balance:

* Of two rounds in a row a pair is measured as AB in one and as BA in the other, so that a steady drift cancels (the
  ABBA design; Cox 1951, "Some systematic experimental designs", Biometrika 38).
* In each round half of the pairs begin with A, so that neither side has the better places of a round.
* Which half, and the order of the pairs, is random, so that nothing that recurs in time can follow it.
"""

import hashlib
from collections.abc import Iterable, Sequence

from assay.model.study.case import Case

Pair = tuple[str, str]
"""Ids of the same case on the base and on the other side."""


def pairs_of(cases: Iterable[Case], base: str, other: str) -> tuple[Pair, ...]:
    """The same work on both sides, in plan order; cases that are on one side only are in no pair."""
    sides: dict[str, dict[object, str]] = {base: {}, other: {}}
    for case in cases:
        if case.target in sides:
            sides[case.target][case.workload, case.operations, case.parameters.model_dump_json()] = case.id
    there = sides[other]
    return tuple((here, there[key]) for key, here in sides[base].items() if key in there)


def block_order(pairs: Sequence[Pair], rounds: int, seed: int) -> tuple[tuple[str, int], ...]:
    """(case id, repeat) in the order of execution; repeats count from 1, and a round has one of each case.

    The same seed gives the same order with every version of Python.
    """
    jobs: list[tuple[str, int]] = []
    for number in range(1, rounds + 1):
        couple = (number + 1) // 2
        drawn, turn = _shuffled(pairs, f"half {seed} {couple}"), _digest(f"turn {seed} {couple}")[0]
        first = {pair: (place + number + turn) % 2 for place, pair in enumerate(drawn)}
        for pair in _shuffled(pairs, f"order {seed} {number}"):
            begins = first[pair]
            jobs += [(pair[begins], number), (pair[1 - begins], number)]
    return tuple(jobs)


def _shuffled(pairs: Sequence[Pair], salt: str) -> list[Pair]:
    return sorted(pairs, key=lambda pair: _digest(f"{salt} {pair[0]} {pair[1]}"))


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
