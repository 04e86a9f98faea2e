"""`ragstone bench answerers --race`: as a user types it."""

import html
import json

import msgspec
import pytest
from tests.features.bench.answerers.test_command import write_grid
from tests.features.bench.answerers.test_grid import with_grid, write_settings
from tests.support.answering_models import case_files, reading
from tests.support.command import ragstone
from tests.support.fake_openai import serving
from tests.support.scripts import fail
from tests.support.surfaces import shown as surface

from ragstone.features.bench._running import bench_path
from ragstone.features.bench.answerers._sentences import bests, race_text, saved_text, stopped_text
from ragstone.features.bench.answerers.grid import bench_answerers
from ragstone.features.bench.answerers.words import answer_bench_document, read_answer_bench
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.records import Answer
from ragstone.kernel.tables import read_rows


@pytest.fixture
def grid(folder, fake_openai):
    """A folder with forty cases and two models, one of which refuses whatever it is shown."""
    return write_grid(folder, fake_openai, 40)


def test_the_flag_makes_it_a_race(grid, says):
    ran = ragstone("bench", "answerers", "--race", "--all")
    assert ran.code == 0, ran.err
    assert "75 % saved" in " ".join(ran.out.split())
    says(" ".join(ran.out.partition("The race")[2].partition("Leaderboard")[0].split()))
    race = json.loads(ragstone("bench", "answerers", "--race", "--json").out)["race"]
    assert race["standing"] == ["good · gold"]
    assert race["stopped"][0]["after"] == 10


N = 40
EVERY = set(range(N))


def write_race(folder, fake):
    """Write forty cases; the poor model refuses all of them whatever it is shown."""
    case_files(folder, N)
    fake.script = reading(blind={"poor": EVERY})
    return write_settings(folder, fake, 'conditions = ["retrieved", "gold", "none"]\nrace = true\n')


@pytest.fixture
def settings(tmp_path, fake_openai):
    return write_race(tmp_path, fake_openai)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The settings and the summary of a race, run once."""
    with serving() as fake:
        settings = write_race(tmp_path_factory.mktemp("finished"), fake)
        yield settings, bench_answerers(settings)


def files_of(settings):
    return {path.name: path.read_bytes() for path in bench_path(settings, "answerers").iterdir()}


def shown(summary):
    return " ".join(surface(answer_bench_document(summary)).split())


def test_the_worse_model_stops_under_all_conditions(finished, says):
    _, summary = finished
    assert summary.race is not None
    assert summary.race.standing == ["good · retrieved"]
    # 0 against 1 on each question: the first round of ten is enough, and the race is over.
    assert [(one.configuration, one.after, one.difference) for one in summary.race.stopped] == [
        ("poor · retrieved", 10, -1.0)
    ]
    assert summary.counts["answers"] == 6 * 10
    # It was given as many questions as the one that stands alone, and has lost for all that.
    assert [
        (row.cell.model, row.verdict) for row in summary.board.standings if row.cell.condition != "none"
    ] == [
        ("openai/good", "best"),
        ("openai/poor", "stopped"),
        ("openai/good", "alone"),
        ("openai/poor", "stopped"),
    ]
    first, *_ = bests(summary.board)
    assert first in shown(summary)
    says(first)


def test_calls_and_money_are_those_of_ten_questions_instead_of_forty(finished):
    _, summary = finished
    assert summary.race is not None
    assert {(one.n_given, one.n_questions) for one in summary.race.saved} == {(10, N)}
    assert sum(one.calls for one in summary.race.saved) == 60
    assert sum(one.calls_spared for one in summary.race.saved) == pytest.approx(180)
    assert summary.calls is not None
    spent = sum(one.usd or 0 for one in summary.race.saved)
    assert spent == pytest.approx(summary.calls.cost_usd)


def test_a_third_model_goes_on_after_one_has_stopped(settings, fake_openai):
    fake_openai.script = reading(blind={"poor": EVERY, "fair": {0}})
    models = msgspec.structs.replace(settings.models["openai/good"])
    grid = with_grid(settings, models=["openai/good", "openai/fair", "openai/poor"], conditions=["retrieved"])
    settings = msgspec.structs.replace(grid, models={**settings.models, "openai/fair": models})
    summary = bench_answerers(settings)
    assert summary.race is not None
    assert summary.race.standing == ["good · retrieved", "fair · retrieved"]
    rows = {row.cell.name: row for row in summary.board.standings}
    assert {name: (row.verdict, row.n_questions) for name, row in rows.items()} == {
        "good · retrieved": ("best", N),
        "fair · retrieved": ("not distinguishable", N),
        "poor · retrieved": ("stopped", 10),
    }
    assert summary.board.comparisons == []
    assert all(row.comparison is None for row in summary.board.standings)


def test_cells_that_stopped_keep_their_numbers_and_are_compared_with_none(settings, fake_openai):
    blind = {"poor": EVERY, "fair": {0, 1}}
    fake_openai.script = reading(blind=blind)
    fair = msgspec.structs.replace(settings.models["openai/good"])
    grid = with_grid(
        settings,
        models=["openai/good", "openai/fair", "openai/poor"],
        conditions=["retrieved", "gold+distractors", "gold"],
    )
    summary = bench_answerers(msgspec.structs.replace(grid, models={**settings.models, "openai/fair": fair}))
    for condition in ("gold+distractors", "gold"):
        rows = [row for row in summary.board.standings if row.cell.condition == condition]
        assert [row.cell.model for row in rows] == ["openai/good", "openai/fair", "openai/poor"]
        assert [(row.verdict, row.n_questions) for row in rows] == [
            ("best", N),
            ("not distinguishable", N),
            ("stopped", 10),
        ]
        assert rows[1].comparison is not None
        assert rows[1].comparison.n == N
        assert rows[2].comparison is None
        assert rows[2].score is not None
        assert rows[2].score.mean.value == 0
    assert {(test.first, test.second) for test in summary.board.comparisons} == {
        (f"good · {condition}", f"fair · {condition}") for condition in ("gold+distractors", "gold")
    }
    assert {one.model for one in summary.board.contrasts} == {"openai/good", "openai/fair"}
    # One pair is left under each condition: nothing to correct for; of each contrast there are two models.
    assert {(test.family, test.p_holm == test.p) for test in summary.board.comparisons} == {(1, True)}
    assert {one.test.family for one in summary.board.contrasts} == {2}


def test_a_race_whose_rivals_could_not_be_asked_says_nothing_of_which_is_better(settings, fake_openai, says):
    answers = reading()
    fake_openai.script = lambda body: fail(401, "no key") if body["model"] == "poor" else answers(body)
    summary = bench_answerers(settings)
    assert "no other is better" not in shown(summary)
    says(race_text(summary.race))


def test_page_and_terminal_say_how_it_went(finished, says):
    settings, summary = finished
    page = (bench_path(settings, "answerers") / "report.html").read_text()
    [stopped] = summary.race.stopped
    sentences = [race_text(summary.race), stopped_text(stopped), saved_text(summary.race)]
    for text in (html.unescape(page), shown(summary)):
        assert all(sentence in text for sentence in sentences)
    says("\n".join(sentences))


def test_run_again_the_race_is_the_same_and_nobody_is_asked(settings, fake_openai):
    bench_answerers(settings)
    before, n_calls = files_of(settings), fake_openai.n_requests
    summary = bench_answerers(settings, offline=True)
    assert files_of(settings) == before
    assert fake_openai.n_requests == n_calls
    found = read_answer_bench(bench_path(settings, "answerers"))
    assert found.race == summary.race


def test_a_race_that_was_stopped_by_the_budget_goes_on_where_it_was(settings, fake_openai):
    cut = bench_answerers(settings, budget="30calls")
    assert cut.race is not None
    summary = bench_answerers(settings, force=True)
    assert summary.race is not None
    assert [one.configuration for one in summary.race.stopped] == ["poor · retrieved"]
    assert fake_openai.n_requests == 60


@pytest.mark.long
def test_confidence_and_seed_decide(settings):
    sure = bench_answerers(with_grid(settings, confidence=0.999999))
    assert sure.race is not None
    # A millionth of doubt needs evidence of a million: more than one round.
    assert sure.race.stopped[0].after > 10
    first = list(read_rows(bench_path(settings, "answerers") / "answers-01-good-retrieved.jsonl", Answer))
    other = with_grid(settings, confidence=0.95)
    other = msgspec.structs.replace(other, run=msgspec.structs.replace(other.run, seed=5))
    bench_answerers(other, force=True)
    again = list(read_rows(bench_path(settings, "answerers") / "answers-01-good-retrieved.jsonl", Answer))
    assert [row.question_id for row in first[:10]] != [row.question_id for row in again[:10]]


def test_without_race_every_cell_is_asked_everything(settings):
    summary = bench_answerers(with_grid(settings, race=False, conditions=["retrieved"]))
    assert summary.race is None
    assert {row.n_questions for row in summary.board.standings} == {N}


def test_a_race_of_one_is_refused_before_anything_is_asked(settings, fake_openai, says):
    with pytest.raises(ConfigError) as error:
        bench_answerers(with_grid(settings, models=["openai/good"]))
    says(error.value)
    assert fake_openai.n_requests == 0
