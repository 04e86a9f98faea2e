"""Quotes in another language than the question -> their translation, or why there is none to be shown."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from ragstone.kernel.corpus.tags import Tag, match_tags
from ragstone.kernel.errors import RagstoneError
from ragstone.kernel.llm import Ask, Prompt, Reply
from ragstone.kernel.records import Usage
from ragstone.kernel.translation.services import Translate
from ragstone_assistant._domain import SensitiveTerms
from ragstone_assistant.answering._fidelity import Difference, find_difference
from ragstone_assistant.answering.sentences import with_marks, without_marks
from ragstone_assistant.guards import speaks_to_model, without_contacts
from ragstone_assistant.languages import phrase


class QuoteTranslator(msgspec.Struct, frozen=True, kw_only=True):
    """Who translates quotes. by: what asks the door -> the translator. name: as the ledger knows it.

    tags, sensitive: of what these name, a translation may name nothing else, and of sensitive terms the same.
    is_model: it is the model that writes answers, which is not asked again where it has just failed.
    """

    ask: Ask
    by: Callable[[Ask], Translate]
    name: str
    tags: Sequence[Tag] = ()
    sensitive: SensitiveTerms = msgspec.field(default_factory=SensitiveTerms)
    is_model: bool = False


class ForeignQuote(msgspec.Struct, frozen=True):
    """A quote in another language than the question's, without code and marks. number: of its citation."""

    text: str
    lang: str
    number: int
    source: str | None


class QuoteTranslation(msgspec.Struct, frozen=True, kw_only=True):
    """text: what is said beneath the quotes: their translation, or the sentence that says why it is left out.

    left_out: why it is; None for a translation. usage, cost_usd: of the calls.
    """

    text: str
    left_out: Difference | Literal["failed"] | None
    usage: Usage
    cost_usd: float | None


async def translate_quotes(
    quotes: Sequence[ForeignQuote], lang: str, translator: QuoteTranslator, deadline: float | None
) -> QuoteTranslation:
    """Return the translation of quotes into a language of SPOKEN, each with the mark of its passage.

    Where one differs from its quote in what can be checked (see find_difference), none is shown. Raises
    nothing but CancelledError. deadline: by the time of the event loop.
    """
    spent = _Spent(translator.ask)
    translate = translator.by(spent.ask)
    lines: list[str] = []
    left_out: Difference | Literal["failed"] | None = None
    try:
        async with asyncio.timeout_at(deadline):
            for quote in quotes:
                [made] = await translate([quote.text], quote.lang, lang)
                left_out = _difference(quote, made, lang, translator)
                if left_out is not None:
                    break
                lines.append(with_marks(_cleaned(quote, made, lang), [quote.number]))
    except (RagstoneError, TimeoutError):
        left_out = "failed"
    if left_out is None:
        text = phrase("translation", lang) + "\n" + "\n".join(lines)
    else:
        why = phrase("translator_failed" if left_out == "failed" else f"differs_{left_out}", lang)
        text = phrase("untranslated", lang, why=why)
    return QuoteTranslation(text=text, left_out=left_out, usage=spent.usage, cost_usd=spent.cost_usd)


def _difference(quote: ForeignQuote, made: str, lang: str, translator: QuoteTranslator) -> Difference | None:
    if speaks_to_model(made):
        return "words"
    translated, sensitive = _cleaned(quote, made, lang), translator.sensitive
    difference = find_difference(quote.text, translated, quote.lang, lang)
    if difference is not None:
        return difference
    before, after = match_tags(quote.text, translator.tags), match_tags(translated, translator.tags)
    exchanged = any(set(values) - set(before[key]) for key, values in after.items())
    if exchanged or sensitive.named_in(quote.text) != sensitive.named_in(translated):
        return "names"
    return None


def _cleaned(quote: ForeignQuote, made: str, lang: str) -> str:
    return without_contacts(without_marks(made), lang, [quote.source]).strip()


class _Spent:
    """What asks a door and counts what that costs. cost_usd: None as soon as a call has an unknown price."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self.usage = Usage(calls=0)
        self.cost_usd: float | None = 0.0

    async def ask(self, prompt: Prompt) -> Reply:
        reply = await self._ask(prompt)
        self.usage += reply.usage
        unknown = self.cost_usd is None or reply.cost_usd is None
        self.cost_usd = None if unknown else (self.cost_usd or 0.0) + (reply.cost_usd or 0.0)
        return reply
