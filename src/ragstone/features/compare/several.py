"""More than two judged runs -> their means side by side, how many questions flip, which settings differ."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import msgspec

from ragstone.features.compare._chosen import chosen_before
from ragstone.features.compare._chosen_sentence_table import MEANS_OF_CHOSEN
from ragstone.features.compare._repeats import fold_repeats
from ragstone.features.compare._several_sentence_table import JUDGED_UNLIKE, OTHER_QUESTIONS
from ragstone.features.compare.comparing import Source, read_judged
from ragstone.features.compare.matching import JudgedRun, SharedQuestions, is_low_best, shared_questions
from ragstone.features.compare.matrix import MatrixPoint, is_crossed, lay_out, matrix_blocks, point_of
from ragstone.features.compare.values import SeveralMeans, SeveralRuns
from ragstone.kernel.document.blocks import (
    Block,
    Cell,
    Column,
    Heading,
    Made,
    Paragraph,
    ReportDocument,
    estimated,
    table_of,
)
from ragstone.kernel.document.numbers import count, one_line
from ragstone.kernel.document.plots.values import Frontier, Intervals, Plot, PlotPoint
from ragstone.kernel.errors import DataError, plural
from ragstone.kernel.judging import MetricSummary, question_clusters, summarise
from ragstone.kernel.records import Judgement, split_repeat
from ragstone.kernel.runs.order_plots import price_plot, rank_plot, ranks_of
from ragstone.kernel.runs.settings import RunSetting, run_settings
from ragstone.kernel.runs.wording import judge_name, mean_text
from ragstone.kernel.sentences import say
from ragstone.kernel.statistics import Estimate, mean_estimate
from ragstone.kernel.statistics.ranks import RankShares
from ragstone.kernel.version import __version__

LONGEST_SETTING = 30


def compare_several(
    runs: Sequence[Source], *, metrics: Collection[str] = (), seed: int = 0, by: Sequence[str] = ()
) -> SeveralRuns:
    """Return the means of some runs side by side; whether two of them differ is for `compare` to say.

    runs: run folders, files of judgements, or judgements. metrics: names of metrics or judges, in place of
    all. seed: of the intervals. by: the settings by which means are laid out as a matrix, for the rows and
    the columns; by default two that cross, prompt and model first. Raises DataError for a run that is none,
    for a metric that no run has, for runs of chosen answers mixed with others, and for a setting in which the
    runs do not differ.
    """
    if isinstance(runs, str | bytes) or not isinstance(runs, Sequence):
        raise DataError(f"runs: give a list of runs, got {type(runs).__name__}.")
    read = [read_judged(run, f"list {at}", []) for at, run in enumerate(runs, 1)]
    names, chosen = _names(read), chosen_before(read)
    if chosen and len({run.chosen and run.chosen.where for run in read}) > 1:
        raise DataError(
            f"Some of these runs hold only answers chosen by a filter ({chosen}), so their means are over "
            "other questions. Name only runs with the same filter, or only runs without one."
        )
    columns: dict[str, list[Judgement]] = {}
    run_of: dict[str, JudgedRun] = {}
    clusters: dict[str, str] = {}
    usd: dict[str, Estimate] = {}
    means: dict[tuple[str, str], dict[str, MetricSummary]] = {}
    points: dict[str, list[MatrixPoint]] = {}
    settings = {
        name: run_settings(run.manifest) for name, run in zip(names, read, strict=True) if run.manifest
    }
    for name, run in zip(names, read, strict=True):
        judges = run.manifest.judges if run.manifest else {}
        several = len({split_repeat(row.system)[0] for row in run.judgements}) > 1
        clusters |= question_clusters(run.questions, run.judgements)
        for row in fold_repeats(run).judgements:
            column = f"{name}: {row.system}" if several else name
            columns.setdefault(column, []).append(row)
            run_of[column] = run
        for system, cost in _costs(run, seed).items():
            usd[f"{name}: {system}" if several else name] = cost
        for mean in summarise(run.judgements, clusters=question_clusters(run.questions), seed=seed):
            if not metrics or {mean.judge, mean.metric} & set(metrics):
                column = f"{name}: {mean.system}" if several else name
                means.setdefault((mean.judge, mean.metric), {}).setdefault(column, mean)
                key = f"{mean.judge}|{mean.metric}"
                points.setdefault(key, []).append(point_of(column, mean, settings.get(name, {}), judges))
    if not means:
        raise DataError(f"No run was judged by {' or '.join(metrics) or 'any judge'}. Name another --metric.")
    low_best = {judge for judge, _ in means if is_low_best(judge, read)}
    rows_of = {key: _rows_of(columns, own) for key, own in means.items()}
    questions = {key: _questions(run_of, rows) for key, rows in rows_of.items()}
    compared = [
        SeveralMeans(
            judge=judge,
            metric=metric,
            means=own,
            n_flips=_flips(rows_of[judge, metric], own, questions[judge, metric].reworded),
            # The first rank is that of the highest mean: no good one where the lowest score is the best.
            ranks=(
                msgspec.UNSET
                if judge in low_best
                else _ranks(rows_of[judge, metric], own, questions[judge, metric].reworded, clusters, seed)
            ),
            best="lowest" if judge in low_best else msgspec.UNSET,
            n_questions=questions[judge, metric].n_known,
            n_shared=questions[judge, metric].n,
        )
        for (judge, metric), own in means.items()
    ]
    laid_out = {key: lay_out(own, by) for key, own in points.items()}
    # Without a choice of settings, only where two of them cross.
    matrices = {key: matrix for key, matrix in laid_out.items() if matrix and (by or is_crossed(matrix))}
    return SeveralRuns(
        columns=list(columns),
        metrics=compared,
        settings=_differing(settings),
        usd=usd or msgspec.UNSET,
        matrices=matrices or msgspec.UNSET,
        chosen=chosen or msgspec.UNSET,
    )


def _names(runs: Sequence[JudgedRun]) -> list[str]:
    """Return short names of the runs: those of their folders, whole paths where two are alike."""
    short = [Path(run.name).name or run.name for run in runs]
    names = [
        folder_name if short.count(folder_name) == 1 else run.name
        for folder_name, run in zip(short, runs, strict=True)
    ]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise DataError(f"{twice} is named twice. Name each run once.")
    return names


def _rows_of(
    columns: Mapping[str, list[Judgement]], means: Mapping[str, MetricSummary]
) -> dict[str, list[Judgement]]:
    """Return the judgements of each column that its mean is of."""
    rows_of = {}
    for column, mean in means.items():
        key = (mean.system, mean.judge, mean.metric, mean.model)
        rows_of[column] = [
            row for row in columns[column] if (row.system, row.judge, row.metric, row.model) == key
        ]
    return rows_of


def _questions(runs: Mapping[str, JudgedRun], rows_of: Mapping[str, list[Judgement]]) -> SharedQuestions:
    return shared_questions(
        [(runs[column], {row.question_id for row in rows}) for column, rows in rows_of.items()]
    )


def _flips(
    rows_of: Mapping[str, list[Judgement]], means: Mapping[str, MetricSummary], reworded: Collection[str]
) -> int | None:
    if any(mean.scale is None or mean.labels for mean in means.values()):
        return None
    passed: dict[str, set[bool]] = {}
    for column, mean in means.items():
        middle = sum(mean.scale or ()) / 2
        for row in rows_of[column]:
            if row.score is not None and row.question_id not in reworded:
                passed.setdefault(row.question_id, set()).add(row.score >= middle)
    return sum(len(outcomes) > 1 for outcomes in passed.values())


def _ranks(
    rows_of: Mapping[str, list[Judgement]],
    means: Mapping[str, MetricSummary],
    reworded: Collection[str],
    clusters: Mapping[str, str],
    seed: int,
) -> RankShares | msgspec.UnsetType:
    if any(mean.labels for mean in means.values()) or len({mean.model for mean in means.values()}) > 1:
        return msgspec.UNSET  # judges of other models are other judges: their means have no order
    scores = {
        column: {
            row.question_id: row.score
            for row in rows
            if row.score is not None and row.question_id not in reworded
        }
        for column, rows in rows_of.items()
    }
    return ranks_of(scores, clusters, seed=seed) or msgspec.UNSET


def _costs(run: JudgedRun, seed: int) -> dict[str, Estimate]:
    """Return the mean cost of an answer of each system all of whose answers say it."""
    costs: dict[str, list[float | None]] = {}
    for answer in run.answers:
        costs.setdefault(split_repeat(answer.system)[0], []).append(answer.cost_usd)
    known = {
        system: [cost for cost in values if cost is not None]
        for system, values in costs.items()
        if None not in values
    }
    means = {system: mean_estimate(values, seed=seed, proportion=False) for system, values in known.items()}
    return {system: mean for system, mean in means.items() if mean is not None}


def _differing(known: Mapping[str, Mapping[str, RunSetting]]) -> dict[str, dict[str, str]]:
    """Return the settings that are not the same in all runs, in words. known: run -> its settings."""
    settings = dict.fromkeys(name for own in known.values() for name in own)
    return {
        setting: {name: own[setting].words for name, own in known.items() if setting in own}
        for setting in settings
        if len({setting in own and (own[setting].identity or own[setting].words) for own in known.values()})
        > 1
    }


def several_document(several: SeveralRuns) -> ReportDocument:
    """Return the runs as a document: a row for each column, so that many runs fit a terminal."""
    blocks: list[Block] = [Paragraph(sentence)] if (sentence := say(several, MEANS_OF_CHOSEN)) else []
    for at, metric in enumerate(several.metrics):
        name = judge_name(next(iter(metric.means.values())))
        blocks += [Heading(name), table_of(name, several.columns, _of_metric(metric))]
        if unlike := say(metric, JUDGED_UNLIKE):
            blocks.append(Paragraph(unlike, "warn"))
        if others := say(metric, OTHER_QUESTIONS):
            blocks.append(Paragraph(others, "warn"))
        blocks += several_plots(several, metric, at)
        if several.matrices and (matrix := several.matrices.get(f"{metric.judge}|{metric.metric}")):
            blocks += matrix_blocks(matrix, name)
        if metric.n_flips is not None:
            verb = "passes in one column and fails" if metric.n_flips == 1 else "pass in one column and fail"
            blocks.append(Paragraph(f"{plural(metric.n_flips, 'question')} {verb} in another."))
    if several.settings:
        name = "Settings that differ"
        blocks += [Heading(name), table_of(name, several.settings, _of_settings(several))]
    return ReportDocument(
        title=plural(len(several.columns), "column") + " side by side",
        kind="several runs",
        about="Means with their intervals. `ragstone compare A B` says whether two of them differ.",
        version=__version__,
        blocks=blocks,
    )


def _of_metric(means: SeveralMeans) -> list[Made[str]]:
    return [
        (Column("Run", text=True), lambda column: column),
        (Column("Mean", beside="interval"), lambda column: _mean(means, column)),
        ("Scored", lambda column: _scored(means, column)),
    ]


def _of_settings(several: SeveralRuns) -> list[Made[str]]:
    def of(run: str) -> Made[str]:
        return Column(run, text=True), lambda name: one_line(
            several.settings[name].get(run, "not set"), LONGEST_SETTING
        )

    runs = dict.fromkeys(run for own in several.settings.values() for run in own)
    return [(Column("Setting", text=True), lambda name: name), *map(of, runs)]


def _mean(means: SeveralMeans, column: str) -> Cell | str:
    mean = means.means.get(column)
    if mean and mean.labels:
        return mean_text(mean)
    return estimated(mean.estimate) if mean else ""


def _scored(means: SeveralMeans, column: str) -> str:
    mean = means.means.get(column)
    return f"{count(mean.statuses.get('scored', 0))} of {count(mean.n_rows)}" if mean else "not judged"


def several_plots(several: SeveralRuns, metric: SeveralMeans, at: int) -> list[Plot]:
    """Return the plots. at: place of the metric, which makes their names unique."""
    means = {
        column: mean.estimate
        for column in several.columns
        if (mean := metric.means.get(column)) and mean.estimate and not mean.labels
    }
    if len(means) < 2:
        return []
    first = next(iter(metric.means.values()))
    is_low_best = metric.best == "lowest"
    title = judge_name(first) + (" (lowest is best)" if is_low_best else "")
    prices = {} if several.usd is msgspec.UNSET else several.usd
    points = [
        PlotPoint(
            name=column,
            value=mean.value,
            low=mean.low,
            high=mean.high,
            n=mean.n,
            x=price.value if (price := prices.get(column)) else None,
            x_low=price.low if price else None,
            x_high=price.high if price else None,
        )
        for column, mean in means.items()
    ]
    figure = Intervals(
        points=points, axis=f"mean of {title}, with the 95 % interval", of="Run", ends=first.scale
    )
    frontier = Frontier(
        points=[],
        unit="usd",
        across="cost of 1,000 answers",
        upwards=f"mean of {title}",
        nothing="0 USD",
        is_low_best=is_low_best,
    )
    ranks = metric.ranks
    return [
        Plot(name=f"means-{at}", title=f"{title}: means", figure=figure, where="page"),
        *(
            []
            if ranks is msgspec.UNSET
            else [rank_plot(ranks, f"ranks-{at}", "Run", "the answers and the judge")]
        ),
        *price_plot(points, frontier, f"cost-{at}", f"{title} against cost"),
    ]
