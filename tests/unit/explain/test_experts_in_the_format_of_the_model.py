"""Experts that stay on the devices come from the model's own files, in their format: the processors have others."""

from __future__ import annotations

import re

import pytest

from .judging import ask

EXPERT = 3 * 4096 * 1536
"""Weights of one expert of Qwen3-235B-A22B: hidden_size and moe_intermediate_size of its config.json."""
LAYERS, ASKED = 94, 32
SERVE = """python -m sglang.launch_server --model /mnt/models/{name} --kt-method AMXINT4 \\
  --kt-weight-path /mnt/models/Qwen3-235B-A22B-INT4 --kt-cpuinfer 64 --kt-threadpool-count 2 \\
  --kt-num-gpu-experts 32
"""


@pytest.mark.parametrize(("name", "bytes_each"), [("Qwen3-235B-A22B", 2.0), ("Qwen3-235B-A22B-AWQ", 0.5)])
def test_their_bytes(name: str, bytes_each: float) -> None:
    (judged,) = ask(SERVE.format(name=name), "1xRTX4090")
    (finding,) = [each for each in judged.findings if each.where == "--kt-num-gpu-experts"]
    told = re.search(r"at least (\d+) GiB", finding.message)
    assert told
    assert int(told[1]) == round(EXPERT * LAYERS * ASKED * bytes_each / 2**30)
    fits = re.search(r"write --kt-num-gpu-experts (\d+)", finding.remedy)
    assert fits
    assert EXPERT * LAYERS * int(fits[1]) * bytes_each < 24 * 2**30
