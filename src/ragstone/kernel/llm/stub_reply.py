"""Replies that no model gave, for a forecast alone: they let the calls that follow be counted.

They never reach a ledger or a file. A forecast says that it rests on them.
"""

import functools
from typing import Any

from ragstone.kernel.llm.failures import CallFailed
from ragstone.kernel.llm.prompt import Prompt, Reply
from ragstone.kernel.llm.questionnaire import OptionChances
from ragstone.kernel.llm.schema import ReplyError, schema_of, validate
from ragstone.kernel.records import Usage

# A list has an item for every id that may be asked about, and few of the texts in it differ: an answer is
# taken to make so many statements.
ITEMS = 40
STATEMENTS = 3
WORDS = "made-up text of the usual length of a sentence, which stands for a reply that nobody has given yet"
ANSWER = f"This is {WORDS}. It goes on with {WORDS}. It ends with {WORDS}."
ASSUMPTION = (
    f"Later calls depend on earlier replies: they are estimated with answers of {len(ANSWER)} characters and "
    f"{STATEMENTS} statements per answer."
)


def stub_reply(prompt: Prompt) -> Reply:
    """Return a reply of the prompt's type that cost nothing. Raises CallFailed where none can be made up.

    Where probabilities are asked for it has those of no token: an endpoint that gives them, and nothing said.
    """
    value: object = None if prompt.reply is None else _made_up(prompt.reply)
    if prompt.questionnaire is not None:
        value = tuple(
            OptionChances(question=each.name, probabilities=(1 / len(each.labels),) * len(each.labels))
            for each in prompt.questionnaire.questions
        )
    logprobs = None if prompt.top_logprobs is None else ()
    text = f"{ANSWER} {prompt.sample + 1}" if prompt.sample else ANSWER  # judges are asked of each draw
    return Reply(
        text=text, value=value, usage=Usage(calls=0), latency_s=0.0, cost_usd=None, logprobs=logprobs
    )


@functools.lru_cache(maxsize=256)
def _made_up(reply: type) -> object:
    schema = schema_of(reply, False)
    try:
        return validate(_fill(schema, schema.get("$defs", {}), 0), reply, None)
    except (ReplyError, KeyError) as mistake:
        raise CallFailed("error", f"a reply of type {reply.__name__} cannot be made up: {mistake}") from None


def _fill(schema: dict[str, Any], definitions: dict[str, Any], index: int) -> Any:  # noqa: ANN401
    """Return a value that fits a JSON Schema. index: of the item in the innermost list that it is in."""
    if "$ref" in schema:
        return _fill(definitions[schema["$ref"].rpartition("/")[2]], definitions, index)
    for choices in ("enum", "anyOf"):
        if choices in schema:
            options = schema[choices]  # a list of them names each once, as a list of all ids does
            return (
                options[index % len(options)] if choices == "enum" else _fill(options[0], definitions, index)
            )
    match schema.get("type"):
        case "object":
            inner = schema.get("properties", {}).items()
            return {name: _fill(field, definitions, index) for name, field in inner}
        case "array":
            n_items = min(ITEMS, schema.get("maxItems", ITEMS))
            return [_fill(schema["items"], definitions, number) for number in range(n_items)]
        case "string":
            text = f"Number {index % STATEMENTS + 1}: {WORDS}.".ljust(schema.get("minLength", 0), ".")
            return text[: schema.get("maxLength")]
        case "integer" | "number":
            return min(max(index + 1, schema.get("minimum", 0)), schema.get("maximum", index + 1))
        case "boolean":
            return True
    return None
