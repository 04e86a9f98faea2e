"""Qdrant, embedded and (where RAGSTONE_QDRANT_URL names one) as a server: one contract for both."""

import gc
import os
import subprocess
import sys
import uuid

import numpy as np
import pytest
from tests.kernel.retrieval.vectors import random_vectors, same_hits, subsets, tagged_chunks, tied_vectors
from tests.support.fake_openai import ROOT

from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.retrieval.qdrant import QdrantPlace, search_by_qdrant
from ragstone.kernel.retrieval.ranks import search_exactly

pytestmark = pytest.mark.server
URL = os.environ.get("RAGSTONE_QDRANT_URL")
N = 60


@pytest.fixture(
    params=[
        "folder",
        "memory",
        pytest.param(
            "server",
            marks=pytest.mark.skipif(URL is None, reason="RAGSTONE_QDRANT_URL names no Qdrant server"),
        ),
    ]
)
def place(request, tmp_path):
    """A place for collections, empty; those on a server are deleted afterwards."""
    if request.param != "server":
        yield QdrantPlace(folder=tmp_path if request.param == "folder" else None)
        return
    from qdrant_client import QdrantClient

    name = f"ragstone-test-{uuid.uuid4().hex}"
    yield QdrantPlace(url=URL, collection=name)
    client = QdrantClient(url=URL)
    client.delete_collection(name)
    client.close()


@pytest.mark.parametrize("make", [tied_vectors, random_vectors])
def test_it_finds_what_exact_search_finds_among_those_with_the_tags(place, make):
    passages, queries, chunks = make(N, 6, 0), make(8, 6, 1), tagged_chunks(N)
    search = search_by_qdrant(passages, chunks, place)
    for among in subsets(chunks):
        for k in (1, 5, 1000):
            assert same_hits(search(queries, k, among), search_exactly(passages, queries, k, among)), among


def points_of(folder, n_names=1):
    """Return the points of the one collection in a folder."""
    from qdrant_client import QdrantClient

    gc.collect()  # the search that was built here lets go of the folder
    (path,) = folder.iterdir()
    client = QdrantClient(path=str(path))
    try:
        return path.name, client.scroll(path.name, limit=1000, with_vectors=True)[0]
    finally:
        client.close()


def test_a_point_has_the_chunk_and_its_tags(tmp_path):
    passages, chunks = random_vectors(4, 3, 0), tagged_chunks(4)
    search_by_qdrant(passages, chunks, QdrantPlace(folder=tmp_path))
    name, points = points_of(tmp_path)
    assert name.startswith("ragstone-")
    payload = dict(points[3].payload)
    assert name.endswith(payload.pop("content"))
    assert payload == {
        "chunk_id": "c3",
        "document_id": "d1",
        "lang": ["hi"],
        "topic": [],
        "tags": {"crop": ['a"b.c', 'a"b.c']},
    }
    np.testing.assert_allclose(points[3].vector, passages[3], atol=1e-7)


def test_a_collection_is_built_once(tmp_path, monkeypatch):
    from qdrant_client import QdrantClient

    sent = []
    upsert = QdrantClient.upsert

    def counting(self, name, points, **more):
        sent.append(len(points.ids))
        return upsert(self, name, points, **more)

    monkeypatch.setattr(QdrantClient, "upsert", counting)
    passages, chunks = random_vectors(N, 3, 0), tagged_chunks(N)
    first = search_by_qdrant(passages, chunks, QdrantPlace(folder=tmp_path))
    found = first(passages[:3], 5, None)
    again = search_by_qdrant(passages, chunks, QdrantPlace(folder=tmp_path))  # beside the first
    del first
    assert again(passages[:3], 5, None) == found
    del again
    gc.collect()
    third = search_by_qdrant(passages, chunks, QdrantPlace(folder=tmp_path))
    assert third(passages[:3], 5, None) == found
    assert sent == [N]
    search_by_qdrant(passages[1:], chunks[1:], QdrantPlace(folder=tmp_path))
    assert sent == [N, N - 1]


def test_a_collection_whose_building_was_cut_short_is_completed(place, monkeypatch):
    if place.folder is None and place.url is None:
        pytest.skip("memory is gone with its search")
    passages, chunks = random_vectors(N, 3, 0), tagged_chunks(N)
    monkeypatch.setattr("ragstone.kernel.retrieval.qdrant.BATCH", 25)
    from qdrant_client import QdrantClient

    upsert, calls = QdrantClient.upsert, []

    def dying(self, name, points, **more):
        calls.append(points.ids[0])
        if len(calls) == 2:
            raise KeyboardInterrupt
        return upsert(self, name, points, **more)

    monkeypatch.setattr(QdrantClient, "upsert", dying)
    with pytest.raises(KeyboardInterrupt):
        search_by_qdrant(passages, chunks, place)
    gc.collect()
    search = search_by_qdrant(passages, chunks, place)
    assert calls == [0, 25, 25, 50]
    assert same_hits(search(passages[:9], 7, None), search_exactly(passages, passages[:9], 7))


@pytest.mark.parametrize("what", ["vectors", "tags", "fewer"])
def test_a_named_collection_with_other_content_is_an_error_that_says_what_to_do(tmp_path, what):
    place = QdrantPlace(folder=tmp_path, collection="mine")
    passages, chunks = random_vectors(N, 3, 0), tagged_chunks(N)
    search_by_qdrant(passages, chunks, place)
    if what == "vectors":
        passages = random_vectors(N, 3, 9)
    elif what == "tags":
        chunks = [*chunks[1:], chunks[0]]
    else:
        passages, chunks = passages[:-1], chunks[:-1]
    message = (
        r"collection 'mine' holds 60 points that are not these chunks .* Name another .* or delete .*mine"
    )
    with pytest.raises(DataError, match=message):
        search_by_qdrant(passages, chunks, place)


def test_another_dimension_names_both(tmp_path, says):
    place = QdrantPlace(folder=tmp_path, collection="mine")
    search_by_qdrant(random_vectors(4, 3, 0), tagged_chunks(4), place)
    with pytest.raises(DataError) as error:
        search_by_qdrant(random_vectors(4, 5, 0), tagged_chunks(4), place)
    says(error.value)


def test_a_server_that_is_down_is_an_error_with_its_url():
    with pytest.raises(
        DataError, match=r"http://127.0.0.1:1: the Qdrant server cannot be reached .* running"
    ):
        search_by_qdrant(
            random_vectors(4, 3, 0), tagged_chunks(4), QdrantPlace(url="http://127.0.0.1:1", api_key="secret")
        )


def test_a_server_that_refuses_is_quoted(fake_openai):
    url = fake_openai.base_url.removesuffix("/v1")
    from tests.support.scripts import fail

    fake_openai._check = lambda _request, _body: fail(403, "Invalid API key")
    with pytest.raises(DataError, match=r"Qdrant answered HTTP \d+"):
        search_by_qdrant(random_vectors(4, 3, 0), tagged_chunks(4), QdrantPlace(url=url))


def test_an_address_that_is_none_is_an_error():
    with pytest.raises(ConfigError, match="url 'nonsense:' of the retriever"):
        search_by_qdrant(random_vectors(4, 3, 0), tagged_chunks(4), QdrantPlace(url="nonsense:"))


def test_a_folder_that_another_process_has_open_is_an_error(tmp_path):
    passages, chunks = random_vectors(4, 3, 0), tagged_chunks(4)
    script = (
        "import sys; from pathlib import Path; from tests.kernel.retrieval.test_qdrant import *\n"
        "place = QdrantPlace(folder=Path(sys.argv[1]))\n"
        "search = search_by_qdrant(random_vectors(4, 3, 0), tagged_chunks(4), place)\n"
        "print('open', flush=True); sys.stdin.read()\n"
    )
    command = [sys.executable, "-W", "error", "-c", script, str(tmp_path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=ROOT, **pipes) as other:
        assert other.stdout.readline() == "open\n"
        with pytest.raises(DataError, match="another process has this Qdrant collection open"):
            search_by_qdrant(passages, chunks, QdrantPlace(folder=tmp_path))
        _, said = other.communicate("")
    assert (other.returncode, said) == (0, "")  # no warning, nor a complaint of its end
    search_by_qdrant(passages, chunks, QdrantPlace(folder=tmp_path))


def test_a_damaged_folder_says_to_delete_it(tmp_path):
    place = QdrantPlace(folder=tmp_path, collection="mine")
    search_by_qdrant(random_vectors(4, 3, 0), tagged_chunks(4), place)
    gc.collect()
    (tmp_path / "mine" / "meta.json").write_text("{")
    with pytest.raises(
        DataError, match=r"mine: this Qdrant collection cannot be opened .* Delete the folder"
    ):
        search_by_qdrant(random_vectors(4, 3, 0), tagged_chunks(4), place)


def test_a_collection_has_a_plain_name(says):
    with pytest.raises(ConfigError) as error:
        search_by_qdrant(random_vectors(4, 3, 0), tagged_chunks(4), QdrantPlace(collection="../x"))
    says(error.value)
