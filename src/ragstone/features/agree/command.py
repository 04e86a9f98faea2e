"""`ragstone agree`: judgements + people's labels -> the judge's report card."""

import math
from collections.abc import Mapping as Map
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from ragstone.kernel.console.columns import reads_rows
from ragstone.kernel.console.options import AsJson, JudgementsFile, Seed, Whole
from ragstone.kernel.console.printing import say, show, show_documents, show_json
from ragstone.kernel.errors import ConfigError

if TYPE_CHECKING:
    from ragstone.features.agree._languages import JudgedLanguages
    from ragstone.features.agree._output import CardOutput, LanguagesOutput
    from ragstone.features.agree._parity import LanguageParity
    from ragstone.features.agree.flips import Flips
    from ragstone.features.agree.gaps import SpecGaps
    from ragstone.kernel.agreement.card import ReportCard
    from ragstone.kernel.agreement.corrected_mean import CorrectedMean
    from ragstone.kernel.agreement.sequential import SequentialAgreement
    from ragstone.kernel.records import Label

KeyedT = TypeVar("KeyedT", "CorrectedMean", "LanguageParity", "SequentialAgreement")
DEFAULT_MEASURE = "kappa"
EXIT_CODES = {"trusted": 0, "not trusted": 1, "undecided": 3}

Thresholds = Annotated[
    list[str] | None,
    typer.Option("--threshold", help="JUDGE=SCORE: scores at or above it count as 1, for labels of 0 and 1."),
]
Mapping = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        help="LABEL=SCORE, e.g. good=1,bad=0 or 1=0,5=100: what labels stand for; between two lies the rest.",
    ),
]
GroupBy = Annotated[
    list[str] | None,
    typer.Option("--by", help="Also group answers by this column; lang and tags are always used."),
]


Parallel = Annotated[
    str | None,
    typer.Option(
        "--parallel", help="Column that copies of a question in several languages share (default: parallel)."
    ),
]
Base = Annotated[
    str | None, typer.Option("--base", help="Language that the others are compared with (default: en).")
]

Gaps = Annotated[
    bool,
    typer.Option("--gaps", help="Show where grades differ for the same stated reason."),
]
Again = Annotated[
    Path | None,
    typer.Option("--again", help="The same answers labelled again: how many labels flipped."),
]
Policy = Annotated[
    str | None,
    typer.Option("--policy", help="Only labels given under these instructions (their digest, or none)."),
]

MaybeLabels = Annotated[
    Path | None, typer.Argument(help="People's labels; without them, languages are compared alone.")
]


@reads_rows
def agree(
    judgements: JudgementsFile,
    labels: MaybeLabels = None,
    *,
    metric: Annotated[
        str | None, typer.Option("--metric", help="Only judges of this metric, e.g. correctness.")
    ] = None,
    threshold: Thresholds = None,
    mapping: Mapping = None,
    by: GroupBy = None,
    policy: Policy = None,
    gaps: Gaps = False,
    again: Again = None,
    parallel: Parallel = None,
    base: Base = None,
    page: Annotated[
        Path | None, typer.Option("--page", help="Write the report cards as an HTML page to this file.")
    ] = None,
    sheet: Annotated[
        Path | None,
        typer.Option("--sheet", help="The answer sheet: adds the texts to the list of disagreements."),
    ] = None,
    sequential: Annotated[
        bool,
        typer.Option("--sequential", help="Also show intervals that you may look at after every label."),
    ] = False,
    trust: Annotated[
        float | None,
        typer.Option("--trust", help="A bar, e.g. 0.8: exit code 0 trusted, 1 not trusted, 3 undecided."),
    ] = None,
    measure: Annotated[
        str,
        typer.Option("--measure", help="For --sequential and --trust: kappa, agreement or error."),
    ] = "kappa",
    seed: Seed = 0,
    json: AsJson = False,
    whole: Whole = False,
) -> None:
    """Measure judges against people: agreement, kappa, correlation, bias, with intervals and baselines.

    The judgements may be another tool's verdicts (see `ragstone import`); if people have annotated in that
    file, no other labels are needed. For answers in several languages it also shows whether a judge scores
    them alike; that needs no labels.

    Examples:

    - `ragstone agree judgements.jsonl labels.jsonl`
    - `ragstone agree judgements.jsonl labels.csv --threshold correctness=50 --page cards.html`
    - `ragstone agree judgements.jsonl labels.jsonl --trust 0.8`
    - `ragstone agree langfuse.jsonl`
    - `ragstone agree judgements.jsonl --sheet answers.jsonl --parallel parallel_id`
    """
    from ragstone.features.agree._evidence import with_findings
    from ragstone.features.agree._languages import LanguageRequest, languages_of, read_copies
    from ragstone.features.agree.flips import flips_in
    from ragstone.features.agree.gaps import spec_gaps
    from ragstone.features.agree.joining import columns_of_run, join_labels, labels_within
    from ragstone.features.agree.sequential_words import verdict_of
    from ragstone.kernel.agreement.corrected import corrected_means
    from ragstone.kernel.agreement.grading import report_cards
    from ragstone.kernel.agreement.mapping import read_mapping
    from ragstone.kernel.agreement.policies import labels_under
    from ragstone.kernel.agreement.sequential import sequential_agreement
    from ragstone.kernel.records import Answer, Judgement
    from ragstone.kernel.stages.given import answers_of, judgements_of
    from ragstone.kernel.tables import keep_sources, read_rows

    if labels is None:
        labels = labels_within(judgements, needed=not (parallel or base or sheet))
    if labels and not (gaps or again):
        _check_whole(judgements)
    while_labelling = sequential or trust is not None
    _check_sequential(measure, trust, wanted=while_labelling, labelled=labels is not None)
    measures = {
        "--sequential": sequential,
        "--trust": trust,
        "--by": by,
        "--parallel": parallel,
        "--base": base,
    }
    _check_asked(labels, {"--policy": policy, "--gaps": gaps, "--again": again}, measures)
    sheet = sheet or answers_of(judgements)
    if page:
        keep_sources([page], [judgements, *(path for path in (labels, sheet, again) if path)])
    by_word, mapped = read_mapping(mapping or ())
    rows = read_rows(judgements_of(judgements), Judgement, words=by_word)
    judged = [row for row in rows if metric in (None, row.metric)]
    with columns_of_run(judgements):
        labelled = _read_labels(labels, sheet, {row.metric for row in judged}, by_word) if labels else []
        labelled = labels_under(labelled, policy)
        labelled = join_labels(judged, labelled, list(read_rows(sheet, Answer)) if sheet else ())
    cut = _numbers(threshold, "--threshold")
    _check_known(cut, {row.judge for row in judged})
    if gaps or again:
        second = _read_labels(again, sheet, {row.metric for row in judged}, by_word) if again else []
        reports = spec_gaps(judged, labelled, threshold=cut, mapping=mapped, seed=seed) if gaps else []
        _tell_gaps(reports, flips_in(labelled, second) if again else {}, page, json=json, whole=whole)
        return
    request = LanguageRequest(parallel=parallel, base=base, wanted=bool(not labels or parallel or base))
    copies = read_copies(judgements, sheet, judged, labelled, parallel)
    languages = languages_of(copies, judged, labelled, request, threshold=cut, mapping=mapped, seed=seed)
    cards = (
        report_cards(judged, labelled, threshold=cut, mapping=mapped, by=by or (), seed=seed)
        if labels
        else []
    )
    cards = with_findings(cards, Path())
    corrected = corrected_means(judged, labelled, threshold=cut, mapping=mapped, seed=seed)
    looks = (
        sequential_agreement(
            judged, labelled, measure=measure, trust=trust, mapping=mapped, threshold=cut, seed=seed
        )
        if while_labelling
        else []
    )
    _tell(cards, corrected, languages, looks, page, json=json, whole=whole)
    if trust is not None and (code := EXIT_CODES[verdict_of(looks)]):
        raise typer.Exit(code)


def _check_whole(judgements: Path) -> None:
    """Refuse a run of chosen answers: agreement would be that of the choice. Raises DataError."""
    from ragstone.kernel.errors import DataError
    from ragstone.kernel.runs.summary import chosen_in

    if chosen := chosen_in(judgements):
        raise DataError(
            f"{judgements} holds only answers of {chosen.of} that were chosen ({chosen.where}), so they are "
            "not a sample: agreement and means would apply to that choice only. Name a run of all answers."
        )


def _check_sequential(measure: str, trust: float | None, *, wanted: bool, labelled: bool) -> None:
    """Check the options of what is measured while labels come in. Raises ConfigError."""
    from ragstone.kernel.agreement.sequential import check_trust

    check_trust(measure, trust)
    if wanted and not labelled:
        raise ConfigError("--sequential and --trust compare a judge with people: give a file of labels too.")
    if measure != DEFAULT_MEASURE and not wanted:
        raise ConfigError(f"--measure {measure} is for --sequential and --trust: give one of them too.")


def _check_asked(labels: Path | None, needs: "Map[str, object]", measures: "Map[str, object]") -> None:
    """Check that what is asked of labels has some, and is asked without measures of a judge.

    needs, measures: option -> its value. Raises ConfigError.
    """
    wanted = [option for option, value in needs.items() if value]
    if wanted and not labels:
        raise ConfigError(f"{', '.join(wanted)}: only with labels. Name their file after the judgements.")
    wrong = [option for option, value in measures.items() if value]
    if wrong and {"--gaps", "--again"} & {*wanted}:
        raise ConfigError(
            f"{', '.join(wrong)} cannot be used with --gaps or --again, which use only labels. Leave it out."
        )


def _tell_gaps(
    reports: "Sequence[SpecGaps]",
    flips: "Map[str, Sequence[Flips]]",
    page: Path | None,
    *,
    json: bool,
    whole: bool,
) -> None:
    """Show where grades differ for the same reason, and how many answers flipped when labelled again."""
    from ragstone.features.agree._output import GapsOutput
    from ragstone.features.agree.gap_words import gaps_document
    from ragstone.kernel.document.html import render_page
    from ragstone.kernel.document.output import put_text

    document = gaps_document(reports, flips)
    if page:
        put_text(page, render_page(document))
    if json:
        again = {metric: list(of_metric) for metric, of_metric in flips.items()}
        show_json(GapsOutput(gaps=list(reports), again=again))
        return
    show_documents(document, whole=whole)
    if page:
        show(f"Gaps: {page}")


def _read_labels(
    labels: Path, sheet: Path | None, metrics: set[str], by_word: dict[str, float]
) -> "list[Label]":
    """Return the labels with their metrics, and the texts of a sheet; tell what was guessed."""
    from ragstone.features.agree.joining import with_texts
    from ragstone.kernel.agreement.labels import with_metrics
    from ragstone.kernel.records import Answer, Label
    from ragstone.kernel.tables import read_rows

    rows, note = with_metrics([*read_rows(labels, Label, words=by_word)], metrics)
    if note:
        say(note)
    return with_texts(rows, read_rows(sheet, Answer)) if sheet else rows


def _tell(
    cards: "Sequence[ReportCard]",
    corrected: "Sequence[CorrectedMean]",
    languages: "JudgedLanguages",
    looks: "Sequence[SequentialAgreement]",
    page: Path | None,
    *,
    json: bool,
    whole: bool,
) -> None:
    """Show the cards, the corrected means and the languages, and write the page that was asked for."""
    from ragstone.features.agree._parity_words import parity_document, with_parity
    from ragstone.features.agree.corrected_words import corrected_document
    from ragstone.features.agree.sequential_words import sequential_document
    from ragstone.features.agree.words import card_document, cards_document
    from ragstone.kernel.document.html import render_page
    from ragstone.kernel.document.output import put_text

    parity = [parity_document(languages.parity, languages.untold)] if languages.parity else []
    at_looks = [sequential_document(looks)] if looks else []
    if page:
        document = with_parity(cards_document(cards), [*at_looks, *parity]) if cards else parity[0]
        put_text(page, render_page(document))
    if json:
        show_json(_as_json(cards, corrected, languages, looks))
        return
    by_language = "What people would give, by language"
    show_documents(
        *(
            [] if whole else at_looks
        ),  # whether the bar is met answers first, and stands last where all is shown
        *map(card_document, cards),
        *([corrected_document(corrected)] if corrected else []),
        *([corrected_document(languages.corrected, by_language)] if languages.corrected else []),
        *parity,
        *(at_looks if whole else []),
        whole=whole,
    )
    if page:
        show(f"Report cards: {page}")


def _as_json(
    cards: "Sequence[ReportCard]",
    corrected: "Sequence[CorrectedMean]",
    languages: "JudgedLanguages",
    looks: "Sequence[SequentialAgreement]" = (),
) -> "list[CardOutput] | list[LanguagesOutput]":
    """Return each report card's fields with what else is known of its judge; without labels, that alone."""
    from msgspec import UNSET

    from ragstone.features.agree._output import CardOutput, LanguagesOutput

    def key(row: "ReportCard | CorrectedMean | LanguageParity | SequentialAgreement") -> tuple[object, ...]:
        return row.judge, row.metric, row.model, row.prompt_version

    def of(judge: "ReportCard | LanguageParity", rows: "Sequence[KeyedT]") -> "list[KeyedT]":
        return [row for row in rows if key(row) == key(judge)]

    if not cards:
        judges = {key(row): row for row in languages.parity}
        return [
            LanguagesOutput(
                judge=row.judge,
                metric=row.metric,
                model=row.model,
                prompt_version=row.prompt_version,
                parity=of(row, languages.parity),
            )
            for row in judges.values()
        ]
    return [
        CardOutput(
            **{name: getattr(card, name) for name in card.__struct_fields__},
            corrected=of(card, corrected),
            corrected_by_language=of(card, languages.corrected),
            parity=of(card, languages.parity),
            sequential=next(iter(of(card, looks)), None) if looks else UNSET,
        )
        for card in {key(card): card for card in cards}.values()
    ]


def _numbers(options: list[str] | None, option: str) -> dict[str, float]:
    """Return NAME=NUMBER options as a dict. Raises ConfigError."""
    numbers = {}
    for text in options or ():
        name, _, number = text.rpartition("=")  # a variant's name holds one: rubric@shots=2
        numbers[name.strip()] = _number(number, option, text)
    return numbers


def _number(text: str, option: str, option_text: str | None = None) -> float:
    """Return the number that a text is. Raises ConfigError, also for nan and inf."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ConfigError(f"{option} {option_text or text!r}: write NAME=NUMBER, e.g. correctness=50.")
    return number


def _check_known(thresholds: dict[str, float], judges: set[str]) -> None:
    """Check that each threshold is of a judge in the file. Raises ConfigError."""
    from ragstone.kernel.errors import nearest

    for name in thresholds:
        if judges and name not in judges:
            raise ConfigError(f"--threshold {name!r}: no judge of that name. {nearest(name, sorted(judges))}")
