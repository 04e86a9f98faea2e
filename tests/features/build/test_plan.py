from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.features.build._plan import choose_passages, cut_passages, has_substance, plan_orders, shuffled
from ragstone.features.build._styles import DialogueTurn, load_style, turns_of
from ragstone.kernel.config import BuildSection
from ragstone.kernel.corpus.chunking import chunk_documents
from ragstone.kernel.dataset.candidate import SourcePassage
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Chunk, Document

PROSE = "Maize is sown in late April, once the soil is warmer than eight degrees. " * 8


def guide(*sections):
    return "\n\n".join(["# Guide", *(f"## Part {n}\n\n{text}" for n, text in enumerate(sections, 1))])


def test_a_document_that_fits_is_one_passage():
    cut = cut_passages([Document(id="d", text=" Sow. ", title="Maize", metadata={"topic": "crops"})], 200)
    (passage,) = cut.passages
    assert (passage.start, passage.end, passage.text) == (0, 6, " Sow. ")
    assert (passage.title, passage.topic, passage.document_length) == ("Maize", "crops", 6)
    assert (cut.empty, cut.split) == ([], [])


def test_a_long_document_is_cut_at_its_headings_which_stand_in_the_title(says):
    document = Document(id="d", text=guide(PROSE, PROSE), title="Guide", source="guide.md")
    cut = cut_passages([document], 800)
    says([passage.title for passage in cut.passages])
    assert cut.split == ["d"]
    assert {passage.document_length for passage in cut.passages} == {len(document.text)}


def test_the_trail_follows_a_title_of_another_name(says):
    document = Document(id="d", text=guide(PROSE, PROSE), title="Sowing", source="guide.md")
    says(cut_passages([document], 800).passages[1].title)


def test_blank_documents_are_listed():
    cut = cut_passages(
        [Document(id="a", text=" \n"), Document(id="b", text="Sow."), Document(id="c", text="")], 200
    )
    assert cut.empty == ["a", "c"]
    assert [passage.document_id for passage in cut.passages] == ["b"]


def test_the_language_is_the_rows_or_that_of_the_whole_document():
    german = "Der Mais wird Ende April gesät, sobald der Boden wärmer als acht Grad ist. " * 10
    rows = [Document(id="a", text=german), Document(id="b", text=german, lang="nl")]
    langs = {passage.document_id: passage.lang for passage in cut_passages(rows, 300).passages}
    assert langs == {"a": "de", "b": "nl"}


def test_chunks_are_passages_and_long_ones_are_cut():
    document = Document(id="d", text=PROSE, title="Maize", lang="en", metadata={"topic": "crops"})
    chunks = list(chunk_documents([document], "fixed", 250))
    cut = cut_passages(chunks, 300)
    assert [(one.start, one.end, one.text) for one in cut.passages] == [
        (c.start, c.end, c.text) for c in chunks
    ]
    assert {(one.title, one.lang, one.topic) for one in cut.passages} == {("Maize", "en", "crops")}
    assert cut.split == []
    shorter = cut_passages(chunks, 100)
    assert shorter.split == ["d"]
    assert all(document.text[one.start : one.end] == one.text for one in shorter.passages)
    assert max(one.document_length for one in shorter.passages) == chunks[-1].end


def test_metadata_of_a_chunk_that_is_no_text_is_left_alone():
    chunk = Chunk(
        id="d#0", document_id="d", text="Sow.", start=5, end=9, metadata={"title": 3, "topic": ["x"]}
    )
    (passage,) = cut_passages([chunk], 200).passages
    assert (passage.title, passage.topic, passage.start) == (None, None, 5)


@given(st.text(max_size=900), st.integers(20, 400), st.booleans())
def test_passages_lie_in_their_document_and_are_no_longer_than_asked(text, longest, as_chunks):
    document = Document(id="d", text=text, source="d.md")
    try:
        rows = list(chunk_documents([document], "fixed", 150)) if as_chunks else [document]
        cut = cut_passages(rows, longest)
    except DataError:  # half a surrogate pair
        return
    for passage in cut.passages:
        assert passage.text == text[passage.start : passage.end]
        assert passage.text.strip()
        assert len(passage.text) <= longest
        assert passage.document_length >= passage.end
    if not as_chunks:
        assert cut.empty == ([] if text.strip() else ["d"])


def passages_of(*texts):
    document = Document(id="d", text=guide(*texts), source="d.md")
    return cut_passages([document], 800).passages


def test_questions_are_spread_over_the_document():
    passages = passages_of(*[f"{n} {PROSE}" for n in range(9)])
    assert len(passages) == 9
    chosen = choose_passages(passages, 3, np.random.default_rng(0))
    places = [passages.index(passage) for passage, _ in chosen]
    assert [place // 3 for place in places] == [0, 1, 2]
    assert [n for _, n in chosen] == [1, 1, 1]


def test_with_fewer_passages_than_questions_each_has_its_share():
    passages = passages_of(PROSE, PROSE)
    assert sorted(n for _, n in choose_passages(passages, 5, np.random.default_rng(0))) == [2, 3]
    assert [n for _, n in choose_passages(passages[:1], 5, np.random.default_rng(0))] == [5]
    assert choose_passages([], 3, np.random.default_rng(0)) == []


def test_the_same_seed_gives_the_same_choice_and_another_another():
    passages = passages_of(*[f"{n} {PROSE}" for n in range(30)])
    first, second, third = (
        [p.start for p, _ in choose_passages(passages, 3, np.random.default_rng(seed))] for seed in (1, 1, 2)
    )
    assert first == second != third


CONTENTS = "\n".join(f"- [Part {n} of the long guide](#part-{n})" for n in range(30))
DOTTED = "\n".join(f"{n}. Sowing and growing maize ........ {n + 10}" for n in range(30))


@pytest.mark.parametrize("text", [CONTENTS, DOTTED, "Short rest.", "# A heading\n\n## Another"])
def test_lists_of_contents_and_short_rests_are_taken_only_alone(text):
    assert not has_substance(text)
    (good,) = cut_passages([Document(id="d", text=PROSE)], 800).passages
    (poor,) = cut_passages([Document(id="d", text=text)], 2000).passages
    assert {p.text for p, _ in choose_passages([poor, good, poor], 2, np.random.default_rng(3))} == {PROSE}
    assert [p.text for p, _ in choose_passages([poor], 2, np.random.default_rng(3))] == [text]


@pytest.mark.parametrize(
    "text",
    [
        PROSE,
        "玉米在四月播种，需要许多水。" * 6,
        "def sign(context, salt, data) do\n  context |> key(salt) |> Crypto.sign(data)\nend\n" * 4,
        "| crop | water | yield |\n| --- | --- | --- |\n" + "| maize | 500 mm | 9 tonnes |\n" * 10,
    ],
)
def test_prose_code_and_tables_have_substance(text):
    assert has_substance(text)


FACTOID = [DialogueTurn(style=load_style("factoid"))]


def passages(**n_of: int) -> list[SourcePassage]:
    """Return n passages for each document, long enough to ask about."""
    text = "The soil must be moist when the seed is sown in it. " * 4
    return [
        SourcePassage(
            document_id=name, start=500 * at, end=500 * at + len(text), text=text, document_length=5000
        )
        for name, n in n_of.items()
        for at in range(n)
    ]


def test_each_document_is_asked_for_what_is_wanted_of_it():
    orders = plan_orders(passages(a=4, b=1), FACTOID, {"a": 3, "b": 2}, seed=0)
    asked = Counter[str]()
    for order in orders:
        asked[order.passage.document_id] += order.n
    assert asked == {"a": 3, "b": 2}
    assert len(orders) == 4  # three passages of a, one question each; the one of b in a single call


def test_styles_take_turns_over_documents_and_questions():
    turns = turns_of(load_style("bloom"), BuildSection(levels=["remember", "apply"]))
    orders = plan_orders(passages(a=1, b=1), turns, {"a": 3, "b": 3}, seed=0)
    asked = Counter[tuple[str, str | None]]()
    for order in orders:
        asked[order.passage.document_id, order.turn.level] += order.n
    # a begins with the first turn: remember, apply, remember; b with the second.
    assert asked == {("a", "remember"): 2, ("a", "apply"): 1, ("b", "apply"): 2, ("b", "remember"): 1}


def test_what_was_written_before_is_to_be_avoided():
    (order,) = plan_orders(passages(a=1), FACTOID, {"a": 1}, seed=0, sample=1, written={"a": ["Why?"]})
    assert order.avoid == ("Why?",)
    assert order.sample == 1


def test_choice_for_one_document_does_not_depend_on_the_others():
    alone = plan_orders(passages(b=9), FACTOID, {"b": 2}, seed=3)
    among = plan_orders(passages(a=9, b=9, c=9), FACTOID, {"c": 2, "b": 2, "a": 2}, seed=3)
    assert [one.passage for one in alone] == [one.passage for one in among if one.passage.document_id == "b"]


@given(st.lists(st.text(max_size=3), unique=True, max_size=20), st.integers(0, 9), st.randoms())
def test_order_follows_from_the_seed_alone(names, seed, random):
    mixed = list(names)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    assert shuffled(names, seed) == shuffled(mixed, seed)
    assert sorted(shuffled(names, seed)) == sorted(names)
