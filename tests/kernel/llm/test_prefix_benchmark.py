"""The endpoint of `python -m benchmarks.prefix` charges and compiles as its table says."""

import time

from benchmarks.prefix import (
    BLOCK,
    BYTES_A_TOKEN,
    ROWS_A_JUDGE,
    SHORTEST,
    CachingEndpoint,
    Request,
    heads_of,
    judge_all,
    table,
)
from tests.support.fake_openai import serving


def asked(system: str, user: str) -> dict[str, object]:
    """Return a request with a schema."""
    form = {"json_schema": {"schema": {"type": "object", "properties": {}}}}
    messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    return {"response_format": form, "messages": messages}


def test_whole_blocks_of_a_prefix_that_was_seen_are_cached_from_1024_tokens_on():
    endpoint, system = CachingEndpoint(), "s" * (SHORTEST + 2 * BLOCK) * BYTES_A_TOKEN
    assert endpoint._look_up(asked(system, "one")).cached_tokens == 0
    assert endpoint._look_up(asked(system, "two")).cached_tokens == SHORTEST + 2 * BLOCK
    assert endpoint._look_up(asked("x" + system, "two")).cached_tokens == 0
    short = "t" * (SHORTEST // 2) * BYTES_A_TOKEN
    assert [endpoint._look_up(asked(short, "one")).cached_tokens for _ in range(2)] == [0, 0]


def test_a_head_that_differs_from_row_to_row_is_seen():
    alike = b'{"type":"object"}system\n' + b"Judge." * 1000
    rows = [Request(alike, alike + bytes([65 + n]), 1408 * (n > 0)) for n in range(3)]
    [figures] = heads_of(rows)
    assert (figures.same, figures.cached) == (1.0, 1408 / (figures.tokens // BLOCK * BLOCK))
    nonces = [b'{"enum":["%d"]}system\n' % n + b"Judge." * 1000 for n in range(3)]
    [figures] = heads_of([Request(head, head, 0) for head in nonces])
    assert figures.same < 0.01
    assert figures.cached == 0


def test_each_judge_has_one_grammar_a_prompt_and_a_head_that_all_rows_share():
    found = {name: (heads, n) for name, heads, n in table(["correctness", "faithfulness"], ROWS_A_JUDGE)}
    assert [found[name][1] for name in found] == [1, 2, 1]
    for heads, _ in found.values():
        assert all(head.same == 1 and head.n_requests >= ROWS_A_JUDGE for head in heads)
    [together] = found["in one call"][0]
    assert together.cached == 1


def test_a_grammar_is_waited_for_once():
    fake = CachingEndpoint(compile_s=0.3)
    with serving(fake):
        started = time.perf_counter()
        judge_all(fake, ["correctness"], 12)
    assert time.perf_counter() - started > 0.3
    assert (fake.compiled.total(), fake.n_requests) == (1, 12)
