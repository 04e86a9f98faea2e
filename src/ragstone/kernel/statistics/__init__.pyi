"""The names of this room that others take from it; each is imported when it is first used."""

from ._auc import roc_auc
from ._krippendorff import krippendorff_alpha
from .bootstrap import RESAMPLES, resampled_totals
from .calibration import Calibration, calibration_of
from .components import MeanComponents, Source, mean_components
from .correlation import kendall_tau, pearson, spearman
from .estimate import Estimate, negated
from .intervals import (
    Clusters,
    Codes,
    Floats,
    cluster_codes,
    cluster_totals,
    difference_interval,
    is_yes_no,
    share_unseen,
    wilson_interval,
)
from .kappa import MAX_GRADES, Disagreement, cohen_kappa, contingency_table, exact_matches
from .mean import (
    difference_estimates,
    is_same_mean,
    mean_bounds,
    mean_contrast,
    mean_estimate,
    mean_estimates,
)
from .orders import compare_orders, tau_estimate
from .paired import holm, mcnemar_p
from .ppi import PredictionPowered, prediction_powered_mean
from .raters import (
    alpha_estimates,
    auc_estimate,
    kappa_estimate,
    rank_estimates,
    rater_estimates,
    usual_kappa,
)
from .selective import SelectiveAccuracy, selective_of
from .slope import slope_estimate

__all__ = [
    "MAX_GRADES",
    "RESAMPLES",
    "Calibration",
    "Clusters",
    "Codes",
    "Disagreement",
    "Estimate",
    "Floats",
    "MeanComponents",
    "PredictionPowered",
    "SelectiveAccuracy",
    "Source",
    "alpha_estimates",
    "auc_estimate",
    "calibration_of",
    "cluster_codes",
    "cluster_totals",
    "cohen_kappa",
    "compare_orders",
    "contingency_table",
    "difference_estimates",
    "difference_interval",
    "exact_matches",
    "holm",
    "is_same_mean",
    "is_yes_no",
    "kappa_estimate",
    "kendall_tau",
    "krippendorff_alpha",
    "mcnemar_p",
    "mean_bounds",
    "mean_components",
    "mean_contrast",
    "mean_estimate",
    "mean_estimates",
    "negated",
    "pearson",
    "prediction_powered_mean",
    "rank_estimates",
    "rater_estimates",
    "resampled_totals",
    "roc_auc",
    "selective_of",
    "share_unseen",
    "slope_estimate",
    "spearman",
    "tau_estimate",
    "usual_kappa",
    "wilson_interval",
]
