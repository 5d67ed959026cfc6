"""Order in which the repeats of all cases are executed."""

import hashlib
from collections.abc import Sequence
from typing import Literal


def order_jobs(
    cases: Sequence[str], repeats: int, order: Literal["random", "sequential"], seed: int
) -> tuple[tuple[str, int], ...]:
    """Return (case id, repeat) in the order of execution; repeats count from 1.

    Each round has every case exactly once (complete blocks), so that a drift of the machine affects all cases equally.
    With `random`, each round is shuffled on its own: cases are sorted by a hash of (seed, round, case), which is the
    same with every version of Python.
    """
    jobs: list[tuple[str, int]] = []
    for repeat in range(1, repeats + 1):
        block = list(cases)
        if order == "random":
            block.sort(key=lambda case: hashlib.sha256(f"order {seed} {repeat} {case}".encode()).digest())
        jobs.extend((case, repeat) for case in block)
    return tuple(jobs)
