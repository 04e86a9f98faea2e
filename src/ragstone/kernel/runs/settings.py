"""The manifest of a run -> the settings that decide its numbers; of two runs, what differs between them."""

from collections.abc import Iterator, Mapping
from difflib import unified_diff
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from ragstone.kernel.errors import explaining
from ragstone.kernel.runs.folders import NOT_JSON

Keys = Mapping[str, object]
"""A table of ragstone.toml."""

BUILT_IN = "built-in"
SEARCH = "search"
ALWAYS = ""
# Rows that move no score that two runs share: these have the same questions, and the same judges.
ASIDE = (
    "judges",
    "[judge] model",
    "questions",
    "[questions] limit",
    "[answer] limit",
    "[answer] repeats",
    "[run] seed",
)
# What decides how a model answers, or what that costs; limits and time-outs do not.
OF_MODEL = (
    *("api_version", "temperature", "reasoning_tokens", "extra", "context_tokens"),
    *("price_usd_per_million", "batch_discount", "dimensions", "query_prefix", "passage_prefix"),
)
OF_ANSWER = ("temperature", "top_p", "max_tokens")
OF_MEANING = ("percentile", "embedder")  # keys of [chunk] that its method `semantic` alone reads


class SettingDifference(msgspec.Struct, frozen=True, kw_only=True):
    """A setting that two runs do not share, in words; None where it is not set.

    name: as ragstone.toml has it (`[retrieve] k`), or what the manifest adds (`documents`, `judges`,
    `Ragstone`). decides: whether it can move a score that is compared; other judges, and more questions,
    cannot.
    """

    name: str
    a: str | None
    b: str | None
    decides: bool


class JudgeVersion(msgspec.Struct, frozen=True, kw_only=True):
    """A judge as a manifest has it. digest: of its file. best: the good end of its scale; absent: highest."""

    digest: str
    version: int | None = None
    best: Literal["highest", "lowest"] | None = None


class PromptVersion(msgspec.Struct, frozen=True, kw_only=True):
    """The answering prompt as a manifest has it. text: None in manifests of earlier versions."""

    name: str
    version: int
    digest: str
    text: str | None = None


class RunManifest(msgspec.Struct, frozen=True, kw_only=True):
    """What manifest.json tells. settings: table of ragstone.toml -> its keys; empty where it has none.

    ragstone: the version that wrote it. models: role -> model that was asked. files: name -> digest.
    """

    judges: dict[str, JudgeVersion]
    ragstone: str = ""
    settings: dict[str, dict[str, object]] = {}
    models: dict[str, str] = {}
    files: dict[str, str] = {}
    prompt: PromptVersion | None = None


def read_run_manifest(path: Path) -> RunManifest | None:
    """Return what a manifest tells, None where there is none. Raises DataError for one that is broken."""
    if not path.is_file():
        return None
    with explaining(f"{path}: not a manifest of Ragstone", "Restore it, or delete it.", *NOT_JSON):
        return msgspec.json.decode(path.read_bytes(), type=RunManifest)


class RunSetting(NamedTuple):
    """A setting in words. of: what it belongs to, and without which it decides nothing.

    identity: what tells it from another one, where that is not its words.
    """

    words: str
    of: str = ALWAYS
    identity: str = ""


def run_settings(manifest: RunManifest) -> dict[str, RunSetting]:
    """Return the settings of a run by name, as ragstone.toml has them: `[retrieve] k`. Absent is not set.

    Left out is what decides nothing: names and paths, limits of calls, settings of systems, retrievers and
    models that the run did not ask.
    """
    settings = dict(_answering(manifest))
    if "rankings.jsonl" in manifest.files:
        settings |= _searching(manifest)
    settings |= _judging(manifest)
    settings |= _of_models(manifest)
    settings["Ragstone"] = RunSetting(manifest.ragstone)
    return {name: setting for name, setting in settings.items() if setting.words}


def _answering(manifest: RunManifest) -> Iterator[tuple[str, RunSetting]]:
    """Yield what answered. A sheet is told by its content, for another path is no other sheet."""
    answer = _table(manifest, "answer")
    sheet, name = answer.get("sheet"), answer.get("system")
    system = manifest.settings.get("systems", {}).get(str(name)) if name else None
    declared: Keys = system if isinstance(system, dict) else {}
    if sheet:
        yield "[answer] system", _file(manifest, "answers.jsonl", f"answers of {words_of(sheet)}")
    elif name and declared.get("kind") != "rag":
        yield "[answer] system", RunSetting(words_of(name))
        yield from _keys(f"systems.{name}", declared)
        asks = manifest.models.get(f"system {name}", "")
        yield f"[systems.{name}] asks", RunSetting(asks, f"systems.{name}")
    else:
        yield "[answer] system", RunSetting(BUILT_IN)
        model = manifest.models.get("answer") or words_of(answer.get("model"))
        yield "[answer] model", RunSetting(model, BUILT_IN)
        if manifest.prompt:
            yield "[answer] prompt", _prompt(manifest.prompt)
        yield from _keys("answer", answer, OF_ANSWER, of=BUILT_IN)
    yield from _keys("answer", answer, ("limit", "repeats"), of=ALWAYS)


def _prompt(prompt: PromptVersion) -> RunSetting:
    return RunSetting(f"{prompt.name}, version {prompt.version}", BUILT_IN, prompt.digest)


def _searching(manifest: RunManifest) -> dict[str, RunSetting]:
    """Return what was searched, and how."""
    retrieve, chunk = _table(manifest, "retrieve"), _table(manifest, "chunk")
    others = [key for key in chunk if chunk.get("method") == "semantic" or key not in OF_MEANING]
    settings = dict(_keys("retrieve", retrieve, [key for key in retrieve if key != "embedder"], of=SEARCH))
    for name in _retrievers(manifest, str(retrieve.get("retriever", ""))):
        declared = manifest.settings.get("retrievers", {}).get(name)
        if isinstance(declared, dict):
            settings |= _keys(f"retrievers.{name}", declared)
    settings |= _keys("chunk", chunk, others, of=SEARCH)
    paths = words_of(_table(manifest, "documents").get("paths"))
    settings["documents"] = _file(manifest, "documents.jsonl", paths, SEARCH)
    settings |= _keys("documents", _table(manifest, "documents"), ("copies",), of=SEARCH)
    settings["embedder"] = RunSetting(manifest.models.get("embedder", ""), "embedder")
    return settings


def _retrievers(manifest: RunManifest, name: str) -> list[str]:
    """Return a retriever and those that it is made of, each once."""
    names = [name]
    for retriever in names:
        declared = manifest.settings.get("retrievers", {}).get(retriever)
        parts = declared.get("of", []) if isinstance(declared, dict) else []
        names += [part for part in ([parts] if isinstance(parts, str) else parts) if part not in names]
    return names


def _judging(manifest: RunManifest) -> dict[str, RunSetting]:
    judges = [
        name if judge.version is None else f"{name} {judge.version}"
        for name, judge in manifest.judges.items()
    ]
    settings = {"[judge] model": RunSetting(manifest.models.get("judge", ""))}
    settings |= _keys("judge", _table(manifest, "judge"), ("one_call",), of=ALWAYS)
    settings["judges"] = RunSetting(", ".join(sorted(judges)))
    questions = _table(manifest, "questions")
    settings["questions"] = _file(manifest, "questions.jsonl", words_of(questions.get("path")))
    settings |= _keys("questions", questions, ("limit",), of=ALWAYS)
    return settings | dict(_keys("run", _table(manifest, "run"), ("seed",), of=ALWAYS))


def _of_models(manifest: RunManifest) -> dict[str, RunSetting]:
    """Return how the models that were asked are to answer, and their prices; of each under its name."""
    settings: dict[str, RunSetting] = {}
    for name, declared in manifest.settings.get("models", {}).items():
        is_used = any(model == name or model.startswith(f"{name}@") for model in manifest.models.values())
        if is_used and isinstance(declared, dict):
            settings |= _keys(f'models."{name}"', declared, OF_MODEL)
    return settings


def _table(manifest: RunManifest, name: str) -> Keys:
    return manifest.settings.get(name, {})


def _keys(
    table: str, keys: Keys, names: list[str] | tuple[str, ...] | None = None, *, of: str | None = None
) -> Iterator[tuple[str, RunSetting]]:
    """Yield the keys of a table that are set; without names all of them."""
    for key in keys if names is None else names:
        yield f"[{table}] {key}", RunSetting(words_of(keys.get(key)), table if of is None else of)


def _file(manifest: RunManifest, name: str, text: str, of: str = ALWAYS) -> RunSetting:
    """Return a file of rows: its source for people, its content to tell it from another."""
    digest = manifest.files.get(name, "")
    return RunSetting(text and f"{text} (content {digest[:8] or 'unknown'})", of, digest)


def words_of(value: object) -> str:
    """Return a value of ragstone.toml in words; empty where it is not set."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {text}" for key, part in value.items() if (text := words_of(part)))
    if isinstance(value, list):
        return ", ".join(map(words_of, value))
    return "" if value is None else str(value)


def differing_settings(a: RunManifest, b: RunManifest) -> list[SettingDifference]:
    """Return the settings that differ, those that can move a score first.

    A setting of something that one run alone uses (the k of a retriever, the prompt of the built-in
    application) is left out: it follows from what stands above it.
    """
    ours, theirs = run_settings(a), run_settings(b)
    used = [{*(ours_of.of for ours_of in side.values()), *_uses(side), ALWAYS} for side in (ours, theirs)]
    both = used[0] & used[1]
    differences = []
    for name in dict.fromkeys([*ours, *theirs]):
        ours_of, other = ours.get(name), theirs.get(name)
        if _same(ours_of, other) or not {side.of for side in (ours_of, other) if side} <= both:
            continue
        before, after = _told_apart(ours_of, other)
        differences.append(SettingDifference(name=name, a=before, b=after, decides=name not in ASIDE))
    return sorted(differences, key=lambda row: not row.decides)


def _uses(settings: Mapping[str, RunSetting]) -> set[str]:
    """Return the tables that a run uses, though it sets no key of them."""
    heads = {
        "[answer] system": "systems.{}",
        "[retrieve] retriever": "retrievers.{}",
        "[answer] model": 'models."{}"',
        "[judge] model": 'models."{}"',
    }
    return {
        form.format(settings[name].words.split("@")[0]) for name, form in heads.items() if name in settings
    }


def _same(first: RunSetting | None, other: RunSetting | None) -> bool:
    if first is None or other is None:
        return first is other
    if first.identity and other.identity:
        return first.identity == other.identity
    return first.words == other.words


def _told_apart(first: RunSetting | None, other: RunSetting | None) -> tuple[str | None, str | None]:
    """Return the words of both, with their digests where the words are the same."""
    if first and other and first.words == other.words:
        return f"{first.words} (digest {first.identity[:8]})", f"{other.words} (digest {other.identity[:8]})"
    return first.words if first else None, other.words if other else None


def prompt_diff(a: RunManifest, b: RunManifest) -> list[str]:
    """Return the lines of a unified diff of the answering prompts; none where they are equal or unknown."""
    first, other = a.prompt, b.prompt
    if first is None or other is None or first.text is None or other.text is None:
        return []
    before, after = (text.strip().splitlines() for text in (first.text, other.text))
    names = f"A: {_prompt(first).words}", f"B: {_prompt(other).words}"
    return list(unified_diff(before, after, *names, lineterm=""))
