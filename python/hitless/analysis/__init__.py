"""Numbers from samples, always with how sure they are.

- ``percentiles``: percentiles by nearest rank, their order-statistic intervals, ratios of percentiles, CDFs
- ``intervals``: exact intervals of counts (Poisson, Clopper-Pearson), of means, and the bootstrap
- ``paired``: two sides run with the same seeds: ratios and differences
- ``fairness``: Jain's index, of anything and over time
- ``goodness``: the chi-square test
- ``distributions``: what of scipy the intervals rest on
"""

from hitless.analysis.fairness import fairness_over_time, jain_index
from hitless.analysis.goodness import chi_square_p_value
from hitless.analysis.intervals import (
    Interval,
    bootstrap_interval,
    mean_interval,
    mean_reach,
    poisson_interval,
    proportion_interval,
)
from hitless.analysis.paired import Paired, paired_difference, paired_ratio
from hitless.analysis.percentiles import (
    cdf,
    percentile,
    percentile_interval,
    percentile_ratio,
    percentiles_of,
)

__all__ = [
    "Interval",
    "Paired",
    "bootstrap_interval",
    "cdf",
    "chi_square_p_value",
    "fairness_over_time",
    "jain_index",
    "mean_interval",
    "mean_reach",
    "paired_difference",
    "paired_ratio",
    "percentile",
    "percentile_interval",
    "percentile_ratio",
    "percentiles_of",
    "poisson_interval",
    "proportion_interval",
]
