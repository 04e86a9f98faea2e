"""The keys file."""

import pytest

from ragstone.kernel.errors import ConfigError
from ragstone.kernel.serve.keys import digests, name_of, read_keys


def test_a_key_tells_whose_it_is(tmp_path):
    path = tmp_path / "keys.toml"
    path.write_text('anna = "0123456789abcdef"\n"ben, office" = "fedcba9876543210"\n')
    keys = digests(read_keys(path))
    assert name_of(keys, "Bearer fedcba9876543210") == "ben, office"
    assert name_of(keys, "Bearer fedcba987654321") is None
    assert name_of(keys, "Bearer ") is None
    assert name_of(keys, None) is None
    assert name_of(keys, "Bearer schlüssel\udcff") is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "cannot be read"),
        ("anna = ", "Each line is"),
        ("anna = " + "[" * 900, "nested more than 100 deep"),
        ("", "has no key"),
        ('anna = "short"', "anna is not a string of at least 16 characters"),
        ("anna = 1234567890123456", "anna is not a string"),
    ],
)
def test_a_file_that_holds_no_keys_is_told(tmp_path, text, words):
    path = tmp_path / "keys.toml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ConfigError, match=words):
        read_keys(path)


def test_two_names_with_the_same_key_are_a_mistake():
    with pytest.raises(ConfigError, match="the same"):
        digests({"anna": "0123456789abcdef", "ben": "0123456789abcdef"})
