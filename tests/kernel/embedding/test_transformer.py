"""sentence-transformers, stood in for by a module: the package brings a gigabyte."""

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import ClassVar

import numpy as np
import pytest

from ragstone.kernel.config import ModelSettings, Settings
from ragstone.kernel.embedding import _transformer as transformer
from ragstone.kernel.embedding.opening import open_embedder
from ragstone.kernel.errors import MissingExtra, ModelError


class SentenceTransformer:
    """What the package's class of that name does, in two numbers a text."""

    loaded: ClassVar[list[tuple[str, int | None]]] = []

    def __init__(self, name, truncate_dim=None):
        if name == "absent":
            raise OSError("absent is not a local folder\nand is no model")
        self.loaded.append((name, truncate_dim))

    def _vectors(self, texts, kind):
        return np.array([[len(text), kind] for text in texts], dtype=np.float64)

    def encode(self, texts, show_progress_bar, convert_to_numpy):
        return self._vectors(texts, 0)

    def encode_query(self, texts, show_progress_bar, convert_to_numpy):
        return self._vectors(texts, 1)

    def encode_document(self, texts, show_progress_bar, convert_to_numpy):
        return self._vectors(texts, 2)


@pytest.fixture(autouse=True)
def package(monkeypatch):
    module = ModuleType("sentence_transformers")
    module.__spec__ = ModuleSpec("sentence_transformers", None)
    module.SentenceTransformer = SentenceTransformer
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    SentenceTransformer.loaded = []
    transformer._load.cache_clear()


def settings_of(root, name="mini", **table):
    return Settings(models={f"sentence-transformers/{name}": ModelSettings(**table)}, root=str(root))


def test_a_model_uses_its_own_prompts_for_questions_and_passages(tmp_path):
    embed = open_embedder("sentence-transformers/mini", None, settings_of(tmp_path))
    assert SentenceTransformer.loaded == []
    np.testing.assert_allclose(embed(["a"], "query"), [[0.5**0.5, 0.5**0.5]])
    np.testing.assert_allclose(embed(["a"], "passage"), [[0.2**0.5, 0.8**0.5]])
    assert SentenceTransformer.loaded == [("mini", None)]


def test_prefixes_of_the_settings_replace_them(tmp_path):
    embed = open_embedder(
        "sentence-transformers/mini", None, settings_of(tmp_path, query_prefix="q: ", dimensions=2)
    )
    assert embed(["a"], "query").tolist() == [[1, 0]]
    assert SentenceTransformer.loaded == [("mini", 2)]


def test_a_folder_is_loaded_by_its_path_and_known_by_what_is_in_it(tmp_path):
    (tmp_path / "mini").mkdir()
    weights = tmp_path / "mini" / "model.safetensors"
    weights.write_bytes(b"1")
    first = open_embedder("sentence-transformers/mini", None, settings_of(tmp_path))
    first(["a"], "query")
    assert SentenceTransformer.loaded == [(str(tmp_path / "mini"), None)]
    weights.write_bytes(b"22")
    second = open_embedder("sentence-transformers/mini", None, settings_of(tmp_path))
    assert first.identity != second.identity


def test_a_model_that_is_not_there_says_what_to_give(tmp_path, says):
    embed = open_embedder("sentence-transformers/absent", None, settings_of(tmp_path))
    with pytest.raises(ModelError) as error:
        embed(["a"], "query")
    says(error.value)


def test_without_the_package_the_command_that_installs_it_is_named(monkeypatch):
    monkeypatch.setattr(transformer, "find_spec", lambda _name: None)
    with pytest.raises(MissingExtra, match=r"ragstone\[sentence-transformers\]"):
        open_embedder("sentence-transformers/mini")
