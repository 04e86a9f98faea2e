"""Kind `supported`: how likely the contexts support all that an answer says, without a model.

A logistic regression on what is missing of each sentence, fitted on people's labels; what it found of a
sentence is said in words. benchmarks/grounding.py fits the numbers and measures them.
"""

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, NamedTuple

import msgspec

from ragstone.kernel.config import read_library
from ragstone.kernel.corpus.tokens import tokenize
from ragstone.kernel.errors import nearest
from ragstone.kernel.files.language import detect_language
from ragstone.kernel.judging.citation_marks import cited_statements
from ragstone.kernel.judging.fields import ZERO_TO_ONE, JudgeFields, Scale
from ragstone.kernel.judging.finding import Finding, JudgeContext, not_applicable
from ragstone.kernel.judging.lexical import no_refusal
from ragstone.kernel.judging.matching import word_weight
from ragstone.kernel.judging.supported._features import (
    FEATURES,
    SentenceFeatures,
    read_passages,
    sentence_features,
)
from ragstone.kernel.records import OWN_THRESHOLD, Answer, Verdict

DIGITS = 6
MOST_NAMED = 5  # words of a reason
COMMON = 0.4  # weight of a word up to which its absence says nothing
QUESTION = ("?", "？", "؟")
NO_CONTEXTS = "no context has any text"
NOTHING_CLAIMED = "the answer states nothing that could be checked"
ALONE = ("numbers", "fields")  # features that are a reason by themselves, however much else is there
BY_DEGREE = tuple(name for name in FEATURES if name not in ALONE)


class SupportedJudge(JudgeFields, frozen=True, kw_only=True, tag="supported"):
    """A judge whose score is the probability that the contexts support every sentence of an answer.

    The product of these probabilities for its sentences. A sentence is not supported with the probability p,
    where -ln(1 - p) = ln(1 + exp(o)) + s. o: intercept (in_records where contexts are records) + its features
    times weights. s: its features times `alone`, each a reason by itself. threshold: the score from which on
    an answer counts as supported. flagged: the p from which on a sentence is called unsupported.
    """

    weights: Mapping[str, float]
    alone: Mapping[str, float]
    intercept: float
    in_records: float
    threshold: float = 0.5
    flagged: float = 0.5

    fixed_scale: ClassVar[Scale | None] = ZERO_TO_ONE
    asks_model: ClassVar[bool] = False

    def _own_problems(self) -> Iterator[tuple[str, str]]:
        for key, table, known in (("weights", self.weights, BY_DEGREE), ("alone", self.alone, ALONE)):
            for name, value in table.items():
                if name not in known:
                    yield key, f"{key}.{name} is not measured. {nearest(name, known)}"
                elif not 0 <= value < math.inf:
                    yield key, f"{key}.{name} = {value:g}: give 0 or more, for what is missing never helps."
        if not all(map(math.isfinite, (self.intercept, self.in_records))):
            yield "intercept", "intercept and in_records are finite numbers: correct the one that is not."
        if not (0 < self.threshold < 1 and 0 < self.flagged < 1):
            yield "threshold", "threshold and flagged are probabilities: give numbers between 0 and 1."

    async def find(self, answer: Answer, _inputs: dict[str, str], _context: JudgeContext) -> Finding:
        """Return the probability, with a verdict on each sentence and what it lacks.

        An answer whose sentences are all refusals, questions, greetings or offers of help is not applicable.
        """
        sentences = compared_sentences(answer)
        if not sentences:
            return not_applicable(NOTHING_CLAIMED)
        verdicts = [self._verdict(number, *compared) for number, compared in enumerate(sentences, 1)]
        score = math.exp(-sum(self.expected(features) for _, features in sentences))
        if not any(context.text.strip() for context in answer.contexts or ()):
            verdicts = [
                msgspec.structs.replace(verdict, supported=False, score=0.0, reason=NO_CONTEXTS, context=None)
                for verdict in verdicts
            ]
            score = 0.0
        return Finding(
            score=round(score, DIGITS),
            rationale=_rationale(verdicts, is_supported=score >= self.threshold),
            verdicts=verdicts,
            metadata={OWN_THRESHOLD: self.threshold},
        )

    def expected(self, features: SentenceFeatures) -> float:
        """Return -ln(1 - p) for the probability p that a sentence is not supported; above 0."""
        values = dict(zip(FEATURES, features.values, strict=True))
        log_odds = self.in_records if features.in_record else self.intercept
        log_odds += sum(weight * values[name] for name, weight in self.weights.items())
        softened = max(log_odds, 0.0) + math.log1p(math.exp(-abs(log_odds)))
        return softened + sum(weight * values[name] for name, weight in self.alone.items())

    def _verdict(self, number: int, sentence: str, features: SentenceFeatures) -> Verdict:
        unsupported = -math.expm1(-self.expected(features))
        supported = unsupported < self.flagged
        return Verdict(
            id=number,
            statement=sentence,
            supported=supported,
            score=round(1 - unsupported, DIGITS),
            reason=None if supported else lacking(features),
            context=(features.context or None) if supported else None,
        )


class ComparedSentence(NamedTuple):
    """A sentence of an answer that claims something, and what of it is not in the contexts."""

    sentence: str
    features: SentenceFeatures


def compared_sentences(answer: Answer) -> list[ComparedSentence]:
    """Return the sentences of an answer that claim something, compared with its contexts.

    Left out: refusals, questions, headings, lines that end in a colon, greetings and offers of help. An
    answer of one or two words is a sentence.
    """
    contexts = answer.contexts or []
    passages = read_passages(tuple(context.text for context in contexts))
    lang = detect_language(answer.answer)
    statements = [statement.text for statement in cited_statements(answer.answer, contexts)]
    compared = []
    for sentence in statements or [" ".join(answer.answer.split())]:
        tokens = " ".join(tokenize(sentence))
        is_polite = any(tokens in whole or tokens.startswith(begins) for whole, begins in _courtesies())
        if is_polite or sentence.endswith(QUESTION) or not no_refusal(sentence):
            continue
        features = sentence_features(sentence, passages, lang)
        if features is not None:
            compared.append(ComparedSentence(sentence, features))
    return compared


def lacking(features: SentenceFeatures) -> str:
    """Return what of a sentence the contexts lack, in words."""
    named = {part for text in (*features.names, *features.numbers) for part in tokenize(text)}
    words = [word for word in features.words if word not in named and word_weight(word) > COMMON]
    lost = [*features.numbers, *features.names, *words][:MOST_NAMED]
    said = [f"not in the contexts: {', '.join(lost)}"] if lost else []
    if features.fields:
        said.append(f"the contexts have {', '.join(field.said for field in features.fields)}")
    return "; ".join(said) or "its rarer words are in the contexts, but not together"


def _rationale(verdicts: Sequence[Verdict], *, is_supported: bool) -> str:
    flagged = [verdict for verdict in verdicts if not verdict.supported]
    if not flagged:
        alone = "" if is_supported else " by itself, but one of all of them may well be"
        return f"no sentence is called unsupported{alone}"
    weakest = min(flagged, key=lambda verdict: verdict.score or 0.0)
    return f"{len(flagged)} of {len(verdicts)} sentences called unsupported; the weakest: {weakest.reason}"


@functools.cache
def _courtesies() -> list[tuple[frozenset[str], tuple[str, ...]]]:
    tables = read_library("ragstone.kernel.judging", "words/courtesies.toml").values()
    return [
        (
            frozenset(" ".join(tokenize(phrase)) for phrase in table["whole"].split("|")),
            tuple(" ".join(tokenize(phrase)) for phrase in table["begins"].split("|")),
        )
        for table in tables
    ]
