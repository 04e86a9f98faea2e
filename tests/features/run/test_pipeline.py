import json

import msgspec
import pytest
from tests.support.golden import sentence_in
from tests.support.scripts import always, fail

import ragstone
from ragstone.features.run.pipeline import forecast_run
from ragstone.kernel.config import choose, load_settings
from ragstone.kernel.errors import ConfigError, DataError, ModelError, RagstoneError
from ragstone.kernel.records import Document, Evidence, Question
from ragstone.kernel.runs.run import read_run
from ragstone.kernel.runs.summary import read_summary
from ragstone.kernel.tables import write_rows


@pytest.mark.long
def test_a_run_writes_every_kind_of_row_its_numbers_and_its_report(settings, tmp_path, says):
    summary = ragstone.run(settings)
    folder = tmp_path / "runs" / "starter"
    names = {file.name for file in folder.iterdir()}
    rows = {"documents", "chunks", "questions", "rankings", "answers", "judgements"}
    made = {"manifest.json", "summary.json", "report.html", "report.md", "calls.jsonl.gz"}
    assert names == {f"{name}.jsonl" for name in rows} | made
    assert summary.counts["answers"] == 10
    assert summary.retrieval[0].measures["hit@5"].value > 0.9
    assert {metric.judge for metric in summary.metrics} == set(settings.judge.judges)
    assert msgspec.to_builtins(read_summary(folder)) == msgspec.to_builtins(summary)
    assert sum(table.found_right + table.found_wrong for table in summary.blame) > 0
    # Every judge of the metric has a report card, and the others are named.
    assert {card.judge for card in summary.cards} == {"containment", "token_f1", "correctness"}
    says("\n".join(note for note in summary.notes if "faithfulness" in note))


@pytest.mark.long
def test_run_again_it_makes_no_call_and_all_rows_are_the_same(settings, tmp_path, fake_openai):
    first = ragstone.run(settings)
    folder = tmp_path / "runs" / "starter"
    before = {file.name: file.read_bytes() for file in folder.glob("*.jsonl")}
    n_requests = fake_openai.n_requests
    second = ragstone.run(choose(settings, "build", audience="millers"))  # how sets are made is none of its
    assert fake_openai.n_requests == n_requests == first.calls.made
    assert (second.calls.made, second.calls.from_ledger) == (0, first.calls.made)
    assert {file.name: file.read_bytes() for file in folder.glob("*.jsonl")} == before
    assert second.metrics == first.metrics


@pytest.mark.long
def test_a_finished_run_is_replaced_with_force_alone_and_cut_off_it_leaves_no_manifest(
    settings, tmp_path, fake_openai
):
    ragstone.run(settings)
    answering = fake_openai.script
    report = (tmp_path / "runs" / "starter" / "report.html").read_bytes()
    other = msgspec.structs.replace(settings, chunk=msgspec.structs.replace(settings.chunk, size=300))
    with pytest.raises(DataError, match=r"other settings \(\[chunk\]\).*--force"):
        ragstone.run(other)
    assert (tmp_path / "runs" / "starter" / "report.html").read_bytes() == report
    fake_openai.script = always(fail(401, "no longer"))
    with pytest.raises(ModelError, match="no longer"):
        ragstone.run(other, force=True)
    assert not (tmp_path / "runs" / "starter" / "manifest.json").exists()  # it would speak of other rows
    fake_openai.script = answering
    assert ragstone.run(other, force=True).counts["chunks"] > 103


def test_the_manifest_names_what_decided_the_outcome_and_no_key_or_password(
    settings, tmp_path, monkeypatch, fake_openai
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    address = fake_openai.base_url.replace("//", "//me:hunter2@")
    headers = {"X-Api-Key": "{key}"}
    model = msgspec.structs.replace(settings.models["openai/fake"], base_url=address, headers=headers)
    ragstone.run(msgspec.structs.replace(settings, models={"openai/fake": model}))
    text = (tmp_path / "runs" / "starter" / "manifest.json").read_text()
    manifest = json.loads(text)
    assert manifest["models"]["judge"].startswith("openai/fake@127.0.0.1:")
    assert manifest["judges"]["correctness"]["version"] == 2
    assert manifest["prompt"]["name"] == "strict"
    assert set(manifest["files"]) >= {"documents.jsonl", "answers.jsonl"}
    every = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert b"sk-very-secret" not in every
    assert b"hunter2" not in every


def test_a_budget_cuts_off_rows_and_the_report_is_valid(settings, fake_openai):
    summary = ragstone.run(settings, budget="5calls")
    assert fake_openai.n_requests == 5
    statuses = {status for metric in summary.metrics for status in metric.statuses}
    assert "over_budget" in statuses
    assert any("judgements failed" in note for note in summary.notes)


def test_answers_made_elsewhere_need_no_documents_and_no_model(tmp_path):
    (tmp_path / "sheet.csv").write_text("input,actual_output,expected_output\nCapital?,It is Rome,Rome\n")
    (tmp_path / "ragstone.toml").write_text(
        '[answer]\nsheet = "sheet.csv"\n[judge]\njudges = ["containment"]\n'
    )
    summary = ragstone.run(load_settings(tmp_path / "ragstone.toml"))
    assert summary.metrics[0].estimate.value == 1.0
    assert (tmp_path / "runs" / "run" / "report.html").is_file()


@pytest.mark.parametrize("shared", [True, False])
def test_systems_that_share_no_question_are_said_to_stand_in_no_order(tmp_path, shared):
    rows = [("a", "q1"), ("b", "q1" if shared else "q2")]
    sheet = "".join(f'{{"id": "{q}", "system": "{s}", "answer": "1", "reference": "1"}}\n' for s, q in rows)
    (tmp_path / "sheet.jsonl").write_text(sheet)
    (tmp_path / "ragstone.toml").write_text(
        '[answer]\nsheet = "sheet.jsonl"\n[judge]\njudges = ["containment"]\n'
    )
    summary = ragstone.run(load_settings(tmp_path / "ragstone.toml"))
    assert (summary.systems is not None) == shared
    assert any("not ranked" in note for note in summary.notes) != shared


def test_labels_of_the_runs_own_answers_give_report_cards(tmp_path):
    sheet = "".join(f'{{"id": "{n}", "answer": "{n}", "reference": "{n % 4}"}}\n' for n in range(8))
    (tmp_path / "sheet.jsonl").write_text(sheet)
    labels = "".join(f'{{"id": "{n}", "score": {int(n < 4)}}}\n' for n in range(8))
    (tmp_path / "labels.jsonl").write_text(labels)
    (tmp_path / "ragstone.toml").write_text(
        '[answer]\nsheet = "sheet.jsonl"\n[judge]\njudges = ["containment"]\n'
        '[agree]\nlabels = "labels.jsonl"\n'
    )
    [card] = ragstone.run(load_settings(tmp_path / "ragstone.toml")).cards
    assert card.agreement["exact agreement"].value == 1.0


@pytest.mark.parametrize(
    "agree",
    [
        'labels = "labels.jsonl"',
        'sheet = "labels.jsonl"',
        'sheet = "sheet.jsonl"\nmetric = "tone"',
        'labels = "chosen.jsonl"',
        'labels = "twice.jsonl"',
        "thresholds = { containment = 60 }",
    ],
)
def test_labels_that_cannot_be_read_end_a_run_before_anything_is_judged(tmp_path, agree):
    (tmp_path / "sheet.jsonl").write_text('{"id": "1", "answer": "a", "reference": "a", "score": 1}\n')
    (tmp_path / "labels.jsonl").write_text('{"id": "1", "answer": "a", "score": "perhaps"}\n')
    (tmp_path / "chosen.jsonl").write_text('{"id": "1", "answer": "a", "score": 1, "chosen": "flips"}\n')
    (tmp_path / "twice.jsonl").write_text('{"id": "1", "score": 1}\n{"id": "1", "score": 0}\n')
    (tmp_path / "ragstone.toml").write_text(
        f'[answer]\nsheet = "sheet.jsonl"\n[judge]\njudges = ["containment"]\n[agree]\n{agree}\n'
    )
    settings = load_settings(tmp_path / "ragstone.toml")
    for refuse in (ragstone.run, forecast_run):
        with pytest.raises(RagstoneError):
            refuse(settings)
        assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", r"\[documents\] paths is missing"),
        ('[documents]\npaths = ["d.jsonl"]\n', r"\[questions\] path is missing"),
        ('[documents]\npaths = ["d.jsonl"]\n[questions]\npath = "q.jsonl"\n', r"\[answer\] model is missing"),
    ],
)
def test_what_the_settings_lack_is_named_before_anything_is_done(tmp_path, text, says):
    (tmp_path / "evening.toml").write_text(text)
    with pytest.raises(ConfigError, match=rf"evening\.toml: {says}"):
        ragstone.run(load_settings(tmp_path / "evening.toml"))
    assert not (tmp_path / "runs").exists()


@pytest.mark.long
def test_questions_whose_documents_are_missing_are_told(settings, tmp_path):
    rows = [json.loads(line) for line in (tmp_path / "questions.jsonl").read_text().splitlines()]
    rows[0]["document_ids"] = ["nowhere"]
    rows[0].pop("evidence", None)
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert any("the corpus lacks" in note for note in ragstone.run(settings).notes)


def test_judges_and_prompts_of_ones_own_are_found_beside_the_settings(settings, tmp_path, monkeypatch):
    (tmp_path / "tone.toml").write_text(
        'name = "tone"\nversion = 1\nkind = "boolean"\ninputs = ["answer"]\nscale = [0, 1]\n'
        'source = "ours"\nprompt = "Is {answer} polite?"\n'
    )
    (tmp_path / "mine.toml").write_text('name = "mine"\nversion = 1\nprompt = "Answer {question}."\n')
    replace = msgspec.structs.replace
    settings = replace(
        settings,
        judge=replace(settings.judge, judges=["tone.toml"]),
        answer=replace(settings.answer, prompt="mine.toml", limit=1),
        agree=replace(settings.agree, sheet=None),
    )
    monkeypatch.chdir("/")
    summary = ragstone.run(settings)
    assert [(metric.judge, metric.system) for metric in summary.metrics] == [("tone", "bm25/mine/fake")]


def test_a_question_about_a_dropped_duplicate_is_answered_by_the_one_that_was_kept(tmp_path, says):
    files = {
        "documents.jsonl": [
            {"id": name, "text": f"Maize needs water. {'Much.' * 9}"} for name in ("old", "new")
        ],
        "questions.jsonl": [{"id": "q", "question": "What does maize need?", "document_ids": ["new"]}],
        "answers.jsonl": [{"question_id": "q", "answer": "water", "reference": "water"}],
    }
    for name, rows in files.items():
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "ragstone.toml").write_text(
        "[documents]\npaths = ['documents.jsonl']\nduplicates = 'drop'\n"
        "[questions]\npath = 'questions.jsonl'\n"
        "[answer]\nsheet = 'answers.jsonl'\n[judge]\njudges = ['containment']\n"
    )
    dropped = ragstone.run(load_settings(tmp_path / "ragstone.toml"))
    assert dropped.counts["documents"] == 1
    assert dropped.retrieval[0].measures["recall@1"].value == 1.0
    says("\n".join(dropped.notes))
    assert not any("corpus lacks" in note for note in dropped.notes)


def _labelled_sheet(folder, agree):
    """A sheet of 120 answers; containment calls those with an even number right, and people all but 10."""
    sheet = "".join(
        f'{{"id": "{n}", "answer": "{n}", "reference": "{n if n % 2 else "x"}"}}\n' for n in range(120)
    )
    (folder / "sheet.jsonl").write_text(sheet)
    labels = "".join(f'{{"id": "{n}", "score": {int(n % 4 != 0)}}}\n' for n in range(60))
    (folder / "labels.jsonl").write_text(labels)
    (folder / "ragstone.toml").write_text(
        f'[answer]\nsheet = "sheet.jsonl"\n[judge]\njudges = ["containment"]\n[agree]\n{agree}\n'
    )
    return ragstone.run(load_settings(folder / "ragstone.toml"))


def test_labels_of_some_of_the_runs_answers_correct_its_means(tmp_path, says):
    summary = _labelled_sheet(tmp_path, 'labels = "labels.jsonl"')
    [mean] = summary.corrected
    assert (mean.judge, mean.system, mean.n_labelled, mean.n_rows) == ("containment", "default", 60, 120)
    assert mean.raw == summary.metrics[0].estimate
    # People say 0.75 and the judge 0.5, of the labelled as of all answers: nothing is moved.
    assert (mean.raw.value, mean.human.value, mean.corrected.value) == (0.5, 0.75, 0.75)
    assert any("random sample" in note for note in summary.notes)
    written = json.loads((tmp_path / "runs" / "run" / "summary.json").read_text())
    assert written["corrected"][0]["corrected"]["value"] == 0.75
    page = (tmp_path / "runs" / "run" / "report.html").read_text()
    says(sentence_in(page, "What people would"))
    assert "60 of 120" in page


def test_labels_of_other_answers_correct_nothing_and_the_run_says_so(tmp_path, says):
    (tmp_path / "other.jsonl").write_text(
        "".join(f'{{"id": "{n}", "answer": "{n}", "reference": "{n}", "score": 1}}\n' for n in range(30))
    )
    summary = _labelled_sheet(tmp_path, 'sheet = "other.jsonl"')
    assert len(summary.cards) == 1
    assert summary.corrected == []
    says("\n".join(summary.notes))


def test_evidence_of_a_changed_document_is_found_again_and_a_run_its_report_and_blame_tell(tmp_path):
    texts = {"maize": "Maize needs much water in June.", "rye": "Rye is sown in October."}
    words = {"maize": "much water", "rye": "in October"}
    rows = [
        Question(
            id=name,
            question=f"What of {name}?",
            reference=words[name],
            evidence=[Evidence(document_id=name, start=start, end=start + 10)],
        )
        for name, text in texts.items()
        for start in [text.index(words[name])]
    ]
    changed = {"maize": f"Read this first. {texts['maize']}", "rye": "Rye is sown late."}
    write_rows(tmp_path / "q.jsonl", rows, Question)
    write_rows(tmp_path / "d.jsonl", [Document(id=n, text=t) for n, t in changed.items()], Document)
    (tmp_path / "ragstone.toml").write_text(
        '[run]\nname = "changed"\n[documents]\npaths = ["d.jsonl"]\n[questions]\npath = "q.jsonl"\n'
        '[retrieve]\nretriever = "bm25"\n[chunk]\nmethod = "whole"\n'
        '[answer]\nsystem = "extractive"\n[judge]\njudges = ["containment"]\n'
    )
    declared = load_settings(tmp_path / "ragstone.toml")
    summary = ragstone.run(declared)
    told = "2 of 2 documents that hold evidence differ from those that the questions were made from."
    assert any(note.startswith(told) for note in summary.notes)
    [retrieval] = summary.retrieval
    assert (retrieval.n_unplaced, retrieval.measures["span_recall@1"].n) == (1, 1)
    assert retrieval.measures["span_recall@1"].value == 1.0
    folder = tmp_path / "runs" / "changed"
    assert read_run(folder).evidence == {"maize": [("maize", "much water")]}
    assert any(note.startswith(told) for note in ragstone.blame(folder, settings=declared).notes)


def test_answers_given_again_and_two_wordings_are_sources_of_noise(settings, tmp_path, says):
    settings = choose(settings, "answer", repeats=2)
    settings = choose(settings, "judge", judges=["correctness", "correctness@prompt=brief", "containment"])
    summary = ragstone.run(settings)
    levels = {row.models[0]: row.components.levels for row in summary.components}
    assert levels["openai/fake"] == {
        "questions": 10,
        "answers": 2,
        "judges": 1,
        "wordings": 2,
        "repeats": 1,
    }
    assert msgspec.to_builtins(read_summary(tmp_path / "runs" / "starter")) == msgspec.to_builtins(summary)
    report = (tmp_path / "runs" / "starter" / "report.md").read_text()
    says(sentence_in(report, "Intervals of single"))
    assert "not that of" not in report
    assert "comes from" in report


@pytest.mark.long
def test_a_run_without_repeats_says_which_noise_its_intervals_lack(settings, tmp_path, says):
    assert ragstone.run(settings).components is msgspec.UNSET
    assert "components" not in (tmp_path / "runs" / "starter" / "summary.json").read_text()
    report = (tmp_path / "runs" / "starter" / "report.md").read_text()
    says(sentence_in(report, "Intervals include"))
    assert report.count("Intervals include") == 1
