"""Lines of a log that show a slower path, or drafts that are hardly ever accepted."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import found

K2 = "vllm serve moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code\n\n"
SGLANG = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --tp 8 --trust-remote-code\n\n"
DRAFTS = (
    "INFO [metrics.py:101] SpecDecoding metrics: Mean acceptance length: {}, Accepted throughput: 4.0 tokens/s, "
    "Drafted throughput: 9.0 tokens/s, Accepted: 9 tokens, Drafted: 90 tokens, Per-position acceptance rate: {}, "
    "Avg Draft acceptance rate: 9.0%\n"
)
BATCH = "[TP0] Decode batch, #running-req: {}, #token: 9, token usage: 0.1, {}gen throughput (token/s): 9.0\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (K2 + DRAFTS.format("1.13", "0.081, 0.029, 0.012"), "1.13 tokens a step"),
        (K2 + DRAFTS.format("1.90", "0.61, 0.27, 0.02, 0.001, 0.000, 0.000"), "from number 3 on"),
        (SGLANG + BATCH.format(40, "accept len: 1.08, cuda graph: True, "), "1.08 tokens a step"),
        (SGLANG + BATCH.format(40, "cuda graph: False, "), "decoded without a graph"),
        (SGLANG + "KV cache pool is full. Retract requests. #retracted_reqs: 9\n", "thrown out"),
        (SGLANG + "Max running requests is reset to 48 for speculative decoding.\n", "48 requests"),
        (K2 + "n1:2:3 [0] NCCL INFO Channel 00/0 : 7[7] -> 8[0] [send] via NET/Socket/0\n", "over TCP"),
        (K2 + "    SW Power Cap                      : Active\n", "lowers its clocks"),
        (K2 + "WARNING Using default MoE config. Performance might be sub-optimal! Config file not found\n", "tuned"),
    ],
)
def test_slow_lines_are_told(text: str, words: str) -> None:
    assert found(text, words)


@pytest.mark.parametrize(
    "text",
    [
        K2 + DRAFTS.format("3.61", "0.81, 0.64, 0.48, 0.38, 0.30"),
        K2 + DRAFTS.format("2.40", "0.80, 0.40, 0.20"),
        SGLANG + BATCH.format(40, "accept len: 2.81, cuda graph: True, "),
        SGLANG + BATCH.format(0, "cuda graph: False, "),
        K2 + "n1:2:3 [0] NCCL INFO Using network Socket\n",
        K2 + "n1:2:3 [0] NCCL INFO Channel 00/0 : 7[7] -> 8[0] [send] via NET/IB/0\n",
        K2 + "    SW Power Cap                      : Not Active\n",
    ],
)
def test_other_lines_are_not(text: str) -> None:
    assert not [each for each in found(text, "log") if each.where == "log"]
