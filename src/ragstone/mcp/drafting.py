"""The settings of an evaluation of an application behind an address, as a draft that a person saves."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from ragstone.kernel.config import load_settings, to_toml
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.llm.json_service import address_of, compile_path

AFTER = (
    "A draft: nothing was written and no request was sent. Save it as ragstone.toml. `ragstone doctor` says "
    "whether the address answers, `ragstone run --forecast` what judging would cost, and `ragstone run` "
    "evaluates. Judges that ask a model need one: model in [judge]. If the address "
    'needs a key: api_key_env = "NAME" and headers = { Authorization = "Bearer {key}" }.'
)


def draft_settings(url: str, answer: str, contexts: str, questions: str, judges: Sequence[str]) -> str:
    """Return the text of a ragstone.toml. Raises ConfigError for what `ragstone run` would not take."""
    where = "[systems.application]"
    address_of(url, where)
    for name, path in (("answer", answer), ("contexts", contexts or "$")):
        compile_path(path, f"{where} {name}")
    lines = [
        "[run]",
        'name = "endpoint"',
        "",
        "[questions]",
        f"path = {to_toml(questions)}",
        "",
        "[answer]",
        'system = "application"',
        "",
        "[systems.application]",
        'kind = "http"',
        f"url = {to_toml(url)}",
        f"answer = {to_toml(answer)}",
        *([f"contexts = {to_toml(contexts)}"] if contexts else []),
        "",
        "[judge]",
        f"judges = [{', '.join(map(to_toml, judges))}]",
    ]
    text = "\n".join(lines)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ragstone.toml"
        file.write_text(text, encoding="utf-8")
        try:
            load_settings(file)
        except ConfigError as mistake:
            raise ConfigError(str(mistake).replace(str(file), "the draft")) from None
    return text
