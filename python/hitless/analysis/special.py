"""The regularised incomplete beta and gamma functions and their inverses.

They are the distribution functions behind exact intervals: of the binomial and Student's t (beta), of the Poisson
(gamma). Series and continued fractions as in Abramowitz and Stegun, 6.5.29, 6.5.31 and 26.5.8, evaluated by Lentz's
method. Accurate to about 1e-12, far beyond what an interval needs, for arguments up to about 1e8.
"""

import math
from collections.abc import Callable, Iterator

_TINY = 1e-300
_PRECISION = 1e-15
_STEPS_MAX = 200_000


def incomplete_beta(a: float, b: float, x: float) -> float:
    """I_x(a, b): the probability that a Beta(a, b) variable is at most ``x``."""
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    # The fraction converges quickly only on this side of the mean.
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - incomplete_beta(b, a, 1.0 - x)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(log_front) / (a * _continued_fraction(1.0, _beta_terms(a, b, x)))


def incomplete_gamma(a: float, x: float) -> float:
    """P(a, x): the probability that a Gamma(a) variable of scale 1 is at most ``x``."""
    if x <= 0.0:
        return 0.0
    front = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1.0:
        return front * _gamma_series(a, x)
    return 1.0 - front / _continued_fraction(x + 1.0 - a, _gamma_terms(a, x))


def inverse_beta(a: float, b: float, probability: float) -> float:
    """The x where I_x(a, b) is ``probability``."""
    return _bisect(lambda x: incomplete_beta(a, b, x), probability, 0.0, 1.0)


def inverse_gamma(a: float, probability: float) -> float:
    """The x where P(a, x) is ``probability``."""
    high = a + 10.0
    while incomplete_gamma(a, high) < probability:
        high *= 2.0
    return _bisect(lambda x: incomplete_gamma(a, x), probability, 0.0, high)


def binomial_cdf(successes: int, trials: int, probability: float) -> float:
    """The probability of at most ``successes`` in ``trials``."""
    if successes < 0:
        return 0.0
    if successes >= trials:
        return 1.0
    return incomplete_beta(trials - successes, successes + 1, 1.0 - probability)


def student_t_quantile(probability: float, degrees: int) -> float:
    """The value that a Student's t variable is below with ``probability``, which is above one half."""
    x = inverse_beta(degrees / 2.0, 0.5, 2.0 * (1.0 - probability))
    return math.sqrt(degrees * (1.0 - x) / x)


def _beta_terms(a: float, b: float, x: float) -> Iterator[tuple[float, float]]:
    """Numerator and denominator of each step of the continued fraction of I_x(a, b)."""
    yield -(a + b) * x / (a + 1.0), 1.0
    step = 1
    while True:
        even = a + 2 * step
        yield step * (b - step) * x / ((even - 1.0) * even), 1.0
        yield -(a + step) * (a + b + step) * x / (even * (even + 1.0)), 1.0
        step += 1


def _gamma_terms(a: float, x: float) -> Iterator[tuple[float, float]]:
    """Numerator and denominator of each step of the continued fraction of 1 - P(a, x)."""
    step = 1
    while True:
        yield -step * (step - a), x + 1.0 - a + 2.0 * step
        step += 1


def _continued_fraction(first: float, terms: Iterator[tuple[float, float]]) -> float:
    """first + n1/(d1 + n2/(d2 + ...)), by Lentz's method."""
    value = numerators = first
    denominators = 0.0
    for _, (n, d) in zip(range(_STEPS_MAX), terms, strict=False):
        denominators = 1.0 / _nonzero(d + n * denominators)
        numerators = _nonzero(d + n / numerators)
        factor = numerators * denominators
        value *= factor
        if abs(factor - 1.0) < _PRECISION:
            return value
    raise ArithmeticError("a continued fraction did not converge")


def _gamma_series(a: float, x: float) -> float:
    """Sum of x^n / (a (a+1) ... (a+n))."""
    term = total = 1.0 / a
    for step in range(1, _STEPS_MAX):
        term *= x / (a + step)
        total += term
        if term < total * _PRECISION:
            return total
    raise ArithmeticError("a series did not converge")


def _nonzero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def _bisect(rising: Callable[[float], float], target: float, low: float, high: float) -> float:
    """Where ``rising`` reaches ``target``, to the last bit that a double has."""
    while True:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            return middle
        if rising(middle) < target:
            low = middle
        else:
            high = middle
