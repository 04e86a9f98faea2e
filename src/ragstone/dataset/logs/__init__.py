"""Logs of what people asked -> questions with their counts, whatever wrote the log."""

from ragstone.dataset.logs.exchange import Columns, Exchange, exchange_of
from ragstone.dataset.logs.gathering import Asked, Gathered, LogCounts, gather
from ragstone.dataset.logs.quality import as_quality, judged_qualities
from ragstone.dataset.logs.reading import Place, decode_line, is_json_lines, log_files, read_log
from ragstone.dataset.logs.standing import why_left_out

__all__ = [
    "Asked",
    "Columns",
    "Exchange",
    "Gathered",
    "LogCounts",
    "Place",
    "as_quality",
    "decode_line",
    "exchange_of",
    "gather",
    "is_json_lines",
    "judged_qualities",
    "log_files",
    "read_log",
    "why_left_out",
]
