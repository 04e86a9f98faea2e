"""Kind `jury`: all members judge, and their scores become one. Where they disagree, it shows."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from statistics import fmean, median
from typing import Literal

from ragstone.judging.combined.members import (
    DIGITS,
    CombinedJudge,
    Heard,
    hear_all,
    placed_score,
    with_members,
)
from ragstone.judging.finding import Finding, JudgeContext
from ragstone.records import Answer


def majority(scores: Sequence[float]) -> float | None:
    """Return the score that was given most often, None if two were given equally often."""
    (first, n_first), *others = Counter(scores).most_common(2)
    return None if others and others[0][1] == n_first else first


COMBINED: dict[str, Callable[[Sequence[float]], float | None]] = {
    "mean": lambda scores: round(fmean(scores), DIGITS),
    "median": median,
    "majority": majority,
}


class JuryJudge(CombinedJudge, frozen=True, kw_only=True, tag="jury"):
    """A judge whose members all judge.

    combine: how their scores become one.
    """

    combine: Literal["mean", "median", "majority"] = "mean"

    def _own_problems(self) -> Iterator[tuple[str, str]]:
        yield from super()._own_problems()
        if any(member.unsure for member in self.members):
            yield "members", "unsure is for a cascade: the members of a jury all judge. Take it out."

    async def find(self, answer: Answer, _inputs: dict[str, str], means: JudgeContext) -> Finding:
        """Return the mean, median or most frequent of the members' scores, each put on the jury's scale.

        `metadata` holds what each member said, and `spread`, the highest score minus the lowest. The jury
        goes on without a member that gave no score as long as more than half of them did, and says so; else
        its status is that of the first one that failed. A tie between the most frequent scores is
        `abstained`.
        """
        heard = await hear_all(self.members, answer, means)
        given = [(one, placed_score(one, self.scale)) for one in heard]
        scored = [(one, score) for one, score in given if score is not None]
        silent = [one for one, score in given if score is None]
        if len(scored) * 2 <= len(heard):
            return with_members(_failed(silent, len(scored), len(heard)), heard)
        scores = [score for _, score in scored]
        score = COMBINED[self.combine](scores)
        said = [f"{one.name}: {score:g}" for one, score in scored] + [_silence(one) for one in silent]
        what = f"{self.combine} of {len(scored)} scores" + (f", of {len(heard)} members" if silent else "")
        metadata = {"spread": round(max(scores) - min(scores), DIGITS)}
        if score is None:
            counts = ", ".join(f"{value:g} {n} times" for value, n in Counter(scores).most_common())
            finding = Finding(
                score=None,
                status="abstained",
                rationale=f"no majority: {counts}. {'; '.join(said)}",
                metadata=metadata,
            )
        else:
            finding = Finding(
                score=score,
                label=_label(self.combine, scored, score),
                rationale=f"{what}: {'; '.join(said)}",
                metadata=metadata,
            )
        return with_members(finding, heard)


def _failed(silent: Sequence[Heard], n_scored: int, n_members: int) -> Finding:
    why = "; ".join(_silence(one) for one in silent)
    first = silent[0].judgement
    return Finding(
        score=None,
        status=first.status,
        rationale=f"{n_scored} of {n_members} members gave a score, which is not more than half. {why}",
        error=first.error,
    )


def _silence(one: Heard) -> str:
    return f"{one.name}: {one.judgement.status} ({one.judgement.error or one.judgement.rationale})"


def _label(combine: str, scored: Sequence[tuple[Heard, float]], winner: float) -> str | None:
    """Return the label of those in the majority if they give the same one."""
    labels = {one.judgement.label for one, score in scored if score == winner}
    return labels.pop() if combine == "majority" and len(labels) == 1 else None
