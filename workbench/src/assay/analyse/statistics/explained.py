"""Estimates how much of the variance between repeats is explained by the control that ran between them.

Where the control shows that something else used the CPUs, each repeat's own share of CPU time counts as well: a control
comes every few seconds, and other load may come and go faster.

Results and control are taken as logarithms. From each result its mean and its linear trend over the repeats are
removed, and from the control at the same moments (linear between two readings) too: two things that drift by themselves
correlate by chance. Results are scaled to standard deviation 1, so that each counts equally, and one least squares fit
for all of them relates them to the parts of the control. Only slopes above 0 count, since a slower machine makes both
slower.

Chance is excluded by exchanging whole rounds of the control (Good 2005, "Permutation, Parametric, and Bootstrap Tests
of Hypotheses", section 3), which preserves correlation within a round. The mean share of such exchanges is subtracted
from the share. Its lower limit is by the jackknife over rounds (Efron and Tibshirani 1993, "An Introduction to the
Bootstrap", chapter 11).
"""

import math
from collections.abc import Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from assay.analyse.statistics.least_squares import nonnegative_least_squares
from assay.model.result.machine import ControlReading, ExplainedVariance

MIN_ROUNDS = 5
"""Fewer rounds have too few exchanges to rule out chance."""
MAX_ROWS = 300
"""At most this many results are used; they show as much as all results of a large run."""
CPU_SHARE = "got"
"""Name of the slope of the share of wanted CPU time that repeats got."""
CONSTANT_SQUARES = 1e-9
"""Threshold for sums of squares of logarithms: below it a value counts as constant."""
_EXCHANGES, _SEED = 499, 20261123
_T95 = (6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812)
"""One-sided 95 % quantiles of Student's t for 1 to 10 degrees of freedom; with more, 1.812 is a little too wide."""

Floats = npt.NDArray[np.float64]


class RepeatSeries(NamedTuple):
    """One result in all of its repeats.

    Attributes:
        rounds: Numbers of the repeats, ascending.
        times: Middles of the repeats, in seconds since 1970.
        logs: Logarithms of their rates.
        cpu_shares: Logarithms of the share of wanted CPU time that its lanes got; empty if unknown, or if nothing
            else used
            the CPUs.
    """

    rounds: tuple[int, ...]
    times: tuple[float, ...]
    logs: tuple[float, ...]
    cpu_shares: tuple[float, ...] = ()


class _Group(NamedTuple):
    """Results with the same rounds, one in each row of the arrays."""

    rounds: tuple[int, ...]
    times: Floats
    z: Floats
    got: Floats
    off: Floats
    """Projection that removes mean and linear trend when multiplied from the right."""


class ControlCurve:
    """The control as a function of time."""

    def __init__(self, readings: Sequence[ControlReading], parts: Sequence[str]) -> None:
        """Use these parts of the readings, which all have a rate above 0."""
        self.times = np.array([reading.at for reading in readings])
        self.logs = [np.log([reading.rates[part] for reading in readings]) for part in parts]

    def at(self, times: Floats) -> list[Floats]:
        """Return the logarithm of the rate of each part: linear between readings, constant before and after all."""
        return [np.interp(times, self.times, logs) for logs in self.logs]


def parts_of(readings: Sequence[ControlReading]) -> list[str]:
    """Return the parts that all readings have with a rate above 0."""
    common = set.intersection(*(set(reading.rates) for reading in readings)) if readings else set()
    return sorted(part for part in common if all(reading.rates[part] > 0 for reading in readings))


def explain(
    readings: Sequence[ControlReading], results: Sequence[RepeatSeries]
) -> tuple[ExplainedVariance | None, str]:
    """Return the explanation of the variance by the control, or None and the reason why it is unknown.

    Args:
        readings: In time order.
        results: All results of a run.
    """
    parts = parts_of(readings)
    usable = [one for one in results if len(one.rounds) >= MIN_ROUNDS]
    groups = _groups(usable[:: -(-len(usable) // MAX_ROWS)] if usable else [])
    rounds = sorted({number for group in groups for number in group.rounds})
    if not parts or not groups:
        return None, f"it needs {MIN_ROUNDS} repeats with different values"
    if len(readings) < len(rounds):
        return None, f"there were {len(readings)} controls in {len(rounds)} rounds"
    clock, windows = ControlCurve(readings, parts), _windows(groups)
    parts.append(CPU_SHARE)
    share, slopes = _fit(groups, clock, {})
    chance = np.array([_fit(groups, clock, _moved(windows, order))[0] for order in _orders(rounds)])
    usual = float(chance.mean())
    lasting = _less(share, usual)
    leaves = [_less(_fit(groups, clock, {}, without=number)[0], usual) for number in rounds]
    return ExplainedVariance(
        share=max(0.0, lasting),
        low=_lower(lasting, leaves),
        p=(1 + int((chance >= share - 1e-12).sum())) / (1 + len(chance)),
        slopes=dict(zip(parts, slopes, strict=True)),
    ), ""


def _less(share: float, usual: float) -> float:
    """Return the share without what chance explains."""
    return (share - usual) / (1 - usual) if usual < 1 else 0.0


def _lower(whole: float, leaves: Sequence[float]) -> float:
    """Return the lower 95 % limit by the jackknife."""
    count = len(leaves)
    mean = math.fsum(leaves) / count
    error = math.sqrt((count - 1) / count * math.fsum((leaf - mean) ** 2 for leaf in leaves))
    return max(0.0, whole - _T95[min(count - 1, len(_T95)) - 1] * error)


def _groups(results: Sequence[RepeatSeries]) -> list[_Group]:
    found: dict[tuple[int, ...], list[RepeatSeries]] = {}
    for one in results:
        found.setdefault(one.rounds, []).append(one)
    made = (_group(rounds, several) for rounds, several in found.items())
    return [group for group in made if len(group.z)]


def _group(rounds: tuple[int, ...], several: Sequence[RepeatSeries]) -> _Group:
    line = np.vander(np.array(rounds, dtype=np.float64), 2)
    basis, _ = np.linalg.qr(line)
    off = np.eye(len(rounds)) - basis @ basis.T
    left = np.array([one.logs for one in several]) @ off
    deviations = np.sqrt((left**2).sum(axis=1) / (len(rounds) - 2))
    varying = deviations > 1e-9
    times = np.array([one.times for one in several])[varying]
    got = np.array([one.cpu_shares or (0.0,) * len(rounds) for one in several])[varying]
    return _Group(rounds, times, left[varying] / deviations[varying, None], got, off)


Windows = dict[int, tuple[float, float]]
"""Round -> when its repeats began and ended."""


def _windows(groups: Sequence[_Group]) -> Windows:
    found: Windows = {}
    for group in groups:
        for place, number in enumerate(group.rounds):
            first, last = float(group.times[:, place].min()), float(group.times[:, place].max())
            known = found.get(number, (first, last))
            found[number] = min(first, known[0]), max(last, known[1])
    return found


Exchange = dict[int, tuple[int, float, float, float, float]]
"""Round -> the round whose control it gets, its own begin and end, and those of that round."""


def _moved(windows: Windows, order: Sequence[int]) -> Exchange:
    return {number: (other, *windows[number], *windows[other]) for number, other in zip(windows, order, strict=True)}


def _orders(rounds: Sequence[int]) -> list[tuple[int, ...]]:
    """Return all other orders of few rounds, or a random selection for many."""
    if math.factorial(len(rounds)) <= _EXCHANGES:
        return list(permutations(rounds))[1:]
    random = np.random.default_rng(_SEED)
    return [tuple(random.permutation(rounds).tolist()) for _ in range(_EXCHANGES)]


def _fit(
    groups: Sequence[_Group], clock: ControlCurve, exchange: Exchange, without: int | None = None
) -> tuple[float, list[float]]:
    """Return the share of the squares that the control explains, and its slopes.

    Args:
        groups: All results.
        clock: The control.
        exchange: Assigns to rounds the control of others; empty: each has its own.
        without: A round to leave out.
    """
    count = len(clock.logs) + 1
    products, along = np.zeros((count, count)), np.zeros(count)
    whole = 0.0
    for group in groups:
        moves = [*clock.at(_control_times(group, exchange)), _cpu_shares(group, exchange)]
        columns = [part @ group.off for part in moves]
        keep = np.array([number != without for number in group.rounds])
        z = group.z[:, keep]
        flat = np.array([column[:, keep].ravel() for column in columns])
        products += flat @ flat.T
        along += flat @ z.ravel()
        whole += float((z * z).sum())
    slopes = _above_zero(products, along)
    gone = float(2 * slopes @ along - slopes @ products @ slopes)
    return (gone / whole if whole > 0 else 0.0), slopes.tolist()


def _control_times(group: _Group, exchange: Exchange) -> Floats:
    """Return the time at which the control is read for each repeat."""
    if not exchange:
        return group.times
    times = group.times.copy()
    for place, number in enumerate(group.rounds):
        _, first, last, other_first, other_last = exchange[number]
        share = (times[:, place] - first) / (last - first) if last > first else 0.5
        times[:, place] = other_first + share * (other_last - other_first)
    return times


def _cpu_shares(group: _Group, exchange: Exchange) -> Floats:
    """Return the CPU share of each repeat; for a round that a result lacks, its mean over rounds."""
    if not exchange:
        return group.got
    places = {number: place for place, number in enumerate(group.rounds)}
    usual = group.got.mean(axis=1)
    others = [places.get(exchange[number][0]) for number in group.rounds]
    return np.array([usual if other is None else group.got[:, other] for other in others]).T


def _above_zero(products: Floats, along: Floats) -> Floats:
    """Return least squares with slopes of 0 or more; the slope of a constant part is 0."""
    slopes = np.zeros(len(along))
    moves = np.diag(products) > CONSTANT_SQUARES
    if not moves.any():
        return slopes
    scale = np.sqrt(np.diag(products)[moves])
    values, vectors = np.linalg.eigh(products[np.ix_(moves, moves)] / np.outer(scale, scale))
    positive = values > 1e-9
    # The same problem, reduced to as many equations as there are slopes.
    root = np.sqrt(values[positive])[:, None] * vectors[:, positive].T
    right = (vectors[:, positive].T @ (along[moves] / scale)) / np.sqrt(values[positive])
    slopes[moves] = nonnegative_least_squares(root, right) / scale
    return slopes
