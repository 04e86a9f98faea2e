"""Exchanges as spans: what a collector gets of them, and that our own reader makes the same row of it."""

import json
import logging
import socket
import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest
from assistant_tests.log.exchanges import ASKED, NOW, SAID, SECRET
from tests.support.otlp import Collector, collecting

from ragstone.kernel.config.serving import LogSection
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.records import Answer
from ragstone.kernel.tables import read_rows
from ragstone_assistant.conversation import Said
from ragstone_assistant.log.exchange_log import ExchangeLog, open_log, read_exchanges


@pytest.fixture(autouse=True)
def _a_busy_machine_loses_no_span(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragstone_assistant.log._spans.CLOSE_S", 60)
    monkeypatch.setattr("ragstone_assistant.log._spans.TIMEOUT_S", 60)


def opened(folder: Path, url: str) -> ExchangeLog:
    return open_log(LogSection(otlp_endpoint=url), folder, SECRET)


async def written(folder: Path, url: str, said: Said = SAID) -> Answer:
    log = opened(folder, url)
    await log.write(ASKED, said, exchange_id="e1", conversation_id="c1", now=NOW)
    log.close()
    (row,) = read_exchanges(log.folder)
    return row


def attributes(span: dict[str, Any]) -> dict[str, Any]:
    return {one["key"]: next(iter(one["value"].values())) for one in span["attributes"]}


def by_kind(collector: Collector) -> dict[str, dict[str, Any]]:
    return {attributes(span)["openinference.span.kind"]: span for span in collector.spans()}


def test_a_wrong_expression_is_an_error_of_the_settings(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not a regular expression"):
        open_log(LogSection(mask=["/(/"]), tmp_path, SECRET)


async def test_an_exchange_is_a_tree_of_spans_with_openinferences_names(tmp_path: Path) -> None:
    with collecting() as collector:
        await written(tmp_path, collector.url)
    kinds = by_kind(collector)
    assert kinds.keys() == {"AGENT", "TOOL", "RETRIEVER", "LLM"}
    agent, tool, retriever, model = (kinds[kind] for kind in ("AGENT", "TOOL", "RETRIEVER", "LLM"))
    assert "parentSpanId" not in agent
    assert tool["parentSpanId"] == model["parentSpanId"] == agent["spanId"]
    assert retriever["parentSpanId"] == tool["spanId"]
    assert len({span["traceId"] for span in kinds.values()}) == 1
    assert int(agent["endTimeUnixNano"]) - int(agent["startTimeUnixNano"]) == 1_500_000_000
    said = attributes(agent)
    assert said["input.value"] == "My name is [name], call [phone]. When do I plant maize?"
    assert json.loads(said["metadata"])["exchange_id"] == "e1"
    assert attributes(tool)["tool.name"] == "search_documents"
    assert attributes(retriever)["retrieval.documents.0.document.id"] == "maize-3"
    counts = attributes(model)
    assert (counts["llm.token_count.prompt"], counts["llm.token_count.completion"]) == ("900", "60")
    assert counts["llm.model_name"] == SAID.model


async def test_no_personal_data_leaves(tmp_path: Path) -> None:
    with collecting() as collector:
        await written(tmp_path, collector.url)
    sent = json.dumps(collector.received)
    assert "[name]" in sent
    assert not any(word in sent for word in ("Mary", "Wanjiku", "712 345 678"))


@pytest.mark.parametrize("failed", [False, True])
async def test_our_reader_of_spans_makes_the_same_row_of_them(failed: bool, tmp_path: Path) -> None:
    said = msgspec.structs.replace(SAID, error="the model is down") if failed else SAID
    with collecting() as collector:
        row = await written(tmp_path, collector.url, said)
    export = tmp_path / "spans.jsonl"
    export.write_text("".join(json.dumps(request) + "\n" for request in collector.received))
    (read,) = read_rows(export, Answer)
    for field in ("question", "answer", "error", "latency_s", "cost_usd"):
        assert getattr(read, field) == getattr(row, field), field
    assert read.contexts is not None
    assert row.contexts is not None
    assert [(one.id, one.text, one.score) for one in read.contexts] == [
        (one.id, one.text, one.score) for one in row.contexts
    ]
    assert read.usage == msgspec.structs.replace(row.usage, calls=1)  # one span has the tokens of all calls
    assert (read.system, read.metadata["model"]) == ("ragstone", SAID.model)  # the program, and what it asked


async def test_more_passages_than_a_span_may_usually_have_attributes_all_arrive(tmp_path: Path) -> None:
    many = tuple(msgspec.structs.replace(SAID.passages[0], chunk_id=f"c{n}") for n in range(60))
    with collecting() as collector:
        await written(tmp_path, collector.url, msgspec.structs.replace(SAID, passages=many))
    assert attributes(by_kind(collector)["RETRIEVER"])["retrieval.documents.59.document.id"] == "c59"


async def test_a_failed_step_is_a_span_with_an_error(tmp_path: Path) -> None:
    step = msgspec.structs.replace(
        SAID.steps[0], status="failed", action="weather", observation="no such place"
    )
    with collecting() as collector:
        await written(tmp_path, collector.url, msgspec.structs.replace(SAID, steps=(step,)))
    tool = by_kind(collector)["TOOL"]
    assert tool["status"] == {"message": "no such place", "code": "STATUS_CODE_ERROR"}
    assert by_kind(collector)["RETRIEVER"]["parentSpanId"] == by_kind(collector)["AGENT"]["spanId"]


@pytest.mark.long
async def test_a_collector_that_hangs_does_not_hold_up_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragstone_assistant.log._spans.CLOSE_S", 0.1)
    monkeypatch.setattr("ragstone_assistant.log._spans.TIMEOUT_S", 3)
    with socket.create_server(("127.0.0.1", 0)) as hanging:
        await written(tmp_path, f"http://127.0.0.1:{hanging.getsockname()[1]}/v1/traces")
        [sending] = [thread for thread in threading.enumerate() if thread.name == "ragstone-spans"]
    sending.join()  # it was not waited for


async def test_a_collector_that_is_down_costs_one_line_and_no_row(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragstone_assistant.log._spans.CLOSE_S", 3600)  # and it is not waited for so long
    monkeypatch.setattr("ragstone_assistant.log._spans.TIMEOUT_S", 0.5)
    with collecting() as collector:
        url = collector.url
    with caplog.at_level(logging.DEBUG, logger="ragstone.log"):
        row = await written(tmp_path, url)
    assert row.question_id == "e1"
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == [
        f"{url}: takes no spans; the log on disk has everything"
    ]
