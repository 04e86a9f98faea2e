"""What a budget has counted, as progress bars and summaries show it."""

from collections.abc import Mapping

from ragstone.engine.progress import State
from ragstone.llm import Budget
from ragstone.report.summary import Calls


def state_of(budget: Budget) -> State:
    """Return what is asked of models at this moment."""
    return State(
        made=budget.made, in_flight=budget.in_flight, retries=budget.retries, spent_usd=budget.spent_usd
    )


def calls_of(budget: Budget, list_prices: Mapping[str, str]) -> Calls:
    """Return what was asked of models so far, and what it cost. list_prices: model -> the day it was read."""
    return Calls(
        made=budget.made,
        from_ledger=budget.from_ledger,
        failed=dict(budget.failed),
        usage=budget.usage,
        cost_usd=budget.usd,
        retries=budget.retries,
        late=budget.late,
        list_prices=dict(list_prices),
        reasoning_cost_usd=budget.reasoning_usd if budget.usage.reasoning else None,
        cut_off=budget.cut_off,
        cut_off_cost_usd=budget.cut_off_usd if budget.cut_off.calls else None,
    )
