"""Examples of the Python API: python_pages.py shows what stands under `# %% NAME` with the function NAME.

They run in the folder that `ragstone new` makes, with `ragstone run` before them on the pages that say so;
tests/test_docs.py runs them page by page. They are at the margin, so the formatter leaves their pages alone.
"""

# ruff: noqa: ARG001, D103, T201 - they are short, and print

import asyncio
import json
from pathlib import Path

import ragstone

# %% answer
questions = list(ragstone.read_rows("questions.jsonl", ragstone.Question))


def my_application(question: str) -> str:
    return f"I do not know: {question}"


rows = ragstone.answer(questions[:3], system=my_application)
print(rows[0].question_id, rows[0].answer)

# %% ask
asked = ragstone.ask("When is wheat sown?", documents=["documents.jsonl"], system="extractive")
print(asked.answer.answer)
for context in asked.answer.contexts or []:
    print(context.document_id)

# %% judge
rows = [{"question": "Who wrote Emma?", "reference": "Jane Austen", "answer": "It was Jane Austen."}]
judgements = ragstone.judge(rows, judges=["containment", "correctness"], model="openai/gpt-4o-mini")
for judgement in judgements:
    print(judgement.judge, judgement.status, judgement.score)

# %% write_report
print(ragstone.write_report("runs/starter"))

# %% retrieve
documents = ragstone.read_rows("documents.jsonl", ragstone.Document)
chunks = list(ragstone.chunk_documents(documents))
rankings = ragstone.retrieve(["When is wheat sown?"], chunks, retriever="bm25", k=3)
for item in rankings[0].items:
    print(f"{item.score:.2f}", item.document_id)

# %% run
summary = ragstone.run("ragstone.toml", budget="500calls", force=True)
for metric in summary.metrics:
    print(metric.judge, metric.estimate and metric.estimate.value, metric.statuses)

# %% try_prompt
Path("shorter.toml").write_text(
    'name = "shorter"\nversion = 1\n'
    'prompt = """Answer in one short sentence, from the passages alone.\n\n'
    'Question: {question}\n\nPassages:\n{contexts}"""\n'
)
trial = ragstone.try_prompt("runs/starter", prompt="shorter.toml", limit=2, model="openai/gpt-4o-mini")
for row in trial.rows:
    print(row)

# %% summarise
answers = list(ragstone.read_rows("labelled.jsonl", ragstone.Answer))
for metric in ragstone.summarise(ragstone.judge(answers, judges=["containment", "token_f1"])):
    print(metric.judge, metric.estimate and metric.estimate.value, metric.statuses)

# %% list_judges
for entry in ragstone.list_judges("faithful"):
    print(entry.name, entry.about)

# %% judge_names
print(len(ragstone.judge_names()), ragstone.judge_names()[:3])

# %% load_judge
correctness = ragstone.load_judge("correctness")
print(correctness.kind, correctness.inputs, correctness.scale)
strict = ragstone.load_judge("match@threshold=0.9")
print(strict.name)


# %% judge_function
@ragstone.judge_function(scale=(0, 1), name="short", version=1)
def short(answer: str) -> float:
    return float(len(answer.split()) <= 20)


print(ragstone.judge([{"question": "Who?", "answer": "Jane Austen"}], judges=[short])[0].score)

# %% noise_components
answers = list(ragstone.read_rows("labelled.jsonl", ragstone.Answer))
judgements = ragstone.judge(answers, judges=["token_f1", "rouge_l"])
for noise in ragstone.noise_components(judgements):
    print(noise.metric, noise.judges, noise.components.shares)

# %% question_digest
print(ragstone.question_digest("q-1", "When is wheat sown?"))

# %% cascade_savings
answers = list(ragstone.read_rows("labelled.jsonl", ragstone.Answer))[:20]
judgements = ragstone.judge(answers, judges=["right_or_ask"], model="openai/gpt-4o-mini")
for saved in ragstone.cascade_savings(judgements):
    print(saved.judge, saved.n_rows, saved.n_undecided)

# %% judge_suite
summary = ragstone.judge_suite(judges=["containment", "match"], sample=50)
for card in summary.cards:
    print(card)

# %% report_cards
answers = list(ragstone.read_rows("labelled.jsonl", ragstone.Answer))
labels = list(ragstone.read_rows("labelled.jsonl", ragstone.Label))
judgements = ragstone.judge(answers, judges=["containment", "token_f1"])
for card in ragstone.report_cards(judgements, labels, threshold={"token_f1": 0.5}):
    print(card.judge, card.n, card.lead)

# %% corrected_means
answers = list(ragstone.read_rows("labelled.jsonl", ragstone.Answer))
labels = list(ragstone.read_rows("labelled.jsonl", ragstone.Label))
judgements = ragstone.judge(answers, judges=["containment"])
for mean in ragstone.corrected_means(judgements, labels[::2]):  # half of the answers have labels
    print(mean.judge, mean.system, mean.corrected.value, mean.n_labelled)

# %% sequential_agreement
answers = list(ragstone.read_rows("labelled.jsonl", ragstone.Answer))
labels = list(ragstone.read_rows("labelled.jsonl", ragstone.Label))
judgements = ragstone.judge(answers, judges=["containment"])
for look in ragstone.sequential_agreement(judgements, labels, trust=0.8):
    print(look.judge, look.measure, look.value, look.low, look.high, look.verdict)

# %% join_labels
answers = list(ragstone.read_rows("labelled.jsonl", ragstone.Answer))
labels = list(ragstone.read_rows("labelled.jsonl", ragstone.Label))
judgements = ragstone.judge(answers, judges=["containment"])
print(len(ragstone.join_labels(judgements, labels)))

# %% next_to_label
answers = list(ragstone.read_rows("labelled.jsonl", ragstone.Answer))
judgements = ragstone.judge(answers, judges=["containment"])
for row in ragstone.next_to_label(judgements, n=5, answers=answers):
    print(row.question_id, row.answer)

# %% pairs_to_label
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

# %% chosen_to_label
ragstone.run("ragstone.toml", force=True)
run = ragstone.read_run("runs/starter")
print(len(ragstone.chosen_to_label(run, "token_f1 < 0.5", n=3)))

# %% fit_cascade
answers = list(ragstone.read_rows("labelled.jsonl", ragstone.Answer))
labels = list(ragstone.read_rows("labelled.jsonl", ragstone.Label))
judgements = ragstone.judge(answers, judges=["containment", "token_f1"])
fit = ragstone.fit_cascade(judgements, labels, cheap="containment", dear="token_f1", agreement=0.7)
print(fit.judge.members, fit.cross_validated.cascade)

# %% write_cascade
ragstone.write_cascade(fit, "cascade.toml")  # of fit_cascade, above
print(ragstone.load_judge("cascade.toml").kind)

# %% compare
old = [{"id": f"q{n}", "question": f"{n} + 1?", "reference": f"{n + 1}", "answer": "2"} for n in range(20)]
new = [{**row, "answer": row["reference"]} for row in old]
judges = ["containment"]
comparison = ragstone.compare(ragstone.judge(old, judges=judges), ragstone.judge(new, judges=judges))
for metric in comparison.metrics:
    print(metric.metric, metric.verdict, metric.difference)

# %% compare_several
answers = list(ragstone.read_rows("labelled.jsonl", ragstone.Answer))
whole, half = (ragstone.judge(rows, judges=["containment"]) for rows in (answers, answers[:50]))
for name, rows in (("whole", whole), ("half", half)):
    ragstone.write_rows(f"{name}.jsonl", rows, ragstone.Judgement)
print(ragstone.compare_several(["whole.jsonl", "half.jsonl"]).metrics)

# %% best_and_indistinguishable
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

# %% compare_rankings
for pair in ragstone.compare_rankings(queries, "mrr"):  # of best_and_indistinguishable, above
    print(pair.first, pair.second, pair.difference, pair.verdict)

# %% blame
blamed = ragstone.blame("runs/starter", judge="correctness", second="containment")
for system in blamed.systems:
    print(system)

# %% modes
found = ragstone.modes("runs/starter")
for mode in found.modes:
    print(mode.title, mode.n_yes, mode.prevalence)
print(found.n_uncovered, "wrong answers in no mode")

# %% modes_to_label
Path("modes").mkdir(exist_ok=True)
Path("modes/refusals.toml").write_text("""
name = "refusals"
version = 1
kind = "signs"
inputs = ["answer"]
scale = [0, 1]
best = "lowest"
source = "own"
description = "The answer is wrong, and it refuses to answer."

[[signs]]
weight = 0.9
measure = "refuses"
""")
ragstone.modes("runs/starter")
for row in ragstone.modes_to_label("runs/starter", "refusals", n=4):
    print(row.question_id, row.inclusion)

# %% attack
summary = ragstone.attack(["containment"], families=["orders"], limit=6)
for judge in summary.judges:
    print(judge)

# %% bench_retrievers
summary = ragstone.bench_retrievers(ragstone.load_settings("ragstone.toml"), force=True)
print(summary.leaderboard)

# %% bench_answerers
summary = ragstone.bench_answerers(ragstone.load_settings("ragstone.toml"), budget="1000calls", force=True)
print(summary.board)


# %% converse
def my_chat(messages: list[dict[str, str]]) -> str:
    return "Where is your farm?"


persona = {"name": "farmer", "goal": "Find out when to sow", "script": ["When do I sow?", "Nakuru"]}
rows = ragstone.converse([persona], system=my_chat)
print([turn.content for turn in rows[0].turns or []])

# %% summarise_goals
print(ragstone.summarise_goals(rows).ended)  # of converse, above

# %% likeness
print(ragstone.likeness(rows, ["questions.jsonl"]).n_users)  # rows of converse, above

# %% distil_personas
learnt = ragstone.distil_personas("questions.jsonl")
print([(persona.name, persona.style) for persona in learnt.personas])

# %% write_personas
print(ragstone.write_personas(learnt, "learnt.toml"))  # of distil_personas, above

# %% build_questions
documents = list(ragstone.read_rows("documents.jsonl", ragstone.Document))
built = ragstone.build_questions(documents[:5], model="openai/gpt-4o-mini", count=5)
print(len(built.questions))

# %% build_facts
documents = list(ragstone.read_rows("documents.jsonl", ragstone.Document))
built = ragstone.build_facts(documents, model="openai/gpt-4o-mini", falsify=["number"], count=4)
print(len(built.questions))

# %% fictionalise
document = ragstone.Document(id="d", text="Jane Austen wrote Emma in Hampshire.")
question = ragstone.Question(id="q", question="Who wrote Emma?", reference=["Jane Austen"])
fiction = ragstone.fictionalise([document], [question], [("Jane Austen", "Mary Holt")])
print(fiction.documents[0].text, fiction.questions[0].reference)

# %% import_set
Path("fragen.csv").write_text("Frage,Antwort\nWer schrieb Emma?,Jane Austen\n")
imported = ragstone.import_set("fragen.csv", columns={"question": "Frage", "reference": "Antwort"})
print(imported.questions[0].reference, imported.summary)

# %% check_set
checked = ragstone.check_set("questions.jsonl", log=[{"question": "How do I sow?"}])
print(checked.repeats, [share.type for share in checked.types])

# %% sample_log
log = [{"question": f"When is crop {n} sown?", "answer": "In May."} for n in range(30)]
sample = ragstone.sample_log(log, 5, by="random")
print([row.question for row in sample.questions])

# %% sample_feedback
rows = [{"id": n, "question": f"When is crop {n} sown?", "answer": "In May."} for n in range(9)]
rows[2] |= {"thumb": "down", "correction": "In June."}
learned = ragstone.sample_feedback(rows, 5)
print([row.reference for row in learned.questions], [row.score for row in learned.thumbs])

# %% translate
question = ragstone.Question(id="q", question="When is wheat sown?", reference=["In October."], lang="en")
made = ragstone.translate([question], to="es", by="openai/gpt-4o-mini", source="en")
print(made.questions, made.summary)

# %% review_questions
question = next(iter(ragstone.read_rows("questions.jsonl", ragstone.Question)))
accepted = ragstone.Decision(id="1", question_id=question.id, decision="accept", person="ann")
ragstone.write_rows("questions.review.jsonl", [accepted], ragstone.Decision)
reviewed = ragstone.review_questions("questions.jsonl", only_decided=True)
print(len(reviewed.questions))

# %% read_decisions
for decision in ragstone.read_decisions("questions.review.jsonl"):
    print(decision.question_id, decision.decision, decision.person)

# %% apply_review
questions = list(ragstone.read_rows("questions.jsonl", ragstone.Question))
print(len(ragstone.apply_review(questions, [])))

# %% split_questions
questions = list(ragstone.read_rows("questions.jsonl", ragstone.Question))
sides = ragstone.split_questions(questions, test_share=0.3, seed=1)
print(sorted(set(sides.values())))

# %% place_evidence
questions = list(ragstone.read_rows("questions.jsonl", ragstone.Question))
documents = list(ragstone.read_rows("documents.jsonl", ragstone.Document))
print(ragstone.place_evidence(questions, documents).unplaced)

# %% check_evidence
questions = list(ragstone.read_rows("questions.jsonl", ragstone.Question))
documents = list(ragstone.read_rows("documents.jsonl", ragstone.Document))
checked = ragstone.check_evidence(questions, documents)
for name, state in checked.stale.items():
    print(name, state, checked.because[name])

# %% refresh_questions
questions = list(ragstone.read_rows("questions.jsonl", ragstone.Question))
documents = list(ragstone.read_rows("documents.jsonl", ragstone.Document))
refreshed = ragstone.refresh_questions(questions, documents)
print(refreshed.summary.states, len(refreshed.stale))

# %% diff_sets
diff = ragstone.diff_sets("questions.jsonl", "questions.jsonl")
print(diff.same, len(diff.changed), diff.added, diff.dropped)

# %% mask_personal_data
masked = ragstone.mask_personal_data("Write to ben.lee@example.org, please.")
print(masked)

# %% ingest
Path("handbook").mkdir(exist_ok=True)
Path("handbook/wheat.md").write_text("# Wheat\n\nWheat is sown in October.\n")
for document in ragstone.ingest(["handbook"]):
    print(document.id)

# %% read_corpus
corpus = ragstone.read_corpus(["documents.jsonl"])
print(len(corpus.documents), len(corpus.skipped))

# %% chunk_documents
documents = list(ragstone.read_rows("documents.jsonl", ragstone.Document))
chunks = list(ragstone.chunk_documents(documents, "sentence", size=400))
print(len(chunks), chunks[0].start, chunks[0].end)

# %% tag
documents = list(ragstone.read_rows("documents.jsonl", ragstone.Document))
tagged, summary = ragstone.tag(documents, topics=2)
print((tagged[0].metadata or {})["topic"], summary)

# %% measure_queries
questions = list(ragstone.read_rows("questions.jsonl", ragstone.Question))
documents = ragstone.read_rows("documents.jsonl", ragstone.Document)
chunks = list(ragstone.chunk_documents(documents))
rankings = ragstone.retrieve(questions, chunks, retriever="bm25", k=10)
measures = ragstone.measure_queries(rankings, questions)
print(measures)

# %% evaluate_rankings
questions = list(ragstone.read_rows("questions.jsonl", ragstone.Question))
documents = ragstone.read_rows("documents.jsonl", ragstone.Document)
chunks = list(ragstone.chunk_documents(documents))
rankings = ragstone.retrieve(questions, chunks, retriever="bm25", k=10)
summary = ragstone.evaluate_rankings(rankings, questions)
print(summary.n_questions, summary.measures["mrr"])

# %% read_qrels
Path("qrels.txt").write_text("q1 0 doc-7 1\nq1 0 doc-9 0\n")
print(ragstone.read_qrels("qrels.txt"))

# %% read_trec_run
Path("bm25.run").write_text("q1 Q0 doc-7 1 12.5 bm25\nq1 Q0 doc-9 2 11.0 bm25\n")
print(ragstone.read_trec_run("bm25.run")[0].items)

# %% read_run
run = ragstone.read_run("runs/starter")
print(run.summary.metrics[0].judge)

# %% read_summary
print([metric.judge for metric in ragstone.read_summary("runs/starter").metrics])

# %% export_table
print(ragstone.export_table(ragstone.read_run("runs/starter"), "starter.csv"))

# %% export_record
print(ragstone.export_record(ragstone.read_run("runs/starter"), "starter.eval"))

# %% watch
rows = [{"question": "When is wheat sown?", "answer": "In May.", "time": "2026-11-01T10:00:00Z"}]
Path("log.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
summary = ragstone.watch("log.jsonl", judges=["no_refusal"])
print(summary.read, summary.judged)

# %% store_spans
text = {"key": "output.value", "value": {"stringValue": "In October."}}
span = {
    "traceId": "5b8efff798038103d269b633813fc60c",
    "spanId": "eee19b7ec3c1b174",
    "name": "chat",
    "attributes": [text],
}
body = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).encode()
print(ragstone.store_spans(body, encoding="json").spans)

# %% mean_estimate
estimate = ragstone.mean_estimate([1, 0, 1, 1, 0, 1, 1, 1])
if estimate is not None:
    print(f"{estimate.value:.2f} ({estimate.low:.2f} to {estimate.high:.2f})")

# %% mean_components
values = [0.2, 0.3, 0.9, 0.8, 0.5, 0.6, 0.1, 0.2]
questions, judges = ["a", "a", "b", "b", "c", "c", "d", "d"], ["x", "y"] * 4
found = ragstone.mean_components(values, questions=questions, judges=judges, bounds=(0, 1))
if found is not None:
    print(found.estimate, found.shares)

# %% read_rows
Path("sheet.csv").write_text("query,output,ground_truth\nWho wrote Emma?,Jane Austen,Jane Austen\n")
for row in ragstone.read_rows("sheet.csv", ragstone.Answer):
    print(row.question, row.answer, row.reference)

# %% write_rows
questions = [ragstone.Question(id="q1", question="Who wrote Emma?", reference=["Jane Austen"])]
print(ragstone.write_rows("mine.jsonl", questions, ragstone.Question))

# %% load_settings
settings = ragstone.load_settings("ragstone.toml")
print(settings.run.name, settings.retrieve.retriever)

# %% list_models
for provider in ragstone.list_models().providers:
    print(provider.name)

# %% explain
print(ragstone.explain("over_budget").do)

# %% progress_line
rows = [{"question": "Who wrote Emma?", "reference": "Jane Austen", "answer": "Jane Austen"}]
print(ragstone.judge(rows, judges=["containment"], progress=ragstone.progress_line)[0].score)

# %% build_knowledge
Path("leaflet.md").write_text("# Maize\n\nThe roots of maize reach down to 1.7 metres.")
ragstone.build_knowledge(["leaflet.md"])


# %% open_assistant
async def main() -> None:
    async with ragstone.open_assistant() as assistant:
        asked = ragstone.Asked(turns=(ragstone.Turn("user", "How deep are the roots of maize?"),))
        said = await assistant.respond(asked, print)  # print hears of the reply piece by piece
        print(said.kind, said.text, [citation.passage.title for citation in said.citations])


asyncio.run(main())

# %% explain
for explanation in ragstone.explain("over_budget"):
    print(explanation.title)
