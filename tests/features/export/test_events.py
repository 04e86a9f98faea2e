"""Judgements as events: byte-checked with OpenTelemetry's own package, and all that goes wrong."""

import json

import msgspec
import pytest
from google.protobuf.json_format import MessageToDict
from tests.support.command import ragstone
from tests.support.golden import sentence_in
from tests.support.otlp import collecting_logs, rejecting, values

import ragstone as api
from ragstone.features.export import _collector
from ragstone.kernel.engine.digests import digest_of
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.judging.variant import load_judge
from ragstone.kernel.records import STATUSES, Answer, Judgement, Verdict

TRACE, SPAN = "5b8efff798038103d269b633813fc60c", "eee19b7ec3c1b174"


def judgement(number=1, **fields):
    known = {"question_id": f"q{number}", "system": "rag", "judge": "faithfulness", "metric": "faithfulness"}
    scored = {"status": "scored", "score": 0.5, "scale": (0.0, 1.0)}
    if fields.get("status", "scored") != "scored":
        scored = {}
    return Judgement(**known | {"model": "openai/m", "prompt_version": 1} | scored | fields)


def write(path, rows):
    path.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    return path


@pytest.fixture
def collector(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_collector, "backoff_s", lambda *_: 0.0)
    with collecting_logs() as listening:
        yield listening


def test_an_event_has_the_names_of_the_conventions_and_all_that_a_judgement_says(collector, tmp_path):
    judge = load_judge("faithfulness")
    row = judgement(
        prompt_version=judge.version,
        label="mostly",
        score=0.75,
        rationale="Mail anna@example.com said so.",
        metadata={"trace_id": TRACE, "span_id": SPAN},
    )
    api.send_judgements(write(tmp_path / "j.jsonl", [row]), collector.url)
    [(resource, record)] = collector.records
    attributes = values(record.attributes)
    uid = attributes.pop("log.record.uid")
    assert attributes == {
        "gen_ai.evaluation.name": "faithfulness",
        "gen_ai.evaluation.score.value": 0.75,
        "gen_ai.evaluation.score.label": "mostly",
        "gen_ai.evaluation.explanation": "Mail [email] said so.",
        "gen_ai.evaluation.target": "rag",
        "gen_ai.evaluation.evaluator.source": '{"name":"faithfulness","arguments":{"model":"openai/m"}}',
        "gen_ai.evaluation.evaluator.version": digest_of(judge),
        "ragstone.question_id": "q1",
        "ragstone.status": "scored",
        "ragstone.prompt_version": judge.version,
        "ragstone.score.min": 0.0,
        "ragstone.score.max": 1.0,
    }
    assert resource == {"service.name": "rag"}
    assert (record.event_name, record.severity_number) == ("gen_ai.evaluation.result", 9)
    assert (record.trace_id.hex(), record.span_id.hex()) == (TRACE, SPAN)
    assert record.body.string_value == "evaluation: faithfulness=0.75"
    assert record.observed_time_unix_nano > 1_700_000_000 * 10**9
    assert record.time_unix_nano == 0  # a row does not tell when it was judged
    assert len(uid) == 32


def test_json_says_what_protobuf_says_packed_or_not(collector, tmp_path, monkeypatch):
    rows = [judgement(n, system=f"s{n % 3}", status=status) for n, status in enumerate(STATUSES)]
    file = write(tmp_path / "j.jsonl", [*rows, judgement(20, rationale="Ä\U0001f600\x00\n", scale=None)])
    api.send_judgements(file, collector.url)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_LOGS_COMPRESSION", "none")
    api.send_judgements(file, collector.url, anew=True)
    for _, record in collector.records:
        record.observed_time_unix_nano = 0
    half = len(rows) + 1
    assert collector.records[:half] == collector.records[half:]
    assert [one["content-type"] for one in collector.headers] == [
        "application/x-protobuf",
        "application/json",
    ]
    assert [one.get("content-encoding") for one in collector.headers] == ["gzip", None]


def test_every_status_but_a_score_is_an_error_type_and_never_a_score(collector, tmp_path):
    rows = [judgement(n, status=status, error=f"it {status}") for n, status in enumerate(STATUSES)]
    api.send_judgements(write(tmp_path / "j.jsonl", rows), collector.url)
    seen = {one["ragstone.status"]: one for one in collector.attributes()}
    assert list(seen) == list(STATUSES)
    for status, attributes in seen.items():
        assert attributes.get("error.type") == (None if status == "scored" else status)
        assert ("gen_ai.evaluation.score.value" in attributes) == (status == "scored")
        assert attributes["gen_ai.evaluation.explanation"] == f"it {status}"
    quiet = {
        values(record.attributes)["ragstone.status"]
        for _, record in collector.records
        if record.severity_number == 9
    }
    assert quiet == {"scored", "not_applicable", "abstained"}


@pytest.mark.long
def test_n_judgements_are_n_events_in_several_requests_and_a_second_time_none(collector, tmp_path):
    file = write(tmp_path / "j.jsonl", [judgement(n, score=n / 2000) for n in range(1300)])
    assert api.send_judgements(file, collector.url).sent == 1300
    assert [one["ragstone.question_id"] for one in collector.attributes()] == [f"q{n}" for n in range(1300)]
    assert len({one["log.record.uid"] for one in collector.attributes()}) == 1300
    assert len(collector.sizes) == 3
    again = api.send_judgements(file, collector.url)
    assert (again.sent, again.before, len(collector.records)) == (0, 1300, 1300)
    with file.open("ab") as grown:
        grown.write(msgspec.json.encode(judgement(1300)) + b"\n")
    more = api.send_judgements(file, collector.url)
    assert (more.sent, more.before, len(collector.records)) == (1, 1300, 1301)
    write(file, [judgement(n, score=0.25) for n in range(1300)])  # other rows under the same name
    assert api.send_judgements(file, collector.url).sent == 1300


@pytest.mark.long
def test_after_a_failure_the_same_command_sends_the_rest_and_nothing_twice(collector, tmp_path, says):
    file = write(tmp_path / "j.jsonl", [judgement(n) for n in range(1300)])
    collector.reply = lambda number, _n: (500 if number == 2 else 200, {}, b'{"message": "disk full"}')
    ran = ragstone("export", file, "--otlp", collector.url)
    assert (ran.code, ran.out) == (2, "")
    says(ran.err.replace(collector.url, "URL"))
    collector.reply = lambda number, _n: (200, {}, b"")
    ran = ragstone("export", file, "--otlp", collector.url)
    says(ran.err.replace(collector.url, "URL"))
    assert [one["ragstone.question_id"] for one in collector.attributes()] == [f"q{n}" for n in range(1300)]
    ran = ragstone("export", file, "--otlp", collector.url, "--force")
    assert (ran.code, len(collector.records)) == (0, 2600)
    uids = [one["log.record.uid"] for one in collector.attributes()]
    assert uids[:1300] == uids[1300:]  # a copy that was sent again can be known as one


def test_a_collector_that_is_busy_is_asked_again_after_the_pause_that_it_names(
    collector, tmp_path, monkeypatch, says
):
    file = write(tmp_path / "j.jsonl", [judgement()])
    waits = []

    async def sleep(seconds):
        waits.append(seconds)

    monkeypatch.setattr(_collector.asyncio, "sleep", sleep)
    replies = [
        (429, {"Retry-After": "7"}, b""),
        (503, {}, b""),
        (502, {"Retry-After": "1"}, b""),
        (200, {}, b""),
    ]
    collector.reply = lambda number, _n: replies[number - 1]
    assert api.send_judgements(file, collector.url).sent == 1
    assert (waits, len(collector.records)) == ([7.0, 0.0, 1.0], 1)
    collector.reply = lambda _number, _n: (504, {}, b"")
    with pytest.raises(DataError) as error:
        api.send_judgements(file, collector.url, anew=True)
    says(error.value)
    collector.reply = lambda _number, _n: (429, {"Retry-After": "7200"}, b"")
    with pytest.raises(DataError) as error:
        api.send_judgements(file, collector.url, anew=True)
    says(error.value)


@pytest.mark.parametrize("status", [400, 408, 500, 501])
def test_what_a_collector_refuses_is_not_sent_again(collector, tmp_path, status, says):
    collector.reply = lambda _number, _n: (status, {}, b"")
    with pytest.raises(DataError) as error:
        api.send_judgements(write(tmp_path / "j.jsonl", [judgement()]), collector.url)
    says(error.value)
    assert len(collector.sizes) == 1


@pytest.mark.parametrize(
    ("status", "headers", "words"),
    [
        (401, {}, "HTTP 401: no key. Give its key in OTEL_EXPORTER_OTLP_HEADERS"),
        (404, {}, "HTTP 404: no key. Log events are not taken there."),
        (
            307,
            {"Location": "http://u:p@other/v1/logs"},
            "redirects to http://other/v1/logs, which is not followed",
        ),
    ],
)
def test_a_wrong_key_address_or_way_is_said_with_what_to_do(collector, tmp_path, status, headers, words):
    collector.reply = lambda _number, _n: (status, headers, b'{"message": "no key"}')
    ran = ragstone("export", write(tmp_path / "j.jsonl", [judgement()]), "--otlp", collector.url)
    assert (ran.code, words in ran.err) == (2, True)


def test_what_a_collector_rejects_is_counted_said_and_not_sent_again(collector, tmp_path, says):
    file = write(tmp_path / "j.jsonl", [judgement(n) for n in range(600)])
    collector.reply = lambda _number, n: (200, {}, rejecting(n // 2, "quota of today"))
    ran = ragstone("export", file, "--otlp", collector.url)
    assert ran.code == 2
    says(ran.err.replace(collector.url, "URL"))
    again = api.send_judgements(file, collector.url)
    assert (again.sent, again.before, again.rejected, len(collector.sizes)) == (0, 600, 300, 2)
    told = json.dumps({"partialSuccess": {"rejectedLogRecords": "4", "errorMessage": "no"}}).encode()
    collector.reply = lambda _number, _n: (200, {}, told)
    assert api.send_judgements(file, collector.url, anew=True).rejected == 8


@pytest.mark.parametrize(
    "reply", [b"", b"{", b"{}", b"\xff" * 99, b"[1]", b'{"partialSuccess": 3}', b"\x0a\x7f"]
)
def test_a_reply_that_nobody_understands_is_a_request_that_was_taken(collector, tmp_path, reply):
    collector.reply = lambda _number, _n: (200, {}, reply)
    outcome = api.send_judgements(write(tmp_path / "j.jsonl", [judgement()]), collector.url)
    assert (outcome.sent, outcome.rejected) == (1, 0)


def test_a_request_that_is_too_large_is_sent_in_halves_and_one_event_too_large_is_rejected(
    collector, tmp_path, monkeypatch, says
):
    rows = [judgement(n, rationale="word " * (6000 if n == 3 else 2)) for n in range(8)]
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none")
    collector.reply = lambda _number, _n: (413 if collector.sizes[-1] > 3000 else 200, {}, b"")
    outcome = api.send_judgements(write(tmp_path / "j.jsonl", rows), collector.url)
    assert sorted(one["ragstone.question_id"] for one in collector.attributes()) == [
        f"q{n}" for n in range(8) if n != 3
    ]
    assert (outcome.sent, outcome.rejected) == (8, 1)
    says(outcome.message)


@pytest.mark.long
def test_a_collector_that_hangs_is_given_up(collector, tmp_path, monkeypatch, says):
    monkeypatch.setattr(_collector, "TRIES", 2)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "20")  # one second is the least
    collector.go.clear()
    with pytest.raises(DataError) as error:
        api.send_judgements(write(tmp_path / "j.jsonl", [judgement()]), collector.url)
    says(error.value)


def test_a_collector_that_is_not_there_is_named(tmp_path, monkeypatch, says):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_collector, "backoff_s", lambda *_: 0.0)
    ran = ragstone(
        "export", write(tmp_path / "j.jsonl", [judgement()]), "--otlp", "http://u:secret@127.0.0.1:9"
    )
    assert ran.code == 2
    says(ran.err)
    assert "secret" not in ran.err


@pytest.mark.parametrize(
    "url", ["", "localhost:4318", "ftp://x", "http://", "http://a b", "http://x:port", "grpc://x:4317"]
)
def test_an_address_that_is_none_is_refused_before_anything_is_read(tmp_path, url):
    with pytest.raises(ConfigError, match="address"):
        api.send_judgements(tmp_path / "none.jsonl", url)


@pytest.mark.parametrize(
    ("variables", "url", "expected"),
    [
        ({}, "http://c:4318", "http://c:4318/v1/logs"),
        ({}, "http://c:4318/", "http://c:4318/v1/logs"),
        ({}, "https://c/api/otel", "https://c/api/otel/v1/logs"),
        ({}, "http://c/v1/logs?a=b", "http://c/v1/logs?a=b"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, None, "http://c:4318/v1/logs"),
        (
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "http://d/x"},
            None,
            "http://d/x",
        ),
        ({"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "http://d/x"}, "http://c", "http://c/v1/logs"),
    ],
)
def test_addresses_are_those_of_the_specification(variables, url, expected):
    assert _collector.endpoint_of(url, variables).url == expected


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("PROTOCOL", "grpc", "sent over HTTP"),
        ("COMPRESSION", "zstd", "gzip or none"),
        ("TIMEOUT", "10s", "milliseconds"),
        ("HEADERS", "Bearer x", "key=value,key=value"),
        ("HEADERS", "a=b%0d%0aX: y", "key=value,key=value"),
        ("HEADERS", "a:b=c", "key=value,key=value"),
        ("ENDPOINT", "http://c/v1/traces", "traces are taken there"),
    ],
)
def test_a_variable_that_is_wrong_is_named(name, value, words):
    variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", f"OTEL_EXPORTER_OTLP_{name}": value}
    with pytest.raises(ConfigError, match=words):
        _collector.endpoint_of(None, variables)


def test_a_user_in_the_address_and_a_key_are_too_much_and_headers_of_the_request_are_ours(says):
    variables = {"OTEL_EXPORTER_OTLP_HEADERS": "Authorization=x,content-type=text/plain,x-a=b"}
    with pytest.raises(ConfigError) as error:
        _collector.endpoint_of("http://u:p@c", variables)
    says(error.value)
    assert _collector.endpoint_of("http://c", variables).headers == {"Authorization": "x", "x-a": "b"}


def test_a_certificate_that_is_none_is_told_before_anything_is_sent(tmp_path):
    (tmp_path / "ca.pem").write_text("none")
    for file in ("ca.pem", "lost.pem"):
        variables = {"OTEL_EXPORTER_OTLP_CERTIFICATE": str(tmp_path / file)}
        with pytest.raises(ConfigError, match=r"OTEL_EXPORTER_OTLP_CERTIFICATE.*cannot be used"):
            _collector.endpoint_of("https://c", variables)


def test_keys_go_with_the_request_and_into_no_message(collector, tmp_path, monkeypatch, says):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20sesame-open-up, x-team=rag")
    file = write(tmp_path / "j.jsonl", [judgement()])
    api.send_judgements(file, collector.url)
    assert collector.headers[0]["authorization"] == "Bearer sesame-open-up"
    assert collector.headers[0]["x-team"] == "rag"
    collector.reply = lambda _number, _n: (401, {}, b'{"message": "Bearer sesame-open-up is no key for rag"}')
    ran = ragstone("export", file, "--otlp", collector.url, "--force")
    assert "sesame" not in ran.err
    says(ran.err)
    notes = b"".join(path.read_bytes() for path in (tmp_path / ".ragstone").rglob("*.json"))
    assert b"sesame" not in notes


def test_what_was_sent_is_not_sent_again_because_its_record_is_damaged(collector, tmp_path, says):
    file = write(tmp_path / "j.jsonl", [judgement()])
    api.send_judgements(file, collector.url)
    [record] = (tmp_path / ".ragstone").rglob("*.json")
    record.write_text('{"rows": ')
    n_sent = len(collector.headers)
    with pytest.raises(DataError) as error:
        api.send_judgements(file, collector.url)
    says(str(error.value).replace(record.name, "RECORD"))
    assert len(collector.headers) == n_sent
    assert api.send_judgements(file, collector.url, anew=True).sent == 1


def test_an_explanation_of_ten_megabytes_is_cut_and_the_cut_is_said(collector, tmp_path, says):
    long = "reach me: " + "far too many words " * 550_000 + "anna@example.com"
    file = write(tmp_path / "j.jsonl", [judgement(1, rationale=long), judgement(2)])
    ran = ragstone("export", file, "--otlp", collector.url)
    says(sentence_in(ran.err, "1 text longer"))
    text = collector.attributes()[0]["gen_ai.evaluation.explanation"]
    assert text.endswith(f"[cut: {len(long):,} characters]")
    assert len(text) < 32_100


def test_judgements_of_a_run_have_its_digests_and_the_spans_of_its_answers(collector, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    write(run / "judgements.jsonl", [judgement(1), judgement(2)])
    traced = {"trace_id": TRACE, "span_id": SPAN}
    write(
        run / "answers.jsonl",
        [
            Answer(question_id="q1", system="rag", answer="a", metadata=traced),
            Answer(
                question_id="q2", system="rag", answer="a", metadata={"trace_id": "not-one", "span_id": SPAN}
            ),
        ],
    )
    (run / "manifest.json").write_text('{"judges": {"faithfulness": {"version": 1, "digest": "abc123"}}}')
    api.send_judgements(run, collector.url)
    assert [record.trace_id.hex() for _, record in collector.records] == [TRACE, ""]
    assert [record.span_id.hex() for _, record in collector.records] == [SPAN, ""]
    assert {one["gen_ai.evaluation.evaluator.version"] for one in collector.attributes()} == {"abc123"}
    collector.records.clear()
    ran = ragstone(
        "export",
        run / "judgements.jsonl",
        "--otlp",
        collector.url,
        "--force",
        "--answers",
        run / "answers.jsonl",
    )
    assert (ran.code, collector.records[0][1].trace_id.hex()) == (0, TRACE)


def test_a_name_of_a_judge_never_runs_code(collector, tmp_path):
    (tmp_path / "evil.py").write_text("open('ran', 'w')\ndef judge(row): return 1\n")
    rows = [
        judgement(n, judge=name)
        for n, name in enumerate(("evil:judge", "evil.py:judge", "./evil.toml", "nobody"))
    ]
    api.send_judgements(write(tmp_path / "j.jsonl", rows), collector.url)
    assert {one["gen_ai.evaluation.evaluator.version"] for one in collector.attributes()} == {"1"}
    assert not (tmp_path / "ran").exists()


def test_rows_that_cannot_be_read_are_told_before_anything_is_sent(collector, tmp_path, says):
    file = write(tmp_path / "j.jsonl", [judgement(n) for n in range(700)])
    with file.open("ab") as grown:
        grown.write(b'{"question_id": "x"}\n')
    ran = ragstone("export", file, "--otlp", collector.url)
    assert (ran.code, "j.jsonl:701" in ran.err, collector.sizes) == (2, True, [])
    ran = ragstone("export", tmp_path, "--otlp", collector.url)
    says(ran.err)


def test_statements_that_are_not_supported_are_the_explanation(collector, tmp_path):
    verdicts = [
        Verdict(id=1, statement="Wheat flies.", supported=False),
        Verdict(id=2, statement="b", supported=True),
    ]
    api.send_judgements(write(tmp_path / "j.jsonl", [judgement(verdicts=verdicts)]), collector.url)
    assert collector.attributes()[0]["gen_ai.evaluation.explanation"] == "Not supported: Wheat flies."


def test_words_of_the_settings_are_masked_too(collector, tmp_path):
    (tmp_path / "ragstone.toml").write_text('[sample]\nmask = ["Hofladen"]\n')
    api.send_judgements(
        write(tmp_path / "j.jsonl", [judgement(rationale="Ask the Hofladen.")]), collector.url
    )
    assert collector.attributes()[0]["gen_ai.evaluation.explanation"] == "Ask the [masked]."


def logged(collector, path):
    """What a collector's file exporter writes of the events that it got."""
    lines = []
    for resource, record in collector.records:
        fields = MessageToDict(record) | {"traceId": record.trace_id.hex(), "spanId": record.span_id.hex()}
        scope = {"scope": {"name": "ragstone"}, "logRecords": [fields]}
        about = [{"key": name, "value": {"stringValue": value}} for name, value in resource.items()]
        lines.append({"resourceLogs": [{"resource": {"attributes": about}, "scopeLogs": [scope]}]})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def without_metadata(rows):
    return [msgspec.structs.replace(row, metadata=None) for row in rows]


def test_judgements_that_were_sent_are_read_back_as_they_were(collector, tmp_path):
    rows = [
        judgement(n, system=f"s{n % 2}", status=status, label="b", scale=(0.0, 3.0))
        for n, status in enumerate(STATUSES)
    ]
    rows += [judgement(30, judge="mine@scale=0-10", prompt_version=4, scale=None, rationale="Because.")]
    file = write(tmp_path / "j.jsonl", rows)
    api.send_judgements(file, collector.url)
    back = list(api.read_rows(logged(collector, tmp_path / "log.jsonl"), api.Judgement))
    assert sorted(without_metadata(back), key=lambda row: row.question_id) == sorted(
        without_metadata(rows), key=lambda row: row.question_id
    )


def test_events_that_came_twice_are_one_judgement_and_others_in_the_log_are_kept(
    collector, tmp_path, caplog, says
):
    file = write(tmp_path / "j.jsonl", [judgement(1), judgement(2)])
    api.send_judgements(file, collector.url)
    api.send_judgements(file, collector.url, anew=True)
    log = logged(collector, tmp_path / "log.jsonl")
    theirs = {
        "eventName": "gen_ai.evaluation.result",
        "traceId": TRACE,
        "attributes": [
            {"key": "gen_ai.evaluation.name", "value": {"stringValue": "tone"}},
            {"key": "gen_ai.evaluation.score.value", "value": {"doubleValue": 1.0}},
        ],
    }
    more = json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": [theirs]}]}]})
    log.write_text(log.read_text() + more + "\n")
    back = list(api.read_rows(log, api.Judgement))
    assert sorted(row.judge for row in back) == ["faithfulness", "faithfulness", "tone"]
    says(caplog.text)
    with pytest.raises(api.DataError) as error:
        list(api.read_rows(log, api.Label))
    says(error.value)


def test_a_web_page_is_no_collector_though_it_answers_200(collector, tmp_path, says):
    collector.reply = lambda _number, _n: (200, {}, b"\n<!doctype html><title>Sign in</title>")
    with pytest.raises(api.DataError) as error:
        api.send_judgements(write(tmp_path / "j.jsonl", [judgement(1)]), collector.url)
    says(error.value)
    collector.reply = lambda _number, _n: (200, {}, b"")
    assert api.send_judgements(tmp_path / "j.jsonl", collector.url).sent == 1
