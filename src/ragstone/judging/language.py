"""Whether an answer is in the language of its question, by a detector of languages; no model is asked."""

from ragstone.corpus.language import language_odds
from ragstone.corpus.tokens import tokenize
from ragstone.judging.refusal import WITHOUT_SPACES

# Fewer words (letters of a script without spaces) are a name, a number or a term, the same in many languages.
FEWEST_WORDS = 4
FEWEST_LETTERS = 8
LIKELY = 0.5
UNLIKELY = 0.05


def language_match(answer: str, question: str) -> float | None:
    """1 if the answer is in the language of the question, 0 if it is in another, None if that cannot be told.

    It cannot be told of answers of fewer than four words, and where the detector is not sure: the question's
    language is likely (0.5 or more) in none of the readings, or neither likely nor unlikely (0.05 or less) in
    the answer's.
    """
    if not _is_prose(answer):
        return None
    asked, said = language_odds(question), language_odds(answer)
    if not asked or max(asked.values()) < LIKELY:
        return None
    same = said.get(max(asked, key=asked.__getitem__), 0.0)
    if same >= LIKELY:
        return 1.0
    return 0.0 if same <= UNLIKELY and max(said.values()) >= LIKELY else None


def _is_prose(text: str) -> bool:
    words = [word for word in tokenize(text) if any(map(str.isalpha, word))]
    return len(words) >= (FEWEST_LETTERS if WITHOUT_SPACES.search(text) else FEWEST_WORDS)
