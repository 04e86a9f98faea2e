"""Kind `embedding`: how near the answer's meaning is to the reference's, by an embedder."""

from typing import ClassVar

from ragstone.kernel.judging.fields import JudgeFields
from ragstone.kernel.judging.finding import NOTHING_TO_COMPARE, Finding, JudgeContext, lacks, not_applicable
from ragstone.kernel.records import Answer, references


class EmbeddingJudge(JudgeFields, frozen=True, kw_only=True, tag="embedding"):
    """A judge that compares vectors and asks no language model."""

    asks_model: ClassVar[bool] = False

    @property
    def needs_embedder(self) -> bool:
        """It compares vectors."""
        return True

    async def find(self, answer: Answer, _inputs: dict[str, str], context: JudgeContext) -> Finding:
        """Return the cosine similarity of the answer and the nearest reference, in [-1, 1]."""
        embed, texts = context.embed, references(answer)
        if embed is None:
            raise ValueError("a judge of kind embedding needs an embedder")
        if not texts or not answer.answer.strip():
            return not_applicable(lacks("answer") if texts else NOTHING_TO_COMPARE)
        vector, *wanted = await embed([answer.answer, *texts], "passage")
        return Finding(score=round(max(float(other @ vector) for other in wanted), 6))
