"""AITER, AMD's own kernels: what switches them on, and where that was measured to help.

- vLLM: the recipes for Kimi-K2.5 and K2.6 set VLLM_ROCM_USE_AITER=1, verified on 8 MI300X and 8 MI355X
  (https://docs.vllm.ai/projects/recipes/en/latest/moonshotai/Kimi-K2.5.html, recipes.vllm.ai/moonshotai/Kimi-K2.6).
  With it and 0.18 others measured 7.7 times the peak throughput of 0.16 without it, Kimi-K2.5 in MXFP4 on MI355X
  (https://inferencex.semianalysis.com/blog/mi355x-kimi-k2-5-vllm-aiter-7x-speedup). Up to 0.17 its MLA kernels fail at
  8 heads a rank (vllm-project/vllm#35641, mended by #35850 in 0.18). AITER's MLA has decode context parallelism
  since 0.29 (catalog/data/attention_backends.toml): before that, VLLM_ROCM_USE_AITER_MLA=0 leaves MLA to Triton.
- SGLang: AMD's guide for Kimi-K2.5 on 8 MI300X sets SGLANG_USE_AITER=1
  (https://rocm.blogs.amd.com/artificial-intelligence/kimi-k2.5-optimize/README.html), as do the published images.

The recipes' INT4 QuickReduce (VLLM_ROCM_QUICK_REDUCE_QUANTIZATION) rounds what ranks exchange: it is not set unasked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from moonpad.engines.attention_backends import find, has_dcp
from moonpad.values.plan import Plan
from moonpad.values.platform import Platform
from moonpad.values.versions import since

VLLM_FIRST: Final = "0.18.0"
VLLM: Final = "VLLM_ROCM_USE_AITER"
VLLM_MLA: Final = "VLLM_ROCM_USE_AITER_MLA"
SGLANG: Final = "SGLANG_USE_AITER"
WHY: Final[Mapping[str, str]] = {
    VLLM: "the vLLM recipes for Kimi-K2.5 and K2.6 set it, and with it vLLM 0.18 was measured at 7.7 times the peak "
    "throughput of 0.16 without it (Kimi-K2.5 in MXFP4, MI355X, SemiAnalysis InferenceX)",
    VLLM_MLA: "AITER's MLA kernels have no decode context parallelism before vLLM 0.29, Triton's have",
    SGLANG: "AMD's guide for Kimi-K2.5 on MI300X and the published images of SGLang set it",
}
"""Of each variable."""


def vllm_env(plan: Plan) -> Mapping[str, str]:
    """{} on other devices than AMD's, and for versions whose kernels fail."""
    if plan.platform is not Platform.ROCM or not since(plan.engine_version, VLLM_FIRST):
        return {}
    with_dcp = plan.layout.dcp == 1 or has_dcp(find("ROCM_AITER_MLA"), plan.engine_version)
    return {VLLM: "1"} if with_dcp else {VLLM: "1", VLLM_MLA: "0"}


def sglang_env(plan: Plan) -> Mapping[str, str]:
    return {SGLANG: "1"} if plan.platform is Platform.ROCM else {}


def env_of(plan: Plan) -> Mapping[str, str]:
    """What the plan's own engine is started with for it."""
    of_engine = {"vllm": vllm_env, "sglang": sglang_env}.get(plan.engine)
    return of_engine(plan) if of_engine else {}
