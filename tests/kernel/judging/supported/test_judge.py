"""Kind `supported`: the verdicts, and what is said of what is missing."""

import asyncio
import math
from pathlib import Path

import pytest

from ragstone.kernel.errors import ConfigError
from ragstone.kernel.judging import JudgeContext, judge_answer, load_judge, parse_judge
from ragstone.kernel.judging.supported.judge import SupportedJudge, compared_sentences
from ragstone.kernel.records import Answer, Context, Judgement

MONTHS = ("March", "April", "June", "July", "August", "October")
GUIDE = "Farmers in Uganda sow 20 kg of wheat per hectare. The seed is treated before sowing in October."


def judged(answer: str, *contexts: str) -> Judgement:
    row = Answer(question_id="q", answer=answer, contexts=[Context(text=text) for text in contexts])
    [judgement] = asyncio.run(judge_answer(load_judge("supported"), row, JudgeContext()))
    return judgement


def reasons(judgement: Judgement) -> list[str | None]:
    return [verdict.reason for verdict in judgement.verdicts or []]


def test_another_number_and_another_name_are_named(says):
    right = judged("Farmers in Uganda sow 20 kg of wheat per hectare.", GUIDE)
    wrong = judged("Farmers in Kenya sow 30 kg of wheat per hectare.", GUIDE)
    assert right.score is not None
    assert right.score > 0.9
    assert reasons(right) == [None]
    assert wrong.score is not None
    assert wrong.score < 0.3
    says("\n".join(reasons(wrong)))


def test_one_wrong_sentence_makes_an_answer_unsupported_and_the_others_stay(says):
    judgement = judged("The seed is treated before sowing. Farmers sow 35 kg of wheat.", GUIDE)
    verdicts = judgement.verdicts or []
    assert [verdict.supported for verdict in verdicts] == [True, False]
    assert verdicts[0].context == 1
    assert verdicts[1].context is None
    says(judgement.rationale)


def test_the_score_is_the_product_of_the_probabilities_of_its_sentences():
    judgement = judged("The seed is treated before sowing. Ploughs are painted red.", GUIDE)
    scores = [verdict.score or 0.0 for verdict in judgement.verdicts or []]
    assert judgement.score == pytest.approx(math.prod(scores), abs=1e-5)


def test_probabilities_worked_by_hand():
    # Nothing is missing: p = 1 - exp(-ln(1 + exp(-1))) = 0.2689; a wrong number adds 2 to -ln(1 - p).
    judge = load_judge("supported")
    assert isinstance(judge, SupportedJudge)
    text = 'weights = {}\nalone = {numbers = 2}\nintercept = -1\nin_records = -1\nsource = "own"'
    head = 'name = "s"\nversion = 1\nkind = "supported"\ninputs = ["answer", "contexts"]\nscale = [0, 1]\n'
    plain = parse_judge(f"{head}{text}", Path("s.toml"))
    for answer, expected in (("We sow 20 kg.", 0.7311), ("We sow 21 kg.", 0.7311 * math.exp(-2))):
        row = Answer(question_id="q", answer=answer, contexts=[Context(text="We sow 20 kg.")])
        [judgement] = asyncio.run(judge_answer(plain, row, JudgeContext()))
        assert judgement.score == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "I'm sorry, but the documents do not say that.",
        "Hello!",
        "Thank you. Let me know if you have other questions.",
        "Which crop do you grow?",
        "Ich hoffe, das hilft!",
        "धन्यवाद।",
        "如果您有其他问题，请告诉我。",
    ],
)
def test_an_answer_that_claims_nothing_is_not_applicable(answer):
    assert judged(answer, GUIDE).status == "not_applicable"


def test_a_refusal_beside_a_claim_is_passed_over():
    judgement = judged("The seed is treated before sowing. The documents do not say how long.", GUIDE)
    assert [verdict.statement for verdict in judgement.verdicts or []] == [
        "The seed is treated before sowing."
    ]


def test_thanks_that_claim_something_are_judged():
    assert len(compared("Thanks to the treated seed, farmers in Uganda harvest more wheat.")) == 1


def compared(answer: str) -> list[str]:
    row = Answer(question_id="q", answer=answer, contexts=[Context(text=GUIDE)])
    return [one.sentence for one in compared_sentences(row)]


def test_short_answers_are_sentences():
    assert (judged("Uganda.", GUIDE).score or 0) > 0.9
    assert (judged("Tanzania.", GUIDE).score or 1) < 0.5


def test_without_contexts_nothing_is_supported(says):
    judgement = judged("The seed is treated before sowing.", " ")
    assert judgement.score == 0
    says("\n".join(reasons(judgement)))


def test_words_of_the_contexts_put_together_wrongly_are_said_to_be_apart(says):
    parts = [
        f"{noun} {verb} in {month}."
        for noun, verb, month in zip(
            ("Wheat", "Sorghum", "Cassava", "Clover"),
            ("ripens", "flowers", "germinates", "withers"),
            ("March", "June", "August", "December"),
            strict=True,
        )
    ]
    filler = " The weather differs from year to year. Rain comes late."
    judgement = judged(
        "Clover ripens, flowers and germinates in August March.", *[part + filler for part in parts]
    )
    says("\n".join(reasons(judgement)))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("weights = {word = 1}", "weights.word is not measured. Did you mean 'words'?"),
        ("weights = {words = -1}", "weights.words = -1: give 0 or more"),
        ("weights = {numbers = 1}", "weights.numbers is not measured"),
        ("alone = {numbers = inf}", "alone.numbers = inf: give 0 or more"),
        ("intercept = nan", "intercept and in_records are finite numbers"),
        ("flagged = 1", "threshold and flagged are probabilities"),
    ],
)
def test_a_file_with_a_wrong_number_names_the_key(line, said):
    keys = {
        "name": '"s"',
        "version": "1",
        "kind": '"supported"',
        "inputs": '["answer", "contexts"]',
        "scale": "[0, 1]",
        "source": '"own"',
        "weights": "{words = 1}",
        "alone": "{}",
        "intercept": "-1",
        "in_records": "-1",
    }
    key, _, value = line.partition(" = ")
    keys[key] = value
    with pytest.raises(ConfigError) as error:
        parse_judge("\n".join(f"{name} = {text}" for name, text in keys.items()), Path("s.toml"))
    assert said in str(error.value)


def test_a_negation_is_not_seen():
    """docs/decisions/0099 says so; a judge that sees it may say so there."""
    assert (judged("The seed is not treated before sowing.", GUIDE).score or 0) > 0.9


def test_sentences_that_are_doubtful_together_are_said_to_be_so():
    # Nothing is missing: p = 0.1192 of each, and 0.8808 ** 5 = 0.53, ** 6 = 0.47; the threshold is 0.5.
    text = 'weights = {}\nalone = {}\nintercept = -2\nin_records = -2\nsource = "own"'
    head = 'name = "s"\nversion = 1\nkind = "supported"\ninputs = ["answer", "contexts"]\nscale = [0, 1]\n'
    judge = parse_judge(f"{head}{text}", Path("s.toml"))
    for n, ending in ((5, "called unsupported"), (6, "but one of all of them may well be")):
        said = " ".join(f"Farmers sow the wheat in {month}." for month in MONTHS[:n])
        row = Answer(question_id="q", answer=said, contexts=[Context(text=said)])
        [judgement] = asyncio.run(judge_answer(judge, row, JudgeContext()))
        assert (judgement.rationale or "").endswith(ending)
