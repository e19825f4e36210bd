"""Reports without a command against the known reports, and what tells their engine."""

from __future__ import annotations

import pytest

from tests.unit.explain.test_spoken_reports import told

FRAME = '```\n  File "/usr/lib/python3/dist-packages/sglang/srt/layers/a.py", line 9, in f\n{}\n```\n'
TRITON = (
    "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 131072, Hardware limit: 101376."
)


@pytest.mark.parametrize(
    ("text", "engine", "part"),
    [
        ("[Bug]: GLM-4.1V crashes\n\nvLLM 0.11.0, tensor_parallel_size=8\n", "vllm", "the vision tower has 12 heads"),
        ("[Bug]: GLM-4.5V with vLLM 0.11.0 and TP8 fails\n", "vllm", "the vision tower has 12 heads"),
        ("DeepSeek-V3.2 does not start with vLLM 0.12.0 on 8xA100\n", "vllm", "No valid attention backend found"),
        ("SGLang crashes with GLM5 on MI300X and the aiter backend\n", "sglang", "is for the backend nsa"),
        ("[Bug]: no start on MI300X\n\n" + FRAME.format(TRITON), "sglang", "131072 bytes"),
        (
            "2台A2拉起失败，报错：Memory resources are exhausted\n\nCANN 8.5.1\n",
            "vllm-ascend",
            "no resources for its queue",
        ),
        (
            "vLLM 0.11.0 fails with GLM-4.5-Air-FP8 on 4x RTX 3090\n\n"
            "```\nRuntimeError: size_n = 2736 is not divisible by tile_n_size = 64\n```\n",
            "vllm",
            "GLM-4.5-Air-FP8 is FP8, and devices of capability 8.6 have no FP8",
        ),
    ],
)
def test_a_report_is_held_against_the_rows(text: str, engine: str, part: str) -> None:
    found, said = told(text)
    assert found == engine
    assert part in said


@pytest.mark.parametrize(
    "text",
    [
        "[Bug]: GLM-4.5V crashes\n\nvLLM 0.11.0, tensor_parallel_size=4\n",
        "[Bug]: GLM-4.5V crashes\n\nvLLM 0.11.0, tensor_parallel_size=8, --mm-encoder-tp-mode data\n",
        "DeepSeek-V3.2 does not start with vLLM 0.12.0 on 8xH200\n",
        "DeepSeek-V3.2 does not start with vLLM 0.12.0: sparse attention is only supported on Hopper, not on Ampere\n",
        "DeepSeek-V3.2 with vLLM 0.12.0 on 8xA100 and on 8xH200, our notes\n",
        "SGLang crashes with GLM5 on MI300X and the nsa backend\n",
        "MindIE on A2，报错：Memory resources are exhausted\n",
        "If you get Memory resources are exhausted on Ascend, update the driver.\n",
        "vLLM 0.11.0 fails with GLM-4.5-Air-FP8 on 4x RTX 3090\n",
    ],
)
def test_what_no_row_is_about_says_nothing(text: str) -> None:
    assert "crash" in text or not told(text)[1]
    assert "reported for" not in told(text)[1]
