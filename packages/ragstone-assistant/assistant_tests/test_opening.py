"""The assistant as a server has it: settings, session, documents, tools; its model is the fake endpoint."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date
from pathlib import Path

import msgspec
import pytest
from tests.support import open_meteo
from tests.support.fake_openai import FakeOpenAI
from tests.support.fake_retriever import serving
from tests.support.scripts import Body, fail, nonce_in, prompt_of, schema_in

from ragstone.kernel.config import HttpTranslator, McpServer, Settings
from ragstone.kernel.engine.session import open_session
from ragstone.kernel.errors import ConfigError, ModelError
from ragstone.kernel.records import Turn
from ragstone_assistant.assistant import EMBEDDED, Assistant, open_assistant
from ragstone_assistant.conversation import Asked, Said, TextPiece, silent
from ragstone_assistant.languages import phrase

EXAMPLES = Path(__file__).parents[3] / "examples" / "assistant"
MAIZE = "# Maize\n\nSow maize at the beginning of the long rains, in March. Plant maize 25 cm apart.\n"
FARM_TOOLS = ["farm_tools.weather:weather", "farm_tools.crops:crop_table", "farm_tools.videos:find_videos"]
FILES = {"crop_table": {"path": "crops.csv"}, "find_videos": {"path": "videos.csv"}}
TAGS = '[tags]\ncrop = ["maize", "wheat"]\nregion = ["Kisumu"]\n'
TOOL = '''
def market_price(crop: str) -> str:
    """Market price of a crop.

    crop: which one
    """
    return f"{crop}: 42 shillings a kilo"
'''


def settings_of(fake: FakeOpenAI, folder: Path, **section: object) -> Settings:
    (folder / "documents").mkdir(exist_ok=True)
    (folder / "documents" / "maize.md").write_text(MAIZE)
    (folder / "tags.toml").write_text(TAGS)
    plain = fake.settings(folder)
    models = plain.models | {"openai/vectors": plain.models["openai/fake"]}
    given = {
        "model": "openai/fake",
        "embedder": "openai/vectors",
        "tags": "tags.toml",
        "topics": False,
    }
    assistant = msgspec.structs.replace(plain.assistant, **given | section)
    return msgspec.structs.replace(plain, models=models, assistant=assistant)


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[Assistant]:
    async with (
        open_session(settings, serving=True) as session,
        open_assistant(settings, session, today=lambda: date(2026, 11, 21)) as assistant,
    ):
        await assistant.knowledge.build([Path(settings.root) / "documents"])
        yield assistant


def asked(text: str) -> Asked:
    return Asked(turns=(Turn("user", text),))


def acts(*actions: object, writes: str = ""):
    """A script: the actions one after the other; where no schema is asked for, what is written."""
    left = list(actions)

    def script(body: Body) -> str:
        schema = schema_in(body)
        if schema is None:
            return writes
        action = left.pop(0)
        return msgspec.json.encode({"nonce": nonce_in(body), "thought": "next", "action": action}).decode()

    return script


async def test_documents_are_cited_and_the_question_is_tagged(
    fake_openai: FakeOpenAI, tmp_path: Path
) -> None:
    fake_openai.script = acts(
        {
            "do": "search_documents",
            "with": {"question": "When do I sow maize?", "crop": "maize", "region": None},
        },
        writes="Sow maize at the beginning of the long rains, in March [1].",
    )
    pieces: list[str] = []
    async with opened(settings_of(fake_openai, tmp_path)) as assistant:
        said = await assistant.respond(
            asked("When do I sow maize?"),
            lambda event: pieces.append(event.piece) if isinstance(event, TextPiece) else None,
        )
    assert said.kind == "answer"
    assert said.citations[0].passage.document_id.endswith("maize.md")
    assert "".join(pieces) == said.text
    assert said.tags == {"crop": "maize", "lang": "en"}
    assert said.usage.calls == 2
    assert (said.model, said.prompt_version) != ("", "")


async def test_filters_of_the_settings_hold_where_a_request_has_none(
    fake_openai: FakeOpenAI, tmp_path: Path
) -> None:
    search = {"do": "search_documents", "with": {"question": "When do I sow?", "crop": None, "region": None}}
    fake_openai.script = acts(search, search, writes="Plant maize 25 cm apart [1].")
    wheat = {"filters": {"crop": "wheat"}}
    async with opened(settings_of(fake_openai, tmp_path, **wheat)) as assistant:
        refused = await assistant.answer("How far apart is it planted?", {}, None, silent)
        own = await assistant.answer("How far apart is it planted?", {"crop": "maize"}, None, silent)
        said = await assistant.respond(asked("When do I sow?"), silent)
    assert (refused.kind, own.kind, said.kind) == ("refusal", "answer", "refusal")
    assert refused.text.startswith("No documents fit wheat.")
    assert said.text.startswith("No documents fit wheat.")
    async with opened(settings_of(fake_openai, tmp_path, **wheat, loosen=["crop"])) as assistant:
        loosened = await assistant.answer("How far apart is it planted?", {}, None, silent)
    assert loosened.text.startswith(
        "I searched without wheat, so this may be about something other than wheat.\n\nPlant maize"
    )
    assert loosened.tags["loosened"] == "crop"


async def test_documents_answer_without_the_agent(fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    fake_openai.script = acts(writes="Plant maize 25 cm apart [1].")
    async with opened(settings_of(fake_openai, tmp_path)) as assistant:
        said = await assistant.answer("How far apart is maize planted?", {"crop": "maize"}, None, silent)
        nothing = await assistant.answer("How far apart?", {"crop": "wheat"}, "es", silent)
    assert (said.kind, said.lang, said.tags) == ("answer", "en", {"crop": "maize", "lang": "en"})
    assert said.steps == ()
    assert (nothing.kind, nothing.lang) == ("refusal", "es")


async def test_all_tools_that_are_declared_are_there(fake_openai: FakeOpenAI, tmp_path: Path, says) -> None:
    for name in ("crops.csv", "videos.csv"):
        shutil.copy(EXAMPLES / name, tmp_path / name)
    (tmp_path / "prices_of_market.py").write_text(TOOL)
    with open_meteo.serving() as service:
        settings = settings_of(
            fake_openai,
            tmp_path,
            tools=[*FARM_TOOLS, "prices_of_market:market_price"],
            options={**FILES, "weather": service.options()},
        )
        fake_openai.script = acts(
            {"do": "weather", "with": {"place": "Nakuru", "days": 2, "country": None}},
            {"do": "market_price", "with": {"crop": "maize"}},
            {"do": "answer", "with": {"text": "Maize costs 42 shillings."}},
        )
        async with opened(settings) as assistant:
            said = await assistant.respond(asked("Rain in Nakuru, and the price of maize?"), silent)
            assert await assistant.health() == {"model": "ok", "knowledge": "ok", "log": "ok"}
    assert [step.status for step in said.steps] == ["done", "done", "done"]
    assert "Nakuru" in said.steps[0].observation
    says(said.text)
    told = prompt_of(fake_openai.bodies[-1])
    assert all(name in told for name in ("search_documents", "weather", "crop_table", "find_videos"))


async def test_words_plan_without_a_call(fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    with open_meteo.serving() as service:
        settings = settings_of(
            fake_openai,
            tmp_path,
            planner="words",
            tools=FARM_TOOLS[:1],
            options={"weather": service.options()},
        )
        async with opened(settings) as assistant:
            unclear = await assistant.respond(asked("Will it rain?"), silent)
            turns = (
                Turn("user", "Will it rain?"),
                Turn("assistant", unclear.text),
                Turn("user", "in Nakuru"),
            )
            said = await assistant.respond(Asked(turns=turns), silent)
    assert (unclear.kind, unclear.text) == ("question", phrase("ask_place", "en"))
    assert said.text.startswith("Weather forecast for Nakuru")
    assert all("messages" not in body for body in fake_openai.bodies)


async def test_a_model_that_is_down_is_told_and_seen_in_health(
    fake_openai: FakeOpenAI, tmp_path: Path
) -> None:
    async with opened(settings_of(fake_openai, tmp_path)) as assistant:
        fake_openai.script = lambda _body: fail(400, "no such thing")
        said = await assistant.respond(asked("¿Cuándo siembro maíz?"), silent)
        health = await assistant.health()
    assert (said.kind, said.text) == ("unavailable", phrase("model_unavailable", "es"))
    assert "no such thing" in health["model"]


@pytest.mark.parametrize(
    ("section", "named"),
    [
        (
            {"tools": FARM_TOOLS[1:2], "options": {"crop_table": {"path": "missing.csv"}}},
            "[assistant.options.crop_table] path",
        ),
        (
            {"tools": FARM_TOOLS[2:], "options": {"find_videos": {"path": "missing.csv"}}},
            "[assistant.options.find_videos] path",
        ),
        ({"tools": FARM_TOOLS[2:]}, "the key 'path' is missing"),
        ({"tools": FARM_TOOLS[:1], "options": {"wether": {}}}, "Did you mean 'weather'?"),
        ({"tools": FARM_TOOLS[:1], "options": {"weather": {"timeout": 1}}}, "Did you mean 'timeout_s'?"),
        ({"tools": ["shutil:rmtree"], "options": {"rmtree": {}}}, "takes no options"),
        ({"tools": ["nowhere:f"]}, "[assistant] tools"),
        ({"tags": "missing.toml"}, "missing.toml"),
        ({"mcp": {"prices": McpServer()}}, "[assistant.mcp.prices]"),
    ],
)
def test_what_is_missing_stops_the_start_with_the_key(
    fake_openai: FakeOpenAI, tmp_path: Path, section: dict[str, object], named: str
) -> None:
    async def work() -> None:
        async with opened(settings_of(fake_openai, tmp_path, **section)):
            pass

    with pytest.raises(ConfigError) as caught:
        asyncio.run(work())
    assert named in str(caught.value)


@pytest.mark.parametrize("section", [{"planner": "model"}, {"answers": "written"}])
def test_what_asks_a_model_says_where_to_name_one(
    fake_openai: FakeOpenAI, tmp_path: Path, section: dict[str, object], says
) -> None:
    async def work() -> Said:
        async with opened(settings_of(fake_openai, tmp_path, model=None, **section)) as assistant:
            return await assistant.respond(asked("x"), silent)

    with pytest.raises(ModelError) as error:
        asyncio.run(work())
    says(error.value)


@pytest.mark.parametrize("model", [None, EMBEDDED])
async def test_without_a_model_that_can_it_quotes_the_documents(
    fake_openai: FakeOpenAI, tmp_path: Path, model: str | None
) -> None:
    async with opened(settings_of(fake_openai, tmp_path, model=model)) as assistant:
        said = await assistant.respond(asked("How far apart do I plant maize?"), silent)
        nothing = await assistant.answer("Who is the mayor of London?", {}, None, silent)
        assert await assistant.health() == {"knowledge": "ok", "log": "ok"}
    assert (said.kind, said.text, said.model) == ("answer", "Plant maize 25 cm apart [1].", "")
    assert said.citations[0].passage.document_id.endswith("maize.md")
    assert nothing.kind == "refusal"
    assert all("messages" not in body for body in fake_openai.bodies)


async def test_the_texts_of_a_domain_are_its_own(fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    texts = str(EXAMPLES / "texts")
    async with opened(settings_of(fake_openai, tmp_path, model=None, texts=texts)) as farm:
        hello = await farm.respond(asked("¡Hola!"), silent)
        football = await farm.respond(asked("Write me a poem about football"), silent)
    async with opened(settings_of(fake_openai, tmp_path, model=None)) as bare:
        anything = await bare.respond(asked("Write me a poem about football"), silent)
    assert "agricultura" in hello.text
    assert (football.kind, anything.kind) == ("declined", "refusal")


async def test_quotes_are_translated_by_the_service_that_the_settings_name(fake_openai, tmp_path, says):
    with serving() as server:
        server.script = lambda _asked: {"translatedText": "Plante el maíz a 25 cm de distancia."}
        settings = settings_of(
            fake_openai, tmp_path, answers="extractive", planner="words", translator="http"
        )
        service = msgspec.structs.replace(settings.translate, http=HttpTranslator(url=server.url))
        settings = msgspec.structs.replace(settings, translate=service)
        async with opened(settings) as assistant:
            said = await assistant.answer("25 cm maize apart maíz", {}, "es", silent)
        assert said.text.endswith(f"{phrase('translation', 'es')}\nPlante el maíz a 25 cm de distancia [1].")
        assert [call.body["q"] for call in server.asked] == ["Plant maize 25 cm apart."]
    unknown = settings_of(fake_openai, tmp_path, translator="deepl")
    with pytest.raises(ConfigError) as error:
        async with opened(unknown):
            pass
    says(error.value)


@pytest.mark.parametrize(
    ("section", "is_set"),
    [
        ({}, False),  # though the model plans and writes
        ({"translator": "openai/fake"}, True),
        ({"planner": "words", "answers": "extractive"}, False),
        ({"planner": "words", "answers": "extractive", "translator": "openai/fake"}, True),
    ],
)
async def test_a_model_translates_quotes_where_the_settings_name_it_as_translator(
    fake_openai, tmp_path, section, is_set
):
    fake_openai.script = lambda body: (
        msgspec.json.encode(
            {"nonce": nonce_in(body), "text_1": "Plante el maíz a 25 cm de distancia."}
        ).decode()
        if "text_1" in str(schema_in(body))
        else "NO SUCH WORDS"
    )
    async with opened(settings_of(fake_openai, tmp_path, **section)) as assistant:
        said = await assistant.answer("25 cm maize apart maíz", {}, "es", silent)
    assert said.text.startswith(phrase("other_language", "es", language="English"))
    assert (phrase("translation", "es") in said.text) is is_set
