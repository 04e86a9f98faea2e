"""People's labels of two runs' answers -> which are of A's and which of B's, and each metric corrected."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import NamedTuple

import msgspec
import numpy as np

from ragstone.features.compare.matching import JudgedRun, Matched
from ragstone.features.compare.values import LengthSlope
from ragstone.kernel.agreement.corrected_difference import (
    CorrectedDifference,
    LabelledDifferences,
    labelled_differences,
)
from ragstone.kernel.agreement.labels import with_metrics
from ragstone.kernel.agreement.pairing import UNNAMED
from ragstone.kernel.agreement.policies import labels_under
from ragstone.kernel.errors import DataError, plural
from ragstone.kernel.records import Judgement, Label, split_repeat
from ragstone.kernel.statistics import Estimate, Floats, cluster_codes
from ragstone.kernel.statistics.intervals import student_quantile
from ragstone.kernel.tables.names import question_key

SIDES = ("A", "B")
SHOWN = 3
ERRORS = 10
"""Errors of a judge from which on their relation to the length of answers is looked at."""
ADVICE = "`ragstone label A B --compare` draws questions and asks you to label both answers."


class PeopleLabels(msgspec.Struct, frozen=True, kw_only=True):
    """Labels of answers of two runs, by any metric. name: their file. mapping: see corrected_means.

    policy: digest of the instructions whose labels alone count, see policies.labels_under.
    """

    name: str
    labels: Sequence[Label]
    mapping: Mapping[float, float] | None = None
    policy: str | None = None


class SideLabels(NamedTuple):
    """The labels of A's answers and of B's. n_stale: labels of other answers than these."""

    a: list[Label]
    b: list[Label]
    n_stale: int


class People:
    """The labels that a comparison is given, by the pairs of systems that it compares."""

    def __init__(self, given: PeopleLabels, a: JudgedRun, b: JudgedRun, matched: Matched) -> None:
        self._given, self._runs = given, (a, b)
        metrics = {metric for keys in matched.keys.values() for _, metric, _ in keys}
        labels, note = with_metrics(_with_ids(labels_under(given.labels, given.policy), a, b), metrics)
        self._labels = labels
        self.notes = [] if note is None else [note]
        self._wanted = set(matched.ids)
        self._texts = tuple(
            {(row.system, row.question_id): row.answer for row in side.answers} for side in (a, b)
        )
        self._of_systems = {pair: self._sides(pair) for pair in matched.systems}
        n_stale = sum(of_pair.n_stale for of_pair in self._of_systems.values())
        if n_stale:
            self.notes.append(f"{plural(n_stale, 'label')} left out: given to other answers than these.")

    def corrected(
        self,
        systems: tuple[str, str],
        rows: tuple[Mapping[str, Judgement], Mapping[str, Judgement]],
        clusters: Mapping[str, str],
    ) -> tuple[CorrectedDifference, LengthSlope | None] | None:
        """Return the difference that people would see, and how the judge's errors go with length.

        None without labels. rows: the judgements of A and of B by one judge, question id -> row.
        """
        of_pair = self._of_systems[systems]
        ours, theirs = ([row for name, row in side.items() if name in self._wanted] for side in rows)
        differences = labelled_differences(
            ours,
            theirs,
            (of_pair.a, of_pair.b),
            mapping=self._given.mapping,
            clusters=clusters,
        )
        if differences is None:
            return None
        return differences.corrected(), self._length_slope(systems, differences)

    def _sides(self, systems: tuple[str, str]) -> SideLabels:
        """Return the labels of two systems. Raises DataError where they do not say whose they are."""
        sides: tuple[list[Label], list[Label]] = ([], [])
        n_stale = 0
        for label in self._labels:
            if label.question_id not in self._wanted:
                continue
            named, meant = self._meant(label, systems)
            if len(meant) == 2:
                texts = [
                    of_side.get((system, label.question_id))
                    for of_side, system in zip(self._texts, systems, strict=True)
                ]
                if texts[0] is None or texts[0] != texts[1]:
                    raise DataError(
                        f"{self._given.name}: both runs call their system {systems[0]!r}, and the label of "
                        f"question {label.question_id!r} does not say which run it belongs to. Add a column "
                        f"`run` with {' or '.join(map(_run_name, self._runs))}, or a column `answer` with "
                        "the answer's text."
                    )
            n_stale += bool(named) and not meant
            for at in meant:
                sides[at].append(label)
        return SideLabels(fold_labels(sides[0]), fold_labels(sides[1]), n_stale)

    def _meant(self, label: Label, systems: tuple[str, str]) -> tuple[list[int], list[int]]:
        """Return the sides whose system and run a label names, and those whose answer it can be of.

        The text of an answer, where the label has it, must be that of the run.
        """
        notes = label.metadata or {}
        run, text = notes.get("run"), notes.get("answer")
        named, meant = [], []
        for at, of_run in enumerate(self._runs):
            if split_repeat(label.system)[0] != systems[at]:
                continue
            if run not in (None, "") and str(run) not in (of_run.name, _run_name(of_run), SIDES[at]):
                continue
            named.append(at)
            answer = self._texts[at].get((label.system, label.question_id))
            if not isinstance(text, str) or answer is None or text.split() == answer.split():
                meant.append(at)
        return named, meant

    def _length_slope(self, systems: tuple[str, str], differences: LabelledDifferences) -> LengthSlope | None:
        """Return how the judge's errors go with the length of answers; None where too few are known."""
        texts = [
            [of_side.get((system, name)) for name in differences.ids]
            for of_side, system in zip(self._texts, systems, strict=True)
        ]
        known = [(at, side) for side in (0, 1) for at, text in enumerate(texts[side]) if text]
        errors = np.array([differences.errors[at, side] for at, side in known])
        repeated = any(side.unfolded for side in self._runs)
        if (
            repeated
            or not differences.same_unit
            or differences.shares is not None
            or np.count_nonzero(errors) < ERRORS
        ):
            return None
        lengths = np.log2([float(len((texts[side][at] or "").split())) or 1.0 for at, side in known])
        slope = _slope(lengths, errors, [differences.clusters[at] for at, _ in known])
        if slope is None:
            return None
        middle = [float(np.median(lengths[[side == of for _, of in known]])) for side in (0, 1)]
        return LengthSlope(slope=slope, ratio=2.0 ** (middle[1] - middle[0]))

    def why_unused(self, matched: Matched) -> DataError:
        """Return why no metric has labels of both answers to a question, most likely first."""
        name = self._given.name
        systems = dict.fromkeys(system for pair in matched.systems for system in pair)
        labelled = dict.fromkeys(split_repeat(label.system)[0] for label in self._labels)
        if not any(label.question_id in self._wanted for label in self._labels):
            ids = ", ".join(map(repr, [*dict.fromkeys(label.question_id for label in self._labels)][:SHOWN]))
            return DataError(
                f"{name}: none of the labelled questions ({ids}) is among those compared "
                f"({', '.join(map(repr, matched.ids[:SHOWN]))}). Use the same question ids."
            )
        if not systems.keys() & labelled.keys():
            if [*labelled] == [UNNAMED]:
                return DataError(
                    f"{name}: the labels do not say which system answered. Add a column `system`: "
                    f"{' or '.join(systems)}."
                )
            return DataError(
                f"{name}: the labels are for {_listed(labelled)}, but the comparison is of "
                f"{_listed(systems)}. Give a system the same name in both, or name the labelled ones with "
                "--system-a and --system-b."
            )
        pairs = self._of_systems.values()
        of_sides = [sum(len(of_pair.a) for of_pair in pairs), sum(len(of_pair.b) for of_pair in pairs)]
        for at, other in ((0, 1), (1, 0)):
            if not of_sides[at] and of_sides[other]:
                lacking = " or ".join(dict.fromkeys(pair[at] for pair in matched.systems))
                return DataError(
                    f"{name}: all {plural(of_sides[other], 'label')} of these runs are for {SIDES[other]}'s "
                    f"answers, and none for {SIDES[at]}'s ({lacking}). A difference needs labels of both "
                    f"answers to a question. {ADVICE}"
                )
        metrics = {metric for keys in matched.keys.values() for _, metric, _ in keys}
        of_metrics = Counter(label.metric for label in self._labels if label.metric)
        if of_metrics and not metrics & of_metrics.keys() and all(label.metric for label in self._labels):
            return DataError(
                f"{name}: the labels are for {_listed(of_metrics)}, but the comparison is of "
                f"{_listed(metrics)}. Judge both runs on what is labelled, or leave out the column `metric`."
            )
        return DataError(
            f"{name}: no question has a score and a label on both sides: {plural(of_sides[0], 'label')} of "
            f"A's answers and {of_sides[1]:,} of B's are for different questions, or annotators tied. "
            f"{ADVICE}"
        )


def fold_labels(labels: Iterable[Label]) -> list[Label]:
    """Return one label by an annotator for all repeats of an answer: their mean, as a question counts once.

    What is labelled twice stays so, to be refused.
    """
    groups: dict[object, list[Label]] = {}
    seen: set[object] = set()
    for label in labels:
        whose = (label.question_id, label.metric, label.annotator)
        is_again = (whose, label.system) in seen
        seen.add((whose, label.system))
        groups.setdefault((whose, len(seen) + len(groups) if is_again else 0), []).append(label)
    return [
        msgspec.structs.replace(
            rows[0], system=split_repeat(rows[0].system)[0], score=sum(row.score for row in rows) / len(rows)
        )
        for rows in groups.values()
    ]


def _with_ids(labels: Iterable[Label], a: JudgedRun, b: JudgedRun) -> list[Label]:
    """Return labels, those that are known by their question's text alone with its id."""
    ids = {row.id for side in (a, b) for row in side.questions}
    ids |= {row.question_id for side in (a, b) for row in side.judgements}
    by_text = {question_key(row.question): row.id for side in (b, a) for row in side.questions}
    by_text |= {
        question_key(row.question): row.question_id for side in (b, a) for row in side.answers if row.question
    }
    return [
        label
        if label.question_id in ids or label.question_id not in by_text
        else msgspec.structs.replace(label, question_id=by_text[label.question_id])
        for label in labels
    ]


def _run_name(run: JudgedRun) -> str:
    return PurePath(run.name).name


def _listed(names: Iterable[str]) -> str:
    known = sorted(names)
    return ", ".join(known[:SHOWN]) + (", …" if len(known) > SHOWN else "")


def _slope(x: Floats, y: Floats, clusters: Sequence[str], level: float = 0.95) -> Estimate | None:
    """Return the least-squares slope of y on x, its interval by clusters (Liang and Zeger 1986)."""
    codes = cluster_codes(clusters, len(clusters))
    groups = int(codes.max()) + 1
    centred = x - x.mean()
    spread = float(centred @ centred)
    if spread < 1e-12 or groups < 4:
        return None
    slope = float(centred @ y) / spread
    totals = np.bincount(codes, weights=centred * (y - y.mean() - slope * centred))
    half = (
        student_quantile(0.5 + level / 2, groups - 2)
        * math.sqrt(groups / (groups - 2) * float(totals @ totals))
        / spread
    )
    return Estimate(value=slope, low=slope - half, high=slope + half, n=x.size, method="student", level=level)
