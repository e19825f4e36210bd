"""What the first line calls a known fault is the cause of the error below: that one is not called unknown."""

from __future__ import annotations

from moonpad.explain.documents.pasted_failures import NO_CAUSE
from moonpad.explain.results import Judged
from moonpad.report.explain_verdict import verdict
from tests.unit.explain.judging import ask

KT = (
    "python -m sglang.launch_server --model /data/MiniMax-M2.7 --kt-weight-path /data/MiniMax-M2.7 --kt-method FP8 "
    "--kt-cpuinfer 32 --kt-threadpool-count 2 --kt-num-gpu-experts 60 --tensor-parallel-size 4 --ep-size 4 "
    "--trust-remote-code"
)
SIZES = "RuntimeError: The size of tensor a ({}) must match the size of tensor b ({}) at non-singleton dimension 0"
NIGHTLY = "vllm/vllm-openai-rocm:nightly-0f5513af33bc29b4acb2fde2e9313e5e9966b1c4"
AMD = f"""# The new OPUS kernel of the prefill for gfx950

on `{NIGHTLY}`:

```
VLLM_ROCM_USE_AITER=1 vllm serve amd/Kimi-K2.6-MXFP4 --tensor-parallel-size 8 --trust-remote-code --port 8100
```

crashes due in `{NIGHTLY}` to this change, on latest vLLM + `aiter==0.1.19` with

```
(Worker_TP1 pid=4711) ERROR 08-19 10:02:04 [multiproc_executor.py:1050]   File "/w/vllm/models/kimi_k25.py", line 9
```
"""


def unknown(judged: Judged) -> list[str]:
    return [each.message for each in judged.findings if each.message.endswith(NO_CAUSE)]


def kt(left: int, right: int) -> Judged:
    return ask(f"### Reproduction\n\n```text\n{KT}\n```\nwith --ep-size 4 报错{SIZES.format(left, right)}\n")[0]


def test_sizes_that_the_report_names() -> None:
    judged = kt(32, 256)
    assert "Known fault (--ep-size)" in verdict(judged)[0]
    assert not unknown(judged)


def test_other_sizes_stay_unknown() -> None:
    assert unknown(kt(77, 4099))


def test_a_failure_that_is_only_told() -> None:
    judged = ask(AMD)[0]
    assert "Known fault" in verdict(judged)[0]
    assert not unknown(judged)
