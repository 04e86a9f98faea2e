"""What other tools call our fields: one table of names, of columns in files, in logs and in traces.

Names come from the documented exports of ragas, deepeval, promptfoo, Phoenix, Hugging Face data sets, BEIR
and SQuAD, and from what logs of applications use. The first name that is present wins. Case, spaces,
underscores and hyphens do not count; names that are only near are in nearness.py.
"""

import functools
import hashlib
import re
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from ragstone.kernel.records import Answer, Chunk, Document, Judgement, Label, Question, Ranking, Role

LANGUAGE_CODE = re.compile(r"[a-z]{2,3}(?:[-_]\w+)?")
ID = ("id", "_id", "qid", "query_id", "example_id")
QUESTION = ("user_input", "query", "input")
REFERENCE = (
    "references",
    "reference_answer",
    "ground_truth",
    "ground_truths",
    "expected_output",
    "expected_answer",
    "expected",
    "gold_answer",
    "correct_answer",
)
DOCUMENT_IDS = ("gold_document_ids", "document_id", "doc_ids", "relevant_documents")

ALIASES: dict[type, dict[str, tuple[str, ...]]] = {
    Document: {
        "id": ("_id", "doc_id", "document_id"),
        "text": ("content", "body", "page_content", "passage"),
        "lang": ("language",),
        "source": ("url", "path", "filename"),
    },
    Chunk: {},
    Question: {
        "id": ("question_id", *ID[1:]),
        "question": QUESTION,
        "reference": (*REFERENCE, "answers", "answer"),
        "document_ids": DOCUMENT_IDS,
        "lang": ("language",),
    },
    Ranking: {},
    Answer: {
        "question_id": ID,
        "question": QUESTION,
        "answer": (
            *("response", "output", "actual_output", "prediction", "generated_answer", "completion"),
            "prediction_text",
        ),
        "reference": REFERENCE,
        "contexts": ("retrieved_contexts", "retrieval_context", "retrieved_context", "context"),
        "system": ("model", "model_name", "provider"),
    },
    Judgement: {},
    Label: {
        "question_id": ID,
        "question": QUESTION,  # no field of a label: it stands in its metadata, and its id is made from it
        "score": ("human_label", "human_score", "label", "rating", "grade"),
        "system": ("model", "model_name", "provider"),
        "annotator": ("rater", "annotator_id"),
        "rationale": ("explanation", "comment", "feedback"),
    },
}


@functools.cache
def fields_of(row_type: type) -> tuple[str, ...]:
    """Return the field names of a row type, in file order."""
    return tuple(field.name for field in msgspec.structs.fields(row_type))


@functools.cache
def accepted_names(row_type: type, field: str) -> tuple[str, ...]:
    """Return every column name that is read as `field`, the canonical one first."""
    return (field, *ALIASES[row_type].get(field, ()))


_NO_MATTER = re.compile(r"[\s_\-\ufeff]+")


def fold(name: str) -> str:
    """Return a column name without what does not count: case, spaces, underscores and hyphens."""
    return _NO_MATTER.sub("", name).casefold()


def question_key(question: str) -> str:
    """Return the id of a question that has none, the same wherever its text is the same."""
    return "q-" + hashlib.blake2b(question.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


# In logs and traces further names are taken, for there nothing else can be meant.
QUESTION_NAMES = (
    *accepted_names(Answer, "question"),
    *("prompt", "user_message", "user_query", "user_question", "search_query", "search_term", "message"),
    *("utterance", "text", "q", "inputs", "request", "body", "question_text"),
)
ANSWER_NAMES = (
    *accepted_names(Answer, "answer"),
    *("reply", "assistant_message", "assistant", "bot_response", "bot_message", "response_text", "outputs"),
    *("result", "output_text", "generation", "message_out", "answer_text"),
)
CONTEXT_NAMES = (*accepted_names(Answer, "contexts"), "sources", "passages")
LOG_ID = ("question_id", "id", "_id", "qid", "query_id", "trace_id", "request_id", "custom_id")
PASSAGE_LISTS = (
    *("documents", "retrieved_contexts", "contexts", "context", "chunks", "nodes", "results", "matches"),
    *("passages", "sources", "source_documents", "hits", "output"),
)
"""Names under which the output of a retriever holds its passages."""

CONTEXT_TEXT = ("text", "content", "page_content", "document", "body")
"""Names under which a passage holds its text."""
PASSAGE_TEXT = (*CONTEXT_TEXT, "pageContent", "context", "chunk", "passage")

NO_REPLY = "the conversation has no reply of the assistant"  # the error of such a row
MESSAGES = ("turns", "messages", "conversation", "conversations", "history", "chat", "chat_history", "items")
"""Names under which a row holds a conversation, and below, those of a message's parts."""
ROLE_NAMES = ("role", "from", "author", "sender", "speaker")
CONTENT_NAMES = ("content", "value", "text", "message", "parts")
ROLES: Mapping[str, Role] = {
    **dict.fromkeys(("user", "human", "customer", "client", "visitor", "prompter", "person"), "user"),
    **dict.fromkeys(
        ("assistant", "gpt", "bot", "ai", "model", "agent", "chatbot", "system_reply"), "assistant"
    ),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function", "observation", "environment"), "tool"),
}


class LogNames(NamedTuple):
    """Columns of a log in which these are looked for, in this order; the first that holds one is taken.

    tags: what else a tag may be called, besides its name and `metadata.NAME`. conversations, users: who
    asked. tokens: of an answer, all, those in and those out; they stand in one of `usages`, or in the row.
    """

    times: tuple[str, ...]
    tags: Mapping[str, tuple[str, ...]]
    feedback: tuple[str, ...]
    conversations: tuple[str, ...]
    users: tuple[str, ...]
    latencies_s: tuple[str, ...]
    latencies_ms: tuple[str, ...]
    costs: tuple[str, ...]
    steps: tuple[str, ...]
    usages: tuple[str, ...]
    tokens: tuple[tuple[str, ...], ...]


LOG_NAMES = LogNames(
    times=(
        *("time", "timestamp", "@timestamp", "ts", "datetime", "date", "created_at", "createdat", "created"),
        *("asked_at", "start_time", "starttime", "started_at", "event_time", "request_time", "logged_at"),
        *("metadata.time", "metadata.timestamp", "metadata.created_at", "response.created", "body.created"),
    ),
    tags={
        "lang": ("language", "locale", "metadata.lang", "metadata.language"),
        "model": ("model_name", "llm_model", "metadata.model", "response.model", "request.model"),
        "prompt_version": ("prompt_id", "prompt_name", "prompt_template_version", "metadata.prompt_version"),
    },
    feedback=("feedback", "thumb", "thumbs", "user_feedback", "metadata.feedback", "metadata.thumb"),
    conversations=(
        *("conversation_id", "session_id", "thread_id", "conversationid", "sessionid"),
        *("metadata.conversation_id", "metadata.session_id"),
    ),
    users=("user_id", "user", "userid", "metadata.user_id"),
    latencies_s=("latency_s", "latency_seconds", "duration_s", "metadata.latency_s", "metadata.duration_s"),
    latencies_ms=("latency_ms", "duration_ms", "elapsed_ms", "metadata.latency_ms", "metadata.duration_ms"),
    costs=("cost_usd", "total_cost_usd", "metadata.cost_usd"),
    steps=("steps", "metadata.steps"),
    usages=("usage", "response.usage", "response.body.usage", "metadata.usage"),
    tokens=(
        ("total_tokens", "total"),
        ("input", "input_tokens", "prompt_tokens"),
        ("output", "output_tokens", "completion_tokens"),
    ),
)
