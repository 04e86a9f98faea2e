import numpy as np
import pytest
from msgspec.structs import replace

from ragstone.kernel.config import ExtractiveSystem
from ragstone.kernel.judging.lexical import no_refusal
from ragstone.kernel.records import Context, Question
from ragstone.kernel.systems.extractive import quote_contexts

PUMP = Context(id="c1", text="A pump lifts water. Its filter is cleaned once a month.")
SOIL = Context(id="c2", text="Sandy soil dries fast. Sandy soil needs 12 mm of water a week in May.")


def answered(question, contexts, **declared):
    row = Question(id="q", question=question, reference="r", tags={"crop": "corn"})
    return quote_contexts(row, contexts, ExtractiveSystem(**declared), system="s")


def test_answer_is_quoted_with_the_place_that_it_stands_at():
    answer = answered("How much water does sandy soil need in May?", [PUMP, SOIL], sentences=1)
    assert answer.answer == "Sandy soil needs 12 mm of water a week in May."
    assert answer.contexts == [PUMP, SOIL]
    assert (answer.question_id, answer.system, answer.reference, answer.tags) == (
        "q",
        "s",
        "r",
        {"crop": "corn"},
    )
    (citation,) = answer.metadata["citations"]
    assert citation["context"] == 2
    assert SOIL.text[citation["start"] : citation["end"]] == answer.answer
    assert 0.34 <= citation["score"] <= 1


def test_sentences_of_one_passage_stand_in_their_order():
    answer = answered("Sandy soil: water in May?", [SOIL, PUMP])
    assert answer.answer == "Sandy soil dries fast.\nSandy soil needs 12 mm of water a week in May."
    assert [one["start"] for one in answer.metadata["citations"]] == [0, 23]


def test_where_nothing_answers_it_refuses_in_words_that_judges_know():
    answer = answered("Who composed the opera Fidelio?", [PUMP, SOIL])
    assert no_refusal(answer.answer) == 0
    assert answer.metadata is None
    assert answered("Who composed the opera Fidelio?", [], refusal="Nada.").answer == "Nada."


def test_the_threshold_decides_and_zero_always_answers():
    question = "How often is a filter of Chinese make cleaned?"
    assert answered(question, [PUMP], threshold=0.9).metadata is None
    assert answered(question, [PUMP], threshold=0).metadata is not None


@pytest.mark.parametrize(("likeness", "is_quoted"), [(0.9, True), (0.0, False)])
def test_with_an_embedder_what_is_near_in_meaning_is_quoted_and_what_is_not_is_refused(likeness, is_quoted):
    def embed(texts, role):
        near = [1.0 if role == "query" else likeness if "soil" in text else 0.0 for text in texts]
        return np.array([[cosine, (1 - cosine * cosine) ** 0.5] for cosine in near], np.float32)

    row = Question(id="q", question="How much water does sandy soil need in May?")
    for threshold, expected in ((None, is_quoted), (0, True)):
        declared = ExtractiveSystem(embedder="packaged", threshold=threshold)
        answer = quote_contexts(row, [PUMP, SOIL], declared, system="s", embed=embed)
        assert (answer.metadata is not None) == expected
        assert ("12 mm" in answer.answer) == expected
    assert quote_contexts(row, [], declared, system="s", embed=embed).metadata is None


def test_with_an_embedder_a_paraphrase_without_the_words_can_be_quoted():
    def embed(texts, role):
        near = [1.0 if role == "query" or "filter" in text else 0.0 for text in texts]
        return np.array([[cosine, (1 - cosine * cosine) ** 0.5] for cosine in near], np.float32)

    question = "Filter washing interval?"
    assert answered(question, [PUMP]).metadata is None
    row = Question(id="q", question=question)
    answer = quote_contexts(row, [PUMP], ExtractiveSystem(embedder="packaged"), system="s", embed=embed)
    assert answer.answer == "Its filter is cleaned once a month."


def test_with_an_embedder_an_amount_that_is_asked_for_is_missed_in_a_row_without_a_language_too():
    def embed(texts, role):
        near = [1.0 if role == "query" else 0.4 if "soil" in text else 0.0 for text in texts]
        return np.array([[cosine, (1 - cosine * cosine) ** 0.5] for cosine in near], np.float32)

    row = Question(id="q", question="How many heavy tractors does sandy soil need?")
    found = [Context(id="c", text="Sandy soil needs heavy tractors.")]
    declared = ExtractiveSystem(embedder="packaged")
    citations = {
        lang: quote_contexts(replace(row, lang=lang), found, declared, system="s", embed=embed).metadata
        for lang in ("xx", "en", None)
    }
    assert [lang for lang, found_in in citations.items() if found_in] == ["xx"]
