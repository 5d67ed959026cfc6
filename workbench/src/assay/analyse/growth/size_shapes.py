"""Lists curves that a rate may follow as the data grow, each with its weight before anything is measured.

rate(S) = S^slope / (1 - gain min(1, cache / S))

A cache that holds a part of the data answers that part fast: the time of an operation is the mean of both parts. The
slope is what longer searches cost, such as those in larger trees of files. Beyond the measured sizes another cache may
end and the rate drop, which no measurement below it shows: `_DROPS`.
"""

import functools
import math

from assay.analyse.growth.shapes import MAX_BEND, Shapes

_GAINS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.88, 0.94, 0.97)
"""Share of its time that an operation saves if the cache holds its data."""
_SLOPES = ((0.0, 0.5), (-0.02, 0.14), (-0.05, 0.12), (-0.1, 0.08), (-0.2, 0.04), (0.02, 0.06), (0.05, 0.06))
"""Slope, weight."""
_NO_CACHE = 0.5
"""Weight of curves without a cache within the measured sizes."""
_DROPS = 0.015
"""Weight of curves that drop beyond the measured sizes, by a half or to a fifth."""
_STEPS = 8
"""Sizes of caches for each doubling."""


@functools.lru_cache(maxsize=64)
def size_shapes(sizes: tuple[float, ...], smallest: float, largest: float) -> Shapes:
    """Return all curves, as `assay.analyse.growth.shapes.shapes` does for host counts.

    Args:
        sizes: Sizes at which the curves are needed.
        smallest: The smallest size that was measured.
        largest: The largest size that was measured.
    """
    import numpy as np

    at = np.log(np.array(sizes))
    caches = np.log(smallest / 16) + math.log(2) * np.arange(0, math.log2(16 * largest / smallest), 1 / _STEPS)
    drops = np.log(largest) + math.log(2) * np.arange(0, math.log2(MAX_BEND), 1 / _STEPS)
    logs, priors = [], []
    for slope, weight in _SLOPES:
        straight = slope * at[None, :]
        logs.append(straight)
        priors.append(np.array([weight * _NO_CACHE * (1 - _DROPS)]))
        for gain in _GAINS:
            share = np.minimum(1.0, np.exp(caches[:, None] - at[None, :]))
            logs.append(straight - np.log1p(-gain * share))
            part = weight * (1 - _NO_CACHE) * (1 - _DROPS) / len(_GAINS) / len(caches)
            priors.append(np.full(len(caches), part))
        for drop in (0.5, 0.2):
            logs.append(straight + math.log(drop) * (at[None, :] > drops[:, None]))
            priors.append(np.full(len(drops), weight * _DROPS / 2 / len(drops)))
    stacked = np.vstack(logs)
    return Shapes(stacked, np.concatenate(priors), np.full(len(stacked), np.inf), 0.0)
