"""A column `system` that holds the prompt of a system, in place of its name."""

import hashlib
import re
from typing import Any

LONGEST_NAME = 100  # characters: a longer text names nothing
FIRST_WORDS = 40  # characters of a prompt that its name keeps
_SENTENCE = re.compile(r"(?:\S+\s+){3,}\S+[.!?]|.*[。！？؟।]", re.DOTALL)


def is_prompt(value: object) -> bool:
    """Say whether a text is a system's prompt: long, of several lines, or a sentence of four words."""
    if not isinstance(value, str):
        return False
    text = value.strip()
    return len(text) > LONGEST_NAME or "\n" in text or _SENTENCE.fullmatch(text) is not None


def as_system(value: Any) -> Any:
    """Return the name of a system; of a prompt its first words and a digest, the same for the same prompt."""
    if not is_prompt(value):
        return value
    line = " ".join(value.split())
    beginning = f"{line} "[: FIRST_WORDS + 1].rpartition(" ")[0] or line[:FIRST_WORDS]
    digest = hashlib.blake2b(line.encode("utf-8", "surrogatepass"), digest_size=2).hexdigest()
    return f"{beginning.rstrip('.!?,;:')}… ({digest})"
