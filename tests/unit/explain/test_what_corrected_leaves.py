"""`Not mended in it` names what the corrected command still has: memory that does not suffice, though no word of the
command is about it, and what a person must choose; also with `--verbose`."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from moonpad.report.explain_view import explain_view
from tests.unit.explain.judging import ask

K25 = "vllm serve moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code --tool-call-parser kimi_k2 --reasoning-parser kimi_k2"
DEEPSEEK = (
    "python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 --tp-size 32 --dp-size 32 --ep-size 32 "
    "--enable-dp-attention --nnodes 4 --node-rank 0 --dist-init-addr 10.0.0.1:5000 --trust-remote-code "
    "--moe-a2a-backend deepep --deepep-mode normal --mem-frac 0.85"
)


def left(text: str, *, verbose: bool) -> str:
    view = " ".join(explain_view(ask(text), read_script(text), 120, verbose=verbose).plain.split())
    assert "Corrected" in view
    return view.partition("Not mended in it: ")[2].partition(", see above")[0]


@pytest.mark.parametrize("verbose", [False, True])
def test_a_context_that_the_smaller_of_two_devices_does_not_hold(verbose: bool) -> None:
    assert left(f"{K25}\non 8xH20\n", verbose=verbose) == "--max-model-len"


@pytest.mark.parametrize("verbose", [False, True])
def test_one_that_the_devices_hold(verbose: bool) -> None:
    assert not left(f"{K25}\non 8xH200\n", verbose=verbose)


@pytest.mark.parametrize("verbose", [False, True])
def test_weights_larger_than_the_devices(verbose: bool) -> None:
    text = (
        "Hardware: 16x H800 or 16x H200 GPUs. Example on 2 nodes of H800:\n```bash\n"
        "vllm serve moonshotai/Kimi-K2-Instruct --data-parallel-size 16 --data-parallel-size-local 8 "
        "--data-parallel-address 10.0.0.1 "
        "--data-parallel-rpc-port 13345 --enable-expert-parallel\n```\n"
    )
    assert "--gpu-memory-utilization" in left(text, verbose=verbose)


@pytest.mark.parametrize("verbose", [False, True])
def test_a_mode_and_a_rank_that_a_person_must_choose(verbose: bool) -> None:
    named = left(f"{DEEPSEEK}\n", verbose=verbose).split(", ")
    assert {"--deepep-mode", "--node-rank"} <= {*named}


@pytest.mark.parametrize("verbose", [False, True])
def test_what_an_option_lacks_is_named_whatever_is_wrong_with_it(verbose: bool) -> None:
    """That all experts stay on the devices is no conflict, and no value: it is missing."""
    text = (
        "python -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp-size 1 --trust-remote-code "
        "--kt-method AMXINT4 --kt-cpuinfer 60 --kt-num-gpu-experts 8 --mem-frac 0.85 --reasoning-parser kimi_k2\n"
    )
    view = " ".join(explain_view(ask(text), read_script(text), 120, verbose=verbose).plain.split())
    if "Corrected" in view:
        assert "--kt-method" in view.partition("Not mended in it: ")[2].partition(", see above")[0]


@pytest.mark.parametrize("verbose", [False, True])
def test_a_variable_that_older_releases_read_is_named(verbose: bool) -> None:
    text = "VLLM_USE_V1=1 vllm serve deepseek-ai/DeepSeek-V3.1 -tp 8 --tool-call-parser deepseek_v31\n"
    assert left(text, verbose=verbose) == "VLLM_USE_V1"
