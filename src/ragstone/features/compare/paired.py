"""Run B against run A on the same questions -> better, worse, or cannot tell; and what a gate says of it."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from msgspec import UNSET

from ragstone.features.compare._noise import difference_components
from ragstone.features.compare._people import People, PeopleLabels
from ragstone.features.compare._repeats import (
    answers_by_question,
    fold_repeats,
    nearest,
    repeat_notes,
)
from ragstone.features.compare._retrieval import compare_retrieval
from ragstone.features.compare._sentence_table import (
    BECAUSE,
    GATE_NONE_SCORED,
    VARIES,
    ComparedAnswers,
    GateFacts,
)
from ragstone.features.compare._spent import compare_spent
from ragstone.features.compare._stale_sentence_table import STALE_COMPARED, StaleCompared
from ragstone.features.compare._taste import label_cost, taste_notes
from ragstone.features.compare.matching import JudgedRun, Key, Matched, is_low_best, match
from ragstone.features.compare.overlap import ErrorOverlap, GivenDocument, error_overlap, given_documents
from ragstone.features.compare.values import (
    Comparison,
    Flip,
    Gate,
    GatedMetric,
    LengthSlope,
    MetricComparison,
    Outcome,
    Outlook,
    ScoreMove,
    ScoreMoves,
    Side,
)
from ragstone.kernel.agreement.corrected_difference import CorrectedDifference
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.judging import question_clusters, summarise
from ragstone.kernel.judging.summary import NO_FAILURE, bounds_of, is_category
from ragstone.kernel.records import NO_MODEL, Answer, Judgement, count_statuses, split_repeat
from ragstone.kernel.retrieval.relevance import relevant_documents
from ragstone.kernel.runs.breakdown import is_right
from ragstone.kernel.runs.settings import SettingDifference, differing_settings, prompt_diff
from ragstone.kernel.runs.wording import mean_text, statuses
from ragstone.kernel.sentences import say
from ragstone.kernel.statistics import (
    Floats,
    cluster_codes,
    holm,
    mcnemar_p,
    mean_estimate,
    share_unseen,
)
from ragstone.kernel.statistics.families import ALPHA, difference_and_test
from ragstone.kernel.statistics.paired import PairedTest, Verdict
from ragstone.kernel.statistics.power import POWER, needed_rows, smallest_difference, spread_of

MOST_MOVES = 30  # questions of a metric that are named among its moves
EFFECT = 0.02  # of the scale's width: what most would call a difference worth having


def compare_judged(
    a: JudgedRun,
    b: JudgedRun,
    *,
    metrics: Collection[str] = (),
    systems: tuple[str | None, str | None] = (None, None),
    shared: bool | None = False,
    margin: float | None = None,
    effect: float = EFFECT,
    seed: int = 0,
    labels: PeopleLabels | None = None,
) -> Comparison:
    """Return what B is against A, by every metric that both have, and what a gate says of it.

    metrics, systems, shared: see match. margin: how much worse the gate lets pass; effect: the difference
    that is worth finding; both as shares of the scale's width, between 0 and 1. Questions of one document
    (the first of `document_ids`) are not independent, and are tested and drawn together. labels: people's,
    of answers of both: the verdicts are then of what people would say, where they have labelled both
    answers to some questions. Raises DataError where the two cannot be compared or the labels are of
    nothing that is, ConfigError for a margin or an effect that is none.
    """
    check_share("margin", margin)
    check_share("min-effect", effect)
    a, b = fold_repeats(a), fold_repeats(b)
    matched = match(a, b, metrics=metrics, systems=systems, shared=shared)
    both = _Both(a, b, matched, seed, labels)
    rows = [
        paired for pair, keys in matched.keys.items() for key in keys if (paired := both.paired(pair, key))
    ]
    if not rows:
        raise DataError(
            f"{a.name} and {b.name}: no question has a score in both, so nothing can be compared."
            f"{_without_scores(a)}{_without_scores(b)}"
        )
    numbered = [row for row in rows if row.is_numbered]
    rows = [row for row in rows if not row.is_numbered]
    if not rows:
        judges = ", ".join(dict.fromkeys(row.key[0] for row in numbered))
        raise DataError(
            f"{a.name} and {b.name}: nothing is compared, because no label of {judges} is better than "
            "another. Judge both with a judge that grades."
        )
    if both.people and not any(row.people for row in rows):
        raise both.people.why_unused(matched)
    retrieval, unranked = compare_retrieval(a, b, matched.ids, seed=seed)
    adjusted = zip(holm([row.test.p for row in rows]), holm([row.p for row in rows]), strict=True)
    compared = [
        both.told(row, (float(of_judge), float(decisive)), len(rows), effect)
        for row, (of_judge, decisive) in zip(rows, adjusted, strict=True)
    ]
    components = difference_components(a, b, matched, both.shared, seed=seed)
    stale = StaleCompared(len(matched.ids), [n for n in matched.ids if n in a.stale or n in b.stale])
    return Comparison(
        a=a.name,
        b=b.name,
        n_shared=len(matched.ids),
        n_left_out=matched.n_left_out,
        metrics=compared,
        settings=_settings(a, b, matched),
        prompt_diff=prompt_diff(a.manifest, b.manifest) if a.manifest and b.manifest else [],
        retrieval=retrieval,
        spent=compare_spent(a, b, matched, both.clusters, seed=seed),
        only_a=matched.only_a,
        only_b=matched.only_b,
        notes=[
            *_manifest_notes(a, b),
            *filter(None, [say(stale, STALE_COMPARED)]),
            *(both.people.notes if both.people else []),
            *taste_notes(compared, a, b),
            *map(_shares_note, numbered),
            *repeat_notes(a, b, matched.systems, matched.ids),
            *unranked,
            *both.notes(compared, sum(map(len, matched.keys.values())) - len(numbered)),
        ],
        components=components or UNSET,
        seed=seed,
        gate=gate_of(compared, margin, both.unscored()),
    )


def _without_scores(side: JudgedRun) -> str:
    counts = count_statuses(side.judgements)
    return "" if "scored" in counts else f" {side.name} has no score: {statuses(counts)}."


class _Paired(NamedTuple):
    """One metric of the two systems, on the questions that both have scored. values: (n, 2), A and B."""

    systems: tuple[str, str]
    key: Key
    ids: list[str]
    values: Floats
    clusters: list[str]
    test: PairedTest
    rows: tuple[dict[str, Judgement], dict[str, Judgement]]
    people: tuple[CorrectedDifference, LengthSlope | None] | None = None
    low_is_best: bool = False

    def is_right(self, score: float, scale: tuple[float, float]) -> bool:
        """Whether a score is on the good side of the middle of its scale, or in the middle."""
        return is_right(sum(scale) - score if self.low_is_best else score, scale)

    @property
    def is_numbered(self) -> bool:
        """Whether its scores only number labels, of which none is better."""
        return any(map(is_category, self.rows[0].values()))

    @property
    def p(self) -> float:
        """What the verdict follows: of the labels where there are some, 1 where they are too few to tell."""
        p = self.people[0].p if self.people else self.test.p
        return 1.0 if p is None else p


def _shares_note(row: _Paired) -> str:
    """Return the labels of a judge on both sides, in place of a comparison."""
    sides = [summarise(side[name] for name in row.ids)[0] for side in row.rows]
    shares = "; ".join(f"{side} {mean_text(mean)}" for side, mean in zip("AB", sides, strict=True))
    return f"{row.key[0]} gives labels, none better than another, so it has no verdict: {shares}."


def _scored(side: Mapping[str, Judgement]) -> set[str]:
    return {name for name, row in side.items() if row.score is not None}


def _failed(sides: Sequence[Mapping[str, Judgement]]) -> set[str]:
    """Return the questions of which a judgement failed on any side, or is on one side alone."""
    failed = {name for side in sides for name, row in side.items() if row.status not in NO_FAILURE}
    return failed | (sides[0].keys() ^ sides[1].keys())


class _Both:
    """The rows of two matched runs, by what they are looked up with."""

    def __init__(
        self, a: JudgedRun, b: JudgedRun, matched: Matched, seed: int, labels: PeopleLabels | None = None
    ) -> None:
        self.people = People(labels, a, b, matched) if labels else None
        self.ids, self.seed, self._keys = matched.ids, seed, matched.keys
        wanted = set(matched.ids)
        self._judgements: tuple[dict[tuple[str, Key], dict[str, Judgement]], ...] = ({}, {})
        for side, judgements in zip((a, b), self._judgements, strict=True):
            for row in side.judgements:
                if row.question_id in wanted:
                    key = (row.system, (row.judge, row.metric, row.model))
                    judgements.setdefault(key, {})[row.question_id] = row
        self._unfolded: tuple[dict[tuple[str, Key], list[Judgement]], ...] = ({}, {})
        for side, unfolded in zip((a, b), self._unfolded, strict=True):
            for row in side.unfolded:
                if row.question_id in wanted:
                    key = (split_repeat(row.system)[0], (row.judge, row.metric, row.model))
                    unfolded.setdefault(key, []).append(row)
        self._answers = tuple(answers_by_question(side.answers) for side in (a, b))
        questions = {row.id: row for row in [*b.questions, *a.questions]}
        self._texts = {row.question_id: row.question for row in [*b.answers, *a.answers] if row.question}
        self._texts |= {row.id: row.question for row in questions.values()}
        self.shared = question_clusters(questions.values(), [*a.judgements, *b.judgements])
        self._relevant = {name: relevant_documents(row) for name, row in questions.items()}
        self._same = (a.same, b.same)
        self._runs = (a, b)
        self._ranked = tuple(
            {row.question_id: row.items for row in side.rankings}
            if len({row.retriever for row in side.rankings}) == 1
            else {}
            for side in (a, b)
        )

    def paired(self, systems: tuple[str, str], key: Key) -> _Paired | None:
        """Return the scores that both have, tested; None if there are none."""
        ours, theirs = self._rows(systems, key)
        scored = [
            (name, judgement.score, other.score)
            for name in self.ids
            if (judgement := ours.get(name)) and judgement.score is not None
            if (other := theirs.get(name)) and other.score is not None
        ]
        if not scored:
            return None
        ids = [name for name, _, _ in scored]
        values = np.array([scores for _, *scores in scored], dtype=np.float64)
        clusters = self.clusters(ids)
        test = difference_and_test(values, clusters, seed=self.seed)
        people = self.people.corrected(systems, (ours, theirs), self.shared) if self.people else None
        low_is_best = is_low_best(key[0], self._runs)
        return _Paired(systems, key, ids, values, clusters, test, (ours, theirs), people, low_is_best)

    def _rows(self, systems: tuple[str, str], key: Key) -> tuple[dict[str, Judgement], ...]:
        return tuple(
            judgements.get((system, key), {})
            for judgements, system in zip(self._judgements, systems, strict=True)
        )

    def unscored(self) -> list[GatedMetric]:
        """Return what a gate says of metrics of which no question has both scores, where one was due."""
        gated = []
        for systems, keys in self._keys.items():
            for key in () if self._same_answers(systems) else keys:
                sides = self._rows(systems, key)
                rows = [row for side in sides for row in side.values()]
                if any(map(is_category, rows)) or _scored(sides[0]) & _scored(sides[1]):
                    continue
                if because := say(len(_failed(sides)), GATE_NONE_SCORED):
                    judge, metric, _ = key
                    gated.append(
                        GatedMetric(
                            judge=judge,
                            metric=metric,
                            system=systems[1],
                            outcome="cannot tell",
                            because=because,
                        )
                    )
        return gated

    def clusters(self, ids: Sequence[str]) -> list[str]:
        """Return the document or conversation that each question belongs to; another stands alone."""
        cached = self.shared
        return [f"shared {cached[name]}" if name in cached else f"question {name}" for name in ids]

    def told(self, row: _Paired, p_holm: tuple[float, float], family: int, effect: float) -> MetricComparison:
        """Return the comparison of one metric.

        p_holm: with Holm's correction over `family` of them, of the judge's scores and of what decides.
        """
        first = next(iter(row.rows[0].values()))
        scale = _scale_of(first.scale, row.values)
        width = scale[1] - scale[0] if scale else None
        differences, test = row.values[:, 1] - row.values[:, 0], row.test
        difference = test.difference
        n_changed, n_clusters = int(np.count_nonzero(differences)), len(set(row.clusters))
        lost, gained, failed, n_failed = self._missing(row)
        down, up, both = self._errors(row, scale)
        corrected, length = row.people or (None, None)
        decisive = corrected.corrected if corrected else difference
        better: Verdict = "better" if (decisive.value > 0) != row.low_is_best else "worse"
        if corrected:
            corrected = msgspec.structs.replace(corrected, p_holm=p_holm[1])
        judge, metric, model = row.key
        return MetricComparison(
            judge=judge,
            metric=metric,
            model=model,
            prompt_version=first.prompt_version,
            scale=first.scale,
            a=self._side(row, 0, scale),
            b=self._side(row, 1, scale),
            n=len(row.ids),
            n_clusters=n_clusters,
            difference=difference,
            within=share_unseen(n_clusters) * width if width and not n_changed else None,
            test=test.test,
            p=test.p,
            p_holm=p_holm[0] if corrected else p_holm[1],
            family=family,
            verdict=better if p_holm[1] <= ALPHA else "cannot tell",
            n_changed=n_changed,
            lost=lost,
            gained=gained,
            n_failed=n_failed,
            loses_more=_clearly_more(lost, gained, family),
            by_application=_clearly_more(*failed, family),
            same_answers=self._same_answers(row.systems),
            wrong_to_right=up,
            right_to_wrong=down,
            wrong_in_both=both,
            overlap=self._overlap(row, scale),
            outlook=_outlook(row, width, effect * (width or 0), ALPHA / family),
            corrected=corrected,
            length=length,
            moves=self._moves(row, differences) if n_changed else UNSET,
            best="lowest" if row.low_is_best else UNSET,
            label_cost=label_cost(differences, width)
            if width and n_changed and model != NO_MODEL and not corrected
            else None,
        )

    def _moves(self, row: _Paired, differences: Floats) -> ScoreMoves:
        """Return where scores went; of questions that moved as far, those that come first are named."""
        order = np.argsort(differences, kind="stable")
        n_down, n_up = int((differences < 0).sum()), int((differences > 0).sum())
        down = min(n_down, max(MOST_MOVES // 2, MOST_MOVES - n_up))
        up = min(n_up, MOST_MOVES - down)
        rising = sorted(np.argsort(-differences, kind="stable")[:up], key=lambda at: (differences[at], at))
        return ScoreMoves(
            n_up=n_up,
            n_down=n_down,
            n_same=len(differences) - n_up - n_down,
            largest=[
                ScoreMove(
                    question_id=row.ids[at],
                    score_a=float(row.values[at, 0]),
                    score_b=float(row.values[at, 1]),
                    question=self._texts.get(row.ids[at]),
                )
                for at in [*order[:down], *rising]
            ],
        )

    def _side(self, row: _Paired, at: int, scale: tuple[float, float] | None) -> Side:
        mean = mean_estimate(
            row.values[:, at], row.clusters, seed=self.seed, proportion=scale in (None, (0.0, 1.0))
        )
        if mean is None:
            raise ValueError("a metric without scores: paired returns None for it")
        judged = row.rows[at].values()
        own = [judgement.score for judgement in judged if judgement.score is not None]
        unfolded = self._unfolded[at].get((row.systems[at], row.key))
        statuses, stated = count_statuses(unfolded or judged), next(iter(judged)).scale
        if unfolded:
            [whole] = summarise(unfolded, seed=self.seed)
            bounds = whole.bounds
        else:
            bounds = bounds_of(sum(own) / len(own), statuses, stated)
        return Side(system=row.systems[at], mean=mean, statuses=statuses, bounds=bounds)

    def _missing(self, row: _Paired) -> tuple[int, int, tuple[int, int], int]:
        """Return the questions that A or B alone has scored, whose answer failed on one alone, and whose
        judgement failed on any side, or is on one side alone.
        """
        scored = [_scored(side) for side in row.rows]
        failed = [
            {name for name, row_of in side.items() if row_of.status == "app_error"} for side in row.rows
        ]
        of_application = (len(failed[1] - failed[0]), len(failed[0] - failed[1]))
        n_failed = len(_failed(row.rows))
        return len(scored[0] - scored[1]), len(scored[1] - scored[0]), of_application, n_failed

    def _errors(
        self, row: _Paired, scale: tuple[float, float] | None
    ) -> tuple[list[Flip], list[Flip], list[Flip]]:
        """Return the questions right in A alone, right in B alone, and wrong in both, in file order."""
        down: list[Flip] = []
        up: list[Flip] = []
        both: list[Flip] = []
        if scale is None:
            return down, up, both
        for name, (score, other) in zip(row.ids, row.values.tolist(), strict=True):
            was_right, now_right = row.is_right(score, scale), row.is_right(other, scale)
            if not (was_right and now_right):
                (down if was_right else up if now_right else both).append(self._flip(row, name, score, other))
        return down, up, both

    def _flip(self, row: _Paired, name: str, score: float, other: float) -> Flip:
        answers = [self._answer_of(row, at, name, of_side) for at, of_side in enumerate((score, other))]
        return Flip(
            question_id=name,
            score_a=score,
            score_b=other,
            question=self._texts.get(name),
            answer_a=_text(answers[0]),
            answer_b=_text(answers[1]),
            documents_a=self._documents(0, name, answers[0]),
            documents_b=self._documents(1, name, answers[1]),
        )

    def _answer_of(self, row: _Paired, at: int, name: str, score: float) -> Answer | None:
        """Return an answer to a question; of repeats the one whose score is nearest to their mean."""
        answers = self._answers[at].get((row.systems[at], name), [])
        unfolded = self._unfolded[at].get((row.systems[at], row.key), [])
        if unfolded and answers:
            system = nearest((judged for judged in unfolded if judged.question_id == name), score).system
            return next((answer for answer in answers if answer.system == system), None)
        return answers[0] if answers else None

    def _documents(self, at: int, name: str, answer: Answer | None) -> list[GivenDocument] | None:
        contexts = answer.contexts if answer else None
        items = self._ranked[at].get(name) if contexts is None else contexts
        if items is None:
            return None
        return given_documents(items, self._relevant.get(name, ()), self._same[at])

    def _overlap(self, row: _Paired, scale: tuple[float, float] | None) -> ErrorOverlap | None:
        if scale is None:
            return None
        right = [
            (row.is_right(score, scale), row.is_right(other, scale)) for score, other in row.values.tolist()
        ]
        return error_overlap(right, row.clusters, seed=self.seed)

    def _same_answers(self, systems: tuple[str, str]) -> bool | None:
        """Return whether every answer is the same; None where one is missing that the other side has."""
        pairs = [
            tuple(
                answers.get((system, name), [])
                for answers, system in zip(self._answers, systems, strict=True)
            )
            for name in self.ids
        ]
        answered = [pair for pair in pairs if any(pair)]  # of several systems each may have its own questions
        if not answered or not all(len(first) == len(other) for first, other in answered):
            return None
        return all([*map(_said, first)] == [*map(_said, other)] for first, other in answered)

    def notes(self, compared: Sequence[MetricComparison], n_expected: int) -> list[str]:
        """Return what to know before the numbers are relied on."""
        lines = []
        if len(compared) < n_expected:
            lines.append(
                f"Not compared: {n_expected - len(compared)} of {n_expected} metrics, because no question "
                "has both scores."
            )
        varies = say(ComparedAnswers(tuple(compared)), *VARIES)
        return [*lines, varies] if varies else lines


def _settings(a: JudgedRun, b: JudgedRun, matched: Matched) -> list[SettingDifference] | None:
    """Return what differs in the settings, None where that is not known. Of one run its systems differ."""
    if a.manifest is None or b.manifest is None or not (a.manifest.settings and b.manifest.settings):
        return None
    differences = differing_settings(a.manifest, b.manifest)
    if a.name == b.name:
        differences += [
            SettingDifference(name="system", a=first, b=other, decides=True)
            for first, other in matched.systems
            if first != other
        ]
    return differences


def _manifest_notes(a: JudgedRun, b: JudgedRun) -> list[str]:
    notes = []
    unknown = [side.name for side in (a, b) if side.judges is None]
    if unknown:
        where = " and ".join(dict.fromkeys(unknown))
        judges = (
            " The judges have the same versions and models, but their files were not compared."
            if a.name != b.name
            else ""
        )
        notes.append(f"No manifest in {where}, so differences between the settings are unknown.{judges}")
    prompts = [side.manifest.prompt for side in (a, b) if side.manifest]
    texts = [prompt.text for prompt in prompts if prompt]
    if len({prompt.digest for prompt in prompts if prompt}) > 1 and None in texts:
        notes.append(
            "The texts of the prompts are not compared: an earlier version of Ragstone wrote a manifest "
            "without them."
        )
    return notes


def _scale_of(scale: tuple[float, float] | None, values: Floats) -> tuple[float, float] | None:
    """Return the scale; of rows that state none, 0 to 1 if all scores lie there."""
    if scale is not None:
        return float(scale[0]), float(scale[1])
    return (0.0, 1.0) if values.min() >= 0 and values.max() <= 1 else None


def _clearly_more(more: int, less: int, family: int) -> bool:
    return more > less and mcnemar_p(more, less) <= ALPHA / family


def _outlook(row: _Paired, width: float | None, effect: float, alpha: float) -> Outlook | None:
    differences = row.values[:, 1] - row.values[:, 0]
    yes_no = row.test.test == "McNemar" and width == 1
    spread = spread_of(differences, cluster_codes(row.clusters, len(row.ids)), yes_no=yes_no)
    if spread is None or width is None:
        return None
    return Outlook(
        power=POWER,
        alpha=alpha,
        smallest=smallest_difference(spread, width, alpha=alpha),
        effect=effect,
        for_effect=needed_rows(spread, effect, alpha=alpha),
        for_observed=needed_rows(spread, row.test.difference.value, alpha=alpha),
        design_effect=spread.design_effect,
    )


def _text(answer: Answer | None) -> str | None:
    return None if answer is None else answer.answer or answer.error


def _said(answer: Answer) -> tuple[object, ...]:
    contexts = None if answer.contexts is None else [context.text for context in answer.contexts]
    return answer.answer, answer.error, contexts


# The least favourable first: it decides.
ORDER: tuple[Outcome, ...] = ("failed", "cannot tell", "passed")


def check_share(name: str, share: float | None) -> None:
    """Raise ConfigError where a margin or an effect is none."""
    if share is not None and not 0 < share < 1:
        raise ConfigError(
            f"{name} is {share:g}: give a share of the scale's width between 0 and 1, such as 0.02."
        )


def gate_of(
    metrics: Sequence[MetricComparison], margin: float | None, unscored: Sequence[GatedMetric] = ()
) -> Gate:
    """Return what is let pass: B where it is better or unchanged or, with a margin, not worse by more.

    margin: share of the scale's width. unscored: metrics that could not be compared. Every metric has to
    pass, so each is looked at on its own and no correction is needed for the passing (an intersection-union
    test, Berger 1982); "worse" is corrected by Holm. Raises DataError for a margin on a metric without a
    scale.
    """
    gated = [*(_gated(metric, margin) for metric in metrics), *unscored]
    outcome = next(outcome for outcome in ORDER if any(row.outcome == outcome for row in gated))
    return Gate(outcome=outcome, margin=margin, metrics=gated)


def _gated(metric: MetricComparison, margin: float | None) -> GatedMetric:
    facts = GateFacts(metric, margin)
    spoken = ((outcome, say(facts, *sentences)) for outcome, sentences in BECAUSE.items())
    outcome, because = next((outcome, because) for outcome, because in spoken if because)
    return GatedMetric(
        judge=metric.judge, metric=metric.metric, system=metric.b.system, outcome=outcome, because=because
    )
