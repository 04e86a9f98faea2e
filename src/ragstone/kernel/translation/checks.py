"""What is wrong with a translation: it is in another language, partly left, or of an odd length."""

import functools
import re
import unicodedata
from collections import Counter

from ragstone.kernel.dataset.candidate import Loss
from ragstone.kernel.dataset.languages import speaks

# Length of a translation in that of its text, in characters, Chinese, Japanese and Korean ones counting three
# times. Between English and nine languages, those of people have 0.43 to 3.1 (924 questions), 0.7 to 2.3 (180
# paragraphs).
SHORTEST, LONGEST = 1 / 4, 4.0
FEWEST_CHARACTERS = 20  # shorter texts, as titles, may differ in length by more
LOOKED_AT = 2000  # characters in which the language is seen
MOST_LEFT = 0.1  # of the letters

_WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LATIN = re.compile(r"(?<![A-Za-zÀ-ɏ])[a-zß-ÿ]{3,}(?![A-Za-zÀ-ɏ])")


def find_fault(text: str, translated: str, target: str) -> Loss | None:
    """Return what is wrong with the translation of a question or a document, None where nothing is seen."""
    if not translated.strip():
        return Loss(reason="empty_translation")
    same = " ".join(text.split()).casefold() == " ".join(translated.split()).casefold()
    # Names and numbers alone may stay.
    if same and (any(word.islower() for word in text.split()) or not text.isascii()):
        return Loss(reason="untranslated")
    if not speaks(translated[:LOOKED_AT], target):
        return Loss(reason="other_language", detail=f"not in {target}")
    share = share_left(text, translated)
    if share > MOST_LEFT:
        return Loss(reason="partly_translated", detail=f"{share:.0%} of its letters are those of the text")
    n_given, n_made = _n_characters(text), _n_characters(translated)
    if n_given < FEWEST_CHARACTERS or SHORTEST <= n_made / n_given <= LONGEST:
        return None
    return Loss(reason="odd_length", detail=f"{n_made / n_given:.2g} times as long")


def share_left(text: str, translated: str) -> float:
    """Return the share of a translation's letters that were left in the script of the text; in [0, 1].

    0 where both are in one script. Latin words with a capital are names, which may stay as they are. People's
    translations between xquad's languages (924 questions, 180 paragraphs of each) are above a tenth in at
    most 0.7 %, where technical terms stay.
    """
    scripts = Counter(_script(character) for character in text if character.isalpha())
    script = max(scripts, key=lambda script: scripts[script], default="")
    if script == "LATIN":
        latin = set(_LATIN.findall(text))
        left = sum(len(word) for word in _LATIN.findall(translated) if word in latin)
    else:
        left = sum(_script(character) == script for character in translated if character.isalpha())
    letters = "".join(filter(str.isalpha, translated))
    if not left or 2 * sum(_script(character) == script for character in letters) - left > len(letters):
        return 0.0
    return left / _n_characters(letters)


@functools.lru_cache(maxsize=4096)
def _script(letter: str) -> str:
    name = unicodedata.name(letter, "").partition(" ")[0]
    return "CJK" if name in ("HIRAGANA", "KATAKANA") else name


def _n_characters(text: str) -> int:
    return len(text) + 2 * len(_WIDE.findall(text))
