"""Solves least squares with unknowns that cannot be negative."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def nonnegative_least_squares(matrix: Floats, right: Floats) -> Floats:
    """Return the x of 0 or more for which `matrix @ x` is nearest to `right`.

    Source: Lawson and Hanson 1974, "Solving Least Squares Problems", chapter 23.

    Args:
        matrix: A column for each unknown.
        right: A value for each row.
    """
    unknowns = matrix.shape[1]
    found, free = np.zeros(unknowns), np.zeros(unknowns, dtype=bool)
    least = 10 * max(matrix.shape) * np.finfo(float).eps * float(np.abs(matrix).sum(axis=0).max(initial=0.0))
    # Each step comes nearer, so no set of free unknowns repeats; the bound guards against rounding errors.
    for _ in range(3 * unknowns + 10):
        gain = np.where(free, -np.inf, matrix.T @ (right - matrix @ found))
        if free.all() or gain.max() <= least:
            break
        free[gain.argmax()] = True
        found, free = _step(matrix, right, found, free, least)
    return found


def _step(
    matrix: Floats, right: Floats, found: Floats, free: npt.NDArray[np.bool_], least: float
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Solve for the free unknowns; those that would go below 0 are fixed at 0."""
    while free.any():
        goal = np.zeros(len(found))
        goal[free] = np.linalg.lstsq(matrix[:, free], right, rcond=None)[0]
        below = free & (goal <= 0)
        if not below.any():
            return goal, free
        part = float((found[below] / (found[below] - goal[below])).min(initial=1.0, where=found[below] > goal[below]))
        found = found + part * (goal - found)
        free = free & (found > least)
        found = np.where(free, found, 0.0)
    return found, free
