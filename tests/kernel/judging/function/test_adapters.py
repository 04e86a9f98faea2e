"""Metrics of other tools as judges: the real ones where installed, else what their documents promise.

The stand-ins have the names, modules and methods that the packages document; `pip install ragas deepeval
inspect-ai autoevals evaluate` in an environment of your own runs the tests of the real ones.
"""

import sys
from types import ModuleType, SimpleNamespace

import pytest

import ragstone
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.judging.function.judge import judge_of

ROWS = [
    {"question": "Which crop?", "answer": "Red clover", "reference": "Red clover", "contexts": ["It grew."]},
    {"question": "Which field?", "answer": "No idea", "reference": ["North", "The north field"]},
    {"question": "And then?", "answer": "Barley"},
]


def outcomes(metric):
    return [
        (row.judge, row.status, row.score, row.label, row.rationale)
        for row in ragstone.judge(ROWS, judges=[metric])
    ]


def scores(metric):
    return [
        row.score if row.status == "scored" else row.status for row in ragstone.judge(ROWS, judges=[metric])
    ]


@pytest.fixture
def package(monkeypatch):
    """Give a function that makes a module of another tool."""

    def made(name, **attributes):
        module = ModuleType(name)
        for key, value in attributes.items():
            if isinstance(value, type) and value is not SimpleNamespace:
                value.__module__ = name
            setattr(module, key, value)
        monkeypatch.setitem(sys.modules, name, module)
        return module

    return made


def test_a_metric_of_deepeval_keeps_its_score_on_itself(package):
    class BaseMetric:
        _required_params = (SimpleNamespace(value="input"), SimpleNamespace(value="expected_output"))
        score = reason = None

        def __init__(self, threshold=0.5):
            self.threshold = threshold

        @property
        def __name__(self):
            return "Same Words"

        async def a_measure(self, case, _show_indicator=True):
            assert not _show_indicator
            self.score = float(case.actual_output == case.expected_output)
            self.reason = f"{case.input} {case.retrieval_context}"
            return self.score

    package("deepeval.metrics", BaseMetric=BaseMetric)
    package("deepeval.test_case", LLMTestCase=SimpleNamespace)
    metric = BaseMetric()
    assert outcomes(metric) == [
        ("same_words", "scored", 1.0, None, "Which crop? ['It grew.']"),
        ("same_words", "scored", 0.0, None, "Which field? None"),
        ("same_words", "not_applicable", None, None, "the row has no reference"),
    ]
    assert metric.score is None
    assert judge_of(BaseMetric(0.9)).prompt_version != judge_of(metric).prompt_version
    assert scores(BaseMetric)[0] == 1.0  # the class alone will do where it needs no arguments


def test_a_metric_of_ragas_reads_the_columns_that_it_requires(package, says):
    class SingleTurnMetric:
        name = "same"

        def __init__(self, *columns):
            self.required_columns = {"SINGLE_TURN": set(columns)}

        async def single_turn_ascore(self, sample):
            return float(sample.response == sample.reference)

    package("ragas.metrics.base", SingleTurnMetric=SingleTurnMetric)
    package("ragas.dataset_schema", SingleTurnSample=SimpleNamespace)
    assert scores(SingleTurnMetric("response", "reference")) == [1.0, 0.0, "not_applicable"]
    assert scores(SingleTurnMetric("response", "reference:optional")) == [1.0, 0.0, "error"]
    with pytest.raises(ConfigError) as error:
        ragstone.judge(ROWS, judges=[SingleTurnMetric("rubric")])
    says(error.value)


def test_a_simple_metric_of_ragas_gives_numbers_on_its_scale_or_labels(package, says):
    class SimpleBaseMetric:
        def __init__(self, name, value, allowed_values):
            self.name, self.value, self.allowed_values = name, value, allowed_values

        async def ascore(self, *, user_input, response):
            return SimpleNamespace(value=self.value, reason=f"{user_input} {response}")

    package("ragas.metrics.base", SimpleBaseMetric=SimpleBaseMetric)
    graded = SimpleBaseMetric("grade", 4, (1, 5))
    [first, *_] = ragstone.judge(ROWS, judges=[graded])
    assert (first.score, first.scale) == (4, (1, 5))
    says(first.rationale)
    labelled = SimpleBaseMetric("mood", "calm", ["calm", "angry"])
    assert scores(labelled) == ["unparsable"] * 3
    assert scores(ragstone.judge_function(labels={"calm": 1, "angry": 0})(labelled)) == [1, 1, 1]


def test_a_scorer_of_autoevals_may_skip_a_row(package):
    class Scorer:
        async def eval_async(self, output, expected=None, **beside):
            score = None if expected is None else float(output == expected)
            return SimpleNamespace(name="Same", score=score, metadata={"rationale": str(beside)})

        def _name(self):
            return "SameWords"

    package("autoevals.score", Scorer=Scorer)
    assert outcomes(Scorer) == [
        ("same_words", "scored", 1.0, None, "{'input': 'Which crop?', 'context': ['It grew.']}"),
        ("same_words", "scored", 0.0, None, "{'input': 'Which field?'}"),
        ("same_words", "not_applicable", None, None, "Same gave no score"),
    ]


def test_a_module_of_evaluate_gives_the_number_of_its_name(package, says):
    class EvaluationModule:
        def __init__(self, made, name="same"):
            self.made, self.name = made, name

        def compute(self, *, predictions, references):
            assert len(predictions) == len(references) == 1
            return self.made

    package("evaluate.module", EvaluationModule=EvaluationModule)
    assert scores(EvaluationModule({"same": 0.5, "precisions": [1, 1]})) == [0.5, 0.5, "not_applicable"]
    assert scores(EvaluationModule({"accuracy": 1.0}))[0] == 1.0
    assert scores(ragstone.judge_function(scale=(0, 100))(EvaluationModule({"same": 40.0})))[0] == 40.0
    with pytest.raises(ConfigError) as error:
        ragstone.judge(ROWS, judges=[EvaluationModule({"rouge1": 0.1, "rouge2": 0.2}, "rouge")])
    says(error.value)


def test_autoevals_itself():
    autoevals = pytest.importorskip("autoevals", reason="pip install autoevals")
    # Levenshtein: 1 - edits / the longer length; "No idea" -> "North": 5 edits of 7
    found = scores(autoevals.Levenshtein)
    assert found[0] == 1.0
    assert found[1] == autoevals.Levenshtein()("No idea", "North").score
    assert found[2] == "error"  # it demands a reference, and says so
    assert scores(autoevals.ExactMatch())[:2] == [1.0, 0.0]


def test_deepeval_itself(monkeypatch):
    monkeypatch.setenv("DEEPEVAL_TELEMETRY_OPT_OUT", "YES")
    metrics = pytest.importorskip("deepeval.metrics", reason="pip install deepeval")
    assert outcomes(metrics.ExactMatchMetric()) == [
        ("exact_match", "scored", 1.0, None, "The actual and expected outputs are exact matches."),
        ("exact_match", "scored", 0.0, None, "The actual and expected outputs are different."),
        ("exact_match", "not_applicable", None, None, "the row has no reference"),
    ]
    assert scores(metrics.PatternMatchMetric(pattern=".*clover")) == [1.0, 0.0, 0.0]
    with pytest.raises(ConfigError, match="PatternMatchMetric takes arguments"):
        ragstone.judge(ROWS, judges=[metrics.PatternMatchMetric])


def test_inspect_itself():
    scorer = pytest.importorskip("inspect_ai.scorer", reason="pip install inspect-ai")
    assert scores(scorer.exact) == [1.0, 0.0, "not_applicable"]
    assert scores(scorer.includes())[:2] == [1.0, 0.0]
    assert scores(scorer.f1())[0] == 1.0


def test_ragas_itself(monkeypatch):
    monkeypatch.setenv("RAGAS_DO_NOT_TRACK", "true")
    metrics = pytest.importorskip("ragas.metrics", reason="pip install ragas")
    assert scores(metrics.ExactMatch()) == [1.0, 0.0, "not_applicable"]
    assert scores(metrics.StringPresence)[:2] == [1.0, 0.0]

    @metrics.discrete_metric(name="mood", allowed_values=["warm", "cold"])
    def mood(user_input: str, response: str):
        return "warm" if "clover" in response else "cold"

    @metrics.numeric_metric(name="letters", allowed_values=(0, 100))
    def letters(response: str):
        return len(response)

    assert scores(ragstone.judge_function(labels={"warm": 1, "cold": 0})(mood)) == [1, 0, 0]
    [row, *_] = ragstone.judge(ROWS, judges=[letters])
    assert (row.score, row.scale) == (10, (0, 100))


def test_evaluate_itself():
    evaluate = pytest.importorskip("evaluate", reason="pip install evaluate")
    datasets = pytest.importorskip("datasets", reason="pip install datasets")

    class Same(evaluate.Metric):
        def _info(self):
            text = datasets.Value("string")
            features = datasets.Features({"predictions": text, "references": text})
            return evaluate.MetricInfo(
                description="d", citation="c", inputs_description="i", features=features
            )

        def _compute(self, predictions, references):
            return {"same": float(predictions == references)}

    assert scores(Same()) == [1.0, 0.0, "not_applicable"]
