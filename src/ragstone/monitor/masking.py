"""Exchanges -> exchanges without personal data, as they are stored and shown to judges."""

from collections.abc import Sequence
from functools import lru_cache

import msgspec

from ragstone.monitor.logged import Logged, Said
from ragstone.privacy.masking import OwnWords, mask_personal_data, mask_texts
from ragstone.records import Context

REMEMBERED = 50_000  # texts: passages come again and again


class Masker:
    """Masks what people and documents say; what was masked before is not looked at again.

    Question and answer are masked together, so that the same value has the same placeholder. Where something
    was found in them, the contexts are masked along with them: an answer that gives a number from its context
    must still agree with it. Else each passage is masked by itself.
    """

    def __init__(self, own: OwnWords | None) -> None:
        self._own = own
        self._alone = lru_cache(REMEMBERED)(lambda text: mask_personal_data(text, own).text)
        self._pair = lru_cache(REMEMBERED)(self._masked_pair)

    def exchange(self, one: Logged) -> Logged:
        """Return an exchange without personal data."""
        question, answer, found = self._pair(one.question, one.answer or "")
        contexts = one.contexts
        if contexts and found:
            texts = [one.question, one.answer or "", *(context.text for context in contexts)]
            question, answer, *passages = self._together(texts)
            contexts = _with_texts(contexts, passages)
        elif contexts:
            contexts = _with_texts(contexts, [self._alone(context.text) for context in contexts])
        return msgspec.structs.replace(
            one,
            question=question,
            answer=None if one.answer is None else answer,
            contexts=contexts,
            tags={name: self._alone(value) for name, value in one.tags.items()},
            error=None if one.error is None else self._alone(one.error),
        )

    def said(self, one: Said) -> Said:
        """Return what a person says without personal data."""
        if one.correction is None:
            return one
        return msgspec.structs.replace(one, correction=self._alone(one.correction))

    def _masked_pair(self, question: str, answer: str) -> tuple[str, str, bool]:
        masked = mask_texts([question, answer], self._own)
        return masked[0].text, masked[1].text, any(one.found for one in masked)

    def _together(self, texts: Sequence[str]) -> list[str]:
        return [one.text for one in mask_texts(texts, self._own)]


def _with_texts(contexts: Sequence[Context], texts: Sequence[str]) -> list[Context]:
    return [
        msgspec.structs.replace(context, text=text) for context, text in zip(contexts, texts, strict=True)
    ]
