"""Judgements and people's labels -> how far a judge can be trusted."""

from ragstone.agreement.card import Baseline, HumanAgreement, ReportCard, SystemBias
from ragstone.agreement.grading import report_cards

__all__ = ["Baseline", "HumanAgreement", "ReportCard", "SystemBias", "report_cards"]
