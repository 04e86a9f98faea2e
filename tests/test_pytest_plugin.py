"""The plugin as a user has it: a folder with questions and a test, run by pytest."""

import runpy

import pytest
from tests.support.golden import sentence_in
from tests.support.judged_runs import answers, judged, questions, write_run

import ragstone.features.check.marked
import ragstone.kernel.judging.function.loading
import ragstone.kernel.runs
import ragstone.pytest
from ragstone.kernel.records import Label, Question
from ragstone.kernel.tables import write_rows

pytest_plugins = ["pytester"]

HEAD = """
import ragstone as rs
import pytest

def knows(question):
    return {"answer": "It is number " + question.removeprefix("What is ").removesuffix("?")}
"""


@pytest.fixture
def folder(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder with ten questions, each of a document of its own; whatever warns in there is an error."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv(
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1"
    )  # which reads the files of all that is installed
    write_rows(pytester.path / "questions.jsonl", questions(10), Question)
    pytester.makeini(
        "[pytest]\naddopts = --strict-markers -p no:cacheprovider -p ragstone -p pytest_asyncio.plugin\n"
        "filterwarnings = error\n"
        "asyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n"
    )
    return pytester


def ran(folder: pytest.Pytester, test: str) -> tuple[dict[str, int], str]:
    """Return the outcomes of a test file, and what pytest printed."""
    folder.makepyfile(test_app=HEAD + test)
    result = folder.runpytest_inprocess("-q")
    return result.parseoutcomes(), "\n".join(result.outlines)


MARK = '@pytest.mark.ragstone(questions="questions.jsonl", thresholds={"containment": 0.8})\n'


def test_a_function_is_a_judge_of_the_mark(folder, says):
    outcomes, said = ran(
        folder,
        """
def numbered(question, answer):
    return answer.split()[-1] in question

@pytest.mark.ragstone(questions="questions.jsonl", judges=[numbered], thresholds={"numbered": 0.9})
def test_app(ragstone_check):
    ragstone_check(knows)
""",
    )
    assert outcomes == {"passed": 1}
    says(sentence_in(said, "threshold 0.9"))


def test_good_application_passes_and_its_mean_is_shown(folder, says):
    outcomes, said = ran(
        folder,
        MARK
        + """
def test_app(ragstone_check):
    checked = ragstone_check(knows)
    assert len(checked.answers) == 10
    assert checked.answers[0].system == "knows"
""",
    )
    assert outcomes == {"passed": 1}
    says(sentence_in(said, "threshold 0.8"))


def test_async_functions_questions_and_answers_are_taken(folder):
    outcomes, _ = ran(
        folder,
        MARK
        + """
def test_async(ragstone_check):
    async def app(question: rs.Question):
        return rs.Answer(question_id=question.id, answer=question.reference)
    ragstone_check(app)

"""
        + MARK
        + """
async def test_in_a_running_loop(ragstone_check):
    ragstone_check(lambda question: knows(question)["answer"])
""",
    )
    assert outcomes == {"passed": 2}


def test_bad_application_fails_with_the_worst_questions_and_why(folder, says):
    outcomes, said = ran(
        folder,
        MARK
        + """
def test_app(ragstone_check):
    ragstone_check(lambda question: knows(question)["answer"] if question[-2] in "34" else "No idea.")
""",
    )
    assert outcomes == {"failed": 1}
    says(sentence_in(said, "threshold 0.8"))
    assert "Surely below 0.8." in said
    for line in ("  q0 (0): What is 0?", "    answer: No idea.", "    reference: number 0"):
        assert line in said
    assert "q3 (" not in said  # right, and only three of the wrong ones are shown
    assert "Traceback" not in said


def test_mean_below_the_threshold_by_chance_fails_and_says_so(folder, says):
    outcomes, said = ran(
        folder,
        MARK
        + """
def test_app(ragstone_check):
    ragstone_check(lambda question: knows(question)["answer"] if question[-2] < "7" else "No idea.")
""",
    )
    assert outcomes == {"failed": 1}
    says(sentence_in(said, "Below 0.8"))


FLAKY = """
def test_app(ragstone_check):
    def app(question):
        if question[-2] == "5":
            raise ValueError("the index is gone")
        return knows(question)
    ragstone_check(app)
"""


def test_answer_that_failed_never_passes_in_silence(folder, says):
    outcomes, said = ran(folder, MARK + FLAKY)
    assert outcomes == {"failed": 1}
    says(sentence_in(said, "scored of"))
    says(sentence_in(said, "max_unscored allows"))
    says(sentence_in(said, "q5 ("))
    says(sentence_in(said, "index is gone"))


def test_some_failures_may_be_let_pass(folder, says):
    outcomes, said = ran(folder, MARK.replace("})", "}, max_unscored=0.1)") + FLAKY)
    assert outcomes == {"passed": 1}
    says(sentence_in(said, "scored of"))


def test_no_score_at_all_reaches_no_threshold(folder, says):
    bare = [Question(id="q0", question="What is 0?")]
    write_rows(folder.path / "questions.jsonl", bare, Question, force=True)
    outcomes, said = ran(folder, MARK + "def test_app(ragstone_check):\n    ragstone_check(knows)\n")
    assert outcomes == {"failed": 1}
    says(sentence_in(said, "No answer was"))


def test_application_is_asked_anew_in_every_run(folder):
    app = """
def app(question):
    import helper
    return helper.look_up(question)

"""
    test = (
        app
        + MARK
        + """
def test_app(ragstone_check):
    ragstone_check(app)
"""
    )
    folder.makepyfile(helper="def look_up(question):\n    return 'number ' + question[8:-1]\n")
    assert ran(folder, test)[0] == {"passed": 1}
    folder.makepyfile(helper="def look_up(question):\n    return 'No idea.'\n")
    assert ran(folder, test)[0] == {"failed": 1}  # the file of the function itself is as it was


def test_system_of_the_settings_is_asked_by_its_name(folder):
    (folder.path / "ragstone.toml").write_text(
        '[systems]\nmine = { kind = "python", call = "own_app:answer" }\n'
    )
    folder.makepyfile(own_app="def answer(question):\n    return 'number ' + question[8:-1]\n")
    outcomes, said = ran(folder, MARK + "def test_app(ragstone_check):\n    ragstone_check('mine')\n")
    assert outcomes == {"passed": 1}, said


def test_judges_without_a_threshold_are_shown(folder):
    mark = MARK.replace("thresholds=", 'judges=["containment", "token_f1"], thresholds=')
    outcomes, said = ran(folder, mark + "def test_app(ragstone_check):\n    ragstone_check(knows)\n")
    assert outcomes == {"passed": 1}
    assert "token_f1 (correctness) 0.6" in said


def test_rows_in_place_of_a_file(folder):
    mark = MARK.replace('"questions.jsonl"', '[{"id": "q9", "question": "What is 9?", "reference": "9"}]')
    outcomes, said = ran(folder, mark + "def test_app(ragstone_check):\n    ragstone_check(knows)\n")
    assert outcomes == {"passed": 1}, said


BASELINE = (
    '@pytest.mark.ragstone(questions="questions.jsonl", judges=["containment"], baseline="main"{more})\n'
)


@pytest.mark.long
@pytest.mark.parametrize(
    ("scores", "app", "more", "outcome"),
    [
        ([1.0] * 10, "lambda question: 'No idea.'", "", "failed"),
        ([1.0] * 10, "knows", "", "passed"),
        ([0.0] * 2 + [1.0] * 8, "knows", "", "passed"),
        ([0.0] * 2 + [1.0] * 8, "knows", ", margin=0.1", "passed"),
        (
            [1.0] * 10,
            "lambda question: 'number ' + question[8:-1].replace('3', '-')",
            ", margin=0.1",
            "failed",
        ),
        ([1.0] * 10, "lambda question: 'number ' + question[8:-1].replace('3', '-')", "", "passed"),
    ],
)
def test_answers_must_not_be_worse_than_a_run(folder, scores, app, more, outcome):
    rows = judged(scores, system="before")
    write_run(folder.path / "main", rows, said=answers(["x"] * 10, system="before"), asked=questions(10))
    test = BASELINE.format(more=more) + f"def test_app(ragstone_check):\n    ragstone_check({app})\n"
    outcomes, said = ran(folder, test)
    assert outcomes == {outcome: 1}, said
    assert "against main: " in said


def test_a_baseline_of_other_questions_is_refused_without_an_option_that_a_mark_has_not(folder, says):
    asked = [*questions(9), *questions(12)[11:]]
    rows = judged({row.id: 1.0 for row in asked}, system="before")
    write_run(folder.path / "main", rows, said=answers(["x"] * 10, system="before"), asked=asked)
    outcomes, said = ran(
        folder, BASELINE.format(more="") + "def test_app(ragstone_check):\n    ragstone_check(knows)\n"
    )
    assert outcomes == {"failed": 1}
    says(sentence_in(said, "cannot be compared").replace(str(folder.path), "FOLDER"))


@pytest.mark.parametrize("place", ["mark", "settings"])
def test_labels_take_the_judges_error_out_of_the_difference(folder, place, says):
    # Containment sees none of the answers right that it saw right before; people see no difference.
    write_run(
        folder.path / "main",
        judged([1.0] * 10, system="before"),
        said=answers(["x"] * 10, system="before"),
        asked=questions(10),
    )
    labels = [
        Label(question_id=f"q{at}", system=system, score=1.0)
        for at in range(10)
        for system in ("before", "silent")
    ]
    write_rows(folder.path / "people.jsonl", labels, Label)
    if place == "settings":
        (folder.path / "ragstone.toml").write_text('[gate]\nlabels = "people.jsonl"\n', encoding="utf-8")
    more = ', labels="people.jsonl"' if place == "mark" else ""
    silent = "def silent(question):\n    return 'No idea.'\n\n"
    test = BASELINE.format(more=more) + "def test_app(ragstone_check):\n    ragstone_check(silent)\n"
    outcomes, said = ran(folder, silent + test)
    assert outcomes == {"passed": 1}, said
    says(sentence_in(said, "corrected by"))


@pytest.mark.long
@pytest.mark.parametrize(
    ("mark", "told"),
    [
        ("", "mark this test with @pytest.mark.ragstone"),
        ("@pytest.mark.ragstone()\n", "missing 1 required positional argument: 'questions'"),
        (MARK.replace("thresholds", "treshold"), "unexpected keyword argument 'treshold'"),
        (MARK.replace("questions.jsonl", "gone.jsonl"), "gone.jsonl"),
        (MARK.replace("containment", "containmant"), "Did you mean 'containment'"),
        (MARK.replace('{"containment": 0.8}', "{}"), "names no judge"),
        (
            MARK.replace("thresholds=", 'judges=["token_f1"], thresholds='),
            "thresholds: nothing is judged by 'containment'",
        ),
        (MARK.replace('"questions.jsonl"', "[]"), "it contains no question"),
        (MARK.replace('{"containment": 0.8}', '["containment"]'), "thresholds are a mapping"),
        (MARK.replace("0.8", '"0.8"'), "the threshold of containment is '0.8', which is not a number"),
        (MARK.replace("0.8", 'float("nan")'), "which is not a number"),
        (MARK.replace("thresholds=", 'judges="containment", thresholds='), "judges are a list"),
        (MARK.replace("})", "}, max_unscored=5)"), "max_unscored is a share between 0 and 1"),
        (MARK.replace("})", "}, margin=0.1)"), "name the run as baseline"),
        (MARK.replace("})", '}, labels="people.jsonl")'), "labels are of a comparison"),
        (MARK.replace('"containment": 0.8})', '"correctness": 80}, model="nobody/x")'), "nobody"),
    ],
)
def test_mistake_in_a_mark_is_told_plainly(folder, mark, told):
    outcomes, said = ran(folder, mark + "def test_app(ragstone_check):\n    ragstone_check(knows)\n")
    assert sum(outcomes.values()) == 1
    assert "passed" not in outcomes
    assert told in said
    assert "Traceback" not in said
    assert "another exception" not in said


@pytest.mark.parametrize("threshold", ["40", "-0.5", "101"])
def test_a_threshold_off_the_scale_is_refused(folder, says, threshold):
    mark = MARK.replace("0.8", threshold)
    _, said = ran(folder, mark + "def test_app(ragstone_check):\n    ragstone_check(knows)\n")
    says(sentence_in(said, "off the scale"))


REFUSED = {
    "threshold": MARK.replace("0.8", "40"),
    "name": MARK.replace("})", '}, judges=["token_f1"])'),
    "margin": BASELINE.format(more=", margin=2"),
    "labels": BASELINE.format(more=', labels="nowhere.jsonl"'),
    "run": BASELINE.format(more="").replace("main", "elsewhere"),
    "questions": BASELINE.format(more="").replace('"questions.jsonl"', "[{'id': 'q0', 'question': 'New?'}]"),
}


@pytest.mark.long
@pytest.mark.parametrize("mark", REFUSED.values(), ids=REFUSED)
def test_what_is_refused_is_refused_before_the_application_is_asked(folder, mark):
    rows = judged([1.0] * 10, system="before")
    write_run(folder.path / "main", rows, said=answers(["x"] * 10, system="before"), asked=questions(10))
    asks = "def asks(question):\n    open('asked', 'w').close()\n    return question\n\n"
    outcomes, said = ran(folder, asks + mark + "def test_app(ragstone_check):\n    ragstone_check(asks)\n")
    assert outcomes == {"failed": 1}
    assert "ragstone: " in said
    assert not (folder.path / "asked").exists()


@pytest.mark.parametrize("threshold", ["0", "1"])
def test_a_threshold_at_an_end_of_the_scale_is_none_off_it(folder, threshold):
    mark = MARK.replace("0.8", threshold)
    outcomes, _ = ran(folder, mark + "def test_app(ragstone_check):\n    ragstone_check(knows)\n")
    assert outcomes == {"passed": 1}


RUDE = """
@rs.judge_function(best="lowest")
def rude(answer):
    return float("number 3" in answer)

@pytest.mark.ragstone(questions="questions.jsonl", judges=[rude], thresholds={"rude": THRESHOLD})
def test_app(ragstone_check):
    ragstone_check(knows)
"""


@pytest.mark.parametrize(("threshold", "outcome"), [(0.5, "passed"), (0.05, "failed")])
def test_a_threshold_of_a_judge_whose_lowest_score_is_the_best_is_a_greatest_mean(
    folder, threshold, outcome, says
):
    test = RUDE.replace("THRESHOLD", str(threshold)).replace("rude", f"rude_{outcome}")
    outcomes, said = ran(folder, test)
    assert outcomes == {outcome: 1}, said
    before_summary, _, _ = said.partition("short test summary")  # which pytest cuts off unless in CI
    says("\n".join(line for line in before_summary.splitlines() if "rude" in line or line.startswith("  ")))


def test_single_row_without_an_interval_is_not_surely_below(folder, says):
    mark = MARK.replace("containment", "token_f1").replace(
        '"questions.jsonl"', '[{"id": "a", "question": "How?", "reference": "number 1"}]'
    )
    _, said = ran(folder, mark + "def test_app(ragstone_check):\n    ragstone_check(lambda _: 'number 2')\n")
    says(sentence_in(said, "Below 0.8"))


def test_function_that_raises_is_named(folder):
    app = "def app(question):\n    raise KeyError('rust')\n\n"
    _, said = ran(folder, app + MARK + "def test_app(ragstone_check):\n    ragstone_check(app)\n")
    assert "test_app:app raised KeyError: 'rust' (test_app.py, line" in said


@pytest.mark.parametrize("test", ["def test_app():\n    pass\n", "def test_app(ragstone_check):\n    pass\n"])
def test_marked_test_that_asks_nothing_does_not_pass(folder, test, says):
    outcomes, said = ran(folder, MARK + test)
    assert outcomes == {"failed": 1}
    says(sentence_in(said, "nothing was asked"))


def test_marks_without_arguments_and_of_classes_and_skipped_tests_ask_nothing(folder):
    test = (
        """
@pytest.mark.ragstone
def test_of_a_project_with_a_mark_of_this_name():
    pass

"""
        + MARK
        + """class TestApp:
    def test_beside_others(self):
        pass

"""
        + MARK
        + """def test_app(ragstone_check):
    pytest.skip("no endpoint")
"""
    )
    assert ran(folder, test)[0] == {"passed": 2, "skipped": 1}


def test_mark_is_known_to_pytest(folder):
    result = folder.runpytest_inprocess("--markers")
    result.stdout.fnmatch_lines(["@pytest.mark.ragstone(questions, thresholds*"])


def test_a_project_with_an_older_pytest_is_not_broken(monkeypatch):
    for name in ("TerminalReporter", "Config", "FixtureRequest", "Item"):  # public since 6.2 to 8.x
        monkeypatch.delattr(pytest, name)
    assert runpy.run_path(ragstone.pytest.__file__)["KEY"] == "ragstone"


def test_plugin_costs_nothing_until_it_is_used(folder):
    folder.makepyfile(
        test_other="""
import sys

def test_nothing_heavy_was_imported():
    assert "ragstone.pytest" in sys.modules
    assert not {"numpy", "aiohttp", "msgspec", "ragstone.kernel.engine"} & set(sys.modules)
"""
    )
    outcomes = folder.runpytest_subprocess("-q").parseoutcomes()
    assert outcomes == {"passed": 1}


SOMETIMES = """
import itertools

calls = itertools.count()

def sometimes(question):  # right two times out of three
    return "number" if next(calls) % 3 else "I do not know."

ROWS = [
    {"id": f"q{at}", "question": f"What is {at}?", "expect": {"contains_all": "number", "pass": "2 of 3"}}
    for at in range(5)
]
BARE = [{**row, "expect": {"contains_all": "number"}} for row in ROWS]
"""


def test_a_row_passes_if_so_many_of_its_answers_do(folder, says):
    outcomes, said = ran(
        folder,
        SOMETIMES
        + """
@pytest.mark.ragstone(questions=ROWS, thresholds={"contains_all": 1.0})
def test_two_of_three(ragstone_check):
    checked = ragstone_check(sometimes)
    assert [row.system for row in checked.answers[:3]] == [
        "sometimes", "sometimes@repeat=2", "sometimes@repeat=3"
    ]

@pytest.mark.ragstone(questions=BARE, thresholds={"contains_all": 1.0}, passes="2 of 3")
def test_of_the_mark(ragstone_check):
    assert len(ragstone_check(sometimes).answers) == 15

@pytest.mark.ragstone(questions=ROWS, thresholds={"contains_all": 1.0}, passes="3 of 3", repeats=4)
def test_a_row_goes_before_the_mark(ragstone_check):
    assert len(ragstone_check(sometimes).answers) == 20
""",
    )
    assert outcomes == {"passed": 3}
    says(sentence_in(said, "contains_all 1, threshold"))


def test_a_row_of_which_too_few_answers_pass_fails_with_the_worst_of_them(folder, says):
    outcomes, said = ran(
        folder,
        SOMETIMES
        + """
@pytest.mark.ragstone(questions=BARE[:1], thresholds={"contains_all": 1.0}, passes="3 of 3")
def test_three_of_three(ragstone_check):
    ragstone_check(sometimes)
""",
    )
    assert outcomes == {"failed": 1}
    start = said.index("contains_all 0, threshold")
    says(said[start : said.index("=====", start)])


@pytest.mark.long
@pytest.mark.parametrize(
    "mark",
    [
        'questions=ROWS, thresholds={"contains_all": 1.0}, repeats=2',
        'questions=BARE, thresholds={"contains_all": 1.0}, repeats=2, passes="2 of 3"',
        'questions=BARE, thresholds={"contains_all": 1.0}, passes="0 of 3"',
        'questions=BARE, thresholds={"contains_all": 1.0}, passes="4 of 3"',
        'questions=BARE, thresholds={"contains_all": 1.0}, repeats=0',
        'questions=BARE, thresholds={"token_f1": 1.0}, passes="2 of 3"',
        'questions=[{**ROWS[0], "expect": {"pass": "most"}}], thresholds={"contains_all": 1.0}',
    ],
)
def test_what_no_repeats_can_mean_is_told_before_anything_is_asked(folder, mark, says):
    outcomes, said = ran(
        folder,
        SOMETIMES
        + f"""
@pytest.mark.ragstone({mark})
def test_app(ragstone_check):
    try:
        ragstone_check(sometimes)
    finally:
        assert next(calls) == 0
""",
    )
    assert outcomes == {"failed": 1}
    says(next(line for line in said.splitlines() if line.startswith("ragstone: ")))


def test_repeats_without_k_of_n_are_one_mean(folder, says):
    outcomes, said = ran(
        folder,
        SOMETIMES
        + """
@pytest.mark.ragstone(questions=BARE, thresholds={"contains_all": 0.6}, repeats=3)
def test_app(ragstone_check):
    ragstone_check(sometimes)
""",
    )
    assert outcomes == {"passed": 1}
    says(sentence_in(said, "contains_all 0.667"))
