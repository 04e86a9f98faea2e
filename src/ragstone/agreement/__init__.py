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
from ragstone.agreement.grading import report_cards

__all__ = [
    "Baseline",
    "Calibration",
    "Disagreement",
    "GradeAgreement",
    "Group",
    "HumanAgreement",
    "ReportCard",
    "SystemRanking",
    "report_cards",
]
