"""Saved views: what two people do to one at once, and names that are none."""

import threading

import pytest

from ragstone.kernel.errors import DataError
from ragstone.kernel.runs.views import View, read_view, views_in
from ragstone.workbench.views import ViewChanged, remove_view, rename_view, save_view


@pytest.fixture
def views(tmp_path):
    return tmp_path / "views"


def low(**fields):
    return View(**{"name": "low scores", "where": "correctness < 0.5", **fields})


def test_a_view_is_kept_under_its_name_with_a_version(views):
    kept = save_view(views, low(), seen=None, who="ann")
    assert (kept.version, kept.by) == (1, "ann")
    assert read_view(views, "low scores") == kept
    again = save_view(views, low(order="-latency_s"), seen=1, who="ben")
    assert (again.version, again.by) == (2, "ben")
    assert views_in(views) == ([again], [])
    assert [path.name for path in views.iterdir()] == ["low scores.json"]


def test_the_second_of_two_people_is_told_and_loses_nothing(views, says):
    first = save_view(views, low(), seen=None, who="ann")
    save_view(views, low(where="correctness < 0.2"), seen=first.version, who="ben")
    with pytest.raises(ViewChanged) as mistake:
        save_view(views, low(where="correctness = 0"), seen=first.version, who="ann")
    says(str(mistake.value))
    assert mistake.value.latest.by == "ben"
    assert read_view(views, "low scores").where == "correctness < 0.2"
    mine = save_view(views, low(name="my lows", where="correctness = 0"), seen=None, who="ann")
    assert [view.name for view in views_in(views)[0]] == ["low scores", "my lows"]
    with pytest.raises(ViewChanged):
        remove_view(views, "low scores", seen=first.version)
    remove_view(views, "my lows", seen=mine.version)
    with pytest.raises(ViewChanged) as mistake:
        save_view(views, low(name="my lows"), seen=mine.version, who="ann")
    says(str(mistake.value))
    assert mistake.value.latest is None


def test_of_many_who_save_at_once_one_wins_each_time(views):
    save_view(views, low(), seen=None, who="ann")
    won, lost = [], []

    def change(who: str) -> None:
        try:
            won.append(save_view(views, low(where=f"answer ~ {who}"), seen=1, who=who))
        except ViewChanged as mistake:
            lost.append(mistake)

    threads = [threading.Thread(target=change, args=(f"p{at}",)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(won), len(lost)) == (1, 7)
    assert read_view(views, "low scores") == won[0]


def test_a_new_view_takes_no_name_that_is_taken_in_any_case(views, says):
    save_view(views, low(), seen=None, who="ann")
    for name in ("low scores", "Low Scores", " low  scores "):
        with pytest.raises(ViewChanged) as mistake:
            save_view(views, low(name=name), seen=None, who="ben")
    says(str(mistake.value))


def test_a_view_is_renamed_and_not_over_another(views):
    save_view(views, low(), seen=None, who="ann")
    save_view(views, low(name="other"), seen=None, who="ann")
    with pytest.raises(ViewChanged):
        rename_view(views, "low scores", "OTHER", seen=1, who="ann")
    with pytest.raises(ViewChanged):
        rename_view(views, "low scores", "lows", seen=7, who="ann")
    kept = rename_view(views, "low scores", "Low scores", seen=1, who="ben")
    assert (kept.name, kept.version) == ("Low scores", 2)
    assert [view.name for view in views_in(views)[0]] == ["Low scores", "other"]


@pytest.mark.parametrize(
    "name",
    [
        *("", " ", "../up", "a/b", "a\\b", ".hidden", "x.json", "a\0b", "con:", "<b>", "a" * 61, "\u202eabc"),
        *("low\nscores!", "%2e%2e", "-dash", "-"),
    ],
)
def test_what_cannot_be_a_file_is_no_name(views, name, says):
    messages = set()
    for change in (
        lambda: save_view(views, low(name=name), seen=None, who="ann"),
        lambda: read_view(views, name),
        lambda: rename_view(views, "low scores", name, seen=1, who="ann"),
        lambda: remove_view(views, name, seen=1),
    ):
        with pytest.raises(DataError) as mistake:
            change()
        messages.add(str(mistake.value))
    (message,) = messages
    says(message)
    assert not views.exists() or list(views.iterdir()) == []


def test_names_of_any_script_are_names(views):
    for name in ("Mais wenig", "मक्का", "ذرة", "a"):
        assert save_view(views, low(name=name), seen=None, who="ann").name == name
    assert len(views_in(views)[0]) == 4


def test_a_broken_file_is_told_beside_the_views(views, says):
    save_view(views, low(), seen=None, who="ann")
    (views / "broken.json").write_text("{")
    (views / "other.json").write_text('{"name": "x", "colour": "red"}')
    good, wrong = views_in(views)
    assert [view.name for view in good] == ["low scores"]
    assert len(wrong) == 2
    with pytest.raises(DataError) as mistake:
        read_view(views, "lo scores")
    says(str(mistake.value).replace(str(views), "views"))
