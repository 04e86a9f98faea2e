import json

import msgspec
import pytest
from tests.support.command import ragstone as command
from tests.support.golden import sentence_in
from tests.support.moded_run import RUN, fill_labels, planted_answers, tell_modes, write_moded_run

import ragstone
from ragstone.features.label import ToLabel
from ragstone.features.modes.values import read_modes_summary
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.records import Answer, Judgement
from ragstone.kernel.runs.modes import has_mode, read_mode_rows
from ragstone.kernel.runs.notes import add_note
from ragstone.kernel.tables import read_rows, write_rows


@pytest.fixture
def run_folder(folder):
    return write_moded_run(folder)


def named(summary):
    return {mode.name: mode for mode in summary.modes}


def test_planted_modes_are_named_counted_and_written_as_judges(run_folder, folder):
    summary = ragstone.modes(run_folder)
    modes = named(summary)
    assert (summary.n_answers, summary.n_wrong, summary.n_uncovered) == (96, 30, 4)
    assert modes["refusals"].n_yes == modes["refusals"].n_wrong == 14
    other = modes["answers_from_outside_the_contexts"]
    assert other.n_yes == other.n_wrong == 12  # those that refuse are left to the other mode
    assert len(modes) == 2
    ran = command("judge", "answers.jsonl", "--judge", "modes/refusals.toml", "-o", "j.jsonl")
    assert ran.code == 0
    assert sum(has_mode(row) for row in read_rows(folder / "j.jsonl", Judgement)) == 14
    assert msgspec.structs.replace(summary, calls=None) == read_modes_summary(run_folder)
    assert sum(read_mode_rows(run_folder)["refusals"].values()) == 14
    assert all(not mode.checked for mode in summary.modes)


@pytest.mark.long
def test_run_again_the_modes_of_the_files_are_counted_and_nothing_is_proposed(run_folder, says):
    first = ragstone.modes(run_folder)
    second = ragstone.modes(run_folder)
    assert second.proposal is None
    assert second.modes == first.modes
    again = ragstone.modes(run_folder, propose=True)  # what a file has already is not proposed once more
    assert again.written == []
    assert again.proposal.n_known == 2
    text = command("modes", RUN, "--propose").out
    assert "No new mode" not in text
    says(sentence_in(text, "a mode file"))


def test_labels_of_a_queue_give_precision_recall_and_prevalence(run_folder, folder):
    ragstone.modes(run_folder)
    rows = ragstone.modes_to_label(run_folder, "refusals", n=40)
    assert len(rows) == len({row.question_id for row in rows}) == 40
    write_rows(folder / "l.jsonl", rows, ToLabel)
    fill_labels(folder / "l.jsonl")
    mode = named(ragstone.modes(run_folder, labels=[folder / "l.jsonl"]))["refusals"]
    assert (mode.n_labelled, mode.n_looked_at, mode.n_true) == (40, 14, 14)
    # All 14 that the judge names were looked at, so that nothing is open of the precision.
    assert (mode.precision.value, mode.precision.low, mode.precision.high) == (1, 1, 1)
    assert mode.prevalence.value == pytest.approx(14 / 96)
    assert mode.prevalence.low == pytest.approx(14 / 96)
    assert 14 / 96 < mode.prevalence.high < 0.25
    assert mode.recall.value == 1


def test_labels_stay_with_their_question_when_a_mode_is_renamed_and_not_when_it_is_asked_anew(
    run_folder, folder
):
    ragstone.modes(run_folder)
    write_rows(folder / "l.jsonl", ragstone.modes_to_label(run_folder, "refusals", n=40), ToLabel)
    fill_labels(folder / "l.jsonl")
    before = named(ragstone.modes(run_folder, labels=[folder / "l.jsonl"]))["refusals"]
    text = (folder / "modes" / "refusals.toml").read_text()
    (folder / "modes" / "refusals.toml").unlink()
    renamed = text.replace('name = "refusals"', 'name = "no_answer"')
    (folder / "modes" / "no_answer.toml").write_text(renamed)
    after = named(ragstone.modes(run_folder, labels=[folder / "l.jsonl"]))["no_answer"]
    assert (after.prevalence, after.precision) == (before.prevalence, before.precision)
    (folder / "modes" / "no_answer.toml").write_text(renamed.replace("it refuses to answer", "it is silent"))
    asked_anew = named(ragstone.modes(run_folder, labels=[folder / "l.jsonl"]))["no_answer"]
    assert (asked_anew.n_labelled, asked_anew.prevalence) == (0, None)


def test_labels_drawn_by_another_judge_of_the_mode_count_by_their_chances(run_folder, folder):
    ragstone.modes(run_folder)
    write_rows(folder / "l.jsonl", ragstone.modes_to_label(run_folder, "refusals", n=40), ToLabel)
    fill_labels(folder / "l.jsonl")
    path = folder / "modes" / "refusals.toml"
    path.write_text(path.read_text().replace('measure = "refuses"', 'words = ["sorry"]'))
    mode = named(ragstone.modes(run_folder, labels=[folder / "l.jsonl"]))["refusals"]
    assert (mode.n_labelled, mode.n_true) == (40, 14)
    assert mode.prevalence.value == pytest.approx(14 / 96, abs=0.01)  # 14 sure ones, 26 of 82 others
    assert mode.prevalence.low < 14 / 96 < mode.prevalence.high


def test_a_label_of_an_answer_that_the_run_has_not_any_more_is_not_counted(run_folder, folder):
    ragstone.modes(run_folder)
    write_rows(folder / "l.jsonl", ragstone.modes_to_label(run_folder, "refusals", n=5), ToLabel)
    fill_labels(folder / "l.jsonl")
    lines = (folder / "l.jsonl").read_text().splitlines()
    lines[0] = json.dumps(json.loads(lines[0]) | {"answer": "what it said last week"})
    (folder / "l.jsonl").write_text("\n".join(lines) + "\n")
    mode = named(ragstone.modes(run_folder, labels=[folder / "l.jsonl"]))["refusals"]
    assert (mode.n_labelled, mode.n_other_labels) == (4, 1)


@pytest.mark.long
def test_a_model_names_modes_that_quote_rows_and_is_asked_of_every_answer(run_folder, folder, fake_openai):
    tell_modes(fake_openai)
    settings = fake_openai.settings(root=folder)
    summary = ragstone.modes(run_folder, model=fake_openai.model, settings=settings)
    modes = named(summary)
    assert modes["another_crop"].n_yes == modes["another_crop"].n_wrong == 12
    assert modes["another_crop"].kind == "boolean"
    quoted = modes["another_crop"].evidence
    assert len(quoted) > 1
    assert all(row.quote.startswith("Rice seedlings") and row.part == "answer" for row in quoted)
    assert summary.proposal.n_quotes == summary.proposal.n_held > 5
    n_requests = fake_openai.n_requests
    again = ragstone.modes(run_folder, model=fake_openai.model, settings=settings)
    assert fake_openai.n_requests == n_requests  # the ledger has every reply
    assert named(again)["another_crop"].n_yes == 12
    without = ragstone.modes(run_folder)  # nobody is asked: what was said before counts
    assert named(without)["another_crop"].n_yes == 12


def test_a_mode_whose_quotes_do_not_hold_is_dropped(run_folder, folder, fake_openai):
    tell_modes(fake_openai, invents=True)
    summary = ragstone.modes(run_folder, model=fake_openai.model, settings=fake_openai.settings(root=folder))
    assert (summary.proposal.n_quotes > 5, summary.proposal.n_held) == (True, 0)
    assert all(mode.kind == "signs" for mode in summary.modes)


@pytest.mark.long
def test_a_budget_that_is_spent_leaves_answers_unscored(run_folder, folder, fake_openai):
    tell_modes(fake_openai)
    settings = fake_openai.settings(root=folder)
    ragstone.modes(run_folder, model=fake_openai.model, settings=settings)
    (folder / "modes" / "another_crop.toml").write_text(
        (folder / "modes" / "another_crop.toml").read_text().replace("one statement", "one single statement")
    )
    summary = ragstone.modes(run_folder, model=fake_openai.model, settings=settings, budget="20calls")
    mode = named(summary)["another_crop"]
    assert (mode.n_asked, mode.n_unscored) == (20, 76)


def test_notes_of_people_become_modes_by_their_tags(run_folder):
    for at in (14, 15, 16):
        add_note(run_folder, f"q{at}", "Answers for rice.", author="ann", tags=["wrong crop"])
    add_note(run_folder, "q30", "Fine.", author="ann", tags=["praise"])  # one row is no mode
    summary = ragstone.modes(run_folder)
    mode = named(summary)["wrong_crop"]
    assert [row.quote for row in mode.evidence] == ["Answers for rice."] * 3
    assert (mode.n_asked, mode.checked, mode.kind) == (0, False, "boolean")
    assert summary.proposal.n_of_people == 1
    rows = ragstone.modes_to_label(run_folder, "wrong_crop", n=30)
    assert {row.inclusion for row in rows} == {round(30 / 96, 9)}  # no judge has said anything yet


def test_tags_in_another_script_are_modes_of_their_own(run_folder):
    for at, tag in ((14, "неверная культура"), (15, "неверная культура"), (16, "गलत फसल"), (17, "गलत फसल")):
        add_note(run_folder, f"q{at}", "Rice.", author="ann", tags=[tag])
    assert len([mode for mode in ragstone.modes(run_folder).modes if mode.kind == "boolean"]) == 2
    assert ragstone.modes(run_folder, propose=True).written == []  # the same tag has the same name


@pytest.mark.parametrize(("share", "n_wrong"), [("none", 0), ("all", 96), ("ten", 10)])
def test_a_run_without_modes_says_why(share, n_wrong, folder, says):
    rows = planted_answers(
        range(0), range(0), {"none": range(0), "all": range(96), "ten": range(26, 36)}[share]
    )
    write_moded_run(folder, rows)
    ran = command("modes", RUN)
    says(ran.out)
    assert (ran.code, ragstone.modes(folder / RUN).n_wrong) == (0, n_wrong)
    assert not (folder / "modes").exists()


def test_answers_to_unanswerable_questions_that_have_a_score_are_counted(folder):
    first, second, *rest = planted_answers()
    unanswerable = msgspec.structs.replace(first, answerable=False)
    without = msgspec.structs.replace(second, answerable=False, reference=None)  # and so without a score
    summary = ragstone.modes(write_moded_run(folder, [unanswerable, without, *rest]))
    assert (summary.n_unanswerable, summary.n_left_out) == (1, 1)


def test_where_every_judgement_failed_nobody_is_told_to_judge_first(folder, fake_openai, says):
    fake_openai.script = lambda _body: "no JSON"
    (folder / "ragstone.toml").write_text(fake_openai.toml())
    write_rows(folder / "answers.jsonl", planted_answers()[:3], Answer)
    judged = ("--judge", "correctness", "--model", fake_openai.model, "--yes")
    command("judge", "answers.jsonl", *judged, "-o", RUN)
    with pytest.raises(DataError) as error:
        ragstone.modes(folder / RUN)
    says(error.value)


def test_what_cannot_be_done_says_what_to_change(run_folder, folder, says):
    with pytest.raises(DataError) as unknown:
        ragstone.modes_to_label(run_folder, "refusals")
    says(unknown.value)
    with pytest.raises(ConfigError) as judge:
        ragstone.modes(run_folder, judge="contanment")
    says(judge.value)
    ragstone.modes(run_folder)
    with pytest.raises(DataError) as mode:
        ragstone.modes_to_label(run_folder, "refusal")
    says(mode.value)
    path = folder / "modes" / "refusals.toml"
    text = path.read_text()
    path.write_text(text.replace('best = "lowest"', 'best = "highest"'))
    with pytest.raises(ConfigError) as best:
        ragstone.modes(run_folder)
    says(best.value)
    path.write_text(text)
    path.rename(folder / "modes" / "silence.toml")
    with pytest.raises(ConfigError) as name:
        ragstone.modes(run_folder)
    says(name.value)
