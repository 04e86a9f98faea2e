"""Placeholders that come back as what they stand for."""

import re

from hypothesis import given
from hypothesis import strategies as st

from ragstone.kernel.privacy.masking import own_words
from ragstone.kernel.privacy.reversible import ReversibleMask

TEXTS = st.lists(
    st.text(alphabet="ab @.[]-+17emailphone", max_size=40)
    | st.sampled_from(
        [
            "write to jane@doe.org",
            "[email-1]",
            "call +91 98765 43210",
            "I am Dr. Jane Doe",
            "password: hunter22",
            "IBAN DE89 3704 0044 0532 0130 00",
        ]
    ),
    max_size=5,
)


def test_a_value_has_one_placeholder_in_all_texts():
    mask = ReversibleMask([["Write to jane@doe.org"], ["JANE@doe.org or joe@doe.org", "jane@doe.org"]])
    assert mask.groups == [["Write to [email-1]"], ["[email-1] or [email-2]", "[email-1]"]]
    assert mask.restore("[email-2], not [email-1]") == "joe@doe.org, not jane@doe.org"


def test_a_number_is_hidden_where_nothing_says_what_it_is_once_another_text_does():
    mask = ReversibleMask([["My account number is 123456789.", "So 123 456-789 it is; 1234567890 is not."]])
    assert mask.groups == [["My account number is [account-1].", "So [account-1] it is; 1234567890 is not."]]


def test_numbers_begin_after_those_that_stand_there_already():
    mask = ReversibleMask([["[phone-7] and [email]: jane@doe.org"]])
    assert mask.groups == [["[phone-7] and [email]: [email-8]"]]
    assert mask.restore("[phone-7] [email] [email-8] [email-9]") == "[phone-7] [email] jane@doe.org [email-9]"


def test_a_name_is_one_in_the_texts_that_give_it_away_alone():
    mask = ReversibleMask([["You will judge."], ["I am Dr. Will Doe.", "Will said so."]])
    assert mask.groups == [["You will judge."], ["I am Dr. [name-1].", "[name-1] said so."]]


def test_a_password_that_is_the_word_of_a_mark_breaks_no_other_placeholder():
    mask = ReversibleMask([["password: account1", "My account number is 123456789, account1"]])
    assert mask.restore(mask.groups[0][1]) == "My account number is 123456789, account1"


def test_own_words_and_what_is_kept():
    mask = ReversibleMask(
        [["Call +1 555 234 9999 about Blue Falcon 5552349999"]], own_words(["blue falcon"]), keep="5552349999"
    )
    assert mask.groups == [["Call [phone-1] about [masked-1] 5552349999"]]


def test_a_long_secret_is_hidden_wherever_it_stands():
    secret = "sk-" + "a1B2" * 40
    mask = ReversibleMask([[f"key {secret}", f"x{secret}x"]])
    assert secret not in " ".join(mask.groups[0])
    assert mask.restore(mask.groups[0][0]) == f"key {secret}"


def test_an_expression_that_reaches_over_a_placeholder_comes_back_whole():
    mask = ReversibleMask([["case <jane@doe.org> closed"]], own_words(["/case <.*> closed/"]))
    assert mask.restore(mask.groups[0][0]) == "case <jane@doe.org> closed"


@given(TEXTS)
def test_what_is_masked_comes_back(texts):
    mask = ReversibleMask([texts])
    for text, masked in zip(texts, mask.groups[0], strict=True):
        # Equal values may be written in two ways: what comes back is the same but for case and gaps.
        assert _plain(mask.restore(masked)) == _plain(text)
        assert "jane@doe.org" not in masked


def _plain(text: str) -> str:
    return re.sub(r"[\s().\-/]", "", text).casefold()
