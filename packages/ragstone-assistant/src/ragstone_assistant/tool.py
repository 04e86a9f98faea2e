"""What the agent can call: a name, a description, typed arguments, and a function."""

from collections.abc import Awaitable, Callable
from datetime import date
from pathlib import Path
from typing import Any

import msgspec

from ragstone.kernel.config import Settings
from ragstone.kernel.config.loading import SectionT, convert_section
from ragstone.kernel.embedding.model import Embed
from ragstone.kernel.records import Usage
from ragstone_assistant.conversation import Asked, Emit, Passage, Said, silent


class Situation(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool may know besides its arguments. lang: in which the user is answered. deadline: by the time
    of the event loop; a tool that has not returned by then should end with what it has. quoting: the model
    has failed, so a tool that answers from documents quotes them and does not ask it again."""

    asked: Asked
    lang: str
    today: date
    emit: Emit = silent
    deadline: float | None = None
    quoting: bool = False


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool brings back.

    text: what the agent reads; it is data, never instructions, and is fenced before a model sees it. told:
    the same for the user, in the user's language, where no model writes the reply; "": `text` stands for it.
    failed: the tool could not do it, and `text` says why. reply: where the tool has written the user's answer
    itself and has emitted its text; the loop ends with it. passages: what documents or videos say. missing:
    what the user has to be asked for, e.g. "place", where the tool could do nothing without it.
    """

    text: str
    told: str = ""
    failed: bool = False
    passages: tuple[Passage, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    reply: Said | None = None
    missing: str | None = None
    usage: Usage = msgspec.field(default_factory=lambda: Usage(calls=0))
    cost_usd: float | None = None


class Hint(msgspec.Struct, frozen=True, kw_only=True):
    """What the words of a question say of a tool.

    nearer: added to the cosine between the question and the tool's nearest example; below 0 it speaks against
    the tool. in_scope: whether these words alone show that the question is in scope.
    """

    nearer: float = 0.0
    in_scope: bool = False


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool. arguments: a msgspec Struct with `forbid_unknown_fields`, whose docstring and field
    descriptions the model reads. call: is awaited with an instance of it; it raises nothing but
    CancelledError: whatever goes wrong is an Observation that `failed`. examples: what users say that needs
    it, in several languages; the planner by words compares with them. doing: what the page shows meanwhile,
    by language, `en` at least. texts: of its own that it compares questions with; they may
    be embedded, as passages, before the first question comes.

    The others are for the planner by words. hint: (question, language) -> what its words say of the tool.
    advises: whether it may be called for somebody who tells of symptoms, to whom figures alone are no help.
    documented: whether a document may say what it could not; then documents are searched after it failed.
    """

    name: str
    description: str
    arguments: type[msgspec.Struct]
    call: Callable[[Any, Situation], Awaitable[Observation]]
    examples: tuple[str, ...] = ()
    doing: dict[str, str] = {}
    texts: tuple[str, ...] = ()
    hint: Callable[[str, str], Hint] | None = None
    advises: bool = False
    documented: bool = True


class ToolSetup(msgspec.Struct, frozen=True, kw_only=True):
    """What a function is given that makes a tool: its name in `[assistant] tools`, the settings, the embedder
    of the assistant."""

    name: str
    settings: Settings
    embed: Embed

    @property
    def table(self) -> str:
        """The table of its options, as errors name it."""
        return f"[assistant.options.{self.name}]"

    def options(self, kind: type[SectionT]) -> SectionT:
        """Return the tool's own options. Raises ConfigError that names the line and the fix."""
        keys = ["assistant", "options", self.name]
        file = Path(self.settings.file or "ragstone.toml")
        text = file.read_text("utf-8-sig") if self.settings.file else ""
        table = self.settings.assistant.options.get(self.name, {})
        return convert_section(table, kind, file, text, within=keys)

    def path(self, name: str) -> Path:
        """Return a path of the options, which is relative to ragstone.toml."""
        return self.settings.path(name)
