"""`--batch`: the same rows as ever, by way of the provider's batch API."""

import json
import os
import shutil
import signal
from pathlib import Path

import pytest
from tests.support.command import TO_FILE, ragstone, started
from tests.support.fake_batch_apis import APIS, KEY, serving_batches
from tests.support.fake_openai import let_go, serving_as, stats, wait_for
from tests.support.golden import sentence_in
from tests.support.scripts import fail, fit_schema, in_turn, say

import ragstone as ragstone_api
from ragstone.kernel.llm.providers import providers
from ragstone.kernel.records import Answer, Document, Judgement, Question
from ragstone.kernel.tables import read_rows, write_rows

MODEL = ("--model", "openai/fake")


@pytest.fixture
def batches(project, fake_openai):
    """The fake's batches, in a project whose settings look often and know the price."""
    (project / "ragstone.toml").write_text(
        fake_openai.toml()
        + "batch_poll_s = 0.001\nbatch_discount = 0.5\nprice_usd_per_million = { input = 1, output = 2 }\n"
    )
    return fake_openai.batches


def judged(*options, judge="relevance", output="judgements.jsonl"):
    ran = ragstone("judge", "answers.jsonl", "--judge", judge, *MODEL, "-o", output, *options)
    return ran, list(read_rows(output, Judgement)) if Path(output).exists() else []


def forget_calls(project):
    for path in (project / ".ragstone").glob("ledger.sqlite*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()  # the folder holds the locks of claims


def test_a_judgement_by_batch_is_that_of_the_ordinary_run_byte_for_byte(project, fake_openai, batches):
    (project / "ragstone.toml").write_text(fake_openai.toml() + "batch_poll_s = 0.001\n")
    command = ("judge", "answers.jsonl", "--judge", "containment", "--judge", "correctness", *TO_FILE)
    command += ("--judge", "faithfulness", *MODEL)
    assert ragstone(*command, "-o", "one.jsonl").code == 0
    forget_calls(project)
    fake_openai.forget()
    assert ragstone(*command, "--batch", "-o", "two.jsonl").code == 0
    assert (project / "one.jsonl").read_bytes() == (project / "two.jsonl").read_bytes()
    # 6 of correctness and 6 first ones of faithfulness, less the one sent ahead; then 6 second ones.
    assert fake_openai.n_requests == 1
    assert [len(batch.calls) for batch in batches.made] == [11, 6]


@pytest.mark.long
@pytest.mark.parametrize("kind", APIS, ids=lambda kind: kind.__name__)
def test_by_each_providers_batches_the_judgements_are_those_of_single_calls(project, monkeypatch, kind):
    for provider in providers().values():
        for name in provider.keys[:1]:
            monkeypatch.setenv(name, KEY)
    with serving_batches(kind) as fake:
        (project / "ragstone.toml").write_text(fake.toml().replace("batch_discount = 0.5", ""))
        command = ("judge", "answers.jsonl", "--judge", "correctness", "--judge", "faithfulness")
        command += ("--model", fake.model, *TO_FILE)
        assert ragstone(*command, "-o", "one.jsonl").code == 0
        forget_calls(project)
        fake.n_single = 0
        ran = ragstone(*command, "--batch", "-o", "two.jsonl")
        assert (ran.code, fake.n_single) == (0, 1), ran.err
        assert [len(batch.calls) for batch in fake.made] == [11, 6]
    assert (project / "one.jsonl").read_bytes() == (project / "two.jsonl").read_bytes()
    rows = list(read_rows("two.jsonl", Judgement))
    assert {row.status for row in rows} <= {"scored", "not_applicable"}


class TestForecast:
    def forecast(self, *options):
        return ragstone("judge", "answers.jsonl", "--judge", "relevance", *MODEL, "--forecast", *options)

    def test_it_is_at_the_discount_with_batch_alone(self, says, project, batches):
        (single, batch) = (json.loads(self.forecast(*more, "--json").out) for more in ((), ("--batch",)))
        assert batch["cost_usd"] == pytest.approx(single["cost_usd"] / 2)
        assert batch["models"][0]["cost_usd"] == pytest.approx(batch["cost_usd"])
        assert batch["duration_s"] is None
        assert single["assumptions"] == []
        says(self.forecast("--batch").out)

    def test_where_no_discount_is_known_it_says_so_and_takes_none(self, says, project, fake_openai):
        price = "price_usd_per_million = { input = 1, output = 2 }\n"
        (project / "ragstone.toml").write_text(fake_openai.toml() + price)
        (single, batch) = (json.loads(self.forecast(*more, "--json").out) for more in ((), ("--batch",)))
        assert batch["cost_usd"] == single["cost_usd"]
        says(self.forecast("--batch").out)

    def test_at_its_own_address_a_providers_documented_discount_holds(self, project, monkeypatch, says):
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        ran = ragstone(
            "judge",
            "answers.jsonl",
            "--judge",
            "relevance",
            "--model",
            "anthropic/claude-sonnet-4-5",
            "--forecast",
            "--batch",
        )
        assert ran.code == 0
        says(sentence_in(ran.out, "discount of 50"))


def test_a_call_of_a_batch_is_what_the_ordinary_call_would_be(project, fake_openai, batches):
    judged()
    ordinary = {json.dumps(body, sort_keys=True) for body in fake_openai.bodies}
    forget_calls(project)
    judged("--batch", "--force")
    by_batch = {json.dumps(call["body"], sort_keys=True) for call in batches.made[0].calls}
    assert len(by_batch) == 5
    assert by_batch < ordinary


def test_a_batch_costs_what_the_discount_leaves_and_so_it_stays_in_the_ledger(project, batches):
    _, full = judged(output="full.jsonl")
    forget_calls(project)
    ran, rows = judged("--batch", "--json")
    halved = [row.cost_usd / 2 for row in full]
    assert [row.cost_usd for row in rows][1:] == pytest.approx(halved[1:])
    assert rows[0].cost_usd == full[0].cost_usd  # the one sent ahead
    assert json.loads(ran.out)["calls"]["cost_usd"] == pytest.approx(sum(row.cost_usd for row in rows))
    judged(output="again.jsonl")
    assert (project / "again.jsonl").read_bytes() == (project / "judgements.jsonl").read_bytes()


def test_calls_of_this_command_count_as_made_and_none_as_saved(project, batches):
    ran, _ = judged("--batch", "--json", judge="faithfulness")
    calls = json.loads(ran.out)["calls"]
    assert (calls["made"], calls["from_ledger"], calls["failed"]) == (12, 0, {})
    again, _ = judged("--batch", "--json", "--force", judge="faithfulness")
    calls = json.loads(again.out)["calls"]
    assert (calls["made"], calls["from_ledger"]) == (0, 12)
    assert len(batches.made) == 2


def test_answers_by_batch_are_the_ordinary_ones_without_a_latency(project, batches):
    write_rows(
        "questions.jsonl", [Question(id=f"q{n}", question=f"What is {n}?") for n in range(4)], Question
    )
    write_rows("d.jsonl", [Document(id="d", text="One is a number. Two is one more.")], Document)
    command = ("answer", "--questions", "questions.jsonl", "--documents", "d.jsonl", *MODEL)
    assert ragstone(*command, "-o", "one.jsonl").code == 0
    forget_calls(project)
    assert ragstone(*command, "--batch", "-o", "two.jsonl").code == 0
    one, two = list(read_rows("one.jsonl", Answer)), list(read_rows("two.jsonl", Answer))
    assert [row.answer for row in one] == [row.answer for row in two]
    assert [row.usage for row in one] == [row.usage for row in two]
    assert [row.latency_s is None for row in two] == [False, True, True, True]


def test_a_whole_run_goes_by_batch(project, batches):
    with (project / "ragstone.toml").open("a") as file:
        file.write(
            '[answer]\nsheet = "answers.jsonl"\n[judge]\nmodel = "openai/fake"\njudges = ["correctness"]\n'
        )
    ran = ragstone("run", "--batch", "--json")
    assert ran.code == 0
    assert json.loads(ran.out)["metrics"][0]["statuses"] == {"scored": 6}
    assert batches.n_calls == 5


def test_from_python_too(project, fake_openai, batches):
    settings = fake_openai.settings(root=project, batch_poll_s=0.001)
    questions = [Question(id=f"q{n}", question=f"What is {n}?") for n in range(3)]
    answers = ragstone_api.answer(questions, [], [], model=fake_openai.model, settings=settings, batch=True)
    rows = ragstone_api.judge(
        answers, judges=["relevance"], model=fake_openai.model, settings=settings, batch=True
    )
    assert [row.status for row in rows] == ["scored"] * 3
    assert [len(batch.calls) for batch in batches.made] == [2, 2]


def test_a_refused_call_has_its_status_and_the_others_their_scores(project, fake_openai, batches):
    fake_openai.script = in_turn(
        fit_schema, fail(400, "text too long"), say("", refusal="I will not"), fail(500, "oh"), fit_schema
    )
    _, rows = judged("--batch")
    assert [row.status for row in rows] == ["scored", "error", "refused", "scored", "scored", "scored"]
    assert "text too long" in rows[1].error
    # What failed for a passing reason is submitted once more; what was refused is not.
    assert [len(batch.calls) for batch in batches.made] == [5, 1]


def test_an_unusable_reply_is_asked_again_in_the_next_batch(project, fake_openai, batches):
    fake_openai.script = in_turn(fit_schema, say("no JSON"), fit_schema)
    _, rows = judged("--batch")
    assert {row.status for row in rows} == {"scored"}
    assert [len(batch.calls) for batch in batches.made] == [5, 1]


def test_of_an_expired_batch_the_finished_part_is_kept_and_the_rest_submitted_anew(project, batches):
    batches.n_unfinished, batches.ends = 2, ["expired"]
    _, rows = judged("--batch")
    assert [row.status for row in rows] == ["scored"] * 6
    first, second = batches.made
    assert second.keys == first.keys[-2:]


def test_the_budget_counts_the_calls_of_a_batch_before_they_are_submitted(project, batches):
    ran, rows = judged("--batch", "--budget", "4calls")
    assert ran.code == 4
    assert [row.status for row in rows] == ["scored"] * 4 + ["over_budget"] * 2
    assert batches.n_calls == 3


def test_what_calls_cost_at_most_is_freed_for_the_next_batch(project, fake_openai, batches):
    # What a call can cost at most is several times what it does: the first batch holds fewer than there are.
    _, rows = judged("--batch", "--budget", "4500tokens")
    assert [row.status for row in rows] == ["scored"] * 6
    assert len(batches.made) > 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--batch", "--offline"), "--batch submits calls, and --offline forbids them"),
        (("--batch", "--model", "llamacpp/smollm2-135m"), "has no batch API"),
    ],
)
def test_wrong_use_is_one_sentence(project, batches, options, words):
    ran = ragstone("judge", "answers.jsonl", "--judge", "relevance", *MODEL, *options, *TO_FILE)
    assert ran.code == 2
    assert words in ran.err
    assert not batches.made


def test_an_endpoint_without_batches_is_one_sentence(project, batches, says):
    batches.offered = False
    ran, _ = judged("--batch")
    assert ran.code == 2
    says(ran.err.splitlines()[-1])


def test_a_wrong_key_is_told_before_anything_is_submitted(project, fake_openai, batches):
    fake_openai.key = "right"
    ran, _ = judged("--batch")
    assert ran.code == 2
    assert "refused the key" in ran.err
    assert not batches.uploads


def test_a_batch_that_the_provider_refuses_is_told_in_its_words_and_submitted_anew(project, batches, says):
    batches.ends = ["failed"]
    ran, _ = judged("--batch")
    assert ran.code == 2
    says(ran.err.splitlines()[-1])
    _, rows = judged("--batch")
    assert [row.status for row in rows] == ["scored"] * 6
    assert batches.made[1].keys == batches.made[0].keys[1:]  # one was sent ahead again


def test_a_cancelled_batch_stops_the_command_and_its_finished_part_is_kept(project, batches, says):
    batches.n_unfinished, batches.ends = 2, ["cancelled"]
    ran, _ = judged("--batch")
    assert ran.code == 2
    says(ran.err.splitlines()[-1])
    judged("--batch")
    assert batches.made[1].keys == batches.made[0].keys[-1:]  # one was sent ahead again


N_ANSWERS = 20
COMMAND = ("judge", "answers.jsonl", "--judge", "relevance", "--batch", *TO_FILE)
GATED = ("--gate", "1")  # the call that is sent ahead; the batch waits until a test lets it go


def make_folder(folder, base_url):
    """Make the folder whose answers the command judges."""
    folder.mkdir(exist_ok=True)
    answers = [
        Answer(question_id=f"q{n}", question=f"What is {n}?", answer=f"{n}.") for n in range(N_ANSWERS)
    ]
    write_rows(folder / "answers.jsonl", answers, Answer)
    (folder / "ragstone.toml").write_text(
        '[judge]\nmodel = "openai/fake"\n'
        f'[models."openai/fake"]\nbase_url = "{base_url}"\nbatch_poll_s = 0.05\n'
    )
    (folder / ".ragstone").mkdir()
    (folder / ".ragstone" / "secret").write_text("00" * 32)


@pytest.mark.kill
def test_killed_while_it_waits_the_next_one_waits_for_the_same_batch(tmp_path, monkeypatch):
    disturbed, quiet = tmp_path / "disturbed", tmp_path / "quiet"
    with serving_as(*GATED) as base_url:
        for folder in (disturbed, quiet):
            make_folder(folder, base_url)
        with started(*COMMAND, cwd=disturbed) as killed:
            wait_for(base_url, "n_looks", 2, killed)
            killed.send_signal(signal.SIGKILL)
            killed.communicate()
        let_go(base_url)
        monkeypatch.chdir(disturbed)
        assert ragstone(*COMMAND).code == 0
        seen = stats(base_url)
        assert (seen["n_batches"], seen["n_batch_calls"], seen["n_requests"]) == (1, N_ANSWERS - 1, 1)
        monkeypatch.chdir(quiet)
        assert ragstone(*COMMAND).code == 0
    assert (disturbed / "judgements.jsonl").read_bytes() == (quiet / "judgements.jsonl").read_bytes()


@pytest.mark.kill
def test_ctrl_c_says_that_the_batch_goes_on_and_the_same_command_picks_it_up(tmp_path, monkeypatch, says):
    with serving_as(*GATED) as base_url:
        make_folder(tmp_path, base_url)
        with started(*COMMAND, cwd=tmp_path) as stopped:
            wait_for(base_url, "n_looks", 2, stopped)
            os.kill(stopped.pid, signal.SIGINT)
            _, said = stopped.communicate()
        let_go(base_url)
        assert stopped.returncode == 2
        says(sentence_in(said, "The submitted batches"))
        monkeypatch.chdir(tmp_path)
        assert ragstone(*COMMAND).code == 0
        assert stats(base_url)["n_batches"] == 1
