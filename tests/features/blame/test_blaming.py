import json

import msgspec
import pytest
from tests.features.blame.conftest import MISSED
from tests.support.golden import sentence_in
from tests.support.planted_faults import FAULTS, Rates
from tests.support.planted_run import plant_run
from tests.support.scripts import always, fail

import ragstone
from ragstone.features.blame.blaming import forecast_blame
from ragstone.kernel.config import choose
from ragstone.kernel.errors import ConfigError, DataError, ModelError
from ragstone.kernel.records import Label
from ragstone.kernel.runs.blamed import read_blame, read_causes
from ragstone.kernel.tables import read_rows, write_rows

SURE = {"second": 0.0, "support": 0.0, "lenient": 0.0, "harsh": 0.0}


@pytest.fixture
def run_folder(project, tmp_path):
    return tmp_path / "runs" / "planted"


def shares(summary):
    [system] = summary.systems
    return {share.component: share.n if share.share else None for share in system.shares}


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_gets_the_largest_blame_through_the_door(
    fault, tmp_path, fake_openai, answering_here
):
    # 20 runs of each: benchmarks/blame.py. Judges that do not err here, so that one run is enough.
    rates, right = FAULTS[fault]
    sure = {name: value for name, value in SURE.items() if name != "lenient" or right != "judge"}
    planted = Rates(**{**{name: getattr(rates, name) for name in rates.__dataclass_fields__}, **sure})
    settings = plant_run(tmp_path, fake_openai, planted, seed=2, n=60)
    ragstone.run(settings)
    [system] = ragstone.blame(tmp_path / "runs" / "planted", settings=settings).systems
    assert system.largest.first == right
    assert sum(system.causes.values()) == system.n_lost + system.n_hidden


def test_run_again_it_makes_no_call_and_every_file_is_the_same(project, run_folder, fake_openai):
    first = ragstone.blame(run_folder, settings=project)
    before = {file.name: file.read_bytes() for file in run_folder.iterdir()}
    n_requests = fake_openai.n_requests
    second = ragstone.blame(run_folder, settings=project)
    assert fake_openai.n_requests == n_requests
    assert (second.calls.made, second.calls.from_ledger) == (0, first.calls.made + first.calls.from_ledger)
    assert {file.name: file.read_bytes() for file in run_folder.iterdir()} == before
    names = {"blame.json", "causes.jsonl", "blame_answers.jsonl", "blame_judgements.jsonl"}
    assert names <= set(before)
    assert msgspec.structs.replace(second, calls=None) == read_blame(run_folder)


def test_only_lost_points_are_asked_again_beside_the_second_opinion(project, run_folder):
    summary = ragstone.blame(run_folder, settings=project)
    answers = list(read_rows(run_folder / "blame_answers.jsonl", ragstone.Answer))
    lost = {
        name
        for name, rows in read_causes(run_folder).items()
        for row in rows
        if row.cause != "judge doubtful"
    }
    gold = [row for row in answers if row.system == "gold/strict/fake"]
    assert {row.question_id for row in gold} >= {
        name for name, rows in read_causes(run_folder).items() if rows[0].cause == "not retrieved"
    }
    assert len(gold) <= summary.systems[0].n_lost < 30
    assert {row.question_id for row in answers if row.system.startswith("none/closed_book")} <= lost


def test_the_documents_in_hand_are_those_that_the_question_names(project, run_folder):
    ragstone.blame(run_folder, settings=project)
    questions = {row.id: row for row in read_rows(run_folder / "questions.jsonl", ragstone.Question)}
    for row in read_rows(run_folder / "blame_answers.jsonl", ragstone.Answer):
        if row.system.startswith("gold"):
            assert [one.document_id for one in row.contexts] == questions[row.question_id].document_ids


def test_a_forecast_is_an_upper_bound_asks_nobody_and_says_so(project, run_folder, fake_openai, says):
    before = {file.name: file.read_bytes() for file in run_folder.iterdir()}
    n_requests = fake_openai.n_requests
    forecast = forecast_blame(run_folder, project)
    assert fake_openai.n_requests == n_requests
    assert {file.name: file.read_bytes() for file in run_folder.iterdir()} == before
    says("\n".join(forecast.assumptions))
    made = ragstone.blame(run_folder, settings=project).calls.made
    assert 0 < made <= forecast.calls
    assert forecast_blame(run_folder, project).calls == 0


def test_the_report_shows_the_causes_and_forgets_them_when_the_run_is_another(project, run_folder, says):
    ragstone.blame(run_folder, settings=project)
    says(sentence_in((run_folder / "report.html").read_text(encoding="utf-8"), "Where the lost"))
    ragstone.run(project)  # the same rows: what was found of them holds
    assert "Where the lost points went" in (run_folder / "report.html").read_text(encoding="utf-8")
    ragstone.run(choose(project, "retrieve", k=1), force=True)
    assert "Where the lost points went" not in (run_folder / "report.html").read_text(encoding="utf-8")
    assert read_blame(run_folder) is None


def test_without_a_second_opinion_the_judges_share_is_not_measured_and_the_note_says_how(
    project, run_folder, says
):
    alone = choose(project, "blame")
    alone = msgspec.structs.replace(alone, blame=msgspec.structs.replace(alone.blame, second=None))
    summary = ragstone.blame(run_folder, settings=alone)
    assert shares(summary)["judge"] is None
    says("\n".join(summary.notes))


def test_people_who_label_a_part_give_the_judge_a_share_of_that_part(project, run_folder, tmp_path):
    answers = list(read_rows(run_folder / "answers.jsonl", ragstone.Answer))
    labels = [
        Label(question_id=row.question_id, system=row.system, metric="correctness", score=0)
        for row in answers[:6]
    ]
    write_rows(tmp_path / "labels.jsonl", labels, Label)
    [system] = ragstone.blame(run_folder, settings=project, labels=tmp_path / "labels.jsonl").systems
    judge = next(share for share in system.shares if share.component == "judge")
    assert (system.second, judge.share.n) == ("people", system.n_second)
    assert 0 < system.n_second <= 6 < system.n_counted
    assert any("second opinion" in note for note in system.notes)


def test_labels_that_agree_declares_are_the_second_opinion_where_none_is_named(project, run_folder, tmp_path):
    [answer, *_] = read_rows(run_folder / "answers.jsonl", ragstone.Answer)
    label = Label(question_id=answer.question_id, system=answer.system, score=1)
    write_rows(tmp_path / "labels.jsonl", [label], Label)
    declared = choose(project, "agree", labels="labels.jsonl", metric="correctness")
    alone = msgspec.structs.replace(declared, blame=msgspec.structs.replace(declared.blame, second=None))
    assert ragstone.blame(run_folder, settings=alone).systems[0].second == "people"
    other = choose(alone, "agree", metric="tone")  # they speak of something else
    assert ragstone.blame(run_folder, settings=other).systems[0].second is None


def sheet_of(project, folder):
    """The answers of a run as a sheet made elsewhere, judged by a run of its own; its settings."""
    (folder / "sheet.jsonl").write_bytes((folder / "runs/planted/answers.jsonl").read_bytes())
    settings = choose(project, "run", name="sheet")
    section = msgspec.structs.replace(settings.answer, model=None, sheet="sheet.jsonl")
    settings = msgspec.structs.replace(settings, answer=section)
    ragstone.run(settings)
    return settings


def test_answers_of_another_application_are_not_asked_again_and_what_is_not_known_is_said(
    project, tmp_path, fake_openai, says
):
    settings = sheet_of(project, tmp_path)
    settings = msgspec.structs.replace(settings, blame=msgspec.structs.replace(settings.blame, second=None))
    n_requests = fake_openai.n_requests
    summary = ragstone.blame(tmp_path / "runs/sheet", settings=settings)
    assert fake_openai.n_requests == n_requests
    says("\n".join(summary.notes))
    [system] = summary.systems
    assert system.returned is None
    assert system.causes["not retrieved"] > 5
    assert "answered from memory" not in system.causes
    says(next(iter(read_causes(tmp_path / "runs/sheet").values()))[0].because)


def test_answers_that_quote_documents_are_not_those_of_another_application(project, tmp_path, says):
    for table in ({}, {"mine": {"kind": "extractive"}}):
        system = next(iter(table), "extractive")
        path = tmp_path / "runs/planted/manifest.json"
        manifest = json.loads(path.read_text())
        manifest["settings"]["answer"]["system"] = system
        manifest["settings"]["systems"] = table
        path.write_text(json.dumps(manifest))
        notes = ragstone.blame(tmp_path / "runs/planted", settings=project).notes
        [note] = [note for note in notes if note.startswith("No model was asked again")]
        assert "another application" not in note
        says(note)
    settings = choose(project, "blame", model="openai/fake")
    notes = ragstone.blame(tmp_path / "runs/planted", settings=settings).notes
    says("\n".join(notes))


def test_contexts_of_another_application_that_name_no_document_are_found_by_their_text(project, tmp_path):
    path = tmp_path / "runs/planted/answers.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    before = ragstone.blame(tmp_path / "runs/planted", settings=project).systems[0].causes["not retrieved"]
    for row in rows:
        row["contexts"] = [{"text": context["text"]} for context in row["contexts"]]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    settings = sheet_of(project, tmp_path)
    summary = ragstone.blame(tmp_path / "runs/sheet", settings=settings, model="openai/fake")
    assert summary.systems[0].causes["not retrieved"] == before


def test_a_model_that_is_named_for_a_sheet_is_asked_and_is_not_taken_for_the_application(
    project, tmp_path, says
):
    settings = sheet_of(project, tmp_path)
    summary = ragstone.blame(tmp_path / "runs/sheet", settings=settings, model="openai/fake")
    assert summary.systems[0].returned.n > 0
    says("\n".join(summary.notes))


def test_several_systems_have_a_table_each_and_share_the_answers_with_the_document_in_hand(project, tmp_path):
    rows = [json.loads(line) for line in (tmp_path / "runs/planted/answers.jsonl").read_text().splitlines()]
    twice = [{**row, "system": system} for system in ("first", "second") for row in rows]
    (tmp_path / "runs/planted/answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in twice))
    settings = sheet_of(project, tmp_path)
    summary = ragstone.blame(tmp_path / "runs/sheet", settings=settings, model="openai/fake")
    first, second = summary.systems
    assert (first.system, second.system) == ("first", "second")
    assert first.shares == second.shares
    gold = [
        row.question_id
        for row in read_rows(tmp_path / "runs/sheet/blame_answers.jsonl", ragstone.Answer)
        if row.system.startswith("gold")
    ]
    assert len(gold) == len(set(gold)) > 0


def test_a_budget_cuts_off_what_could_be_asked_and_the_rest_is_valid(project, run_folder, says):
    settings = msgspec.structs.replace(project, blame=msgspec.structs.replace(project.blame, second=None))
    summary = ragstone.blame(run_folder, settings=settings, budget="2calls")
    assert summary.calls.made == 2
    says("\n".join(summary.systems[0].notes))
    assert sum(summary.systems[0].causes.values()) == summary.systems[0].n_lost


def test_a_model_that_cannot_be_had_leaves_the_folder_as_it_was(project, run_folder, fake_openai):
    before = {file.name: file.read_bytes() for file in run_folder.iterdir()}
    fake_openai.script = always(fail(401, "no longer"))
    with pytest.raises(ModelError, match="no longer"):
        ragstone.blame(run_folder, settings=project)
    assert {file.name: file.read_bytes() for file in run_folder.iterdir()} == before


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"judge": "rubrik"}, ConfigError, "the run has no scores of it"),
        ({"second": "lead.toml"}, ConfigError, "it is the judge being checked"),
        ({"second": "grounding"}, ConfigError, "measures faithfulness, and lead measures correctness"),
        ({"second": "unknown"}, ConfigError, "unknown"),
        ({"second": "containment", "labels": "l.jsonl"}, ConfigError, "one second opinion is enough"),
        ({"labels": "nowhere.jsonl"}, DataError, "nowhere.jsonl"),
    ],
)
def test_wrong_use_is_told_before_anything_is_asked(
    project, run_folder, tmp_path, monkeypatch, fake_openai, given, error, says
):
    monkeypatch.chdir(tmp_path)
    n_requests = fake_openai.n_requests
    with pytest.raises(error, match=says):
        ragstone.blame(run_folder, settings=project, **given)
    assert fake_openai.n_requests == n_requests
    assert not (run_folder / "blame.json").exists()


def test_the_same_second_judge_with_another_model_is_another_opinion(project, run_folder, fake_openai):
    models = {**project.models, "openai/other": project.models["openai/fake"]}
    settings = msgspec.structs.replace(project, models=models)
    summary = ragstone.blame(
        run_folder, settings=settings, second=str(settings.path("lead.toml")), second_model="openai/other"
    )
    assert summary.systems[0].second == "lead (openai/other)"
    assert summary.systems[0].n_second > 0


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ("summary.json", "no such file"),
        ("questions.jsonl", "blame is assigned per question"),
        ("answers.jsonl", "blame is assigned per question"),
    ],
)
def test_a_folder_that_is_no_run_is_refused(project, run_folder, file, says):
    (run_folder / file).unlink()
    with pytest.raises(DataError, match=says):
        ragstone.blame(run_folder, settings=project)


def test_labels_of_other_answers_are_refused(project, run_folder, tmp_path, says):
    write_rows(tmp_path / "labels.jsonl", [Label(question_id="zzz", score=1)], Label)
    with pytest.raises(DataError) as error:
        ragstone.blame(run_folder, settings=project, labels=tmp_path / "labels.jsonl")
    says(error.value)


def test_the_runs_own_models_are_asked_whatever_the_settings_say_today_and_that_is_told(
    project, run_folder, says
):
    today = choose(project, "answer", model="openai/newer", prompt="bare")
    summary = ragstone.blame(run_folder, settings=today)
    assert summary.models["answers again"] == "openai/fake"
    says("\n".join(summary.notes))


def test_a_judge_that_has_changed_since_the_run_is_refused(project, run_folder, tmp_path, says):
    file = tmp_path / "lead.toml"
    file.write_text(file.read_text().replace("version = 1", "version = 2"))
    with pytest.raises(ConfigError) as error:
        ragstone.blame(run_folder, settings=project)
    says(error.value)
    file.write_text(file.read_text().replace("version = 2", "version = 1").replace("LEAD:", "LEAD: now"))
    with pytest.raises(ConfigError) as error:
        ragstone.blame(run_folder, settings=project)
    says(error.value)


def test_a_prompt_that_has_changed_since_the_run_is_refused(tmp_path, fake_openai, says):
    settings = plant_run(tmp_path, fake_openai, MISSED, seed=1, n=10)
    prompt = tmp_path / "mine.toml"
    prompt.write_text('name = "mine"\nversion = 1\nprompt = "{question} {contexts}"\n')
    settings = choose(settings, "answer", prompt="mine.toml")
    ragstone.run(settings)
    prompt.write_text('name = "mine"\nversion = 1\nprompt = "Now: {question} {contexts}"\n')
    with pytest.raises(ConfigError) as error:
        ragstone.blame(tmp_path / "runs/planted", settings=settings)
    says(error.value)
    ragstone.blame(tmp_path / "runs/planted", settings=choose(settings, "blame", prompt="strict"))


def test_where_nothing_is_lost_there_is_nothing_to_blame(tmp_path, fake_openai):
    perfect = Rates(**dict.fromkeys(Rates.__dataclass_fields__, 0.0))
    settings = plant_run(tmp_path, fake_openai, perfect, seed=1, n=10)
    ragstone.run(settings)
    [system] = ragstone.blame(tmp_path / "runs/planted", settings=settings).systems
    assert (system.n_lost, system.n_hidden, system.causes, system.largest) == (0, 0, {}, None)
    assert (tmp_path / "runs/planted/causes.jsonl").read_bytes() == b""


def test_where_nothing_was_scored_that_is_said(tmp_path, fake_openai, says):
    settings = plant_run(tmp_path, fake_openai, MISSED, seed=1, n=4)
    settings = choose(settings, "judge", judges=["lead.toml"])
    ragstone.run(settings, budget="4calls")  # enough for the answers
    with pytest.raises(DataError) as error:
        ragstone.blame(tmp_path / "runs/planted", settings=settings)
    says(error.value)


def test_a_system_of_ones_own_model_and_prompt_is_asked_again_as_it_is(tmp_path, fake_openai):
    plant_run(tmp_path, fake_openai, MISSED, seed=1, n=12)
    with (tmp_path / "ragstone.toml").open("a") as file:
        file.write('\n[systems]\nmine = { kind = "rag", model = "openai/other", prompt = "bare" }\n')
        file.write('web = { kind = "http", url = "http://localhost:1/x", headers = { Mine = "secret" } }\n')
        file.write(fake_openai.toml("openai/other"))
    settings = choose(ragstone.load_settings(tmp_path / "ragstone.toml"), "answer", system="mine")
    ragstone.run(settings)
    summary = ragstone.blame(tmp_path / "runs/planted", settings=settings)
    assert summary.models["answers again"] == "openai/other"
    answers = read_rows(tmp_path / "runs/planted/blame_answers.jsonl", ragstone.Answer)
    assert {row.system for row in answers} >= {"gold/bare/other"}


def test_without_a_second_opinion_the_judges_report_card_is_told(tmp_path, fake_openai, says):
    plain = Rates(lenient=0.0, harsh=0.0)
    settings = plant_run(tmp_path, fake_openai, plain, seed=1, n=8)
    rows = [
        {
            "id": f"x{at}",
            "question": f"When did the brelk{at}ur open?",
            "reference": str(1000 + at),
            "answer": str(1000 + at) if at % 2 else "9",
            "score": at % 2 if at else 1,  # people give the first one, which is wrong
        }
        for at in range(8)
    ]
    (tmp_path / "sheet.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    settings = choose(settings, "agree", sheet="sheet.jsonl", metric="correctness")
    settings = msgspec.structs.replace(settings, blame=msgspec.structs.replace(settings.blame, second=None))
    ragstone.run(settings)
    notes = ragstone.blame(tmp_path / "runs/planted", settings=settings).notes
    # 7 of 8 agree: 0.875, shown with two decimals.
    says("\n".join(notes))


def test_points_that_the_judge_gives_to_refusals_are_told(tmp_path, fake_openai, says):
    lenient = Rates(missed=1.0, gives_up=1.0, lenient=1.0, harsh=0.0, unanswerable=0.0, ignores=0.0)
    settings = plant_run(tmp_path, fake_openai, lenient, seed=1, n=8)
    ragstone.run(settings)
    [system] = ragstone.blame(tmp_path / "runs/planted", settings=settings).systems
    answers = read_rows(tmp_path / "runs/planted/answers.jsonl", ragstone.Answer)
    n = sum(row.answer.startswith("The documents do not") for row in answers)
    assert n > 1
    says("\n".join(system.notes))
