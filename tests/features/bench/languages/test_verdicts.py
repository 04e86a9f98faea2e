import msgspec
import pytest
from tests.support.plain_rows import judgement_row

from ragstone.features.bench.languages._answering import (
    AnswersOfIndex,
    accuracy_verdicts,
    answering_cost,
    is_right,
    language_overlaps,
    reference_truth,
    statement_counts,
    wrong_answers,
)
from ragstone.features.bench.languages._axes import axis_verdicts, shared_of
from ragstone.features.bench.languages._values import ALL, OWN, StudyArm
from ragstone.features.bench.languages._verdicts import language_cells, language_verdicts
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Answer, Context, Question, Ranking, RankingItem

LANGS = ("en", "es")
N = 40
QUESTIONS = [
    Question(id=f"{lang}-q{n}", question=f"{n}?", document_ids=[f"{lang}-d{n}"], lang=lang)
    for lang in LANGS
    for n in range(N)
]
SAME = {f"{lang}-d{n}": f"en-d{n}" for lang in LANGS for n in range(N)}
LANG_OF = {f"{lang}-d{n}": lang for lang in LANGS for n in range(N)}


def ranking(question, *documents):
    items = [RankingItem(document_id=name, score=1 / place) for place, name in enumerate(documents, 1)]
    return Ranking(question_id=question.id, retriever="r", items=items)


def number_of(question):
    return question.id.partition("-q")[2]


def rankings(index, found):
    """Return rankings in which a question finds its document (in the index's language) if `found` says so."""
    return [
        ranking(question, f"{index}-d{number_of(question)}" if found(question) else f"{index}-wrong")
        for question in QUESTIONS
    ]


def verdicts(indexes):
    return {one.lang: one for one in language_verdicts({"r": indexes}, QUESTIONS, 5, SAME)}


def test_copy_in_another_language_is_as_right_as_the_document():
    indexes = {"es": rankings("es", lambda question: True)}
    cells = {cell.lang: cell for cell in language_cells("r", indexes, QUESTIONS, 5, SAME, LANG_OF)}
    assert cells["en"].measures["recall@1"].value == 1.0
    assert set(cells["en"].measures) == {"recall@1", "recall@5", "mrr"}
    assert cells["en"].n_questions == N


def test_question_whose_document_has_no_copy_in_an_index_is_counted():
    lang_of = {name: lang for name, lang in LANG_OF.items() if name != "es-d0"}
    indexes = {"es": rankings("es", lambda question: number_of(question) != "0")}
    [en, es] = language_cells("r", indexes, QUESTIONS, 5, SAME, lang_of)
    assert (en.n_absent, es.n_absent) == (1, 1)
    assert en.measures["recall@1"].value == (N - 1) / N


def test_index_of_all_that_finds_the_same_cannot_be_told_from_the_own():
    half = {"en": rankings("en", lambda q: int(number_of(q)) < 20), "es": rankings("es", lambda q: True)}
    found = verdicts({**half, ALL: rankings("en", lambda q: q.lang == "es" or int(number_of(q)) < 20)})
    assert {one.comparison.verdict for one in found.values()} == {"cannot tell"}
    assert (found["en"].own.value, found["en"].together.value) == (0.5, 0.5)
    assert found[ALL].comparison.n == 2 * N


def test_index_of_all_that_finds_much_more_is_better_and_much_less_is_worse():
    own = {"en": rankings("en", lambda q: int(number_of(q)) < 10), "es": rankings("es", lambda q: True)}
    found = verdicts({**own, ALL: rankings("en", lambda q: q.lang == "en")})
    assert found["en"].comparison.verdict == "better"
    assert found["es"].comparison.verdict == "worse"
    assert found["en"].comparison.first == ALL
    assert found["en"].comparison.difference.value == pytest.approx(30 / N)


def test_own_ranking_of_a_question_is_that_of_its_language():
    own = {"en": rankings("en", lambda q: q.lang == "en"), "es": rankings("es", lambda q: q.lang == "es")}
    found = verdicts({**own, ALL: rankings("en", lambda q: False)})
    assert found["en"].own.value == found["es"].own.value == 1.0


def test_holm_is_over_all_verdicts_of_all_retrievers():
    # English: 6 questions are found by the index of all alone, none the other way: with values of 0 and 1
    # and no shared document within a language McNemar's p is 2 / 2**6 = 0.03125. With Spanish and both
    # languages, and two retrievers, there are 6 verdicts.
    own = {"en": rankings("en", lambda q: int(number_of(q)) >= 6), "es": rankings("es", lambda q: True)}
    indexes = {**own, ALL: rankings("en", lambda q: True)}
    one = language_verdicts({"r": indexes}, QUESTIONS, 5, SAME)
    two = language_verdicts({"r": indexes, "s": indexes}, QUESTIONS, 5, SAME)
    english = {len(many): next(v for v in many if v.lang == "en") for many in (one, two)}
    assert english[3].comparison.p == english[6].comparison.p == pytest.approx(2 / 2**6)
    assert english[3].comparison.p_holm >= 2 * 2 / 2**6
    assert english[6].comparison.p_holm > english[3].comparison.p_holm
    assert english[6].comparison.family == 6
    assert english[6].comparison.verdict == "cannot tell"


def test_question_in_a_language_without_an_index_is_left_out_of_the_verdicts():
    stranger = Question(id="de-q0", question="0?", document_ids=["en-d0"], lang="de")
    indexes = {
        "en": [*rankings("en", lambda q: True), ranking(stranger, "en-d0")],
        "es": [*rankings("es", lambda q: True), ranking(stranger, "es-d0")],
    }
    found = language_verdicts({"r": {**indexes, ALL: indexes["en"]}}, [*QUESTIONS, stranger], 5, SAME)
    assert {one.lang: one.comparison.n for one in found} == {"en": N, "es": N, ALL: 2 * N}


def question(reference="True", kind="true_false", **fields):
    return Question(id="q", question="Wheat is a crop.", reference=reference, kind=kind, **fields)


def answer(text, *, question_id="q", error=None, cost=None, documents=()):
    contexts = [Context(text="", document_id=name) for name in documents]
    return Answer(
        question_id=question_id, system="s", answer=text, error=error, cost_usd=cost, contexts=contexts
    )


def judgement(score):
    return judgement_row(judge="containment", metric="containment", model="none", score=score)


@pytest.mark.parametrize(
    ("reference", "said", "right"),
    [
        ("True", "true.", True),
        ("True", "Verdadero", True),
        ("False", "गलत", True),
        ("Falso", "The statement is false", True),
        ("True", "No", False),
        ("True", "The documents do not answer this question.", False),
    ],
)
def test_true_false_answer_is_right_if_it_says_the_same_in_whatever_words(reference, said, right):
    assert is_right(question(reference), answer(said), judgement(0.0)) is right


def test_other_answers_are_right_as_containment_says_and_failures_are_neither():
    assert is_right(question("42", "open"), answer("It is 42."), judgement(1.0)) is True
    assert is_right(question("42", "open"), answer("It is 41."), judgement(0.0)) is False
    assert is_right(question("42", "open"), answer("", error="HTTP 503"), None) is None
    assert is_right(question(None, "open"), answer("42"), None) is None
    assert is_right(question("True"), answer("", error="timeout"), None) is None


def test_reference_that_is_neither_true_nor_false_is_refused(says):
    assert reference_truth(question(["True", "Yes"])) is True
    with pytest.raises(DataError) as error:
        reference_truth(question("perhaps"))
    says(error.value)


def answered(index, right, **axes):
    names = [q.id for q in QUESTIONS]
    return AnswersOfIndex(
        arm=StudyArm(retriever="r", **axes),
        index=index,
        answers=[answer("x", question_id=name) for name in names],
        right={name: right(at) for at, name in enumerate(names)},
    )


def test_accuracy_is_compared_by_mcnemar_on_questions_that_both_have_a_score_of():
    # English: 8 questions are right with all languages alone, one with the own alone: McNemar's p is
    # 2 * (C(9, 0) + C(9, 1)) / 2**9 = 20 / 512.
    own = answered(OWN, lambda at: at >= 8)
    together = answered(ALL, lambda at: at != 30)
    del together.right[QUESTIONS[-1].id]
    found = {one.lang: one for one in accuracy_verdicts([own, together], QUESTIONS, SAME)}
    assert found["en"].comparison.test == "McNemar"
    assert found["en"].comparison.p == pytest.approx(20 / 512)
    assert found["en"].own.value == 32 / 40
    assert found["en"].together.value == 39 / 40
    assert found["es"].comparison.n == N - 1


def test_overlap_of_errors_is_by_language_and_in_all():
    # English: the own index is wrong on the first 8, that of all on the last 4 of these and on 2 others.
    own = answered(OWN, lambda at: at >= 8)
    together = answered(ALL, lambda at: not (4 <= at < 8 or at in (20, 21)))
    del together.right[QUESTIONS[-1].id]
    found = {one.lang: one.overlap for one in language_overlaps([own, together], QUESTIONS, SAME)}
    english = found["en"]
    assert (english.n, english.n_only_a, english.n_both, english.n_only_b) == (N, 4, 4, 2)
    assert (found["es"].n, found["es"].n_only_a + found["es"].n_both + found["es"].n_only_b) == (N - 1, 0)
    assert (found[ALL].n, found[ALL].n_both) == (2 * N - 1, 4)


def test_prompts_and_temperatures_are_compared_with_the_first_of_each():
    # The prompt `mine` is right on 20 of 80 questions less than `first`, at either temperature, from either
    # index; temperatures change nothing. English and Spanish questions of a number share their document.
    names = [q.id for q in QUESTIONS]
    cells = [
        (
            {"prompt": prompt, "temperature": temperature},
            {name: float(prompt == "first" or at >= 20) for at, name in enumerate(names)},
        )
        for prompt in ("first", "mine")
        for temperature in ("0", "0.1")
        for _index in (OWN, ALL)
    ]
    shared = shared_of(QUESTIONS, SAME)
    prompt, temperature = axis_verdicts(cells, shared, "accuracy")
    assert (prompt.axis, prompt.value, prompt.against) == ("prompt", "mine", "first")
    assert (prompt.mean.value, prompt.baseline.value) == (60 / 80, 1.0)
    assert (prompt.comparison.difference.value, prompt.comparison.verdict) == (-0.25, "worse")
    assert (temperature.value, temperature.against) == ("0.1", "0")
    assert temperature.comparison.verdict == "cannot tell"
    assert axis_verdicts(cells[:2], shared, "accuracy") == []  # one prompt, one temperature
    assert axis_verdicts([({}, cells[0][1])], shared, "accuracy") == []
    # A cell that lacks the axis, as BM25 lacks a similarity, counts nowhere, nor do questions that one lacks.
    some = [
        ({"similarity": one}, {"en-q0": 1.0, **extra}) for one, extra in (("dot", {}), ("l2", {"en-q1": 0.0}))
    ]
    [found] = axis_verdicts([*some, ({}, {"en-q0": 0.0})], shared, "mrr")
    assert (found.comparison.n, found.mean.value) == (1, 1.0)


def test_wrong_answer_stands_beside_that_of_the_other_index_with_the_documents_of_both():
    own, together = (
        AnswersOfIndex(
            arm=StudyArm(retriever="r"),
            index=index,
            answers=[
                answer(said, question_id="en-q3", documents=documents),
                answer("right", question_id="en-q4", documents=documents),
            ],
            right={"en-q3": index == OWN, "en-q4": True},
        )
        for index, said, documents in (
            (OWN, "42", ("en-d3",)),
            (ALL, "41", ("es-d9", "es-d3", "elsewhere")),
        )
    )
    [row] = wrong_answers((own, together), {q.id: q for q in QUESTIONS}, SAME, LANG_OF)
    assert [(d.place, d.document_id, d.lang, d.copy) for d in row.together.documents] == [
        (1, "es-d9", "es", False),
        (2, "es-d3", "es", True),
        (3, "elsewhere", None, False),
    ]
    assert (row.own.answer, row.own.right, row.own.found) == ("42", True, True)
    assert (row.together.answer, row.together.right, row.together.found) == ("41", False, True)


def test_statements_are_counted_by_what_each_index_says_of_them_in_each_language():
    asked = {
        name: msgspec.structs.replace(question(), id=name, lang=lang, kind=kind, reference=reference)
        for name, lang, kind, reference in (
            ("1", "en", "true_false", "true"),
            ("2", "en", "true_false", "false"),
            ("3", "ko", "true_false", "false"),
            ("4", "ko", "true_false", "false"),
            ("5", "en", "open", "42"),  # is no statement
            ("6", "ko", "true_false", "true"),  # its call failed
        )
    }
    said = {
        "1": "True",
        "2": "It is hardly true",
        "3": "사실이 아닙니다.",
        "4": "사실입니다.",
        "5": "42",
        "6": "",
    }
    answers = [msgspec.structs.replace(answer(text, question_id=name)) for name, text in said.items()]
    right = {"1": True, "2": False, "3": True, "4": False, "5": True}
    one = AnswersOfIndex(arm=StudyArm(retriever="r"), index=OWN, answers=answers, right=right)
    assert {
        row.lang: (row.n_true, row.n_false, row.n_neither, row.n_right)
        for row in statement_counts([one], asked)
    } == {
        "en": (1, 0, 1, 1),
        "ko": (1, 1, 0, 1),
        ALL: (2, 1, 1, 2),
    }


def test_cost_of_answers_is_unknown_where_one_is_and_failures_cost_nothing():
    asked = {"q": question()}

    def cost(*answers):
        return answering_cost(
            AnswersOfIndex(arm=StudyArm(retriever="r"), index=OWN, answers=list(answers), right={}), asked
        )

    assert cost(answer("True", cost=0.5), answer("Hm", cost=0.25)).usd == 0.75
    assert cost(answer("True", cost=0.5), answer("Hm", cost=0.25)).n_neither == 1
    assert cost(answer("True", cost=0.5), answer("", error="x")).usd == 0.5
    assert cost(answer("True", cost=0.5), answer("True")).usd is None
