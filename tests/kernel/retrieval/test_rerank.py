import json
import sys
import types

import msgspec
import numpy as np
import pytest
from tests.support.doors import Model, door_to
from tests.support.golden import check_golden

from ragstone.kernel.config import HybridSettings, RerankSettings
from ragstone.kernel.errors import ConfigError, DataError, ModelError
from ragstone.kernel.llm import CallFailed
from ragstone.kernel.llm.schema import schema_of
from ragstone.kernel.records import Chunk, Question, Ranking, RankingItem
from ragstone.kernel.retrieval import rerank as rerank_module
from ragstone.kernel.retrieval.deps import RetrieverDeps
from ragstone.kernel.retrieval.rerank import _load_prompt, cut_alike, render, windows
from ragstone.kernel.retrieval.search import build_search

TEXTS = ["maize maize maize", "maize maize", "maize", "maize with a longer text of several words"]
CHUNKS = [
    Chunk(id=f"d{n}#0", document_id=f"d{n}", text=text, start=0, end=len(text))
    for n, text in enumerate(TEXTS)
]
ASKED = [Question(id="q", question="maize?")]


def first_of(*names):
    """A retriever that always finds these documents' chunks in this order."""

    async def search(questions, k):
        items = [RankingItem(document_id=n, chunk_id=f"{n}#0", score=9.0) for n in names[:k]]
        return [Ranking(question_id=q.id, retriever="first", items=items) for q in questions]

    return search


class Says:
    """A model of the door that gives these rankings in turn, with the nonce that it was shown."""

    def __init__(self, *rankings):
        self.rankings = list(rankings)
        self.prompts = []

    async def send(self, prompt):
        self.prompts.append(prompt)
        now = self.rankings.pop(0) if len(self.rankings) > 1 else self.rankings[0]
        if isinstance(now, Exception):
            raise now
        text = now if isinstance(now, str) else json.dumps({"nonce": prompt.nonce, "ranking": now})
        return (await Model(text).send(prompt)) if not isinstance(now, Exception) else None


async def reranked(tmp_path, *rankings, first=None, k=4, questions=ASKED, chunks=CHUNKS, **declared):
    """Return the first question's ranking, and the prompts that were sent."""
    model = Says(*rankings)
    with door_to(model.send, tmp_path) as door:

        async def open_door(_name):
            return door.ask

        deps = RetrieverDeps(
            retrievers={"mine": RerankSettings(of="first", by="function/model", **declared)},
            built={"first": first or first_of("d0", "d1", "d2", "d3")},
            open_door=open_door,
            secret=lambda: b"s",
        )
        search = await build_search("mine", chunks, deps)
        rankings = await search(questions, k)
    return rankings[0], model.prompts


def documents(ranking):
    return [item.document_id for item in ranking.items]


async def test_the_model_s_order_is_taken_and_scores_are_reciprocal_places(tmp_path):
    ranking, prompts = await reranked(tmp_path, [3, 1, 4, 2])
    assert documents(ranking) == ["d2", "d0", "d3", "d1"]
    assert [item.score for item in ranking.items] == [1, 1 / 2, 1 / 3, 1 / 4]
    assert (ranking.retriever, ranking.metadata, len(prompts)) == ("mine", None, 1)


async def test_passages_that_the_model_does_not_name_follow_in_their_first_order(tmp_path):
    ranking, _ = await reranked(tmp_path, [4])
    assert documents(ranking) == ["d3", "d0", "d1", "d2"]


async def test_places_below_the_depth_keep_their_order_and_k_is_kept(tmp_path):
    ranking, _ = await reranked(tmp_path, [2, 1], depth=2, k=3)
    assert documents(ranking) == ["d1", "d0", "d2"]
    ranking, _ = await reranked(tmp_path, [4, 1, 2, 3], depth=4, k=1)
    assert documents(ranking) == ["d3"]


@pytest.mark.parametrize("odd", [[1, 1, 2], [5], [0], [], "I would put the second one first."])
async def test_an_order_that_is_none_is_asked_for_once_more(tmp_path, odd):
    ranking, prompts = await reranked(tmp_path, odd, [2, 1])
    assert documents(ranking) == ["d1", "d0", "d2", "d3"]
    assert "That reply cannot be used" in prompts[1].messages[-1].content
    ranking, prompts = await reranked(tmp_path / "again", odd)
    assert documents(ranking) == ["d0", "d1", "d2", "d3"]
    assert ranking.metadata == {"reranked": False, "reason": "unparsable"}
    assert len(prompts) == 2


async def test_a_call_that_fails_leaves_the_order_and_says_the_status(tmp_path):
    ranking, _ = await reranked(tmp_path, CallFailed("refused", "no"))
    assert documents(ranking) == ["d0", "d1", "d2", "d3"]
    assert ranking.metadata == {"reranked": False, "reason": "refused"}


async def test_a_model_that_cannot_be_had_stops_everything(tmp_path):
    with pytest.raises(ModelError, match="no key"):
        await reranked(tmp_path, ModelError("no key"))


async def test_fewer_than_two_passages_are_not_asked_about(tmp_path):
    for first in (first_of("d0"), first_of()):
        ranking, prompts = await reranked(tmp_path, [1], first=first)
        assert (len(ranking.items), prompts) == (len(await first(ASKED, 9) and documents(ranking)), [])


def test_windows_climb_from_the_end_by_half_their_size():
    assert [list(windows(n)) for n in (2, 20, 21, 35)] == [[0], [0], [1, 0], [15, 5, 0]]


async def test_what_is_best_climbs_from_the_last_window_to_the_top(tmp_path):
    texts = [f"text {n}" for n in range(30)]
    chunks = [
        Chunk(id=f"d{n}#0", document_id=f"d{n}", text=t, start=0, end=len(t)) for n, t in enumerate(texts)
    ]
    first = first_of(*(f"d{n}" for n in range(30)))
    ranking, prompts = await reranked(tmp_path, [20], [20, 11], first=first, chunks=chunks, depth=30, k=30)
    # d10 to d29: d29 goes first, d10 and the others follow; d0 to d19 at places 1 to 20 now end with
    # d29, d10, ... d18: of these 20 is d18 and 11 is d29.
    assert documents(ranking)[:3] == ["d18", "d29", "d0"]
    assert sorted(documents(ranking)) == sorted(f"d{n}" for n in range(30))
    assert len(prompts) == 2


async def test_a_failure_in_one_window_leaves_the_whole_order(tmp_path):
    texts = [f"text {n}" for n in range(30)]
    chunks = [
        Chunk(id=f"d{n}#0", document_id=f"d{n}", text=t, start=0, end=len(t)) for n, t in enumerate(texts)
    ]
    names = [f"d{n}" for n in range(30)]
    said = ([20], CallFailed("error", "gone"))
    ranking, _ = await reranked(tmp_path, *said, first=first_of(*names), chunks=chunks, depth=30, k=30)
    assert documents(ranking) == names


async def test_passages_that_do_not_fit_the_context_are_cut_alike_and_counted(tmp_path):
    texts = ["short", "x" * 9000, "y" * 9000]
    chunks = [
        Chunk(id=f"d{n}#0", document_id=f"d{n}", text=t, start=0, end=len(t)) for n, t in enumerate(texts)
    ]
    ranking, prompts = await reranked(tmp_path, [3, 2, 1], first=first_of("d0", "d1", "d2"), chunks=chunks)
    shown = prompts[0].messages[1].content
    assert ranking.metadata == {"cut": 2}
    # 4096 tokens less 400 of frame and 64 + 3 x 8 of reply are 3608: 10,824 bytes less 6 of the question and
    # 5 of the short one leave 10,813 for two.
    assert (shown.count("x"), shown.count("y")) == (5406, 5406)


def test_texts_are_cut_to_one_length_and_between_characters():
    assert cut_alike(["abc", "abcdef"], 9) == ["abc", "abcdef"]
    assert cut_alike(["abc", "abcdefgh", "abcdefghi"], 15) == ["abc", "abcdef", "abcdef"]
    assert cut_alike(["äöüäöü", "x"], 6) == ["äö", "x"]  # 5 bytes left for it, and 2.5 letters
    assert cut_alike(["abcdefgh"], -3) == ["abcd"]


async def test_the_prompt_has_its_fixed_part_first_and_every_passage_between_its_own_fence(tmp_path):
    titled = msgspec.structs.replace(CHUNKS[0], metadata={"title": "Maize"}, text="It blooms. ", end=11)
    _, (prompt,) = await reranked(tmp_path, [2, 1], first=first_of("d0", "d1"), chunks=[titled, *CHUNKS[1:]])
    system, user = prompt.messages
    assert "<passages>" in system.content
    assert prompt.nonce not in system.content
    assert user.content.index(f"<passage 1 {prompt.nonce}>\nMaize\nIt blooms.") < user.content.index(
        "<passage 2"
    )
    assert user.content.endswith(f'</question {prompt.nonce}>\n\nThe code is "{prompt.nonce}".')
    ranking = schema_of(prompt.reply, True)["properties"]["ranking"]
    assert ranking == {
        "type": "array",
        "items": {"enum": [1, 2], "type": "integer"},
        "minItems": 1,
        "maxItems": 2,
    }


def test_the_rendered_prompt_is_the_golden_one():
    prompt = render(_load_prompt(), "When does maize bloom?", ["In July.", "Wheat is sown."], b"secret")
    text = "\n\n".join(f"[{message.role}]\n{message.content}" for message in prompt.messages) + "\n"
    check_golden("prompts/rerank.txt", text)


async def test_what_is_found_elsewhere_is_reranked_by_its_own_text_and_without_one_it_is_an_error(
    tmp_path, says
):
    def elsewhere(text):
        async def search(questions, k):
            items = [RankingItem(document_id=f"x{n}", score=1.0, text=text) for n in range(2)]
            return [Ranking(question_id=q.id, retriever="x", items=items) for q in questions]

        return search

    ranking, (prompt,) = await reranked(tmp_path, [2, 1], first=elsewhere("its own text"))
    assert documents(ranking) == ["x1", "x0"]
    assert prompt.messages[1].content.count("its own text") == 2
    with pytest.raises(DataError) as error:
        await reranked(tmp_path, [2, 1], first=elsewhere(None))
    says(error.value)


class FakeEncoder:
    """What sentence-transformers gives: the longer a text, the better it is."""

    loaded: tuple[str, bool] | None = None

    def __init__(self, name, local_files_only=False):
        if name == "missing":
            raise OSError("missing is no folder\nand more")
        FakeEncoder.loaded = (name, local_files_only)

    def predict(self, pairs, show_progress_bar):
        assert show_progress_bar is False
        assert {question for question, _ in pairs} == {"maize?"}
        return np.array([min(len(text), 15) for _, text in pairs], dtype=np.float32)


@pytest.fixture
def sentence_transformers(monkeypatch):
    module = types.ModuleType("sentence_transformers")
    module.CrossEncoder = FakeEncoder
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    rerank_module._load.cache_clear()
    yield module
    rerank_module._load.cache_clear()


async def cross_encoded(by, **given):
    deps = RetrieverDeps(
        retrievers={"mine": RerankSettings(of="first", by=by)},
        built={"first": first_of("d2", "d0", "d1", "d3")},
        **given,
    )
    search = await build_search("mine", CHUNKS, deps)
    return documents((await search(ASKED, 4))[0])


async def test_a_cross_encoder_orders_by_its_scores_and_ties_stay(sentence_transformers):
    # Lengths, at most 15: d2 5, d0 15, d1 11, d3 15.
    assert await cross_encoded("cross-encoder/some/model") == ["d0", "d3", "d1", "d2"]
    assert FakeEncoder.loaded == ("some/model", False)


async def test_offline_a_cross_encoder_is_not_fetched(sentence_transformers):
    await cross_encoded("cross-encoder/some/model", offline=True)
    assert FakeEncoder.loaded == ("some/model", True)


async def test_a_cross_encoder_that_cannot_be_loaded_is_named(sentence_transformers, says):
    with pytest.raises(ModelError) as error:
        await cross_encoded("cross-encoder/missing")
    says(error.value)


@pytest.mark.parametrize("scores", [np.ones((4, 2)), np.array([1, np.nan, 1, 1])])
async def test_a_cross_encoder_of_several_labels_is_none(sentence_transformers, monkeypatch, scores, says):
    monkeypatch.setattr(FakeEncoder, "predict", lambda self, pairs, show_progress_bar: scores)
    with pytest.raises(ModelError) as error:
        await cross_encoded("cross-encoder/some/model")
    says(error.value)


async def test_a_reranker_is_a_part_of_other_retrievers(sentence_transformers):
    deps = RetrieverDeps(
        retrievers={
            "ordered": RerankSettings(of="bm25", by="cross-encoder/x"),
            "both": HybridSettings(of=["bm25", "ordered"]),
        }
    )
    search = await build_search("both", CHUNKS, deps)
    assert len((await search(ASKED, 4))[0].items) == 4


@pytest.mark.model
async def test_a_cross_encoder_from_a_folder_agrees_with_the_package_itself(tmp_path):
    sentence_transformers = pytest.importorskip("sentence_transformers", reason="needs an optional package")
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "maize", "with", "a", "longer", "text", "?"]
    (tmp_path / "vocab.txt").write_text("\n".join(words))
    BertTokenizerFast(vocab_file=str(tmp_path / "vocab.txt")).save_pretrained(tmp_path)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    BertForSequenceClassification(
        BertConfig(vocab_size=len(words), num_labels=1, max_position_embeddings=64, **sizes)
    ).save_pretrained(tmp_path)
    rerank_module._load.cache_clear()
    order = await cross_encoded(f"cross-encoder/{tmp_path}", offline=True)
    texts = [TEXTS[n] for n in (2, 0, 1, 3)]
    scores = sentence_transformers.CrossEncoder(str(tmp_path)).predict([("maize?", text) for text in texts])
    assert order == [["d2", "d0", "d1", "d3"][at] for at in np.argsort(-scores, kind="stable")]


async def opened(_name):
    raise AssertionError("nothing is to be asked")


@pytest.mark.parametrize("given", [{}, {"open_door": opened}, {"secret": lambda: b"s"}])
async def test_a_model_that_nobody_can_open_or_ask_in_secret_is_named(given, says):
    deps = RetrieverDeps(retrievers={"mine": RerankSettings(by="openai/x")}, **given)
    with pytest.raises(ConfigError) as error:
        await build_search("mine", CHUNKS, deps)
    says(error.value)
