"""The instructions of a queue change while people label: each label keeps the text that was read."""

import threading

import pytest

from ragstone.features.label._policies import (
    PolicyVersion,
    change_policy,
    keep_policy,
    policy_digest,
    policy_versions,
    tidied,
)
from ragstone.kernel.errors import DataError

NONE = PolicyVersion(None, None)


def test_each_change_is_a_version_and_the_text_is_kept_once(tmp_path):
    queues = tmp_path / "queues"
    queues.mkdir()
    first = PolicyVersion(policy_digest("One."), "One.")
    assert policy_versions(queues, "a", first) == [first]
    assert change_policy(queues, "a", first, "Two.\r\n")
    assert not change_policy(queues, "a", first, "  Two.")  # it holds already
    assert change_policy(queues, "a", first, "One.")  # back again
    two = PolicyVersion(policy_digest("Two."), "Two.")
    assert policy_versions(queues, "a", first) == [first, two, first]
    assert change_policy(queues, "b", NONE, "Two.")
    assert policy_versions(queues, "b", NONE) == [NONE, two]
    kept = {path.name: path.read_text() for path in (tmp_path / "policies").iterdir()}
    assert kept == {f"{policy_digest(text)}.md": f"{text}\n" for text in ("One.", "Two.")}


def test_versions_made_at_once_are_all_there(tmp_path):
    (tmp_path / "queues").mkdir()
    texts = [f"Text {n}." for n in range(8)]
    threads = [
        threading.Thread(target=change_policy, args=(tmp_path / "queues", "a", NONE, text)) for text in texts
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    versions = policy_versions(tmp_path / "queues", "a", NONE)
    assert {version.text for version in versions} == {None, *texts}
    assert len(versions) == 9


@pytest.mark.parametrize(
    "text",
    ["", " \n\t ", "x" * 20_001, "x" * 100_000, "Be\nmind\x07ful", "a\x00", "zero \ud800"],
    ids=["empty", "space", "long", "100 kB", "bell", "null", "half a sign"],
)
def test_instructions_that_nobody_can_read_are_refused(text, says):
    with pytest.raises(DataError) as error:
        tidied(text)
    says(error.value)


def test_instructions_keep_their_lines_tabs_and_markup():
    text = "A <b>bold</b> rule:\n\t- मृदा 😀"
    assert tidied(f" {text}\n".replace("\n", "\r\n")) == text
    assert tidied("x" * 20_000) == "x" * 20_000


def test_a_text_that_is_gone_is_told_and_nothing_is_changed(tmp_path, says):
    queues = tmp_path / "queues"
    queues.mkdir()
    change_policy(queues, "a", NONE, "Two.")
    (tmp_path / "policies" / f"{policy_digest('Two.')}.md").unlink()
    with pytest.raises(DataError) as error:
        policy_versions(queues, "a", NONE)
    says(error.value)
    keep_policy(tmp_path / "policies", "Two.")
    assert policy_versions(queues, "a", NONE)[-1].text == "Two."
