"""The words of `--set` and `--context`."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.plan.request import Value, parse_set, parse_tokens
from moonpad.plan.setting_fallbacks import Kind, Lowering
from moonpad.values.errors import UsageError
from moonpad.values.plan import Settings
from moonpad.values.records import replace


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("32768", 32768), ("128k", 131072), ("256K", 262144), ("1m", 1048576), ("12,288", 12288), ("12_288", 12288)],
)
def test_tokens(text: str, tokens: int) -> None:
    assert parse_tokens(text) == tokens


@pytest.mark.parametrize("text", ["", "k", "0", "-1", "1.5k", "1e5", "128 k", "9" * 40, "٣", "2048m"])
def test_no_tokens(text: str) -> None:
    with pytest.raises(UsageError, match="not a number of tokens"):
        parse_tokens(text)


def test_layout_and_settings_by_every_engines_names() -> None:
    layout, settings = parse_set(
        (
            "tp=8",
            "--data-parallel-size=2",
            "ep_size=16",
            "max_running_requests=64",
            "chunked-prefill-size=8k",
            "mem_fraction_static=0.85",
            "context_length=128k",
            "disable_cuda_graph=true",
            "disable_radix_cache=true",
            "kv_cache_dtype=fp8_e4m3",
            "kt_num_gpu_experts=0",
            "kv_cache_free_gpu_memory_fraction=1.0",
        )
    )
    assert layout == {"tp": 8, "dp": 2, "ep": 16}
    assert settings == {
        "max_num_seqs": 64,
        "max_num_batched_tokens": 8192,
        "gpu_memory_utilization": 0.85,
        "max_model_len": 131072,
        "enforce_eager": True,
        "prefix_caching": False,
        "kv_cache_dtype": "fp8_e4m3",
        "gpu_experts": 0,
        "kv_free_fraction": 1.0,
    }
    Settings(**settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("tpp=8", 'did you mean "tp"'),
        ("max_num_seq=8", 'did you mean "max_num_seqs"'),
        ("tp", "takes key=value"),
        ("tp=eight", "not a whole number of 1 or more"),
        ("tp=0", "not a whole number of 1 or more"),
        ("gpu_memory_utilization=90", "not a fraction"),
        ("gpu_memory_utilization=nan", "not a fraction"),
        ("enforce_eager=yes", "neither true nor false"),
        ("kv_cache_dtype=$(x)", "is not a name"),
        ("enable_expert_parallel=true", "over how many ranks"),
    ],
)
def test_wrong_words(word: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_set((word,))
    assert message in caught.value.message


def test_one_key_with_two_values_is_refused_by_all_its_names() -> None:
    assert parse_set(("tp=8", "tp_size=8"))[0] == {"tp": 8}
    with pytest.raises(UsageError, match="gives tp twice"):
        parse_set(("tp=8", "tensor_parallel_size=4"))


@given(st.lists(st.text(max_size=40), max_size=4), st.text(max_size=30))
def test_nothing_but_a_usage_error(words: list[str], text: str) -> None:
    for call in (lambda: parse_set(words), lambda: parse_set([f"tp={text}"]), lambda: parse_tokens(text)):
        with contextlib.suppress(UsageError):
            call()


# The ladder: what it turns down, and what it never touches.

DEFAULTS = Settings(max_num_seqs=1024, max_num_batched_tokens=8192, gpu_memory_utilization=0.92)


NOTHING: Mapping[str, Value] = MappingProxyType({})


def ladder(start: Settings, kind: Kind, pinned: Mapping[str, Value] = NOTHING, **facts: Any) -> list[Settings]:
    """The defaults, then each change on top of those before it."""
    rungs = [replace(start, **pinned)]  # type: ignore[arg-type]
    for change in Lowering(rungs[0], pinned, kind, **facts).changes():
        assert change.what
        rungs.append(replace(rungs[-1], **change.settings))  # type: ignore[arg-type]
    return rungs


def test_the_ladder_goes_down_to_the_settings_of_seed_0() -> None:
    rungs = ladder(DEFAULTS, "device")
    assert rungs[0] == DEFAULTS
    assert Settings(None, 1, 4096, 0.95, enforce_eager=True) in rungs
    assert [rung.max_num_seqs for rung in rungs] == [1024, 256, 64, 64, 64, 16, 1]
    assert [rung.max_num_batched_tokens for rung in rungs] == [8192, *[4096] * 6]


def test_what_costs_little_comes_first() -> None:
    costly = [change.costly for change in Lowering(DEFAULTS, {}, "device").changes()]
    assert costly == sorted(costly) == [False, False, False, True, True, True]


def test_where_context_is_all_one_sequence_with_the_fewest_tokens_is_left() -> None:
    rungs = ladder(DEFAULTS, "device", alone=True)
    assert rungs[-1] == Settings(None, 1, 1024, 0.95, enforce_eager=True)


def test_for_throughput_many_sequences_stay_as_long_as_may_be() -> None:
    cheap = [change for change in Lowering(DEFAULTS, {}, "device", some=256).changes() if not change.costly]
    assert min(int(change.settings.get("max_num_seqs", 1024)) for change in cheap) == 256


def test_what_is_fixed_stays() -> None:
    fixed: dict[str, Value] = {"max_num_seqs": 512, "gpu_memory_utilization": 0.5, "enforce_eager": False}
    for rung in ladder(DEFAULTS, "device", fixed, alone=True):
        for name, value in fixed.items():
            assert getattr(rung, name) == value


@pytest.mark.parametrize("sequences", [2, 300, 5000, 100_000])
def test_no_rung_serves_fewer_than_asked_for(sequences: int) -> None:
    start = replace(DEFAULTS, max_num_seqs=max(1024, sequences))
    rungs = ladder(start, "device", sequences=sequences, alone=True)
    assert min(rung.max_num_seqs or 0 for rung in rungs) == sequences
    for rung in rungs:
        assert min(sequences, 8192) <= (rung.max_num_batched_tokens or 0) <= 8192


def test_each_budget_has_levers_of_its_own() -> None:
    free = Settings(max_num_seqs=2048, max_num_batched_tokens=8192, kv_free_fraction=0.9)
    rungs = ladder(free, "free", graphs=False)
    assert Settings(None, 1, 4096, kv_free_fraction=0.95) in rungs
    assert not any(rung.enforce_eager for rung in rungs)
    static = Settings(max_num_batched_tokens=8192)
    assert {rung.gpu_memory_utilization for rung in ladder(static, "static")} == {None}
    host = Settings(max_num_batched_tokens=4096, gpu_experts=80)
    assert list(dict.fromkeys(rung.gpu_experts for rung in ladder(host, "host"))) == [80, 30, 8, 0]
    by_layer = ladder(Settings(host_expert_layers=0), "host", graphs=False, layers=61)
    assert list(dict.fromkeys(rung.host_expert_layers for rung in by_layer)) == list(range(62))
    settings = Settings(kv_cache_gib=1, enforce_eager=True)
    assert [rung.kv_cache_gib for rung in ladder(settings, "told")] == [1, 4, 16, 64, 256]
