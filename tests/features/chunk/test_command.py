import pytest
from tests.support.command import ragstone

from ragstone.kernel.records import Chunk, Document
from ragstone.kernel.tables import read_rows, write_rows

TEXT = "Sow in May. Water often. Harvest in September. Store it dry."


@pytest.fixture
def corpus(folder):
    write_rows(folder / "d.jsonl", [Document(id="d", text=TEXT)], Document)
    return folder


def chunks():
    return [chunk.text for chunk in read_rows("chunks.jsonl", Chunk)]


def test_the_method_and_its_sizes_are_options(corpus):
    assert ragstone("chunk", "d.jsonl", "--method", "sentence", "--size", 30, "--overlap", 13).code == 0
    # "Water often." (12 characters) and the next sentence (21) do not fit 30; the last two (35) neither.
    assert chunks() == ["Sow in May. Water often.", "Harvest in September.", "Store it dry."]
    ragstone("chunk", "d.jsonl", "--method", "sentence", "--size", 36, "--overlap", 13, "--force")
    assert chunks() == ["Sow in May. Water often.", "Water often. Harvest in September.", "Store it dry."]


def test_settings_are_those_of_the_file_and_options_go_before(corpus):
    (corpus / "ragstone.toml").write_text('[chunk]\nmethod = "sentence"\nsize = 25\n')
    ragstone("chunk", "d.jsonl")
    assert chunks() == ["Sow in May. Water often.", "Harvest in September.", "Store it dry."]
    ragstone("chunk", "d.jsonl", "--method", "whole", "--force")
    assert chunks() == [TEXT]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--method", "sentances"), "unknown chunk method 'sentances'. Did you mean 'sentence'"),
        (("--size", 5, "--overlap", 5), "overlap must be from 0 to size - 1"),
        (("--method", "semantic", "--embedder", "nope"), "unknown embedder 'nope'"),
    ],
)
def test_a_mistake_is_told_plainly(corpus, options, message):
    ran = ragstone("chunk", "d.jsonl", *options)
    assert ran.code == 2
    assert message in ran.err


@pytest.mark.model
def test_semantic_chunks_by_the_packaged_embedder(corpus):
    assert ragstone("chunk", "d.jsonl", "--method", "semantic", "--percentile", 0).code == 0
    assert chunks() == [TEXT]
    assert ragstone("chunk", "d.jsonl", "--method", "semantic", "--percentile", 100, "--force").code == 0
    assert len(chunks()) > 1
