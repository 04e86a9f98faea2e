"""An Ask that shows a model placeholders in place of personal data, and puts the values into its reply."""

from typing import TYPE_CHECKING, Any

import msgspec

from ragstone.kernel.llm.failures import CallFailed
from ragstone.kernel.llm.prompt import Ask, Message, OnText, Prompt, Reply, Stream
from ragstone.kernel.privacy.reversible import ReversibleMask

if TYPE_CHECKING:
    from ragstone.kernel.privacy.masking import OwnWords

LONGEST_PLACEHOLDER = 30


def masked(ask: Ask, own: "OwnWords | None") -> Ask:
    """Return an Ask whose calls hold no personal data, as far as it can be recognised.

    own: words of the user that are masked as well. It stands before the door, so that neither the endpoint
    nor the ledger sees a value, and a reply that is asked for once more quotes placeholders.
    """

    async def ask_masked(prompt: Prompt) -> Reply:
        mask, masked_prompt = _mask(prompt, own)
        try:
            reply = await ask(masked_prompt)
        except CallFailed as failure:
            raise _restored_failure(failure, mask) from failure
        return _restored_reply(reply, mask)

    return ask_masked


def masked_stream(stream: Stream, own: "OwnWords | None") -> Stream:
    """Return what streams without personal data, see masked; its pieces are heard with the values."""

    async def stream_masked(prompt: Prompt, on_text: OnText) -> Reply:
        mask, masked_prompt = _mask(prompt, own)
        waiting = ""

        def hear(piece: str) -> None:
            nonlocal waiting
            text = waiting + piece
            opened = text.rfind("[", max(0, len(text) - LONGEST_PLACEHOLDER))
            begun = opened if opened >= 0 and "]" not in text[opened:] else len(text)
            ready, waiting = text[:begun], text[begun:]
            if ready:
                on_text(mask.restore(ready))

        try:
            reply = await stream(masked_prompt, hear)
        except CallFailed as failure:
            raise _restored_failure(failure, mask) from failure
        if waiting:
            on_text(waiting)
        return _restored_reply(reply, mask)

    return stream_masked


def _mask(prompt: Prompt, own: "OwnWords | None") -> tuple[ReversibleMask, Prompt]:
    """Return the mask of a prompt, and the prompt as it is sent.

    What the system's message says stands apart: a name of the row ("I am Will") is no name there.
    """
    system = [message.content for message in prompt.messages if message.role == "system"]
    others = [message.content for message in prompt.messages if message.role != "system"]
    asked = prompt.questionnaire
    about = [] if asked is None else [question.about for question in asked.questions]
    mask = ReversibleMask([system, others + about], own, prompt.nonce or "")
    texts = {role: iter(texts) for role, texts in zip((True, False), mask.groups, strict=True)}
    messages = tuple(Message(each.role, next(texts[each.role == "system"])) for each in prompt.messages)
    if asked is not None:
        questions = tuple(
            msgspec.structs.replace(question, about=next(texts[False])) for question in asked.questions
        )
        asked = msgspec.structs.replace(asked, questions=questions)
    # Its places are those of the text before: what was masked in it has another length.
    shared = prompt.shared if messages[-1] == prompt.messages[-1] else ()
    return mask, msgspec.structs.replace(prompt, messages=messages, questionnaire=asked, shared=shared)


def _restored_reply(reply: Reply, mask: ReversibleMask) -> Reply:
    return msgspec.structs.replace(
        reply, text=mask.restore(reply.text), value=_restored_value(reply.value, mask)
    )


def _restored_value(value: Any, mask: ReversibleMask) -> Any:  # noqa: ANN401 - of any reply type
    """Return a reply with the values in all its texts; it was checked before, as the model gave it."""
    match value:
        case str():
            return mask.restore(value)
        case list() | tuple():
            return type(value)(_restored_value(inner, mask) for inner in value)
        case dict():
            return {key: _restored_value(inner, mask) for key, inner in value.items()}
        case msgspec.Struct():
            fields = {name: getattr(value, name) for name in value.__struct_fields__}
            return msgspec.structs.replace(
                value, **{name: _restored_value(inner, mask) for name, inner in fields.items()}
            )
    if hasattr(value, "model_copy"):  # a pydantic model, on which we do not depend
        return value.model_copy(
            update={name: _restored_value(getattr(value, name), mask) for name in type(value).model_fields}
        )
    return value


def _restored_failure(failure: CallFailed, mask: ReversibleMask) -> CallFailed:
    return failure.charged(failure.usage, failure.raw and mask.restore(failure.raw))
