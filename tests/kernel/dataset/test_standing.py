"""Texts of a log that an evaluation set can hold, and those that it cannot."""

import pytest

from ragstone.kernel.dataset.standing import why_left_out


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("yes", "small_talk"), ("Thanks a lot!", "small_talk"), ("Hola, buenos días", "small_talk"),
        ("谢谢", "small_talk"),
        ("नमस्ते", "small_talk"), ("شكرا", "small_talk"), ("???", "nothing_asked"), ("123", "nothing_asked"),
        ("and for maize?", "follow_up"), ("What about wheat?", "follow_up"), ("why?", "follow_up"),
        ("How much does it cost?", "follow_up"), ("What is that?", "follow_up"),
        ("¿y para el trigo?", "follow_up"),
        ("Und für Mais?", "follow_up"), ("Et pour le blé ?", "follow_up"), ("और गेहूँ के लिए?", "follow_up"),
        ("玉米呢?", "follow_up"), ("а для кукурузы?", "follow_up"),
        ("What is maize?", None), ("maize", None), ("What is that card?", None), ("玉米什么时候播种?", None),
        ("How do I apply for it when I live abroad?", None), ("¿En qué año murió Tesla?", None),
        ("Yes I want to know the rate of a loan", None), ("मक्का कब बोएं?", None),
    ],
)  # fmt: skip
def test_what_cannot_stand_alone_is_told_from_what_can(text, why):
    assert why_left_out(text) == why
