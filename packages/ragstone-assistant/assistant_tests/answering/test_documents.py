import asyncio
from datetime import date

import msgspec
import pytest
from tests.support.scripted_assistant import MAIZE, Heard, Scripted, answering

from ragstone.kernel.corpus.tags import Tag
from ragstone.kernel.judging.lexical import no_refusal
from ragstone.kernel.records import Turn
from ragstone_assistant.answering.documents import documents_tool, restrictions
from ragstone_assistant.conversation import Asked
from ragstone_assistant.knowledge.entry import KnowledgeDown
from ragstone_assistant.languages import SPOKEN, phrase
from ragstone_assistant.tool import Situation

CROP = Tag("crop", {"maize": ("maize", "corn"), "wheat": ("wheat",)})
ANY = Tag("region", None)


class Searched:
    """A search that keeps what it was asked, and finds what `find` says."""

    def __init__(self, find=lambda _query, _filters: list(MAIZE)):
        self.asked = []
        self._find = find

    async def __call__(self, query, k, filters):
        self.asked.append((query, k, dict(filters)))
        return self._find(query, filters)[:k]


def called(
    search,
    arguments,
    *,
    text="Sow maize in April [1].",
    own="When do I sow?",
    filters=None,
    lang="en",
    loosen=(),
):
    tool = documents_tool(search, answering(Scripted(text)), k=2, tags=[CROP, ANY], loosen=loosen)
    heard = Heard()
    asked = Asked(turns=(Turn("user", own),), filters=filters or {})
    situation = Situation(asked=asked, lang=lang, today=date(2026, 3, 1), emit=heard)
    observation = asyncio.run(tool.call(msgspec.convert(arguments, tool.arguments), situation))
    assert observation.reply is None or heard.text == observation.reply.text
    return observation


def test_the_tool_answers_and_brings_its_passages():
    search = Searched()
    observation = called(search, {"question": "When is maize sown?", "crop": "maize"})
    assert search.asked == [("When is maize sown?", 2, {"crop": "maize"})]
    assert observation.reply.kind == "answer"
    assert observation.reply.text == observation.text == "Sow maize in April [1]."
    assert observation.passages == MAIZE
    assert observation.usage.calls == 1
    assert not observation.failed


def test_each_tag_is_an_argument_and_nothing_else():
    tool = documents_tool(Searched(), answering(Scripted("")), k=2, tags=[CROP, ANY, Tag("question", None)])
    assert tool.name == "search_documents"
    assert [field.name for field in msgspec.structs.fields(tool.arguments)] == ["question", "crop", "region"]
    schema = msgspec.json.schema(tool.arguments)["$defs"]["SearchDocuments"]
    assert schema["properties"]["crop"]["description"] == "only documents on this crop, e.g. maize, wheat"
    assert set(tool.doing) == set(SPOKEN)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"question": "When?", "colour": "red"}, tool.arguments)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"question": ""}, tool.arguments)


def test_a_restriction_that_finds_nothing_is_dropped():
    search = Searched(lambda _query, filters: [] if filters.get("crop") == "maze" else list(MAIZE))
    assert called(search, {"question": "When is it sown?", "crop": "maze"}).reply.kind == "answer"
    assert [filters for _, _, filters in search.asked] == [{"crop": "maze"}, {}]


def test_what_the_user_restricts_always_holds():
    search = Searched(lambda _query, _filters: [])
    found = called(search, {"question": "When?", "crop": "wheat"}, filters={"crop": "maize"})
    assert [filters for _, _, filters in search.asked] == [{"crop": "maize"}]
    assert found.reply.kind == "refusal"
    assert found.reply.text.startswith("No documents fit maize.")


CORPUS = {"crop": "maize", "region": "Kenya", "lang": "en"}  # what the only documents are tagged with


def tagged(_query, filters):
    return list(MAIZE) if all(CORPUS[key] == value for key, value in filters.items()) else []


def test_what_the_question_names_and_no_document_has_is_said_to_be_dropped_the_last_tag_first():
    search = Searched(tagged)
    own = "When do I sow corn in Peru?"
    found = called(search, {"question": own, "crop": "maize", "region": "Peru"}, own=own)
    assert [filters for _, _, filters in search.asked] == [
        {"crop": "maize", "region": "Peru"},
        {"crop": "maize"},
    ]
    assert found.reply.text.startswith(
        "I searched without Peru, so this may be about something other than maize, Peru.\n\n"
    )
    assert found.reply.tags["loosened"] == "region"


def test_filters_of_language_crop_and_region_hold_together_and_loosen_in_the_order_of_the_settings():
    search = Searched(tagged)
    own = {"crop": "maize", "region": "Peru", "lang": "es"}
    found = called(search, {"question": "When?"}, filters=own, loosen=("lang", "region"))
    assert [filters for _, _, filters in search.asked] == [
        own,
        {"crop": "maize", "region": "Peru"},
        {"crop": "maize"},
    ]
    assert found.reply.text.startswith(
        "I searched without Español, Peru, so this may be about something other than maize, Peru, Español."
    )
    assert found.reply.tags["loosened"] == "lang, region"


def test_a_crop_that_may_not_be_loosened_is_never_answered_with_another():
    search = Searched(tagged)
    own = {"crop": "rice", "lang": "en"}
    found = called(search, {"question": "When?"}, filters=own, loosen=("lang", "region"))
    assert (found.reply.kind, found.passages) == ("refusal", ())
    assert found.reply.text.startswith("No documents fit rice, English.")
    assert "without" not in found.reply.text
    assert "loosened" not in found.reply.tags


def test_where_something_fits_nothing_is_said_of_filters():
    for filters in ({}, CORPUS):
        found = called(Searched(tagged), {"question": "When?"}, filters=filters, loosen=("lang",))
        assert "fit" not in found.reply.text
        assert "loosened" not in found.reply.tags


def test_a_filter_is_shown_short_and_without_controls():
    value = "x\u202e" + "y" * 500
    found = called(Searched(tagged), {"question": "When?"}, filters={"crop": value})
    first = found.reply.text.splitlines()[0]
    assert len(first) < 120
    assert "\u202e" not in first


@pytest.mark.parametrize("lang", SPOKEN)
def test_loosened_filters_are_said_in_every_language(lang):
    found = called(
        Searched(tagged), {"question": "?"}, filters={"region": "Peru"}, loosen=["region"], lang=lang
    )
    lead = phrase("searched_without", lang, filters="Peru", dropped="Peru")
    assert found.reply.text == f"{lead}\n\nSow maize in April [1]."
    assert no_refusal(found.reply.text)  # judges of the log would count an answer as a refusal


def test_what_an_earlier_turn_named_is_said_when_it_is_dropped_and_what_a_model_made_up_is_not():
    turns = Turn("user", "When do I sow oca?"), Turn("assistant", "In May [1]."), Turn("user", "How deep?")
    said = Asked(turns=turns)
    for tag in (Tag("crop", {"oca": ("oca",)}), Tag("crop", None)):
        assert restrictions({"crop": "oca"}, said, [tag], ()).named == {"oca"}
    # A value of the list may be put in words that the list lacks: "oka" in another language.
    silent = Asked(turns=turns[-1:])
    assert restrictions({"crop": "oca"}, silent, [Tag("crop", {"oca": ("oca",)})], ()).named == {"oca"}
    assert restrictions({"crop": "oca"}, silent, [Tag("crop", None)], ()).named == set()


def test_the_users_own_words_are_searched_with_the_restrictions_that_hold():
    search = Searched(tagged)
    called(search, {"question": "¿Cuándo siembro?", "crop": "maize", "region": "Peru"}, own="When do I sow?")
    assert search.asked[-1] == ("When do I sow?", 2, {"crop": "maize"})


def test_a_question_put_in_another_language_is_searched_for_in_the_users_words_too():
    first, second = MAIZE
    search = Searched(lambda query, _filters: [first] if query.startswith("When") else [second, first])
    said = called(search, {"question": "When is maize sown?"}, own="¿Cuándo se siembra el maíz?", lang="es")
    assert [query for query, _, _ in search.asked] == ["When is maize sown?", "¿Cuándo se siembra el maíz?"]
    assert [one.chunk_id for one in said.passages] == [first.chunk_id, second.chunk_id]


@pytest.mark.parametrize("lang", SPOKEN)
def test_a_knowledge_base_that_is_down_is_an_observation_that_failed(lang):
    def down(_query, _filters):
        raise KnowledgeDown("no connection to http://localhost:6333")

    observation = called(Searched(down), {"question": "When?"}, lang=lang)
    assert observation.failed
    assert observation.reply is None
    assert observation.text.startswith(phrase("documents_unavailable", lang))


def test_a_model_that_cannot_be_asked_is_an_observation_that_failed_with_its_reply():
    tool = documents_tool(Searched(), answering(Scripted("x", fails_after=0)), k=2)
    asked = Asked(turns=(Turn("user", "When?"),))
    situation = Situation(asked=asked, lang="en", today=date(2026, 3, 1))
    observation = asyncio.run(tool.call(tool.arguments(question="When?"), situation))
    assert observation.failed
    assert observation.reply.kind == "unavailable"
