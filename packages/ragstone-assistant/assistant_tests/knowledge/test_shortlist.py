"""With a shortlist a build embeds nothing, and a question the passages that words find."""

import pytest
from tests.support.knowledge import Words, knowledge_in, write

from ragstone_assistant.knowledge.entry import KnowledgeDown

TEXTS = {
    "maize": "# Maize\n\nMaize is sown in May near Kisumu.",
    "rice": "# Rice\n\nRice stands in water. Maize does not.",
    "soil": "# Soil\n\nSoil is tilled before anything is sown.",
}
LONG = "# Long\n\n" + "\n\n".join(
    f"Paragraph {n} is about worms and what they eat at night." for n in range(60)
)


async def ids(knowledge, question, k=5):
    return [found.document_id for found in await knowledge.search(question, k)]


async def test_a_build_embeds_nothing_and_a_question_what_words_find(tmp_path):
    docs = write(tmp_path / "docs", long=LONG, **TEXTS)
    embed = Words()
    async with knowledge_in(tmp_path, embed, shortlist=2) as knowledge:
        built = await knowledge.build([docs])
        assert (embed.given, built.n_embedded, built.topics) == ([], 0, {})
        assert built.n_passages > len(TEXTS) + 1  # the long one is cut without vectors
        assert set(await ids(knowledge, "maize sown")) == {"docs/maize.md", "docs/rice.md", "docs/soil.md"}
        [question, *passages] = embed.given
        assert question == "maize sown"
        assert len(passages) == 2  # of the three that share a word with the question
        assert await knowledge.health() == "ok"


async def test_meaning_orders_what_words_propose(tmp_path):
    docs = write(tmp_path / "docs", **TEXTS)
    async with knowledge_in(tmp_path, shortlist=10) as knowledge:
        await knowledge.build([docs])
        assert (await ids(knowledge, "Maize stands in water"))[0] == "docs/rice.md"
        assert await ids(knowledge, "maíz") == []  # words find nothing, so there is nothing to compare
        assert await ids(knowledge, "is sown", k=1) != []


async def test_only_what_has_changed_is_read_again_and_what_is_gone_is_dropped(tmp_path):
    docs = write(tmp_path / "docs", **TEXTS)
    async with knowledge_in(tmp_path, shortlist=10) as knowledge:
        await knowledge.build([docs])
        write(docs, soil="# Soil\n\nSoil is alive.")
        (docs / "rice.md").unlink()
        built = await knowledge.build([docs])
        assert (built.changed, built.removed, built.n_unchanged) == (["docs/soil.md"], ["docs/rice.md"], 1)
        assert await ids(knowledge, "alive") == ["docs/soil.md"]
        assert await ids(knowledge, "water") == []


async def test_a_base_of_one_kind_is_not_searched_as_the_other_until_it_is_built_again(tmp_path, says):
    docs = write(tmp_path / "docs", **TEXTS)
    for settings in ({}, {"shortlist": 10}, {}):
        embed = Words()
        async with knowledge_in(tmp_path, embed, **settings) as knowledge:
            if knowledge.documents():
                with pytest.raises(KnowledgeDown) as raised:
                    await knowledge.search("maize", 3)
                says(raised.value.__cause__)
            await knowledge.build([docs])
            assert bool(embed.given) is not bool(settings)
            assert (await ids(knowledge, "Where is maize sown?"))[0] == "docs/maize.md"
