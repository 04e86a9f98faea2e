"""Arrays in, numbers with uncertainty out: imports nothing of ours."""

from ragstone.statistics.bootstrap import RESAMPLES, Statistic, bootstrap_estimates
from ragstone.statistics.clusters import Floats, cell_totals, cluster_codes, cluster_totals
from ragstone.statistics.contingency import (
    cell_codes,
    contingency_table,
    exact_matches,
    matches_within_one,
)
from ragstone.statistics.correlation import pearson, spearman, spearman_columns, spearman_of_cells
from ragstone.statistics.estimate import Estimate
from ragstone.statistics.kappa import Disagreement, cohen_kappa, kappa_of_cells, linear, nominal, quadratic
from ragstone.statistics.mean import mean_estimate
from ragstone.statistics.wilson import wilson_interval

__all__ = [
    "RESAMPLES",
    "Disagreement",
    "Estimate",
    "Floats",
    "Statistic",
    "bootstrap_estimates",
    "cell_codes",
    "cell_totals",
    "cluster_codes",
    "cluster_totals",
    "cohen_kappa",
    "contingency_table",
    "exact_matches",
    "kappa_of_cells",
    "linear",
    "matches_within_one",
    "mean_estimate",
    "nominal",
    "pearson",
    "quadratic",
    "spearman",
    "spearman_columns",
    "spearman_of_cells",
    "wilson_interval",
]
