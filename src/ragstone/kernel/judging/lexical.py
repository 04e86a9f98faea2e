"""Judges that ask no model: words shared with the reference, plain refusals, the language of the answer.

Tables of refusals, languages and denials are imported where a judge reads them: most need none.
"""

import functools
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import ClassVar

from ragstone.kernel.corpus.tokens import tokenize
from ragstone.kernel.errors import nearest
from ragstone.kernel.judging.conversation import conversation_of
from ragstone.kernel.judging.fields import ZERO_TO_ONE, JudgeFields, Scale
from ragstone.kernel.judging.finding import NOTHING_TO_COMPARE, Finding, JudgeContext, not_applicable
from ragstone.kernel.judging.matching import focus, match, missing, word_weight, words
from ragstone.kernel.records import STATEMENT, Answer, Verdict, references


def no_refusal(answer: str) -> float:
    """0 if the answer begins with a refusal, or says nothing, else 1.

    A refusal is a phrase of words/refusals.toml, or a negation with at most eight words between it and a
    word for knowing, telling or a source in the same clause, before or after it. The sentence must also speak
    of the one who answers or of a source. It must start within the first 30 words (80 letters of a script
    without spaces). An answer that first owns up to a doubt and then answers counts as a refusal too.
    """
    from ragstone.kernel.judging.refusals import refuses

    return float(any(character.isalnum() for character in answer) and not refuses(answer))


# Fewer words (letters of a script without spaces) are a name, a number or a term, the same in many languages.
FEWEST_WORDS = 4
FEWEST_LETTERS = 8
LIKELY = 0.5
UNLIKELY = 0.05


def language_match(answer: str, question: str) -> float | None:
    """1 if the answer is in the language of the question, 0 if it is in another, None if that cannot be told.

    It cannot be told of answers of fewer than four words, and where the detector is not sure: the question's
    language is likely (0.5 or more) in none of the readings, or neither likely nor unlikely (0.05 or less) in
    the answer's.
    """
    from ragstone.kernel.files.language import language_odds
    from ragstone.kernel.judging.refusals import WITHOUT_SPACES

    spelled = [word for word in tokenize(answer) if any(map(str.isalpha, word))]
    if len(spelled) < (FEWEST_LETTERS if WITHOUT_SPACES.search(answer) else FEWEST_WORDS):
        return None
    of_question, of_answer = language_odds(question), language_odds(answer)
    if not of_question or max(of_question.values()) < LIKELY:
        return None
    same = of_answer.get(max(of_question, key=of_question.__getitem__), 0.0)
    if same >= LIKELY:
        return 1.0
    return 0.0 if same <= UNLIKELY and max(of_answer.values()) >= LIKELY else None


FEWEST_REPEATED = 4  # words of a sentence; "Yes, of course." may be said twice


def repeats_itself(answer: Answer) -> float | None:
    """Share of the assistant's words in sentences that it has said in an earlier reply; in [0, 1].

    Of a reply of a conversation its own words count, else those of every reply but the first. Sentences of
    four words or more are compared, word for word, whatever case and marks. None where there is no earlier
    reply.
    """
    from ragstone.kernel.judging.refusals import SENTENCE

    earlier: set[tuple[str, ...]] = set()
    n_words, n_repeated, before = 0, 0, False
    replies = [turn.content for turn in answer.turns or () if turn.role == "assistant" and turn.content]
    for number, reply in enumerate(replies, 1):
        sentences = [tuple(words(sentence)) for sentence in SENTENCE.split(reply)]
        if before and (number == len(replies) or conversation_of(answer) is None):
            n_words += sum(map(len, sentences))
            n_repeated += sum(
                len(sentence_words)
                for sentence_words in sentences
                if len(sentence_words) >= FEWEST_REPEATED and sentence_words in earlier
            )
        earlier.update(sentences)
        before = True
    return n_repeated / n_words if n_words else None


# A slash inside an address, a path, a date (9/11), a rate (40 lb/acre) or "and/or" parts no alternatives.
NOT_A_SEPARATOR = re.compile(
    r"(?<!\S)\S+://\S*|(?<!\S)/\S+|\b\d{1,2}/\d{1,2}\b|\d\s*[a-z]{1,8}/[a-z]{1,5}\b|\b[Aa]nd/or\b"
)
CHRF_ORDER = 6
CHRF_BETA = 2.0
PATIENCE_WORDS = 10  # unsupported words that halve the share of the others
MOST_NAMED = 5  # words or marks in a reason
SUPPORTED = 0.4  # from which word_support on the contexts support a statement: see docs/reference/judges.md


def alternatives(references: Sequence[str], separator: str | None) -> list[str]:
    """Return the references and, where they are joined by a separator (`/` in TriviaQA), their parts.

    Parts without a word are left out: every answer would hold them.
    """
    if separator is None:
        return list(references)
    texts = list(references)
    for reference in references:
        masked = NOT_A_SEPARATOR.sub(lambda match: match[0].replace(separator, "\0"), reference)
        parts = [part for part in masked.split(separator) if words(part)]
        if len(parts) > 1:
            texts += [part.replace("\0", separator) for part in parts]
    return texts


def truth_of(references: Sequence[str]) -> bool | None:
    """Return whether references are the word true, or false; None for any others."""
    spellings = {text.strip().casefold() for text in references}
    return spellings == {"true"} if len(spellings) == 1 and spellings <= {"true", "false"} else None


def containment(answer: str, reference: str) -> float:
    """1 if the reference's words stand in the answer in their order without a gap, else 0.

    A reference without a word (punctuation alone) is compared as it is.
    """
    wanted = words(reference)
    if not wanted:
        return float(reference.strip() in answer)
    return float(f" {' '.join(wanted)} " in f" {' '.join(words(answer))} ")


def token_f1(answer: str, reference: str) -> float:
    """Harmonic mean of precision and recall of words, as multisets (Rajpurkar et al. 2016); in [0, 1]."""
    spoken, wanted = words(answer), words(reference)
    common = sum((Counter(spoken) & Counter(wanted)).values())
    return _f_score(common, len(spoken), len(wanted), 1.0)


def rouge_l(answer: str, reference: str) -> float:
    """F1 of the longest common subsequence of words (Lin 2004); in [0, 1]."""
    spoken, wanted = words(answer), words(reference)
    row = (1 << len(wanted)) - 1
    for row in common_rows(spoken, wanted):  # noqa: B007 - the last one counts
        pass
    return _f_score(len(wanted) - row.bit_count(), len(spoken), len(wanted), 1.0)


def chrf(answer: str, reference: str) -> float:
    """Character n-gram F-score, n = 1..6, recall counting twice, without spaces (Popović 2015); in [0, 1]."""
    text, wanted = "".join(answer.split()), "".join(reference.split())
    if not text or not wanted:
        return float(text == wanted)
    precisions, recalls = [], []
    for n in range(1, CHRF_ORDER + 1):
        ours, theirs = _ngrams(text, n), _ngrams(wanted, n)
        if ours and theirs:  # an order longer than either text says nothing
            common = sum((ours & theirs).values())
            precisions.append(common / ours.total())
            recalls.append(common / theirs.total())
    precision, recall = sum(precisions) / len(precisions), sum(recalls) / len(recalls)
    if not precision + recall:
        return 0.0
    return (1 + CHRF_BETA**2) * precision * recall / (CHRF_BETA**2 * precision + recall)


def context_overlap(answer: str, context: str) -> float:
    """Share of the answer's words that stand in the context; in [0, 1]. An answer without words gives 0."""
    spoken, held = words(answer), set(words(context))
    return sum(word in held for word in spoken) / len(spoken) if spoken else 0.0


def grounding(answer: str, context: str) -> float:
    """context_overlap / (1 + n / 10), where n words of the answer stand nowhere in the context; in [0, 1].

    An answer is unfaithful if any part of it is, so what counts is how many words are not supported as well
    as their share: a long answer has more room for a slip.
    """
    held = set(words(context))
    missing = sum(word not in held for word in words(answer))
    return context_overlap(answer, context) / (1 + missing / PATIENCE_WORDS)


def word_support(spoken: Sequence[str], held: Container[str]) -> float:
    """Return how far words that are said stand in those that passages hold; in [0, 1], 0 for no words.

    `grounding` in which words count by how rare they are; 0 where a number is not held, for a statement with
    another number is another statement.
    """
    if not spoken or any(word.isdecimal() and word not in held for word in spoken):
        return 0.0
    weights = [(word_weight(word), word in held) for word in spoken]
    lost = sum(weight for weight, is_held in weights if not is_held)
    return (1 - lost / sum(weight for weight, _ in weights)) / (1 + lost / PATIENCE_WORDS)


def lacking_words(spoken: Iterable[str], held: Container[str]) -> str:
    """Return the words that are said and not held, those that say most first; at most five."""
    lost = dict.fromkeys(word for word in spoken if word not in held)
    return ", ".join(sorted(lost, key=word_weight, reverse=True)[:MOST_NAMED])


def statement_verdicts(answer: Answer) -> list[Verdict]:
    """Return a verdict on each statement of an answer: whether the contexts together hold its words.

    A statement is a sentence as in `cited_statements`; one that refuses is none, unless the contexts say it.
    score: word_support, by all of them. context: the one that holds most of what is said.
    """
    from ragstone.kernel.judging.citation_marks import (  # a start needs none of it
        NAMED_SOURCE,
        cited_statements,
    )

    contexts = [set(words(context.text)) for context in answer.contexts or ()]
    held = set[str]().union(*contexts)
    verdicts: list[Verdict] = []
    for statement in cited_statements(answer.answer, answer.contexts or []):
        spoken = words(NAMED_SOURCE.sub(" ", statement.text))
        score = word_support(spoken, held)
        supported = score >= SUPPORTED
        if not spoken or (not supported and not no_refusal(statement.text)):
            continue
        weights = [sum(map(word_weight, own.intersection(spoken))) for own in contexts if supported]
        verdicts.append(
            Verdict(
                id=len(verdicts) + 1,
                statement=statement.text,
                supported=supported,
                score=score,
                reason=None if supported else f"not in the contexts: {lacking_words(spoken, held)}",
                context=weights.index(max(weights)) + 1 if supported else None,
            )
        )
    return verdicts


def coverage(answer: str, reference: str, question: str) -> float:
    """Share of the reference's words, those of the question left out, that stand in the answer; in [0, 1].

    Words that the question holds are in most answers, right or wrong, so they say nothing; where the
    reference has no others (a choice between two) all of its words count. Recall of words was found to agree
    best with people among such measures (Adlakha et al. 2023); leaving out the question's is ours.
    """
    wanted = [word for word in words(reference) if word not in words(question)] or words(reference)
    spoken = frozenset(words(answer))
    if not wanted:
        return float(reference.strip() in answer)
    return sum(word in spoken for word in wanted) / len(wanted)


MEASURES: dict[str, Callable[[str, str], float]] = {
    "containment": containment,
    "token_f1": token_f1,
    "rouge_l": rouge_l,
    "chrf": chrf,
    "context_overlap": context_overlap,
    "grounding": grounding,
}

# Measures against a reference that look at the question too.
BESIDE_QUESTION: dict[str, Callable[[str, str, str], float | None]] = {
    "coverage": coverage,
    "match": match,
    "focus": focus,
}
LACKING = {"match"}  # measures whose rationale names the reference's words that were not found
# Measures of an answer that need neither reference nor contexts; None where it cannot be told.
OF_ANSWER: dict[str, Callable[[str], float]] = {"no_refusal": no_refusal}
OF_QUESTION: dict[str, Callable[[str, str], float | None]] = {"language_match": language_match}
OF_CONVERSATION: dict[str, Callable[[Answer], float | None]] = {"repeats_itself": repeats_itself}
VERDICT = "verdict"  # what the answer says of a statement, and nothing else
KNOWN = (*MEASURES, *BESIDE_QUESTION, *OF_ANSWER, *OF_QUESTION, *OF_CONVERSATION, VERDICT)


class LexicalJudge(JudgeFields, frozen=True, kw_only=True, tag="lexical"):
    """A judge that compares words and calls no model.

    measure: one of those above. separator: what parts alternatives within one reference, see alternatives.
    """

    measure: str
    separator: str | None = None

    fixed_scale: ClassVar[Scale | None] = ZERO_TO_ONE
    asks_model: ClassVar[bool] = False

    def _own_problems(self) -> Iterator[tuple[str, str]]:
        if self.measure not in KNOWN:
            yield "measure", f"measure = {self.measure!r}. {nearest(self.measure, KNOWN)}"
        if self.measure in (*BESIDE_QUESTION, *OF_QUESTION) and "question" not in self.inputs:
            yield "inputs", f'measure {self.measure} reads the question: add "question" to inputs.'

    async def find(self, answer: Answer, inputs: dict[str, str], _context: JudgeContext) -> Finding:
        """Return the measure of the answer: against its best reference, its contexts or its question.

        An answer to a statement, whose reference is the word true or false, is read for what it says of it.
        """
        name = self.measure
        if name in OF_ANSWER:
            return Finding(score=OF_ANSWER[name](answer.answer))
        if name in OF_QUESTION:
            return _scored(
                OF_QUESTION[name](answer.answer, inputs["question"]), "the answer is too short to tell"
            )
        if name in OF_CONVERSATION:
            return _scored(OF_CONVERSATION[name](answer), "the assistant has said nothing before")
        if "contexts" in inputs:
            score = MEASURES[name](answer.answer, inputs["contexts"])
            return Finding(
                score=score, verdicts=(statement_verdicts(answer) or None) if name == "grounding" else None
            )
        right_answers = references(answer)
        truth = truth_of(right_answers)
        if truth is not None:
            from ragstone.kernel.judging.truth import what_is_said

            verdict = what_is_said(answer.answer, answer.question)
            right = verdict == ("true" if truth else "false")
            return Finding(score=float(right), label=verdict, metadata={STATEMENT: truth})
        if name == VERDICT:
            return not_applicable("the reference is neither `true` nor `false`")
        texts = alternatives(right_answers, self.separator)
        if not texts:
            return not_applicable(NOTHING_TO_COMPARE)
        if name in BESIDE_QUESTION:
            return _beside_question(name, answer.answer, texts, inputs["question"])
        return Finding(score=max(MEASURES[name](answer.answer, text) for text in texts))


def _scored(score: float | None, untold: str) -> Finding:
    return not_applicable(untold) if score is None else Finding(score=score)


def _beside_question(name: str, answer: str, texts: Sequence[str], question: str) -> Finding:
    """Return a measure against the best of the references, and what is lacking of that one."""
    scores = [(BESIDE_QUESTION[name](answer, text, question), text) for text in texts]
    scored = [(score, text) for score, text in scores if score is not None]
    if not scored:
        return not_applicable("the reference is too long for this measure, or holds no word")
    score, best = max(scored, key=lambda pair: pair[0])
    lost = missing(answer, best, question)[:MOST_NAMED] if name in LACKING and score < 1 else []
    return Finding(score=score, rationale=f"not in the answer: {', '.join(lost)}" if lost else None)


def _f_score(common: int, n_found: int, n_wanted: int, beta: float) -> float:
    if not n_found or not n_wanted:
        return float(n_found == n_wanted)
    if not common:
        return 0.0
    return (1 + beta**2) * common / (beta**2 * n_wanted + n_found)


@functools.lru_cache(maxsize=4096)
def _ngrams(text: str, n: int) -> Counter[str]:
    return Counter(text[i : i + n] for i in range(len(text) - n + 1))


def common_rows(left: Sequence[str], right: Sequence[str]) -> Iterator[int]:
    """Yield for each of the left a number with a bit for each of the right (Hyyrö 2004).

    It is 0 where the longest common subsequence of what went before is one longer than without that place.
    """
    places: dict[str, int] = {}
    for at, word in enumerate(right):
        places[word] = places.get(word, 0) | 1 << at
    whole = row = (1 << len(right)) - 1
    for word in left:
        paired = row & places.get(word, 0)
        row = (row + paired | row - paired) & whole
        yield row
