"""Kind `classify`: one of several labels, in one call; each label has a score."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal

from ragstone.kernel.judging._token import Option, TokenJudge
from ragstone.kernel.judging.finding import Finding
from ragstone.kernel.judging.one_call import as_toml
from ragstone.kernel.judging.render import Field

MOST_LABELS = 20  # as many tokens as endpoints list


class ClassifyJudge(TokenJudge, frozen=True, kw_only=True, tag="classify"):
    """A judge that chooses a label.

    labels: label -> score.
    """

    labels: dict[str, float] = {}

    outcome: ClassVar[str] = "label"
    reply_word: ClassVar[str] = "letter, {} to {}"

    @property
    def outcomes(self) -> list[str]:
        """The outcomes that are counted over samples, in the order of the file."""
        return list(self.labels)

    @property
    def is_ordered(self) -> bool:
        """Whether there is a better label and a worse one: the scores are 0 and 1."""
        return sorted(set(self.labels.values())) == [0, 1]

    def _own_problems(self) -> Iterator[tuple[str, str]]:
        low, high = self.scale
        if len(self.labels) < 2:
            yield (
                "labels",
                "a judge of kind classify needs a table [labels] with at least two entries `label = score`.",
            )
        off = [label for label, score in self.labels.items() if not low <= score <= high]
        if off:
            yield "labels", f"the score of label {off[0]!r} lies off the scale [{low:g}, {high:g}]."

    def _problem_of_token(self) -> str | None:
        if len(self.labels) > MOST_LABELS:
            return f'reply = "token" can distinguish at most {MOST_LABELS} labels.'
        return super()._problem_of_token()

    def _outcome_field(self) -> Field:
        labels = tuple(self.labels)
        choice = Literal[labels]  # type: ignore[valid-type]
        return Field("label", choice, f"one of {', '.join(map(repr, labels))}")

    def finding_of(self, values: Mapping[str, Any]) -> Finding:
        """Return the finding that the fields of a reply make."""
        label = values["label"]
        return Finding(score=self.labels[label], label=label, rationale=values["reason"].strip() or None)

    def _problem_of_expected(self, expected: object) -> str | None:
        if isinstance(expected, str) and expected in self.labels:
            return None
        return f"expected = {as_toml(expected)} is not one of the labels: {', '.join(self.labels)}."

    def options(self) -> list[Option]:
        """Return what the model may say in one token: a letter for each label."""
        return [Option(chr(ord("A") + n), *labelled) for n, labelled in enumerate(self.labels.items())]

    def _token_sections(self) -> list[str]:
        return ["\n".join(f"{option.word} = {option.outcome}" for option in self.options())]
