"""What judges need of a session: models to ask, the project's secret, an embedder."""

from collections.abc import Sequence

from ragstone.embedding.gathering import EmbedSoon
from ragstone.engine.session import Session
from ragstone.errors import ModelError
from ragstone.judging import Judge, JudgeContext
from ragstone.judging.finding import no_model
from ragstone.judging.leaves import asks_default, leaves, models_of
from ragstone.records import NO_MODEL


async def judge_context(session: Session, judges: Sequence[Judge], model: str | None = None) -> JudgeContext:
    """Return what these judges need; model: in place of that of `[judge]`.

    Raises ModelError if they ask a model and none is named.
    """
    model = model or session.settings.judge.model
    asking = [judge.name for judge in judges if asks_default(judge)]
    embed = _embedder(session, judges)
    session.members = sorted(set().union(*map(models_of, judges)))
    if not asking and not session.members:
        return JudgeContext(embed=embed)
    if asking and model is None:
        raise ModelError(
            f"{', '.join(asking)}: these judges ask a model. Name one with --model, e.g. "
            "openai/gpt-4o-mini, or as model in the table [judge] of ragstone.toml."
        )
    return JudgeContext(
        ask=await session.models.ask(model) if asking and model else no_model,
        model=model or NO_MODEL,
        others={name: await session.models.ask(name) for name in session.members},
        secret=session.secret(),
        embed=embed,
        context_tokens=session.models.context_tokens,
    )


def _embedder(session: Session, judges: Sequence[Judge]) -> EmbedSoon | None:
    """Return what embeds texts for judges of similarity; None where there is none."""
    if not any(leaf.kind == "embedding" for judge in judges for leaf, _model in leaves(judge)):
        return None
    from ragstone.embedding.gathering import Gathered

    return Gathered(session.embedder(session.settings.retrieve.embedder))
