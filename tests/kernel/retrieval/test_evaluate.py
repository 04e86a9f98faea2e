import msgspec
import numpy as np
import pytest
from tests.kernel.retrieval.ranked import question, ranking, tied_ranking

from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Document, Evidence, Question, Ranking, RankingItem
from ragstone.kernel.retrieval.evaluate import evaluate_rankings, summarise_queries
from ragstone.kernel.retrieval.query_measures import measure_queries
from ragstone.kernel.retrieval.relevance import missing_documents
from ragstone.kernel.retrieval.summary import RetrievalSummary
from ragstone.kernel.statistics import wilson_interval


def test_the_means_are_those_of_the_questions():
    rankings = [ranking("q1", "a", "b", "c"), ranking("q2", "b", "a", "c"), ranking("q3", "c", "b", "x")]
    questions = [question("q1", "a"), question("q2", "c"), question("q3", "z")]
    summary = evaluate_rankings(rankings, questions)
    values = {name: estimate.value for name, estimate in summary.measures.items()}
    # First relevant document in place 1, place 3, absent.
    assert values["recall@1"] == pytest.approx(1 / 3)
    assert values["recall@3"] == values["hit@3"] == pytest.approx(2 / 3)
    assert values["mrr"] == pytest.approx((1 + 1 / 3 + 0) / 3)
    assert values["ndcg@3"] == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert summary.rank_histogram == {"1": 1, "2": 0, "3": 1, "absent": 1}
    assert (summary.retriever, summary.depth, summary.n_questions) == ("bm25", 3, 3)
    assert all(estimate.n == 3 for estimate in summary.measures.values())


def test_a_k_beyond_the_depth_is_not_reported():
    summary = evaluate_rankings([ranking("q", "a", "b", "c")], [question("q", "a")], ks=(10, 3, 1, 3))
    names = [f"{name}@{k}" for name in ("recall", "precision", "hit", "ndcg") for k in (1, 3)]
    assert list(summary.measures) == [*names, "mrr", "map"]


def test_rank_score_needs_five_places():
    summary = evaluate_rankings([ranking("q", *"abcde")], [question("q", "b")], ks=())
    assert {name: estimate.value for name, estimate in summary.measures.items()} == {
        "mrr": 0.5,
        "map": 0.5,
        "rank_score@5": 0.8,
    }


def test_who_is_left_out_is_counted():
    questions = [
        question("labelled", "a"),
        question("unlabelled"),
        question("unanswerable", "a", answerable=False),
        question("unranked", "a"),
    ]
    rankings = [ranking(name, "a") for name in ("labelled", "unlabelled", "unanswerable")]
    summary = evaluate_rankings(rankings, questions)
    assert summary.n_questions == 1
    assert (summary.n_unlabelled, summary.n_unanswerable, summary.n_unranked) == (1, 1, 1)


def test_nothing_to_measure_gives_no_mean():
    summary = evaluate_rankings([], [question("q", "a")])
    assert (summary.measures, summary.n_questions, summary.n_unranked) == ({}, 0, 1)
    summary = evaluate_rankings([ranking("q", "a")], [question("q")])
    assert (summary.measures, summary.n_unlabelled) == ({}, 1)


def test_an_empty_ranking_found_nothing_and_counts():
    rankings = [ranking("q1"), ranking("q2", "a")]
    summary = evaluate_rankings(rankings, [question("q1", "a"), question("q2", "a")], ks=(1,))
    assert summary.measures["recall@1"].value == 0.5
    assert summary.rank_histogram == {"1": 1, "absent": 1}


def test_questions_on_one_document_widen_the_interval():
    names = [f"q{n}" for n in range(40)]
    rankings = [ranking(name, "x" if n % 8 < 4 else "a", "y") for n, name in enumerate(names)]
    apart = [question(name, "x", f"only-{n}") for n, name in enumerate(names)]
    together = [question(name, "x", f"a{n // 4}") for n, name in enumerate(names)]
    narrow = evaluate_rankings(rankings, apart, ks=(2,)).measures["ndcg@2"]
    wide = evaluate_rankings(rankings, together, ks=(2,)).measures["ndcg@2"]
    assert wide.value == narrow.value
    assert wide.high - wide.low > narrow.high - narrow.low


def test_rankings_that_cannot_be_matched_are_errors(says):
    with pytest.raises(DataError, match="several retrievers"):
        evaluate_rankings([ranking("q", retriever="a"), ranking("q", retriever="b")], [question("q", "a")])
    with pytest.raises(DataError) as error:
        evaluate_rankings([ranking("q"), ranking("q")], [question("q", "a")])
    says(error.value)
    with pytest.raises(DataError) as error:
        evaluate_rankings([ranking("q7")], [question("q", "a")])
    says(error.value)


def test_documents_that_the_corpus_lacks_are_named():
    documents = [Document(id="a", text="x")]
    questions = [question("q1", "a", "b"), question("q2", "a"), question("q3")]
    assert missing_documents(questions, documents) == {"q1": ["b"]}


def test_an_unanswerable_question_lacks_no_document():
    # It is in no rank measure, so none of them is too low.
    asked = Question(id="q", question="?", answerable=False, document_ids=["b"])
    assert missing_documents([asked], [Document(id="a", text="x")]) == {}


@pytest.mark.parametrize(
    ("scored", "tied"),
    [
        ([("a", 2.0), ("b", 1.0)], 0),
        ([("a", 1.0), ("b", 1.0)], 1),  # another order would put b first
        ([("b", 1.0), ("a", 1.0)], 1),
        ([("b", 2.0), ("c", 2.0), ("a", 1.0)], 0),  # neither is relevant
        ([("a", 1.0), ("x", 1.0)], 0),  # both are
        ([("a", 2.0), ("a", 1.0), ("b", 1.0)], 0),  # a stands where its first chunk stands
    ],
)
def test_a_tie_of_a_relevant_document_with_another_is_counted(scored, tied):
    summary = evaluate_rankings([tied_ranking(*scored)], [question("q", "a", "x")], ks=(1,))
    assert summary.n_tied == tied


def test_two_questions_with_one_id_are_an_error(says):
    with pytest.raises(DataError) as error:
        evaluate_rankings([ranking("q", "a")], [question("q", "a"), question("q", "b")])
    says(error.value)


def test_documents_of_evidence_that_the_corpus_lacks_are_named():
    evidence = [Evidence(document_id=name, start=0, end=1) for name in ("a", "b", "b")]
    questions = [Question(id="q", question="?", evidence=evidence)]
    assert missing_documents(questions, [Document(id="a", text="x")]) == {"q": ["b"]}


def test_a_summary_of_an_older_version_is_read():
    summary = evaluate_rankings([ranking("q", "a")], [question("q", "a")], ks=(1,))
    new = ("n_tied", "n_unplaced", "by_lang", "by_tag", "batches", "index_s", "search_s")
    kept = {name: value for name, value in msgspec.to_builtins(summary).items() if name not in new}
    old = msgspec.convert(kept, RetrievalSummary)
    assert (old.measures, old.batches, old.by_tag) == (summary.measures, None, {})
    assert msgspec.json.decode(msgspec.json.encode(summary), type=RetrievalSummary) == summary


def test_each_question_can_be_measured_once_and_summed_up_later():
    rankings, questions = [ranking("q", "a")], [question("q", "a")]
    assert summarise_queries(measure_queries(rankings, questions), questions) == evaluate_rankings(
        rankings, questions
    )


def grouped_question(name: str, lang: str | None = None, **tags: str) -> Question:
    return Question(id=name, question="?", document_ids=[f"of {name}"], lang=lang, tags=tags or None)


def one_result(name: str, found: bool) -> Ranking:
    document = f"of {name}" if found else "another"
    return Ranking(
        question_id=name, retriever="r", items=[RankingItem(document_id=document, score=1.0, start=0, end=4)]
    )


def summary_of(hits: list[bool], questions: list[Question], batch: int = 110) -> RetrievalSummary:
    rankings = [one_result(one.id, hit) for one, hit in zip(questions, hits, strict=True)]
    return evaluate_rankings(rankings, questions, ks=(1,), batch=batch)


def test_questions_are_grouped_by_language_and_by_tag():
    questions = [
        grouped_question("q1", "es", crop="maize", month="may"),
        grouped_question("q2", "en", crop="wheat"),
        grouped_question("q3", "en", crop="maize"),
        grouped_question("q4"),
    ]
    summary = summary_of([True, False, True, False], questions)
    assert {lang: group.n_questions for lang, group in summary.by_lang.items()} == {"en": 2, "es": 1}
    assert summary.by_lang["en"].measures["hit@1"].value == 0.5
    assert list(summary.by_tag) == ["crop", "month"]
    maize = summary.by_tag["crop"]["maize"].measures["hit@1"]
    assert (maize.value, maize.n, maize.low, maize.high) == (1.0, 2, *wilson_interval(2, 2))
    assert {value: group.n_questions for value, group in summary.by_tag["month"].items()} == {"may": 1}


def test_questions_that_were_not_measured_are_in_no_group():
    questions = [
        grouped_question("q1", "en"),
        Question(id="q2", question="?", lang="de", tags={"crop": "rye"}),
    ]
    summary = summary_of([True, True], questions)
    assert (list(summary.by_lang), summary.by_tag) == (["en"], {})


def test_a_tag_that_names_each_question_groups_nothing():
    questions = [grouped_question(f"q{at}", crop="maize", row=str(at)) for at in range(101)]
    assert list(summary_of([True] * 101, questions).by_tag) == ["crop"]
    assert list(summary_of([True] * 100, questions[:100]).by_tag) == ["crop", "row"]


def test_a_group_has_its_own_measures_by_characters():
    evidence = [Evidence(document_id="of q1", start=2, end=6)]
    questions = [
        Question(id="q1", question="?", evidence=evidence, lang="en"),
        grouped_question("q2", "en"),
        grouped_question("q3", "es"),
    ]
    summary = summary_of([True] * 3, questions)
    english = summary.by_lang["en"].measures
    assert (english["hit@1"].n, english["span_recall@1"].n, english["span_recall@1"].value) == (2, 1, 0.5)
    assert "span_recall@1" not in summary.by_lang["es"].measures


def test_batches_are_in_file_order_and_named_by_offset_and_count():
    hits = [True, True, False, True, False, False, True]
    summary = summary_of(hits, [grouped_question(f"q{at}") for at in range(7)], batch=2)
    assert summary.batches is not None
    assert [(one.name, one.n_questions, one.means["hit@1"]) for one in summary.batches.batches] == [
        ("00000_00002", 2, 1.0),
        ("00002_00002", 2, 0.5),
        ("00004_00002", 2, 0.0),
        ("00006_00001", 1, 1.0),
    ]
    # The last has fewer questions and does not count: 0, 0.5 and 1 have quartiles 0.25 and 0.75.
    spread = summary.batches.spread["hit@1"]
    assert summary.batches.n_spread == 3
    assert (spread.low, spread.first_quartile, spread.median, spread.third_quartile, spread.high) == (
        *(0.0, 0.25, 0.5, 0.75, 1.0),
    )


def test_batches_have_110_questions_unless_said_otherwise():
    questions = [grouped_question(f"q{at}") for at in range(1720)]
    batches = summary_of([at % 2 == 0 for at in range(1720)], questions).batches
    assert batches is not None
    assert (batches.size, batches.n_spread, len(batches.batches)) == (110, 15, 16)
    assert [one.name for one in batches.batches[-2:]] == ["01540_00110", "01650_00070"]


def test_a_batch_without_a_measured_question_is_left_out():
    unlabelled = [Question(id=f"u{at}", question="?") for at in range(2)]
    questions = [*unlabelled, *(grouped_question(f"q{at}") for at in range(3))]
    batches = summary_of([True] * 5, questions, batch=2).batches
    assert batches is not None
    assert [one.name for one in batches.batches] == ["00002_00002", "00004_00001"]
    assert (batches.n_spread, batches.spread) == (1, {})


def test_a_batch_has_at_least_one_question(says):
    with pytest.raises(ValueError) as error:
        summary_of([True], [grouped_question("q")], batch=0)
    says(error.value)


def test_means_of_batches_agree_with_the_mean_of_all():
    hits = (np.random.default_rng(0).random(90) < 0.6).tolist()
    summary = summary_of(hits, [grouped_question(f"q{at}") for at in range(90)], batch=30)
    assert summary.batches is not None
    means = [one.means["mrr"] for one in summary.batches.batches]
    assert np.mean(means) == pytest.approx(summary.measures["mrr"].value)
