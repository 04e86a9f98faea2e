"""What mending would bring: lost points and right answers, asked again under a change -> its price."""

from collections.abc import Mapping, Sequence, Set

import msgspec
import numpy as np

from ragstone.features.blame._causes import PointFacts
from ragstone.features.blame._desk import BlameCoordinator, ChangedAnswers
from ragstone.features.blame._plan import BlamePlan
from ragstone.features.blame._points import CountedPoint, Points
from ragstone.features.blame._price import LabelledVerdict, net_change
from ragstone.kernel.errors import plural
from ragstone.kernel.records import Context
from ragstone.kernel.retrieval.relevance import relevant_documents
from ragstone.kernel.runs.causes import Cause, Caused, ChangePrice, SystemChange
from ragstone.kernel.systems.rag import gold_contexts

FEWEST_ASKED = 0.8  # of the answers that a price is to rest on: fewer, and those that came are no sample
OF_CAUSES: tuple[tuple[SystemChange, tuple[Cause, ...]], ...] = (
    ("references mended", ("reference doubtful", "stale evidence")),
    ("tools never fail", ("tool failed",)),
)


class PricingSample(msgspec.Struct, frozen=True, kw_only=True):
    """What a system's questions were answered again with, by change, and the points that these measure.

    points: those of `named` that are answerable and whose documents the run holds; without any, those with
    contexts. named: all questions that name documents and whose evidence is not stale. retrieved: question id
    -> the contexts of its answer, where it carries some or says that it has none.
    """

    points: Sequence[CountedPoint]
    named: Set[str]
    retrieved: Mapping[str, list[Context]]
    changes: Mapping[SystemChange, ChangedAnswers]


async def ask_again(
    plan: BlamePlan, desk: BlameCoordinator, points: Mapping[str, Points]
) -> dict[str, PricingSample]:
    """Return what was answered again, by system, once the lost points have been answered from the right
    documents.

    At most `[blame] what_if` lost points and as many others are asked further. They are drawn in an order
    that the run's seed gives, the same for all systems, so that these share what is asked. Of 0 nothing is
    asked.
    """
    run, n = plan.run, plan.settings.blame.what_if
    shuffled = np.random.default_rng(plan.settings.run.seed).permutation(sorted(run.questions))
    place = {str(name): at for at, name in enumerate(shuffled)}
    # What a model makes of evidence that is stale tells nothing of the right documents.
    fresh = run.questions.keys() - plan.stale.keys()
    named = {name for name in fresh if relevant_documents(run.questions[name])}
    gold = {name: gold_contexts(run.questions[name], run.documents, run.chunks_of) for name in named}
    passages = {name: contexts for name, contexts in gold.items() if contexts}
    replies = {}
    for system, of_system in points.items():
        # Of several answers to a question the first counts, as it does everywhere in blame.
        rows = {row.question_id: row for row in reversed(run.answers) if row.system == system}
        retrieved = {name: row.contexts for name, row in rows.items() if row.contexts is not None}
        known = passages or retrieved
        counted = [row for row in of_system.counted if row.answerable and row.question_id in known]
        ordered = sorted(counted, key=lambda point: place.get(point.question_id, len(place)))
        lost, kept = ([row for row in ordered if row.lost is kind] for kind in (True, False))
        replies[system] = PricingSample(
            points=counted,
            named=named,
            retrieved=retrieved,
            changes=await _changes(
                plan, desk, system, passages, retrieved, lost=[*lost], sample=[*lost[:n], *kept[:n]]
            ),
        )
    return replies


async def _changes(
    plan: BlamePlan,
    desk: BlameCoordinator,
    system: str,
    passages: Mapping[str, list[Context]],
    retrieved: Mapping[str, list[Context]],
    *,
    lost: Sequence[CountedPoint],
    sample: Sequence[CountedPoint],
) -> dict[SystemChange, ChangedAnswers]:
    """Return what was answered again of a system. The model of `plan` was asked of all that it lost."""
    changes: dict[SystemChange, ChangedAnswers] = {}
    names = [point.question_id for point in sample]
    seen = [name for name in names if name in retrieved]
    if plan.own and plan.model and passages:
        everyone = [*dict.fromkeys([*(point.question_id for point in lost), *names])]
        changes["right documents"] = await desk.again(everyone, passages, "gold", plan.model)
        ahead = {name: _ahead(passages[name], retrieved[name]) for name in seen}
        # Where the right documents are first already, the answer is what it was.
        as_before = {
            point.question_id: not point.lost
            for point in sample
            if point.question_id in ahead and ahead[point.question_id] == retrieved[point.question_id]
        }
        if seen:
            moved = [name for name in seen if name not in as_before]
            again = await desk.again(moved, ahead, f"first of {system}", plan.model)
            changes["right document first"] = msgspec.structs.replace(
                again, wanted=seen, right={**again.right, **as_before}
            )
    if plan.reader and names:
        changes["other model"] = await desk.again(seen, retrieved, f"contexts of {system}", plan.reader)
        if passages:
            changes["other model, right documents"] = await desk.again(names, passages, "gold", plan.reader)
    return changes


def _ahead(right: Sequence[Context], retrieved: Sequence[Context]) -> list[Context]:
    """Return the right passages and then the others that were retrieved, as many as there were."""
    texts = [context.text for context in right]
    of_right = {text: context for text in texts for context in retrieved if context.text == text}
    others = [context for context in retrieved if context.text not in texts]
    most = max(len(retrieved), len(right))
    return [*(of_right.get(context.text, context) for context in right), *others][:most]


def prices(
    points: Points,
    replies: PricingSample,
    facts: Sequence[PointFacts],
    causes: Sequence[Caused],
    clusters: Mapping[str, str],
    *,
    reader: str | None = None,
    by_people: bool = False,
) -> list[ChangePrice]:
    """Return what each change would bring, those that are measured before those that are bounded.

    None is in it that can be neither measured nor bounded. by_people: the second opinion is people's, so that
    the judge's error can be taken out.
    """
    answerable = [point for point in points.counted if point.answerable]
    labelled = [point for point in answerable if point.second is not None]
    asked = [
        msgspec.structs.replace(price, model=reader if "other model" in change else None)
        for change, again in replies.changes.items()
        if (price := _asked(change, again, replies, clusters, labelled if by_people else []))
    ]
    bounds = _of_retrieval(replies, facts, {price.change: price for price in asked}, answerable, clusters)
    for change, mended in OF_CAUSES:
        back = {row.question_id for row in causes if row.cause in mended}
        if any(point.lost and point.question_id in back for point in answerable):
            bound = _bound(change, back, answerable, clusters)
            bounds.append(msgspec.structs.replace(bound, basis="by causes"))
    found = [*sorted(asked, key=lambda price: price.basis != "measured"), *bounds]
    if labelled:
        second = {point.question_id: bool(point.second) for point in labelled}
        found.append(_price("second opinion", second, labelled, clusters))
    return found


def _asked(
    change: SystemChange,
    again: ChangedAnswers,
    replies: PricingSample,
    clusters: Mapping[str, str],
    labels: Sequence[CountedPoint],
) -> ChangePrice | None:
    """Return the price of a change by what was asked again; None where too few lost points have a verdict.

    Where too few of the others have one, or none was asked, what it spoils is unknown: a bound is left.
    """
    needs_contexts = change in ("right document first", "other model")
    points = [row for row in replies.points if not needs_contexts or row.question_id in replies.retrieved]
    lost, kept = ({row.question_id for row in points if row.lost is kind} for kind in (True, False))
    if not points or (lost and not _enough(again, lost)):
        return None
    if not lost and not _enough(again, kept):
        return None
    price = _price(
        change, again.right, points, clusters, whole=not kept or _enough(again, kept), labels=labels
    )
    return msgspec.structs.replace(price, cost_usd=again.cost_usd)


def _enough(again: ChangedAnswers, names: Set[str]) -> bool:
    wanted = [name for name in again.wanted if name in names]
    n_known = sum(name in again.right for name in wanted)
    return n_known > 0 and FEWEST_ASKED * len(wanted) <= n_known


def _of_retrieval(
    replies: PricingSample,
    facts: Sequence[PointFacts],
    asked: Mapping[SystemChange, ChangePrice],
    answerable: Sequence[CountedPoint],
    clusters: Mapping[str, str],
) -> list[ChangePrice]:
    """Return what better retrieval, better reading and both could bring at most, by what was retrieved."""
    points = [row for row in answerable if row.question_id in replies.named & replies.retrieved.keys()]
    known = {row.question_id for row in points if row.lost}
    if not known:
        return []
    lost = [fact for fact in facts if fact.point.question_id in known]
    unread = {fact.point.question_id for fact in lost if fact.brought is not False}
    missed = {fact.point.question_id for fact in lost if fact.brought is not True}
    bounds = [] if "right documents" in asked else [_bound("document retrieved", missed, points, clusters)]
    bounds.append(_bound("contexts read", unread, points, clusters))
    right = (
        replies.changes["right documents"].right
        if "right documents" in asked
        else dict.fromkeys(missed, True)
    )
    shared = sum(right.get(name, False) for name in unread)
    both = _bound("right documents, all read", known, points, clusters)
    return [*bounds, msgspec.structs.replace(both, shared=shared)]


def _bound(
    change: SystemChange, back: Set[str], points: Sequence[CountedPoint], clusters: Mapping[str, str]
) -> ChangePrice:
    """Return the price of a change that can bring back these lost points, and no others."""
    right = {point.question_id: point.question_id in back for point in points if point.lost}
    return _price(change, right, points, clusters, whole=False)


def _price(
    change: SystemChange,
    right: Mapping[str, bool],
    points: Sequence[CountedPoint],
    clusters: Mapping[str, str],
    *,
    whole: bool = True,
    labels: Sequence[CountedPoint] = (),
) -> ChangePrice:
    """Return the price of a change. whole: what it spoils was measured too."""
    names = [point.question_id for point in points]
    net = net_change(
        [point.lost for point in points],
        [right.get(name) if whole or point.lost else None for name, point in zip(names, points, strict=True)],
        [clusters.get(name, name) for name in names],
        [LabelledVerdict(not point.lost, bool(point.second)) for point in labels],
    )
    return ChangePrice(
        change=change,
        basis="measured" if whole else "at most",
        points=net.net if whole else net.gained,
        n=len(points),
        n_asked=net.n_asked,
        gained=net.n_gained,
        spoiled=net.n_spoiled,
        people=net.people if whole else None,
    )


def failed_note(replies: PricingSample) -> list[str]:
    """Return how many of the answers that prices were to rest on have no verdict."""
    n_wanted = sum(len(again.wanted) for again in replies.changes.values())
    n_known = sum(len(again.right) for again in replies.changes.values())
    if n_known == n_wanted:
        return []
    return [
        f"{plural(n_wanted - n_known, 'answer')} of {n_wanted:,} that prices rest on could not be asked "
        "again or judged. A price with verdicts on fewer than 80 % of its answers is left out, or is a bound."
    ]
