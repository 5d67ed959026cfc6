"""Order in which two sides are measured, so that neither drift nor preceding cases favour one of them.

A round has each case of both sides once. The two cases of a pair differ only in the side. They directly follow each
other, so that a change of the machine that lasts longer than a repeat affects both. The first of them is chosen at
random, in balance:

* In two successive rounds a pair is measured once as AB and once as BA, so that a steady drift cancels out (the ABBA
  design; Cox 1951, "Some systematic experimental designs", Biometrika 38).
* In each round half of the pairs begin with A, so that no side gets the better positions of a round.
* That half, and the order of the pairs, are random, so that periodic disturbances cannot coincide with them.
"""

import hashlib
from collections.abc import Iterable, Sequence

from assay.model.study.case import Case

Pair = tuple[str, str]
"""Case ids of the same work on the base side and on the other side."""


def pairs_of(cases: Iterable[Case], base: str, other: str) -> tuple[Pair, ...]:
    """Return the pairs of cases with the same work on both sides, in plan order; other cases are left out."""
    sides: dict[str, dict[object, str]] = {base: {}, other: {}}
    for case in cases:
        if case.target in sides:
            sides[case.target][case.workload, case.operations, case.parameters.model_dump_json()] = case.id
    others = sides[other]
    return tuple((base_case, others[key]) for key, base_case in sides[base].items() if key in others)


def block_order(pairs: Sequence[Pair], rounds: int, seed: int) -> tuple[tuple[str, int], ...]:
    """Return (case id, repeat) in the order of execution; repeats count from 1, and each round has every case once.

    The same seed gives the same order with every version of Python.
    """
    jobs: list[tuple[str, int]] = []
    for number in range(1, rounds + 1):
        couple = (number + 1) // 2
        shuffled, turn = _shuffled(pairs, f"half {seed} {couple}"), _digest(f"turn {seed} {couple}")[0]
        first = {pair: (place + number + turn) % 2 for place, pair in enumerate(shuffled)}
        for pair in _shuffled(pairs, f"order {seed} {number}"):
            first_side = first[pair]
            jobs += [(pair[first_side], number), (pair[1 - first_side], number)]
    return tuple(jobs)


def _shuffled(pairs: Sequence[Pair], salt: str) -> list[Pair]:
    return sorted(pairs, key=lambda pair: _digest(f"{salt} {pair[0]} {pair[1]}"))


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
