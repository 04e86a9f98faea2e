import pytest

from ragstone.kernel.errors import ConfigError
from ragstone.kernel.records import Chunk, Question
from ragstone.kernel.retrieval.deps import ChunkFilter, RetrieverDeps, index_tags, subset_of
from ragstone.kernel.retrieval.search import build_search

METADATA = [
    {"tags": {"crop": ["maize", "wheat"], "year": 2020}, "lang": "en"},
    {"tags": {"crop": "wheat"}, "lang": "en"},
    {"tags": {"crop": "maize"}, "lang": "fr", "topic": "water"},
    None,
]
CHUNKS = [
    Chunk(id=f"{n}", document_id=f"{n}", text="maize", start=0, end=5, metadata=metadata)
    for n, metadata in enumerate(METADATA)
]


async def found(question: Question, among: ChunkFilter) -> tuple[list[str], dict[str, object] | None]:
    search = await build_search("bm25", CHUNKS, RetrieverDeps(filter=among))
    (ranking,) = await search([question], 9)
    return [item.document_id for item in ranking.items], ranking.metadata


@pytest.mark.parametrize(
    ("where", "positions"),
    [
        ({"crop": "maize"}, [0, 2]),
        ({"crop": "wheat", "lang": "en"}, [0, 1]),
        ({"topic": "water"}, [2]),
        ({"year": "2020"}, [0]),
    ],
)
def test_chunks_are_chosen_by_all_the_tags(where, positions):
    index = index_tags(CHUNKS, ChunkFilter(where=where))
    assert subset_of(index, where).positions.tolist() == positions


def test_nothing_asked_is_no_subset():
    assert subset_of(index_tags(CHUNKS, ChunkFilter()), {}) is None


async def test_a_question_finds_chunks_of_its_own_tags_and_without_any_all_of_them():
    among = ChunkFilter(match=("crop", "lang"))
    maize = Question(id="q", question="maize", lang="en", tags={"crop": "maize"})
    assert await found(maize, among) == (["0"], None)
    assert await found(Question(id="q", question="maize", lang="fr"), among) == (["2"], None)
    assert await found(Question(id="q", question="maize"), among) == (["0", "1", "2", "3"], None)


async def test_where_goes_before_what_the_question_says():
    among = ChunkFilter(where={"crop": "wheat"}, match=("crop",))
    asked = Question(id="q", question="maize", tags={"crop": "maize"})
    assert await found(asked, among) == (["0", "1"], None)


async def test_a_question_whose_tags_no_chunk_has_finds_nothing_and_says_why():
    asked = Question(id="q", question="maize", tags={"crop": "rice"})
    assert await found(asked, ChunkFilter(match=("crop",))) == ([], {"no_chunk_has": {"crop": "rice"}})


@pytest.mark.parametrize(
    ("among", "says"),
    [
        (
            ChunkFilter(where={"crop": "maise"}),
            r"no chunk has crop = 'maise'\. Did you mean 'maize'\? All: maize, wheat",
        ),
        (ChunkFilter(where={"region": "iowa"}), "no chunk has the tag 'region'.*: crop, lang, topic, year"),
        (ChunkFilter(match=("region",)), "no chunk has the tag 'region'"),
        (
            ChunkFilter(where={"crop": "wheat", "topic": "water"}),
            "no chunk has crop = 'wheat', topic = 'water' together",
        ),
    ],
)
async def test_tags_that_no_chunk_has_are_met_with_those_that_there_are(among, says):
    with pytest.raises(ConfigError, match=says):
        await build_search("bm25", CHUNKS, RetrieverDeps(filter=among))


def test_chunks_without_tags_are_told_so(says):
    with pytest.raises(ConfigError) as error:
        index_tags(CHUNKS[3:], ChunkFilter(where={"crop": "maize"}))
    says(error.value)
