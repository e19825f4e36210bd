"""What is said in one place does not contradict what is said in another: logs, builds of main, corrected commands."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask, ask_one, at

K3 = (
    "vllm serve moonshotai/Kimi-K3 --trust-remote-code --tensor-parallel-size 8 --use-replayssm "
    """--speculative-config '{"method":"dspark","model":"Inferact/Kimi-K3-DSpark","num_speculative_tokens":5}'"""
)
K25 = "sglang serve --model-path moonshotai/Kimi-K2.5 --trust-remote-code"
EXCLUDE = "exclude each other"


def messages(text: str, on: str = "8xB300", version: str = "") -> str:
    return "\n".join(finding.message for judged in ask(text, on, version) for finding in judged.findings)


@pytest.mark.parametrize(
    ("build", "told"), [("main of 2026-09-06", False), ("main, August 2026", False), ("0.28.0", True)]
)
def test_what_a_build_of_main_may_have_mended(build: str, told: bool) -> None:
    """vllm-project/vllm#51855 is of 11 August 2026 and came with 0.29.0 in September."""
    assert (EXCLUDE in messages(f"# vLLM {build}\n{K3}")) is told


def test_replayed_states_of_kimi_k3_are_for_drafts() -> None:
    alone = K3.partition(" --speculative-config")[0]
    assert "replays states only with drafts" in messages(alone, version="0.31.0")
    assert "replays states only with drafts" not in messages(K3, version="0.31.0")


def test_an_encoder_generates_no_text_and_holds_a_part_of_the_weights() -> None:
    judged = ask_one(f"{K25} --encoder-only --tp-size 1", version="0.5.14")
    assert judged.memory is None
    assert "pictures" in judged.unjudged
    assert not at(judged, Code.DOES_NOT_FIT)
    assert not at(judged, Code.SUBOPTIMAL)
    assert "--reasoning-parser" not in [finding.where for finding in judged.findings]
    assert at(ask_one(f"{K25} --tp-size 1", version="0.5.14"), Code.DOES_NOT_FIT)


@pytest.mark.parametrize(
    "text",
    [
        "# SGLang 0.5.9\nsglang serve --model-path moonshotai/Kimi-K2.5 --trust-remote-code --tp-size 8\n"
        "AssertionError: Pipeline Parallel is not compatible with this model.",
        "# SGLang 0.5.9\nsglang serve --model-path moonshotai/Kimi-K2.5 --trust-remote-code --tp-size 8 --pp-size 2\n"
        "AssertionError: a weight of an unheard-of shape came by.",
    ],
)
def test_an_exception_that_no_finding_names_has_no_known_cause(text: str) -> None:
    assert "no cause is known" in messages(text, "2x8xH200")


def test_an_exception_that_a_finding_names_has_a_known_cause() -> None:
    text = (
        "# SGLang 0.5.9\nsglang serve --model-path moonshotai/Kimi-K2.5 --trust-remote-code --tp-size 8 --pp-size 2\n"
        "AssertionError: Pipeline Parallel is not compatible with this model."
    )
    assert "is not compatible with this model" in messages(text, "2x8xH200")
    assert "no cause is known" not in messages(text, "2x8xH200")


def test_a_bare_assertion_is_named_by_the_statement_above_it() -> None:
    text = (
        "# SGLang 0.5.14\n"
        f"{K25} --tp-size 8 --speculative-algorithm EAGLE3 --speculative-draft-model-path x/Kimi-K2.5-eagle3\n"
        "    assert not get_global_server_args().disable_chunked_prefix_cache\nAssertionError\n"
    )
    assert "no cause is known" not in messages(text, "8xH200")


def test_what_the_parser_refused_has_the_remedy_of_its_finding() -> None:
    text = (
        "python -m sglang.launch_server --model /w/Kimi-K2.5 --kt-amx-weight-path /w/Kimi-K2.5 --kt-cpuinfer 60 "
        "--kt-threadpool-count 2 --kt-num-gpu-experts 100 --tensor-parallel-size 8\n"
        "launch_server.py: error: unrecognized arguments: --kt-amx-weight-path /w/Kimi-K2.5"
    )
    (stopped,) = [each for each in ask_one(text, "8xH200").findings if each.code is Code.LOGGED_FAILURE]
    assert stopped.remedy == "write --kt-weight-path"


@pytest.mark.parametrize(
    ("text", "on"),
    [
        # The weights that ModelSlim did not make.
        ("# vllm-ascend 0.21.0rc1\nvllm serve /d/Kimi-K2.7-Code --quantization ascend -tp 16", "2x8xA2"),
        # A server of the language model alone, which the release does not have for it.
        (f"# SGLang 0.5.9\n{K25} --language-only --encoder-urls http://127.0.0.1:3 --tp-size 8", "8xH200"),
        # Stages that the model does not have yet.
        (f"# SGLang 0.5.9\n{K25} --tp-size 8 --pp-size 2", "2x8xH100"),
        # Vision that ends all workers.
        ("# vLLM 0.26.0\nvllm serve nvidia/Kimi-K2.6-NVFP4 --trust-remote-code --tensor-parallel-size 4", "4xGB200"),
    ],
)
def test_nothing_is_corrected_where_a_warning_says_that_it_ends(text: str, on: str) -> None:
    judged = ask_one(text, on)
    assert any(each.severity is Severity.WARNING for each in judged.findings)
    assert not judged.corrected
    assert not judged.better


def test_nothing_is_corrected_where_the_log_says_why_it_stopped() -> None:
    serve = "vllm serve moonshotai/Kimi-K2.5 --trust-remote-code --tensor-parallel-size 8 --kv-offloading-size 300"
    log = "RuntimeError: cuMemcpyBatchAsync failed at index 7 with error 1"
    assert ask_one(serve, "8xH200").corrected
    assert not ask_one(f"{serve}\n{log}", "8xH200").corrected


def test_gaudi_and_the_vision_of_kimi() -> None:
    """vllm-project/vllm-gaudi#1754."""
    text = (
        "Gaudi 3, vLLM main\nvllm serve moonshotai/Kimi-K2.6 --trust-remote-code --tensor-parallel-size 8\n"
        "    assert x.ndim == freqs_cis.ndim + 1, (x.shape, freqs_cis.shape)\nAssertionError: (torch.Size([9, 2, 72]))"
    )
    told = messages(text, "")
    assert "change 50400" in told
    assert "no cause is known" not in told
    assert "Gaudi has no complex numbers" in messages(
        "vllm serve moonshotai/Kimi-K2.5 -tp 8\nRuntimeError: Complex datatype is not supported on HPU device", ""
    )
