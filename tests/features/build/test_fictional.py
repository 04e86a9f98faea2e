"""The fictional variant: other names and years in documents and questions, and evidence that moves along."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.scripted_writer import write_questions
from tests.support.scripts import Body, nonce_in, schema_in

from ragstone.features.build.fictional import Fiction, fictionalise
from ragstone.features.build.questions import build_questions
from ragstone.kernel.config import choose
from ragstone.kernel.dataset.placing import place_evidence
from ragstone.kernel.records import Document, Evidence, Question
from ragstone.kernel.tables import read_rows

CANAL = (
    "The canal of Oslo was dug by Marie Curie in 1874. Curie paid 15% of the cost of the canal, which CURIE "
    "liked. See https://oslo.no/Oslo and `Oslo`; her brother, Jean Curie, sold land to the Oslo council."
)
NAMES = [("Marie Curie", "Selda Vorin"), ("Jean Curie", "Bram Telk"), ("Oslo", "Karnel"), ("1874", "1894")]


def document(text: str = CANAL, name: str = "d", **more: object) -> Document:
    return Document(id=name, text=text, lang="en", **more)  # type: ignore[arg-type]


def only(fiction: Fiction) -> tuple[Document, Question]:
    (one,), (question,) = fiction.documents, fiction.questions
    return one, question


def test_names_and_years_follow_in_question_reference_and_evidence(says):
    quote = "dug by Marie Curie in 1874"
    start = CANAL.index(quote)
    row = Question(
        id="q",
        question="Who dug the canal of Oslo in 1874?",
        reference="Marie Curie",
        evidence=[Evidence(document_id="d", start=start, end=start + len(quote))],
    )
    changed, question = only(fictionalise([document()], [row], NAMES))
    says(question.question)
    assert question.reference == "Selda Vorin"
    (span,) = question.evidence or ()
    says(changed.text[span.start : span.end])
    assert place_evidence([question], [changed]).n_changed == 0
    assert place_evidence([question], [document()]).unplaced == {"q"}
    # One name is one name: of "Jean Curie" the word that Marie's has is hers, and in capitals it stays so.
    assert "Vorin paid" in changed.text
    assert "VORIN liked" in changed.text
    assert "Bram Vorin" in changed.text
    assert "https://oslo.no/Oslo and `Oslo`" in changed.text
    assert "the Karnel council" in changed.text


@pytest.mark.parametrize(
    ("text", "names", "becomes"),
    [
        ("A Norman in Normandy.", [("Norman", "Vark")], "A Vark in Normandy."),
        ("Super Bowl and a super bowl.", [("Super Bowl", "Vel Kar")], "Vel Kar and a super bowl."),
        ("居里在华沙。", [("居里", "塔维"), ("华沙", "洛卡")], "塔维在洛卡。"),
        ("राम रहता है। रामायण पुरानी है।", [("राम", "वारो")], "वारो रहता है। रामायण पुरानी है।"),
        ("Ada met Bo.", [("Ada", "Bo"), ("Bo", "Ul"), ("Zoe", "Mi")], "Ada met Ul."),  # Bo is there already
        ("Ada met Bo.", [("Ada", "Ul"), ("Ada", "Mi")], "Ul met Bo."),
        ("In 1874.", [("1874", "later"), ("In", "")], "In 1874."),
    ],
)
def test_names_are_whole_and_none_becomes_what_the_documents_have(text, names, becomes):
    assert fictionalise([document(text)], [], names).documents[0].text == becomes


def test_source_code_is_left_alone():
    code = document("def Oslo(): return 1874", source="lib/oslo.py")
    assert fictionalise([code, document(name="e")], [], NAMES).documents[0] == code


def test_titles_headings_page_starts_and_notes_follow_or_are_dropped():
    text = "In Oslo it rains.\n\nOslo and rain\n\nIt rains in Oslo since 1874."
    second, third = text.index("Oslo and"), text.index("It rains in")
    metadata = {
        "headings": [{"start": second, "level": 2, "title": "Oslo and rain"}],
        "page_starts": [0, third],
    }
    row = Question(
        id="q",
        question="Since when?",
        reference=["1874", "Oslo"],
        answerable=False,
        tags={"style": "factoid", "closed_book": "known"},
        metadata={
            "quote": "rains in Oslo",
            "closed_book": {"answer": "1874"},
            "tempting": {"document_id": "d", "start": second, "end": second + 4},
            "document_ids": ["Oslo"],
        },
    )
    changed, question = only(
        fictionalise([document(text, title="Rain in Oslo", metadata=metadata)], [row], NAMES)
    )
    assert changed.title == "Rain in Karnel"
    notes = changed.metadata or {}
    assert notes["headings"][0]["title"] == "Karnel and rain"
    assert changed.text[notes["headings"][0]["start"] :].startswith("Karnel and rain")
    assert changed.text[notes["page_starts"][1] :].startswith("It rains in")
    assert (question.reference, question.tags) == (["1894", "Karnel"], {"style": "factoid"})
    said = question.metadata or {}
    assert said.keys() == {"quote", "tempting", "document_ids"}
    assert said["quote"] == "rains in Karnel"
    assert changed.text[said["tempting"]["start"] : said["tempting"]["end"]] == "Karnel"
    assert said["document_ids"] == ["Oslo"]


def test_evidence_outside_the_documents_is_an_error(says):
    span = Evidence(document_id="elsewhere", start=0, end=1)
    with pytest.raises(ValueError) as error:
        fictionalise([document()], [Question(id="q", question="?", evidence=[span])], [])
    says(error.value)


WORDS = [*("Oslo", "Marie", "Curie", "Jean Curie", "the", "in", "1874", "12", "`Oslo`", "CURIE", ".")]


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=30), st.data())
def test_evidence_holds_the_swapped_text_and_the_answer_stays_in_it(words, data):
    text = " ".join(words)
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    first = data.draw(st.integers(start, end - 1))
    last = data.draw(st.integers(first + 1, end))
    span = Evidence(document_id="d", start=start, end=end)
    row = Question(id="q", question="What?", reference=text[first:last], evidence=[span])
    changed, question = only(fictionalise([document(text)], [row], NAMES))
    (moved,) = question.evidence or ()
    assert moved.start < moved.end
    assert str(question.reference).strip() in changed.text[moved.start : moved.end]


def test_a_build_asks_for_the_names_of_each_document(fake_openai, tmp_path):
    def script(body: Body) -> object:
        fields = (schema_in(body) or {}).get("properties", {})
        if "names" not in fields:
            return write_questions(body)
        names = [{"old": "Ada Lovelace", "new": "Mira Tolvane"}, {"old": "1843", "new": "1863"}]
        return msgspec.json.encode({"nonce": nonce_in(body), "names": names}).decode()

    fake_openai.script = script  # type: ignore[assignment]
    text = "The engine was described by Ada Lovelace in 1843 for a journal. Readers praised Lovelace for it."
    output = tmp_path / "set" / "questions.jsonl"
    settings = choose(
        fake_openai.settings(root=tmp_path), "build", model=fake_openai.model, fictional=True, planted=0
    )
    build_questions([Document(id="ada", text=text, lang="en")], settings=settings, output=output)
    (told,) = read_rows(output.parent / "fictional" / "documents.jsonl", Document)
    questions = list(read_rows(output.parent / "fictional" / "questions.jsonl", Question))
    assert questions
    assert told.text == text.replace("Ada Lovelace", "Mira Tolvane").replace("Lovelace", "Tolvane").replace(
        "1843", "1863"
    )
    for question in questions:
        (evidence,) = question.evidence or []
        assert str(question.reference).rstrip(".") in told.text[evidence.start : evidence.end]
