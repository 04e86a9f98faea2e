"""Exchanges for the tests of the log: with personal data in every place where it may stand."""

import datetime

from ragstone.kernel.records import Turn, Usage
from ragstone_assistant.conversation import Asked, Citation, LoopStep, Passage, Said

NOW = datetime.datetime(2026, 11, 21, 23, 30, 5, 250_000, tzinfo=datetime.UTC)
PHONE = "+254 712 345 678"
SECRET = b"s" * 32

PASSAGE = Passage(
    chunk_id="maize-3",
    document_id="maize.pdf",
    title="Maize",
    page=2,
    text="Plant maize in late March. Ask the office: +254 20 2718870.",
    score=0.75,
)
ASKED = Asked(
    turns=(
        Turn("user", "Hello"),
        Turn("assistant", "Good day."),
        Turn("user", f"My name is Mary Wanjiku, call {PHONE}. When do I plant maize?"),
    ),
    filters={"crop": "maize"},
)
SAID = Said(
    text="Dear Mary, plant maize in late March [1].",
    kind="answer",
    lang="en",
    passages=(PASSAGE,),
    citations=(Citation(number=1, passage=PASSAGE),),
    steps=(
        LoopStep(
            thought="Mary Wanjiku asks when to plant.",
            action="search_documents",
            arguments={"question": f"planting time for {PHONE}", "k": 5, "more": [{"who": "Mary Wanjiku"}]},
            observation=f"found; told {PHONE}",
            status="done",
            latency_s=0.5,
        ),
    ),
    tags={"region": "nakuru"},
    usage=Usage(input=900, output=60, cached=10, calls=2),
    cost_usd=0.001,
    latency_s=1.5,
    model="openai/fake@127.0.0.1:80/v1",
    prompt_version="cited-1",
)
