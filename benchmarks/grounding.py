"""Faithfulness without a model: `supported` beside `grounding`, on answers that people labelled.

Run: python -m benchmarks.grounding [--packs FOLDER] [--fit] [--edits] [--resamples N]

Without --packs the packs of ../shared/data are read. FOLDER holds clones of the repositories that are named
in docs/decisions/0099-faithfulness-without-a-model.md (BEGIN-dataset, wice, FaithJudge, MEMERAG, qags), of
which all rows are read. --fit prints the numbers of library/supported.toml, from half of the sources of
three packs; everything else is measured on the other half of these, and on all of the others. --edits puts
another answer, another number or a negation into sentences of XQuAD, in ten languages.
"""

import argparse
import asyncio
import csv
import hashlib
import json
import random
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from ragstone.kernel.corpus.sentences import sentence_spans
from ragstone.kernel.judging import JudgeContext, judge_answer, load_judge
from ragstone.kernel.judging.supported._features import FEATURES, negations
from ragstone.kernel.judging.supported.judge import ALONE, compared_sentences
from ragstone.kernel.records import Answer, Context, Judgement
from ragstone.kernel.statistics import roc_auc

SHARED = Path(__file__).parents[1].parent / "shared" / "data"
FITTED = ("begin", "wice", "ragtruth data-to-text")  # one half of their sources
RECORDS = FITTED[2]
LANGUAGES = ("en", "de", "es", "fr", "hi")
TEN = ("en", "de", "es", "ru", "tr", "vi", "ar", "hi", "th", "zh")
PENALTY = 0.003
UNSUPPORTED = 0.1  # share of sentences, as in RAGTruth; in BEGIN and WiCE it is 0.55 and 0.68
EDITED = 150  # sentences of a language
Floats = npt.NDArray[np.float64]


class LabelledAnswer(NamedTuple):
    """An answer, whether people found all of it supported, and where not, if they marked it."""

    answer: Answer
    is_supported: bool
    source: str
    spans: list[tuple[int, int]] | None = None

    @property
    def is_fitted(self) -> bool:
        """Whether it is in the half that numbers are fitted on; all answers to a source are in one half."""
        return int(hashlib.sha256(self.source.encode()).hexdigest()[:4], 16) % 2 == 0


def row(
    text: str,
    contexts: Sequence[str],
    label: bool,
    source: str,
    spans: list[tuple[int, int]] | None = None,
) -> LabelledAnswer:
    answer = Answer(
        question_id=source[:20] or "-", answer=text, contexts=[Context(text=one) for one in contexts]
    )
    return LabelledAnswer(answer, label, source, spans)


def json_rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def passages(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"passage \d+:", text) if part.strip()]


def all_packs(folder: Path | None) -> dict[str, list[LabelledAnswer]]:
    """Return the packs that are there, by name."""
    readers = {
        "begin": begin,
        "wice": wice,
        **{f"ragtruth {task}": ragtruth for task in ("questions", "summaries", "data-to-text")},
        **{f"memerag {lang}": memerag for lang in LANGUAGES},
        "qags cnndm": qags,
        "qags xsum": qags,
    }
    found = {}
    for name, reader in readers.items():
        try:
            found[name] = list(reader(folder, name.rpartition(" ")[2]))
        except FileNotFoundError as missing:
            print(f"{name}: left out, {missing.filename} is not there", file=sys.stderr)
    return found


def begin(folder: Path | None, _part: str) -> Iterator[LabelledAnswer]:
    """BEGIN (Dziri et al. 2022), CC BY 4.0: replies to a line of talk, with a piece of knowledge."""
    if folder is None:
        for one in json_rows(SHARED / "begin" / "begin.jsonl"):
            yield row(one["answer"], [one["context"]], one["human_label"] == 1, one["context"])
        return
    for part in ("wow/begin_dev_wow", "wow/begin_test_wow", "cmu-dog/begin_dev_cmu"):
        with (folder / "BEGIN-dataset" / f"{part}.tsv").open(encoding="utf-8", newline="") as lines:
            for one in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
                if one["begin_label"] != "Generic":
                    label = one["begin_label"] == "Fully attributable"
                    yield row(one["response"], [one["knowledge"]], label, one["knowledge"])


def wice(folder: Path | None, _part: str) -> Iterator[LabelledAnswer]:
    """WiCE (Kamoi et al. 2023), ODC-BY: sentences of Wikipedia with the article that they cite."""
    if folder is None:
        for one in json_rows(SHARED / "wice" / "claims.jsonl"):
            text = "\n".join(one["context"])
            yield row(one["answer"], [text], one["human_label"] == 2, text[:300])
        return
    for part in ("dev", "test"):
        path = folder / "wice" / "data" / "entailment_retrieval" / "claim" / f"{part}.jsonl"
        for one in json_rows(path):
            text = "\n".join(one["evidence"])
            yield row(one["claim"], [text], one["label"] == "supported", text[:300])


def ragtruth(folder: Path | None, part: str) -> Iterator[LabelledAnswer]:
    """RAGTruth (Niu et al. 2024), MIT, as in FaithJudge; what is right though not in the context is fine."""
    if folder is None:
        name = {"questions": "qa", "summaries": "summary"}.get(part, part)
        for one in json_rows(SHARED / "ragtruth" / f"{name}.jsonl"):
            spans = [(s["start"], s["end"]) for s in one["human_spans"] if not s["implicit_true"]]
            yield row(one["answer"], passages(one["context"]), not spans, one["source_id"], spans=spans)
        return
    name = {"questions": "qa", "summaries": "summary", "data-to-text": "data2txt"}[part]
    for one in json_rows(folder / "FaithJudge" / "eval_data" / f"ragtruth_{name}.jsonl"):
        source = one["source"]
        contexts = (
            passages(source["passages"])
            if part == "questions"
            else [source if part == "summaries" else json.dumps(source, ensure_ascii=False)]
        )
        for reply in one["responses"]:
            spans = [(s["start"], s["end"]) for s in reply["labels"] if not s["implicit_true"]]
            yield row(reply["response"], contexts, not spans, str(one["source_id"]), spans=spans)


def memerag(folder: Path | None, part: str) -> Iterator[LabelledAnswer]:
    """MEMERAG (Cruz Blandón et al. 2025), CC BY-NC, to be measured on and not trained on."""
    for one in json_rows((folder or SHARED) / "MEMERAG" / "data" / "memerag" / f"{part}.jsonl"):
        labels = [sentence["factuality"] for sentence in one["answer"]]
        if "Challenging to determine" not in labels:
            text = " ".join(sentence["sentence"] for sentence in one["answer"])
            contexts = [context["text"] for context in one["context"]]
            yield row(text, contexts, set(labels) == {"Supported"}, str(one["query_id"]))


def qags(folder: Path | None, part: str) -> Iterator[LabelledAnswer]:
    """QAGS (Wang, Cho and Lewis 2020): summaries of news; a sentence is supported if two of three say so."""
    for one in json_rows((folder or SHARED) / "qags" / "data" / f"mturk_{part}.jsonl"):
        votes = [[vote["response"] == "yes" for vote in s["responses"]] for s in one["summary_sentences"]]
        text = " ".join(sentence["sentence"] for sentence in one["summary_sentences"])
        supported = all(2 * sum(vote) > len(vote) for vote in votes)
        yield row(text, [one["article"]], supported, one["article"][:200])


class MeasuredAnswer(NamedTuple):
    """The features of an answer's sentences, and whether people found a fault in each; None: not known."""

    features: Floats
    faults: list[bool | None]
    is_supported: bool


def measured_answers(rows: Sequence[LabelledAnswer]) -> list[MeasuredAnswer]:
    measured = []
    for one in rows:
        compared = compared_sentences(one.answer)
        if not compared:
            continue
        features = np.array([each.features.values for each in compared])
        faults: list[bool | None] = [None] * len(compared)
        if one.spans is not None:
            faults = list(marked(one.answer.answer, [each.sentence for each in compared], one.spans))
        elif len(compared) == 1:
            faults = [not one.is_supported]
        measured.append(MeasuredAnswer(features, faults, one.is_supported))
    return measured


def marked(text: str, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> Iterator[bool | None]:
    """Yield whether a fault that people marked lies in each sentence; None where it is not found again."""
    at = 0
    for sentence in sentences:
        words = map(re.escape, re.findall(r"\w+", sentence))
        place = re.compile(r"\W+".join(words)).search(text, at)
        at = place.end() if place else at
        yield any(start < place.end() and end > place.start() for start, end in spans) if place else None


def noisy_or(
    values: Floats, alone: Floats, label: Floats, weight: Floats, group: npt.NDArray[np.int_]
) -> tuple[Floats, Floats, Floats]:
    """Return weights, what each of `alone` adds by itself, and the intercept of each group.

    -ln(1 - p) = ln(1 + exp(intercept + values . weights)) + alone . adds; neither is below 0.
    """
    everything = np.hstack([values, alone])
    mean = np.average(everything, axis=0, weights=weight)
    spread = np.sqrt(np.average((everything - mean) ** 2, axis=0, weights=weight))
    scaled, groups = everything / spread, np.eye(group.max() + 1)[group]
    first, n = values.shape[1], everything.shape[1]

    def loss(at: Floats) -> tuple[float, Floats]:
        odds = scaled[:, :first] @ at[:first] + groups @ at[n:]
        expected = np.logaddexp(0, odds) + scaled[:, first:] @ at[first:n] + 1e-12
        missed = -np.expm1(-expected)
        value = np.sum(weight * ((1 - label) * expected - label * np.log(missed)))
        slope = weight * ((1 - label) - label * np.exp(-expected) / missed)
        by_odds = slope / (1 + np.exp(-odds))
        gradient = [scaled[:, :first].T @ by_odds, scaled[:, first:].T @ slope]
        gradient[0] = gradient[0] + PENALTY * at[:first]
        return float(value + PENALTY / 2 * at[:first] @ at[:first]), np.concatenate(
            [*gradient, groups.T @ by_odds]
        )

    bounds = [(0, None)] * n + [(None, None)] * groups.shape[1]
    start = np.concatenate([np.full(n, 0.1), np.full(groups.shape[1], -2.0)])
    best = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B").x
    return best[:first] / spread[:first], best[first:n] / spread[first:], best[n:]


def fit(packs: Mapping[str, Sequence[LabelledAnswer]]) -> None:
    """Print the numbers of supported.toml, from one half of the sources of FITTED."""
    halves = [measured_answers([one for one in packs[name] if one.is_fitted]) for name in FITTED]
    rows = [
        (features, fault, number)
        for number, half in enumerate(halves)
        for one in half
        for features, fault in zip(one.features, one.faults, strict=True)
        if fault is not None
    ]
    values = np.array([features for features, _, _ in rows])
    label, group = np.array([float(fault) for _, fault, _ in rows]), np.array([number for *_, number in rows])
    weight = 1 / np.bincount(group)[group] / len(halves)  # each pack counts the same
    alone = np.array([name in ALONE for name in FEATURES])
    weights, adds, intercepts = noisy_or(values[:, ~alone], values[:, alone], label, weight, group)
    shares = np.bincount(group, label) / np.bincount(group)
    moved = intercepts - np.log(shares / (1 - shares)) + np.log(UNSUPPORTED / (1 - UNSUPPORTED))
    of_prose, in_records = float(moved[:2].mean()), float(intercepts[2])

    def expected(features: Floats, number: int) -> Floats:
        intercept = in_records if FITTED[number] == RECORDS else of_prose
        odds = features[..., ~alone] @ weights + intercept
        return np.asarray(np.logaddexp(0, odds) + features[..., alone] @ adds)

    of_answer = np.array([float(one.is_supported) for half in halves for one in half])
    likely = np.exp([-expected(one.features, at).sum() for at, half in enumerate(halves) for one in half])
    number = np.repeat(np.arange(len(halves)), [len(half) for half in halves])
    share = 1 / np.bincount(number)[number] / len(halves)
    chance = np.array([-np.expm1(-expected(features, at)) for features, _, at in rows])
    texts = [f"{name} = {value:.4g}" for name, value in zip(np.array(FEATURES)[~alone], weights, strict=True)]
    added = [f"{name} = {value:.4g}" for name, value in zip(np.array(FEATURES)[alone], adds, strict=True)]
    print(f"# sentences {len(label):,}, answers {len(number):,}; of the packs {intercepts.round(2)}")
    print(f"weights    = {{ {', '.join(texts)} }}\nalone      = {{ {', '.join(added)} }}")
    print(f"intercept  = {of_prose:.4g}\nin_records = {in_records:.4g}")
    print(f"threshold  = {best_balanced(likely, of_answer, share):.2f}")
    print(f"flagged    = {best_balanced(chance, label, weight):.2f}")


def best_balanced(likely: Floats, label: Floats, weight: Floats) -> float:
    """Return the threshold, in hundredths, from which on a yes has the best mean of both rates."""
    cuts = np.arange(0.02, 0.99, 0.01)
    yes, no = weight * (label > 0), weight * (label == 0)
    rates = [(yes[likely >= cut].sum() / yes.sum() + no[likely < cut].sum() / no.sum()) / 2 for cut in cuts]
    return float(cuts[int(np.argmax(rates))])


def judgements(name: str, rows: Sequence[LabelledAnswer]) -> list[Judgement]:
    judge, context = load_judge(name), JudgeContext()

    async def judge_all() -> list[Judgement]:
        return [(await judge_answer(judge, one.answer, context))[0] for one in rows]

    return asyncio.run(judge_all())


def measure(packs: Mapping[str, Sequence[LabelledAnswer]], n_resamples: int) -> None:
    """Print a line for each pack; its intervals are of resampled sources."""
    cut = load_judge("supported").threshold  # type: ignore[attr-defined]
    print(
        "pack | n | n.a. | supported | AUROC grounding | supported | difference | balanced accuracy, F1 of "
        "unsupported at the threshold | ECE | sentences/s"
    )
    groups = {name: list(rows) for name, rows in packs.items()}
    five = [one for name, rows in groups.items() if name.startswith("memerag") for one in rows]
    if five:
        groups["memerag, five languages"] = five
    for name, rows in groups.items():
        held_out = [one for one in rows if name not in FITTED or not one.is_fitted]
        started = time.perf_counter()
        ours = judgements("supported", held_out)
        seconds = time.perf_counter() - started
        both = zip(ours, judgements("grounding", held_out), held_out, strict=True)
        scored = [
            (a.score, b.score, one) for a, b, one in both if a.score is not None and b.score is not None
        ]
        n_sentences = sum(len(one.verdicts or ()) for one in ours)
        score, other = np.array([a for a, *_ in scored]), np.array([b for _, b, _ in scored])
        label = np.array([float(one.is_supported) for *_, one in scored])
        codes = np.unique([one.source for *_, one in scored], return_inverse=True)[1]
        drawn = np.array(list(resampled_aucs(label, score, other, codes, n_resamples)))
        ends = np.percentile(drawn, [2.5, 97.5], axis=0)
        centre = (roc_auc(label, score) or 0.0, roc_auc(label, other) or 0.0)
        texts = [f"{value:.3f} ({ends[0, at]:.3f} to {ends[1, at]:.3f})" for at, value in enumerate(centre)]
        apart = drawn[:, 0] - drawn[:, 1]
        low, high = np.percentile(apart, [2.5, 97.5])
        called = score < cut
        right = (np.mean(called[label == 0]), np.mean(~called[label > 0]))
        true = float(np.sum(called & (label == 0)))
        f1 = 2 * true / (called.sum() + (label == 0).sum())
        print(
            f"{name} | {len(scored)} | {len(held_out) - len(scored)} | {100 * label.mean():.0f} % | "
            f"{texts[1]} | "
            f"{texts[0]} | {centre[0] - centre[1]:+.3f} ({low:+.3f} to {high:+.3f}) | {np.mean(right):.3f}, "
            f"{f1:.3f} | {calibration_error(score, label):.3f} | {n_sentences / seconds:.0f}",
            flush=True,
        )


def resampled_aucs(
    label: Floats, score: Floats, other: Floats, codes: npt.NDArray[np.int_], n: int
) -> Iterator[tuple[float, float]]:
    """Yield both AUROCs of resampled sources, the same for both."""
    generator, n_sources = np.random.default_rng(0), int(codes.max()) + 1
    orders = [np.argsort(values, kind="stable") for values in (score, other)]
    ties = [np.unique(values, return_inverse=True)[1] for values in (score, other)]
    for _ in range(n):
        weight = np.bincount(generator.integers(0, n_sources, n_sources), minlength=n_sources)[codes]
        good, bad = weight * (label > 0), weight * (label == 0)
        if not good.sum() or not bad.sum():
            continue
        aucs = []
        for _order, rank in zip(orders, ties, strict=True):
            of_good, of_bad = np.bincount(rank, good), np.bincount(rank, bad)
            below = np.cumsum(of_bad) - of_bad / 2
            aucs.append(float(of_good @ below / good.sum() / bad.sum()))
        yield aucs[0], aucs[1]


def calibration_error(score: Floats, label: Floats) -> float:
    """Expected calibration error, ten bins of equal width (Naeini, Cooper and Hauskrecht 2015)."""
    bins = np.minimum((score * 10).astype(int), 9)
    return float(sum(abs(score[bins == b].sum() - label[bins == b].sum()) for b in range(10)) / len(score))


def edits() -> None:
    """Print what share of edited sentences is flagged, by language and edit; texts stay as they are."""
    print("language | as it is | another answer | another number | a negation put in; flagged of each, n")
    for lang in TEN:
        chance = random.Random(lang)
        texts = {
            one["id"]: one["text"]
            for one in json_rows(SHARED / "xquad" / "documents.jsonl")
            if one["lang"] == lang
        }
        questions = [one for one in json_rows(SHARED / "xquad" / "questions.jsonl") if one["lang"] == lang]
        chance.shuffle(questions)
        others = [one["reference_answer"] for one in questions]
        edited: dict[str, list[tuple[str, str]]] = {
            "as it is": [],
            "answer": [],
            "number": [],
            "negation": [],
        }
        for at, one in enumerate(questions):
            text, answer = texts[one["document_id"]], one["reference_answer"]
            sentence = next((text[a:b] for a, b in sentence_spans(text) if answer in text[a:b]), None)
            if sentence is None or len(edited["as it is"]) == EDITED:
                continue
            edited["as it is"].append((sentence, text))
            if others[at - 1] not in text:
                edited["answer"].append((sentence.replace(answer, others[at - 1]), text))
            if number := re.search(r"\d+", sentence):
                other = str(int(number[0]) + chance.choice([1, 2, 10]))
                if other not in text:
                    edited["number"].append(
                        (sentence[: number.start()] + other + sentence[number.end() :], text)
                    )
            words = sentence.split(" ")
            if len(words) > 3:
                no = chance.choice(sorted(negations(lang)))
                edited["negation"].append((" ".join([*words[:2], no, *words[2:]]), text))
        shares = []
        for rows in edited.values():
            found = judgements("supported", [row(each, [text], True, "-") for each, text in rows])
            flagged = [any(not v.supported for v in one.verdicts or ()) for one in found if one.verdicts]
            shares.append(f"{np.mean(flagged):.2f} of {len(flagged)}")
        print(f"{lang} | " + " | ".join(shares), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--packs", type=Path, help="folder of the repositories")
    parser.add_argument("--fit", action="store_true", help="print the numbers of library/supported.toml")
    parser.add_argument("--edits", action="store_true", help="edit sentences in ten languages")
    parser.add_argument("--resamples", type=int, default=2000)
    asked = parser.parse_args()
    if asked.edits:
        edits()
        return
    packs = all_packs(asked.packs)
    if asked.fit:
        fit(packs)
    else:
        measure(packs, asked.resamples)


if __name__ == "__main__":
    main()
