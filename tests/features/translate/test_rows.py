import msgspec
import pytest
from tests.support.phrase_book import by_heart, translated

from ragstone.features.translate._rows import (
    Pair,
    TranslationTask,
    mean_chrf,
    translate_document,
    translate_question,
    with_loss,
)
from ragstone.kernel.dataset.placing import place_evidence
from ragstone.kernel.llm import CallFailed
from ragstone.kernel.records import Document, Evidence, Question

TEXT = (
    "The wheat was sown by the farmers of the village in 1998.\n\n```\nsow(wheat)\n```\n\n"
    "The maize of this region is harvested in October.\n"
)
DOCUMENT = Document(
    id="d", title="Wheat and maize", text=TEXT, lang="en", metadata={"topic": "crops", "pages": [0]}
)
QUESTION = Question(
    id="d#1",
    question="When is the maize harvested?",
    reference="in October",
    evidence=[Evidence(document_id="d", start=TEXT.index("The maize"), end=len(TEXT) - 1)],
    document_ids=["d", "other"],
    lang="en",
    tags={"crop": "maize"},
    scores={"groundedness": 5},
    metadata={"rationales": {"groundedness": "so"}, "quote": "The maize", "author": "x"},
)


def task(forth=by_heart, back=by_heart, lowest=0.4):
    return TranslationTask(
        source="en", target="es", forth=forth, by="book", back=back, lowest=lowest, longest=1000
    )


async def failing(texts, source, target, about=None):
    raise CallFailed("timeout", "nobody answered")


async def pair():
    return {"d": Pair(DOCUMENT, (await translate_document(DOCUMENT, task())).row)}


async def test_a_document_is_put_together_again_around_what_stays():
    made = await translate_document(DOCUMENT, task())
    assert made.loss is None
    assert made.row.text == (
        "El trigo fue sembrado por los campesinos del pueblo en 1998.\n\n```\nsow(wheat)\n```\n\n"
        "El maíz de esta región se cosecha en octubre.\n"
    )
    assert (made.row.id, made.row.title, made.row.lang) == ("d@es", "Trigo y maíz", "es")
    assert made.row.metadata == {
        "topic": "crops",
        "parallel": "d",
        "translation": {"from": "en", "by": "book", "chrf": 1.0},
    }


async def test_a_question_keeps_what_holds_of_it_in_any_language():
    made = await translate_question(QUESTION, task())
    row = made.row
    assert (row.id, row.question, row.reference) == ("d#1@es", "¿Cuándo se cosecha el maíz?", "en octubre")
    assert (row.tags, row.scores, row.lang) == ({"crop": "maize"}, None, "es")
    assert row.metadata == {
        "quote": "The maize",
        "author": "x",
        "parallel": "d#1",
        "translation": {"from": "en", "by": "book", "chrf": 1.0},
    }


async def test_without_translated_documents_a_question_points_at_the_given_ones():
    row = (await translate_question(QUESTION, task())).row
    assert row.document_ids == ["d", "other"]
    assert row.evidence == QUESTION.evidence


async def test_with_them_it_points_at_the_translations_and_its_evidence_is_found_there(says):
    pairs = await pair()
    row = (await translate_question(QUESTION, task(), pairs)).row
    assert row.document_ids == ["d@es", "other"]
    (span,) = row.evidence
    held = pairs["d"].translated.text[span.start : span.end]
    says(held.rstrip("."))
    assert row.metadata["quote"] == held
    placed = place_evidence([row], [pairs["d"].translated])
    assert (placed.n_documents, placed.n_changed, placed.n_unknown) == (1, 0, 0)


async def test_evidence_that_is_not_found_is_left_out_and_the_documents_stay_named():
    question = msgspec.structs.replace(
        QUESTION, evidence=[Evidence(document_id="d", start=4, end=9)], document_ids=None
    )
    pairs = {"d": Pair(DOCUMENT, Document(id="d@es", text="Nada de eso."))}
    row = (await translate_question(question, task(), pairs)).row
    assert row.evidence is None
    assert row.document_ids == ["d@es"]
    assert "quote" not in row.metadata


async def test_the_reference_of_a_true_false_question_stays(says):
    fact = Question(
        id="f", question="The maize is harvested in winter.", kind="true_false", reference="False"
    )
    row = (await translate_question(fact, task())).row
    says(row.question)
    assert row.reference == "False"


async def test_alternatives_stay_a_list():
    question = msgspec.structs.replace(QUESTION, reference=["in October"])
    assert (await translate_question(question, task())).row.reference == ["en octubre"]


async def test_a_copy_of_a_copy_has_the_same_original():
    question = msgspec.structs.replace(QUESTION, metadata={"parallel": "first"})
    assert (await translate_question(question, task())).row.metadata["parallel"] == "first"


async def test_a_failed_call_leaves_the_row_as_it_was_with_the_reason():
    made = await translate_question(QUESTION, task(forth=failing))
    assert made.status == "timeout"
    row = with_loss(made)
    assert (row.id, row.question, row.lang) == ("d#1@es", QUESTION.question, "en")
    assert row.metadata["lost"] == {
        "step": "translate",
        "reason": "not_translated",
        "detail": "timeout: nobody answered",
    }
    assert with_loss(await translate_document(DOCUMENT, task(forth=failing))).metadata["lost"]["reason"] == (
        "not_translated"
    )


async def test_numbers_that_are_missing_are_named():
    async def forgetful(texts, source, target, about=None):
        return [text.replace("1998", "1989") for text in await by_heart(texts, source, target)]

    made = await translate_document(DOCUMENT, task(forth=forgetful))
    assert (made.loss.reason, made.loss.detail) == ("number_lost", "1998")
    assert made.row.metadata["translation"]["missing_numbers"] == ["1998"]


async def test_a_failed_way_back_is_a_loss_of_its_own():
    made = await translate_question(QUESTION, task(back=failing))
    assert (made.loss.reason, made.status, made.chrf) == ("not_translated_back", "timeout", None)
    assert made.row.question == "¿Cuándo se cosecha el maíz?"


async def test_what_comes_back_as_something_else_is_lost_and_scored():
    async def wrong(texts, source, target, about=None):
        return ["Who sowed the wheat in 1998?" for _ in texts]

    made = await translate_question(QUESTION, task(back=wrong))
    assert made.loss.reason == "far_from_source"
    assert made.chrf < 0.4
    assert made.row.metadata["translation"]["chrf"] == made.chrf
    assert (await translate_question(QUESTION, task(back=wrong, lowest=0.0))).loss is None


async def test_without_a_way_back_nothing_is_scored():
    made = await translate_question(QUESTION, task(back=None))
    assert (made.loss, made.chrf) == (None, None)
    assert "chrf" not in made.row.metadata["translation"]


async def test_a_row_with_a_fault_is_scored_all_the_same():
    async def unchanged(texts, source, target, about=None):
        return list(texts)

    made = await translate_question(QUESTION, task(forth=unchanged, back=unchanged))
    assert (made.loss.reason, made.chrf) == ("untranslated", 1.0)


async def test_an_empty_reference_is_no_translation():
    async def half(texts, source, target, about=None):
        return [translated(texts[0], target), *(" " for _ in texts[1:])]

    assert (await translate_question(QUESTION, task(forth=half))).loss.reason == "empty_translation"


async def test_a_document_without_a_word_is_the_same_in_every_language():
    made = await translate_document(Document(id="n", text="1, 2\n\n3"), task())
    assert (made.row.id, made.row.text, made.row.lang, made.loss) == ("n@es", "1, 2\n\n3", "es", None)


async def test_of_a_document_of_code_the_title_is_translated():
    code = "```\nsow(wheat)\n```"
    made = await translate_document(Document(id="c", text=code, title="Wheat and maize"), task())
    assert (made.row.title, made.row.text, made.loss) == ("Trigo y maíz", code, None)


async def test_a_title_without_a_translation_loses_its_document():
    async def untitled(texts, source, target, about=None):
        return ["" if text == "Wheat and maize" else translated(text, target) for text in texts]

    assert (await translate_document(DOCUMENT, task(forth=untitled))).loss.reason == "empty_translation"


async def test_a_question_without_a_word_is_lost_and_breaks_nothing():
    async def talkative(texts, source, target, about=None):
        return ["¿Qué?" for _ in texts]

    made = await translate_question(Question(id="e", question=""), task(forth=talkative))
    assert made.loss.reason == "far_from_source"


async def test_the_title_helps_with_the_text():
    asked = []

    async def noting(texts, source, target, about=None):
        asked.append((list(texts), about))
        return await by_heart(texts, source, target)

    await translate_document(DOCUMENT, task(forth=noting))
    assert asked[0] == (["Wheat and maize"], None)
    assert asked[1][1] == "Trigo y maíz"


def test_texts_count_by_their_length():
    # The first of 3 characters comes back whole (1.0), the second of 1 not at all (0.0): 3 / 4.
    assert mean_chrf(["abc", "x"], ["abc", "y"]) == pytest.approx(0.75)
