"""Learning from people's labels, on a judge with a known bias and a model that can be cured of it."""

import json

import pytest
from tests.support.judged_drafts import JUDGE
from tests.support.known_judges import ANSWER
from tests.support.learned_judges import STRICT, learning_model, learning_project
from tests.support.scripts import fail, prompt_of
from tests.support.texts import undated

from ragstone.features.improve._labelled_sets import read_labelled
from ragstone.features.improve._store import DevelopmentStore
from ragstone.features.improve.develop import DevelopmentRun
from ragstone.features.improve.learn import (
    LearningRun,
    forecast_learning,
    learn_judge,
    run_learning,
    task_of_run,
)
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.judging import load_judge, question_digest

pytestmark = pytest.mark.usefixtures("answering_here")

PERCENT = JUDGE.replace('"boolean"', '"percentage"').replace("[0, 1]", "[0, 100]")


@pytest.fixture
def project(tmp_path, fake_openai):
    """Make a project, and learn in it: `project(cure=...)`, then `project.learn(...)`."""

    class Project:
        folder = tmp_path
        file = tmp_path / "judges" / "mine.toml"
        labels = tmp_path / "labelled.jsonl"

        def __call__(self, **given):
            self.settings = learning_project(tmp_path, fake_openai, **given)
            return self

        def learn(self, judge=None, **given):
            given.setdefault("labels", self.labels)
            return learn_judge(judge or self.file, settings=self.settings, **given)

        def of(self, part):
            """The rows of a part: question -> case number and label."""
            labelled = read_labelled(self.labels)
            found = labelled.of(DevelopmentStore(self.settings).split(labelled), part)
            score = {row.question_id: row.score for row in found.labels}
            return {
                row.question: (int(row.question.split()[-1][:-1]), score[row.question_id])
                for row in found.answers
            }

        def relabel(self, change):
            """Write the labelled rows as `change` makes them."""
            rows = [json.loads(line) for line in self.labels.read_text().splitlines()]
            self.labels.write_text("".join(json.dumps(row) + "\n" for row in change(rows)))

    return Project()


def candidate(found, name):
    return next(one for one in found.candidates if one.name == name)


def test_a_prompt_that_cures_the_bias_is_found_and_becomes_the_next_version(project):
    found = project(cure="prompt").learn(methods=["prompt"])
    assert (found.verdict, found.new_version) == ("better", 2)
    # The judge is wrong about bad cases divisible by three, and the new prompt about none.
    closed = project.of("test")
    n_wrong = sum(label == 0 and case % 3 == 0 for case, label in closed.values())
    assert n_wrong > 5
    assert found.tested.n == len(closed)
    assert found.tested.before.value == pytest.approx(1 - n_wrong / len(closed))
    assert (found.tested.value.value, found.tested.look) == (1, 1)
    judge = load_judge(project.file)
    assert (judge.kind, judge.version, judge.prompt.strip()) == ("boolean", 2, STRICT)
    assert judge.tuned_on == sorted(question_digest("", question) for question in project.of("dev"))
    assert load_judge(project.file.with_name("mine@v1.toml")).prompt != judge.prompt
    assert project.file.read_text() == project.file.with_name("mine@v2.toml").read_text()


def test_a_proposal_is_measured_only_on_questions_that_it_was_not_made_from(project, fake_openai):
    found = project(cure="prompt").learn(methods=["prompt"])
    dev = project.of("dev")
    asked = [body for body in fake_openai.bodies if "You improve the instructions" in prompt_of(body)]
    read = {question for question in dev for body in asked[:1] if question in prompt_of(body)}
    one = candidate(found, "prompt 1")
    assert 1 <= len(read) <= 6
    assert one.n <= len(dev) - len(read)
    judged = {question for question in dev for body in fake_openai.bodies if _strict_about(question, body)}
    assert judged >= read  # it was tried on them first, and what came of that is in no number


def _strict_about(question, body):
    return "taken strictly" in prompt_of(body) and question in prompt_of(body)


def test_examples_from_people_cure_the_bias_and_no_row_is_its_own_example(project, fake_openai, says):
    found = project(cure="examples").learn(methods=["examples"])
    assert (found.verdict, found.chosen) == ("better", "examples")
    judge = load_judge(project.file)
    assert len(judge.examples) == 4
    dev, closed = project.of("dev"), project.of("test")
    assert {example.question for example in judge.examples} <= set(dev)
    # Both grades, and among the bad ones what the judge got wrong: a case divisible by three.
    assert sorted(example.expected for example in judge.examples) == [False, False, True, True]
    assert any(not one.expected and int(one.question.split()[-1][:-1]) % 3 == 0 for one in judge.examples)
    says(judge.examples[0].reason)
    for body in fake_openai.bodies:
        system, user = (str(message["content"]) for message in body["messages"])
        own = next((question for question in [*dev, *closed] if question in user), None)
        assert own is None or own not in system
    orders = [candidate(found, "examples"), candidate(found, "examples, other order")]
    assert [one.value.value for one in orders] == [1, 1]


@pytest.mark.long
def test_measures_of_words_that_know_better_are_weighed_and_cost_no_call(project, fake_openai):
    project(contained=True)
    found = project.learn(methods=["calibration", "stack", "cascade"])
    n_dev, n_test = len(project.of("dev")), len(project.of("test"))
    assert (found.verdict, found.chosen) == ("better", "stack without a model")
    assert candidate(found, found.chosen).calls == 0
    assert candidate(found, "calibrated").test.difference.value == 0
    assert candidate(found, "stack").value.value == candidate(found, "cascade").value.value == 1
    # The judge as it is was asked once for each answer, and nobody for anything else.
    assert fake_openai.n_requests == n_dev + n_test
    judge = load_judge(project.file)
    assert (judge.kind, judge.needs_model, judge.measures) == ("stack", False, "correctness")


@pytest.mark.long
def test_the_file_tells_what_was_tried(project, says):
    project(contained=True).learn(methods=["calibration", "stack"])
    head = [line for line in project.file.read_text().splitlines() if line.startswith("#")]
    assert any(line.startswith("# as it is | 0.") for line in head)
    assert any(line.startswith("# calibrated | 0.") for line in head)
    says(undated("\n".join(head)))  # the history so far stays


@pytest.mark.long
def test_nothing_better_leaves_the_file_as_it_is_and_the_test_part_closed(project, fake_openai):
    before = project(cure=None).file.read_bytes()
    found = project.learn()
    assert (found.verdict, found.chosen, found.tested, found.new_version) == ("no better", None, None, None)
    assert project.file.read_bytes() == before
    # No verdict changed, so for a gain of a tenth a tenth of the answers changes, all one way. McNemar needs
    # 6 of them (2 / 2**6 = 0.03): of some 80 on the test part 8 change, 6 or more four times out of five.
    assert found.needed_gain == pytest.approx(0.1)
    assert 140 < found.needed < 180
    assert [file.name for file in project.file.parent.iterdir()] == ["mine.toml"]
    assert DevelopmentStore(project.settings).looks() == []
    n_requests = fake_openai.n_requests
    again = project.learn()
    assert fake_openai.n_requests == n_requests
    assert again == found
    kept = DevelopmentStore(project.settings).learning("mine")
    assert (kept.verdict, [one.name for one in kept.candidates]) == (
        "no better",
        [one.name for one in found.candidates],
    )


@pytest.mark.long
def test_a_gain_on_dev_that_the_test_part_does_not_show_is_no_gain(project, fake_openai):
    project(cure="prompt", n=160)
    strict_on_dev = set(project.of("dev"))

    def script(body):
        cure = "prompt" if any(question in prompt_of(body) for question in strict_on_dev) else None
        return learning_model(cure)(body)

    fake_openai.script = script
    found = project.learn(methods=["prompt"])
    assert (found.verdict, found.chosen, found.new_version) == ("no better", "prompt 1", None)
    assert found.tested.test.difference.value == 0
    assert len(DevelopmentStore(project.settings).looks()) == 1


def test_a_budget_that_ends_keeps_what_was_paid_and_a_second_run_goes_on(project, fake_openai):
    project(cure="prompt")
    n_dev = len(project.of("dev"))
    cut = project.learn(methods=["prompt"], budget=f"{n_dev + 20}calls")
    assert (cut.verdict, cut.chosen, cut.tested, cut.cut_off) == ("over budget", None, None, True)
    assert fake_openai.n_requests <= n_dev + 20
    none = project.learn(budget="3calls")
    assert none.verdict == "over budget" or none.candidates
    found = project.learn(methods=["prompt"])
    assert found.verdict == "better"
    assert fake_openai.n_asked_again == 0


@pytest.mark.long
def test_a_forecast_is_an_upper_bound_and_asks_nobody(project, fake_openai):
    project(cure="prompt")
    run = LearningRun(
        development=DevelopmentRun(judge=project.file, labels=project.labels, settings=project.settings)
    )
    expected = forecast_learning(task_of_run(run), project.settings)
    assert fake_openai.n_requests == 0
    run_learning(run)
    assert 0 < fake_openai.n_requests <= expected.calls


def test_a_candidate_that_is_worse_beyond_doubt_is_stopped_early(project, fake_openai, says):
    project(cure=None)
    cured = learning_model("prompt")

    def wrong_with_examples(body):
        made = json.loads(cured(body))
        if "Examples, each" in prompt_of(body):
            made["verdict"] = not made["verdict"]
        return json.dumps(made)

    fake_openai.script = wrong_with_examples
    one = candidate(project.learn(methods=["examples"]), "examples")
    assert one.state == "stopped"
    says(one.why)
    assert one.n < len(project.of("dev"))


def test_a_judge_with_a_wide_scale_says_yes_from_its_middle_on(project, fake_openai):
    project(judge=PERCENT)
    plain = learning_model()

    def in_percent(body):
        made = json.loads(plain(body))
        made["score"] = 70 if made.pop("verdict") else 55  # the bias is in the threshold alone
        return json.dumps(made)

    fake_openai.script = in_percent
    found = project.learn(methods=["calibration"])
    assert found.yes_from == 50
    one = candidate(found, "calibrated")
    closed = project.of("dev")
    n_good = sum(label for _, label in closed.values())
    n_lenient = sum(label == 0 and case % 3 == 0 for case, label in closed.values())
    # 55 and 70 are both a yes from 50 on; fitted, 55 is a no, and only the lenient ones are wrong.
    assert one.before.value == pytest.approx(n_good / len(closed))
    assert one.value.value == pytest.approx(1 - n_lenient / len(closed))
    assert found.verdict == "better"
    told = load_judge(project.file)
    assert (told.kind, told.members[0].judge.endswith("mine@v1.toml")) == ("stack", True)


@pytest.mark.long
@pytest.mark.parametrize(("n", "chosen"), [(440, "calibrated, isotonic"), (300, "calibrated")])
def test_of_two_calibrations_that_agree_equally_often_the_nearer_one_is_taken(
    project, fake_openai, n, chosen
):
    project(judge=PERCENT, n=n)
    plain = learning_model()

    def in_percent(body):
        made = json.loads(plain(body))
        case, truth = ANSWER.findall(prompt_of(body))[-1]
        # A bad case has 10 or 90, a good one 20 or 90: from 20 on most are good, which is no logistic curve.
        low, often = (20, 2) if truth == "good" else (10, 3)
        made["score"] = low if int(case) % often else 90
        made.pop("verdict", None)
        return json.dumps(made)

    fake_openai.script = in_percent
    found = project.learn(methods=["calibration"], threshold=50)
    n_scored = len(project.of("dev"))
    assert (n_scored >= 200) == (chosen != "calibrated")  # from 200 on a curve is tried
    assert (found.verdict, found.chosen) == ("better", chosen)
    judge = load_judge(project.file)
    if chosen == "calibrated":
        assert ([one.name for one in found.candidates], list(judge.curve)) == (["calibrated"], [])
        return
    platt, isotonic = (candidate(found, name) for name in ("calibrated", chosen))
    assert platt.value == isotonic.value
    assert isotonic.brier < platt.brier - 0.01
    assert f"Brier score {isotonic.brier:.3f}" in isotonic.made
    # 10, which no good case has; then 20 to 90, which the good half of the cases have and 1/6 are bad: 3/4.
    assert [share for _, share in judge.curve] == pytest.approx([0.0, 0.75, 0.75], abs=0.06)


@pytest.mark.long
def test_labels_that_are_grades_are_yes_from_where_they_are_said_to_be(project, says):
    project(contained=True)
    project.relabel(lambda rows: [row | {"human_label": 2 + 3 * row["human_label"]} for row in rows])
    with pytest.raises(DataError) as error:
        project.learn()
    says(error.value)
    found = project.learn(yes_from=5, methods=["stack"])
    assert found.verdict == "better"
    with pytest.raises(ConfigError) as error:
        project.learn(yes_from=5, mapping={2: 0, 5: 1})
    says(error.value)


@pytest.mark.long
def test_a_judge_that_ships_learns_into_a_copy_under_its_own_name(project):
    project(contained=True)
    project.relabel(
        lambda rows: [row | {"answer": row["answer"].replace("case ", "Case no ")} for row in rows]
    )
    found = project.learn("containment", methods=["stack"])
    assert found.verdict == "better"
    judge = load_judge(project.folder / "judges" / "my_containment.toml")
    assert (judge.name, judge.version, judge.measures) == ("my_containment", 1, "correctness")
    again = project.learn("containment", methods=["stack"])
    assert (again.new_version, again.tested.look) == (1, 2)  # the same once more is no other version


@pytest.mark.long
def test_another_judge_helps_and_is_asked_by_its_own_model(project, fake_openai):
    (project(contained=False).folder / "judges" / "other.toml").write_text(
        JUDGE.replace('"mine"', '"other"').replace("WORDS", "taken strictly")
    )
    project.settings.models["openai/second"] = project.settings.models["openai/fake"]
    fake_openai.script = learning_model("prompt")
    found = project.learn(helpers=[f"{project.folder}/judges/other.toml by openai/second"], methods=["stack"])
    # The other one is right throughout, asked with its own words; so it alone is weighed, or nearly.
    assert {body["model"] for body in fake_openai.bodies} == {"fake", "second"}
    assert found.verdict == "better"
    judge = load_judge(project.file)
    assert "openai/second" in [member.model for member in judge.members]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda rows: [row | {"human_label": 1} for row in rows],
            r"people gave all \d+ answers .* the grade 1",
        ),
        (lambda rows: rows[:19], "too few labelled answers \\(19\\): fewer than 20 teach nothing"),
        (
            lambda rows: [row | {"question": rows[0]["question"]} for row in rows],
            "none of its questions is in the (dev|test) part",
        ),
    ],
)
def test_labels_that_teach_nothing_are_refused_before_anybody_is_asked(project, fake_openai, change, message):
    project().relabel(change)
    with pytest.raises(DataError, match=message):
        project.learn()
    assert fake_openai.n_requests == 0


@pytest.mark.long
def test_answers_on_which_annotators_tie_are_left_out_and_said(project, tmp_path, says):
    project(contained=True)
    project.relabel(lambda rows: [row | {"question_id": f"q{n}"} for n, row in enumerate(rows)])
    rows = [json.loads(line) for line in project.labels.read_text().splitlines()]
    labels = tmp_path / "two.jsonl"

    def write(n_tied):
        both = [
            {"question_id": row["question_id"], "annotator": who, "score": label}
            for n, row in enumerate(rows)
            for who, label in (("a", row["human_label"]), ("b", abs(row["human_label"] - (n < n_tied))))
        ]
        labels.write_text("".join(json.dumps(row) + "\n" for row in both))

    write(10)
    found = project.learn(labels=labels, answers=project.labels, methods=["stack"])
    assert (found.n_dev + found.n_test, found.verdict) == (len(rows) - 10, "better")
    write(len(rows))
    with pytest.raises(DataError) as error:
        project.learn(labels=labels, answers=project.labels)
    says(error.value)


def test_labels_of_other_answers_and_judges_that_cannot_learn_are_refused(project, tmp_path, says):
    project()
    labels = tmp_path / "others.jsonl"
    labels.write_text('{"question_id": "q", "system": "s", "score": 1}\n')
    with pytest.raises(DataError) as error:
        project.learn(labels=labels, answers=project.labels)
    says(error.value)
    with pytest.raises(ConfigError) as error:
        project.learn("ragstone.kernel.version:release")
    says(error.value)
    with pytest.raises(ConfigError) as error:
        project.learn("pairwise")
    says(error.value)
    with pytest.raises(ConfigError) as error:
        project.learn(f"{project.file}@token")
    says(error.value)
    with pytest.raises(ConfigError) as error:
        project.learn(methods=["stak"])
    says(error.value)
    no_scale = project.file.with_name("bare.toml")
    no_scale.write_text(project.file.read_text().replace("scale      = [0, 1]\n", ""))
    with pytest.raises(ConfigError, match="scale"):
        project.learn(no_scale)


def test_a_proposal_that_is_no_prompt_is_refused_in_words(project, fake_openai, says):
    project(cure="prompt")
    fake_openai.script = learning_model("prompt", proposed="Grade strictly.")
    one = candidate(project.learn(methods=["prompt"]), "prompt 1")
    assert (one.state, one.text) == ("refused", "")
    says(one.why)


@pytest.mark.long
def test_a_file_that_was_changed_meanwhile_is_not_written_over(project, fake_openai, says):
    project(cure="examples")
    cured = learning_model("examples")

    def meddle(body):
        if "Examples, each" in prompt_of(body):
            project.file.write_text(JUDGE.replace("WORDS", "somebody was here"))
        return cured(body)

    fake_openai.script = meddle
    with pytest.raises(ConfigError) as error:
        project.learn(methods=["examples"])
    says(error.value)
    assert "somebody was here" in project.file.read_text()


def test_grades_are_learned_from_by_examples_and_prompts_alone(project, fake_openai):
    project(judge=PERCENT)
    project.relabel(lambda rows: [row | {"human_label": 20 + 60 * row["human_label"]} for row in rows])
    plain = learning_model("examples")

    def in_percent(body):
        made = json.loads(plain(body))
        if "verdict" in made:
            made["score"] = 80 if made.pop("verdict") else 20
        return json.dumps(made)

    fake_openai.script = in_percent
    found = project.learn(methods=["calibration", "examples"])
    assert candidate(found, "calibration").state == "refused"
    assert "--yes-from GRADE" in candidate(found, "calibration").why
    assert (found.measure, found.verdict, found.tested.value.value) == ("difference", "better", 0)


@pytest.mark.long
def test_a_model_that_fails_on_a_proposal_says_so_and_the_rest_goes_on(project, fake_openai):
    project(contained=True)
    plain = learning_model()
    fake_openai.script = lambda body: (
        fail(400, "no proposals here") if "You improve" in prompt_of(body) else plain(body)
    )
    found = project.learn(methods=["stack", "prompt"])
    assert candidate(found, "prompt 1").state == "refused"
    assert "no proposals here" in candidate(found, "prompt 1").why
    assert found.verdict == "better"


@pytest.mark.long
def test_rows_that_a_helper_was_fitted_on_measure_nothing(project, says):
    project(contained=True)
    rows = [json.loads(line) for line in project.labels.read_text().splitlines()]
    seen = [row["question"] for row in rows[:60]]
    digests = json.dumps([question_digest("", question) for question in seen])
    helper = project.file.with_name("fitted.toml")
    helper.write_text(
        f'name = "fitted"\nversion = 1\nkind = "lexical"\nmetric = "correctness"\nmeasure = "containment"\n'
        f'inputs = ["reference", "answer"]\nscale = [0, 1]\nsource = "made for tests"\ntuned_on = {digests}\n'
    )
    found = project.learn(helpers=[helper], methods=["stack"])
    assert found.n_dev + found.n_test == len(rows) - len(seen)
    assert found.tested.n == found.n_test
    assert project.learn(helpers=["containment"], methods=["stack"]).verdict in ("better", "no better")
    with pytest.raises(ConfigError) as error:
        project.learn(helpers=["containment by openai/fake"])
    says(error.value)
    with pytest.raises(DataError) as error:
        project.learn("max_words")
    says(error.value)
