"""What a model thinks: the room that it needs for that beside its reply, and what it says without it.

`<think>` blocks are passed on to nobody, also where a reply comes piece by piece.
"""

import re

import msgspec

from ragstone.kernel.config import ModelSettings
from ragstone.kernel.errors import ModelError
from ragstone.kernel.llm.prompt import Completion, OnText, Prompt
from ragstone.kernel.llm.schema import ReplyError, parse_reply, without_thought
from ragstone.kernel.llm.transport import BrokenOff, Endpoint
from ragstone.kernel.records import Usage

START = 4096  # reasoning models take some hundred tokens for a judge's prompt, now and then some thousand
MOST = 65_536
GROWTH = 4
_TAG = re.compile(r"</?think(?:ing)?>")
_TAGS = ("<think>", "<thinking>", "</think>", "</thinking>")
_LONGEST = max(map(len, _TAGS))


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
    text = without_thought(completion.text)
    return bool(text) if prompt.reply is None else "{" in text


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

    @property
    def learnt(self) -> int:
        """What a later command may take over: 0 where it is declared."""
        return self.tokens if self._learns else 0

    def recall(self, tokens: int) -> None:
        """Take over what an earlier command learnt."""
        if self._learns:
            self.tokens = max(self.tokens, tokens)

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
    sentence = (
        f"the reply was cut off at {usage.output:,} tokens" if usage.output else "the reply was cut off"
    )
    if usage.reasoning:
        sentence += f", of which {usage.reasoning:,} were reasoning"
    elif "{" in without_thought(completion.text):
        return f"{sentence}. Raise max_tokens in the file of the judge or prompt."
    room = GROWTH * max(START, usage.output)
    return (
        f"{sentence}. Give the model more room to think, e.g. reasoning_tokens = {room} in "
        f'[models."{model}"] of ragstone.toml, and check whether the endpoint has its own limit.'
    )


class ThinkingStyle:
    """What a model has been found to do; learnt from its replies.

    thinks_first: its replies begin inside a block that its chat template opened, and only close it.
    """

    thinks_first = False


class StreamFilter:
    """Passes on what is said of one reply."""

    def __init__(self, on_text: OnText, style: ThinkingStyle) -> None:
        self._heard: list[str] = []
        self._said: list[str] = []
        self._on_text = on_text
        self._style = style
        self._unclear: list[str] = []  # said or thought, as the next tag will tell
        self._waiting = ""
        self._thinking = False
        self._unsure = style.thinks_first  # a reply that never closes the block was none of thoughts

    @property
    def heard(self) -> str:
        """All that came."""
        return "".join(self._heard)

    @property
    def text(self) -> str:
        """What was passed on so far."""
        return "".join(self._said)

    def hear(self, piece: str) -> None:
        """Take the next piece, and pass on what is certain to be said."""
        self._heard.append(piece)
        self._waiting += piece
        while (tag := _TAG.search(self._waiting)) is not None:
            before, self._waiting = self._waiting[: tag.start()], self._waiting[tag.end() :]
            self._pass("".join([*self._unclear, before]), tag[0].startswith("</"))
            self._unclear.clear()
        held = len(self._waiting) - _begun(self._waiting)
        untagged, self._waiting = self._waiting[:held], self._waiting[held:]
        if self._unsure:
            self._unclear.append(untagged)
        elif not self._thinking:
            self._say(untagged)

    def end(self) -> str:
        """Pass on what was held back, now that nothing follows; return all that was said."""
        rest, self._waiting = "".join([*self._unclear, self._waiting]), ""
        if self._unsure:
            self._style.thinks_first = False
        if not self._thinking:
            self._say(rest)
        return self.text

    def _pass(self, before: str, closing: bool) -> None:
        """Take the words up to a tag, and go into the block or out of it."""
        unopened = closing and not self._thinking
        if not self._thinking and not (unopened and self._unsure):
            self._say(before)
        self._style.thinks_first |= unopened
        self._thinking, self._unsure = not closing, False

    def _say(self, piece: str) -> None:
        if not self._said:
            piece = piece.lstrip()  # the empty lines between a block and the answer
        if piece:
            self._said.append(piece)
            self._on_text(piece)


class StreamedCall:
    """One call whose reply is passed on while it is made, over as many attempts as it takes."""

    def __init__(self, endpoint: Endpoint, on_text: OnText, style: ThinkingStyle) -> None:
        self._endpoint = endpoint
        self._on_text = on_text
        self._style = style
        self._filter: StreamFilter | None = None

    async def send(self, prompt: Prompt) -> Completion:
        """Make the call once, as `Endpoint.send`. Raises BrokenOff where some of the reply was passed on."""
        if self._endpoint.stream is None or prompt.top_logprobs is not None:
            return await self._endpoint.send(prompt)
        self._filter = filtered = StreamFilter(self._on_text, self._style)
        try:
            return await self._endpoint.stream(prompt, filtered.hear)
        except ModelError as failure:
            if not filtered.text:
                raise
            raise BrokenOff(failure, filtered.heard) from None

    @property
    def silent(self) -> bool:
        """Whether nothing of the reply was passed on yet."""
        return self._filter is None or not self._filter.text

    def whole(self, text: str) -> str:
        """Pass on what of the reply was not yet passed on; return what was said, without thoughts."""
        if self._filter is not None:
            return self._filter.end()
        spoken = without_thought(text)
        if spoken:
            self._on_text(spoken)
        return spoken


def _begun(text: str) -> int:
    """Return how many characters at the end of a text may be the beginning of a tag."""
    start = text.rfind("<", max(0, len(text) - _LONGEST))
    if start < 0 or not any(tag.startswith(text[start:]) for tag in _TAGS):
        return 0
    return len(text) - start
