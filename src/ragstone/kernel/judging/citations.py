"""Kind `citations`: does what an answer cites say it, and does the answer cite what it says?

As in ALCE (Gao et al. 2023, arXiv:2305.14627), by statement. Recall: the share of statements which the
contexts that they cite support together. Precision: the share of citations that are of use: their statement
is supported, and either the context supports it alone or the others that it cites do not without it. The
score is the harmonic mean. A mark that points nowhere is a citation that is of no use.

Without a prompt words decide (see word_support, from `threshold` on); with one, a model.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, NamedTuple

from ragstone.kernel.errors import plural
from ragstone.kernel.judging.citation_marks import CitedStatement, cited_statements
from ragstone.kernel.judging.contexts import share_of
from ragstone.kernel.judging.fields import ZERO_TO_ONE, JudgeFields, PromptedJudge, Scale
from ragstone.kernel.judging.finding import CriterionOutcome, Finding, JudgeContext, add_costs, not_applicable
from ragstone.kernel.judging.inputs import texts_of
from ragstone.kernel.judging.lexical import MOST_NAMED, lacking_words, no_refusal, word_support
from ragstone.kernel.judging.matching import words
from ragstone.kernel.judging.statements import FAKED, check_statements, harmonic_mean
from ragstone.kernel.llm import Reply
from ragstone.kernel.llm.stub_reply import ASSUMPTION
from ragstone.kernel.records import Answer, Verdict

CITATION_PARTS = ("citation_precision", "citation_recall")
REFUSED = "the answer refuses, so it has nothing to cite"
NO_STATEMENT = "the answer makes no statement that needs a source"
NO_MARKS = "the answer cites nothing"
NO_MARK = "cites nothing"  # document/template/opened.js knows it
BLANK = "what it cites is empty"

Numbered = Mapping[int, CitedStatement]
Pair = tuple[int, tuple[int, ...]]
"""A statement's number and some of the contexts that it cites."""


class CitedSupport(NamedTuple):
    """What the contexts that a statement cites say of it.

    together: all of them support it. useful: those of them that count for precision. reason: why not.
    """

    together: bool
    useful: frozenset[int] = frozenset()
    reason: str | None = None


def weigh_by_words(statements: Numbered, texts: Sequence[str], threshold: float) -> dict[int, CitedSupport]:
    """Return the support of each statement that cites contexts, by words; in linear time."""
    held = {n: set(words(texts[n - 1])) for statement in statements.values() for n in statement.cited}
    return {
        number: _support_by_words(statement, held, threshold)
        for number, statement in statements.items()
        if statement.cited
    }


def _support_by_words(
    statement: CitedStatement, held: Mapping[int, set[str]], threshold: float
) -> CitedSupport:
    spoken = words(statement.text)
    own = {n: held[n].intersection(spoken) for n in statement.cited}
    counts = Counter(word for shared in own.values() for word in shared)
    if word_support(spoken, counts) < threshold:
        return CitedSupport(together=False, reason=f"not in what it cites: {lacking_words(spoken, counts)}")
    return CitedSupport(
        together=True,
        useful=frozenset(
            n
            for n, shared in own.items()
            if word_support(spoken, shared) >= threshold
            or word_support(spoken, {word for word, count in counts.items() if count > (word in shared)})
            < threshold
        ),
    )


async def weigh_by_model(
    judge: "CitationsJudge",
    inputs: dict[str, str],
    context: JudgeContext,
    replies: list[Reply],
    statements: Numbered,
    texts: Sequence[str],
) -> dict[int, CitedSupport]:
    """Return the support of each statement that cites contexts, by a model; `replies` gains what was said.

    Statements that cite the same contexts share a call. Only one that several contexts support together is
    asked about with each alone, and without those that do not support it alone. Raises CallFailed.
    """

    async def ask(pairs: Iterable[Pair]) -> dict[Pair, Verdict]:
        by_pair = {pair: statements[pair[0]].text for pair in pairs}
        return await _check(judge, inputs, context, replies, by_pair, texts)

    pairs = {
        number: (number, tuple(sorted(statement.cited)))
        for number, statement in statements.items()
        if statement.cited
    }
    whole = await ask(pairs.values())
    several = [pair for pair in pairs.values() if len(pair[1]) > 1 and whole[pair].supported]
    alone = await ask((number, (n,)) for number, cited in several for n in cited)
    rests = {
        (number, n): (number, tuple(other for other in cited if other != n))
        for number, cited in several
        for n in cited
        if not alone[number, (n,)].supported
    }
    without = alone | await ask(rest for rest in rests.values() if rest not in alone)
    needed = {key for key, rest in rests.items() if not without[rest].supported}
    return {
        number: CitedSupport(
            together=whole[pair].supported,
            useful=frozenset(
                n
                for n in pair[1]
                if whole[pair].supported and ((number, n) not in rests or (number, n) in needed)
            ),
            reason=whole[pair].reason,
        )
        for number, pair in pairs.items()
    }


async def _check(
    judge: "CitationsJudge",
    inputs: dict[str, str],
    context: JudgeContext,
    replies: list[Reply],
    pairs: Mapping[Pair, str],
    texts: Sequence[str],
) -> dict[Pair, Verdict]:
    """Return whether the contexts of each pair support its statement, given as text."""
    by_cited: dict[tuple[int, ...], dict[int, str]] = {}
    for (number, cited), text in pairs.items():
        by_cited.setdefault(cited, {})[number] = text
    verdict_of: dict[Pair, Verdict] = {}
    for cited, of_these in by_cited.items():
        cited_texts = [text if n in cited else "" for n, text in enumerate(texts, 1)]
        if any(text.strip() for text in cited_texts):
            verdicts = await check_statements(
                judge,
                judge.prompt,
                inputs,
                context,
                replies,
                statements=of_these,
                against="contexts",
                texts=cited_texts,
            )
        else:
            verdicts = [
                Verdict(id=n, statement=text, supported=False, reason=BLANK) for n, text in of_these.items()
            ]
        verdict_of |= {(verdict.id, cited): verdict for verdict in verdicts}
    return verdict_of


def citations_found(
    statements: Numbered, support: Mapping[int, CitedSupport], replies: Sequence[Reply]
) -> Finding:
    """Return precision, recall and their harmonic mean, with a verdict on each statement."""
    n_supported = sum(own.together for own in support.values())
    n_useful = sum(len(own.useful) for own in support.values())
    dangling = [name for statement in statements.values() for name in statement.dangling]
    n_citations = sum(len(statement.cited) for statement in statements.values()) + len(dangling)
    recall = n_supported / len(statements)
    rationale = f"what they cite supports {share_of(n_supported, len(statements), 'statement')}"
    parts = [CriterionOutcome(metric="citation_recall", score=recall, rationale=rationale)]
    if n_citations:
        useful = f"of use: {share_of(n_useful, n_citations, 'citation')}"
        if dangling:
            useful += f"; {_dangling(dangling)}"
        parts.insert(
            0,
            CriterionOutcome(metric="citation_precision", score=n_useful / n_citations, rationale=useful),
        )
        rationale = f"{useful}; {rationale}"
    spent = add_costs(replies)
    return Finding(
        score=harmonic_mean(n_useful / n_citations, recall) if n_citations else 0.0,
        rationale=rationale if n_citations else f"{NO_MARKS}; {rationale}",
        verdicts=[
            _verdict(number, statement, support.get(number)) for number, statement in statements.items()
        ],
        usage=spent.usage if replies else None,
        cost_usd=spent.cost_usd if replies else None,
        parts=tuple(parts),
        metadata={"citations": n_citations, "dangling": len(dangling)},
    )


def _dangling(names: Sequence[str]) -> str:
    """Return `[7] and [9] point to no context`."""
    distinct = list(dict.fromkeys(names))
    listed = ", ".join(f"[{name}]" for name in distinct[:MOST_NAMED])
    more = f" and {plural(len(distinct) - MOST_NAMED, 'other')}" if len(distinct) > MOST_NAMED else ""
    return f"{listed}{more} {'points' if len(distinct) == 1 else 'point'} to no context"


def _verdict(number: int, statement: CitedStatement, support: CitedSupport | None) -> Verdict:
    why = [support.reason if support else None if statement.dangling else NO_MARK]
    why.append(_dangling(statement.dangling) if statement.dangling else None)
    return Verdict(
        id=number,
        statement=statement.text,
        supported=support is not None and support.together,
        reason="; ".join(filter(None, why)) or None,
        context=min(support.useful, default=None) if support else None,
    )


class CitationsJudge(PromptedJudge, frozen=True, kw_only=True, tag="citations"):
    """A judge of an answer's citations, by words or by a model.

    prompt: how a model checks {statements} against {contexts}; without one, words decide. threshold: the
    share of words, less those that lack (see word_support), from which on they support a statement.
    """

    prompt: str = ""
    threshold: float | None = None

    fixed_scale: ClassVar[Scale | None] = ZERO_TO_ONE
    assumption: ClassVar[str | None] = ASSUMPTION

    @property
    def needs_model(self) -> bool:
        """Whether a model is asked."""
        return bool(self.prompt)

    @property
    def metrics(self) -> list[str]:
        """The metrics of its judgements: its score's, then precision and recall."""
        return [self.measures, *CITATION_PARTS]

    def verdict(self, score: bool | int | float | str, reason: str) -> tuple[str, dict[str, object]]:
        """Return the field of the reply that holds the score, and a whole reply with this score."""
        fields = {"reason": reason, "context": 1, "supported": bool(score)}
        return "score", {"verdicts": [{"id": n, **fields} for n in range(1, FAKED + 1)]}

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield what is wrong, as JudgeFields does."""
        yield from super().problems() if self.prompt else JudgeFields.problems(self)

    def _own_problems(self) -> Iterator[tuple[str, str]]:
        if not {"answer", "contexts"}.issubset(self.inputs):
            yield "inputs", "a judge of citations reads the answer and its contexts: add both to inputs."
        if bool(self.prompt) == (self.threshold is not None):
            yield (
                "threshold",
                "a judge of citations has a prompt, with which a model checks, or a threshold, with which "
                "words do: give one of the two.",
            )
        if self.threshold is not None and not 0 < self.threshold <= 1:
            yield "threshold", f"threshold = {self.threshold:g}: give a share above 0 and up to 1, e.g. 0.5."
        if not self.prompt and (self.samples > 1 or self.prompts or self.temperature is not None):
            key = "samples" if self.samples > 1 else "prompts" if self.prompts else "temperature"
            yield (
                key,
                f"{key} means nothing where words decide. Remove it, or give a prompt.",
            )
        if self.prompt and "{statements}" not in self.prompt:
            yield (
                "prompt",
                "the prompt does not name {statements}. Write {statements} where it says what to check.",
            )

    async def find_once(self, answer: Answer, inputs: dict[str, str], context: JudgeContext) -> Finding:
        """Return how good the citations are; a refusal without any has nothing to cite."""
        made = cited_statements(answer.answer, answer.contexts or [])
        cites = any(statement.cited or statement.dangling for statement in made)
        if not made:
            return not_applicable(NO_STATEMENT)
        if not cites and not no_refusal(answer.answer):
            return not_applicable(REFUSED)
        statements, texts = dict(enumerate(made, 1)), texts_of(answer.contexts)
        replies: list[Reply] = []
        if self.threshold is not None:
            support = weigh_by_words(statements, texts, self.threshold)
        else:
            support = await weigh_by_model(self, inputs, context, replies, statements, texts)
        return citations_found(statements, support, replies)
