"""What a password must be, and how it is kept."""

import pytest

from ragstone.kernel.errors import DataError
from ragstone.workbench.passwords import check_password, hash_password, is_password


def test_length_is_all_that_is_asked_of_a_password():
    check_password("aaaaaaaaaa")
    check_password("x" * 1000)
    for wrong in ("aaaaaaaaa", "x" * 1001, ""):
        with pytest.raises(DataError):
            check_password(wrong)


@pytest.mark.long
def test_a_password_is_kept_as_argon2id_with_a_salt_of_its_own():
    first, second = hash_password("correct horse"), hash_password("correct horse")
    assert first.startswith("$argon2id$v=19$m=65536,t=3,p=4$")
    assert first != second
    assert is_password("correct horse", first)
    assert not is_password("correct horsE", first)
    assert not is_password("of nobody", None)


def test_a_password_may_be_typed_on_another_keyboard():
    assert is_password("e\u0301cole du soir", hash_password("\u00e9cole du soir"))
