"""`ragstone doctor` finds out what models do, and looks at the cluster and database of ragstone.toml."""

import json
import re
import socket
from importlib import metadata
from pathlib import Path
from urllib.parse import quote

import pytest
from tests.support.command import ragstone
from tests.support.fake_openai import FakeOpenAI
from tests.support.golden import sentence_in
from tests.support.postgres import PASSWORD, options
from tests.support.scripts import Body, Said, always, fail, fit_schema, say

from ragstone.features.doctor.command import package_version
from ragstone.kernel.llm.catalogue import read_probes


@pytest.fixture
def nobody() -> str:
    """An address of this machine where nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"


def looked(*options: str) -> dict[str, dict[str, object]]:
    return {check["name"]: check for check in json.loads(ragstone("doctor", "--json", *options).out)}


@pytest.mark.long
def test_extras_for_clusters_storage_and_databases_are_named(project):
    checks = looked()
    assert {"ray", "storage", "postgres"} <= checks.keys()
    assert not {"[engine] address", "[ledger] url"} & checks.keys()  # nothing is named, so nothing is tried


@pytest.mark.parametrize(("kind", "code"), [("ray", 2), ("local", 0)])
def test_an_address_without_a_cluster_fails_where_stages_run_there(project, nobody, kind, code, says):
    (project / "ragstone.toml").write_text(f'[engine]\nkind = "{kind}"\naddress = "{nobody}"\n')
    ran = ragstone("doctor")
    assert ran.code == code
    if "-> pip install 'ragstone[ray]'" not in ran.out:
        says(sentence_in(ran.out, "[engine] address:").partition(" ([Errno")[0])


def test_a_database_that_does_not_answer_fails_without_showing_the_password(project, nobody, says):
    pytest.importorskip("psycopg")
    (project / "ragstone.toml").write_text(f'[ledger]\nurl = "postgresql://ann:sesame@{nobody}/them"\n')
    ran = ragstone("doctor")
    assert ran.code == 2
    says(sentence_in(ran.out, "[ledger] url:"))
    assert "sesame" not in ran.out + ran.err


@pytest.mark.server
def test_a_database_that_can_be_used_is_said_to_be(project, postgres):
    place = f"127.0.0.1:{postgres.port}/postgres"
    url = f"postgresql://postgres:{quote(PASSWORD)}@{place}?{options(postgres.new_schema())}"
    (project / "ragstone.toml").write_text(f'[ledger]\nurl = "{url}"\n')
    assert looked()["[ledger] url"]["detail"] == f"postgresql://postgres@{place} can be used"


NAMED = '[run]\nmodel = "openai/fake"\n'


@pytest.fixture
def models_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A doctor who looks at no package and loads no embedder, which takes seconds."""
    monkeypatch.setattr("ragstone.features.doctor.command.EXTRAS", {})
    monkeypatch.setattr("ragstone.features.doctor.command.SEPARATE", {})
    monkeypatch.setattr("ragstone.features.doctor.command._embedders", lambda settings: [])


def probed(project: Path, fake: FakeOpenAI) -> tuple[dict[str, object], str]:
    """What the doctor keeps of the fake endpoint, and what it says of it."""
    (project / "ragstone.toml").write_text(NAMED + fake.toml())
    detail = str(looked()["openai/fake"]["detail"])
    kept = json.loads((project / ".ragstone" / "models.json").read_text())
    return kept[f"openai/fake@{fake.base_url.partition('//')[2]}"], detail


def think(body: Body) -> Said:
    """Reply as a reasoning model of OpenAI does: 700 tokens of thought, and no temperature."""
    if "max_tokens" in body:
        return fail(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
    if "temperature" in body:
        return fail(400, "Unsupported value: 'temperature' does not support 0.0 with this model.")
    if "logprobs" in body:
        return fail(400, "You are not allowed to request logprobs from this model.")
    limit = body["max_completion_tokens"]
    thought = min(700, limit)
    usage = {
        "prompt_tokens": 20,
        "completion_tokens": min(708, limit),
        "completion_tokens_details": {"reasoning_tokens": thought},
    }
    if limit < 800:
        return say("", finish_reason="length", usage=usage)
    return say(fit_schema(body), usage=usage)


@pytest.mark.usefixtures("models_alone")
def test_a_model_is_asked_three_times_and_what_it_can_do_is_kept(project, fake_openai, says):
    kept, detail = probed(project, fake_openai)
    assert fake_openai.n_requests == 3
    says(re.sub(r"in \d+\.\d s", "in … s", detail))
    assert (kept["model"], kept["form"], kept["logprobs"]) == ("openai/fake", "json_schema", False)
    assert "json_schema" in ragstone("models").out


@pytest.mark.usefixtures("models_alone")
def test_a_reasoning_model_is_known_by_its_probe(project, fake_openai, says):
    fake_openai.script = think
    kept, detail = probed(project, fake_openai)
    # Three replies of 700 tokens of thought each; what was cut off after 8 tokens was asked for again.
    assert (kept["reasoning"], kept["limit_field"], kept["temperature"]) == (
        2100,
        "max_completion_tokens",
        False,
    )
    says(re.sub(r"in \d+\.\d s", "in … s", detail))
    assert "takes no temperature" in detail


@pytest.mark.usefixtures("models_alone")
def test_the_way_in_which_json_is_asked_for_is_the_first_that_is_understood(project, fake_openai, says):
    fake_openai.refuse = {"json_schema", "tool"}
    fake_openai.script = always('{"verdict": "yes"}')
    kept, detail = probed(project, fake_openai)
    assert (kept["form"], kept["structured"]) == ("json_object", True)
    says(re.sub(r"in \d+\.\d s", "in … s", detail))


@pytest.mark.usefixtures("models_alone")
def test_log_probabilities_that_come_are_told(project, fake_openai):
    def with_logprobs(body: Body) -> Said | str:
        if "logprobs" not in body:
            return fit_schema(body)
        top = [{"token": "yes", "logprob": -0.1}]
        content = [{"token": "yes", "logprob": -0.1, "top_logprobs": top}]
        choice = {
            "message": {"content": "yes"},
            "finish_reason": "stop",
            "logprobs": {"content": content},
        }
        return Said(raw=json.dumps({"choices": [choice]}).encode())

    fake_openai.script = with_logprobs
    kept, detail = probed(project, fake_openai)
    assert kept["logprobs"] is True
    assert "; log-probabilities;" in detail


@pytest.mark.usefixtures("models_alone")
def test_a_model_that_does_not_write_json_answers_all_the_same(project, fake_openai, says):
    fake_openai.script = always("Yes.")
    kept, detail = probed(project, fake_openai)
    assert (kept["structured"], kept["form"]) == (False, None)
    says(re.sub(r"in \d+\.\d s", "in … s", detail))


@pytest.mark.usefixtures("models_alone")
def test_a_model_that_fails_is_told_as_it_fails_and_nothing_is_kept(project, fake_openai, says):
    fake_openai.models = {"other"}
    (project / "ragstone.toml").write_text(NAMED + fake_openai.toml())
    ran = ragstone("doctor")
    assert ran.code == 2
    assert "FAILS   openai/fake" in ran.out
    says(" ".join(ran.out.split()))
    assert not (project / ".ragstone" / "models.json").exists()


@pytest.mark.usefixtures("models_alone")
def test_keys_without_a_model_are_told_in_one_line(project, monkeypatch, fake_openai):
    assert "models" not in looked()
    monkeypatch.setenv("GROQ_API_KEY", "sesame")
    monkeypatch.setenv("MISTRAL_API_KEY", "sesame")
    ran = ragstone("doctor")
    assert ran.code == 0
    keys = "mistral (MISTRAL_API_KEY), groq (GROQ_API_KEY)"
    assert f"none was tested; keys found: {keys} -> name one in [run] model" in " ".join(ran.out.split())
    assert "sesame" not in ran.out
    (project / "ragstone.toml").write_text(NAMED + fake_openai.toml())
    assert "models" not in looked()


@pytest.mark.usefixtures("models_alone")
def test_every_model_that_a_stage_would_ask_is_asked(project, fake_openai):
    critic = '[build]\ncritic_model = "openai/fake"\n[bench.judges]\nmodels = ["openai/other"]\n'
    (project / "ragstone.toml").write_text(critic + fake_openai.toml() + fake_openai.toml("openai/other"))
    assert [name for name in looked() if "/" in name] == ["openai/fake", "openai/other"]


@pytest.mark.usefixtures("models_alone")
@pytest.mark.parametrize("moves", [False, True])
def test_a_decision_model_is_asked_one_question_alone_and_among_others(project, decision_server, moves, says):
    def believe(_texts, question):
        alone = len(decision_server.bodies[-1]["questions"]) == 1
        share = 0.6 if alone or not moves else 0.4
        return [share, *[(1 - share) / (len(question.labels) - 1)] * (len(question.labels) - 1)]

    decision_server.believe = believe
    (project / "ragstone.toml").write_text(decision_server.toml())
    ran = ragstone("doctor", "--model", "systemone/planted", "--json")
    assert ran.code == 0, ran.err
    [check] = [check for check in json.loads(ran.out) if check["name"] == "systemone/planted"]
    assert [len(body["questions"]) for body in decision_server.bodies] == [1, 4]
    says(re.sub(r"in \d+\.\d s", "in … s", check["detail"]))
    [kept] = read_probes(project / ".ragstone").values()
    assert kept.moved == pytest.approx(0.2 if moves else 0.0)
    shown = " ".join(ragstone("models").out.split())
    assert "decision model: probabilities, no text" in shown


@pytest.mark.usefixtures("models_alone")
def test_a_decision_model_that_breaks_its_protocol_is_told(project, decision_server, says):
    decision_server.spoil = lambda reply: {**reply, "answers": {}}
    (project / "ragstone.toml").write_text(decision_server.toml())
    ran = ragstone("doctor", "--model", "systemone/planted", "--json")
    assert ran.code == 2
    [check] = [check for check in json.loads(ran.out) if check["name"] == "systemone/planted"]
    says(check["detail"])


RUN = '[questions]\npath = "questions.jsonl"\n[answer]\nsystem = "extractive"\n[judge]\njudges = ["right"]\n'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("right", "nope"),
        ("right", "correctness"),
        ("extractive", "nope"),
        ("questions.jsonl", "nowhere.jsonl"),
        ('judges = ["right"]', 'judges = ["right"]\n[documents]\npaths = ["gone"]'),
    ],
)
def test_what_a_run_would_stop_at_fails(project, models_alone, says, old, new):
    (project / "questions.jsonl").write_text('{"id": "q", "question": "Why?"}\n')
    (project / "ragstone.toml").write_text(RUN.replace(old, new))
    ran = ragstone("doctor")
    assert ran.code == 2
    says(ran.out.partition("FAILS")[2].partition("\nWhat works")[0])


def test_what_a_run_needs_is_there_and_without_a_run_nothing_is_missed(project, models_alone):
    assert not [name for name in looked() if name.startswith("[")]
    (project / "questions.jsonl").write_text('{"id": "q", "question": "Why?"}\n')
    (project / "ragstone.toml").write_text(RUN)
    checks = looked()
    assert all(checks[name]["ok"] for name in ("[questions] path", "[judge] judges", "[answer] system"))


def test_judges_have_the_model_of_the_command_line_and_questions_alone_are_no_run(project, models_alone):
    (project / "questions.jsonl").write_text('{"id": "q", "question": "Why?"}\n')
    (project / "ragstone.toml").write_text(RUN.replace("right", "correctness"))
    assert not looked()["[judge] judges"]["ok"]
    told = looked("--model", "openai/fake")["[judge] judges"]
    assert (told["ok"], told["detail"]) == (True, "correctness; asked: openai/fake")
    (project / "ragstone.toml").write_text('[questions]\npath = "questions.jsonl"\n')
    assert [name for name in looked() if name.startswith("[")] == ["[questions] path"]


@pytest.mark.parametrize(
    ("module", "package"),
    [("opentelemetry.sdk", "opentelemetry-sdk"), ("argon2", "argon2-cffi"), ("litestar", "litestar")],
)
def test_a_version_is_of_the_package_that_brings_the_module(module, package):
    pytest.importorskip(module)
    assert package_version(module) == f"{package} {metadata.version(package)}"
