"""questions -> answers: the built-in RAG, a chat or HTTP application, a Python callable, an answer sheet."""

from ragstone.systems.function import callee_of, function_prompt, load_callee, open_function
from ragstone.systems.http import http_prompt, open_http_system
from ragstone.systems.prompting import AnsweringPrompt, load_prompt, prompt_names
from ragstone.systems.rag import answer_question, contexts_of
from ragstone.systems.said import Said, answer_by, read_said
from ragstone.systems.sheet import answers_of_sheet, join_questions

__all__ = [
    "AnsweringPrompt",
    "Said",
    "answer_by",
    "answer_question",
    "answers_of_sheet",
    "callee_of",
    "contexts_of",
    "function_prompt",
    "http_prompt",
    "join_questions",
    "load_callee",
    "load_prompt",
    "open_function",
    "open_http_system",
    "prompt_names",
    "read_said",
]
