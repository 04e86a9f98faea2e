"""What a model says, piece by piece, without what it thinks: `<think>` blocks are passed on to nobody."""

import re

from ragstone.errors import ModelError
from ragstone.llm.prompt import Completion, OnText, Prompt
from ragstone.llm.structured import without_thought
from ragstone.llm.transport import BrokenOff, Endpoint

_TAG = re.compile(r"</?think(?:ing)?>")
_TAGS = ("<think>", "<thinking>", "</think>", "</thinking>")
_LONGEST = max(map(len, _TAGS))


class Habit:
    """What a model has been found to do; learnt from its replies.

    thinks_first: its replies begin inside a block that its chat template opened, and only close it.
    """

    thinks_first = False


class Speaking:
    """Passes on what is said of one reply."""

    def __init__(self, on_text: OnText, habit: Habit) -> None:
        self._heard: list[str] = []
        self._said: list[str] = []
        self._on_text = on_text
        self._habit = habit
        self._unclear: list[str] = []  # said or thought, as the next tag will tell
        self._waiting = ""
        self._thinking = False
        self._unsure = habit.thinks_first  # a reply that never closes the block was none of thoughts

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
            self._habit.thinks_first = False
        if not self._thinking:
            self._say(rest)
        return self.text

    def _pass(self, before: str, closing: bool) -> None:
        """Take the words up to a tag, and go into the block or out of it."""
        unopened = closing and not self._thinking
        if not self._thinking and not (unopened and self._unsure):
            self._say(before)
        self._habit.thinks_first |= unopened
        self._thinking, self._unsure = not closing, False

    def _say(self, piece: str) -> None:
        if not self._said:
            piece = piece.lstrip()  # the empty lines between a block and the answer
        if piece:
            self._said.append(piece)
            self._on_text(piece)


class Telling:
    """One call whose reply is passed on while it is made, over as many attempts as it takes."""

    def __init__(self, endpoint: Endpoint, on_text: OnText, habit: Habit) -> None:
        self._endpoint = endpoint
        self._on_text = on_text
        self._habit = habit
        self._speaking: Speaking | None = None

    async def send(self, prompt: Prompt) -> Completion:
        """Make the call once, as `Endpoint.send`. Raises BrokenOff where some of the reply was passed on."""
        if self._endpoint.stream is None or prompt.top_logprobs is not None:
            return await self._endpoint.send(prompt)
        self._speaking = speaking = Speaking(self._on_text, self._habit)
        try:
            return await self._endpoint.stream(prompt, speaking.hear)
        except ModelError as failure:
            if not speaking.text:
                raise
            raise BrokenOff(failure, speaking.heard) from None

    @property
    def silent(self) -> bool:
        """Whether nothing of the reply was passed on yet."""
        return self._speaking is None or not self._speaking.text

    def whole(self, text: str) -> str:
        """Pass on what of the reply was not yet passed on; return what was said, without thoughts."""
        if self._speaking is not None:
            return self._speaking.end()
        said = without_thought(text)
        if said:
            self._on_text(said)
        return said


def _begun(text: str) -> int:
    """Return how many characters at the end of a text may be the beginning of a tag."""
    start = text.rfind("<", max(0, len(text) - _LONGEST))
    if start < 0 or not any(tag.startswith(text[start:]) for tag in _TAGS):
        return 0
    return len(text) - start
