"""The languages of judged answers: is the judge the same in each, and what would people give in each?"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from ragstone.features.agree._parity import (
    LanguageCopy,
    LanguageParity,
    corrected_by_language,
    language_parity,
    without_language,
)
from ragstone.kernel.agreement.corrected_mean import CorrectedMean
from ragstone.kernel.agreement.groups import field_value
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Answer, Judgement, Label, Metadata, Question
from ragstone.kernel.stages.given import rows_in
from ragstone.kernel.tables import read_rows

PARALLEL, BASE = "parallel", "en"


class JudgedLanguages(msgspec.Struct, frozen=True, kw_only=True):
    """What was found: parity, and corrected means by language; untold: answers that say no language."""

    parity: Sequence[LanguageParity] = ()
    corrected: Sequence[CorrectedMean] = ()
    untold: int = 0


class LanguageRequest(msgspec.Struct, frozen=True, kw_only=True):
    """How languages are compared: the field that copies share and the language of the originals, None where
    nobody said; wanted: that none can be compared is an error.
    """

    parallel: str | None = None
    base: str | None = None
    wanted: bool = False


def languages_of(
    copies: Mapping[str, LanguageCopy],
    judged: Sequence[Judgement],
    labels: Sequence[Label],
    request: LanguageRequest,
    *,
    threshold: Mapping[str, float],
    mapping: Mapping[float, float] | None,
    seed: int,
) -> JudgedLanguages:
    """Return what there is to tell of languages: nothing where answers are in one, unless that is an error.

    Raises DataError, see language_parity, and where no row is a copy of another.
    """
    base = request.base or BASE
    own_copies = [copy for row in judged if (copy := copies.get(row.question_id))]
    langs = {copy.lang for copy in own_copies if copy.lang}
    parity: Sequence[LanguageParity] = ()
    if request.wanted and not judged:
        raise DataError("no judgements to compare: is this the right file, and the right --metric?")
    if request.wanted and not any(copy.parallel for copy in own_copies):
        raise DataError(
            f"no judged answer has a field {request.parallel or PARALLEL!r}, so no answer is known to be a "
            "copy of another. Name the column that copies share with --parallel, and the file that has it "
            "with --sheet."
        )
    if request.wanted or (base in langs and len(langs) > 1 and any(copy.parallel for copy in own_copies)):
        parity = language_parity(judged, copies, base=base, threshold=threshold, seed=seed)
    corrected: Sequence[CorrectedMean] = ()
    if len(langs) > 1:
        corrected = corrected_by_language(
            judged, labels, copies, threshold=threshold, mapping=mapping, seed=seed
        )
    return JudgedLanguages(parity=parity, corrected=corrected, untold=without_language(judged, copies))


def read_copies(
    run: Path,
    sheet: Path | None,
    judged: Iterable[Judgement],
    labels: Iterable[Label],
    parallel: str | None,
) -> dict[str, LanguageCopy]:
    """Return question id -> what it is a copy of and its language, by whatever row says so.

    Both stand in the rows' columns, metadata or tags. run: whose questions are looked at, if it is a folder.
    """
    fields_of: dict[str, list[Metadata]] = {}
    questions = rows_in(run, "questions") if run.is_dir() else None
    for question in read_rows(questions, Question) if questions else ():
        own: list[Metadata] = [{"lang": question.lang}] if question.lang else []
        fields_of[question.id] = [*own, {"tags": question.tags or {}}, question.metadata or {}]
    for answer in read_rows(sheet, Answer) if sheet else ():
        fields_of.setdefault(answer.question_id, []).extend(
            [{"tags": answer.tags or {}}, answer.metadata or {}]
        )
    for label in labels:
        fields_of.setdefault(label.question_id, []).append(label.metadata or {})
    for row in judged:
        fields_of.setdefault(row.question_id, []).append(row.metadata or {})
    return {
        name: LanguageCopy(field_value(fields, parallel or PARALLEL), field_value(fields, "lang"))
        for name, fields in fields_of.items()
    }
