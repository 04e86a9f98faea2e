import json
from pathlib import Path

import pytest
from tests.support.command import ragstone
from tests.support.fake_openai import FakeOpenAI
from tests.support.scripted_facts import facts_writer, write_facts
from tests.support.scripted_writer import write_questions, writer
from tests.support.scripts import always

from ragstone.kernel.records import Document, Question
from ragstone.kernel.tables import read_rows, write_rows

TEXT = (
    "Farmers who grow {} sow the seed in the second half of October. A field of {} needs forty kilograms of "
    "nitrogen for each hectare. The worst pest of {} in the highlands is the grey stem borer."
)
MODEL = "openai/fake"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake_openai: FakeOpenAI) -> Path:
    """A folder with documents, whose ragstone.toml names the fake endpoint."""
    monkeypatch.chdir(tmp_path)
    fake_openai.script = write_questions
    documents = [
        Document(id=crop, text=TEXT.format(crop, crop, crop), lang="en") for crop in ("wheat", "rice")
    ]
    write_rows("documents.jsonl", documents, Document)
    (tmp_path / "ragstone.toml").write_text(fake_openai.toml() + f'[build]\nmodel = "{MODEL}"\nplanted = 0\n')
    return tmp_path


def test_one_command_gives_questions_and_their_certificate(folder, says):
    ran = ragstone("build", "questions", "documents.jsonl")
    assert ran.code == 0, ran.err
    says(ran.out)
    says(ran.err)
    assert {path.name for path in (folder / "questions").iterdir()} == {
        *("questions.jsonl", "questions.all.jsonl", "certificate.json", "certificate.html")
    }


def test_folder_of_files_is_ingested(folder):
    (folder / "src").mkdir()
    (folder / "src" / "seed.ex").write_text("# " + TEXT.format(*["maize"] * 3))
    (folder / "src" / "left.txt").write_text("not asked for")
    ran = ragstone("build", "questions", "src", "--glob", "*.ex", "--per-document", "1")
    assert ran.code == 0, ran.err
    (question,) = read_rows(folder / "questions" / "questions.jsonl", Question)
    assert question.document_ids
    assert question.document_ids[0].endswith("seed.ex")


def test_json_holds_certificate_calls_and_files(folder):
    ran = ragstone("build", "questions", "documents.jsonl", "--json", "--count", "2")
    said = json.loads(ran.out)
    assert said["certificate"]["kind"] == "questions"
    assert said["calls"]["made"] == 2 + 2 * 3
    assert all(Path(path).is_file() for path in said["files"])


def test_every_option_reaches_the_build(folder, says):
    options = (
        *("--style", "procedural", "--per-document", "1", "--one-call", "--closed-book", "tag"),
        *("--test-share", "0.5", "--fictional", "--seed", "7", "--limit", "2"),
        *("--critic-model", MODEL, "--negatives", "0", "--multi-hop", "0"),
    )
    ran = ragstone("build", "questions", "documents.jsonl", "--json", *options)
    assert ran.code == 0, ran.err
    certificate = json.loads(ran.out)["certificate"]
    declared = certificate["declared"]
    assert certificate["seed"] == 7
    assert declared["styles"] == ["procedural"]
    assert declared["one_call"] is True
    assert declared["closed_book"] == "tag"
    assert declared["test_share"] == 0.5
    assert (folder / "questions" / "fictional" / "questions.jsonl").is_file()
    assert (folder / "questions" / "questions.test.jsonl").is_file()
    says(ran.err)


def test_an_empty_set_ends_with_5(folder, fake_openai, says):
    fake_openai.script = always("I would rather not.")
    ran = ragstone("build", "questions", "documents.jsonl")
    assert ran.code == 5
    says(ran.err)
    assert (folder / "questions" / "certificate.json").is_file()


def test_strict_ends_with_5_when_fewer_are_accepted_than_wanted(folder, fake_openai):
    fake_openai.script = writer(lambda question: 1 if "pest" in question else 5)
    assert ragstone("build", "questions", "documents.jsonl", "--strict", "--count", "4").code == 0
    ran = ragstone("build", "questions", "documents.jsonl", "--strict", "--count", "6", "--force")
    assert ran.code == 5
    assert "short" in ran.out


def test_budget_ends_with_4(folder):
    assert ragstone("build", "questions", "documents.jsonl", "--budget", "3calls").code == 4
    assert (folder / "questions" / "questions.all.jsonl").is_file()


def test_offline_takes_all_from_the_ledger(folder, fake_openai):
    ragstone("build", "questions", "documents.jsonl", "-o", "a/questions.jsonl")
    n_requests = fake_openai.n_requests
    ran = ragstone("build", "questions", "documents.jsonl", "-o", "b/questions.jsonl", "--offline")
    assert ran.code == 0, ran.err
    assert fake_openai.n_requests == n_requests
    assert (folder / "a/questions.jsonl").read_bytes() == (folder / "b/questions.jsonl").read_bytes()


def test_forecast_alone_writes_and_asks_nothing(folder, fake_openai):
    ran = ragstone("build", "questions", "documents.jsonl", "--forecast")
    assert ran.code == 0
    assert "calls" in ran.out
    assert fake_openai.n_requests == 0
    assert not (folder / "questions").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nowhere.jsonl",), "nowhere.jsonl"),
        (("documents.jsonl", "--style", "factoids"), "factoid"),
        (("documents.jsonl", "--style", "persona"), "personas"),
        (("documents.jsonl", "--style", "multi_hop"), "--multi-hop"),
        (("documents.jsonl", "--count", "0"), "count"),
        (("documents.jsonl", "--seed", "-1"), "seed"),
        (("documents.jsonl", "--test-share", "1.5"), "test-share"),
        (("documents.jsonl", "--closed-book", "maybe"), "closed-book"),
        (("documents.jsonl", "--count", "2", "--negatives", "3"), "negatives"),
        (("documents.jsonl", "-o", "questions.xlsx"), ".xlsx"),
        (("documents.jsonl", "--budget", "cheap"), "budget"),
        (("documents.jsonl", "--model", "gpt-4"), "gpt-4"),
        (("empty.jsonl",), "empty.jsonl"),
    ],
    ids=lambda value: " ".join(value[1:] or value) if isinstance(value, tuple) else "",
)
def test_wrong_use_is_told_and_asks_nothing(arguments, says, folder, fake_openai):
    (folder / "empty.jsonl").write_text("")
    ran = ragstone("build", "questions", *arguments)
    assert ran.code == 2, ran.out
    assert says in ran.err
    assert "Traceback" not in ran.err
    assert fake_openai.n_requests == 0


def test_files_that_are_there_are_not_touched(folder, fake_openai):
    ragstone("build", "questions", "documents.jsonl")
    before = (folder / "questions" / "questions.jsonl").read_bytes()
    n_requests = fake_openai.n_requests
    ran = ragstone("build", "questions", "documents.jsonl", "--seed", "9", "--count", "1")
    assert ran.code == 2
    assert "--force" in ran.err
    assert (folder / "questions" / "questions.jsonl").read_bytes() == before
    assert fake_openai.n_requests == n_requests


@pytest.mark.parametrize("output", ["documents.jsonl", "./documents.jsonl"])
def test_source_is_never_replaced_with_force_too(output, folder, fake_openai, says):
    before = (folder / "documents.jsonl").read_bytes()
    ran = ragstone("build", "questions", "documents.jsonl", "-o", output, "--force")
    assert ran.code == 2
    says(ran.err)
    assert (folder / "documents.jsonl").read_bytes() == before
    assert fake_openai.n_requests == 0


def test_source_that_is_a_part_of_the_build_is_never_replaced(folder, says):
    (folder / "documents.jsonl").rename(folder / "q.all.jsonl")
    ran = ragstone("build", "questions", "q.all.jsonl", "-o", "q.jsonl", "--force")
    assert ran.code == 2
    says(ran.err)


def test_one_question_is_told_as_one(folder, says):
    ran = ragstone("build", "questions", "documents.jsonl", "--count", "1")
    says(ran.err)


def test_second_build_removes_the_fictional_variant_of_the_first(folder):
    first = ragstone("build", "questions", "documents.jsonl", "--fictional")
    assert first.code == 0, first.err
    assert (folder / "questions" / "fictional" / "questions.jsonl").exists()
    ragstone("build", "questions", "documents.jsonl", "--count", "2", "--force")
    assert not (folder / "questions" / "fictional" / "questions.jsonl").exists()


def test_build_leaves_files_alone_that_only_look_like_a_split(folder):
    (folder / "questions").mkdir()
    mine = folder / "questions" / "questions.dev.jsonl"
    mine.write_text("mine")
    assert ragstone("build", "questions", "documents.jsonl").code == 0
    assert mine.read_text() == "mine"


CROPS = ["Maize", "Wheat", "Barley", "Sorghum", "Millet", "Cotton", "Cassava", "Soybean", "Rice", "Beans"]


def documents(n):
    return [
        Document(
            id=f"d{at}",
            text=f"{CROPS[at % 10]} of the farm in valley {at + 20} is harvested in autumn by group {at}.",
            lang="en",
        )
        for at in range(n)
    ]


@pytest.fixture
def corpus(folder, fake_openai):
    fake_openai.script = write_facts
    (folder / "ragstone.toml").write_text(f'[build]\nmodel = "openai/fake"\n{fake_openai.toml()}')
    write_rows(folder / "d.jsonl", documents(6), Document)
    return folder


def rows(path):
    return list(read_rows(path, Question))


def test_facts_and_all_that_belongs_to_them_are_written_to_a_folder_of_their_own(corpus, says):
    ran = ragstone("build", "facts", "d.jsonl", "--falsify", "number,negation", "--test-share", 0.5)
    assert ran.code == 0
    says(ran.err)
    assert {path.name for path in (corpus / "facts").iterdir()} == {
        "facts.jsonl",
        "facts.all.jsonl",
        "facts.dev.jsonl",
        "facts.test.jsonl",
        "certificate.json",
        "certificate.html",
    }
    assert len(rows("facts/facts.jsonl")) == 12
    assert len(rows("facts/facts.dev.jsonl")) == len(rows("facts/facts.test.jsonl")) == 6


def test_the_summary_as_json_is_the_certificate(corpus):
    summary = json.loads(ragstone("build", "facts", "d.jsonl", "--limit", 2, "--json").out)
    assert summary["certificate"]["kind"] == "facts"
    assert summary["certificate"]["funnel"]["n_accepted"] == 2
    assert summary["calls"]["made"] == 2


def test_the_same_build_again_asks_nobody_and_another_needs_force(corpus, fake_openai, says):
    assert ragstone("build", "facts", "d.jsonl").code == 0
    before = (corpus / "facts" / "facts.jsonl").read_bytes()
    again = ragstone("build", "facts", "d.jsonl")
    assert again.code == 0
    says(again.err)
    other = ragstone("build", "facts", "d.jsonl", "--seed", 3)
    assert other.code == 2
    says(other.err)
    assert ragstone("build", "facts", "d.jsonl", "--force", "--offline").code == 0
    assert (corpus / "facts" / "facts.jsonl").read_bytes() == before
    assert fake_openai.n_requests == 6


def test_a_forecast_makes_no_call_and_no_file(corpus, fake_openai):
    ran = ragstone("build", "facts", "d.jsonl", "--forecast", "--falsify", "entity")
    assert ran.code == 0
    assert "about 18 calls" in ran.out
    assert fake_openai.n_requests == 0
    assert not (corpus / "facts").exists()


def test_a_shortfall_is_told_and_ends_with_5_under_strict(corpus):
    told = ragstone("build", "facts", "d.jsonl", "--count", 8)
    assert told.code == 0
    assert "2 short" in told.out
    assert ragstone("build", "facts", "d.jsonl", "--count", 8, "--force", "--strict").code == 5
    assert ragstone("build", "facts", "d.jsonl", "--count", 6, "--force", "--strict").code == 0


@pytest.mark.parametrize(
    ("script", "n_rows"), [(facts_writer(prose=1.0), 0), (facts_writer(twins=1.0), 6)], ids=["prose", "twins"]
)
def test_a_model_that_cannot_write_leaves_a_certificate_that_says_so(corpus, fake_openai, script, n_rows):
    fake_openai.script = script
    ran = ragstone("build", "facts", "d.jsonl", "--strict")
    assert ran.code == 5
    assert (corpus / "facts" / "certificate.json").exists()
    assert len((corpus / "facts" / "facts.all.jsonl").read_text().splitlines()) == n_rows


def test_the_budget_ends_with_4_and_what_there_is(corpus):
    ran = ragstone("build", "facts", "d.jsonl", "--budget", "2calls")
    assert ran.code == 4
    assert len(rows("facts/facts.jsonl")) == 2
    assert ragstone("build", "facts", "d.jsonl", "--force").code == 0
    assert len(rows("facts/facts.jsonl")) == 6


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["none.jsonl"], "none.jsonl"),
        (["questions.jsonl"], "questions.jsonl"),
        (["empty.jsonl"], "empty.jsonl"),
        (["d.jsonl", "--falsify", "numbers"], "unknown change 'numbers'. Did you mean 'number'?"),
        (["d.jsonl", "--count", "0"], "Invalid value for '--count'"),
        (["d.jsonl", "--test-share", "2"], "Invalid value for '--test-share'"),
        (["d.jsonl", "-o", "other/facts.jsonl"], "is the certificate of another build"),
        (["d.jsonl", "-o", "facts.txt"], "cannot tell the format"),
        (["d.jsonl", "--model", "nobody"], "unknown model 'nobody'"),
        (["d.jsonl", "--budget", "much"], "much"),
    ],
)
def test_mistakes_are_told_in_a_sentence_with_code_2_and_no_call(corpus, fake_openai, arguments, told):
    write_rows("questions.jsonl", [Question(id="q", question="Why?")], Question)
    (corpus / "empty.jsonl").touch()
    (corpus / "other").mkdir()
    (corpus / "other" / "certificate.json").touch()
    ran = ragstone("build", "facts", *arguments)
    assert ran.code == 2
    assert told in ran.err
    assert "Traceback" not in ran.err
    assert fake_openai.n_requests == 0
    assert not list(corpus.glob("facts/*"))


def test_without_a_model_that_is_said(corpus, fake_openai, says):
    (corpus / "ragstone.toml").write_text(fake_openai.toml())
    ran = ragstone("build", "facts", "d.jsonl")
    assert ran.code == 2
    says(ran.err)


def test_documents_without_text_give_an_empty_set_that_says_so(corpus, says):
    write_rows("blank.jsonl", [Document(id="a", text=""), Document(id="b", text=" \n ")], Document)
    ran = ragstone("build", "facts", "blank.jsonl", "--strict")
    assert ran.code == 5
    assert (corpus / "facts" / "facts.jsonl").read_bytes() == b""
    says(ran.err)


@pytest.mark.parametrize(
    ("what", "listed", "quote"), [("questions", "questions", "quote"), ("facts", "facts", "quote")]
)
def test_a_build_that_loses_all_drafts_alike_stops_and_says_why(
    what, listed, quote, folder, fake_openai, says
):
    def quotes_nothing(body):
        reply = json.loads(write_questions(body) if what == "questions" else write_facts(body))
        for draft in reply.get(what, []):
            draft["quote"] = "Nobody has ever written down a thing like this one."
        return json.dumps(reply)

    fake_openai.script = quotes_nothing
    write_rows(
        "many.jsonl",
        [Document(id=f"d{at}", text=TEXT.format(*[f"crop{at}"] * 3), lang="en") for at in range(100)],
        Document,
    )
    ran = ragstone("build", what, "many.jsonl", "--count", "5")
    assert ran.code == 5
    says(ran.err)
    assert fake_openai.n_requests < 70
