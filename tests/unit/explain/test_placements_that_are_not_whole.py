"""Where llama.cpp's experts lie is not known where the text breaks off in the pattern that says it."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVE = "llama-server --model /data/Kimi-K2-Instruct-GGUF/UD-Q4_K_XL/Kimi-K2-Instruct-UD-Q4_K_XL-00001-of-00013.gguf"


def judged_with(placement: str) -> str:
    (judged,) = ask(f"On a Blackwell 6000 Pro:\n```bash\n{SERVE} -ngl 62 -c 32768 {placement}\n```\n")
    assert judged.cluster is not None
    assert judged.cluster.name == "1xRTX-PRO-6000"
    return judged.unjudged or ("fits" if judged.memory is not None and judged.memory.fits else "does not fit")


@pytest.mark.parametrize("placement", [r"-ot 'blk\.('", r"-ot 'blk\.(3|4'=CPU", "-ot exps", "-ot exps=CPU,blk"])
def test_no_memory_is_judged(placement: str) -> None:
    assert "--override-tensor" in judged_with(placement)


@pytest.mark.parametrize(
    ("placement", "verdict"),
    [("-ot exps=CPU", "fits"), (r"-ot 'blk\.(3|4)\.ffn_.*=CUDA0' -ot exps=CPU,", "fits"), ("", "does not fit")],
)
def test_whole_ones_are_judged(placement: str, verdict: str) -> None:
    assert judged_with(placement) == verdict
