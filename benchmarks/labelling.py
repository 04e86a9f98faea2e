"""What labelling costs and what its screen finds: `python -m benchmarks.labelling [--pairs] [--gaps]`.

--pairs: two systems, 400 questions, a judge of all answers. Questions are drawn simply, or as
`ragstone label A B --compare` draws them; printed is the width of the interval of the difference at the same
number of labelled questions, how many labels the draw saves (1 - the ratio of the widths, squared), and in
how many draws each interval holds the difference of all possible questions.

--gaps: how often `ragstone agree --gaps` names a gap where reasons are noise, and where people find a fault
that the judge does not mind. --draws: of each row.
"""

import argparse
from collections.abc import Callable

import msgspec
import numpy as np

from ragstone.features.agree.gaps import spec_gaps
from ragstone.features.label._choosing import AnswerDraw
from ragstone.features.label._pairs import ComparedSide, choose_pairs
from ragstone.kernel.records import Answer, Judgement, Label
from ragstone.kernel.statistics.ppi_difference import prediction_powered_difference

N = 400
FAR = 400_000  # questions whose mean difference counts as the true one


class World(msgspec.Struct, frozen=True, eq=False):
    """Answers of two systems: what people give, what the judge gives, its probability, which are alike."""

    human: np.ndarray  # (2, n)
    judge: np.ndarray
    probability: np.ndarray
    same: np.ndarray


class PairsCase(msgspec.Struct, frozen=True):
    """judge: `bare` gives 0 or 1 and errs in 10 %, `probability` says how sure it is, `useless` tosses a
    coin.

    same: the share of questions to which both systems give the same words.
    """

    judge: str
    same: float
    n: int


def world(rng: np.random.Generator, case: PairsCase, n: int = N) -> World:
    same, hard = rng.random(n) < case.same, rng.random(n)
    human = np.array([0.6 * hard + 0.4 * rng.random(n) < level for level in (0.63, 0.66)], dtype=float)
    logit = rng.normal((2 * human - 1) * 1.5, 1.2)
    human[1], logit[1] = np.where(same, human[0], human[1]), np.where(same, logit[0], logit[1])
    probability = 1 / (1 + np.exp(-2.1 * logit))
    if case.judge == "probability":
        judge = probability
    elif case.judge == "bare":
        judge = (probability > 0.5).astype(float)
    else:
        judge = (rng.random((2, n)) < 0.5).astype(float)
        judge[1] = np.where(same, judge[0], judge[1])
    return World(human, judge, probability, same)


def sides(drawn: World) -> tuple[ComparedSide, ComparedSide]:
    both = []
    for at, system in enumerate(("a", "b")):
        rows, texts = [], {}
        for question, score in enumerate(drawn.judge[at].tolist()):
            name = f"q{question}"
            rows.append(
                Judgement(
                    question_id=name,
                    system=system,
                    judge="rubric",
                    metric="correctness",
                    status="scored",
                    score=score,
                    scale=(0.0, 1.0),
                    model="m",
                    prompt_version=1,
                )
            )
            text = f"answer {question}" if drawn.same[question] else f"answer {question} by {system}"
            texts[name, system] = Answer(question_id=name, system=system, answer=text)
        both.append(ComparedSide(system=system, judgements=rows, answers=texts))
    return both[0], both[1]


def pairs(draws: int) -> None:
    print(
        f"{'judge':12} {'same words':>10} {'labels':>7} {'width':>7} {'chosen':>7} {'saves':>6} "
        f"{'holds':>6} {'chosen':>7}"
    )
    cases = [
        PairsCase(judge, same, 100)
        for judge in ("bare", "probability", "useless")
        for same in (0.0, 0.3, 0.6)
    ]
    cases += [PairsCase("bare", 0.3, n) for n in (50, 200)]
    for case in cases:
        rng = np.random.default_rng(0)
        far = world(rng, case, FAR).human
        true = float((far[1] - far[0]).mean())
        widths: list[list[float]] = [[], []]
        holds = [0, 0]
        for seed in range(draws):
            drawn = world(rng, case)
            human, judge = drawn.human[1] - drawn.human[0], drawn.judge[1] - drawn.judge[0]
            simple = rng.permutation(N)[: case.n]
            chosen = choose_pairs(*sides(drawn), [], AnswerDraw(by="difference", n=case.n, seed=seed))
            places = np.array([int(pair.a.question_id[1:]) for pair in chosen])
            shares = 1 / np.array([pair.inclusion for pair in chosen])
            for at, (labelled, parts) in enumerate(((simple, None), (places, shares))):
                rest = np.setdiff1d(np.arange(N), labelled)
                powered = prediction_powered_difference(
                    human[labelled], judge[labelled], judge[rest], width=1.0, shares=parts
                ).corrected
                assert powered.low is not None
                assert powered.high is not None
                widths[at].append(powered.high - powered.low)
                holds[at] += powered.low <= true <= powered.high
        first, second = (float(np.mean(of)) for of in widths)
        print(
            f"{case.judge:12} {case.same:10.0%} {case.n:7} {first:7.3f} {second:7.3f} "
            f"{1 - (second / first) ** 2:6.0%} {holds[0] / draws:6.1%} {holds[1] / draws:7.1%}",
            flush=True,
        )


VOCABULARY = np.array([f"{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}w{n}" for n in range(1500)])
ZIPF = 1 / np.arange(1, 1501)
ZIPF /= ZIPF.sum()


class GapsCase(msgspec.Struct, frozen=True, kw_only=True):
    """gap: the share of answers whose unit is missing, of which people think otherwise than the judge."""

    name: str
    questions: int = 100
    systems: int = 1
    comments: float = 0.6
    lenient: bool = False
    longer: bool = False
    gap: float = 0.0


def labelled(rng: np.random.Generator, case: GapsCase) -> tuple[list[Judgement], list[Label]]:
    """Reasons of words by Zipf's law, of the question and of the grade; none goes with an error."""

    def reason(topic: np.ndarray, grade: float, n: int) -> str:
        reason_words = [*rng.choice(VOCABULARY, n, p=ZIPF), *rng.choice(topic, 2)]
        reason_words += (
            ["wrong", "incorrect"] if grade == 0 and rng.random() < 0.7 else ["right"][: rng.random() < 0.5]
        )
        return " ".join(reason_words)

    judgements, labels = [], []
    for question in range(case.questions):
        topic = rng.choice(VOCABULARY, 6)
        for system in range(case.systems):
            name, whose = f"q{question}", f"s{system}"
            in_gap = rng.random() < case.gap
            human = 0.0 if in_gap else float(rng.random() < 0.65)
            error = in_gap or rng.random() < ((0.35 if human == 0 else 0.1) if case.lenient else 0.2)
            judged = 1 - human if error else human
            more = 10 if case.longer and error else 0
            judgements.append(
                Judgement(
                    question_id=name,
                    system=whose,
                    metric="correctness",
                    judge="rubric",
                    status="scored",
                    score=judged,
                    scale=(0.0, 1.0),
                    model="m",
                    prompt_version=1,
                    rationale=reason(topic, judged, int(rng.integers(5, 25)) + more),
                )
            )
            for person in ("ann", "bo")[: 1 + (rng.random() < 0.3)]:
                grade = human if rng.random() < 0.93 else 1 - human
                text = reason(topic, grade, int(rng.integers(2, 10)) + more)
                text += " unit missing" if in_gap and rng.random() < 0.7 else ""
                rationale = text if rng.random() < case.comments else None
                labels.append(
                    Label(
                        question_id=name,
                        system=whose,
                        metric="correctness",
                        score=grade,
                        annotator=person,
                        rationale=rationale,
                    )
                )
    return judgements, labels


def gaps(draws: int) -> None:
    cases = [
        GapsCase(name="noise"),
        GapsCase(name="noise, lenient judge", lenient=True),
        GapsCase(name="noise, 3 systems", questions=60, systems=3, lenient=True),
        GapsCase(name="noise, few comments", comments=0.1, lenient=True),
        GapsCase(name="noise, 40 rows", questions=40, lenient=True),
        GapsCase(name="noise, longer reasons of errors", longer=True, lenient=True),
        GapsCase(name="gap in 10 % of 100 rows", gap=0.1),
        GapsCase(name="gap in 20 % of 100 rows", gap=0.2),
        GapsCase(name="gap in 10 % of 300 rows", questions=300, gap=0.1),
        GapsCase(name="gap in 10 % of 300, lenient judge", questions=300, gap=0.1, lenient=True),
    ]
    print(f"{'reasons':36} {'a gap named':>12} {'the true one':>13}")
    for case in cases:
        rng = np.random.default_rng(1)
        named = right = 0
        for seed in range(draws):
            [report] = spec_gaps(*labelled(rng, case), seed=seed)
            named += bool(report.gaps)
            right += any({"unit", "missing"} & {*gap.words} for gap in report.gaps)
        print(f"{case.name:36} {named / draws:12.1%} {right / draws:13.1%}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts: dict[str, Callable[[int], None]] = {"pairs": pairs, "gaps": gaps}
    for name in parts:
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--draws", type=int, default=400)
    options = parser.parse_args()
    for name, run in parts.items():
        if getattr(options, name) or not any(getattr(options, other) for other in parts):
            run(options.draws)


if __name__ == "__main__":
    main()
