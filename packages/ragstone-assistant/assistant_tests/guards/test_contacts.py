import pytest

from ragstone_assistant.guards import without_contacts

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
        ("See [the guide](guide.html#top) and [`f/2`](`M.f/2`).", "See the guide and `f/2`."),
        ("See [x.com](https://x.com).", f"See {SEE}."),
        ("See [it](evil.com/a), call [us](+254722000143).", f"See it {SEE}, call us {SEE}."),
        ("Run javascript:alert(1) now", f"Run {SEE} now"),
        ("A <b>bold</b> word<img src=x onerror=alert(1)>", "A bold word"),
        ("Before <script>alert(1)</script> after", "Before  after"),
        ("Before <script>alert(1)", "Before "),
        ("It is evil[.]com/x and evil (dot) com", f"It is {SEE} and {SEE}"),
        ("Go to https ://10.0.0.1/x or http:10.0.0.1/x", f"Go to {SEE} or {SEE}"),
        ("seehttps://evil.com/a", f"see{SEE}"),
        ("tel:+254722000143, file:///etc/x", f"{SEE}, {SEE}"),
        ("data:text/html;base64,QQ== or javascript:alert`1`", f"{SEE} or {SEE}"),
        ("a<x onclick=alert(1)>b", "ab"),
        ('[g](http://x.example "Guide")', f"g {SEE}"),
        ("Sow.\n[g]: http://x.example 'Guide'\nWeed.", "Sow.\n\nWeed."),
        ("详见https://fao.org/x，每亩施3公斤尿素。", f"详见{SEE}，每亩施3公斤尿素。"),
        ("见fao.org每亩施3公斤", f"见{SEE}每亩施3公斤"),
        ("https://fao.org에서 3 kg", f"{SEE}에서 3 kg"),
        ("Call the helpline (0800 678 1602 is free).", f"Call the helpline ({SEE} is free)."),
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
        "Fertiliser per plot is given as follows: 3 kg of urea in May.",
        "The hotel: 40 euros. The news: rain comes. Rows: 5 cm apart. File: maize.",
        "profile:clay, metadata:a, Tel: 3 people, JavaScript: a language, the `https:` key",
        "Where i < m and arr2[j-1] > 3, or x < b and y, or a <b and c, give 3 kg.",
        "Send PWD<space>1234 to <your bank>.",
        "[COVID-19]: coronavirus",
        "Do it now![1] (Keep 3 kg.) At once![1][2] See [the value](see note).",
        "A fee will be charged.It is 3 %. 1.To open an account, call.",
        "RBI/2004 circular 10/21.04.048/2004, J. Fluid Mech. 7, 381-397 (1950)",
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
