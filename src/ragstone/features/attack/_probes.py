"""What moves a judge although it should not: length, repetition, markdown, tone, position, its own model."""

import functools
import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence

import msgspec
import numpy as np

from ragstone.features.attack._rows import DEFAULT, base_rows, language_of, neutral_text, shipped_words
from ragstone.features.attack._values import ProbeEffect
from ragstone.kernel.engine.session import Session
from ragstone.kernel.errors import ConfigError, nearest
from ragstone.kernel.judging import Judge
from ragstone.kernel.records import Answer, Context, Judgement, Label
from ragstone.kernel.statistics import mean_contrast, mean_estimate
from ragstone.kernel.tables import parse_row
from ragstone.kernel.tables.names import accepted_names


def effect_of(
    probe: str,
    compared: str,
    pairs: Iterable[tuple[Judgement, Judgement]],
    seed: int = 0,
) -> ProbeEffect:
    """Return the effect: of each pair the second score minus the first, over the width of their scale."""
    differences: list[float] = []
    clusters: list[str] = []
    n_unpaired = 0
    for plain, changed in pairs:
        if plain.score is None or changed.score is None or plain.scale is None:
            n_unpaired += 1
            continue
        low, high = plain.scale
        differences.append((changed.score - plain.score) / (high - low))
        clusters.append(plain.question_id)
    return from_differences(probe, compared, differences, clusters, n_unpaired=n_unpaired, seed=seed)


def from_differences(
    probe: str,
    compared: str,
    differences: list[float],
    clusters: list[str],
    *,
    n_unpaired: int = 0,
    seed: int = 0,
) -> ProbeEffect:
    """Return the effect of paired differences, each a share of the scale."""
    if not differences:
        return ProbeEffect(
            probe=probe, compared=compared, n_unpaired=n_unpaired, why="no row has both scores"
        )
    effect = mean_estimate(differences, clusters, seed=seed, proportion=False)
    return ProbeEffect(probe=probe, compared=compared, effect=effect, n_unpaired=n_unpaired)


def unmeasured(probe: str, compared: str, why: str) -> ProbeEffect:
    """Return a probe that could not be made, and why."""
    return ProbeEffect(probe=probe, compared=compared, why=why)


SHORTEST_PADDING = 160
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？।])\s*")
CAPITAL = re.compile(r"\b[^\W\d_a-zß-öø-ÿ]\w+|\d[\d.,]*\d|\d")


class Probed(msgspec.Struct, frozen=True, kw_only=True):
    """A row in two dresses; the effect is the score of `changed` minus that of `plain`."""

    plain: Answer
    changed: Answer


class Transform(msgspec.Struct, frozen=True, kw_only=True):
    """A probe: what is compared, in words, and the text of both sides."""

    compared: str
    plain: Callable[[Answer], str]
    changed: Callable[[Answer], str]


def _as_it_is(row: Answer) -> str:
    return row.answer


def _padded(row: Answer) -> str:
    length = max(SHORTEST_PADDING, 2 * len(row.answer))
    return f"{row.answer} {neutral_text(language_of(row), length)}"


def marked_up(text: str) -> str:
    """Return the text as markdown: a heading without words of its own, a bullet a sentence, bold names."""
    sentences = [part for part in SENTENCE_END.split(text.strip()) if part]
    bold = [CAPITAL.sub(lambda match: f"**{match[0]}**", part) for part in sentences]
    return "\n".join(["## 1", "", *(f"- {part}" for part in bold)])


def _toned(tone: str, row: Answer) -> str:
    spoken = _tones()
    sentences = spoken.get(language_of(row)) or spoken[DEFAULT]
    return sentences[tone].replace("{answer}", row.answer)


@functools.cache
def _tones() -> dict[str, dict[str, str]]:
    """Return language -> tone -> the sentence around an answer."""
    return shipped_words("tone.toml")


TRANSFORMS: dict[str, Transform] = {
    "length": Transform(
        compared="the answer with correct but empty sentences after it, against the answer alone",
        plain=_as_it_is,
        changed=_padded,
    ),
    "repetition": Transform(
        compared="the answer with the question repeated before it, against the answer alone",
        plain=_as_it_is,
        changed=lambda row: f"{row.question or ''} {row.answer}".strip(),
    ),
    "markdown": Transform(
        compared="the same words with a heading, bullets and bold type, against plain text",
        plain=_as_it_is,
        changed=lambda row: marked_up(row.answer),
    ),
    "tone": Transform(
        compared="the answer stated without any doubt, against the same answer hedged",
        plain=functools.partial(_toned, "hedged"),
        changed=functools.partial(_toned, "assertive"),
    ),
}


def probed_rows(name: str, rows: Sequence[Answer]) -> list[Probed]:
    """Return each row in both dresses of a probe; empty answers are left out, for they have none to wear."""
    transform = TRANSFORMS[name]
    return [
        Probed(
            plain=_dressed(row, transform.plain(row), f"{name} plain"),
            changed=_dressed(row, transform.changed(row), f"{name} changed"),
        )
        for row in rows
        if row.answer.strip()
    ]


def _dressed(row: Answer, text: str, name: str) -> Answer:
    return msgspec.structs.replace(row, answer=text, system=f"{row.system} · {name}")


POSITION = "position"
POSITION_COMPARED = "the score of the same answer when it is shown first, against when it is shown second"
WINS = {True: 1.0, False: 0.0}


def comparable_rows(limit: int | None = None) -> list[Answer]:
    """Return a sheet of three systems: a right answer, the same in other words, and a wrong one."""
    sheet: list[Answer] = []
    for row in base_rows()[:limit]:
        right = Answer(
            question_id=row.id,
            system="right",
            question=row.question,
            reference=row.reference,
            answer=row.right,
            contexts=[Context(text=text) for text in row.contexts],
            tags={"lang": row.lang},
        )
        others = {"right, other words": row.true_statement, "wrong": row.wrong}
        sheet += [right] + [
            msgspec.structs.replace(right, system=system, answer=text) for system, text in others.items()
        ]
    return sheet


def position_effect(judge: Judge, judgements: Iterable[Judgement], seed: int = 0) -> ProbeEffect:
    """Return what a place is worth, as a share of the scale: 0 if no verdict changes with the order.

    Of each pair: the score of its first answer shown first minus its score shown second (1 for a win, 0.5
    for a tie). 1 means that whatever stands first wins. Clustered by question.
    """
    if not judge.compares_two:
        return unmeasured(
            POSITION, POSITION_COMPARED, "is for judges that compare two answers (kind pairwise)"
        )
    differences: list[float] = []
    clusters: list[str] = []
    n_unpaired = 0
    for row in judgements:
        orders: Sequence[str] = (row.metadata or {}).get("orders", ())
        first, vs, _second = row.system.partition(" vs ")
        if len(orders) != 2 or not vs:
            n_unpaired += 1
            continue
        shown_first, shown_second = (0.5 if winner == "tie" else WINS[winner == first] for winner in orders)
        differences.append(shown_first - shown_second)
        clusters.append(row.question_id)
    return from_differences(
        POSITION, POSITION_COMPARED, differences, clusters, n_unpaired=n_unpaired, seed=seed
    )


OWN_MODEL = "own_model"
OWN_MODEL_COMPARED = (
    "judge minus people on answers of the judge's own model, against judge minus people on those of others"
)


def is_own(system: str, model: str) -> bool:
    """Return whether a system's name says that it is this model: `openai/gpt-4o-mini` or `gpt-4o-mini`."""
    name = model.rpartition("/")[2].casefold()
    return name in system.casefold().split("/") or system.casefold() == model.casefold()


def own_model_effect(
    judgements: Sequence[Judgement], labels: Sequence[Label], model: str, seed: int = 0
) -> ProbeEffect:
    """Return how much more lenient the judge is to its own model's answers, as a share of the scale.

    labels: on the judge's scale, or 0 and 1; several of one answer are averaged. Intervals are clustered by
    question. Where the sheet lacks labels, or answers of either kind, the effect says so.
    """
    people: dict[tuple[str, str], list[float]] = defaultdict(list)
    for label in labels:
        people[label.question_id, label.system].append(label.score)
    if not people:
        return unmeasured(OWN_MODEL, OWN_MODEL_COMPARED, "needs a sheet with people's labels (--sheet FILE)")
    rows = [
        (row.question_id, is_own(row.system, model), _difference(row, people[row.question_id, row.system]))
        for row in judgements
        if row.score is not None and people.get((row.question_id, row.system))
    ]
    usable = [(question, own, difference) for question, own, difference in rows if difference is not None]
    if len(usable) < len(rows):
        return unmeasured(
            OWN_MODEL, OWN_MODEL_COMPARED, "the labels are off the judge's scale, and are not 0 or 1"
        )
    if len({own for _, own, _ in usable}) < 2:
        return unmeasured(
            OWN_MODEL,
            OWN_MODEL_COMPARED,
            f"needs labelled answers of a system named {model.rpartition('/')[2]} and of another one",
        )
    differences = np.array([difference for _, _, difference in usable], dtype=np.float64)
    own = np.array([of_own for _, of_own, _ in usable], dtype=np.float64)
    estimate = mean_contrast(differences, own, [question for question, _, _ in usable], seed=seed)
    return ProbeEffect(
        probe=OWN_MODEL,
        compared=OWN_MODEL_COMPARED,
        effect=estimate,
        n_unpaired=len(judgements) - len(usable),
    )


def _difference(row: Judgement, grades: Sequence[float]) -> float | None:
    """Return judge minus people as a share of the scale, None where the labels do not fit."""
    low, high = row.scale or (0.0, 1.0)
    if row.score is None:
        return None
    label = sum(grades) / len(grades)
    if all(low <= grade <= high for grade in grades) and not (
        high > 1 and all(grade in (0, 1) for grade in grades)
    ):
        return (row.score - label) / (high - low)
    if all(grade in (0, 1) for grade in grades):
        return (row.score - low) / (high - low) - label
    return None


PROBES = (*TRANSFORMS, POSITION, OWN_MODEL)


class JudgedRows(msgspec.Struct, frozen=True, kw_only=True):
    """Rows that were judged, and all that the judge said of them.

    lead: the judgement of each row; of a judge that gives several, such as a rubric, that of the score.
    """

    rows: list[Answer]
    judgements: list[Judgement]
    lead: list[Judgement]


JudgeSome = Callable[[Sequence[Answer]], Awaitable[JudgedRows]]


class ProbePlan(msgspec.Struct, frozen=True, kw_only=True):
    """Which probes are made. fitting: only those that suit the judge and the rows, the others unmentioned."""

    names: list[str]
    fitting: bool = False


def plan_probes(names: Iterable[str] | None, *, everything: bool) -> ProbePlan:
    """Return the plan of these probes; `everything`: of all that fit. Raises ConfigError for a name."""
    if everything:
        return ProbePlan(names=list(PROBES), fitting=True)
    chosen = list(dict.fromkeys(names or ()))
    for name in chosen:
        if name not in PROBES:
            raise ConfigError(f"unknown probe {name!r}. {nearest(name, PROBES)}")
    return ProbePlan(names=chosen)


async def probe_judge(
    judge: Judge,
    plan: ProbePlan,
    rows: Sequence[Answer],
    plain: Sequence[Judgement],
    session: Session,
    judge_some: JudgeSome,
) -> tuple[list[ProbeEffect], list[JudgedRows]]:
    """Return the effect of each probe, and what was judged for it.

    rows, plain: the plain rows and their judgements.
    """
    seed = session.settings.run.seed
    effects: list[ProbeEffect] = []
    judged: list[JudgedRows] = []
    for name in plan.names:
        why = _why_not(name, judge)
        if why is not None:
            if not plan.fitting:
                effects.append(unmeasured(name, _compared(name), why))
            continue
        if name == POSITION:
            judged.append(await judge_some(rows))
            effects.append(position_effect(judge, judged[-1].lead, seed))
        elif name == OWN_MODEL:
            labels = [label for row in rows if (label := label_of(row, judge.measures))]
            effect = own_model_effect(plain, labels, session.settings.judge.model or "", seed)
            effects += [] if plan.fitting and effect.why else [effect]
        else:
            dressed = probed_rows(name, rows)
            n = len(dressed)
            both = [pair.plain for pair in dressed] + [pair.changed for pair in dressed]
            judged.append(await judge_some(both))
            lead = judged[-1].lead
            pairs = zip(lead[:n], lead[n:], strict=True)
            effects.append(effect_of(name, _compared(name), pairs, seed))
    return effects, judged


def _why_not(name: str, judge: Judge) -> str | None:
    """Return why a probe cannot be made of this judge, None where it can."""
    if (name == POSITION) != (judge.compares_two):
        return (
            "is for judges that compare two answers (kind pairwise)"
            if name == POSITION
            else "is for judges of one answer; of this one, position is measured"
        )
    if name != POSITION and "answer" not in judge.inputs:
        return "the judge does not read the answer"
    return None


def _compared(name: str) -> str:
    if name in TRANSFORMS:
        return TRANSFORMS[name].compared
    return POSITION_COMPARED if name == POSITION else OWN_MODEL_COMPARED


def label_of(row: Answer, metric: str) -> Label | None:
    """Return the label of this metric that a row of a sheet carries, in the columns that `agree` reads."""
    carried = row.metadata or {}
    if not any(name in carried for name in accepted_names(Label, "score")):
        return None
    label = parse_row({"question_id": row.question_id, "system": row.system, **carried}, Label)
    return label if label.metric in (None, metric) else None
