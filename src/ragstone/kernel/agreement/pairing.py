"""Judgements and people's labels -> pairs that speak of the same answer. Nothing is dropped uncounted."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from statistics import median

import msgspec
import numpy as np

from ragstone.kernel.agreement.mapping import DIGITS, place_labels
from ragstone.kernel.agreement.policies import check_sample, one_policy
from ragstone.kernel.errors import DataError
from ragstone.kernel.judging.conversation import conversation_of
from ragstone.kernel.records import Judgement, Label, Status, count_statuses
from ragstone.kernel.statistics import Floats

Key = tuple[str, str]
"""An answer: (question id, system)."""

UNNAMED = "default"  # the system of rows whose file has no such column
ADJUDICATOR = "adjudicator "
"""What the annotator of a label begins with that settles an answer on which annotators differ."""


class Human(msgspec.Struct, frozen=True):
    """What people say of one answer.

    score: the median of its annotators' grades; None for a tie, when the median of an even number falls on a
    value that no label of this metric has. cluster: what it shares with other answers (the text of the
    question in the label's metadata if it is there, else the question's id). labels: the rows themselves, in
    the order of the grades. A label by an adjudicator replaces the score that the others come to; their
    grades and labels stay, for they are what annotators agree in.
    """

    score: float | None
    grades: list[float]
    cluster: str
    labels: list[Label] = []


class GradePairs(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """One judge's scores beside people's, pair by pair in the order of the judgements.

    human, judge: (n,). rows, humans: what they come from. statuses: of the judgements whose answer has a
    human score; `scored` of them are the pairs. n_unlabelled: judgements whose answer has no label. n_tied:
    judgements of answers on which annotators tied. n_unjudged: labelled answers without a judgement.
    n_tuned: labelled answers on whose question the judge was tuned; they are in no other count.
    tied: those of the tied that have a score. labelled: every judged answer that has a label, whatever
    became of it.
    """

    keys: list[Key]
    systems: list[str]
    clusters: list[str]
    rows: list[Judgement]
    humans: list[Human]
    human: Floats
    judge: Floats
    statuses: dict[Status, int]
    n_unlabelled: int
    n_tied: int
    n_unjudged: int
    n_tuned: int
    tied: list[tuple[Judgement, Human]]
    labelled: frozenset[Key]

    @property
    def unit(self) -> str:
        """What the clusters are: `conversation` where answers are replies, else `question`."""
        return "conversation" if any(map(conversation_of, self.rows)) else "question"


def human_scores(
    labels: Iterable[Label],
    metric: str,
    mapping: Mapping[float, float] | None = None,
    *,
    again: bool = False,
) -> dict[Key, Human]:
    """Return what people say of each answer in `metric`; a label that names no metric speaks of any.

    An answer that an adjudicator has labelled (an annotator named `adjudicator NAME`) has that label's score.
    mapping: label value -> judge score, applied to each label before the median; see mapping.place_labels.
    again: take labels of answers that were chosen to be labelled again, too; see policies.check_sample.
    Raises DataError for a value outside of it, for a number in it that is not finite, for labels under two
    policies (see policies.labels_under), and for two labels of an answer by the same annotator.
    """
    mine = [label for label in labels if label.metric in (None, metric)]
    one_policy(mine, metric)
    if not again:
        check_sample(mine)
    scores = place_labels(mine, mapping)
    by_answer: dict[Key, dict[str | None, tuple[Label, float]]] = {}
    for label, score in zip(mine, scores, strict=True):
        by_annotator = by_answer.setdefault((label.question_id, label.system), {})
        first, _ = by_annotator.setdefault(label.annotator, (label, score))
        if first is not label:
            raise DataError(_two_labels(first, label))
    known = set(scores)
    return {
        key: _human([label for label, _ in rows.values()], [score for _, score in rows.values()], known)
        for key, rows in by_answer.items()
    }


def on_scale(humans: Mapping[Key, Human], scale: tuple[float, float]) -> dict[Key, Human]:
    """Return people's shares, 0 to 1, as scores of a judge's scale: 50 % is its middle."""
    low, high = scale

    def placed(share: float) -> float:
        return round(low + share * (high - low), DIGITS)

    return {
        key: msgspec.structs.replace(
            human,
            score=None if human.score is None else placed(human.score),
            grades=[placed(grade) for grade in human.grades],
        )
        for key, human in humans.items()
    }


def _human(labels: Sequence[Label], grades: Sequence[float], known: set[float]) -> Human:
    settled = [is_adjudicated(label) for label in labels]
    # Where an adjudicator alone has labelled an answer, their label is an annotator's like any other.
    own = [at for at, is_settled in enumerate(settled) if not is_settled] or [*range(len(labels))]
    decided = [grade for grade, is_settled in zip(grades, settled, strict=True) if is_settled]
    own_grades = [grades[at] for at in own]
    score = median(decided or own_grades)
    if len(decided or own_grades) > 1 and score not in known:
        return Human(None, own_grades, _cluster(labels), [labels[at] for at in own])
    return Human(score, own_grades, _cluster(labels), [labels[at] for at in own])


def is_adjudicated(label: Label) -> bool:
    """Return whether a label settles an answer, and is not one annotator's opinion."""
    return bool(label.annotator and label.annotator.startswith(ADJUDICATOR))


def inclusion_of(label: Label) -> float | None:
    """Return the chance with which the labelled answer was drawn; None where all had the same.

    It stands in the label's metadata as `inclusion`. Raises DataError if it is no number above 0, at most 1.
    """
    chance = (label.metadata or {}).get("inclusion")
    if chance is None or chance == "":
        return None
    try:
        share = float(chance)
    except (TypeError, ValueError):
        share = math.nan
    if not 0 < share <= 1:
        raise DataError(
            f"question {label.question_id!r}, system {label.system!r}: inclusion {chance!r} is not a "
            "probability above 0 and at most 1. Leave the column as `ragstone label` or the workbench wrote "
            "it."
        )
    return share


def _two_labels(first: Label, second: Label) -> str:
    who = f"annotator {first.annotator!r}" if first.annotator else "an unnamed annotator"
    return (
        f"question {first.question_id!r}, system {first.system!r}: two labels by {who} ({first.score:g} and "
        f"{second.score:g}). Keep one, or distinguish them by `annotator` or `metric`."
    )


def _cluster(labels: Iterable[Label]) -> str:
    """Replies share their conversation, and rows of one question its text, whatever their ids."""
    first = ""
    for label in labels:
        whole = conversation_of(label)
        if whole is not None:
            return whole
        text = (label.metadata or {}).get("question")
        if isinstance(text, str) and text:
            return text
        first = label.question_id
    return first


def pair(judgements: Iterable[Judgement], humans: Mapping[Key, Human]) -> GradePairs:
    """Return the judgements of one judge beside what people say of the same answers.

    Pairs are found by (question id, system). Where one side names no system and the other does, the
    question's id is enough if it stands for one answer only. Judgements whose metadata says `tuned` are left
    out: what a judge was made with cannot test it. Raises DataError for an answer judged twice, and where
    an id alone could mean several answers.
    """
    judged = _by_answer(judgements)
    partners = partners_of(judged, humans)
    paired = []
    for key, partner in partners.items():
        row, human = judged[key], humans[partner]
        whole = conversation_of(row)  # what people say of a reply varies with the others of its conversation
        paired.append((key, row, human if whole is None else msgspec.structs.replace(human, cluster=whole)))
    labelled = [(key, row, human) for key, row, human in paired if not is_tuned(row)]
    settled = [(key, row, human) for key, row, human in labelled if human.score is not None]
    scored = [(key, row, human) for key, row, human in settled if row.score is not None]
    return GradePairs(
        keys=[key for key, _, _ in scored],
        systems=[partners[key][1] if key[1] == UNNAMED else key[1] for key, _, _ in scored],
        clusters=[human.cluster for _, _, human in scored],
        rows=[row for _, row, _ in scored],
        humans=[human for _, _, human in scored],
        human=np.array([human.score for _, _, human in scored], dtype=np.float64),
        judge=np.array([row.score for _, row, _ in scored], dtype=np.float64),
        statuses=count_statuses([row for _, row, _ in settled]),
        n_unlabelled=len(judged) - len(paired),
        n_tied=len(labelled) - len(settled),
        n_unjudged=len(humans) - len(paired),
        n_tuned=len(paired) - len(labelled),
        tied=[(row, human) for _, row, human in labelled if human.score is None and row.score is not None],
        labelled=frozenset(partners),
    )


def is_tuned(row: Judgement) -> bool:
    """Return whether the judge was made with this question, as an example or to fit a threshold."""
    return bool(row.metadata and row.metadata.get("tuned"))


def _by_answer(judgements: Iterable[Judgement]) -> dict[Key, Judgement]:
    judged: dict[Key, Judgement] = {}
    for row in judgements:
        if judged.setdefault((row.question_id, row.system), row) is not row:
            raise DataError(
                f"question {row.question_id!r}, system {row.system!r}: judged twice by {row.judge!r} "
                f"for {row.metric!r} with model {row.model!r}. Keep one of the two judgements."
            )
    return judged


def partners_of(judged: Collection[Key], humans: Mapping[Key, Human]) -> dict[Key, Key]:
    """Return for each judged answer that has a label the key that its label goes by."""
    if _all_named(judged) and _none_named(humans):
        _check_single(judged, humans, named="judgements", bare="labels")
        return {key: (key[0], UNNAMED) for key in judged if (key[0], UNNAMED) in humans}
    if _none_named(judged) and _all_named(humans):
        _check_single(humans, judged, named="labels", bare="judgements")
        by_question = {key[0]: key for key in humans}
        return {key: by_question[key[0]] for key in judged if key[0] in by_question}
    return {key: key for key in judged if key in humans}


def _all_named(keys: Iterable[Key]) -> bool:
    return all(system != UNNAMED for _, system in keys)


def _none_named(keys: Iterable[Key]) -> bool:
    return all(system == UNNAMED for _, system in keys)


def _check_single(keys: Iterable[Key], others: Iterable[Key], *, named: str, bare: str) -> None:
    """Raise DataError if a question of `others`, which name no system, is asked of several in `keys`."""
    wanted = {question_id for question_id, _ in others}
    counts = Counter(question_id for question_id, _ in keys if question_id in wanted)
    question_id, n = next(iter(counts.most_common(1)), ("", 0))
    if n > 1:
        raise DataError(
            f"question {question_id!r}: the {named} are for {n} systems, but the {bare} do not say which. "
            f"Add a `system` to the {bare}."
        )
