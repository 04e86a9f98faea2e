"""An exchange -> its row in the log, without personal data."""

import hmac
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from ragstone.assistant.conversation import Asked, Said, Step
from ragstone.llm.structured import HALF_A_PAIR
from ragstone.privacy.masking import OwnWords, mask_personal_data, mask_texts
from ragstone.records import Answer, Context, Label

SYSTEM = "assistant"
THUMB = "thumb"
CORRECTION = "correction"
DIGEST_DIGITS = 16


def answer_row(
    asked: Asked,
    said: Said,
    own: OwnWords | None,
    *,
    exchange_id: str,
    conversation: str | None,
    now: datetime,
) -> Answer:
    """Return the row of an exchange: question, answer, steps and tags masked together.

    The same value has the same placeholder in all of them. Passages are the documents' own words and stay. An
    exchange with an error has no answer, as every row of answers. conversation: see digest_of.
    """
    masks = _Masks(own)
    question, answer = masks.add(asked.question), masks.add("" if said.error else said.text)
    error = masks.add(said.error or "")
    steps = [_masked_step(masks, step) for step in said.steps]
    found = masks.of({**asked.filters, **said.tags})
    masks.work()
    own_tags = {"kind": said.kind, "model": said.model, "prompt_version": said.prompt_version}
    tags = {"lang": said.lang, **found(), **own_tags}
    searched = said.passages or any(step.action == "search_documents" for step in said.steps)
    return Answer(
        question_id=exchange_id,
        question=question(),
        answer=answer(),
        system=SYSTEM,
        contexts=_contexts(said) if searched else None,
        latency_s=said.latency_s,
        usage=said.usage,
        cost_usd=said.cost_usd,
        error=error() or None,
        tags={name: value for name, value in tags.items() if value},
        metadata={
            "time": iso(now),
            **({"conversation_id": conversation} if conversation else {}),
            "steps": [step() for step in steps],
            "citations": [citation.number for citation in said.citations],
        },
    )


def _masked_step(masks: "_Masks", step: Step) -> Callable[[], dict[str, Any]]:
    told = masks.of([step.thought, step.arguments, step.observation])

    def masked() -> dict[str, Any]:
        thought, arguments, observation = told()
        return {
            "thought": thought,
            "action": step.action,
            "arguments": arguments,
            "observation": observation,
            "status": step.status,
            "latency_s": step.latency_s,
        }

    return masked


def label_rows(
    exchange_id: str, thumb: str | None, correction: str | None, own: OwnWords | None, now: datetime
) -> list[Label]:
    """Return what a person says of an exchange, its words masked; nothing for no thumb and no correction.

    A thumb is of the metric `thumb`, 1 for up and 0 for down. A correction without a thumb is of the metric
    `correction`, and 0: somebody put another answer in place of this one.
    """
    words = mask_personal_data(correction.strip(), own).text if correction and correction.strip() else None
    if thumb is None and words is None:
        return []
    row = Label(
        question_id=exchange_id,
        system=SYSTEM,
        metric=CORRECTION if thumb is None else THUMB,
        score=1.0 if thumb == "up" else 0.0,
        rationale=words,
        metadata={"time": iso(now)},
    )
    return [row]


def digest_of(secret: bytes, conversation_id: str | None) -> str | None:
    """Return what a conversation is called in the log, by which nobody can get at the conversation."""
    if conversation_id is None:
        return None
    keyed = hmac.new(secret, b"conversation\0" + conversation_id.encode("utf-8", "surrogatepass"), "sha256")
    return keyed.hexdigest()[:DIGEST_DIGITS]


def iso(now: datetime) -> str:
    """Return a time as ISO 8601 in UTC, to the millisecond."""
    return now.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class _Masks:
    """Texts that are masked together, wherever in a value they stand."""

    def __init__(self, own: OwnWords | None) -> None:
        self._own = own
        self._texts: list[str] = []
        self._masked: list[str] = []

    def add(self, text: str) -> Callable[[], str]:
        """Take a text; what comes back gives it masked, after the work."""
        at = len(self._texts)
        self._texts.append(HALF_A_PAIR.sub("\ufffd", text))  # what no file can hold
        return lambda: self._masked[at]

    def of(self, value: Any) -> Callable[[], Any]:  # noqa: ANN401 - arguments of any tool
        """Take all texts in a value; what comes back gives the value with them masked, after the work."""
        if isinstance(value, str):
            return self.add(value)
        if isinstance(value, Mapping):
            fields = {name: self.of(one) for name, one in value.items()}
            return lambda: {name: masked() for name, masked in fields.items()}
        if isinstance(value, list | tuple):
            items = [self.of(one) for one in value]
            return lambda: [masked() for masked in items]
        return lambda: value

    def work(self) -> None:
        """Mask what was taken."""
        self._masked = [one.text for one in mask_texts(self._texts, self._own)]


def _contexts(said: Said) -> list[Context]:
    return [
        Context(text=one.text, id=one.chunk_id, document_id=one.document_id, score=one.score)
        for one in said.passages
    ]
