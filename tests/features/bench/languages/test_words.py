import msgspec
from tests.features.bench.retrievers.test_words import questions, rankings
from tests.support.surfaces import page_text, shown

from ragstone.features.bench.languages._answering import (
    AnswersOfIndex,
    accuracy_verdicts,
    answering_cost,
    language_overlaps,
    wrong_answers,
)
from ragstone.features.bench.languages._axes import axis_verdicts, shared_of
from ragstone.features.bench.languages._values import ALL, OWN, StatementCounts, StudyArm
from ragstone.features.bench.languages._verdicts import language_cells, language_verdicts
from ragstone.features.bench.languages.words import FailedRetriever, StudySummary, study_document
from ragstone.kernel.document.markdown import render_markdown
from ragstone.kernel.records import Answer, Context
from ragstone.kernel.runs.summary import Calls

SAME = {f"{lang}{n}": f"en{n}" for lang in ("en", "es") for n in range(30)}
LANG_OF = {f"{lang}{n}": lang for lang in ("en", "es") for n in range(30)}


def study(words="What is it?"):
    asked = questions(words)
    indexes = {index: rankings(n, asked) for index, n in (("en", 30), ("es", 60), (ALL, 60))}
    by_id = {question.id: question for question in asked}
    answered = [
        AnswersOfIndex(
            arm=StudyArm(retriever="r", prompt="bare"),
            index=index,
            answers=[
                Answer(
                    question_id=q.id,
                    system=index,
                    answer=words,
                    contexts=[Context(text="", document_id=q.document_ids[0])],
                )
                for q in asked
            ],
            right={q.id: at >= n_wrong for at, q in enumerate(asked)},
        )
        for index, n_wrong in ((OWN, 3), (ALL, 1))
    ]
    wrong = wrong_answers((answered[0], answered[1]), by_id, SAME, LANG_OF)
    return StudySummary(
        name=words,
        version="0.1.0",
        langs=["en", "es"],
        k=5,
        documents={"en": 30, "es": 30},
        questions={"en": 30, "es": 30},
        models={"answer": "openai/fake"},
        cells=language_cells("r", indexes, asked, 5, SAME, LANG_OF),
        verdicts=language_verdicts({"r": indexes}, asked, 5, SAME),
        failed=[FailedRetriever(retriever="down", reason=words)],
        accuracy=accuracy_verdicts(answered, asked, SAME),
        axes=axis_verdicts(
            [({"prompt": name}, answered[0].right) for name in ("bare", "mine")],
            shared_of(asked, SAME),
            "accuracy",
        ),
        overlaps=language_overlaps(answered, asked, SAME),
        costs=[answering_cost(one, by_id) for one in answered],
        statements=[
            StatementCounts(
                retriever="r", lang="ko", index=OWN, n_true=11, n_false=7, n_neither=2, n_right=15
            )
        ],
        wrong=wrong,
        n_wrong=len(wrong),
        unanswered=None,
        calls=Calls(made=3),
        notes=[words],
    )


def test_study_shows_both_answers_matrices_and_wrong_answers(says):
    # From the own index 30 of 30 English and all Spanish questions are found, as from that of all. Three
    # are wrong from the own index, the first of them from that of all too, whose document both were given.
    says(render_markdown(study_document(study())))


def test_page_and_terminal_count_what_was_said_of_statements():
    [header] = [line for line in shown(study_document(study())).splitlines() if "neither  accuracy" in line]
    assert header.split() == ["statements", "index", "true", "false", "neither", "accuracy", "n"]
    [row] = [line for line in shown(study_document(study())).splitlines() if line.startswith("r  ko")]
    assert row.split()[-5:] == ["11", "7", "2", "0.75", "20"]  # 15 of 20 are right


def test_study_without_a_model_says_so():
    alone = msgspec.structs.replace(
        study(),
        accuracy=[],
        axes=[],
        overlaps=[],
        costs=[],
        wrong=[],
        n_wrong=0,
        unanswered="No model answered: name one.",
    )
    assert alone.unanswered in page_text(study_document(alone))
    assert alone.unanswered in shown(study_document(alone))


def test_terminal_shows_the_study_in_100_columns(says):
    says("\n".join(map(str.rstrip, shown(study_document(study())).splitlines())))
