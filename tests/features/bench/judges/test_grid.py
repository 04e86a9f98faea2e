"""`ragstone bench judges` on models whose error rates are known."""

import json
from collections import Counter

import msgspec
import pytest
from tests.support.fake_openai import serving
from tests.support.known_judges import ANSWER, JUDGE, judging, labelled_sheet
from tests.support.scripted_judge import Scripted
from tests.support.scripts import always, fail, prompt_of, sometimes

from ragstone.features.bench._running import bench_path
from ragstone.features.bench.judges._choice import choose
from ragstone.features.bench.judges.grid import Meter, bench_judges, forecast_judge_bench
from ragstone.features.bench.judges.words import read_judge_bench, recommendation
from ragstone.kernel.config import BenchSection, load_settings
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.judging import JudgeContext
from ragstone.kernel.judging.finding import no_model
from ragstone.kernel.llm import CallFailed, Message, Prompt, Reply
from ragstone.kernel.records import Judgement, Label, Usage
from ragstone.kernel.tables import read_rows

PRICES = {"dear": 10.0, "cheap": 1.0, "other": 1.0}


def write_bench(folder, fake):
    """Write eighty labelled answers, a yes/no judge of one's own, and three models at one endpoint."""
    labelled_sheet(folder / "labelled.jsonl")
    (folder / "mine.toml").write_text(JUDGE.replace("NAME", "mine"))
    models = "".join(
        f'[models."openai/{name}"]\nbase_url = "{fake.base_url}"\n'
        f"price_usd_per_million = {{ input = {price}, output = {price} }}\n"
        for name, price in PRICES.items()
    )
    (folder / "ragstone.toml").write_text(
        '[bench.judges]\nsheet = "labelled.jsonl"\njudges = ["mine.toml"]\nshots = [0]\n'
        'models = ["openai/dear", "openai/cheap"]\n' + models
    )
    fake.script = judging({"dear": 0.05, "cheap": 0.4, "other": 0.05})
    return load_settings(folder / "ragstone.toml")


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
        yield settings, bench_judges(settings)


def with_grid(settings, **keys):
    grid = msgspec.structs.replace(settings.bench.judges, **keys)
    return msgspec.structs.replace(settings, bench=BenchSection(judges=grid))


def placed(summary):
    return {row.cell.name: row for row in summary.board.standings}


DEAR, CHEAP, OTHER = (f"mine@shots=0 · openai/{name}" for name in ("dear", "cheap", "other"))


@pytest.mark.long
def test_much_better_model_is_recommended_though_it_is_dearer(finished):
    _, summary = finished
    choice, rows = summary.choice, placed(summary)
    assert (choice.best, choice.cheapest, choice.price) == (DEAR, DEAR, "cost")
    assert rows[CHEAP].verdict == "worse"
    assert choice.beats_baseline == "better"
    # 20 good answers hold their reference, 30 are bad: containment is right on 50 of 80.
    assert rows["containment"].value.value == 50 / 80
    assert rows["always 'right'"].value.value == 50 / 80
    assert summary.board.measure == "exact agreement"
    assert (summary.board.n, summary.board.comparisons[0].test) == (80, "McNemar")
    assert "is better than" in " ".join(recommendation(summary))


@pytest.mark.long
def test_of_two_models_that_are_equally_good_the_cheaper_is_recommended(settings, fake_openai):
    fake_openai.script = judging({"dear": 0.05, "cheap": 0.05})
    choice = bench_judges(settings).choice
    assert choice.cheapest == CHEAP
    assert {choice.best, *choice.alike} >= {DEAR, CHEAP}
    [contrast] = choice.contrasts
    assert (contrast.axis, contrast.verdict) == ("model", "cannot tell")
    assert {fit.verdict for fit in choice.fits} == {"better"}


def test_no_judge_is_better_than_containment_where_models_guess(settings, fake_openai, says):
    fake_openai.script = judging({"dear": 0.4, "cheap": 0.45})
    summary = bench_judges(settings)
    choice = summary.choice
    assert choice.beats_baseline in ("cannot tell", "worse")
    assert choice.cheapest in ("containment", "always 'right'")
    says(" ".join(recommendation(summary)))
    assert {fit.verdict for fit in choice.fits} <= {"cannot tell", "worse"}


def test_new_model_that_is_worse_is_said_to_be_worse(finished):
    [contrast] = finished[1].choice.contrasts
    assert (contrast.first, contrast.second, contrast.verdict) == (DEAR, CHEAP, "better")
    assert contrast.values == ("openai/dear", "openai/cheap")
    assert contrast.comparison.p_holm <= 0.05


@pytest.mark.long
def test_cheaper_model_with_examples_is_as_good_as_the_dear_one_without(settings, fake_openai):
    fake_openai.script = judging({"dear": 0.05, "cheap": 0.4}, with_examples={"cheap": 0.05})
    summary = bench_judges(with_grid(settings, shots=[0, 1]))
    [one] = summary.choice.examples
    assert (one.cheaper, one.dearer) == ("mine · openai/cheap", DEAR)
    assert (one.price, one.verdict) == ("cost", "cannot tell")
    assert one.ratio > 3  # ten times cheaper a token, of which an example takes some more
    shots = [each for each in summary.choice.contrasts if each.axis == "shots"]
    of_cheap = next(each for each in shots if "cheap" in each.first)
    assert "mine · openai/cheap" in (of_cheap.first if of_cheap.verdict == "better" else of_cheap.second)


@pytest.mark.long
@pytest.mark.parametrize(("rate", "verdict"), [(0.1, "cannot tell"), (0.45, "worse")])
def test_a_layout_is_compared_with_the_judge_as_its_file_says(settings, fake_openai, rate, verdict):
    usual, turned = judging({"dear": 0.05}), judging({"dear": rate})
    fake_openai.script = lambda body: (turned if "This is what to judge" in prompt_of(body) else usual)(body)
    judges = ["mine.toml", "mine.toml@layout=contexts_first"]
    summary = bench_judges(with_grid(settings, judges=judges, models=["openai/dear"]))
    rows = placed(summary)
    (name,) = (name for name in rows if "layout=contexts_first" in name)
    (pair,) = (
        each for each in summary.board.comparisons if {each.first, each.second} == {name, "mine@shots=0"}
    )
    assert (pair.test, pair.difference.low is None) == ("McNemar", False)
    assert rows[name].statuses == {"scored": 80}
    assert (pair.verdict == "cannot tell") == (verdict == "cannot tell")
    assert rows[name].verdict != "better"


def test_prompts_are_compared_for_the_same_model(settings):
    summary = bench_judges(with_grid(settings, prompts=["own", "strict"], models=["openai/dear"]))
    [contrast] = summary.choice.contrasts
    assert contrast.axis == "prompt"
    assert set(contrast.values) == {"own", "strict"}
    assert contrast.verdict == "cannot tell"


def test_run_again_every_file_is_the_same_and_no_call_is_made(settings, fake_openai, tmp_path):
    grid = with_grid(settings, repeats=2, limit=20)
    first = bench_judges(grid)
    files = {file: file.read_bytes() for file in (tmp_path / "runs").rglob("*") if file.is_file()}
    n_requests = fake_openai.n_requests
    again = bench_judges(grid)
    assert fake_openai.n_requests == n_requests
    assert {file: file.read_bytes() for file in (tmp_path / "runs").rglob("*") if file.is_file()} == files
    assert (first.calls.made, again.calls.made) == (n_requests, 0)
    assert msgspec.structs.replace(again, calls=None) == msgspec.structs.replace(first, calls=None)
    assert read_judge_bench(bench_path(settings, "judges")) == msgspec.structs.replace(first, calls=None)


def test_a_bench_writes_numbers_judgements_rows_manifest_and_page(finished):
    folder = bench_path(finished[0], "judges")
    names = {file.name for file in folder.iterdir()}
    assert names >= {"bench.json", "manifest.json", "report.html", "answers.jsonl", "labels.jsonl"}
    assert "judgements-01-mine-shots-0-openai-dear.jsonl" in names
    rows = list(read_rows(folder / "judgements-01-mine-shots-0-openai-dear.jsonl", Judgement))
    assert (len(rows), rows[0].model, rows[0].judge) == (80, "openai/dear", "mine@shots=0")
    assert len(list(read_rows(folder / "labels.jsonl", Label))) == 80
    manifest = json.loads((folder / "manifest.json").read_text())
    assert set(manifest["files"]) == {name for name in names if name.endswith(".jsonl")}
    assert set(manifest["models"]) == {"openai/dear", "openai/cheap"}
    assert "mine@shots=0" in manifest["judges"]


def test_model_that_nobody_answers_for_loses_no_other(settings_over_http, fake_openai):
    fake_openai.models = {"dear"}
    summary = bench_judges(with_grid(settings_over_http, limit=20))
    assert DEAR in placed(summary)
    [failed] = summary.board.failed
    assert failed.name == CHEAP
    assert "does not exist" in failed.reason


def test_where_no_model_answers_the_baselines_are_left_and_it_is_said(settings, fake_openai, says):
    fake_openai.script = always(fail(401, "no such key"))
    summary = bench_judges(settings)
    assert {row.cell.model for row in summary.board.standings} == {"none"}
    assert len(summary.board.failed) == 2
    says("\n".join(recommendation(summary)))


def test_cell_that_seldom_gives_a_score_takes_no_answers_from_the_others(settings, fake_openai, says):
    good = judging({"dear": 0.05, "cheap": 0.05})
    bad = sometimes({0.9: fail(400, "cannot")}, otherwise=good)
    fake_openai.script = lambda body: bad(body) if body["model"] == "cheap" else good(body)
    summary = bench_judges(settings)
    assert summary.board.n == 80
    [failed] = summary.board.failed
    assert failed.name == CHEAP
    says(failed.reason)


def test_failures_are_counted_and_the_answers_left_out_for_all(settings, fake_openai):
    good = judging({"dear": 0.05, "cheap": 0.05})
    fake_openai.script = lambda body: (
        "no JSON" if body["model"] == "cheap" and "case 7 is" in str(body) else good(body)
    )
    summary = bench_judges(with_grid(settings, limit=20))
    assert (summary.board.n, summary.board.n_unscored) == (19, 1)
    assert placed(summary)[CHEAP].statuses == {"scored": 19, "unparsable": 1}
    assert next(fit for fit in summary.choice.fits if fit.cell == CHEAP).n_failed == 1


@pytest.mark.long
def test_cost_seconds_and_tokens_are_those_of_a_judgement(settings_over_http, fake_openai):
    fake_openai.latency_s = 0.05
    rows = placed(bench_judges(with_grid(settings_over_http, limit=20, repeats=2)))
    dear, cheap = rows[DEAR].spent, rows[CHEAP].spent
    assert (dear.n_judged, dear.n_calls) == (40, 40)
    assert 0.05 <= dear.seconds_each < 2.0
    assert dear.usd_each == pytest.approx((dear.input + dear.output) * 10 / 1e6 / 40)
    assert dear.usd_each == pytest.approx(10 * cheap.usd_each, rel=0.1)
    assert (rows["containment"].spent.n_calls, rows["containment"].spent.usd_each) == (0, 0.0)


def test_repeats_ask_anew_and_show_how_far_runs_differ(settings, fake_openai):
    asked = Counter()
    steady = judging({"dear": 0.05, "cheap": 0.4})

    def script(body):
        """The cheap model says the opposite of every even case when it is asked for the second time."""
        case = int(ANSWER.findall(prompt_of(body))[-1][0])
        asked[body["model"], case] += 1
        if body["model"] == "cheap" and case % 2 == 0 and asked["cheap", case] == 2:
            made = json.loads(steady(body))
            return json.dumps({**made, "verdict": not made["verdict"]})
        return steady(body)

    fake_openai.script = script
    rows = placed(bench_judges(with_grid(settings, repeats=3, limit=16)))
    assert fake_openai.n_requests == 2 * 3 * 16
    dear, cheap = rows[DEAR].spread, rows[CHEAP].spread
    assert len(dear.values) == 3
    assert (dear.sd, dear.changed.value) == (0.0, 0.0)
    assert cheap.changed.value == 8 / 16
    assert cheap.values[1] != cheap.values[0] == cheap.values[2]
    assert cheap.values[0] == pytest.approx(rows[CHEAP].value.value)
    assert rows["containment"].spread is None
    names = {file.name for file in bench_path(settings, "judges").glob("*run3*")}
    assert names == {
        f"judgements-0{at}-mine-shots-0-openai-{m}-run3.jsonl" for at, m in ((1, "dear"), (2, "cheap"))
    }


def test_single_run_has_no_spread(finished):
    assert placed(finished[1])[DEAR].spread is None


def test_question_that_is_an_example_of_a_judge_is_left_out_for_all(settings, tmp_path):
    text = JUDGE.replace("NAME", "mine").replace("Where?", "What is case 3?")
    (tmp_path / "mine.toml").write_text(text)
    board = bench_judges(with_grid(settings, shots=[0, 1], models=["openai/dear"])).board
    assert (board.n, board.n_tuned) == (79, 1)
    assert all(row.value.n == 79 for row in board.standings)


def test_limit_takes_the_first_answers_and_their_labels(settings):
    summary = bench_judges(with_grid(settings, limit=35))
    assert summary.counts == {"answers": 35, "labels": 35}
    assert summary.board.n == 35


@pytest.mark.long
def test_metric_chooses_the_labels(settings, tmp_path, says):
    with (tmp_path / "labelled.jsonl").open("a") as file:
        row = {
            "question": "What is case 90?",
            "reference": "x",
            "answer": "case 90 is good",
            "human_label": 1,
        }
        file.write(json.dumps({**row, "metric": "style"}) + "\n")
    assert bench_judges(with_grid(settings, metric="correctness")).board.n == 80
    with pytest.raises(ConfigError) as error:
        bench_judges(with_grid(settings, metric="style"))
    says(error.value)


def test_labels_of_another_metric_alone_are_refused(settings, fake_openai, tmp_path, says):
    rows = [json.loads(line) for line in (tmp_path / "labelled.jsonl").read_text().splitlines()]
    (tmp_path / "labelled.jsonl").write_text(
        "".join(json.dumps({**row, "metric": "style"}) + "\n" for row in rows)
    )
    with pytest.raises(DataError) as error:
        bench_judges(settings)
    says(error.value)
    assert fake_openai.n_requests == 0


def test_forecast_counts_every_cell_and_repeat_and_asks_nobody(settings, fake_openai, tmp_path):
    grid = with_grid(settings, repeats=2, limit=10)
    forecast = forecast_judge_bench(grid)
    assert fake_openai.n_requests == 0
    assert {model.model: model.calls for model in forecast.models} == {"openai/dear": 20, "openai/cheap": 20}
    assert not (tmp_path / "runs").exists()
    bench_judges(grid)
    assert fake_openai.n_requests == 40
    assert forecast_judge_bench(grid).calls == 0


def test_forecast_passes_over_a_model_that_cannot_be_had(settings):
    grid = with_grid(settings, models=["openai/dear", "nobody/there"], limit=10)
    assert forecast_judge_bench(grid).calls == 10
    assert [one.name for one in bench_judges(grid).board.failed] == ["mine@shots=0 · nobody/there"]


def test_budget_is_kept_and_what_it_cut_off_is_said(settings, fake_openai):
    summary = bench_judges(with_grid(settings, limit=20), budget="25calls")
    assert fake_openai.n_requests == 25
    assert "over budget" in summary.board.failed[0].reason  # 5 of 20
    assert summary.calls.failed["over_budget"] > 0


def test_offline_asks_nobody(settings, fake_openai):
    summary = bench_judges(with_grid(settings, limit=10), offline=True)
    assert fake_openai.n_requests == 0
    assert all("offline" in one.reason for one in summary.board.failed)
    assert "containment" in placed(summary)


def test_settings_of_others_do_not_ask_for_force_and_those_of_the_grid_do(settings):
    settings = with_grid(settings, limit=10)
    bench_judges(settings)
    answer = msgspec.structs.replace(settings.answer, model="openai/other")
    bench_judges(msgspec.structs.replace(settings, answer=answer))
    with pytest.raises(DataError, match="--force"):
        bench_judges(with_grid(settings, limit=15))
    assert bench_judges(with_grid(settings, limit=15), force=True).board.n == 15


def test_a_sheet_that_nobody_named_is_refused(settings, says):
    with pytest.raises(ConfigError) as error:
        bench_judges(with_grid(settings, sheet=None))
    says(error.value)


def test_choice_follows_from_the_board_alone(finished):
    _, summary = finished
    assert choose(summary.board) == summary.choice


PROMPT = Prompt(messages=(Message("user", "Hello"),), reply=dict)


def asking(latency_s=0.25, cost_usd=0.5):
    seen = []

    async def ask(prompt):
        seen.append(prompt.sample)
        usage = Usage(input=10, output=5)
        return Reply(text="", value=None, usage=usage, latency_s=latency_s, cost_usd=cost_usd)

    return ask, seen


async def test_calls_are_summed_those_of_members_too():
    meter, (ask, _) = Meter(), asking()
    context = meter.metered(JudgeContext(ask=ask, others={"openai/b": ask}, secret=b"s"))
    await context.ask(PROMPT)
    await context.others["openai/b"](PROMPT)
    spent = meter.spent(4)
    assert (spent.n_calls, spent.input, spent.output) == (2, 20, 10)
    assert (spent.seconds, spent.cost_usd) == (0.5, 1.0)
    assert (spent.seconds_each, spent.usd_each) == (0.125, 0.25)


async def test_each_run_draws_samples_of_its_own():
    ask, seen = asking()
    for run in range(3):
        await Meter().metered(JudgeContext(ask=ask, secret=b"s"), run).ask(PROMPT)
    assert seen == [0, 1000, 2000]


@pytest.mark.parametrize(("latency_s", "cost_usd"), [(None, 0.5), (0.25, None)])
async def test_what_is_unknown_of_one_call_is_unknown_of_all(latency_s, cost_usd):
    meter = Meter()
    await meter.metered(JudgeContext(ask=asking()[0], secret=b"s")).ask(PROMPT)
    await meter.metered(JudgeContext(ask=asking(latency_s, cost_usd)[0], secret=b"s")).ask(PROMPT)
    spent = meter.spent(2)
    assert spent.seconds is None if latency_s is None else spent.seconds == 0.5
    assert spent.cost_usd is None if cost_usd is None else spent.cost_usd == 1.0


async def test_failed_call_counts_its_tokens_alone():
    meter = Meter()
    failing = Scripted(CallFailed("unparsable", "no JSON", usage=Usage(input=7, output=3, calls=2)))
    with pytest.raises(CallFailed):
        await meter.metered(JudgeContext(ask=failing, secret=b"s")).ask(PROMPT)
    spent = meter.spent(1)
    assert (spent.n_calls, spent.input, spent.output, spent.seconds, spent.cost_usd) == (2, 7, 3, 0.0, 0.0)


def test_judge_that_asks_no_model_takes_nothing():
    assert Meter().metered(JudgeContext()).ask is no_model
    spent = Meter().spent(3)
    assert (spent.n_calls, spent.seconds_each, spent.usd_each) == (0, 0.0, 0.0)
