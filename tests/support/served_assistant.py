"""An assistant that says what a test tells it to, its documents and its log in memory, and a server for it.

scripted = Scripted()
scripted.say(Text("Sow in "), Text("May."), said("Sow in May."))
with served(scripted, ServeSection(), folder) as url: ...
"""

import asyncio
from collections.abc import Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
from tests.support.farm import FARM
from tests.support.in_thread import app_in_thread
from tests.support.reading_here import ReadHere

from ragstone.kernel.config.serving import ServeSection
from ragstone.kernel.corpus.file import IngestOptions
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Turn, Usage
from ragstone_assistant.api.app import create_app
from ragstone_assistant.api.state import Clocks
from ragstone_assistant.assistant import Assistant
from ragstone_assistant.conversation import (
    Asked,
    Citation,
    Doing,
    Emit,
    LoopStep,
    Passage,
    Said,
    TextPiece,
)
from ragstone_assistant.knowledge.entry import Advance, Entry, KnowledgeDown, PlacedPassage
from ragstone_assistant.knowledge.uploads import Upload, UploadReader

PASSAGE = Passage(
    chunk_id="guides/maïs.pdf#3",
    document_id="guides/maïs.pdf",
    text="Maize is sown in May.",
    title="Maize guide",
    page=2,
    source="guides/maïs.pdf",
    score=0.9,
)


def said(text: str = "Sow in May [1].", **changed) -> Said:
    """Return an answer that cites one passage."""
    plain = Said(
        text=text,
        kind="answer",
        lang="en",
        citations=(Citation(number=1, passage=PASSAGE),),
        passages=(PASSAGE,),
        links=(("Sowing", "https://videos.example/1"),),
        steps=(
            LoopStep(
                thought="They ask about maize.",
                action="search_documents",
                arguments={"question": "When is maize sown?"},
                observation="Maize is sown in May.",
                status="done",
                latency_s=0.25,
            ),
        ),
        usage=Usage(input=120, output=30, calls=2),
        cost_usd=0.002,
        latency_s=0.5,
        model="openai/fake",
        prompt_version="cited-1",
    )
    return msgspec.structs.replace(plain, **changed)


class Log:
    """Rows in the order in which they were written; `fails`: it cannot take any."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.thumbs: list[tuple[str, str | None, str | None]] = []
        self.fails = False

    async def write(
        self, asked: Asked, said: Said, *, exchange_id: str, conversation_id: str | None, now: datetime
    ) -> None:
        if self.fails:
            raise DataError("the disk is full")
        self.rows.append(
            {"asked": asked, "said": said, "id": exchange_id, "conversation": conversation_id, "now": now}
        )

    async def feedback(
        self, exchange_id: str, thumb: str | None, correction: str | None, now: datetime
    ) -> None:
        self.thumbs.append((exchange_id, thumb, correction))


class Knowledge:
    """Documents by name; `down`: it cannot be reached. What is added waits for `gate`, if that is set."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {"guides/maïs.pdf": b"Maize is sown in May."}
        self.down = False
        self.gate: asyncio.Event | None = None
        self.searched: list[tuple[str, int, dict[str, str]]] = []
        self.building = self.most_building = 0
        self.version = "1"

    async def search(self, query: str, k: int, filters: Mapping[str, str] | None = None) -> list[Passage]:
        if self.down:
            raise KnowledgeDown("the documents cannot be searched at this moment")
        self.searched.append((query, k, dict(filters or {})))
        return [PASSAGE][:k]

    async def passage(self, chunk_id: str) -> PlacedPassage | None:
        if chunk_id != PASSAGE.chunk_id:
            return None
        return PlacedPassage(passage=PASSAGE, before="Before. ", after=" After.")

    def documents(self) -> list[Entry]:
        return [
            Entry(
                id=name,
                title=name,
                file=name,
                source=name,
                lang="en",
                tags={"crop": ["maize"]},
                topic=None,
                n_pages=None,
                n_passages=1,
                n_characters=len(content),
                upload=False,
            )
            for name, content in self.files.items()
        ]

    async def add(self, upload: Upload, advance: Advance) -> None:
        name, content = upload.name, upload.content
        self.building += 1
        self.most_building = max(self.most_building, self.building)
        advance("passages", 1, 2)
        if self.gate is not None:
            await self.gate.wait()
        await asyncio.sleep(0)
        self.building -= 1
        if b"explode" in content:
            raise ZeroDivisionError("secret detail")
        if b"down" in content:
            raise KnowledgeDown("the documents cannot be changed at this moment")
        self.files[name] = content
        advance("passages", 2, 2)

    async def check(self, name: str, content: bytes) -> Upload:
        reader = UploadReader(IngestOptions(), 20_000)
        reader._process = ReadHere(IngestOptions())
        try:
            return await reader(name, content)
        finally:
            reader.close()

    def filters(self) -> dict[str, list[str]]:
        return {"crop": ["maize"]}

    async def remove(self, document_id: str) -> bool:
        return self.files.pop(document_id, None) is not None

    async def rebuild(self, advance: Advance):
        advance("files", len(self.files), len(self.files))
        return msgspec.defstruct("Built", [("skipped", list[Any])])([])


class Scripted:
    """events: what is heard of the next reply, in order: Doing, Text, seconds to wait, an exception, Said."""

    def __init__(self) -> None:
        self.log, self.knowledge = Log(), Knowledge()
        self.asked: list[Asked] = []
        self.parts = {"model": "ok", "knowledge": "ok", "log": "ok"}
        self.cancelled = 0
        self.events: tuple[Any, ...] = ()
        self.say(Doing("search_documents", "Searching"), TextPiece("Sow in "), TextPiece("May [1]."), said())

    def say(self, *events) -> None:
        self.events = events

    async def respond(self, asked: Asked, emit: Emit) -> Said:
        self.asked.append(asked)
        try:
            for event in self.events:
                match event:
                    case int() | float():
                        await asyncio.sleep(event)
                    case Exception():
                        raise event
                    case Said():
                        return event
                    case _:
                        emit(event)
                        await asyncio.sleep(0)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        raise AssertionError("a script ends with what was said")

    async def answer(self, question: str, filters: Mapping[str, str], lang: str | None, emit: Emit) -> Said:
        asked = Asked(turns=(Turn("user", question),), filters=dict(filters), lang=lang)
        return await self.respond(asked, emit)

    async def health(self) -> dict[str, str]:
        return dict(self.parts)

    def assistant(self) -> Assistant:
        return Assistant(
            respond=self.respond,
            answer=self.answer,
            health=self.health,
            knowledge=self.knowledge,  # type: ignore[arg-type]
            log=self.log,  # type: ignore[arg-type]
            domain=FARM,
            languages=("en", "es"),
        )


def served(
    scripted: Scripted, serve: ServeSection, folder: Path, port: int = 0, **options
) -> AbstractContextManager[str]:
    """Give the address of a server in a thread of this process."""
    from ragstone.kernel.serve._connections import limited

    app = create_app(scripted.assistant(), serve, folder=folder, **options)
    return app_in_thread(app, port, http=limited(serve.max_connections), timeout_graceful_shutdown=5)


URL = "http://127.0.0.1:8000"
KEYS = {"anna": "a" * 16, "ben": "b" * 16}


def key(name: str) -> dict[str, str]:
    """Return the header with somebody's key."""
    return {"Authorization": f"Bearer {KEYS[name]}"}


def ask(client, text="When is maize sown?", headers=None, **more):
    """Ask one question of a client; more: further fields of the request."""
    body = {"model": "assistant", "messages": [{"role": "user", "content": text}], **more}
    return client.post("/v1/chat/completions", json=body, headers=headers or {})


class Time:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.at = datetime(2026, 3, 1, tzinfo=UTC)
        self.seconds = 1000.0

    def move(self, **delta: float) -> None:
        self.at += timedelta(**delta)
        self.seconds += timedelta(**delta).total_seconds()

    def clocks(self) -> Clocks:
        return Clocks(now=lambda: self.at, tick=lambda: self.seconds)
