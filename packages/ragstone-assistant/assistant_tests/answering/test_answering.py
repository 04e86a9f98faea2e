import asyncio

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.support.scripted_assistant import MAIZE, Heard, Scripted, answering

from ragstone_assistant.answering.answering import answer_from
from ragstone_assistant.languages import LANGUAGES, phrase

QUESTION = "When do I sow maize?"
QUOTED = "Sow maize at the beginning of the long rains, in late March or April [1]."
"""What the passages say to QUESTION, where nothing of the model's answer is supported."""


def said_to(text, *, question=QUESTION, passages=MAIZE, lang="en", size=4, fails_after=None):
    heard = Heard()
    stream = Scripted(text, size, fails_after)
    said = asyncio.run(answer_from(question, passages, lang, answering(stream), heard))
    assert heard.text == said.text  # whatever happens, what was emitted is what was said
    return said


def test_an_answer_keeps_the_marks_of_passages_that_say_it():
    said = said_to("Sow maize in late March or April [1]. Fall armyworm eats its young leaves [2].")
    assert said.kind == "answer"
    assert said.text == "Sow maize in late March or April [1]. Fall armyworm eats its young leaves [2]."
    assert [(one.number, one.passage.chunk_id) for one in said.citations] == [
        (1, "maize-1#0"),
        (2, "maize-2#0"),
    ]
    assert said.passages == MAIZE
    assert (said.model, said.prompt_version) == ("scripted", "cited@2")
    assert said.usage.calls == 1
    assert said.cost_usd == 0.001


def test_marks_are_numbered_in_order_of_first_use():
    said = said_to("Fall armyworm eats young leaves [2]. Sow maize in April [1].")
    assert said.text == "Fall armyworm eats young leaves [1]. Sow maize in April [2]."
    assert [one.passage.chunk_id for one in said.citations] == ["maize-2#0", "maize-1#0"]


def test_marks_that_name_no_passage_are_replaced_by_the_one_that_says_it():
    assert said_to("Sow maize in late March or April [7].").text == "Sow maize in late March or April [1]."


def test_a_mark_of_a_passage_that_does_not_say_it_is_put_right():
    assert said_to("Fall armyworm eats the leaves of young maize [1].").citations[0].passage == MAIZE[1]


def test_a_sentence_without_a_mark_gets_the_passage_that_says_it():
    assert said_to("Plant two seeds in each hole.").text == "Plant two seeds in each hole [1]."


def test_what_no_passage_says_is_withheld():
    said = said_to("Sow maize in April [1]. The moon should be full and the neighbours asleep [1].")
    assert said.text == "Sow maize in April [1]."


def test_a_number_that_the_passage_lacks_is_withheld():
    # Every word but the number stands in the passage.
    assert said_to("Maize needs 90 kg of nitrogen for each hectare [1].").text == QUOTED
    assert said_to("Maize needs 120 kg of nitrogen for each hectare [1].").kind == "answer"
    assert said_to("Plant two seeds, 5 centimetres deep [1].").kind == "answer"  # the passage says "five"


def test_a_number_of_the_question_may_be_said_again():
    said = said_to(
        "For 3 hectares maize needs nitrogen [1].", question="How much nitrogen do 3 hectares of maize need?"
    )
    assert said.kind == "answer"


def test_an_answer_of_which_nothing_is_supported_becomes_a_refusal_with_the_nearest():
    told = "Bananas are yellow and grow on Mars [1]. I hope that this helps!"
    said = said_to(told, question="Which team won?")
    assert said.kind == "refusal"
    assert said.text == (
        "I did not find an answer to this in my documents. "
        "The nearest that I found:\n- Growing maize (page 3)\n- Pests of maize"
    )
    assert said.citations == ()
    assert said.passages == MAIZE


@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_answer_is_a_refusal_in_the_users_language(lang):
    said = said_to("NO ANSWER", lang=lang)
    assert said.kind == "refusal"
    assert said.lang == lang
    assert said.text.startswith(phrase("refusal", lang))


def test_a_refusal_in_the_models_own_words_is_a_refusal_and_what_follows_is_not_said():
    said = said_to("The documents do not say when to sow maize. Sow maize in April [1].")
    assert said.kind == "refusal"


def test_a_fact_with_a_negation_is_no_refusal():
    told = "Droppings of fall armyworm are not found on old leaves."
    passage = MAIZE[1].__class__(chunk_id="c", document_id="d", title="", text=told, lang="en")
    assert said_to(told, passages=[passage], question="Where are droppings?").kind == "answer"


def test_a_line_that_introduces_others_waits_for_them():
    said = said_to("Here are the steps:\n\n- Plant two seeds in each hole.\n- Dance.\n- Sow maize in April.")
    assert said.text == (
        "Here are the steps:\n\n- Plant two seeds in each hole [1].\n- Sow maize in April [1]."
    )
    assert said_to("Here are the steps:\n- Dance all night long.").text == QUOTED


def test_a_line_that_introduces_others_is_dropped_where_nothing_of_its_list_is_said():
    seeds = "Plant two seeds in each hole"
    assert said_to(f"{seeds} [1]. The maize needs [1]:").text == f"{seeds} [1]."
    assert said_to(f"The steps are [1]:\n- Dance.\n\n{seeds}.").text == f"{seeds} [1]."
    assert said_to("Maize needs [1]:").text == QUOTED
    assert said_to(f"The steps are [1]:\n1. Dance.\n2. {seeds}.").text == f"The steps are:\n2. {seeds} [1]."


def test_one_word_counts_only_where_its_sentence_is_about_the_question():
    asked = "What does maize need for each hectare?"
    assert said_to("Nitrogen.", question=asked).text == "Nitrogen [1]."
    assert not said_to("Evening.", question=asked).text.startswith("Evening")


def test_a_question_is_no_answer():
    assert said_to("When do I sow maize [1]?").text == QUOTED


def test_the_questions_own_words_are_no_answer_unless_the_model_cites_them():
    asked = "What for each hectare is it that maize needs, nitrogen?"
    assert said_to("Maize needs nitrogen.", question=asked).text.startswith("Maize needs 120 kg")
    assert said_to("Maize needs nitrogen [1].", question=asked).kind == "answer"
    assert said_to("Yes, maize needs nitrogen.", question=asked).kind == "answer"
    assert said_to("Maize needs 120 kg of nitrogen.", question=asked).kind == "answer"


def test_words_that_stand_far_apart_in_a_passage_do_not_support_a_sentence():
    filler = "The extension office is open on weekdays. " * 3
    told = f"Maize is sown in April. {filler}Goats are milked at dawn. {filler}Barley is threshed by hand."
    passage = replace(MAIZE[0], title="", text=told)
    # Each third of its six words stands in another place: two of six are less than 0.35.
    mixed = "Barley goats are threshed and milked and sown in April [1]."
    assert said_to(mixed, passages=[passage], question="What now?").kind == "refusal"
    assert said_to("Goats are milked at dawn [1].", passages=[passage]).kind == "answer"


def test_a_sentence_is_said_once():
    said = said_to("Sow maize in late March or April [1]. In late March or April sow maize [1].")
    assert said.text == "Sow maize in late March or April [1]."


def test_the_question_with_anything_in_the_place_of_the_answer_is_withheld():
    # "maize" and "sow" stand in the passage; of the words beyond the question ("under", "moon") none does.
    assert said_to("Sow maize under the moon [1].").text == QUOTED


def test_whom_to_call_is_pointed_to_in_the_source():
    told = "Call the seed desk, phone +254 722 000 143, before you sow maize."
    passage = replace(MAIZE[0], title="", text=told)
    said = said_to(f"{told[:-1]} [1].", passages=[passage])
    assert said.text == "Call the seed desk, phone (see the source), before you sow maize [1]."


def test_without_passages_no_model_is_asked():
    stream = Scripted("Sow maize in April.")
    said = asyncio.run(answer_from(QUESTION, [], "sw", answering(stream)))
    assert said.kind == "refusal"
    assert said.text == phrase("refusal", "sw")
    assert stream.prompts == []
    assert said.usage.calls == 0


def test_where_the_model_cannot_be_asked_documents_are_quoted_and_it_is_said():
    said = said_to("anything", fails_after=0)
    assert said.text == f"{QUOTED}\n\n{phrase('quoted_instead', 'en')}"
    assert (said.kind, said.error, said.tags) == ("answer", None, {"model_failed": "timeout"})
    assert said.citations[0].passage == MAIZE[0]
    assert (said.model, said.prompt_version) == ("", "")


def test_where_no_passage_answers_either_it_is_unavailable():
    said = said_to("anything", question="Who composed Fidelio?", fails_after=0, lang="fr")
    assert said.kind == "unavailable"
    assert said.text == phrase("model_unavailable", "fr")
    assert said.error == "no reply within 60 s"


def test_an_answer_that_breaks_off_says_so():
    text = "Sow maize in late March or April [1]. Plant two seeds in each hole [1]. And so on."
    said = said_to(text, fails_after=50)
    assert said.text == "Sow maize in late March or April [1].\n\n(The answer was interrupted here.)"
    assert said.kind == "answer"
    assert said.error == "no reply within 60 s"


def test_a_sentence_that_the_limit_of_tokens_cut_off_is_not_said():
    told = (
        "Sow maize in late March or April [1]. " * 43 + "Plant two seeds in"
    )  # 1,652 characters: 413 tokens
    assert said_to(told).text.endswith("April [1].")


def test_sentences_are_said_as_soon_as_they_are_whole():
    heard = Heard()
    said_before = []

    async def stream(prompt, on_text):
        on_text("Sow maize in late March or April [1]. Plant two ")
        for _ in range(5):
            await asyncio.sleep(0)
        said_before.append(heard.text)
        on_text("seeds in each hole [1].")
        return await Scripted("")(prompt, on_text)

    asyncio.run(answer_from(QUESTION, MAIZE, "en", answering(stream), heard))
    assert said_before == ["Sow maize in late March or April [1]."]


@pytest.mark.parametrize(
    ("begun", "kind", "text"),
    [
        (
            "Sow maize in late March or April [1]. Plant two seeds in",
            "answer",
            "Sow maize in late March or April [1].\n\n(I stopped here, because the answer took too long.)",
        ),
        ("", "answer", QUOTED),
    ],
)
def test_at_the_deadline_it_ends_with_what_is_there(begun, kind, text):
    async def stream(_prompt, on_text):
        on_text(begun)
        await asyncio.sleep(3600)

    async def ask():
        soon = asyncio.get_running_loop().time() + 0.05
        return await answer_from(QUESTION, MAIZE, "en", answering(stream), heard, soon)

    heard = Heard()
    said = asyncio.run(ask())
    assert (said.kind, said.text, said.error) == (kind, text, None)
    assert heard.text == said.text
    assert [one.passage for one in said.citations] == [MAIZE[0]]


def test_a_cancelled_answer_cancels_its_call():
    cancelled = asyncio.Event()

    async def stream(_prompt, _on_text):
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async def ask():
        task = asyncio.ensure_future(answer_from(QUESTION, MAIZE, "en", answering(stream)))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert cancelled.is_set()

    asyncio.run(ask())


def test_across_languages_vectors_find_the_passage():
    asked = []

    def embed(texts, role):
        asked.append((role, len(texts)))
        return np.array([[1.0, 0.0] if "maíz" in text or "Sow" in text else [0.6, 0.8] for text in texts])

    means = replace(answering(Scripted("Siembre el maíz al comenzar las lluvias largas.")), embed=embed)
    said = asyncio.run(answer_from("¿Cuándo siembro el maíz?", MAIZE, "es", means))
    assert said.text == "Siembre el maíz al comenzar las lluvias largas [1]."
    # (1 - 0.6) / (1 - 0.6) = 1 for the first passage, 0 for the second; six unrelated texts beside them.
    assert asked == [("passage", 2 + 6), ("query", 1)]


@given(st.text(alphabet="Sow maize in April.[]12 \n:-<>", max_size=120), st.integers(1, 9))
def test_what_is_emitted_does_not_depend_on_how_the_text_is_cut(text, size):
    assert said_to(text, size=size).text == said_to(text, size=1000).text


@pytest.mark.parametrize(
    "head", ["[1]:", "Fall armyworm eats its young leaves [1]:", "The steps are [1]:\n\n"]
)
def test_an_answer_does_not_end_in_a_line_that_introduces_nothing(head):
    said = said_to(f"Sow maize in late March or April [1].\n{head}")
    assert said.text == "Sow maize in late March or April [1]."
