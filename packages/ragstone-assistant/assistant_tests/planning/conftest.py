"""An agent whose model is scripted, and tools that are functions of a line or two."""

import asyncio
from collections.abc import Callable
from datetime import date

import msgspec
import pytest
from tests.support.farm import FARM
from tests.support.scripted_planner import ScriptedPlanner

from ragstone.kernel.records import Turn
from ragstone_assistant.conversation import Asked, Citation, Doing, Passage, Said, TextPiece
from ragstone_assistant.planning.actions import menu_of
from ragstone_assistant.planning.loop import Agent, reply_to
from ragstone_assistant.planning.model import model_chooser, model_writer
from ragstone_assistant.tool import Observation, Situation, Tool

SECRET = b"s" * 32
TODAY = date(2026, 11, 21)


class Search(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Search the documents."""

    question: str
    crop: str | None = None


class Weather(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Weather forecast."""

    place: str
    days: int = 7

    def __post_init__(self) -> None:
        if not 1 <= self.days <= 16:
            raise ValueError("days: from 1 to 16")


class Crop(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row of the crop table."""

    crop: str


class Videos(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Find videos."""

    query: str


PASSAGE = Passage(chunk_id="c1", document_id="d1", text="Plant maize at 25 cm.", title="Maize")


async def search(asked: Search, situation: Situation) -> Observation:
    text = "Plant maize 25 cm apart [1]."
    for piece in ("Plant maize ", "25 cm apart [1]."):
        situation.emit(TextPiece(piece))
    cited = (Citation(number=1, passage=PASSAGE),)
    said = Said(text=text, kind="answer", lang=situation.lang, citations=cited, passages=(PASSAGE,))
    return Observation(text=text, reply=said)


async def weather(asked: Weather, situation: Situation) -> Observation:
    return Observation(text=f"{asked.place}: rain 12.5 mm tomorrow, 24 °C.")


async def crop_row(asked: Crop, situation: Situation) -> Observation:
    return Observation(text=f"{asked.crop}: pH 5.5 to 7, roots 90 cm.")


async def videos(asked: Videos, situation: Situation) -> Observation:
    return Observation(
        text="Drip irrigation, step by step", links=(("Drip irrigation", "https://v.example/1"),)
    )


def tools() -> dict[str, Tool]:
    made = [
        Tool(name="search_documents", description="Documents.", arguments=Search, call=search, advises=True),
        Tool(name="weather", description="Forecast.", arguments=Weather, call=weather, documented=False),
        Tool(name="crop_table", description="Crops.", arguments=Crop, call=crop_row),
        Tool(name="find_videos", description="Videos.", arguments=Videos, call=videos, advises=True),
    ]
    return {tool.name: tool for tool in made}


def asked(*texts: str, lang: str | None = None) -> Asked:
    """A conversation in turn: user, assistant, user, ..."""
    roles = ("user", "assistant")
    return Asked(turns=tuple(Turn(roles[n % 2], text) for n, text in enumerate(texts)), lang=lang)


class Heard:
    """The events of a reply."""

    def __init__(self) -> None:
        self.events: list[Doing | TextPiece] = []

    def __call__(self, event: Doing | TextPiece) -> None:
        self.events.append(event)

    @property
    def text(self) -> str:
        return "".join(event.piece for event in self.events if isinstance(event, TextPiece))


def agent_of(
    planner: ScriptedPlanner,
    *,
    with_tools: dict[str, Tool] | None = None,
    most_steps: int = 6,
    time_limit_s: float = 5,
) -> Agent:
    menu = menu_of(list((with_tools or tools()).values()), FARM.slots)
    return Agent(
        menu=menu,
        choose=model_chooser(menu, planner.ask, secret=SECRET, budget=1000),
        write=model_writer(planner.stream, secret=SECRET, budget=1000),
        domain=FARM,
        most_steps=most_steps,
        time_limit_s=time_limit_s,
    )


Replies = Callable[..., tuple[Said, Heard]]


@pytest.fixture
def replies() -> Replies:
    """What the agent says to a conversation, and what was heard of it meanwhile."""

    def reply(agent: Agent, conversation: Asked, lang: str = "en", **known: str) -> tuple[Said, Heard]:
        heard = Heard()
        said = asyncio.run(reply_to(agent, conversation, lang, TODAY, heard, known=known))
        assert heard.text == said.text
        return said, heard

    return reply
