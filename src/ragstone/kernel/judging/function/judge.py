"""Kind `function`: a judge that is a Python function, or a metric of another tool."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, ClassVar

import msgspec

from ragstone.kernel.config.python_function import Function
from ragstone.kernel.config.section import Seconds
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.judging.fields import ZERO_TO_ONE, Input, JudgeFields, Scale
from ragstone.kernel.judging.finding import Finding, JudgeContext
from ragstone.kernel.judging.function._calling import FunctionRules, finding_of_call
from ragstone.kernel.judging.function.loading import LoadedFunction, call_of, load_function
from ragstone.kernel.records import Answer
from ragstone.kernel.trust import check_trust

DIGITS = 12  # of the source's digest, in hexadecimal, that make the version: any program can read the number


class FunctionJudge(JudgeFields, frozen=True, kw_only=True, tag="function"):
    """A judge that calls a Python function.

    call: `module:function`, or `file.py:function`. labels: the score of each label that it returns.
    timeout_s: seconds for one row, without those in which it waits for a model. folder: where files and
    modules are looked for; digest: of its source. Both are filled in when it is loaded.
    """

    call: str
    version: Annotated[int, msgspec.Meta(ge=1)] = 1
    inputs: list[Input] = []
    scale: Scale = ZERO_TO_ONE
    source: str = ""
    labels: dict[str, float] = {}
    timeout_s: Seconds = 60
    folder: str = ""
    digest: str = ""

    reads_texts: ClassVar[bool] = False
    not_mine: ClassVar[Mapping[str, str]] = {
        key: f"a judge of kind function has no {key}: its function asks the model, if it takes `ask`."
        for key in ("prompt", "prompts", "temperature", "samples", "max_tokens", "reply")
    }

    @property
    def needs_words(self) -> str | None:
        """None: it may ask a model or not, and the door refuses what a decision model cannot answer."""
        return None

    @property
    def function(self) -> LoadedFunction:
        """The function with what it takes. Raises ConfigError where it cannot be had."""
        if not self.digest and self.name:  # of a file, and not loaded
            check_trust(Path(self.folder), f"the judge {self.name!r} runs Python code ({self.call})")
        return load_function(self.call, self.folder, self.digest)

    @property
    def needs_model(self) -> bool:
        """Whether the function takes `ask`."""
        return "ask" in self.function.tools

    @property
    def needs_embedder(self) -> bool:
        """Whether the function takes `embedder`."""
        return "embedder" in self.function.tools

    @property
    def needs_retriever(self) -> bool:
        """Whether the function takes `retriever`."""
        return "retriever" in self.function.tools

    @property
    def computes(self) -> bool:
        """False: a function may hold something from row to row, or wait, and `at_once` is of one process."""
        return False

    @property
    def reads_answer(self) -> bool:
        """Whether the function takes the answer, or the whole row."""
        taken = (*self.inputs, *self.function.required, *self.function.optional)
        return "answer" in taken or "row" in taken

    @property
    def prompt_version(self) -> int:
        """The number of its source: a function that was changed is another judge."""
        return int(self.digest[:DIGITS] or "0", 16)

    def placed(self, folder: str, /) -> "FunctionJudge":
        """Return the judge with its function looked for in the file's folder."""
        return msgspec.structs.replace(self, folder=folder)

    def loaded(self) -> "FunctionJudge":
        """Return the judge with its function found. Raises ConfigError as loaded_judge does."""
        return loaded_judge(self)

    def _own_problems(self) -> Iterator[tuple[str, str]]:
        low, high = self.scale
        for label, score in self.labels.items():
            if not low <= score <= high:
                yield "labels", f"{label} = {score:g} is not on the scale {low:g} to {high:g}."

    async def find(self, answer: Answer, _inputs: dict[str, str], context: JudgeContext) -> Finding:
        """Return what the function finds. Raises CallFailed as finding_of_call does."""
        rules = FunctionRules(self.scale, self.labels, self.timeout_s)
        return await finding_of_call(self.function, rules, answer, context)


def judge_of(function: Function) -> FunctionJudge:
    """Return the judge that a function, or a metric of another tool, is. Raises ConfigError."""
    return loaded_judge(FunctionJudge(name="", call=call_of(function)), named=False)


def judge_of_call(call: str, folder: str) -> FunctionJudge:
    """Return the judge that `module:function` names. Raises ConfigError."""
    return loaded_judge(FunctionJudge(name="", call=call, folder=folder), named=False)


def loaded_judge(judge: FunctionJudge, *, named: bool = True) -> FunctionJudge:
    """Return the judge with its function found, and with what that declares of itself.

    named: whether the judge has a name of its own, which stays. Raises ConfigError where the judge's file
    says one thing and the function another.
    """
    if judge.digest:
        return judge
    loaded = judge.function
    defaults = FunctionJudge(name="", call="")
    changed: dict[str, object] = {"digest": loaded.digest}
    for key in ("scale", "best", "labels", "metric", "timeout_s"):
        declared, own = getattr(loaded.declared, key), getattr(judge, key)
        if declared is None or declared == own:
            continue
        if own != getattr(defaults, key):
            raise ConfigError(
                f"judge {judge.name or judge.call}: its file has {key} = {own}, and its function declares "
                f"{declared}. Keep one of the two."
            )
        changed[key] = declared
    if not named:
        changed |= {"name": loaded.name, "version": loaded.declared.version}
    if not judge.source:
        changed["source"] = loaded.declared.source or loaded.place
    own_inputs = [name for name in loaded.required if name not in ("row", *judge.inputs)]
    made = msgspec.structs.replace(judge, inputs=[*judge.inputs, *own_inputs], **changed)
    if problem := next(made.problems(), None):
        raise ConfigError(f"judge {made.name}: {problem[1]}")
    return made
