"""Passages are found by words and by meaning, among those that the filters let through, by many at once."""

import asyncio
import subprocess
import sys
import threading

import pytest
from conftest import ROOT
from tests.support.knowledge import CROP, REGION, Words, knowledge_in, write

from ragstone.kernel.errors import ConfigError, DataError, MissingExtra
from ragstone_assistant.knowledge import knowledge_base
from ragstone_assistant.knowledge._building import finish
from ragstone_assistant.knowledge._catalogue import Catalogue
from ragstone_assistant.knowledge._points import PassagePoints
from ragstone_assistant.knowledge._snapshot import among
from ragstone_assistant.knowledge.entry import KnowledgeDown

TEXTS = {
    "maize": "# Maize\n\nMaize is sown in May near Kisumu.",
    "rice": "# Rice\n\nRice stands in water.",
    "both": "# Both\n\nMaize and rice are sown in turn.",
    "soil": "# Soil\n\nSoil is tilled before anything is sown.",
}


def found_ids(found):
    return sorted(one.document_id.removeprefix("docs/").removesuffix(".md") for one in found)


def qdrant_server(key=None):
    from tests.support.qdrant_server import QdrantServer  # Qdrant's models take seconds to import

    return QdrantServer(key)


@pytest.fixture(params=["folder", "server"])
def store(request):
    """Where the vectors are: settings of [assistant]."""
    if request.param == "folder":
        yield {}
        return
    with qdrant_server() as server:
        yield {"qdrant_url": server.url}


async def test_a_filter_lets_through_what_has_the_value_and_what_has_none(tmp_path, store):
    docs = write(tmp_path / "docs", **TEXTS)
    async with knowledge_in(tmp_path, **store) as knowledge:
        await knowledge.build([docs])

        async def those(**filters):
            return found_ids(await knowledge.search("What is sown?", 9, filters))

        assert await those() == ["both", "maize", "rice", "soil"]
        assert await those(crop="maize") == ["both", "maize", "soil"]  # soil is for every crop
        assert await those(crop="Corn") == ["both", "maize", "soil"]  # another name of the value
        assert await those(crop="rice", region="Kisumu") == ["both", "rice", "soil"]
        assert await those(crop="wheat") == ["soil"]  # nothing is known of it in particular
        assert await those(pest="mole", crop="") == ["both", "maize", "rice", "soil"]
        assert await those(lang="en") == ["both", "maize", "rice", "soil"]
        assert await those(lang="sw") == ["rice"]  # too short for its language to be known
        snapshot = knowledge._snapshot()
        assert among(snapshot, {"pest": "mole"}) is None
        assert among(snapshot, {"crop": "wheat"}).positions.tolist() == [3]


async def test_the_vectors_of_a_folder_are_read_once_for_each_state(tmp_path, monkeypatch):
    docs, read = write(tmp_path / "docs", **TEXTS), []
    vectors = PassagePoints.vectors

    def counted(self, n_numbers, positions):
        read.append(len(positions))
        return vectors(self, n_numbers, positions)

    monkeypatch.setattr(PassagePoints, "vectors", counted)
    async with knowledge_in(tmp_path) as knowledge:
        await knowledge.build([docs])
        await asyncio.gather(*(knowledge.search("What is sown?", 2) for _ in range(9)))
        await knowledge.remove("docs/rice.md")
        assert found_ids(await knowledge.search("What is sown?", 9, {"crop": "maize"})) == [
            "both",
            "maize",
            "soil",
        ]
        assert read == [4, 3]


async def test_words_and_meaning_both_find(tmp_path):
    class Blind(Words):
        """All texts mean the same, but for one."""

        def __call__(self, texts, role):
            vectors = super().__call__(texts, role) * 0
            for row, text in zip(vectors, texts, strict=True):
                row[int("Rice" in text or role == "query")] = 1.0
            return vectors

    docs = write(tmp_path / "docs", maize=TEXTS["maize"], rice=TEXTS["rice"], soil=TEXTS["soil"])
    async with knowledge_in(tmp_path, Blind()) as knowledge:
        await knowledge.build([docs])
        assert [one.document_id for one in await knowledge.search("zzz", 1)] == ["docs/rice.md"]
        # BM25 alone knows where Kisumu is; the vectors say rice.
        found = await knowledge.search("Kisumu", 2)
        assert found_ids(found) == ["maize", "rice"]
        assert found[0].score >= found[1].score


async def test_k_blank_questions_and_an_empty_base(tmp_path):
    docs = write(tmp_path / "docs", **TEXTS)
    async with knowledge_in(tmp_path) as knowledge:
        assert await knowledge.search("maize", 3) == []
        assert "no documents" in await knowledge.health()
        await knowledge.build([docs])
        assert len(await knowledge.search("maize", 2)) == 2
        assert await knowledge.search("  \n", 2) == []
        assert len(await knowledge.search("maize " * 200_000, 2)) == 2
        assert await knowledge.health() == "ok"
        passage = (await knowledge.search("maize Kisumu", 1))[0]
        assert (passage.chunk_id, passage.title, passage.source, passage.page) == (
            "docs/maize.md#0",
            "Maize",
            "docs/maize.md",
            None,
        )


async def test_words_that_no_passage_holds_in_any_form_are_unheld(tmp_path):
    async with knowledge_in(tmp_path) as knowledge:
        assert knowledge.unheld(["maize"]) == ["maize"]
        await knowledge.build([write(tmp_path / "docs", **TEXTS)])
        assert knowledge.unheld(["maize", "kubernetes", "stands", "standing", "soils", "9"]) == [
            "kubernetes",
            "soils",
            "9",
        ]  # of five letters and more the first five do
        assert knowledge.unheld([]) == []


@pytest.mark.long
async def test_many_search_while_a_build_goes_on(tmp_path, store):
    docs = write(tmp_path / "docs", **TEXTS)
    async with knowledge_in(tmp_path, **store) as knowledge:
        await knowledge.build([docs])
        before = knowledge.version
        write(docs, **{f"new{n}": f"# New {n}\n\nNew maize {n}." for n in range(40)})
        (docs / "rice.md").unlink()
        building = asyncio.create_task(knowledge.build([docs]))
        n_before = 0
        while not building.done():
            found = await asyncio.gather(*(knowledge.search("Rice stands in water", 1) for _ in range(20)))
            if knowledge.version == before:  # the new state is seen a moment before the build's task is done
                n_before += 1
                assert {found_ids(one)[0] for one in found} == {"rice"}  # what was there, until it has ended
        assert n_before
        assert (await building).n_documents == 43
        found = await asyncio.gather(*(knowledge.search(f"New maize {n}", 1) for n in range(40)))
        assert {found_ids(one)[0] for one in found} == {f"new{n}" for n in range(40)}
        assert "rice" not in found_ids(await knowledge.search("Rice stands in water", 50))


async def test_a_build_shows_nothing_before_it_has_ended_not_even_after_another(tmp_path, store):
    docs, seen = write(tmp_path / "docs", **TEXTS), []
    loop = asyncio.get_running_loop()

    def search_meanwhile(stage, done, _total):
        if stage == "files" and done == 4:  # all files are in the catalogue by now
            searching = asyncio.run_coroutine_threadsafe(knowledge.search("maize", 1), loop)
            seen.append(searching.result(10)[0].text)

    async with knowledge_in(tmp_path, **store) as knowledge:
        await knowledge.build([docs])
        await knowledge.search("maize", 1)
        write(docs, maize="# Maize\n\nMaize maize maize.")
        await knowledge.build([docs])  # nobody searches after it
        write(docs, maize="# Maize\n\nMaize maize.")
        await knowledge.build([docs], search_meanwhile)
        seen.append((await knowledge.search("maize", 1))[0].text)
    assert seen == ["# Maize\n\nMaize maize maize.", "# Maize\n\nMaize maize."]


@pytest.mark.parametrize(("gone", "left"), [(["rice"], ["both", "maize", "soil"]), (list(TEXTS), [])])
async def test_a_search_whose_points_a_build_drops_meanwhile_searches_again(
    tmp_path, monkeypatch, gone, left
):
    docs, vectors = write(tmp_path / "docs", **TEXTS), PassagePoints.vectors
    async with knowledge_in(tmp_path) as knowledge:
        await knowledge.build([docs])
        todo = [f"docs/{name}.md" for name in gone]

        def late(self, n_numbers, positions):
            while todo:  # between the snapshot and its vectors
                knowledge._kept.catalogue.exclude(todo.pop())
                finish(knowledge._kept)
            return vectors(self, n_numbers, positions)

        monkeypatch.setattr(PassagePoints, "vectors", late)
        assert found_ids(await knowledge.search("rice maize sown soil", 9)) == left


async def test_what_another_process_writes_while_the_passages_are_read_is_seen_the_next_time(
    tmp_path, monkeypatch
):
    docs, files, todo = write(tmp_path / "docs", **TEXTS), Catalogue.files, ["docs/rice.md"]
    async with knowledge_in(tmp_path) as knowledge:
        await knowledge.build([docs])
        before = knowledge._kept.catalogue.content()
        other = Catalogue(knowledge._kept.catalogue.path)  # a connection of its own, as a process has

        def late(self):
            while todo:
                other.exclude(todo.pop())
                other.revise()
            return files(self)

        monkeypatch.setattr(Catalogue, "files", late)
        first = knowledge._snapshot()
        assert (first.revision, first.version, len(first.documents)) == (1, before, 4)
        second = knowledge._snapshot()
        assert (second.revision, second.version != before, len(second.documents)) == (2, True, 3)
        other.close()


async def test_a_server_that_is_down_says_so_and_works_again_when_it_is_back(tmp_path, says):
    docs = write(tmp_path / "docs", **TEXTS)
    with qdrant_server() as server:
        async with knowledge_in(tmp_path, qdrant_url=server.url) as knowledge:
            await knowledge.build([docs])
            wanted = await knowledge.search("What is sown?", 3)
            assert len(wanted) == 3
            server.stop()
            with pytest.raises(KnowledgeDown) as down:
                await knowledge.search("What is sown?", 3)
            says(down.value)
            assert server.url not in str(down.value)  # that is for the operator
            assert server.url in str(down.value.__cause__)
            assert "cannot be reached" in await knowledge.health()
            with pytest.raises(DataError) as error:
                await knowledge.build([docs])
            says(error.value)
            with pytest.raises(DataError, match="cannot be reached"):
                await knowledge.remove("docs/rice.md")
            assert len(knowledge.documents()) == 4
            server.start()
            assert await knowledge.search("What is sown?", 3) == wanted
            assert await knowledge.health() == "ok"


async def test_a_server_that_has_lost_the_collection_is_filled_by_the_next_build(tmp_path):
    docs = write(tmp_path / "docs", **TEXTS)
    with qdrant_server() as server:
        async with knowledge_in(tmp_path, qdrant_url=server.url) as knowledge:
            await knowledge.build([docs])
            [collection] = server.client.get_collections().collections
            server.client.delete_collection(collection.name)
            with pytest.raises(KnowledgeDown):
                await knowledge.search("maize", 1)
            await knowledge.build([docs])
            assert len(await knowledge.search("maize", 9)) == 4


async def test_two_knowledge_bases_share_a_server_and_an_old_embedders_vectors_go(tmp_path):
    with qdrant_server() as server:
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            docs = write(tmp_path / name / "docs", **{name: f"# {name}\n\nThis is {name}."})
            async with knowledge_in(tmp_path / name, qdrant_url=server.url) as knowledge:
                await knowledge.build([docs])
                assert found_ids(await knowledge.search("This", 9)) == [name]
        other = {"qdrant_url": server.url, "embedder": "openai/other"}
        async with knowledge_in(tmp_path / "two", **other) as knowledge:
            await knowledge.build([docs])
        assert len(server.client.get_collections().collections) == 2


async def test_the_key_comes_from_the_environment(tmp_path, monkeypatch, says):
    docs = write(tmp_path / "docs", **TEXTS)
    with qdrant_server(key="secret") as server:
        settings = {"qdrant_url": server.url, "qdrant_key_env": "QDRANT_KEY"}
        async with knowledge_in(tmp_path, **settings) as knowledge:
            with pytest.raises(ConfigError) as error:
                await knowledge.build([docs])
            says(error.value)
            monkeypatch.setenv("QDRANT_KEY", "wrong")
            with pytest.raises(DataError) as error:
                await knowledge.build([docs])
            says(error.value)
        monkeypatch.setenv("QDRANT_KEY", "secret")
        async with knowledge_in(tmp_path, **settings) as knowledge:
            assert (await knowledge.build([docs])).n_documents == 4
            # A server finds points by tag through an index.
            assert any(asked.endswith("/index") for asked in server.asked)


async def test_a_server_gets_its_vectors_again_only_where_they_changed(tmp_path):
    docs = write(tmp_path / "docs", **TEXTS)
    with qdrant_server() as server:
        async with knowledge_in(tmp_path, qdrant_url=server.url) as knowledge:
            await knowledge.build([docs])
            server.asked.clear()
            await knowledge.build([docs])
            assert not [one for one in server.asked if one.startswith("PUT") and one.endswith("/points")]


async def test_an_address_that_is_none_is_an_error(tmp_path, says):
    docs = write(tmp_path / "docs", **TEXTS)
    async with knowledge_in(tmp_path, qdrant_url="nonsense:") as knowledge:
        with pytest.raises(ConfigError) as error:
            await knowledge.build([docs])
        says(error.value)


async def test_an_embedder_that_fails_makes_it_unavailable_not_wrong(tmp_path):
    docs, embed = write(tmp_path / "docs", **TEXTS), Words()
    async with knowledge_in(tmp_path, embed) as knowledge:
        await knowledge.build([docs])
        embed.broken = True
        with pytest.raises(KnowledgeDown):
            await knowledge.search("maize", 1)
        embed.broken = False
        assert await knowledge.search("maize", 1)


@pytest.mark.kill
def test_a_folder_that_another_process_has_open_says_what_to_do(tmp_path):
    docs = write(tmp_path / "docs", **TEXTS)
    script = (
        "import asyncio, sys; from pathlib import Path\n"
        "from tests.support.knowledge import *\n"
        "async def main():\n"
        "    async with knowledge_in(Path(sys.argv[1])) as knowledge:\n"
        "        await knowledge.build([Path(sys.argv[1]) / 'docs'])\n"
        "        print('open', flush=True); sys.stdin.read()\n"
        "asyncio.run(main())\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}

    async def beside():
        async with knowledge_in(tmp_path) as knowledge:
            assert len(knowledge.documents()) == 4  # a list needs no vectors
            with pytest.raises(KnowledgeDown) as down:
                await knowledge.search("maize", 1)
            message = "another process has this .* end that process, .* the qdrant_url of a Qdrant server"
            with pytest.raises(DataError, match=message):
                await knowledge.build([docs])
            assert "another process" in str(down.value.__cause__)
            other.communicate("")
            assert len(await knowledge.search("maize", 9)) == 4  # without a restart

    with subprocess.Popen(command, cwd=ROOT, **pipes) as other:
        assert other.stdout.readline() == "open\n"
        asyncio.run(beside())


async def test_a_damaged_folder_is_built_again(tmp_path):
    docs = write(tmp_path / "docs", **TEXTS)
    async with knowledge_in(tmp_path) as knowledge:
        await knowledge.build([docs])
    import gc

    gc.collect()
    (tmp_path / ".ragstone" / "assistant" / "qdrant" / "meta.json").write_text("{")
    async with knowledge_in(tmp_path) as knowledge:
        with pytest.raises(KnowledgeDown):
            await knowledge.search("maize", 1)
        await knowledge.build([docs])
        assert len(await knowledge.search("maize", 9)) == 4


async def test_two_builds_in_one_process_wait_for_each_other_and_two_processes_do_not(tmp_path, says):
    docs = write(tmp_path / "docs", **TEXTS)
    with qdrant_server() as server:
        held, free = threading.Event(), threading.Event()

        def advance(stage, done, _total):
            if (stage, done) == ("files", 1):
                held.set()
                free.wait(60)

        async with (
            knowledge_in(tmp_path, qdrant_url=server.url) as one,
            knowledge_in(tmp_path, qdrant_url=server.url) as other,
        ):
            first = asyncio.create_task(one.build([docs], advance))
            await asyncio.to_thread(held.wait)
            second = asyncio.create_task(one.build([docs]))
            with pytest.raises(DataError) as error:
                await other.build([docs])
            says(error.value)
            free.set()
            assert (await first).new
            assert (await second).n_unchanged == 4
            # The other one sees what has changed, though another has built it.
            assert len(await other.search("maize", 9)) == 4


async def test_a_folder_that_cannot_be_made_says_so(tmp_path, says):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError) as error:
        async with knowledge_in(tmp_path, store="file/below"):
            pass
    says(error.value)


async def test_a_catalogue_that_is_none_says_so(tmp_path, says):
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "catalogue.sqlite").write_text("no database at all " * 100)
    with pytest.raises(DataError) as error:
        async with knowledge_in(tmp_path, store="store"):
            pass
    says(error.value)


async def test_without_the_package_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(knowledge_base, "find_spec", lambda _name: None)
    with pytest.raises(MissingExtra, match=r"ragstone\[assistant\]"):
        async with knowledge_in(tmp_path, tags=[CROP, REGION]):
            pass
