"""The languages of the assistant: which a text is in, and what the assistant itself says in each."""

from ragstone.assistant.languages.detection import language_of
from ragstone.assistant.languages.phrases import LANGUAGES, Language, language, phrase, scope_words

__all__ = ["LANGUAGES", "Language", "language", "language_of", "phrase", "scope_words"]
