"""No pattern changes ordinary text: what people and documents wrote, in some twenty languages."""

import re
from collections.abc import Iterable

import pytest
from tests.support.changes import TRIED, UNTRIED, Change, changing_functions
from tests.support.ordinary import pack_sentences, shipped_sentences

_WORDS = re.compile(r"\w+")


def wrongly_changed(change: Change, sentences: Iterable[str]) -> list[tuple[str, str]]:
    """Return sentences that hold nothing to be changed and are, or lose words beside it.

    White space is free. A name that is given once may be masked wherever it stands.
    """
    wrong = []
    for sentence in sentences:
        changed = change.call(sentence)
        if changed == sentence or changed.split() == sentence.split():
            continue
        rest = change.planted.sub(" ", sentence)
        given = {word for match in change.planted.finditer(sentence) for word in _WORDS.findall(match[0])}
        left = iter(_WORDS.findall(changed))
        if rest == sentence or not all(word in left for word in _WORDS.findall(rest) if word not in given):
            wrong.append((sentence, changed))
    return wrong


@pytest.mark.house
def test_every_function_that_changes_texts_is_tried_or_has_a_reason():
    found = changing_functions()
    assert not found - TRIED.keys() - UNTRIED.keys(), (
        "tell in tests/support/changes.py what it changes, or why not"
    )
    assert UNTRIED.keys() <= found
    assert all(UNTRIED.values())


def test_a_pattern_that_eats_text_is_seen():
    eats = Change(lambda text: re.sub(r"ws:\s?\S+", "", text), re.compile(r"\S+://\S+"))
    assert wrongly_changed(eats, ["as follows: 3 kg", "see ws://a.example", "Sow in May."]) == [
        ("as follows: 3 kg", "as follo kg")
    ]
    eats_more = Change(lambda text: re.sub(r"https\S+.*", "", text), re.compile(r"\S+://\S+"))
    assert wrongly_changed(eats_more, ["see https://a.example and 3 kg", "see https://a.example"]) == [
        ("see https://a.example and 3 kg", "see ")
    ]


@pytest.mark.simulation
@pytest.mark.parametrize("name", TRIED)
def test_no_sentence_that_the_project_ships_is_changed(name):
    assert len(shipped_sentences()) > 5000
    assert wrongly_changed(TRIED[name], shipped_sentences()) == []


@pytest.mark.pack
@pytest.mark.simulation
@pytest.mark.parametrize("name", TRIED)
def test_none_of_a_hundred_thousand_sentences_is_changed(name, shared_data):
    sentences = pack_sentences(shared_data)
    assert len(sentences) > 100_000
    assert wrongly_changed(TRIED[name], sentences) == []
