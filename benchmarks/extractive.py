"""How well sentences answer that are found without a model: today's reader beside that of before, and models.

`python -m benchmarks.extractive [--questions N] [--fit] [--models llamacpp/FILE.gguf ...] [--project FOLDER]`

Questions are those of articles that nothing was fitted on: squad2, xquad (ten languages), clapnq and agxqa
are split in halves by the title of the article, so that a paragraph in another language is on the same side.
BM25 brings five passages. `bankfaq` and `manual` (manual_questions.toml, on the guides of Phoenix) were not
fitted on at all. Of each pack, evenly spaced questions, about N (default 400).

coverage: of the quotes by the best reference, a question without a quote counting 0. useful: the judge
`right` says yes, of all answerable questions; in `manual`, the quote holds what answers. wrong quote:
answered, and not useful. declined: of questions without an answer here. `removed`: the
question's own article was taken out of the pack. `swapped`: its subject was exchanged for a word that no
passage holds. `elsewhere`: asked of another pack. `own`: squad2's and clapnq's unanswerable ones. Intervals
are of 95 %, by article.

--fit: fits the trees on the other half and writes src/ragstone/kernel/retrieval/library/reader.json; it needs
scikit-learn. --models: also asks these, with the prompt `strict`, and prints their coverage.
"""

import argparse
import json
import tomllib
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from benchmarks.word_share import quote_by_share
from numpy.typing import NDArray

import ragstone
from ragstone.kernel.config import ModelSettings, Settings
from ragstone.kernel.corpus.chunking import chunk_documents
from ragstone.kernel.corpus.tokens import function_words, tokenize
from ragstone.kernel.judging.lexical import coverage
from ragstone.kernel.records import OWN_THRESHOLD, Answer, Chunk, Document, Question
from ragstone.kernel.retrieval._candidates import candidates_of, terms_of
from ragstone.kernel.retrieval._fitted import FILE, ReaderWeights, reader_weights
from ragstone.kernel.retrieval._signals import SIGNALS, signals_of
from ragstone.kernel.retrieval.extracting import best_sentences
from ragstone.kernel.statistics import mean_estimate, wilson_interval

PACKS = Path("../shared/data")
NAMES = ("agxqa", "squad2", "clapnq", "xquad")
ELSEWHERE = {"agxqa": "squad2", "squad2": "agxqa", "clapnq": "squad2", "bankfaq": "squad2"}
MANUAL = Path(__file__).with_name("manual_questions.toml")
K = 5
KINDS = ("own", "removed", "swapped", "elsewhere")
DECLINED = 0.95  # of the questions about something else in the half that is fitted on
TREES, LEAVES, RATE = 150, 4, 0.1
FOLDS = 4


class Row(NamedTuple):
    """A question with what was retrieved. kind: of KINDS. refs: none if it has no answer here."""

    pack: str
    kind: str
    question: str
    refs: tuple[str, ...]
    document: str
    article: str
    passages: tuple[tuple[str, str, str], ...]  # document, title, text


def is_fitted_on(title: str) -> bool:
    """Say whether an article belongs to the half that is fitted on."""
    return zlib.crc32(f"reader {title}".encode()) % 2 == 0


def read(pack: str, name: str) -> list[dict[str, Any]]:
    """Return the rows of a file of a pack."""
    with (PACKS / pack / name).open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def retrieved(
    questions: Sequence[dict[str, Any]], documents: Sequence[dict[str, Any]], folder: str
) -> Iterator[tuple[tuple[str, str, str], ...]]:
    """Yield the five best documents of each question: id, title, text."""
    by_id = {row["id"]: row for row in documents}
    chunks = [
        Chunk(id=row["id"], document_id=row["id"], text=row["text"], start=0, end=len(row["text"]))
        for row in documents
    ]
    asked = [Question(id=row["id"], question=row["question"]) for row in questions]
    for ranking in ragstone.retrieve(asked, chunks, k=K, settings=Settings(root=folder)):
        yield tuple(
            (item.document_id, by_id[item.document_id]["title"], by_id[item.document_id]["text"])
            for item in ranking.items
        )


def rows_of(pack: str, fitted: bool, n: int | None, folder: str) -> list[Row]:
    """Return the questions of one half of a pack, about n of each kind (None: all), by language."""
    documents, asked = read(pack, "documents.jsonl"), read(pack, "questions.jsonl")
    title = {row["id"]: row["title"] for row in documents}
    rows: list[Row] = []
    for lang in sorted({row["lang"] for row in documents}):
        own = [row for row in documents if row["lang"] == lang]
        here = [
            row
            for row in asked
            if row["lang"] == lang
            and (pack == "bankfaq" or is_fitted_on(title[row["document_id"]]) == fitted)
        ]
        most = n and (n if pack != "xquad" else max(1, n // 5))
        here = here[:: max(1, len(here) // most)] if most else here

        def add(kind: str, some: Sequence[dict[str, Any]], among: Sequence[dict[str, Any]]) -> None:
            for row, passages in zip(some, retrieved(some, among, folder), strict=True):
                refs = row.get("references") or [row["reference_answer"]]
                given = tuple(refs) if row["answerable"] and kind == "own" else ()
                article = title[row["document_id"]]
                rows.append(Row(pack, kind, row["question"], given, row["document_id"], article, passages))

        add("own", here, own)
        answerable = [row for row in here if row["answerable"]]
        if pack in ELSEWHERE:
            add("elsewhere", answerable, read(ELSEWHERE[pack], "documents.jsonl"))
        if pack not in ("agxqa", "bankfaq"):  # other documents of these answer it as well
            for name in dict.fromkeys(title[row["document_id"]] for row in answerable):
                some = [row for row in answerable if title[row["document_id"]] == name]
                add("removed", some, [row for row in own if row["title"] != name])
    return rows


def swapped(rows: Sequence[Row]) -> list[Row]:
    """Return the answerable questions, each with its subject exchanged for a strange word.

    The subject is a name, else the longest word; the other is such a word of a question of another article in
    the same script, which no passage holds. So the question is worded like its passages, and has no answer.
    """
    own = [(row, word) for row in rows if row.kind == "own" and row.refs and (word := subject(row.question))]
    made: list[Row] = []
    for number, (row, word) in enumerate(own):
        text = " ".join(f"{title} {passage}" for _, title, passage in row.passages).casefold()
        for other, strange in own[number + 37 :] + own[:number]:
            alike = strange.isascii() == word.isascii() and other.pack == row.pack
            if alike and other.article != row.article and strange.casefold() not in text:
                question = row.question.replace(word, strange)
                made.append(row._replace(kind="swapped", question=question, refs=()))
                break
    return made


def subject(question: str) -> str:
    """Return the last name in a question, else its longest word that says something; "" where none does."""
    words = [word.strip("?.,;:¿()\"'") for word in question.split()]
    names = [word for word in words[1:] if word[:1].isupper() and len(word) > 2]
    content = [word for word in words if len(word) > 4 and word.casefold() not in function_words()]
    return names[-1] if names else max(content, key=len, default="")


def titles_of(row: Row) -> list[str | None]:
    """Return the titles that the reader is given: those of xquad are English in every language."""
    return [None if row.pack in ("xquad", "bankfaq") else title for _, title, _ in row.passages]


def holds(row: Row, document: str, text: str) -> bool:
    """Say whether a quote answers: it holds a short reference, or says what a long one says."""
    spoken = tokenize(text)
    if max((len(ref.split()) for ref in row.refs), default=0) <= 12 and row.pack != "clapnq":
        joined = f" {' '.join(spoken)} "
        return document == row.document and any(f" {' '.join(tokenize(ref))} " in joined for ref in row.refs)
    content = [word for word in spoken if word not in function_words()]
    for ref in row.refs:
        wanted = set(tokenize(ref)) - function_words()
        recall = len(wanted.intersection(content)) / max(1, len(wanted))
        precision = sum(word in wanted for word in content) / max(1, len(content))
        if recall >= 0.7 or (precision >= 0.7 and recall >= 0.25):
            return True
    return False


class Table(NamedTuple):
    """Signals of all candidates, whether each answers, and the number of its question."""

    signals: NDArray[np.float64]
    answers: NDArray[np.float64]
    row: NDArray[np.intp]


def table_of(rows: Sequence[Row]) -> Table:
    """Return what the trees are fitted on."""
    signals, answers, numbers = [], [], []
    for number, row in enumerate(rows):
        texts, titles = [text for _, _, text in row.passages], titles_of(row)
        asked = set(terms_of(row.question))
        candidates = [one for one in candidates_of(texts, titles) if set(one.terms) - asked]
        if not candidates:
            continue
        held = [{*terms_of(text), *terms_of(title or "")} for text, title in zip(texts, titles, strict=True)]
        signals.append(signals_of(row.question, candidates, held))
        numbers += [number] * len(candidates)
        answers += [
            float(holds(row, row.passages[one.passage][0], texts[one.passage][slice(*one.span)]))
            for one in candidates
        ]
    return Table(np.vstack(signals), np.array(answers), np.array(numbers))


def best_of(
    raw: NDArray[np.float64], table: Table, n: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return of each question the score of its best candidate and whether that answers."""
    top, right = np.full(n, -20.0), np.zeros(n)
    for at in np.argsort(raw, kind="stable"):
        top[table.row[at]], right[table.row[at]] = raw[at], table.answers[at]
    return top, right


def fit(folder: str) -> None:
    """Fit the trees, their scale and the threshold, and write the file."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression

    rows = [row for pack in NAMES for row in rows_of(pack, True, None if pack != "xquad" else 1000, folder)]
    rows += swapped(rows)
    table = table_of(rows)
    packs, kinds = np.array([row.pack for row in rows]), np.array([row.kind for row in rows])
    weight = np.where(np.isin(packs, ("agxqa", "clapnq")), 2.0, 1.0)[table.row]
    # Most candidates hold next to nothing of the question: of these a quarter says as much, in less time.
    idle = (table.answers == 0) & (table.signals[:, SIGNALS.index("words_beside")] < 0.25)
    taken = ~idle | (np.arange(len(idle)) % 4 == 0)
    weight = np.where(idle, 4 * weight, weight)

    def trees(part: NDArray[np.bool_]) -> HistGradientBoostingClassifier:
        part = part & taken
        model = HistGradientBoostingClassifier(
            max_leaf_nodes=LEAVES,
            max_iter=TREES,
            learning_rate=RATE,
            min_samples_leaf=40,
            l2_regularization=5,
        )
        return model.fit(table.signals[part], table.answers[part], sample_weight=weight[part])

    fold = np.array([zlib.crc32(row.article.encode()) // 7 % FOLDS for row in rows])
    raw = np.zeros(len(table.answers))
    for number in range(FOLDS):  # what is said of an article comes from trees that have not seen it
        part = fold[table.row] == number
        raw[part] = trees(~part).decision_function(table.signals[part])
    top, right = best_of(raw, table, len(rows))
    can = np.array([bool(row.refs) for row in rows])
    outside = np.isin(kinds, ("removed", "elsewhere"))
    balance = np.where(can, 0.5 / can.sum(), 0.5 / (~can).sum()) * len(rows)
    scale = LogisticRegression(C=1e6).fit(top[:, None], right, sample_weight=balance)
    slope, offset = float(scale.coef_[0, 0]), float(scale.intercept_[0])
    limit = float(np.quantile(top[outside], DECLINED))
    model = trees(np.ones(len(table.answers), dtype=bool))
    weights = ReaderWeights(
        source="benchmarks.extractive --fit; half of the articles of agxqa, clapnq, squad2 and xquad",
        signals=list(SIGNALS),
        base=round(float(model._baseline_prediction.item()), 5),
        slope=round(slope, 4),
        offset=round(offset, 4),
        threshold=round(float(1 / (1 + np.exp(-(slope * limit + offset)))), 3),
        trees=[
            [
                [round(float(node["value"]), 5)]
                if node["is_leaf"]
                else [
                    int(node["feature_idx"]),
                    round(float(node["num_threshold"]), 5),
                    int(node["left"]),
                    int(node["right"]),
                ]
                for node in predictor[0].nodes
            ]
            for predictor in model._predictors
        ],
    )
    text = (
        msgspec.json.encode(weights).decode().replace('"trees":[', '"trees":[\n').replace("]],[[", "]],\n[[")
    )
    FILE.write_text(text + "\n", "utf-8")
    print(f"{len(rows)} questions, {len(table.answers)} candidates; threshold {weights.threshold}")


class Quote(NamedTuple):
    """The sentences that are quoted, none if declined; of the best its score, and whether it answers."""

    texts: list[str]
    score: float
    answers: bool = False


def by_reader(row: Row) -> Quote:
    """Return what today's reader quotes."""
    texts = [text for _, _, text in row.passages]
    best = best_sentences(row.question, texts, titles=titles_of(row), threshold=0.0)
    shown = [one.text for one in best if one.score >= reader_weights().threshold]
    if not best:
        return Quote([], 0.0)
    return Quote(shown, best[0].score, holds(row, row.passages[best[0].passage][0], best[0].text))


def by_share(row: Row) -> Quote:
    """Return what was quoted before."""
    return Quote(*quote_by_share(row.question, [text for _, _, text in row.passages]))


READERS = {"today": by_reader, "before": by_share}


def interval(flags: Sequence[bool]) -> str:
    """Return a share with its interval (Wilson)."""
    low, high = wilson_interval(sum(flags), len(flags))
    return f"{sum(flags) / len(flags):.2f} ({low:.2f} to {high:.2f}) of {len(flags)}"


def by_article(scores: Sequence[float], rows: Sequence[Row]) -> str:
    """Return a mean with its interval, by article."""
    estimate = mean_estimate(scores, [row.article for row in rows])
    if estimate is None:
        return "none"
    ends = "" if estimate.low is None else f" ({estimate.low:.2f} to {estimate.high:.2f})"
    return f"{estimate.value:.2f}{ends} of {len(scores)}"


def useful(rows: Sequence[Row], quotes: Sequence[Quote], folder: str) -> list[bool]:
    """Return what the judge `right` says of each quote; of none, no."""
    answers = [
        Answer(
            question_id=str(n), question=row.question, reference=list(row.refs), answer="\n".join(quote.texts)
        )
        for n, (row, quote) in enumerate(zip(rows, quotes, strict=True))
        if quote.texts
    ]
    yes = set()
    if answers:
        for row in ragstone.judge(answers, judges=["right"], settings=Settings(root=folder)):
            if row.score is not None and row.score >= float((row.metadata or {})[OWN_THRESHOLD]):
                yes.add(int(row.question_id))
    return [n in yes for n in range(len(rows))]


def show_pack(pack: str, n: int | None, folder: str) -> list[tuple[float, bool]]:
    """Print the figures of a pack; return today's score of each question and whether that quote answers."""
    rows = rows_of(pack, False, n, folder)
    rows += swapped(rows)
    seen: list[tuple[float, bool]] = []
    for name, reader in READERS.items():
        quotes = [reader(row) for row in rows]
        can = [at for at, row in enumerate(rows) if row.refs]
        mine, said = [rows[at] for at in can], [quotes[at] for at in can]
        scores = [
            max(coverage("\n".join(quote.texts), ref, row.question) for ref in row.refs)
            if quote.texts
            else 0.0
            for row, quote in zip(mine, said, strict=True)
        ]
        yes = useful(mine, said, folder)
        wrong = [bool(quote.texts) and not it for quote, it in zip(said, yes, strict=True)]
        shares = by_article([float(it) for it in yes], mine)
        line = f"{pack:8} {name:6} coverage {by_article(scores, mine)}  useful {shares}"
        print(f"{line}  wrong quote {interval(wrong)}", flush=True)
        for kind in KINDS:
            without = [
                not quotes[at].texts for at, row in enumerate(rows) if row.kind == kind and not row.refs
            ]
            if without:
                print(f"{'':16}declined, {kind}: {interval(without)}", flush=True)
        if name == "today":
            seen = [(quote.score, quote.answers) for quote in quotes]
    return seen


def show_manual(folder: str) -> None:
    """Print how the questions of a software manual are answered, each for the reader to look at."""
    asked = tomllib.loads(MANUAL.read_text("utf-8"))
    documents = [
        row for row in ragstone.ingest([PACKS / "phoenix_docs" / "guides"]) if isinstance(row, Document)
    ]
    chunks = list(chunk_documents(documents, "recursive", 900))
    by_id = {chunk.id: chunk for chunk in chunks}
    questions = [Question(id=str(n), question=row["question"]) for n, row in enumerate(asked["questions"])]
    shown: dict[str, tuple[list[bool], list[bool]]] = {name: ([], []) for name in READERS}
    for row, ranking in zip(
        asked["questions"],
        ragstone.retrieve(questions, chunks, k=K, settings=Settings(root=folder)),
        strict=True,
    ):
        found = [by_id[item.chunk_id or ""] for item in ranking.items]
        passages = tuple(
            (chunk.document_id, str((chunk.metadata or {}).get("headings", "")), chunk.text)
            for chunk in found
        )
        case = Row("manual", "own", row["question"], tuple(row.get("holds", ())), "", "", passages)
        for name, reader in READERS.items():
            quote = reader(case)
            text = " ".join(quote.texts).casefold()
            if case.refs:
                shown[name][0].append(any(words.casefold() in text for words in case.refs))
            else:
                shown[name][1].append(not quote.texts)
            if name == "today":
                print(f"  {quote.score:.2f} {row['question']} -> {quote.texts[:1]}")
    for name, (right, declined) in shown.items():
        print(
            f"manual   {name:6} useful {interval(right)}  declined, outside: {interval(declined)}", flush=True
        )


def show_calibration(seen: Sequence[tuple[float, bool]]) -> None:
    """Print of each fifth of the scale how many best candidates answer."""
    for low in (0.0, 0.2, 0.4, 0.6, 0.8):
        part = [right for score, right in seen if low <= score < low + 0.2 or (low == 0.8 and score == 1)]
        mean = np.mean([score for score, _ in seen if low <= score < low + 0.2]) if part else 0.0
        if part:
            print(f"score {low:.1f} to {low + 0.2:.1f}: mean {mean:.2f}, answers {interval(part)}")


def show_model(model: str, pack: str, n: int, folder: str) -> None:
    """Print the coverage of a model's answers to the answerable questions of a pack."""
    rows = [row for row in rows_of(pack, False, n, folder) if row.refs]
    settings = Settings(root=folder, models={model: ModelSettings(timeout_s=600)})
    chunks = {
        doc: Chunk(id=doc, document_id=doc, text=text, start=0, end=len(text))
        for row in rows
        for doc, _, text in row.passages
    }
    questions = [Question(id=str(at), question=row.question) for at, row in enumerate(rows)]
    rankings = ragstone.retrieve(questions, list(chunks.values()), k=K, settings=settings)
    answers = ragstone.answer(
        questions, rankings, list(chunks.values()), model=model, prompt="strict", settings=settings
    )
    scores = [
        max(coverage(answer.answer, ref, row.question) for ref in row.refs)
        for row, answer in zip(rows, answers, strict=True)
    ]
    print(f"{pack:8} {model}: coverage {by_article(scores, rows)}", flush=True)


def main() -> None:
    """Fit if asked to, and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--questions", type=int, default=400, help="of each pack (default 400)")
    parser.add_argument("--fit", action="store_true", help="fit the trees and write them")
    parser.add_argument("--models", nargs="*", default=[], help="e.g. llamacpp/FILE.gguf")
    parser.add_argument(
        "--project", type=Path, default=Path(), help="folder of the ledger (default: this one)"
    )
    chosen = parser.parse_args()
    folder = str(chosen.project)
    if chosen.fit:
        fit(folder)
    seen = [pair for name in (*NAMES, "bankfaq") for pair in show_pack(name, chosen.questions, folder)]
    show_calibration(seen)
    show_manual(folder)
    for model in chosen.models:
        for name in NAMES:
            show_model(model, name, chosen.questions, folder)


if __name__ == "__main__":
    main()
