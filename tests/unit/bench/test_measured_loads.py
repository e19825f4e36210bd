"""Results of four programs, read as loads. The documents have the keys that each of them writes."""

from __future__ import annotations

from typing import Any

import pytest

from moonpad.bench.calibration_loads import calibration_loads
from moonpad.bench.measured_loads import measured_loads
from moonpad.values.errors import UsageError

VLLM: dict[str, Any] = {
    "num_prompts": 40,
    "request_rate": "inf",
    "max_concurrency": 4,
    "completed": 40,
    "total_input_tokens": 4000,
    "total_output_tokens": 800,
    "median_ttft_ms": 250.0,
    "median_tpot_ms": 20.0,
    "output_throughput": 100.0,
}
AIPERF: dict[str, Any] = {
    "time_to_first_token": {"unit": "ms", "avg": 300.0, "p50": 250.0},
    "inter_token_latency": {"unit": "ms", "avg": 22.0, "p50": 20.0},
    "input_sequence_length": {"unit": "tokens", "avg": 100.0},
    "output_sequence_length": {"unit": "tokens", "avg": 20.0},
    "request_count": {"unit": "requests", "avg": 40.0},
    "input_config": {"loadgen": {"concurrency": 4, "request_rate": None}},
}


@pytest.mark.parametrize("document", [VLLM, [VLLM], {"points": [VLLM]}, AIPERF, {"records": AIPERF, **AIPERF}])
def test_each_program_says_the_same(document: Any) -> None:
    (load,) = measured_loads(document, "x")
    assert (load.tpot_s, load.ttft_s) == (pytest.approx(0.02), pytest.approx(0.25))
    assert (load.workload.input.mean, load.workload.output.mean) == (100, 20)
    assert (load.workload.concurrency, load.workload.rate_per_s, load.workload.requests) == (4, None, 40)


def test_seconds_are_seconds() -> None:
    seconds = {**AIPERF, "inter_token_latency": {"unit": "s", "p50": 0.02}}
    assert measured_loads(seconds, "x")[0].tpot_s == pytest.approx(0.02)


def test_a_rate_is_an_open_loop() -> None:
    (load,) = measured_loads({**VLLM, "request_rate": 2.5, "max_concurrency": None}, "x")
    assert (load.workload.concurrency, load.workload.rate_per_s) == (None, 2.5)


def test_all_at_once_without_a_limit_are_as_many_clients_as_requests() -> None:
    (load,) = measured_loads({**VLLM, "max_concurrency": None}, "x")
    assert load.workload.concurrency == 40


def test_the_lengths_of_each_request_are_used() -> None:
    (load,) = measured_loads({**VLLM, "input_lens": [50, 150], "output_lens": [20, 20]}, "x")
    assert load.workload.input.quantiles == (50, 150)


@pytest.mark.parametrize(
    "document",
    [
        None,
        3,
        {},
        [],
        {"completed": 0, "total_output_tokens": 3},
        {**VLLM, "median_ttft_ms": None, "median_tpot_ms": 0},
    ],
)
def test_what_is_no_result_is_refused(document: Any) -> None:
    with pytest.raises(UsageError, match="no result"):
        measured_loads(document, "x")


@pytest.mark.parametrize(("context", "sequences"), [(128, 1), (4096, 32), (262144, 1024), (300, None)])
def test_the_loads_fit_the_endpoint(context: int, sequences: int | None) -> None:
    for config in calibration_loads(context, sequences):
        assert isinstance(config.input_tokens, int)
        assert isinstance(config.output_tokens, int)
        assert config.input_tokens + config.output_tokens <= context
        assert 1 <= (config.concurrency or 0) <= (sequences or 1024)


def test_a_context_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="too short"):
        calibration_loads(100, 8)
