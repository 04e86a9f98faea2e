"""How good the judges that ship are, on answers that people labelled; docs/reference/judges.md has the
figures.

Run: python benchmarks/judges.py [--model llamacpp/FILE.gguf] [--project FOLDER] [--only NAME ...]

Without --model no model is asked, and only the judges that need none are shown. With it every call goes
through the ledger of the project, so that nothing is asked twice. Thresholds are fitted on the questions of
one half and every figure comes from the other; which half a question is in follows from its text.
"""

import argparse
import json
import random
import re
import sys
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

import ragstone
from ragstone.features.bench._detection import detection_estimates
from ragstone.features.improve._thresholds import fit_cut
from ragstone.kernel.config import Settings, load_settings
from ragstone.kernel.corpus.sentences import sentence_spans
from ragstone.kernel.document.numbers import with_ends
from ragstone.kernel.judging import load_judge, question_digest
from ragstone.kernel.judging.citation_marks import cited_statements
from ragstone.kernel.judging.lexical import no_refusal
from ragstone.kernel.judging.refusals import SENTENCE
from ragstone.kernel.judging.steps import unused_in
from ragstone.kernel.records import Answer, Context, Judgement, Step, Verdict
from ragstone.kernel.statistics import (
    Floats,
    cluster_codes,
    cluster_totals,
    cohen_kappa,
    difference_estimates,
    mcnemar_p,
    mean_estimate,
    roc_auc,
)
from ragstone.kernel.statistics._auc import auc_columns
from ragstone.kernel.statistics.bootstrap import bootstrap_estimates
from ragstone.kernel.tables.reading import parse_rows

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"
REFUSALS = Path(__file__).parent / "refusals.toml"
SEEN = Path(__file__).parent / "refusals_seen.toml"
LATER = Path(__file__).parent / "refusals_later.toml"
# The word list of refusals is not made on the last two.
ORDINARY = ("xquad", "squad2", "clapnq", "cranfield", "agxqa", "bankfaq")
FEWEST_LETTERS = 25  # of a sentence
Flags = npt.NDArray[np.bool_]
TEN = ("en", "de", "es", "ru", "tr", "vi", "ar", "hi", "th", "zh")
FIVE = TEN[:5]  # of which answers are judged to fit the model's threshold
DEVELOPMENT = 111  # answers of the fitting half that the model is asked about
QUESTIONS = 130  # questions of the measured half, drawn at random, that the model is asked about
TYPED = 100  # questions of bloom, drawn at random, that the model is asked about


class Asked(NamedTuple):
    """With what judges are asked."""

    model: str | None
    settings: Settings


def load(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / path).read_text(encoding="utf-8").splitlines()]


def half(text: str) -> int:
    """Return 0 for a question on which thresholds are fitted, 1 for one on which figures are measured."""
    return int(question_digest("", text)[:2], 16) % 2


def judged(asked: Asked, name: str, answers: Sequence[Answer]) -> list[Judgement]:
    """Return a judge's judgements, one for each answer, in their order."""
    started = time.perf_counter()
    rows: list[Judgement] = ragstone.judge(answers, judges=[name], model=asked.model, settings=asked.settings)
    rows = [row for row in rows if row.metric == rows[0].metric]
    lost = sum(row.status not in ("scored", "not_applicable") for row in rows)
    if asked.model or lost:
        print(
            f"    {name}: {len(rows)} rows, {lost} lost, {time.perf_counter() - started:.0f} s",
            file=sys.stderr,
        )
    return rows


def scores(rows: Iterable[Judgement], *, missing: float = 0.0) -> Floats:
    """Return the scores; a row without one counts as `missing`."""
    return np.array([missing if row.score is None else row.score for row in rows])


def interval(values: Floats, clusters: Sequence[str]) -> str:
    found = mean_estimate(values, clusters)
    assert found is not None
    return (
        f"{found.value:.3f} ({found.low:.3f} to {found.high:.3f})"
        if found.low is not None
        else f"{found.value:.3f}"
    )


def auc_text(labels: Floats, values: Floats, clusters: Sequence[str]) -> str:
    """Return the ROC AUC with its interval, clustered."""
    columns, statistic = auc_columns(labels, values)
    totals = cluster_totals(columns, cluster_codes(clusters, len(labels)))
    found = bootstrap_estimates(totals, {"auc": statistic}, len(labels))["auc"]
    assert found is not None
    return (
        f"{found.value:.3f} ({found.low:.3f} to {found.high:.3f})"
        if found.low is not None
        else f"{found.value:.3f}"
    )


def correctness(asked: Asked) -> None:
    """EVOUNA tq600: five systems' answers to 600 questions, right or wrong by people."""
    rows = load("evouna/tq600.jsonl")
    sheet = Sheet(
        answers=[
            Answer(
                question_id=row["id"],
                question=row["question"],
                reference=row["reference"],
                answer=row["answer"],
                system=row["system"],
            )
            for row in rows
        ],
        human=np.array([bool(row["human_label"]) for row in rows]),
        side=np.array([half(row["question"]) for row in rows]),
    )
    known = {
        name: scores(judged(asked, name, sheet.answers))
        for name in ("containment", "coverage", "chrf", "token_f1")
    }
    fitted, measured = np.flatnonzero(sheet.side == 0), np.flatnonzero(sheet.side == 1)
    told = {"containment": known["containment"] == 1}
    for name in ("coverage", "chrf", "token_f1"):
        cut = fit_cut(known[name][fitted], sheet.human[fitted]) or 0.0
        told[f"{name} from {cut:g} on"] = known[name] >= cut
    print(f"\ncorrectness: EVOUNA tq600, fitted on {len(fitted)} answers, measured on {len(measured)}")
    for name, said in told.items():
        against_floor(name, said, told["containment"], sheet, measured)
    if asked.model:
        with_model(asked, sheet, known, told)


class Sheet(NamedTuple):
    """Answers, whether people call them right, and the half that each belongs to."""

    answers: list[Answer]
    human: Flags
    side: npt.NDArray[np.int_]


def with_model(asked: Asked, sheet: Sheet, known: dict[str, Floats], told: dict[str, Flags]) -> None:
    """Print how good same_answer is where containment says wrong, alone and together with coverage."""
    questions = [answer.question or "" for answer in sheet.answers]
    pool = sorted({question for question, side in zip(questions, sheet.side, strict=True) if side == 1})
    random.Random(4).shuffle(pool)
    sample = set(pool[:QUESTIONS])
    doubtful = [at for at in range(len(questions)) if known["containment"][at] == 0]
    random.Random(3).shuffle(doubtful)
    fitted = np.array([at for at in doubtful if sheet.side[at] == 0][:DEVELOPMENT])
    open_rows = np.array([at for at in sorted(doubtful) if questions[at] in sample])
    measured = np.array([at for at in range(len(questions)) if questions[at] in sample])
    at = np.concatenate([fitted, open_rows])
    likely = np.zeros(len(questions))
    likely[at] = scores(judged(asked, "same_answer", [sheet.answers[number] for number in at]))
    both = (likely + known["coverage"]) / 2
    print(f"  {len(sample)} questions of that half, {len(measured)} answers; of these containment finds")
    print(f"  {len(open_rows)} wrong: the model is asked about these, and {len(fitted)} of the other half:")
    for name, said in told.items():
        against_floor(name, said, told["containment"], sheet, measured)
    for name, values in {"same_answer": likely, "mean of same_answer and coverage": both}.items():
        cut = fit_cut(values[fitted], sheet.human[fitted]) or 0.0
        auc = roc_auc(sheet.human[open_rows].astype(float), values[open_rows]) or 0.0
        said = told["containment"] | ((values >= cut) & np.isin(np.arange(len(questions)), at))
        together = f"containment, then {name} from {cut:g} on"
        against_floor(together, said, told["containment"], sheet, measured)
        print(f"    {name} on the {len(open_rows)}: AUC {auc:.3f}")
    auc = roc_auc(sheet.human[open_rows].astype(float), known["coverage"][open_rows]) or 0.0
    print(f"    coverage on the {len(open_rows)}: AUC {auc:.3f}")


def against_floor(name: str, said: Flags, floor: Flags, sheet: Sheet, measured: npt.NDArray[np.intp]) -> None:
    """Print how often a judge agrees with people on the measured answers, beside containment."""
    human, questions = sheet.human[measured], [sheet.answers[at].question or "" for at in measured]
    right = (said[measured] == human).astype(float)
    by_floor = (floor[measured] == human).astype(float)
    kappa = cohen_kappa(human.astype(float), said[measured].astype(float), [0.0, 1.0])
    line = f"  {name}: accuracy {interval(right, questions)}, kappa {kappa:.3f}"
    if said is not floor:
        [gain] = difference_estimates(np.column_stack([right, by_floor]), [(0, 1)], questions)
        better, worse = int(np.sum(right > by_floor)), int(np.sum(right < by_floor))
        line += f", {100 * gain.value:+.1f} points"
        if gain.low is not None and gain.high is not None:
            line += f" ({100 * gain.low:+.1f} to {100 * gain.high:+.1f})"
        line += f", {better} better, {worse} worse, McNemar p = {mcnemar_p(better, worse):.1g}"
    print(line)


def answered(asked: Asked) -> None:
    """Plain refusals in ten languages against xquad's answers: is a refusal found, and nothing else?"""
    questions = load("xquad/questions.jsonl")
    answers = refusals_of(REFUSALS, questions, range(8), TEN) + gold_answers(questions, range(8), TEN)
    refused = np.array([row.system == "refused" for row in answers])
    print(f"\nanswered: {refused.sum()} refusals and {np.sum(~refused)} answers of xquad in ten languages")
    phrases = scores(judged(asked, "no_refusal", answers))
    print(f"  no_refusal: {f1_text(phrases == 0, refused)}")
    if asked.model:
        seen = refusals_of(SEEN, questions, (0, 3, 6), FIVE) + gold_answers(questions, range(16, 20), FIVE, 5)
        says_no = np.array([row.system == "refused" for row in seen])
        cut = fit_cut(scores(judged(asked, "answered@token", seen)), ~says_no) or 0.5
        open_rows = np.flatnonzero(phrases == 1)
        likely = np.zeros(len(answers))
        likely[open_rows] = scores(judged(asked, "answered@token", [answers[at] for at in open_rows]))
        print(f"  answered@token below {cut:g} on the {len(open_rows)} in which it finds none: ", end="")
        print(f1_text(likely[open_rows] < cut, refused[open_rows]))
        print(f"  no_refusal, then answered@token below {cut:g}: {f1_text(likely < cut, refused)}")
    later = refusals_of(LATER, questions, range(8), TEN)
    found = int(np.sum(scores(judged(Asked(None, asked.settings), "no_refusal", later)) == 0))
    print(f"  no_refusal finds {found} of the {len(later)} refusals of {LATER.name}")
    for pack in ORDINARY:
        texts = [row["text"] for row in load(f"{pack}/documents.jsonl")]
        said = [each for text in texts for each in SENTENCE.split(text) if len(each) > FEWEST_LETTERS]
        alarms = sum(no_refusal(each) == 0 for each in said)
        share = alarms / len(said)
        print(f"  and takes {alarms} of {len(said):,} sentences of {pack} for refusals ({share:.2%})")
    faq = [row["text"] for row in load("bankfaq/documents.jsonl")]
    print(f"  and {sum(no_refusal(each) == 0 for each in faq)} of {len(faq):,} answers of bankfaq")
    gold = [
        Answer(question_id=row["id"], question=row["question"], answer=row["reference_answer"])
        for row in questions + [row for row in load("squad2/questions.jsonl") if row["answerable"]]
    ]
    alarms = int(np.sum(scores(judged(Asked(None, asked.settings), "no_refusal", gold)) == 0))
    print(f"  no_refusal takes {alarms} of {len(gold):,} gold answers of xquad and squad2 for refusals")
    right = [row for row in load("evouna/tq600.jsonl") if row["human_label"]]
    long = [Answer(question_id=row["id"], answer=row["answer"]) for row in right]
    alarms = int(np.sum(scores(judged(Asked(None, asked.settings), "no_refusal", long)) == 0))
    print(f"  and {alarms} of {len(long):,} right answers of EVOUNA tq600")


def refusals_of(
    file: Path, questions: Sequence[dict[str, Any]], numbers: Iterable[int], langs: Iterable[str]
) -> list[Answer]:
    """Return refusals of a file, each to a question of xquad in its language."""
    told = tomllib.loads(file.read_text(encoding="utf-8"))
    asked = {lang: drawn(questions, lang, 5) for lang in langs}
    return [
        Answer(
            question_id=f"{lang}-{n}",
            question=asked[lang][n]["question"],
            answer=told[lang][n],
            system="refused",
        )
        for lang in asked
        for n in numbers
    ]


def gold_answers(
    questions: Sequence[dict[str, Any]], numbers: Sequence[int], langs: Iterable[str], seed: int | None = None
) -> list[Answer]:
    """Return gold answers of xquad; without a seed each language has questions of its own."""
    found = [drawn(questions, lang, lang if seed is None else seed)[n] for lang in langs for n in numbers]
    return [
        Answer(
            question_id=row["id"], question=row["question"], answer=row["reference_answer"], system="answered"
        )
        for row in found
    ]


def drawn(questions: Sequence[dict[str, Any]], lang: str, seed: int | str) -> list[dict[str, Any]]:
    """Return the questions in a language in an order drawn at random."""
    own = [row for row in questions if row["lang"] == lang]
    random.Random(seed).shuffle(own)
    return own


def f1_text(found: Flags, truth: Flags) -> str:
    hits, alarms, missed = (
        int(np.sum(found & truth)),
        int(np.sum(found & ~truth)),
        int(np.sum(~found & truth)),
    )
    f1 = 2 * hits / (2 * hits + alarms + missed)
    return f"F1 {f1:.3f}, found {hits} of {hits + missed}, {alarms} false alarms of {int(np.sum(~truth))}"


def question_type(asked: Asked) -> None:
    """bloom: 300 questions of six levels; a single annotator, and some wrong labels."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.model_selection import StratifiedKFold
    from sklearn.naive_bayes import MultinomialNB

    rows = load("bloom/bloom.jsonl")
    level = np.array([row["level_code"] for row in rows])
    texts = [row["question"] for row in rows]
    counts = CountVectorizer(ngram_range=(1, 2)).fit_transform(texts)
    bayes = np.zeros(len(rows))
    for train, test in StratifiedKFold(10, shuffle=True, random_state=0).split(counts, level):
        bayes[test] = MultinomialNB().fit(counts[train], level[train]).predict(counts[test])
    print(f"\nquestion_type: bloom, n = {len(rows)}")
    said = {"naive Bayes on words and pairs, ten-fold": bayes}
    show_levels(said, level, texts)
    if not asked.model:
        return
    order = list(range(len(rows)))
    random.Random(6).shuffle(order)
    at = np.array(order[:TYPED])
    answers = [Answer(question_id=str(n), question=texts[n], answer="") for n in at]
    found = judged(asked, "question_type@token", answers)
    levels = ["", "remember", "understand", "apply", "analyze", "evaluate", "create"]
    said = {name: values[at] for name, values in said.items()}
    said["question_type@token"] = np.array([levels.index(row.label or "") for row in found])
    said["its expected level, rounded"] = np.floor(scores(found) + 0.5)
    print(f"  {len(at)} of them, drawn at random:")
    show_levels(said, level[at], [texts[n] for n in at])


def show_levels(said: dict[str, Floats], level: npt.NDArray[np.int_], texts: Sequence[str]) -> None:
    for name, values in said.items():
        exact, near = (values == level).astype(float), (np.abs(values - level) <= 1).astype(float)
        print(f"  {name}: accuracy {interval(exact, texts)}, within one {interval(near, texts)}")


def faithfulness(asked: Asked) -> None:
    """begin, ragtruth (questions and answers), wice: is the whole answer supported by its context?"""
    print("\nfaithfulness: ROC AUC")
    for pack in ("begin/begin", "ragtruth/qa", "wice/claims"):
        rows = load(f"{pack}.jsonl")
        answers = [
            Answer(
                question_id=row["id"],
                answer=row["answer"],
                contexts=[Context(text="\n".join(sentences(row)))],
            )
            for row in rows
        ]
        # wice: supported (2) against partially (1) and not supported (0)
        label = np.array([float(row["human_label"] == (2 if pack.startswith("wice") else 1)) for row in rows])
        clusters = [str(row.get("source_id") or row["id"]) for row in rows]
        print(f"  {pack}, n = {len(rows)}, {100 * label.mean():.0f} % supported")
        for name in ("context_overlap", "grounding"):
            print(f"    {name:<28} {auc_text(label, scores(judged(asked, name, answers)), clusters)}")


PUBLISHED = {"GPT-4": 0.634, "TinyLettuce-68M": 0.750, "LettuceDetect-large": 0.792, "RAG-HAT": 0.839}
"""F1 on all of RAGTruth's test answers; docs/reference/judges.md names the papers."""


def detection(asked: Asked) -> None:
    """RAGTruth: which answers have a fault, by a threshold of the other half; F1 is what others print."""
    names = ("context_overlap", "grounding", *(["faithfulness"] if asked.model else []))
    print("\ndetection: answers with a fault that people marked, RAGTruth; threshold of the other half")
    for packs in (("qa",), ("summary",), ("qa", "summary")):
        rows = [row for pack in packs for row in load(f"ragtruth/{pack}.jsonl")]
        answers = [
            Answer(
                question_id=row["id"], question=row["question"], answer=row["answer"], contexts=passages(row)
            )
            for row in rows
        ]
        wrong = np.array([not row["human_label"] for row in rows])
        sources = [str(row["source_id"]) for row in rows]
        side = np.array([half(source) for source in sources])  # all answers to one source are in one half
        everything = detection_estimates(wrong.astype(np.float64), np.ones(wrong.size), sources)["F1"]
        print(
            f"  {' and '.join(packs)}, n = {wrong.size}, {100 * wrong.mean():.0f} % wrong; calling every "
            f"answer wrong has F1 {everything.value:.3f}"
        )
        for name in names:
            values = scores(judged(asked, name, answers), missing=1.0)
            cuts = [best_f1_cut(values[side == other], wrong[side == other]) for other in (1, 0)]
            called = (values < np.array(cuts)[side]).astype(np.float64)
            estimates = detection_estimates(wrong.astype(np.float64), called, sources)
            text = ", ".join(f"{measure} {with_ends(estimate)}" for measure, estimate in estimates.items())
            auc = auc_text((~wrong).astype(float), values, sources)
            print(f"    {name}: AUROC {auc}; below {cuts[0]:.3g} or {cuts[1]:.3g}: {text}")
    print("  published, on all 2,700 test answers of three tasks; all but GPT-4 were trained on RAGTruth:")
    print("    " + ", ".join(f"{name} {value:.3f}" for name, value in PUBLISHED.items()))


def best_f1_cut(values: Floats, wrong: Flags) -> float:
    """Return the score below which an answer is called wrong, so that F1 is the highest on these answers."""
    known = np.unique(values)
    cuts = np.append((known[:-1] + known[1:]) / 2, known[-1] + 1)
    called = values[None, :] < cuts[:, None]
    f1 = 2 * (called & wrong).sum(axis=1) / (called.sum(axis=1) + wrong.sum())
    return float(cuts[f1.argmax()])


def statements(asked: Asked) -> None:
    """Sentences of answers that people found fault with, or not: the verdicts of grounding on each."""
    print("\nstatements: the verdicts of grounding, by sentence")
    for pack in ("ragtruth/qa", "ragtruth/summary", "begin/begin", "wice/claims"):
        rows = load(f"{pack}.jsonl")
        answers = [
            Answer(question_id=row["id"], answer=row["answer"], contexts=passages(row)) for row in rows
        ]
        found: list[tuple[float, bool, bool]] = []
        clusters: list[str] = []
        for row, judgement in zip(rows, judged(asked, "grounding", answers), strict=True):
            for one, right in labelled_verdicts(row, judgement):
                found.append((one.score or 0.0, one.supported, right))
                clusters.append(str(row.get("source_id") or row["context"]))
        values, said, label = (np.array(column) for column in zip(*found, strict=True))
        kappa = cohen_kappa(label.astype(int), said.astype(int), [0, 1])
        told, of_told = ~label[~said], [one for one, fine in zip(clusters, said, strict=True) if not fine]
        print(
            f"  {pack}, n = {len(found)}, {100 * label.mean():.0f} % supported: "
            f"AUC {auc_text(label.astype(float), values, clusters)}, agreement "
            f"{interval((said == label).astype(float), clusters)}, kappa {kappa:.3f}; always the commoner "
            f"label: {max(label.mean(), 1 - label.mean()):.3f}\n    called unsupported: {len(told)}, which "
            f"is {told.sum() / (~label).sum():.2f} of those that people do; people do "
            f"{interval(told.astype(float), of_told)} of these"
        )
        if pack == "ragtruth/qa":
            for cut in np.arange(0.1, 0.7, 0.05):
                yes = values >= cut
                kappa = cohen_kappa(label.astype(int), yes.astype(int), [0, 1])
                rates = (yes[label].mean() + (~yes)[~label].mean()) / 2
                print(f"    from {cut:.2f} on: kappa {kappa:.3f}, mean of both rates {rates:.3f}")


def passages(row: dict[str, Any]) -> list[Context]:
    """Return the contexts of a row: RAGTruth's passages one by one, all others as one."""
    texts = re.split(r"passage \d+:", "\n".join(sentences(row)))
    return [Context(text=text.strip()) for text in texts if text.strip()]


def labelled_verdicts(row: dict[str, Any], judgement: Judgement) -> Iterator[tuple[Verdict, bool]]:
    """Yield the verdicts on sentences that are found in the answer, and whether people found no fault there.

    Where people judged whole answers, those of one sentence alone count.
    """
    verdicts = judgement.verdicts or []
    if "human_spans" not in row:
        if len(verdicts) == 1:
            yield verdicts[0], row["human_label"] == (2 if row["id"].startswith("wice") else 1)
        return
    faults = [span for span in row["human_spans"] if not span["implicit_true"]]  # right, if from elsewhere
    at = 0
    for one in verdicts:
        words = map(re.escape, re.findall(r"\w+", one.statement))
        if place := re.compile(r"\W+".join(words)).search(row["answer"], at):
            at = place.end()
            yield one, not any(span["start"] < at and span["end"] > place.start() for span in faults)


BEGIN_ROWS = 60  # that a model is asked about


def citations(asked: Asked) -> None:
    """wice, begin: is a statement supported by the text that it cites? And with marks that are wrong."""
    wice, begin = load("wice/claims.jsonl"), load("begin/begin.jsonl")
    print("\ncitations: agreement with people on whether what is cited supports the statement")
    # wice: supported (2) against partially (1) and not supported (0)
    show_citations("citations", "wice/claims", wice, [row["human_label"] == 2 for row in wice], asked)
    few = random.Random(0).sample(begin, BEGIN_ROWS)
    for name, rows in [
        ("citations", begin),
        *([("citations_asked", few), ("citations", few)] if asked.model else []),
    ]:
        show_citations(name, "begin/begin", rows, [row["human_label"] == 1 for row in rows], asked)
    answers = load("alce_utility/alce.jsonl")
    made = (cited_statements(row["answer"], []) for row in answers)
    marked = sum(any(one.cited or one.dangling for one in statements) for statements in made)
    print(
        f"  alce_utility/alce: {marked} of {len(answers)} answers hold a mark, so there is nothing to measure"
    )


def show_citations(
    name: str, pack: str, rows: Sequence[dict[str, Any]], labels: Sequence[bool], asked: Asked
) -> None:
    """Print the agreement where [1] cites the row's own text, and what [2], the next row's, and others do."""
    contexts = [Context(text="\n".join(sentences(row))) for row in rows]
    clusters = [str(row["id"]) for row in rows]

    def recalled(mark: str) -> npt.NDArray[np.bool_]:
        answers = [
            Answer(
                question_id=row["id"],
                question=row["question"] or row["title"],
                answer=f"{row['answer'].rstrip(' .')} {mark}.",
                contexts=[contexts[at], contexts[(at + 1) % len(rows)]],
            )
            for at, row in enumerate(rows)
        ]
        return np.equal(scores(judged(asked, name, answers)), 1.0).astype(np.bool_)

    label, said = np.array(labels), recalled("[1]")
    kappa = cohen_kappa(label.astype(int), said.astype(int), [0, 1])
    print(
        f"  {name} on {pack}, n = {len(rows)}, {100 * label.mean():.0f} % supported: "
        f"{interval((said == label).astype(float), clusters)}, kappa {kappa:.3f}; "
        f"always the commoner label: {max(label.mean(), 1 - label.mean()):.3f}"
    )
    if name == "citations":
        for mark, what in (("[2]", "another text"), ("[9]", "no context"), ("", "nothing")):
            print(f"    cites {what}: {recalled(mark).sum()} of {len(rows)} pass")
        lost = ~recalled("[1][2]")[said]
        print(f"    cites its text and another: {lost.sum()} of {len(lost)} lose precision")


AGENTS = ROOT / "tests" / "fixtures" / "agents"
MANY = 10_000  # rows of an agent


def agents(asked: Asked) -> None:
    """Rows worked by hand: the time of 10,000 beside containment; what a model says of 20 others."""
    rows = [json.loads(line) for line in (AGENTS / "rows.jsonl").read_text("utf-8").splitlines()]
    many = [rows[n % len(rows)] | {"id": str(n), "reference": "12 mm of rain"} for n in range(MANY)]
    print(f"\nagents: {MANY:,} rows, CPU seconds, the quickest of 3, beside containment")
    names = ("containment", "tool_choice", "tool_choice@order=in_order", "tool_arguments", "tool_errors")
    times: dict[str, list[float]] = {name: [] for name in (*names, "step_efficiency")}
    for name in [*times] * 3:
        started = time.process_time()
        ragstone.judge(many, judges=[name], settings=asked.settings)
        times[name].append(time.process_time() - started)
    for name, found in times.items():
        print(f"  {name:<28} {min(found):.2f} s, {min(found) / min(times['containment']):.2f}")
    unused_results()
    if not asked.model:
        return
    few = [json.loads(line) for line in (AGENTS / "asked.jsonl").read_text("utf-8").splitlines()]
    for name in ("tool_choice_asked@token", "tool_arguments_asked@token", "task_done@token"):
        metric = load_judge(name).measures
        told = [row for row in few if row["labels"][metric] is not None]
        label = np.array([float(row["labels"][metric]) for row in told])
        said = scores(judged(asked, name, list(parse_rows(told, Answer))))
        auc = auc_text(label, said, [row["id"] for row in told])
        print(f"  {name}: {((said >= 0.5) == label).sum()} of {len(told)} right, AUC {auc}")


def unused_results() -> None:
    """How often step_efficiency calls a result unused: of the text behind an answer, and of another one's."""
    passages = {row["id"]: row["text"] for row in load("clapnq/documents.jsonl")}
    texts = {
        "clapnq": [
            (row["question"], row["reference_answer"], passages[row["document_id"]])
            for row in load("clapnq/questions.jsonl")
            if row["reference_answer"] and row["document_id"]
        ],
        "BEGIN, supported": [
            (row["question"] or "", row["answer"], "\n".join(sentences(row)))
            for row in load("begin/begin.jsonl")
            if row["human_label"] == 1
        ],
        "RAGTruth": [
            (row["question"], row["answer"], "\n".join(sentences(row))) for row in load("ragtruth/qa.jsonl")
        ],
    }
    for pack, rows in texts.items():
        results = [one[2] for one in rows]
        far = results[len(rows) // 2 :] + results[: len(rows) // 2]
        one_sentence = [max((text[a:b] for a, b in sentence_spans(text)), key=len) for text in far]
        found = {"its own": results, "another one": far, "a sentence of that": one_sentence}
        shares = {
            name: np.mean([is_unused(*row[:2], text) for row, text in zip(rows, of, strict=True)])
            for name, of in found.items()
        }
        told = ", ".join(f"{name} {share:.3f}" for name, share in shares.items())
        print(f"  called unused, {pack}, n = {len(rows)}: {told}")


def is_unused(question: str, answer: str, result: str) -> bool:
    step = Step(tool="search", arguments={"query": question}, result=result)
    return bool(unused_in(Answer(question_id="q", question=question, answer=answer), [step]))


def sentences(row: dict[str, Any]) -> list[str]:
    given = row["context"]
    return given if isinstance(given, list) else [given[start:end] for start, end in sentence_spans(given)]


def language_match(asked: Asked) -> None:
    """xquad: answers in the language of their question, and those of the same question in another."""
    questions = load("xquad/questions.jsonl")
    by_id = {(row["lang"], row["parallel_id"]): row for row in questions}
    langs = sorted({row["lang"] for row in questions})
    same: list[Answer] = []
    other: list[Answer] = []
    for row in questions:
        abroad = by_id[(langs[(langs.index(row["lang"]) + 1) % len(langs)], row["parallel_id"])]
        for rows, answer in ((same, row["reference_answer"]), (other, abroad["reference_answer"])):
            rows.append(Answer(question_id=row["id"], question=row["question"], answer=answer))
    print(f"\nlanguage_match: {len(same):,} answers of xquad, and as many in another language")
    for name, answers in (("same language", same), ("another language", other)):
        found = [row.score for row in judged(Asked(None, asked.settings), "language_match", answers)]
        n = sum(score is not None for score in found)
        print(f"  {name:<18} match {found.count(1.0):,}, none {found.count(0.0):,} of {n:,} that can be told")


SECTIONS: dict[str, Callable[[Asked], None]] = {
    "correctness": correctness,
    "answered": answered,
    "question_type": question_type,
    "faithfulness": faithfulness,
    "detection": detection,
    "statements": statements,
    "citations": citations,
    "agents": agents,
    "language_match": language_match,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", help="the model that judges ask, e.g. llamacpp/FILE.gguf")
    parser.add_argument(
        "--project", type=Path, default=Path(), help="folder of the ledger (default: this one)"
    )
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    chosen = parser.parse_args()
    file = chosen.project / "ragstone.toml"
    settings = (
        load_settings(file)
        if file.exists()
        else msgspec.structs.replace(load_settings(), root=str(chosen.project))
    )
    for name in chosen.only:
        SECTIONS[name](Asked(chosen.model, settings))


if __name__ == "__main__":
    main()
