import numpy as np
import pytest

from ragstone.records import Evidence, Question, Ranking, RankingItem
from ragstone.retrieval.evaluate import RetrievalSummary, evaluate_rankings
from ragstone.statistics import wilson_interval


def question(name: str, lang: str | None = None, **tags: str) -> Question:
    return Question(id=name, question="?", document_ids=[f"of {name}"], lang=lang, tags=tags or None)


def ranking(name: str, found: bool) -> Ranking:
    document = f"of {name}" if found else "another"
    return Ranking(
        question_id=name, retriever="r", items=[RankingItem(document_id=document, score=1.0, start=0, end=4)]
    )


def summary_of(hits: list[bool], questions: list[Question], batch: int = 110) -> RetrievalSummary:
    rankings = [ranking(one.id, hit) for one, hit in zip(questions, hits, strict=True)]
    return evaluate_rankings(rankings, questions, ks=(1,), batch=batch)


def test_questions_are_grouped_by_language_and_by_tag():
    questions = [
        question("q1", "es", crop="maize", month="may"),
        question("q2", "en", crop="wheat"),
        question("q3", "en", crop="maize"),
        question("q4"),
    ]
    summary = summary_of([True, False, True, False], questions)
    assert {lang: group.n_questions for lang, group in summary.by_lang.items()} == {"en": 2, "es": 1}
    assert summary.by_lang["en"].measures["hit@1"].value == 0.5
    assert list(summary.by_tag) == ["crop", "month"]
    maize = summary.by_tag["crop"]["maize"].measures["hit@1"]
    assert (maize.value, maize.n, maize.low, maize.high) == (1.0, 2, *wilson_interval(2, 2))
    assert {value: group.n_questions for value, group in summary.by_tag["month"].items()} == {"may": 1}


def test_questions_that_were_not_measured_are_in_no_group():
    questions = [question("q1", "en"), Question(id="q2", question="?", lang="de", tags={"crop": "rye"})]
    summary = summary_of([True, True], questions)
    assert (list(summary.by_lang), summary.by_tag) == (["en"], {})


def test_a_tag_that_names_each_question_groups_nothing():
    questions = [question(f"q{at}", crop="maize", row=str(at)) for at in range(101)]
    assert list(summary_of([True] * 101, questions).by_tag) == ["crop"]
    assert list(summary_of([True] * 100, questions[:100]).by_tag) == ["crop", "row"]


def test_a_group_has_its_own_measures_by_characters():
    evidence = [Evidence(document_id="of q1", start=2, end=6)]
    questions = [
        Question(id="q1", question="?", evidence=evidence, lang="en"),
        question("q2", "en"),
        question("q3", "es"),
    ]
    summary = summary_of([True] * 3, questions)
    english = summary.by_lang["en"].measures
    assert (english["hit@1"].n, english["span_recall@1"].n, english["span_recall@1"].value) == (2, 1, 0.5)
    assert "span_recall@1" not in summary.by_lang["es"].measures


def test_batches_are_in_file_order_and_named_by_offset_and_count():
    hits = [True, True, False, True, False, False, True]
    summary = summary_of(hits, [question(f"q{at}") for at in range(7)], batch=2)
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
    questions = [question(f"q{at}") for at in range(1720)]
    batches = summary_of([at % 2 == 0 for at in range(1720)], questions).batches
    assert batches is not None
    assert (batches.size, batches.n_spread, len(batches.batches)) == (110, 15, 16)
    assert [one.name for one in batches.batches[-2:]] == ["01540_00110", "01650_00070"]


def test_a_batch_without_a_measured_question_is_left_out():
    unlabelled = [Question(id=f"u{at}", question="?") for at in range(2)]
    questions = [*unlabelled, *(question(f"q{at}") for at in range(3))]
    batches = summary_of([True] * 5, questions, batch=2).batches
    assert batches is not None
    assert [one.name for one in batches.batches] == ["00002_00002", "00004_00001"]
    assert (batches.n_spread, batches.spread) == (1, {})


def test_a_batch_has_at_least_one_question():
    with pytest.raises(ValueError, match="a batch of 0 questions"):
        summary_of([True], [question("q")], batch=0)


def test_means_of_batches_agree_with_the_mean_of_all():
    hits = (np.random.default_rng(0).random(90) < 0.6).tolist()
    summary = summary_of(hits, [question(f"q{at}") for at in range(90)], batch=30)
    assert summary.batches is not None
    means = [one.means["mrr"] for one in summary.batches.batches]
    assert np.mean(means) == pytest.approx(summary.measures["mrr"].value)
