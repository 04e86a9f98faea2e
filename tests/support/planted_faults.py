"""Runs with a fault that is known: what is drawn of each question, and the facts that blame would have.

Everything that blame is told is told by somebody who errs: judges, the test of support, the test of refusal,
and the comparison with the closed-book answer. A fault is planted by one rate; all others stay at the small
background that any application has.
"""

from dataclasses import dataclass
from random import Random
from typing import Literal

from tests.support.plain_rows import summary_row

from ragstone.features.blame._causes import KnownAnswer, PointFacts, find_cause
from ragstone.features.blame._points import CountedPoint, Points, share_out
from ragstone.kernel.runs.causes import Component, SystemBlame

LEAD = summary_row(judge="lead")
Said = Literal["truth", "misread", "memory", "invention", "refusal"]


@dataclass(frozen=True)
class Rates:
    """How often each thing goes wrong, by question. The defaults are the background.

    missed: the retriever drops the document. ignores: the model pays no heed to the passages; misreads: it
    reads them wrongly. lenient, harsh: the judge gives a wrong answer its point, takes a right one's.
    wrong_reference: it says something else than its document. known: the model knows the answer by heart.
    gives_up: it refuses where nothing of use was retrieved. fills: it answers what nothing answers.
    unanswerable: questions that the corpus does not answer. second: errors of the second opinion, each way.
    support, refusal, same: errors of the tests of support, refusal, and of what is said from memory.
    """

    missed: float = 0.05
    ignores: float = 0.05
    misreads: float = 0.03
    lenient: float = 0.05
    harsh: float = 0.05
    wrong_reference: float = 0.05
    known: float = 0.25
    gives_up: float = 0.6
    fills: float = 0.1
    unanswerable: float = 0.1
    second: float = 0.05
    support: float = 0.1
    refusal: float = 0.03
    same: float = 0.1


FAULTS: dict[str, tuple[Rates, Component]] = {
    "a retriever that drops the document of 30 % of the questions": (Rates(missed=0.3), "retriever"),
    "a model that ignores the passages": (Rates(ignores=1.0), "model + prompt"),
    "a judge that gives 80 % of the wrong answers their point": (Rates(lenient=0.8), "judge"),
    "wrong references of 30 % of the questions": (Rates(wrong_reference=0.3), "dataset"),
}


class Planted:
    """One question after the other of an application with these rates."""

    def __init__(self, rates: Rates, seed: int) -> None:
        self.rates = rates
        self.draw = Random(seed)

    def happens(self, rate: float) -> bool:
        return self.draw.random() < rate

    def told(self, truth: bool, error: float) -> bool:
        """Return what somebody says who errs so often."""
        return truth != self.happens(error)

    def said(self, has: bool, ignores: bool, known: bool) -> Said:
        """Return what the model makes of passages that hold the answer, or do not."""
        if has and not ignores:
            return "misread" if self.happens(self.rates.misreads) else "truth"
        if not ignores and self.happens(self.rates.gives_up):
            return "refusal"
        if known:
            return "truth"
        return "memory" if self.happens(0.7) else "invention"

    def given(self, said: Said, has: bool, right: bool) -> KnownAnswer:
        supported = said == "misread" or (said == "truth" and has)
        return KnownAnswer(
            text=said,
            right=right,
            refused=self.told(said == "refusal", self.rates.refusal),
            supported=self.told(supported, self.rates.support),
        )

    def judged(self, matches: bool) -> bool:
        """Return whether the judge gives the point. matches: the answer says what the reference says."""
        return not self.happens(self.rates.harsh) if matches else self.happens(self.rates.lenient)

    def facts(self, name: str) -> PointFacts:
        """Return all that could be asked of one question; what blame does not need, it does not look at."""
        rates = self.rates
        if self.happens(rates.unanswerable):
            lost = self.told(self.happens(rates.fills), rates.refusal)
            point = CountedPoint(question_id=name, lost=lost, answerable=False)
            return PointFacts(point=point, answer=KnownAnswer(text="an answer"))
        has, ignores = not self.happens(rates.missed), self.happens(rates.ignores)
        known, wrong_reference = self.happens(rates.known), self.happens(rates.wrong_reference)
        said, in_hand = self.said(has, ignores, known), self.said(True, ignores, known)
        matches, still = (one == "truth" and not wrong_reference for one in (said, in_hand))
        right = self.judged(matches)
        point = CountedPoint(question_id=name, lost=not right, second=self.told(matches, rates.second))
        gold = self.given(in_hand, True, self.judged(still))
        seen = said if has or gold.right else in_hand
        return PointFacts(
            point=point,
            answer=self.given(said, has, right),
            relevant=["d"],
            found=has,
            gold=gold,
            reference=self.told(not wrong_reference, rates.support),
            memory="memory",
            same=self.told(seen == "memory" or (seen == "truth" and known), rates.same),
            second="second",
        )


def planted_blame(rates: Rates, seed: int, n: int = 150) -> SystemBlame:
    """Return the blame of an application of n questions, three of which share a document."""
    world = Planted(rates, seed)
    facts = [world.facts(f"q{at}") for at in range(n)]
    caused = [find_cause(one, "s") for one in facts if one.point.lost or one.point.doubted]
    points = Points(lead=LEAD, counted=[one.point for one in facts], left_out={})
    clusters = {f"q{at}": f"d{at // 3}" for at in range(n)}
    return share_out(points, caused, clusters, second="second", seed=seed)


def largest_of(blame: SystemBlame) -> Component | None:
    """Return the component with the most points, whether or not that can be told from the next."""
    return blame.largest.first if blame.largest else None
