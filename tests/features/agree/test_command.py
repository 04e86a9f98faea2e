"""`ragstone agree`: the page, the groups, tuned rows."""

import json
import shlex

import pytest
from tests.support.command import TO_FILE, ragstone
from tests.support.golden import sentence_in


@pytest.fixture
def judged(project):
    """The sheet judged by a baseline, and labels with two further columns."""
    labels = [
        {
            "question_id": f"q{n}",
            "system": "mine",
            "score": n % 2,
            "crop": "wheat" if n < 3 else "maize",
            "lang": "en",
        }
        for n in range(6)
    ]
    (project / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in labels))
    ragstone("judge", "answers.jsonl", "--judge", "containment", *TO_FILE)
    return project


def test_page_is_written_beside_what_is_shown(judged, says):
    ran = ragstone("agree", "judgements.jsonl", "labels.jsonl", "--page", "card.html")
    assert (ran.code, "Report cards: card.html" in ran.out) == (0, True)
    page = (judged / "card.html").read_text(encoding="utf-8")
    says(sentence_in(page, "How far can"))
    assert "containment: correctness" in page


def test_page_goes_with_json_too(judged):
    ran = ragstone("agree", "judgements.jsonl", "labels.jsonl", "--page", "card.html", "--json")
    assert json.loads(ran.out)[0]["judge"] == "containment"
    assert (judged / "card.html").is_file()


def test_answers_are_grouped_by_a_column_that_is_asked_for(judged, says):
    ran = ragstone("agree", "judgements.jsonl", "labels.jsonl", "--by", "crop", "--all")
    assert "by crop" in ran.out
    assert "by crop" not in ragstone("agree", "judgements.jsonl", "labels.jsonl", "--all").out
    wrong = ragstone("agree", "judgements.jsonl", "labels.jsonl", "--by", "soil")
    assert wrong.code == 2
    says(wrong.err)


def test_rows_that_the_judge_was_made_with_are_refused(judged, says):
    rows = [json.loads(line) for line in (judged / "judgements.jsonl").read_text().splitlines()]
    for row in rows:
        row["metadata"] = {"tuned": True}
    (judged / "judgements.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    ran = ragstone("agree", "judgements.jsonl", "labels.jsonl")
    assert ran.code == 2
    says(ran.err)


def test_page_does_not_replace_the_labels(judged, says):
    before = (judged / "labels.jsonl").read_bytes()
    ran = ragstone("agree", "judgements.jsonl", "labels.jsonl", "--page", "labels.jsonl")
    assert ran.code == 2
    says(ran.err)
    assert (judged / "labels.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--map", "good=fine"), "write LABEL=SCORE, with a score"),
        (("--map", "1=nan"), "write LABEL=SCORE, with a score"),
        (("--threshold", "containment=inf"), "write NAME=NUMBER"),
        (("--threshold", "containment=5000"), "its scale is 0 to 1"),
        (("--threshold", "contanment=0.5"), "Did you mean 'containment'?"),
    ],
)
def test_options_that_mean_nothing_are_refused(judged, given, said):
    ran = ragstone("agree", "judgements.jsonl", "labels.jsonl", *given)
    assert (ran.code, said in ran.err) == (2, True)


def test_threshold_of_a_variant(judged):
    rows = (judged / "judgements.jsonl").read_text(encoding="utf-8")
    (judged / "judgements.jsonl").write_text(rows.replace('"containment"', '"rubric@scale=0-10"'))
    ran = ragstone(
        "agree", "judgements.jsonl", "labels.jsonl", "--threshold", "rubric@scale=0-10=1", "--json"
    )
    assert ran.code == 0


SHEET = (
    "question,answer,reference,contexts\n"
    "Who?,Ann,Ann,Ann did it.\nWhen?,May,June,It was June then.\nWhere?,Rome,Rome,It was in Oslo.\n"
)


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Answers of a user's own, judged by judges of two metrics."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text(SHEET)
    assert ragstone("judge", "a.csv", "--judge", "containment", "--judge", "grounding", *TO_FILE).code == 0
    return tmp_path


@pytest.mark.parametrize(
    ("name", "grades"),
    [
        ("user_input", ("100%", "0 %", "100 %")),
        ("input", ("yes", "no", "Yes")),
        ("query", ("TRUE", "FALSE", "TRUE")),
        ("Question", ("yes", "no", "Yes")),
    ],
)
def test_labels_are_found_by_any_name_of_a_question_and_speak_of_correctness(own, name, grades, says):
    rows = zip(("Who?", "When?", "Where?"), grades, strict=True)
    (own / "l.csv").write_text("\n".join([f"{name},label", *(",".join(row) for row in rows)]))
    ran = ragstone("agree", "judgements.jsonl", "l.csv", "--json")
    assert [(card["judge"], card["n"]) for card in json.loads(ran.out)] == [("containment", 3)]
    says(ran.err)


def test_words_are_told_with_the_command_that_gives_them_scores(own, monkeypatch, says):
    (own / "l.csv").write_text("question,verdict\nWho?,good\nWhen?,bad\nWhere?,good\n")
    given = ["agree", "judgements.jsonl", "l.csv"]
    monkeypatch.setattr("sys.argv", ["ragstone", *given])
    ran = ragstone(*given)
    assert ran.code == 2
    says(ran.err)
    _, *again = shlex.split(ran.err.rpartition("Run:")[2])
    assert again == [*given, "--map", "good=1,bad=0"]
    ran = ragstone(*again, "--json")
    assert [card["n"] for card in json.loads(ran.out)] == [3]


def test_no_scores_are_proposed_that_merge_words_or_stand_beside_others(own):
    for verdicts, given in (
        ("good bad ok", ()),
        ("good bad fair", ()),
        ("good bad great", ("--map", "great=4")),
    ):
        lines = [
            f"{question}?,{word}"
            for question, word in zip(("Who", "When", "Where"), verdicts.split(), strict=True)
        ]
        (own / "l.csv").write_text("\n".join(["question,verdict", *lines]) + "\n")
        ran = ragstone("agree", "judgements.jsonl", "l.csv", *given)
        assert (ran.code, "Run:" in ran.err) == (2, False)
        assert "good=?,bad=?" in ran.err


def test_a_sheet_of_one_criterion_speaks_of_the_metric_that_its_column_is_named_after(own, caplog, says):
    (own / "l.csv").write_text("Question,Faithfulness\nWho?,0\nWhen?,1\nWhere?,0\n")
    ran = ragstone("agree", "judgements.jsonl", "l.csv", "--json")
    assert [card["metric"] for card in json.loads(ran.out)] == ["faithfulness"]
    says("\n".join(caplog.messages))  # not .text: Ray, if a test has started it, writes another form


def test_the_sheets_texts_stand_beside_disagreements(own):
    (own / "l.csv").write_text("question,label\nWho?,0\nWhen?,0\nWhere?,1\n")
    (first, *_) = json.loads(ragstone("agree", "judgements.jsonl", "l.csv", "--sheet", "a.csv", "--json").out)
    texts = [(one["question"], one["answer"], one["reference"]) for one in first["disagreements"]]
    assert texts == [("Who?", "Ann", "Ann")]


def test_words_of_a_wide_scale_are_mapped_before_they_are_read_as_yes_and_no(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    row = {"system": "s", "judge": "rubric", "metric": "correctness", "model": "m", "status": "scored"}
    rows = [
        {**row, "question_id": f"q{at}", "score": score, "scale": [0, 3], "prompt_version": 1}
        for at, score in enumerate((3, 2, 1, 0))
    ]
    (tmp_path / "j.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    (tmp_path / "l.csv").write_text(
        "question_id,system,label\nq0,s,right\nq1,s,partly\nq2,s,poor\nq3,s,wrong\n"
    )
    ran = ragstone("agree", "j.jsonl", "l.csv", "--map", "right=3,partly=2,poor=2,wrong=0", "--json")
    [card] = json.loads(ran.out)
    # right is 3 and not 1; q2 alone differs: people 2, the judge 1
    assert card["names"] == ["0", "1", "2", "3"]
    assert card["confusion"] == [[1, 0, 0, 0], [0, 0, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]]


@pytest.fixture
def languages(project):
    """Twelve questions in two languages, judged: in Spanish half is found of what is found in English."""
    rows = [
        {
            "question_id": f"{lang}-{at}",
            "question": f"Question {at}?",
            "reference": "Berlin",
            "answer": "Berlín" if lang == "es" and at % 2 else "Berlin.",
            "lang": lang,
            "key": at,
        }
        for at in range(12)
        for lang in ("en", "es")
    ] + [{"question_id": "x", "question": "?", "reference": "a", "answer": "a", "lang": "es", "key": "99"}]
    write(project / "sheet.jsonl", rows)
    write(project / "labels.jsonl", [{"question_id": f"es-{at}", "score": 1} for at in range(4)])
    ragstone("judge", "sheet.jsonl", "--judge", "containment", "--judge", "token_f1", *TO_FILE)
    return project


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


COPIES = ("--sheet", "sheet.jsonl", "--parallel", "key")


def test_languages_are_compared_without_labels(languages, says):
    ran = ragstone("agree", "judgements.jsonl", *COPIES, "--page", "page.html")
    assert ran.code == 0
    says(sentence_in(ran.out, "same in every"))
    says(sentence_in((languages / "page.html").read_text(encoding="utf-8"), "same in every"))
    told = json.loads(ragstone("agree", "judgements.jsonl", *COPIES, "--json").out)
    assert [one["judge"] for one in told] == ["containment", "token_f1"]
    [row] = told[0]["parity"]
    assert (row["lang"], row["n"], row["unpaired"], row["flips"]["value"]) == ("es", 12, 1, 0.5)
    assert row["verdict"] == "lower"
    turned = json.loads(ragstone("agree", "judgements.jsonl", *COPIES, "--base", "es", "--json").out)
    assert turned[0]["parity"][0]["verdict"] == "higher"


def test_labels_correct_the_means_of_each_language(languages, says):
    ran = ragstone("agree", "judgements.jsonl", "labels.jsonl", *COPIES, "--all")
    assert ran.code == 0
    says(sentence_in(ran.out, "would give, by"))
    says(sentence_in(ran.out, "Is the judge"))
    told = json.loads(ragstone("agree", "judgements.jsonl", "labels.jsonl", *COPIES, "--json").out)
    [mean] = told[0]["corrected_by_language"]
    assert (mean["system"], mean["n_labelled"], mean["n_rows"]) == ("es", 4, 13)
    # The field of translations is looked for without being asked; these rows have another one.
    alone = json.loads(
        ragstone("agree", "judgements.jsonl", "labels.jsonl", "--sheet", "sheet.jsonl", "--json").out
    )
    assert alone[0]["parity"] == []


def test_translations_are_compared_without_being_asked(languages, says):
    rows = [json.loads(line) for line in (languages / "sheet.jsonl").read_text().splitlines()]
    write(languages / "sheet.jsonl", [{**row, "metadata": {"parallel": row["key"]}} for row in rows])
    ran = ragstone("agree", "judgements.jsonl", "labels.jsonl", "--sheet", "sheet.jsonl", "--all")
    says(sentence_in(ran.out, "same in every"))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([], "no judged answer has a field 'parallel'"),
        (["--sheet", "sheet.jsonl"], "no judged answer has a field 'parallel'"),
        (["--sheet", "sheet.jsonl", "--parallel", "nope"], "no judged answer has a field 'nope'"),
        ([*COPIES, "--base", "fr"], "in these languages: en, es. A comparison needs 'fr'"),
        ([*COPIES, "--metric", "nope"], "no judgements to compare"),
        ([*COPIES, "--threshold", "nope=1"], "no judge of that name"),
        (["nothing.jsonl", *COPIES], "nothing.jsonl"),
        (["--sheet", "nothing.jsonl", "--parallel", "key"], "nothing.jsonl"),
    ],
)
def test_what_is_missing_to_compare_languages_is_said(languages, given, told):
    ran = ragstone("agree", "judgements.jsonl", *given)
    assert (ran.code, told in ran.err) == (2, True), ran.err


def test_a_runs_questions_say_what_they_are_copies_of(languages, says):
    run = languages / "runs" / "two"
    run.mkdir(parents=True)
    rows = [json.loads(line) for line in (languages / "sheet.jsonl").read_text().splitlines()]
    questions = [
        {
            "id": row["question_id"],
            "question": "?",
            "lang": row["lang"],
            "metadata": {"parallel": str(row["key"])},
        }
        for row in rows
    ]
    write(run / "questions.jsonl", questions)
    write(
        run / "answers.jsonl", [{"question_id": row["question_id"], "answer": row["answer"]} for row in rows]
    )
    (run / "judgements.jsonl").write_text((languages / "judgements.jsonl").read_text())
    ran = ragstone("agree", "runs/two")
    assert ran.code == 0
    says(sentence_in(ran.out, "Is the judge"))


def test_labels_under_two_policies_are_refused_until_one_is_chosen(judged, says):
    rows = [json.loads(line) for line in (judged / "labels.jsonl").read_text().splitlines()]
    text = "".join(
        json.dumps(row | {"policy": "f3a90c1d" if n < 4 else "b0771e22"}) + "\n" for n, row in enumerate(rows)
    )
    (judged / "labels.jsonl").write_text(text)
    ran = ragstone("agree", "judgements.jsonl", "labels.jsonl")
    says(ran.err)
    assert ran.code == 2
    ran = ragstone("agree", "judgements.jsonl", "labels.jsonl", "--policy", "f3a90c1d", "--json")
    assert (ran.code, json.loads(ran.out)[0]["n"]) == (0, 4)
    ran = ragstone("agree", "judgements.jsonl", "labels.jsonl", "--policy", "f3a90c1e")
    says(ran.err)
    assert ran.code == 2
    ran = ragstone("agree", "judgements.jsonl", "--policy", "f3a90c1d")
    says(ran.err)
    assert ran.code == 2


def judged_by_two(folder, n, errors):
    """n answers, every second right; a model is wrong on some of them, a baseline on half."""
    rows, labels = [], []
    for at in range(n):
        human = int(at % 3 != 0)
        model = 1 - human if at in errors else human
        for judge, name, score in (("rubric", "x/y", model), ("containment", "none", at % 2)):
            rows.append(
                {
                    "question_id": f"q{at}",
                    "system": "mine",
                    "judge": judge,
                    "metric": "correctness",
                    "model": name,
                    "prompt_version": 1,
                    "status": "scored",
                    "score": score,
                    "scale": [0, 1],
                }
            )
        labels.append({"question_id": f"q{at}", "system": "mine", "score": human})
    write(folder / "both.jsonl", rows)
    write(folder / "people.jsonl", labels)


@pytest.mark.long
@pytest.mark.parametrize(
    ("n", "errors", "bar", "code"),
    [(150, {9, 60}, "0.8", 0), (40, {9}, "0.8", 3), (150, range(0, 150, 3), "0.8", 1), (10, set(), "0.8", 3)],
)
def test_a_bar_is_answered_by_the_exit_code(project, says, n, errors, bar, code):
    judged_by_two(project, n, errors)
    ran = ragstone("agree", "both.jsonl", "people.jsonl", "--trust", bar, "--all")
    says(" ".join(ran.out[ran.out.index("While labels come in") :].split()))
    assert ran.code == code, ran.err


def test_sequential_adds_an_interval_to_cards_json_and_page(project, says):
    judged_by_two(project, 60, {9, 30})
    plain = json.loads(ragstone("agree", "both.jsonl", "people.jsonl", "--json").out)
    ran = ragstone("agree", "both.jsonl", "people.jsonl", "--sequential", "--page", "card.html", "--json")
    cards = json.loads(ran.out)
    assert (ran.code, len(cards)) == (0, 2)
    for card, before in zip(cards, plain, strict=True):
        sequence = card.pop("sequential")
        assert card == before
        own = card["agreement"]["kappa"]
        assert sequence["low"] < own["low"] < sequence["value"] < sequence["high"]
    says(sentence_in((project / "card.html").read_text(encoding="utf-8"), "While labels"))


@pytest.mark.long
def test_measure_says_what_the_bar_is_of(project):
    judged_by_two(project, 150, range(0, 30, 2))
    codes = {
        measure: ragstone("agree", "both.jsonl", "people.jsonl", "--trust", "0.8", "--measure", measure).code
        for measure in ("kappa", "agreement")
    }
    assert codes == {"kappa": 3, "agreement": 0}


@pytest.mark.parametrize(
    "options",
    [
        ["people.jsonl", "--trust", "1.5"],
        ["people.jsonl", "--trust", "0"],
        ["people.jsonl", "--sequential", "--measure", "kapa"],
        ["people.jsonl", "--trust", "0.5", "--measure", "error"],
        ["people.jsonl", "--measure", "agreement"],
        ["--trust", "0.8"],
        ["empty.jsonl", "--trust", "0.8"],
    ],
)
def test_bars_that_mean_nothing_are_refused(project, says, options):
    judged_by_two(project, 20, set())
    (project / "empty.jsonl").write_text("")
    ran = ragstone("agree", "both.jsonl", *options)
    says(" ".join(ran.err.split()))
    assert ran.code == 2
