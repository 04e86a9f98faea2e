"""The assistant: what serves it sees, and how `[assistant]` of ragstone.toml opens it."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import date
from pathlib import Path

import msgspec

from ragstone.kernel.config import AssistantSection, Settings, load_settings
from ragstone.kernel.corpus.tags import Tag, load_tags
from ragstone.kernel.embedding.embedder import Embedder
from ragstone.kernel.embedding.gathering import Gathered
from ragstone.kernel.engine.session import Session, open_session
from ragstone.kernel.errors import ConfigError, ModelError, RagstoneError, checks_arguments, nearest
from ragstone.kernel.judging.lexical import no_refusal
from ragstone.kernel.llm import Ask, CallFailed, Prompt, Reply, Stream
from ragstone.kernel.records import Turn
from ragstone.kernel.systems.declining import UNRELATED
from ragstone.kernel.translation.services import HTTP
from ragstone.kernel.translation.translators import open_asking, translator_by
from ragstone_assistant._domain import Domain, load_domain
from ragstone_assistant._scope import scope_guard, subjects
from ragstone_assistant.answering.answering import Answering
from ragstone_assistant.answering.coverage import Coverage
from ragstone_assistant.answering.documents import Search, documents_tool, restricted, restrictions
from ragstone_assistant.answering.emergency import emergency_reply
from ragstone_assistant.answering.prompting import for_audience, load_answering_prompt
from ragstone_assistant.answering.translating import QuoteTranslator
from ragstone_assistant.building import opened_knowledge
from ragstone_assistant.conversation import AnswerFrom, Asked, Emit, Respond, Said, TextPiece
from ragstone_assistant.guards import without_instructions
from ragstone_assistant.knowledge.entry import KnowledgeDown
from ragstone_assistant.knowledge.knowledge_base import KnowledgeBase
from ragstone_assistant.languages import SPOKEN, language_of, phrase
from ragstone_assistant.log.exchange_log import ExchangeLog, open_log
from ragstone_assistant.planning.actions import Menu, menu_of
from ragstone_assistant.planning.loop import Agent, question_tags, respond_with
from ragstone_assistant.planning.model import model_chooser, model_writer
from ragstone_assistant.planning.slots import Know, know_by_words
from ragstone_assistant.planning.state import Choose, Write
from ragstone_assistant.planning.words import words_chooser, write_by_words
from ragstone_assistant.tool import Tool, ToolSetup
from ragstone_assistant.tools.functions import open_tool


class Assistant(msgspec.Struct, frozen=True, kw_only=True):
    """An assistant, ready to be asked; made by `open_assistant`.

    health: part ("model", "knowledge", "log") -> "ok", or what is wrong with it; "model" only where one is
    asked. domain: what it answers questions about, and its texts. languages: ISO 639-1 codes that its phrases
    are written in. The log is written by who serves: it knows ids and the time. quotes: it has no model, and
    gives sentences of the documents as they are.
    """

    respond: Respond
    answer: AnswerFrom
    health: Callable[[], Awaitable[dict[str, str]]]
    knowledge: KnowledgeBase
    log: ExchangeLog
    domain: Domain
    languages: tuple[str, ...]
    quotes: bool = False


FIRST = "When does it begin in Nakuru, and how much does it cost next year?"
MOST_TURNS_TOKENS = 3000  # of a prompt, for the conversation; a third of the model's context if that is less
EMBEDDED = "llamacpp/smollm2-135m"
"""The model that comes as a package: it can neither plan nor answer from passages."""


@contextlib.asynccontextmanager
@checks_arguments
async def open_assistant(
    settings: Settings | None = None,
    session: Session | None = None,
    *,
    today: Callable[[], date] = date.today,
) -> AsyncIterator[Assistant]:
    """Give the assistant of `[assistant]`; servers of its tools, its log and its store are left at the end.

    settings: default ragstone.toml. session: whose models and vectors it uses; without one it keeps no reply
    of a model, as a server does. today: read once for each conversation. Without a model it plans by words
    and quotes the documents. Raises ModelError where a model is needed that is not named or cannot be had,
    ConfigError for a file, function or server of its tools or texts that is not there, naming the key, and
    what opened_knowledge raises.
    """
    settings = settings or load_settings()
    section, root = settings.assistant, Path(settings.root)
    domain = load_domain(section, settings.path(section.texts) if section.texts else None)
    tags = load_tags(settings.path(section.tags)) if section.tags else []
    async with AsyncExitStack() as stack:
        opened = session
        if opened is None:
            opened = await stack.enter_async_context(open_session(settings, serving=True))
        knowledge = await stack.enter_async_context(opened_knowledge(settings, opened))
        model = await _open_model(section, opened)
        translator = await _open_translator(settings, opened, tags, domain)
        answering = _answering(section, opened, model, domain, translator)
        answering = msgspec.structs.replace(answering, unheld=knowledge.unheld)
        search, coverage = knowledge.search, Coverage(tags, knowledge.filters, domain.sensitive)
        documents = documents_tool(
            search,
            answering,
            k=section.k,
            tags=tags,
            examples=domain.searches(),
            loosen=section.loosen,
            coverage=coverage,
        )
        tools = [documents, *await _open_tools(settings, opened, stack)]
        topics = knowledge.filters().get("topic", [])
        await learn_texts(section, domain, tools, topics, opened.embedder(section.embedder))
        menu = menu_of(tools, domain.slots)
        agent = _agent(section, opened, menu, domain, model=model, topics=topics)
        log = open_log(section.log, root, opened.secret())
        stack.callback(log.close)

        async def health() -> dict[str, str]:
            parts = {"model": model.problem or "ok"} if model else {}
            return parts | {"knowledge": await knowledge.health(), "log": log.problem or "ok"}

        know = await asyncio.to_thread(_reader_of, tags, domain)
        reply = respond_with(agent, know, [tag.key for tag in tags], today)

        async def respond(asked: Asked, emit: Emit) -> Said:
            filters = {**section.filters, **asked.filters}  # a conversation's own values go before
            return await reply(msgspec.structs.replace(asked, filters=filters), emit)

        yield Assistant(
            respond=respond,
            answer=_answer_from(search, answering, section, coverage),
            health=health,
            knowledge=knowledge,
            log=log,
            domain=domain,
            languages=SPOKEN,
            quotes=model is None,
        )


def _reader_of(tags: Sequence[Tag], domain: Domain) -> Know:
    """Return what reads conversations, with what the first question and answer need: 1.5 s to load."""
    know = know_by_words(tags, domain)
    know(Asked(turns=(Turn("user", FIRST),)))
    no_refusal(FIRST)
    without_instructions(FIRST)
    domain.sensitive.mentioned(FIRST)
    return know


def _plans(section: AssistantSection) -> bool:
    """Say whether a model plans: as the section says, else where there is one that can."""
    return section.planner == "model" if section.planner else section.model not in (None, EMBEDDED)


def _writes(section: AssistantSection) -> bool:
    """Say whether a model writes the answers: as the section says, else where there is one that can."""
    return section.answers == "written" if section.answers else section.model not in (None, EMBEDDED)


async def _open_model(section: AssistantSection, session: Session) -> "_WatchedModel | None":
    """Return the model, if anything asks one. Raises ModelError."""
    if not _plans(section) and not _writes(section):
        return None
    if section.model is None:
        raise ModelError(
            'the assistant needs a model: [assistant] says planner = "model" or answers = '
            '"written". Name one with --model, e.g. openai/gpt-4o-mini, or as model in the table '
            "[assistant] or [run] of ragstone.toml; or delete these keys: then it quotes the "
            "documents."
        )
    models, model = session.models, section.model
    return _WatchedModel(
        await models.ask(model),
        await models.stream(model),
        name=(await models.door(model)).endpoint.identity,
        context_tokens=models.context_tokens(model),
    )


def _answering(
    section: AssistantSection,
    session: Session,
    model: "_WatchedModel | None",
    domain: Domain,
    translator: QuoteTranslator | None,
) -> Answering:
    """Return what answers are made with: the model, or quotes alone."""
    return Answering(
        stream=model.stream if model and _writes(section) else None,
        prompt=for_audience(
            load_answering_prompt(section.prompt), domain.audience_name, domain.audience.tone
        ),
        secret=session.secret(),
        embed=session.embedder(section.embedder),
        context_tokens=model.context_tokens if model else 0,
        model=model.name if model else "",
        sensitive=domain.sensitive,
        refusals={lang: to.refusal for lang, to in domain.audience.texts.items() if to.refusal},
        translator=translator,
    )


async def _open_translator(
    settings: Settings, session: Session, tags: Sequence[Tag], domain: Domain
) -> QuoteTranslator | None:
    """Return who translates quotes, None where the section names nobody.

    Raises ConfigError and ModelError as open_asking does.
    """
    # Not the model that writes, unasked: of 22 translations of a 1.5B model that passed, 8 were wrong.
    section = settings.assistant
    name = section.translator
    if name is None:
        return None
    if name != HTTP and "/" not in name:
        raise ConfigError(
            f"[assistant] translator = {name!r}: this is not a translator. Give a model as transport/model, "
            "e.g. openai/gpt-4o-mini, or http; or delete the key: then quotes are not translated."
        )
    ask = await open_asking(name, settings, session.models)
    return QuoteTranslator(
        ask=ask,
        by=lambda ask: translator_by(name, ask, settings, session.secret()),
        name=session.models.opened()[name][0],
        tags=tags,
        sensitive=domain.sensitive,
        is_model=name == section.model,
    )


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
        from ragstone_assistant.tools.mcp import open_mcp_tools  # the SDK takes 0.5 s to import

        for name, server in section.mcp.items():
            tools += await stack.enter_async_context(open_mcp_tools(name, server))
    return tools


def _agent(
    section: AssistantSection,
    session: Session,
    menu: Menu,
    domain: Domain,
    *,
    model: "_WatchedModel | None",
    topics: list[str],
) -> Agent:
    """Return the agent, its planner as the section names it. topics: of the knowledge base."""
    choose: Choose
    write: Write
    if model is not None and _plans(section):
        secret, budget = session.secret(), min(MOST_TURNS_TOKENS, model.context_tokens // 3)
        choose = model_chooser(menu, model.ask, secret=secret, budget=budget)
        write = model_writer(model.stream, secret=secret, budget=budget)
    else:
        embedder = session.embedder(section.embedder)
        guard = scope_guard(domain, topics, embedder)
        choose, write = words_chooser(menu.tools, Gathered(embedder), guard), write_by_words
    return Agent(
        menu=menu,
        choose=choose,
        write=write,
        domain=domain,
        most_steps=section.steps,
        time_limit_s=section.time_limit_s,
        model=model.name if model else "",
    )


def _answer_from(
    search: Search, answering: Answering, section: AssistantSection, coverage: Coverage
) -> AnswerFrom:
    """Return what answers a question from the documents alone."""

    async def answer(question: str, filters: Mapping[str, str], lang: str | None, emit: Emit) -> Said:
        spoken = language_of(question, lang)
        if harmed := emergency_reply(question, spoken, answering.sensitive):
            emit(TextPiece(harmed.text))
            return harmed
        deadline = asyncio.get_running_loop().time() + section.time_limit_s
        asked = Asked(turns=(Turn("user", question),), filters={**section.filters, **filters})
        if lacking := coverage.lacking((question,), asked.filters):
            return coverage.refusal(lacking, (question,), spoken, emit)
        try:
            found = await restricted(
                search, question, section.k, restrictions({}, asked, coverage.tags, section.loosen)
            )
        except KnowledgeDown as down:
            text = phrase("documents_unavailable", spoken)
            emit(TextPiece(text))
            return Said(text=text, kind="unavailable", lang=spoken, error=str(down))
        outcome = await found.answer(question, spoken, answering, emit, deadline)
        asked_tags = dict(filters) | question_tags(spoken, found.passages)
        return msgspec.structs.replace(outcome, tags=asked_tags | outcome.tags)

    return answer


class _WatchedModel:
    """A model, and why the last call to it failed: health is told without a call that somebody pays for."""

    def __init__(self, ask: Ask, stream: Stream, *, name: str, context_tokens: int) -> None:
        self.name = name
        self.context_tokens = context_tokens
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
    section: AssistantSection,
    domain: Domain,
    tools: Sequence[Tool],
    topics: Sequence[str],
    embedder: Embedder,
) -> None:
    """Let the embedder learn the tools' examples and other texts, and the subjects of the scope.

    With the packaged embedder that takes half a minute once; then they are in the project's store. An
    endpoint that cannot be reached is told in the log, and the first question tries again.
    """
    passages = [*UNRELATED, *(text for tool in tools for text in tool.texts)]
    examples: list[str] = []
    if not _plans(section):
        inside, outside = subjects(domain, topics)
        passages += [*inside, *outside]
        examples = [text for tool in tools for text in tool.examples]
    try:
        await asyncio.to_thread(embedder.learn, passages, "passage")
        await asyncio.to_thread(embedder.learn, examples, "query")
        await asyncio.to_thread(embedder, ["Are you there?"], "query")  # loads it: the store may have had all
    except RagstoneError as failure:
        logger.warning("the embedder could not be asked at the start: %s", failure)
