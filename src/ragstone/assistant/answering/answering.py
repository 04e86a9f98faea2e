"""A question and what was found for it -> an answer with its sources, or a refusal; said as it is checked."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress

import msgspec

from ragstone.assistant.answering.checking import Checker
from ragstone.assistant.answering.prompting import refusal_words, render
from ragstone.assistant.answering.sentences import Sentence, Sentences
from ragstone.assistant.answering.support import Support
from ragstone.assistant.conversation import Emit, Passage, Said, TextPiece, silent
from ragstone.assistant.guards import without_instructions
from ragstone.assistant.languages import phrase
from ragstone.embedding.model import Embed
from ragstone.errors import RagstoneError
from ragstone.llm import CallFailed, Prompt, Reply, Stream
from ragstone.records import Usage
from ragstone.systems.prompting import AnsweringPrompt

PARAGRAPH = "\n\n"


class Answering(msgspec.Struct, frozen=True, kw_only=True):
    """What answers are made with.

    embed: compares sentences and passages of two languages; it is called in a thread. context_tokens: of the
    model, prompt and reply together. model: its name, for `Said.model`.
    """

    stream: Stream
    prompt: AnsweringPrompt
    secret: bytes
    embed: Embed
    context_tokens: int
    model: str = ""


async def answer_from(
    question: str, passages: Sequence[Passage], lang: str, answering: Answering, emit: Emit = silent
) -> Said:
    """Return the answer to a question from these passages, best first, in a language of LANGUAGES.

    A sentence is emitted as soon as it is whole and a passage is found to say it, with its marks `[1]`; what
    no passage says is withheld, and so are links and addresses (see Checker and docs/assistant-answers.md).
    With nothing left, or without passages, it is a refusal that names the nearest ones. A model that cannot
    be asked makes it `unavailable`, with `error`; one that breaks off, an answer that says so, with `error`.
    The texts that are emitted are, put together, `Said.text`. Raises nothing but CancelledError.
    """
    cleaned = [msgspec.structs.replace(one, text=without_instructions(one.text)) for one in passages]
    rendered = render(
        answering.prompt,
        question,
        cleaned,
        lang,
        secret=answering.secret,
        context_tokens=answering.context_tokens,
    )
    said = Said(
        text="",
        kind="answer",
        lang=lang,
        passages=tuple(passages),
        model=answering.model,
        prompt_version=f"{answering.prompt.name}@{answering.prompt.version}",
    )
    voice = _Voice(emit)
    if not rendered.passages:
        voice.say(refusal_words(question, passages, lang))
        return msgspec.structs.replace(said, text=voice.text, kind="refusal", model="")
    checker = Checker(rendered, Support(question, rendered.passages, lang, answering.embed), lang)
    reply, failure = await _checked(answering.stream, rendered.prompt, lang, checker, voice)
    ended = msgspec.structs.replace(said, citations=checker.citations, **_spent(reply, failure))
    return _ended(ended, question, checker, voice, failure)


class _Voice:
    """Emits what is said and keeps it: the one place where both are the same."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self.text = ""

    def say(self, piece: str) -> None:
        if piece:
            self.text += piece
            self._emit(TextPiece(piece))


async def _checked(
    stream: Stream, prompt: Prompt, lang: str, checker: Checker, voice: _Voice
) -> tuple[Reply | None, RagstoneError | None]:
    """Say what may be said of the model's reply; return the reply, or why there is none."""
    try:
        async with aclosing(_heard(stream, prompt, lang)) as heard:
            async for event in heard:
                if isinstance(event, Reply):
                    return event, None
                voice.say(await checker.check(event))
    except RagstoneError as failure:
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


def _spent(reply: Reply | None, failure: RagstoneError | None) -> dict[str, object]:
    """Return the fields of Said that tell what was spent."""
    if reply is not None:
        return {"usage": reply.usage, "cost_usd": reply.cost_usd}
    usage = failure.usage if isinstance(failure, CallFailed) else None
    return {"usage": usage or Usage(calls=0)}


def _ended(said: Said, question: str, checker: Checker, voice: _Voice, failure: RagstoneError | None) -> Said:
    """Return what was said with its end: a caution, a refusal, or why it ended early."""
    kind, error = said.kind, None
    if failure is not None:
        error = str(failure)
        voice.say(
            PARAGRAPH + phrase("cut_off", said.lang) if voice.text else phrase("model_unavailable", said.lang)
        )
        kind = "answer" if said.citations else "unavailable"
    elif not voice.text:
        kind = "refusal"
        voice.say(refusal_words(question, said.passages, said.lang, pesticides=checker.about_pesticides))
    if checker.cautions:
        voice.say(PARAGRAPH + phrase("pesticide_caution", said.lang))
    return msgspec.structs.replace(said, text=voice.text, kind=kind, error=error)
