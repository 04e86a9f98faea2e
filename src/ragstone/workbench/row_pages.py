"""The page of one row: a question with everything that the run, its judges and people say of it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode

import msgspec
from litestar import Response, get
from litestar.params import FromPath

from ragstone.features.improve.trial.pages import offered
from ragstone.features.label.picking import label_places, seen_labels
from ragstone.kernel.document.html import script_json
from ragstone.kernel.document.room import PageRoom
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import NO_MODEL, STATUS_WORDS
from ragstone.kernel.runs.asked import CALLS_FILE
from ragstone.kernel.runs.embedded import ColumnView, EvidenceView
from ragstone.kernel.runs.joining import OpenedRows, columns_of
from ragstone.kernel.runs.labelled import label_files, labels_of_row
from ragstone.kernel.runs.notes import read_notes
from ragstone.kernel.serve.frame import ROOT, AtPerson, Person, page, query_of
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.kernel.serve.rows.asking import RowFilter, RowPlace
from ragstone.kernel.serve.state import AppState, AtApp, RunFolder, run_folder
from ragstone.workbench.opened_rows import opened_in

JUDGEMENTS_A_PAGE = 60
TEXT_BYTES = 120_000  # of the row's texts, as they are sent
ROW_BYTES = 170_000  # of all of the row: with the frame and what it loads, the page stays under 300 kB
CAPS = (200, 60, 20, 8, 3)  # entries of a list of the row, tried in turn until it fits
SYSTEMS_A_CAP = 4  # answers of other systems, times the entries of a list
LONGEST_HEADING = 600  # characters of the question; a longer one is whole below


class RowAsked(msgspec.Struct, frozen=True, kw_only=True):
    """Which row; the rest of the address is the filter and the order of the list it is in.

    system: whose answer comes first, and the others are compared with. judged: the first judgement that is
    shown, where there are too many for a page.
    """

    question: str
    system: str = ""
    judged: int = 0


@get("/runs/{index:int}/{name:str}/row", sync_to_thread=True)
def row(
    request: AnyRequest,
    app: AtApp,
    person: AtPerson,
    folder: RunFolder,
    index: FromPath[int],
    name: FromPath[str],
) -> Response[str]:
    """Give the page of a row: of an address see RowAsked."""
    query = query_of(request, RowAsked)
    question, system, judged = query.question, query.system, query.judged
    own = RowAsked.__struct_fields__
    of_list = [
        (key, value) for key, value in parse_qsl(request.url.query) if key not in own
    ]  # in their order
    here = f"{ROOT}/runs/{index}/{quote(name, safe='')}"
    values: dict[str, Any] = {"here_run": here, "run_name": name, "kept": of_list, "question": question}
    of_system = [("system", system)] if system else []
    values["row_at"] = (
        f"{here}/row?{urlencode([*of_list, *of_system, ('question', '')])}"  # the id comes last
    )
    values["list_at"] = f"{here}?{urlencode(of_list)}" if of_list else here
    opened_row = _found(app, folder, question, query_of(request, RowFilter))
    if opened_row.opened is None:
        return page(request, "workbench/row_gone.html", "This row is gone", status=404, **values)
    whole_row, wrong = _whole(app, person, opened_row, system)
    n_judged = len(whole_row.detail.judgements)
    first = max(0, min(judged, n_judged - 1)) // JUDGEMENTS_A_PAGE * JUDGEMENTS_A_PAGE
    fitted = fitted_row(whole_row, first)
    systems = [answer.system for answer in whole_row.answers]
    chosen = system if system in systems else next(iter(systems), "")
    answers = {answer.system: answer.answer for answer in whole_row.answers}
    places = label_places(app, person, f"{index}/{name}", question, answers)
    return page(
        request,
        "workbench/row.html",
        whole_row.question
        if len(whole_row.question) <= LONGEST_HEADING
        else f"{whole_row.question[:LONGEST_HEADING]}…",
        **values,
        wrong=wrong + ([f"{system!r} did not answer this question."] if system not in ("", chosen) else []),
        place=opened_row.place,
        chips=_chips(opened_row.columns, dict(of_list)),
        chosen=chosen,
        row_systems=len(systems),
        can_pick=places.can_pick and bool(n_judged),
        tries=next(iter(offered(app, folder)), None) if person.may("owner") else None,
        may_note=person.may("annotator"),
        has_calls=(folder / CALLS_FILE).is_file(),
        first=first,
        n_judged=n_judged,
        a_page=JUDGEMENTS_A_PAGE,
        is_less=fitted.is_cut or fitted.cap is not None,
        cap=fitted.cap,
        row=fitted.row,
        labels_at=places.at,
        status_words=STATUS_WORDS,
    )


class _Found(NamedTuple):
    opened: OpenedRows | None
    columns: list[ColumnView]
    place: RowPlace | None
    wrong: list[str]


def _found(app: AppState, folder: Path, question: str, chosen: RowFilter) -> _Found:
    """Return a row as its files have it now, and where it is in the list that the address names."""
    view = app.runs.view(folder)
    wrong: list[str] = []
    try:
        notes = read_notes(folder)
    except DataError as mistake:
        notes = []
        wrong.append(str(mistake))
    with app.indexes.of(folder, notes) as index:
        columns = index.columns(columns_of(view.summary))
        opened = opened_in(index, question, columns, view.summary, view.causes)
        row_place = None
        try:
            row_place = index.place_among(chosen, columns, question) if opened else None
        except DataError as mistake:
            wrong.append(str(mistake))
    return _Found(opened, columns, row_place, wrong)


def _whole(app: AppState, person: Person, opened_row: _Found, system: str) -> tuple[OpenedRows, list[str]]:
    """Return the row with what people say of it, and what is wrong with the files of that."""
    opened = opened_row.opened
    assert opened is not None
    answers = {answer.system: answer.answer for answer in opened.answers}
    labels, wrong = labels_of_row(label_files(app.settings), opened.line.id, answers)
    visible, hidden = seen_labels(app, person, labels)
    # Notes are asked for by their own script, which writes them too.
    whole = opened.whole(opened_row.columns, labels=visible, system=system or None)
    rows = sorted(
        opened.detail.judgements, key=lambda each: opened_row.columns[each.column].model == NO_MODEL
    )
    without_texts = msgspec.structs.replace(
        whole, detail=msgspec.structs.replace(whole.detail, judgements=rows)
    )
    return without_texts, list(dict.fromkeys([*opened_row.wrong, *wrong, *hidden]))


class FittedRow(NamedTuple):
    """A row as it is sent. is_cut: long texts are shortened. cap: entries of a list at most, None for all."""

    row: OpenedRows
    is_cut: bool
    cap: int | None


def fitted_row(row: OpenedRows, first: int = 0) -> FittedRow:
    """Return a row that takes ROW_BYTES at most, unless its systems alone are too many.

    first: of the judgements, of which JUDGEMENTS_A_PAGE are kept.
    """
    paged = _with_judgements(row, first)
    for cap in (None, *CAPS):
        room = PageRoom(lambda text: len(script_json(text)) - 2)
        room.left = TEXT_BYTES
        fitted = room.fitted(paged if cap is None else _capped(paged, cap))
        if any(old.answer != new.answer for old, new in zip(row.answers, fitted.answers, strict=False)):
            fitted = msgspec.structs.replace(fitted, differences=None)  # their places are of the whole texts
        if len(script_json(fitted)) <= ROW_BYTES:
            break
    return FittedRow(fitted, room.is_cut, cap)


def _with_judgements(row: OpenedRows, first: int) -> OpenedRows:
    """Return the row with a page of its judgements, and their columns alone."""
    rows = row.detail.judgements[first : first + JUDGEMENTS_A_PAGE]
    used = list(dict.fromkeys(each.column for each in rows))
    numbers = {column: number for number, column in enumerate(used)}
    judgements = [msgspec.structs.replace(each, column=numbers[each.column]) for each in rows]
    return msgspec.structs.replace(
        row,
        columns=[row.columns[at] for at in used],
        line=msgspec.structs.replace(row.line, cells=[row.line.cells[at] for at in used]),
        detail=msgspec.structs.replace(row.detail, judgements=judgements),
    )


def _capped(row: OpenedRows, most: int) -> OpenedRows:
    """Return the row with the first entries of each list in it, of conversations the last."""
    replace = msgspec.structs.replace
    detail = row.detail
    kept = detail.answers[: SYSTEMS_A_CAP * most]
    places = [*(answer.contexts or () for answer in kept), *(each.places for each in detail.rankings)]
    used = list(dict.fromkeys(view.passage for listed in places for view in listed[:most]))
    numbers = {passage: number for number, passage in enumerate(used)}

    def shown(listed: Sequence[EvidenceView]) -> list[EvidenceView]:
        return [replace(view, passage=numbers[view.passage]) for view in listed[:most]]

    answers = [
        replace(
            answer,
            contexts=None if answer.contexts is None else shown(answer.contexts),
            steps=answer.steps and answer.steps[:most],
            turns=answer.turns
            and [
                replace(
                    turn,
                    contexts=turn.contexts and turn.contexts[:most],
                    steps=turn.steps and turn.steps[:most],
                )
                for turn in answer.turns[-most:]
            ],
        )
        for answer in kept
    ]
    judgements = [
        replace(each, verdicts=each.verdicts and each.verdicts[:most]) for each in detail.judgements
    ]
    return replace(
        row,
        passages=[row.passages[at] for at in used],
        labels=row.labels[:most],
        line=replace(row.line, tags=row.line.tags and dict([*row.line.tags.items()][:most])),
        detail=replace(
            detail,
            answers=answers,
            judgements=judgements,
            rankings=[replace(each, places=shown(each.places)) for each in detail.rankings],
            references=detail.references[:most],
            relevant=detail.relevant and detail.relevant[:most],
            evidence=detail.evidence and detail.evidence[:most],
        ),
    )


def _chips(columns: Sequence[ColumnView], chosen: dict[str, str]) -> list[str]:
    """Return the filter and the order of the list, in words."""
    chips = []
    judge = chosen.get("judge", "")
    if judge.isdecimal() and int(judge) < len(columns):
        chips.append(columns[int(judge)].judge)
    labels = {"text": "“{}”", "where": "{}", "low": "score from {}", "high": "score to {}", "cause": "{}"}
    labels |= {"result": "{}", "found": "relevant document: {}", "order": "order: {}"}
    for name, text in labels.items():
        if value := chosen.get(name):
            status = STATUS_WORDS.get(value.removeprefix("is-"), value)  # type: ignore[call-overload]
            chips.append(text.format(status if name == "result" else value))
    if tag := chosen.get("tag"):
        chips.append(f"{tag}: {chosen.get('value', '')}")
    return chips


ROUTES = (row,)
GIVEN = {"folder": run_folder}
