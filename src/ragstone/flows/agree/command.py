"""`ragstone agree`: judgements + people's labels -> the judge's report card."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.console.options import AsJson, Seed
from ragstone.console.printing import show, show_json

if TYPE_CHECKING:
    from ragstone.agreement.card import ReportCard
    from ragstone.agreement.corrected import CorrectedMean


def agree(
    judgements: Annotated[Path, typer.Argument(help="What the judges said.")],
    labels: Annotated[Path, typer.Argument(help="What people said: question_id, system, score.")],
    *,
    metric: Annotated[
        str | None, typer.Option("--metric", help="Look at judges of this metric only, e.g. correctness.")
    ] = None,
    threshold: Annotated[
        list[str] | None,
        typer.Option("--threshold", help="JUDGE=SCORE: from there on it says 1; for labels that are 0 or 1."),
    ] = None,
    mapping: Annotated[
        list[str] | None, typer.Option("--map", help="LABEL=SCORE: what a label is on the judge's scale.")
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by", help="Group answers by this column too, e.g. crop; lang and tags need no asking."
        ),
    ] = None,
    page: Annotated[
        Path | None, typer.Option("--page", help="Write the report cards as an HTML page to this file.")
    ] = None,
    seed: Seed = 0,
    json: AsJson = False,
) -> None:
    """Measure judges against people: agreement, kappa, correlation, bias, with intervals and baselines."""
    from ragstone.agreement.corrected import corrected_means
    from ragstone.agreement.grading import report_cards
    from ragstone.records import Judgement, Label
    from ragstone.tables import keep_sources, read_rows

    if page:
        keep_sources([page], [judgements, labels])
    judged = [row for row in read_rows(judgements, Judgement) if metric in (None, row.metric)]
    said = list(read_rows(labels, Label))
    thresholds = _numbers(threshold, "--threshold")
    _check_known(thresholds, {row.judge for row in judged})
    mapped = {_number(label, "--map"): score for label, score in _numbers(mapping, "--map").items()} or None
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


def _number(text: str, option: str, given: str | None = None) -> float:
    """Return the number that a text is. Raises ConfigError, also for nan and inf."""
    from ragstone.errors import ConfigError

    example = "1=0.5" if option == "--map" else "correctness=50"
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        form = "LABEL=SCORE, both numbers" if option == "--map" else "NAME=NUMBER"
        raise ConfigError(f"{option} {given or text!r}: write {form}, e.g. {example}.")
    return number


def _check_known(thresholds: dict[str, float], judges: set[str]) -> None:
    """Check that each threshold is of a judge in the file. Raises ConfigError."""
    from ragstone.errors import ConfigError, nearest

    for name in thresholds:
        if judges and name not in judges:
            raise ConfigError(f"--threshold {name!r}: no judge of that name. {nearest(name, sorted(judges))}")
