"""Errors that say what to do next."""

import inspect

import pytest

from ragstone.kernel import errors
from ragstone.kernel.errors import (
    ConfigError,
    DataError,
    MissingExtra,
    ModelError,
    RagstoneError,
    explaining,
    nearest,
)
from ragstone.kernel.llm import CallFailed


def test_all_errors_are_one_tree_and_the_docstring_shows_it():
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, Exception)]
    assert len(kinds) >= 5
    for kind in [*kinds, CallFailed]:
        assert issubclass(kind, RagstoneError)
        assert kind.__name__ in (errors.__doc__ or "")


def test_a_failed_call_is_an_error_of_the_model_that_carries_the_rows_status():
    failure = CallFailed("timeout", "too slow", raw="said", retry_after_s=3, retryable=True)
    assert isinstance(failure, ModelError)
    assert (failure.status, failure.raw, failure.retry_after_s, failure.retryable) == (
        "timeout",
        "said",
        3,
        True,
    )
    assert str(failure) == "too slow"


def test_a_missing_extra_names_the_command():
    message = "reading a.parquet needs an optional package. Install it with: pip install 'ragstone[parquet]'"
    assert str(MissingExtra("reading a.parquet", "parquet")) == message


def test_what_a_file_failed_with_is_told_with_what_to_do(says):
    told = r"^f: cannot be written \(No space\)\. Make room\.$"
    with pytest.raises(DataError, match=told), explaining("f: cannot be written", "Make room."):
        raise OSError(28, "No space")
    of = explaining("f: no number", "", ValueError, KeyError, error=ConfigError)
    with pytest.raises(ConfigError) as error, of:
        raise ValueError("x")
    says(error.value)
    with pytest.raises(OSError, match="other"), explaining("f: no number", "", ValueError):
        raise OSError("other")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("corectness", "Did you mean 'correctness'? All: answered, correctness, relevance."),
        ("x", "Known: answered, correctness, relevance."),
        ("", "Known: answered, correctness, relevance."),
    ],
)
def test_the_nearest_names_are_offered_or_all(name, hint, says):
    assert nearest(name, ["relevance", "correctness", "answered"]) == hint
    says(nearest(name, []))
