import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.records import Evidence, Question, Ranking, RankingItem
from ragstone.retrieval.evaluate import QueryMeasures, measure_queries

Place = tuple[str, int | None, int | None]


def asked(*evidence: tuple[str, int, int], name: str = "q") -> Question:
    spans = [Evidence(document_id=document, start=start, end=end) for document, start, end in evidence]
    return Question(id=name, question="?", evidence=spans)


def ranked(*places: Place, name: str = "q") -> Ranking:
    items = [
        RankingItem(document_id=document, start=start, end=end, score=-at)
        for at, (document, start, end) in enumerate(places)
    ]
    return Ranking(question_id=name, retriever="r", items=items)


def values(measured: QueryMeasures, name: str, question: str = "q") -> dict[int, float]:
    return {
        int(label.partition("@")[2]): of[question]
        for label, of in measured.values.items()
        if label.startswith(f"{name}@")
    }


def test_characters_of_the_evidence_are_counted_once():
    # Evidence a[10:30], 20 characters. a[0:20] holds 10 of them in 20 characters; a[15:25] 5 more, together
    # a[0:25]: 15 in 25; b[0:75] nothing in 75 more.
    ranking = ranked(("a", 0, 20), ("a", 15, 25), ("b", 0, 75))
    measured = measure_queries([ranking], [asked(("a", 10, 30))], ks=(1, 2, 3))
    assert values(measured, "span_recall") == pytest.approx({1: 10 / 20, 2: 15 / 20, 3: 15 / 20})
    assert values(measured, "span_precision") == pytest.approx({1: 10 / 20, 2: 15 / 25, 3: 15 / 100})


def test_evidence_may_stand_in_several_documents_and_overlap():
    # a[0:10] and a[5:20] are 20 characters, b[0:20] 20 more; a[0:10] brings 10, b[10:40] 10 of its 30.
    question = asked(("a", 0, 10), ("a", 5, 20), ("b", 0, 20))
    measured = measure_queries([ranked(("a", 0, 10), ("b", 10, 40))], [question], ks=(1, 2))
    assert values(measured, "span_recall") == pytest.approx({1: 10 / 40, 2: 20 / 40})
    assert values(measured, "span_precision") == pytest.approx({1: 1.0, 2: 20 / 40})


def test_the_documents_of_the_evidence_are_relevant_where_no_others_are_named():
    measured = measure_queries([ranked(("b", 0, 5), ("a", 0, 5))], [asked(("a", 0, 5))], ks=(1, 2))
    assert values(measured, "recall") == {1: 0.0, 2: 1.0}
    assert (measured.n_unlabelled, measured.documents) == (0, {"q": "a"})


def test_items_without_a_place_are_their_whole_document_if_its_length_is_known():
    ranking, question = ranked(("a", None, None)), asked(("a", 10, 20))
    unknown = measure_queries([ranking], [question], ks=(1,))
    assert (values(unknown, "span_recall"), unknown.n_unplaced) == ({}, 1)
    assert values(unknown, "recall") == {1: 1.0}
    known = measure_queries([ranking], [question], ks=(1,), lengths={"a": 40})
    assert (values(known, "span_recall"), known.n_unplaced) == ({1: 1.0}, 0)
    assert values(known, "span_precision") == {1: 10 / 40}


@pytest.mark.parametrize("evidence", [("a", 5, 5), ("a", -1, 5), ("a", 5, 50)])
def test_evidence_that_cannot_be_leaves_the_question_out_and_counts_it(evidence):
    rankings = [ranked(("a", 0, 20)), ranked(("a", 0, 20), name="good")]
    questions = [asked(evidence), asked(("a", 0, 10), name="good")]
    measured = measure_queries(rankings, questions, ks=(1,), lengths={"a": 20})
    assert (measured.values["span_recall@1"], measured.n_unplaced) == ({"good": 1.0}, 1)
    assert set(measured.values["recall@1"]) == {"q", "good"}


@pytest.mark.parametrize("place", [("a", 5, 3), ("a", -2, 3), ("a", 5, None), ("a", None, 5)])
def test_an_item_with_an_impossible_or_half_a_place_leaves_the_question_out(place):
    measured = measure_queries([ranked(place)], [asked(("a", 0, 10))], ks=(1,))
    assert (values(measured, "span_recall"), measured.n_unplaced) == ({}, 1)


def test_only_the_first_items_need_a_place():
    ranking = ranked(("a", 0, 5), ("a", None, None))
    measured = measure_queries([ranking], [asked(("a", 0, 10))], ks=(1,))
    assert (values(measured, "span_recall"), measured.n_unplaced) == ({1: 0.5}, 0)


def test_an_empty_ranking_brings_nothing():
    rankings = [ranked(), ranked(("a", 0, 10), name="other")]
    measured = measure_queries(rankings, [asked(("a", 0, 10)), asked(("a", 0, 10), name="other")], ks=(1,))
    assert measured.values["span_recall@1"] == measured.values["span_precision@1"] == {"q": 0.0, "other": 1.0}


def test_questions_without_evidence_have_no_value():
    questions = [asked(("a", 0, 10)), Question(id="plain", question="?", document_ids=["a"])]
    measured = measure_queries([ranked(("a", 0, 10)), ranked(("a", 0, 10), name="plain")], questions, ks=(1,))
    assert set(measured.values["span_recall@1"]) == {"q"}
    assert set(measured.values["recall@1"]) == {"q", "plain"}


spans = st.tuples(st.sampled_from("ab"), st.integers(0, 12), st.integers(0, 6)).map(
    lambda span: (span[0], span[1], span[1] + span[2])
)
evidence_lists = st.lists(spans.filter(lambda span: span[1] < span[2]), min_size=1, max_size=4)


@given(st.lists(st.tuples(evidence_lists, st.lists(spans, max_size=6)), min_size=1, max_size=4))
@settings(deadline=None)
def test_every_value_is_that_of_counting_characters_one_by_one(queries):
    names = [f"q{at}" for at in range(len(queries))]
    questions = [asked(*evidence, name=name) for name, (evidence, _) in zip(names, queries, strict=True)]
    rankings = [ranked(*items, name=name) for name, (_, items) in zip(names, queries, strict=True)]
    measured = measure_queries(rankings, questions, ks=range(1, 7))
    for name, (evidence, items) in zip(names, queries, strict=True):
        wanted = {(document, at) for document, start, end in evidence for at in range(start, end)}
        for k, recall in values(measured, "span_recall", name).items():
            found = {(document, at) for document, start, end in items[:k] for at in range(start, end)}
            assert recall == pytest.approx(len(wanted & found) / len(wanted))
            precision = measured.values[f"span_precision@{k}"][name]
            assert precision == pytest.approx(len(wanted & found) / len(found) if found else 0.0)
