"""The fused decode of latent attention that an image for AMD switches on, and a backend that does not go with it."""

from __future__ import annotations

from tests.unit.explain.judging import ask

TEXT = """Image: `rocm/sgl-dev:v0.5.8.post1-rocm720-mi35x-20260218`

```bash
python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --tp 8 --trust-remote-code
```

```
  File "/sglang/srt/models/deepseek_v2.py", line 2010, in forward_absorb_fused_mla_rope_prepare
    attn_logits, _, kv_indptr, kv_indices, _, _, _ = (
TypeError: {error}
```
"""


def test_the_variable_is_named_and_set_in_the_corrected_command() -> None:
    (judged,) = ask(TEXT.format(error="cannot unpack non-iterable ForwardMetadata object"))
    assert any("SGLANG_ROCM_FUSED_DECODE_MLA=0" in each.remedy for each in judged.findings)
    assert judged.corrected[0].env["SGLANG_ROCM_FUSED_DECODE_MLA"] == "0"


def test_another_object_has_no_such_cause() -> None:
    (judged,) = ask(TEXT.format(error="cannot unpack non-iterable NoneType object"))
    assert not any("SGLANG_ROCM_FUSED_DECODE_MLA" in each.remedy for each in judged.findings)
