"""An application of `[systems]` that is asked: its endpoint, its call for a question, its answer."""

from contextlib import AbstractAsyncContextManager

import msgspec

from ragstone.kernel.config import ChatSystem, HttpSystem, PythonSystem, Settings
from ragstone.kernel.llm import Ask, CallFailed, Message, Prompt, Reply
from ragstone.kernel.llm.limits import GivenUp
from ragstone.kernel.llm.transport import Endpoint
from ragstone.kernel.records import Answer, Context, Question
from ragstone.kernel.systems._http import http_prompt, open_http_system
from ragstone.kernel.systems._reply import SystemReply
from ragstone.kernel.systems.chosen import system_of
from ragstone.kernel.systems.function import Callee, function_prompt, load_callee, open_function
from ragstone.kernel.systems.rows import messages_of, thread_of, unanswered

# For a forecast alone: a system that tells its contexts is taken to tell so many, each as long as an answer.
CONTEXTS = 3
ASSUMPTION = f"Applications of [systems] that return contexts are assumed to return {CONTEXTS}."


class Application(msgspec.Struct, frozen=True):
    """An application by its name, its settings, and what is called where it is a Python callable."""

    name: str
    declared: ChatSystem | HttpSystem | PythonSystem
    callee: Callee | None = None

    def open(self) -> AbstractAsyncContextManager[Endpoint]:
        """Give the endpoint of a service or a callable; a model's is not opened here."""
        if self.callee is not None and isinstance(self.declared, PythonSystem):
            return open_function(self.name, self.callee, self.declared)
        assert isinstance(self.declared, HttpSystem)
        return open_http_system(self.name, self.declared)

    def prompt(self, question: Question) -> Prompt:
        """Return the call for a question."""
        declared = self.declared
        if isinstance(declared, HttpSystem):
            return http_prompt(declared, question)
        if self.callee is not None:
            return function_prompt(self.callee, question, declared.version)
        assert isinstance(declared, ChatSystem)
        before = (Message("system", declared.instructions),) if declared.instructions else ()
        return Prompt(
            messages=(*before, *msgspec.convert(messages_of(question), tuple[Message, ...])),
            max_tokens=declared.max_tokens,
            temperature=declared.temperature,
            default_temperature=None,
            top_p=declared.top_p,
            version=declared.version,
            sample=thread_of(question).sample,
        )

    def read(self, reply: Reply, question: Question) -> SystemReply:
        """Return what a completion of completion_of holds; for a reply that was made up, one of its kind."""
        if isinstance(self.declared, ChatSystem):
            return SystemReply(answer=reply.text)
        if reply.usage.calls:
            return msgspec.json.decode(reply.text, type=SystemReply)
        if isinstance(self.declared, HttpSystem) and self.declared.contexts is None:
            return SystemReply(answer=reply.text)
        # Each question's own, for the calls of judges that are alike are counted once.
        contexts = [Context(text=f"{question.id} {number}. {reply.text}") for number in range(CONTEXTS)]
        return SystemReply(answer=reply.text, contexts=contexts)

    async def answer(self, question: Question, ask: Ask) -> Answer:
        """Return its answer. A call that fails gives an answer with `error`, and the run goes on.

        So does a call that is not made, since the system has answered nothing for so long. Tokens that the
        system did not tell are unknown, not none.
        """
        row = unanswered(question, self.name)
        try:
            reply = await ask(self.prompt(question))
        except CallFailed as failure:
            return msgspec.structs.replace(row, error=f"{failure.status}: {failure}", usage=failure.usage)
        except GivenUp as why:
            return msgspec.structs.replace(row, error=f"error: it was given up: {why}")
        content, usage = self.read(reply, question), reply.usage
        return msgspec.structs.replace(
            row,
            answer=content.answer.strip(),
            contexts=content.contexts,
            steps=content.steps,
            latency_s=reply.latency_s,
            usage=None if usage.calls and not usage.input + usage.output else usage,
            cost_usd=reply.cost_usd,
            metadata=content.metadata,
        )


async def load_application(name: str, settings: Settings, callee: Callee | None = None) -> Application:
    """Return the application that a name stands for, see system_of. callee: of one that is given as such.

    Raises ConfigError where a function cannot be imported, or cannot be called with a question.
    """
    declared = system_of(name, settings)
    assert isinstance(declared, ChatSystem | HttpSystem | PythonSystem)  # the others ask nobody
    if isinstance(declared, PythonSystem) and callee is None:
        where = f"[systems.{name}]" if name in settings.systems else "system"
        callee = await load_callee(declared.call, settings.path("."), where)
    return Application(name, declared, callee)
