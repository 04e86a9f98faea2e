"""A column `system` that holds the prompt of a system, in place of its name."""

import re

LONGEST_NAME = 100  # characters: a longer text names nothing
_SENTENCE = re.compile(r"(?:\S+\s+){3,}\S+[.!?]|.*[。！？؟।]", re.DOTALL)


def is_prompt(value: object) -> bool:
    """Say whether a text is a system's prompt: long, of several lines, or a sentence of four words."""
    if not isinstance(value, str):
        return False
    text = value.strip()
    return len(text) > LONGEST_NAME or "\n" in text or _SENTENCE.fullmatch(text) is not None
