"""SQuAD's form, and where its answers stand."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone import ConfigError, DataError
from ragstone.features.import_._squad import locate
from ragstone.features.import_.importing import import_set

TEXT = "Wheat 🌾 is sown in October. In October it rains."


def article(*qas, title="Wheat", context=TEXT):
    return {"title": title, "paragraphs": [{"context": context, "qas": list(qas)}]}


def asks(name="1", answers=(), **more):
    found = [{"text": text, "answer_start": start} for text, start in answers]
    return {"id": name, "question": "When is wheat sown?", "answers": found, **more}


@pytest.fixture
def imported(tmp_path):
    def made(*articles, **options):
        (tmp_path / "dev.json").write_text(json.dumps({"version": "1", "data": list(articles)}))
        return import_set(tmp_path / "dev.json", **options)

    return made


def reasons(found):
    return {one.reason: one.n for one in found.summary.remarks}


def spans(found):
    texts = {document.id: document.text for document in found.documents}
    return [[texts[e.document_id][e.start : e.end] for e in q.evidence or ()] for q in found.questions]


def test_a_paragraph_is_a_document_and_answers_are_references_and_evidence(imported):
    found = imported(article(asks(answers=[("October", 19), ("in October", 16), ("October", 19)])))
    (document,) = found.documents
    (question,) = found.questions
    assert (document.id, document.title, document.text) == ("Wheat-0", "Wheat", TEXT)
    assert question.reference == ["October", "in October"]
    assert question.document_ids == ["Wheat-0"]
    assert question.answerable is True
    assert [(e.start, e.end) for e in question.evidence] == [(19, 26), (16, 26)]
    assert found.summary.remarks == []
    assert found.summary.formats.popitem()[1] == "squad"


def test_the_same_context_is_one_document(imported):
    found = imported(article(asks("1")), article(asks("2")), article(asks("3"), context="Other."))
    assert [document.id for document in found.documents] == ["Wheat-0", "Wheat-1"]
    assert [question.document_ids for question in found.questions] == [["Wheat-0"], ["Wheat-0"], ["Wheat-1"]]


def test_an_impossible_question_is_not_answerable_and_keeps_the_plausible_answer(imported):
    plausible = [{"text": "October", "answer_start": 19}]
    found = imported(article(asks(is_impossible=True, plausible_answers=plausible)))
    (question,) = found.questions
    assert (question.answerable, question.reference, question.evidence) == (False, None, None)
    assert question.document_ids is None
    tempting = {"document_id": "Wheat-0", "start": 19, "end": 26}
    assert question.metadata == {"wrong_answer": "October", "tempting": tempting}


def test_without_a_plausible_answer_the_paragraph_tempts(imported):
    (question,) = imported(article(asks(is_impossible=True))).questions
    assert question.metadata == {"tempting": {"document_id": "Wheat-0", "start": 0, "end": len(TEXT)}}


def test_a_question_whose_answers_are_withheld_may_be_answerable(imported):
    assert imported(article(asks())).questions[0].answerable is None


# "October" begins at code point 19; "🌾" before it is two units of UTF-16 and four bytes of UTF-8.
@pytest.mark.parametrize(
    ("start", "reason"),
    [
        (20, "its answer's offset counts UTF-16 units: converted"),
        (22, "its answer's offset counts bytes of UTF-8: converted"),
        (17, "its answer's offset was wrong: the nearest place with the same text is used"),
        (None, "its answer's offset was wrong: the nearest place with the same text is used"),
        (-5, "its answer's offset was wrong: the nearest place with the same text is used"),
    ],
)
def test_a_wrong_offset_is_put_right_and_told(imported, start, reason):
    found = imported(article(asks(answers=[("October", start)])))
    assert found.questions[0].evidence[0].start == 19
    assert reasons(found) == {reason: 1}


def test_the_nearest_place_is_taken():
    # "October" begins at 19 and 31; 25 is as far from both, and the first is taken.
    assert [locate(TEXT, "October", at).start for at in (25, 26, 99, 0)] == [19, 31, 31, 19]


def test_an_answer_that_stands_nowhere_leaves_the_question_without_evidence(imported, says):
    found = imported(article(asks(answers=[("November", 20)])))
    assert (found.questions[0].reference, found.questions[0].evidence) == ("November", None)
    assert found.questions[0].document_ids == ["Wheat-0"]
    says(list(reasons(found)))


def test_other_fields_are_kept(imported):
    found = imported(
        {**article(asks(hops=2)), "paragraphs": [{"context": TEXT, "page": 3, "qas": [asks(hops=2)]}]}
    )
    assert found.questions[0].metadata == {"hops": 2}
    assert found.documents[0].metadata == {"page": 3}


def test_the_flat_form_of_hugging_face_is_squad(tmp_path):
    rows = [
        {"id": "1", "title": "Wheat", "context": TEXT, "question": "When?", "answers": answers}
        for answers in ({"text": ["October"], "answer_start": [19]}, {"text": [], "answer_start": []})
    ]
    rows[1]["id"] = "2"
    (tmp_path / "dev.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = import_set(tmp_path / "dev.jsonl")
    assert [question.answerable for question in found.questions] == [True, False]
    assert spans(found) == [["October"], []]
    assert len(found.documents) == 1


def test_paragraphs_and_questions_of_another_form_are_skipped(imported, says):
    broken = {"title": "x", "paragraphs": [{"qas": []}, {"context": "Text.", "qas": [{"id": 1}, 5]}, 7]}
    found = imported(broken, article(asks()))
    for reason, n in reasons(found).items():
        says(f"{reason}: {n}")


def test_a_file_of_another_form_is_an_error(tmp_path, says):
    (tmp_path / "x.json").write_text('[{"question": "When?"}]')
    with pytest.raises(DataError) as error:
        import_set(tmp_path / "x.json", format="squad")
    says(error.value)


def test_columns_cannot_be_chosen(imported, says):
    with pytest.raises(ConfigError) as error:
        imported(article(asks()), columns={"question": "question"})
    says(error.value)


words = st.text(st.sampled_from("ab 🌾é\n"), max_size=30)


@given(words, words, st.one_of(st.none(), st.integers(-3, 100)))
def test_evidence_always_says_what_the_answer_says(text, answer, start):
    spot = locate(text, answer, start)
    assert (spot is None) == (not answer.strip() or answer.strip() not in text)
    assert spot is None or text[spot.start : spot.end] == answer.strip()


@given(words.filter(str.strip), st.data())
def test_every_way_of_counting_leads_to_a_span_of_the_answer(text, data):
    cuts = sorted(data.draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))))
    answer = text[slice(*cuts)]
    exact = locate(text, answer, cuts[0])
    if answer.strip():
        assert exact.how == "exact"
        assert exact.start == cuts[0] + len(answer) - len(answer.lstrip())
        units = len(text[: cuts[0]].encode("utf-16-le")) // 2
        assert text[slice(*locate(text, answer, units)[:2])] == answer.strip()
    assert all(a <= b for a, b in pairwise(cuts))
