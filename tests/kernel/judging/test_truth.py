import asyncio
import re
import tomllib
from pathlib import Path

import pytest

from ragstone.kernel.config import read_library
from ragstone.kernel.judging import JudgeContext, judge_answer, load_judge, summarise
from ragstone.kernel.judging._truth_clauses import UNSPACED, folded
from ragstone.kernel.judging.truth import says_true, what_is_said
from ragstone.kernel.records import Answer

FORMS = tomllib.loads((Path(__file__).parent / "truth_forms.toml").read_text(encoding="utf-8"))
WORDS = read_library("ragstone.kernel.judging", "words/truth.toml")
DOCS = Path(__file__).parents[3] / "docs" / "explanation" / "languages.md"


def _each(texts):
    return [text.strip() for text in texts.split("|")]


def _one_clause(lang):
    """Return the affirmations that are one clause and give no reason, without the point at the end."""
    plain = [text.rstrip(" .。।") for text in _each(FORMS[lang]["true"])]
    parts = (*(f" {word} " for word in _each(WORDS[lang]["that"])), *",،，、", *(" " * (lang == "th")))
    return [text for text in plain if not any(part in text for part in parts)]


def test_each_language_that_is_claimed_has_words_a_source_and_forms():
    claimed = DOCS.read_text(encoding="utf-8").split("Replies to a statement are read in ")[1].split(".")[0]
    assert re.findall(r"`(\w+)`", claimed) == list(WORDS) == list(FORMS)
    for lang, words in WORDS.items():
        assert len(words["source"]) > 20, lang
        for said, least in (("true", 10), ("false", 10), ("neither", 8)):
            assert len(set(_each(FORMS[lang][said]))) >= least, (lang, said)


@pytest.mark.parametrize("lang", WORDS)
def test_no_word_both_affirms_and_denies(lang):
    words = {
        name: set(map(folded, _each(WORDS[lang][name]))) for name in ("true", "false", "yes", "no", "not")
    }
    assert words["true"] & (words["false"] | words["no"] | words["not"]) == set()
    assert words["yes"] & (words["false"] | words["no"] | words["not"]) == set()


@pytest.mark.parametrize("lang", FORMS)
def test_affirmations_denials_and_doubts_are_told_apart(lang):
    wrong = [
        (text, said, what_is_said(text))
        for said, texts in FORMS[lang].items()
        for text in _each(texts)
        if what_is_said(text) != said
    ]
    assert wrong == []


@pytest.mark.long
@pytest.mark.parametrize("lang", FORMS)
def test_an_affirmation_with_a_sign_of_negation_is_never_true(lang):
    signs = [*_each(WORDS[lang]["not"]), *_each(WORDS[lang]["no"]), *_each(WORDS[lang]["false"])]
    made = [
        pattern.format(sign, text)
        for text in _one_clause(lang)
        for sign in signs
        for pattern in ("{0} {1}", "{1} {0}", "{0}, {1}", "{1}, {0}", "{1}. {0}.", "{0}. {1}.")
    ]
    assert [text for text in made if says_true(text)] == []


@pytest.mark.long
@pytest.mark.parametrize("lang", FORMS)
def test_an_affirmation_with_a_doubt_or_an_unknown_word_is_never_true(lang):
    doubts = [*_each(WORDS[lang]["maybe"]), "zorblax"]
    made = []
    for text in _one_clause(lang):
        words = list(text) if lang in UNSPACED else text.split()
        joint = "" if lang in UNSPACED else " "
        made += [f"{doubt}{joint}{text}" for doubt in doubts]
        made += [joint.join([*words[:at], "zorblax", *words[at:]]) for at in range(len(words) + 1)]
    assert [text for text in made if says_true(text)] == []


@pytest.mark.parametrize(
    "answer",
    [
        "True",
        "TRUE.",
        "**True**",
        "Yes",
        "The statement is true.",
        "Yes, the passages say so.",
        "It is correct: rust is treated.",
        "Verdadero",
        "Sí.",
        "La afirmación es cierta.",
        "Wahr",
        "Vrai",
        "верно",
        "सही",
        "यह कथन सत्य है।",
        "صحيح",
        "正确。",
        "该说法是真的",
        "对",
        "ถูกต้อง",
        "ข้อความนี้เป็นจริง",
        "Doğru",
        "Đúng",
        "kweli",
    ],
)
def test_answer_says_true(answer):
    assert says_true(answer) is True


@pytest.mark.parametrize(
    "answer",
    [
        "False",
        "false, because the true value is 5",
        "No.",
        "No, it is true of maize only.",
        "That isn't so.",
        "Not true at all.",
        "This is not true.",
        "It isn't correct",
        "Untrue",
        "Falso",
        "No es cierto.",
        "La afirmación no es verdadera",
        "nicht wahr",
        "неверно",
        "गलत",
        "यह सही नहीं है",
        "غير صحيح",
        "خطأ",
        "不正确",
        "错误。",
        "假",
        "ไม่จริง",
        "เท็จ",
        "doğru değil",
        "không đúng",
        "Taarifa hii si kweli",
        "no es del todo cierto",
    ],
)
def test_answer_says_false(answer):
    assert says_true(answer) is False


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "The documents do not answer this question.",
        "It cannot be told whether this is true or false.",
        "There is no evidence for it.",
        "Wheat is sown in October.",
        "Not false.",  # less than true
        "对于小麦",
        "ถูกสร้างขึ้นในปี 1900",
    ],
)
def test_answer_that_says_neither_or_both_says_nothing(answer):
    assert says_true(answer) is None


@pytest.mark.parametrize(
    ("lang", "true", "false", "open_"),
    [
        ("en", "That is true.", "That is not true.", "It may be true."),
        ("de", "Das stimmt.", "Das stimmt nicht.", "Das ist vielleicht wahr."),
        ("fr", "C'est vrai.", "Ce n'est pas vrai.", "C'est peut-être vrai."),
        ("es", "Es cierto.", "Eso no es cierto.", "Tal vez es cierto."),
        ("it", "È vero.", "Non è vero.", "Forse è vero."),
        ("pt", "É verdade.", "Isso não é verdade.", "Talvez seja verdade."),
        ("nl", "Dat klopt.", "Dat is niet waar.", "Misschien is het waar."),
        ("hi", "यह सच है।", "यह सच नहीं है।", "शायद यह सच है।"),
        ("ar", "هذا صحيح.", "هذا ليس صحيحًا.", "ربما هذا صحيح."),
        ("zh", "这是真的。", "这不是真的。", "这可能是真的。"),
        ("sw", "Ni kweli.", "Si kweli.", "Labda ni kweli."),
    ],
)
def test_a_verdict_its_denial_and_a_doubt_are_told_apart(lang, true, false, open_):
    assert [says_true(true), says_true(false), says_true(open_)] == [True, False, None], lang


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("Is it true that rust is treated? No.", False),
        ("¿Es cierto que la roya se trata? Sí.", True),
        ("True?", None),  # asks, and says nothing
        ('The statement "it is not true that rust is treated" is true.', True),
        ("The statement that rust is not treated is true.", None),  # of another statement
        ("Storage that is not correct at 4 °C is true.", None),
        ("Correct storage is at 4 °C. This is false.", False),  # the statement is repeated
        ("Correct storage is at 4 °C.", None),  # and nothing else is said
        ("I don't know if it is true.", None),
        ("The documents do not say that this is true.", None),
        ("It is true of wheat, but the statement is false.", None),
        ("True or false", None),
        ("True/False", None),
        ("Partly true", None),
        ("Far from true.", False),
        ("没有错误。", True),
        ("The correct storage is at 4 °C.", None),
        ("Correct storage is at 8 °C.", None),
        ("1. This is false.", False),  # a number of a list
        ("Rust is treated with copper, which is true.", True),
        ("It would be wrong to say this is true.", None),
        ("Yes, possibly.", None),
        ("Yes. No.", None),
        ('People call this "true".', None),
        ('I would say "True".', True),
        ("The text gives the correct rate as 5 kg. So the statement is false.", False),
    ],
)
def test_what_is_asked_quoted_repeated_or_taken_back_says_nothing(answer, said):
    assert says_true(answer, "Correct storage is at 4 °C.") is said


@pytest.mark.parametrize(
    ("statement", "answer"),
    [
        ("Rust is not treated.", "The statement that rust is not treated is true."),
        ("Wheat does not need much water.", "It is true that wheat does not need much water."),
        ("Weizen braucht nicht viel Wasser.", "Es ist wahr, dass Weizen nicht viel Wasser braucht."),
        ("Le blé n'a pas besoin d'eau.", "C'est vrai que le blé n'a pas besoin d'eau."),
        ("小麦不需要很多水。", "小麦不需要很多水是正确的。"),
    ],
)
def test_a_negation_of_the_statement_itself_denies_nothing(statement, answer):
    assert says_true(answer, statement) is True


def _said(*rows):
    return [
        Answer(question_id=str(n), question="Q.", reference=truth, answer=answer)
        for n, (truth, answer) in enumerate(rows)
    ]


def _judged(judge, answers):
    judgements = asyncio.run(_judgements(load_judge(judge), answers))
    return judgements, summarise(judgements)[0]


async def _judgements(judge, answers):
    return [row for answer in answers for row in await judge_answer(judge, answer, JudgeContext())]


ANSWERS = _said(
    ("true", "That is true."),
    ("true", "This is false."),
    ("false", "That is not true."),  # holds the word true
    ("false", "Falso"),
    ("false", "It is true."),
    ("false", "I cannot tell."),
)


@pytest.mark.parametrize("judge", ["verdict", "containment", "token_f1", "coverage"])
def test_statements_are_counted_by_what_was_said_of_them(judge):
    judgements, summary = _judged(judge, ANSWERS)
    assert [row.score for row in judgements] == [1, 0, 1, 1, 0, 0]  # so accuracy is 3 of 6
    assert summary.estimate.value == 0.5
    assert summary.truth.true == {"true": 1, "false": 1, "neither": 0}
    assert summary.truth.false == {"true": 1, "false": 2, "neither": 1}
    # 3 were called false, 2 of them are; 4 are false, 2 of them were called so
    assert summary.truth.precision_on_false.value == pytest.approx(2 / 3)
    assert summary.truth.recall_on_false.value == 0.5
    assert summary.truth.recall_on_false.low == pytest.approx(0.150, abs=0.001)  # Wilson, 2 of 4


def test_verdict_says_nothing_of_a_question_that_is_no_statement():
    judgements, summary = _judged("verdict", _said(("5 tonnes", "It is true.")))
    assert judgements[0].status == "not_applicable"
    assert summary.truth is None
