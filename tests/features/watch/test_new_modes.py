import datetime
from zlib import crc32

import pytest

from ragstone.features.watch._new_modes import JudgedExchange, find_new_modes
from ragstone.kernel.records import Answer

BEGIN = datetime.date(2026, 1, 1)
REFUSAL, RIGHT = "I do not know, sorry.", "The maize field needs water after the frost."


def log_of(n_days: int, who, new_from: int = 50, a_day: int = 12):
    """Return exchanges of which a third refuse, and are wrong, from a day on; and their answers."""
    rows, answers = [], {}
    for n in range(n_days * a_day):
        day = n // a_day
        is_new = day >= new_from and n % 3 == 0
        question = f"What about plot {n}?"
        answers[n] = Answer(
            question_id=str(n), system="log", question=question, answer=REFUSAL if is_new else RIGHT
        )
        wrong = is_new or n % 20 == 0
        ordinal = (BEGIN + datetime.timedelta(days=day)).toordinal()
        rows.append(JudgedExchange(n=n, day=ordinal, wrong=wrong, chance=1.0, who=who(n), question=question))
    return rows, lambda numbers: {n: answers[n] for n in numbers}


def test_a_kind_of_mistake_that_begins_is_found():
    rows, read = log_of(70, lambda n: f"user {n % 40}")
    [mode] = find_new_modes(rows, read, BEGIN + datetime.timedelta(days=70), 0.001)
    assert mode.signs.sign.measure == "refuses"


@pytest.mark.parametrize("n_alone", [0, 500, 840])
def test_where_all_who_asked_are_of_one_half_no_other_decides_and_nothing_is_found(n_alone):
    names = [name for at in range(200) if crc32((name := f"user {at}").encode()) % 2 == 0]
    rows, read = log_of(70, lambda n: names[n % 40] if n < n_alone else f"user {n % 40}")
    found = find_new_modes(rows, read, BEGIN + datetime.timedelta(days=70), 0.001)
    assert bool(found) is (n_alone == 0)
