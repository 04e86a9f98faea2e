"""Which questions are asked for: spread over documents, passages and styles, the same for the same seed."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from ragstone.config import BuildSection
from ragstone.dataset.candidate import Passage
from ragstone.dataset.styles import Turn, load_style, turns_of
from ragstone.flows.build.plan import plan_orders, shuffled

FACTOID = [Turn(style=load_style("factoid"))]


def passages(**n_of: int) -> list[Passage]:
    """Return n passages for each document, long enough to ask about."""
    text = "The soil must be moist when the seed is sown in it. " * 4
    return [
        Passage(document_id=name, start=500 * at, end=500 * at + len(text), text=text, document_length=5000)
        for name, n in n_of.items()
        for at in range(n)
    ]


def test_each_document_is_asked_for_what_is_wanted_of_it() -> None:
    orders = plan_orders(passages(a=4, b=1), FACTOID, {"a": 3, "b": 2}, seed=0)
    asked = Counter[str]()
    for order in orders:
        asked[order.passage.document_id] += order.n
    assert asked == {"a": 3, "b": 2}
    assert len(orders) == 4  # three passages of a, one question each; the one of b in a single call


def test_styles_take_turns_over_documents_and_questions() -> None:
    turns = turns_of(load_style("bloom"), BuildSection(levels=["remember", "apply"]))
    orders = plan_orders(passages(a=1, b=1), turns, {"a": 3, "b": 3}, seed=0)
    asked = Counter[tuple[str, str | None]]()
    for order in orders:
        asked[order.passage.document_id, order.turn.level] += order.n
    # a begins with the first turn: remember, apply, remember; b with the second.
    assert asked == {("a", "remember"): 2, ("a", "apply"): 1, ("b", "apply"): 2, ("b", "remember"): 1}


def test_what_was_written_before_is_to_be_avoided() -> None:
    (order,) = plan_orders(passages(a=1), FACTOID, {"a": 1}, seed=0, sample=1, written={"a": ["Why?"]})
    assert order.avoid == ("Why?",)
    assert order.sample == 1


def test_choice_for_one_document_does_not_depend_on_the_others() -> None:
    alone = plan_orders(passages(b=9), FACTOID, {"b": 2}, seed=3)
    among = plan_orders(passages(a=9, b=9, c=9), FACTOID, {"c": 2, "b": 2, "a": 2}, seed=3)
    assert [one.passage for one in alone] == [one.passage for one in among if one.passage.document_id == "b"]


@given(st.lists(st.text(max_size=3), unique=True, max_size=20), st.integers(0, 9), st.randoms())
def test_order_follows_from_the_seed_alone(names: list[str], seed: int, random: object) -> None:
    mixed = list(names)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    assert shuffled(names, seed) == shuffled(mixed, seed)
    assert sorted(shuffled(names, seed)) == sorted(names)
