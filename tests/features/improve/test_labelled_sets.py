"""Which labelled sets a project has, and what is in them."""

import pytest

from ragstone.features.improve._labelled_sets import labelled_set, open_set, sources_of
from ragstone.features.improve._store import DevelopmentStore
from ragstone.features.improve.judge_files import judge_file
from ragstone.features.label._choosing import AnswerDraw
from ragstone.features.label._marking import Marks
from ragstone.features.label.queue import Queue, QueueItem, write_queue
from ragstone.kernel.config import load_settings
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.records import Answer, Label, Question


def answer(n, system="a", **more):
    return Answer(question_id=f"q{n}", system=system, answer=f"A{n}", question=f"Question {n}?", **more)


def label(n, score=1.0, system="a", annotator="anna"):
    return Label(question_id=f"q{n}", system=system, score=score, annotator=annotator, metric="correctness")


@pytest.fixture
def settings(tmp_path):
    (tmp_path / "ragstone.toml").write_text(
        '[agree]\nsheet = "sheet.jsonl"\n[judge]\njudges = ["own/tone.toml"]'
    )
    (tmp_path / "sheet.jsonl").write_text(
        '{"question_id": "1", "question": "Q?", "answer": "A", "score": 1, "metric": "correctness"}\n'
    )
    return load_settings(tmp_path / "ragstone.toml")


def test_labels_of_a_queue_have_the_texts_of_the_queue(settings, tmp_path):
    texts = [answer(n, contexts=None, reference="R") for n in range(3)]
    queue = Queue(
        name="harvest",
        source="run",
        judge="j",
        metric="correctness",
        scale=(0.0, 1.0),
        choice=AnswerDraw(),
        items=[QueueItem(question_id=row.question_id, system=row.system) for row in texts],
    )
    folder = tmp_path / ".ragstone" / "workbench" / "queues"
    write_queue(folder, queue, texts)
    marks = Marks(queue, tmp_path / "labels" / "harvest.jsonl", folder / "skips.jsonl")
    marks.label("anna", 0, texts[0], 1, policy=None)
    marks.label("anna", 2, texts[2], 0, policy=None)
    marks.label("anna", 0, texts[0], 0, policy=None)
    assert [*sources_of(settings)] == ["harvest", "sheet"]
    found = open_set(settings, "harvest")
    assert found.answers == [texts[0], texts[2]]
    assert sorted((row.question_id, row.score) for row in found.labels) == [("q0", 0), ("q2", 0)]
    assert len(open_set(settings, "sheet").answers) == 1


def test_a_set_that_is_none_names_those_that_are(settings):
    with pytest.raises(DataError, match="sheet"):
        open_set(settings, "shet")


def test_of_two_labels_of_an_annotator_the_last_counts():
    found = labelled_set("x", [answer(1)], [label(1, 0), label(1, 1), label(1, 0, annotator="ben")])
    assert [(row.annotator, row.score) for row in found.labels] == [("anna", 1), ("ben", 0)]


def test_labels_without_a_system_are_of_the_one_answer_that_there_is():
    bare = [label(1, system="default"), label(2, system="default")]
    found = labelled_set("x", [answer(1), answer(2, "a"), answer(2, "b")], bare)
    assert [(row.question_id, row.system) for row in found.answers] == [("q1", "a")]


def test_labels_of_other_answers_are_told(says):
    with pytest.raises(DataError) as error:
        labelled_set("x", [answer(1)], [label(9)])
    says(error.value)
    with pytest.raises(DataError, match="no labels yet"):
        labelled_set("x", [answer(1)], [])


def test_questions_about_one_document_are_in_one_part(settings):
    questions = [
        Question(id=f"q{n}", question=f"Question {n}?", document_ids=[f"d{n // 5}"]) for n in range(60)
    ]
    found = labelled_set("x", [answer(n) for n in range(60)], [label(n) for n in range(60)], questions)
    parts = DevelopmentStore(settings).split(found)
    sides = [parts[found.nodes[f"q{n}"][0]] for n in range(60)]
    assert all(len(set(sides[n : n + 5])) == 1 for n in range(0, 60, 5))
    assert set(sides) == {"dev", "test"}


def test_another_set_with_the_same_questions_has_them_in_the_same_parts(settings):
    one = labelled_set("one", [answer(n) for n in range(30)], [label(n) for n in range(30)])
    store = DevelopmentStore(settings)
    first = store.split(one)
    moved = [Answer(question_id=f"other{n}", answer="A", question=f"question  {n}?") for n in range(30)]
    two = labelled_set("two", moved, [Label(question_id=f"other{n}", score=1) for n in range(30)])
    second = store.parts_of(two)
    assert [second[two.nodes[f"other{n}"][0]] for n in range(30)] == [
        first[one.nodes[f"q{n}"][0]] for n in range(30)
    ]
    assert not (store.folder / "two.json").exists()  # looking at the parts freezes nothing


def test_a_judge_of_the_settings_is_found_where_it_stands(settings, tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "tone.toml").write_text("x")
    assert judge_file(settings, "tone").path == tmp_path / "own" / "tone.toml"
    (tmp_path / "beside.toml").write_text("x")
    assert judge_file(settings, "beside").path == tmp_path / "beside.toml"


def test_a_judge_is_found_by_the_name_in_its_file_too(settings, tmp_path):
    (tmp_path / "judges").mkdir()
    (tmp_path / "judges" / "draft-2.toml").write_text('name = "polite"')
    (tmp_path / "judges" / "broken.toml").write_text("name = ")
    found = judge_file(settings, "polite")
    assert (found.name, found.path.name) == ("polite", "draft-2.toml")


@pytest.mark.parametrize("name", ["../tone", "Tone", "tone@v1", "", "no_such_judge"])
def test_a_name_that_is_no_judges_is_told(settings, name):
    with pytest.raises(ConfigError):
        judge_file(settings, name)
