"""Questions, facts and documents -> the same in another language, checked by translating them back."""

from ragstone.dataset.translation.apertium import APERTIUM, check_pairs, open_apertium
from ragstone.dataset.translation.http import HTTP, open_http
from ragstone.dataset.translation.made import Made, Task
from ragstone.dataset.translation.model import Told, by_model, load_told
from ragstone.dataset.translation.rows import translate_document, translate_question
from ragstone.dataset.translation.service import by_service
from ragstone.dataset.translation.translator import Translate

__all__ = [
    "APERTIUM",
    "HTTP",
    "Made",
    "Task",
    "Told",
    "Translate",
    "by_model",
    "by_service",
    "check_pairs",
    "load_told",
    "open_apertium",
    "open_http",
    "translate_document",
    "translate_question",
]
