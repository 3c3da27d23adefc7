"""Quantiles and distribution functions behind exact intervals, from scipy, which is imported by the first call.

scipy's inverses of the incomplete functions are right to about 1e-12 for counts of 10 as for those of 1e13, and take
microseconds.
"""

from functools import cache
from types import ModuleType


@cache
def _special() -> ModuleType:
    from scipy import special  # noqa: PLC0415 - most commands have no use for it, and it takes longer than they do

    return special


def poisson_limits(count: int, tail: float) -> tuple[float, float]:
    """The means for which ``count`` or more, and ``count`` or fewer, have the probability ``tail``."""
    low = float(_special().gammaincinv(count, tail)) if count > 0 else 0.0
    return low, float(_special().gammainccinv(count + 1, tail))


def binomial_limits(successes: int, trials: int, tail: float) -> tuple[float, float]:
    """The shares for which ``successes`` or more, and ``successes`` or fewer, have the probability ``tail``."""
    failures = trials - successes
    low = float(_special().betaincinv(successes, failures + 1, tail)) if successes > 0 else 0.0
    high = float(_special().betainccinv(successes + 1, failures, tail)) if failures > 0 else 1.0
    return low, high


def binomial_cdf(successes: int, trials: int, probability: float) -> float:
    """The probability of at most ``successes`` in ``trials``."""
    if successes < 0:
        return 0.0
    if successes >= trials:
        return 1.0
    return float(_special().betaincc(successes + 1, trials - successes, probability))


def student_t_quantile(probability: float, degrees: int) -> float:
    """The value that a Student's t variable is below with ``probability``."""
    return float(_special().stdtrit(degrees, probability))


def chi_square_tail(distance: float, degrees: int) -> float:
    """The probability of a chi-square variable above ``distance``."""
    return float(_special().chdtrc(degrees, distance))
