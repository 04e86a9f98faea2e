"""`ragstone agree`: judgements + people's labels -> the judge's report card."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.console.columns import reads_rows
from ragstone.console.options import AsJson, JudgementsFile, LabelsFile, Seed
from ragstone.console.printing import say, show, show_json

if TYPE_CHECKING:
    from ragstone.agreement.card import ReportCard
    from ragstone.agreement.corrected_mean import CorrectedMean

Thresholds = Annotated[
    list[str] | None,
    typer.Option(
        "--threshold", help="JUDGE=SCORE: scores from this one on count as 1, for labels of 0 and 1."
    ),
]
Mapping = Annotated[
    list[str] | None,
    typer.Option("--map", help="LABEL=SCORE, e.g. good=1,bad=0: the score that a label stands for."),
]
GroupBy = Annotated[
    list[str] | None,
    typer.Option("--by", help="Also group answers by this column; lang and tags are always used."),
]


@reads_rows
def agree(
    judgements: JudgementsFile,
    labels: LabelsFile,
    *,
    metric: Annotated[
        str | None, typer.Option("--metric", help="Only judges of this metric, e.g. correctness.")
    ] = None,
    threshold: Thresholds = None,
    mapping: Mapping = None,
    by: GroupBy = None,
    page: Annotated[
        Path | None, typer.Option("--page", help="Write the report cards as an HTML page to this file.")
    ] = None,
    sheet: Annotated[
        Path | None,
        typer.Option("--sheet", help="The answer sheet: adds the texts to the list of disagreements."),
    ] = None,
    seed: Seed = 0,
    json: AsJson = False,
) -> None:
    """Measure judges against people: agreement, kappa, correlation, bias, with intervals and baselines.

    Examples:

    - `ragstone agree judgements.jsonl labels.jsonl`
    - `ragstone agree judgements.jsonl labels.csv --threshold correctness=0.5 --page cards.html`
    """
    from ragstone.agreement.corrected import corrected_means
    from ragstone.agreement.grading import report_cards
    from ragstone.flows.agree.labels import with_metrics, with_texts
    from ragstone.records import Answer, Judgement, Label
    from ragstone.stages.given import answers_of, judgements_of
    from ragstone.tables import keep_sources, read_rows

    sheet = sheet or answers_of(judgements)
    if page:
        keep_sources([page], [judgements, labels, *([sheet] if sheet else [])])
    words, mapped = _mapping(mapping)
    judged = [row for row in read_rows(judgements_of(judgements), Judgement) if metric in (None, row.metric)]
    said, note = with_metrics([*read_rows(labels, Label, words=words)], {row.metric for row in judged})
    if note:
        say(note)
    if sheet:
        said = with_texts(said, read_rows(sheet, Answer))
    thresholds = _numbers(threshold, "--threshold")
    _check_known(thresholds, {row.judge for row in judged})
    cards = report_cards(judged, said, threshold=thresholds, mapping=mapped, by=by or (), seed=seed)
    corrected = corrected_means(judged, said, threshold=thresholds, mapping=mapped, seed=seed)
    _tell(cards, corrected, page, json=json)


def _tell(
    cards: "Sequence[ReportCard]", corrected: "Sequence[CorrectedMean]", page: Path | None, *, json: bool
) -> None:
    """Show the cards and the corrected means, and write the page that was asked for."""
    from ragstone.report.card import card_document, cards_document
    from ragstone.report.corrected import corrected_document
    from ragstone.report.render.html import write_page
    from ragstone.report.render.terminal import render_terminal

    if page:
        write_page(page, cards_document(cards))
    if json:
        show_json([_with_corrected(card, corrected) for card in cards])
    else:
        show(*(render_terminal(card_document(card)) for card in cards))
        if corrected:
            show(render_terminal(corrected_document(corrected)))
        if page:
            show(f"Report cards: {page}")


def _with_corrected(card: "ReportCard", corrected: "Sequence[CorrectedMean]") -> dict[str, object]:
    """Return a report card's fields, and the means of its judge that labels have corrected."""
    key = (card.judge, card.metric, card.model, card.prompt_version)
    ours = [m for m in corrected if (m.judge, m.metric, m.model, m.prompt_version) == key]
    return {name: getattr(card, name) for name in card.__struct_fields__} | {"corrected": ours}


def _numbers(given: list[str] | None, option: str) -> dict[str, float]:
    """Return NAME=NUMBER options as a dict. Raises ConfigError."""
    found = {}
    for text in given or ():
        name, _, number = text.rpartition("=")  # a variant's name holds one: rubric@shots=2
        found[name.strip()] = _number(number, option, text)
    return found


def _mapping(given: list[str] | None) -> tuple[dict[str, float], dict[float, float] | None]:
    """Return word -> score, and number -> score, of `good=1,bad=0` or `3=1`. Raises ConfigError."""
    scores = _numbers([part for text in given or () for part in text.split(",")], "--map")
    numbers = {float(label): score for label, score in scores.items() if _is_number(label)}
    words = {label: score for label, score in scores.items() if not _is_number(label)}
    # What words stand for is on the judge's scale already.
    return words, {**{score: score for score in words.values()}, **numbers} if numbers else None


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _number(text: str, option: str, given: str | None = None) -> float:
    """Return the number that a text is. Raises ConfigError, also for nan and inf."""
    from ragstone.errors import ConfigError

    example = "1=0.5" if option == "--map" else "correctness=50"
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        form = "LABEL=SCORE, a score being a number" if option == "--map" else "NAME=NUMBER"
        raise ConfigError(f"{option} {given or text!r}: write {form}, e.g. {example}.")
    return number


def _check_known(thresholds: dict[str, float], judges: set[str]) -> None:
    """Check that each threshold is of a judge in the file. Raises ConfigError."""
    from ragstone.errors import ConfigError, nearest

    for name in thresholds:
        if judges and name not in judges:
            raise ConfigError(f"--threshold {name!r}: no judge of that name. {nearest(name, sorted(judges))}")
