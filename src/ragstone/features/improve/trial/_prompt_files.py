"""The answer prompts of a project as files, `prompts/NAME@vN.toml`: each version stays as it was kept."""

from pathlib import Path

import msgspec

from ragstone.features.improve.judge_files import replaced_line, version_line, write_new
from ragstone.features.judges import versions
from ragstone.kernel.config import Settings, read_named
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.systems.prompting import AnsweringPrompt, load_prompt, parse_prompt, prompt_names

FOLDER = "prompts"
ROOM = "ragstone.kernel.systems"


def saved_prompt(settings: Settings, name: str) -> tuple[str, Path] | None:
    """Return the text of a run's answer prompt, and its file; None where the project has none of that name.

    One that comes with Ragstone is given as a copy, `my_NAME`: results of the two stay apart.
    """
    if name in prompt_names():
        text, file = read_named(name, "prompt", ROOM, FOLDER)
        copy = replaced_line(text, "name", f'name       = "my_{name}"', file)
        return replaced_line(copy, "version", "version    = 1", file), _file_of(settings, f"my_{name}")
    declared = settings.named(settings.answer.prompt)
    if declared == settings.answer.prompt and not str(declared).endswith(".toml"):
        return None
    text, file = read_named(declared, "prompt", ROOM, FOLDER)
    return (text, file) if parse_prompt(text, file).name == name else None


def draft_prompt(settings: Settings, text: str) -> AnsweringPrompt:
    """Return the prompt that a draft describes, under the version that it would be kept as.

    So what is asked of a draft is what that version asks. Raises ConfigError for what is no prompt.
    """
    prompt = parse_prompt(text, _file_of(settings, "prompt"))
    if prompt.name in prompt_names():
        raise ConfigError(
            f"a prompt named {prompt.name!r} comes with Ragstone, and its answers and yours could not be "
            f'told apart. Write e.g. name = "my_{prompt.name}".'
        )
    there = versions(_file_of(settings, prompt.name))
    same = (
        number
        for number, file in there.items()
        if msgspec.structs.replace(load_prompt(file), version=prompt.version) == prompt
    )
    return msgspec.structs.replace(prompt, version=next(same, max(there, default=0) + 1))


def keep_prompt(settings: Settings, text: str, change: str, who: str) -> Path:
    """Write a draft as the next version of its name and return the file; no file is ever written again.

    change: what is new, in a line. Raises ConfigError for what is no prompt, or is kept already, DataError
    where nothing can be written.
    """
    prompt, line = draft_prompt(settings, text), change.strip()
    path = _file_of(settings, prompt.name)
    existing = versions(path).get(prompt.version)
    if existing:
        raise ConfigError(f"{existing} holds this prompt already: change it, then keep it.")
    if not line:
        raise ConfigError("say in a line what changed, for whoever reads the versions later.")
    path.parent.mkdir(parents=True, exist_ok=True)
    target = path.with_name(f"{path.stem}@v{prompt.version}.toml")
    body = replaced_line(text, "version", f"version    = {prompt.version}", path)
    write_new(target, f"{version_line(prompt.version, line, who)}\n{body.lstrip()}")
    return target


def _file_of(settings: Settings, name: str) -> Path:
    return settings.path(FOLDER) / f"{name}.toml"
