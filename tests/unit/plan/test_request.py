"""The words of `--set` and `--context`."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.plan.request import parse_set, parse_tokens
from moonpad.plan.setting_fallbacks import fallbacks
from moonpad.values.errors import UsageError
from moonpad.values.plan import Settings


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


def test_the_ladder_goes_down_to_the_settings_of_seed_0() -> None:
    ladder = [rung.settings for rung in fallbacks(DEFAULTS, {}, "device")]
    assert ladder[0] == DEFAULTS
    assert ladder[-1] == Settings(None, 1, 4096, 0.95, enforce_eager=True)
    assert [rung.max_num_seqs for rung in ladder] == [1024, 256, 256, 16, 1]


def test_what_is_fixed_stays() -> None:
    fixed = {"max_num_seqs": 512, "gpu_memory_utilization": 0.5, "enforce_eager": False}
    for rung in fallbacks(DEFAULTS, fixed, "device", fp8_kv=True):
        for name, value in fixed.items():
            assert getattr(rung.settings, name) == value


def test_no_rung_serves_fewer_than_asked_for() -> None:
    assert min(rung.settings.max_num_seqs or 0 for rung in fallbacks(DEFAULTS, {}, "device", sequences=300)) == 300


def test_each_budget_has_levers_of_its_own() -> None:
    free = Settings(max_num_seqs=2048, max_num_batched_tokens=8192, kv_free_fraction=0.9)
    assert fallbacks(free, {}, "free", graphs=False)[-1].settings == Settings(
        None, 1, 4096, kv_free_fraction=0.95
    )  # no eager there
    static = Settings(max_num_batched_tokens=8192)
    assert {rung.settings.gpu_memory_utilization for rung in fallbacks(static, {}, "static")} == {None}
    host = Settings(max_num_batched_tokens=4096, gpu_experts=80)
    assert [rung.settings.gpu_experts for rung in fallbacks(host, {}, "host")][:4] == [80, 30, 8, 0]
    by_layer = fallbacks(Settings(host_expert_layers=0), {}, "host", graphs=False, layers=61)
    assert [rung.settings.host_expert_layers for rung in by_layer] == list(range(62))
    settings = Settings(kv_cache_gib=1, enforce_eager=True)
    assert [rung.settings.kv_cache_gib for rung in fallbacks(settings, {}, "told")] == [1, 4, 16, 64, 256]


def test_a_rung_knows_what_it_was_made_of() -> None:
    ladder = fallbacks(DEFAULTS, {}, "device", fp8_kv=True)
    for rung in ladder[1:]:
        assert rung.what
        assert ladder[rung.above].settings != rung.settings
    fp8 = [rung for rung in ladder if rung.settings.kv_cache_dtype == "fp8"]
    assert [ladder[rung.above].settings.enforce_eager for rung in fp8] == [False, True]
