"""The fictional variant is written with a build: other names, the same evidence, names of any script."""

from pathlib import Path

import msgspec
from tests.support.fake_openai import FakeOpenAI
from tests.support.scripted_writer import write_questions
from tests.support.scripts import Body, schema_in

from ragstone.config import choose
from ragstone.flows.build.fictional import has_capitals
from ragstone.flows.build.questions import build_questions
from ragstone.records import Document, Question
from ragstone.tables import read_rows


def test_names_are_others_and_evidence_holds_the_answer(fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    fake_openai.script = write_questions
    text = "The engine was described by Ada Lovelace in 1843 for a journal. Readers praised Lovelace for it."
    output = tmp_path / "set" / "questions.jsonl"
    settings = choose(
        fake_openai.settings(root=tmp_path), "build", model=fake_openai.model, fictional=True, planted=0
    )
    build_questions([Document(id="ada", text=text, lang="en")], settings=settings, output=output)
    (document,) = read_rows(output.parent / "fictional" / "documents.jsonl", Document)
    questions = list(read_rows(output.parent / "fictional" / "questions.jsonl", Question))
    assert questions
    assert "Lovelace" not in document.text
    assert "1843" not in document.text
    for question in questions:
        (evidence,) = question.evidence or []
        assert str(question.reference).rstrip(".") in document.text[evidence.start : evidence.end]


def test_model_lists_the_names_where_no_capitals_show_them(fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    def script(body: Body) -> object:
        fields = (schema_in(body) or {}).get("properties", {})
        if "names" not in fields:
            return write_questions(body)
        return msgspec.json.encode({"nonce": fields["nonce"]["enum"][0], "names": ["王小明"]}).decode()

    fake_openai.script = script  # type: ignore[assignment]
    text = (
        "王小明在农业学校学习了四年，后来他在村里种植了很多小麦和玉米。村民们都很尊敬王小明，因为他帮助大家。"
    )
    output = tmp_path / "set" / "questions.jsonl"
    settings = choose(
        fake_openai.settings(root=tmp_path), "build", model=fake_openai.model, fictional=True, planted=0
    )
    build_questions([Document(id="wang", text=text, lang="zh")], settings=settings, output=output)
    (document,) = read_rows(output.parent / "fictional" / "documents.jsonl", Document)
    assert "王小明" not in document.text


def test_capitals_are_looked_for_in_the_letters() -> None:
    assert has_capitals("the soil, in lower case")
    assert not has_capitals(
        "王小明 DNA 农业学校学习了四年后来他在村里种植了很多小麦和玉米村民们都很尊敬因为他帮助大家" * 2
    )
    assert not has_capitals("123")
