"""Samples of ragas (0.4) and Inspect (0.3), test cases of deepeval (4.3) -> rows of an answer sheet.

Of ragas: `EvaluationDataset` and results, as JSONL, CSV or a data set; their columns are read without help,
here are the ids of passages beside them, and conversations. Of deepeval: `.deepeval/.latest_run_full.json`,
test runs (camel case, the cases inside), and `save_as`, our own aliases, in CSV with passages joined by `|`.
Of Inspect: the log as JSON (`inspect log dump`), a row for each sample; the second epoch of one is `ID#2`.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from ragstone.kernel.errors import DataError
from ragstone.kernel.records import name_repeat
from ragstone.kernel.tables.columns import as_contexts, as_list
from ragstone.kernel.tables.interchange.conversations import conversation_row, read_conversations, turns_of
from ragstone.kernel.tables.interchange.values import (
    amount_in,
    answer_in,
    context_in,
    count_in,
    fields_in,
    question_in,
)

_CASES = ("testCases", "test_cases")
_THREADS = ("conversationalTestCases", "conversational_test_cases")
_NAMES = {"actualOutput": "actual_output", "expectedOutput": "expected_output"}
_SPENT = {
    *(
        "tokenCost",
        "token_cost",
        "completionTime",
        "completion_time",
        "retrievalContext",
        "retrieval_context",
    ),
    *("inputTokenCount", "input_token_count", "outputTokenCount", "output_token_count"),
}


def read_deepeval(rows: Iterable[tuple[int, Any]], where: str) -> Iterator[tuple[int, Any]]:
    """Yield an answer for each test case and each conversation; what is no object as it is."""
    for number, case in cases_in(rows):
        yield from case_answer(number, case, where) if isinstance(case, dict) else ((number, case),)


def cases_in(rows: Iterable[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
    """Yield each test case and each conversation of deepeval's files; what is no object as it is."""
    for number, raw in rows:
        run = raw.get("testRunData", raw) if isinstance(raw, dict) else {}
        lists = [run[name] for name in (*_CASES, *_THREADS) if isinstance(run.get(name), list)]
        yield from enumerate(chain.from_iterable(lists), 1) if lists else ((number, raw),)


def case_answer(number: int, case: dict[str, Any], where: str) -> Iterator[tuple[int, Any]]:
    """Yield the answer of a test case, or of a conversation."""
    if "turns" in case and not case.keys() & {"actualOutput", "actual_output"}:
        yield from read_conversations([(number, case)], where)
    else:
        yield number, _case_row(case)


def _case_row(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return a case in the names of an answer sheet. Beside what was found, `context` is what should be."""
    row = {_NAMES.get(name, name): value for name, value in case.items() if name not in _SPENT}
    retrieved = case.get("retrievalContext", case.get("retrieval_context"))
    if retrieved is not None and "context" in row:
        row["reference_contexts"] = row.pop("context")
    if isinstance(retrieved, str) and retrieved and not retrieved.lstrip().startswith("["):
        retrieved = retrieved.split("|")
    if isinstance(retrieved, list):
        retrieved = [context for item in retrieved if (context := context_in(item))]
    sent = count_in(case, ["inputTokenCount", "input_token_count"])
    made = count_in(case, ["outputTokenCount", "output_token_count"])
    more = {
        "retrieval_context": retrieved,
        "latency_s": amount_in(case.get("completionTime", case.get("completion_time"))),
        "cost_usd": amount_in(case.get("tokenCost", case.get("token_cost"))),
        "usage": None if sent is None and made is None else {"input": sent or 0, "output": made or 0},
    }
    row |= {name: value for name, value in more.items() if value is not None}
    tags = row.pop("tags", None)  # a list; ours are named
    return {**row, "deepeval_tags": tags} if tags else row


def read_inspect(rows: Iterable[tuple[int, Any]], where: str) -> Iterator[tuple[int, Any]]:
    """Yield an answer for each sample of a log; what is no object as it is.

    Raises DataError for a log without samples.
    """
    for number, sample in samples_in(rows, where):
        if not isinstance(sample, dict):
            yield number, sample
        elif own_system(sample) is None or sample.get("error") or fields_in(sample["output"]).get("choices"):
            yield number, inspect_row(sample)


def samples_in(rows: Iterable[tuple[int, Any]], where: str) -> Iterator[tuple[int, Any]]:
    """Yield each sample of a log, with the log's `eval`; what is no object as it is.

    Raises DataError for a log without samples.
    """
    for number, raw in rows:
        if not isinstance(raw, dict) or "samples" not in raw:
            yield number, raw
            continue
        if not raw["samples"]:
            raise DataError(f"{where}: the log holds no samples. Write it again without --no-log-samples.")
        for at, sample in enumerate(raw["samples"], 1):
            yield at, {**sample, "eval": raw.get("eval")} if isinstance(sample, dict) else sample


def inspect_row(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer of a sample. One of a run of ours has its system, contexts and steps again."""
    output, epoch = fields_in(sample.get("output")), sample.get("epoch")
    usage, failed = fields_in(output.get("usage")), fields_in(sample.get("error")).get("message")
    name = str(sample.get("id"))
    row = {
        "id": name if epoch in (None, 1) else f"{name}#{epoch}",
        "question": question_in(sample.get("input")),
        "reference": sample.get("target"),
        "answer": answer_in(output.get("completion") or output.get("choices")),
        "latency_s": amount_in(sample.get("total_time")),
        "usage": {"input": usage.get("input_tokens"), "output": usage.get("output_tokens")}
        if usage
        else None,
        "error": failed,
        "metadata": {**fields_in(sample.get("metadata")), "inspect_scores": sample.get("scores")},
    }
    if row["answer"] is None and failed is None:
        row["answer"] = ""
    system = own_system(sample)
    if system is not None:
        beside = dict(fields_in(sample.get("metadata")))
        named = {"id": name, "system": name_repeat(system, epoch if isinstance(epoch, int) else 1)}
        kept = {name: beside.get(name) for name in ("contexts", "steps", "tags", "answerable")}
        row = {**row, **named, **kept, "metadata": None}
    return {field: value for field, value in row.items() if value not in (None, [])}


def own_system(sample: Mapping[str, Any]) -> str | None:
    """Return the system of a sample of a log that Ragstone wrote; None for logs of others."""
    about = fields_in(fields_in(fields_in(sample.get("eval")).get("metadata")).get("ragstone"))
    system = about.get("system")
    return system if isinstance(system, str) else None


def read_ragas(rows: Iterable[tuple[int, Any]], _where: str) -> Iterator[tuple[int, Any]]:
    """Yield samples as rows of an answer sheet; what is no object as it is."""
    for number, raw in rows:
        try:
            yield number, (sample_row(raw) if isinstance(raw, dict) else raw)
        except ValueError as mistake:  # a turn whose role is not known
            yield number, mistake


def sample_row(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Return a sample of ragas as a row. Raises ValueError for a turn whose role is not known."""
    row = dict(sample)
    ids, retrieved = sample.get("retrieved_context_ids"), sample.get("retrieved_contexts")
    if ids is not None and retrieved is not None:
        names = as_list(ids)
        try:
            contexts = as_contexts(retrieved) or []
        except TypeError:  # it is told with its place when the row itself is read
            return row
        if len(contexts) == len(names):
            del row["retrieved_context_ids"]
            row["retrieved_contexts"] = [
                {**context, "id": str(name)} for context, name in zip(contexts, names, strict=True)
            ]
    turns = sample.get("user_input")
    if isinstance(turns, str) and turns.lstrip().startswith("[{"):
        turns = as_list(turns)
    if not isinstance(turns, list):
        return row
    del row["user_input"]
    return conversation_row(row, turns_of(turns))
