"""A run -> the page and the terminal summary that people read; all numbers come from summary.json."""

from ragstone.report.attack import AttackSummary
from ragstone.report.benches.languages import StudySummary, read_study
from ragstone.report.benches.retrievers import BenchSummary, read_leaderboard
from ragstone.report.certificate import write_certificate
from ragstone.report.certificate_terminal import terminal_certificate
from ragstone.report.certified import read_certificate
from ragstone.report.findings import headlines
from ragstone.report.markdown import write_markdown
from ragstone.report.page import write_report
from ragstone.report.run import read_summary
from ragstone.report.summary import Calls, RunSummary
from ragstone.report.terminal import terminal_judged, terminal_retrieval, terminal_summary

__all__ = [
    "AttackSummary",
    "BenchSummary",
    "Calls",
    "RunSummary",
    "StudySummary",
    "headlines",
    "read_certificate",
    "read_leaderboard",
    "read_study",
    "read_summary",
    "terminal_certificate",
    "terminal_judged",
    "terminal_retrieval",
    "terminal_summary",
    "write_certificate",
    "write_markdown",
    "write_report",
]
