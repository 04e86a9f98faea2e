"""questions -> answers: the built-in RAG application, and answer sheets made elsewhere."""

from ragstone.systems.prompting import AnsweringPrompt, load_prompt, prompt_names
from ragstone.systems.rag import answer_question, contexts_of
from ragstone.systems.sheet import join_questions

__all__ = [
    "AnsweringPrompt",
    "answer_question",
    "contexts_of",
    "join_questions",
    "load_prompt",
    "prompt_names",
]
