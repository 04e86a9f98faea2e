"""The kinds that ask a model in one call: what they have in common. What else they are: a module each."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import msgspec

from ragstone.kernel.judging.examples import example_reply, examples_text, whole
from ragstone.kernel.judging.fields import Example, PromptedJudge
from ragstone.kernel.judging.finding import Finding, JudgeContext
from ragstone.kernel.judging.render import REASON, Field, render_prompt, reply_form, reply_type
from ragstone.kernel.llm import Prompt
from ragstone.kernel.records import Answer


class OneCallJudge(PromptedJudge, frozen=True, kw_only=True):
    """The keys of the kinds that ask a model in one call.

    examples and shots: rows with the right reply, and how many of them the model is shown (default: all).
    layout: what comes first in the prompt; `contexts_first` for what other judges of the row share, by
    default the judge's own instructions.
    """

    examples: list[Example] = []
    shots: Annotated[int, msgspec.Meta(ge=0)] | None = None
    layout: Literal["contexts_first"] | None = None

    # The field of the reply that holds the verdict, its type, and what it is to hold; how long the reason is.
    outcome: ClassVar[str] = "score"
    reason_words: ClassVar[str] = "one sentence"

    @property
    def needs_words(self) -> str | None:
        """Why a decision model cannot be asked by it, None where it can."""
        return "Leave samples out: it gives the probabilities themselves." if self.samples > 1 else None

    @property
    def shown(self) -> Sequence[Example]:
        """The examples that the model is shown."""
        return self.examples if self.shots is None else self.examples[: self.shots]

    def can_join(self) -> bool:
        """Return whether it can be asked in one call with others: once, at the usual temperature, 0."""
        return self.samples == 1 and not self.temperature and self.layout is None

    @property
    def shares_prefix(self) -> bool:
        """Whether its prompt begins as those of other judges of the row."""
        return self.layout is not None

    def instructions(self) -> str:
        """Return what the model is told: the prompt, and whatever else of the file belongs to it."""
        return self.prompt.strip()

    def reply_fields(self) -> list[Field]:
        """Return the fields of the reply after the nonce, in their order; a reason before each score."""
        return [Field("reason", REASON, self.reason_words), self._outcome_field()]

    def _outcome_field(self) -> Field:
        """Return the field of the reply that holds the verdict."""
        raise NotImplementedError(f"a judge of kind {self.kind} does not say what its reply holds")

    def finding_of(self, values: Mapping[str, Any]) -> Finding:
        """Return the finding that the fields of a reply make, without tokens and cost."""
        return Finding(score=float(values[self.outcome]), rationale=values["reason"].strip() or None)

    def reply_of(self, expected: object, reason: object) -> dict[str, object]:
        """Return the fields of a reply with this verdict, in their order."""
        return {"reason": reason, self.outcome: whole(expected)}

    def verdict(self, score: bool | int | float | str, reason: str) -> tuple[str, dict[str, object]]:
        """Return the field of the reply that holds the score, and a whole reply with this score."""
        return self.outcome, self.reply_of(score, reason)

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield what is wrong, as JudgeFields does."""
        yield from super().problems()
        if self.shots is not None and self.shots > len(self.examples):
            held = len(self.examples)
            yield (
                "shots",
                f"shots = {self.shots}, but there {'is' if held == 1 else 'are'} {held or 'no'} "
                "[[examples]]. Add examples, or show fewer.",
            )
        for number, example in enumerate(self.examples, 1):
            problem = (
                self._problem_of_texts(example)
                or self._problem_of_expected(example.expected)
                or self._problem_of_reason(example.reason)
            )
            if problem:
                yield "examples", f"example {number}: {problem}"
        if self.layout is not None:
            from ragstone.kernel.judging.contexts_first import problem_of_layout  # few judges have one

            if problem := problem_of_layout(self):
                yield "layout", problem

    def _problem_of_texts(self, example: Example) -> str | None:
        """Return which input an example lacks, or has too many, or None. An answer may be empty."""
        for name in ("question", "reference", "answer", "contexts"):
            text = getattr(example, name)
            missing = text is None or (name in ("question", "reference") and not text)
            if name in self.inputs and missing:
                return f"it has no {name}, which the judge reads. Add it."
            if name not in self.inputs and text is not None:
                return f"it has a {name}, which the judge does not read. Remove it, or add it to inputs."
        return None

    def _problem_of_expected(self, expected: object) -> str | None:
        """Return what is wrong with the verdict that an example expects, or None."""
        return self._problem_of_score(expected)

    def _problem_of_score(self, score: object, criterion: str = "") -> str | None:
        """Return why a score is none that a reply could hold, or None."""
        low, high = self.scale
        named = f"expected.{criterion}" if criterion else "expected"
        is_whole = (
            isinstance(score, int | float) and not isinstance(score, bool) and float(score).is_integer()
        )
        if not is_whole or not low <= float(str(score)) <= high:
            return f"{named} = {as_toml(score)}: write a whole number from {low:g} to {high:g}."
        return None

    def _problem_of_reason(self, reason: object) -> str | None:
        """Return what is wrong with the reason that an example gives, or None."""
        if not isinstance(reason, str):
            return f"reason is a table, which is for rubrics. A {self.kind} judge gives one text."
        return None if reason.strip() else "its reason is empty. Write one."

    async def find_once(self, answer: Answer, inputs: dict[str, str], context: JudgeContext) -> Finding:
        """Return what the model says in one call."""
        if context.decider is not None and context.decides(context.model):
            return await context.decider.find(self, inputs, context)
        if self.layout is not None:
            from ragstone.kernel.judging.contexts_first import find_contexts_first

            return await find_contexts_first(self, answer, inputs, context)
        reply = await context.ask(one_call_prompt(self, inputs, context.secret))
        finding = self.finding_of(msgspec.structs.asdict(reply.value))
        return msgspec.structs.replace(finding, usage=reply.usage, cost_usd=reply.cost_usd)


def one_call_prompt(judge: OneCallJudge, inputs: Mapping[str, str], secret: bytes) -> Prompt:
    """Return the call that asks a judge about a row. inputs: see gather_inputs."""
    fields = judge.reply_fields()
    return render_prompt(
        judge,
        judge.instructions(),
        inputs,
        reply_form(fields),
        reply_type(f"{judge.kind.capitalize()}Reply", fields),
        secret=secret,
        examples=examples_text(
            judge, lambda example, code: example_reply(judge.reply_of(example.expected, example.reason), code)
        ),
    )


def as_toml(value: object) -> str:
    """Return a value as the file has it."""
    return (
        str(value).lower()
        if isinstance(value, bool)
        else f"{value:g}"
        if isinstance(value, float)
        else repr(value)
    )
