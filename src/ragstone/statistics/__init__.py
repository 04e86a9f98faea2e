"""Arrays in, numbers with uncertainty out: imports nothing of ours."""

from ragstone.statistics.bootstrap import RESAMPLES, Statistic, bootstrap_estimates
from ragstone.statistics.clusters import Codes, Floats, cell_totals, cluster_codes, cluster_totals
from ragstone.statistics.contingency import (
    cell_codes,
    contingency_table,
    exact_matches,
    matches_within_one,
)
from ragstone.statistics.correlation import pearson, spearman, spearman_columns, spearman_of_cells
from ragstone.statistics.estimate import Estimate
from ragstone.statistics.holm import holm
from ragstone.statistics.kappa import Disagreement, cohen_kappa, kappa_of_cells, linear, nominal, quadratic
from ragstone.statistics.mcnemar import mcnemar_p
from ragstone.statistics.mean import difference_estimates, mean_estimate, mean_estimates
from ragstone.statistics.newcombe import difference_interval
from ragstone.statistics.signflip import flips_for, sign_flip_p_values
from ragstone.statistics.wilson import wilson_interval

__all__ = [
    "RESAMPLES",
    "Codes",
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
    "difference_estimates",
    "difference_interval",
    "exact_matches",
    "flips_for",
    "holm",
    "kappa_of_cells",
    "linear",
    "matches_within_one",
    "mcnemar_p",
    "mean_estimate",
    "mean_estimates",
    "nominal",
    "pearson",
    "quadratic",
    "sign_flip_p_values",
    "spearman",
    "spearman_columns",
    "spearman_of_cells",
    "wilson_interval",
]
