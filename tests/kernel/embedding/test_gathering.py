"""Rows that want vectors at the same time go together."""

import asyncio

import numpy as np
import pytest

from ragstone.kernel.embedding.embedder import Embedder
from ragstone.kernel.embedding.gathering import Gathered
from ragstone.kernel.embedding.model import BATCH, EmbeddingModel, in_batches
from ragstone.kernel.errors import ModelError
from ragstone.kernel.llm import CallFailed


class Model:
    """Vectors of one number, the text itself; and which texts came in which call."""

    def __init__(self, at_once=BATCH):
        self.calls: list[list[str]] = []
        self.model = EmbeddingModel(identity="m", embed=self.embed, at_once=at_once)

    def embed(self, texts, role, keep):
        self.calls.append(list(texts))
        for at, text in enumerate(texts):
            if text == "lost":
                keep([at], CallFailed("timeout", "no answer"))
            elif text == "fatal":
                raise ModelError("no key")
            else:
                keep([at], np.array([[1.0, float(text)]]))

    def gathered(self):
        return Gathered(Embedder(self.model, None))


def slope(vector):
    return round(float(vector[1] / vector[0]))


async def test_rows_that_wait_go_together_and_each_gets_its_own():
    model = Model(at_once=10)
    embed = model.gathered()
    found = await asyncio.gather(*(embed([f"{n}", f"{n + 1000}"], "passage") for n in range(30)))
    assert [[slope(one) for one in row] for row in found] == [[n, n + 1000] for n in range(30)]
    assert [len(call) for call in model.calls] == [10] * 6


async def test_roles_do_not_mix():
    model = Model()
    embed = model.gathered()
    await asyncio.gather(embed(["1"], "query"), embed(["1"], "passage"), embed(["2"], "passage"))
    assert model.calls == [["1"], ["1", "2"]]


async def test_a_text_without_a_vector_costs_its_row_only():
    embed = Model().gathered()
    found = await asyncio.gather(
        embed(["1"], "query"), embed(["2", "lost"], "query"), embed(["3"], "query"), return_exceptions=True
    )
    assert (slope(found[0][0]), slope(found[2][0])) == (1, 3)
    assert (type(found[1]), found[1].status) == (CallFailed, "timeout")


async def test_what_stops_everything_reaches_every_row():
    embed = Model().gathered()
    found = await asyncio.gather(embed(["1"], "query"), embed(["fatal"], "query"), return_exceptions=True)
    assert [str(one) for one in found] == ["no key", "no key"]
    assert slope((await embed(["5"], "query"))[0]) == 5


async def test_a_row_that_is_cancelled_leaves_the_others_alone():
    embed = Model().gathered()
    first, second = asyncio.create_task(embed(["1"], "query")), asyncio.create_task(embed(["2"], "query"))
    await asyncio.sleep(0)
    first.cancel()
    assert slope((await second)[0]) == 2
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_local_models_are_given_batches():
    embed = Gathered(
        Embedder(
            EmbeddingModel(identity="m", embed=in_batches(lambda texts, _role: np.ones((len(texts), 2)))),
            None,
        )
    )
    assert len(await embed(["a", "b"], "query")) == 2
