"""Judgements of a cheap and a dear judge + people's labels -> a cascade, and what to expect of it."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import NormalDist
from typing import Any

import msgspec
import numpy as np

from ragstone.features.improve._judge_text import judge_text
from ragstone.features.improve._labelled_sets import as_yes_no
from ragstone.features.improve._thresholds import (
    LEVEL,
    CascadeFit,
    FitFigures,
    Scored,
    Thresholds,
    cross_validate,
    decide,
    figures_of,
    fit_thresholds,
    most_agreement,
    outcomes_of,
)
from ragstone.kernel.agreement.comparison import JudgeId, by_judge
from ragstone.kernel.agreement.pairing import Human, Key, human_scores, is_tuned, pair, partners_of
from ragstone.kernel.errors import ConfigError, DataError, checks_arguments, takes_rows
from ragstone.kernel.judging import Judge, judge_names, load_judge, question_digest
from ragstone.kernel.judging.combined import CascadeJudge
from ragstone.kernel.judging.fields import Member
from ragstone.kernel.judging.tuned import left_out_text
from ragstone.kernel.judging.variant import placed_name
from ragstone.kernel.records import NO_MODEL, Judgement, Label, Usage
from ragstone.kernel.tables.outputs import check_place

DEFAULT_AGREEMENT = 0.95
NAME = re.compile(r"[a-z][a-z0-9_]*")


class _JudgeRows(msgspec.Struct, frozen=True, eq=False):
    """A judge, what it is as a member, and its judgements, all by one model."""

    judge: Judge
    member: Member
    rows: Sequence[Judgement]

    def at(self, keys: Iterable[Key]) -> list[Judgement]:
        """Return its judgements of some answers."""
        wanted = set(keys)
        return [row for row in self.rows if (row.question_id, row.system) in wanted]


@takes_rows(judgements=Judgement, labels=Label)
def fit_cascade(
    judgements: Iterable[Judgement],
    labels: Iterable[Label],
    *,
    cheap: str | Path,
    dear: str | Path | None = None,
    agreement: float = DEFAULT_AGREEMENT,
    yes_from: float | None = None,
    test_share: float = 0.0,
    name: str = "cascade",
    seed: int = 0,
) -> CascadeFit:
    """Return a cascade of two judges with thresholds fitted on people's labels of answers that both judged.

    cheap, dear: judges by name or file, as `NAME by MODEL` where several models were asked; without `dear`
    the one other judge there is. agreement: what the answers that the cheap judge decides shall have with
    people at least, see fit_unsure. yes_from: labels from there on are a yes; needed where they are not 0 and
    1. test_share: of the questions, set apart to measure the cascade on; it is not fitted on them. name: of
    the cascade. Raises ConfigError for a judge that cannot be loaded and for an agreement, a share or a name
    that is none, DataError for judgements and labels that do not fit together or are too few.
    """
    _check(agreement, test_share, name)
    rows_of = by_judge(judgements)
    first = _judged(rows_of, str(cheap))
    second = _judged(rows_of, str(dear) if dear else _other(rows_of, first))
    if first.member == second.member:
        raise ConfigError(
            f"{cheap}: the cheap judge and the expensive one are the same. Name two different judges."
        )
    metric = second.judge.measures
    humans = human_scores(as_yes_no(labels, metric, yes_from), metric)
    # Labelled answers that cannot count, because a judge was made with their questions.
    tuned = {(row.question_id, row.system) for row in (*first.rows, *second.rows) if is_tuned(row)}
    n_tuned = sum(humans[partner].score is not None for partner in partners_of(tuned, humans).values())
    answers, keys, questions, n_left_out = _labelled(first, second, humans, n_tuned)
    aside = np.zeros(len(questions), dtype=np.bool_)
    order = np.random.default_rng(seed).permutation(len(questions))
    aside[order[: round(test_share * len(questions))]] = True
    if aside.all():
        raise DataError(
            f"test share {test_share:g} sets all {len(questions)} questions apart, and none is left to fit "
            "on. Give a smaller share."
        )
    fitted, tested = answers.at(~aside[answers.question]), answers.at(aside[answers.question])
    thresholds = _fit_or_tell(fitted, first, agreement, n_tuned)
    crossed, n_folds_out = cross_validate(fitted, agreement, seed)
    _, decided = decide(thresholds, answers.cheap, answers.dear)
    handed_on = [key for key, sure in zip(keys, decided, strict=True) if not sure]
    spent = _spent([*first.at(keys), *second.at(handed_on)])
    alone = _spent(second.at(keys))
    return CascadeFit(
        judge=_cascade(name, first, second, thresholds, [questions[n] for n in np.flatnonzero(~aside)]),
        agreement=agreement,
        in_sample=figures_of(outcomes_of(thresholds, fitted), fitted.question, seed),
        cross_validated=crossed,
        n_folds_out=n_folds_out,
        tested=figures_of(outcomes_of(thresholds, tested), tested.question, seed) if aside.any() else None,
        n_left_out=n_left_out,
        n_tuned=n_tuned,
        spent=spent[0],
        spent_usd=spent[1],
        dear_alone=alone[0],
        dear_alone_usd=alone[1],
    )


def _check(agreement: float, test_share: float, name: str) -> None:
    if not 0 < agreement < 1:
        raise ConfigError(f"agreement {agreement:g}: give a share between 0 and 1, e.g. 0.95.")
    if not 0 <= test_share < 1:
        raise ConfigError(f"test share {test_share:g}: give a share from 0 to below 1, e.g. 0.5.")
    if not NAME.fullmatch(name):
        raise ConfigError(f"name {name!r}: a judge's name has lowercase letters, digits and underscores.")
    if name in judge_names():
        raise ConfigError(
            f"name {name!r}: a judge of this name comes with Ragstone, and their scores could not "
            f"be told apart. Choose another, e.g. my_{name}."
        )


def _judged(rows_of: Mapping[JudgeId, Sequence[Judgement]], spelling: str) -> _JudgeRows:
    """Return a judge that the user names, with its judgements."""
    name, by, model = ("", "", "") if spelling.endswith(".toml") else spelling.rpartition(" by ")
    judge = load_judge(name if by else spelling)
    rows_by_model = {
        judge_id.model: rows
        for judge_id, rows in rows_of.items()
        if (judge_id.judge, judge_id.metric, judge_id.prompt_version)
        == (judge.name, judge.measures, judge.prompt_version)
        and (not by or judge_id.model == model)
    }
    if not rows_by_model:
        known = (
            ", ".join(
                sorted({f"{judge_id.judge} (version {judge_id.prompt_version})" for judge_id in rows_of})
            )
            or "none"
        )
        raise DataError(
            f"no judgement by {spelling} (version {judge.prompt_version}) in the file; it holds {known}. "
            "Judge the labelled answers by both judges first: ragstone judge SHEET --judge CHEAP --judge DEAR"
        )
    if len(rows_by_model) > 1:
        names = " or ".join(repr(f"{spelling} by {model}") for model in sorted(rows_by_model))
        raise ConfigError(f"the file holds judgements by {spelling} with several models. Write {names}.")
    [(model, rows)] = rows_by_model.items()
    named = model if judge.asks_default and " + " not in model else None
    member = Member(judge=placed_name(name if by else spelling), model=named, loaded=judge)
    return _JudgeRows(judge, member, rows)


def _other(rows_of: Mapping[JudgeId, Sequence[Judgement]], first: _JudgeRows) -> str:
    """Return the name of the only judge beside the first."""
    own = (first.judge.name, first.rows[0].model)
    ids = {(judge_id.judge, judge_id.model) for judge_id in rows_of} - {own}
    others = sorted(judge if model == NO_MODEL else f"{judge} by {model}" for judge, model in ids)
    if len(others) != 1:
        listed = f"it holds {', '.join(others)}" if others else "it holds no other"
        raise ConfigError(
            f"which is the expensive judge? Besides {first.judge.name}, {listed}. Name it with --dear."
        )
    return others[0]


def _labelled(
    first: _JudgeRows, second: _JudgeRows, humans: Mapping[Key, Human], n_tuned: int
) -> tuple[Scored, list[Key], list[str], int]:
    """Return the answers with two scores and a label, their keys, their questions, and how many lack one."""
    cheap_pairs, dear_pairs = pair(first.rows, humans), pair(second.rows, humans)
    scores = dict(zip(dear_pairs.keys, dear_pairs.judge, strict=True))
    has_both = np.array([key in scores for key in cheap_pairs.keys], dtype=np.bool_)
    keys = [key for key in cheap_pairs.keys if key in scores]
    if not keys:
        raise DataError(
            f"no answer has a label of {second.judge.measures} and a score by both judges: "
            f"{len(humans)} answers are labelled, {len(cheap_pairs.keys)} of them have a score by "
            f"{first.judge.name}, "
            f"{len(dear_pairs.keys)} by {second.judge.name}. They are paired by question_id and system."
            f"{_left_out(n_tuned)}"
        )
    questions, question = np.unique(np.array(cheap_pairs.clusters)[has_both], return_inverse=True)
    dear = np.array([scores[key] for key in keys])
    answers = Scored(cheap_pairs.judge[has_both], dear, cheap_pairs.human[has_both] == 1, question)
    n_settled = sum(human.score is not None for human in humans.values())
    return answers, keys, [str(text) for text in questions], n_settled - n_tuned - len(keys)


def _fit_or_tell(answers: Scored, first: _JudgeRows, agreement: float, n_tuned: int) -> Thresholds:
    """Return the thresholds. Raises DataError saying what they cannot be fitted on."""
    n, n_yes = len(answers.yes), int(answers.yes.sum())
    if n_yes in (0, n):
        verdict = "yes" if n_yes else "no"
        raise DataError(
            f"people said {verdict} for all {n} answers to fit on, so there is nothing to learn from them."
        )
    thresholds = fit_thresholds(answers, agreement)
    if thresholds is None:
        raise DataError(
            f"one of the judges gave the same score to all {n} answers to fit on, so there is nothing to "
            "learn from it."
        )
    if thresholds.unsure is None:
        most = most_agreement(answers.cheap, answers.yes, thresholds.cheap_cut)
        z = NormalDist().inv_cdf(0.5 + LEVEL / 2)
        fewest = math.ceil(z * z * agreement / (1 - agreement))
        raise DataError(
            f"no scores of {first.judge.name} are sure enough: whatever it passes on, the lower end "
            f"of its agreement with people on the rest stays below {agreement:g} (reached: "
            f"{most:g}). Ask for less agreement, use a better cheap judge, or label more answers. "
            f"There are {n}, and it takes at least {fewest} decided without a mistake to show that "
            f"much.{_left_out(n_tuned)}"
        )
    return thresholds


def _left_out(n_tuned: int) -> str:
    return f" {left_out_text(n_tuned)}" if n_tuned else ""


def _cascade(
    name: str, first: _JudgeRows, second: _JudgeRows, thresholds: Thresholds, questions: Sequence[str]
) -> CascadeJudge:
    inputs = dict.fromkeys([*first.judge.inputs, *second.judge.inputs])
    return CascadeJudge(
        name=name,
        version=1,
        metric=second.judge.measures,
        inputs=list(inputs),
        scale=(0, 1),
        source=f"thresholds fitted by `ragstone judges fit` on the answers to {len(questions)} questions",
        members=[
            msgspec.structs.replace(first.member, cut=thresholds.cheap_cut, unsure=thresholds.unsure),
            msgspec.structs.replace(second.member, cut=thresholds.dear_cut),
        ],
        tuned_on=sorted({question_digest(question) for question in questions}),
    )


def _spent(rows: Sequence[Judgement]) -> tuple[Usage, float | None]:
    """Return what judgements took together; USD are None if those of one are unknown."""
    paid = [row for row in rows if row.usage is not None]
    costs = [row.cost_usd for row in paid if row.cost_usd is not None]
    usage = sum((row.usage for row in paid if row.usage), Usage(calls=0))
    return usage, sum(costs) if paid and len(costs) == len(paid) else None


def check_cascade_file(path: Path, force: bool) -> None:
    """Raise ConfigError, DataError if a judge's file may not be written there."""
    if path.suffix != ".toml":
        raise ConfigError(f"{path}: a judge's file ends in .toml, e.g. {path.stem}.toml.")
    check_place(path, force)


@checks_arguments
def write_cascade(fit: CascadeFit, path: Path | str) -> None:
    """Write the cascade as a judge's file; files of members are named from there."""
    path = Path(path)
    path.write_text(judge_text(fit.judge, path.absolute().parent), encoding="utf-8")


class FitOutput(msgspec.Struct, frozen=True, kw_only=True):
    """A cascade that was fitted, see CascadeFit; judge: with every key that a judge's file may have."""

    judge: dict[str, Any]
    agreement: float
    in_sample: FitFigures
    cross_validated: FitFigures | None
    n_folds_out: int
    tested: FitFigures | None
    n_left_out: int
    spent: Usage
    spent_usd: float | None
    dear_alone: Usage
    dear_alone_usd: float | None
    n_tuned: int = 0
