"""The assistant: what serves it sees, and how `[assistant]` of ragstone.toml opens it."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import date
from pathlib import Path

import msgspec

from ragstone.assistant.answering.answering import Answering, answer_from
from ragstone.assistant.answering.documents import Search, documents_tool
from ragstone.assistant.answering.prompting import load_answering_prompt
from ragstone.assistant.answering.support import UNRELATED
from ragstone.assistant.building import opened_knowledge
from ragstone.assistant.conversation import AnswerFrom, Asked, Emit, Respond, Said, TextPiece, Turn
from ragstone.assistant.guards import names_pesticide, scope_guard, subjects, without_instructions
from ragstone.assistant.knowledge.entry import KnowledgeDown
from ragstone.assistant.knowledge.knowledge_base import KnowledgeBase
from ragstone.assistant.languages import LANGUAGES, language_of, phrase
from ragstone.assistant.log.exchange_log import ExchangeLog, open_log
from ragstone.assistant.planning.actions import Menu, menu_of
from ragstone.assistant.planning.loop import Agent, question_tags, respond_with
from ragstone.assistant.planning.model import model_chooser, model_writer
from ragstone.assistant.planning.slots import Know, know_by_words
from ragstone.assistant.planning.state import Choose, Write
from ragstone.assistant.planning.words import words_chooser, write_by_words
from ragstone.assistant.tool import Tool, ToolSetup
from ragstone.assistant.tools.functions import open_tool
from ragstone.config import AssistantSection, Settings, load_settings
from ragstone.corpus.tags import Tag, load_tags
from ragstone.embedding.embedder import Embedder
from ragstone.embedding.gathering import Gathered
from ragstone.engine.session import Session, open_session
from ragstone.errors import ConfigError, ModelError, RagstoneError, nearest
from ragstone.judging.lexical import no_refusal
from ragstone.llm import Ask, CallFailed, Prompt, Reply, Stream


class Assistant(msgspec.Struct, frozen=True, kw_only=True):
    """An assistant, ready to be asked; made by `open_assistant`.

    health: part ("model", "knowledge", "log") -> "ok", or what is wrong with it. scope: what it answers
    questions about. languages: ISO 639-1 codes that its phrases are written in. The log is written by who
    serves: it knows ids and the time.
    """

    respond: Respond
    answer: AnswerFrom
    health: Callable[[], Awaitable[dict[str, str]]]
    knowledge: KnowledgeBase
    log: ExchangeLog
    scope: str
    languages: tuple[str, ...]


FIRST = "When is maize sown in Nakuru, and how much water does it need in a dry year?"
MOST_TURNS_TOKENS = 3000  # of a prompt, for the conversation; a third of the model's context if that is less


@contextlib.asynccontextmanager
async def open_assistant(
    settings: Settings | None = None,
    session: Session | None = None,
    *,
    today: Callable[[], date] = date.today,
) -> AsyncIterator[Assistant]:
    """Give the assistant of `[assistant]`; servers of its tools, its log and its store are left at the end.

    settings: default ragstone.toml. session: whose models and vectors it uses; without one it keeps no reply
    of a model, as a server does. today: read once for each conversation. Raises ModelError where no model is
    named or it cannot be had, ConfigError for a file, function or server of its tools that is not there,
    naming the key, and what opened_knowledge raises.
    """
    settings = settings or load_settings()
    section, root = settings.assistant, Path(settings.root)
    model = _model(section)
    tags = load_tags(settings.path(section.tags)) if section.tags else []
    async with AsyncExitStack() as stack:
        opened = session
        if opened is None:
            opened = await stack.enter_async_context(open_session(settings, serving=True))
        knowledge = await stack.enter_async_context(opened_knowledge(settings, opened))
        watched = _WatchedModel(await opened.models.ask(model), await opened.models.stream(model))
        answering = Answering(
            stream=watched.stream,
            prompt=load_answering_prompt(section.prompt),
            secret=opened.secret(),
            embed=opened.embedder(section.embedder),
            context_tokens=opened.models.context_tokens(model),
            model=(await opened.models.door(model)).endpoint.identity,
        )
        documents = documents_tool(knowledge.search, answering, k=section.k, tags=tags)
        tools = [documents, *await _open_tools(settings, opened, stack)]
        topics = knowledge.filters().get("topic", [])
        await learn_texts(section, tools, topics, opened.embedder(section.embedder))
        agent = _agent(section, opened, menu_of(tools), watched, model=model, topics=topics)
        agent = msgspec.structs.replace(agent, model=answering.model)
        log = open_log(section.log, root, opened.secret())
        stack.callback(log.close)

        async def health() -> dict[str, str]:
            return {
                "model": watched.problem or "ok",
                "knowledge": await knowledge.health(),
                "log": log.problem or "ok",
            }

        know = await asyncio.to_thread(_reader_of, tags)
        yield Assistant(
            respond=respond_with(agent, know, [tag.key for tag in tags], today),
            answer=_answer_from(knowledge.search, answering, section.k),
            health=health,
            knowledge=knowledge,
            log=log,
            scope=section.scope,
            languages=LANGUAGES,
        )


def _reader_of(tags: Sequence[Tag]) -> Know:
    """Return what reads conversations, with what the first question and answer need: 1.5 s to load."""
    know = know_by_words(tags)
    know(Asked(turns=(Turn("user", FIRST),)))
    no_refusal(FIRST)
    without_instructions(FIRST)
    names_pesticide(FIRST)
    return know


def _model(section: AssistantSection) -> str:
    if section.model is None:
        raise ModelError(
            "the assistant asks a model. Name one with --model, e.g. openai/gpt-4o-mini, or as model in the "
            "table [assistant] or [run] of ragstone.toml."
        )
    return section.model


async def _open_tools(settings: Settings, session: Session, stack: AsyncExitStack) -> list[Tool]:
    """Return the tools besides the documents; what has to be closed is left to the stack."""
    section = settings.assistant
    tools: list[Tool] = []
    names = [call.rpartition(":")[2] for call in section.tools]
    for name in section.options.keys() - set(names):
        raise ConfigError(
            f"[assistant.options.{name}]: no tool of [assistant] tools has this name. {nearest(name, names)}"
        )
    embed = session.embedder(section.embedder)
    for name, call in zip(names, section.tools, strict=True):
        setup = ToolSetup(name=name, settings=settings, embed=embed)
        tools.append(await stack.enter_async_context(open_tool(call, setup)))
    if section.mcp:
        from ragstone.assistant.tools.mcp import open_mcp_tools  # the SDK takes 0.5 s to import

        for name, server in section.mcp.items():
            tools += await stack.enter_async_context(open_mcp_tools(name, server))
    return tools


def _agent(
    section: AssistantSection,
    session: Session,
    menu: Menu,
    watched: "_WatchedModel",
    *,
    model: str,
    topics: list[str],
) -> Agent:
    """Return the agent, its planner as the section names it. topics: of the knowledge base."""
    scope, secret = section.scope, session.secret()
    choose: Choose
    write: Write
    if section.planner == "words":
        embedder = session.embedder(section.embedder)
        guard = scope_guard(scope, topics, embedder)
        choose, write = words_chooser(menu.tools, Gathered(embedder), guard), write_by_words
    else:
        budget = min(MOST_TURNS_TOKENS, session.models.context_tokens(model) // 3)
        choose = model_chooser(menu, watched.ask, scope=scope, secret=secret, budget=budget)
        write = model_writer(watched.stream, scope=scope, secret=secret, budget=budget)
    return Agent(
        menu=menu,
        choose=choose,
        write=write,
        scope=scope,
        most_steps=section.steps,
        time_limit_s=section.time_limit_s,
    )


def _answer_from(search: Search, answering: Answering, k: int) -> AnswerFrom:
    """Return what answers a question from the documents alone."""

    async def answer(question: str, filters: Mapping[str, str], lang: str | None, emit: Emit) -> Said:
        spoken = language_of(question, lang)
        try:
            passages = await search(question, k, filters)
        except KnowledgeDown as down:
            text = phrase("documents_unavailable", spoken)
            emit(TextPiece(text))
            return Said(text=text, kind="unavailable", lang=spoken, error=str(down))
        said = await answer_from(question, passages, spoken, answering, emit)
        tags = dict(filters) | question_tags(spoken, passages) | said.tags
        return msgspec.structs.replace(said, tags=tags)

    return answer


class _WatchedModel:
    """A model, and why the last call to it failed: health is told without a call that somebody pays for."""

    def __init__(self, ask: Ask, stream: Stream) -> None:
        self.problem: str | None = None
        self._ask, self._stream = ask, stream

    async def ask(self, prompt: Prompt) -> Reply:
        with self._watching():
            return await self._ask(prompt)

    async def stream(self, prompt: Prompt, on_text: Callable[[str], None]) -> Reply:
        with self._watching():
            return await self._stream(prompt, on_text)

    @contextlib.contextmanager
    def _watching(self) -> Iterator[None]:
        try:
            yield
        except ModelError as failure:
            answered = isinstance(failure, CallFailed) and failure.status in ("unparsable", "refused")
            self.problem = None if answered else str(failure)
            raise
        self.problem = None


logger = logging.getLogger("ragstone.serve")


async def learn_texts(
    section: AssistantSection, tools: Sequence[Tool], topics: Sequence[str], embedder: Embedder
) -> None:
    """Let the embedder learn the tools' examples, the subjects of the scope and the catalogue of videos.

    With the packaged embedder that takes half a minute once; then they are in the project's store. An
    endpoint that cannot be reached is told in the log, and the first question tries again.
    """
    passages = [*UNRELATED, *(text for tool in tools for text in tool.texts)]
    examples: list[str] = []
    if section.planner == "words":
        inside, outside = subjects(section.scope, topics)
        passages += [*inside, *outside]
        examples = [text for tool in tools for text in tool.examples]
    try:
        await asyncio.to_thread(embedder.learn, passages, "passage")
        await asyncio.to_thread(embedder.learn, examples, "query")
        await asyncio.to_thread(embedder, ["Are you there?"], "query")  # loads it: the store may have had all
    except RagstoneError as failure:
        logger.warning("the embedder could not be asked at the start: %s", failure)
