from importlib.resources import files

import pytest

import ragstone
from ragstone.kernel.config import read_library
from ragstone.kernel.judging import JudgeContext, judge_answer, load_judge
from ragstone.kernel.judging.lexical import no_refusal
from ragstone.kernel.judging.refusals import SENTENCE
from ragstone.kernel.records import Answer

LISTED = read_library("ragstone.kernel.judging", "words/refusals.toml")
DOCUMENTS = files("ragstone") / "features" / "new" / "starter_files" / "documents.jsonl"
TEN = {"ar", "de", "en", "es", "hi", "ru", "th", "tr", "vi", "zh"}


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("I don't know.", 0.0),
        ("I don’t know.", 0.0),  # a typographic apostrophe
        ("Sorry, I cannot, on this evidence, answer that.", 0.0),  # up to eight words in between
        ("Ich kann diese Frage leider nicht beantworten.", 0.0),
        ("这个问题我无法回答。", 0.0),
        ("ฉันไม่ทราบคำตอบ", 0.0),
        ("", 0.0),
        ("???", 0.0),
        ("In 1912.", 1.0),
        ("The knot is unknotted.", 1.0),  # whole words only
        ("1912年", 1.0),
        # A phrase far down is no refusal: 31 words come before it.
        ("Wheat " * 31 + "and the guide does not mention barley.", 1.0),
        ("Wheat " * 20 + "and the guide does not mention barley.", 0.0),
    ],
)
def test_no_refusal_by_hand(answer, score):
    assert no_refusal(answer) == score


def test_every_phrase_of_the_list_is_found_alone_and_in_a_sentence():
    for table in LISTED.values():
        for phrase in table["phrases"]:
            said = phrase.replace(" * ", " 7 ").replace("*", "")
            by = table.get("speakers", [""])[0].replace("*", "")
            assert no_refusal(said) == no_refusal(f"2025 2026 2027: {by} {said} (7).") == 0.0, phrase


def test_ten_languages_have_negations_near_matters_in_either_order():
    assert {lang for lang, table in LISTED.items() if "matters" in table} == TEN
    for lang in TEN:
        for negation in LISTED[lang]["negations"]:
            # a stem such as "*miyor" stands for a whole word
            no, known = negation.replace("*", "xx"), LISTED[lang]["matters"][0].replace("*", "")
            assert no_refusal(f"{no} 7 {known}") == no_refusal(f"{known} 7 {no}") == 0.0, (lang, negation)


@pytest.mark.parametrize(
    "answer",
    [
        "It is taken off the payment and never asked for in cash.\n\nThe answer is: in November.",
        "The keeper may not own land below the weir. The answer is 2.",
    ],
)
def test_what_is_denied_in_one_sentence_says_nothing_of_the_next(answer):
    assert no_refusal(answer) == 1.0


@pytest.mark.parametrize(
    "answer",
    [
        # Sentences of the demo that were once taken for refusals.
        "Irrigators save water by using data and feel confident that they get yields without extra water.",
        "Check for proper operation by making sure there is not any water squirting from the regulators.",
        "Replace the wafers on a regular basis, so if you don't have any on hand, check with your supplier.",
        "When regulators stop functioning properly, they no longer provide the desired outlet pressure.",
        "It is impossible to sustain a large population through agriculture given the poor soil there.",
        "Wer die Daten der letzten Jahre nicht gesammelt hat, sollte sich jetzt etwas Zeit nehmen.",
        "El agua llega a la parcela sin que el regador abra la compuerta, incluidos los días de fiesta.",
        "If you are unable to visit us in person on one of the days, the form can be sent by post as well.",
        # What a service says of itself, in words that a refusal has too.
        "Our shop remains open until 8 pm.",
        "We offer no refunds after 30 days.",
        "Call us if you see any damage on the leaves.",
        "Leider liegt der Preis bei 30 Euro.",
        "Wir passen den Preis jedes Jahr an.",
        "Stickstoff fehlt.",
        "Nuestra tienda no está abierta los domingos.",
        "Не хватает азота.",
        "Ücretsiz bilgi almak için bizi arayın.",  # -siz: without; bilgi: information
        "Không thể uống.",
        "他不在北京。",
    ],
)
def test_an_ordinary_sentence_with_a_negation_is_no_refusal(answer):
    assert no_refusal(answer) == 1.0


def test_few_sentences_of_documents_are_taken_for_refusals():
    texts = [row.text for row in ragstone.read_rows(DOCUMENTS, ragstone.Document)]
    sentences = [sentence for text in texts for sentence in SENTENCE.split(text) if len(sentence.split()) > 3]
    alarms = [sentence for sentence in sentences if no_refusal(sentence) == 0]
    assert len(sentences) > 300
    assert len(alarms) <= 0.01 * len(sentences), alarms


def test_a_sentence_refuses_only_where_somebody_speaks_or_a_source_is_silent():
    assert no_refusal("Nothing is known to this day of how the old bridge over the river came down.") == 1.0
    assert no_refusal("I know nothing of how the old bridge over the river came down in that year.") == 0.0
    assert no_refusal("The year in which the old bridge over the river came down is not mentioned.") == 0.0


def test_a_refusal_may_come_after_a_sentence():
    assert no_refusal("Thank you for asking. The documents do not answer this question.") == 0.0


def test_a_negation_far_from_what_it_could_deny_is_no_refusal():
    assert no_refusal("No 1 2 3 4 5 6 7 8 answer") == 0.0  # eight words in between
    assert no_refusal("No 1 2 3 4 5 6 7 8 9 answer") == 1.0


async def test_the_baseline_of_answered_reads_the_answer_alone():
    judge = load_judge("no_refusal")
    [row] = await judge_answer(judge, Answer(question_id="q", answer="No idea, sorry."), JudgeContext())
    assert (row.status, row.score, row.metric, row.model) == ("scored", 0.0, "answered", "none")
