"""Exchanges that users gave feedback on -> their texts, masked together, and the rows that they become."""

from collections import Counter
from collections.abc import Mapping

import msgspec

from ragstone.features.sample._feedback_answered import FROM_CORRECTION
from ragstone.features.sample._feedback_reading import FeedbackRead
from ragstone.features.sample._gathering import sampled_id
from ragstone.kernel.agreement.policies import VOLUNTARY
from ragstone.kernel.dataset.standing import why_left_out
from ragstone.kernel.files.language import detect_languages
from ragstone.kernel.privacy.masking import OwnWords, mask_texts
from ragstone.kernel.records import Answer, Label, Question
from ragstone.kernel.tables.logs.exchange import LoggedExchange

SYSTEM = "log"  # of answers whose rows name none


class ExchangeTexts:
    """The texts of chosen exchanges, masked together, and the rows made of them.

    of: number of the row -> question, answer and corrections, in the order of what people said.
    """

    def __init__(
        self,
        exchanges: Mapping[int, LoggedExchange],
        read: FeedbackRead,
        own: OwnWords | None,
        *,
        masking: bool,
    ) -> None:
        self.masking = masking
        self.masked: Counter[str] = Counter()
        self._read, self._exchanges = read, exchanges
        self.of: dict[int, list[str]] = {}
        self._contexts: dict[int, list[str]] = {}
        for at in sorted(exchanges):
            exchange = exchanges[at]
            said = [one.correction or "" for one in read.said.get(at, ())]
            contexts = [context.text for context in exchange.contexts or ()]
            texts = [exchange.question, exchange.answer or "", *said, *contexts]
            if masking:
                masked = mask_texts(texts, own)
                for result in masked:
                    self.masked.update(result.found)
                texts = [result.text for result in masked]
            self.of[at], self._contexts[at] = texts[: 2 + len(said)], texts[2 + len(said) :]

    def system(self, at: int) -> str:
        """The system whose answer it is."""
        return self._exchanges[at].system or SYSTEM

    def answer(self, at: int) -> Answer | None:
        """Return the row of an exchange; None of one without an answer."""
        exchange, (question, answer, *_) = self._exchanges[at], self.of[at]
        if not answer:
            return None
        contexts = exchange.contexts
        if contexts is not None:
            contexts = [
                msgspec.structs.replace(context, text=text)
                for context, text in zip(contexts, self._contexts[at], strict=True)
            ]
        return Answer(
            question_id=self._read.names[at],
            question=question,
            answer=answer,
            system=self.system(at),
            contexts=contexts,
        )

    def thumbs(self) -> list[Label]:
        """Return what people said with a thumb, as labels, in the order of the log."""
        return [
            Label(
                question_id=self._read.names[at],
                system=self.system(at),
                score=one.score,
                annotator="user" if number == 1 else f"user {number}",
                rationale=self.of[at][1 + number] or None,
                metadata={VOLUNTARY: True},
            )
            for at in sorted(self._read.said)
            for number, one in enumerate(self._read.said[at], 1)
            if one.score is not None
        ]

    def questions(self) -> tuple[list[Question], Counter[str]]:
        """Return the questions of corrections, in the order of the log; why -> corrections left out."""
        left_out: Counter[str] = Counter()
        corrected: dict[str, Question] = {}
        for at in sorted(self._read.said):
            question, answer, *corrections = self.of[at]
            why = why_left_out(self._exchanges[at].question)
            for one, correction in zip(self._read.said[at], corrections, strict=True):
                if one.correction is None:
                    continue
                same = " ".join(correction.split()) == " ".join(answer.split())
                number = any(map(str.isdigit, correction))  # "12" is an answer, though it asks nothing
                empty = why_left_out(correction) in ("nothing_asked", "small_talk") and not number
                reasons = {"a_comment": one.is_up, "no_answer": empty, "the_same_answer": same}
                reason: str | None = why or next((name for name, holds in reasons.items() if holds), None)
                if reason is not None:
                    left_out[reason] += 1
                    continue
                name = sampled_id(question)
                if name in corrected:
                    left_out["an_earlier_one_of_the_question"] += 1
                corrected[name] = Question(
                    id=name,
                    question=question,
                    reference=correction,
                    metadata={
                        "from": FROM_CORRECTION,
                        "exchange": self._read.names[at],
                        **({"answer": answer} if answer else {}),
                    },
                )
        rows = list(corrected.values())
        langs = detect_languages([row.question for row in rows])
        return [
            msgspec.structs.replace(row, lang=lang) for row, lang in zip(rows, langs, strict=True)
        ], left_out
