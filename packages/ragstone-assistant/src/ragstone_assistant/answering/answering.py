"""A question and what was found for it -> an answer with its sources, or a refusal; said as it is checked."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from functools import partial

import msgspec

from ragstone.kernel.embedding.model import Embed
from ragstone.kernel.errors import RagstoneError
from ragstone.kernel.llm import CallFailed, Prompt, Reply, Stream
from ragstone.kernel.records import Usage
from ragstone.kernel.systems.declining import Unheld
from ragstone.kernel.systems.prompting import AnsweringPrompt
from ragstone_assistant._domain import SensitiveTerms
from ragstone_assistant.answering._checking import Checker
from ragstone_assistant.answering._quoting import quoted
from ragstone_assistant.answering.prompting import refusal_words, render
from ragstone_assistant.answering.sentences import Sentence, Sentences
from ragstone_assistant.answering.support import Support
from ragstone_assistant.answering.translating import ForeignQuote, QuoteTranslator, translate_quotes
from ragstone_assistant.conversation import Emit, Passage, Said, TextPiece, silent
from ragstone_assistant.guards import without_instructions
from ragstone_assistant.languages import phrase

PARAGRAPH = "\n\n"


class Answering(msgspec.Struct, frozen=True, kw_only=True):
    """What answers are made with.

    stream: of the model; None for answers that quote the passages. embed: compares sentences and passages of
    two languages; it is called in a thread. context_tokens: of the model, prompt and reply together. model:
    its name, for `Said.model`. refusals: language -> what a refusal begins with, for the audience.
    translator: of quotes in another language than the question; without one, the line before them says which
    language it is. unheld: asks all documents for words, so that what none of them names is not answered.
    """

    stream: Stream | None
    prompt: AnsweringPrompt
    secret: bytes
    embed: Embed
    context_tokens: int
    model: str = ""
    sensitive: SensitiveTerms = msgspec.field(default_factory=SensitiveTerms)
    refusals: dict[str, str] = {}
    translator: QuoteTranslator | None = None
    unheld: Unheld | None = None

    def without_model(self) -> "Answering":
        """Return the means of quotes, where the model has failed; it does not translate them either."""
        failed = self.translator is not None and self.translator.is_model
        return msgspec.structs.replace(self, stream=None, translator=None if failed else self.translator)


async def answer_from(
    question: str,
    passages: Sequence[Passage],
    lang: str,
    answering: Answering,
    emit: Emit = silent,
    deadline: float | None = None,
) -> Said:
    """Return the answer to a question from these passages, best first, in a language of SPOKEN.

    A sentence is emitted as soon as it is whole and a passage is found to say it, with its marks `[1]`; what
    no passage says is withheld, and so are links and addresses (see Checker and
    docs/explanation/assistant-answers.md).
    With nothing left, or without a model, the sentences of the passages that answer are quoted; where none
    does, or the model says that there is no answer, it is a refusal that names the nearest passages. Where
    the model cannot be asked, a note beneath the quotes says so, see `instead`; where no passage answers, it
    is `unavailable`, with `error`. Beneath quotes in another language is their translation, where there is a
    translator and nothing that can be checked differs. Where the model breaks off, the answer says so, with
    `error`. deadline: by the time of the event loop; then it ends with what is there. The texts that are
    emitted are, put together, `Said.text`. Raises nothing but CancelledError.
    """
    cleaned = [
        msgspec.structs.replace(passage, text=without_instructions(passage.text)) for passage in passages
    ]
    outcome = Said(text="", kind="answer", lang=lang, passages=tuple(passages))
    voice, sensitive = _Voice(emit), answering.sensitive
    quote = partial(_quote, question, cleaned, voice, deadline)
    if answering.stream is None:
        return await quote(answering, outcome) or _refusal(outcome, question, voice, answering)
    rendered = render(
        answering.prompt,
        question,
        cleaned,
        lang,
        secret=answering.secret,
        context_tokens=answering.context_tokens,
    )
    version = f"{answering.prompt.name}@{answering.prompt.version}"
    outcome = msgspec.structs.replace(outcome, prompt_version=version)
    if not rendered.passages:
        return _refusal(outcome, question, voice, answering)
    outcome = msgspec.structs.replace(outcome, model=answering.model)
    support = Support(question, rendered.passages, lang, answering.embed, sensitive)
    checker = Checker(rendered, support, lang, sensitive)
    checked = _checked(answering.stream, rendered.prompt, lang, checker, voice, deadline)
    reply, failure = await checked
    outcome = msgspec.structs.replace(outcome, citations=checker.citations, **_spent(reply, failure))
    declined = isinstance(failure, CallFailed) and failure.status == "refused"
    is_told = declined or checker.refused or checker.about_sensitive
    using = answering
    if isinstance(failure, TimeoutError):  # no time is left to translate in
        using = msgspec.structs.replace(answering, translator=None)
    elif failure is not None:
        using = answering.without_model()
    if not voice.text and not is_told and (better := await quote(using, outcome)):
        return instead(better, failure, voice.say) if isinstance(failure, RagstoneError) else better
    return _ended(outcome, question, checker, voice, failure, answering)


def instead(outcome: Said, failure: RagstoneError, say: Callable[[str], None]) -> Said:
    """Return what is quoted with the note that the model failed, in its text and as the tag `model_failed`.

    say: hears the note. It is an answer without `error`, and people judge it like any other.
    """
    note = PARAGRAPH + phrase("quoted_instead", outcome.lang)
    say(note)
    status = failure.status if isinstance(failure, CallFailed) else "error"
    tags = {**outcome.tags, "model_failed": status}
    return msgspec.structs.replace(outcome, text=outcome.text + note, tags=tags, model="", prompt_version="")


async def _quote(
    question: str,
    passages: Sequence[Passage],
    voice: "_Voice",
    deadline: float | None,
    answering: Answering,
    outcome: Said,
) -> Said | None:
    """Quote what answers a question, with its translation where there is a translator; None where no passage
    does."""
    quotes = await quoted(question, passages, outcome.lang, answering.embed, answering.unheld)
    if not quotes.text:
        return None
    voice.say(quotes.text)
    outcome = msgspec.structs.replace(outcome, citations=quotes.citations)
    if answering.translator is not None and quotes.foreign:
        outcome = await _translate(quotes.foreign, answering.translator, voice, deadline, outcome)
    if answering.sensitive.mentioned(voice.text):
        voice.say(PARAGRAPH + answering.sensitive.caution(outcome.lang))
    return msgspec.structs.replace(outcome, text=voice.text)


async def _translate(
    quotes: Sequence[ForeignQuote],
    translator: QuoteTranslator,
    voice: "_Voice",
    deadline: float | None,
    outcome: Said,
) -> Said:
    """Say the translation of quotes beneath them; what became of it is a tag of the reply."""
    made = await translate_quotes(quotes, outcome.lang, translator, deadline)
    voice.say(PARAGRAPH + made.text)
    cost_usd = made.cost_usd if outcome.cost_usd is None and not outcome.usage.calls else None
    if outcome.cost_usd is not None and made.cost_usd is not None:
        cost_usd = outcome.cost_usd + made.cost_usd
    return msgspec.structs.replace(
        outcome,
        tags={**outcome.tags, "translation": made.left_out or "shown"},
        usage=outcome.usage + made.usage,
        cost_usd=cost_usd,
        model=outcome.model or (translator.name if made.usage.calls else ""),
    )


def _refusal(
    outcome: Said, question: str, voice: "_Voice", answering: Answering, *, sensitive: bool = False
) -> Said:
    """Refuse. sensitive: the model wanted to say what no passage says of sensitive terms."""
    careful = sensitive or answering.sensitive.mentioned(question)
    begins = answering.sensitive.refusal(outcome.lang) if careful else ""
    begins = begins or answering.refusals.get(outcome.lang, "")
    voice.say(refusal_words(outcome.passages, outcome.lang, begins))
    return msgspec.structs.replace(outcome, text=voice.text, kind="refusal")


class _Voice:
    """Emits what is said and keeps it: the one place where both are the same."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self.text = ""

    def say(self, piece: str) -> None:
        if piece:
            self.text += piece
            self._emit(TextPiece(piece))


Failure = RagstoneError | TimeoutError | None


async def _checked(
    stream: Stream, prompt: Prompt, lang: str, checker: Checker, voice: _Voice, deadline: float | None
) -> tuple[Reply | None, Failure]:
    """Say what may be said of the model's reply; return the reply, or why there is none.

    TimeoutError: the deadline has passed.
    """
    try:
        async with asyncio.timeout_at(deadline), aclosing(_heard(stream, prompt, lang)) as heard:
            async for event in heard:
                if isinstance(event, Reply):
                    return event, None
                voice.say(await checker.check(event))
    except (RagstoneError, TimeoutError) as failure:
        return None, failure
    raise AssertionError("the last event is the reply")


async def _heard(stream: Stream, prompt: Prompt, lang: str) -> AsyncGenerator[Sentence | Reply, None]:
    """Yield the sentences of a reply as they come, and at last the reply. Raises what the stream raises.

    A sentence that the limit of tokens cut off is left out, and so is one that a failure cut off.
    """
    pieces: asyncio.Queue[str | None] = asyncio.Queue()
    sentences = Sentences(lang)
    asking = asyncio.ensure_future(stream(prompt, pieces.put_nowait))
    asking.add_done_callback(lambda _: pieces.put_nowait(None))
    try:
        while (piece := await pieces.get()) is not None:
            for sentence in sentences.feed(piece):
                yield sentence
        reply = asking.result()
        for sentence in sentences.end(
            whole=reply.usage.output - reply.usage.reasoning < (prompt.max_tokens or 0)
        ):
            yield sentence
        yield reply
    finally:
        if not asking.done():
            asking.cancel()
            with suppress(asyncio.CancelledError, RagstoneError):
                await asking


def _spent(reply: Reply | None, failure: Failure) -> dict[str, object]:
    """Return the fields of Said that tell what was spent."""
    if reply is not None:
        return {"usage": reply.usage, "cost_usd": reply.cost_usd}
    usage = failure.usage if isinstance(failure, CallFailed) else None
    return {"usage": usage or Usage(calls=0)}


def _ended(
    outcome: Said,
    question: str,
    checker: Checker,
    voice: _Voice,
    failure: Failure,
    answering: Answering,
) -> Said:
    """Return what was said with its end: a caution, a refusal, or why it ended early."""
    kind, error = outcome.kind, None
    if isinstance(failure, TimeoutError):
        kind = "answer" if voice.text else "unavailable"
        error = None if voice.text else "the model did not answer in time"
        early = PARAGRAPH + phrase("stopped_early", outcome.lang)
        voice.say(early if voice.text else phrase("time_limit", outcome.lang))
    elif failure is not None:
        error = str(failure)
        early = PARAGRAPH + phrase("cut_off", outcome.lang)
        voice.say(early if voice.text else phrase("model_unavailable", outcome.lang))
        kind = "answer" if outcome.citations else "unavailable"
    elif not voice.text:
        return _refusal(outcome, question, voice, answering, sensitive=checker.about_sensitive)
    if checker.cautions:
        voice.say(PARAGRAPH + answering.sensitive.caution(outcome.lang))
    return msgspec.structs.replace(outcome, text=voice.text, kind=kind, error=error)
