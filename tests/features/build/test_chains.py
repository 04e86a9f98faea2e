"""Multi-hop questions: chains of documents, questions along them, and what is dropped and why."""

import msgspec
import numpy as np
import pytest
from tests.support.fake_openai import FakeOpenAI
from tests.support.scripted_judge import Scripted
from tests.support.scripts import Body, fenced, fit_schema, nonce_in, prompt_of, schema_in

from ragstone.features.build._chains import chain_passages, names_link
from ragstone.features.build._extras import needs_all
from ragstone.features.build._plan import cut_passages
from ragstone.features.build._styles import DialogueTurn, load_style
from ragstone.features.build._writing import write_prompt
from ragstone.features.build.questions import build_questions, forecast_questions
from ragstone.kernel.config import choose
from ragstone.kernel.dataset.candidate import Candidate
from ragstone.kernel.records import Document, Question, Ranking, RankingItem
from ragstone.kernel.retrieval.evaluate import evaluate_rankings

TEXTS = {
    "pump": "The oldest pump of the valley stands beside the mill of Kilimba. It lifts forty litres.",
    "mill": "At Kilimba the mill grinds maize on Tuesdays. Its stones were cut by Otto Brandvik long ago.",
    "cutter": "Here one learns of stones. The trade of Otto Brandvik was learnt in Narvik over nine years.",
    "goats": "Here goats graze. Moreover they climb. In June the goats are shorn by hand and then sold.",
    "sheep": "Sheep rest at noon. Moreover they drink. In June the sheep go up to the high meadows again.",
}
DOCUMENTS = [Document(id=name, text=text, lang="en") for name, text in TEXTS.items()]
PASSAGES = cut_passages(DOCUMENTS, 2400).passages


def chained(hops, n=5, passages=PASSAGES, seed=0):
    return chain_passages(passages, hops, n, np.random.default_rng(seed))


def test_documents_that_share_a_rare_name_are_linked_and_no_others():
    # Kilimba links pump and mill, Otto Brandvik mill and cutter. Goats and sheep share a month and a word
    # that begins sentences, which link nothing.
    linked = {(frozenset(p.document_id for p in chain.passages), chain.links) for chain in chained(2)}
    assert linked == {
        (frozenset({"pump", "mill"}), ("Kilimba",)),
        (frozenset({"mill", "cutter"}), ("Otto Brandvik",)),
    }


def test_three_hops_go_over_the_document_in_the_middle():
    chains = chained(3)
    assert [[p.document_id for p in chain.passages][1] for chain in chains] == ["mill"]
    assert set(chains[0].links) == {"Kilimba", "Otto Brandvik"}


def test_the_document_that_is_named_after_the_link_comes_last():
    titled = [msgspec.structs.replace(p, title="Kilimba") if p.document_id == "mill" else p for p in PASSAGES]
    (chain,) = [chain for chain in chained(2, passages=titled) if chain.links == ("Kilimba",)]
    assert [p.document_id for p in chain.passages] == ["pump", "mill"]


def test_a_name_that_many_documents_hold_links_nothing():
    every = [
        Document(id=f"d{n}", text=f"Lake {n} lies near Kilimba, and its water is cold.") for n in range(9)
    ]
    assert chained(2, passages=cut_passages(every, 2400).passages) == []


def test_texts_without_capitals_have_no_links():
    hindi = ["मक्का अप्रैल में बोया जाता है।", "मक्का को पानी चाहिए।"]
    rows = [Document(id=str(n), text=text) for n, text in enumerate(hindi)]
    assert chained(2, passages=cut_passages(rows, 2400).passages) == []


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("Who cut the stones of the mill beside the oldest pump?", None),
        ("What does the mill of KILIMBA grind?", "Kilimba"),
        ("What is a Kilimbas?", None),
    ],
)
def test_a_question_that_names_the_link_is_seen(question, named):
    assert names_link(question, ["Kilimba", "Otto Brandvik"]) == named


async def test_each_of_three_documents_is_left_out_once():
    three = Candidate(
        question=Question(id="", question="Where did the cutter of the stones learn?", reference="Narvik"),
        passages=tuple(PASSAGES[:3]),
    )
    no = {"reason": "It is not told.", "answered": False}
    ask = Scripted(no, no, no)
    kept = await needs_all(three, ask=ask, secret=b"s")
    assert kept.loss is None
    shown = [[name for name, text in TEXTS.items() if text in p.messages[1].content] for p in ask.prompts]
    assert shown == [["pump", "mill"], ["pump", "cutter"], ["mill", "cutter"]]
    lost = await needs_all(three, ask=Scripted(no, {"reason": "It is.", "answered": True}), secret=b"s")
    assert lost.loss.reason == "single_hop"


def test_links_are_fenced_and_a_pair_without_one_is_asked_for_as_ever():
    turn = DialogueTurn(style=load_style("multi_hop"))
    pair = (PASSAGES[0], PASSAGES[1])
    linked = write_prompt(pair, turn, 1, audience="farmers", secret=b"s", links=["Kilimba"])
    assert "Kilimba" not in linked.messages[0].content
    assert fenced_in(linked.messages[1].content, "link 1") == "Kilimba"
    assert "<link 1>" not in write_prompt(pair, turn, 1, audience="farmers", secret=b"s").messages[0].content


def fenced_in(text, name):
    return text.partition(f"<{name}")[2].partition(">")[2].partition("<")[0].strip()


def writer(answered=(), known=()):
    """Return a script: a model that writes along chains; answered: questions that one document answers."""

    def script(body: Body) -> str:
        prompt, fields = prompt_of(body), (schema_in(body) or {}).get("properties", {})
        said = {"nonce": nonce_in(body)}
        if "questions" in fields:
            texts = [text for text in TEXTS.values() if text in prompt]
            links = [fenced(f"link {n}", prompt) for n in range(1, len(texts))]
            quotes = dict(zip(("quote", "second_quote", "third_quote"), texts, strict=False))
            draft = {
                **quotes,
                "question": f"What of {len(links)} things, {texts[-1][4:20]}?",
                "answer": "maize",
            }
            return msgspec.json.encode(said | {"questions": [draft]}).decode()
        if "answered" in fields:
            found = any(part in fenced("question", prompt) for part in answered)
            return msgspec.json.encode(said | {"reason": "So it is.", "answered": found}).decode()
        if set(fields) == {"nonce", "answer"}:
            knows = any(part in fenced("question", prompt) for part in known)
            return msgspec.json.encode(said | {"answer": "maize" if knows else "I do not know"}).decode()
        if any(name.endswith("score") for name in fields):
            scores = {name: 5 for name in fields if name.endswith("score")}
            reasons = {name: "It is so." for name in fields if name.endswith("reason")}
            return msgspec.json.encode(said | reasons | scores).decode()
        return fit_schema(body)

    return script


def built_along(fake: FakeOpenAI, root, *, hops=2, n=2, **script):
    fake.script = writer(**script)
    settings = choose(
        fake.settings(root=root), "build", model=fake.model, planted=0, multi_hop=n, count=n, hops=hops
    )
    return build_questions(DOCUMENTS, settings=settings)


@pytest.mark.parametrize("hops", [2, 3])
def test_questions_hold_the_chain_of_evidence_in_order(fake_openai, tmp_path, hops):
    built = built_along(fake_openai, tmp_path, hops=hops, n=1)
    (question,) = built.questions
    assert question.tags == {"style": "multi_hop", "hops": str(hops), "closed_book": "unknown"}
    assert [span.document_id for span in question.evidence] == question.document_ids
    assert len(question.document_ids) == hops
    assert len(question.metadata["links"]) == hops - 1


def test_the_certificate_says_how_many_were_dropped_and_why(fake_openai, tmp_path, says):
    built = built_along(fake_openai, tmp_path, answered=[TEXTS["mill"][4:10]], known=["trade"])
    says([remark for remark in built.certificate.remarks if "hop" in remark])
    reasons = {loss.reason for loss in built.certificate.funnel.losses}
    assert reasons & {"single_hop", "known_by_heart"}


def test_a_set_without_multi_hop_questions_says_nothing_of_them(fake_openai, tmp_path):
    fake_openai.script = writer()
    settings = choose(fake_openai.settings(root=tmp_path), "build", model=fake_openai.model, planted=0)
    built = build_questions(DOCUMENTS[:1], settings=settings)
    assert not any("hop" in remark for remark in built.certificate.remarks)


def test_a_forecast_counts_the_calls_of_a_build(fake_openai, tmp_path):
    settings = fake_openai.settings(root=tmp_path / "forecast")
    settings = choose(settings, "build", model=fake_openai.model, planted=0, multi_hop=1, count=1)
    forecast = forecast_questions(DOCUMENTS, settings)
    built = built_along(fake_openai, tmp_path / "built", n=1)
    # Written, asked with either document left out and with none, by three critics.
    assert forecast.calls == built.calls.made == 1 + 2 + 1 + 3


def test_rankings_are_measured_along_the_hops():
    chain = [{"document_id": name, "start": 0, "end": 3} for name in ("pump", "mill")]
    hop = msgspec.convert(
        {
            "id": "h",
            "question": "?",
            "document_ids": ["pump", "mill"],
            "evidence": chain,
            "tags": {"hops": "2"},
        },
        Question,
    )
    plain = Question(id="p", question="?", document_ids=["goats"])

    def ranked(name, *documents):
        items = [RankingItem(document_id=each, score=-at) for at, each in enumerate(documents)]
        return Ranking(question_id=name, retriever="bm25", items=items)

    summary = evaluate_rankings(
        [ranked("h", "sheep", "pump", "mill"), ranked("p", "goats", "mill", "pump")],
        [hop, plain],
        ks=(1, 2, 3),
    )
    found = {name: (summary.measures[name].value, summary.measures[name].n) for name in summary.measures}
    # The first document of the chain in place 2, the last in place 3; the other question has no chain.
    assert [found[f"first_hop@{k}"] for k in (1, 2, 3)] == [(0, 1), (1, 1), (1, 1)]
    assert [found[f"last_hop@{k}"] for k in (1, 2, 3)] == [(0, 1), (0, 1), (1, 1)]
    assert [found[f"all_hops@{k}"] for k in (1, 2, 3)] == [(0, 1), (0, 1), (1, 1)]
    alone = evaluate_rankings([ranked("p", "goats")], [plain], ks=(1,))
    assert not any("hop" in name for name in alone.measures)
