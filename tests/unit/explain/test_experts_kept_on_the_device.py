"""Patterns of --override-tensor that keep the experts of some layers on the device, in front of one for all others."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask_one

MODEL = "/srv/Kimi-K2-Instruct-GGUF/UD-Q4_K_XL/Kimi-K2-Instruct-UD-Q4_K_XL-00001-of-00013.gguf"
SERVE = f"llama-server --model {MODEL} --ctx-size 32768 --n-gpu-layers 99 "


def _weights(placed: str) -> int:
    judged = ask_one(f"{SERVE}{placed}\n", on="1xRTX-PRO-6000")
    assert judged.memory is not None
    return judged.memory.weights_bytes


@pytest.mark.parametrize(
    ("placed", "layers"),
    [
        (r'-ot "blk\.(2|9|11)\.ffn_.*=CUDA0" -ot exps=CPU', 3),
        (r'-ot "blk\.(2|9)\.ffn_.*_exps=CUDA0,exps=CPU"', 2),
        (r'-ot exps=CPU -ot "blk\.(2|9)\.ffn_.*=CUDA0"', 0),
    ],
)
def test_they_are_counted_on_the_device(placed: str, layers: int) -> None:
    none, one = _weights("--n-cpu-moe 61"), _weights("--n-cpu-moe 60")
    assert _weights(placed) == pytest.approx(none + layers * (one - none), rel=0.01)
