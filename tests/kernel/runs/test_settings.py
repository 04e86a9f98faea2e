"""Manifests -> the settings that differ: which count, which follow from others, which move no score."""

import json

import msgspec
import pytest

from ragstone.kernel.errors import DataError
from ragstone.kernel.runs.settings import (
    RunManifest,
    differing_settings,
    prompt_diff,
    read_run_manifest,
    run_settings,
)

MODEL = "openai/a"


def manifest(*, models=None, files=None, judges=("containment",), prompt=None, **tables) -> RunManifest:
    """The manifest of a built-in run, with tables of ragstone.toml changed."""
    settings = {
        "run": {"name": "any", "seed": 0},
        "documents": {"paths": ["docs"], "copies": None},
        "questions": {"path": "q.jsonl", "limit": None},
        "chunk": {
            "method": "recursive",
            "size": 1200,
            "overlap": 0,
            "percentile": 20.0,
            "embedder": "packaged",
        },
        "retrieve": {"retriever": "bm25", "k": 5, "embedder": "packaged", "where": {}, "match": []},
        "answer": {"model": MODEL, "prompt": "strict", "sheet": None, "system": None, "temperature": None},
        "judge": {"judges": list(judges), "one_call": False},
    }
    for name, keys in tables.items():
        settings[name] = settings.get(name, {}) | keys
    given = {
        "ragstone": "1.0",
        "settings": settings,
        "models": {"answer": f"{MODEL}@host"} if models is None else models,
        "judges": {name: {"version": 1, "digest": name} for name in judges},
        "files": {"rankings.jsonl": "r", "documents.jsonl": "d" * 32, "questions.jsonl": "q"} | (files or {}),
        "prompt": prompt or {"name": "strict", "version": 1, "digest": "p", "text": "{question}"},
    }
    return msgspec.convert(given, RunManifest)


def differing(a: RunManifest, b: RunManifest) -> list[tuple[str, str | None, str | None]]:
    return [(row.name, row.a, row.b) for row in differing_settings(a, b) if row.decides]


def aside(a: RunManifest, b: RunManifest) -> list[str]:
    return [row.name for row in differing_settings(a, b) if not row.decides]


@pytest.mark.parametrize(
    ("table", "key", "value", "told"),
    [
        ("retrieve", "k", 8, ("[retrieve] k", "5", "8")),
        ("retrieve", "retriever", "dense", ("[retrieve] retriever", "bm25", "dense")),
        ("retrieve", "where", {"crop": "wheat"}, ("[retrieve] where", None, "crop wheat")),
        ("retrieve", "match", ["lang", "crop"], ("[retrieve] match", None, "lang, crop")),
        ("chunk", "size", 400, ("[chunk] size", "1200", "400")),
        ("chunk", "overlap", 50, ("[chunk] overlap", "0", "50")),
        ("answer", "temperature", 0.3, ("[answer] temperature", None, "0.3")),
        ("judge", "one_call", True, ("[judge] one_call", "false", "true")),
        ("documents", "copies", "page", ("[documents] copies", None, "page")),
    ],
)
def test_a_setting_is_told_by_the_name_it_has_in_the_file(table, key, value, told):
    other = manifest(**{table: {key: value}})
    assert differing(manifest(), other) == [told]
    assert differing(other, manifest()) == [(told[0], told[2], told[1])]
    assert differing(other, other) == []


@pytest.mark.parametrize(
    "change",
    [
        {"run": {"name": "another"}},
        {"documents": {"paths": ["moved"]}},  # the same content
        {"chunk": {"percentile": 30.0}},  # of the method `semantic` alone
        {"retrieve": {"embedder": "another"}},  # bm25 asks none: the manifest names none that was asked
        {"retrievers": {"mine": {"kind": "dense"}}},  # declared, and not used
        {"systems": {"mine": {"kind": "http", "url": "http://x"}}},
        {"models": None, "answer": {"limit": None}},
    ],
)
def test_what_decides_nothing_is_no_difference(change):
    assert differing_settings(manifest(), manifest(**change)) == []


def test_another_model_is_one_difference_though_it_has_settings_of_its_own():
    ours = manifest()
    theirs = manifest(models={"answer": "openai/b@host"}, answer={"model": "openai/b"})
    tables = theirs.settings | {"models": {"openai/b": {"temperature": 0.7, "timeout_s": 5}}}
    theirs = msgspec.structs.replace(theirs, settings=tables)
    assert differing(ours, theirs) == [("[answer] model", "openai/a@host", "openai/b@host")]


def test_how_one_model_is_asked_is_a_difference_and_its_limits_are_not():
    ours = manifest()
    table = {"temperature": 0.7, "timeout_s": 5, "max_concurrency": 2, "price_usd_per_million": {"input": 1}}
    theirs = msgspec.structs.replace(ours, settings=ours.settings | {"models": {MODEL: table}})
    assert differing(ours, theirs) == [
        (f'[models."{MODEL}"] temperature', None, "0.7"),
        (f'[models."{MODEL}"] price_usd_per_million', None, "input 1"),
    ]


def test_another_retriever_is_one_difference_and_the_same_one_is_looked_into():
    both = {"kind": "hybrid", "of": ["bm25", "meaning"], "weights": [0.5, 0.5]}
    hybrid = manifest(
        retrieve={"retriever": "both"},
        retrievers={"both": both, "meaning": {"kind": "dense"}},
        models={"answer": f"{MODEL}@host", "embedder": "packaged"},  # which bm25 asks nothing of
    )
    assert differing(manifest(), hybrid) == [("[retrieve] retriever", "bm25", "both")]
    other = manifest(
        retrieve={"retriever": "both"},
        retrievers={"both": both | {"weights": [0.4, 0.6]}, "meaning": {"kind": "dense", "index": "faiss"}},
        models={"answer": f"{MODEL}@host", "embedder": "another"},
    )
    assert differing(hybrid, other) == [
        ("[retrievers.both] weights", "0.5, 0.5", "0.4, 0.6"),
        ("embedder", "packaged", "another"),
        ("[retrievers.meaning] index", None, "faiss"),
    ]


def test_another_kind_of_system_is_one_difference():
    sheet = manifest(models={}, answer={"sheet": "a.csv"}, files={"answers.jsonl": "0123456789"})
    told = ("[answer] system", "built-in", "answers of a.csv (content 01234567)")
    assert differing(manifest(), sheet) == [told]
    http = {"systems": {"mine": {"kind": "http", "url": "http://x"}}, "answer": {"system": "mine"}}
    assert differing(manifest(), manifest(**http)) == [("[answer] system", "built-in", "mine")]
    moved = {"systems": {"mine": {"kind": "http", "url": "http://y"}}, "answer": {"system": "mine"}}
    assert differing(manifest(**http), manifest(**moved)) == [("[systems.mine] url", "http://x", "http://y")]


def test_a_system_of_the_built_in_kind_is_the_built_in_one():
    rag = manifest(systems={"mine": {"kind": "rag", "k": 5}}, answer={"system": "mine"})
    assert differing(manifest(), rag) == []


def test_documents_are_told_by_their_content():
    other = manifest(files={"documents.jsonl": "e" * 32})
    assert differing(manifest(), other) == [
        ("documents", "docs (content dddddddd)", "docs (content eeeeeeee)")
    ]


def test_a_run_without_rankings_has_no_setting_of_search():
    bare = manifest(answer={"sheet": "a.csv"}, files={"answers.jsonl": "1"})
    files = {name: digest for name, digest in bare.files.items() if name != "rankings.jsonl"}
    bare = msgspec.structs.replace(bare, files=files)
    assert not [
        name for name in run_settings(bare) if name.startswith(("[retrieve]", "[chunk]", "documents"))
    ]


def test_judges_questions_and_seed_are_told_and_move_no_score():
    other = manifest(
        judges=("containment", "token_f1"),
        run={"seed": 3},
        questions={"limit": 10},
        files={"questions.jsonl": "other"},
    )
    assert differing(manifest(), other) == []
    assert sorted(aside(manifest(), other)) == ["[questions] limit", "[run] seed", "judges", "questions"]


def test_the_version_counts():
    ours = manifest()
    other = msgspec.structs.replace(ours, ragstone="2.0")
    assert differing(ours, other) == [("Ragstone", "1.0", "2.0")]


def test_prompts_are_told_by_name_and_else_by_digest_and_their_texts_by_line():
    ours = manifest(
        prompt={"name": "strict", "version": 1, "digest": "1" * 32, "text": "One.\nTwo {question}\n"}
    )
    theirs = manifest(prompt={"name": "mine", "version": 2, "digest": "2" * 32, "text": "One.\n2 {question}"})
    assert differing(ours, theirs) == [("[answer] prompt", "strict, version 1", "mine, version 2")]
    assert prompt_diff(ours, theirs) == [
        "--- A: strict, version 1",
        "+++ B: mine, version 2",
        "@@ -1,2 +1,2 @@",
        " One.",
        "-Two {question}",
        "+2 {question}",
    ]
    edited = manifest(prompt={"name": "strict", "version": 1, "digest": "3" * 32})
    assert differing(ours, edited) == [
        ("[answer] prompt", "strict, version 1 (digest 11111111)", "strict, version 1 (digest 33333333)")
    ]
    assert prompt_diff(ours, edited) == prompt_diff(ours, ours) == []


def test_a_manifest_may_be_absent_old_or_broken(tmp_path, says):
    path = tmp_path / "manifest.json"
    assert read_run_manifest(path) is None
    path.write_text(json.dumps({"judges": {}, "later": 1}))
    found = read_run_manifest(path)
    assert found is not None
    assert (found.settings, found.prompt) == ({}, None)
    for broken in ("", "[]", "{}", '{"judges": {"a": {}}}', '{"judges": {}, "settings": {"run": 1}}'):
        path.write_text(broken)
        with pytest.raises(DataError) as error:
            read_run_manifest(path)
        says(error.value)
