"""Judgements by several judges, wordings and repeats, as one mean with all their noise."""

from collections.abc import Iterable

import msgspec
import numpy as np
import pytest
from tests.support.plain_rows import judgement_row

from ragstone.kernel.judging.noise import NoiseTally, instrument_of, noise_components
from ragstone.kernel.records import NO_MODEL, Judgement, Usage

MODELS = ("openai/a", "openai/b", "x/c")
JUDGES = ("correctness", "correctness@prompt=brief")


def rows(
    n: int = 30,
    *,
    models: Iterable[str] = MODELS,
    judges: Iterable[str] = JUDGES,
    systems: Iterable[str] = ("rag",),
    apart: float = 0.1,
    differ: float = 0.2,
    **fields: object,
) -> list[Judgement]:
    """Return judgements on a scale from 0 to 1.

    apart: from one model to the next; differ: standard deviation of questions, of verdicts it is 0.1.
    """
    rng = np.random.default_rng(0)
    quality = rng.normal(size=n) * differ
    return [
        judgement_row(
            question_id=f"q{at}",
            system=system,
            judge=judge,
            model=model,
            score=float(np.clip(0.5 + quality[at] + apart * place + 0.1 * rng.normal(), 0, 1)),
            **{"scale": (0, 1), "usage": Usage(), "cost_usd": 0.001, **fields},
        )
        for place, model in enumerate(models)
        for judge in judges
        for system in systems
        for at in range(n)
    ]


def sources(judgements: list[Judgement]) -> list[dict[str, int]]:
    return [{k: n for k, n in row.components.levels.items() if n > 1} for row in noise_components(judgements)]


def test_judges_are_models_and_wordings_their_prompts():
    [row] = noise_components(rows())
    assert (row.system, row.metric, row.judges) == ("rag", "correctness", list(MODELS))
    assert row.wordings == list(JUDGES)
    assert (row.n, row.calls, row.cost_usd) == (180, 180, pytest.approx(0.18))
    assert row.components.levels["questions"] == 30
    assert row.components.estimate.method == "components"
    assert max(row.components.shares, key=row.components.shares.__getitem__) == "judges"


def test_of_one_model_the_files_are_judges():
    both = (*JUDGES, "right")
    [row] = noise_components(rows(models=MODELS[:1], judges=both))
    assert (row.judges, row.wordings) == (["correctness", "right"], ["", "brief"])


def test_one_judge_asked_once_has_no_components():
    assert noise_components(rows(models=MODELS[:1], judges=JUDGES[:1])) == []
    assert noise_components([]) == []


def test_one_question_has_no_components():
    assert noise_components(rows(1)) == []


def test_answers_generated_anew_are_a_source():
    repeated = ("rag", "rag@repeat=2", "rag@repeat=3")
    judgements = rows(models=MODELS[:1], judges=JUDGES[:1], systems=repeated)
    assert sources(judgements) == [{"questions": 30, "answers": 3}]
    assert noise_components(judgements)[0].system == "rag"


def test_repeats_that_differ_in_number_are_counted_as_they_are():
    judgements = rows(models=MODELS[:1], judges=JUDGES[:1], systems=("rag", "rag@repeat=2"))[:45]
    [row] = noise_components(judgements)
    assert not row.components.balanced
    assert row.n == 45


def test_samples_of_a_judge_are_verdicts_asked_again():
    asked = rows(models=MODELS[:1], judges=("correctness@temperature=0.7,samples=2",))
    rng = np.random.default_rng(1)
    drawn = [
        msgspec.structs.replace(
            row, metadata={"samples": {"asked": 2, "failed": 0, "scores": [row.score, rng.random()]}}
        )
        for row in asked
    ]
    [row] = noise_components(drawn)
    assert row.judges == ["correctness@temperature=0.7"]
    assert row.components.levels["repeats"] == 2
    assert row.components.shares.keys() == {"questions", "repeats"}
    assert noise_components(asked) == []  # without the scores of each sample nothing is known


def test_the_same_judgement_twice_is_a_verdict_asked_again():
    assert sources(rows(models=MODELS[:1], judges=JUDGES[:1]) * 2) == [{"questions": 30, "repeats": 2}]


def test_baselines_juries_and_thresholds_are_pooled_with_nothing():
    alone = rows(models=MODELS[:1], judges=JUDGES[:1])
    baselines = rows(models=(NO_MODEL,), judges=("containment", "token_f1"))
    juries = rows(models=("openai/z",), judges=JUDGES[:1], metadata={"members": []})
    thresholds = rows(models=MODELS[:1], judges=("correctness@threshold=0.8",))
    assert noise_components([*alone, *baselines, *juries, *thresholds]) == []
    again = rows(models=(NO_MODEL,), judges=("containment",), systems=("rag", "rag@repeat=2"))
    assert sources([*alone, *again]) == [{"questions": 30, "answers": 2}]


def test_labels_of_which_none_is_better_have_no_mean_and_so_no_noise_of_it():
    kinds = [msgspec.structs.replace(row, label="create") for row in rows(scale=(0, 5))]
    assert noise_components(kinds) == []
    graded = [msgspec.structs.replace(row, label="right") for row in rows()]
    assert len(noise_components(graded)) == 1


def test_judges_on_different_scales_are_not_pooled(says):
    tally = NoiseTally()
    wide = [
        msgspec.structs.replace(row, scale=(0, 100)) for row in rows(models=MODELS[:1], judges=("percent",))
    ]
    for row in [*rows(models=MODELS[:1], judges=("right",)), *wide]:
        tally.add(row)
    assert tally.components() == []
    [note] = tally.notes()
    says(note)


def test_one_scale_or_baselines_need_no_note():
    tally = NoiseTally()
    for row in [*rows(), *rows(models=(NO_MODEL,), judges=("token_f1",), scale=(0, 100))]:
        tally.add(row)
    assert tally.notes() == []


def test_failed_rows_are_left_out():
    judgements = rows()
    lost = [msgspec.structs.replace(row, status="timeout", score=None) for row in judgements[:10]]
    [row] = noise_components([*lost, *judgements[10:]])
    assert (row.n, row.components.balanced) == (170, False)


def test_questions_of_one_document_vary_together():
    clusters = {f"q{at}": f"d{at // 10}" for at in range(30)}
    [alone], [shared] = noise_components(rows()), noise_components(rows(), clusters=clusters)
    assert shared.components.fixed != alone.components.fixed


@pytest.mark.parametrize(
    ("name", "instrument"),
    [
        ("correctness", ("correctness", "")),
        ("correctness@prompt=brief", ("correctness", "brief")),
        ("correctness@wording=2", ("correctness", "2")),
        ("rubric@scale=0-10,prompt=short,shots=2", ("rubric@scale=0-10,shots=2", "short")),
        ("true_false@samples=5", ("true_false", "")),
        ("correctness@together", ("correctness", "")),
        ("same_answer@verdict", ("same_answer@verdict", "")),
    ],
)
def test_name_of_a_judge_says_its_wording(name: str, instrument: tuple[str, str]) -> None:
    row = judgement_row(judge=name, score=1.0)
    assert instrument_of(row) == (*instrument, "m")
