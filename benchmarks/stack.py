"""The stacks that ship, fitted and measured on people's labels; docs/reference/judges.md has the figures.

Run: python -m benchmarks.stack [--write] [--model llamacpp/FILE.gguf --project FOLDER]

Every figure comes from rows that were not fitted on: EVOUNA tq600 in halves by question, each judged by what
was fitted on the other; SAF and RAGChecker's pairs by what was fitted on EVOUNA alone. --write writes the
judge's file, fitted on EVOUNA without the questions that the starter and the touchstone suite show, so that
these can measure it. With --model the same for right_or_ask, on doubtful answers drawn at random; calls go
through the ledger of the project.
"""

import argparse
import json
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from benchmarks.judges import Asked, half, interval, judged, load, scores

import ragstone
from ragstone.features.improve._judge_text import judge_text
from ragstone.features.improve._thresholds import Flags, fit_cut
from ragstone.features.improve.candidates._stack import (
    StackRows,
    StackWeights,
    crossed_probabilities,
    fit_folds,
    fit_stack,
    stack_judge,
)
from ragstone.kernel.config import load_settings
from ragstone.kernel.judging import load_judge, question_digest
from ragstone.kernel.judging.fields import Member
from ragstone.kernel.judging.stack import StackJudge
from ragstone.kernel.records import Answer
from ragstone.kernel.statistics import Floats, cluster_codes, cluster_totals, difference_estimates, roc_auc
from ragstone.kernel.statistics._auc import auc_columns
from ragstone.kernel.statistics.bootstrap import bootstrap_estimates
from ragstone.kernel.statistics.correlation import spearman

PACKAGE = Path(ragstone.__file__).parent
LIBRARY = PACKAGE / "judging" / "library"
SHOWN = ("features/new/starter_files/labelled.jsonl", "features/bench/suite/rows.jsonl")
MEMBERS = ("match", "focus", "no_refusal")
BESIDE = ("containment", "coverage", "match")
# What right_or_ask asks: a model that gives the probabilities of tokens, and one that gives none.
ASKING = {"right_asked": ("right", "same_answer"), "right_by_verdict": ("right", "same_answer@verdict")}
ASKED = 120  # answers without the reference's words, drawn at random; those that right is unsure of are asked
DOUBT = (0.03, 0.9)  # probabilities of right on which the model's word is weighed
BAND = (0.05, 0.9)  # in which right_or_ask asks: below, no word of the model's makes a yes
FITTED_WITH = "Qwen2.5-Coder-1.5B"
WORDS = {
    "match": ("the reference's words are there", "words of the reference are missing"),
    "focus": ("it says little else", "it says much else"),
    "no_refusal": (None, "it says that it does not know"),
    "right": ("the words speak for it", "the words speak against it"),
    "same_answer": ("the model calls it the same answer", "the model calls it another answer"),
    "same_answer@verdict": ("the model calls it the same answer", "the model calls it another answer"),
}


class Pack(NamedTuple):
    """Answers with people's judgement, yes or no, their grade, and the judges' scores of them."""

    answers: list[Answer]
    yes: Flags
    grade: Floats
    scores: dict[str, Floats]

    @property
    def questions(self) -> list[str]:
        return [answer.question or "" for answer in self.answers]

    def rows(self, members: Sequence[str] = MEMBERS) -> StackRows:
        """Return what a stack of these members is fitted on."""
        return StackRows(
            np.column_stack([self.scores[name] for name in members]),
            self.yes.astype(float),
            cluster_codes(self.questions, len(self.answers)),
        )


def answer_of(row: dict[str, Any], text: str = "answer", system: str = "system") -> Answer:
    return Answer(
        question_id=row["id"],
        question=row["question"],
        reference=row.get("references") or row["reference"],
        answer=row[text],
        system=row.get(system) or text,
    )


def pack_of(asked: Asked, path: str) -> Pack:
    """Return a pack, judged. Of grades between 0 and 1 the full one alone is a yes."""
    rows = load(path)
    answers, grade = [answer_of(row) for row in rows], np.array([float(row["human_label"]) for row in rows])
    found = {
        name: scores(judged(asked, name, answers), missing=np.nan)
        for name in dict.fromkeys((*MEMBERS, *BESIDE))
    }
    return Pack(answers, grade == 1, grade, found)


def fitted(rows: StackRows, members: Sequence[str] = MEMBERS) -> StackWeights:
    return fit_stack(rows, [load_judge(name) for name in members])


def halves(asked: Asked, evouna: Pack) -> None:
    """Print each judge on EVOUNA, what was fitted on one half of the questions measured on the other."""
    side = np.array([half(question) for question in evouna.questions])
    said = {name: np.zeros(len(side), dtype=np.bool_) for name in (*BESIDE, "right")}
    likely, rows = np.zeros(len(side)), evouna.rows()
    for own in (0, 1):
        train, test = side != own, side == own
        for name in BESIDE:
            cut = fit_cut(evouna.scores[name][train], evouna.yes[train]) or 0.5
            said[name][test] = evouna.scores[name][test] >= cut
        weights = fitted(rows.at(train))
        likely[test] = weights.probabilities(rows.scores[test])
        said["right"][test] = likely[test] >= weights.threshold
    print(f"\nEVOUNA tq600, {len(side):,} answers, each half judged by what was fitted on the other")
    compare(said, evouna)
    for name, values in {**{name: evouna.scores[name] for name in BESIDE}, "right": likely}.items():
        print(f"  {name}: AUC {roc_auc(evouna.grade, values):.4f}")
    calibration(likely, evouna.yes)
    speed(asked, evouna)


def speed(asked: Asked, pack: Pack) -> None:
    """Print the CPU that right takes of an answer."""
    started = time.process_time()
    ragstone.judge(pack.answers, judges=["right"], settings=asked.settings)
    print(f"  right: {1000 * (time.process_time() - started) / len(pack.answers):.2f} ms of CPU an answer")


def compare(said: dict[str, Flags], pack: Pack) -> None:
    """Print accuracies, and each judge's difference from coverage."""
    right = np.column_stack([values == pack.yes for values in said.values()]).astype(float)
    names = list(said)
    pairs = [(at, names.index("coverage")) for at in range(len(names))]
    gains = difference_estimates(right, pairs, pack.questions)
    for name, column, gain in zip(names, right.T, gains, strict=True):
        line = f"  {name}: accuracy {interval(column, pack.questions)}"
        if gain.low is not None and gain.high is not None:
            line += f", {100 * gain.value:+.1f} points ({100 * gain.low:+.1f} to {100 * gain.high:+.1f})"
        print(line)


def calibration(likely: Floats, yes: Flags) -> None:
    """Print how often people said yes where the probability lies in each fifth."""
    for low in np.arange(0, 1, 0.2):
        inside = (likely >= low) & (likely < low + 0.2)
        if inside.any():
            print(f"    {low:.1f} to {low + 0.2:.1f}: {yes[inside].mean():.2f} yes of {inside.sum():,}")


def elsewhere(asked: Asked, evouna: Pack, weights: StackWeights) -> None:
    """Print SAF and RAGChecker's pairs by what was fitted on EVOUNA."""
    saf = pack_of(asked, "saf/saf.jsonl")
    likely = weights.probabilities(saf.rows().scores)
    said = {
        name: saf.scores[name] >= (fit_cut(evouna.scores[name], evouna.yes) or 0.5)
        for name in ("coverage", "match")
    }
    print(f"\nSAF, {len(likely)} answers to {len(set(saf.questions))} questions, all fitted on EVOUNA")
    compare({**said, "right": likely >= weights.threshold}, saf)
    for name, values in {**{name: saf.scores[name] for name in BESIDE}, "right": likely}.items():
        rank = spearman(saf.grade, values)
        print(f"  {name}: Spearman with the grade {rank:.3f}, AUC {auc_of(saf, values)}")
    speed(asked, saf)
    pairs = load("ragchecker_meta/pairs.jsonl")
    better = np.array([np.mean(pair["human_label"]["correctness"]) for pair in pairs])
    print(f"\nRAGChecker, {len(pairs)} pairs: Spearman of the difference with people's preference")
    for name in ("coverage", "match", "right"):
        first, second = (
            scores(judged(asked, name, [answer_of(pair, f"answer_{one}") for pair in pairs])) for one in "ab"
        )
        print(f"  {name}: {spearman(better, second - first):.3f}")


def auc_of(pack: Pack, values: Floats) -> str:
    columns, statistic = auc_columns(pack.yes.astype(float), values)
    totals = cluster_totals(columns, cluster_codes(pack.questions, len(values)))
    found = bootstrap_estimates(totals, {"auc": statistic}, len(values))["auc"]
    assert found is not None
    assert found.low is not None
    return f"{found.value:.3f} ({found.low:.3f} to {found.high:.3f})"


def or_ask(asked: Asked, evouna: Pack, weights: StackWeights, open_rows: Flags, *, to_write: bool) -> None:
    """Fit and measure what a model adds where right is unsure, on answers that lack the reference's words.

    Each form of asking is fitted and measured on the same answers.
    """
    doubtful = np.flatnonzero(evouna.scores["containment"] == 0).tolist()
    random.Random(3).shuffle(doubtful)
    rows = evouna.rows()
    likely, _threshold = crossed_probabilities(rows, fit_folds(rows, [load_judge(name) for name in MEMBERS]))
    unsure, in_band = ((likely >= low) & (likely <= high) for low, high in (DOUBT, BAND))
    at = np.array(sorted(n for n in doubtful[:ASKED] if unsure[n] and open_rows[n]))
    doubted = Doubted([evouna.answers[n] for n in at], evouna.yes[at], likely[at], in_band[at])
    print(f"\nright_or_ask: asks about {np.mean(in_band):.1%} of EVOUNA; fitted on {len(at)} answers")
    print(f"  {doubted.asks.sum()} of these are in its band; each judged by a fit without its question:")
    for name, members in ASKING.items():
        ask_in_form(asked, doubted, name, members, to_write=to_write)
    said = (likely >= weights.threshold) == evouna.yes
    print(f"  right on the {(~in_band).sum():,} answers that it decides: {said[~in_band].mean():.3f}")


class Doubted(NamedTuple):
    """Answers that right is unsure of: people's yes or no, its probabilities, and which the band holds."""

    answers: list[Answer]
    yes: Flags
    likely: Floats
    asks: Flags


def ask_in_form(asked: Asked, doubted: Doubted, name: str, members: Sequence[str], *, to_write: bool) -> None:
    """Fit and measure right beside the model, asked in one form; write the judge's file."""
    model = scores(judged(asked, members[1], doubted.answers), missing=np.nan)
    questions = [answer.question or "" for answer in doubted.answers]
    yes, asks = doubted.yes, doubted.asks
    rows = StackRows(
        np.column_stack([doubted.likely, model]), yes.astype(float), cluster_codes(questions, len(questions))
    )
    print(f"  {name}: {np.isfinite(model).sum()} of {len(model)} with a score of the model")
    outcomes, told = {}, [question for question, one in zip(questions, asks, strict=True) if one]
    both = " and ".join(members)
    for what, columns in {members[0]: [0], members[1]: [1], both: [0, 1]}.items():
        own = StackRows(rows.scores[:, columns], rows.share, rows.question)
        judges = [load_judge(members[column]) for column in columns]
        found, thresholds = crossed_probabilities(own, fit_folds(own, judges))
        outcomes[what] = ((found >= thresholds) == yes).astype(float)[asks]
        auc = roc_auc(yes[asks].astype(float), found[asks])
        print(f"    {what}: accuracy {interval(outcomes[what], told)}, AUC {auc:.3f}")
    [gain] = difference_estimates(np.column_stack([outcomes[both], outcomes[members[0]]]), [(0, 1)], told)
    if gain.low is not None and gain.high is not None:
        print(f"    gain {100 * gain.value:+.1f} points ({100 * gain.low:+.1f} to {100 * gain.high:+.1f})")
    if to_write:
        digests = {question_digest("", question) for question in questions}
        source = (
            f"weights fitted on {len(questions)} EVOUNA answers that right is unsure of; "
            "see docs/judges.md"  # `source` counts in a judge's digest
        )
        write(name, members, fitted(rows, members), digests, source, fitted_with=FITTED_WITH)


def shown_questions() -> set[str]:
    """Return the digests of questions that ship with labels."""
    files = [PACKAGE / name for name in SHOWN if (PACKAGE / name).is_file()]
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return {question_digest("", json.loads(line).get("question") or "") for line in lines}


def write(
    name: str,
    members: Sequence[str],
    weights: StackWeights,
    tuned_on: set[str],
    source: str,
    *,
    fitted_with: str | None = None,
) -> None:
    """Write the file of a stack."""
    loaded = [Member(judge=one, loaded=load_judge(one)) for one in members]
    judge = stack_judge(
        name,
        loaded,
        weights,
        source=source,
        metric="correctness",
        tuned_on=sorted(tuned_on),
    )
    judge = msgspec.structs.replace(in_words(judge), fitted_with=fitted_with)
    (LIBRARY / f"{name}.toml").write_text(judge_text(judge, LIBRARY), encoding="utf-8")


def in_words(judge: StackJudge) -> StackJudge:
    said = [
        msgspec.structs.replace(one, if_high=WORDS[one.judge][0], if_low=WORDS[one.judge][1])
        for one in judge.members
    ]
    return msgspec.structs.replace(judge, members=said)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="write the judges' files")
    parser.add_argument("--model", help="the model that same_answer asks")
    parser.add_argument("--project", type=Path, default=Path(), help="folder of the ledger")
    chosen = parser.parse_args()
    asked = Asked(chosen.model, msgspec.structs.replace(load_settings(), root=str(chosen.project)))
    evouna = pack_of(asked, "evouna/tq600.jsonl")
    shown = shown_questions()
    digests = np.array([question_digest("", question) for question in evouna.questions])
    open_rows = ~np.isin(digests, list(shown))
    weights = fitted(evouna.rows().at(open_rows))
    if chosen.write:
        tuned_on = set(digests[open_rows].tolist())
        source = (
            f"weights fitted on the EVOUNA answers to {len(tuned_on)} questions; see docs/reference/judges.md"
        )
        write("right", MEMBERS, weights, tuned_on, source)
    halves(asked, evouna)
    elsewhere(asked, evouna, weights)
    if chosen.model:
        or_ask(asked, evouna, weights, open_rows, to_write=chosen.write)


if __name__ == "__main__":
    main()
