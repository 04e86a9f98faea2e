"""`ragstone models`: what can be named, whose key is there, what each can do; nobody is asked."""

import datetime
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.command import ragstone
from tests.support.golden import sentence_in

from ragstone import list_models
from ragstone.kernel.llm.catalogue import ModelProbe, keep_probe, read_probes
from ragstone.kernel.llm.learnt import Learnt, keep_entry
from ragstone.kernel.llm.providers import providers

SETTINGS = """
[judge]
model = "openai/gpt-4o-mini"
[models."openai/mine"]
base_url = "http://ann:sesame@localhost:9/v1"
api_key_env = "MY_KEY"
temperature = 0.2
reasoning_tokens = 4000
price_usd_per_million = { input = 1.5, output = 6 }
[models."openai/unpriced"]
base_url = "http://localhost:9/v1"
[models."sentence-transformers/small"]
query_prefix = "query: "
"""
PROBE = ModelProbe(
    model="openai/mine",
    address="http://localhost:9/v1",
    day=datetime.date(2026, 11, 22),
    latency_s=0.8,
    structured=True,
    form="tool",
    logprobs=False,
    reasoning=2112,
    limit_field="max_completion_tokens",
    temperature=False,
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without models, and a folder in it to work in."""
    (tmp_path / "work").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


def words(*arguments: object) -> str:
    """What `ragstone models` prints, in one line however it is wrapped."""
    ran = ragstone("models", *arguments, "--all")
    assert ran.code == 0
    return " ".join(ran.out.split())


def listed(kind: str) -> dict[str, dict[str, object]]:
    rows = json.loads(ragstone("models", "--json").out)[kind]
    return {row.get("name") or row["model"]: row for row in rows}


def test_every_provider_is_listed_in_the_order_of_the_table_with_what_its_documentation_says():
    assert re.findall(r"^([\w-]+)/MODEL", ragstone("models", "--all").out, re.MULTILINE) == [*providers()]
    found = listed("providers")["groq"]
    assert (found["title"], found["can"]) == ("Groq", [*providers()["groq"].can])
    assert "groq/MODEL Groq; set GROQ_API_KEY; https://api.groq.com/openai/v1 schema tools" in words()


def test_a_key_is_said_to_be_there_and_never_shown(monkeypatch):
    monkeypatch.setenv("GOOGLE_API_KEY", "sesame-1")
    monkeypatch.setenv("MY_KEY", "sesame-2")
    Path("ragstone.toml").write_text(SETTINGS)
    said = words()
    assert "Google Gemini; GOOGLE_API_KEY is set;" in said
    assert "Ollama on this machine; no key needed;" in said
    assert "set AZURE_OPENAI_API_KEY or AZURE_API_KEY; set AZURE_OPENAI_ENDPOINT" in said
    assert "http://localhost:9/v1; key in MY_KEY;" in said
    assert "https://api.openai.com/v1; no key in OPENAI_API_KEY;" in said
    assert "sesame" not in said + ragstone("models", "--json").out


def test_the_address_of_the_environment_is_shown_without_its_password(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://ann:sesame@proxy.example/")
    assert listed("providers")["anthropic"]["address"] == "https://proxy.example"


def test_models_of_ragstone_toml_come_with_what_is_set_for_them():
    Path("ragstone.toml").write_text(SETTINGS)
    said = words()
    assert (
        "openai/mine http://localhost:9/v1; no key in MY_KEY; temperature 0.2; reasoning_tokens 4,000;"
        in said
    )
    assert "USD per million tokens: input 1.5, output 6 not probed" in said
    assert "openai/unpriced http://localhost:9/v1; price unknown" in said
    assert "input 0.15, cached 0.075, output 0.6 (list price of 2026-11-21)" in said  # that of the judge
    assert [*listed("models")] == [
        *("openai/mine", "openai/unpriced", "sentence-transformers/small", "openai/gpt-4o-mini")
    ]


def test_a_file_named_by_config_is_read_and_its_keys_file_is_beside_it(home):
    (home / "key").write_text("sesame\n")
    (home / "key").chmod(0o600)
    (home / "other.toml").write_text('[models."openai/mine"]\napi_key_file = "key"\n')
    shown = words("--config", home / "other.toml").replace(" ", "")  # a long path is broken where a line ends
    assert f"keyin{home / 'key'};" in shown


def test_the_prices_of_a_provider_stand_beside_their_sources_and_days():
    said = words("anthropic")
    assert re.search(r"anthropic/claude-\S+ [\d.]+ [\d.]+ [\d.]+ [\d.]+ \[1\] 2026-\d\d-\d\d", said)
    assert "[1] https://" in said
    [first, *_] = json.loads(ragstone("models", "anthropic", "--json").out)["prices"]
    assert {"input", "cached", "cache_write", "output", "source", "read"} <= first.keys()


def test_a_provider_without_list_prices_says_where_to_give_one(says):
    says(words("ollama"))


def test_an_unknown_provider_is_told_the_nearest(says):
    ran = ragstone("models", "grok")
    assert ran.code == 2
    says(ran.err)


def test_gguf_files_of_the_cache_and_packaged_models_are_listed(home, monkeypatch, says):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    cache = home / ".cache" / "ragstone" / "models"
    cache.mkdir(parents=True)
    (cache / "mine.gguf").write_bytes(b"GGUF" * 500_000)
    assert "llamacpp/mine 2 MB" in words()
    assert listed("gguf")["llamacpp/mine"]["path"] == str(cache / "mine.gguf")
    says(sentence_in(ragstone("models").out, "llamacpp/smollm2-135m"))


def test_what_the_doctor_found_is_shown_for_that_address_only():
    Path("ragstone.toml").write_text(SETTINGS)
    keep_probe(Path(".ragstone"), "openai/mine@localhost:9/v1", PROBE)
    found = (
        "probed 2026-11-22: replies in JSON by tool; no log-probabilities; reasons (2,112 tokens in three "
        "replies); limit by max_completion_tokens; takes no temperature"
    )
    assert found in words()
    Path("ragstone.toml").write_text(SETTINGS.replace("localhost:9", "localhost:8"))
    assert "probed 2026" not in words()


def test_a_second_probe_takes_the_place_of_the_first():
    later = ModelProbe(**{name: getattr(PROBE, name) for name in PROBE.__struct_fields__} | {"form": None})
    for probe in (PROBE, later):
        keep_probe(Path(".ragstone"), "openai/mine@localhost:9/v1", probe)
    assert read_probes(Path(".ragstone")) == {"openai/mine@localhost:9/v1": later}


def test_a_damaged_file_of_probes_is_ignored_with_a_word(caplog, says):
    Path(".ragstone").mkdir()
    Path(".ragstone/models.json").write_text("{")
    assert ragstone("models").code == 0
    assert caplog.text.count("models.json: cannot be read") == 1
    says("\n".join(caplog.messages))  # not .text: Ray, if a test has started it, writes another form
    keep_probe(Path(".ragstone"), "openai/mine@localhost:9/v1", PROBE)
    assert read_probes(Path(".ragstone")) == {"openai/mine@localhost:9/v1": PROBE}


def test_what_commands_learnt_is_shown_beside_what_the_doctor_found():
    Path("ragstone.toml").write_text(SETTINGS)
    name = "openai/mine@localhost:9/v1"
    learnt = Learnt(day=datetime.date(2026, 11, 23), room=4096, form="tool", temperature=False)
    keep_entry(Path(".ragstone"), name, {"learnt": learnt})
    keep_probe(Path(".ragstone"), name, PROBE)
    told = "replies in JSON by tool; limit by max_tokens; 4,096 tokens to think in; takes no temperature"
    assert f"{name} {told}; learnt 2026-11-23" in words()
    assert "probed 2026-11-22" in words()
    assert json.loads(ragstone("models", "--json").out)["learnt"][name]["room"] == 4096


def test_python_gets_the_same_values():
    Path("ragstone.toml").write_text(SETTINGS)
    catalogue = list_models()
    assert [one.name for one in catalogue.providers] == [*listed("providers")]
    assert [one.model for one in catalogue.models] == [*listed("models")]


def test_nothing_that_makes_calls_is_loaded():
    script = "import ragstone, sys; ragstone.list_models(); print('aiohttp' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"
