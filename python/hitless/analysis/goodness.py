"""Goodness of fit: Pearson's chi-square test."""

from collections.abc import Sequence

from hitless.analysis.distributions import chi_square_tail


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
