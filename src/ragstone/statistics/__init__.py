"""Arrays in, numbers with uncertainty out: imports nothing of ours."""

from ragstone.statistics.auc import auc_columns, roc_auc
from ragstone.statistics.bootstrap import RESAMPLES, Statistic, bootstrap_estimates, resampled_totals
from ragstone.statistics.calibration import BINS, calibration_columns, reliability_bins
from ragstone.statistics.clusters import Clusters, Codes, Floats, cell_totals, cluster_codes, cluster_totals
from ragstone.statistics.contingency import (
    cell_codes,
    contingency_table,
    exact_matches,
    matches_within_one,
)
from ragstone.statistics.correlation import (
    correlation_columns,
    pearson,
    pearson_of_cells,
    spearman,
    spearman_columns,
    spearman_of_cells,
)
from ragstone.statistics.estimate import Estimate
from ragstone.statistics.holm import holm
from ragstone.statistics.kappa import Disagreement, cohen_kappa, kappa_of_cells, linear, nominal, quadratic
from ragstone.statistics.krippendorff import (
    alpha_of_cells,
    alpha_of_coincidences,
    alpha_of_values,
    coincidence_columns,
    krippendorff_alpha,
    value_columns,
)
from ragstone.statistics.mcnemar import mcnemar_p
from ragstone.statistics.mean import difference_estimates, mean_estimate, mean_estimates
from ragstone.statistics.newcombe import difference_interval
from ragstone.statistics.pairs import join_columns, mean_columns
from ragstone.statistics.ppi import PredictionPowered, prediction_powered_mean
from ragstone.statistics.signflip import flips_for, sign_flip_p_values
from ragstone.statistics.tau import kendall_tau, tau_of_cells
from ragstone.statistics.wilson import wilson_interval

__all__ = [
    "BINS",
    "RESAMPLES",
    "Clusters",
    "Codes",
    "Disagreement",
    "Estimate",
    "Floats",
    "PredictionPowered",
    "Statistic",
    "alpha_of_cells",
    "alpha_of_coincidences",
    "alpha_of_values",
    "auc_columns",
    "bootstrap_estimates",
    "calibration_columns",
    "cell_codes",
    "cell_totals",
    "cluster_codes",
    "cluster_totals",
    "cohen_kappa",
    "coincidence_columns",
    "contingency_table",
    "correlation_columns",
    "difference_estimates",
    "difference_interval",
    "exact_matches",
    "flips_for",
    "holm",
    "join_columns",
    "kappa_of_cells",
    "kendall_tau",
    "krippendorff_alpha",
    "linear",
    "matches_within_one",
    "mcnemar_p",
    "mean_columns",
    "mean_estimate",
    "mean_estimates",
    "nominal",
    "pearson",
    "pearson_of_cells",
    "prediction_powered_mean",
    "quadratic",
    "reliability_bins",
    "resampled_totals",
    "roc_auc",
    "sign_flip_p_values",
    "spearman",
    "spearman_columns",
    "spearman_of_cells",
    "tau_of_cells",
    "value_columns",
    "wilson_interval",
]
