"""Implements the special functions for Student's and Fisher's distributions and for moderated variances.

They are implemented here because the usual library would add 140 MB to an installation, and smaller libraries overflow
at machine precision from some hundred degrees of freedom on. Tests compare them with scipy.

Source: NIST Digital Library of Mathematical Functions, https://dlmf.nist.gov, by section.
"""

import math
from functools import lru_cache
from statistics import NormalDist

_TINY = 1e-300
_EPS = 1e-16
_MAX_TERMS = 100_000
_MANY = 1e9
"""Degrees of freedom that stand for an exactly known variance."""
_FAR = 12.0
"""From here on a few terms of an asymptotic series are exact to floating point."""
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)


def digamma(x: float) -> float:
    """Return the derivative of ln Γ at x > 0 (section 5.11, after the recurrence of 5.5)."""
    less = 0.0
    while x < _FAR:
        less += 1 / x
        x += 1
    series = math.fsum(b / (2 * k * x ** (2 * k)) for k, b in enumerate(_BERNOULLI, 1))
    return math.log(x) - 1 / (2 * x) - series - less


def trigamma(x: float) -> float:
    """Return the second derivative of ln Γ at x > 0 (section 5.15)."""
    more = []
    while x < _FAR:
        more.append(1 / x**2)
        x += 1
    return math.fsum((*more, 1 / x, 1 / (2 * x**2), *(b / x ** (2 * k + 1) for k, b in enumerate(_BERNOULLI, 1))))


def tetragamma(x: float) -> float:
    """Return the third derivative of ln Γ at x > 0, from the series of `trigamma`, term by term."""
    more = []
    while x < _FAR:
        more.append(2 / x**3)
        x += 1
    series = ((2 * k + 1) * b / x ** (2 * k + 2) for k, b in enumerate(_BERNOULLI, 1))
    return -math.fsum((*more, 1 / x**2, 1 / x**3, *series))


@lru_cache(maxsize=4096)
def student_tail(freedom: float, t: float) -> float:
    """Return the probability that Student's t is greater than `t`.

    Args:
        freedom: Degrees of freedom, above 0.
        t: 0 or more.
    """
    if t == 0 or math.isinf(t):
        return 0.0 if t else 0.5
    odds = t / freedom * t
    return _beta_share(freedom / 2, 0.5, 1 / odds if odds else math.inf) / 2


@lru_cache(maxsize=1024)
def student_quantile(freedom: float, share: float) -> float:
    """Return the value below which this share of Student's distribution lies.

    Args:
        freedom: Degrees of freedom, above 0.
        share: From 0 to 1.
    """
    if share == 0.5:
        return 0.0
    if not 0 < share < 1:
        return math.inf if share else -math.inf
    upper = _upper_quantile(freedom, min(share, 1 - share))
    return upper if share > 0.5 else -upper


def fisher_tail(between: float, within: float, ratio: float) -> float:
    """Return the probability that Fisher's F is greater than this ratio.

    Args:
        between: Degrees of freedom of the numerator, above 0.
        within: Degrees of freedom of the denominator, above 0.
        ratio: 0 or more.
    """
    if ratio <= 0:
        return 1.0
    return 0.0 if math.isinf(ratio) else _beta_share(within / 2, between / 2, within / (between * ratio))


def beta_share(a: float, b: float, share: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b) at x = `share` (section 8.17).

    It is the probability that of a + b - 1 independent trials, each with the chance x, at least a succeed.

    Args:
        a: Above 0.
        b: Above 0.
        share: From 0 to 1.
    """
    if share <= 0 or share >= 1:
        return 0.0 if share <= 0 else 1.0
    return _beta_share(a, b, share / (1 - share))


@lru_cache(maxsize=4096)
def chi_square_quantile(freedom: float, share: float) -> float:
    """Return the value that chi-square stays below with this probability, to 7 digits, by bisection of `fisher_tail`.

    A ratio of variances in which the denominator has very many degrees of freedom is distributed as chi-square over the
    degrees of freedom of the numerator.

    Args:
        freedom: Degrees of freedom, at least 1.
        share: Between 0 and 1.
    """
    low, high = 0.0, 1.0
    while fisher_tail(freedom, _MANY, high / freedom) > 1 - share:
        low, high = high, 2 * high
    while high - low > 1e-10 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if fisher_tail(freedom, _MANY, middle / freedom) > 1 - share else (low, middle)
    return (low + high) / 2


def _upper_quantile(freedom: float, tail: float) -> float:
    """Return the quantile with this upper tail, below a half, by Newton's method on logarithms within known bounds."""
    low, high = 0.0, math.inf
    t = max(-NormalDist().inv_cdf(tail), 1e-8)
    for _ in range(500):
        found = student_tail(freedom, t)
        low, high = (t, high) if found > tail else (low, t)
        slope = t * math.exp(_log_density(freedom, t)) / found if found else 0.0
        step = math.log(found / tail) / slope if slope else math.inf
        following = t * math.exp(step) if abs(step) < 50 else math.inf
        if not low < following < high:
            following = 2 * t if math.isinf(high) else (low + high) / 2
        if abs(following - t) <= 4 * _EPS * t:
            return following
        t = following
    return t


def _log_density(freedom: float, t: float) -> float:
    odds = t / freedom * t
    return -_log_beta(freedom / 2, 0.5) - math.log(freedom) / 2 - (freedom + 1) / 2 * math.log1p(odds)


def _beta_share(a: float, b: float, odds: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b) at x = odds / (1 + odds) (section 8.17)."""
    if odds == 0 or math.isinf(odds):
        return 1.0 if odds else 0.0
    log_x, log_y = -math.log1p(1 / odds), -math.log1p(odds)
    front = a * log_x + b * log_y - _log_beta(a, b)
    x, y = odds / (1 + odds), 1 / (1 + odds)
    if x < (a + 1) / (a + b + 2):
        return min(1.0, math.exp(front) * _beta_fraction(a, b, x) / a)
    return max(0.0, 1 - math.exp(front) * _beta_fraction(b, a, y) / b)


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction 8.17.22; method of Lentz, modified by Thompson and Barnett (section 3.10)."""
    c, d = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _MAX_TERMS):
        before = value
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _not_zero(1 + term * d)
            c = _not_zero(1 + term / c)
            value *= c * d
        if abs(value - before) <= 2 * _EPS * abs(value):
            break
    return value


def _not_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def _log_beta(a: float, b: float) -> float:
    """Return ln B(a, b); common terms of Stirling's formula are cancelled before rounding (section 5.11)."""
    a, b = max(a, b), min(a, b)
    if a < _FAR:
        return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    of_great = (0.5 - a - b) * math.log1p(b / a) - b * math.log(a) + b + _stirling(a) - _stirling(a + b)
    return math.lgamma(b) + of_great


def _stirling(x: float) -> float:
    """Return ln Γ(x) minus Stirling's approximation (x - 1/2) ln x - x + ln(2π) / 2."""
    return math.fsum(b / (2 * k * (2 * k - 1) * x ** (2 * k - 1)) for k, b in enumerate(_BERNOULLI, 1))
