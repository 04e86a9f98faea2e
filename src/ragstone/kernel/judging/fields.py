"""What every judge's file has, whatever its kind, and what a kind adds: keys, checks, a way to judge.

A kind is one struct in one module, and its line in judge.py: fields of its own, `_own_problems`, `find`. What
follows from a kind (whether it asks a model, which metrics it has, ...) is said by the struct too, so that no
other module asks which kind a judge is of.
"""

import re
import unicodedata
from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

import msgspec

from ragstone.kernel.config import Section, Temperature
from ragstone.kernel.judging.finding import Finding, JudgeContext
from ragstone.kernel.judging.tuned import question_digest
from ragstone.kernel.records import NO_MODEL, Answer, Context

PARTS = ("question", "reference", "answer", "contexts")
Input = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
"""What a judge reads of a row: one of PARTS, or any other column."""
Name = Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9_]*$")]
# ASCII as in Name, and all that is not ASCII: `problems` says which of that may be in one.
JudgeName = Annotated[
    str, msgspec.Meta(pattern=r"^[^\x00-\x60\x7b-\x7f][^\x00-\x2f\x3a-\x5e\x60\x7b-\x7f]*$")
]
Order = Literal["any_order", "in_order", "subset", "superset"]
"""How an agent's calls are compared with those expected; see steps.py."""
ORDERS: tuple[Order, ...] = get_args(Order)
Scale = tuple[float, float]
ZERO_TO_ONE: Scale = (0, 1)
LONGEST_DESCRIPTION = 300  # characters


# Keys of judges' files, with the value of each where the kind has no such key. The digests of judges in
# manifests and logs are made of all of them, in this order: it stays as it is.
EVERY_KEY: dict[str, object] = {
    **dict.fromkeys(("name", "version", "kind", "inputs", "scale", "source", "best", "metric", "prompt")),
    "prompts": {},
    **dict.fromkeys(("verify", "labels")),
    "criteria": [],
    "aggregate": "mean",
    "examples": [],
    "shots": None,
    "members": [],
    "combine": "mean",
    **dict.fromkeys(("measure", "separator")),
    "reply": "reasoned",
    "temperature": None,
    "samples": 1,
    "max_tokens": 512,
    "tuned_on": [],
    "fitted_with": None,
}
# Keys that came later to kinds that were there: they stand in a digest only where a judge sets them.
LATER: dict[str, object] = {
    "optional": [],
    "empty": "not_applicable",
    "curve": [],
    "split": "model",
    "layout": None,
    "statement": None,
}


class Example(Section, frozen=True, kw_only=True):
    """A row with the reply that it should get, shown to the model before the row to judge.

    expected: a score, true or false, a label, or for a rubric the score of each criterion. reason: what the
    reply gives as its reason, for a rubric of each criterion.
    """

    expected: bool | int | float | str | dict[str, float]
    reason: str | dict[str, str]
    question: str | None = None
    reference: str | list[str] | None = None
    answer: str | None = None
    contexts: list[str] | None = None

    def as_answer(self, code: str = "example") -> Answer:
        """Return the example as a row that a judge judges; `code` is its question's id."""
        contexts = None if self.contexts is None else [Context(text=text) for text in self.contexts]
        return Answer(
            question_id=code,
            question=self.question,
            reference=self.reference,
            answer=self.answer or "",
            contexts=contexts,
        )


class JudgeFields(Section, frozen=True, kw_only=True, tag_field="kind"):
    """The keys that judges of every kind have.

    metric: what it measures, so that judges of one thing stand beside each other (default: its name).
    inputs: what it reads of a row; a row that lacks one is `not_applicable`. scale: the lowest and the
    highest score. best: which end of it is the good one. tuned_on: digests of the questions that prompt or
    thresholds were fitted on (see tuned.py). fitted_with: the model that thresholds were fitted with; see
    was_fitted_with. description: what it measures, in a sentence for lists; no model is shown it.
    """

    name: JudgeName
    version: Annotated[int, msgspec.Meta(ge=1)]
    inputs: list[Input]
    scale: Scale
    source: str
    best: Literal["highest", "lowest"] = "highest"
    metric: Name | None = None
    tuned_on: list[str] = []
    fitted_with: str | None = None
    description: Annotated[str, msgspec.Meta(max_length=LONGEST_DESCRIPTION)] | None = None

    # What a kind says of itself where it differs from most.
    fixed_scale: ClassVar[Scale | None] = None  # the only one that it can have
    asks_model: ClassVar[bool] = True
    reads_texts: ClassVar[bool] = True  # `find` is given its inputs as texts
    compares_two: ClassVar[bool] = False  # the answers of two systems
    assumption: ClassVar[str | None] = None  # that a forecast of its calls makes
    not_mine: ClassVar[Mapping[str, str]] = {}  # a key of other kinds -> why it has none, with the fix

    @property
    def kind(self) -> str:
        """The kind, as the file has it."""
        return str(self.__struct_config__.tag)

    @property
    def needs_model(self) -> bool:
        """Whether a language model is asked, by itself or by a member."""
        return self.asks_model

    @property
    def reads_probabilities(self) -> bool:
        """Whether it needs the probabilities of tokens, which many models do not give."""
        return any(member.inner.reads_probabilities for member in self.members)

    @property
    def needs_words(self) -> str | None:
        """Why a decision model, which writes none, cannot be asked by it: what to do; None where it can."""
        return (
            "Name a model that writes, or judge with kinds boolean, classify, percentage and rubric."
            if self.asks_model
            else None
        )

    @property
    def needs_embedder(self) -> bool:
        """Whether it compares vectors, by itself."""
        return False

    @property
    def needs_retriever(self) -> bool:
        """Whether it looks passages up, by itself."""
        return False

    @property
    def shares_prefix(self) -> bool:
        """Whether its prompt begins as those of other judges of the row, which are then asked row by row."""
        return False

    @property
    def computes(self) -> bool:
        """Whether its verdict follows from the row alone, so that any process may come to it."""
        if self.members:
            return all(member.inner.computes for member in self.members)
        asks = self.needs_model or self.needs_embedder or self.needs_retriever
        return not (asks or self.compares_two)

    @property
    def reads_answer(self) -> bool:
        """Whether it says anything of an answer, by itself; else bare questions will do."""
        return self.compares_two or not {"answer", "conversation", "steps"}.isdisjoint(self.inputs)

    @property
    def prompt_version(self) -> int:
        """The number in its judgements by which scores that do not compare are told apart."""
        return self.version

    @property
    def measures(self) -> str:
        """The metric of its score."""
        return self.metric or self.name

    @property
    def metrics(self) -> list[str]:
        """The metrics of its judgements of one answer, in their order: its score's, then those of its parts.

        Parts are the criteria of a rubric, and both directions of a judge of claims.
        """
        return [self.measures]

    @property
    def members(self) -> "Sequence[Member]":
        """The judges that it is made of; none for most kinds."""
        return ()

    def leaves(self, model: str | None = None) -> "Iterator[tuple[JudgeFields, str | None]]":
        """Yield the judges that do the judging, at any depth, and the model named for each.

        None stands for the model of the whole.
        """
        if not self.members:
            yield self, model
        for member in self.members:
            yield from member.inner.leaves(member.model or model)

    @property
    def models(self) -> set[str]:
        """The models that its members name, at any depth."""
        return {model for leaf, model in self.leaves() if model and leaf.needs_model}

    @property
    def asks_default(self) -> bool:
        """Whether it asks a model that its file does not name."""
        return any(leaf.needs_model and model is None for leaf, model in self.leaves())

    def model_name(self, default: str) -> str:
        """Return what a judgement gives as its model: all that may be asked, joined by ` + `, or `none`.

        It is the same for every row, also for those that a cascade decided without its dear judge.
        """
        names = dict.fromkeys(model or default for leaf, model in self.leaves() if leaf.needs_model)
        return " + ".join(names) or NO_MODEL

    def identities(self) -> "Iterator[JudgeFields]":
        """Yield the judge and its members at any depth; members are named, wherever files lie.

        Together they are all that decides a judgement: the same on any machine, and another if a member
        changes.
        """
        named = [
            msgspec.structs.replace(member, judge=member.inner.name, loaded=msgspec.UNSET)
            for member in self.members
        ]
        yield msgspec.structs.replace(self, members=named) if named else self
        for member in self.members:
            yield from member.inner.identities()

    def every_key(self) -> dict[str, Any]:
        """Return what a judge's file says as plain values, with all keys that judges of other kinds have."""
        members = [msgspec.structs.replace(member, loaded=msgspec.UNSET) for member in self.members]
        judge = msgspec.structs.replace(self, members=members) if members else self
        keys = {**EVERY_KEY, **msgspec.to_builtins(judge)}
        for key, default in LATER.items():
            if key in keys and keys[key] == default:
                del keys[key]
        # The same judge in another folder, or on another machine; and a sentence that no model is shown.
        return {key: value for key, value in keys.items() if key not in ("folder", "description")}

    @property
    def shown(self) -> Sequence[Example]:
        """The examples that the model is shown."""
        return ()

    def is_tuned_on(self, answer: Answer) -> bool:
        """Return whether the prompt shows the answer's question as an example, or was fitted on it."""
        if not (self.tuned_on or self.shown):
            return False
        own = {question_digest(answer.question_id), question_digest(answer.question_id, answer.question)}
        return bool(
            own.intersection(self.tuned_on)
            or any(question_digest("", example.question) in own for example in self.shown if example.question)
        )

    @property
    def own_texts(self) -> Mapping[str, str]:
        """Texts of the file that the model is shown as it is shown inputs: fenced, by name."""
        return {}

    @property
    def temperature(self) -> float | None:
        """The temperature at which its model is asked, None for the model's own."""
        return None

    def placed(self, _folder: str, /) -> Self:
        """Return the judge with what its file names beside itself looked for in the file's folder."""
        return self

    def loaded(self) -> Self:
        """Return the judge with what it needs found. Raises ConfigError where it cannot be had."""
        return self

    def was_fitted_with(self, model: str) -> bool:
        """Return whether its thresholds were fitted with this model, or it says of none; case is ignored."""
        return self.fitted_with is None or self.fitted_with.casefold() in model.casefold()

    def said(self, score: float, label: str | None) -> str:
        """Return a verdict in the words of the kind."""
        return label or f"{score:.4g}"

    def end(self, high: bool) -> bool | int | float | str:
        """Return an end of the scale as the reply has it."""
        end = self.scale[1 if high else 0]
        return int(end) if end == int(end) else end

    def verdict(self, score: bool | int | float | str, reason: str) -> tuple[str, dict[str, object]]:
        """Return the field of the reply that holds the score, and a whole reply with this score."""
        return "score", {"reason": reason, "score": score}

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield each key that is wrong and, in one sentence with the fix, what is wrong with it.

        Only the first is sound: later checks take it that earlier ones found nothing.
        """
        kinds = [unicodedata.category(sign) for sign in self.name if not sign.isascii()]
        is_plain = all(kind[0] in "LMN" and kind not in ("Lu", "Lt") for kind in kinds)
        if not (is_plain and self.name[:1].isalpha() and unicodedata.is_normalized("NFKC", self.name)):
            yield "name", "write lower-case letters, digits and `_`, starting with a letter."
        low, high = self.scale
        if low >= high:
            yield "scale", f"scale = [{low:g}, {high:g}]: give the lowest score first, then a higher one."
        if self.fixed_scale and self.scale != self.fixed_scale:
            low, high = self.fixed_scale
            yield "scale", f"a {self.kind} judge has scale = [{low:g}, {high:g}]."
        for name in self.inputs:
            close = get_close_matches(name, PARTS, n=1, cutoff=0.85)
            if close and name not in (*PARTS, "references"):
                yield (
                    "inputs",
                    f"unknown inputs {name!r}. Did you mean {close[0]!r}? A column of your own needs a name "
                    "that cannot be mistaken for it.",
                )
        yield from self._own_problems()

    def _own_problems(self) -> Iterator[tuple[str, str]]:
        """Yield what is wrong with the keys of the kind, as problems does."""
        return iter(())

    def problem_of_member(self, _member: "Member", _inner: "JudgeFields") -> str | None:
        """Return why a judge cannot be this member of it, or None."""
        return None

    def settled(self, finding: Finding) -> Finding:
        """Return a finding on an answer that the metric does not apply to, as the judge's file has it."""
        return finding

    async def find(self, answer: Answer, inputs: dict[str, str], context: JudgeContext, /) -> Finding:
        """Return what it finds. inputs: see gather_inputs. Raises CallFailed where a call fails."""
        raise NotImplementedError(f"a judge of kind {self.kind} does not say how it judges")


class Member(Section, frozen=True, kw_only=True):
    """A judge within a jury or a cascade, and the model that it asks (default: the model of the whole).

    cut: the score from which on it says yes (1), below no (0). unsure: in a cascade, scores from the first to
    the second, both included, are handed on to the next judge. loaded: the judge itself; no key of the file.
    """

    judge: str
    model: str | None = None
    cut: float | None = None
    unsure: tuple[float, float] | None = None
    loaded: JudgeFields | msgspec.UnsetType = msgspec.UNSET

    @property
    def inner(self) -> JudgeFields:
        """The judge that the member is. Raises ValueError where it was not loaded."""
        if self.loaded is msgspec.UNSET:
            raise ValueError(f"member {self.judge!r} is not loaded: take the whole from load_judge")
        return self.loaded


class PromptedJudge(JudgeFields, frozen=True, kw_only=True):
    """The keys of the kinds that have a prompt of their own.

    prompt: what the model is told; `{name}` stands for an input, whose text follows at the end, fenced.
    prompts: other wordings of it by name, see variant.py. temperature, samples: how it is asked (default: at
    the temperature of the model's settings, else at 0); the score of several samples is their mean.
    """

    prompt: str
    prompts: dict[Name, str] = {}
    temperature: Temperature | None = None
    samples: Annotated[int, msgspec.Meta(ge=1)] = 1
    max_tokens: Annotated[int, msgspec.Meta(ge=1)] = 512

    @property
    def outcomes(self) -> list[str]:
        """The outcomes that are counted over samples, in the file's order; none where scores are graded."""
        return []

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield what is wrong, as JudgeFields does."""
        yield from super().problems()
        if self.samples > 1 and not self.temperature:
            yield (
                "samples",
                "samples above 1 at temperature 0 are all the same: give a temperature, e.g. 0.7.",
            )
        if not self.prompt:
            yield "prompt", f"a judge of kind {self.kind} needs a prompt."
        texts = [("prompt", "", self.prompt)]
        texts += [("prompts", f"prompts.{name}: ", text) for name, text in self.prompts.items()]
        for key, where, text in texts:
            problem = self._problem_of_names("\n".join([text, *self._texts_beside()]))
            if problem:
                yield key, f"{where}{problem}"

    def _texts_beside(self) -> list[str]:
        """Return the texts of the file that the model is told beside the prompt."""
        return []

    def _problem_of_names(self, text: str) -> str | None:
        """Return where the inputs that a text names differ from those declared, or None."""
        named = set(re.findall(r"\{(\w+)\}", text)) - {"statements"}
        held = {*self.inputs, *self.own_texts}
        undeclared, unused = named - held, held - named
        if undeclared:
            return f"the prompt names {{{min(undeclared)}}}, which inputs does not declare. Add it to inputs."
        if unused & self.own_texts.keys():
            return f"the prompt does not name {{{min(unused)}}}, a text of the file. Write it in the prompt."
        if unused:
            return (
                f"inputs declares {min(unused)!r}, which the prompt does not name. "
                f"Write {{{min(unused)}}} in it."
            )
        return None

    def find(
        self, answer: Answer, inputs: dict[str, str], context: JudgeContext, /
    ) -> Coroutine[Any, Any, Finding]:
        """Return what it finds, the mean of several samples where the file asks for them."""
        if self.samples == 1:
            return self.find_once(answer, inputs, context)
        from ragstone.kernel.judging._samples import drawing, mean_of_draws

        return mean_of_draws(
            lambda number: self.find_once(answer, inputs, drawing(context, self.temperature, number)),
            self.samples,
            self.outcomes,
        )

    async def find_once(self, answer: Answer, inputs: dict[str, str], context: JudgeContext, /) -> Finding:
        """Return what it finds when it is asked once; see find."""
        raise NotImplementedError(f"a judge of kind {self.kind} does not say how it judges")


def members_of(judges: Iterable[JudgeFields]) -> list[str]:
    """Return the models that members of these judges name, each once, sorted."""
    return sorted({model for judge in judges for model in judge.models})
