"""What forms of the workbench share before a model is asked: which one, and what it would be asked."""

import msgspec

from ragstone.kernel.config import Settings, choose
from ragstone.kernel.console.asking import forecast_lines
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.llm.forecast import Forecast
from ragstone.kernel.llm.providers import providers


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """What a run would ask, in words. budget: a cap that leaves room for what is asked twice."""

    lines: list[str]
    calls: int
    budget: str

    @classmethod
    def by(cls, forecast: Forecast) -> "Expected":
        """Return a forecast as pages show it."""
        room = forecast.calls + max(5, forecast.calls // 4)
        return cls(lines=forecast_lines(forecast), calls=forecast.calls, budget=f"{room}calls")


def settings_of(settings: Settings, model: str) -> Settings:
    """Return the settings with the model that was chosen. Raises ConfigError for one that is not offered."""
    if model and model not in models_of(settings):
        raise ConfigError(f'model {model!r} is not in ragstone.toml. Add its table, [models."{model}"].')
    return choose(settings, "judge", model=model or None)


def models_of(settings: Settings) -> list[str]:
    """Return the models that may be asked: the judge's own first, then those with a table, if any can be."""
    own = [settings.judge.model] if settings.judge.model else []
    known = [name for name in settings.models if name.partition("/")[0] in providers()]
    return list(dict.fromkeys([*own, *known]))
