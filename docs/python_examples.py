"""Examples of the Python API: python_pages.py shows the body of each function under the name it has.

They run in the folder that `ragstone new` makes, with `ragstone run` before them on the pages that say so;
tests/test_docs.py runs them page by page.
"""

# ruff: noqa: ARG001, F821, T201 - they print, and read what an example above them made

import asyncio
import json
from pathlib import Path

import ragstone

# Evaluate


def answer() -> None:
    """Answer with a function."""
    questions = list(ragstone.read_rows("questions.jsonl", ragstone.Question))

    def my_application(question: str) -> str:
        return f"I do not know: {question}"

    rows = ragstone.answer(questions[:3], system=my_application)
    print(rows[0].question_id, rows[0].answer)


def ask() -> None:
    """Ask one question."""
    asked = ragstone.ask("When is wheat sown?", documents=["documents.jsonl"], system="extractive")
    print(asked.answer.answer)
    for context in asked.answer.contexts or []:
        print(context.document_id)


def judge() -> None:
    """Judge rows of one's own."""
    rows = [{"question": "Who wrote Emma?", "reference": "Jane Austen", "answer": "It was Jane Austen."}]
    judgements = ragstone.judge(rows, judges=["containment", "correctness"], model="openai/gpt-4o-mini")
    for judgement in judgements:
        print(judgement.judge, judgement.status, judgement.score)


def write_report() -> None:
    """Write the report anew."""
    print(ragstone.write_report("runs/starter"))


def retrieve() -> None:
    """Retrieve passages."""
    documents = ragstone.read_rows("documents.jsonl", ragstone.Document)
    chunks = list(ragstone.chunk_documents(documents))
    rankings = ragstone.retrieve(["When is wheat sown?"], chunks, retriever="bm25", k=3)
    for item in rankings[0].items:
        print(f"{item.score:.2f}", item.document_id)


def run() -> None:
    """Run every stage."""
    summary = ragstone.run("ragstone.toml", budget="500calls", force=True)
    for metric in summary.metrics:
        print(metric.judge, metric.estimate and metric.estimate.value, metric.statuses)


def try_prompt() -> None:
    """Try a changed prompt."""
    Path("shorter.toml").write_text(
        'name = "shorter"\nversion = 1\n'
        'prompt = """Answer in one short sentence, from the passages alone.\n\n'
        'Question: {question}\n\nPassages:\n{contexts}"""\n'
    )
    trial = ragstone.try_prompt("runs/starter", prompt="shorter.toml", limit=2, model="openai/gpt-4o-mini")
    for row in trial.rows:
        print(row)


def summarise() -> None:
    """Summarise judgements."""
    answers = list(ragstone.read_rows("labelled.jsonl", ragstone.Answer))
    for metric in ragstone.summarise(ragstone.judge(answers, judges=["containment", "token_f1"])):
        print(metric.judge, metric.estimate and metric.estimate.value, metric.statuses)


# Judges


def list_judges() -> None:
    """List judges about a word."""
    for entry in ragstone.list_judges("faithful"):
        print(entry.name, entry.about)


def judge_names() -> None:
    """Name the judges."""
    print(len(ragstone.judge_names()), ragstone.judge_names()[:3])


def load_judge() -> None:
    """Load a judge."""
    correctness = ragstone.load_judge("correctness")
    print(correctness.kind, correctness.inputs, correctness.scale)
    strict = ragstone.load_judge("match@threshold=0.9")
    print(strict.name)


def judge_function() -> None:
    """Declare a function as a judge."""

    @ragstone.judge_function(scale=(0, 1), name="short", version=1)
    def short(answer: str) -> float:
        return float(len(answer.split()) <= 20)

    print(ragstone.judge([{"question": "Who?", "answer": "Jane Austen"}], judges=[short])[0].score)


def noise_components() -> None:
    """Split the noise of judges."""
    answers = list(ragstone.read_rows("labelled.jsonl", ragstone.Answer))
    judgements = ragstone.judge(answers, judges=["token_f1", "rouge_l"])
    for noise in ragstone.noise_components(judgements):
        print(noise.metric, noise.judges, noise.components.shares)


def question_digest() -> None:
    """Digest a question."""
    print(ragstone.question_digest("q-1", "When is wheat sown?"))


def cascade_savings() -> None:
    """Show what a cascade saves."""
    answers = list(ragstone.read_rows("labelled.jsonl", ragstone.Answer))[:20]
    judgements = ragstone.judge(answers, judges=["right_or_ask"], model="openai/gpt-4o-mini")
    for saved in ragstone.cascade_savings(judgements):
        print(saved.judge, saved.n_rows, saved.n_undecided)


def judge_suite() -> None:
    """Measure judges on the labelled rows that ship."""
    summary = ragstone.judge_suite(judges=["containment", "match"], sample=50)
    for card in summary.cards:
        print(card)


# Agreement


def report_cards() -> None:
    """Grade judges by people's labels."""
    answers = list(ragstone.read_rows("labelled.jsonl", ragstone.Answer))
    labels = list(ragstone.read_rows("labelled.jsonl", ragstone.Label))
    judgements = ragstone.judge(answers, judges=["containment", "token_f1"])
    for card in ragstone.report_cards(judgements, labels, threshold={"token_f1": 0.5}):
        print(card.judge, card.n, card.lead)


def corrected_means() -> None:
    """Correct a mean by labels of a random sample."""
    answers = list(ragstone.read_rows("labelled.jsonl", ragstone.Answer))
    labels = list(ragstone.read_rows("labelled.jsonl", ragstone.Label))
    judgements = ragstone.judge(answers, judges=["containment"])
    for mean in ragstone.corrected_means(judgements, labels[::2]):  # half of the answers have labels
        print(mean.judge, mean.system, mean.corrected.value, mean.n_labelled)


def sequential_agreement() -> None:
    """Stop labelling when it is clear."""
    answers = list(ragstone.read_rows("labelled.jsonl", ragstone.Answer))
    labels = list(ragstone.read_rows("labelled.jsonl", ragstone.Label))
    judgements = ragstone.judge(answers, judges=["containment"])
    for look in ragstone.sequential_agreement(judgements, labels, trust=0.8):
        print(look.judge, look.measure, look.value, look.low, look.high, look.verdict)


def join_labels() -> None:
    """Find the answers that labels are for."""
    answers = list(ragstone.read_rows("labelled.jsonl", ragstone.Answer))
    labels = list(ragstone.read_rows("labelled.jsonl", ragstone.Label))
    judgements = ragstone.judge(answers, judges=["containment"])
    print(len(ragstone.join_labels(judgements, labels)))


def next_to_label() -> None:
    """Draw answers to label."""
    answers = list(ragstone.read_rows("labelled.jsonl", ragstone.Answer))
    judgements = ragstone.judge(answers, judges=["containment"])
    for row in ragstone.next_to_label(judgements, n=5, answers=answers):
        print(row.question_id, row.answer)


def pairs_to_label() -> None:
    """Draw pairs of answers to label."""
    answers = list(ragstone.read_rows("labelled.jsonl", ragstone.Answer))[:30]
    other = [
        {
            "id": row.question_id,
            "question": row.question,
            "answer": "No idea.",
            "system": "new",
            "reference": row.reference,
        }
        for row in answers
    ]
    before = [
        {
            "id": row.question_id,
            "question": row.question,
            "answer": row.answer,
            "system": "old",
            "reference": row.reference,
        }
        for row in answers
    ]
    rows = ragstone.pairs_to_label(
        ragstone.judge(before, judges=["token_f1"]), ragstone.judge(other, judges=["token_f1"]), n=4
    )
    print([(row.question_id, row.system) for row in rows])


def chosen_to_label() -> None:
    """Label the worst answers."""
    ragstone.run("ragstone.toml", force=True)
    run = ragstone.read_run("runs/starter")
    print(len(ragstone.chosen_to_label(run, "token_f1 < 0.5", n=3)))


def fit_cascade() -> None:
    """Fit the thresholds of a cascade."""
    answers = list(ragstone.read_rows("labelled.jsonl", ragstone.Answer))
    labels = list(ragstone.read_rows("labelled.jsonl", ragstone.Label))
    judgements = ragstone.judge(answers, judges=["containment", "token_f1"])
    fit = ragstone.fit_cascade(judgements, labels, cheap="containment", dear="token_f1", agreement=0.7)
    print(fit.judge.members, fit.cross_validated.cascade)


def write_cascade() -> None:
    """Write a cascade as a judge's file."""
    ragstone.write_cascade(fit, "cascade.toml")  # of fit_cascade, above
    print(ragstone.load_judge("cascade.toml").kind)


# Compare


def compare() -> None:
    """Compare two files of answers."""
    old = [
        {"id": f"q{n}", "question": f"{n} + 1?", "reference": f"{n + 1}", "answer": "2"} for n in range(20)
    ]
    new = [{**row, "answer": row["reference"]} for row in old]
    judges = ["containment"]
    comparison = ragstone.compare(ragstone.judge(old, judges=judges), ragstone.judge(new, judges=judges))
    for metric in comparison.metrics:
        print(metric.metric, metric.verdict, metric.difference)


def compare_several() -> None:
    """Show several runs side by side."""
    answers = list(ragstone.read_rows("labelled.jsonl", ragstone.Answer))
    whole, half = (ragstone.judge(rows, judges=["containment"]) for rows in (answers, answers[:50]))
    for name, rows in (("whole", whole), ("half", half)):
        ragstone.write_rows(f"{name}.jsonl", rows, ragstone.Judgement)
    print(ragstone.compare_several(["whole.jsonl", "half.jsonl"]).metrics)


def compare_rankings() -> None:
    """Compare two retrievers."""
    for pair in ragstone.compare_rankings(queries, "mrr"):  # of best_and_indistinguishable, above
        print(pair.first, pair.second, pair.difference, pair.verdict)


def best_and_indistinguishable() -> None:
    """Find the best retriever and its equals."""
    questions = list(ragstone.read_rows("questions.jsonl", ragstone.Question))
    documents = ragstone.read_rows("documents.jsonl", ragstone.Document)
    chunks = list(ragstone.chunk_documents(documents))
    queries = {
        f"the first {k}": ragstone.measure_queries(
            ragstone.retrieve(questions, chunks, retriever="bm25", k=k), questions
        )
        for k in (1, 10)
    }
    leaders = ragstone.best_and_indistinguishable(queries, "mrr")
    print(leaders.means, leaders.indistinguishable)


def blame() -> None:
    """Find what lost the points."""
    blamed = ragstone.blame("runs/starter", judge="correctness", second="containment")
    for system in blamed.systems:
        print(system)


def attack() -> None:
    """Attack a judge."""
    summary = ragstone.attack(["containment"], families=["orders"], limit=6)
    for judge in summary.judges:
        print(judge)


def bench_retrievers() -> None:
    """Compare retrievers by the settings."""
    summary = ragstone.bench_retrievers(ragstone.load_settings("ragstone.toml"), force=True)
    print(summary.leaderboard)


def bench_answerers() -> None:
    """Compare prompts and models by the settings."""
    summary = ragstone.bench_answerers(
        ragstone.load_settings("ragstone.toml"), budget="1000calls", force=True
    )
    print(summary.board)


def converse() -> None:
    """Let simulated users talk to an application."""

    def my_chat(messages: list[dict[str, str]]) -> str:
        return "Where is your farm?"

    persona = {"name": "farmer", "goal": "Find out when to sow", "script": ["When do I sow?", "Nakuru"]}
    rows = ragstone.converse([persona], system=my_chat)
    print([turn.content for turn in rows[0].turns or []])


def summarise_goals() -> None:
    """Count the goals that were met."""
    print(ragstone.summarise_goals(rows).ended)  # of converse, above


def likeness() -> None:
    """Compare simulated users with a log."""
    print(ragstone.likeness(rows, ["questions.jsonl"]).n_users)  # rows of converse, above


# Evaluation sets


def build_questions() -> None:
    """Write questions about documents."""
    documents = list(ragstone.read_rows("documents.jsonl", ragstone.Document))
    built = ragstone.build_questions(documents[:5], model="openai/gpt-4o-mini", count=5)
    print(len(built.questions))


def build_facts() -> None:
    """Write true and false statements."""
    documents = list(ragstone.read_rows("documents.jsonl", ragstone.Document))
    built = ragstone.build_facts(documents, model="openai/gpt-4o-mini", falsify=["number"], count=4)
    print(len(built.questions))


def fictionalise() -> None:
    """Change the names of a set."""
    document = ragstone.Document(id="d", text="Jane Austen wrote Emma in Hampshire.")
    question = ragstone.Question(id="q", question="Who wrote Emma?", reference=["Jane Austen"])
    fiction = ragstone.fictionalise([document], [question], [("Jane Austen", "Mary Holt")])
    print(fiction.documents[0].text, fiction.questions[0].reference)


def import_set() -> None:
    """Import somebody else's questions."""
    Path("fragen.csv").write_text("Frage,Antwort\nWer schrieb Emma?,Jane Austen\n")
    imported = ragstone.import_set("fragen.csv", columns={"question": "Frage", "reference": "Antwort"})
    print(imported.questions[0].reference, imported.summary)


def sample_log() -> None:
    """Draw questions from a log."""
    log = [{"question": f"When is crop {n} sown?", "answer": "In May."} for n in range(30)]
    sample = ragstone.sample_log(log, 5, by="random")
    print([row.question for row in sample.questions])


def translate() -> None:
    """Translate questions."""
    question = ragstone.Question(id="q", question="When is wheat sown?", reference=["In October."], lang="en")
    made = ragstone.translate([question], to="es", by="openai/gpt-4o-mini", source="en")
    print(made.questions, made.summary)


def review_questions() -> None:
    """Apply people's decisions to a set."""
    question = next(iter(ragstone.read_rows("questions.jsonl", ragstone.Question)))
    accepted = ragstone.Decision(id="1", question_id=question.id, decision="accept", person="ann")
    ragstone.write_rows("questions.review.jsonl", [accepted], ragstone.Decision)
    reviewed = ragstone.review_questions("questions.jsonl", only_decided=True)
    print(len(reviewed.questions))


def read_decisions() -> None:
    """Read the decisions of reviewers."""
    for decision in ragstone.read_decisions("questions.review.jsonl"):
        print(decision.question_id, decision.decision, decision.person)


def apply_review() -> None:
    """Apply decisions to rows."""
    questions = list(ragstone.read_rows("questions.jsonl", ragstone.Question))
    print(len(ragstone.apply_review(questions, [])))


def split_questions() -> None:
    """Set some questions aside for a test."""
    questions = list(ragstone.read_rows("questions.jsonl", ragstone.Question))
    sides = ragstone.split_questions(questions, test_share=0.3, seed=1)
    print(sorted(set(sides.values())))


def place_evidence() -> None:
    """Find the evidence of questions in documents."""
    questions = list(ragstone.read_rows("questions.jsonl", ragstone.Question))
    documents = list(ragstone.read_rows("documents.jsonl", ragstone.Document))
    print(ragstone.place_evidence(questions, documents).unplaced)


def mask_personal_data() -> None:
    """Mask a text."""
    masked = ragstone.mask_personal_data("Write to ben.lee@example.org, please.")
    print(masked)


# Documents and retrieval


def ingest() -> None:
    """Read a folder of files."""
    Path("handbook").mkdir(exist_ok=True)
    Path("handbook/wheat.md").write_text("# Wheat\n\nWheat is sown in October.\n")
    for document in ragstone.ingest(["handbook"]):
        print(document.id)


def read_corpus() -> None:
    """Read a folder and see what was skipped."""
    corpus = ragstone.read_corpus(["documents.jsonl"])
    print(len(corpus.documents), len(corpus.skipped))


def chunk_documents() -> None:
    """Cut documents into chunks."""
    documents = list(ragstone.read_rows("documents.jsonl", ragstone.Document))
    chunks = list(ragstone.chunk_documents(documents, "sentence", size=400))
    print(len(chunks), chunks[0].start, chunks[0].end)


def tag() -> None:
    """Group documents by topic."""
    documents = list(ragstone.read_rows("documents.jsonl", ragstone.Document))
    tagged, summary = ragstone.tag(documents, topics=2)
    print((tagged[0].metadata or {})["topic"], summary)


def measure_queries() -> None:
    """Measure rankings, question by question."""
    questions = list(ragstone.read_rows("questions.jsonl", ragstone.Question))
    documents = ragstone.read_rows("documents.jsonl", ragstone.Document)
    chunks = list(ragstone.chunk_documents(documents))
    rankings = ragstone.retrieve(questions, chunks, retriever="bm25", k=10)
    measures = ragstone.measure_queries(rankings, questions)
    print(measures)


def evaluate_rankings() -> None:
    """Measure a retriever."""
    questions = list(ragstone.read_rows("questions.jsonl", ragstone.Question))
    documents = ragstone.read_rows("documents.jsonl", ragstone.Document)
    chunks = list(ragstone.chunk_documents(documents))
    rankings = ragstone.retrieve(questions, chunks, retriever="bm25", k=10)
    summary = ragstone.evaluate_rankings(rankings, questions)
    print(summary.n_questions, summary.measures["mrr"])


def read_qrels() -> None:
    """Read judgements of relevance."""
    Path("qrels.txt").write_text("q1 0 doc-7 1\nq1 0 doc-9 0\n")
    print(ragstone.read_qrels("qrels.txt"))


def read_trec_run() -> None:
    """Read rankings of trec_eval."""
    Path("bm25.run").write_text("q1 Q0 doc-7 1 12.5 bm25\nq1 Q0 doc-9 2 11.0 bm25\n")
    print(ragstone.read_trec_run("bm25.run")[0].items)


# Runs and export


def read_run() -> None:
    """Read a run."""
    run = ragstone.read_run("runs/starter")
    print(run.summary.metrics[0].judge)


def read_summary() -> None:
    """Read the numbers of a run."""
    print([metric.judge for metric in ragstone.read_summary("runs/starter").metrics])


def export_table() -> None:
    """Write a run as a spreadsheet."""
    print(ragstone.export_table(ragstone.read_run("runs/starter"), "starter.csv"))


def export_record() -> None:
    """Write a run for Inspect."""
    print(ragstone.export_record(ragstone.read_run("runs/starter"), "starter.eval"))


# Watch


def watch() -> None:
    """Watch a log."""
    rows = [{"question": "When is wheat sown?", "answer": "In May.", "time": "2026-11-01T10:00:00Z"}]
    Path("log.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    summary = ragstone.watch("log.jsonl", judges=["no_refusal"])
    print(summary.read, summary.judged)


def store_spans() -> None:
    """Keep the spans of a request."""
    text = {"key": "output.value", "value": {"stringValue": "In October."}}
    span = {
        "traceId": "5b8efff798038103d269b633813fc60c",
        "spanId": "eee19b7ec3c1b174",
        "name": "chat",
        "attributes": [text],
    }
    body = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).encode()
    print(ragstone.store_spans(body, encoding="json").spans)


# Statistics


def mean_estimate() -> None:
    """Show a mean with its interval."""
    estimate = ragstone.mean_estimate([1, 0, 1, 1, 0, 1, 1, 1])
    if estimate is not None:
        print(f"{estimate.value:.2f} ({estimate.low:.2f} to {estimate.high:.2f})")


def mean_components() -> None:
    """Split the noise of crossed rows."""
    values = [0.2, 0.3, 0.9, 0.8, 0.5, 0.6, 0.1, 0.2]
    questions, judges = ["a", "a", "b", "b", "c", "c", "d", "d"], ["x", "y"] * 4
    found = ragstone.mean_components(values, questions=questions, judges=judges, bounds=(0, 1))
    if found is not None:
        print(found.estimate, found.shares)


# Rows and files


def read_rows() -> None:
    """Read a file of any tool."""
    Path("sheet.csv").write_text("query,output,ground_truth\nWho wrote Emma?,Jane Austen,Jane Austen\n")
    for row in ragstone.read_rows("sheet.csv", ragstone.Answer):
        print(row.question, row.answer, row.reference)


def write_rows() -> None:
    """Write rows."""
    questions = [ragstone.Question(id="q1", question="Who wrote Emma?", reference=["Jane Austen"])]
    print(ragstone.write_rows("mine.jsonl", questions, ragstone.Question))


# Settings and models


def load_settings() -> None:
    """Load the settings."""
    settings = ragstone.load_settings("ragstone.toml")
    print(settings.run.name, settings.retrieve.retriever)


def list_models() -> None:
    """List the models that can be named."""
    for provider in ragstone.list_models().providers:
        print(provider.name)


def progress_line() -> None:
    """Show progress in a terminal."""
    rows = [{"question": "Who wrote Emma?", "reference": "Jane Austen", "answer": "Jane Austen"}]
    print(ragstone.judge(rows, judges=["containment"], progress=ragstone.progress_line)[0].score)


# The assistant


def build_knowledge() -> None:
    """Build a knowledge base."""
    Path("leaflet.md").write_text("# Maize\n\nThe roots of maize reach down to 1.7 metres.")
    ragstone.build_knowledge(["leaflet.md"])


def open_assistant() -> None:
    """Ask the assistant."""

    async def main() -> None:
        async with ragstone.open_assistant() as assistant:
            asked = ragstone.Asked(turns=(ragstone.Turn("user", "How deep are the roots of maize?"),))
            said = await assistant.respond(asked, print)  # print hears of the reply piece by piece
            print(said.kind, said.text, [citation.passage.title for citation in said.citations])

    asyncio.run(main())
