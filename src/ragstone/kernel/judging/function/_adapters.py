"""Metrics of other tools as functions that judge: known by their type, without importing the tools.

Each adapter gives a function whose parameters name the parts of a row that the metric reads. The packages are
imported by whoever made the metric; nothing of theirs is needed here beforehand.
"""

import copy
import inspect
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from numbers import Real
from typing import Any

from ragstone.kernel.config.python_function import Function
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.judging.finding import Finding, not_applicable
from ragstone.kernel.judging.function._declaring import ATTRIBUTE, NAME, Declared

# What ragas calls the parts of a row -> what we call them.
RAGAS = {
    "user_input": "question",
    "response": "answer",
    "reference": "reference",
    "retrieved_contexts": "contexts",
}
GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # of Inspect: correct, partial, incorrect, no answer


def adapted(thing: object) -> Function | None:
    """Return the function that a metric of another tool is; None for what is none.

    A class of metrics, or what makes a scorer of Inspect, is called without arguments first. Raises
    ConfigError for one that takes some, and for metrics of conversations.
    """
    if getattr(getattr(thing, "__registry_info__", None), "type", None) == "scorer":
        return _inspect_scorer(thing)
    kind = thing if inspect.isclass(thing) else type(thing)
    for base in inspect.getmro(kind):
        adapt = ADAPTERS.get((base.__module__.partition(".")[0], base.__name__))
        if adapt is not None:
            return adapt(_made(thing))
    return None


def _made(thing: Any) -> Any:  # noqa: ANN401 - an object of another package
    """Return a metric, made from its class where that is given."""
    if not (inspect.isclass(thing) or inspect.isfunction(thing)):
        return thing
    try:
        return thing()
    except TypeError as mistake:
        raise ConfigError(
            f"{thing.__name__} takes arguments ({mistake}). Create the metric yourself, and give that: "
            f"metric = {thing.__name__}(...)"
        ) from None


def _function(
    judge: Callable[..., Awaitable[Finding]] | Callable[..., Finding],
    name: str,
    package: str,
    required: Sequence[str],
    optional: Sequence[str] = (),
    scale: tuple[float, float] | None = None,
) -> Function:
    """Return the function with its name, its parameters and what it declares."""
    parameters = [inspect.Parameter(part, inspect.Parameter.KEYWORD_ONLY) for part in required]
    parameters += [inspect.Parameter(part, inspect.Parameter.KEYWORD_ONLY, default=None) for part in optional]
    plain = (
        re.sub(r"\W+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name), flags=re.ASCII).strip("_").lower()
    )
    try:
        source = f"{package} {version(package)}"
    except PackageNotFoundError:
        source = package
    judge.__signature__ = inspect.Signature(parameters)  # type: ignore[union-attr] # functions take it
    declared = Declared(name=plain if NAME.fullmatch(plain) else None, scale=scale, source=source)
    setattr(judge, ATTRIBUTE, declared)
    return judge


def _one(reference: str | list[str] | None) -> str | None:
    """Return the reference, the first of several."""
    return reference[0] if isinstance(reference, list) else reference


def _ragas_single_turn(metric: Any) -> Function:  # noqa: ANN401
    columns = metric.required_columns.get("SINGLE_TURN", ())
    optional = {name.removesuffix(":optional") for name in columns if name.endswith(":optional")}
    required = {name for name in columns if not name.endswith(":optional")}
    if unknown := required - RAGAS.keys():
        raise ConfigError(
            f"ragas metric {metric.name!r} reads {', '.join(sorted(unknown))}, which an answer sheet does "
            "not have. Write a function that makes its sample: def f(row): ..."
        )

    async def judge(**parts: Any) -> Finding:  # noqa: ANN401
        sample = import_module("ragas.dataset_schema").SingleTurnSample(**_for_ragas(parts))
        return _finding(await metric.single_turn_ascore(sample), metric.name)

    ours, also = (sorted(RAGAS[name] for name in names if name in RAGAS) for names in (required, optional))
    return _function(judge, metric.name, "ragas", ours, also)


def _ragas_simple(metric: Any) -> Function:  # noqa: ANN401
    called = getattr(metric, "_func", None) or metric.ascore  # of a decorated function that itself
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    named = [
        parameter.name
        for parameter in inspect.signature(called).parameters.values()
        if parameter.kind in kinds
    ]
    allowed = getattr(metric, "allowed_values", None)

    async def judge(**parts: Any) -> Finding:  # noqa: ANN401
        made = await metric.ascore(**_for_ragas(parts))
        return _finding(made.value, metric.name, made.reason)

    return _function(
        judge,
        metric.name,
        "ragas",
        [RAGAS.get(name, name) for name in named],
        scale=allowed if isinstance(allowed, tuple) and len(allowed) == 2 else None,
    )


def _for_ragas(parts: Mapping[str, Any]) -> dict[str, Any]:
    theirs = {ours: name for name, ours in RAGAS.items()}
    return {
        theirs.get(name, name): _one(value) if name == "reference" else value for name, value in parts.items()
    }


def _deepeval(metric: Any) -> Function:  # noqa: ANN401
    needed = [
        str(getattr(parameter, "value", parameter)) for parameter in getattr(metric, "_required_params", ())
    ]
    names = {"actual_output": "answer", "expected_output": "reference"}
    names |= dict.fromkeys(("retrieval_context", "context"), "contexts")
    required = list(dict.fromkeys(["question", "answer", *(names.get(name, "question") for name in needed)]))
    optional = [name for name in ("reference", "contexts") if name not in required]

    async def judge(**parts: Any) -> Finding:  # noqa: ANN401
        case = import_module("deepeval.test_case").LLMTestCase(
            input=parts["question"],
            actual_output=parts["answer"],
            expected_output=_one(parts.get("reference")),
            context=parts.get("contexts"),
            retrieval_context=parts.get("contexts"),
        )
        own = copy.copy(metric)  # it keeps its score on itself, and is asked about many rows at once
        await own.a_measure(case, _show_indicator=False)
        if own.score is None:
            return not_applicable(f"{own.__name__} gave no score: {getattr(own, 'error', None)}")
        return _finding(own.score, own.__name__, own.reason)

    return _function(judge, metric.__name__, "deepeval", required, optional)


def _inspect_scorer(scorer: Any) -> Function:  # noqa: ANN401
    name = scorer.__registry_info__.name.rpartition("/")[2]
    is_scorer = inspect.iscoroutinefunction(scorer) or inspect.iscoroutinefunction(
        getattr(scorer, "__call__", None)  # noqa: B004 - a scorer may be an object
    )
    score = scorer if is_scorer else _made(scorer)

    async def judge(*, question: str, answer: str, references: list[str], metadata: Any = None) -> Finding:  # noqa: ANN401
        made = await score(_task_state(question, answer, references, metadata), _target(references))
        value = made.value
        grade = GRADES.get(value, value) if isinstance(value, str) else value
        return _finding(grade, name, made.explanation)

    return _function(judge, name, "inspect-ai", ["question", "answer", "references"], ["metadata"])


def _target(references: list[str]) -> Any:  # noqa: ANN401
    return import_module("inspect_ai.scorer").Target(references)


def _task_state(question: str, answer: str, references: list[str], metadata: Any) -> Any:  # noqa: ANN401
    model = import_module("inspect_ai.model")
    name = "ragstone/sheet"
    return import_module("inspect_ai.solver").TaskState(
        model=model.ModelName(name),
        sample_id="row",
        epoch=1,
        input=question,
        messages=[model.ChatMessageUser(content=question), model.ChatMessageAssistant(content=answer)],
        target=_target(references),
        output=model.ModelOutput.from_content(name, answer),
        metadata=metadata,
    )


def _autoevals(scorer: Any) -> Function:  # noqa: ANN401
    async def judge(**parts: Any) -> Finding:  # noqa: ANN401
        beside = {"input": parts.get("question"), "context": parts.get("contexts")}
        inputs = {name: value for name, value in beside.items() if value is not None}
        made = await scorer.eval_async(parts["answer"], _one(parts.get("reference")), **inputs)
        if made.score is None:
            return not_applicable(f"{made.name} gave no score")
        return _finding(made.score, made.name, (made.metadata or {}).get("rationale"))

    return _function(judge, scorer._name(), "autoevals", ["answer"], ["question", "reference", "contexts"])


def _hf_evaluate(module: Any) -> Function:  # noqa: ANN401
    def judge(*, answer: str, reference: str | list[str]) -> Finding:
        made = module.compute(predictions=[answer], references=[_one(reference)])
        numbers = {name: value for name, value in made.items() if isinstance(value, Real)}
        value = numbers.get(module.name, next(iter(numbers.values())) if len(numbers) == 1 else None)
        if value is None:
            raise ConfigError(
                f"{module.name} of evaluate returned {', '.join(made)}, but none of them alone is the score. "
                "Write a function that calls compute and returns one."
            )
        return _finding(value, module.name)

    return _function(judge, module.name, "evaluate", ["answer", "reference"])


def _finding(value: Any, name: str, reason: object = None) -> Finding:  # noqa: ANN401
    """Return a metric's value as a finding; a label stays one, for the judge knows its score."""
    rationale = str(reason) if reason else None
    if isinstance(value, str):
        return Finding(score=None, label=value, rationale=rationale)
    if not isinstance(value, Real):
        raise TypeError(f"{name} returned a {type(value).__name__}, which is not a number: {str(value)[:80]}")
    return Finding(score=float(value), rationale=rationale)


# (package, base class) -> how a metric of it becomes a function.
ADAPTERS: dict[tuple[str, str], Callable[[Any], Function]] = {
    ("ragas", "SingleTurnMetric"): _ragas_single_turn,
    ("ragas", "SimpleBaseMetric"): _ragas_simple,
    ("deepeval", "BaseMetric"): _deepeval,
    ("autoevals", "Scorer"): _autoevals,
    ("evaluate", "EvaluationModule"): _hf_evaluate,
}
