"""Which questions the extractive reader should decline: by words alone, beside words and vectors.

`python -m benchmarks.declining [--questions N] [--others] [--fit] [--project FOLDER]`

Questions of squad2, clapnq, agxqa and xquad (six languages) on whose articles no weight was fitted, halves by
their titles, and of bankfaq, which was not fitted on at all: N evenly spaced of each (default 150;
of a language of xquad 30). BM25 brings five passages. FOLDER keeps the vectors: a second time is quick.

useful: the judge `right` says yes to the quote, of all answerable questions; useless: quoted, and it says no.
declined: of questions that the passages cannot answer. `elsewhere`: asked of another pack; `removed`: its own
article was taken out; `swapped`: its subject was exchanged for a word that no passage holds; `look-alike`:
squad2's unanswerable ones, which people wrote to look answerable. Intervals are Wilson's, 95 %.

--others: the questions between those, of packs that have some: when signals, the weight of exchanged subjects
and the threshold were chosen, the half that is set aside and bankfaq were looked at, but not at these.
--fit: fits answer_weights.toml, with scikit-learn, and writes it: on the other half, and on the part `fit` of
benchmarks/outside.py, whose questions outside of the documents set the threshold.
"""

import argparse
import asyncio
import json
import zlib
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from benchmarks.outside import EXAMPLES, INSIDE, signalled

import ragstone
from ragstone.kernel.config import ExtractiveSystem, Settings
from ragstone.kernel.corpus.tokens import function_words, search_terms, word_terms
from ragstone.kernel.embedding.opening import open_embedder
from ragstone.kernel.records import OWN_THRESHOLD, Answer, Chunk, Context, Question
from ragstone.kernel.statistics import wilson_interval
from ragstone.kernel.systems.declining import AnswerSignals, answer_signals
from ragstone.kernel.systems.extracting import best_sentences
from ragstone.kernel.systems.extractive import quote_contexts

PACKS = Path("../shared/data")
FITTED = ("agxqa", "squad2", "clapnq", "xquad")
NAMES = (*FITTED, "bankfaq")
ELSEWHERE = {"agxqa": "squad2", "squad2": "clapnq", "clapnq": "squad2", "bankfaq": "squad2"}
LANGUAGES = ("en", "es", "de", "zh", "ar", "hi", "ru")  # en: of all packs but xquad
OTHERS_ANSWER = ("agxqa", "bankfaq")  # other documents of these answer the same question
KINDS = ("elsewhere", "removed", "swapped", "look-alike")
READERS = {"words": ExtractiveSystem(), "words and vectors": ExtractiveSystem(embedder="packaged")}
FILE = Path("src/ragstone/kernel/systems/library/answer_weights.toml")
K = 5
SWAPPED = 0.25  # of the weight of all questions without an answer
FAR = 0.2  # the same of an example's questions that are about something else
DECLINED = 0.95  # of questions outside, near and far half each, by weights fitted without their guide
FOLDS = 8


class Row(NamedTuple):
    """A question with what was retrieved. kind: `own`, or of KINDS. refs: none if it has no answer here.
    held: the search terms of all documents that were searched."""

    pack: str
    kind: str
    question: str
    refs: tuple[str, ...]
    article: str
    passages: tuple[str, ...]
    lang: str
    held: frozenset[str]


def is_fitted_on(title: str) -> bool:
    """Say whether an article belongs to the half that is fitted on."""
    return zlib.crc32(f"reader {title}".encode()) % 2 == 0


def read(pack: str, name: str) -> list[dict[str, Any]]:
    """Return the rows of a file of a pack."""
    with (PACKS / pack / name).open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def retrieved(
    questions: Sequence[dict[str, Any]], documents: Sequence[dict[str, Any]], settings: Settings
) -> Iterator[tuple[str, ...]]:
    """Yield the texts of the five best documents of each question."""
    texts = {row["id"]: row["text"] for row in documents}
    chunks = [
        Chunk(id=row["id"], document_id=row["id"], text=row["text"], start=0, end=len(row["text"]))
        for row in documents
    ]
    asked = [Question(id=row["id"], question=row["question"]) for row in questions]
    for ranking in ragstone.retrieve(asked, chunks, k=K, settings=settings):
        yield tuple(texts[item.document_id] for item in ranking.items)


def rows_of(pack: str, fitted: bool, n: int, settings: Settings, *, others: bool = False) -> list[Row]:
    """Return the questions of one half of a pack, n of each kind at most; others: those between these."""
    documents, asked = read(pack, "documents.jsonl"), read(pack, "questions.jsonl")
    title = {row["id"]: row["title"] for row in documents}
    rows: list[Row] = []
    for lang in LANGUAGES[1:] if pack == "xquad" else LANGUAGES[:1]:
        most = n // 5 if pack == "xquad" else n
        own = [row for row in documents if row["lang"] == lang]
        half = [
            row for row in asked if row["lang"] == lang and is_fitted_on(title[row["document_id"]]) == fitted
        ]
        here, strange = ([row for row in half if row["answerable"] is it] for it in (True, False))
        steps = [max(1, len(part) // most) for part in (here, strange)]
        if others and steps[0] == 1:
            continue
        here, strange = (
            part[step // 2 * others :: step][:most] for part, step in zip((here, strange), steps, strict=True)
        )

        def add(
            kind: str, some: Sequence[dict[str, Any]], among: Sequence[dict[str, Any]], lang: str = lang
        ) -> None:
            held = frozenset(term for row in among for term in search_terms(f"{row['title']} {row['text']}"))
            for row, passages in zip(some, retrieved(some, among, settings), strict=True):
                refs = tuple(row.get("references") or [row["reference_answer"]]) if kind == "own" else ()
                article = title[row["document_id"]]
                rows.append(Row(pack, kind, row["question"], refs, article, passages, lang, held))

        add("own", here, own)
        if pack == "squad2":
            add("look-alike", strange, own)
        if pack in ELSEWHERE:
            add("elsewhere", here, read(ELSEWHERE[pack], "documents.jsonl"))
        if pack not in OTHERS_ANSWER:
            for name in dict.fromkeys(title[row["document_id"]] for row in here):
                some = [row for row in here if title[row["document_id"]] == name]
                add("removed", some, [row for row in own if row["title"] != name])
    return [*rows, *swapped([row for row in rows if row.kind == "own"])]


def swapped(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield questions with their subject exchanged for that of another one, which no passage holds."""
    for number, row in enumerate(rows):
        word, text = subject(row.question), " ".join(row.passages).casefold()
        for other in [*rows[number + 37 :], *rows[:number]]:
            strange = subject(other.question)
            alike = bool(strange) and strange.isascii() == word.isascii() and other.article != row.article
            if word and alike and strange.casefold() not in text:
                yield row._replace(kind="swapped", question=row.question.replace(word, strange), refs=())
                break


def subject(question: str) -> str:
    """Return the last name in a question, else its longest word that says something; "" where none does."""
    words = [word.strip("?.,;:¿()\"'") for word in question.split()]
    names = [word for word in words[1:] if word[:1].isupper() and len(word) > 2]
    content = [word for word in words if len(word) > 4 and word.casefold() not in function_words()]
    return names[-1] if names else max(content, key=len, default="")


def useful(rows: Sequence[Row], quotes: Sequence[str], settings: Settings) -> list[bool]:
    """Return what the judge `right` says of each quote; of none, no."""
    answers = [
        Answer(question_id=str(n), question=row.question, reference=list(row.refs), answer=quote)
        for n, (row, quote) in enumerate(zip(rows, quotes, strict=True))
        if row.refs and quote
    ]
    yes = set()
    for row in ragstone.judge(answers, judges=["right"], settings=settings) if answers else ():
        if row.score is not None and row.score >= float((row.metadata or {})[OWN_THRESHOLD]):
            yes.add(int(row.question_id))
    return [n in yes for n in range(len(rows))]


def quotes_of(rows: Sequence[Row], declared: ExtractiveSystem, settings: Settings) -> list[str]:
    """Return what is quoted for each question, "" where it is declined."""
    embed = open_embedder("packaged", settings.path(".ragstone")) if declared.embedder else None
    answers = [
        quote_contexts(
            Question(id="q", question=row.question, lang=row.lang),
            [Context(id=str(n), text=text) for n, text in enumerate(row.passages)],
            declared,
            system="reader",
            embed=embed,
        )
        for row in rows
    ]
    return [answer.answer if answer.metadata else "" for answer in answers]


def share(flags: Sequence[bool]) -> str:
    """Return a share with its interval."""
    low, high = wilson_interval(sum(flags), len(flags))
    return f"{sum(flags) / len(flags):.2f} ({low:.2f} to {high:.2f})"


def show_pack(pack: str, n: int, settings: Settings, *, others: bool) -> None:
    """Print the figures of a pack, of both readers."""
    rows = rows_of(pack, False, n, settings, others=others)
    own = [at for at, row in enumerate(rows) if row.kind == "own"]
    for name, declared in READERS.items() if own else ():
        quotes = quotes_of(rows, declared, settings)
        yes = useful(rows, quotes, settings)
        figures = {
            f"useful of {len(own)}": [yes[at] for at in own],
            "useless": [bool(quotes[at]) and not yes[at] for at in own],
        }
        figures |= {
            f"declined {kind}": [not quotes[at] for at, row in enumerate(rows) if row.kind == kind]
            for kind in KINDS
        }
        shown = "  ".join(f"{what} {share(flags)}" for what, flags in figures.items() if flags)
        print(f"{pack:8}{name:18}{shown}", flush=True)


class FitRow(NamedTuple):
    """What is fitted on. source: a pack or an example; group: one of SHARES; near: what a question of an
    example is near to, so that a fold holds all of one. is_unnamed: declined by a rule."""

    source: str
    group: str
    near: str
    signals: AnswerSignals
    is_unnamed: bool = False


SHARES = {"useful": 1.0, "outside": 1 - SWAPPED, "swapped": SWAPPED, "near": 1 - FAR, "far": FAR}


def unheld_by(held: frozenset[str], words: Sequence[str]) -> list[str]:
    """Return those of the words that documents with these search terms do not hold."""
    return [word for word in words if held.isdisjoint(word_terms(word))]


def rows_of_packs(n: int, settings: Settings) -> Iterator[FitRow]:
    """Yield the rows of the half of the packs that is fitted on."""
    embed = open_embedder("packaged", settings.path(".ragstone"))
    always = ExtractiveSystem(threshold=0)
    for pack in FITTED:
        rows = rows_of(pack, True, n, settings)
        yes = useful(rows, quotes_of(rows, always, settings), settings)
        for row, is_useful in zip(rows, yes, strict=True):
            quote = best_sentences(row.question, row.passages, most=1, threshold=0.0)
            # A useless quote of a passage that may hold the answer says nothing of what should be declined.
            if quote and (is_useful or row.kind in KINDS[:3]):
                signals = answer_signals(
                    row.question,
                    quote[0],
                    row.passages,
                    embed,
                    lang=row.lang,
                    unheld=partial(unheld_by, row.held),
                )
                group = "useful" if is_useful else "swapped" if row.kind == "swapped" else "outside"
                yield FitRow(pack, group, "", signals)


def rows_of_examples(settings: Settings) -> Iterator[FitRow]:
    """Yield the rows of the part of the examples' questions that is fitted on."""
    for example in EXAMPLES:
        for row in asyncio.run(signalled(example, settings.path(".ragstone"))):
            asked = row.asked
            if asked.part == "fit" and row.signals is not None and (row.is_right or asked.kind != INSIDE):
                group = "useful" if asked.kind == INSIDE else asked.kind
                yield FitRow(example, group, asked.near, row.signals, row.is_unnamed)


def fit(n: int, settings: Settings) -> None:
    """Fit the weights and the threshold, and write the file.

    A group of a source weighs its share, however many its rows are. The threshold is that of probabilities
    by weights that were fitted without what a question is near to.
    """
    from sklearn.linear_model import LogisticRegression

    rows = [*rows_of_packs(n, settings), *rows_of_examples(settings)]
    table = np.array([msgspec.structs.astuple(row.signals) for row in rows], dtype=float)
    is_useful = np.array([row.group == "useful" for row in rows])
    weight = np.zeros(len(rows))
    for source in (*FITTED, *EXAMPLES):
        for group, part in SHARES.items():
            of = np.array([(row.source, row.group) == (source, group) for row in rows])
            weight[of] = part / max(1, of.sum())

    def model_of(chosen: np.ndarray) -> LogisticRegression:
        model = LogisticRegression(C=1e3, max_iter=5000)
        return model.fit(
            table[chosen], is_useful[chosen], sample_weight=weight[chosen] / weight[chosen].mean()
        )

    fold = np.array([zlib.crc32(row.near.encode()) % FOLDS if row.near else -1 for row in rows])
    chance = np.zeros(len(rows))
    for number in range(FOLDS):
        own = fold == number
        if own.any():
            chance[own] = model_of(~own).predict_proba(table[own])[:, 1]
    chance[[row.is_unnamed for row in rows]] = 0.0
    near, far = (chance[[row.group == group for row in rows]] for group in ("near", "far"))
    half_each = [1 / len(group) for group in (near, far) for _ in group]
    outside = np.concatenate([near, far])
    threshold = float(np.quantile(outside, DECLINED, weights=half_each, method="inverted_cdf"))
    model = model_of(np.ones(len(rows), dtype=bool))
    names = msgspec.structs.fields(AnswerSignals)
    lines = [f"{name.name} = {value:.2f}" for name, value in zip(names, model.coef_[0], strict=True)]
    FILE.write_text(
        "# Fitted by `python -m benchmarks.declining --fit` on half the articles of agxqa, squad2, clapnq\n"
        "# and xquad in six languages and a part of benchmarks/outside.jsonl, with vectors of\n"
        "# multilingual-e5-small; see AnswerSignals.\n"
        f"offset = {model.intercept_[0]:.2f}\nthreshold = {threshold:.3f}\n\n[weights]\n"
        + "\n".join(lines)
        + "\n",
        "utf-8",
    )
    print(FILE.read_text("utf-8"))


def main() -> None:
    """Print the table, or fit."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--questions", type=int, default=150, help="of each kind of a pack, at most")
    parser.add_argument("--others", action="store_true", help="the questions between those")
    parser.add_argument("--fit", action="store_true", help="fit and write the weights")
    parser.add_argument("--project", type=Path, default=Path(), help="folder of the vectors")
    chosen = parser.parse_args()
    settings = Settings(root=str(chosen.project))
    if chosen.fit:
        fit(chosen.questions, settings)
        return
    for pack in NAMES:
        show_pack(pack, chosen.questions, settings, others=chosen.others)


if __name__ == "__main__":
    main()
