"""What changes would bring: measured through the door, bounded where nobody asked, and refused in words."""

import io
import json

import msgspec
import pytest
from rich.console import Console
from tests.support.command import ragstone as command
from tests.support.planted_faults import LEAD, Rates
from tests.support.planted_run import plant_run

import ragstone
from ragstone.features.blame._causes import KnownAnswer, PointFacts
from ragstone.features.blame._desk import ChangedAnswers
from ragstone.features.blame._points import CountedPoint, Points
from ragstone.features.blame._what_if import PricingSample, prices
from ragstone.features.blame.blaming import forecast_blame
from ragstone.features.blame.words import blame_document, measured_prices
from ragstone.kernel.config import choose
from ragstone.kernel.document.screen import LINES, render_screen
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.runs.causes import Caused
from ragstone.kernel.tables import read_rows


@pytest.fixture
def run_folder(project, tmp_path):
    return tmp_path / "runs" / "planted"


def priced(summary):
    return {price.change: price for price in summary.systems[0].prices}


def rows_of(folder, brought_by):
    rows = read_rows(folder / "blame_answers.jsonl", ragstone.Answer)
    return [row for row in rows if row.system.startswith(brought_by)]


def test_without_what_if_nothing_more_is_asked_and_prices_are_bounds(project, run_folder):
    summary = ragstone.blame(run_folder, settings=project)
    found = priced(summary)
    lost = found["right documents"].n_asked
    assert {price.basis for price in found.values() if price.change != "second opinion"} <= {
        "at most",
        "by causes",
    }
    assert len(rows_of(run_folder, "gold/")) == lost == summary.systems[0].returned.n
    assert found["right documents"].gained == summary.systems[0].returned.n_right
    assert found["right documents, all read"].gained == lost


def test_lost_and_right_answers_are_asked_again_and_files_are_the_same_when_run_again(
    project, run_folder, fake_openai
):
    summary = ragstone.blame(run_folder, settings=project, what_if=5)
    found = priced(summary)
    right, first = found["right documents"], found["right document first"]
    n_kept = right.n - found["right documents, all read"].gained
    assert (right.basis, right.n_asked) == ("measured", right.n - n_kept + 5)
    assert (first.basis, first.n_asked) == ("measured", 10)
    assert right.points.value == pytest.approx((right.gained - right.spoiled * n_kept / 5) / right.n)
    before = {file.name: file.read_bytes() for file in run_folder.iterdir()}
    n_requests = fake_openai.n_requests
    again = ragstone.blame(run_folder, settings=project, what_if=5)
    assert (fake_openai.n_requests, again.systems) == (n_requests, summary.systems)
    assert {file.name: file.read_bytes() for file in run_folder.iterdir()} == before


def test_the_right_documents_come_first_and_as_many_contexts_are_given_as_before(project, run_folder):
    ragstone.blame(run_folder, settings=project, what_if=5)
    before = {row.question_id: row for row in read_rows(run_folder / "answers.jsonl", ragstone.Answer)}
    questions = {row.id: row for row in read_rows(run_folder / "questions.jsonl", ragstone.Question)}
    rows = rows_of(run_folder, "first of ")
    assert rows
    for row in rows:
        assert row.contexts[0].document_id == questions[row.question_id].document_ids[0]
        assert len(row.contexts) == len(before[row.question_id].contexts)
        assert row.contexts != before[row.question_id].contexts


def test_a_reader_is_priced_alone_and_with_the_right_documents(project, run_folder, fake_openai):
    settings = msgspec.structs.replace(
        project, models={**project.models, "openai/other": project.models["openai/fake"]}
    )
    found = priced(ragstone.blame(run_folder, settings=settings, what_if=30, reader="openai/other"))
    assert found["other model"].model == "openai/other"
    assert found["other model"].points.value == 0  # the scripted endpoint answers the same by every name
    joint, alone = found["other model, right documents"], found["right documents"]
    assert joint.points.value == pytest.approx(alone.points.value)


def test_answers_made_elsewhere_price_the_model_that_is_named_and_not_the_application(project, tmp_path):
    (tmp_path / "sheet.jsonl").write_bytes((tmp_path / "runs/planted/answers.jsonl").read_bytes())
    settings = choose(project, "run", name="sheet")
    section = msgspec.structs.replace(settings.answer, model=None, sheet="sheet.jsonl")
    settings = msgspec.structs.replace(settings, answer=section)
    ragstone.run(settings)
    bounds = priced(ragstone.blame(tmp_path / "runs/sheet", settings=settings))
    # No model is asked: what was retrieved still bounds what retrieval could bring.
    assert {"document retrieved", "contexts read"} <= {*bounds}
    assert "right documents" not in bounds
    found = priced(ragstone.blame(tmp_path / "runs/sheet", settings=settings, what_if=5, model="openai/fake"))
    assert found["other model"].model == "openai/fake"
    assert "right documents" not in found


def test_people_take_the_judges_error_out(project, run_folder, tmp_path):
    answers = list(read_rows(run_folder / "answers.jsonl", ragstone.Answer))
    year = {row.id: row.reference for row in read_rows(run_folder / "questions.jsonl", ragstone.Question)}
    labels = [
        {
            "question_id": row.question_id,
            "system": row.system,
            "score": int(row.answer == year[row.question_id]),
        }
        for row in answers
    ]
    (tmp_path / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in labels))
    found = priced(ragstone.blame(run_folder, settings=project, what_if=30, labels=tmp_path / "labels.jsonl"))
    assert found["right documents"].people is not None
    assert found["second opinion"].people is None
    assert all(price.people is None for price in found.values() if price.basis != "measured")


def test_a_forecast_counts_what_is_asked_again(project, run_folder):
    settings = choose(project, "blame", what_if=5)
    forecast = forecast_blame(run_folder, settings)
    assert forecast.calls > forecast_blame(run_folder, project).calls
    assert 0 < ragstone.blame(run_folder, settings=settings).calls.made <= forecast.calls


def test_a_budget_that_ends_early_leaves_out_prices_and_says_so(project, run_folder, says):
    summary = ragstone.blame(run_folder, settings=project, what_if=30, budget="60calls")
    found = priced(summary)
    assert "right document first" not in found
    assert all(price.basis != "measured" for price in found.values() if price.change != "second opinion")
    says(summary.systems[0].notes[-1])


def test_a_run_without_a_lost_point_can_only_lose(tmp_path, fake_openai):
    sound = Rates(**dict.fromkeys(Rates.__dataclass_fields__, 0.0))
    settings = plant_run(tmp_path, fake_openai, sound, seed=3, n=12)
    ragstone.run(settings)
    assert priced(ragstone.blame(tmp_path / "runs/planted", settings=settings)).keys() == {"second opinion"}
    found = priced(ragstone.blame(tmp_path / "runs/planted", settings=settings, what_if=12))
    right = found["right documents"]
    assert (right.gained, right.spoiled, right.points.value) == (0, 0, 0)
    assert right.points.low < 0 < right.points.high


def test_a_judge_that_calls_everything_wrong_prices_nothing_above_nothing(tmp_path, fake_openai):
    settings = plant_run(tmp_path, fake_openai, Rates(harsh=1.0, lenient=0.0), seed=3, n=12)
    ragstone.run(settings)
    found = priced(ragstone.blame(tmp_path / "runs/planted", settings=settings, what_if=12))
    assert found["right documents"].points.value == 0
    assert found["right documents"].basis == "measured"  # there is no right answer that could be spoiled


@pytest.mark.parametrize(
    "given", [{"reader": "openai/other"}, {"reader": "openai/fake", "what_if": 5}, {"what_if": -1}]
)
def test_wrong_use_is_refused_before_anything_is_asked(project, run_folder, fake_openai, given, says):
    n_requests = fake_openai.n_requests
    with pytest.raises(ConfigError) as error:
        ragstone.blame(run_folder, settings=project, **given)
    says(error.value)
    assert fake_openai.n_requests == n_requests
    assert not (run_folder / "blame.json").exists()


@pytest.mark.long
def test_prices_come_with_the_answer_on_the_command_line(project, folder, fake_openai):
    ran = command("blame", "runs/planted", "--what-if", "30", "--all")
    said = " ".join(ran.out.split())
    assert ran.code == 0
    assert "With the right documents alone," in said
    assert "What if" in said
    bounds = " ".join(command("blame", "runs/planted", "--all").out.split())
    assert "at most" in bounds
    assert "With the right documents alone," not in bounds


def test_bounds_are_on_the_first_screen_where_prices_were_asked_for(project, run_folder):
    path = run_folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["settings"]["answer"]["system"] = "extractive"
    path.write_text(json.dumps(manifest))
    summary = ragstone.blame(run_folder, settings=project, what_if=5)
    assert not measured_prices(summary.systems[0])
    screens = []
    for asked in (True, False):
        console = Console(width=80, file=io.StringIO())
        console.print(render_screen([blame_document(summary, what_if=asked)], 80))
        screens.append(console.file.getvalue())
        assert len(screens[-1].splitlines()) <= LINES
    assert ["a retriever that never misses" in screen for screen in screens] == [True, False]


def points_with(n_lost, n_kept):
    counted = [CountedPoint(question_id=f"q{at}", lost=at < n_lost) for at in range(n_lost + n_kept)]
    return Points(lead=LEAD, counted=counted, left_out={})


def replies_of(points, *, named=True, contexts=True, **changes):
    names = {point.question_id for point in points.counted}
    return PricingSample(
        points=points.counted,
        named=names if named else set(),
        retrieved={name: [] for name in names} if contexts else {},
        changes=changes.get("changes", {}),
    )


def facts_of(points, found):
    return [
        PointFacts(point=point, answer=KnownAnswer(text=""), relevant=["d"], found=found)
        for point in points.counted
        if point.lost
    ]


def test_without_evidence_or_contexts_nothing_is_bounded():
    points = points_with(3, 5)
    assert prices(points, replies_of(points, named=False), facts_of(points, None), [], {}) == []
    assert prices(points, replies_of(points, contexts=False), facts_of(points, None), [], {}) == []


def test_what_nobody_knows_counts_in_both_bounds():
    points = points_with(3, 5)
    found = {
        price.change: price for price in prices(points, replies_of(points), facts_of(points, None), [], {})
    }
    assert [found[change].gained for change in ("document retrieved", "contexts read")] == [3, 3]
    retrieved = {
        price.change: price for price in prices(points, replies_of(points), facts_of(points, True), [], {})
    }
    assert [retrieved[change].gained for change in ("document retrieved", "contexts read")] == [0, 3]


def test_failed_tools_of_an_agent_bound_what_sound_ones_bring():
    points = points_with(4, 6)
    causes = [
        Caused(question_id=name, system="s", cause=cause, component=component, because="b")
        for name, cause, component in (
            ("q0", "tool failed", "tools"),
            ("q1", "tool failed", "tools"),
            ("q2", "wrong tool", "model + prompt"),
        )
    ]
    [tools] = prices(points, replies_of(points, named=False), facts_of(points, None), causes, {})
    assert (tools.change, tools.basis, tools.gained, tools.points.value) == (
        "tools never fail",
        "by causes",
        2,
        0.2,
    )


def test_few_verdicts_are_no_sample():
    points = points_with(10, 10)
    lost, kept = ([f"q{at}" for at in half] for half in (range(10), range(10, 20)))
    some = ChangedAnswers(wanted=[*lost, *kept], right=dict.fromkeys([*lost, *kept[:7]], True))
    [price, *_] = prices(
        points, replies_of(points, changes={"right documents": some}), facts_of(points, True), [], {}
    )
    assert (price.change, price.basis) == ("right documents", "at most")  # 7 of 10 right ones
    few = ChangedAnswers(wanted=[*lost, *kept], right=dict.fromkeys([*lost[:7], *kept], True))
    found = prices(
        points, replies_of(points, changes={"right documents": few}), facts_of(points, True), [], {}
    )
    assert "right documents" not in {price.change for price in found}
