import pytest

from ragstone.assistant.guards import without_contacts

SEE = "(see the source)"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Read https://a.example/x?y=1.", f"Read {SEE}."),
        ("Read www.farm-news.com/page now", f"Read {SEE} now"),
        ("Write to anna@farm.org.", f"Write to {SEE}."),
        ("Call +254 722 000 143 today.", f"Call {SEE} today."),
        ("See ![a map](http://x.example/m.png) here", "See  here"),
        ("See [the guide](http://x.example/g).", f"See the guide {SEE}."),
        ("Run javascript:alert(1) now", f"Run {SEE} now"),
        ("A <b>bold</b> word<img src=x onerror=alert(1)>", "A bold word"),
        ("Before <script>alert(1)</script> after", "Before  after"),
        ("Before <script>alert(1)", "Before "),
        ("It is evil[.]com/x and evil (dot) com", f"It is {SEE} and {SEE}"),
    ],
)
def test_addresses_and_markup_are_taken_out(text, left):
    assert without_contacts(text, "en") == left


@pytest.mark.parametrize(
    "text",
    [
        "Sow 25-30 kg/ha in rows 75 cm apart, e.g. in May.",
        "Apply N-P-K 15-15-15, i.e. 2.5 t/ha in 2024/25, and keep pH < 6.5 > 5.",
        "Mix 1:100 with water at 20-25 °C [1][2].",
        "गेहूँ की बुवाई 15 नवंबर तक करें।",
        "ازرع القمح في نوفمبر.",
    ],
)
def test_plain_advice_stays_as_it_is(text):
    assert without_contacts(text, "en") == text


def test_a_link_to_the_host_of_an_approved_source_stays():
    approved = ["https://www.fao.org/maize.pdf", "notes/maize.pdf", None]
    assert without_contacts("Read https://fao.org/more.", "en", approved) == "Read https://fao.org/more."
    assert without_contacts("Read https://fao.org.evil.example/x.", "en", approved) == f"Read {SEE}."
    assert without_contacts("Read https://fao.org@evil.example/x.", "en", approved) == f"Read {SEE}."
    assert without_contacts("Read ftp://fao.org/x.", "en", approved) == f"Read {SEE}."


def test_the_reader_is_pointed_to_the_source_in_his_language():
    assert without_contacts("Lea https://a.example", "es") == "Lea (vea la fuente)"
