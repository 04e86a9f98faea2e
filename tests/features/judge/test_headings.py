"""Sheets with headings of many languages: a column is read as what it is, or the user is asked and helped.

Every command that a message prints is run, and what came of it is compared with what the columns held.
"""

import csv
import json
import shlex
from pathlib import Path

import pytest
from tests.support.command import ragstone

from ragstone.kernel.records import Answer
from ragstone.kernel.tables import read_rows

FIELDS = ("question", "answer", "reference", "contexts")
SHEETS = {
    # field -> heading; what stands under `other` is none of them
    "German": ("Frage des Kunden", "Antwort Bot", "Musterlösung", "Fundstelle"),
    "German, model answer": ("Frage", "Antwort", "Musterantwort", "Quelle"),
    "German, compounds": ("Hotlinefrage", "Antworttext neu", "Sollantwort", "Textauszug"),
    "German, sentences": ("Was gefragt wurde", "Was der Bot sagte", "Was stimmt", "Woher"),
    "German, expected": ("Kundenfrage", "Antwort", "Erwartete Antwort laut Handbuch", "Belege"),
    "Spanish": ("Pregunta", "Respuesta", "Respuesta esperada", "Fuente"),
    "Spanish, user": ("pregunta del usuario", "respuesta del modelo", "referencia", "contexto"),
    "French": ("Question du client", "Réponse", "Réponse attendue", "Extrait"),
    "French, bare": ("question", "reponse", "corrige", "contexte"),
    "Italian": ("Domanda", "Risposta", "Risposta corretta", "Brano"),
    "Portuguese": ("Pergunta", "Resposta", "Gabarito", "Trecho"),
    "Dutch": ("Vraag van de klant", "Antwoord", "Juiste antwoord", "Bron"),
    "Swedish": ("Fråga", "Svar", "Facit", "Källa"),
    "Danish": ("Spørgsmål", "Svar", "Rigtigt svar", "Kilde"),
    "Finnish": ("Kysymys", "Vastaus", "Oikea vastaus", "Lähde"),
    "Polish": ("Pytanie klienta", "Odpowiedź", "Poprawna odpowiedź", "Źródło"),
    "Czech": ("Otázka", "Odpověď", "Správná odpověď", "Zdroj"),
    "Russian": ("Вопрос", "Ответ", "Эталонный ответ", "Источник"),
    "Turkish": ("Soru", "Cevap", "Beklenen cevap", "Kaynak"),
    "Greek": ("Ερώτηση", "Απάντηση", "Σωστή απάντηση", "Πηγή"),
    "Chinese": ("问题", "回答", "标准答案", "上下文"),
    "Japanese": ("質問", "回答", "正解", "出典"),
    "Korean": ("질문", "답변", "정답", "출처"),
    "Swahili": ("Swali", "Jibu", "Jibu sahihi", "Chanzo"),
    "English, names": ("Prompt", "ChatGPT", "Gold", "Passages used"),
    "English, sentences": ("What they asked", "What the model says", "Expected answer", "Source text"),
    "unknown": ("Feld 1", "Feld 2", "Feld 3", "Feld 4"),
    "misleading": ("Frage oder Quelle", "Antwort des Kunden", "Kommentar", "Notiz"),
    "two alike": ("Query 1", "GPT answer", "Claude answer", "Notes on context and score"),
}
ASKED_IN_FULL = {"unknown", "misleading", "two alike"}
"""Sheets of which nothing may be guessed."""
QUESTION_UNKNOWN = {"German, compounds", "German, sentences", "English, sentences"}
"""Sheets whose question is only hinted at: neither of the judges reads it, so nobody is asked for it."""
ASKING = ("How high may it fly?", "Wie hoch darf sie fliegen", "Is it allowed")
ROWS = [
    (asked, f"It is {n} metres.", f"{n} metres", f"Drones may fly {n} metres high, is it not so?")
    for n, asked in enumerate(ASKING, 120)
]


def write(name, headings, form):
    path = Path(f"{name}.{form}")
    rows = [
        dict(zip(headings, row, strict=True)) | {"Zeit": "09:10", "Nr": str(n)} for n, row in enumerate(ROWS)
    ]
    if form == "jsonl":
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    elif form == "xlsx":
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        for row in ([*rows[0]], *([*row.values()] for row in rows)):
            book.active.append(row)
        book.save(path)
    else:
        with path.open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, [*rows[0]], delimiter=";" if form == "csv" else "\t")
            table.writeheader()
            table.writerows(rows)
    return path


def follow(monkeypatch, *given):
    """Run `ragstone judge`, then each command that it prints, and return the last outcome."""
    for _ in range(5):
        monkeypatch.setattr("sys.argv", ["ragstone", *given])
        ran = ragstone(*given)
        if "Run:\n" not in ran.err:
            return ran
        _, *given = shlex.split(ran.err.rpartition("Run:\n")[2].splitlines()[0])
    raise AssertionError(ran.err)


@pytest.mark.long
@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "xlsx"])
@pytest.mark.parametrize("name", SHEETS)
def test_no_column_is_read_or_proposed_as_what_it_is_not(name, form, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = write("sheet", SHEETS[name], form)
    ran = follow(monkeypatch, "judge", str(path), "--judge", "containment", "--judge", "grounding")
    assert "no such column" not in ran.err
    if name in ASKED_IN_FULL:
        assert ran.code == 2
        for heading in SHEETS[name]:  # all are listed, and none is proposed
            assert repr(heading) in ran.err
        return
    assert ran.code == 0, ran.err
    for row, expected in zip(read_rows(Path("runs/sheet/answers.jsonl"), Answer), ROWS, strict=True):
        texts = [context.text for context in row.contexts or ()]
        question = None if name in QUESTION_UNKNOWN else expected[0]
        assert (row.question, row.answer, row.reference) == (question, *expected[1:3])
        assert texts == [expected[3]]


LANGSMITH = {
    "id": "r",
    "trace_id": "r",
    "name": "RAG",
    "run_type": "chain",
    "start_time": "2026-11-20T10:00:00",
    "inputs": {"question": "How high?"},
    "outputs": {"output": "120 m"},
    "parent_run_id": None,
}
LANGFUSE = {
    "id": "t",
    "timestamp": "2026-11-20T10:00:00Z",
    "name": "rag",
    "sessionId": "a long session name",
    "input": {"question": "How high?"},
    "output": "120 m",
    "observations": [],
    "metadata": {"team": "sky"},
}
SPAN = {
    "name": "chat",
    "context": {"trace_id": "t", "span_id": "s"},
    "parent_id": None,
    "start_time": "2026-11-20T10:00:00Z",
    "end_time": "2026-11-20T10:00:01Z",
    "attributes": {
        "openinference.span.kind": "CHAIN",
        "input.value": "How high?",
        "output.value": "120 m",
        "session.id": "a long session name",
    },
}
CHAT = {
    "id": "c",
    "conversation_id": "a long conversation name",
    "messages": [{"role": "user", "content": "How high?"}, {"role": "assistant", "content": "120 m"}],
}


@pytest.mark.parametrize(
    "row", [LANGSMITH, LANGFUSE, SPAN, CHAT], ids=["langsmith", "langfuse", "otel", "chat"]
)
def test_what_a_reader_of_traces_made_is_no_column(row, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("log.jsonl").write_text(json.dumps(row) + "\n")
    ran = follow(monkeypatch, "judge", "log.jsonl", "--judge", "containment", "--judge", "grounding")
    assert "no such column" not in ran.err
    assert "--column" not in ran.err or row is CHAT
    (read,) = read_rows(Path("runs/log/answers.jsonl"), Answer)
    assert (read.question, read.answer, read.reference, read.contexts) == ("How high?", "120 m", None, None)


def test_a_judge_that_scored_one_of_two_systems_is_not_said_to_have_scored_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [
        {
            "id": "a",
            "question": "q?",
            "answer": "x y",
            "system": "one",
            "contexts": ["x y z"],
            "note": "n" * 30,
        },
        {"id": "a", "question": "q?", "answer": "x y", "system": "two", "note": "n" * 30},
    ]
    Path("a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    ran = ragstone("judge", "a.jsonl", "--judge", "grounding")
    assert "Nothing was scored" not in ran.err
