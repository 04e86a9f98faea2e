import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from ragstone.kernel.corpus.topics import (
    choose_n_groups,
    group_texts,
    group_vectors,
    lexical_vectors,
    silhouette,
    topic_names,
    topic_terms,
    unique_names,
)
from ragstone.kernel.errors import ConfigError, DataError

MAIZE = [
    "The Maize grows in rows of maize.",
    "Maize cobs are harvested in rows.",
    "Sow the maize cobs early.",
]
LOANS = ["The bank gives a loan for interest.", "Interest on the loan is due.", "The bank lends a loan."]


def bundles(n_groups, each, noise=0.05, dimensions=8):
    """Return vectors in bundles around random directions, and the bundle of each."""
    draw = np.random.default_rng(1)
    centres = np.linalg.qr(draw.standard_normal((dimensions, dimensions)))[0][:n_groups]
    gold = np.repeat(np.arange(n_groups), each)
    vectors = centres[gold] + noise * draw.standard_normal((len(gold), dimensions))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32), gold


@pytest.mark.parametrize("n_groups", [1, 2, 5])
def test_vectors_of_one_bundle_are_one_group(n_groups):
    vectors, gold = bundles(n_groups, 12)
    assert adjusted_rand_score(gold, group_vectors(vectors, n_groups, 0)) == 1


@pytest.mark.parametrize("n_groups", [2, 4, 7])
def test_the_number_of_bundles_is_found(n_groups):
    # 4 is tried as 4, 7 lies between 6 and 8 (each is a quarter more than the one before).
    vectors, _ = bundles(n_groups, 15)
    assert abs(choose_n_groups(vectors, 0) - n_groups) <= 1


def test_the_silhouette_of_two_points_each_in_opposite_directions_is_one():
    # a = 0 for all four; b = 1 - (-1) = 2; (2 - 0) / 2 = 1.
    points = np.array([[1, 0], [1, 0], [-1, 0], [-1, 0]], dtype=np.float32)
    assert silhouette(points, np.array([0, 0, 1, 1])) == 1
    # Of groups {1st, 3rd} and {2nd, 4th} the centres are zero vectors: a = 1, b = 1.
    assert silhouette(points, np.array([0, 1, 0, 1])) == 0
    # A group of one counts 0: (1 + 1 + 0) / 3.
    assert silhouette(points[:3], np.array([0, 0, 1])) == pytest.approx(2 / 3)


def test_groups_are_numbered_by_size_and_zeros_belong_to_none():
    vectors = np.array([[0, 1], [0, 0], [1, 0], [1, 0]], dtype=np.float32)
    assert group_vectors(vectors, 2, 0).tolist() == [1, -1, 0, 0]


def test_there_are_no_more_groups_than_vectors_that_differ():
    assert group_vectors(np.ones((5, 1), dtype=np.float32), 3, 0).tolist() == [0] * 5
    assert group_vectors(np.zeros((2, 3), dtype=np.float32), 1, 0).tolist() == [-1, -1]


@given(st.integers(1, 12), st.integers(1, 30), st.integers(0, 3))
def test_every_vector_has_a_group_and_the_same_seed_gives_the_same_groups(n_groups, n, seed):
    vectors = np.random.default_rng(n).standard_normal((n, 4)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    labels = group_vectors(vectors, n_groups, seed)
    assert np.array_equal(labels, group_vectors(vectors, n_groups, seed))
    sizes = np.bincount(labels)
    assert len(sizes) == min(n, n_groups)
    assert (np.diff(sizes) <= 0).all()


def test_lexical_vectors_have_length_one_or_zero():
    vectors = lexical_vectors([*MAIZE, *LOANS, "Zebra?", ""], 0)
    lengths = np.linalg.norm(vectors, axis=1)
    assert lengths[:6] == pytest.approx(1, abs=1e-5)
    assert lengths[6:].tolist() == [0, 0]
    assert lexical_vectors(["", ""], 0).shape == (2, 0)


def test_lexical_vectors_are_those_of_an_exact_decomposition():
    # Fewer texts than dimensions: nothing is lost, so cosines are those of the TF-IDF rows themselves.
    vectors = lexical_vectors(["a b x y", "a b", "x y"], 0)
    # Every term is in two of three texts and weighs the same: cos(1, 2) = 2 / (2 * sqrt 2), cos(2, 3) = 0.
    # "a" and the rest are in 2 of 3 texts, which max(2, 0.5 * 3) allows.
    assert float(vectors[0] @ vectors[1]) == pytest.approx(2**-0.5, abs=1e-5)
    assert float(vectors[1] @ vectors[2]) == pytest.approx(0, abs=1e-5)


def test_texts_that_share_terms_are_one_topic_named_by_them():
    texts = [MAIZE[0], LOANS[0], MAIZE[1], LOANS[1], LOANS[2], MAIZE[2]]
    labels = group_texts(texts, 2)
    assert adjusted_rand_score([0, 1, 0, 1, 1, 0], labels) == 1
    names = topic_names(topic_terms(texts, labels))
    assert names[labels[0]].startswith("Maize")
    assert set(names[labels[1]].split(", ")) == {"interest", "bank", "loan"}


def test_names_are_written_as_people_write_them():
    texts = [
        "Die Börse in Köln.",
        "Köln hat die Börse.",
        "Der Wald im Herbst.",
        "Herbst ist im Wald der Bäume.",
    ]
    names = topic_names(topic_terms(texts, np.array([0, 0, 1, 1])))
    assert set(names[0].split(", ")[:2]) == {"Börse", "Köln"}
    assert set(names[1].split(", ")[:2]) == {"Wald", "Herbst"}


def test_words_that_all_topics_share_name_none():
    texts = ["water the maize", "water the maize now", "water the loan", "water the loan now"]
    assert topic_terms(texts, np.array([0, 0, 1, 1])) == [["maize"], ["loan"]]


@pytest.mark.parametrize(
    ("texts", "light", "kept"),
    [
        (["Who wants lime from them?", "Who needs their lime?"], {"who", "their", "from"}, "lime"),
        (["Wer hat den Kalk bestellt?", "Wer bringt wann den Kalk?"], {"wer", "den", "wann"}, "kalk"),
        (["Is hay dry enough for the horses in the barn?", "Does our hay mould in the barn?"], set(), "hay"),
    ],
)
def test_function_words_of_its_language_name_no_topic(texts, light, kept):
    # "hay" says little in Spanish, and much in English.
    named = {term.casefold() for term in topic_terms([*texts, *LOANS], np.array([0, 0, 1, 1, 1]))[0]}
    assert kept in named
    assert not named & light


def test_scripts_without_spaces_are_named_by_runs_of_characters():
    texts = ["我们种植玉米", "玉米收获了", "银行的贷款", "贷款利息高"]
    assert [terms[0] for terms in topic_terms(texts, np.array([0, 0, 1, 1]))] == ["玉米", "贷款"]


def test_forms_of_a_word_are_named_once():
    texts = ["sprinkler sprinklers", "sprinkler sprinklers", "x loan", "y loan"]
    assert topic_terms(texts, np.array([0, 0, 1, 1]))[0] == ["sprinklers"]


def test_a_name_is_given_once_and_a_topic_without_terms_has_a_number():
    assert unique_names(["Water", "water", "Soil"]) == ["Water", "water (2)", "Soil"]
    assert topic_names([["a", "b", "c", "d"], []]) == ["a, b, c", "topic 2"]


def test_an_embedder_groups_in_place_of_terms():
    asked = []

    def embed(texts, role):
        asked.append(role)
        return np.array([[1, 0] if "maize" in text.lower() else [0, 1] for text in texts], dtype=np.float32)

    texts = ["maize", "El maíz, maize", "loan", "préstamo"]
    assert group_texts(texts, 2, embed=embed).tolist() == [0, 0, 1, 1]
    assert group_texts(texts, embed=embed).tolist() == [0, 0, 1, 1]
    assert asked == ["passage", "passage"]


def test_what_all_texts_of_a_language_share_does_not_part_topics():
    # The third number tells the language, and is larger than what tells the topic.
    gold = np.array([0, 1] * 20)
    langs = ["en"] * 20 + ["hi"] * 20
    vectors = np.zeros((40, 3), dtype=np.float32)
    vectors[np.arange(40), gold] = 1
    vectors[:, 2] = np.where(np.arange(40) < 20, 3, -3)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    texts = [""] * 40
    assert adjusted_rand_score(gold, group_texts(texts, 2, embed=lambda *_: vectors, langs=langs)) == 1
    assert adjusted_rand_score(gold, group_texts(texts, 2, embed=lambda *_: vectors)) < 1


@pytest.mark.parametrize("n_topics", [0, -1, 4])
def test_a_number_of_topics_that_cannot_be_is_told(n_topics, says):
    with pytest.raises(ConfigError) as error:
        group_texts(["a", "b", "c"], n_topics)
    says(error.value)


def test_no_texts_are_told(says):
    with pytest.raises(DataError) as error:
        group_texts([])
    says(error.value)


def test_one_text_and_texts_that_share_nothing_are_in_no_topic():
    assert group_texts(["alone"]).tolist() == [-1]
    assert group_texts(["alone", "apart"], 2).tolist() == [-1, -1]


@pytest.mark.simulation
@pytest.mark.pack
@pytest.mark.parametrize(("lang", "least"), [("en", 0.65), ("hi", 0.6), ("zh", 0.55), ("ar", 0.6)])
def test_paragraphs_of_xquad_are_grouped_by_article(shared_data, lang, least):
    lines = (shared_data / "xquad" / "documents.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["lang"] == lang]
    articles = [row["title"] for row in rows]
    labels = group_texts([row["text"] for row in rows], len(set(articles)))
    assert adjusted_rand_score(articles, labels) >= least
