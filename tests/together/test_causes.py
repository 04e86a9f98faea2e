"""Answers by what their contexts held: the counts of a run, with the contexts that blame finds by text."""

from tests.support.plain_rows import judgement_row, summary_row

from ragstone.features.blame._desk import found_by_text
from ragstone.features.run._breakdown import found_and_right
from ragstone.kernel.records import Answer, Context, Evidence, Question

LEAD = summary_row(scale=(0, 100))


def rows(cases):
    """cases: (relevant document, documents of the contexts, score)."""
    questions, answers, judgements = {}, [], []
    for n, (relevant, contexts, score) in enumerate(cases):
        name = f"q{n}"
        questions[name] = Question(id=name, question="?", document_ids=relevant and [relevant])
        found = None if contexts is None else [Context(text="x", document_id=one) for one in contexts]
        answers.append(Answer(question_id=name, system="s", answer="a", contexts=found))
        judgements.append(
            judgement_row(question_id=name, status="scored" if score is not None else "timeout", score=score)
        )
    return answers, judgements, questions


def test_answers_are_counted_by_found_and_right():
    cases = [
        ("d", ["d", "e"], 100.0),  # found, right
        ("d", ["e", "d"], 49.0),  # found, wrong
        ("d", ["d"], 50.0),  # found, right: the middle of the scale
        ("d", ["e"], 0.0),  # missed, wrong
        ("d", [], 80.0),  # missed, right
        ("d", ["d"], None),  # not scored
        (None, ["d"], 100.0),  # nobody says which document is relevant
        ("d", None, 100.0),  # nobody says what was retrieved
        ("d", [None], 100.0),  # nor from where
    ]
    table = found_and_right(LEAD, *rows(cases))
    counted = (table.found_right, table.found_wrong, table.missed_right, table.missed_wrong, table.n_left_out)
    assert counted == (2, 1, 1, 1, 4)


def test_evidence_names_relevant_documents_too():
    answers, judgements, questions = rows([(None, ["d"], 100.0)])
    span = Evidence(document_id="d", start=0, end=1)
    questions["q0"] = Question(id="q0", question="?", evidence=[span])
    assert found_and_right(LEAD, answers, judgements, questions).found_right == 1


def test_unanswerable_questions_and_nothing_to_count_give_no_table():
    answers, judgements, questions = rows([("d", ["d"], 100.0)])
    questions["q0"] = Question(id="q0", question="?", document_ids=["d"], answerable=False)
    assert found_and_right(LEAD, answers, judgements, questions) is None


def test_a_copy_of_the_relevant_document_is_found_too():
    answers, judgements, questions = rows([("en:d", ["es:d"], 100.0)])
    apart = found_and_right(LEAD, answers, judgements, questions)
    together = found_and_right(LEAD, answers, judgements, questions, {"es:d": "en:d", "en:d": "en:d"})
    assert (apart.missed_right, together.found_right) == (1, 1)


def by_text(*texts, **changed):
    documents = {
        "d": "The old mill opened in 1843, and burned down.",
        "e": "The bridge was built of oak in spring.",
    }
    question = Question(**{"id": "q", "question": "?", "document_ids": ["d"], **changed})
    contexts = [Context(text=text) for text in texts]
    return found_by_text(Answer(question_id="q", answer="a", contexts=contexts), question, documents)


def test_contexts_that_name_no_document_are_looked_up_by_their_text():
    mill, bridge = "The old  mill\nopened in 1843", "The bridge was built of oak"
    assert by_text(bridge, mill) is True
    assert by_text(bridge) is False
    assert by_text() is False  # nothing was brought
    assert by_text(bridge, "A text that is in no document of ours.") is None
    assert by_text("opened in 1843") is None  # too short to tell
    assert by_text(mill, document_ids=["f"]) is None
    assert by_text(mill, answerable=False) is None
