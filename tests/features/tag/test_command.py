import json

import pytest
from tests.support.command import ragstone
from tests.support.scripts import nonce_in

from ragstone.kernel.records import Chunk, Document
from ragstone.kernel.tables import read_rows, write_rows

TEXTS = [
    "Maize grows in rows.",
    "Corn and maize cobs in rows.",
    "The bank gives a loan.",
    "A loan of the bank.",
]


@pytest.fixture
def corpus(project):
    write_rows(
        project / "d.jsonl", [Document(id=f"d{n}", text=text) for n, text in enumerate(TEXTS)], Document
    )
    (project / "tags.toml").write_text('[tags.crop]\nmaize = ["corn"]\nwheat = []\n')
    return project


def test_documents_get_topics_and_tags_and_their_chunks_inherit_them(corpus, says):
    ran = ragstone("tag", "d.jsonl", "--tags", "tags.toml", "--topics", 2)
    assert ran.code == 0
    says(ran.out)
    assert "2 topics:" in ran.out
    assert ragstone("chunk", "tagged.jsonl").code == 0
    chunks = list(read_rows("chunks.jsonl", Chunk))
    assert chunks[0].metadata["tags"] == {"crop": "maize"}
    assert chunks[0].metadata["topic"] == chunks[1].metadata["topic"]


def test_tags_alone_find_no_topics(corpus):
    ragstone("tag", "d.jsonl", "--tags", "tags.toml")
    assert all("topic" not in (row.metadata or {}) for row in read_rows("tagged.jsonl", Document))


def test_a_file_of_chunks_stays_one(corpus):
    ragstone("chunk", "d.jsonl")
    assert ragstone("tag", "chunks.jsonl", "--topics", 2).code == 0
    assert len(list(read_rows("tagged.jsonl", Chunk))) == 4


def test_the_summary_as_json(corpus):
    summary = json.loads(ragstone("tag", "d.jsonl", "--tags", "tags.toml", "--topics", "auto", "--json").out)
    assert summary["tags"] == {"crop": {"maize": 2, "wheat": 0}}
    assert sum(topic["n_rows"] for topic in summary["topics"]) + summary["n_without_topic"] == 4


def test_rows_over_the_budget_end_with_exit_code_4(corpus, fake_openai, says):
    command = ("tag", "d.jsonl", "--tags", "tags.toml", "--model", "openai/fake", "--budget", "1calls")
    ran = ragstone(*command)
    assert ran.code == 4
    says(ran.err)


def test_unparsable_rows_end_with_exit_code_5_if_that_is_asked(corpus, fake_openai):
    def outside(body):
        return json.dumps({"nonce": nonce_in(body), "reason": "so", "crop": ["rye"]})

    fake_openai.script = outside
    command = ("tag", "d.jsonl", "--tags", "tags.toml", "--model", "openai/fake")
    assert ragstone(*command).code == 0
    assert ragstone(*command, "--force", "--strict").code == 5


def test_a_forecast_is_shown_and_nothing_written(corpus, fake_openai):
    ran = ragstone("tag", "d.jsonl", "--tags", "tags.toml", "--model", "openai/fake", "--forecast")
    assert ran.code == 0
    assert fake_openai.n_requests == 0
    assert not (corpus / "tagged.jsonl").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--topics", "many"), "--topics many: give a number, auto or none."),
        (("--topics", "9"), "9 topics of 4 texts: ask for 1 to 4."),
        (("--tags", "none.toml"), "none.toml: no such file of tags."),
        (("--embedder", "nope"), "unknown embedder 'nope'"),
        (("--topics", "none"), "nothing to do"),
    ],
)
def test_a_mistake_is_told_plainly(corpus, options, message):
    ran = ragstone("tag", "d.jsonl", *options)
    assert ran.code == 2
    assert message in ran.err
