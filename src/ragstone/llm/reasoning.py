"""Room to think: how many tokens a model needs beside its reply, and which replies lacked it."""

import msgspec

from ragstone.config import ModelSettings
from ragstone.llm.prompt import Completion, Prompt
from ragstone.llm.schema import ReplyError
from ragstone.llm.structured import parse_reply, without_thought
from ragstone.records import Usage

START = 4096  # reasoning models take some hundred tokens for a judge's prompt, now and then some thousand
MOST = 65_536
GROWTH = 4


def with_reasoning(usage: Usage, text: str, reasoning: str | None) -> Usage:
    """Return the tokens with those of reasoning among them.

    Where an endpoint shows what the model thought, and does not count it, its share of the characters is
    taken.
    """
    if usage.reasoning or not usage.output or not (reasoning or "think>" in text or "thinking>" in text):
        return usage
    n_said = len(without_thought(text))
    n_thought = len(reasoning or "") + len(text) - n_said
    share = n_thought / max(1, n_thought + n_said)
    return msgspec.structs.replace(usage, reasoning=round(usage.output * share))


def was_cut(prompt: Prompt, completion: Completion) -> bool:
    """Return whether a limit ended the reply before it was of use.

    A reply of free text that took all that it may take is an answer all the same: a long one.
    """
    if completion.finish_reason != "length" or completion.refusal is not None:
        return False
    if prompt.reply is not None:
        try:
            parse_reply(completion.text, prompt.reply, prompt.nonce)
        except ReplyError:
            return True
        return False
    usage = completion.usage
    if not without_thought(completion.text):
        return True
    return usage.reasoning > 0 and usage.output - usage.reasoning < 0.9 * (prompt.max_tokens or 0)


def _began(prompt: Prompt, completion: Completion) -> bool:
    """Return whether a reply that was cut off had begun.

    Where a chat template opens the block of thought, what is cut off within it looks like words: of a reply
    that has a type there would be a brace.
    """
    said = without_thought(completion.text)
    return bool(said) if prompt.reply is None else "{" in said


def declared_room(settings: ModelSettings) -> int | None:
    """Return the room to think in that the settings name, by our own key or in the words of Anthropic."""
    thinking = settings.extra.get("thinking")
    budget = thinking.get("budget_tokens") if isinstance(thinking, dict) else None
    return (
        budget if settings.reasoning_tokens is None and isinstance(budget, int) else settings.reasoning_tokens
    )


class Room:
    """How many tokens one model is given to think in; learnt from its replies, unless it is declared."""

    def __init__(self, declared: int | None, *, likely: bool) -> None:
        """declared: see declared_room. likely: whether the model's name says that it thinks."""
        self.tokens = declared if declared is not None else START if likely else 0
        self._learns = declared is None

    def learn(self, prompt: Prompt, completion: Completion) -> None:
        """Take note of how much a reply took for thought."""
        thought = completion.usage.reasoning
        silent = completion.finish_reason == "length" and not _began(prompt, completion) and prompt.limit
        if self._learns and (thought or silent):
            self.tokens = min(MOST, max(self.tokens, START, 2 * thought))

    def wider(self, prompt: Prompt, completion: Completion) -> Prompt | None:
        """Return the prompt with more room, for a reply that was cut off; None where none is of use."""
        if prompt.max_tokens is None or not was_cut(prompt, completion):
            return None
        # A reply that was too long without any thought gets so much more as it may take, and no more.
        first = START if completion.usage.reasoning or not _began(prompt, completion) else 0
        room = min(MOST, max(self.tokens, first, GROWTH * prompt.room, (GROWTH - 1) * prompt.max_tokens))
        return None if room <= prompt.room else msgspec.structs.replace(prompt, room=room)


def cut_words(completion: Completion, model: str) -> str:
    """Return why a reply that was cut off is of no use, and what to change. model: as it is named.

    It rests on the response alone, so that a replay says the same.
    """
    usage = completion.usage
    told = f"the reply was cut off at {usage.output:,} tokens" if usage.output else "the reply was cut off"
    if usage.reasoning:
        told += f", of which {usage.reasoning:,} were reasoning"
    elif "{" in without_thought(completion.text):
        return f"{told}. Raise max_tokens in the file of the judge or prompt."
    room = GROWTH * max(START, usage.output)
    return (
        f'{told}. Give the model more room to think, e.g. reasoning_tokens = {room} in [models."{model}"] of '
        "ragstone.toml, and look whether the endpoint has a limit of its own."
    )
