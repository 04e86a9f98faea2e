import msgspec
import pytest
from rich.cells import cell_len
from tests.support.surfaces import shown as surface
from tests.support.tiny_run import WriteRun

from ragstone.features.report.page import write_report
from ragstone.features.retrieve.words import remarks, retrieval_document
from ragstone.kernel.records import Evidence, Question, Ranking, RankingItem
from ragstone.kernel.retrieval.evaluate import evaluate_rankings
from ragstone.kernel.retrieval.summary import RetrievalSummary


def shown(row: RetrievalSummary) -> str:
    return surface(retrieval_document(row), 80)


def words(row: RetrievalSummary) -> str:
    return " ".join(shown(row).split())


def summary_of(n: int = 240, batch: int = 110, **changes: object) -> RetrievalSummary:
    """Return a summary of n questions, every third found first, every fourth with evidence."""
    questions = [
        Question(
            id=f"q{at}",
            question="?",
            document_ids=[f"d{at}"],
            lang="en" if at % 2 else "hi",
            tags={"crop": "maize" if at % 3 else "winter wheat"},
            evidence=[Evidence(document_id=f"d{at}", start=5, end=15)] if at % 4 == 0 else None,
        )
        for at in range(n)
    ]
    rankings = []
    for at in range(n):
        documents = [f"x{place}" for place in range(5)]
        documents[0 if at % 3 == 0 else 3] = f"d{at}"
        items = [
            RankingItem(document_id=name, score=1.0 / place, start=0, end=10)
            for place, name in enumerate(documents, 1)
        ]
        rankings.append(Ranking(question_id=f"q{at}", retriever="bm25", items=items))
    return msgspec.structs.replace(evaluate_rankings(rankings, questions, batch=batch), **changes)


def test_measures_groups_and_batches_are_shown_in_eighty_columns():
    text, told = shown(summary_of()), words(summary_of())
    assert max(map(cell_len, text.splitlines())) <= 80
    assert "bm25, measured on 240 questions" in told
    # A third of the questions have theirs in place 1, the others in place 4.
    assert "recall@1 0.33 0.28 to 0.40" in told
    assert "mrr 0.50" in told
    # d[0:10] of the evidence d[5:15]: half of it; 60 questions have some.
    assert "span_recall@5 0.50 no interval of 60 questions" in told
    assert "First relevant document at rank 1: 80, 4: 160." in told
    assert "By language n hit@1 recall@5 mrr en 120 0.33 0.26 to 0.42" in told
    assert "By crop n" in told
    assert "winter wheat 80 1.00 0.95 to 1.00" in told


def test_batches_take_one_line_and_need_two():
    # Every third question is found first: of 0 to 109 these are 0, 3, ..., 108, which are 37 of 110; of
    # 110 to 219 they are 111, 114, ..., 219, which are 37 too.
    assert "2 batches of 110 questions, lowest / median / highest: hit@1 0.34 / 0.34 / 0.34;" in words(
        summary_of()
    )
    assert "batches" not in words(summary_of(150))


def test_what_is_absent_is_not_shown():
    questions = [Question(id="q", question="?", document_ids=["a"])]
    rankings = [
        Ranking(
            question_id="q", retriever="r", items=[RankingItem(document_id="a", score=1.0, start=0, end=2)]
        )
    ]
    row = evaluate_rankings(rankings, questions)
    text = words(row)
    for absent in ("By ", "batch", "same score", "characters", "span", "Indexed", "searched"):
        assert absent not in text
    assert remarks(row) == []


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"n_tied": 2}, "In 2 questions a relevant document has the same score as another one"),
        ({"n_unplaced": 1}, "Not measured by characters: 1 question, because the evidence lies outside"),
        ({"index_s": 0.412, "search_s": 31.0}, "Indexed in 0.41 s, searched in 31.0 s."),
        ({"search_s": 1.5}, "Searched in 1.50 s."),
    ],
)
def test_what_a_reader_must_know_is_said(changes, told):
    assert told in words(summary_of(**changes))


def test_of_many_values_those_with_most_questions_are_shown(says):
    questions = [
        Question(id=f"q{at}", question="?", document_ids=["a"], tags={"month": f"m{at % 30:02}"})
        for at in range(40)
    ]
    rankings = [
        Ranking(question_id=q.id, retriever="r", items=[RankingItem(document_id="a", score=1.0)])
        for q in questions
    ]
    text = words(evaluate_rankings(rankings, questions))
    assert "m00 2" in text  # m00 to m09 have two questions, the others one
    assert "m19 1" in text
    assert "m20" not in text
    says(text)


def test_a_group_of_all_questions_is_not_shown():
    row = summary_of(3)
    everything = msgspec.structs.replace(row.by_lang["hi"], n_questions=3)
    text = words(msgspec.structs.replace(row, by_lang={"hi": everything}, by_tag={"crop": row.by_lang}))
    assert "By language" not in text
    assert "By crop" in text


def test_names_from_outside_are_shown_as_they_are_and_fold():
    row = summary_of(3)
    odd = msgspec.structs.replace(row, by_tag={"[b]" + "t" * 50: {"水" * 60: row.by_lang["hi"]}}, by_lang={})
    text = shown(odd)
    assert max(map(cell_len, text.splitlines())) <= 80
    assert "[b]" in text
    assert text.count("水") == 60


def test_the_page_shows_groups_and_remarks(write_run: WriteRun, summary):
    row = summary_of(n_tied=2, by_tag={"<crop>": summary_of().by_lang})
    page = write_report(write_run(summary=msgspec.structs.replace(summary, retrieval=[row]))).read_text()
    assert "By language" in page
    assert "By &lt;crop&gt;" in page
    assert "In 2 questions a relevant document has the same score" in page
    assert "of 60 questions" in page
