"""A question never changes its part, and no document is on both sides."""

from hypothesis import given
from hypothesis.strategies import integers, lists, sampled_from, sets, tuples

from ragstone.features.improve._parts import nodes_of, place_questions
from ragstone.features.improve.values import CAUTION, LookRecord, look_notes, looks_at

QUESTIONS = lists(
    tuples(integers(0, 30), sets(sampled_from("abcdefgh"), max_size=3)), max_size=25, unique_by=lambda q: q[0]
)


def nodes(question):
    number, documents = question
    return nodes_of(f"q{number}", f"Question {number}?", documents)


def looked(digest="d1", questions=("a",), judge="mine"):
    return LookRecord(
        at="2026-11-22T10:00:00+00:00",
        who="anna",
        labels="mixed",
        judge=judge,
        version=1,
        digest=digest,
        model="openai/m",
        questions=list(questions),
    )


@given(QUESTIONS, QUESTIONS, integers(0, 5))
def test_a_question_stays_where_it_is_when_labels_are_added(first, more, seed):
    before = place_questions(map(nodes, first), {}, seed)
    known = {number for number, _ in first}
    added = [question for question in more if question[0] not in known]
    after = place_questions(map(nodes, [*first, *added]), before, seed)
    assert {node: after[node] for node in before} == before


@given(QUESTIONS, integers(0, 5))
def test_questions_that_share_a_document_are_never_on_both_sides(questions, seed):
    parts = place_questions(map(nodes, questions), {}, seed)
    of_document = {}
    for question in questions:
        for document in question[1]:
            of_document.setdefault(document, set()).add(parts[nodes(question)[0]])
    assert all(len(found - {"neither"}) <= 1 for found in of_document.values())
    assert "neither" not in parts.values()  # at first use nothing is on a side yet that could tie another


@given(QUESTIONS, QUESTIONS, integers(0, 5))
def test_no_document_is_on_both_sides_after_labels_are_added(first, more, seed):
    before = place_questions(map(nodes, first), {}, seed)
    known = {number for number, _ in first}
    whole = [*first, *(question for question in more if question[0] not in known)]
    parts = place_questions(map(nodes, whole), before, seed)
    for document in "abcdefgh":
        found = {parts[nodes(question)[0]] for question in whole if document in question[1]}
        assert not {"dev", "test"} <= found


@given(QUESTIONS, integers(0, 5))
def test_the_order_of_rows_does_not_matter(questions, seed):
    assert place_questions(map(nodes, questions), {}, seed) == place_questions(
        map(nodes, questions[::-1]), {}, seed
    )


def test_a_question_without_documents_falls_where_its_key_says_whenever_it_comes():
    alone = {n: place_questions([nodes((n, set()))], {}, 3) for n in range(40)}
    together = place_questions([nodes((n, set())) for n in range(40)], {}, 3)
    assert all(together[node] == part for found in alone.values() for node, part in found.items())
    assert 10 <= sum(together[nodes((n, set()))[0]] == "test" for n in range(40)) <= 30


def test_a_question_that_ties_both_sides_is_in_neither():
    known = place_questions([nodes((n, {f"doc{n}"})) for n in range(20)], {}, 0)
    sides = {n: known[nodes((n, {f"doc{n}"}))[0]] for n in range(20)}
    dev, test = (next(n for n, side in sides.items() if side == wanted) for wanted in ("dev", "test"))
    both = nodes((99, {f"doc{dev}", f"doc{test}", "another"}))
    parts = place_questions([both], known, 0)
    assert parts[both[0]] == "neither"
    assert "document" not in {node.split()[0] for node in parts.keys() - known.keys()}


def test_rows_of_one_question_with_ids_of_their_own_are_on_one_side():
    rows = [nodes_of(f"row-{n}", "What is  RUST?" if n % 2 else "what is rust?") for n in range(6)]
    parts = place_questions(rows, {}, 0)
    assert len({parts[row[0]] for row in rows}) == 1
    assert len({parts[row[1]] for row in rows}) == 1


def test_looks_at_the_same_questions_are_counted_whatever_the_labels_are_called():
    looks = [looked(), looked(questions=["b"]), looked(digest="d2", questions=["a", "c"])]
    assert [look.digest for look in looks_at(looks, ["a"])] == ["d1", "d2"]


def test_a_card_says_which_look_it_is_and_from_the_third_on_why_that_matters(says):
    looks = [looked(), looked(), looked("d2")]
    says("\n".join(look_notes(1, looks, 40)))
    first, caution = look_notes(3, looks, 40)
    says(first)
    assert caution == CAUTION.format(n=3)
    assert "Dwork" in caution
