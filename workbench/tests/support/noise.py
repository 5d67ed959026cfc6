"""Noise of a known kind, for tests and simulations of what is concluded from repeats.

Everything has the variance 1 and the mean 0; the last axis is time.
"""

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def wandering(random: np.random.Generator, shape: int | tuple[int, ...], autocorrelation: float) -> Floats:
    """Autoregressive noise of the first order: each value resembles the one before it.

    Args:
        random: Where chance comes from.
        shape: Of what is drawn.
        autocorrelation: Correlation of a value with the one before it.
    """
    values = random.standard_normal(shape)
    for place in range(1, values.shape[-1]):
        values[..., place] = (
            autocorrelation * values[..., place - 1] + math.sqrt(1 - autocorrelation**2) * values[..., place]
        )
    return values


def heavy(random: np.random.Generator, shape: int | tuple[int, ...]) -> Floats:
    """Student's t with 3 degrees of freedom: now and then a value is far off."""
    return np.asarray(random.standard_t(3, shape) / math.sqrt(3))
