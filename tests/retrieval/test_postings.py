from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.corpus.tokens import search_terms
from ragstone.retrieval import bm25
from ragstone.retrieval.bm25 import post

texts = st.lists(st.text(st.sampled_from("ab ,1東京é'\n")) | st.text(), max_size=12)


def as_dict(posted: bm25.Postings) -> dict[str, dict[int, float]]:
    """Return term -> text -> count, checking that the texts of a term ascend."""
    found = {}
    for term, number in posted.vocabulary.items():
        own = slice(posted.starts[number], posted.starts[number + 1])
        positions = posted.texts[own].tolist()
        assert positions == sorted(set(positions))
        found[term] = dict(zip(positions, posted.counts[own].tolist(), strict=True))
    return found


def counted(texts: list[str]) -> dict[str, dict[int, float]]:
    expected: dict[str, dict[int, float]] = {}
    for position, text in enumerate(texts):
        for term, n in Counter(search_terms(text)).items():
            expected.setdefault(term, {})[position] = n
    return expected


@pytest.mark.parametrize(("characters", "pieces"), [(2**20, 2**20), (1, 2**20), (5, 3)])
@given(texts=texts)
@settings(deadline=None)
def test_every_term_is_counted_in_every_text(characters, pieces, texts):
    with pytest.MonkeyPatch.context() as patch:  # blocks of a text, and pieces that are soon forgotten
        patch.setattr(bm25, "BLOCK_CHARACTERS", characters)
        patch.setattr(bm25, "KNOWN_PIECES", pieces)
        posted = post(texts)
    assert as_dict(posted) == counted(texts)
    assert posted.lengths.tolist() == [len(search_terms(text)) for text in texts]


def test_a_text_may_be_longer_than_a_block():
    posted = post(["maize " * 300_000, "maize"])
    assert as_dict(posted)["maize"] == {0: 300_000, 1: 1}
