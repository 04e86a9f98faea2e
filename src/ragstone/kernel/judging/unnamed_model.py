"""Which judges ask a model that neither their file nor anybody else names, and how that is said."""

from collections.abc import Iterable, Sequence

from ragstone.kernel.errors import ModelError
from ragstone.kernel.judging.fields import JudgeFields

BY_OPTION = (
    "Name one with --model, e.g. openai/gpt-4o-mini, or as model in the table [judge] of ragstone.toml."
)
IN_SETTINGS = (
    'Write model = "openai/gpt-4o-mini", or another, in the table [judge] of ragstone.toml, and restart the '
    "workbench."
)


def judges_without_model(judges: Iterable[JudgeFields], model: str | None) -> list[str]:
    """Return the names of the judges that ask a model which nobody has named. model: of the whole, if any."""
    return [judge.name for judge in judges if judge.asks_default] if model is None else []


def no_model_text(names: Sequence[str], remedy: str) -> str:
    """Return the sentences that say so of some judges. remedy: how to name one where it is said."""
    return f"{', '.join(names)} ask{'s' if len(names) == 1 else ''} a model, and none is named. {remedy}"


def check_model_named(judges: Iterable[JudgeFields], model: str | None, remedy: str = BY_OPTION) -> None:
    """Raise ModelError where judges ask a model, and nobody has named one."""
    if names := judges_without_model(judges, model):
        raise ModelError(no_model_text(names, remedy))
