"""Files over HTTP: kept under a harmless name, refused when they are not what they say, removed for good."""

import zipfile
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.knowledge import knowledge_in, write
from tests.support.pdf import At, write_pdf

from ragstone.assistant.knowledge import BadUpload
from ragstone.assistant.knowledge.uploads import safe_name
from ragstone.corpus import IngestOptions, parallel

MAIZE = b"# Maize\n\nMaize is sown in May."


def ids(knowledge):
    return [entry.id for entry in knowledge.documents()]


async def test_an_upload_is_kept_found_replaced_and_removed(tmp_path):
    uploads = tmp_path / ".ragstone" / "assistant" / "uploads"
    async with knowledge_in(tmp_path) as knowledge:
        told = []
        built = await knowledge.add("maize.md", MAIZE, lambda *step: told.append(step))
        assert (built.new, told[-1]) == (["uploads/maize.md"], ("files", 1, 1))
        [entry] = knowledge.documents()
        assert (entry.id, entry.upload, entry.tags) == ("uploads/maize.md", True, {"crop": ["maize"]})
        assert (uploads / "maize.md").read_bytes() == MAIZE
        built = await knowledge.add("maize.md", MAIZE + b" And again in June.")
        assert (built.new, built.changed) == ([], ["uploads/maize.md"])
        assert "June" in (await knowledge.search("maize", 1))[0].text
        assert await knowledge.remove("uploads/maize.md")
        assert (knowledge.documents(), await knowledge.search("maize", 1)) == ([], [])
        assert list(uploads.iterdir()) == []
        assert not await knowledge.remove("uploads/maize.md")
        assert (await knowledge.rebuild()).n_documents == 0
        await knowledge.add("maize.md", MAIZE)
        assert ids(knowledge) == ["uploads/maize.md"]


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("../../etc/maize.md", "maize.md"),
        ("C:\\Users\\me\\maize.md", "maize.md"),
        ("/maize.md", "maize.md"),
        ("mai\u202eze\x00\n.md", "maize.md"),
        ("मक्का.md", "मक्का.md"),
        ("a  b?.md", "a b.md"),
    ],
)
def test_a_name_is_the_last_part_of_a_path_without_what_does_harm(name, safe):
    assert safe_name(name) == safe


@pytest.mark.parametrize("name", ["", "/", "..", ".", "docs/", ".htaccess", "...", "x" * 200 + ".md", "\x00"])
def test_some_names_cannot_be(name):
    with pytest.raises(BadUpload) as bad:
        safe_name(name)
    assert bad.value.wrong == "name"


@given(st.text())
def test_no_name_leads_out_of_the_folder(name):
    try:
        safe = safe_name(name)
    except BadUpload:
        return
    assert "/" not in safe
    assert "\\" not in safe
    assert not safe.startswith(".")
    assert safe == safe_name(safe)


def plain_zip():
    """An archive that is no Office file."""
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.txt", "text")
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "wrong", "said"),
    [
        ("a.md", b"", "unreadable", "the file is empty"),
        ("a.md", b" \n", "unreadable", "the file is empty"),
        ("a.pdf", b"<html><body>Maize</body></html>", "unsupported", "says .pdf, but it is no PDF file"),
        ("a.pdf", b"%PDF-1.4 broken", "unreadable", "a.pdf: "),
        ("a.pdf", write_pdf([[At(72, 700, "Maize")]], encrypted=True), "unreadable", "password|encrypted"),
        ("a.pdf", write_pdf([[]]), "unreadable", "a.pdf: "),
        ("a.txt", b"%PDF-1.4 something", "unsupported", "says .txt, but it is a PDF file"),
        ("a.html", b"PK\x03\x04 something", "unsupported", "says .html, but it is a ZIP archive"),
        ("a.docx", b"plain text", "unsupported", "but it is no Office file"),
        ("a.docx", b"\xd0\xcf\x11\xe0 old", "unsupported", "but it is an old or encrypted Office file"),
        ("a.docx", plain_zip(), "unreadable", "a.docx: "),
        ("a.exe", b"MZ\x90", "unsupported", r".exe. cannot be taken in\. Convert it to one of: \.txt"),
        ("a.doc", b"text", "unsupported", "Convert it to .docx"),
        ("a.png", b"\x89PNG", "unsupported", "cannot be taken in"),
        ("a", b"text", "unsupported", "a file without an ending"),
        ("a.zip", plain_zip(), "unsupported", "Unpack it"),
        ("a.jsonl", b"no json", "unreadable", "line 1 is no JSON object"),
    ],
)
async def test_what_cannot_be_taken_in_is_refused_with_its_reason(tmp_path, name, content, wrong, said):
    async with knowledge_in(tmp_path) as knowledge:
        with pytest.raises(BadUpload, match=said) as bad:
            await knowledge.add(name, content)
        assert bad.value.wrong == wrong
        assert not (tmp_path / ".ragstone" / "assistant" / "uploads").exists()
        assert knowledge.documents() == []


async def test_a_real_pdf_is_taken_in_with_its_page(tmp_path):
    async with knowledge_in(tmp_path) as knowledge:
        await knowledge.add(
            "leaflet.pdf", write_pdf([[At(72, 700, "Maize is sown in May when the soil is warm.")]])
        )
        [found] = await knowledge.search("maize", 1)
        assert (found.page, found.document_id) == (1, "uploads/leaflet.pdf")


async def test_too_large_is_an_error_of_its_own(tmp_path):
    from tests.support.knowledge import Words

    from ragstone.assistant.knowledge import open_knowledge
    from ragstone.config import AssistantSection

    options = IngestOptions(max_file_mb=1)
    knowledge = open_knowledge(AssistantSection(), tmp_path, Words(), [], options)
    with pytest.raises(BadUpload, match=r"big.txt: 1 MB, more than 1 MB") as bad:
        await knowledge.add("big.txt", b"x" * 1_000_001)
    assert bad.value.wrong == "too_large"
    (tmp_path / "big.txt").write_bytes(b"x" * 1_000_001)
    built = await knowledge.build([tmp_path / "big.txt"])
    assert [one.reason for one in built.skipped] == ["it is larger than 1 MB: split it"]
    await knowledge.close()


async def test_an_upload_whose_ids_are_taken_leaves_all_as_it_was(tmp_path):
    row = b'{"id": "one", "text": "Text of %d."}'
    async with knowledge_in(tmp_path) as knowledge:
        await knowledge.add("a.jsonl", row % 1)
        before = knowledge.version
        with pytest.raises(BadUpload, match="'one' is that of"):
            await knowledge.add("b.jsonl", row % 2)
        assert [path.name for path in (tmp_path / ".ragstone/assistant/uploads").iterdir()] == ["a.jsonl"]
        assert knowledge.version == before


async def test_a_removed_document_of_a_folder_stays_out_until_its_file_is_named(tmp_path):
    docs = write(tmp_path / "docs", maize="# Maize\n\nMaize.", rice="# Rice\n\nRice.")
    async with knowledge_in(tmp_path) as knowledge:
        await knowledge.build([docs])
        assert await knowledge.remove("docs/rice.md")
        built = await knowledge.build([docs])
        assert (ids(knowledge), built.left_out) == (["docs/maize.md"], ["docs/rice.md"])
        write(docs, rice="# Rice\n\nRice, once more.")
        await knowledge.build([docs])
        assert ids(knowledge) == ["docs/maize.md"]
        built = await knowledge.build([docs / "rice.md"])
        assert (ids(knowledge), built.left_out) == (["docs/maize.md", "rice.md"], [])


async def test_an_upload_that_was_kept_and_not_taken_in_is_taken_in_by_the_next_build(tmp_path):
    docs = write(tmp_path / "docs", rice="# Rice\n\nRice.")
    uploads = tmp_path / ".ragstone" / "assistant" / "uploads"
    uploads.mkdir(parents=True)
    (uploads / "maize.md").write_bytes(MAIZE)
    (uploads / ".tea.md.partial").write_bytes(b"half")
    async with knowledge_in(tmp_path) as knowledge:
        await knowledge.build([docs])
        assert ids(knowledge) == ["docs/rice.md", "uploads/maize.md"]


async def test_a_file_that_crashes_its_reader_costs_nothing_but_itself(tmp_path, monkeypatch):
    crash = "import os, ragstone.corpus.worker as worker\nworker.read_file = lambda *_: os.abort()"
    monkeypatch.setattr(parallel, "BEFORE", crash)
    (tmp_path / "maize.pdf").write_bytes(write_pdf([[At(72, 700, "Maize is sown in May.")]]))
    async with knowledge_in(tmp_path) as knowledge:
        for name, content in (
            ("maize.pdf", (tmp_path / "maize.pdf").read_bytes()),
            ("long.txt", MAIZE * 10_000),
        ):
            with pytest.raises(BadUpload, match=r"60 s or 2 GB to read, or crashes the reader: split it"):
                await knowledge.add(name, content)
        await knowledge.add("maize.md", MAIZE)
        assert ids(knowledge) == ["uploads/maize.md"]
