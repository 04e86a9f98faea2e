"""The prompt itself: a model reads where judge and people disagree, and proposes other instructions.

After GEPA (Agrawal et al. 2025, arXiv 2507.19457), whose loop this is: reflect on mistakes in words, try the
child on the rows that it was made from, and only if it is better there, on all others; the next parent comes
from those that are best on some group of rows. It differs where praise is concerned: rows that were read are
never measured on. Half of the groups is read and the other half raced on, then the other way round.
"""

from collections.abc import Sequence

import msgspec
import numpy as np

from ragstone.features.improve._thresholds import Flags
from ragstone.features.improve.candidates.racing import CUT_OFF, judged, race
from ragstone.features.improve.candidates.rows import (
    CandidateResult,
    JudgeScores,
    LearningRows,
    cost_of,
    reasons_of,
    untried,
)
from ragstone.features.improve.learned import CandidateState
from ragstone.kernel.engine.session import Session
from ragstone.kernel.errors import ModelError
from ragstone.kernel.judging import Judge
from ragstone.kernel.judging.finding import CallCost, add_costs
from ragstone.kernel.judging.inputs import gather_inputs
from ragstone.kernel.judging.one_call import OneCallJudge
from ragstone.kernel.llm import MATERIAL, Ask, CallFailed, Prompt, fenced_prompt, row_nonce
from ragstone.kernel.records import Judgement, Usage
from ragstone.kernel.statistics import Floats

GENERATIONS = 3  # proposals for each half
CASES = 6  # disagreements that a proposal is made from
LONGEST = 3000  # characters of a case
MOST_TOKENS = 3000
FORM = (
    '{"nonce": the code, "analysis": what the judge gets wrong, in one to three sentences, '
    '"prompt": the text}'
)
TOLD = """\
You improve the instructions of a judge, a language model that grades answers. Below are its instructions \
as they are, and cases in which its grade is not the one that people gave. {scale}

Find what the instructions lead the judge to get wrong: what people count and it does not, or the other \
way round. Then write the whole instructions again, so that a judge who never saw these cases would grade as \
people do. State rules, not cases: name no question, answer or person of them. Keep what is right. Stay \
short and plain.

The new text must name these inputs in braces, each at least once, and no others: {inputs}. The model gets \
their texts after it, and is told by others in which form to reply: say nothing of that."""


class PromptReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Proposed instructions, after what is wrong with the present ones."""

    analysis: str
    prompt: str


class PromptParent(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """A prompt of the population. worth: (n,), on the rows that are raced on, NaN elsewhere.

    read: its judgements of the rows that are read, by their number; None until it is a parent.
    """

    judge: OneCallJudge
    worth: Floats
    read: dict[int, Judgement] | None = None


class Proposal(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """What a model proposes from some cases, or why there is nothing."""

    judge: OneCallJudge | None
    analysis: str
    cost: CallCost
    why: str | None = None
    over_budget: bool = False


def can_rewrite(judge: Judge) -> str | None:
    """Return why a judge's prompt cannot be written anew, or None."""
    return None if isinstance(judge, OneCallJudge) else f"a judge of kind {judge.kind} has no single prompt."


async def prompt_candidates(
    judge: OneCallJudge,
    before: JudgeScores,
    rows: LearningRows,
    tuned_on: Sequence[str],
    session: Session,
    ask: Ask,
) -> list[CandidateResult]:
    """Return the prompts that were proposed, each measured on the half that nobody read for it."""
    candidates: list[CandidateResult] = []
    for half in (0, 1):
        candidates += await _evolved(judge, before, rows, half, session, ask)
        if any(candidate.state == "over_budget" for candidate in candidates):
            break
    return [
        msgspec.structs.replace(
            candidate,
            name=f"prompt {n}",
            judge=msgspec.structs.replace(candidate.judge, tuned_on=list(tuned_on))
            if candidate.judge
            else None,
        )
        for n, candidate in enumerate(candidates, 1)
    ]


async def _evolved(
    judge: OneCallJudge, before: JudgeScores, rows: LearningRows, half: int, session: Session, ask: Ask
) -> list[CandidateResult]:
    """Return the proposals that reading one half of the folds led to."""
    to_read = rows.fold % 2 == half
    folds = np.unique(rows.fold[~to_read]).tolist()
    worth = np.where(~to_read, rows.worths(before.scores, before.yes_from), np.nan)
    own = {n: before.judgements[n] for n in np.flatnonzero(to_read).tolist()}
    population = [PromptParent(judge=judge, worth=worth, read=own)]
    tried = {judge.prompt.strip()}
    outcomes: list[CandidateResult] = []
    for generation in range(GENERATIONS):
        front = front_of(population, rows, ~to_read)
        parent = front[generation % len(front)]
        if parent.read is None:
            read = await judged(parent.judge, rows, to_read, session)
            parent = msgspec.structs.replace(
                parent, read=dict(zip(np.flatnonzero(to_read).tolist(), read, strict=True))
            )
            population[[member.judge for member in population].index(parent.judge)] = parent
        cases = instructive(parent, before, rows, generation)
        if not cases or not folds:
            break
        child = await propose(parent, cases, rows, session, ask)
        if child.judge is not None and child.judge.prompt.strip() in tried:
            again = "it proposes instructions that were tried before."
            child = msgspec.structs.replace(child, judge=None, why=again)
        outcome = await _tried(child, parent, cases, before, rows, session)
        outcomes.append(outcome)
        if outcome.state == "over_budget":
            break
        if child.judge is not None:
            tried.add(child.judge.prompt.strip())
        if outcome.state == "measured" and child.judge is not None:
            mine = rows.worths(outcome.scores, before.yes_from)
            population.append(PromptParent(judge=child.judge, worth=np.where(outcome.asked, mine, np.nan)))
    return outcomes


async def _tried(
    child: Proposal,
    parent: PromptParent,
    cases: Sequence[int],
    before: JudgeScores,
    rows: LearningRows,
    session: Session,
) -> CandidateResult:
    """Return what became of a proposal: looked at on what it was made from, then raced on the other half."""
    candidate = untried("prompt", rows, made=child.analysis)
    if child.judge is None:
        state: CandidateState = "over_budget" if child.over_budget else "refused"
        return msgspec.structs.replace(candidate, cost=child.cost, state=state, why=child.why)
    chosen = np.zeros(len(rows.answers), dtype=np.bool_)
    chosen[[*cases, *_agreed(parent, before, rows, len(cases))]] = True
    seen = await judged(child.judge, rows, chosen, session)
    cost = add_costs([child.cost, cost_of(seen)])
    candidate = msgspec.structs.replace(candidate, cost=cost, state="refused")
    if any(judgement.status == "over_budget" for judgement in seen):
        return msgspec.structs.replace(candidate, state="over_budget", why=CUT_OFF)
    assert parent.read is not None
    mine = _worths(dict(zip(np.flatnonzero(chosen).tolist(), seen, strict=True)), before, rows)
    old = _worths({n: parent.read[n] for n in np.flatnonzero(chosen).tolist()}, before, rows)
    if mine.sum() <= old.sum():
        why = "no better on the answers that it was made from, so it was measured on no others."
        return msgspec.structs.replace(candidate, why=why)
    judge, folds = child.judge, np.unique(rows.fold[~np.isnan(parent.worth)]).tolist()
    candidate = msgspec.structs.replace(candidate, judge=judge)
    outcome = await race(candidate, lambda _fold: judge, folds, rows, before, session)
    return msgspec.structs.replace(outcome, cost=add_costs([cost, outcome.cost]))


def front_of(population: Sequence[PromptParent], rows: LearningRows, raced: Flags) -> list[PromptParent]:
    """Return the prompts that are best on some group of rows, the best of all rows first.

    A group is what people gave one grade: a prompt that is too lenient and one that is too harsh both stay.
    """

    def mean(parent: PromptParent, inside: Flags) -> float:
        return float(np.nanmean(parent.worth[inside]))

    front: list[PromptParent] = []
    for grade in np.unique(rows.human[raced]).tolist():
        inside = raced & (rows.human == grade)
        best = max(population, key=lambda parent: mean(parent, inside))
        if not any(parent is best for parent in front):
            front.append(best)
    return sorted(front, key=lambda parent: -mean(parent, raced)) or list(population[:1])


def instructive(parent: PromptParent, before: JudgeScores, rows: LearningRows, generation: int) -> list[int]:
    """Return the rows that teach most: where prompt and people differ most, by turns too high and too low.

    Those with a person's reason go first; of equals, others in each generation. No two of one group.
    """
    if parent.read is None:
        raise ValueError("a parent's judgements of the rows to read are known")
    worth = dict(zip(parent.read, _worths(parent.read, before, rows).tolist(), strict=True))
    best = 1.0 if rows.unit.measure == "exact agreement" else 0.0
    order = np.random.default_rng((rows.seed, generation)).permutation(len(rows.answers)).tolist()
    wrong = [n for n in order if n in worth and worth[n] < best and parent.read[n].score is not None]
    wrong.sort(key=lambda n: (worth[n], not reasons_of(rows, n)))
    sides: dict[bool, list[int]] = {True: [], False: []}
    used: set[int] = set()
    for n in wrong:
        if int(rows.group[n]) not in used:
            used.add(int(rows.group[n]))
            grade = rows.human[n]  # a wrong score beside labels of yes and no is too high where people say no
            too_high = grade == 0 if rows.unit.yes_no else (parent.read[n].score or 0.0) > grade
            sides[bool(too_high)].append(n)
    numbers: list[int] = []
    while len(numbers) < CASES and (sides[True] or sides[False]):
        numbers += [side.pop(0) for side in sides.values() if side]
    return numbers[:CASES]


def _agreed(parent: PromptParent, before: JudgeScores, rows: LearningRows, most: int) -> list[int]:
    """Return as many rows on which the prompt agrees with people, those of every grade by turns."""
    if parent.read is None:
        return []
    worth = dict(zip(parent.read, _worths(parent.read, before, rows).tolist(), strict=True))
    best = 1.0 if rows.unit.measure == "exact agreement" else 0.0
    order = np.random.default_rng(rows.seed).permutation(len(rows.answers)).tolist()
    right = [n for n in order if n in worth and worth[n] == best]
    queues = [[n for n in right if rows.human[n] == grade] for grade in np.unique(rows.human).tolist()]
    numbers: list[int] = []
    while len(numbers) < most and any(queues):
        numbers += [queue.pop(0) for queue in queues if queue]
    return numbers[:most]


def _worths(read: dict[int, Judgement], before: JudgeScores, rows: LearningRows) -> Floats:
    """Return what judgements of some rows are worth, in their order."""
    scores = np.full(len(rows.answers), np.nan)
    for n, judgement in read.items():
        scores[n] = np.nan if judgement.score is None else judgement.score
    return rows.worths(scores, before.yes_from)[list(read)]


async def propose(
    parent: PromptParent, cases: Sequence[int], rows: LearningRows, session: Session, ask: Ask
) -> Proposal:
    """Return the judge with the instructions that a model proposes."""
    prompt = proposal_prompt(parent, cases, rows, session.secret())
    try:
        reply = await ask(prompt)
    except CallFailed as failure:
        usage = failure.usage or Usage(calls=0)
        cost = CallCost(usage=usage, cost_usd=None if usage.calls else 0.0)
        over = failure.status == "over_budget"
        why = f"nothing usable was proposed ({failure})."
        return Proposal(judge=None, analysis="", cost=cost, why=why, over_budget=over)
    cost = CallCost(usage=reply.usage, cost_usd=reply.cost_usd)
    proposal = reply.value
    if not isinstance(proposal, PromptReply):
        raise ModelError(f"a proposal came back as {type(proposal).__name__}")
    child = msgspec.structs.replace(parent.judge, prompt=f"{proposal.prompt.strip()}\n", prompts={})
    wrong = next(child.problems(), None)
    if wrong is not None:
        return Proposal(judge=None, analysis=proposal.analysis, cost=cost, why=f"no valid prompt: {wrong[1]}")
    return Proposal(judge=child, analysis=proposal.analysis, cost=cost)


def proposal_prompt(parent: PromptParent, cases: Sequence[int], rows: LearningRows, secret: bytes) -> Prompt:
    """Return the call that asks for other instructions: those that stand, then the cases, all as material."""
    judge = parent.judge
    material = {"instructions": judge.prompt.strip()}
    for number, n in enumerate(cases, 1):
        material[f"case_{number}"] = _case(parent, rows, n)
    low, high = judge.scale
    task = TOLD.format(
        scale=f"Grades go from {low:g} to {high:g}.",
        inputs=", ".join(f"{{{name}}}" for name in judge.inputs),
    )
    return fenced_prompt(
        f"{task}\n\n{MATERIAL}",
        material,
        form=FORM,
        reply=PromptReply,
        nonce=row_nonce(secret, ["learn", judge.name, *material.values()]),
        max_tokens=MOST_TOKENS,
    )


def _case(parent: PromptParent, rows: LearningRows, n: int) -> str:
    assert parent.read is not None
    inputs = gather_inputs(parent.judge, rows.answers[n])
    texts = inputs if isinstance(inputs, dict) else {}
    room = max(200, LONGEST // max(1, len(texts)))
    lines = [f"{name}: {text[:room]}" for name, text in texts.items()]
    judgement = parent.read[n]
    low, high = parent.judge.scale
    grade = float(rows.human[n])
    people = (high if grade else low) if rows.unit.yes_no else grade
    reasons = " / ".join(reasons_of(rows, n)) or "(no reason given)"
    score = "no grade" if judgement.score is None else f"{judgement.score:g}"
    return "\n".join(
        [
            *lines,
            f"the judge gave: {score}, because: {judgement.rationale or '(no reason given)'}",
            f"people gave: {people:g}, because: {reasons}",
        ]
    )
