"""A judge is a file: name, version, kind, inputs, scale, prompt. This module reads and checks it."""

import re
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from ragstone.config import Section, convert_section, library_names, parse_toml, read_named
from ragstone.errors import ConfigError, nearest
from ragstone.judging.lexical import MEASURES

Kind = Literal["percentage", "statements", "classify", "boolean", "lexical", "embedding"]
Input = Literal["question", "reference", "answer", "contexts"]
WITHOUT_MODEL = ("lexical", "embedding")


class Judge(Section, frozen=True, kw_only=True):
    """A judge as its file gives it. Unknown keys are an error.

    metric: what it measures, so that judges of one thing stand beside each other (default: its name).
    inputs: what it reads of a row; a row that lacks one is `not_applicable`. scale: the lowest and the
    highest score. prompt: what the model is told; `{name}` stands for an input, whose text follows at the
    end, fenced. verify: the second prompt of kind `statements`. labels: label -> score, for `classify`.
    measure and separator: for `lexical`, see lexical.py.
    """

    name: Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9_]*$")]
    version: Annotated[int, msgspec.Meta(ge=1)]
    kind: Kind
    inputs: list[Input]
    scale: tuple[float, float]
    source: str
    metric: str | None = None
    prompt: str | None = None
    verify: str | None = None
    labels: dict[str, float] | None = None
    measure: str | None = None
    separator: str | None = None
    max_tokens: Annotated[int, msgspec.Meta(ge=1)] = 512

    @property
    def needs_model(self) -> bool:
        """Whether a language model is asked."""
        return self.kind not in WITHOUT_MODEL


def judge_names() -> list[str]:
    """Return the names of the judges that come with Ragstone."""
    return library_names("ragstone.judging", "library")


def load_judge(name: str | Path) -> Judge:
    """Return a judge by its name, or from a file of one's own (a path that ends in .toml).

    Raises ConfigError naming the nearest names, or file, line and fix.
    """
    return parse_judge(*read_named(name, "judge", "ragstone.judging", "library"))


def parse_judge(text: str, file: Path) -> Judge:
    """Return the judge that a TOML text describes; `file` is named in errors. Raises ConfigError."""
    judge = convert_section(parse_toml(text, file), Judge, file, text)
    problem = _problem(judge)
    if problem:
        raise ConfigError(f"{file}: {problem}")
    return judge


def _problem(judge: Judge) -> str | None:
    """Return what is wrong with a judge, in one sentence, or None."""
    low, high = judge.scale
    if low >= high:
        return f"scale = [{low:g}, {high:g}]: give the lowest score first, then a higher one."
    if judge.kind == "lexical" and judge.measure not in MEASURES:
        return f"measure = {judge.measure!r}. {nearest(str(judge.measure), MEASURES)}"
    if judge.kind == "classify":
        return _problem_of_labels(judge)
    fixed = {"boolean": (0, 1), "percentage": (0, 100), "statements": (0, 1)}.get(judge.kind, judge.scale)
    if judge.scale != fixed:
        return f"a {judge.kind} judge has scale = [{fixed[0]}, {fixed[1]}]."
    return _problem_of_prompts(judge)


def _problem_of_labels(judge: Judge) -> str | None:
    low, high = judge.scale
    if not judge.labels or len(judge.labels) < 2:
        return "a judge of kind classify needs a table [labels] with at least two entries `label = score`."
    off = [label for label, score in judge.labels.items() if not low <= score <= high]
    if off:
        return f"the score of label {off[0]!r} lies off the scale [{low:g}, {high:g}]."
    return _problem_of_prompts(judge)


def _problem_of_prompts(judge: Judge) -> str | None:
    if not judge.needs_model:
        return None
    wanted = ["prompt", "verify"] if judge.kind == "statements" else ["prompt"]
    for name in wanted:
        if not getattr(judge, name):
            return f"a judge of kind {judge.kind} needs a {name}."
    text = (judge.prompt or "") + (judge.verify or "")
    named = set(re.findall(r"\{(\w+)\}", text)) - {"statements"}
    undeclared, unused = named - set(judge.inputs), set(judge.inputs) - named
    if undeclared:
        return f"the prompt names {{{min(undeclared)}}}, which inputs does not declare. Add it to inputs."
    if unused:
        return (
            f"inputs declares {min(unused)!r}, which the prompt does not name. Write {{{min(unused)}}} in it."
        )
    return None
