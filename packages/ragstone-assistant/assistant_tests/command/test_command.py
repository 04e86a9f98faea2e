"""`ragstone assistant`: what it prints, and what it says of mistakes."""

import json

import pytest
from tests.support.command import ragstone
from tests.support.golden import sentence_in

from ragstone_assistant.command import BuildForecast

TAGS = '[tags]\ncrop = { maize = ["corn"], rice = [] }\n'


@pytest.fixture
def farm(project):
    """A project with documents, tags and an embedder at the endpoint."""
    (project / "docs").mkdir()
    (project / "docs" / "maize.md").write_text("# Maize\n\nCorn is sown in May, when the soil is warm.")
    (project / "docs" / "soil.md").write_text("# Soil\n\nThe soil is alive and full of worms.")
    (project / "docs" / "scan.png").write_bytes(b"\x89PNG")
    (project / "tags.toml").write_text(TAGS)
    with (project / "ragstone.toml").open("a") as file:
        file.write('\n[assistant]\nembedder = "openai/fake"\ntags = "tags.toml"\n')
    return project


@pytest.mark.long
def test_a_build_says_what_it_did_and_a_list_what_there_is(farm, says):
    ran = ragstone("assistant", "build", "docs")
    assert ran.code == 0
    assert ran.out.splitlines() == [
        "     2  new: docs/maize.md, docs/soil.md",
        "     0  unchanged",
        "     1  skipped, see below",
        "2 documents, 2 passages; 2 texts embedded now.",
        "languages: en 2",
        "crop: maize 1; 1 document without one",
    ]
    says(sentence_in(ran.err, "scan.png: files"))
    (farm / "docs" / "soil.md").write_text("# Soil\n\nThe soil is tired of the same crop every year.")
    (farm / "docs" / "maize.md").unlink()
    again = ragstone("assistant", "build")  # the sources of before
    assert again.out.splitlines()[:3] == [
        "     1  changed: docs/soil.md",
        "     1  removed: docs/maize.md",
        "     0  unchanged",
    ]
    listed = ragstone("assistant", "list")
    says(listed.out)
    says(listed.err)


def test_with_a_shortlist_a_build_says_what_it_did_not_do(farm, says):
    with (farm / "ragstone.toml").open("a") as file:
        file.write("shortlist = 50\n")
    ran = ragstone("assistant", "build", "docs")
    assert "2 documents, 2 passages; 0 texts embedded now." in ran.out
    says(sentence_in(ran.err, "Nothing was embedded"))
    assert "--model" not in ran.err
    says(sentence_in(ragstone("assistant", "build", "--model", "openai/fake").err, "--model names"))


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def forecast_of(*events, capsys):
    """Return what is said when a build is so far at such times: (seconds, stage, done, total)."""
    clock, heard = Clock(), []
    forecast = BuildForecast(lambda *event: heard.append(event), clock)
    for at, *event in events:
        clock.now = at
        forecast(*event)
    assert heard == [tuple(event) for _, *event in events]
    return capsys.readouterr().err.splitlines()


def test_a_build_that_will_take_long_is_said_once_with_the_way_round_it(capsys, says):
    # 20 of 3,000 files in 20 s: the other 2,980 take 2,980 s, 50 min. Of each second .6 are to embed.
    embedding = [
        event
        for n in range(60)
        for event in (
            (float(n), "files", n, 3000),
            (n + 0.3, "passages", 0, 8),
            (n + 0.9, "passages", 8, 8),
        )
    ]
    [line] = forecast_of(*embedding, capsys=capsys)
    assert "about 50 min more, most of it to embed" in line
    says(line)
    reading = [event for event in embedding if event[1] == "files"]
    [line] = forecast_of(*reading, capsys=capsys)
    assert "shortlist" not in line
    says(line)


def test_a_build_that_is_quick_or_has_just_begun_says_nothing(capsys):
    assert forecast_of(*((n, "files", n, 100) for n in range(101)), capsys=capsys) == []
    assert forecast_of((0, "files", 0, 10_000), (19, "files", 5, 10_000), capsys=capsys) == []


def test_one_large_file_is_forecast_by_its_passages_and_each_file_begins_again(capsys):
    one = [(10.0 * n, "passages", 10 * n, 5000) for n in range(4)]  # a passage per second
    assert len(forecast_of((0, "files", 0, 1), *one, capsys=capsys)) == 1
    many = [(5.0 * n + late, "passages", done, 10) for n in range(100) for late, done in ((0, 0), (4, 10))]
    assert forecast_of(*many, capsys=capsys) == []
    # A large file after all these, at the same speed: 30 of its 500 in 12 s, so 188 s more.
    large = [(500.0 + 4 * n, "passages", 10 * n, 500) for n in range(20)]
    assert forecast_of(*many, *large, capsys=capsys) == []


def test_json_has_the_same(farm):
    built = json.loads(ragstone("assistant", "build", "docs", "--json").out)
    assert (built["new"], built["n_embedded"]) == (["docs/maize.md", "docs/soil.md"], 2)
    assert built["tags"] == {"crop": {"maize": 1}}
    assert [one["reason"] for one in built["skipped"]] == ["files that end in '.png' cannot be read"]
    [maize, soil] = json.loads(ragstone("assistant", "list", "--json").out)
    assert (maize["id"], maize["tags"], soil["tags"]) == ("docs/maize.md", {"crop": ["maize"]}, {})
    removed = json.loads(ragstone("assistant", "remove", "docs/soil.md", "--json").out)
    assert removed == {"removed": ["docs/soil.md"]}


def test_documents_are_removed_by_id_or_by_folder_and_stay_out(farm, says):
    ragstone("assistant", "build", "docs")
    ran = ragstone("assistant", "remove", "docs/mais.md")
    assert ran.code == 2
    says(sentence_in(ran.err, "no document"))
    says(ragstone("assistant", "remove", "docs/").out)
    ran = ragstone("assistant", "build", "docs")
    says(sentence_in(ran.out, "2  left"))
    says(sentence_in(ran.out, "0 documents,"))
    says(sentence_in(ragstone("assistant", "build", "docs/soil.md").out, "1 document,"))


def test_the_paths_of_documents_are_built_when_none_are_named(farm, says):
    ran = ragstone("assistant", "build")
    assert ran.code == 2
    says(sentence_in(ran.err, "Name files"))
    with (farm / "ragstone.toml").open("a") as file:
        file.write('\n[documents]\npaths = ["docs"]\ncolumns = { text = "advice" }\n')
    (farm / "docs" / "rows.csv").write_text("id,advice,note\n1,Water rice.,x\n")
    says(
        sentence_in(
            ragstone("assistant", "build").out,
            "new: docs/maize.md,",
        )
    )
    assert ragstone("assistant", "list").out.startswith("1  ")


def test_a_model_names_topics(farm, fake_openai):
    for n in range(10):
        (farm / "docs" / f"d{n}.md").write_text(f"# D{n}\n\nField {n} is {('dry', 'wet')[n % 2]} in May.")
    by_words = json.loads(ragstone("assistant", "build", "docs", "--json").out)["topics"]
    assert not [body for body in fake_openai.bodies if "messages" in body]
    ran = ragstone("assistant", "build", "docs", "--json", "--model", "openai/fake")
    asked = [body for body in fake_openai.bodies if "messages" in body]
    assert (ran.code, len(asked)) == (0, len(by_words))
    assert set(json.loads(ran.out)["topics"]) != set(by_words)


def test_mistakes_are_told_without_a_traceback(farm, says):
    def told(*arguments):
        ran = ragstone("assistant", *arguments)
        assert ran.code == 2
        return ran.err

    says(sentence_in(told("build", "nowhere"), "nowhere: no"))
    (farm / "empty").mkdir()
    says(sentence_in(told("build", "empty"), "empty: has no"))
    (farm / "tags.toml").write_text('[tags]\ncrop = ["maize", "maize"]\n')
    says(sentence_in(told("build", "docs"), "tags.toml:2: 'crop'"))
    (farm / "tags.toml").write_text(TAGS)
    with (farm / "ragstone.toml").open("a") as file:
        file.write('qdrant_url = "http://127.0.0.1:1"\n')
    says(sentence_in(told("build", "docs"), "the Qdrant"))
    ran = ragstone("assistant", "list")
    assert (ran.code, ran.err) == (0, "0 documents, 0 passages.\n")
