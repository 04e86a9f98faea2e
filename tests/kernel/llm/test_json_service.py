"""Whether a service can be reached, without asking it. What it replies is tested where it is used."""

import socket

import pytest
from tests.support.fake_retriever import serving

from ragstone.kernel.errors import ConfigError, ModelError
from ragstone.kernel.llm.json_service import reach


async def test_a_service_is_reached_and_sent_nothing(says):
    with serving() as fake:
        says(await reach(fake.url))
        assert fake.asked == []


async def test_nobody_there_is_told_without_the_password(says):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(ModelError) as failure:
            await reach(f"http://me:word@127.0.0.1:{taken.getsockname()[1]}/")
        says(str(failure.value).partition(" ([")[0])
    assert str(failure.value).endswith("is url right?")
    assert "word" not in str(failure.value)


@pytest.mark.parametrize("url", ["localhost/ask", "", "http://", "ftp://a.org", "http://a.org:none/"])
async def test_what_is_no_address_is_told(says, url):
    with pytest.raises(ConfigError) as caught:
        await reach(url)
    says(caught.value)


async def test_behind_a_proxy_nothing_is_looked_at(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://proxy.example.org:3128")
    assert "through a proxy" in await reach("http://somewhere.example.org/ask")
