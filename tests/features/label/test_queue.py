import msgspec
import pytest
from tests.support.label_rows import judgement, label

from ragstone.features.label._choosing import AnswerDraw
from ragstone.features.label._marking import Skip, carried, fitted, labelled_means, progress_of
from ragstone.features.label._policies import policy_digest
from ragstone.features.label.queue import (
    Material,
    Plan,
    QueueItem,
    deal,
    judges_in,
    make_queue,
    queue_names,
    read_queue,
    read_texts,
    rubric_of,
    write_queue,
)
from ragstone.kernel.errors import DataError
from ragstone.kernel.judging.judge import read_judge
from ragstone.kernel.judging.variant import load_judge
from ragstone.kernel.records import Answer, Context, Label, Question


def material(n=10, **given):
    answers = [
        Answer(question_id=f"q{i}", system="A", answer=f"answer {i}", contexts=[Context(text="Some text.")])
        for i in range(n)
    ]
    questions = {
        f"q{i}": Question(id=f"q{i}", question=f"Question {i}?", reference="right", tags={"crop": "tea"})
        for i in range(n)
    }
    rows = {
        "source": "0/mine",
        "judgements": [judgement(f"q{i}", i % 2, system="A") for i in range(n)],
        "answers": answers,
        "questions": questions,
    }
    return Material(**(rows | given))


def plan(**given):
    return Plan(**({"name": "first", "choice": AnswerDraw(n=4)} | given))


def test_a_queue_has_all_that_its_annotators_read_and_nothing_of_the_judge():
    queue, texts = make_queue(plan(), material(evidence={"q1": ["Some text."]}))
    assert (queue.judge, queue.metric, queue.scale, queue.grades) == ("rubric", "correctness", (0, 1), [0, 1])
    assert [(one.question_id, one.system) for one in queue.items] == [
        (t.question_id, t.system) for t in texts
    ]
    one = texts[0]
    assert one.question == f"Question {one.question_id[1:]}?"
    assert (one.reference, one.tags, one.answer) == (
        "right",
        {"crop": "tea"},
        f"answer {one.question_id[1:]}",
    )
    assert all("score" not in msgspec.to_builtins(text) for text in texts)


def test_a_label_carries_the_digest_of_the_instructions_and_none_without_any(tmp_path):
    queue, texts = make_queue(plan(instructions="Grade the facts."), material())
    # printf 'Grade the facts.' | sha256sum begins with 32bdd9ab721e…: from the first letter on
    assert queue.policy == policy_digest("\r\n Grade the facts. \n") == "bdd9ab72"
    assert carried(queue, texts[0], None, queue.policy)["policy"] == queue.policy
    assert policy_digest("Grade the\r\nfacts.") == policy_digest("Grade the\nfacts.") != queue.policy
    bare, texts = make_queue(plan(), material())
    assert bare.policy is None
    assert "policy" not in carried(bare, texts[0], None, None)


def test_a_digest_is_never_read_as_a_number():
    digests = {policy_digest(f"text {n}") for n in range(2000)}
    assert len(digests) == 2000
    assert all(digest[0] in "abcdef" and len(digest) == 8 for digest in digests)


def test_the_same_plan_and_rows_give_the_same_queue_and_it_reads_back(tmp_path):
    queue, texts = make_queue(plan(), material())
    assert make_queue(plan(), material()) == (queue, texts)
    write_queue(tmp_path, queue, texts)
    assert read_queue(tmp_path, "first") == queue
    assert read_texts(tmp_path, queue) == texts
    assert queue_names(tmp_path) == ["first"]


def test_a_queue_is_never_replaced(tmp_path, says):
    queue, texts = make_queue(plan(), material())
    path = write_queue(tmp_path, queue, texts)
    before = path.read_bytes()
    with pytest.raises(DataError) as error:
        write_queue(tmp_path, msgspec.structs.replace(queue, overlap=0.5), texts[:1])
    says(error.value)
    assert path.read_bytes() == before
    assert read_texts(tmp_path, queue) == texts


def test_texts_of_another_queue_are_told(tmp_path, says):
    queue, texts = make_queue(plan(), material())
    path = write_queue(tmp_path, queue, texts)
    path.with_suffix(".texts.jsonl").write_bytes(msgspec.json.encode(texts[0]) + b"\n")
    with pytest.raises(DataError) as error:
        read_texts(tmp_path, queue)
    says(error.value)


@pytest.mark.parametrize("name", ["", "../x", "a b", "-x", "x" * 61, "ä"])
def test_a_name_that_is_none_is_refused(tmp_path, name, says):
    with pytest.raises(DataError) as error:
        make_queue(plan(name=name), material())
    says(error.value)
    with pytest.raises(DataError) as error:
        read_queue(tmp_path, name)
    says(error.value)


def test_what_cannot_be_made_is_told(tmp_path, says):
    with pytest.raises(DataError) as error:
        make_queue(plan(), material(answers=[]))
    says(error.value)
    with pytest.raises(DataError) as error:
        make_queue(plan(scale=(5, 1)), material())
    says(error.value)
    with pytest.raises(DataError) as error:
        read_queue(tmp_path, "x")
    says(error.value)


@pytest.mark.parametrize(
    ("scale", "grades"),
    [
        ((0, 1), [0, 1]),
        ((1, 5), [1, 2, 3, 4, 5]),
        ((0, 9), [*range(10)]),
        ((0, 10), []),
        ((0, 100), []),
        ((-1, 1), []),
        ((0, 1.5), []),
    ],
)
def test_whole_grades_up_to_nine_have_a_key_each(scale, grades):
    queue, _ = make_queue(plan(scale=scale), material())
    assert queue.grades == grades


def test_grades_are_called_by_the_rubric_the_metric_or_their_number(says):
    assert make_queue(plan(), material())[0].grade_words() == ["wrong", "right"]
    rows = [judgement(f"q{i}", 1, system="A", metric="polite") for i in range(4)]
    assert make_queue(plan(), material(judgements=rows))[0].grade_words() == ["no", "yes"]
    assert make_queue(plan(scale=(1, 3)), material())[0].grade_words() == ["1", "2", "3"]
    judged = [judgement(f"q{i}", 1, system="A", scale=(0, 3)) for i in range(4)]
    queue, _ = make_queue(plan(), material(judgements=judged, judge=read_judge("rubric")))
    says(queue.grade_words()[3])


def test_a_rubric_holds_what_the_judge_is_told_and_its_examples(says):
    rubric = rubric_of(read_judge("same_answer"), "correctness")
    assert rubric is not None
    says(rubric.text)
    assert rubric.examples[0].expected == "yes"
    says(rubric.examples[0].texts["reference"])
    assert rubric_of(read_judge("containment"), "correctness") is None
    whole = rubric_of(read_judge("rubric"), "rubric")
    assert whole.grades == {}
    assert "completeness: how much" in whole.text
    one = rubric_of(load_judge("rubric@shots=1"), "readability")
    assert one.examples[0].expected == "3"
    says(one.examples[0].reason)


def test_what_can_be_labelled_is_each_judge_and_metric():
    rows = [
        judgement("q", 3, scale=(0, 4)),
        judgement("q", 1, judge="b"),
        judgement("q", 1, judge="b", metric="m"),
    ]
    assert judges_in(rows) == [
        ("rubric", "correctness", (0, 4)),
        ("b", "correctness", (0, 1)),
        ("b", "m", (0, 1)),
    ]


def items(n):
    return [QueueItem(f"q{i}", "A") for i in range(n)]


def test_shared_items_are_spread_and_pairs_take_turns():
    dealt = deal(items(20), ["a", "b", "c"], 0.3, 2)
    shared = [at for at, item in enumerate(dealt) if len(item.annotators) == 2]
    assert shared == [3, 6, 9, 13, 16, 19]  # where a multiple of 0.3 passes the next whole number
    pairs = [frozenset(dealt[at].annotators) for at in shared]
    assert len(set(pairs)) == 3
    load = [sum(name in item.annotators for item in dealt) for name in "abc"]
    assert max(load) - min(load) <= 1
    assert sum(load) == 26


def test_all_can_be_shared_by_all_and_nobody_named_is_everybody():
    dealt = deal(items(4), ["a", "b", "c"], 1, 3)
    assert all(sorted(item.annotators) == ["a", "b", "c"] for item in dealt)
    assert deal(items(2), [], 0, 2) == items(2)


@pytest.mark.parametrize(
    ("names", "overlap", "each", "words"),
    [
        ([], 0.5, 2, "at least two annotators"),
        (["a"], 0.5, 2, "1 are named"),
        (["a", "b"], 0.5, 3, "3 annotators for a shared"),
        (["a", "b"], 1.5, 2, "from 0 to 1"),
    ],
)
def test_an_overlap_that_cannot_be_is_told(names, overlap, each, words):
    with pytest.raises(DataError, match=words):
        deal(items(4), names, overlap, each)


def test_progress_counts_labels_of_the_queue_once_for_each_annotator():
    queue, texts = make_queue(plan(annotators=["a", "b"], overlap=1), material())
    first, second = texts[0].question_id, texts[1].question_id
    labels = [
        label(first, 1, system="A", annotator="a"),
        label(first, 0, system="A", annotator="b"),
        label(second, 1, system="A", annotator="a"),
        label(first, 1, system="A", annotator="adjudicator o"),
        label("elsewhere", 1, system="A", annotator="a"),
    ]
    skips = [Skip(question_id=second, system="A", annotator="b")]
    found = progress_of(queue, labels, skips)
    assert (found.n_items, found.n_done, found.n_labelled) == (4, 1, 3)
    # One answer lacks a label of b, who has skipped it; without the skip it waits for b.
    assert (found.n_open, found.n_waiting) == (2, 0)
    assert (progress_of(queue, labels).n_open, progress_of(queue, labels).n_waiting) == (3, 1)
    assert [(one.annotator, one.n_labelled, one.n_skipped, one.n_items) for one in found.shares] == [
        ("a", 2, 0, 4),
        ("b", 1, 1, 4),
    ]


def test_labels_from_elsewhere_become_labels_of_the_queue():
    queue, texts = make_queue(plan(), material())
    first = texts[0]
    [row] = fitted(queue, texts, [Label(question_id=first.question_id, score=1)], "ann")
    assert (row.system, row.metric, row.annotator) == ("A", "correctness", "ann")
    assert row.metadata["question"] == first.question
    assert row.metadata["queue"] == "first"


def test_labels_that_do_not_fit_are_all_named_and_none_is_taken(says):
    queue, texts = make_queue(plan(), material())
    key = texts[0].question_id
    rows = [
        Label(question_id=key, score=1),
        Label(question_id=key, score=0),
        Label(question_id=key, score=7, annotator="b"),
        Label(question_id="nowhere", score=1),
        Label(question_id=key, score=1, metric="tone", annotator="c"),
    ]
    with pytest.raises(DataError) as told:
        fitted(queue, texts, rows, "ann")
    words = str(told.value)
    assert "label 2, question" in words
    says(words)


def test_a_name_that_settles_differences_is_no_annotator(says):
    with pytest.raises(DataError) as error:
        make_queue(plan(annotators=["bob", "adjudicator ann"]), material())
    says(error.value)


def test_the_mean_of_labels_is_by_system_and_of_the_median_of_annotators():
    queue, _ = make_queue(plan(), material())
    labels = [
        label("q0", 1, annotator="ann", system="A"),
        label("q1", 0, annotator="ann", system="A"),
        label("q1", 0, annotator="bo", system="A"),
        label("q2", 1, annotator="ann", system="B"),
    ]
    means = labelled_means(queue, labels)
    # A: the answers have 1 and 0, their mean is 1/2 of two answers; B: 1 of one.
    assert [(one.system, one.mean.value, one.mean.n) for one in means] == [("A", 0.5, 2), ("B", 1.0, 1)]


def test_a_draw_with_unequal_chances_has_no_plain_mean():
    queue, _ = make_queue(plan(), material())
    drawn = [msgspec.structs.replace(item, inclusion=0.5) for item in queue.items]
    assert labelled_means(msgspec.structs.replace(queue, items=drawn), [label("q0", 1, system="A")]) == []
