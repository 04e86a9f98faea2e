"""`[bench.answerers]` -> the cells to measure, each once, and in which rounds questions are given out."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from ragstone.features.bench._running import load_prompts
from ragstone.features.bench.answerers._values import AnswerCell, short_model
from ragstone.kernel.config import Condition, Settings
from ragstone.kernel.errors import ConfigError, nearest
from ragstone.kernel.records import Answer, Judgement, Question
from ragstone.kernel.systems.chosen import named_systems

CLOSED_BOOK = "closed_book"  # the prompt that ships for the condition `none`


class AnswerGrid(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be measured: the cells, by condition in the order declared."""

    cells: list[AnswerCell]
    conditions: list[Condition]


class AnswerRows(msgspec.Struct, frozen=True, kw_only=True):
    """What a cell has said so far, and what the judges say of it, in the order of the questions given out."""

    answers: list[Answer] = []
    judgements: list[Judgement] = []

    def __add__(self, more: "AnswerRows") -> "AnswerRows":
        return AnswerRows(answers=self.answers + more.answers, judgements=self.judgements + more.judgements)


class QuestionRound(msgspec.Struct, frozen=True, kw_only=True):
    """Which cells are asked which questions next."""

    cells: list[AnswerCell]
    questions: list[Question]


NextRound = Callable[[int, Mapping[str, AnswerRows]], QuestionRound | None]
"""Which round it is, from 0, and cell -> what it has said so far -> what is asked next; None at the end.

A cell that has failed has said nothing and is not in the mapping; to ask it again is of no use.
"""


def all_at_once(cells: Sequence[AnswerCell], questions: Sequence[Question]) -> NextRound:
    """Return the one round in which every cell is asked every question."""

    def next_round(number: int, _so_far: Mapping[str, AnswerRows]) -> QuestionRound | None:
        return None if number else QuestionRound(cells=list(cells), questions=list(questions))

    return next_round


def plan_answerers(settings: Settings) -> AnswerGrid:
    """Return every model with every prompt under every condition that `[bench.answerers]` declares.

    Under the condition `none` a prompt speaks of no passages: those of the declared ones that do not name
    {contexts}, else the shipped `closed_book`; so a model is there once however many prompts there are.
    Prompts without {contexts} are in no other condition. Raises ConfigError where nothing is named or left,
    for an unknown prompt or system, and for a prompt that no condition can use.
    """
    declared = settings.bench.answerers
    models = list(dict.fromkeys(declared.models or filter(None, [settings.answer.model])))
    _check_named(settings, models)
    conditions = list(dict.fromkeys(declared.conditions)) if models else []
    named = list(dict.fromkeys(declared.prompts or [settings.answer.prompt])) if models else []
    prompts = load_prompts(settings, named, "[bench.answerers] prompts")
    closed = [name for name, prompt in prompts.items() if "{contexts}" not in prompt.prompt]
    opened = [name for name in prompts if name not in closed]
    _check_prompts(closed, opened, conditions)
    cells = [
        AnswerCell(
            name="",
            model=model,
            prompt=prompt,
            condition=condition,
            told=prompts[prompt].name if prompt in prompts else Path(prompt).stem,
            temperature=temperature,
        )
        for condition in conditions
        for model in models
        for prompt in ((closed or [CLOSED_BOOK]) if condition == "none" else opened)
        for temperature in dict.fromkeys([*declared.temperatures] or (None,))
    ]
    cells = _named(cells)
    systems = [
        AnswerCell(name=name, model=None, prompt=None, condition="retrieved")
        for name in dict.fromkeys(declared.systems)
    ]
    taken = sorted({each for cell in cells for each in (cell.name, cell.label)} & set(declared.systems))
    if taken:
        raise ConfigError(f"[systems] {taken[0]}: a cell of the bench has that name. Choose another one.")
    if systems and "retrieved" not in conditions:
        conditions.insert(0, "retrieved")
    order = {condition: at for at, condition in enumerate(conditions)}
    return AnswerGrid(
        cells=sorted([*cells, *systems], key=lambda cell: order[cell.condition]), conditions=conditions
    )


def needs_passages(grid: AnswerGrid) -> bool:
    """Return whether a model is given passages of the corpus."""
    return any(cell.condition != "none" and not cell.is_system for cell in grid.cells)


def _check_named(settings: Settings, models: Sequence[str]) -> None:
    declared = settings.bench.answerers
    if not models and not declared.systems:
        raise ConfigError(
            "a bench of answerers needs at least one model: name it in models of [bench.answerers], e.g. "
            "openai/gpt-4o-mini, or as model in the table [answer], or name systems of [systems]."
        )
    for name in declared.systems:
        known = named_systems(settings)
        if name not in known:
            raise ConfigError(
                f"[bench.answerers] systems: no system {name!r} in [systems]. {nearest(name, known)}"
            )
    if models and not declared.conditions:
        raise ConfigError("[bench.answerers] conditions is empty: name at least one, e.g. `retrieved`.")


def _check_prompts(closed: Sequence[str], opened: Sequence[str], conditions: Sequence[Condition]) -> None:
    if closed and "none" not in conditions:
        raise ConfigError(
            f"[bench.answerers] prompt {closed[0]!r} does not name {{contexts}}, so no passage would be "
            "shown under any of these conditions. Name {contexts} in it, or add the condition `none`."
        )
    others = [condition for condition in conditions if condition != "none"]
    if closed and not opened and others:
        raise ConfigError(
            "[bench.answerers] no prompt names {contexts}, so no passage would be shown under "
            f"{', '.join(others)}. Add one that does, e.g. `strict`, or leave `none` as the only condition."
        )


def _named(cells: Sequence[AnswerCell]) -> list[AnswerCell]:
    """Return the cells with their names: `gpt-4o · strict · gold`, without what all have in common."""
    models = dict.fromkeys(cell.model or "" for cell in cells)
    short = [short_model(model) for model in models]
    names = dict(zip(models, short if len(set(short)) == len(short) else models, strict=True))
    # Under `none` there is but one prompt as a rule, and its name would say nothing.
    n_prompts = {
        is_none: len({cell.prompt for cell in cells if (cell.condition == "none") == is_none})
        for is_none in (True, False)
    }
    several = len({cell.temperature for cell in cells}) > 1
    return [
        msgspec.structs.replace(
            cell,
            name=" · ".join(
                [
                    *([names[cell.model or ""]] if len(models) > 1 else []),
                    *([cell.told] if n_prompts[cell.condition == "none"] > 1 else []),
                    *([f"temperature {cell.temperature:g}"] if several else []),
                    cell.condition,
                ]
            ),
        )
        for cell in cells
    ]
