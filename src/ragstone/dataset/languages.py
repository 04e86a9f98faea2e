"""A short text and a language -> whether it is in it; and the names of languages."""

from ragstone.corpus import detect_language


def speaks(text: str, lang: str | None) -> bool:
    """Say whether a short text is in a language, given as an ISO 639-1 code with or without a region.

    Where no language is given, or nothing tells against it, the answer is yes.
    """
    if lang is None:
        return True
    found = detect_language(text)
    return found is None or found == lang.replace("_", "-").split("-")[0].casefold()


def language_name(lang: str) -> str:
    """Return the English name of a language."""
    return lang
