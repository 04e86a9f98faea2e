"""`ragstone translate`: questions, facts or documents -> the same in other languages."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.kernel.console.asking import Asking, asks_models, leave
from ragstone.kernel.console.columns import reads_rows
from ragstone.kernel.console.options import DocumentPaths, Limit, Output
from ragstone.kernel.console.printing import say, show_json
from ragstone.kernel.console.repeating import repeatable

if TYPE_CHECKING:
    from ragstone.features.translate.translating import (
        Translated,
        Translating,
        Translation,
        TranslationCounts,
    )
    from ragstone.kernel.config import Settings
    from ragstone.kernel.records import Document, Question

By = Annotated[str | None, typer.Option("--by", "--model", help="A model (transport/model), or http.")]
To = Annotated[str | None, typer.Option("--to", help="Target languages: codes, separated by commas.")]
From = Annotated[
    str | None,
    typer.Option("--from", help="Only rows in this language, or without a language."),
]
Back = Annotated[
    str | None,
    typer.Option("--back", help="Who translates back for the check: same, none, or a value as for --by."),
]
Chrf = Annotated[
    float | None,
    typer.Option(
        "--chrf", min=0, max=1, help="Lowest chrF allowed between the back-translation and the original."
    ),
]
Originals = Annotated[
    bool,
    typer.Option("--originals", help="Also write the original rows, so that one file has all languages."),
]


@repeatable("translate", grows=["rows", "limit"])
@reads_rows
@asks_models()
def translate(
    rows: Annotated[Path, typer.Argument(help="A file of questions, of facts, or of documents.")],
    *,
    output: Output = Path("translated.jsonl"),
    to: To = None,
    source: From = None,
    by: By = None,
    documents: DocumentPaths = None,
    back: Back = None,
    chrf: Chrf = None,
    originals: Originals = False,
    limit: Limit = None,
    asking: Asking,
) -> None:
    """Translate rows into other languages, and check them by translating back.

    Examples:

    - `ragstone translate questions.jsonl --to es,hi --model openai/gpt-4o-mini`
    - `ragstone translate questions.jsonl --to es --back none --model openai/gpt-4o-mini`
    """
    from ragstone.features.translate.translating import forecast_translating, translate_in_session
    from ragstone.kernel.runs.wording import asked_line
    from ragstone.kernel.tables import check_output, keep_sources

    langs = [lang.strip() for lang in to.split(",") if lang.strip()] if to else None
    settings = asking.settings(translate={"to": langs, "by": by, "back": back, "chrf": chrf})
    wanted = _first(_read(rows, documents or [], settings, source, originals), limit)
    if not asking.forecast:
        beside = [documents_path(output)] if wanted.questions and wanted.documents else []
        keep_sources(
            [target for path in (output, *beside) for target in (path, all_path(path))],
            [rows, *(documents or [])],
        )
        for path in (output, *beside):
            check_output(path, asking.force)
            check_output(all_path(path), asking.force)
    asking.tell_forecast(lambda: forecast_translating(wanted, settings))
    made = translate_in_session(wanted, settings, asking.session)
    _write(made, output, asking.force)
    if asking.json:
        show_json(made.summary)
    else:
        if made.summary.documents is not None:
            _show_counts("document", made.summary.documents)
        if made.summary.questions is not None:
            _show_counts("question", made.summary.questions)
        say(asked_line(made.summary.calls))
    n_lost = sum(
        sum(reasons.values())
        for counts in (made.summary.questions, made.summary.documents)
        if counts is not None
        for reasons in counts.lost.values()
    )
    leave([*made.summary.statuses], made.summary.calls, strict=asking.strict, lost=n_lost)


def _read(
    file: Path, documents: list[Path], settings: "Settings", source: str | None, originals: bool
) -> "Translating":
    from ragstone.features.translate.translating import Translating, read_translatable
    from ragstone.kernel.errors import DataError
    from ragstone.kernel.stages.corpus import read_files

    questions, listed = read_translatable(file)
    if listed and documents:
        raise DataError(
            f"{file} contains documents: give them alone, or give questions with their --documents."
        )
    if documents:
        listed = read_files(settings, documents).documents
    return Translating(questions=questions, documents=listed, source=source, originals=originals)


def _first(wanted: "Translating", limit: int | None) -> "Translating":
    """Return the first rows of the file, and of further documents those that these questions name."""
    import msgspec

    from ragstone.kernel.retrieval.relevance import relevant_documents

    if limit is None:
        return wanted
    questions = wanted.questions[:limit]
    if not questions:
        return msgspec.structs.replace(wanted, documents=wanted.documents[:limit])
    named = {name for question in questions for name in relevant_documents(question)}
    documents = [document for document in wanted.documents if document.id in named]
    return msgspec.structs.replace(wanted, questions=questions, documents=documents)


def documents_path(output: Path) -> Path:
    """Return the path of translated documents next to translated questions."""
    return output.with_name(f"{output.stem}.documents{output.suffix}")


def all_path(output: Path) -> Path:
    """Return the path of all translations of a file, the lost ones too."""
    return output.with_name(f"{output.stem}.all{output.suffix}")


def _write(made: "Translation", output: Path, force: bool) -> None:
    from ragstone.kernel.records import Document, Question

    if made.questions is not None:
        _write_both(made.questions, Question, output, force)
    if made.documents is not None:
        path = output if made.questions is None else documents_path(output)
        _write_both(made.documents, Document, path, force)


def _write_both(
    made: "Translated[Question] | Translated[Document]", kind: type, path: Path, force: bool
) -> None:
    from ragstone.kernel.errors import plural
    from ragstone.kernel.tables import write_rows

    n = write_rows(path, made.rows, kind, force=force)
    n_all = write_rows(all_path(path), made.every, kind, force=force)
    every = f"all {plural(n_all, 'translation')}, with why some were lost, in {all_path(path)}"
    say(f"{plural(n, 'row')} in {path}; {every}.")


def _show_counts(kind: str, counts: "TranslationCounts") -> None:
    from ragstone.kernel.console.printing import show
    from ragstone.kernel.dataset.candidate import REASONS
    from ragstone.kernel.dataset.languages import language_name
    from ragstone.kernel.errors import plural

    for lang, n in counts.n_translated.items():
        lost = counts.lost[lang]
        chrf = counts.chrf[lang]
        scored = "" if chrf is None else f"; mean chrF of the back-translation {chrf:.2f}"
        show(f"{n} of {plural(n + sum(lost.values()), kind)} in {language_name(lang)}{scored}")
        show(*(f"{n_lost:6}  lost: {REASONS[reason][1]}" for reason, n_lost in lost.items()))
    if counts.n_same:
        say(f"Already in a requested language: {plural(counts.n_same, kind)}.")
    if counts.n_other:
        say(f"Left out, not in the language of --from: {plural(counts.n_other, kind)}.")
