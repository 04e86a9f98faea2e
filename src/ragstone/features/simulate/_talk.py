"""A conversation of a simulated user while it goes on, and the row that it becomes."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from ragstone.features.simulate._persona import Persona
from ragstone.features.simulate._speaking import UserMove, goal_is_met
from ragstone.kernel.records import Answer, Question, Turn, Usage
from ragstone.kernel.systems.rows import CONVERSATION_ID, THREAD, Thread

PERSONA, GOAL_MET, N_TURNS, ENDED = "persona", "goal_met", "n_turns", "ended"  # in the metadata of a row

Ending = Literal["goal", "patience", "silence", "error"]
"""Why a conversation ended: the goal was met, the user lost patience or had no more to say, a call failed."""


class Talk(msgspec.Struct):
    """A conversation as far as it has come. replies: what the application gave so far, an answer a turn."""

    id: str
    persona: Persona
    sample: int
    turns: list[Turn] = []
    replies: list[Answer] = []
    thread_id: str | None = None
    ended: Ending | None = None
    goal_met: bool | None = None
    error: str | None = None

    @property
    def n_turns(self) -> int:
        """How often the user has said something."""
        return sum(turn.role == "user" for turn in self.turns)

    def question(self) -> Question:
        """Return the user's last turn, with what was said before it, as a question to the application."""
        earlier = [Turn(turn.role, turn.content) for turn in self.turns[:-1]]
        thread = Thread(id=self.thread_id, turns=earlier, sample=self.sample)
        return Question(
            id=f"{self.id}#{self.n_turns}",
            question=self.turns[-1].content,
            lang=self.persona.language,
            tags=self.persona.tags or None,
            metadata={THREAD: msgspec.to_builtins(thread)},
        )

    def hear(self, reply: Answer) -> None:
        """Take the application's reply in, and end where it failed or the goal is met."""
        self.replies.append(reply)
        if reply.error is not None:
            self.ended, self.error = "error", reply.error
            return
        self.turns.append(
            Turn("assistant", reply.answer, contexts=reply.contexts, tool_calls=reply.steps or None)
        )
        self.thread_id = (reply.metadata or {}).get(CONVERSATION_ID, self.thread_id)
        self.goal_met = goal_is_met(self.persona, self.turns)
        if self.goal_met:
            self.ended = "goal"

    def speak(self, move: UserMove) -> None:
        """Say what the user says next, or end where there is no more to say."""
        believed = self.persona.script is None and self.persona.goal_met is None
        if believed and self.replies:
            self.goal_met = move.goal_met
        if believed and move.goal_met and self.replies:
            self.ended = "goal"
        elif self.n_turns >= self.persona.patience:
            self.ended = "patience"
        elif move.message:
            self.turns.append(Turn("user", move.message))
        elif self.replies:
            self.ended = "silence"
        else:
            self.ended, self.error = "error", "unparsable: the model that plays the user said nothing"

    def row(self, system: str) -> Answer:
        """Return the conversation as a row of an answer sheet."""
        last = self.replies[-1] if self.replies else None
        failed = self.ended == "error"
        steps = [step for turn in self.turns for step in turn.tool_calls or ()]
        tells_steps = any(reply.steps is not None for reply in self.replies)
        usages = [reply.usage for reply in self.replies if reply.usage is not None]
        return Answer(
            question_id=self.id,
            system=last.system if last else system,
            question=self.persona.goal,
            answer="" if failed or last is None else last.answer,
            contexts=last.contexts if last else None,
            turns=self.turns,
            steps=steps if tells_steps else None,
            latency_s=_whole([reply.latency_s for reply in self.replies]),
            usage=sum(usages, Usage(calls=0)) if usages else None,
            cost_usd=_whole([reply.cost_usd for reply in self.replies]),
            error=self.error,
            tags=self.persona.tags or None,
            metadata={
                PERSONA: self.persona.name,
                GOAL_MET: None if failed else self.goal_met,
                N_TURNS: self.n_turns,
                ENDED: self.ended,
            },
        )


def _whole(parts: Sequence[float | None]) -> float | None:
    """Return a sum, None where a part of it is unknown."""
    known = [part for part in parts if part is not None]
    return round(sum(known), 6) if known and len(known) == len(parts) else None
