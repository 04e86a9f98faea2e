"""`ragstone bench answerers` on models that answer in known ways, judged without a model."""

import json

import msgspec
import pytest
from tests.support.answering_models import case_files, reading
from tests.support.fake_openai import serving
from tests.support.scripts import always, fail, fit_schema, schema_in, sometimes

from ragstone.features.bench._running import bench_path
from ragstone.features.bench.answerers._measuring import BOTH
from ragstone.features.bench.answerers.grid import bench_answerers, forecast_answer_bench
from ragstone.features.bench.answerers.words import read_answer_bench
from ragstone.kernel.config import BenchSection, RagSystem, SheetSystem, load_settings
from ragstone.kernel.errors import ConfigError, DataError, ModelError
from ragstone.kernel.records import Answer, Judgement
from ragstone.kernel.tables import read_rows

FAITHFUL, RELEVANT = BOTH["faithful"], BOTH["relevant"]


def write_settings(folder, fake, extra=""):
    models = "".join(
        f'[models."openai/{name}"]\nbase_url = "{fake.base_url}"\n'
        f"price_usd_per_million = {{ input = {price}, output = {price} }}\n"
        for name, price in {"good": 10.0, "poor": 1.0}.items()
    )
    (folder / "ragstone.toml").write_text(
        '[documents]\npaths = ["documents.jsonl"]\n[questions]\npath = "questions.jsonl"\n'
        '[chunk]\nmethod = "whole"\n[retrieve]\nk = 2\n'
        '[judge]\njudges = ["containment", "context_overlap", "no_refusal"]\n'
        '[bench.answerers]\nmodels = ["openai/good", "openai/poor"]\nprompts = ["strict"]\n' + extra + models
    )
    return load_settings(folder / "ragstone.toml")


def write_bench(folder, fake):
    """Write ten cases and two unanswerable questions; the poor model always refuses cases 0 to 3."""
    case_files(folder, 10, unanswerable=2)
    fake.script = reading(knows={"good": {0, 1, 2}}, blind={"poor": {0, 1, 2, 3}})
    return write_settings(folder, fake)


@pytest.fixture
def settings(tmp_path, fake_openai, answering_here):
    return write_bench(tmp_path, fake_openai)


@pytest.fixture
def settings_over_http(tmp_path, fake_openai):
    """For what a server alone does: to take its time, and to know no model of a name."""
    return write_bench(tmp_path, fake_openai)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The settings and the summary of a bench, made once."""
    with serving() as fake:
        settings = write_bench(tmp_path_factory.mktemp("finished"), fake)
        yield settings, bench_answerers(settings)


def with_grid(settings, **keys):
    grid = msgspec.structs.replace(settings.bench.answerers, **keys)
    return msgspec.structs.replace(settings, bench=BenchSection(answerers=grid))


def placed(summary):
    return {row.cell.name: row for row in summary.board.standings}


def test_tiny_grid_has_the_numbers_worked_out_by_hand(finished):
    _, summary = finished
    rows = placed(summary)
    assert list(rows) == [
        "good · retrieved",
        "poor · retrieved",
        "good · gold+distractors",
        "poor · gold+distractors",
        "good · gold",
        "poor · gold",
        "good · none",
        "poor · none",
    ]
    # Containment: the good model copies 10 of 10 keys; the poor one refuses 4. Unanswerable questions have no
    # reference to compare with: not applicable, so the mean is over the ten others.
    assert rows["good · gold"].score.mean.value == 1.0
    assert rows["poor · gold"].score.mean.value == 6 / 10
    assert (rows["poor · gold"].score.n, rows["poor · gold"].n_questions) == (10, 10)
    # By itself the good model knows 3 of 10, the poor one nothing.
    assert rows["good · none"].score.mean.value == 3 / 10
    assert rows["poor · none"].score.mean.value == 0
    # 12 questions are asked under `none`, 2 of them without a reference.
    assert rows["good · none"].statuses["correct"] == {"scored": 10, "not_applicable": 2}
    # Sorted: 0 0 0 0 1 1 1 1 1 1. The median lies between the fifth and the sixth, which are both 1.
    poor = rows["poor · gold"].score
    assert (poor.least, poor.p50, poor.p90, poor.p95, poor.most) == (0, 1, 1, 1, 1)
    # Answered: 6 of 10 answerable; refused: both unanswerable ones, which gold does not have.
    assert rows["poor · gold"].measures["answered"].value == 6 / 10
    assert rows["poor · gold"].measures["unanswered"].value == 4 / 10
    assert "refused" not in rows["poor · gold"].measures
    assert rows["poor · none"].measures["refused"].value == 1.0
    assert rows["poor · none"].measures["refused"].n == 2
    # A key is one word of the passage: all that was answered is faithful, 1 x 6 + 0 x 4 of 10.
    assert rows["poor · gold"].measures["faithful"].value == 1.0
    assert rows["poor · gold"].measures["faithful"].n == 6
    assert rows["poor · gold"].measures[FAITHFUL].value == 6 / 10
    assert rows["poor · gold"].measures[FAITHFUL].n == 10
    # Nothing to be faithful to, and no judge of relevance.
    assert not {"faithful", FAITHFUL, "relevant", RELEVANT} & set(rows["good · none"].measures)
    assert summary.board.measure == "correctness"
    assert [role.judge for role in summary.board.roles] == ["containment", "no_refusal", "context_overlap"]
    assert summary.board.missing == {"gold": {"unanswerable": 2}, "gold+distractors": {"unanswerable": 2}}
    assert (summary.board.n_questions, summary.board.n_unanswerable) == (12, 2)


def test_each_cell_is_compared_with_the_best_of_its_condition_alone(finished):
    rows = placed(finished[1])
    test = rows["poor · gold"].comparison
    assert (test.first, test.second, test.n) == ("good · gold", "poor · gold", 10)
    assert test.difference.value == pytest.approx(0.4)
    # McNemar: 4 questions differ, all one way: p = 2 / 2**4 = 0.125; the condition has one pair.
    assert (test.test, test.p, test.family) == ("McNemar", pytest.approx(0.125), 1)
    assert test.p_holm == test.p
    assert rows["poor · gold"].verdict == "not distinguishable"
    assert rows["good · gold"].verdict == "best"
    assert rows["good · gold"].comparison is None


def test_worse_is_said_where_the_difference_is_shown(settings, fake_openai):
    fake_openai.script = reading(blind={"poor": set(range(10))})
    rows = placed(bench_answerers(with_grid(settings, conditions=["gold"])))
    # 10 questions, all one way: p = 2 / 2**10 = 0.002, one pair.
    assert rows["poor · gold"].verdict == "worse"
    assert rows["poor · gold"].comparison.p_holm == pytest.approx(2 / 2**10)
    # All refused: answered and faithful is 0 of 10, not unknown.
    assert rows["poor · gold"].measures[FAITHFUL].value == 0


def test_conditions_of_one_model_are_compared_with_each_other(finished):
    contrasts = {(one.kind, one.model): one for one in finished[1].board.contrasts}
    assert {kind for kind, _ in contrasts} == {"retrieval", "distractors", "passages"}
    adds = contrasts["passages", "openai/good"]
    assert adds.conditions == ("retrieved", "none")
    # Retrieved 1.0, by itself 0.3: 7 questions differ, all one way: p = 2 / 2**7 = 1/64; two such contrasts.
    assert adds.test.means == (1.0, pytest.approx(0.3))
    assert (adds.test.p, adds.test.family) == (pytest.approx(1 / 64), 2)
    # The poor model: 0.6 against 0, 6 questions: p = 2 / 2**6 = 1/32. Holm: 2 x 1/64, then the larger of that
    # and 1 x 1/32: both 1/32.
    assert adds.test.p_holm == pytest.approx(1 / 32)
    assert (adds.test.verdict, contrasts["passages", "openai/poor"].test.verdict) == ("better", "better")
    # 4 of 10 are refused whatever stands beside: the same on every question.
    costs = contrasts["distractors", "openai/poor"].test
    assert (costs.difference.value, costs.p, costs.verdict) == (0, 1, "cannot tell")


def test_model_that_copies_scores_the_same_with_distractors_beside_gold(settings, fake_openai):
    fake_openai.script = reading()
    rows = placed(bench_answerers(settings))
    for model in ("good", "poor"):
        gold, beside = rows[f"{model} · gold"], rows[f"{model} · gold+distractors"]
        assert gold.score == beside.score
        assert gold.measures["answered"] == beside.measures["answered"]


def test_order_of_cells_changes_no_number(settings, tmp_path):
    first = bench_answerers(settings)
    turned = with_grid(settings, models=["openai/poor", "openai/good"], conditions=["none", "gold"])
    again = placed(bench_answerers(turned, force=True))
    assert list(again) == ["good · none", "poor · none", "good · gold", "poor · gold"]
    for name, row in again.items():
        before = placed(first)[name]
        assert (row.score, row.measures, row.statuses) == (before.score, before.measures, before.statuses)
        assert row.spent == before.spent


def test_unanswerable_questions_are_put_to_the_test_by_distractors(settings):
    rows = placed(bench_answerers(with_grid(settings, conditions=["distractors", "gold"])))
    row = rows["good · distractors"]
    assert row.n_questions == 12
    assert row.measures["refused"].value == 1.0
    # Without its document a question is not answered: 0 of 10.
    assert row.measures["answered"].value == 0
    assert row.score.mean.value == 0


def test_answers_hold_what_the_model_was_given(settings):
    bench_answerers(with_grid(settings, conditions=["gold+distractors", "shuffled", "none"]))
    folder = bench_path(settings, "answerers")
    answers = list(read_rows(folder / "answers-01-good-gold-distractors.jsonl", Answer))
    assert answers[4].contexts[0].document_id == "d4"
    assert len(answers[4].contexts) == 1 + 3
    assert "d4" not in [context.document_id for context in answers[4].contexts[1:]]
    closed = list(read_rows(folder / "answers-05-good-none.jsonl", Answer))
    assert all(answer.contexts is None for answer in closed)
    assert {answer.answer for answer in closed} == {"key0", "key1", "key2", "I do not know."}
    assert {answer.system for answer in closed} == {"good · none"}


def test_run_again_every_file_is_the_same_and_no_call_is_made(settings, fake_openai, tmp_path):
    first = bench_answerers(settings)
    files = {file: file.read_bytes() for file in (tmp_path / "runs").rglob("*") if file.is_file()}
    n_requests = fake_openai.n_requests
    again = bench_answerers(settings)
    assert fake_openai.n_requests == n_requests
    assert {file: file.read_bytes() for file in (tmp_path / "runs").rglob("*") if file.is_file()} == files
    assert (first.calls.made, again.calls.made) == (n_requests, 0)
    assert msgspec.structs.replace(again, calls=None) == msgspec.structs.replace(first, calls=None)
    assert read_answer_bench(bench_path(settings, "answerers")) == msgspec.structs.replace(first, calls=None)


def test_a_bench_writes_numbers_rows_manifest_and_page(finished):
    folder = bench_path(finished[0], "answerers")
    names = {file.name for file in folder.iterdir()}
    assert names >= {"bench.json", "manifest.json", "report.html", "questions.jsonl"}
    judged = list(read_rows(folder / "judgements-05-good-gold.jsonl", Judgement))
    assert len(judged) == 3 * 10
    manifest = json.loads((folder / "manifest.json").read_text())
    assert set(manifest["models"]) == {"openai/good", "openai/poor"}
    assert set(manifest["files"]) == {name for name in names if name.endswith(".jsonl")}


def test_model_that_cannot_be_reached_is_listed_and_loses_no_other(settings_over_http, fake_openai):
    fake_openai.models = {"good"}
    board = bench_answerers(settings_over_http).board
    assert {row.cell.model for row in board.standings} == {"openai/good"}
    assert {one.name for one in board.failed} == {
        f"poor · {each}" for each in ("retrieved", "gold+distractors", "gold", "none")
    }
    assert all("does not exist" in one.reason for one in board.failed)
    assert {row.verdict for row in board.standings} == {"alone"}


def test_where_nothing_could_be_measured_the_reasons_are_told(settings, fake_openai, says):
    fake_openai.script = always(fail(401, "no such key"))
    with pytest.raises(DataError) as error:
        bench_answerers(settings)
    says(error.value)


def test_answers_that_failed_are_counted_and_never_zero(settings, fake_openai, says):
    good = reading()
    fake_openai.script = lambda body: (
        fail(400, "cannot")
        if "case 7?" in body["messages"][-1]["content"] and body["model"] == "poor"
        else good(body)
    )
    summary = bench_answerers(with_grid(settings, conditions=["gold"]))
    row = placed(summary)["poor · gold"]
    assert (row.score.mean.value, row.score.n) == (1.0, 9)
    assert row.statuses["correct"] == {"scored": 9, "app_error": 1}
    assert row.spent.n_failed == 1
    assert (row.comparison.n, row.comparison.n_left_out) == (9, 1)
    says("\n".join(summary.notes))


def test_cell_that_seldom_answers_has_too_few_scores(settings, fake_openai):
    good = reading()
    bad = sometimes({0.8: fail(400, "cannot")}, otherwise=good)
    fake_openai.script = lambda body: bad(body) if body["model"] == "poor" else good(body)
    rows = placed(bench_answerers(with_grid(settings, conditions=["gold"])))
    assert rows["poor · gold"].verdict == "too few scores"
    assert rows["good · gold"].verdict == "best"


def test_cost_tokens_and_seconds_are_those_of_the_answers(settings_over_http, fake_openai):
    fake_openai.latency_s = 0.05
    rows = placed(bench_answerers(with_grid(settings_over_http, conditions=["gold"])))
    good, poor = rows["good · gold"], rows["poor · gold"]
    assert (good.spent.n_answers, good.spent.n_calls) == (10, 10)
    assert good.spent.cost_usd == pytest.approx((good.spent.input + good.spent.output) * 10 / 1e6)
    assert good.spent.usd_each == pytest.approx(10 * poor.spent.usd_each, rel=0.2)
    assert good.seconds.n == 10
    assert 0.05 <= good.seconds.least <= good.seconds.p50 <= good.seconds.p95 <= good.seconds.most


def test_several_prompts_share_one_closed_book(settings):
    board = bench_answerers(with_grid(settings, prompts=["strict", "bare"], models=["openai/good"])).board
    names = [row.cell.name for row in board.standings]
    assert names.count("none") == 1
    assert {"strict · gold", "bare · gold"} <= set(names)
    passages = [one for one in board.contrasts if one.kind == "passages"]
    assert {(one.prompt, one.test.first, one.test.second) for one in passages} == {
        ("strict", "strict · retrieved", "none"),
        ("bare", "bare · retrieved", "none"),
    }


def test_prompt_of_ones_own_without_contexts_is_the_closed_book(settings, tmp_path, fake_openai, says):
    (tmp_path / "mine.toml").write_text(
        'name = "mine"\nversion = 1\nprompt = "MARK. Answer {question} at all costs."\n'
    )
    bench_answerers(with_grid(settings, prompts=["strict", "mine.toml"], conditions=["gold", "none"]))
    marked = [body for body in fake_openai.bodies if "MARK" in str(body)]
    assert len(marked) == 2 * 12
    with pytest.raises(ConfigError) as error:
        bench_answerers(with_grid(settings, prompts=["mine.toml"], conditions=["gold"]))
    says(error.value)
    with pytest.raises(ConfigError) as error:
        bench_answerers(with_grid(settings, prompts=["mine.toml"], conditions=["gold", "none"]))
    says(error.value)


def test_distractors_say_how_many_passages_stand_beside(settings):
    bench_answerers(with_grid(settings, distractors=1, conditions=["gold+distractors"]))
    file = bench_path(settings, "answerers") / "answers-01-good-gold-distractors.jsonl"
    assert {len(answer.contexts) for answer in read_rows(file, Answer)} == {2}


def test_groups_of_questions_have_their_own_means(finished):
    [table] = finished[1].board.by_tag
    assert table.tag == "lang"
    assert (table.n_without, [(group.value, group.n_questions) for group in table.groups]) == (
        2,
        [("de", 5), ("en", 5)],
    )
    # The poor model refuses cases 0 to 3: of the even ones 0 and 2, of the odd ones 1 and 3.
    for group in table.groups:
        assert group.cells["poor · gold"]["score"].value == 3 / 5
        assert group.cells["good · gold"]["score"].value == 1


def test_named_tags_alone_are_shown_and_unknown_ones_refused(settings, says):
    assert bench_answerers(with_grid(settings, tags=[])).board.by_tag == []
    with pytest.raises(ConfigError) as error:
        bench_answerers(with_grid(settings, tags=["land"]), force=True)
    says(error.value)


def test_forecast_counts_every_cell_and_asks_nobody(settings, fake_openai, tmp_path):
    forecast = forecast_answer_bench(settings)
    assert fake_openai.n_requests == 0
    # retrieved and none: 12 each; gold and gold+distractors: 10 each.
    assert {one.model: one.calls for one in forecast.models} == {"openai/good": 44, "openai/poor": 44}
    assert not (tmp_path / "runs").exists()
    bench_answerers(settings)
    assert fake_openai.n_requests == 88
    assert forecast_answer_bench(settings).calls == 0


def test_forecast_of_a_race_is_that_of_all_questions_and_says_so(settings, says):
    forecast = forecast_answer_bench(with_grid(settings, race=True))
    assert forecast.calls == 88
    says("\n".join(forecast.assumptions))


def test_forecast_counts_judges_too(settings):
    judge = msgspec.structs.replace(settings.judge, judges=["correctness"], model="openai/good")
    judging = msgspec.structs.replace(with_grid(settings, conditions=["gold"]), judge=judge)
    assert {one.model: one.calls for one in forecast_answer_bench(judging).models} == {
        "openai/good": 10 + 20,
        "openai/poor": 10,
    }


def test_budget_is_kept_and_what_it_cut_off_is_counted(settings, fake_openai):
    summary = bench_answerers(with_grid(settings, conditions=["gold"]), budget="15calls")
    assert fake_openai.n_requests == 15
    assert placed(summary)["poor · gold"].statuses["correct"] == {"scored": 5, "over_budget": 5}
    assert summary.calls.failed["over_budget"] == 5


def test_offline_asks_nobody(settings, fake_openai, says):
    bench_answerers(settings)
    n_requests = fake_openai.n_requests
    assert bench_answerers(settings, offline=True).calls.made == 0
    with pytest.raises(DataError) as error:
        bench_answerers(with_grid(settings, prompts=["bare"], conditions=["gold"]), offline=True, force=True)
    says(str(error.value).partition("this call")[0])
    assert fake_openai.n_requests == n_requests


def test_judge_that_cannot_be_asked_is_told_and_no_answer_is_paid_for_twice(settings_over_http, fake_openai):
    judge = msgspec.structs.replace(settings_over_http.judge, judges=["correctness"], model="openai/nobody")
    fake_openai.models = {"good", "poor"}
    judged = msgspec.structs.replace(
        settings_over_http,
        judge=judge,
        models={**settings_over_http.models, "openai/nobody": settings_over_http.models["openai/good"]},
    )
    with pytest.raises(ModelError, match="does not exist"):
        bench_answerers(judged)
    n_requests = fake_openai.n_requests
    bench_answerers(settings_over_http, force=True)
    assert fake_openai.n_requests <= n_requests


def test_settings_of_others_do_not_ask_for_force_and_those_of_the_bench_do(settings):
    bench_answerers(settings)
    build = msgspec.structs.replace(settings.build, model="openai/other")
    bench_answerers(msgspec.structs.replace(settings, build=build))
    with pytest.raises(DataError, match="--force"):
        bench_answerers(with_grid(settings, limit=5))
    assert bench_answerers(with_grid(settings, limit=5), force=True).board.n_questions == 5


def test_condition_that_no_question_has_is_listed_as_failed(settings, tmp_path, says):
    rows = [json.loads(line) for line in (tmp_path / "questions.jsonl").read_text().splitlines()]
    for row in rows:
        row.pop("document_ids", None)
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    board = bench_answerers(with_grid(settings, conditions=["gold", "none"])).board
    assert {one.name for one in board.failed} == {"good · gold", "poor · gold"}
    says(board.failed[0].reason)
    assert board.missing["gold"] == {"unanswerable": 2, "without a document named": 10}
    with pytest.raises(DataError) as error:
        bench_answerers(with_grid(settings, conditions=["gold"]), force=True)
    says(error.value)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"models": []}, "at least one model"),
        ({"prompts": ["strickt"]}, "Did you mean 'strict'"),
        ({"conditions": []}, "conditions is empty"),
        ({"systems": ["mine"]}, "no system 'mine'"),
        ({"tags": ["crop"]}, "no question has the tag 'crop'"),
    ],
)
def test_wrong_grids_are_told_before_anything_is_asked(settings, fake_openai, keys, message):
    with pytest.raises(ConfigError, match=message):
        bench_answerers(with_grid(settings, **keys))
    assert fake_openai.n_requests == 0


def test_wrong_files_are_told_before_anything_is_asked(settings, fake_openai, tmp_path, says):
    def without(**keys):
        return msgspec.structs.replace(settings, **keys)

    with pytest.raises(ConfigError, match="needs questions"):
        bench_answerers(without(questions=msgspec.structs.replace(settings.questions, path=None)))
    documents = msgspec.structs.replace(settings.documents, paths=[])
    with pytest.raises(ConfigError, match="needs documents"):
        bench_answerers(without(documents=documents))
    (tmp_path / "empty.txt").write_text("")
    nothing = msgspec.structs.replace(settings.documents, paths=["empty.txt"])
    with pytest.raises(DataError, match="contain no text"):
        bench_answerers(without(documents=nothing))
    (tmp_path / "questions.jsonl").write_text("")
    with pytest.raises(DataError) as error:
        bench_answerers(settings)
    says(error.value)
    judge = msgspec.structs.replace(settings.judge, judges=["pairwise"])
    with pytest.raises(ConfigError, match="judge one answer"):
        bench_answerers(without(judge=judge))
    assert fake_openai.n_requests == 0


def test_closed_book_needs_no_documents(settings):
    documents = msgspec.structs.replace(settings.documents, paths=[])
    alone = msgspec.structs.replace(with_grid(settings, conditions=["none"]), documents=documents)
    assert set(placed(bench_answerers(alone))) == {"good · none", "poor · none"}


def test_systems_stand_beside_the_grid_as_they_are(settings, tmp_path):
    sheet = [{"question_id": f"q{at}", "answer": f"key{at}" if at < 5 else "no"} for at in range(10)]
    sheet += [{"question_id": f"u{at}", "answer": "I do not know."} for at in (10, 11)]
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in sheet))
    systems = {
        "mine": SheetSystem(path="mine.jsonl"),
        "built_in": RagSystem(model="openai/good", k=1),
    }
    grid = with_grid(
        settings, systems=list(systems), models=["openai/poor"], conditions=["retrieved", "none"]
    )
    summary = bench_answerers(msgspec.structs.replace(grid, systems=systems))
    rows = placed(summary)
    # The sheet is right on 5 of 10, the built-in one on all, the poor model refuses 4.
    assert [
        (name, row.score.mean.value) for name, row in rows.items() if row.cell.condition == "retrieved"
    ] == [
        ("built_in", 1.0),
        ("retrieved", 0.6),
        ("mine", 0.5),
    ]
    assert rows["mine"].n_questions == 12
    assert rows["mine"].cell.is_system
    # It says what it says without passages: nobody can tell whether that is faithful.
    assert FAITHFUL not in rows["mine"].measures
    assert rows["mine"].measures["refused"].value == 1
    assert {(one.first, one.second) for one in summary.board.comparisons} == {
        ("built_in", "retrieved"),
        ("built_in", "mine"),
        ("retrieved", "mine"),
    }
    file = bench_path(settings, "answerers") / "answers-03-built-in.jsonl"
    assert {len(answer.contexts) for answer in read_rows(file, Answer)} == {1}
    assert forecast_answer_bench(msgspec.structs.replace(grid, systems=systems)).calls == 0


def test_built_in_system_needs_documents(settings):
    grid = with_grid(settings, systems=["built_in"], models=[])
    documents = msgspec.structs.replace(settings.documents, paths=[])
    systems = {"built_in": RagSystem(model="openai/good")}
    with pytest.raises(ConfigError, match="needs documents"):
        bench_answerers(msgspec.structs.replace(grid, systems=systems, documents=documents))


def test_copies_of_the_reference_document_are_no_distractors(settings, tmp_path):
    rows = [json.loads(line) for line in (tmp_path / "documents.jsonl").read_text().splitlines()]
    copied = [
        {**row, "id": f"{row['id']}{suffix}", "metadata": {"copy_of": row["id"]}}
        for row in rows
        for suffix in ("", "-copy")
    ]
    (tmp_path / "documents.jsonl").write_text("".join(json.dumps(row) + "\n" for row in copied))
    documents = msgspec.structs.replace(settings.documents, copies="copy_of")
    grid = with_grid(settings, conditions=["distractors"], models=["openai/good"])
    bench_answerers(msgspec.structs.replace(grid, documents=documents))
    file = bench_path(settings, "answerers") / "answers-01-distractors.jsonl"
    for answer in read_rows(file, Answer):
        given = {context.document_id for context in answer.contexts}
        assert not given & {f"d{answer.question_id[1:]}", f"d{answer.question_id[1:]}-copy"}
        assert len(answer.contexts) == 3


def test_judge_that_compares_two_answers_is_left_out_and_it_is_said(settings):
    judge = msgspec.structs.replace(settings.judge, judges=["containment", "pairwise"])
    summary = bench_answerers(msgspec.structs.replace(with_grid(settings, conditions=["gold"]), judge=judge))
    assert any("pairwise" in note for note in summary.notes)


def test_labelled_sheet_decides_which_judge_is_gone_by(settings, tmp_path, fake_openai):
    """A judge that always says 0 is no better than saying that always: containment stands in for it."""
    answering = fake_openai.script

    def script(body):
        if schema_in(body) is None:
            return answering(body)
        return json.dumps({**json.loads(fit_schema(body)), "score": 0})

    fake_openai.script = script
    sheet = [
        {"question": f"{at}?", "reference": "yes", "answer": "yes" if at % 2 else "no", "human_label": at % 2}
        for at in range(40)
    ]
    (tmp_path / "labelled.jsonl").write_text("".join(json.dumps(row) + "\n" for row in sheet))
    judge = msgspec.structs.replace(
        settings.judge, judges=["containment", "correctness"], model="openai/good"
    )
    agree = msgspec.structs.replace(
        settings.agree, sheet="labelled.jsonl", metric="correctness", thresholds={"correctness": 50}
    )
    grid = msgspec.structs.replace(with_grid(settings, conditions=["gold"]), judge=judge, agree=agree)
    # 2 x 10 answers, 2 x 10 judgements, 40 of the labelled sheet.
    assert forecast_answer_bench(grid).calls == 80
    [role] = bench_answerers(grid).board.roles
    assert (role.judge, role.instead_of) == ("containment", ["correctness"])


def test_each_cell_answers_at_its_temperature(settings, fake_openai):
    grid = with_grid(settings, models=["openai/good"], conditions=["gold"], temperatures=[0, 0.1], limit=3)
    rows = placed(bench_answerers(grid))
    assert list(rows) == ["temperature 0 · gold", "temperature 0.1 · gold"]
    assert sorted(body["temperature"] for body in fake_openai.bodies) == [0.0] * 3 + [0.1] * 3


@pytest.mark.long
def test_repeated_answers_of_a_cell_are_one_cell_and_each_question_counts_once(tmp_path, fake_openai, says):
    settings = write_bench(tmp_path, fake_openai)
    settings = msgspec.structs.replace(settings, answer=msgspec.structs.replace(settings.answer, repeats=2))
    single = write_bench(tmp_path, fake_openai)
    assert forecast_answer_bench(settings).calls == 2 * forecast_answer_bench(single).calls
    once = placed(bench_answerers(single))
    n_asked = fake_openai.n_requests
    summary = bench_answerers(settings, force=True)
    assert fake_openai.n_requests == 2 * n_asked  # the first answers were paid for
    twice = placed(summary)
    assert list(twice) == list(once)
    for name, row in twice.items():
        assert row.n_questions == once[name].n_questions
        assert row.spent.n_answers == 2 * row.n_questions
        assert row.score.n == once[name].score.n  # the models say the same again
        assert row.score.mean == once[name].score.mean
    [note] = [note for note in summary.notes if "several times" in note]
    says(note)
