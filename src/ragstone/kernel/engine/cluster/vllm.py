"""`vllm/ORG/MODEL`: a model of one's own on the GPUs of the workers, through Ray Data's LLM processor.

Written to the interface that ray.data.llm documents (Ray 2.60). It has not run on a GPU: what is tested is
all around the processor, with another function in its place.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ragstone.kernel.config import EngineSection, Settings
from ragstone.kernel.config.sections import IN_ROUNDS
from ragstone.kernel.engine.cluster.starting import connected
from ragstone.kernel.errors import ModelError
from ragstone.kernel.llm.prompt import Alternative, Completion, Prompt, Token
from ragstone.kernel.llm.rounds import AnsweredCall
from ragstone.kernel.records import told_usage

BATCH = 64

Row = dict[str, Any]
"""A row of Ray Data: names of columns and what stands there."""


def processed(model: str, settings: Settings, prompts: Sequence[Prompt]) -> Iterator[AnsweredCall]:
    """Yield what the model says to each prompt.

    Raises ModelError without GPUs or vLLM, ConfigError without a cluster, MissingExtra without Ray.
    """
    engine = settings.engine
    with connected(settings):
        import ray
        import ray.data
        from ray.exceptions import RayError

        n_gpus = int(ray.cluster_resources().get("GPU", 0))
        _check(model, n_gpus)
        processor = _processor(model, engine, n_gpus)
        plans = ray.data.DataContext.get_current()
        plans.enable_progress_bars = plans.print_on_execution_start = False
        plans.execution_options.verbose_progress = False
        logging.getLogger("ray.data").setLevel(logging.CRITICAL)
        try:
            rows = ray.data.from_items([row_of(at, prompt) for at, prompt in enumerate(prompts)])
            yield from read_rows_of(processor(rows).iter_rows(), prompts)
        except RayError as mistake:
            raise ModelError(f"{model}: {_first_line(mistake)}. {_INSTEAD}") from None


_INSTEAD = "Without GPUs, a llamacpp/ model runs on every worker: see docs/how-to/scale-stages.md."


def _check(model: str, n_gpus: int) -> None:
    from importlib.util import find_spec

    if not n_gpus:
        raise ModelError(f"{model}: the cluster has no GPU. {_INSTEAD}")
    if find_spec("vllm") is None:
        raise ModelError(
            f"{model}: vLLM is not installed. Install it on every node: pip install 'ragstone[vllm]'. "
            f"{_INSTEAD}"
        )


def _processor(model: str, engine: EngineSection, n_gpus: int) -> Any:  # noqa: ANN401 - Ray has no type for it
    """Return Ray Data's processor: as many engines as the cluster has room for, or `workers` says."""
    from ray.data.llm import build_processor, vLLMEngineProcessorConfig

    each = max(1, int(engine.worker_gpus))
    config = vLLMEngineProcessorConfig(
        model_source=model.removeprefix(IN_ROUNDS),
        engine_kwargs={"tensor_parallel_size": each, "enable_prefix_caching": True},
        concurrency=engine.workers or max(1, n_gpus // each),
        batch_size=BATCH,
        should_continue_on_error=True,  # one call that fails is a row's failure, not the run's
    )
    return build_processor(config)


def row_of(number: int, prompt: Prompt) -> Row:
    """Return a prompt as the processor takes it; the reply is held to the schema of its type."""
    sampling: Row = {} if prompt.max_tokens is None else {"max_tokens": prompt.max_tokens + prompt.room}
    if prompt.temperature is not None:
        sampling["temperature"] = prompt.temperature
    if prompt.top_p is not None:
        sampling["top_p"] = prompt.top_p
    if prompt.temperature != 0:
        sampling["seed"] = prompt.sample
    if prompt.top_logprobs is not None:
        sampling["logprobs"] = prompt.top_logprobs
    if prompt.schema is not None:
        sampling["structured_outputs"] = {"json": prompt.schema.decode()}
    messages = [{"role": message.role, "content": message.content} for message in prompt.messages]
    return {"place": number, "messages": messages, "sampling_params": sampling}


def read_rows_of(rows: Iterable[Mapping[str, Any]], prompts: Sequence[Prompt]) -> Iterator[AnsweredCall]:
    """Yield what the rows of the processor say. A row that cannot be read is a failure with its reason."""
    for row in rows:
        number = int(row["place"])
        error = row.get("__inference_error__")
        if error:
            yield AnsweredCall(place=number, error=f"vLLM: {_first_line(error)}")
            continue
        usage = told_usage(row["num_input_tokens"], row["num_generated_tokens"])
        yield AnsweredCall(
            place=number,
            completion=Completion(
                text=str(row["generated_text"]),
                usage=usage,
                latency_s=None,
                logprobs=_tokens(row, prompts[number].top_logprobs),
            ),
        )


class _Likely(msgspec.Struct):
    logprob: float
    rank: int | None = None
    decoded_token: str | None = None


def _tokens(row: Mapping[str, Any], n_top: int | None) -> tuple[Token, ...] | None:
    """Return the tokens with the likeliest in their places; None where they were not asked for or are odd."""
    if n_top is None or row.get("logprobs") is None:
        return None
    try:
        places = msgspec.convert(list(row["logprobs"]), list[dict[int, _Likely]], strict=False)
        ids = [int(token) for token in row["generated_tokens"]]
        return tuple(
            Token(
                candidates[token].decoded_token or "",
                candidates[token].logprob,
                tuple(
                    Alternative(logprob.decoded_token or "", logprob.logprob)
                    for logprob in sorted(candidates.values(), key=lambda logprob: -logprob.logprob)[:n_top]
                ),
            )
            for token, candidates in zip(ids, places, strict=True)
        )
    except (msgspec.ValidationError, KeyError, ValueError, TypeError):
        return None


def _first_line(mistake: object) -> str:
    return next((line for line in str(mistake).strip().splitlines() if line.strip()), "no reason given")[:300]
