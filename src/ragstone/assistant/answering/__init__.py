"""Questions and passages -> answers with citations, in the language of the question."""

from ragstone.assistant.answering.answering import Answering, answer_from
from ragstone.assistant.answering.documents import Search, documents_tool
from ragstone.assistant.answering.prompting import load_answering_prompt
from ragstone.assistant.answering.refusing import nearest_of, refusal_words

__all__ = [
    "Answering",
    "Search",
    "answer_from",
    "documents_tool",
    "load_answering_prompt",
    "nearest_of",
    "refusal_words",
]
