"""Blame of what `ragstone judge` wrote: its rows say all, of conversations and of single answers."""

import json

import msgspec
import pytest
from tests.support.command import ragstone as command
from tests.support.golden import sentence_in
from tests.support.scripts import always, fit_schema

import ragstone
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.records import Answer, Judgement
from ragstone.kernel.runs.blamed import read_causes
from ragstone.kernel.tables import read_rows, write_rows

REFUSES = "I cannot help with that."


def chat(name, *replies, contexts=None, **more):
    """A conversation of these replies; the last one is given contexts, as (document id, text)."""
    messages = [
        message
        for n, reply in enumerate(replies)
        for message in ({"role": "user", "content": f"Ask {n}?"}, {"role": "assistant", "content": reply})
    ]
    if contexts is not None:
        messages[-1]["contexts"] = [{"document_id": name, "text": text} for name, text in contexts]
    return {"id": name, "messages": messages, **more}


MARCH = {"reference": "in March", "document_ids": ["maize"]}
CHATS = [
    chat("right", "Where?", "Sow in March.", contexts=[("maize", "Sow in March.")], **MARCH),
    chat("missed", "Where?", "Sow in May.", contexts=[("tea", "Sow in May.")], **MARCH),
    chat("silent", "Where?", REFUSES, contexts=[("maize", "Sow in March.")], **MARCH),
    chat("unnamed", REFUSES, REFUSES, reference="in March"),
]


@pytest.fixture
def judged(tmp_path, monkeypatch):
    """A function that writes rows as a sheet, judges them, and returns the folder of the run."""
    monkeypatch.chdir(tmp_path)

    def make(rows, judge, *options):
        (tmp_path / "sheet.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        ran = command("judge", "sheet.jsonl", "--judge", judge, *options)
        assert ran.code in (0, 5), ran.err  # 5: nothing was scored
        return tmp_path / "runs" / ("sheet-turns" if "--each-turn" in options else "sheet")

    return make


def causes(folder):
    return {name: rows[0].cause for name, rows in read_causes(folder).items()}


def counts(system):
    return {share.component: share.n for share in system.shares if share.share}


def test_whole_conversations_are_blamed_by_what_their_rows_say(judged, says):
    folder = judged(CHATS, "containment")
    out = command("blame", "runs/sheet", "--all").out
    says(sentence_in(out, "points lost."))
    says(sentence_in(out, "Document maize"))
    says(sentence_in(out, "The run holds"))
    assert causes(folder) == {
        "missed": "not retrieved",
        "silent": "refused though answerable",
        "unnamed": "cannot tell",
    }
    page = (folder / "report.html").read_text(encoding="utf-8")
    says(sentence_in(page, "Where the lost"))
    assert "refused though answerable" in page


def test_each_reply_is_a_point_and_documents_are_those_of_the_last(judged):
    # The three first replies of "Where?" are no refusals; of the rest, four refuse.
    folder = judged(CHATS, "no_refusal", "--each-turn")
    [system] = ragstone.blame(folder).systems
    assert (system.n_lost, system.n_counted) == (3, 8)
    assert causes(folder) == {
        "silent#4": "refused though answerable",
        "unnamed#2": "cannot tell",
        "unnamed#4": "cannot tell",
    }
    assert counts(system) == {"retriever": 0, "model + prompt": 1, "cannot tell": 2}


def test_replies_of_a_conversation_are_one_piece_of_evidence(judged):
    chats = [chat(f"c{n}", *[REFUSES if n % 3 else "In March."] * 4, reference="in March") for n in range(12)]
    folder = judged(chats, "no_refusal", "--each-turn")

    def width():
        share = next(
            s.share for s in ragstone.blame(folder).systems[0].shares if s.component == "cannot tell"
        )
        assert share.n == 48
        return share.high - share.low

    together = width()
    for name, kind in (("answers.jsonl", Answer), ("judgements.jsonl", Judgement)):
        alone = [msgspec.structs.replace(row, metadata=None) for row in read_rows(folder / name, kind)]
        write_rows(folder / name, alone, kind, force=True)
    assert together > 1.5 * width()  # four twins each: twice as wide, but for the ends of the scale


@pytest.mark.parametrize(
    "row", [{"document_ids": "d1"}, {"contexts": ["Sow in May."]}, {"contexts": [{"text": "May"}]}]
)
def test_a_plain_sheet_that_does_not_name_documents_has_no_share_of_the_retriever(judged, row, says):
    folder = judged([{"id": "a", "answer": "In May.", "reference": "in March", **row}], "containment")
    [system] = ragstone.blame(folder).systems
    assert [share.component for share in system.shares] == ["model + prompt", "judge", "cannot tell"]
    says("\n".join(system.notes))


@pytest.mark.parametrize("column", ["document_ids", "Gold Document IDs", "relevant_documents"])
def test_the_column_of_documents_has_any_of_its_names(judged, column):
    row = {"id": "a", "answer": "In May.", "reference": "in March", column: ["d1"]}
    folder = judged([{**row, "contexts": [{"text": "May", "document_id": "d2"}]}], "containment")
    [system] = ragstone.blame(folder).systems
    assert counts(system) == {"retriever": 1, "model + prompt": 0, "cannot tell": 0}


def test_documents_may_stand_with_the_questions_that_a_sheet_is_judged_with(judged, tmp_path):
    asked = {"id": "a", "question": "When?", "reference": "in March", "document_ids": ["d1"]}
    (tmp_path / "asked.jsonl").write_text(json.dumps(asked))
    row = {"id": "a", "answer": "In May.", "contexts": [{"text": "May", "document_id": "d2"}]}
    folder = judged([row], "containment", "--questions", "asked.jsonl")
    assert counts(ragstone.blame(folder).systems[0])["retriever"] == 1
    (tmp_path / "sheet.jsonl").write_text('{"id": "a", "answer": "In May."}')
    asked["document_ids"] = ["a-name-as-long-as-a-passage"]
    (tmp_path / "asked.jsonl").write_text(json.dumps(asked))
    ran = command("judge", "sheet.jsonl", "--judge", "grounding", "--questions", "asked.jsonl", "-o", "r")
    assert ran.code in (0, 5), ran.err
    assert "contexts=document_ids" not in ran.err


def test_expected_steps_and_unanswerable_questions_stand_in_the_rows(judged):
    nakuru = {"tool": "weather", "arguments": {"place": "Nakuru"}}
    nairobi = {"tool": "weather", "arguments": {"place": "Nairobi"}, "result": "dry"}
    rows = [
        {"id": "a", "answer": "Dry.", "reference": "rain", "steps": [nairobi], "expected_steps": [nakuru]},
        {"id": "b", "answer": "In May.", "answerable": False},
    ]
    folder = judged(rows, "containment")
    [system] = ragstone.blame(folder).systems
    assert causes(folder) == {"a": "wrong arguments", "b": "answered though unanswerable"}
    assert "tools" in counts(system)
    assert (system.n_counted, system.n_unanswerable) == (2, 1)


def test_rows_without_references_are_told_what_to_add(judged):
    folder = judged([{"id": "a", "question": "When?", "answer": "In May."}], "containment")
    says = "no judgement has a score.* 1 of 1 row has no reference.* Put references into a column `reference`"
    with pytest.raises(DataError, match=says):
        ragstone.blame(folder)
    assert not (folder / "blame.json").exists()


def test_the_judges_model_is_that_of_the_run_and_the_thread_is_asked_again(judged, fake_openai, tmp_path):
    (tmp_path / "ragstone.toml").write_text(fake_openai.toml())
    fake_openai.script = lambda body: json.dumps(json.loads(fit_schema(body)) | {"score": 0})
    folder = judged([CHATS[0]], "correctness", "--model", "openai/fake")
    summary = ragstone.blame(folder, second="containment")
    assert causes(folder) == {"right": "judge doubtful"}
    assert summary.models == {"judge": "openai/fake"}
    unsupported = chat("right", "Where?", "Dig potatoes.", contexts=[("maize", "Sow in March.")], **MARCH)
    folder = judged([unsupported], "containment", "--force")
    fake_openai.script = always("In July.")
    fake_openai.forget()
    ragstone.blame(folder, model="openai/fake")
    [asked] = fake_openai.prompts
    assert "user: Ask 0?\nassistant: Where?" in asked
    assert causes(folder) == {"right": "invented"}


def test_a_conversation_whose_user_asks_for_something_else_than_the_expected_call_is_the_datasets(judged):
    def call(name, tool, **arguments):
        function = {"name": tool, "arguments": json.dumps(arguments)}
        calls = [{"id": name, "type": "function", "function": function}]
        return {"role": "assistant", "content": "", "tool_calls": calls}

    items = [{"item_id": "4900990404", "name": "Smart Watch"}, {"item_id": "6777246137", "name": "Bottle"}]
    messages = [
        {"role": "user", "content": "I want to return something of order #W4597054."},
        call("a", "order", order_id="#W4597054"),
        {"role": "tool", "tool_call_id": "a", "content": json.dumps({"items": items})},
        {"role": "assistant", "content": "Which item?"},
        {"role": "user", "content": "The watch, please."},
        call("b", "give_back", item_ids=["4900990404"]),
        {"role": "tool", "tool_call_id": "b", "content": "done"},
        {"role": "assistant", "content": "The watch goes back."},
    ]
    expected = [{"name": "give_back", "arguments": {"item_ids": ["6777246137"]}}]
    row = {"id": "back", "messages": messages, "reference": "the bottle", "expected_tool_calls": expected}
    folder = judged([row], "containment")
    ragstone.blame(folder)
    assert causes(folder) == {"back": "expected steps doubtful"}
    messages[4]["content"] = "The bottle, please."
    folder = judged([row], "containment", "--force")
    ragstone.blame(folder)
    assert causes(folder) == {"back": "wrong arguments"}


def test_a_function_that_takes_all_references_reads_the_reference(judged, tmp_path, monkeypatch):
    (tmp_path / "own.py").write_text(
        "def holds(answer: str, references: list[str]) -> bool:\n    return references[0] in answer\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "ragstone.toml").write_text('[judge]\njudges = ["own:holds"]\n')
    steps = [{"tool": "sow", "arguments": {}, "result": "Sow in March."}]
    row = {"question_id": "q", "question": "When?", "reference": "March", "answer": "Later.", "steps": steps}
    folder = judged([row], "own:holds")
    [note] = [note for note in ragstone.blame(folder).notes if "reference" in note]
    assert "reads no reference" not in note
    assert causes(folder) == {"q": "right result ignored"}


def test_a_judge_of_ones_own_is_looked_for_in_the_settings(judged, tmp_path, says):
    own = ragstone.load_judge("containment")
    lines = "".join(f"{name} = {json.dumps(getattr(own, name))}\n" for name in ("inputs", "scale", "measure"))
    head = 'name = "mine"\nversion = 1\nkind = "lexical"\nmetric = "correctness"\nsource = "own"\n'
    (tmp_path / "mine.toml").write_text(head + lines)
    folder = judged(CHATS, "mine.toml")
    with pytest.raises(ConfigError) as error:
        ragstone.blame(folder)
    says(error.value)
    (tmp_path / "ragstone.toml").write_text('[judge]\njudges = ["mine.toml"]\n')
    assert ragstone.blame(folder).systems[0].n_lost == 3


def sourced(*contexts):
    """Two answers with these sources, one to each, to questions that name the documents maize and tea."""
    names = ("maize", "tea")
    return [
        {
            "question_id": name,
            "question": "When?",
            "answer": "In June.",
            "reference": "in March",
            "document_ids": [name],
            "contexts": [context],
        }
        for name, context in zip(names, contexts, strict=True)
    ]


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        ([{"id": "tea", "text": "Sow."}, {"id": "maize", "text": "Reap."}], "not retrieved"),
        ([{"id": "tea#1", "text": "Sow."}, {"id": "maize#2", "text": "Reap."}], "cannot tell"),
        ([{"id": "tea", "text": "Sow."}, {"text": "Reap."}], "cannot tell"),
    ],
    ids=["documents", "chunks", "not all"],
)
def test_sources_that_an_application_names_by_id_are_documents_only_where_all_are(judged, sources, expected):
    folder = judged(sourced(*sources), "match")
    ragstone.blame(folder)
    assert causes(folder)["maize"] == expected


def test_ids_that_are_numbers_are_left_alone_for_chunks_have_such_too(judged):
    rows = sourced({"id": "2", "text": "Sow."}, {"id": "1", "text": "Reap."})
    for row, name in zip(rows, "12", strict=True):
        row["document_ids"] = [name]
    folder = judged(rows, "match")
    ragstone.blame(folder)
    assert causes(folder)["maize"] == "cannot tell"
