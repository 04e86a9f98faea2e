"""Ten statements on four paragraphs of xquad in two languages, half of them true; written for tests."""

from pathlib import Path

import msgspec

from ragstone.kernel.corpus.ingest import read_corpus
from ragstone.kernel.records import Document, Question

STATEMENTS = [
    (
        "Super_Bowl_50-0",
        True,
        "The Panthers defense gave up 308 points.",
        "La defensa de los Panthers cedió 308 puntos.",
    ),
    (
        "Super_Bowl_50-0",
        False,
        "Kawann Short led the team with 24 sacks.",
        "Kawann Short lideró al equipo con 24 capturas.",
    ),
    (
        "Super_Bowl_50-0",
        True,
        "Jared Allen was a 5-time Pro Bowl player.",
        "Jared Allen fue 5 veces jugador de la Pro Bowl.",
    ),
    (
        "Warsaw-0",
        True,
        "The Summer Theatre was in operation until 1939.",
        "El Teatro de Verano se mantuvo en funcionamiento hasta 1939.",
    ),
    ("Warsaw-0", False, "Momus was the first opera of Warsaw.", "Momus fue la primera ópera de Varsovia."),
    ("Oxygen-1", True, "James Dewar was a Scottish chemist.", "James Dewar fue un químico escocés."),
    (
        "Oxygen-1",
        False,
        "Carl von Linde was a British engineer.",
        "Carl von Linde fue un ingeniero británico.",
    ),
    (
        "Oxygen-1",
        False,
        "Oxyacetylene welding was first demonstrated in 1850.",
        "La soldadura oxiacetilénica se demostró por primera vez en 1850.",
    ),
    (
        "Normans-0",
        True,
        "Earlier Viking settlers began arriving in the 880s.",
        "Los anteriores colonos vikingos comenzaron a llegar en la década del 880.",
    ),
    (
        "Normans-0",
        False,
        "Before Rollo's arrival, the populations were considered Spanish.",
        "Antes de la llegada de Hrolf Ganger, las poblaciones se consideraban españolas.",
    ),
]
LANGS = ("en", "es")


def statement_questions() -> list[Question]:
    """Return the statements as questions of kind true_false, all English ones first."""
    return [
        Question(
            id=f"{lang}:s{n}",
            question=(english, spanish)[at],
            reference=str(true),
            kind="true_false",
            document_ids=[f"{lang}:{document}"],
            lang=lang,
        )
        for at, lang in enumerate(LANGS)
        for n, (document, true, english, spanish) in enumerate(STATEMENTS)
    ]


def statement_documents(pack: Path) -> list[Document]:
    """Return xquad's paragraphs in English and Spanish, without their titles, which are English in both."""
    documents = read_corpus([pack / "documents.jsonl"]).documents
    return [msgspec.structs.replace(document, title=None) for document in documents if document.lang in LANGS]
