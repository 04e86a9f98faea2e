"""ragstone.toml: what it means, and where its mistakes are."""

import contextlib
import time
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragstone.features.build._critic import load_critic
from ragstone.features.build._styles import load_style
from ragstone.kernel.config import (
    ExtractiveSystem,
    ModelSettings,
    Price,
    Settings,
    choose,
    convert_section,
    load_settings,
    parse_toml,
)
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.judging import load_judge
from ragstone.kernel.systems.prompting import load_prompt


def write(folder: Path, text: str) -> Path:
    path = folder / "ragstone.toml"
    path.write_text(text, encoding="utf-8")
    return path


def mistake_in(folder: Path, text: str) -> str:
    """Return what the error says after the file's name."""
    path = write(folder, text)
    with pytest.raises(ConfigError) as caught:
        load_settings(path)
    assert str(caught.value).startswith(str(path))
    return str(caught.value).removeprefix(str(path))


def test_without_a_file_everything_has_its_default(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert load_settings() == Settings()


def test_the_file_of_the_working_folder_is_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "[run]\nname = 'mine'\n")
    assert load_settings().run.name == "mine"


def test_all_settings_of_a_model_are_read(tmp_path):
    path = write(
        tmp_path,
        """
        [models."openai/gpt-4o-mini"]
        base_url = "https://example.org/v1"
        api_key_env = "MY_KEY"
        max_concurrency = 64
        requests_per_minute = 3000
        tokens_per_minute = 2_000_000
        timeout_s = 60
        price_usd_per_million = { input = 0.15, output = 0.60, cached = 0.075 }
        """,
    )
    assert load_settings(path).models["openai/gpt-4o-mini"] == ModelSettings(
        base_url="https://example.org/v1",
        api_key_env="MY_KEY",
        max_concurrency=64,
        requests_per_minute=3000,
        tokens_per_minute=2_000_000,
        timeout_s=60.0,
        price_usd_per_million=Price(input=0.15, output=0.60, cached=0.075),
    )


def test_model_of_the_run_is_asked_by_stages_that_name_none(tmp_path):
    file = tmp_path / "ragstone.toml"
    file.write_text('[run]\nmodel = "openai/one"\n\n[judge]\nmodel = "openai/other"\n')
    settings = load_settings(file)
    assert settings.answer.model == "openai/one"
    assert settings.build.model == "openai/one"
    assert settings.judge.model == "openai/other"


@pytest.mark.parametrize("made", ['sheet = "answers.jsonl"', 'system = "mine"'])
def test_model_of_the_run_does_not_answer_what_is_answered_elsewhere(made, tmp_path):
    file = tmp_path / "ragstone.toml"
    file.write_text(f'[run]\nmodel = "openai/one"\n\n[answer]\n{made}\n')
    settings = load_settings(file)
    assert settings.answer.model is None
    assert settings.judge.model == "openai/one"


def test_paths_are_relative_to_the_file(tmp_path, monkeypatch):
    monkeypatch.chdir("/")
    loaded = load_settings(write(tmp_path, "[questions]\npath = 'data/q.jsonl'\n"))
    assert loaded.path("data/q.jsonl") == tmp_path / "data" / "q.jsonl"
    assert loaded.path("/elsewhere/q.jsonl") == Path("/elsewhere/q.jsonl")


MISTAKES = {
    "a key that nobody knows": (
        "[run]\nname = 'a'\nseeed = 3\n",
        ":3: unknown key 'seeed'. Did you mean 'seed'? All: model, name, seed.",
    ),
    "a table that nobody knows": (
        "[run]\nname = 'a'\n\n[retreive]\nk = 3\n",
        ":4: unknown key 'retreive'. Did you mean 'retrieve' or 'retrievers'",
    ),
    "a key far from any": (
        "zzz = 1\n",
        ":1: unknown key 'zzz'. Known: agree, answer, assistant, bench, blame, build, chunk,",
    ),
    "text for a number": (
        "[run]\nname = 'a'\n\n[chunk]\n# the size\nsize = 'big'\n",
        ":6: Expected `int`, got `str` (key 'chunk.size')",
    ),
    "a number out of range": ("[chunk]\nsize = 0\n", ":2: Expected `int` >= 1 (key 'chunk.size')"),
    "a negative seed": ("[run]\nseed = -1\n", ":2: Expected `int` >= 0 (key 'run.seed')"),
    "true for a number": ("[run]\nseed = true\n", ":2: Expected `int`, got `bool` (key 'run.seed')"),
    "an inline table": ("\nchunk = { size = 0 }\n", ":2: Expected `int` >= 1 (key 'chunk.size')"),
    "a dotted key": ("\nchunk.size = 0\n", ":2: Expected `int` >= 1 (key 'chunk.size')"),
    "a quoted key": ('[chunk]\n"size" = 0\n', ":2: Expected `int` >= 1 (key 'chunk.size')"),
    "a value where a table should be": ("run = 3\n", ":1: Expected a table, got `int` (key 'run')"),
    "a value where a list should be": (
        "[judge]\njudges = 'a'\n",
        ":2: Expected `array`, got `str` (key 'judge.judges')",
    ),
    "one item of a list": (
        "[judge]\njudges = [\n'a',\n3]\n",
        ":2: Expected `str`, got `int` (key 'judge.judges')",
    ),
    "the same key, right in another table": (
        "[answer]\nlimit = 3\n[questions]\nlimit = 0\n",
        ":4: Expected `int` >= 1 (key 'questions.limit')",
    ),
    "the same key in a comment": (
        "[chunk]\n# size = 3\n\nsize = 0\n",
        ":4: Expected `int` >= 1 (key 'chunk.size')",
    ),
    "the same key inside a long text": (
        "[questions]\npath = '''\nlimit = 3\n'''\nlimit = 0\n",
        ":5: Expected `int` >= 1 (key 'questions.limit')",
    ),
    "a kind of retriever that nobody knows": (
        "[retrievers]\nmine = { kind = 'dens' }\n",
        ":2: unknown kind 'dens'. Did you mean 'dense'? All: bm25, dense, http, hybrid, rerank, shortlist.",
    ),
    "a value that is none of the few that there are": (
        "[retrievers]\nmine = { kind = 'dense', index = 'fais' }\n",
        ":2: unknown index 'fais'. Did you mean 'faiss'? All: exact, faiss, qdrant.",
    ),
    "a key of another kind of retriever": (
        "[retrievers.mine]\nkind = 'dense'\nweights = [1]\n",
        ":3: unknown key 'weights'. Known: api_key_env, collection, embedder, index, similarity, url.",
    ),
    "a retriever without its kind": (
        "[retrievers]\nmine = { index = 'faiss' }\n",
        ":2: the key 'kind' is missing in retrievers.mine. Add it.",
    ),
    "a weight below zero": (
        "[retrievers]\nmine = { kind = 'hybrid', weights = [-1] }\n",
        ":2: Expected `float` >= 0.0 (key 'retrievers.mine.weights')",
    ),
    "the second of two models": (
        '[models."openai/a"]\nmax_concurrency = 4\n\n[models."openai/b.1"]\nmax_concurrency = 0\n',
        ":5: Expected `int` >= 1 (key 'models.openai/b.1.max_concurrency')",
    ),
    "an unknown key of the second model": (
        '[models."openai/a"]\ntimeout_s = 4\n\n[models."openai/b"]\ntimeout = 1\n',
        ":5: unknown key 'timeout'. Did you mean 'timeout_s'?",
    ),
    "an unknown key of a price": (
        '[models."openai/a"]\ntimeout_s = 1\nprice_usd_per_million = { inptu = 1, output = 2 }\n',
        ":3: unknown key 'inptu'. Did you mean 'input'? All: cache_write, cached, input, output, reasoning.",
    ),
    "a price without its half": (
        '[models."openai/a"]\nprice_usd_per_million = { output = 2 }\n',
        ":2: the key 'input' is missing in models.openai/a.price_usd_per_million. Add it.",
    ),
    "a price below zero": (
        '[models."openai/a"]\nprice_usd_per_million = { input = -1, output = 2 }\n',
        ":2: Expected `float` >= 0.0 (key 'models.openai/a.price_usd_per_million.input')",
    ),
    "a price in a table of its own": (
        '[models.m]\n[models.m.price_usd_per_million] # dollars\ninput = "1"\noutput = 2\n',
        ":3: Expected `float`, got `str` (key 'models.m.price_usd_per_million.input')",
    ),
    "a name that is no folder": ("[run]\nname = 'a b/c'\n", ":2: Expected `str` matching regex"),
    "a root of its own": ("\nroot = 'x'\n", ":2: unknown key 'root'. Paths are relative to this file."),
    "no TOML": ("[run\n", ": not valid TOML: Expected ']'"),
    "a key twice": ("[run]\nseed = 1\nseed = 2\n", ": not valid TOML: Cannot overwrite a value (at line 3,"),
}


@pytest.mark.parametrize(("text", "said"), MISTAKES.values(), ids=MISTAKES.keys())
def test_every_mistake_is_named_with_its_line_and_the_fix(text, said, tmp_path):
    assert mistake_in(tmp_path, text).startswith(said)


def test_a_file_that_is_not_there_says_how_to_make_one(says, tmp_path):
    with pytest.raises(ConfigError) as caught:
        load_settings(tmp_path / "none.toml")
    says(caught.value)


def test_a_folder_or_other_bytes_cannot_be_read(tmp_path, says):
    with pytest.raises(ConfigError, match="cannot be read"):
        load_settings(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b"[run]\nname = '\xe9'\n")
    with pytest.raises(ConfigError) as error:
        load_settings(tmp_path / "latin.toml")
    says(error.value)


def test_what_the_caller_gives_goes_before_the_file():
    loaded = Settings()
    assert choose(loaded, "chunk", size=5, overlap=None).chunk == msgspec.structs.replace(
        loaded.chunk, size=5
    )


NAMES = [*Settings.__struct_fields__[:-1], "size", "judges", "openai/a", "input", "nobody's"]
TABLES = st.recursive(
    st.one_of(st.integers(-2, 2), st.text(max_size=3), st.booleans(), st.floats()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(NAMES), TABLES, max_size=4))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_whatever_stands_in_a_file_is_read_or_explained(table):
    with contextlib.suppress(ConfigError):  # nothing else is raised
        convert_section(table, Settings, Path("ragstone.toml"), "")


@pytest.mark.parametrize("load", [load_judge, load_critic, load_style, load_prompt])
def test_a_file_of_ones_own_that_is_no_text_is_named(load, tmp_path, says):
    (tmp_path / "mine.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError) as error:
        load(tmp_path / "mine.toml")
    says(error.value)
    with pytest.raises(ConfigError) as error:
        load("absent.toml")
    says(error.value)
    with pytest.raises(ConfigError) as error:
        load("nonesuch")
    says(error.value)


def test_a_byte_order_mark_of_an_editor_is_passed_over(tmp_path):
    (tmp_path / "ragstone.toml").write_text('[run]\nname = "mine"\n', encoding="utf-8-sig")
    assert load_settings(tmp_path / "ragstone.toml").run.name == "mine"


@pytest.mark.parametrize(
    ("lines", "instead"),
    [
        ('crops = "crops.csv"', "farm_tools.crops:crop_table"),
        ('videos = "videos.csv"', "[assistant.options.find_videos]"),
        ("[assistant.weather]\ntimeout_s = 5", "rename this table to [assistant.options.weather]"),
    ],
)
def test_a_tool_that_has_moved_to_the_example_says_what_to_write_instead(tmp_path, lines, instead):
    file = tmp_path / "ragstone.toml"
    file.write_text(f"[assistant]\n{lines}\n")
    with pytest.raises(ConfigError) as caught:
        load_settings(file)
    assert str(caught.value).startswith(f"{file}:2: ")
    assert instead in str(caught.value)


def test_a_system_may_stand_in_the_answer_table(tmp_path):
    mine = '[systems]\nmine = { kind = "python", call = "a:b" }\n'
    read = load_settings(write(tmp_path, f'[answer]\nsystem = {{ kind = "extractive", k = 3 }}\n{mine}'))
    assert read.answer.system == "extractive"
    assert read.systems["extractive"] == ExtractiveSystem(k=3)
    assert set(read.systems) == {"extractive", "mine"}


def test_an_extractive_system_knows_the_packaged_embedder_alone(tmp_path, says):
    table = '[systems]\nquotes = { kind = "extractive", embedder = "%s" }'
    read = load_settings(write(tmp_path, table % "packaged"))
    assert read.systems["quotes"] == ExtractiveSystem(embedder="packaged")
    says(mistake_in(tmp_path, table % "openai/text-embedding-3-small"))


def test_a_mistake_in_a_system_of_the_answer_table_is_found_there(says, tmp_path):
    told = mistake_in(tmp_path, '[answer]\nlimit = 3\n[answer.system]\nkind = "extractive"\nsentence = 3\n')
    says(told)
    says(mistake_in(tmp_path, '[answer]\nsystem = { kind = "extractiv" }\n'))
    twice = '[systems]\nrag = { kind = "rag" }\n[answer]\nsystem = { kind = "rag", k = 3 }\n'
    says(mistake_in(tmp_path, twice))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a = " + "[" * 900 + "]" * 900, "nested more than 100 deep"),
        ("a = " + "{b = " * 900 + "1" + "}" * 900, "nested more than 100 deep"),
        ("a." * 100_000 + "a = 1", "more than 32 parts"),
        ("[" + 'a . "b" . ' * 50_000 + "a]", "more than 32 parts"),
        ("x = {" + "a." * 100_000 + "a = 1}", "more than 32 parts"),
        ("a = " + "1" * 9_000, "not valid TOML"),
        ("a = 1\n" * 1_000_000, "more than 4,000,000 characters"),
        ("a = " + '"\\' * 50_000, "not valid TOML"),
    ],
)
def test_a_text_that_would_take_minutes_or_every_frame_is_one_sentence(text, words):
    began = time.process_time()
    with pytest.raises(ConfigError, match=words) as caught:
        parse_toml(text, Path("judge.toml"))
    assert time.process_time() - began < 5
    assert "\n" not in str(caught.value)


def test_brackets_and_dots_in_texts_and_comments_are_neither_levels_nor_keys():
    long = "[a.b." * 200
    for text in (
        f'a = """\n{long}"""',
        f"a = '''{long}'''",
        f'a = "{long}"',
        f"a = '{long}'",
        f"a = 1 # {long}",
    ):
        assert parse_toml(text, Path("judge.toml")).keys() == {"a"}
