"""`ragstone compare`: what it prints, how it ends, and what it refuses."""

import json
import shutil
from pathlib import Path

import msgspec
import pytest
from tests.support.command import Ran, ragstone
from tests.support.golden import check_golden, sentence_in
from tests.support.judged_runs import answers, judged, questions, rankings, write_run
from tests.support.surfaces import shown

import ragstone as api
from ragstone.features.compare.words import comparison_document, size
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Judgement, Question
from ragstone.kernel.tables import read_rows, write_rows

MODEL = "openai/gpt-4o-mini"


def scores_of(n: int, ups: int, downs: int) -> tuple[list[float], list[float]]:
    """Scores of n questions, of which the first become right, the next wrong, and others stay right."""
    same = [1.0] * (n - ups - downs)
    return [0.0] * ups + [1.0] * downs + same, [1.0] * ups + [0.0] * downs + same


PROMPTS = {
    name: f"Answer the question {{question}}\nfrom the passages {{contexts}}{alone}.\nSay so if they do not."
    for name, alone in (("may", ""), ("july", " alone"))
}


def told_by(name: str, k: int, prompt: str) -> dict[str, object]:
    """What the manifest of a run says beside its judges."""
    return {
        "ragstone": "0.1.0",
        "settings": {
            "run": {"name": name, "seed": 0},
            "retrieve": {"retriever": "bm25", "k": k, "where": {}},
            "answer": {"model": MODEL, "prompt": "strict", "temperature": None},
        },
        "models": {"answer": MODEL},
        "files": {"rankings.jsonl": "1", "questions.jsonl": "2"},
        "prompt": {"name": "strict", "version": 1, "digest": prompt, "text": PROMPTS[prompt]},
    }


def write_pair(folder: Path, ups: int, downs: int, n: int = 40, k: int = 3, prompt: str = "may") -> None:
    """Two runs of one system: 0 or 1 by containment, 0 to 2 by a model; texts, seconds, tokens, cost.

    k, prompt: of the second one; of the first 3 and that of May.
    """
    both = zip(("may", "july"), scores_of(n, ups, downs), (1.0, 1.5), (3, k), ("may", prompt), strict=True)
    for name, scores, seconds, places, asked in both:
        graded = [2 * score for score in scores]
        rows = [
            *judged(scores),
            *judged(graded, "correctness", model=MODEL, scale=(0, 2)),
            *(judged(scores, f"only_{name}")),
        ]
        said = answers([f"It is number {at}." if score else "No idea." for at, score in enumerate(scores)])
        timed = answers([row.answer for row in said], seconds=seconds)
        write_run(
            folder / name,
            rows,
            said=timed,
            asked=questions(n),
            ranked=rankings([at % 6 + 1 if at % 6 < places else None for at in range(n)], places),
            digests={"containment": "1"},
            **told_by(name, places, asked),
        )


def compare(*options: object) -> Ran:
    return ragstone("compare", "may", "july", *options)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "ups", "downs", "k", "prompt"),
    [("better", 12, 1, 5, "july"), ("cannot_tell", 5, 4, 3, "may"), ("worse", 1, 12, 3, "july")],
)
def test_terminal_and_markdown_are_as_they_were(folder, name, ups, downs, k, prompt):
    write_pair(folder, ups, downs, k=k, prompt=prompt)
    ran = compare("--gate", "-o", "comparison.md")
    assert ran.code == {"better": 0, "cannot_tell": 3, "worse": 1}[name]
    for end, out in (("screen.txt", ran.out), ("txt", compare("--gate", "--all").out)):
        lines = "\n".join(line.rstrip() for line in out.splitlines()) + "\n"
        check_golden(f"compare/{name}.{end}", lines)
    check_golden(f"compare/{name}.md", (folder / "comparison.md").read_text(encoding="utf-8"))


def test_tables_fit_80_columns(folder):
    write_pair(folder, 5, 4)
    lines = shown(comparison_document(api.compare("may", "july")), 80).splitlines()
    row = next(line for line in lines if line.startswith("  containment: correctness"))
    assert row.split()[2:] == ["0.88", "0.90", "+0.03", "−0.12", "to", "+0.17", "cannot", "tell"]


def test_without_a_gate_worse_is_no_failure(folder):
    write_pair(folder, 1, 12)
    ran = compare()
    assert (ran.code, "Gate" in ran.out) == (0, False)


def test_margin_lets_pass_what_nobody_can_tell(folder, says):
    write_pair(folder, 5, 4)
    passed = compare("--gate", "--margin", "0.3", "--metric", "containment")
    assert passed.code == 0
    says(sentence_in(passed.out, "Gate: passed with"))
    assert compare("--gate", "--margin", "0.01", "--metric", "containment").code == 3


def test_json_holds_every_flip_and_the_gate(folder):
    write_pair(folder, 12, 1)
    ran = compare("--json", "--metric", "containment")
    found = json.loads(ran.out)
    assert [row["judge"] for row in found["metrics"]] == ["containment"]
    assert len(found["metrics"][0]["wrong_to_right"]) == 12
    overlap = found["metrics"][0]["overlap"]
    assert (overlap["n_only_a"], overlap["n_both"], overlap["n_only_b"]) == (12, 0, 1)
    assert found["metrics"][0]["right_to_wrong"][0]["documents_a"][0] == {
        "place": 1,
        "document_id": "d12",
        "lang": None,
        "copy": True,
    }
    assert found["gate"]["outcome"] == "passed"


def test_metrics_of_one_run_alone_are_told(folder, says):
    write_pair(folder, 5, 4)
    says(sentence_in(compare("--all").out, "only in A:"))


def test_min_effect_says_how_many_questions_that_takes(folder, says):
    write_pair(folder, 5, 4)
    says(sentence_in(compare("--metric", "containment", "--min-effect", "0.05").out, "to find 5"))
    says(sentence_in(compare("--metric", "containment").out, "to find 2"))


@pytest.mark.parametrize(
    ("scale", "said"),
    [
        ((0, 1), "2 points"),
        ((0, 100), "0.02 of 100"),
        ((1, 5), "0.02 on the scale of 1 to 5"),
        (None, "0.02 in the judge's own unit"),
    ],
)
def test_a_difference_names_its_unit(folder, scale, said):
    write_pair(folder, 5, 4)
    [row] = api.compare(folder / "may", folder / "july", metrics=["containment"]).metrics
    assert size(-0.02, msgspec.structs.replace(row, scale=scale)) == said


def test_seed_changes_intervals_by_chance_alone(folder):
    write_pair(folder, 5, 4)
    one, other = (
        json.loads(compare("--json", "--metric", "containment", "--seed", seed).out) for seed in (0, 1)
    )
    assert (one["seed"], other["seed"]) == (0, 1)
    assert one["metrics"][0]["difference"]["value"] == other["metrics"][0]["difference"]["value"]


def test_files_of_judgements_take_documents_from_questions(folder, says):
    ours, theirs = scores_of(20, 20, 0)
    for name, scores in (("a.jsonl", ours), ("b.jsonl", theirs)):
        write_rows(folder / name, judged(scores), Judgement)
    write_rows(folder / "questions.jsonl", questions(20, a_document=5), Question)
    assert ragstone("compare", "a.jsonl", "b.jsonl", "--gate").code == 0
    ran = ragstone("compare", "a.jsonl", "b.jsonl", "--gate", "--questions", "questions.jsonl")
    assert ran.code == 3  # four documents: 2 / 2^4
    says(sentence_in(ran.out, "No manifest in"))


def test_shared_leaves_out_what_one_lacks(folder, says):
    write_run(folder / "may", judged([1.0] * 8), digests={})
    write_run(folder / "july", judged([1.0] * 6), digests={})
    ran = compare()
    assert ran.code == 2
    says(sentence_in(ran.err, "questions only in"))
    says(sentence_in(compare("--shared").out, "Compared on 6"))


def test_two_systems_of_one_run_are_named(folder, says):
    rows = [*judged([0.0] * 8, system="x"), *judged([1.0] * 8, system="y")]
    write_run(folder / "may", rows)
    ran = ragstone("compare", "may", "may", "--system-a", "x", "--system-b", "y", "--gate")
    assert ran.code == 0
    says(ran.out)


@pytest.mark.parametrize(("failed", "code"), [(9, 1), (10, 2)])
def test_a_gate_fails_where_most_questions_fail_and_refuses_where_all_do(folder, failed, code, says):
    for name, scores in (("may", [1.0] * 10), ("july", ["app_error"] * failed + [1.0] * (10 - failed))):
        write_run(folder / name, judged(scores), digests={})
    ran = compare("--gate")
    assert ran.code == code
    says(ran.err if code == 2 else sentence_in(ran.out, "Gate"))


def test_several_systems_are_named_and_may_have_questions_of_their_own(folder, says):
    rows = [*judged({"q0": 1.0, "q1": 0.0}, system="x"), *judged({"q2": 1.0}, system="y")]
    said = [*answers(["a", "b"], system="x"), *answers(["c", "d", "e"], system="y")[2:]]
    for name in ("may", "july"):
        write_run(folder / name, rows, said=said, digests={})
    ran = compare("--gate", "--margin", "0.01")
    assert ran.code == 0
    says(sentence_in(ran.out, "correctness of x"))
    says(sentence_in(ran.out, "same as before"))


@pytest.mark.parametrize(
    ("a", "b", "told"),
    [
        ("may", "may/../may", "A and B are the same run"),
        ("may", "nowhere", "nowhere: no such file or folder"),
        ("may", "bare", "bare: not a run, because it has no judgements.jsonl"),
        ("may", "empty.jsonl", "empty.jsonl: the file is empty"),
        ("may", "may/questions.jsonl", "field 'question_id' is missing"),
        ("may", "broken", "not a manifest of Ragstone"),
    ],
)
def test_what_is_no_other_run_is_refused(folder, a, b, told):
    write_pair(folder, 5, 4)
    (folder / "bare").mkdir()
    (folder / "empty.jsonl").touch()
    (write_run(folder / "broken", judged([1.0])) / "manifest.json").write_text("{}")
    ran = ragstone("compare", a, b)
    assert ran.code == 2
    assert told in " ".join(ran.err.split())


def test_output_does_not_replace_a_source(folder):
    write_rows(folder / "a.jsonl", judged([1.0]), Judgement)
    write_rows(folder / "b.jsonl", judged([1.0]), Judgement)
    assert ragstone("compare", "a.jsonl", "b.jsonl", "-o", "b.jsonl").code == 2
    assert len(list(read_rows("b.jsonl", Judgement))) == 1


def test_text_from_outside_is_shown_as_it_is(folder):
    ours, theirs = scores_of(8, 8, 0)
    evil = ["</details><script>x</script> | @everyone [a](http://x) \x1b[31m#1"] * 8
    for name, scores in (("may", ours), ("july", theirs)):
        write_run(folder / name, judged(scores), said=answers(evil), digests={})
    ran = compare("-o", "c.md")
    text = (folder / "c.md").read_text(encoding="utf-8")
    assert "<script" not in text
    assert "\\[a\\](http" in text
    assert "@everyone" not in text
    assert "\x1b" not in ran.out + text


def test_a_page_holds_what_the_terminal_says(folder, says):
    write_pair(folder, 12, 1, k=5, prompt="july")
    assert compare("-o", "c.html").code == 0
    page = (folder / "c.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    says(sentence_in(page, "2 settings differ"))
    says(sentence_in(page, "-from the"))
    says(sentence_in(page, "+from the"))
    assert "recall@3 → recall@5" in page


def test_json_holds_settings_prompt_retrieval_and_what_answers_took(folder, says):
    write_pair(folder, 12, 1, k=5, prompt="july")
    found = json.loads(compare("--json").out)
    assert found["settings"][1] == {"name": "[retrieve] k", "a": "3", "b": "5", "decides": True}
    says(found["prompt_diff"])
    assert [row["measure"] for row in found["retrieval"]][-1] == "recall@3 → recall@5"
    assert found["spent"][0]["median"]["difference"]["value"] == pytest.approx(0.5)


def test_what_changed_is_left_out_where_no_manifest_tells_it(folder, says):
    write_pair(folder, 5, 4)
    write_rows(folder / "bare.jsonl", read_rows(folder / "july" / "judgements.jsonl", Judgement), Judgement)
    ran = ragstone("compare", "may", "bare.jsonl", "--all")
    shown = " ".join(ran.out.split())
    assert (ran.code, "What changed" in shown) == (0, False)
    says(sentence_in(ran.out, "No manifest"))
    says(sentence_in(ran.out, "Retrieval is not"))
    assert json.loads(ragstone("compare", "may", "bare.jsonl", "--json").out)["settings"] is None


def test_a_manifest_of_an_earlier_version_has_no_text_of_its_prompt(folder, says):
    write_pair(folder, 5, 4, prompt="july")
    path = folder / "may" / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest["prompt"]["text"]
    path.write_text(json.dumps(manifest))
    shown = compare().out
    says(sentence_in(shown, "version 1 (digest"))
    says(sentence_in(shown, "The texts of"))


def test_two_systems_of_one_run_differ_in_what_they_are(folder):
    rows = [*judged([0.0] * 8, system="x"), *judged([1.0] * 8, system="y")]
    write_run(folder / "may", rows, digests={}, settings={"retrieve": {"k": 3}})
    ran = ragstone("compare", "may", "may", "--system-a", "x", "--system-b", "y", "--json")
    assert json.loads(ran.out)["settings"] == [{"name": "system", "a": "x", "b": "y", "decides": True}]


def test_a_hostile_prompt_stays_text(folder):
    write_pair(folder, 5, 4, prompt="july")
    path = folder / "july" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["prompt"]["text"] = "<script>x</script> {question}\n````\n@everyone \x1b[31m"
    path.write_text(json.dumps(manifest))
    ran = compare("-o", "c.md")
    text = (folder / "c.md").read_text(encoding="utf-8")
    assert "\x1b" not in ran.out + text
    fences = [line for line in text.splitlines() if line.startswith("`````")]
    assert fences == ["`````diff", "`````"]  # longer than the one that stands in the prompt
    compare("-o", "c.html")
    page = (folder / "c.html").read_text(encoding="utf-8")
    assert "<script>x" not in page
    assert "<ins>+&lt;script&gt;x&lt;/script&gt; {question}</ins>" in page


def test_lists_of_judgements_are_compared_from_python(says):
    found = api.compare(judged([0.0] * 8), judged([1.0] * 8))
    assert (found.metrics[0].verdict, len(found.notes)) == ("better", 1)
    assert "--labels" in found.notes[0]
    assert isinstance(found, api.Comparison)
    assert (found.a, found.b) == ("the first list (8 judgements)", "the second list (8 judgements)")
    with pytest.raises(DataError) as error:
        api.compare([], judged([1.0]))
    says(error.value)
    asked = questions(8, a_document=4)
    assert api.compare(judged([0.0] * 8), judged([1.0] * 8), questions=asked).metrics[0].n_clusters == 2


@pytest.mark.parametrize("place", ["may", "may/manifest.json/comparison.md"])
def test_output_that_cannot_be_written_is_wrong_use_and_no_failed_gate(folder, place):
    write_pair(folder, 12, 1)
    ran = compare("--gate", "-o", place)
    assert ran.code == 2
    assert place in ran.err


@pytest.mark.parametrize("scores", [[1.0] * 6, [0.0, 1.0, 0.0, 1.0, 1.0, 0.0]])
def test_a_run_and_its_copy_differ_in_no_score_and_what_may_be_hidden_is_said(folder, scores, says):
    rows = [
        {"question_id": f"q{at}", "system": "s", "judge": "correctness", "metric": "correctness",
         "model": "none", "prompt_version": 1, "status": "scored", "score": score, "scale": [0, 1]}
        for at, score in enumerate(scores)
    ]  # fmt: skip
    for name in ("a.jsonl", "b.jsonl"):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    says(shown(comparison_document(api.compare("a.jsonl", "b.jsonl"))))


def test_what_python_functions_return_is_compared_as_its_folder_is(tmp_path, monkeypatch, says):
    monkeypatch.chdir(tmp_path)
    write_rows(
        "q.jsonl", [Question(id="1", question="When is wheat sown?", reference="In October.")], Question
    )
    Path("d.jsonl").write_text('{"id": "d", "text": "Wheat is sown in October."}\n')
    settings = (
        '[run]\nname = "NAME"\n[questions]\npath = "q.jsonl"\n[documents]\npaths = ["d.jsonl"]\n'
        '[answer]\nsystem = "extractive"\n[judge]\njudges = ["containment"]\n'
    )
    summaries = []
    for name in ("a", "b"):
        Path(f"{name}.toml").write_text(settings.replace("NAME", name))
        summaries.append(api.run(f"{name}.toml"))
    by_folder = api.compare("runs/a", "runs/b")
    assert api.compare(*summaries) == by_folder
    assert api.compare(api.read_run("runs/a"), summaries[1]) == by_folder
    with pytest.raises(DataError) as error:
        api.compare(summaries[0], "runs/a")
    says(error.value)
    shutil.move("runs/b", "runs/a-copy")
    with pytest.raises(DataError) as error:
        api.compare(*summaries)
    says(error.value)
    shutil.move("runs/a-copy", "runs/b")
    other = msgspec.structs.replace(summaries[0], name="b", version="0")
    with pytest.raises(DataError) as error:
        api.compare(summaries[0], other)
    says(error.value)


def test_runs_of_the_same_documents_from_two_working_folders_differ_in_no_setting(tmp_path, monkeypatch):
    (tmp_path / "farm" / "docs").mkdir(parents=True)
    (tmp_path / "farm/docs/wheat.md").write_text("Wheat is sown in October.")
    write_rows(tmp_path / "farm/q.jsonl", [Question(id="1", question="When?", reference="October")], Question)
    for name in ("a", "b"):
        (tmp_path / f"farm/{name}.toml").write_text(
            f'[run]\nname = "{name}"\n[questions]\npath = "q.jsonl"\n[documents]\npaths = ["docs"]\n'
            '[answer]\nsystem = "extractive"\n[judge]\njudges = ["containment"]\n'
        )
    monkeypatch.chdir(tmp_path / "farm")
    api.run("a.toml")
    monkeypatch.chdir(tmp_path)
    api.run("farm/b.toml")
    assert api.compare("farm/runs/a", "farm/runs/b").settings == []
