"""Kind `statements`: a text is taken apart, and each statement gets a verdict; or each context gets one."""

from collections.abc import Iterator
from typing import ClassVar

from ragstone.judging.fields import ZERO_TO_ONE, PromptedJudge, Scale
from ragstone.judging.finding import Finding, JudgeContext
from ragstone.judging.statements.claims import CLAIM_PARTS, judge_claims
from ragstone.judging.statements.supported import judge_statements
from ragstone.judging.statements.useful import FIELD, judge_contexts
from ragstone.llm.madeup import ASSUMPTION
from ragstone.records import Answer

# Statements or contexts that a fake verdict speaks of: a judge passes over those that are not there.
FAKED = 4


class StatementsJudge(PromptedJudge, frozen=True, kw_only=True, tag="statements"):
    """A judge that checks statements against contexts, answer and reference both ways, or contexts alone.

    verify: the second prompt, by which statements are checked.
    """

    verify: str | None = None

    fixed_scale: ClassVar[Scale | None] = ZERO_TO_ONE
    assumption: ClassVar[str | None] = ASSUMPTION

    @property
    def checks_claims(self) -> bool:
        """Whether it takes apart answer and reference, and checks each against the other."""
        return "contexts" not in self.inputs

    @property
    def checks_contexts(self) -> bool:
        """Whether it gives a verdict on each context, and not on statements of a text."""
        return not {"answer", "reference"}.intersection(self.inputs)

    @property
    def metrics(self) -> list[str]:
        """The metrics of its judgements: its score's, then both directions of a judge of claims."""
        return [self.measures, *(CLAIM_PARTS if self.checks_claims else ())]

    def verdict(self, score: bool | int | float | str, reason: str) -> tuple[str, dict[str, object]]:
        """Return the field of the reply that holds the score, and a whole reply with this score."""
        of_answer = "answer" in self.inputs
        named = {"context": 1} if of_answer and "contexts" in self.inputs else {}
        field = {"supported" if of_answer else FIELD: bool(score)}
        return "score", {
            "verdicts": [{"id": n, "reason": reason, **named, **field} for n in range(1, FAKED + 1)]
        }

    def _told_beside(self) -> list[str]:
        return [self.verify or ""]

    def _own_problems(self) -> Iterator[tuple[str, str]]:
        if self.checks_contexts and self.verify:
            yield (
                "verify",
                "a judge of contexts alone has no verify: its prompt asks for the verdict on each context.",
            )
        if not self.checks_contexts and not self.verify:
            yield "verify", "a judge of kind statements needs a verify."
        if self.checks_claims and not {"answer", "reference"}.issubset(self.inputs):
            yield (
                "inputs",
                "a judge of kind statements checks against contexts, or answer and reference against each "
                "other: add what it checks by to inputs.",
            )
        if self.verify and "{statements}" not in self.verify:
            yield (
                "verify",
                "verify does not name {statements}. Write {statements} where it speaks of what to check.",
            )

    async def find_once(self, answer: Answer, inputs: dict[str, str], means: JudgeContext) -> Finding:
        """Return the share of statements that are supported, or of contexts that are of use."""
        if self.checks_contexts:
            return await judge_contexts(self, answer, inputs, means)
        judge = judge_claims if self.checks_claims else judge_statements
        return await judge(self, self.verify or "", answer, inputs, means)
