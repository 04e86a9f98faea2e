"""What a ledger holds, cost and saved: every figure is worked out in a comment."""

import contextlib
import datetime
import sqlite3

import pytest
from tests.support.ledgers import JAN_10, Kept, key, make_ledger, set_hit_day

from ragstone.features.ledger._account import CallTally, price_of, read_account, tally_usd
from ragstone.kernel.config import ModelSettings, Price, Settings
from ragstone.kernel.errors import DataError

NANO = Price(input=1, output=4, cached=0.5)
PRICED = Settings(models={"openai/nano": ModelSettings(price_usd_per_million=NANO)})


def test_calls_tokens_and_money_by_model_and_day(tmp_path):
    kept = [
        Kept("openai/nano", JAN_10, (1000, 100, 400)),
        Kept("openai/nano", JAN_10 + 0.9999, (3000, 200, 0)),
        Kept("openai/nano", JAN_10 + 1, (500, 50, 0)),
        Kept("llamacpp/small@0123", JAN_10, (70, 7, 0)),
    ]
    path = make_ledger(tmp_path / "l", kept, hits=[0, 0, 2, 3])
    set_hit_day(path, JAN_10 + 5)
    account = read_account(path, PRICED)
    assert account.responses == 4
    assert account.n_bytes == path.stat().st_size > 0
    assert account.unpriced == []
    small, nano = account.models
    assert (small.model, small.spent_usd, small.saved_usd) == ("llamacpp/small@0123", 0.0, 0.0)
    assert small.made == CallTally(calls=1, input=70, output=7)
    assert nano.made == CallTally(calls=3, input=4500, output=350, cached=400)
    # 4,100 fresh at 1, 400 cached at 0.5 and 350 out at 4, a million: 0.0041 + 0.0002 + 0.0014
    assert nano.spent_usd == pytest.approx(0.0057)
    assert nano.hits == CallTally(calls=3, input=2500, output=250, cached=800)
    # 1,700 fresh, 800 cached, 250 out: 0.0017 + 0.0004 + 0.0010
    assert nano.saved_usd == pytest.approx(0.0031)
    jan_10, jan_11, jan_15 = account.days
    assert [str(day.day) for day in account.days] == ["2026-01-10", "2026-01-11", "2026-01-15"]
    assert jan_10.made == CallTally(calls=3, input=4070, output=307, cached=400)
    # 0.0036 + 0.0002 + 0.0012; the model in this process is free
    assert jan_10.spent_usd == pytest.approx(0.0050)
    assert jan_11.spent_usd == pytest.approx(0.0005 + 0.0002)
    assert (jan_15.made, jan_15.spent_usd) == (CallTally(), 0.0)
    assert (jan_15.hits.calls, jan_15.saved_usd) == (4, nano.saved_usd)
    assert [(str(line.day), line.model, line.made.calls, line.hits.calls) for line in account.lines] == [
        ("2026-01-10", "llamacpp/small@0123", 1, 0),
        ("2026-01-10", "openai/nano", 2, 0),
        ("2026-01-11", "openai/nano", 1, 0),
        ("2026-01-15", "llamacpp/small@0123", 0, 1),
        ("2026-01-15", "openai/nano", 0, 3),
    ]
    assert (account.total.made.calls, account.total.hits.calls) == (4, 4)
    assert account.total.spent_usd == pytest.approx(0.0057)
    assert account.total.day is account.total.model is None


def test_an_unknown_price_is_unknown_wherever_it_takes_part_and_never_zero(tmp_path):
    kept = [Kept("openai/nano", JAN_10), Kept("openai/other@localhost:1/v1", JAN_10 + 1)]
    account = read_account(make_ledger(tmp_path / "l", kept), PRICED)
    nano, other = account.models
    assert (other.spent_usd, account.days[1].spent_usd, account.total.spent_usd) == (None, None, None)
    assert (other.saved_usd, account.total.saved_usd) == (0.0, 0.0)  # there was nothing to save
    assert nano.spent_usd == account.days[0].spent_usd == pytest.approx(0.00015)  # 40 + 30 + 80 millionths
    assert account.unpriced == ["openai/other@localhost:1/v1"]


def test_calls_whose_tokens_nobody_counted_cost_an_unknown_amount(tmp_path):
    kept = [
        Kept("openai/nano", usage=(0, 0, 0)),
        Kept("openai/nano"),
        Kept("llamacpp/small@0123", usage=(0, 0, 0)),
    ]
    small, nano = read_account(make_ledger(tmp_path / "l", kept, hits=[1]), PRICED).models
    assert (nano.made.calls, nano.made.uncounted, nano.spent_usd) == (2, 1, None)
    assert nano.saved_usd == pytest.approx(0.00015)  # that hit was counted
    assert (small.made.uncounted, small.spent_usd) == (1, 0.0)  # free, however many they were


def test_a_call_of_a_batch_cost_less_by_its_discount_but_saves_the_whole_price(tmp_path):
    path = make_ledger(tmp_path / "l", [Kept("openai/nano"), Kept("openai/nano")], hits=[0])
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        response = '{"text": "t", "usage": {"input": 100, "output": 20, "cached": 60}, "discount": 0.5}'
        connection.execute(
            "UPDATE responses SET response = ?, checksum = NULL WHERE key = ?", (response.encode(), key(0))
        )
    (nano,) = read_account(path, PRICED).models
    assert nano.made == CallTally(calls=2, input=200, output=40, cached=120)
    assert nano.spent_usd == pytest.approx(0.00015 / 2 + 0.00015)  # see above: 150 millionths for each
    assert nano.saved_usd == pytest.approx(0.00015)


def test_an_empty_ledger_cost_nothing(tmp_path):
    account = read_account(make_ledger(tmp_path / "l", []), Settings())
    assert (account.responses, account.lines, account.total.spent_usd) == (0, [], 0.0)


def test_no_ledger_is_said_and_none_is_made(says, tmp_path):
    with pytest.raises(DataError) as caught:
        read_account(tmp_path / "ledger.sqlite", Settings())
    says(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_no_calls_cost_nothing_even_at_an_unknown_price():
    assert tally_usd(CallTally(), None) == 0.0
    assert tally_usd(CallTally(calls=1, input=1), None) is None
    # Without a price for cached tokens they cost as much as fresh ones: 2 + 1 x 3, a million.
    price = Price(input=1, output=3)
    assert tally_usd(CallTally(calls=1, input=2, cached=2, output=1), price) == pytest.approx(5e-6)


def test_the_price_is_that_of_the_settings_wherever_the_model_was_asked():
    gguf = {"llamacpp/models/q8.gguf": ModelSettings(price_usd_per_million=NANO)}
    settings = Settings(models={**PRICED.models, **gguf, "openai/told": ModelSettings(timeout_s=5)})
    assert price_of("openai/nano", settings) == NANO
    assert price_of("openai/nano@localhost:8000/v1", settings) == NANO
    assert price_of("llamacpp/q8@0123456789abcdef", settings) == NANO
    assert price_of("openai/told@localhost:8000/v1", settings) is None
    assert price_of("openai/nano-large", settings) is None
    assert price_of("litellm/nano", settings) is None


def test_without_settings_the_price_is_what_the_transport_knows():
    listed = price_of("openai/gpt-4o-mini", Settings())
    assert listed is not None
    assert listed.input > 0
    assert price_of("openai/gpt-4o-mini@localhost:8000/v1", Settings()) is None  # another's, at its own price
    assert price_of("llamacpp/q8@0123456789abcdef", Settings()) == Price(input=0, output=0)


def test_days_are_those_of_utc():
    assert datetime.date(1970, 1, 1) + datetime.timedelta(days=JAN_10) == datetime.date(2026, 1, 10)
