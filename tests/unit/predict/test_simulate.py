"""The scheduler's run against queueing theory, conservation laws, and a stepper that knows no leaps."""

from __future__ import annotations

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.predict.arrivals import Requests, draw_requests
from moonpad.predict.scheduler_policy import SchedulerPolicy
from moonpad.predict.simulate import Run, simulate
from moonpad.values.errors import PreflightRefused
from moonpad.values.workload import Lengths, Workload
from tests.unit.predict.served import load

VLLM = SchedulerPolicy(
    sequences=1024,
    step_tokens=8192,
    step_limit=8192,
    kv_tokens=math.inf,
    mixes=True,
    reserved=0.0,
    prefix_caching=False,
)


def policy(**changes: object) -> SchedulerPolicy:
    values = {name: getattr(VLLM, name) for name in VLLM.__slots__}
    return SchedulerPolicy(**{**values, **changes})  # type: ignore[arg-type]


def steady(decodes: float, context: float, prefill: float, pairs: float, chunks: int) -> float:
    return 0.01


def linear(decodes: float, context: float, prefill: float, pairs: float, chunks: int) -> float:
    return 0.01 + 1e-4 * decodes + 1e-7 * context + 1e-5 * prefill + 1e-9 * pairs


def at_once(count: int, prompt: int, answer: int) -> Requests:
    return Requests([0.0] * count, [prompt] * count, [answer] * count, [0] * count)


def test_equal_requests_in_equal_steps() -> None:
    """Four clients, two rounds: a step computes all prompts, nine more write nine tokens."""
    run = simulate(at_once(8, 100, 10), VLLM, steady, concurrency=4)
    assert run.duration_s == pytest.approx(2 * 10 * 0.01)
    assert run.ttft_s == pytest.approx([0.01] * 8)
    assert run.decode_s == pytest.approx([0.09] * 8)


def test_prompts_are_read_one_after_another() -> None:
    """The first is read after 4 ms and has a step of its own; the other two are read in it and share the next."""
    run = simulate(at_once(3, 100, 2), VLLM, steady, reading_s=lambda prompt: 0.00004 * prompt)
    assert run.ttft_s == pytest.approx([0.014, 0.024, 0.024])
    assert run.duration_s == pytest.approx(0.034)


def test_what_is_read_while_others_decode_does_not_wait_for_their_end() -> None:
    run = simulate(at_once(2, 100, 20), VLLM, steady, reading_s=lambda prompt: 0.035)
    # Read after 35 ms and after 70: the step that begins at 65 ms ends at 75, and the next one has the second prompt.
    assert run.ttft_s == pytest.approx([0.045, 0.085])


def test_what_a_client_does_not_see_counts_to_its_first_token() -> None:
    """The first of two tokens that nobody sees is done with the prompt; the second with the step in which the other
    prompt is computed."""
    late = Requests([0.0, 0.005], [100, 40_000], [4, 2], [0, 0])
    seen, unseen = (simulate(late, policy(step_tokens=50_000, step_limit=50_000), linear, unseen=n) for n in (0, 1))
    assert unseen.duration_s == pytest.approx(seen.duration_s)
    assert seen.ttft_s[0] == pytest.approx(linear(0, 0, 100, 5000, 1))
    assert unseen.ttft_s[0] == pytest.approx(seen.ttft_s[0] + linear(1, 100, 40_000, 8e8, 1))
    assert unseen.decode_s[0] == pytest.approx(seen.decode_s[0] + seen.ttft_s[0] - unseen.ttft_s[0])
    whole = [sum(pair) for pair in zip(seen.ttft_s, seen.decode_s, strict=True)]
    assert [sum(pair) for pair in zip(unseen.ttft_s, unseen.decode_s, strict=True)] == pytest.approx(whole)


def test_an_answer_of_nothing_but_what_is_not_seen_is_seen_at_its_end() -> None:
    run = simulate(at_once(2, 100, 2), VLLM, steady, unseen=5)
    assert run.ttft_s == pytest.approx([0.02] * 2)
    assert run.decode_s == pytest.approx([0.0] * 2)


def test_what_is_not_seen_survives_a_preemption() -> None:
    run = simulate(at_once(6, 100, 100), policy(kv_tokens=700.0), linear, unseen=60)
    assert run.preemptions > 0
    assert all(first > 0 and rest >= 0 for first, rest in zip(run.ttft_s, run.decode_s, strict=True))


def test_a_long_prompt_takes_several_steps() -> None:
    run = simulate(at_once(1, 20_000, 2), VLLM, steady)
    assert run.ttft_s == pytest.approx([0.03])


def test_a_prompt_that_may_not_be_split_waits_for_a_step_of_its_own() -> None:
    """Of three prompts of 3,000 tokens a step of 8,192 takes two, and with chunks the start of the third."""
    chunked, whole = (simulate(at_once(3, 3000, 2), policy(whole_prompts=each), linear) for each in (False, True))
    assert chunked.ttft_s[0] == pytest.approx(linear(0, 0, 8192, 2 * 3000**2 / 2 + 2192**2 / 2, 3))
    assert whole.ttft_s[0] == whole.ttft_s[1] == pytest.approx(linear(0, 0, 6000, 2 * 3000**2 / 2, 2))
    assert whole.ttft_s[2] == pytest.approx(whole.ttft_s[0] + linear(2, 6000, 3000, 3000**2 / 2, 1), rel=0.01)


def test_decoding_goes_on_beside_prompts_only_where_the_engine_mixes() -> None:
    late = Requests([0.0, 0.035], [100, 40_000], [20, 2], [0, 0])
    mixing, separate = simulate(late, VLLM, steady), simulate(late, policy(mixes=False), steady)
    assert mixing.decode_s[0] == pytest.approx(0.19)
    assert separate.decode_s[0] == pytest.approx(0.19 + 5 * 0.01)


def test_no_more_sequences_than_allowed() -> None:
    run = simulate(at_once(8, 100, 10), policy(sequences=2), steady)
    assert run.duration_s == pytest.approx(4 * 10 * 0.01)


def test_a_small_cache_preempts_and_everything_is_answered() -> None:
    run = simulate(at_once(6, 100, 100), policy(kv_tokens=700.0), linear)
    assert run.preemptions > 0
    assert all(math.isfinite(seconds) for seconds in run.decode_s)
    roomy = simulate(at_once(6, 100, 100), VLLM, linear)
    assert roomy.preemptions == 0
    assert run.duration_s > roomy.duration_s


def test_reserving_room_for_the_whole_answer_never_preempts() -> None:
    run = simulate(at_once(6, 100, 100), policy(kv_tokens=700.0, reserved=1.0), linear)
    assert run.preemptions == 0


def test_a_request_longer_than_the_cache_is_refused() -> None:
    with pytest.raises(PreflightRefused, match="1,100 tokens does not fit the KV cache, which holds 1,000"):
        simulate(at_once(1, 1000, 100), policy(kv_tokens=1000.0), steady)


def test_a_shared_prefix_is_computed_once() -> None:
    seen: list[float] = []

    def counting(decodes: float, context: float, prefill: float, pairs: float, chunks: int) -> float:
        seen.append(prefill)
        return 0.01

    workload = load(1000, 2, 1, shared_prefix=0.9, requests=5)
    simulate(draw_requests(workload), policy(prefix_caching=True), counting, concurrency=1)
    assert sum(seen) == 1000 + 4 * 100
    seen.clear()
    simulate(draw_requests(workload, prefix_caching=False), VLLM, counting, concurrency=1)
    assert sum(seen) == 5 * 1000


@pytest.mark.parametrize("busy", [0.5, 0.8])
def test_waiting_is_that_of_md1(busy: float) -> None:
    """One prompt a step, answers of one token: a queue with random arrivals and equal service (Pollaczek-Khinchine)."""
    service = 0.01
    workload = load(8192, 1, None, rate_per_s=busy / service, requests=12_000, seed=3)
    run = simulate(draw_requests(workload), VLLM, steady)
    waiting = sum(run.ttft_s) / len(run.ttft_s) - service
    assert waiting == pytest.approx(busy * service / (2 * (1 - busy)), rel=0.12)


@given(st.integers(0, 10_000), st.integers(1, 40), st.booleans(), st.sampled_from([1.0, 2.2]))
def test_little_s_law_and_conservation(seed: int, clients: int, mixes: bool, tokens: float) -> None:
    random = Random(seed)
    count = random.randint(clients, 3 * clients)
    requests = Requests(
        [0.0] * count,
        [random.randint(1, 3000) for _ in range(count)],
        [random.randint(1, 300) for _ in range(count)],
        [0] * count,
    )
    run = simulate(requests, policy(mixes=mixes, tokens_per_step=tokens), linear, concurrency=clients)
    whole = [first + rest for first, rest in zip(run.ttft_s, run.decode_s, strict=True)]
    assert run.in_flight == pytest.approx(count / run.duration_s * sum(whole) / count)
    assert run.in_flight <= clients + 1e-9
    assert run.duration_s == pytest.approx(max(s + w for s, w in zip(run.sent_s, whole, strict=True)))


@given(st.integers(0, 10_000), st.sampled_from([None, 3]))
def test_leaps_change_nothing(seed: int, clients: int | None) -> None:
    """With a cost that is linear in the context, leaps are exact."""
    random = Random(seed)
    arrivals = sorted(random.uniform(0, 2) for _ in range(12)) if clients is None else [0.0] * 12
    prompts, answers = ([random.randint(1, limit) for _ in range(12)] for limit in (6000, 60))
    run = simulate(Requests(arrivals, prompts, answers, [0] * 12), VLLM, linear, concurrency=clients)
    expected = _step_by_step(arrivals, prompts, answers, clients or 12)
    assert run.ttft_s == pytest.approx([first for first, _ in expected])
    assert run.decode_s == pytest.approx([rest for _, rest in expected])


def _step_by_step(
    arrivals: list[float], prompts: list[int], answers: list[int], clients: int
) -> list[tuple[float, float]]:
    """Each step on its own, with plain lists: what `simulate` shortens."""
    now, sent, first, last = 0.0, {}, {}, {}  # type: ignore[var-annotated]
    computed, written = dict.fromkeys(range(len(prompts)), 0), dict.fromkeys(range(len(prompts)), 0)
    while len(last) < len(prompts):
        for number, arrival in enumerate(arrivals):
            if number not in sent and arrival <= now and len(sent) - len(last) < clients:
                sent[number] = now if max(arrivals) == 0 else arrival
        live = [number for number in sent if number not in last]
        if not live:
            now = min(arrival for number, arrival in enumerate(arrivals) if number not in sent)
            continue
        decoding = [number for number in live if written[number]]
        context = sum(prompts[number] + written[number] - 1 for number in decoding)
        budget, pairs, chunks = 8192 - len(decoding), 0.0, {}
        for number in live:
            size = min(budget, prompts[number] - computed[number])
            if size > 0:
                chunks[number] = size
                pairs += size * (computed[number] + size / 2)
                budget -= size
        now += linear(len(decoding), context, sum(chunks.values()), pairs, 1)
        for number, size in chunks.items():
            computed[number] += size
            if computed[number] == prompts[number]:
                written[number], first[number] = 1, now
        for number in decoding:
            written[number] += 1
        for number in live:
            if written[number] == answers[number] and number not in last:
                last[number] = now
    return [(first[number] - sent[number], last[number] - first[number]) for number in range(len(prompts))]


def test_the_same_seed_gives_the_same_run() -> None:
    workload = Workload(Lengths.uniform(10, 1000), Lengths.lognormal(100, 1.0), rate_per_s=20.0, requests=100, seed=7)
    runs = [simulate(draw_requests(workload), VLLM, linear) for _ in range(2)]
    assert runs[0] == runs[1]
    assert draw_requests(workload) != draw_requests(
        Workload(workload.input, workload.output, rate_per_s=20.0, requests=100, seed=8)
    )


def test_more_clients_never_serve_fewer_requests_a_second() -> None:
    rates = []
    for clients in (1, 2, 4, 8, 16, 32):
        run: Run = simulate(at_once(64, 500, 50), VLLM, linear, concurrency=clients)
        rates.append(64 / run.duration_s)
    assert rates == sorted(rates)
