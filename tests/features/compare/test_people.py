"""Comparisons corrected by people's labels, and what is said where there are none."""

import json
from collections.abc import Sequence

import msgspec
import numpy as np
import pytest
from tests.support.command import ragstone
from tests.support.golden import sentence_in
from tests.support.judged_runs import answers, judged, questions, write_run
from tests.support.surfaces import shown

import ragstone as api
from ragstone.features.compare.words import comparison_document, gate_told, metric_told, outcome
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.llm.families import model_family
from ragstone.kernel.records import Judgement, Label
from ragstone.kernel.tables import write_rows

MODEL = "openai/gpt-4o-mini"
N = 200


def scores_of(seed: int = 0, gain: float = 0.0, taste: float = 0.3, n: int = N):
    """People's and the judge's scores of A and B: B is better by `gain`, its wrong answers are flattered."""
    rng = np.random.default_rng(seed)
    human_a = (rng.random(n) < 0.6).astype(float)
    human_b = np.where((human_a == 0) & (rng.random(n) < gain / 0.4), 1.0, human_a)
    judge_b = np.where((human_b == 0) & (rng.random(n) < taste), 1.0, human_b)
    return (human_a.tolist(), human_b.tolist()), (human_a.tolist(), judge_b.tolist())


def labels_of(
    human: Sequence[Sequence[float]], n: int, names: tuple[str, str] = ("a", "b"), **fields
) -> list[Label]:
    return [
        Label(question_id=f"q{at}", system=name, score=scores[at], **fields)
        for scores, name in zip(human, names, strict=True)
        for at in range(n)
    ]


def sides(both: Sequence[Sequence[float]], **fields) -> tuple[list[Judgement], list[Judgement]]:
    usual = {"judge": "correct", "metric": "correctness", "model": MODEL}
    first, second = (
        judged(scores, **{**usual, **fields}, system=name) for scores, name in zip(both, "ab", strict=True)
    )
    return first, second


def test_flattered_system_is_better_by_the_judge_and_not_by_people():
    human, judge = scores_of()
    raw = api.compare(*sides(judge)).metrics[0]
    found = api.compare(*sides(judge), labels=labels_of(human, 100)).metrics[0]
    assert (raw.verdict, found.verdict) == ("better", "cannot tell")
    assert found.corrected is not None
    assert found.corrected.corrected.low <= 0 <= found.corrected.corrected.high
    assert found.corrected.flattery.low > 0
    assert (found.difference, found.p, found.p_holm) == (raw.difference, raw.p, raw.p_holm)


def test_a_real_gain_is_found_with_labels(says):
    human, judge = scores_of(gain=0.15, taste=0.05)
    found = api.compare(*sides(judge), labels=labels_of(human, 100))
    assert found.metrics[0].verdict == "better"
    assert found.gate.outcome == "passed"
    says(gate_told(found.gate))


def test_sentences_of_each_outcome(says):
    for gain, taste, n in ((0.0, 0.3, 100), (0.15, 0.05, 100), (0.02, 0.0, 40), (0.02, 0.0, 8)):
        human, judge = scores_of(gain=gain, taste=taste)
        found = api.compare(*sides(judge), labels=labels_of(human, n))
        says(f"gain {gain:g}, taste {taste:g}, {n} labelled pairs: {outcome(found)}")
        says(metric_told(found.metrics[0]))
        says(gate_told(found.gate))


def test_gate_follows_the_corrected_difference(folder):
    human, judge = scores_of()
    for name, rows in zip("ab", sides(judge), strict=True):
        write_rows(folder / f"{name}.jsonl", rows, Judgement)
    write_rows(folder / "labels.jsonl", labels_of(human, 100), Label)
    assert ragstone("compare", "a.jsonl", "b.jsonl", "--gate").code == 0
    ran = ragstone("compare", "a.jsonl", "b.jsonl", "--gate", "--labels", "labels.jsonl")
    assert (ran.code, "people's labels" in ran.out) == (3, True)
    (folder / "ragstone.toml").write_text('[gate]\nlabels = "labels.jsonl"\nmargin = 0.2\n', encoding="utf-8")
    assert ragstone("compare", "a.jsonl", "b.jsonl", "--gate").code == 0  # within the margin
    ran = ragstone("compare", "a.jsonl", "b.jsonl", "--gate", "--margin", "0.001", "--json")
    assert (ran.code, json.loads(ran.out)["metrics"][0]["corrected"]["n_labelled"]) == (3, 100)


def test_document_has_the_judges_difference_beside_peoples(says):
    human, judge = scores_of()
    found = api.compare(*sides(judge), labels=labels_of(human, 100))
    says(shown(comparison_document(found), 100).split("Errors of one")[0])


def test_words_of_labels_need_a_mapping(folder):
    human, judge = scores_of()
    rows = [
        f"q{at},{name},{'good' if scores[at] else 'bad'}"
        for scores, name in zip(human, "ab", strict=True)
        for at in range(60)
    ]
    (folder / "labels.csv").write_text(
        "\n".join(["question_id,system,label", *rows]) + "\n", encoding="utf-8"
    )
    for name, judgements in zip("ab", sides(judge), strict=True):
        write_rows(folder / f"{name}.jsonl", judgements, Judgement)
    refused = ragstone("compare", "a.jsonl", "b.jsonl", "--labels", "labels.csv")
    ran = ragstone(
        "compare", "a.jsonl", "b.jsonl", "--labels", "labels.csv", "--map", "good=1,bad=0", "--json"
    )
    assert (refused.code, "--map" in refused.err) == (2, True)
    assert json.loads(ran.out)["metrics"][0]["corrected"]["n_labelled"] == 60
    mapped = api.compare("a.jsonl", "b.jsonl", labels="labels.csv", mapping={"good": 1, "bad": 0})
    assert mapped.metrics[0].corrected.n_labelled == 60


def test_two_runs_of_one_system_need_to_be_told_apart(folder, says):
    human, judge = scores_of(n=60)
    for name, scores in zip(("may", "july"), judge, strict=True):
        rows = judged(scores, "correct", metric="correctness", model=MODEL)
        write_run(
            folder / name, rows, said=answers([f"{name} {at}" for at in range(60)]), asked=questions(60)
        )
    bare = labels_of(human, 40, ("mine", "mine"))
    with pytest.raises(DataError) as error:
        api.compare("may", "july", labels=bare)
    says(error.value)
    by_run = [
        msgspec.structs.replace(label, metadata={"run": ("may", "july")[at >= 40]})
        for at, label in enumerate(bare)
    ]
    by_text = [
        msgspec.structs.replace(
            label, metadata={"answer": f"{('may', 'july')[at >= 40]} {label.question_id[1:]}"}
        )
        for at, label in enumerate(bare)
    ]
    first, second = (
        api.compare("may", "july", labels=rows).metrics[0].corrected for rows in (by_run, by_text)
    )
    assert first == second
    assert first.n_labelled == 40
    stale = [*by_text, msgspec.structs.replace(bare[0], metadata={"answer": "of April"}, question_id="q50")]
    says("\n".join(api.compare("may", "july", labels=stale).notes))


def test_two_systems_of_one_run_are_compared_by_their_labels():
    human, judge = scores_of()
    rows = [*sides(judge)[0], *sides(judge)[1]]
    found = api.compare(rows, rows, system_a="a", system_b="b", labels=labels_of(human, 100))
    assert found.metrics[0].corrected.n_labelled == 100
    plain = [msgspec.to_builtins(label) for label in labels_of(human, 100)]
    assert api.compare(rows, rows, system_a="a", system_b="b", labels=plain).metrics == found.metrics


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("nothing", []),
        ("one side", labels_of(scores_of()[0], 20)[:20]),
        (
            "other questions",
            [Label(question_id=f"x{at}", system=name, score=1.0) for at in range(3) for name in "ab"],
        ),
        ("a third system", [Label(question_id=f"q{at}", system="c", score=1.0) for at in range(3)]),
        ("no system", [Label(question_id=f"q{at}", score=1.0) for at in range(3)]),
        ("another metric", labels_of(scores_of()[0], 20, metric="faithfulness")),
        (
            "questions in turn",
            [*labels_of(scores_of()[0], 20)[:10], *labels_of(scores_of()[0], 40)[60:]],
        ),
        ("two labels", [*labels_of(scores_of()[0], 20), Label(question_id="q0", system="a", score=0.5)]),
    ],
)
def test_labels_that_do_not_fit_get_one_sentence(name, labels, says):
    _, judge = scores_of()
    with pytest.raises(DataError) as error:
        api.compare(*sides(judge), labels=labels)
    says(f"{name}: {error.value}")


def test_rows_of_a_third_system_beside_both_do_no_harm():
    human, judge = scores_of()
    more = [Label(question_id=f"q{at}", system="c", score=1.0) for at in range(30)]
    found = api.compare(*sides(judge), labels=[*labels_of(human, 100), *more])
    assert found.metrics[0] == api.compare(*sides(judge), labels=labels_of(human, 100)).metrics[0]


def test_metric_without_labels_keeps_the_judges_verdict_and_says_so(says):
    human, judge = scores_of()
    ours, theirs = sides(judge)
    other, more = sides(judge, judge="relevant", metric="relevance")
    found = api.compare([*ours, *other], [*theirs, *more], labels=labels_of(human, 100, metric="correctness"))
    [first, second] = found.metrics
    assert first.corrected is not None
    assert (second.corrected, second.verdict) == (None, "better")
    [note] = [line for line in found.notes if "sees them" in line]
    says(note)
    # Holm is over what decides: the judge's p of the second, and that of people's labels of the first.
    assert second.p_holm == pytest.approx(min(1, 2 * second.p))
    assert first.corrected.p_holm == pytest.approx(first.corrected.p)


def test_without_labels_a_taste_is_not_excluded_once_a_comparison(says):
    _, judge = scores_of()
    ours, theirs = sides(judge)
    other, more = sides(judge, judge="relevant", metric="relevance")
    for line in api.compare(*sides(judge)).notes:
        says(line)
    for line in api.compare([*ours, *other], [*theirs, *more]).notes:
        says(line)


def test_a_baseline_asks_no_model_and_has_no_taste_but_may_err(says):
    _, judge = scores_of(taste=0.5)
    for line in api.compare(*sides(judge, judge="containment", model="none")).notes:
        says(line)


def test_nothing_is_said_where_no_score_differs(says):
    _, judge = scores_of()
    same = (judge[0], judge[0])
    found = api.compare(*sides(same))
    assert found.notes == []
    says(metric_told(found.metrics[0]))
    assert "cannot tell" not in shown(comparison_document(found, gated=False), 100)


def test_a_run_and_its_copy_have_no_score_that_differs(folder, says):
    _, judge = scores_of(n=60)
    for name in ("run", "copy"):
        write_run(
            folder / name,
            judged(judge[0], "correct", metric="correctness", model=MODEL),
            said=answers(["yes"] * 60),
            asked=questions(60),
            digests={"correct": "1"},
        )
    ran = ragstone("compare", "run", "copy", "--gate")
    assert ran.code == 0
    says(sentence_in(ran.out, "No score differs"))
    assert "cannot tell" not in ran.out.casefold()


def test_no_score_differs_but_people_see_a_difference():
    # The judge calls everything right; people see that B is worse.
    human = ([1.0] * 60, [1.0] * 40 + [0.0] * 20)
    found = api.compare(*sides(([1.0] * 60, [1.0] * 60)), labels=labels_of(human, 60))
    assert (found.metrics[0].verdict, found.gate.outcome) == ("worse", "failed")
    assert found.metrics[0].corrected.corrected.value == pytest.approx(-1 / 3)


def test_the_judges_family_is_named_where_one_side_alone_is_of_it(folder, says):
    _, judge = scores_of(n=60)

    def written(name: str, scores: Sequence[float], model: str) -> str:
        write_run(
            folder / name,
            judged(scores, "correct", metric="correctness", model=MODEL),
            digests={"correct": "1"},
            settings={"answer": {"model": model}},
            models={"answer": model},
        )
        return name

    kin = written("b", judge[1], "openai/gpt-4o")
    for line in api.compare(written("a", judge[0], "anthropic/claude-sonnet"), kin).notes:
        says(line)
    for model in ("openai/gpt-3.5-turbo", "my/own"):
        family = [line for line in api.compare(written("c", judge[0], model), kin).notes if "family" in line]
        assert bool(family) == (model == "my/own")


def test_labels_that_show_a_taste_for_the_own_family_say_so(folder, says):
    human, judge = scores_of(taste=0.5)
    for name, scores, model in zip("ab", judge, ("anthropic/claude-sonnet", "openai/gpt-4o"), strict=True):
        write_run(
            folder / name,
            judged(scores, "correct", metric="correctness", model=MODEL, system=name),
            digests={"correct": "1"},
            settings={"answer": {"model": model}},
            models={"answer": model},
        )
    for line in api.compare("a", "b", labels=labels_of(human, 100)).notes:
        says(line)
    fair = api.compare("a", "b", labels=labels_of(judge, 100)).notes
    assert not any("family" in line for line in fair)


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("openai/gpt-4o-mini", "GPT"),
        ("openai/o3-mini", "GPT"),
        ("openrouter/meta-llama/Llama-3.1-8B-Instruct", "Llama"),
        ("llamacpp/qwen2.5-coder-1.5b.gguf", "Qwen"),
        ("deepseek/deepseek-r1-distill-qwen-7b", "DeepSeek"),
        ("gemini/gemini-2.0-flash", "Gemini"),
        ("groq/gemma2-9b-it", "Gemma"),
        ("anthropic/claude-sonnet-4", "Claude"),
        ("mistral/open-mixtral-8x7b", "Mistral"),
        ("openai/my-own-model", None),
        ("none", None),
    ],
)
def test_family_is_read_from_the_name(model, family):
    assert model_family(model) == family


def test_a_judge_that_favours_length_is_found_out(folder, says):
    rng = np.random.default_rng(5)
    n = 200
    long = rng.random(n) < 0.5
    human = [(rng.random(n) < 0.6).astype(float) for _ in "ab"]
    given = [human[0], np.where((human[1] == 0) & long & (rng.random(n) < 0.8), 1.0, human[1])]
    texts = [["word " * 10] * n, ["word " * (80 if is_long else 10) for is_long in long]]
    for name, scores, said in zip("ab", given, texts, strict=True):
        rows = judged(scores.tolist(), "correct", metric="correctness", model=MODEL, system=name)
        write_run(folder / name, rows, said=answers(said, name), asked=questions(n))
    labels = labels_of([scores.tolist() for scores in human], 150)
    row = api.compare(folder / "a", folder / "b", labels=labels).metrics[0]
    assert row.length is not None
    assert row.length.slope.low > 0
    says(metric_told(row))


def test_labels_for_several_runs_are_refused(folder):
    _, judge = scores_of(n=20)
    for name in "abc":
        write_rows(folder / f"{name}.jsonl", sides(judge)[0], Judgement)
    write_rows(folder / "labels.jsonl", labels_of(judge, 5), Label)
    ran = ragstone("compare", "a.jsonl", "b.jsonl", "c.jsonl", "--labels", "labels.jsonl")
    assert (ran.code, "--labels" in ran.err) == (2, True)


def test_a_mapping_that_is_none_is_refused():
    human, judge = scores_of()
    with pytest.raises((ConfigError, DataError)):
        api.compare(*sides(judge), labels=labels_of(human, 20), mapping={"0.5": 1.0})


def test_labels_under_two_policies_are_not_mixed(says):
    human, judge = scores_of()
    ours, theirs = (labels_of(human, 60)[at : at + 60] for at in (0, 60))
    first, second = (
        [msgspec.structs.replace(row, metadata={"policy": policy}) for row in rows]
        for rows, policy in ((ours, "aa11"), (theirs, "bb22"))
    )
    with pytest.raises(DataError) as error:
        api.compare(*sides(judge), labels=[*first, *second])
    says(error.value)
    mixed = [
        *first,
        *(msgspec.structs.replace(row, metadata={"policy": "aa11"}) for row in theirs),
        second[0],
    ]
    found = api.compare(*sides(judge), labels=mixed, policy="aa11").metrics[0].corrected
    assert found.n_labelled == 60
    for note in api.compare(*sides(judge), labels=[*first, *theirs]).metrics[0].corrected.notes:
        says(note)


def test_repeats_of_an_answer_count_once_by_the_mean_of_their_labels():
    human, judge = scores_of()
    ours, theirs = sides(judge)
    again = [msgspec.structs.replace(row, system="b@repeat=2") for row in theirs]
    labels = labels_of(human, 60)
    opposite = [
        msgspec.structs.replace(row, system="b@repeat=2", score=1 - row.score)
        for row in labels
        if row.system == "b"
    ]
    once = api.compare(ours, [*theirs, *again], labels=labels).metrics[0].corrected
    assert once.n_labelled == 60
    twice = api.compare(ours, [*theirs, *again], labels=[*labels, *opposite]).metrics[0].corrected
    # Every answer of B is now right in one of two repeats: one half, less A's mean of the labelled.
    assert twice.n_labelled == 60
    assert twice.human.value == pytest.approx(0.5 - np.mean(human[0][:60]))
