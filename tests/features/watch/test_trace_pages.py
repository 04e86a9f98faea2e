"""The pages of traces: the list, one with what a tool was given and gave, and both in a browser."""

import json
import re
from html import unescape

import pytest
from tests.support.browser import opened_tab
from tests.support.golden import sentence_in
from tests.support.served_project import client, project
from tests.support.served_workbench import served
from tests.support.spans import TRACE, as_protobuf, request, span
from tests.support.texts import element
from tests.support.workbench import create_workbench, opened

import ragstone
from ragstone.features.watch._trace_view import indented, lasted
from ragstone.kernel.config import load_settings
from ragstone.workbench.serving import project_at

__all__ = ["client", "project"]  # its fixtures

EVIL = "<script>alert('x')</script><img src=x onerror=\"alert(1)\">"


def store(project, *spans):
    ragstone.store_spans(as_protobuf(request(*spans)), project / ".ragstone" / "traces")


def an_agent():
    tool = {"openinference__span__kind": "TOOL", "input__value": '{"place": "north"}', "output__value": EVIL}
    failed = span(3, parent=1, **tool) | {"status": {"code": 2, "message": f"no answer {EVIL}"}}
    return (
        span(1, input__value="Will it rain?", output__value="Yes."),
        span(2, parent=1, **tool),
        failed,
        span(4, parent=99),
        *(span(10 + at, parent=9 + at if at else 1) for at in range(20)),
    )


def test_without_traces_the_page_says_how_to_get_some(client, says):
    page = client.get("/workbench/traces").text
    says(element(page, "no trace yet"))
    assert "ragstone serve --otlp" in page
    assert client.get(f"/workbench/traces/{TRACE}").status_code == 404


def test_traces_are_listed_and_a_trace_has_its_spans(client, project, says):
    store(project, *an_agent())
    page = client.get("/workbench/traces").text
    assert f'href="/workbench/traces/{TRACE}"' in page
    assert "Will it rain?" in page
    page = client.get(f"/workbench/traces/{TRACE}").text
    says(element(page, "with a parent"))
    assert "no answer &lt;script&gt;" in page
    assert "&#34;place&#34;: &#34;north&#34;" in page
    assert page.count("<rect ") == 24
    assert "<script>alert" not in page
    assert "style=" not in page  # the page's policy would take it away


def test_a_list_of_many_has_pages(client, project):
    store(project, *(span(1, trace=f"{at:032x}") for at in range(1, 56)))
    assert client.get("/workbench/traces").text.count("data-row") == 50
    second = client.get("/workbench/traces?at=2").text
    assert second.count("data-row") == 5
    assert 'rel="prev" href="?at=1"' in second
    assert 'rel="next"' not in second


def test_a_file_of_traces_is_served_with_its_page(project, monkeypatch):
    store(project, span(1, input__value="Will it rain?", output__value="Yes."))
    (file,) = (project / ".ragstone" / "traces").iterdir()
    moved = file.rename(project / "mine.jsonl")
    monkeypatch.chdir(project)
    with opened(create_workbench(project_at([moved]).settings)) as client:
        assert "Will it rain?" in client.get("/workbench/traces").text
        assert "mine" in client.get("/workbench/").text


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, "–"),
        (0.0, "0 ms"),
        (0.0000491, "< 1 ms"),
        (0.0123, "12 ms"),
        (0.9996, "1.0 s"),
        (1.5, "1.5 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.6, "1 min"),
        (200, "3 min 20 s"),
        (3599.7, "1 h"),
        (4000, "1 h 7 min"),
        (86_399, "1 d"),
        (200_000, "2 d 8 h"),
    ],
)
def test_times_are_read_at_a_glance(seconds, words):
    assert lasted(seconds) == words


def test_json_is_set_in_and_any_other_text_stays():
    assert indented('{"a":"é"}') == '{\n  "a": "é"\n}'
    assert indented("{no json") == "{no json"
    assert indented("[" * 100_000) == "[" * 100_000


def a_conversation():
    """A trace of a farm's application: two documents, a tool that failed, and a model that was told all."""
    documents = {
        f"retrieval.documents.{at}.document.{name}": value
        for at, title in enumerate(("Maize", EVIL))
        for name, value in {
            "content": f"Maize is sown in spring. {at}",
            "score": {"doubleValue": 0.9 - at / 2},
            "metadata": json.dumps({"title": title, "source": "https://farm.example/handbook"}),
        }.items()
    }
    told = {
        "llm.input_messages.0.message.role": "system",
        "llm.input_messages.0.message.content": "Answer farmers.",
        "llm.input_messages.1.message.role": "user",
        "llm.input_messages.1.message.content": "Will it rain?",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "Yes.",
    }
    tool = {"openinference__span__kind": "TOOL", "tool.name": "weather", "input__value": '{"place": "north"}'}
    failed = span(3, parent=1, **tool) | {"status": {"code": 2, "message": f"no answer {EVIL}"}}
    top = {"session__id": "s 1/é", "user__id": "u"}
    return (
        span(1, input__value="Will it rain?", output__value="Yes.", **top),
        span(2, parent=1, openinference__span__kind="RETRIEVER", **documents),
        failed,
        span(4, parent=1, openinference__span__kind="LLM", **told),
    )


def sent(project, *spans, name="a"):
    """Write spans as they are, without masking who asked."""
    folder = project / ".ragstone" / "traces"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.jsonl").write_bytes(request(*spans) + b"\n")


def test_a_trace_is_read_as_a_conversation_with_cards(client, project, says):
    sent(project, *a_conversation())
    page = client.get(f"/workbench/traces/{TRACE}").text
    says(sentence_in(page, "2 documents given"))
    assert 'href="https://farm.example/handbook" rel="noreferrer' in page
    assert "score 0.9" in page
    assert "1 tool call<" in page
    heading = sentence_in(page, "Conversation with")
    says(heading)
    assert page.index("Answer farmers.") > page.index(heading)
    assert page.count("<script>alert") == 0
    for kind in ("step", "search", "tool", "model"):
        assert f'<span class="kind k-{kind}">{kind}</span>' in page
    assert 'id="span-0000000000000004"' in page


def test_the_list_shows_what_menus_and_words_leave_and_says_where_a_filter_is_wrong(client, project):
    sent(project, *a_conversation())
    sent(project, span(1, trace=TRACE[::-1], input__value="Is it dry?", output__value="No."), name="b")

    def questions(query):
        page = client.get(f"/workbench/traces?{query}")
        return re.findall(r"data-row[^>]*>([^<]*)</a>", page.text)

    assert questions("text=RAIN") == ["Will it rain?"]
    assert questions("outcome=failed") == ["Will it rain?"]
    assert questions("outcome=fine&service=shop") == ["Is it dry?"]
    assert questions("since=hour") == []
    assert questions("slower=1&where=spans+%3D+4+or+failed") == ["Will it rain?"]
    assert questions("text=&service=&since=&outcome=&slower=&where=&dearer=&user=&session=") != []
    assert client.get("/workbench/traces?dearer=much").status_code == 422
    assert questions("dearer=0.00001") == []
    assert questions("session=s+1/%C3%A9&user=u") == ["Will it rain?"]
    assert questions("order=duration&rising=1") == ["Is it dry?", "Will it rain?"]
    wrong = client.get("/workbench/traces?where=cost+%3E+much")
    assert wrong.status_code == 422
    assert "at character 8" in wrong.text
    assert 'value="cost &gt; much"' in wrong.text  # what was typed is kept
    assert client.get("/workbench/traces?at=0").status_code == 400


@pytest.mark.parametrize("name", ['it\'s "x"', "d" * 5_000, "a/b?c=d&e#f", EVIL])
def test_a_link_to_a_session_of_any_name_leads_to_it(client, project, name):
    sent(project, span(1, input__value="Will it rain?", session__id=name, user__id=name))
    (link,) = set(
        re.findall(r'href="(/workbench/traces/session[^"]*)"', client.get("/workbench/traces").text)
    )
    page = client.get(unescape(link))
    assert page.status_code == 200
    assert page.text.count('class="turn"') == 1


def test_a_session_is_one_conversation_with_totals(client, project):
    sent(project, *a_conversation())
    later = [each | {"traceId": TRACE[::-1]} for each in a_conversation()]
    for each in later:
        each["startTimeUnixNano"] = str(int(each["startTimeUnixNano"]) + 10**12)
        each["endTimeUnixNano"] = str(int(each["endTimeUnixNano"]) + 10**12)
    later[0]["attributes"][0] = {"key": "input.value", "value": {"stringValue": "And tomorrow?"}}
    sent(project, *later, name="b")
    (link,) = set(
        re.findall(r'href="(/workbench/traces/session[^"]*)"', client.get("/workbench/traces").text)
    )
    page = client.get(link).text
    assert page.index("Will it rain?") < page.index("And tomorrow?")
    assert "<dt>Traces</dt><dd>2</dd>" in page
    assert client.get("/workbench/traces/session?user=u").text.count('class="turn"') == 2
    assert client.get("/workbench/traces/session?session=gone").status_code == 404
    assert client.get("/workbench/traces/session").status_code == 404


@pytest.mark.parametrize(
    ("tokens", "shown"),
    [
        ((None, None), "–"),
        ((7, 5), "12"),
        ((7, None), '7 <span class="small muted">of 1 trace</span>'),
        ((0, 0), "0"),
    ],
)
def test_tokens_of_a_session_are_those_that_traces_tell(client, project, tokens, shown):
    for at, n in enumerate(tokens):
        told = {} if n is None else {"llm.token_count.prompt": {"intValue": str(n)}}
        asked = {"input__value": "Is it?", "output__value": "Yes.", "openinference__span__kind": "LLM"}
        sent(project, span(1, trace=f"{at + 1:032x}", session__id="s", **asked, **told), name=str(at))
    page = client.get("/workbench/traces/session?session=s").text
    assert f"<dt>Tokens</dt><dd>{shown}</dd>" in page


def test_an_attribute_of_two_megabytes_is_cut_with_a_way_to_the_whole(client, project):
    text = "long words " * 190_000
    sent(project, span(1, input__value="Is it?", output__value="Yes.", notes=text))
    page = client.get(f"/workbench/traces/{TRACE}").text
    assert len(page) < 100_000
    assert f'href="/workbench/traces/{TRACE}/0"' in page
    assert text in client.get(f"/workbench/traces/{TRACE}/0").text


def test_a_span_whose_texts_are_all_on_the_page_has_no_link_to_more(client, project):
    long, repeated = "long words " * 190_000, "The same words. " * 100
    sent(
        project,
        span(1, input__value="Is it?", notes=long, more=repeated),
        span(2, parent=1, notes="short"),
        span(3, parent=1, notes=repeated),
    )
    page = client.get(f"/workbench/traces/{TRACE}").text
    assert page.count("as plain text") == 1
    assert f'href="/workbench/traces/{TRACE}/0"' in page
    assert page.count("further up") == 1


def test_a_text_that_is_cut_where_it_is_first_is_not_said_to_be_there_in_full(client, project):
    long = "long words " * 190_000
    sent(project, span(1, input__value="Is it?", notes=long), span(2, parent=1, notes=long))
    page = client.get(f"/workbench/traces/{TRACE}").text
    assert page.count("as plain text") == 2
    assert "further up" not in page


@pytest.mark.browser
def test_traces_are_read_with_keys_alone_and_axe_finds_nothing(project):
    sent(project, *a_conversation())
    phone = {"width": 360, "height": 800}
    with (
        served(load_settings(project / "ragstone.toml")) as address,
        opened_tab(loopback=True, viewport=phone) as tab,
    ):
        tab.page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
        tab.visit(f"{address}/workbench/")
        tab.page.get_by_role("link", name="Production").click()
        tab.page.get_by_role("link", name="Traces").click()
        tab.page.wait_for_url("**/traces")
        assert tab.findings() == []
        tab.page.keyboard.press("/")
        tab.page.keyboard.type("rain")
        tab.page.keyboard.press("Enter")
        tab.page.wait_for_url("**text=rain**")
        tab.page.keyboard.press("j")
        tab.page.keyboard.press("x")
        assert tab.page.get_by_text("1 ticked").is_visible()
        tab.page.keyboard.press("j")
        tab.page.keyboard.press("Enter")
        tab.page.wait_for_url(f"**/traces/{TRACE}")
        for key in ("j", "j", "Enter"):
            tab.page.keyboard.press(key)
        tab.until("document.querySelectorAll('.spans details[open]').length", 1)
        tab.run("for (const each of document.querySelectorAll('main details')) each.open = true")
        assert tab.findings() == []
        tab.visit(f"{address}/workbench/traces/{TRACE}#span-{4:016x}")
        tab.until(f"document.querySelector('#span-{4:016x} details').open", True)
        form = tab.page.locator(f"#span-{4:016x} form.note")
        tab.page.locator(f"#span-{4:016x} .more > summary").click()
        form.locator("textarea").fill("It was told too little.")
        form.locator("input").fill("prompt")
        form.get_by_role("button").click()
        tab.page.get_by_text("It was told too little.").wait_for()
        assert tab.findings() == []
        tab.page.get_by_role("link", name="Session").first.click()
        tab.page.wait_for_url("**/traces/session**")
        assert tab.findings() == []
        assert tab.complaints == []


@pytest.mark.browser
def test_ticked_traces_are_judged_after_their_forecast_and_a_queue_is_made(project):
    sent(project, *a_conversation())
    with (
        served(load_settings(project / "ragstone.toml")) as address,
        opened_tab(loopback=True, bypass_csp=True) as tab,
    ):
        tab.visit(f"{address}/workbench/traces")
        assert tab.page.get_by_role("button", name="Judge").is_disabled()
        tab.page.locator("input[name=id]").check()
        tab.page.get_by_role("button", name="Judge").click()
        tab.page.wait_for_url("**/traces/chosen**")
        assert tab.axe() == []
        tab.page.get_by_role("button", name="Forecast").click()
        tab.page.get_by_text("1 answer.").wait_for()
        tab.page.get_by_role("button", name="Judge", exact=True).click()
        tab.page.get_by_role("link", name="Make a labelling queue").click()
        tab.page.wait_for_url("**/label/new**")
        tab.visit(f"{address}/workbench/traces/chosen?act=set&id={TRACE}")
        tab.page.get_by_role("button", name="Add the questions").click()
        tab.page.get_by_text("1 added to from-traces/questions.jsonl").wait_for()
        tab.page.get_by_role("link", name="Review them").click()
        tab.page.get_by_role("link", name="from-traces").click()
        tab.page.get_by_role("link", name="Will it rain?").click()
        tab.page.get_by_text("A draft, not reviewed").wait_for()
        tab.page.get_by_role("button", name="Edit it as the reference").click()
        tab.page.get_by_role("button", name="Save and accept").click()
        log = project / "from-traces" / "questions.review.jsonl"
        for _ in range(50):
            if log.is_file() and log.read_bytes().endswith(b"\n"):
                break
            tab.page.wait_for_timeout(100)
        decision = json.loads(log.read_bytes())
        assert (decision["decision"], decision["after"]) == ("edit", {"reference": "Yes."})
        assert tab.complaints == []


KB = 1_000
HOSTILE = {
    "nested": "[" * 800 + "1," * 124 * KB + "1" + "]" * 800,
    "nested a little": "[" * 19 + "1," * 9 * KB + "1" + "]" * 19,
    "one letter": "a" * KB * KB,
    "quotes": '"' * 250 * KB,
    "few quotes": '"' * 3_900,
    "ampersands": "&" * 250 * KB,
    "brackets": "<" * 250 * KB,
    "lines": "line\n" * 10 * KB,
    "JSON of quotes": json.dumps(['"'] * 2 * KB),
    "half a pair": json.dumps(["\ud800"] * KB),
}


@pytest.mark.long
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("n_spans", [1, 20])
def test_a_page_grows_by_four_times_what_came_in_at_most(client, project, name, n_spans):
    text = HOSTILE[name]
    store(project, span(1, input__value="short"))
    plain = len(client.get(f"/workbench/traces/{TRACE}").content)
    for file in (project / ".ragstone" / "traces").iterdir():
        file.unlink()
    body = json.loads(
        request(*(span(1 + at, input__value=text, output__value=f"{text} ") for at in range(n_spans)))
    )
    (project / ".ragstone" / "traces" / "a.jsonl").write_text(json.dumps(body) + "\n")
    page = client.get(f"/workbench/traces/{TRACE}")
    assert page.status_code == 200
    n_in = 2 * n_spans * len(text.encode())
    assert len(page.content) <= plain * n_spans + min(4 * n_in, 1_500_000)
    if len(text) > 20 * KB:
        raw = client.get(f"/workbench/traces/{TRACE}/0")
        assert f'href="/workbench/traces/{TRACE}/0"' in page.text
        assert raw.headers["content-type"] == "text/plain; charset=utf-8"
        assert raw.headers["x-content-type-options"] == "nosniff"
        assert raw.text.count(text) == 2
    assert client.get(f"/workbench/traces/{TRACE}/{n_spans}").status_code == 404


@pytest.mark.browser
def test_a_long_name_of_a_service_does_not_widen_the_list(project):
    sent(project, span(1, input__value="Will it rain?"))
    path = next((project / ".ragstone" / "traces").glob("*.jsonl"))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        line["resourceSpans"][0]["resource"] = {
            "attributes": [{"key": "service.name", "value": {"stringValue": "c" * 2_000}}]
        }
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with served(load_settings(project / "ragstone.toml")) as address, opened_tab(loopback=True) as tab:
        tab.visit(f"{address}/workbench/traces")
        assert tab.page.get_by_text("ccc").count()
        assert tab.run("document.documentElement.scrollWidth <= innerWidth")
