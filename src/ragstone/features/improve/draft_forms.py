"""What the pages of drafts share: what their forms send and are told."""

import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from ragstone.features.improve.judge_form import (
    FieldChange,
    FieldError,
    JudgeForm,
    changed_text,
    form_of,
    place_at_fault,
)
from ragstone.features.improve.values import Scale
from ragstone.features.judges import prompts_of
from ragstone.kernel.agreement.mapping import read_mapping
from ragstone.kernel.errors import ConfigError, RagstoneError
from ragstone.kernel.judging import Judge
from ragstone.kernel.records import Answer

LONGEST = 200_000  # characters of a judge's file


LINE = re.compile(r"\.toml:(\d+):|\bline (\d+)")


class HowToRun(msgspec.Struct, frozen=True, kw_only=True):
    """How a judge is to be run. threshold, mapping: how scores meet labels; model: "" for the one set."""

    labels: str
    threshold: str = ""
    mapping: str = ""
    model: str = ""
    budget: str = ""


class DraftText(msgspec.Struct, frozen=True):
    """A draft's text, to be looked at. changes: what was typed into fields; row: to show the prompt of."""

    text: str
    changes: list[FieldChange] = []
    row: str = ""


class DraftChecked(msgspec.Struct, frozen=True, kw_only=True):
    """A draft's text, with what was typed. problem: in the loader's words, None for a judge.

    line, place: of what is at fault, where that is known; prompts: for a row; form: None of a text that is no
    TOML.
    """

    problem: str | None = None
    line: int | None = None
    place: list[str | int] | None = None
    prompts: list[dict[str, str]] = []
    text: str = ""
    form: JudgeForm | None = None


class Started(msgspec.Struct, frozen=True, kw_only=True):
    """The number of the draft that was saved. words: what to know of it, where it does not run yet."""

    draft: int
    running: bool
    words: str | None = None


def messages_of(judge: Judge, rows: Sequence[Answer] = ()) -> list[dict[str, str]]:
    """Return what the model would be sent for a row; empty for a judge that asks none.

    rows: the first that it asks about is taken; default an example.
    """
    return [message for prompt in prompts_of(judge, rows) for message in prompt.messages]


def check_draft(
    data: DraftText, file: Path, look: Callable[[str], list[dict[str, str]]], *, answers: bool = False
) -> DraftChecked:
    """Return a draft with what was typed into its fields, and what is wrong with it.

    look: gives what the model would be sent, or raises what is wrong. answers: it is an answer prompt.
    """
    text, path = data.text, None
    problem, prompts = None, []
    try:
        check_length(text, file.stem)
        text = changed_text(text, data.changes, file, answers=answers)
        prompts = look(text)
    except FieldError as mistake:
        problem, path = str(mistake), mistake.place
    except RagstoneError as mistake:
        problem = str(mistake).removeprefix(f"{file.parent}/")
        path = place_at_fault(text, problem, line_in(problem), data.changes)
    form = form_of(text, file, answers=answers) if len(text) <= LONGEST else None
    line = line_in(problem) if problem else None
    return DraftChecked(problem=problem, line=line, place=path, prompts=prompts, text=text, form=form)


def check_length(text: str, name: str) -> None:
    """Raise ConfigError for a text that is too long for a prompt."""
    if len(text) > LONGEST:
        raise ConfigError(f"{name}.toml: {len(text):,} characters are more than a prompt may have.")


def scale_of(form: HowToRun) -> Scale:
    """Return how scores meet labels. Raises ConfigError for what is none."""
    label_words, mapping = read_mapping([form.mapping] if form.mapping.strip() else [], "mapping")
    threshold = number_in(form.threshold, "threshold") if form.threshold.strip() else None
    return Scale(threshold=threshold, mapping=mapping, words=label_words)


def number_in(text: str, what: str) -> float:
    """Return the number that was typed. Raises ConfigError for what is none."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ConfigError(f"{what} {text.strip()!r} is not a number.")
    return number


def line_in(message: str) -> int | None:
    """Return the line that a message of the loader names."""
    match = LINE.search(message)
    return int(match[1] or match[2]) if match else None
