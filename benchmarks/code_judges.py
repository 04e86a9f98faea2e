"""The same rows judged by a function of ours and by the runners of other tools: scores, CPU a row, wall.

python -m benchmarks.code_judges [--python PYTHON] [--rows N]

One metric, exact match of answer and reference, over rows of TriviaQA answers (EVOUNA, shared/data). Each
tool runs in a process of its own by its own runner, as its documentation begins: `ragas.evaluate`,
`deepeval.evaluate`, Inspect's `eval` with a solver that gives the recorded answer; of ours `ragstone.judge`
with a function, and with each tool's own metric. Seconds do not count the imports. PYTHON is one that has the
packages (pip install ragas deepeval inspect-ai); a tool that it lacks is left out, and named.
"""

# ruff: noqa: ANN401 - values of packages that are not here

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[2] / "shared" / "data" / "evouna" / "tq600.jsonl"
QUIET = {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
    "RAGAS_DO_NOT_TRACK": "true",
    "INSPECT_DISPLAY": "none",
    "PYTHONWARNINGS": "ignore",
}
Rows = Sequence[dict[str, str]]
Runner = Callable[[], list[float]]


def rows_of(n: int) -> list[dict[str, str]]:
    """Return n rows, of which every third answer is made the reference itself, so that both scores occur."""
    found = []
    with DATA.open(encoding="utf-8") as file:
        for number, line in enumerate(islice(file, n)):
            raw = json.loads(line)
            given = raw["reference"]
            reference = (given[0] if isinstance(given, list) else given).strip()
            answer = reference if number % 3 == 0 else raw["answer"].strip()
            found.append(
                {
                    "question_id": f"r{number}",
                    "question": raw["question"],
                    "answer": answer,
                    "reference": reference,
                }
            )
    return found


def exact(answer: str, reference: str) -> bool:
    """Return whether answer and reference are the same."""
    return answer.strip() == reference.strip()


def ours(judge: object, rows: Rows) -> Runner:
    """Return our way: `ragstone.judge` with a function or a metric."""
    import ragstone

    ragstone.judge(list(rows[:1]), judges=[judge])  # type: ignore[list-item] # what is imported when first used

    return lambda: [float(row.score or 0) for row in ragstone.judge(list(rows), judges=[judge])]  # type: ignore[list-item]


def by_ragstone(rows: Rows) -> Runner:
    """Return a function of ours."""
    return ours(exact, rows)


def by_ragas(rows: Rows) -> Runner:
    """Return ragas's own runner."""
    from ragas import EvaluationDataset, evaluate
    from ragas.metrics import ExactMatch

    made = [
        {"user_input": row["question"], "response": row["answer"], "reference": row["reference"]}
        for row in rows
    ]
    data, metric = EvaluationDataset.from_list(made), ExactMatch()

    def run() -> list[float]:
        result: Any = evaluate(data, metrics=[metric], show_progress=False)
        return [float(score["exact_match"]) for score in result.scores]

    return run


def by_deepeval(rows: Rows) -> Runner:
    """Return DeepEval's own runner."""
    from deepeval import evaluate
    from deepeval.evaluate.configs import CacheConfig, DisplayConfig
    from deepeval.metrics import ExactMatchMetric
    from deepeval.test_case import LLMTestCase

    cases = [
        LLMTestCase(
            name=row["question_id"],
            input=row["question"],
            actual_output=row["answer"],
            expected_output=row["reference"],
        )
        for row in rows
    ]

    def run() -> list[float]:
        display = DisplayConfig(show_indicator=False, print_results=False)
        cache = CacheConfig(write_cache=False, use_cache=False)
        result: Any = evaluate(cases, [ExactMatchMetric()], display_config=display, cache_config=cache)
        scores = {one.name: float(one.metrics_data[0].score) for one in result.test_results}
        return [scores[row["question_id"]] for row in rows]

    return run


def by_inspect(rows: Rows) -> Runner:
    """Return Inspect's own runner, with a solver that gives the recorded answer."""
    from inspect_ai import Task
    from inspect_ai import eval as run_task
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import Score, accuracy, scorer
    from inspect_ai.solver import solver

    answers = {row["question_id"]: row["answer"] for row in rows}

    @scorer(metrics=[accuracy()])  # type: ignore[untyped-decorator]
    def same() -> Any:
        async def score(state: Any, target: Any) -> Any:
            return Score(value="C" if state.output.completion.strip() == target.text.strip() else "I")

        return score

    @solver  # type: ignore[untyped-decorator]
    def recorded() -> Any:
        async def solve(state: Any, generate: Any) -> Any:  # noqa: ARG001 - as Inspect calls it
            state.output = ModelOutput.from_content("recorded", answers[str(state.sample_id)])
            return state

        return solve

    samples = [Sample(id=row["question_id"], input=row["question"], target=row["reference"]) for row in rows]

    def run() -> list[float]:
        task = Task(dataset=samples, solver=recorded(), scorer=same())
        with tempfile.TemporaryDirectory() as folder:
            [log] = run_task(task, model="mockllm/model", log_dir=folder, display="none")
            found: Any = {sample.id: sample.scores["same"].value for sample in log.samples or []}
        return [float(found[row["question_id"]] == "C") for row in rows]

    return run


def metric_of_ragas(rows: Rows) -> Runner:
    """Return our runner with the metric of ragas."""
    from ragas.metrics import ExactMatch

    return ours(ExactMatch(), rows)


def metric_of_deepeval(rows: Rows) -> Runner:
    """Return our runner with the metric of DeepEval."""
    from deepeval.metrics import ExactMatchMetric

    return ours(ExactMatchMetric(), rows)


WAYS: dict[str, Callable[[Rows], Runner]] = {
    "ragstone, a function": by_ragstone,
    "ragas": by_ragas,
    "ragstone, ragas's metric": metric_of_ragas,
    "DeepEval": by_deepeval,
    "ragstone, DeepEval's metric": metric_of_deepeval,
    "Inspect": by_inspect,
}


def measure(way: str, n: int) -> None:
    """Print one way's figures as JSON: seconds of CPU and of the wall, and the scores."""
    run = WAYS[way](rows_of(n))
    run_cpu, began = time.process_time(), time.perf_counter()
    scores = run()
    figures = {
        "cpu_s": time.process_time() - run_cpu,
        "wall_s": time.perf_counter() - began,
        "scores": scores,
    }
    sys.stdout.write(f"\n{json.dumps(figures)}\n")


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--python", default=sys.executable)
    options.add_argument("--rows", type=int, default=500)
    options.add_argument("--way")
    given = options.parse_args()
    if given.way:
        measure(given.way, given.rows)
        return
    expected = [float(exact(row["answer"], row["reference"])) for row in rows_of(given.rows)]
    say = sys.stdout.write
    say(f"{given.rows} rows, exact match, mean {sum(expected) / len(expected):.4f}\n\n")
    say("| way | CPU, ms a row | wall, s | same scores |\n| --- | --- | --- | --- |\n")
    for way in WAYS:
        command = [given.python, "-m", "benchmarks.code_judges", "--way", way, "--rows", str(given.rows)]
        ran = subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, **QUIET}, check=False
        )
        if ran.returncode:
            say(f"| {way} | | | {(ran.stderr.strip().splitlines() or ['failed'])[-1][:120]} |\n")
            continue
        found = json.loads(ran.stdout.strip().splitlines()[-1])
        same = "yes" if found["scores"] == expected else "NO"
        say(f"| {way} | {found['cpu_s'] / given.rows * 1000:.2f} | {found['wall_s']:.2f} | {same} |\n")


if __name__ == "__main__":
    main()
