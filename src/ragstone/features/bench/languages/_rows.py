"""The documents and questions of a study of languages, with the language of each, checked."""

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from ragstone.kernel.config import Settings
from ragstone.kernel.corpus.file import Skipped
from ragstone.kernel.errors import ConfigError, DataError, nearest, plural
from ragstone.kernel.files.language import detect_language
from ragstone.kernel.records import Document, Question
from ragstone.kernel.retrieval.relevance import relevant_documents, same_documents
from ragstone.kernel.stages.corpus import read_documents
from ragstone.kernel.tables import read_rows

SHOWN = 3


class StudyRows(msgspec.Struct, frozen=True, kw_only=True):
    """What is studied. same: see retrieval.same_documents. n_detected: rows whose language was detected."""

    documents: list[Document]
    questions: list[Question]
    skipped: list[Skipped]
    same: dict[str, str]
    n_detected: int

    @property
    def lang_of(self) -> dict[str, str]:
        """Document id -> its language."""
        return {document.id: document.lang or "" for document in self.documents}

    @property
    def langs(self) -> list[str]:
        """The languages of the documents, sorted."""
        return sorted({document.lang or "" for document in self.documents})


def read_study_rows(settings: Settings) -> StudyRows:
    """Return the rows that `[documents]`, `[questions]` and `[bench.languages]` name.

    A document or question that does not say its language is in that of its document, else in the one that
    is detected. `[questions] limit` takes the first of each language. Raises ConfigError or DataError where
    there is nothing to study.
    """
    path, paths, key = settings.questions.path, settings.documents.paths, settings.documents.copies
    if not path or not paths:
        raise ConfigError(
            "a study of languages needs questions and documents: give [questions] path and [documents] "
            "paths in ragstone.toml."
        )
    if key is None:
        raise ConfigError(
            "say which documents are copies of each other in several languages: name the field of their "
            'metadata that they share, e.g. [documents] copies = "parallel_id".'
        )
    corpus = read_documents(settings)
    documents, n_documents = _documents_with_lang(corpus.documents)
    same = same_documents(documents, key)
    documents = _in_chosen_langs(documents, settings.bench.languages.langs)
    lang_of = {document.id: document.lang or "" for document in documents}
    questions, n_questions = _questions_with_lang(
        list(read_rows(settings.path(path), Question)),
        {d.id: d.lang or "" for d in corpus.documents} | lang_of,
    )
    chosen = settings.bench.languages.langs
    questions = [question for question in questions if chosen is None or question.lang in chosen]
    questions = _first_of_each(questions, settings.questions.limit)
    _check_rows(questions, set(lang_of.values()), str(settings.path(path)))
    return StudyRows(
        documents=documents,
        questions=questions,
        skipped=corpus.skipped,
        same={name: first for name, first in same.items() if name in lang_of},
        n_detected=n_documents + n_questions,
    )


def _documents_with_lang(documents: Sequence[Document]) -> tuple[list[Document], int]:
    with_lang = [
        document if document.lang else msgspec.structs.replace(document, lang=detect_language(document.text))
        for document in documents
    ]
    unknown = [document.id for document in with_lang if not document.lang]
    if unknown:
        raise DataError(
            f"the language of {plural(len(unknown), 'document')} is not stated and cannot be detected: "
            f"{', '.join(unknown[:SHOWN])}. Add the field `lang`, or leave such documents out."
        )
    return with_lang, sum(not document.lang for document in documents)


def _in_chosen_langs(documents: Sequence[Document], langs: Sequence[str] | None) -> list[Document]:
    known = {document.lang or "" for document in documents}
    for lang in langs or ():
        if lang not in known:
            raise ConfigError(f"[bench.languages] langs: no document is in {lang!r}. {nearest(lang, known)}")
    chosen = known if langs is None else set(langs)
    if len(chosen) < 2:
        raise ConfigError(
            f"the documents are in one language ({', '.join(chosen)}), so there is nothing to compare: "
            "a study of languages needs at least two."
        )
    return [document for document in documents if document.lang in chosen]


def _questions_with_lang(
    questions: Sequence[Question], lang_of: Mapping[str, str]
) -> tuple[list[Question], int]:
    with_lang: list[Question] = []
    n_detected = 0
    for question in questions:
        lang = question.lang
        if not lang:
            own = Counter(lang_of[name] for name in relevant_documents(question) if name in lang_of)
            lang = own.most_common(1)[0][0] if len(own) == 1 else detect_language(question.question)
            n_detected += 1
        if not lang:
            raise DataError(
                f"question {question.id!r} does not say its language, and it cannot be detected. "
                "Give it the field `lang`."
            )
        with_lang.append(msgspec.structs.replace(question, lang=lang))
    return with_lang, n_detected


def _first_of_each(questions: Sequence[Question], limit: int | None) -> list[Question]:
    seen: Counter[str] = Counter()
    first = []
    for question in questions:
        seen[question.lang or ""] += 1
        if limit is None or seen[question.lang or ""] <= limit:
            first.append(question)
    return first


def _check_rows(questions: Sequence[Question], langs: set[str], path: str) -> None:
    if not any(q.answerable is not False and relevant_documents(q) for q in questions):
        raise DataError(
            f"{path}: no question names the documents that hold its answer, so nothing can be measured. "
            "Give them as document_ids, or as evidence."
        )
    if not any(question.lang in langs for question in questions):
        langs_asked = sorted({question.lang or "" for question in questions})
        raise DataError(
            f"{path}: the questions are in {', '.join(langs_asked)}, but no document is: the documents are "
            f"in {', '.join(sorted(langs))}."
        )
