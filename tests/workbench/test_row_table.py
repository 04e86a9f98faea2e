"""The table of rows over HTTP: filters as text and chips, columns, views of several people, downloads."""

import csv
import io
import json
import re
import shutil
from html import unescape
from urllib.parse import parse_qs, urlencode, urlsplit

import msgspec
import pytest
from tests.support.golden import sentence_in
from tests.support.judged_runs import answers, judged, questions, write_run
from tests.support.served_project import client, made_project, project, served
from tests.support.workbench import peopled

from ragstone.kernel.config import load_settings
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Answer
from ragstone.kernel.runs.embedded import ColumnView
from ragstone.kernel.runs.joined import read_run
from ragstone.kernel.runs.views import View, read_view
from ragstone.kernel.serve.rows.asking import RowFilter
from ragstone.kernel.serve.runs import summary_of_rows
from ragstone.kernel.tables import write_rows
from ragstone.workbench.row_table import as_filter
from ragstone.workbench.views import save_view

__all__ = ["client", "project"]
ROWS = "/workbench/rows"
EVIL = '<script>alert("x")</script>'


def finish(folder):
    summary = summary_of_rows(folder, folder / "judgements.jsonl")
    (folder / "summary.json").write_bytes(msgspec.json.encode(summary))


def write_runs(project):
    #          q0  q1 q2   q3  q4
    # before:  1   0  0.5  1   0
    # after:   1   1  0    0   timeout
    texts = ["wheat", f"maize {EVIL}", "rye", "=1+1", "barley\nand more"]
    for name, scores in (("before", [1, 0, 0.5, 1, 0]), ("after", [1, 1, 0, 0, "timeout"])):
        write_run(project / "runs" / name, judged(scores), said=answers(texts), asked=questions(5))
        finish(project / "runs" / name)
    return project / "runs"


@pytest.fixture
def runs(project):
    return write_runs(project)


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """A client of a project with these runs, for tests that only read them."""
    project = made_project(tmp_path_factory.mktemp("read"))
    write_runs(project)
    with served(project) as client:
        yield client


def page(client, *runs, status=200, **query):
    pairs = [*(("run", f"0/{run}") for run in runs), *query.items()]
    reply = client.get(f"{ROWS}?{urlencode(pairs, doseq=True)}")
    assert reply.status_code == status, reply.text
    return reply.text


def asked(html):
    """Return the questions of the rows, in order."""
    return [
        parse_qs(urlsplit(unescape(href)).query)["question"][0]
        for href in re.findall(r'href="([^"]+)" data-row', html)
    ]


def chips(html):
    """Return what each chip says, and the filter of the address without it."""
    found = re.findall(r'class="filter-chip" href="([^"]*)">.*?<bdi>(.*?)</bdi>', html)
    return [
        (
            unescape(words),
            parse_qs(unescape(href)).get("?where", parse_qs(unescape(href)[1:]).get("where", [""]))[0],
        )
        for href, words in found
    ]


def test_a_filter_is_text_and_chips_and_a_chip_takes_its_condition_away(reader, says):
    conditions = ["containment < 1", "question ~ 'what'", "not (containment = 0)"]
    html = page(reader, "before", where=" and ".join(conditions))
    assert asked(html) == ["q2"]
    says(sentence_in(html, "1 of 5"))
    a, b, c = conditions
    assert chips(html) == [(a, f"{b} and {c}"), (b, f"{a} and {c}"), (c, f"{a} and {b}")]
    either = "containment < 1 or kind = open"
    assert chips(page(reader, "before", where=either)) == [(f"({either})", "")]


def test_a_filter_that_does_not_parse_says_where_and_keeps_the_text(reader, says):
    html = page(reader, "before", where="containment < and")
    (wrong,) = re.findall(r'role="alert" id="rows-wrong">(.*?)</p>', html)
    says(unescape(wrong))
    assert 'value="containment &lt; and"' in html
    assert asked(html) == []


def test_the_search_becomes_conditions(reader):
    html = page(reader, "before", text="maize What")
    assert asked(html) == ["q1"]
    assert [words for words, _ in chips(html)] == ['anywhere ~ "maize"', 'anywhere ~ "What"']


def test_a_condition_is_added_by_a_form(reader):
    either = "containment < 1 or kind = x"
    form = {"run": "0/before", "where": either}
    form |= {"add": "answer", "sign": "~", "value": "rye"}
    reply = reader.get(f"{ROWS}?{urlencode(form)}", follow_redirects=False)
    assert reply.status_code == 303
    (where,) = parse_qs(urlsplit(reply.headers["location"]).query)["where"]
    assert where.split(" and ") == [f"({either})", 'answer ~ "rye"']
    assert asked(reader.get(reply.headers["location"]).text) == ["q2"]
    for sign, value, expected in (("none", "", "containment = none"), (">=", "0.5", "containment >= 0.5")):
        form = {"run": "0/before", "add": "containment", "sign": sign, "value": value}
        moved = reader.get(f"{ROWS}?{urlencode(form)}", follow_redirects=False).headers["location"]
        assert parse_qs(urlsplit(moved).query)["where"] == [expected]


def test_the_menus_of_the_list_are_the_same_filter_in_words(reader):
    lines = reader.get("/workbench/runs/0/before/rows?result=low&judge=0").json()
    html = page(reader, "before", result="low", judge=0)
    assert asked(html) == [line["id"] for line in lines["lines"]] == ["q1", "q4"]
    assert [words for words, _ in chips(html)] == ["containment < 0.5"]
    for query in ({"found": "unknown"}, {"low": "0.5"}, {"result": "absent"}, {"result": "is-timeout"}):
        lines = reader.get(f"/workbench/runs/0/after/rows?{urlencode(query)}").json()["lines"]
        assert asked(page(reader, "after", **query)) == [line["id"] for line in lines], query


def test_a_choice_of_a_menu_as_a_filter():
    def column(judge, system="s", model="m", scale=(0, 1)):
        return ColumnView(system=system, judge=judge, metric=judge, model=model, low=scale[0], high=scale[1])

    columns = [
        column("a", "x"),
        column("b b", "x", scale=(1, 5)),
        column("a", "y"),
        column("c", model="none"),
    ]
    names = {(each.judge, each.metric, each.model): each.judge for each in columns}

    def words(**chosen):
        return as_filter(RowFilter(**chosen), columns, names, {"topic": "topic", "lang": "tags.lang"}).where

    for chosen, where in (
        ({"result": "low"}, "(`b b` < 3 or a < 0.5)"),
        ({"result": "low", "judge": 2}, 'a < 0.5 and system = "y"'),
        ({"result": "unscored", "judge": 3}, 'c_status != scored and c_status != none and system = "s"'),
        ({"low": 0.2, "high": 0.4, "judge": 0}, 'a >= 0.2 and a <= 0.4 and system = "x"'),
        (
            {"where": "a < 1", "tag": "topic", "value": "winter 'wheat'"},
            "a < 1 and topic = \"winter 'wheat'\"",
        ),
        ({"tag": "lang", "value": "de"}, 'tags.lang = "de"'),
        ({"cause": "search", "found": "missed"}, 'found_rank = 0 and cause = "search"'),
    ):
        assert words(**chosen) == where
    ordered = as_filter(RowFilter(order="highest", judge=1), columns, names, {})
    assert ordered.order == "-b b"
    for wrong in ({"judge": 9}, {"found": "x"}):
        with pytest.raises(DataError):
            words(**wrong)


def test_rows_of_two_runs_are_one_table_with_the_run_beside_them(reader, says):
    html = page(reader, "before", "after", order="-containment")
    assert asked(html) == ["q0", "q3", "q0", "q1", "q2", "q1", "q4", "q2", "q3", "q4"]
    assert 'aria-sort="descending"' in html
    assert len(re.findall(r'data-label="run"', html)) == 10
    assert "10 rows" in html
    assert "timed out" in html or "timeout" in html  # why there is no score
    assert "/workbench/runs/0/after/row?question=q4&amp;system=mine" in html
    says(sentence_in(page(reader, *[f"r{at}" for at in range(9)], status=422), "at most 8"))


@pytest.mark.long
def test_columns_are_chosen_kept_in_the_browser_and_forgotten(runs, client):
    query = urlencode([("run", "0/before"), ("column", "question_id"), ("column", "answer"), ("keep", "1")])
    html = client.get(f"{ROWS}?{query}").text
    assert re.findall(r'<th scope="col"[^>]*>.*?>([a-z_]+)<', html) == ["question_id", "answer"]
    again = page(client, "after")
    assert re.findall(r'<th scope="col"[^>]*>.*?>([a-z_]+)<', again) == ["question_id", "answer"]
    client.get(f"{ROWS}?run=0/before&keep=0")
    assert "containment" in re.findall(r'<th scope="col"[^>]*>.*?>([a-z_]+)<', page(client, "after"))
    client.cookies.set("ragstone_columns", "%zz{", path=ROWS)
    assert asked(page(client, "after"))


def test_no_text_of_a_row_is_markup(reader):
    html = page(reader, "before", where=f"answer ~ '{EVIL}'")
    assert EVIL not in html
    assert asked(html) == ["q1"]


def save(client, name, seen=None, status=200, act="save", **fields):
    form = {"name": name, "seen": seen, "runs": ["0/before"], **fields}
    reply = client.post(f"{ROWS}/views/{act}", json=form, headers={"Accept": "application/json"})
    assert reply.status_code == status, reply.text
    return reply.json()


@pytest.mark.long
def test_a_view_is_saved_opened_changed_renamed_and_deleted(runs, client, project, says):
    saved = save(
        client, "low scores", where="containment < 1", order="-containment", columns=["question", "answer"]
    )
    assert saved["go"] == "/workbench/rows?run=0%2Fbefore&view=low+scores"
    html = client.get(saved["go"]).text
    assert asked(html) == ["q2", "q1", "q4"]
    assert '<h1 dir="auto">low scores</h1>' in html
    assert "have changed it" not in html
    without = chips(html)
    assert without == [("containment < 1", "")]
    # A chip that is taken away stays away, though the view has it.
    assert len(asked(page(client, "before", view="low scores", where=""))) == 5
    says(sentence_in(page(client, "before", view="low scores", where=""), "you have changed"))
    assert asked(page(client, "after", view="low scores")) == ["q2", "q3"]  # of any run
    renamed = save(client, "low scores", 1, act="rename", to="lows")
    assert "view=lows" in renamed["go"]
    assert read_view(project / "views", "lows").version == 2
    save(client, "lows", 2, act="delete")
    assert client.get(renamed["go"]).status_code == 422


def test_two_people_who_change_one_view_do_not_overwrite_each_other(runs, project, says):
    with peopled(load_settings(project / "ragstone.toml")) as people:
        ann, ben, rita = (
            people.person(name, role)
            for name, role in (("ann", "annotator"), ("ben", "owner"), ("rita", "reader"))
        )
        save(ann, "low", where="containment < 1")
        save(ben, "low", 1, where="containment < 0.5")
        told = save(ann, "low", 1, status=422, where="containment = 0")
        says(told["detail"])
        assert read_view(project / "views", "low").where == "containment < 0.5"
        save(ann, "lower", where="containment = 0")
        save(rita, "mine", status=403)
        assert asked(page(rita, "before", view="lower")) == ["q1", "q4"]
        assert "Save what is" not in page(rita, "before")
        told = save(ben, "../../evil", status=422)
        says(told["detail"])
        assert sorted(path.name for path in (project / "views").iterdir()) == ["low.json", "lower.json"]


def test_a_broken_view_hides_no_other(runs, client, project, says):
    save_view(project / "views", View(name="good"), seen=None, who="ann")
    (project / "views" / "bad.json").write_text("[]")
    html = page(client, "before")
    assert "view=good" in html
    says(sentence_in(html, "bad.json: not"))


def download(client, ending, *runs, **query):
    pairs = [*(("run", f"0/{run}") for run in runs), *query.items()]
    return client.get(f"{ROWS}/export/{ending}?{urlencode(pairs, doseq=True)}")


def test_what_is_shown_is_downloaded_in_its_columns_and_order(reader):
    query = {
        "where": "containment != none",
        "order": "-containment",
        "column": ["question_id", "answer", "run"],
    }
    reply = download(reader, "csv", "before", "after", **query)
    assert reply.headers["content-disposition"].startswith('attachment; filename="before-after.csv"')
    rows = list(csv.DictReader(io.StringIO(reply.content.decode("utf-8-sig"))))
    assert [row["question_id"] for row in rows] == ["q0", "q3", "q0", "q1", "q2", "q1", "q4", "q2", "q3"]
    assert rows[1]["answer"] == "'=1+1"  # no spreadsheet takes it for a formula
    assert json.loads(rows[1]["guarded_cells"]) == ["answer"]
    reply = download(reader, "jsonl", "before", "after", **query)
    lines = [json.loads(line) for line in reply.text.splitlines()]
    assert [line["question_id"] for line in lines] == [row["question_id"] for row in rows]
    assert lines[1]["answer"] == "=1+1"


def test_a_download_is_what_the_export_of_the_view_is(runs, client, project, monkeypatch):
    monkeypatch.chdir(project)
    shown = View(
        name="low", where="containment < 1", order="-containment", columns=["question_id", "containment"]
    )
    save_view(project / "views", shown, seen=None, who="ann")
    from ragstone.features.export.table import export_table

    export_table(read_run(runs / "before"), project / "low.csv", view="low")
    assert download(client, "csv", "before", view="low").content == (project / "low.csv").read_bytes()


def test_a_download_that_cannot_be_is_refused_before_it_begins(reader):
    assert download(reader, "exe", "before").status_code == 404
    assert download(reader, "csv", "before", where="nothing < 1").status_code == 422
    assert download(reader, "csv").status_code == 422
    assert download(reader, "csv", "gone").status_code == 404


@pytest.mark.long
def test_a_run_that_has_gone_or_goes_on_is_told(runs, client, project, says):
    assert asked(page(client, "before", "after"))
    shutil.rmtree(runs / "after")
    says(sentence_in(page(client, "before", "after", status=404), "There is no"))
    # A run that is being written: its rows so far, and more of them a moment later.
    folder = runs / "going"
    folder.mkdir()
    write_rows(folder / "answers.jsonl", answers(["wheat"]), Answer)
    (folder / "answers.jsonl").rename(folder / "answers.jsonl.partial")
    assert asked(page(client, "going")) == ["q0"]
    (folder / "answers.jsonl.partial").unlink()
    write_run(folder, judged([1, 0]), said=answers(["wheat", "rye"]), asked=questions(2))
    finish(folder)
    assert asked(page(client, "going", order="containment")) == ["q1", "q0"]
    (runs / "empty").mkdir()
    says(sentence_in(page(client, "empty", status=422), "has no rows"))


def test_rows_lead_to_the_actions_on_them(runs, client, project):
    html = unescape(page(client, "before", where="containment < 1"))
    for path in (
        "judge?run=0%2Fbefore&where",
        "label/new?run=0%2Fbefore&where",
        "compare?b=0%2Fbefore&where",
    ):
        assert f"/workbench/{path}=containment+%3C+1" in html
    with peopled(load_settings(project / "ragstone.toml")) as people:
        rita = people.person("rita", "reader")
        html = page(rita, "before")
        assert "/workbench/judge?" not in html
        assert "/workbench/label/new" not in html
        assert rita.get("/workbench/judge?run=0/before").status_code == 403
