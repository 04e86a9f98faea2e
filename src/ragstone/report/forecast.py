"""A forecast in words: what a command will ask, before it asks."""

from ragstone.llm.forecast import Forecast, ModelForecast
from ragstone.report.wording import count, plural, usd


def forecast_lines(forecast: Forecast) -> list[str]:
    """Return the forecast as lines: the sums, then each model's grounds, then what was assumed."""
    kept = f"{plural(forecast.from_ledger, 'call')} in the ledger"
    if not forecast.calls:
        return [f"Forecast: nothing to ask; {kept}."]
    beside = f" (and {kept})" if forecast.from_ledger else ""
    told = [
        f"about {plural(forecast.calls, 'call')}{beside}",
        f"{count(forecast.input)} tokens in{_part(forecast.cached, 'cached')}",
        f"{count(forecast.output)} out{_part(forecast.reasoning, 'reasoning')}",
        "cost unknown" if forecast.cost_usd is None else usd(forecast.cost_usd),
        "time unknown" if forecast.duration_s is None else duration(forecast.duration_s),
    ]
    models = [_grounds(model) for model in forecast.models if model.calls]
    return [f"Forecast: {', '.join(told)}.", *models, *(f"  {each}" for each in forecast.assumptions)]


def _part(n_tokens: int, what: str) -> str:
    return f" ({count(n_tokens)} {what})" if n_tokens else ""


def _grounds(model: ModelForecast) -> str:
    """Return what a model's share rests on: its price, and the calls that lengths are taken from."""
    if model.cost_usd is None:
        price = "no price known (price_usd_per_million in its table of ragstone.toml gives one)"
    elif model.list_price_read:
        price = f"list price read on {model.list_price_read}"
    else:
        price = "the price that is set"
    if model.n_earlier:
        grounds = f"lengths and times as in {plural(model.n_earlier, 'earlier call')}"
    else:
        grounds = "never asked before, so lengths are assumed (a pilot with --limit 5 tells more)"
    return f"  {model.model}: {plural(model.calls, 'call')}, {price}; {grounds}."


def duration(seconds: float) -> str:
    """Return a time in words: `40 s`, `3 min`, `2.5 h`."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
