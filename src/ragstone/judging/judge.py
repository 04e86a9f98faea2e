"""A judge is a file: name, version, kind, inputs, scale, prompt. This module reads it."""

from pathlib import Path
from typing import Annotated, Literal

import msgspec

from ragstone.config import Section, Temperature, convert_section, library_names, parse_toml, read_named
from ragstone.config.loading import line_of
from ragstone.errors import ConfigError
from ragstone.judging.checking.problems import key_and_problem

Kind = Literal[
    "rubric",
    "statements",
    "percentage",
    "classify",
    "boolean",
    "pairwise",
    "lexical",
    "embedding",
    "jury",
    "cascade",
]
Input = Literal["question", "reference", "answer", "contexts"]
WITHOUT_MODEL = ("lexical", "embedding")
CLAIM_PARTS = ("claim_precision", "claim_recall")
Name = Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9_]*$")]
Share = Annotated[float, msgspec.Meta(gt=0)]


class Criterion(Section, frozen=True, kw_only=True):
    """One criterion of a rubric, scored by itself.

    grades: what each grade means, from the lowest to the highest, evenly spaced over the scale. weight: its
    part of the composite; only the ratio of the weights counts.
    """

    name: Name
    description: str
    grades: Annotated[list[str], msgspec.Meta(min_length=2)]
    weight: Share = 1.0


class Example(Section, frozen=True, kw_only=True):
    """A row with the reply that it should get, shown to the model before the row to judge.

    expected: a score, true or false, a label, or for a rubric the score of each criterion. reason: what the
    reply gives as its reason, for a rubric of each criterion.
    """

    expected: bool | int | float | str | dict[str, float]
    reason: str | dict[str, str]
    question: str | None = None
    reference: str | list[str] | None = None
    answer: str | None = None
    contexts: list[str] | None = None


class Member(Section, frozen=True, kw_only=True):
    """A judge within a jury or a cascade, and the model that it asks (default: the model of the whole).

    cut: the score from which on it says yes (1), below no (0). unsure: in a cascade, scores from the first to
    the second, both included, are handed on to the next judge.
    """

    judge: str
    model: str | None = None
    cut: float | None = None
    unsure: tuple[float, float] | None = None


class Judge(Section, frozen=True, kw_only=True):
    """A judge as its file gives it. Unknown keys are an error.

    metric: what it measures, so that judges of one thing stand beside each other (default: its name).
    inputs: what it reads of a row; a row that lacks one is `not_applicable`. scale: the lowest and the
    highest score. best: which end of it is the good one. prompt: what the model is told; `{name}` stands
    for an input, whose text follows at the end, fenced. prompts: other wordings of it by name, see
    variant.py. verify: the second prompt of kind `statements`. labels: label -> score, for `classify`.
    criteria and aggregate: for `rubric`; the score is the weighted mean of the criteria, or that mean
    rounded to the nearest whole number, halves up. examples and shots: rows with the right reply, and how
    many of them the model is shown (default: all). members: for `jury` and `cascade`. combine: for
    `jury`. measure and separator: for `lexical`, see lexical.py. temperature, samples: how it is asked
    (default: at the temperature of the model's settings, else at 0); the score of several samples is their
    mean. reply: `token` reads the score from the probabilities of a single token. tuned_on: digests of the
    questions that prompt or thresholds were fitted on (see tuned.py). fitted_with: the model that
    thresholds were fitted with; see was_fitted_with.
    """

    name: Name
    version: Annotated[int, msgspec.Meta(ge=1)]
    kind: Kind
    inputs: list[Input]
    scale: tuple[float, float]
    source: str
    best: Literal["highest", "lowest"] = "highest"
    metric: Name | None = None
    prompt: str | None = None
    prompts: dict[Name, str] = {}
    verify: str | None = None
    labels: dict[str, float] | None = None
    criteria: list[Criterion] = []
    aggregate: Literal["mean", "rounded_mean"] = "mean"
    examples: list[Example] = []
    shots: Annotated[int, msgspec.Meta(ge=0)] | None = None
    members: list[Member] = []
    combine: Literal["mean", "median", "majority"] = "mean"
    measure: str | None = None
    separator: str | None = None
    reply: Literal["reasoned", "token"] = "reasoned"
    temperature: Temperature | None = None
    samples: Annotated[int, msgspec.Meta(ge=1)] = 1
    max_tokens: Annotated[int, msgspec.Meta(ge=1)] = 512
    tuned_on: list[str] = []
    fitted_with: str | None = None

    @property
    def needs_model(self) -> bool:
        """Whether a language model is asked, by itself or by a member."""
        if self.members:
            from ragstone.judging.combined.members import members_of  # which reads judges

            return any(inner.needs_model for inner, _member in members_of(self))
        return self.kind not in WITHOUT_MODEL

    def was_fitted_with(self, model: str) -> bool:
        """Return whether its thresholds were fitted with this model, or it says of none; case is ignored."""
        return self.fitted_with is None or self.fitted_with.casefold() in model.casefold()

    @property
    def measures(self) -> str:
        """The metric of its score."""
        return self.metric or self.name

    @property
    def shown(self) -> list[Example]:
        """The examples that the model is shown."""
        return self.examples if self.shots is None else self.examples[: self.shots]

    @property
    def checks_claims(self) -> bool:
        """Whether it takes apart answer and reference, and checks each against the other."""
        return self.kind == "statements" and "contexts" not in self.inputs

    @property
    def checks_contexts(self) -> bool:
        """Whether it gives a verdict on each context, and not on statements of a text."""
        return self.kind == "statements" and not {"answer", "reference"}.intersection(self.inputs)

    @property
    def metrics(self) -> list[str]:
        """The metrics of its judgements of one answer, in their order: its score's, then those of its parts.

        Parts are the criteria of a rubric, and both directions of a judge of claims.
        """
        if self.checks_claims:
            return [self.measures, *CLAIM_PARTS]
        parts = [criterion.name for criterion in self.criteria] if len(self.criteria) > 1 else []
        return [self.measures, *parts]


def judge_names() -> list[str]:
    """Return the names of the judges that come with Ragstone."""
    return library_names("ragstone.judging", "library")


def read_judge(name: str | Path) -> Judge:
    """Return a judge as its file gives it, by its name or by the path of a file of one's own.

    Raises ConfigError naming the nearest names, or file, line and fix.
    """
    return parse_judge(*read_named(name, "judge", "ragstone.judging", "library"))


def parse_judge(text: str, file: Path) -> Judge:
    """Return the judge that a TOML text describes; `file` is named in errors. Raises ConfigError."""
    tables = parse_toml(text, file)
    judge = _placed(convert_section(tables, Judge, file, text), file)
    found = key_and_problem(judge)
    if found:
        key, problem = found
        line = f":{line_of(text, [key])}" if key in tables else ""
        raise ConfigError(f"{file}{line}: {problem}")
    return judge


def _placed(judge: Judge, file: Path) -> Judge:
    """Return the judge with the files of its members found from its own."""
    folder = file.expanduser().absolute().parent
    members = [
        msgspec.structs.replace(member, judge=str(folder / Path(member.judge).expanduser()))
        if ".toml" in member.judge
        else member
        for member in judge.members
    ]
    return msgspec.structs.replace(judge, members=members)
