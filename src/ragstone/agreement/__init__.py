"""Judgements and people's labels -> how far a judge can be trusted."""

from ragstone.agreement.card import (
    Baseline,
    Calibration,
    Disagreement,
    GradeAgreement,
    Group,
    HumanAgreement,
    ReportCard,
    SystemRanking,
)
from ragstone.agreement.corrected import corrected_means
from ragstone.agreement.corrected_mean import CorrectedMean
from ragstone.agreement.grading import report_cards
from ragstone.agreement.labelling import ToLabel, next_to_label

__all__ = [
    "Baseline",
    "Calibration",
    "CorrectedMean",
    "Disagreement",
    "GradeAgreement",
    "Group",
    "HumanAgreement",
    "ReportCard",
    "SystemRanking",
    "ToLabel",
    "corrected_means",
    "next_to_label",
    "report_cards",
]
