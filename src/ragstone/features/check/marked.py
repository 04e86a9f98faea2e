"""What a test of an application asks for by its mark: the answers judged, and where they fall short."""

import functools
import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ragstone.features.check.checking import CheckedApplication, check_application
from ragstone.features.compare import RunBaseline, compare_with_baseline, gate_text, outcome, read_baseline
from ragstone.kernel.config import Settings, load_settings
from ragstone.kernel.document.numbers import one_line, with_level
from ragstone.kernel.errors import ConfigError, DataError, nearest
from ragstone.kernel.judging import Judge, MetricSummary
from ragstone.kernel.judging.repeated import k_of_n_of, question_score
from ragstone.kernel.judging.thresholds import is_of_another_scale, off_scale
from ragstone.kernel.judging.variant import AnyJudge, load_judges
from ragstone.kernel.records import JOINT_SUFFIX, YES_NO, Judgement, Question, references, split_repeat
from ragstone.kernel.runs.wording import denominator, mean_text, statuses
from ragstone.kernel.tables import parse_rows, read_rows

MARK = "@pytest.mark.ragstone"
WORST = 3  # questions that a failure shows
SHOWN = 200  # characters of a text
FINE = ("scored", "not_applicable")


class MarkArguments(NamedTuple):
    """What a mark asks for.

    questions: a file, relative to pytest's root folder, or rows. thresholds: judge or metric -> least mean,
    on the judge's scale; the greatest one where its lowest score is the best. judges: those asked, the names
    in `thresholds` if empty. model: that they ask.
    max_unscored: share of the judgements of each judge that may have failed. baseline: a run that the answers
    must not be worse than; margin: by how much they may be, as a share of the scale. labels: a file
    of people's labels of answers of both, by which the judges' differences are corrected; else that of
    `[gate]` in ragstone.toml. repeats: answers to each question, as many as `passes` and the rows ask for if
    absent. passes: how many of them have to hold what a row expects, such as "2 of 3", for rows that do not
    say so themselves.
    """

    questions: str | Path | Sequence[Question]
    thresholds: Mapping[str, float] = {}
    judges: Iterable[AnyJudge] = ()
    model: str | None = None
    max_unscored: float = 0.0
    baseline: str | Path | None = None
    margin: float | None = None
    repeats: int | None = None
    passes: str | None = None
    labels: str | Path | None = None


def check_marked(
    system: str | Callable[..., object], wanted: MarkArguments, root: Path
) -> tuple[CheckedApplication, list[str], list[str]]:
    """Return what was answered and judged, what the test fails for, and a line for each mean.

    root: the root folder of pytest, whose ragstone.toml holds. Raises RagstoneError, before the application
    is asked for all that is known by then.
    """
    _check_arguments(wanted)
    named = list(wanted.judges) or list(wanted.thresholds)
    if not named and wanted.baseline is None:
        raise ConfigError(f"{MARK} names no judge: give thresholds={{'containment': 0.8}}.")
    file = root / "ragstone.toml"
    settings = load_settings(file) if file.is_file() else Settings(root=str(root))
    questions = _questions(wanted, root)
    judges = load_judges(named)
    thresholds = _thresholds(judges, wanted.thresholds)
    baseline = None
    if wanted.baseline is not None:
        labels = root / wanted.labels if wanted.labels else None
        if labels is None and settings.gate.labels:
            labels = settings.path(settings.gate.labels)
        baseline = read_baseline(root / wanted.baseline, questions, margin=wanted.margin, labels=labels)
    checked = _asked(system, wanted, questions, judges, settings)
    low_best = {judge.name for judge in judges if judge.best == "lowest"}
    problems, lines = _problems(checked, wanted, thresholds, low_best)
    if baseline:
        of_baseline, line = _against(baseline, checked, wanted)
        problems, lines = [*problems, *of_baseline], [*lines, line]
    return checked, problems, lines


def _check_arguments(wanted: MarkArguments) -> None:
    """Raise ConfigError for values that no test could mean."""
    mistakes = {
        "thresholds are a mapping, such as {'containment': 0.8}": not isinstance(wanted.thresholds, Mapping),
        "judges are a list, such as ['containment']": isinstance(wanted.judges, str),
        "max_unscored is a share between 0 and 1": not 0 <= wanted.max_unscored <= 1,
        "margin is of a comparison: name the run as baseline": wanted.margin is not None
        and wanted.baseline is None,
        "labels are of a comparison: name the run as baseline": wanted.labels is not None
        and wanted.baseline is None,
    }
    for text, is_so in mistakes.items():
        if is_so:
            raise ConfigError(f"{MARK}: {text}.")
    for name, threshold in wanted.thresholds.items():
        if not (isinstance(threshold, int | float) and math.isfinite(threshold)):
            raise ConfigError(f"{MARK}: the threshold of {name} is {threshold!r}, which is not a number.")


def _questions(wanted: MarkArguments, root: Path) -> list[Question]:
    """Return the questions that are asked. Raises DataError where there are none."""
    questions = (
        list(read_rows(root / wanted.questions, Question))
        if isinstance(wanted.questions, str | Path)
        else parse_rows(wanted.questions, Question)
    )
    if not questions:
        raise DataError(f"{wanted.questions}: it contains no question, so nothing is tested.")
    return questions


def _asked(
    system: str | Callable[..., object],
    wanted: MarkArguments,
    questions: Sequence[Question],
    judges: Sequence[Judge],
    settings: Settings,
) -> CheckedApplication:
    """Return the answers and what the judges say of them. Raises RagstoneError."""
    name = None
    if callable(system):
        name = getattr(system, "__qualname__", type(system).__qualname__)
        # The ledger knows a function by its file; a test is of all that the function calls, so it asks anew.
        system = functools.update_wrapper(functools.partial(system), system)
    return check_application(
        questions,
        judges,
        settings,
        system=system,
        model=wanted.model,
        name=name,
        repeats=wanted.repeats,
        passes=wanted.passes,
    )


def _problems(
    checked: CheckedApplication,
    wanted: MarkArguments,
    thresholds: Mapping[tuple[str, str], float],
    low_best: Container[str],
) -> tuple[list[str], list[str]]:
    """Return what the test fails for, and a line for each mean. Raises ConfigError."""
    problems, lines = [], []
    for metric in checked.metrics:
        name = metric.judge if metric.judge == metric.metric else f"{metric.judge} ({metric.metric})"
        judge = metric.judge.removesuffix(JOINT_SUFFIX)
        threshold = thresholds.get((judge, metric.metric))
        if threshold is not None and metric.labels:
            raise _no_mean(metric.judge, metric.labels)
        mean = mean_text(metric, "no score") if metric.estimate is None else f"{metric.estimate.value:.3g}"
        is_low_best = judge in low_best
        needed = "" if threshold is None else f", {'at most' if is_low_best else 'threshold'} {threshold:g}"
        others = statuses(metric.statuses)
        counted = denominator(metric) + (f" ({others})" if others else "")
        line = f"{name} {mean}{needed}; {with_level(metric.estimate) or 'no interval'}; {counted}"
        lines.append(line)
        reasons = [
            *_missed(metric, threshold, is_low_best=is_low_best),
            *_unscored(metric, wanted.max_unscored),
        ]
        if reasons:
            problems.append(
                "\n".join(
                    [
                        line,
                        *(f"  {reason}" for reason in reasons),
                        *_worst(metric, checked, is_low_best=is_low_best),
                    ]
                )
            )
    return problems, lines


def _against(
    baseline: RunBaseline, checked: CheckedApplication, wanted: MarkArguments
) -> tuple[list[str], str]:
    """Return what the test fails for beside its baseline, and a line of the comparison."""
    comparison = compare_with_baseline(baseline, checked.judgements, checked.answers, checked.questions)
    is_failed = comparison.gate.outcome == "failed" or (
        wanted.margin and comparison.gate.outcome == "cannot tell"
    )
    problems = [f"Against {wanted.baseline}. {gate_text(comparison)}"] if is_failed else []
    return problems, f"against {wanted.baseline}: {outcome(comparison)}"


def _thresholds(judges: Sequence[Judge], wanted: Mapping[str, float]) -> dict[tuple[str, str], float]:
    """Return the threshold of each judge and metric. Raises ConfigError for a name that is neither."""
    known = {name for judge in judges for name in (judge.name, *judge.metrics)}
    thresholds: dict[tuple[str, str], float] = {}
    for name, threshold in wanted.items():
        own = name.removesuffix(JOINT_SUFFIX)  # of a judge that was asked in one call with others
        if own not in known:
            raise ConfigError(f"thresholds: nothing is judged by {name!r}. {nearest(name, known)}")
        named = []
        for judge in judges:
            pairs = [(judge.name, metric) for metric in judge.metrics if own in (judge.name, metric)]
            if pairs:
                _check_threshold(name, threshold, judge)
            named += pairs
        # A judge of several criteria is meant as a whole where its own name is one of its metrics.
        thresholds |= dict.fromkeys([(own, own)] if (own, own) in named else named, threshold)
    return thresholds


def _check_threshold(name: str, threshold: float, judge: Judge) -> None:
    """Raise ConfigError for a threshold that no mean of the judge can be compared with."""
    low, high = judge.scale
    if judge.kind == "classify" and judge.scale != YES_NO:
        raise _no_mean(name, judge.every_key()["labels"])
    if judge.best == "highest" and is_of_another_scale(threshold, judge.scale):
        raise ConfigError(f"thresholds: {off_scale(name, threshold, judge.scale)}")
    if not low <= threshold <= high:
        passes = (threshold > high) == (judge.best == "lowest")
        every = "every mean reaches it" if passes else "no mean reaches it"
        in_percent = (low, high) == (0, 1) and 1 < threshold <= 100
        meant = f"Did you mean {threshold / 100:g}? " if in_percent else ""
        raise ConfigError(
            f"thresholds: {threshold:g} is off the scale of {name}, {low:g} to {high:g}, so {every}. "
            f"{meant}Give a mean of that scale."
        )


def _no_mean(name: str, labels: Iterable[str]) -> ConfigError:
    return ConfigError(
        f"thresholds: {name} gives labels ({', '.join(labels)}), whose numbers have no mean. Leave its "
        "threshold out, or give the labels scores from 0 to 1 in its file."
    )


def _missed(metric: MetricSummary, threshold: float | None, *, is_low_best: bool) -> list[str]:
    """Return why a mean misses its threshold, and whether that may be chance."""
    if threshold is None:
        return []
    if metric.estimate is None:
        return ["No answer was scored, so the threshold is not reached."]
    mean, end = metric.estimate.value, metric.estimate.low if is_low_best else metric.estimate.high
    if mean <= threshold if is_low_best else mean >= threshold:
        return []
    missed = f"{'above' if is_low_best else 'below'} {threshold:g}"
    if end is None:
        return [f"{missed.capitalize()}; so few questions cannot tell whether by chance."]
    if end > threshold if is_low_best else end < threshold:
        return [f"Surely {missed}."]
    return [f"{missed.capitalize()}, but chance can explain that: more questions would tell."]


def _unscored(metric: MetricSummary, most: float) -> list[str]:
    """Return that too many judgements failed; those that are not applicable have not."""
    failed = {status: n for status, n in metric.statuses.items() if status not in FINE}
    n = sum(failed.values())
    if n <= most * metric.n_rows:
        return []
    return [f"{n} of {metric.n_rows} could not be scored; max_unscored allows {most:.0%}."]


def _worst(metric: MetricSummary, checked: CheckedApplication, *, is_low_best: bool) -> list[str]:
    """Return the questions with the worst scores, those without one first, with the reason.

    Of repeated answers the worst one stands for its question.
    """
    by_question: dict[str, list[Judgement]] = {}
    for row in checked.judgements:
        if (row.judge, row.metric) == (metric.judge, metric.metric) and row.status != "not_applicable":
            by_question.setdefault(row.question_id, []).append(row)

    def worth(score: float | None) -> float:
        return float("-inf") if score is None else -score if is_low_best else score

    worst = sorted(by_question.values(), key=lambda rows: worth(question_score(rows)))[:WORST]
    return [
        line for rows in worst for line in _told(min(rows, key=lambda row: worth(row.score)), rows, checked)
    ]


def _told(row: Judgement, rows: Sequence[Judgement], checked: CheckedApplication) -> list[str]:
    """Return a judgement of an answer in lines. rows: of all answers to its question."""
    question = next(question for question in checked.questions if question.id == row.question_id)
    answer = next(
        answer
        for answer in checked.answers
        if (answer.question_id, answer.system) == (row.question_id, row.system)
    )
    score = row.status if row.score is None else f"{row.score:g}"
    if len(rows) > 1:
        scores = ", ".join(each.status if each.score is None else f"{each.score:g}" for each in rows)
        needed = next((k_of_n for each in rows if (k_of_n := k_of_n_of(each))), None)
        wanted = f", {needed[0]} of {needed[1]} must pass" if needed else ""
        score = f"{scores}{wanted}; answer {split_repeat(row.system)[1]}"
    parts = {
        "answer": answer.answer or answer.error,
        "reference": " / ".join(references(question)),
        "reason": row.rationale or (row.error if row.error != answer.error else None),
    }
    lines = [f"    {name}: {one_line(text, SHOWN)}" for name, text in parts.items() if text]
    return [f"  {row.question_id} ({score}): {one_line(question.question, SHOWN)}", *lines]
