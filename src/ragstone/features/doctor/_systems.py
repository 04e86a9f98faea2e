"""Whether an application of `[systems]` can be asked, without asking it: for `ragstone doctor`."""

from ragstone.kernel.config import (
    ChatSystem,
    ExtractiveSystem,
    HttpSystem,
    ModelSettings,
    PythonSystem,
    RagSystem,
    Settings,
    SheetSystem,
)
from ragstone.kernel.engine.session import open_session
from ragstone.kernel.errors import ConfigError, ModelError, plural
from ragstone.kernel.llm.json_service import check_key, reach
from ragstone.kernel.llm.providers import provider_of
from ragstone.kernel.records import Answer
from ragstone.kernel.systems.applications import load_application
from ragstone.kernel.systems.chosen import retrieve_for
from ragstone.kernel.systems.prompting import load_prompt
from ragstone.kernel.tables import read_rows

GIVEN = {"text": "the question's text", "row": "the Question row", "messages": "the conversation's messages"}


async def look_at(name: str, settings: Settings) -> str:
    """Return what was found of a system. Raises RagstoneError saying what is wrong and how to mend it.

    http, chat: somebody listens at the address, and the template fits; nothing is sent. python: it can be
    imported and called with a question. rag: its prompt can be read, and a model is named. extractive: there
    are documents. sheet: it is read.
    """
    match settings.systems[name]:
        case HttpSystem() as declared:
            application = await load_application(name, settings)
            async with application.open():
                check_key(declared, f"[systems.{name}]")
                return await reach(declared.url)
        case ChatSystem(model=model):
            return await _reach_model(model, settings)
        case PythonSystem(call=call):
            callee = (await load_application(name, settings)).callee
            assert callee is not None
            return f"{call} can be imported; it receives {GIVEN[callee.takes]}"
        case RagSystem() as declared:
            prompt = load_prompt(settings.named(declared.prompt or settings.answer.prompt))
            model = declared.model or settings.answer.model or settings.run.model or ""
            if not model:
                raise ModelError(f"[systems.{name}]: no model. Name one there, or in [answer].")
            return f"{prompt.name} (version {prompt.version}), answered by {model}"
        case ExtractiveSystem() as declared:
            wanted = retrieve_for(declared, settings.retrieve)
            if not settings.documents.paths:
                raise ConfigError(
                    f"[systems.{name}]: no documents to quote. Name them as paths in [documents]."
                )
            return f"no model: sentences of the first {wanted.k} chunks by {wanted.retriever}"
        case SheetSystem(path=path):
            n_rows = sum(1 for _ in read_rows(settings.path(path), Answer))
            return f"{plural(n_rows, 'answer')} in {settings.path(path)}"


async def _reach_model(model: str, settings: Settings) -> str:
    """Return what was found of a model that is an application."""
    async with open_session(settings) as session:
        await session.models.door(model)
    provider, _name = provider_of(model)
    address = provider.address(settings.models.get(model, ModelSettings()))
    return await reach(address) if address else f"{model} can be opened"
