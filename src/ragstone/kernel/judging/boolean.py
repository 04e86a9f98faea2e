"""Kind `boolean`: true or false, in one call, or in several where the contexts are long."""

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar

import msgspec

from ragstone.kernel.judging._token import Option, TokenJudge
from ragstone.kernel.judging.contexts import judge_parts
from ragstone.kernel.judging.fields import LONGEST_DESCRIPTION, ZERO_TO_ONE, Scale
from ragstone.kernel.judging.finding import Finding, JudgeContext
from ragstone.kernel.judging.one_call import as_toml
from ragstone.kernel.judging.render import Field
from ragstone.kernel.records import Answer


class BooleanJudge(TokenJudge, frozen=True, kw_only=True, tag="boolean"):
    """A judge that says yes or no.

    statement: what is checked, where a model or another program wrote it: `{statement}` in the prompt stands
    for it, and it is shown between tags with a code, as the texts of a row are.
    """

    statement: Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_DESCRIPTION)] | None = None

    fixed_scale: ClassVar[Scale | None] = ZERO_TO_ONE
    outcome: ClassVar[str] = "verdict"
    reply_word: ClassVar[str] = "word, yes or no"

    @property
    def outcomes(self) -> list[str]:
        """The outcomes that are counted over samples."""
        return ["true", "false"]

    def said(self, score: float, label: str | None) -> str:
        """Return a verdict in the words of the kind."""
        return str(bool(score)).lower() if score in (0, 1) else super().said(score, label)

    def can_join(self) -> bool:
        """Return whether it can be asked in one call with others; contexts may take several calls."""
        return super().can_join() and "contexts" not in self.inputs and self.statement is None

    @property
    def own_texts(self) -> Mapping[str, str]:
        """The statement, where the file has one."""
        return {} if self.statement is None else {"statement": self.statement}

    def _own_problems(self) -> Iterator[tuple[str, str]]:
        yield from super()._own_problems()
        if self.statement is not None and "statement" in self.inputs:
            yield "statement", "a column of the rows has the same name. Take `statement` out of inputs."

    def _outcome_field(self) -> Field:
        return Field("verdict", bool, "true or false")

    def _problem_of_expected(self, expected: object) -> str | None:
        return None if isinstance(expected, bool) else f"expected = {as_toml(expected)}: write true or false."

    def options(self) -> list[Option]:
        """Return what the model may say in one token."""
        return [Option("yes", True, 1.0), Option("no", False, 0.0)]

    async def find_once(self, answer: Answer, inputs: dict[str, str], context: JudgeContext) -> Finding:
        """Return what the model says, of contexts that are too long for one call part by part."""
        if "contexts" not in inputs:
            return await super().find_once(answer, inputs, context)
        return await judge_parts(self, answer, inputs, context, super().find_once)
