"""Results of promptfoo: `promptfoo eval -o results.json` or `.jsonl` (0.123 and 0.121; also of 0.4x on).

A test case asked of a provider with a prompt is an answer. The system is the provider; where the file holds
several prompts, provider/prompt.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

import msgspec

from ragstone.kernel.errors import DataError
from ragstone.kernel.records import NO_MODEL, YES_NO, Answer
from ragstone.kernel.tables.interchange.assessments import Assessment
from ragstone.kernel.tables.interchange.graded import Subjects, apart
from ragstone.kernel.tables.interchange.values import (
    amount_in,
    answer_in,
    count_in,
    fields_in,
    number_in,
    objects_in,
    question_in,
    written,
)
from ragstone.kernel.tables.names import CONTEXT_NAMES, QUESTION_NAMES, accepted_names

# What an assertion is compared with, where that is a right answer.
_REFERENCE_ASSERTIONS = {
    *("equals", "similar", "factuality", "model-graded-factuality", "context-recall"),
    *("bleu", "rouge-n", "meteor", "gleu"),
}
_CONTEXTS = (*CONTEXT_NAMES, "documents", "chunks")
_REFERENCES = accepted_names(Answer, "reference")
# Assertions that ask no model; `is-…`, `contains…` and `icontains…` beside them.
_BY_CODE = frozenset(
    (
        *("equals", "starts-with", "regex", "javascript", "python", "ruby", "webhook", "latency", "cost"),
        *("levenshtein", "rouge-n", "bleu", "gleu", "meteor", "perplexity", "perplexity-score", "word-count"),
        *("finish-reason", "tool-call-f1", "trace-span-count", "trace-span-duration", "trace-error-spans"),
    )
)
_FAILED = 2  # of failureReason: an error, where 1 is an assertion that was not met
_SHORT = 40


def read_promptfoo(rows: Iterable[tuple[int, Any]], _where: str) -> Iterator[tuple[int, Any]]:
    """Yield an answer for each result, test by test; a result without an output has an error."""
    mistakes, results, names = _results(rows)
    yield from mistakes
    for number, result in results:
        yield number, _row(result, names[_provider(result), _prompt(result)])


def read_promptfoo_verdicts(rows: Iterable[tuple[int, Any]], _where: str) -> Iterator[tuple[int, Any]]:
    """Yield an Assessment for each assertion of each result.

    A grader that failed has no verdict, though promptfoo counts it as 0; nor has one of a result whose
    application failed.
    """
    mistakes, results, names = _results(rows)
    yield from mistakes
    subjects = Subjects()
    recurring = _recurring([result for _, result in results])
    for number, result in results:
        row = _row(result, names[_provider(result), _prompt(result)])
        subject, components = subjects.of(row), _asserted(result)
        for component, source in zip(components, _sources(components, recurring), strict=True):
            one = _assessment(number, result, component, source, subject)
            if "score" in component:
                yield number, one
            elif row.get("error") is not None:
                yield number, msgspec.structs.replace(one, status="app_error", error=row["error"])


def _results(
    rows: Iterable[tuple[int, Any]],
) -> tuple[list[tuple[int, Any]], list[tuple[int, Mapping[str, Any]]], dict[tuple[str, str], str]]:
    """Return what is no result, the results test by test, and the systems by provider and prompt."""
    mistakes: list[tuple[int, Any]] = []
    results: list[tuple[int, Mapping[str, Any]]] = []
    for number, raw in rows:
        inside = raw.get("results") if isinstance(raw, dict) else None
        if isinstance(inside, Mapping):
            for at, result in enumerate(inside["results"], 1):
                (results if isinstance(result, dict) else mistakes).append((at, result))
        else:
            (results if isinstance(raw, dict) else mistakes).append((number, raw))
    # Providers answer at their own speed: by test, so that a question asked twice is numbered alike for all.
    results.sort(key=lambda item: (_index(item[1], "testIdx"), _index(item[1], "promptIdx")))
    return mistakes, results, _systems([result for _, result in results])


def _asserted(result: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return what stands for each assertion of a result: what became of it, else the assertion alone."""
    graded = objects_in(fields_in(result.get("gradingResult")).get("componentResults"))
    asserted = objects_in(fields_in(result.get("testCase")).get("assert"))
    return graded or [{"assertion": assertion} for assertion in asserted]


def _sources(components: Sequence[Mapping[str, Any]], recurring: Set[tuple[str, str]]) -> list[str | None]:
    """Return what tells assertions of one name in a result apart: a wording that recurs, else the place.

    recurring: name and wording of assertions that stand in several results.
    """
    assertions = [fields_in(component.get("assertion")) for component in components]
    names = [_name(assertion) for assertion in assertions]
    keys = zip(names, map(_wording, assertions), apart(names), strict=True)
    return [place and (wording if (name, wording) in recurring else place) for name, wording, place in keys]


def _recurring(results: Iterable[Mapping[str, Any]]) -> set[tuple[str, str]]:
    seen: Counter[tuple[str, str]] = Counter()
    for result in results:
        assertions = [fields_in(component.get("assertion")) for component in _asserted(result)]
        seen.update({(_name(assertion), _wording(assertion)) for assertion in assertions})
    return {key for key, n in seen.items() if n > 1}


def _wording(assertion: Mapping[str, Any]) -> str:
    return written(assertion.get("value")) or ""


def _name(assertion: Mapping[str, Any]) -> str:
    """Return what an assertion is called: by its metric, else by its type."""
    return str(assertion.get("metric") or assertion.get("type") or "assertion")


def _assessment(
    number: int,
    result: Mapping[str, Any],
    component: Mapping[str, Any],
    source: str | None,
    subject: Mapping[str, Any],
) -> Assessment:
    assertion, beside = fields_in(component.get("assertion")), fields_in(component.get("metadata"))
    kind = str(assertion.get("type") or "").removeprefix("not-")
    by_code = kind in _BY_CODE or kind.partition("-")[0] in ("is", "contains", "icontains")
    reason = written(component.get("reason"))
    broken = (reason or "the grader failed") if beside.get("graderError") is True else None
    notes = {
        "type": assertion.get("type"),
        "pass": component.get("pass"),
        "value": beside.get("renderedAssertionValue") or _wording(assertion) or None,
    }
    return Assessment(
        number=number,
        tool="promptfoo",
        name=_name(assertion),
        source=source,
        value=component.get("score"),
        scale=YES_NO,
        threshold=None if by_code else number_in(assertion.get("threshold")),
        model=NO_MODEL if by_code else _grader(assertion, result),
        rationale=None if broken else reason,
        status="unparsable" if broken and "json" in broken.casefold() else None,
        error=broken,
        notes={name: value for name, value in notes.items() if value is not None},
        **subject,
    )


def _grader(assertion: Mapping[str, Any], result: Mapping[str, Any]) -> str | None:
    """Return the model that grades: the assertion's own, else that of the test; None where it is not told."""
    options = fields_in(fields_in(result.get("testCase")).get("options"))
    config = fields_in(fields_in(result.get("prompt")).get("config"))
    for provider in (assertion.get("provider"), options.get("provider"), config.get("provider")):
        named = fields_in(provider).get("id") if isinstance(provider, Mapping) else provider
        if isinstance(named, str) and named:
            return named
    return None


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
