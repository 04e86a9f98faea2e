"""Decisions of people on the questions of an evaluation set -> the reviewed set."""

from ragstone.dataset.certifying.review_numbers import CriticAgreement, ReviewNumbers
from ragstone.dataset.reviewing.applying import Item, apply_review, left_out, review_item, review_items
from ragstone.dataset.reviewing.decision import FIELDS, REJECTIONS, Decision, Quoted, Values
from ragstone.dataset.reviewing.log import Log, log_path, read_decisions
from ragstone.dataset.reviewing.numbers import review_numbers

__all__ = [
    "FIELDS",
    "REJECTIONS",
    "CriticAgreement",
    "Decision",
    "Item",
    "Log",
    "Quoted",
    "ReviewNumbers",
    "Values",
    "apply_review",
    "left_out",
    "log_path",
    "read_decisions",
    "review_item",
    "review_items",
    "review_numbers",
]
