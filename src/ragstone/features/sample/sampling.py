"""A log of what people asked -> an evaluation set of it, and what was answered."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ragstone.features.sample._gathering import LogCounts, LoggedQuestion, exchanges_at, gather
from ragstone.features.sample.drawing import By, DrawnSample, GroupShare, Sampled, SamplingMethod, draw
from ragstone.kernel.config import Settings, load_settings
from ragstone.kernel.embedding.opening import open_embedder
from ragstone.kernel.engine.progress import Progress, State, silent
from ragstone.kernel.errors import DataError, only_rows, plural, takes_rows
from ragstone.kernel.files.language import detect_languages
from ragstone.kernel.privacy.masking import OwnWords, mask_texts, own_words
from ragstone.kernel.records import Answer, Judgement, Question
from ragstone.kernel.tables import read_rows, write_rows
from ragstone.kernel.tables.logs.exchange import Columns, LoggedExchange
from ragstone.kernel.tables.logs.reading import Source

SYSTEM = "log"  # of answers whose rows name none


class SampleSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What the log held, and what was taken of it.

    missing: questions that were wanted and are not there. without_quality: questions not looked at, since
    nobody judged them. ungrouped: questions of which a random part only was grouped by topic. cells: the
    values of tags by which questions were taken. unspoken: rows of topics or cells of which nothing was
    taken. masked: places by kind, in what was taken; None where personal data was kept.
    """

    log: LogCounts
    by: By
    seed: int
    wanted: int
    taken: int
    missing: int
    with_answer: int
    without_quality: int
    ungrouped: int
    unspoken: int
    topics: list[GroupShare]
    cells: list[GroupShare]
    languages: dict[str, int]
    masked: dict[str, int] | None


class Sample(msgspec.Struct, frozen=True):
    """The questions, the answers that the log has to them, and the counts."""

    questions: list[Question]
    answers: list[Answer]
    summary: SampleSummary

    def write(self, output: Path, *, force: bool = False) -> str:
        """Write the questions, and the answers beside them where there are some; return what is where."""
        write_rows(output, self.questions, Question, force=force)
        answers = ""
        if self.answers:
            sheet = answers_beside(output)
            write_rows(sheet, self.answers, Answer, force=force)
            answers = f", {plural(len(self.answers), 'answer')} in {sheet}"
        return f"{plural(len(self.questions), 'question')} in {output}{answers}."


@takes_rows()
def sample_log(
    log: Path | str | Sequence[Path | str] | Sequence[Mapping[str, Any]],
    count: int = 200,
    *,
    by: By = "topic",
    topics: int | None = None,
    embedder: str | None = None,
    question: str | None = None,
    answer: str | None = None,
    quality: str | None = None,
    judgements: Path | str | Iterable[Judgement] | None = None,
    reference: str | None = None,
    tags: Sequence[str] = (),
    time: str | None = None,
    limit: int | None = None,
    seed: int = 0,
    keep_personal_data: bool = False,
    settings: Settings | None = None,
    progress: Progress = silent,
) -> Sample:
    """Return `count` questions that people really asked, each once, and the first answers that they got.

    log: a file, a folder, several of them, or rows. by: random, topic, tag, rarity, frequency or quality (see
    drawing.py). topics: how many; None chooses. embedder: groups and compares by its vectors.
    question, answer, quality, reference, tags, time: columns, where names are not understood; `quality` is
    the people's feedback, or a metric of `judgements`; the tag `month` is that of the time in rows that have
    no such column. limit: only the first rows. Personal data is masked,
    and so is what `[sample] mask` of `settings` (default: ragstone.toml) lists, unless keep_personal_data.

    Where the log has fewer questions than are wanted all are returned; the summary says how many are missing.
    Raises DataError for a log that cannot be read or holds no question, ConfigError for what cannot be,
    ModelError and MissingExtra for an embedder that cannot be had.
    """
    settings = settings or load_settings()
    source: Source = [log] if isinstance(log, str | Path) else log
    own = None if keep_personal_data else own_words(settings.sample.mask)
    judged = _judged(judgements, quality)
    columns = Columns(question, answer, None if judged is not None else quality, reference, tuple(tags), time)
    with progress("read the log", None, State) as advance:
        gathered = gather(
            source,
            columns,
            limit=limit,
            masking=not keep_personal_data,
            own=own,
            judged=None if judged is None else judged.get,
            advance=advance,
        )
    if not gathered.questions:
        counts = {
            "without a question": gathered.counts.without_question,
            "that cannot be read": gathered.counts.malformed,
            **gathered.counts.left_out,
        }
        why = ", ".join(f"{n:,} {name.replace('_', ' ')}" for name, n in counts.items() if n)
        raise DataError(f"the log has no question that can be asked on its own. Its rows: {why or 'none'}.")
    opened = open_embedder(embedder, settings.path(".ragstone"), settings) if embedder else None
    try:
        method = SamplingMethod(
            by=by, seed=seed, topics=topics, tags=tags, embed=opened, langs=detect_languages
        )
        sampled = draw(gathered.questions, count, method)
    finally:
        if opened is not None:
            opened.close()
    taken = _Writer(own, masking=not keep_personal_data)
    questions, answers = taken.rows(sampled.drawn, source, columns)
    return Sample(
        questions, answers, _summary(gathered.counts, sampled, taken, method, count, questions, answers)
    )


def answers_beside(output: Path) -> Path:
    """Return where the answers go: answers.jsonl for questions.jsonl, x.answers.jsonl for x.jsonl."""
    stem = (
        output.stem.replace("questions", "answers")
        if "questions" in output.stem
        else f"{output.stem}.answers"
    )
    return output.with_name(stem + output.suffix)


def _summary(
    log: LogCounts,
    sampled: Sampled,
    writer: "_Writer",
    method: SamplingMethod,
    count: int,
    questions: Sequence[Question],
    *rest: Sequence[Answer],
) -> SampleSummary:
    languages = Counter(question.lang or "unknown" for question in questions)
    return SampleSummary(
        log=log,
        by=method.by,
        seed=method.seed,
        wanted=count,
        taken=len(questions),
        missing=count - len(questions),
        with_answer=len(rest[0]),
        without_quality=sampled.without_quality,
        ungrouped=sampled.ungrouped,
        unspoken=sum(group.n_rows for group in (*sampled.topics, *sampled.cells) if not group.taken),
        topics=sampled.topics,
        cells=[
            msgspec.structs.replace(group, name=writer.masked_name(group.name)) for group in sampled.cells
        ],
        languages=dict(languages.most_common()),
        masked=dict(sorted(writer.masked.items())) if writer.masking else None,
    )


def _judged(
    judgements: Path | str | Iterable[Judgement] | None, metric: str | None
) -> dict[str, float] | None:
    """Return the quality of each judged row by its id; None without judgements. Raises DataError."""
    if judgements is None:
        return None
    if isinstance(judgements, str | Path):
        judgements = read_rows(judgements, Judgement)
    rows = only_rows("judgements", judgements, Judgement)
    qualities, metrics = judged_qualities(rows, metric)
    if metric is not None and metric not in metrics:
        raise DataError(
            f"no judgement is of {metric!r}. Their metrics: {', '.join(sorted(metrics)) or 'none'}."
        )
    return qualities


class _Writer:
    """Rows of a log -> rows of ours, with what was masked in them counted."""

    def __init__(self, own: OwnWords | None, *, masking: bool) -> None:
        self.masked: Counter[str] = Counter()
        self.masking = masking
        self._own = own

    def rows(
        self, drawn: Sequence[DrawnSample], source: Source, columns: Columns
    ) -> tuple[list[Question], list[Answer]]:
        """Return the questions in the order in which they were drawn, and the answers that there are."""
        places = {
            at
            for sample in drawn
            for at in (sample.question.at, sample.question.answered_at)
            if at is not None
        }
        exchanges = exchanges_at(source, places, columns)
        if len(exchanges) != len(places):
            raise DataError("the log changed while it was being read. Sample a copy of it.")
        detected = detect_languages([sample.question.text for sample in drawn])
        questions, answers = [], []
        for sample, likely in zip(drawn, detected, strict=True):
            answered = (
                exchanges[sample.question.answered_at] if sample.question.answered_at is not None else None
            )
            asked = exchanges[sample.question.at]
            lang = asked.lang or (answered.lang if answered else None) or likely
            question, answer = self._row(sample, lang, asked, answered)
            questions.append(question)
            answers += [answer] if answer else []
        return questions, answers

    def _row(
        self, sample: DrawnSample, lang: str | None, exchange: LoggedExchange, answered: LoggedExchange | None
    ) -> tuple[Question, Answer | None]:
        """Return a question and its answer, masked together: the same value has the same placeholder."""
        source = answered or exchange
        contexts = source.contexts or []
        text, answer, reference, *rest = self._mask(
            [
                exchange.question,
                source.answer or "",
                exchange.reference or source.reference or "",
                *(context.text for context in contexts),
                *exchange.tags.values(),
            ]
        )
        tags = dict(zip(exchange.tags, rest[len(contexts) :], strict=True))
        if sample.topic is not None:
            tags = {"topic": sample.topic, **tags}
        question = Question(
            id=sample.question.id,
            question=text,
            reference=reference or None,
            lang=lang,
            tags=tags or None,
            metadata=_metadata(sample, answer),
        )
        if not answer:
            return question, None
        return question, Answer(
            question_id=question.id,
            answer=answer,
            system=source.system or SYSTEM,
            contexts=[
                msgspec.structs.replace(context, text=text)
                for context, text in zip(contexts, rest, strict=False)
            ]
            if source.contexts is not None
            else None,
            question=text,
            reference=question.reference,
            tags=question.tags,
        )

    def masked_name(self, name: str) -> str:
        """Return the name of a cell without personal data; it is not counted."""
        return mask_texts([name], self._own)[0].text if self.masking else name

    def _mask(self, texts: Sequence[str]) -> list[str]:
        if not self.masking:
            return list(texts)
        masked = mask_texts(texts, self._own)
        for result in masked:
            self.masked.update(result.found)
        return [result.text for result in masked]


def _metadata(sample: DrawnSample, answer: str) -> dict[str, object]:
    question: LoggedQuestion = sample.question
    notes = {
        "asked": question.n,
        "weight": sample.weight,
        "rarity": sample.rarity,
        "quality": round(question.quality / question.n_quality, 6) if question.n_quality else None,
        "answer": answer or None,
    }
    return {name: note for name, note in notes.items() if note is not None}


def judged_qualities(
    judgements: Iterable[Judgement], metric: str | None
) -> tuple[dict[str, float], set[str]]:
    """Return question id -> mean score from 0 to 1, and the metrics that there are.

    metric: only its judgements; None takes all. A score is brought to 0..1 by its scale; without a scale it
    is taken as it is. Judgements without a score do not count.
    """
    scores: dict[str, list[float]] = defaultdict(list)
    metrics: set[str] = set()
    for judgement in judgements:
        metrics.add(judgement.metric)
        if judgement.score is None or metric not in (None, judgement.metric):
            continue
        low, high = judgement.scale or (0.0, 1.0)
        scores[judgement.question_id].append((judgement.score - low) / (high - low) if high > low else 0.0)
    return {name: sum(some) / len(some) for name, some in scores.items()}, metrics
