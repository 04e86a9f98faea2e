"""Whom a point that was lost is blamed on, and what changes would bring back."""

from typing import Literal

import msgspec

from ragstone.kernel.statistics import Estimate

Component = Literal["dataset", "retriever", "tools", "model + prompt", "judge", "cannot tell"]
Cause = Literal[
    "not retrieved",
    "retrieved but not used",
    "answered from memory",
    "invented",
    "refused though answerable",
    "answered though unanswerable",
    "stale evidence",
    "reference doubtful",
    "judge doubtful",
    "wrong tool",
    "wrong arguments",
    "wrong order",
    "expected steps doubtful",
    "tool failed",
    "right result ignored",
    "cannot tell",
]


class Caused(msgspec.Struct, frozen=True, kw_only=True):
    """Why a system lost a point. because: the evidence, in one plain sentence."""

    question_id: str
    system: str
    cause: Cause
    component: Component
    because: str


class ComponentShare(msgspec.Struct, frozen=True, kw_only=True):
    """What one component has to answer for.

    n: its lost points, of the questions that it could be measured on. share: n as a share of these, with
    its interval; None where it was not measured (the judge without a second opinion).
    """

    component: Component
    n: int
    share: Estimate | None


class Largest(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the component with the largest share is really the largest.

    second: the next one. verdict: `largest` where p_holm is at most 0.05, else `cannot tell`. The test is
    paired by question, corrected (Holm) over all pairs of components, and gives points that could not be
    assigned to whichever is not the first. n: the questions that it rests on.
    """

    first: Component
    second: Component
    verdict: Literal["largest", "cannot tell"]
    p_holm: float
    n: int


class Returned(msgspec.Struct, frozen=True, kw_only=True):
    """Of n lost points that were asked again with the right documents in hand, how many came back."""

    n: int
    n_right: int


SystemChange = Literal[
    "right documents",
    "right document first",
    "document retrieved",
    "other model",
    "other model, right documents",
    "contexts read",
    "right documents, all read",
    "references mended",
    "tools never fail",
    "second opinion",
]


class NetPoints(msgspec.Struct, frozen=True, kw_only=True):
    """Points gained less points lost, as a share of the questions, and the 95 % interval."""

    value: float
    low: float
    high: float


class ChangePrice(msgspec.Struct, frozen=True, kw_only=True):
    """What one change would bring to a system.

    change: `right documents`: the passages that hold the answer in place of what was retrieved; `right
    document first`: these before what was retrieved, as many contexts as before; `document retrieved`: every
    answer is right that had no relevant document among its contexts; `other model`: `model` answers from what
    was retrieved, or from the right documents; `contexts read`: every answer is right that had one; `right
    documents, all read`: every answer is right, `shared` lost points of which each of the two alone can
    bring; `references mended`: no reference is doubtful and no evidence stale; `tools never fail`; `second
    opinion`: its verdicts in place of the judge's, which changes the score and not the system. basis:
    `measured` where lost and right answers were asked again; `at most` where only what can come back is
    known: the points are an upper bound, with the interval of that bound; `by causes`: the same, if blame
    found all causes of the kind and no wrong one. n: questions that it is measured on. n_asked: answers that
    it rests on; gained: lost points among these that come back; spoiled: points that are lost. people: the
    points that people would see, if the judge errs with the change as it errs without; None without labels,
    or where these cannot tell. cost_usd: of the answers asked again and their judgements, as the ledger
    recorded it; None where a price is unknown or nothing was asked.
    """

    change: SystemChange
    basis: Literal["measured", "at most", "by causes"]
    points: NetPoints
    n: int
    n_asked: int = 0
    gained: int = 0
    spoiled: int = 0
    shared: int = 0
    model: str | None = None
    people: NetPoints | None = None
    cost_usd: float | None = None


class BenchedChange(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a bench of the run's questions and documents measured of another configuration than the run's.

    bench: its folder's name. of: what was measured: what is retrieved, or the answers. current: the run's
    configuration, and best: the one with the highest mean, as the bench names them; n: how many it compared.
    verdict: on the best: `better` than the run's where p_holm is at most 0.05 and the interval above 0, `is
    current` where it is the run's. measure: e.g. `recall@5`, or the judge's metric, in whose unit the
    difference is: best minus current, on the same questions, with the 95 % interval of this comparison alone.
    family: comparisons that Holm's correction is over. judge: of the answers; None where several judges make
    the measure. n_labelled: questions with people's labels, by which the difference is corrected; None
    without.
    """

    bench: str
    of: Literal["retrieval", "answers"]
    system: str
    current: str
    best: str
    n: int
    measure: str
    verdict: Literal["better", "cannot tell", "is current"]
    difference: Estimate | None = None
    p_holm: float | None = None
    family: int = 0
    judge: str | None = None
    n_labelled: int | None = None


class SystemBlame(msgspec.Struct, frozen=True, kw_only=True):
    """Where one system's lost points went.

    judge, model, metric: whose verdict a point is. second: whose the second opinion is, None without one;
    n_second: counted questions that have one. n_counted: questions that were decided; left_out: those that
    were not, by the reason. n_unanswerable: unanswerable ones that were, by whether the answer refuses, and
    not by the judge. n_lost: points that the judge says are lost; n_hidden: points that it gives and the
    second opinion does not, which count as the judge's. shares: every component, in the order of COMPONENTS,
    the tools only where an answer of the system carries steps; causes: each with its number of points, the
    most frequent first. prices: what changes would bring, which do not add; empty where none can be measured.
    """

    system: str
    judge: str
    metric: str
    model: str
    n_counted: int
    n_lost: int
    left_out: dict[str, int]
    shares: list[ComponentShare]
    causes: dict[Cause, int]
    second: str | None = None
    n_second: int = 0
    n_hidden: int = 0
    n_unanswerable: int = 0
    largest: Largest | None = None
    returned: Returned | None = None
    notes: list[str] = []
    prices: list[ChangePrice] = []
