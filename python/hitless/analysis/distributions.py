"""Quantiles and distribution functions for exact intervals.

They come from scipy, which the first call imports. Its inverses of the incomplete beta and gamma functions are accurate
to about 1e-12 for counts from 10 to 1e13, and take microseconds.
"""

from collections.abc import Sequence
from functools import cache
from types import ModuleType


@cache
def _special() -> ModuleType:
    from scipy import special  # noqa: PLC0415 - most commands have no use for it, and it takes longer than they do

    return special


def poisson_limits(count: int, tail: float) -> tuple[float, float]:
    """Return the Poisson means that give ``count`` or more, and ``count`` or fewer, with probability ``tail``."""
    low = float(_special().gammaincinv(count, tail)) if count > 0 else 0.0
    return low, float(_special().gammainccinv(count + 1, tail))


def binomial_limits(successes: int, trials: int, tail: float) -> tuple[float, float]:
    """Return the shares that give ``successes`` or more, and ``successes`` or fewer, with probability ``tail``."""
    failures = trials - successes
    low = float(_special().betaincinv(successes, failures + 1, tail)) if successes > 0 else 0.0
    high = float(_special().betainccinv(successes + 1, failures, tail)) if failures > 0 else 1.0
    return low, high


def binomial_cdf(successes: int, trials: int, probability: float) -> float:
    """Return the probability of ``successes`` or fewer in ``trials``."""
    if successes < 0:
        return 0.0
    if successes >= trials:
        return 1.0
    return float(_special().betaincc(successes + 1, trials - successes, probability))


def student_t_quantile(probability: float, degrees: int) -> float:
    """Return the value that a Student's t variable stays below with ``probability``."""
    return float(_special().stdtrit(degrees, probability))


def chi_square_tail(distance: float, degrees: int) -> float:
    """Return the probability that a chi-square variable exceeds ``distance``."""
    return float(_special().chdtrc(degrees, distance))


def chi_square_p_value(counts: Sequence[int], expected: Sequence[float] | None = None) -> float:
    """Return the probability that chance puts counts this far from ``expected``, or farther (Pearson 1900).

    ``expected`` are positive shares in any unit; the default is equal shares. Do not trust the result if a cell expects
    fewer than about five counts.
    """
    shares = [1.0] * len(counts) if expected is None else list(expected)
    if len(shares) != len(counts) or len(counts) < 2 or min(shares) <= 0.0 or sum(counts) <= 0:
        raise ValueError("a chi-square test needs two cells or more, some counts, and a positive share for each cell")
    unit = sum(counts) / sum(shares)
    distance = sum((count - unit * share) ** 2 / (unit * share) for count, share in zip(counts, shares, strict=True))
    return chi_square_tail(distance, len(counts) - 1)
