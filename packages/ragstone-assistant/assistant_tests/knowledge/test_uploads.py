"""Files over HTTP: kept under a harmless name, refused when they are not what they say, removed for good."""

import asyncio
import threading
import zipfile
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.golden import sentence_in
from tests.support.knowledge import Words, add, knowledge_in, write
from tests.support.pdf import At, write_pdf
from tests.support.reading_here import ReadHere

from ragstone.kernel.corpus import parallel
from ragstone.kernel.corpus.file import IngestOptions, ReadingLimits
from ragstone.kernel.records import Document
from ragstone_assistant.knowledge import _cutting as cutting
from ragstone_assistant.knowledge import uploads
from ragstone_assistant.knowledge.entry import BadUpload
from ragstone_assistant.knowledge.uploads import safe_name

DOCUMENT = Document(id="one", text="Maize is sown in May.")
MAIZE = b"# Maize\n\nMaize is sown in May."


def ids(knowledge):
    return [entry.id for entry in knowledge.documents()]


async def test_an_upload_is_kept_found_replaced_and_removed(tmp_path):
    uploads = tmp_path / ".ragstone" / "assistant" / "uploads"
    async with knowledge_in(tmp_path) as knowledge:
        told = []
        built = await add(knowledge, "maize.md", MAIZE, lambda *step: told.append(step))
        assert (built.new, told[-1]) == (["uploads/maize.md"], ("files", 1, 1))
        [entry] = knowledge.documents()
        assert (entry.id, entry.upload, entry.tags) == ("uploads/maize.md", True, {"crop": ["maize"]})
        assert (uploads / "maize.md").read_bytes() == MAIZE
        built = await add(knowledge, "maize.md", MAIZE + b" And again in June.")
        assert (built.new, built.changed) == ([], ["uploads/maize.md"])
        assert "June" in (await knowledge.search("maize", 1))[0].text
        assert await knowledge.remove("uploads/maize.md")
        assert (knowledge.documents(), await knowledge.search("maize", 1)) == ([], [])
        assert list(uploads.iterdir()) == []
        assert not await knowledge.remove("uploads/maize.md")
        assert (await knowledge.rebuild()).n_documents == 0
        await add(knowledge, "maize.md", MAIZE)
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
        ("a.pdf", b"<html><body>Maize</body></html>", "unsupported", "says .pdf, but it is not a PDF file"),
        ("a.pdf", b"%PDF-1.4 broken", "unreadable", "a.pdf: "),
        ("a.pdf", write_pdf([[At(72, 700, "Maize")]], encrypted=True), "unreadable", "password|encrypted"),
        ("a.pdf", write_pdf([[]]), "unreadable", "a.pdf: "),
        ("a.txt", b"%PDF-1.4 something", "unsupported", "says .txt, but it is a PDF file"),
        ("a.html", b"PK\x03\x04 something", "unsupported", "says .html, but it is a ZIP archive"),
        ("a.docx", b"plain text", "unsupported", "but it is not an Office file"),
        ("a.docx", b"\xd0\xcf\x11\xe0 old", "unsupported", "but it is an old or encrypted Office file"),
        ("a.docx", plain_zip(), "unreadable", "a.docx: "),
        ("a.exe", b"MZ\x90", "unsupported", r".exe. cannot be added\. Convert it to one of: \.txt"),
        ("a.doc", b"text", "unsupported", "Convert it to .docx"),
        ("a.png", b"\x89PNG", "unsupported", "cannot be added"),
        ("a", b"text", "unsupported", "a file without an ending"),
        ("a.zip", plain_zip(), "unsupported", "Unpack it"),
        ("a.jsonl", b"no json", "unreadable", "line 1 is not a JSON object"),
        ("a.jsonl", b'{"text": ' + b"[" * 100_000, "unreadable", "nested too deeply"),
    ],
)
async def test_what_cannot_be_taken_in_is_refused_with_its_reason(tmp_path, name, content, wrong, said):
    async with knowledge_in(tmp_path) as knowledge:
        with pytest.raises(BadUpload, match=said) as bad:
            await add(knowledge, name, content)
        assert bad.value.wrong == wrong
        assert not (tmp_path / ".ragstone" / "assistant" / "uploads").exists()
        assert knowledge.documents() == []


async def test_a_real_pdf_is_taken_in_with_its_page(tmp_path):
    async with knowledge_in(tmp_path) as knowledge:
        await add(
            knowledge,
            "leaflet.pdf",
            write_pdf([[At(72, 700, "Maize is sown in May when the soil is warm.")]]),
        )
        [found] = await knowledge.search("maize", 1)
        assert (found.page, found.document_id) == (1, "uploads/leaflet.pdf")


async def test_too_large_is_an_error_of_its_own(tmp_path, says):
    from ragstone.kernel.config import AssistantSection
    from ragstone_assistant.knowledge.knowledge_base import open_knowledge

    options = IngestOptions(max_file_mb=1)
    knowledge = open_knowledge(AssistantSection(), tmp_path, Words(), [], options)
    with pytest.raises(BadUpload) as bad:
        await add(knowledge, "big.txt", b"x" * 1_000_001)
    says(bad.value)
    assert bad.value.wrong == "too_large"
    (tmp_path / "big.txt").write_bytes(b"x" * 1_000_001)
    built = await knowledge.build([tmp_path / "big.txt"])
    assert [one.reason for one in built.skipped] == ["it is larger than 1 MB: split it"]
    await knowledge.close()


async def test_an_upload_whose_ids_are_taken_leaves_all_as_it_was(tmp_path, says):
    row = b'{"id": "one", "text": "Text of %d."}'
    async with knowledge_in(tmp_path) as knowledge:
        await add(knowledge, "a.jsonl", row % 1)
        before = knowledge.version
        with pytest.raises(BadUpload) as error:
            await add(knowledge, "b.jsonl", row % 2)
        says(error.value)
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


HOSTILE = """
import os
import ragstone.kernel.corpus.parallel as parallel
real = parallel.read_file
def read(file, options):
    if file.path.name == "crash.txt":
        os.abort()
    while file.path.name == "busy.txt":
        pass
    return real(file, options)
parallel.read_file = read
"""


@pytest.fixture
def hostile(monkeypatch, processes):
    """crash.txt crashes what reads it, busy.txt is never read to its end."""
    monkeypatch.setattr(parallel, "BEFORE", HOSTILE)
    monkeypatch.setattr(uploads, "LIMITS", ReadingLimits(cpu_s=3))
    monkeypatch.setattr(parallel, "limits_of", lambda *_: ReadingLimits(cpu_s=3))


@pytest.mark.kill
async def test_an_upload_that_crashes_its_reader_or_never_ends_costs_nothing_but_itself(
    tmp_path, hostile, says
):
    async with knowledge_in(tmp_path) as knowledge:
        with pytest.raises(BadUpload) as error:
            await knowledge.check("crash.txt", MAIZE)
        says(error.value)
        with pytest.raises(BadUpload) as error:
            await knowledge.check("busy.txt", MAIZE)
        says(error.value)
        await add(knowledge, "maize.md", MAIZE)
        assert ids(knowledge) == ["uploads/maize.md"]


@pytest.mark.kill
async def test_a_file_of_a_folder_that_never_ends_costs_nothing_but_itself(tmp_path, hostile, says):
    docs = write(tmp_path / "docs", maize="# Maize")
    (docs / "busy.txt").write_text("Text")
    async with knowledge_in(tmp_path) as knowledge:
        built = await knowledge.build([docs])
        assert ids(knowledge) == ["docs/maize.md"]
        [skipped] = built.skipped
        says(sentence_in(skipped.reason, "more than 3"))


async def test_an_upload_is_read_once(tmp_path, monkeypatch):
    read = []
    monkeypatch.setattr(ReadHere, "read", lambda self, file, *_, **__: read.append(file) or [DOCUMENT])
    async with knowledge_in(tmp_path) as knowledge:
        await add(knowledge, "maize.md", MAIZE)
        assert [one.id for one in read] == ["uploads/maize.md"]
        assert ids(knowledge) == [DOCUMENT.id]


@pytest.mark.kill
async def test_who_hangs_up_while_an_upload_is_read_ends_the_reading(tmp_path, hostile, monkeypatch):
    monkeypatch.setattr(uploads, "LIMITS", ReadingLimits(cpu_s=3600))  # as long the next one would wait
    async with knowledge_in(tmp_path) as knowledge:
        reading = asyncio.ensure_future(knowledge.check("busy.txt", MAIZE))
        await asyncio.sleep(0.2)
        reading.cancel()
        assert (await knowledge.check("maize.md", MAIZE)).name == "maize.md"


@pytest.mark.kill
async def test_the_process_that_reads_ends_when_it_is_idle(tmp_path, processes, monkeypatch):
    monkeypatch.setattr(uploads, "IDLE_S", 0.01)
    async with knowledge_in(tmp_path) as knowledge:
        for _ in range(2):
            await knowledge.check("maize.md", MAIZE)
            while knowledge.check._process.running:  # noqa: ASYNC110 - of another thread
                await asyncio.sleep(0.01)


@pytest.mark.long
async def test_a_file_of_too_many_passages_is_refused_whole(tmp_path, processes, says):
    rows = "\n".join(f'{{"id": "{n}", "text": "Row {n}."}}' for n in range(6)).encode()
    async with knowledge_in(tmp_path, max_passages=5) as knowledge:
        with pytest.raises(BadUpload) as error:
            await knowledge.check("rows.jsonl", rows)
        says(error.value)
        (tmp_path / "rows.jsonl").write_bytes(rows)
        built = await knowledge.build([tmp_path / "rows.jsonl"])
        assert ["max_passages of [assistant]" in one.reason for one in built.skipped] == [True]
        # Sentences that have nothing in common are passages each, which is known once they are cut.
        text = "\n\n".join(f"Word{n} alone{n}. " + "x" * 300 for n in range(14))
        upload = await knowledge.check("many.txt", text.encode())
        with pytest.raises(BadUpload) as error:
            await knowledge.add(upload)
        says(error.value)
        assert knowledge.documents() == []
        assert list((tmp_path / ".ragstone" / "assistant" / "uploads").iterdir()) == []


async def test_a_long_text_is_tagged_by_all_of_its_words_in_the_order_of_the_list(tmp_path, monkeypatch):
    monkeypatch.setattr(cutting, "PIECE", 300)
    long = b"Rice first.\n" + b"Nothing here.\n" * 72 + b"Maize last."
    async with knowledge_in(tmp_path) as knowledge:
        await add(knowledge, "long.txt", long)
        assert knowledge.documents()[0].tags == {"crop": ["maize", "rice"]}


class Waiting(Words):
    """Words that waits, once it is told to, in the middle of embedding."""

    def __init__(self):
        super().__init__()
        self.waits, self.begun, self.go_on = False, threading.Event(), threading.Event()

    def __call__(self, texts, role):
        if self.waits:
            self.begun.set()
            self.go_on.wait(60)
        return super().__call__(texts, role)


async def stopped(embed, work):
    """Stop some work while it embeds."""
    embed.waits = True
    working = asyncio.ensure_future(work)
    assert await asyncio.to_thread(embed.begun.wait, 10)
    working.cancel()
    embed.go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await working
    embed.waits = False


async def test_an_upload_that_is_stopped_leaves_what_was_there(tmp_path):
    embed = Waiting()
    async with knowledge_in(tmp_path, embed) as knowledge:
        await add(knowledge, "maize.md", MAIZE)
        before = knowledge.version
        await stopped(embed, add(knowledge, "maize.md", MAIZE + b"\n\nNew. " * 5000))
        await stopped(embed, add(knowledge, "rice.md", b"Rice. " * 5000))
        assert [path.name for path in (tmp_path / ".ragstone/assistant/uploads").iterdir()] == ["maize.md"]
        assert (tmp_path / ".ragstone/assistant/uploads/maize.md").read_bytes() == MAIZE
        assert knowledge.version == before
        assert (await knowledge.build([write(tmp_path / "docs", rice="# Rice")])).changed == []


async def test_files_that_were_finished_before_a_stop_are_found(tmp_path):
    embed = Waiting()
    docs = write(tmp_path / "docs", a_maize="# Maize\n\nMaize is sown in May.", b_rice="Rice. " * 500)
    async with knowledge_in(tmp_path, embed) as knowledge:
        assert knowledge.documents() == []

        def advance(stage, done, total):
            embed.waits = embed.waits or (stage, done) == ("files", 1)

        working = asyncio.ensure_future(knowledge.build([docs], advance))
        assert await asyncio.to_thread(embed.begun.wait, 10)
        working.cancel()
        embed.go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await working
        assert ids(knowledge) == ["docs/a_maize.md"]
        assert (await knowledge.search("maize", 1))[0].document_id == "docs/a_maize.md"


async def test_a_file_of_too_many_sentences_is_refused_before_they_are_embedded(tmp_path, says):
    embed = Words()
    async with knowledge_in(tmp_path, embed, max_passages=5) as knowledge:
        upload = await knowledge.check("many.txt", b"Go on now. Stop it. " * 70)
        with pytest.raises(BadUpload) as error:
            await knowledge.add(upload)
        says(error.value)
        assert embed.given == []
        assert knowledge.documents() == []
