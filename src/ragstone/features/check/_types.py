"""A question -> how it asks, a choice between two told from the rest; by its words, without a model."""

from ragstone.kernel.corpus.question_types import QuestionType, question_type
from ragstone.kernel.dataset.answers import compares_two, offers_choice


def type_of(text: str, lang: str | None) -> QuestionType | None:
    """Return how a question asks, see question_type; what compares two or offers them is a `choice`."""
    kind, sentence = question_type(text, lang)
    compares = kind in ("yes_no", "fact") and compares_two(sentence)
    return "choice" if compares or (kind == "fact" and offers_choice(sentence)) else kind
