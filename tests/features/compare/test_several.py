"""More than two runs side by side: their means, the questions that flip, the settings that differ."""

import json

import msgspec
import pytest
from tests.support.command import ragstone
from tests.support.golden import sentence_in
from tests.support.judged_runs import judged, write_run
from tests.support.surfaces import plots_in

from ragstone import compare_several
from ragstone.features.compare._chosen_sentence_table import MEANS_OF_CHOSEN
from ragstone.features.compare._several_sentence_table import JUDGED_UNLIKE, OTHER_QUESTIONS
from ragstone.features.compare.several import several_document
from ragstone.kernel.errors import DataError
from ragstone.kernel.sentences import say


@pytest.fixture
def three(tmp_path):
    for name, scores, k in (("may", [1, 0, 0, 0], 5), ("june", [1, 1, 0, 0], 10), ("july", [0, 1, 1, 0], 10)):
        settings = {"retrieve": {"retriever": "bm25", "k": k}}
        write_run(
            tmp_path / name, judged(scores), digests={}, settings=settings, files={"rankings.jsonl": "r"}
        )
    return [tmp_path / name for name in ("may", "june", "july")]


def test_means_flips_and_settings_of_three_runs(three):
    found = compare_several(three)
    (one,) = found.metrics
    values = [one.means[name].estimate.value for name in found.columns]
    assert (found.columns, values) == (["may", "june", "july"], [0.25, 0.5, 0.5])
    # q0 passes twice and fails once, q1 fails once, q2 passes once; q3 fails everywhere
    assert one.n_flips == 3
    assert found.settings == {"[retrieve] k": {"may": "5", "june": "10", "july": "10"}}


def test_systems_of_a_run_are_columns_and_a_judge_that_one_lacks_is_told(tmp_path, three, says):
    write_run(tmp_path / "grid", [*judged([1], "f1", system="a"), *judged([0], "f1", system="b")])
    found = compare_several([three[0], tmp_path / "grid"])
    assert found.columns == ["may", "grid: a", "grid: b"]
    ran = ragstone("compare", *map(str, [*three, tmp_path / "grid"]), "--metric", "f1")
    assert (ran.code, ran.out.count("not judged")) == (0, 3)
    says(ran.out)


def test_means_of_one_judge_that_was_not_asked_alike_are_said_to_differ_by_it(tmp_path, three, says):
    write_run(tmp_path / "other", judged([1, 1, 0, 0], model="openai/b", scale=(0.0, 2.0)))
    ran = ragstone("compare", *map(str, [*three, tmp_path / "other"]))
    says(next(line for line in ran.out.split("\n- ") if "not the same judge" in line).split("\n\n")[0])
    (metric,) = compare_several([*three, tmp_path / "other"]).metrics
    assert JUDGED_UNLIKE.holds(metric)
    assert "not the same" not in ragstone("compare", *map(str, three), "--all").out
    assert not JUDGED_UNLIKE.holds(compare_several(three).metrics[0])


def test_means_over_other_questions_are_said_to_differ_by_them(tmp_path, three, says):
    assert not OTHER_QUESTIONS.holds(compare_several(three).metrics[0])
    write_run(tmp_path / "few", judged([1, 1]))
    (metric,) = compare_several([*three, tmp_path / "few"]).metrics
    assert (metric.n_shared, metric.n_questions) == (2, 4)
    says(say(metric, OTHER_QUESTIONS))
    assert "the questions alone" in " ".join(
        ragstone("compare", *map(str, [*three, tmp_path / "few"]), "--all").out.split()
    )


def test_one_id_of_two_questions_is_no_flip(tmp_path):
    for name, scores, first in (("a", [1, 0], "Who?"), ("b", [0, 1], "When?"), ("c", [0, 1], "Who?")):
        write_run(tmp_path / name, judged(scores))
        texts = [{"id": "q0", "question": first}, {"id": "q1", "question": "Where?"}]
        (tmp_path / name / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in texts))
    (metric,) = compare_several([tmp_path / name for name in "abc"]).metrics
    assert (metric.n_shared, metric.n_questions, metric.n_flips) == (1, 2, 1)
    (metric,) = compare_several([tmp_path / name for name in "ac"]).metrics
    assert (metric.n_shared, metric.n_questions, metric.n_flips) == (2, 2, 2)


def test_the_command_prints_and_writes(tmp_path, three, says):
    page = tmp_path / "all.md"
    ran = ragstone("compare", *map(str, three), "-o", str(page))
    assert ran.code == 0
    assert "Settings that differ" in ran.out
    says(sentence_in(page.read_text(), "| july | 0.50"))
    assert json.loads(ragstone("compare", *map(str, three), "--json").out)["metrics"][0]["n_flips"] == 3


@pytest.mark.parametrize(
    "option",
    [
        ["--gate"],
        ["--margin", "0"],
        ["--system-a", "x"],
        ["--shared"],
        ["--min-effect", "0.02"],
        ["--bounds"],
    ],
)
def test_what_only_two_runs_take_is_refused(three, option, says):
    ran = ragstone("compare", *map(str, three), *option)
    assert ran.code == 2
    says(ran.err)


def test_a_run_twice_or_without_that_judge_is_refused(three, says):
    with pytest.raises(DataError, match="named twice"):
        compare_several([three[0], three[0], three[1]])
    with pytest.raises(DataError) as error:
        compare_several(three, metrics=["f1"])
    says(error.value)


def test_several_runs_are_drawn_with_their_means_how_far_the_order_holds_and_their_cost(tmp_path, says):
    for name, scores, cost in (
        ("may", [1, 0, 0, 0] * 3, 0.001),
        ("june", [1, 1, 0, 0] * 3, 0.002),
        ("july", [0] * 12, None),
    ):
        write_run(tmp_path / name, judged(scores))
        answers = [
            {"question_id": f"q{at}", "system": "s", "answer": "a"}
            | ({"cost_usd": cost * (1 + at)} if cost else {})
            for at in range(12)
        ]
        (tmp_path / name / "answers.jsonl").write_text("\n".join(map(json.dumps, answers)))
    several = compare_several([tmp_path / name for name in ("may", "june", "july")])
    assert set(several.usd) == {"may", "june"}
    assert several.usd["may"].value == pytest.approx(0.0065)
    plots = plots_in(several_document(several))
    assert list(plots) == ["means-0", "ranks-0", "cost-0"]
    assert [point.x for point in plots["cost-0"].figure.points][2] is None
    says("\n\n".join(sentence for plot in plots.values() for sentence in plot.said))


def test_one_run_with_a_metric_has_no_order(three):
    found = compare_several(three[:1])
    assert list(plots_in(several_document(found))) == []


def test_means_are_laid_out_by_two_settings_that_cross(tmp_path, says):
    for retriever in ("bm25", "dense"):
        for k, scores in ((5, [1, 0, 0, 0]), (10, [1, 1, 0, "timeout"])):
            settings = {"retrieve": {"retriever": retriever, "k": k}}
            files = {"rankings.jsonl": "r"}
            write_run(
                tmp_path / f"{retriever}-{k}", judged(scores), digests={}, settings=settings, files=files
            )
    runs = sorted(tmp_path.iterdir())
    (matrix,) = compare_several(runs).matrices.values()
    assert (matrix.down, matrix.across) == ("[retrieve] retriever", "[retrieve] k")
    ran = ragstone("compare", *map(str, runs))
    says(ran.out[ran.out.index("retriever  ") : ran.out.index("passes in one column")])
    turned = ragstone("compare", *map(str, runs), "--by", "k", "--json")
    (other,) = json.loads(turned.out)["matrices"].values()
    assert (other["down"], other["across"]) == ("[retrieve] k", "[retrieve] retriever")


def test_a_setting_that_no_run_differs_in_is_told(three, says):
    says(ragstone("compare", *map(str, three), "--by", "chunks").err)
    says(ragstone("compare", *map(str, three[:2]), "--by", "k").err)
    # One setting alone makes no grid, so it is shown only where it is asked for.
    assert "matrices" not in json.loads(ragstone("compare", *map(str, three), "--json").out)
    assert "matrices" in json.loads(ragstone("compare", *map(str, three), "--json", "--by", "k").out)


def test_there_is_no_order_where_the_lowest_score_is_best_nor_of_judges_with_different_models():
    names = [f"q{at}" for at in range(12)]

    def rows(judge: str, model: str, share: float) -> list[dict]:
        return [
            {
                "question_id": name,
                "system": "s",
                "judge": judge,
                "metric": judge,
                "model": model,
                "prompt_version": 1,
                "status": "scored",
                "score": float(at < 12 * share),
                "scale": [0, 1],
            }
            for at, name in enumerate(names)
        ]

    def ranked(judge: str, *models: str):
        runs = [rows(judge, model, share) for model, share in zip(models, (0.2, 0.8), strict=True)]
        (metric,) = compare_several(runs).metrics
        return metric

    assert ranked("mine", "m", "m").ranks.shares[0][0] > 0.9
    assert ranked("mine", "m", "other").ranks is msgspec.UNSET
    low = ranked("toxicity", "m", "m")
    assert (low.ranks, low.best) == (msgspec.UNSET, "lowest")


def test_means_of_runs_that_a_filter_chose_say_so_and_others_do_not(three, says):
    whole = compare_several(three)
    assert say(whole, MEANS_OF_CHOSEN) == ""
    says(say(msgspec.structs.replace(whole, chosen='topic = "maize"'), MEANS_OF_CHOSEN))
