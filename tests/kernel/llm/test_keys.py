"""Keys: where they are read, what is said when they are missing, and that nothing written holds one."""

import base64
import json
import logging
import time
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.command import ragstone
from tests.support.doors import opened, prompt
from tests.support.scripts import always, fail

from ragstone.kernel.config import ModelSettings, Settings
from ragstone.kernel.errors import ConfigError, ModelError
from ragstone.kernel.llm.keys import _warn_of_readers, find_key, hide, passwords_in, without_password
from ragstone.kernel.records import Answer, Document, Question
from ragstone.kernel.tables import write_rows

KEY = "sk-test-5f2b9c41d7e8a6"


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    """A file of the user's own, for nobody else."""
    _warn_of_readers.cache_clear()
    path = tmp_path / "key.txt"
    path.write_text(f"{KEY}\n")
    path.chmod(0o600)
    return path


def test_the_variable_named_is_read_and_else_the_usual_one(monkeypatch, says):
    monkeypatch.setenv("OPENAI_API_KEY", " usual\n")
    monkeypatch.setenv("MY_KEY", "mine")
    assert find_key(ModelSettings())[0] == "usual"
    assert find_key(ModelSettings(api_key_env="MY_KEY"))[0] == "mine"
    says(find_key(ModelSettings(api_key_env="NO_KEY")))


def test_a_file_is_read_and_goes_before_the_usual_variable(key_file, monkeypatch, caplog):
    monkeypatch.setenv("OPENAI_API_KEY", "usual")
    assert find_key(ModelSettings(api_key_file=str(key_file)))[0] == KEY
    assert caplog.records == []


def test_two_places_for_one_key_are_a_mistake(says):
    with pytest.raises(ConfigError) as caught:
        find_key(ModelSettings(api_key_env="MY_KEY", api_key_file="key.txt"))
    says(caught.value)


def test_a_file_that_others_can_read_is_warned_about_once_without_its_content(key_file, caplog):
    key_file.chmod(0o640)
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            assert find_key(ModelSettings(api_key_file=str(key_file)))[0] == KEY
    [record] = caplog.records
    assert record.getMessage().endswith(f"chmod 600 {key_file}")
    assert KEY not in record.getMessage()


@pytest.mark.parametrize(
    ("content", "remedy"),
    [
        (None, "No such file"),
        (b"", "which is empty"),
        (b"\xff\xfe", "it is not text"),
        (f"{KEY}\n{KEY}".encode(), "Write only the key into"),
        (f"key = {KEY}".encode(), "Write only the key into"),
        ("sk-ключ".encode(), "Write only the key into"),
    ],
)
def test_a_file_without_a_key_is_told_without_its_content(key_file, content, remedy):
    if content is None:
        key_file.unlink()
    else:
        key_file.write_bytes(content)
    key, said = find_key(ModelSettings(api_key_file=str(key_file)))
    assert key == ""
    assert remedy in said
    assert KEY not in said


async def test_the_path_is_relative_to_the_settings_and_the_key_opens_the_door(
    key_file, fake_openai, monkeypatch
):
    fake_openai.key = KEY
    monkeypatch.chdir("/")
    settings = fake_openai.settings(key_file.parent, api_key_file="key.txt")
    async with opened(settings, key_file.parent) as door:
        assert (await door.ask(prompt())).value is not None


async def test_a_missing_file_stops_the_first_call_and_says_what_to_do(says, tmp_path, fake_openai):
    settings: Settings = fake_openai.settings(tmp_path, api_key_file="nowhere.txt")
    async with opened(settings, tmp_path) as door:
        with pytest.raises(ModelError) as caught:
            await door.ask(prompt())
        says(caught.value)
    assert fake_openai.n_requests == 0


def everything_written(folder: Path, but: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file() and file != but)


@pytest.mark.model
@pytest.mark.parametrize("echoes", ["in an error", "as a refused key", "nothing"])
def test_nothing_that_is_written_holds_the_key(key_file, fake_openai, monkeypatch, caplog, echoes):
    folder = key_file.parent
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "500")
    caplog.set_level(logging.DEBUG)
    fake_openai.key = KEY
    if echoes == "in an error":
        fake_openai.script = always(fail(400, f"Your request with the key {KEY} is refused."))
    if echoes == "as a refused key":
        fake_openai.key = "another"  # the server then repeats the one that it was given
    (folder / "ragstone.toml").write_text(
        '[documents]\npaths = ["d.jsonl"]\n[questions]\npath = "q.jsonl"\n[answer]\nmodel = "openai/fake"\n'
        '[judge]\nmodel = "openai/fake"\njudges = ["correctness", "faithfulness"]\n'
        + fake_openai.toml()
        + 'api_key_file = "key.txt"\n'
    )
    write_rows(folder / "d.jsonl", [Document(id="d", text="Wheat is sown in autumn.")], Document)
    write_rows(folder / "q.jsonl", [Question(id="q", question="When?", reference="Autumn")], Question)
    write_rows(folder / "a.jsonl", [Answer(question_id="q", question="When?", answer="Now")], Answer)
    said = ""
    for command in (
        ("run",),
        ("judge", "a.jsonl", "--judge", "relevance"),
        ("answer", "--force"),
        ("doctor",),
    ):
        ran = ragstone(*command)
        said += ran.out + ran.err
    assert fake_openai.n_requests > 0
    assert ("[the key]" in said or b"[the key]" in everything_written(folder, key_file)) is (
        echoes != "nothing"
    )
    written = everything_written(folder, key_file)
    assert b"key.txt" in written  # ragstone.toml names the file
    assert KEY.encode() not in written
    assert KEY not in said
    assert KEY not in caplog.text


def in_base64(before: str, key: str, after: str, alphabet: bytes = b"+/") -> str:
    return base64.b64encode((before + key + after).encode(), alphabet).decode()


KEYS = (KEY, "sk-ant-api03-" + "Ab/+=x9_Z" * 11, 'p&ss"w0\\rd', "%xyz%&/+q")


@pytest.mark.parametrize("key", KEYS)
def test_a_key_is_hidden_in_whatever_form_it_comes_back(key):
    forms = {
        key,
        quote(key, safe=""),
        "".join(f"%{ord(one):02x}" for one in key),
        json.dumps(key)[1:-1].replace("/", "\\/"),
        "".join(f"\\u{ord(one):04X}" for one in key),
        "".join(f"&#{ord(one)};" for one in key),
        key.encode().hex().upper(),
        quote(in_base64("", key, ""), safe=""),
    }
    if len(key) > 12:
        forms |= {key[:13], key[:12] + "…", in_base64("", key[:13], "")[:17]}
    for before in ("", "u:", "me:", "user:", "Bearer "):
        for after in ("", "!", "@h", " by"):
            forms |= {in_base64(before, key, after), in_base64(before, key, after, b"-_").rstrip("=")}
    for form in forms:
        shown = hide(f"Bad key <{form}>. Ask", [key])
        assert shown.startswith("Bad key <"), form
        assert shown.endswith((">. Ask", "…>. Ask")), form
        assert "[the key]" in shown, form
        assert len(shown) <= len("Bad key <[the key]>. Ask") + 10, form  # what was before it in base64


@given(
    st.text(st.characters(codec="ascii", exclude_categories=["C"]), min_size=8, max_size=40),
    st.binary(max_size=5),
)
def test_no_bytes_around_a_key_save_it_in_base64(key, before):
    told = base64.b64encode(before + key.encode()).decode()
    assert "[the key]" in hide(f"<{told}>", [key])


@pytest.mark.parametrize("words", ["test it", "a password, hidden", "sk-test", "", "c2stdGVz"])
def test_other_words_stay(words):
    assert hide(words, [KEY, "", "it's"]) == words


def test_a_short_secret_is_hidden_where_it_stands_alone():
    assert hide("a cat, a category: cat", ["cat"]) == "a [the key], a category: [the key]"


@pytest.mark.simulation
@pytest.mark.parametrize("unit", ["x", KEY[:11], "c2stdGVz", "%73", "736b", "&#0", "\\", "%25", "YWFh"])
def test_hiding_takes_time_linear_in_the_text(unit):
    text = (unit * 40_000)[:40_000]
    begun = time.process_time()
    for key in (*KEYS, "a" * 200, "\\" * 60, "%25" * 30):
        hide(text, [key])
    assert time.process_time() - begun < 5  # 0.3 s; any step back into the text takes minutes


def test_all_of_a_password_is_hidden():
    address = "http://me:p@ss/w@10.0.0.1/v1".replace("/w", "%2Fw")
    assert without_password(address) == "http://10.0.0.1/v1"
    assert without_password("http://h/a@b") == "http://h/a@b"
    assert "p@ss/w" in passwords_in(address)
