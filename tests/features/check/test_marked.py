"""What a test of an application asks for by its mark; tests/test_pytest_plugin.py has the rest."""

import pytest
from tests.support.judged_runs import answers, judged, questions, write_run
from tests.support.scripts import fit_schema

from ragstone.features.check.marked import MarkArguments, check_marked


def app(question):
    """Answer as the questions of these tests expect."""
    return "It is number " + question.removeprefix("What is ").removesuffix("?")


@pytest.mark.parametrize("suffix", ["", "@together"])
def test_a_threshold_holds_for_a_judge_that_was_asked_in_one_call_with_another(
    fake_openai, tmp_path, suffix, says
):
    (tmp_path / "ragstone.toml").write_text(fake_openai.toml() + "\n[judge]\none_call = true\n")
    fake_openai.script = lambda body: fit_schema(body).replace("false", "true")
    wanted = MarkArguments(
        questions(3),
        {f"toxicity{suffix}": 0.0, f"bias{suffix}": 0.0},
        judges=["toxicity", "bias"],
        model=fake_openai.model,
    )
    checked, problems, _ = check_marked(app, wanted, tmp_path)
    assert {row.judge for row in checked.judgements} == {"toxicity@together", "bias@together"}
    says("\n".join(problem.partition("\n  q")[0] for problem in problems))


def test_a_baseline_of_several_systems_needs_no_more_questions_of_its_own_system(tmp_path):
    rows = [
        *judged([1.0] * 10, system="app"),
        *judged([1.0] * 12, system="other"),
    ]
    said = [*answers(["x"] * 10, system="app"), *answers(["x"] * 12, system="other")]
    write_run(tmp_path / "main", rows, said=said, asked=questions(12))
    wanted = MarkArguments(questions(10), judges=["containment"], baseline="main")
    _, problems, lines = check_marked(app, wanted, tmp_path)
    assert not problems
    assert any(line.startswith("against main: ") for line in lines)
