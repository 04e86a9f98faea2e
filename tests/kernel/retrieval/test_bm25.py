import asyncio
import itertools
from collections import Counter, defaultdict
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.kernel.corpus.term_numbers import PieceTerms, stable_order
from ragstone.kernel.corpus.tokens import search_terms, tokenize, word_terms
from ragstone.kernel.retrieval import bm25
from ragstone.kernel.retrieval.bm25 import K1, B, post, rank_by_bm25
from ragstone.kernel.retrieval.ranks import Subset

WORDS = ["a", "b", "rain", "sun", "maize", "maizes", "東京", "x"]
corpora = st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), min_size=1, max_size=30)
questions = st.lists(st.sampled_from([*WORDS, "unknown"]), max_size=8).map(" ".join)


def found(texts, question, k=10, among=None):
    (hits,) = asyncio.run(rank_by_bm25(texts)([question], k, among))
    return hits


def by_formula(texts: list[str], question: str) -> list[float]:
    """Lucene's BM25 as it is written: idf(t) tf / (tf + k1 (1 - b + b length / mean length))."""
    counts = [Counter(search_terms(text)) for text in texts]
    mean = sum(count.total() for count in counts) / len(texts) or 1
    scores = []
    for count in counts:
        score = 0.0
        for term in search_terms(question):
            n = sum(term in other for other in counts)
            idf = log(1 + (len(texts) - n + 0.5) / (n + 0.5))
            damping = K1 * (1 - B + B * count.total() / mean)
            score += idf * count[term] / (count[term] + damping) if count[term] else 0.0
        scores.append(score)
    return scores


@given(corpora, questions)
@settings(deadline=None)
def test_scores_are_those_of_the_formula(texts, question):
    expected = by_formula(texts, question)
    hits = found(texts, question, len(texts))
    assert {at for at, _ in hits} == {at for at, score in enumerate(expected) if score > 0}
    assert [score for _, score in hits] == pytest.approx([expected[at] for at, _ in hits], abs=5e-6)
    assert hits == sorted(hits, key=lambda hit: (-hit[1], hit[0]))


@given(corpora, questions, st.integers(1, 5), st.data())
@settings(deadline=None)
def test_a_subset_gives_the_best_within_it(texts, question, k, data):
    positions = sorted(data.draw(st.sets(st.integers(0, len(texts) - 1))))
    among = Subset({}, np.array(positions, dtype=np.int64))
    everything = found(texts, question, len(texts))
    assert found(texts, question, k, among) == [hit for hit in everything if hit[0] in positions][:k]


@given(corpora, st.lists(questions, max_size=5))
@settings(deadline=None)
def test_common_terms_and_blocks_of_questions_change_nothing(texts, several):
    """A term in many texts is kept as a row; here each is, then none; one question a block, then all."""
    rankings = []
    for common, cells in [(10**9, 1), (1, 2**20), (8, 60)]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(bm25, "_COMMON", common)
            patch.setattr(bm25, "_FEW", 0)
            patch.setattr(bm25, "_BLOCK_CELLS", cells)
            rankings.append(asyncio.run(rank_by_bm25(texts)(several, 7, None)))
    assert rankings[0] == rankings[1] == rankings[2]


def test_a_corpus_without_terms_answers_nothing():
    assert found(["...", ""], "maize") == []


def test_a_corpus_without_texts_answers_nothing():
    assert found([], "rain") == []


def test_no_questions_have_no_rankings():
    assert asyncio.run(rank_by_bm25(["maize"])([], 3, None)) == []


@pytest.mark.long
def test_scores_are_those_of_bm25s():
    bm25s = pytest.importorskip("bm25s")
    generator = np.random.default_rng(0)
    words = np.array([f"w{number}" for number in range(300)])
    ranks = generator.zipf(1.3, (200, 40)) % 300
    texts = [" ".join(words[row]) for row in ranks]
    peer = bm25s.BM25(method="lucene", k1=K1, b=B)
    peer.index([search_terms(text) for text in texts], show_progress=False)
    for question in (" ".join(words[row[:6]]) for row in generator.zipf(1.3, (20, 6)) % 300):
        known = [peer.vocab_dict[term] for term in search_terms(question) if term in peer.vocab_dict]
        expected = np.asarray(peer.get_scores_from_ids(known)) if known else np.zeros(200)
        scores = np.zeros(200)
        for at, score in found(texts, question, 200):
            scores[at] = score
        assert scores == pytest.approx(expected, abs=1e-5)


# Scripts without spaces beside others, marks on any of them (three and more, and on nothing), and what NFKC,
# casefolding and the Arabic article make of a word.
TRAPS = (
    "ab ,1_'\n東京。ガカ\u3099ﾊﾟ㈱ภาษาที่กำ\u0e31\u0e49\u0e34\u0301\u0338éßİıﬁ²हिनदीوالكتابلل\u200b\u00ad\ud800"
)
texts = st.lists(st.text(st.sampled_from(TRAPS), max_size=30) | st.text(), max_size=12)


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


@pytest.mark.long
@given(texts=texts)
@settings(deadline=None, max_examples=200)
def test_every_term_is_counted_in_every_text(texts):
    expected, lengths = counted(texts), [len(search_terms(text)) for text in texts]
    for first, characters, pieces in [(2**14, 2**20, 2**20), (1, 1, 2**20), (1, 20, 3)]:
        with pytest.MonkeyPatch.context() as patch:  # blocks of a text, and pieces that are soon forgotten
            patch.setattr(bm25, "FIRST_CHARACTERS", first)
            patch.setattr(bm25, "BLOCK_CHARACTERS", characters)
            patch.setattr(bm25, "KNOWN_PIECES", pieces)
            posted = post(texts)
        assert as_dict(posted) == expected
        assert posted.lengths.tolist() == lengths


def test_a_text_may_be_longer_than_a_block():
    posted = post(["maize " * 300_000, "maize"])
    assert as_dict(posted)["maize"] == {0: 300_000, 1: 1}


@pytest.mark.long
@given(st.lists(st.text(st.characters(codec="utf-8")) | st.text(st.sampled_from(TRAPS))))
@settings(deadline=None, max_examples=300)
def test_characters_of_scripts_without_spaces_are_found_together_as_each_by_itself(several):
    """In one piece each, as folded texts never are: kinds of characters say what `search_terms` says."""
    vocabulary = defaultdict(itertools.count().__next__)
    folded = [" ".join(tokenize(text)) for text in several]
    terms, counts = PieceTerms(vocabulary, 0)._of_unspaced(folded)
    named = list(vocabulary)
    each = iter(named[number] for number in terms.tolist())
    assert [sorted(next(each) for _ in range(n)) for n in counts.tolist()] == [
        sorted(term for word in text.split(" ") if word for term in word_terms(word)) for text in folded
    ]


def test_numbers_beyond_16_bits_are_ordered_and_equal_ones_stay_in_their_order():
    numbers = np.random.default_rng(0).integers(0, 2**31, 1000, dtype=np.int32) >> np.arange(1000) % 31
    assert stable_order(numbers).tolist() == np.argsort(numbers, kind="stable").tolist()
