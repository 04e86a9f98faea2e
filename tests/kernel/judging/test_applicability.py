"""All judges of one metric apply to the same answers: every shipped judge on a table of rows."""

import asyncio
from functools import cache
from itertools import groupby
from typing import Any

import pytest
from tests.support.every_judge import rows_with_every_field

from ragstone.kernel.judging import judge_names, load_judge
from ragstone.kernel.judging.finding import JudgeContext
from ragstone.kernel.judging.judging import judge_answer
from ragstone.kernel.llm import Prompt, Reply
from ragstone.kernel.records import Answer
from ragstone.kernel.tables.reading import parse_row

REFUSALS = {
    "en": "I do not know.",
    "en documents": "The documents do not answer this question.",
    "en long": "I'm sorry, I cannot find that. The provided context does not mention it.",
    "de": "Das weiß ich leider nicht.",
    "es": "No lo sé.",
    "fr": "Je ne sais pas.",
    "pt": "Não sei.",
    "hi": "मुझे नहीं पता।",
    "zh": "我不知道。",
    "sw": "Sijui.",
}
NOTHING = {"empty": "", "blank": "  \n", "marks": "...!?"}
ROWS: dict[str, dict[str, Any]] = {
    "whole": {},
    **{f"refusal {name}": {"answer": text} for name, text in REFUSALS.items()},
    **{name: {"answer": text} for name, text in NOTHING.items()},
    "refusal that goes on": {"answer": "I am not sure. Maize is side-dressed at V6."},
    "nothing retrieved": {"contexts": []},
    "contexts unknown": {"contexts": None},
    "refusal, nothing retrieved": {"answer": "I do not know.", "contexts": []},
    "no reference": {"reference": None},
    "unanswerable, refused": {"reference": None, "answerable": False, "answer": "I do not know."},
    "unanswerable, answered": {"reference": None, "answerable": False},
    "null": {"answer": None},
}
# Words can be compared only with a reference, and a verdict only be right of a statement.
BY_WORDS = ("lexical", "embedding")
NEEDS_WORDS = ("unanswerable, refused", "unanswerable, answered")


class Asked(Exception):
    """A model is asked: the judge applies."""


async def ask(prompt: Prompt) -> Reply:
    raise Asked


def applies(name: str, row: dict[str, Any]) -> bool:
    judge = load_judge(name)
    raw = {**rows_with_every_field()[0], **row}
    raw["turns"] = [*raw["turns"][:3], {"role": "assistant", "content": raw["answer"] or ""}]
    context = JudgeContext(ask=ask, model="openai/m", secret=b"s" * 32)
    try:
        return asyncio.run(judge_answer(judge, parse_row(raw, Answer), context))[0].status == "scored"
    except Asked:
        return True


@cache  # 120 files, for each of the rows
def _by_metric() -> dict[str, list[str]]:
    named = sorted(
        (load_judge(name).measures, name) for name in judge_names() if not load_judge(name).needs_embedder
    )
    groups = {metric: [name for _, name in own] for metric, own in groupby(named, key=lambda pair: pair[0])}
    return {metric: names for metric, names in groups.items() if len(names) > 1}


def _needs_words(name: str) -> bool:
    """Say whether a judge, or the only member that decides, compares words."""
    judge = load_judge(name)
    members = [member.judge for member in getattr(judge, "members", ())]
    return judge.kind in BY_WORDS or (bool(members) and all(_needs_words(member) for member in members))


@pytest.mark.long
@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("metric", _by_metric())
def test_judges_of_one_metric_apply_to_the_same_answers(metric: str, row: str) -> None:
    names = [name for name in _by_metric()[metric] if name != "verdict"]
    if row in NEEDS_WORDS and metric == "correctness":
        names = [name for name in names if not _needs_words(name)]
    found = {name: applies(name, ROWS[row]) for name in names}
    assert len(set(found.values())) == 1, found


@pytest.mark.parametrize(
    "row", [*(f"refusal {name}" for name in REFUSALS), *NOTHING, "refusal, nothing retrieved"]
)
def test_what_states_nothing_is_neither_faithful_nor_unfaithful(row: str) -> None:
    assert not any(applies(name, ROWS[row]) for name in _by_metric()["faithfulness"])


def test_a_refusal_that_goes_on_is_judged_by_all() -> None:
    assert all(applies(name, ROWS["refusal that goes on"]) for name in _by_metric()["faithfulness"])


def test_the_metrics_with_several_judges_are_walked() -> None:
    assert {"faithfulness", "correctness", "answered", "citations", "tool_choice"} <= _by_metric().keys()
