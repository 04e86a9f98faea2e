"""Examples of a judge (few-shot): shown in the fixed part of the prompt, as rows with the right replies.

They are the judge author's own, and trusted. Their code is not that of any row: it shows the model how the
code of the tags gets into the reply, and gives no row's away.
"""

from collections.abc import Callable, Mapping

import msgspec

from ragstone.kernel.judging.fields import Example, JudgeFields
from ragstone.kernel.judging.inputs import gather_inputs
from ragstone.kernel.llm import fence


def examples_text(judge: JudgeFields, reply_to: Callable[[Example, str], str]) -> str:
    """Return the examples that the judge shows, each with its reply; empty if it shows none.

    reply_to: gives the reply to an example, which has the code that its tags carry.
    """
    if not judge.shown:
        return ""
    parts = [_shown(judge, example, f"example-{n}", reply_to) for n, example in enumerate(judge.shown, 1)]
    return "\n\n".join(["Examples, each with the right reply:", *parts])


def _shown(judge: JudgeFields, example: Example, code: str, reply_to: Callable[[Example, str], str]) -> str:
    inputs = gather_inputs(judge, example.as_answer(code))
    if isinstance(inputs, str):
        raise ValueError(f"judge {judge.name!r}: {code} has no {inputs}")
    texts = [fence(name, text, code) for name, text in inputs.items()]
    return "\n\n".join([*texts, f"Reply: {reply_to(example, code)}"])


def example_reply(values: Mapping[str, object], code: str) -> str:
    """Return the reply that an example should get, as JSON with the example's code in it."""
    return msgspec.json.format(msgspec.json.encode({"nonce": code, **values}), indent=0).decode()


def of_criterion(value: object, name: str) -> object:
    """Return what an example gives for one criterion: a rubric with a single one needs no table."""
    return value.get(name) if isinstance(value, Mapping) else value


def whole(expected: object) -> object:
    """Return a score as the reply has it, a whole number; a label or a verdict as it is."""
    return int(expected) if isinstance(expected, float) else expected
