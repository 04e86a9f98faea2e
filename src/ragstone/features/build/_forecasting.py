"""What a build would ask: a build of sampled rows, whose replies are made up and lose no candidate."""

from collections.abc import Sequence

import msgspec

from ragstone.features.build._built import Written, noted
from ragstone.features.build._fact_writing import write_facts
from ragstone.features.build._falsifying import ChangeReply, Falsified, Truths, check_prompt, falsify_fact
from ragstone.features.build._filling import BuildSteps
from ragstone.features.build._session import Make, check_build, document_id_of
from ragstone.kernel.config import Settings, choose
from ragstone.kernel.config.datasets import Change
from ragstone.kernel.dataset.candidate import Candidate, SourcePassage
from ragstone.kernel.engine.session import Session, forecast_of
from ragstone.kernel.llm import Ask, CallFailed, Prompt, Reply
from ragstone.kernel.llm.forecast import Forecast
from ragstone.kernel.llm.stub_reply import WORDS
from ragstone.kernel.stages.given import Taggable

SAMPLE = 500  # documents that a forecast looks at, evenly spaced
MADE_UP = WORDS[:40]  # of a reply made up that may be cut short


def forecast_build(rows: Sequence[Taggable], make: Make, settings: Settings, assumption: str) -> Forecast:
    """Return what a build would ask, by a sample of its rows. Raises what it raises before a call."""
    check_build(rows, settings, None, False)
    sampled, declared, weight = _sampled(rows, settings)

    async def work(session: Session) -> None:
        session.forecaster.weight = weight
        session.forecaster.assume(assumption)
        await make(sampled, session, FORECAST)

    return forecast_of(declared, work)


def _sampled(rows: Sequence[Taggable], settings: Settings) -> tuple[list[Taggable], Settings, float]:
    """Return the rows of documents evenly spaced, settings that want as much less in all, and the factor.

    Where a small count is wanted they are all rows: no more documents are asked than that takes.
    """
    build = settings.build
    names = [document_id_of(row) for row in rows]
    distinct = list(dict.fromkeys(names))
    step = max(1, -(-min(len(distinct), build.count or len(distinct)) // SAMPLE))
    chosen = set(distinct[::step])
    scaled = choose(
        settings,
        "build",
        count=build.count and build.count // step,
        negatives=build.negatives // step,
        multi_hop=build.multi_hop // step,
        planted=build.planted // step,
    )
    sampled = [row for row, name in zip(rows, names, strict=True) if name in chosen]
    return sampled, scaled, len(distinct) / len(chosen)


def _settle(candidate: Candidate) -> Candidate:
    """Return the candidate; those made up differ, and nothing that was made up loses one."""
    question, loss = candidate.question, candidate.loss
    if (question.metadata or {}).get("made_up"):
        return msgspec.structs.replace(candidate, loss=None)
    if WORDS in question.question:
        question = msgspec.structs.replace(question, question=f"{WORDS} {question.id}")
        return msgspec.structs.replace(candidate, question=question, loss=None)
    if loss is not None and MADE_UP in (loss.detail or ""):  # the question is real, who judged it is not
        return msgspec.structs.replace(candidate, loss=None)
    return candidate


class _KnownReplies:
    """An `ask` that ends at the first reply made up. made_up: the prompt of that; others are not asked."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self.made_up: Prompt | None = None

    async def ask(self, prompt: Prompt) -> Reply:
        if self.made_up is not None:
            raise CallFailed("error", "a forecast does not know what would be asked now")
        reply = await self._ask(prompt)
        if not reply.usage.calls:
            self.made_up = prompt
        return reply


async def _write_facts(passage: SourcePassage, n: int, *, ask: Ask, secret: bytes) -> Written:
    """Return the facts of a call, those of a reply made up marked as such."""
    known = _KnownReplies(ask)
    written = await write_facts(passage, n, ask=known.ask, secret=secret)
    if known.made_up is None:
        return written
    return Written(candidates=[noted(candidate, made_up=True) for candidate in written.candidates])


async def _falsify(
    truth: Candidate, kinds: Sequence[Change], truths: Truths, *, seed: int, ask: Ask, secret: bytes
) -> Falsified:
    """Ask what making this statement false would ask, if the first change that is not known yet succeeds."""
    known = _KnownReplies(ask)
    falsified = await falsify_fact(truth, kinds, truths, seed=seed, ask=known.ask, secret=secret)
    if known.made_up is not None and known.made_up.reply is ChangeReply:
        await ask(check_prompt(truth, secret))
    return falsified


FORECAST = BuildSteps(write_facts=_write_facts, falsify=_falsify, settle=_settle)
