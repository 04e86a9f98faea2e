"""What of a model's reply may be said: no number, sensitive term or address that stands in no observation."""

from collections.abc import Iterable

from ragstone.kernel.corpus.numbers import held_values, stated_values
from ragstone_assistant.answering.sentences import Sentences, without_marks
from ragstone_assistant.conversation import Emit, TextPiece
from ragstone_assistant.guards import speaks_to_model, without_contacts, without_instructions
from ragstone_assistant.planning.state import AgentState


def own_text(state: AgentState) -> str:
    """Return what the tools themselves say, oldest first, without orders and addresses; "" for nothing."""
    texts = dict.fromkeys(observation.told or observation.text.strip() for observation in state.found)
    return without_contacts("\n\n".join(texts), state.lang, approved(state))


def trusted(text: str, state: AgentState) -> bool:
    """Say whether every number of a text stands in an observation or in the user's words.

    Of a text that mentions sensitive terms, every number and every term must stand in an observation: what a
    user has heard of a dose is not confirmed. Numbers in words are not looked at. A text that gives orders to
    a model is never trusted.
    """
    sources = [observation.text for observation in state.found]
    terms = state.domain.sensitive
    strict = terms.mentioned(text)
    if strict and not terms.named_in(text) <= frozenset().union(*map(terms.named_in, sources)):
        return False
    if not strict:
        sources += [turn.content for turn in state.asked.turns if turn.role == "user"]
    held = frozenset(value for source in sources for value in held_values(source))
    stated = stated_values(without_marks(text))
    return all(values & held for values in stated) and not speaks_to_model(text)


def approved(state: AgentState) -> list[str | None]:
    """Return the addresses that a reply may give: those that tools hand over as such."""
    links = [url for observation in state.found for _title, url in observation.links]
    return [*links, *(passage.source for observation in state.found for passage in observation.passages)]


def plain(text: str, state: AgentState) -> str:
    """Return a text of the model without addresses and telephone numbers, but those that tools hand over."""
    return without_contacts(without_instructions(text), state.lang, approved(state)).strip()


class CheckedText:
    """Passes on the sentences of a reply as they come, until one may not be said.

    What follows then is the tools' own text. A class: what was said, and the sentence that has no end yet,
    outlive a piece.
    """

    def __init__(self, state: AgentState, emit: Emit) -> None:
        self.text = ""
        self._state = state
        self._emit = emit
        self._sentences = Sentences(state.lang)
        self._trusted = True

    def hear(self, piece: str) -> None:
        """Take the next piece of the model's text."""
        self._pass((sentence.gap, sentence.text) for sentence in self._sentences.feed(piece))

    def end(self) -> None:
        """Take the end of the text. Where nothing could be said, all that there is is the tools' own."""
        self._pass((sentence.gap, sentence.text) for sentence in self._sentences.end())
        if not self._trusted or not self.text:
            self._say("\n\n", own_text(self._state))

    def _pass(self, sentences: Iterable[tuple[str, str]]) -> None:
        for gap, text in sentences:
            self._trusted = self._trusted and trusted(text, self._state)
            if self._trusted:
                self._say(gap, without_contacts(text, self._state.lang, approved(self._state)))

    def _say(self, gap: str, text: str) -> None:
        if text:
            piece = f"{gap}{text}" if self.text else text
            self.text += piece
            self._emit(TextPiece(piece))
