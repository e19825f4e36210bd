"""Where a log shows that the server got past its arguments, its release took them, whatever the newest does.

vLLM's --attention-config has use_fp4_indexer_cache from 0.20.0 to 0.29.0, SGLang has --cuda-graph-max-bs up to 0.5.19
(their parsers of these releases). Lines of logs are those of vllm-project/vllm and sgl-project/sglang.
"""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from tests.unit.explain.judging import ask_one

KEY = "use_fp4_indexer_cache"
DOTTED = f"--attention_config.{KEY}=True"
JSON = f"--attention-config '{{\"{KEY}\": true}}'"
BEGINNING = "--cuda-graph-max-bs 64"
VLLM = "vllm serve deepseek-ai/DeepSeek-V4-Pro --tensor-parallel-size 4"
SGLANG = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.6 --trust-remote-code --tp-size 8"
PAST = (
    "Graph capturing finished in 174 secs",
    "INFO:     Application startup complete.",
    "(EngineCore_DP0 pid=7) INFO 11-20 10:00:00 [gpu_model_runner.py:1] Graph capturing finished in 20 secs",
    "TimeoutError: Timed out waiting for engine core processes to start.",
    "zmq.error.ZMQError: Cannot assign requested address (addr='tcp://10.72.22.47:5558')",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.15 GiB.",
)
PAST_SGLANG = (
    "Load weight end. elapsed=367.51 s, type=DeepseekV3ForCausalLM",
    "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.",
    "[2026-11-20 10:00:00 TP0] Decode batch. #running-req: 1, #token: 40",
)


def _text(command: str, log: str) -> str:
    return f"GB300\n\n```bash\n{command}\n```\n\n```text\n{log}\n```\n"


def _fails_at_once(judged: Judged) -> bool:
    return any("fails at once" in each.message for each in judged.findings)


@pytest.mark.parametrize("option", [DOTTED, JSON])
@pytest.mark.parametrize("log", PAST)
def test_a_key_that_was_taken_is_kept(option: str, log: str) -> None:
    judged = ask_one(_text(f"{VLLM} {option}", log), on="4xGB300")
    assert judged.version == "0.29.0"
    assert KEY in judged.version_because
    assert not _fails_at_once(judged)
    assert all(any(KEY in word for word in line.argv) for line in judged.corrected)


@pytest.mark.parametrize("log", PAST_SGLANG)
def test_a_former_option_that_is_a_beginning_now(log: str) -> None:
    judged = ask_one(_text(f"{SGLANG} {BEGINNING}", log))
    assert judged.version == "0.5.19"
    assert not _fails_at_once(judged)


@pytest.mark.parametrize(
    "log",
    [
        "",
        f"vllm: error: unrecognized arguments: {DOTTED}",
        "pydantic_core._pydantic_core.ValidationError: 1 validation error for AttentionConfig",
        "Fetching 163 files: 100%",
    ],
)
def test_no_log_of_a_server_shows_nothing(log: str) -> None:
    judged = ask_one(_text(f"{VLLM} {DOTTED}", log), on="4xGB300")
    assert judged.version_because.endswith("judged by the newest")
    assert _fails_at_once(judged)


def test_a_guide_that_says_what_to_do_of_an_error_shows_nothing() -> None:
    guide = "\n## Troubleshooting\n\nIf you see\n\n```\ntorch.OutOfMemoryError: CUDA out of memory.\n```\n\nuse less.\n"
    judged = ask_one(_text(f"{VLLM} {DOTTED}", "").rstrip() + "\n" + guide, on="4xGB300")
    assert judged.version_because.endswith("judged by the newest")


def test_a_fault_of_the_last_release_alone_is_not_sure() -> None:
    """sgl-project/sglang#37559 is one of 0.5.19: an earlier release has the same options and may be meant."""
    command = f"{SGLANG.replace('moonshotai/Kimi-K2.6', 'deepseek-ai/DeepSeek-V4-Pro')} --moe-a2a-backend megamoe"
    of_one = [
        each.severity
        for log in (PAST_SGLANG[0], "SGLang 0.5.19")
        for each in ask_one(_text(f"{command} {BEGINNING}", log), on="8xGB300").findings
        if "sglang#37559" in each.message
    ]
    assert of_one == ["note", "warning"]


EAGLE = '{"method":"eagle3","model":"lightseekorg/kimi-k2.5-eagle3","num_speculative_tokens":3}'
STAGES = f"vllm serve moonshotai/Kimi-K2.6 -tp 4 -pp 2 --speculative-config '{EAGLE}'"
SERVING = "INFO:     Application startup complete."


@pytest.mark.parametrize(
    ("log", "release", "told"),
    [
        ("", "", True),
        (SERVING, "", False),
        ("Graph capturing finished in 20 secs", "", True),
        (SERVING, "vLLM 0.29.0\n\n", True),
        ("When it says `Application startup complete`, it serves.", "", True),
    ],
)
def test_a_fault_that_ends_the_start_is_not_met_by_a_server_that_serves(log: str, release: str, told: bool) -> None:
    """EAGLE-3 with pipeline stages ends the start from 0.14.0 to before 0.30.0, by its report."""
    judged = ask_one(f"{release}{_text(STAGES, log)}")
    assert any("layers of every stage" in each.message for each in judged.findings) is told
