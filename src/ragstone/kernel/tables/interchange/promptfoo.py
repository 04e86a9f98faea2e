"""Results of promptfoo: `promptfoo eval -o results.json` or `.jsonl` (version 0.121; also those of 0.4x on).

A test case asked of a provider with a prompt is an answer. The system is the provider; where the file holds
several prompts, provider/prompt.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Answer
from ragstone.kernel.tables.interchange.values import (
    amount_in,
    answer_in,
    count_in,
    fields_in,
    objects_in,
    question_in,
)
from ragstone.kernel.tables.names import CONTEXT_NAMES, QUESTION_NAMES, accepted_names

# What an assertion is compared with, where that is a right answer.
_REFERENCE_ASSERTIONS = {
    *("equals", "similar", "factuality", "model-graded-factuality", "context-recall"),
    *("bleu", "rouge-n", "meteor", "gleu"),
}
_CONTEXTS = (*CONTEXT_NAMES, "documents", "chunks")
_REFERENCES = accepted_names(Answer, "reference")
_FAILED = 2  # of failureReason: an error, where 1 is an assertion that was not met
_SHORT = 40


def read_promptfoo(rows: Iterable[tuple[int, Any]], _where: str) -> Iterator[tuple[int, Any]]:
    """Yield an answer for each result, test by test; a result without an output has an error."""
    results: list[tuple[int, Mapping[str, Any]]] = []
    for number, raw in rows:
        inside = raw.get("results") if isinstance(raw, dict) else None
        if isinstance(inside, Mapping):
            for at, result in enumerate(inside["results"], 1):
                if isinstance(result, dict):
                    results.append((at, result))
                else:
                    yield at, result
        elif isinstance(raw, dict):
            results.append((number, raw))
        else:
            yield number, raw
    names = _systems([result for _, result in results])
    # Providers answer at their own speed: by test, so that a question asked twice is numbered alike for all.
    results.sort(key=lambda item: (_index(item[1], "testIdx"), _index(item[1], "promptIdx")))
    for number, result in results:
        yield number, _row(result, names[_provider(result), _prompt(result)])


def refuse_table(_rows: Iterable[tuple[int, Any]], where: str) -> Iterator[tuple[int, Any]]:
    """Raise DataError: columns of one name have already been lost."""
    raise DataError(
        f"{where}: promptfoo's table, which has its providers side by side. Write its results as JSON: "
        "promptfoo eval -o results.json, or promptfoo export eval ID -o results.json."
    )


def _index(result: Mapping[str, Any], name: str) -> int:
    value = result.get(name)
    return value if isinstance(value, int) else 0


def _provider(result: Mapping[str, Any]) -> str:
    provider = result.get("provider")
    if isinstance(provider, Mapping):
        provider = provider.get("label") or provider.get("id")
    return str(provider or "default")


def _prompt(result: Mapping[str, Any]) -> str:
    """Return what all results of one prompt share: its id or label, for `raw` has the variables filled in."""
    prompt = result.get("prompt")
    label = prompt.get("label") or prompt.get("raw") if isinstance(prompt, Mapping) else prompt
    return str(result.get("promptId") or label or "")


def _systems(results: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], str]:
    """Return (provider, prompt) -> system, with the prompt's name or number where there are several."""
    prompts: dict[str, str] = {}
    pairs: dict[tuple[str, str], None] = {}
    for result in results:
        prompt = result.get("prompt")
        label = str(prompt.get("label") or "") if isinstance(prompt, Mapping) else ""
        named = label if 0 < len(label) <= _SHORT and "\n" not in label and "{{" not in label else ""
        prompts.setdefault(_prompt(result), named or f"prompt {len(prompts) + 1}")
        pairs[_provider(result), _prompt(result)] = None
    if len(prompts) < 2:
        return {(provider, prompt): provider for provider, prompt in pairs}
    labels = list(prompts.values())
    alike = {key: name for key, name in prompts.items() if labels.count(name) == 1}
    numbers = {key: f"prompt {number}" for number, key in enumerate(prompts, 1)}
    return {(provider, prompt): f"{provider}/{(numbers | alike)[prompt]}" for provider, prompt in pairs}


def _row(result: Mapping[str, Any], system: str) -> dict[str, Any]:
    response, case = fields_in(result.get("response")), fields_in(result.get("testCase"))
    variables = fields_in(result.get("vars") or case.get("vars"))
    output = response.get("output")
    answer = answer_in(output)
    reason = result.get("error") or response.get("error")
    error = None if answer is not None else "promptfoo holds no output"
    # An assertion that was not met is no error of the application.
    if result.get("failureReason") == _FAILED or (answer is None and reason):
        error = str(reason or "promptfoo says that it failed, and not why")
    row: dict[str, Any] = {
        "question": _question(result, variables),
        "answer": "" if error else answer,
        "system": system,
        "reference": _reference(variables, case),
        "contexts": _contexts(output, variables, response, result),
        "usage": _usage(response.get("tokenUsage")),
        "error": error,
        "metadata": {
            name: result[name] for name in ("success", "score", "namedScores") if result.get(name) is not None
        },
    }
    latency = amount_in(result.get("latencyMs"))
    if latency is not None and not response.get("cached"):
        row["latency_s"] = latency / 1000
    # promptfoo writes a cost of 0 where it knows no price.
    row["cost_usd"] = amount_in(response.get("cost", result.get("cost") or None))
    row["question_id"] = variables.get("question_id", variables.get("id"))
    return {name: value for name, value in row.items() if value is not None}


def _question(result: Mapping[str, Any], variables: Mapping[str, Any]) -> str | None:
    """Return the variable that is a question, else the only text of them, else the prompt as it was sent."""
    by_name = {str(name).casefold(): value for name, value in variables.items()}
    known = next((by_name[name] for name in QUESTION_NAMES if isinstance(by_name.get(name), str)), None)
    texts = [value for value in variables.values() if isinstance(value, str)]
    if known is not None or len(texts) == 1:
        return str(known if known is not None else texts[0])
    prompt = result.get("prompt")
    return question_in(prompt.get("raw") if isinstance(prompt, Mapping) else prompt)


def _reference(variables: Mapping[str, Any], case: Mapping[str, Any]) -> Any:
    named = next((variables[name] for name in _REFERENCES if variables.get(name)), None)
    if named is not None:
        return named
    asserted = objects_in(case.get("assert"))
    return next(
        (
            assertion["value"]
            for assertion in asserted
            if str(assertion.get("type")) in _REFERENCE_ASSERTIONS
            and isinstance(assertion.get("value"), str | list)
            and assertion["value"]
        ),
        None,
    )


def _contexts(output: object, *places: object) -> Any:
    """Return what was retrieved: named in the output, the variables, or the metadata of the response."""
    objects = [output, *places, *(source.get("metadata") for source in places if isinstance(source, Mapping))]
    return next(
        (
            source[name]
            for source in objects
            if isinstance(source, Mapping)
            for name in _CONTEXTS
            if isinstance(source.get(name), list | str) and source[name]
        ),
        None,
    )


def _usage(tokens: object) -> dict[str, int] | None:
    """Return the provider's tokens; None where none are told, as of replies from promptfoo's own cache."""
    fields = fields_in(tokens)
    sent, made = count_in(fields, ["prompt"]), count_in(fields, ["completion"])
    if not sent and not made:
        return None
    return {
        "input": sent or 0,
        "output": made or 0,
        "cached": count_in(fields, ["cached"]) or 0,
        "calls": count_in(fields, ["numRequests"]) or 1,
    }
