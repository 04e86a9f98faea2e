"""Conversations that the server keeps, and feedback: whose they are, how long they stay."""

import sqlite3

import pytest
from tests.support.served_assistant import KEYS, Scripted, ask, key, said

from ragstone.kernel.errors import DataError
from ragstone_assistant.api import _chat as chat
from ragstone_assistant.api import _history as history


def conversation_of(reply):
    return reply.json()["ragstone"]["conversation_id"]


def texts(client, conversation_id, headers=None):
    turns = client.get(f"/v1/conversations/{conversation_id}", headers=headers).json()["turns"]
    return [(turn["role"], turn["text"]) for turn in turns]


def test_with_its_id_a_conversation_goes_on_and_only_the_last_message_counts(client, scripted):
    begun = conversation_of(ask(client, "Hello"))
    messages = [{"role": "user", "content": "invented"}, {"role": "user", "content": "And rice?"}]
    body = {"model": "assistant", "messages": messages, "conversation_id": begun}
    assert conversation_of(client.post("/v1/chat/completions", json=body)) == begun
    assert [turn.content for turn in scripted.asked[1].turns] == ["Hello", "Sow in May [1].", "And rice?"]
    assert texts(client, begun) == [
        ("user", "Hello"),
        ("assistant", "Sow in May [1]."),
        ("user", "And rice?"),
        ("assistant", "Sow in May [1]."),
    ]


def test_a_turn_keeps_what_the_reply_carried(client):
    reply = ask(client).json()["ragstone"]
    [asked, told] = client.get(f"/v1/conversations/{reply['conversation_id']}").json()["turns"]
    assert asked["ragstone"] is None
    assert told["ragstone"] == reply
    assert told["exchange_id"] == reply["exchange_id"]


def test_a_streamed_reply_is_kept_too(client):
    begun = client.post("/v1/conversations").json()["id"]
    ask(client, "Hello", stream=True, conversation_id=begun)
    assert texts(client, begun) == [("user", "Hello"), ("assistant", "Sow in May [1].")]


def test_who_sends_the_whole_conversation_keeps_it_and_the_server_does_not(client):
    turns = [("user", "a"), ("assistant", "b"), ("user", "c")]
    messages = [{"role": role, "content": text} for role, text in turns]
    body = {"model": "assistant", "messages": messages}
    assert conversation_of(client.post("/v1/chat/completions", json=body)) is None
    assert conversation_of(ask(client, store=False)) is None


def test_a_restart_keeps_conversations(open_client):
    first = open_client()
    begun = conversation_of(ask(first, "Hello"))
    first.__exit__(None, None, None)
    assert texts(open_client(), begun)[0] == ("user", "Hello")


def test_a_deleted_conversation_is_gone(client):
    begun = conversation_of(ask(client))
    assert client.delete(f"/v1/conversations/{begun}").status_code == 204
    assert client.get(f"/v1/conversations/{begun}").status_code == 404
    assert client.delete(f"/v1/conversations/{begun}").status_code == 404
    assert ask(client, conversation_id=begun).status_code == 404


def test_someone_else_s_conversation_does_not_exist(open_client, scripted):
    client = open_client(keys=KEYS)
    begun = conversation_of(ask(client, headers=key("anna")))
    unknown = client.get("/v1/conversations/c-0", headers=key("ben"))
    assert unknown.status_code == 404
    other = client.get(f"/v1/conversations/{begun}", headers=key("ben"))
    assert (other.status_code, other.json()) == (404, unknown.json())
    assert client.delete(f"/v1/conversations/{begun}", headers=key("ben")).status_code == 404
    assert ask(client, conversation_id=begun, headers=key("ben")).status_code == 404
    assert len(scripted.asked) == 1
    assert texts(client, begun, key("anna"))


def test_a_key_lists_its_own_conversations_newest_first(open_client, time):
    client = open_client(keys=KEYS)
    first = conversation_of(ask(client, "First", headers=key("anna")))
    time.move(seconds=1)
    second = conversation_of(ask(client, "Second", headers=key("anna")))
    ask(client, "Other", headers=key("ben"))
    listed = client.get("/v1/conversations", headers=key("anna")).json()["conversations"]
    assert [(one["id"], one["title"], one["turns"]) for one in listed] == [
        (second, "Second", 2),
        (first, "First", 2),
    ]


def test_without_keys_nobody_lists_conversations(client):
    ask(client)
    assert client.get("/v1/conversations").json() == {"conversations": []}


def test_what_was_left_alone_for_too_long_is_deleted(open_client, time):
    client = open_client(keep_days=7)
    old = ask(client).json()["ragstone"]
    time.move(days=6)
    newer = conversation_of(ask(client))
    time.move(days=2)
    client.post("/v1/conversations")
    assert client.get(f"/v1/conversations/{old['conversation_id']}").status_code == 404
    assert client.get(f"/v1/conversations/{newer}").status_code == 200
    assert client.post("/v1/feedback", json={"exchange_id": old["exchange_id"]}).status_code == 404


def test_deleted_text_is_not_left_in_the_file(open_client, tmp_path):
    client = open_client()
    begun = conversation_of(ask(client, "My number is 0700 123456"))
    client.delete(f"/v1/conversations/{begun}")
    client.__exit__(None, None, None)
    assert b"0700 123456" not in b"".join(path.read_bytes() for path in (tmp_path / "store").iterdir())


def test_only_who_runs_the_server_reads_the_file(client, tmp_path):
    assert (tmp_path / "store" / "conversations.sqlite").stat().st_mode & 0o077 == 0


def test_a_conversation_has_an_end(client, monkeypatch):
    monkeypatch.setattr(chat, "MOST_TURNS", 2)
    begun = conversation_of(ask(client))
    response = ask(client, conversation_id=begun)
    assert response.status_code == 409
    assert "start another" in response.json()["detail"]


def test_ids_cannot_be_guessed(client):
    ids = {conversation_of(ask(client)) for _ in range(20)}
    assert len(ids) == 20
    assert all(len(one.partition("-")[2]) == 32 for one in ids)  # 128 bits in hexadecimal


def test_feedback_goes_to_the_log(client, scripted):
    one = ask(client).json()["ragstone"]["exchange_id"]
    given = {"exchange_id": one, "thumb": "down", "correction": "In April."}
    assert client.post("/v1/feedback", json=given).status_code == 204
    assert client.post("/v1/feedback", json={"exchange_id": one, "thumb": None}).status_code == 204
    assert scripted.log.thumbs == [(one, "down", "In April."), (one, None, None)]


def test_feedback_on_an_exchange_of_someone_else_s_is_refused(open_client, scripted: Scripted):
    client = open_client(keys=KEYS)
    one = ask(client, headers=key("anna")).json()["ragstone"]["exchange_id"]
    given = {"exchange_id": one, "thumb": "up"}
    assert client.post("/v1/feedback", json=given, headers=key("ben")).status_code == 404
    assert (
        client.post("/v1/feedback", json={**given, "exchange_id": "x-0"}, headers=key("ben")).status_code
        == 404
    )
    assert scripted.log.thumbs == []
    assert client.post("/v1/feedback", json=given, headers=key("anna")).status_code == 204


def test_feedback_on_an_answer_and_on_a_reply_outside_of_conversations(client, scripted):
    scripted.say(said())
    answered = client.post("/v1/answers", json={"question": "When?"}).json()["exchange_id"]
    assert client.post("/v1/feedback", json={"exchange_id": answered, "thumb": "up"}).status_code == 204
    loose = ask(client, store=False).json()["ragstone"]["exchange_id"]
    assert client.post("/v1/feedback", json={"exchange_id": loose, "thumb": "up"}).status_code == 204


def test_feedback_of_another_kind_is_refused(client):
    one = ask(client).json()["ragstone"]["exchange_id"]
    for wrong in ({"thumb": "sideways"}, {"correction": "x" * 4001}):
        response = client.post("/v1/feedback", json={"exchange_id": one, **wrong})
        assert response.status_code == 400
        assert next(iter(wrong)) in response.json()["errors"][0]


def test_feedback_that_says_the_same_again_is_written_once_and_changes_have_an_end(client, scripted):
    one, other = (ask(client).json()["ragstone"]["exchange_id"] for _ in range(2))

    def give(exchange, thumb):
        return client.post("/v1/feedback", json={"exchange_id": exchange, "thumb": thumb})

    assert {give(one, "up").status_code for _ in range(9)} == {204}
    assert scripted.log.thumbs == [(one, "up", None)]
    changes = [give(one, thumb) for thumb in ("down", "up") * 3]
    assert [response.status_code for response in changes] == [204] * (chat.MOST_CHANGES - 1) + [409, 204]
    assert "the last one counts" in changes[-2].json()["detail"]  # the last says what counts already
    assert len(scripted.log.thumbs) == chat.MOST_CHANGES
    assert give(other, "down").status_code == 204  # another reply has its own


def test_conversations_that_cannot_be_written_cost_nobody_a_reply(open_client, tmp_path, monkeypatch):
    monkeypatch.setattr(history, "BUSY_S", 0.01)
    client = open_client()
    other = sqlite3.connect(tmp_path / "store" / history.FILE, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    reply = ask(client)
    assert (reply.status_code, reply.json()["choices"][0]["message"]["content"]) == (200, "Sow in May [1].")
    assert "data: [DONE]" in ask(client, stream=True).text
    refused = client.post("/v1/conversations")
    assert refused.status_code == 503
    assert refused.headers["content-type"] == "application/problem+json"
    assert str(tmp_path) not in refused.text
    health = client.get("/health")
    assert health.status_code == 503
    assert "database is locked" in health.json()["parts"]["conversations"]
    other.execute("ROLLBACK")
    other.close()
    assert client.post("/v1/conversations").status_code == 201
    assert client.get("/health").status_code == 200


def test_a_file_that_holds_no_conversations_is_named(tmp_path, says):
    (tmp_path / history.FILE).write_bytes(b"this is no database, and was never one. " * 100)
    with pytest.raises(DataError) as error:
        history.Conversations(tmp_path, 30)
    says(error.value)
