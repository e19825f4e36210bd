from __future__ import annotations

import itertools
import tomllib
from pathlib import Path

import pytest

from moonpad.catalog.hardware import hardware
from moonpad.catalog.published import published_by_id
from moonpad.catalog.step_constants import (
    NAMES,
    Corrections,
    StepConstants,
    constants,
    fitted_groups,
    spreads,
    step_constants,
)
from moonpad.engines import ENGINES
from moonpad.predict import Lengths, MeasuredPoint, PoolOf, ServingPlan, Workload, calibrate, predict, predict_pools
from moonpad.predict.calibrate import point_seconds
from moonpad.predict.corrections import corrected
from moonpad.values.errors import PreflightRefused
from moonpad.values.estimate import Estimate
from moonpad.values.plan import Settings
from moonpad.values.records import replace
from tests.unit.predict.served import h200, load, served

BEFORE = Path(__file__).parents[3] / "benchmarks/data/step_constants_before.toml"


def test_every_constant_lies_in_its_range() -> None:
    for name, row in constants().items():
        assert row.low <= row.value <= row.high, name
        if row.unit == "share":
            assert 0 < row.value <= 1, name


def test_every_constant_was_believed_before() -> None:
    """scripts/fit_step_constants.py starts there, and needs one for each."""
    before = tomllib.loads(BEFORE.read_text())["constants"]
    assert {*before} == {*NAMES}
    for name, row in before.items():
        assert row["low"] <= row["value"] <= row["high"], name


def test_groups_name_devices_and_engines_of_the_catalogue() -> None:
    for group in fitted_groups():
        assert group.device in hardware()
        assert group.engine in ENGINES


def test_every_standing_has_ranges() -> None:
    for key, spread in spreads().items():
        assert 0 < spread.low <= 1 <= spread.high, key


def test_a_published_run_of_h200_is_met() -> None:
    """InferenceX, vLLM 0.16 on 8xH200, 16 clients with 1024 tokens in and out: TPOT 16.4 ms, TTFT 196 ms."""
    workload = Workload(Lengths.uniform(819, 1024), Lengths.uniform(819, 1024), concurrency=16)
    found = predict(h200(), workload)
    assert found.standing == "interpolated"
    assert found.tpot_mean_s.value == pytest.approx(16.4e-3, rel=0.08)
    assert found.ttft_mean_s.value == pytest.approx(196e-3, rel=0.25)


@pytest.mark.parametrize("clients", [1, 16])
def test_figures_agree_with_each_other(clients: int) -> None:
    found = predict(h200(), load(1000, 200, clients))
    assert found.e2el_s.value == pytest.approx(found.ttft_s.value + 199 * found.tpot_s.value, rel=0.05)
    # Little's law over the whole run, whose last round is not full.
    assert found.requests_per_s.value * found.e2el_s.value == pytest.approx(clients, rel=0.1)
    assert found.output_tokens_per_s.value == pytest.approx(200 * found.requests_per_s.value)
    assert found.output_tokens_per_s_per_device.value == pytest.approx(found.output_tokens_per_s.value / 8)
    assert found.output_tokens_per_s_per_user.value == pytest.approx(1 / found.tpot_s.value)
    for estimate in (found.ttft_s, found.tpot_s, found.e2el_s, found.requests_per_s):
        assert estimate.low < estimate.value < estimate.high


@pytest.mark.parametrize(
    ("prompt", "answer", "clients"), [(1000, 500, 1), (1000, 500, 16), (8000, 500, 32), (200, 1000, 64)]
)
def test_the_quick_way_agrees_with_the_run(prompt: int, answer: int, clients: int) -> None:
    workload = Workload(Lengths.uniform(0.8 * prompt, prompt), Lengths.uniform(0.8 * answer, answer), clients)
    run, quick = predict(h200(), workload), predict(h200(), workload, quick=True)
    assert quick.tpot_s.value == pytest.approx(run.tpot_s.value, rel=0.05)
    assert quick.output_tokens_per_s.value == pytest.approx(run.output_tokens_per_s.value, rel=0.1)


@pytest.mark.parametrize("rate", [3.0, 8.0])
@pytest.mark.parametrize(
    "plan",
    [
        served("deepseek-ai/DeepSeek-R1", "8xH200", "sglang", "0.5.9", tp=8),
        served("nvidia/Kimi-K2.5-NVFP4", "2x8xB200", "vllm", "0.17.0", tp=4, dp=4, ep=16),
    ],
    ids=["prompts apart", "replicas in step"],
)
def test_the_quick_way_agrees_in_an_open_loop(plan: ServingPlan, rate: float) -> None:
    workload = Workload(Lengths.uniform(700, 1300), Lengths.uniform(200, 400), rate_per_s=rate, requests=400)
    run, quick = predict(plan, workload), predict(plan, workload, quick=True)
    assert quick.tpot_s.value == pytest.approx(run.tpot_s.value, rel=0.12)
    assert quick.ttft_s.value == pytest.approx(run.ttft_s.value, rel=0.12)


def test_an_open_loop_takes_what_it_is_sent_until_it_is_full() -> None:
    light = predict(h200(), load(1000, 200, None, rate_per_s=1.0, requests=100))
    assert not light.saturated
    assert light.requests_per_s.value == pytest.approx(1.0, rel=0.25)
    assert light.requests_per_s.low == light.requests_per_s.high
    heavy = predict(h200(), load(1000, 200, None, rate_per_s=200.0, requests=1000))
    assert heavy.saturated
    assert heavy.ttft_s.value > 5 * light.ttft_s.value
    assert predict(h200(), load(1000, 200, None, rate_per_s=200.0), quick=True).saturated


def test_more_clients_are_slower_for_each_and_faster_for_all() -> None:
    found = [predict(h200(), load(1000, 200, clients), quick=True) for clients in (1, 4, 16, 64)]
    for fewer, more in itertools.pairwise(found):
        assert more.tpot_s.value >= fewer.tpot_s.value
        assert more.output_tokens_per_s.value >= fewer.output_tokens_per_s.value


def test_a_result_of_others_at_this_very_load_is_named() -> None:
    plan = served(
        "moonshotai/Kimi-K2-Thinking",
        "16xA3",
        "vllm-ascend",
        "0.20.2rc1",
        Settings(max_num_seqs=12, max_num_batched_tokens=8192),
        tp=16,
        ep=16,
    )
    same = predict(plan, Workload(Lengths.fixed(1024), Lengths.fixed(1024), concurrency=4))
    assert same.standing == "measured by others at this point"
    measured = dict(published_by_id()["thinking-a3-c4"].figures)["mean_tpot_ms"] / 1e3
    assert same.tpot_mean_s.value == pytest.approx(measured)
    near = predict(plan, Workload(Lengths.fixed(3000), Lengths.fixed(1024), concurrency=4))
    assert near.standing == "interpolated"
    assert predict(plan, near.workload, by_others=False).standing == "from the data sheet"


def test_one_point_corrects_the_rest() -> None:
    """A machine a quarter slower in all that is read: one point brings other loads within a few percent."""
    slower = corrected(step_constants(), Corrections(memory=1.25, compute=1.1))
    loads = [load(1000, 100, 4, requests=8), load(1000, 100, 16, requests=32), load(4000, 100, 4, requests=8)]
    true = [point_seconds(MeasuredPoint(h200(), workload), slower) for workload in loads]
    first = MeasuredPoint(h200(), loads[1], *true[1])
    calibration = calibrate([first], base=step_constants())
    for workload, (tpot_s, _) in zip(loads, true, strict=True):
        before, _ = point_seconds(MeasuredPoint(h200(), workload), step_constants())
        after, _ = point_seconds(MeasuredPoint(h200(), workload), calibration.constants(step_constants()))
        assert abs(after / tpot_s - 1) < abs(before / tpot_s - 1) / 2


def test_a_calibration_meets_its_own_point() -> None:
    """On top of what the catalogue corrects for this device and weights, as `predict` takes it."""
    workload = load(1000, 100, 8, requests=16)
    before = predict(h200(), workload)
    point = MeasuredPoint(h200(), workload, before.tpot_s.value * 1.3, before.ttft_s.value * 1.2)
    calibration = calibrate([point])
    after = predict(h200(), workload, calibration=calibration)
    assert after.standing == "measured here"
    assert after.tpot_s.value == pytest.approx(before.tpot_s.value * 1.3)
    other = load(1000, 100, 7, requests=16)
    near, was = predict(h200(), other, calibration=calibration), predict(h200(), other)
    assert near.standing == "calibrated here"
    assert near.tpot_s.value == pytest.approx(was.tpot_s.value * 1.3, rel=0.05)


def test_without_points_nothing_is_corrected() -> None:
    assert calibrate([]).corrections == Corrections()


def test_a_thorough_calibration_finds_a_processor_far_from_what_was_believed() -> None:
    """Four loads as `calibrate` sends them to the embedded engine, from a machine seven times slower at attention."""
    tiny = served("kimi-k2-tiny", "cpu", "vllm-cpu", "", Settings(kv_cache_gib=1, max_model_len=4096), tp=1)
    truth = Corrections(compute=3.5, fixed=2.0, sequences=2.0, prefill=7.0, decode=9.0)
    loads = [(128, 64, 1, 10), (128, 64, 16, 48), (3008, 16, 1, 10), (1504, 64, 4, 24), (376, 64, 16, 48)]
    workloads = [replace(load(*each[:3], requests=each[3]), chat=True) for each in loads]
    slow = corrected(step_constants(), truth)
    points = [MeasuredPoint(tiny, each, *point_seconds(MeasuredPoint(tiny, each), slow)) for each in workloads]
    found = calibrate(points, base=step_constants(), thorough=True)
    other = replace(load(800, 48, 8, requests=40), chat=True)
    want, got = (simulated(tiny, other, constants) for constants in (slow, found.constants(step_constants())))
    assert got == pytest.approx(want, rel=0.1)


def simulated(plan: ServingPlan, workload: Workload, constants: StepConstants) -> tuple[float, float]:
    return point_seconds(MeasuredPoint(plan, workload), constants)


def test_one_run_that_went_wrong_does_not_decide() -> None:
    good = [load(1000, 50, clients, requests=8) for clients in (1, 2, 4, 8)]
    points = [
        MeasuredPoint(h200(), each, *point_seconds(MeasuredPoint(h200(), each), step_constants())) for each in good
    ]
    wrong = MeasuredPoint(h200(), good[0], points[0].tpot_s * 5, points[0].ttft_s)  # type: ignore[operator]
    found = calibrate([*points, wrong], base=step_constants()).corrections
    assert all(0.85 < factor < 1.2 for factor in (found.memory, found.compute, found.fixed))


def test_pools_keep_little_s_law_and_decode_undisturbed() -> None:
    decode = served("nvidia/Kimi-K2.5-NVFP4", "4xGB200", "vllm", "0.18.0", tp=4)
    workload = Workload(Lengths.fixed(8192), Lengths.fixed(1024), concurrency=32)
    found = predict_pools(PoolOf(decode), PoolOf(decode, 2), workload)
    assert found.requests_per_s.value * found.e2el_s.value == pytest.approx(32, rel=0.02)
    together = predict(decode, Workload(Lengths.fixed(8192), Lengths.fixed(1024), concurrency=16), quick=True)
    assert found.tpot_s.value < together.tpot_s.value
    assert found.output_tokens_per_s_per_device.value == pytest.approx(found.output_tokens_per_s.value / 12)
    more = predict_pools(PoolOf(decode, 2), PoolOf(decode, 2), workload)
    assert more.ttft_s.value <= found.ttft_s.value


def test_json_has_every_estimate() -> None:
    found = predict(h200(), load())
    document = found.as_json()
    assert document["tpot_s"] == found.tpot_s.as_json()
    assert document["step"]["experts_s"] == found.step.experts
    names = [name for name in found.__slots__ if isinstance(getattr(found, name), Estimate)]
    assert {*names} < {*document}


@pytest.mark.parametrize("quick", [False, True])
def test_a_request_without_room_is_refused(quick: bool) -> None:
    with pytest.raises(PreflightRefused, match="a request of 2,000,200 tokens does not fit the KV cache"):
        predict(h200(), load(2_000_000), quick=quick)


def test_what_is_assumed_is_said() -> None:
    drafting = served(settings=Settings(draft_tokens=3))
    assert any("accepted" in note for note in predict(drafting, load(), quick=True).notes)
    assert predict(drafting, load(acceptance=0.7), quick=True).notes == ()
