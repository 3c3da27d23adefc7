"""Statistics of samples, each with its uncertainty.

- ``percentiles``: percentiles by nearest rank, their order-statistic intervals, ratios of percentiles, CDFs
- ``intervals``: exact intervals of counts (Poisson, Clopper-Pearson), of means, and the bootstrap
- ``serial``: the same statistics for the dependent values of one run
- ``seeds``: statistics over several runs with different seeds
- ``paired``: ratios and differences of two sides that run with the same seeds
- ``fairness``: Jain's index, for any shares and over time
- ``distributions``: the functions of scipy that the intervals use, and the chi-square test
"""

from hitless.analysis.distributions import chi_square_p_value
from hitless.analysis.fairness import fairness_over_time, jain_index
from hitless.analysis.intervals import (
    REPLICAS_MIN,
    Certainty,
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
    enough_for,
    percentile,
    percentile_interval,
    percentile_ratio,
    percentiles_of,
)
from hitless.analysis.seeds import SEEDS_CHANGE_NOTHING, mean_over_seeds
from hitless.analysis.serial import mean_in_order, percentile_in_order, percentile_ratio_in_order

__all__ = [
    "REPLICAS_MIN",
    "SEEDS_CHANGE_NOTHING",
    "Certainty",
    "Interval",
    "Paired",
    "bootstrap_interval",
    "cdf",
    "chi_square_p_value",
    "enough_for",
    "fairness_over_time",
    "jain_index",
    "mean_in_order",
    "mean_interval",
    "mean_over_seeds",
    "mean_reach",
    "paired_difference",
    "paired_ratio",
    "percentile",
    "percentile_in_order",
    "percentile_interval",
    "percentile_ratio",
    "percentile_ratio_in_order",
    "percentiles_of",
    "poisson_interval",
    "proportion_interval",
]
