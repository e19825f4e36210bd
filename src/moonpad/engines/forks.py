"""Builds of others that are started by the program of the engine that they are of."""

from __future__ import annotations

from typing import Final

from msgspec import Struct


class Fork(Struct, frozen=True):
    """`named`: how texts name it, in any case; `otherwise`: what they name in its place, of which the same words are.
    `options`: some that only the fork has. `plain`: how texts take the engine itself, so that they are mistaken in its
    options where the fork is not named too."""

    program: str
    named: str
    title: str
    options: frozenset[str] = frozenset()
    otherwise: str = ""
    plain: str = ""
    instead: str = ""
    """What the engine itself has for the same."""


OWNERS: Final = frozenset({"vllm-project", "sgl-project", "lmsysorg", "vllm", "sglang"})
"""Under whose names the engines' own repositories are, in lower case."""

_OF_HYGON: Final = (
    r"\bUSE_DCU_|\b[DH]CUs?\b|\bBW1[01]00\b|\bK100[_-]AI\b|\b(?:VLLM|SGLANG)_HCU_|(?<![\w/])hygon/[A-Z]"
    r"|(?:=|[ ])hcu_mla\b|\bshca_\d|\bSGLANG_USE_(?:LIGHTOP|MARLIN_W4A16_MOE)\b|\bAITER_ENABLE_SUPERNODE_AR\b"
)
"""Hygon's devices, weights, kernels and network cards, and variables of its own; its builds are those of the DAS images
(https://github.com/HYGON-AI/inference-cookbook-das)."""
_OF_CAMBRICON: Final = r"\bCambricon\b|寒武纪|\bMLU[ -]?[2-9]\d\d\b|\bvllm[-_]mlu\b|--device[ =]mlu\b"
"""Cambricon's devices; vLLM runs there as its port (https://github.com/Cambricon/vllm-mlu)."""

OF_OTHER_DEVICES: Final = ("Hygon's ", "Cambricon's ", "Habana's ")
"""How titles of those begin that run on devices which the catalogue does not have."""
FORKS_BY_PROGRAM: Final = (
    Fork(
        "llama-server",
        r"ik[_-]?llama|--webui[ =](?:llamacpp|auto|none)\b",
        "ik_llama.cpp, a fork of llama.cpp",
        frozenset({
            *("-mla", "--mla-use", "-amb", "--attention-max-batch", "-fmoe", "--fused-moe", "-no-fmoe"),
            *("-rtr", "--run-time-repack", "-ser", "--smart-expert-reduction", "-ger", "--grouped-expert-routing"),
            *("-mqkv", "--merge-qkv", "-muge", "--merge-up-gate-experts", "-khad", "--k-cache-hadamard", "-vhad"),
            *("-smgs", "--split-mode-graph-scheduling", "-gr", "--graph-reuse", "-no-gr", "--no-graph-reuse"),
            *("-fdn", "-ooae", "-no-ooae", "--offload-only-active-experts", "-sas", "--scheduler-async", "-grt"),
            *("-thp", "--transparent-huge-pages", "-smf16", "-smf32", "--max-gpu", "-cuda", "--cuda-params"),
        }),
        plain=r"git clone[^|;&]{0,60}/(?:ggml-org|ggerganov)/llama\.cpp|ghcr\.io/ggml-org/llama\.cpp",
    ),
    Fork("llama-server", r"/lucebox[\w-]*/(?:\w+/)*bin/", "Lucebox's fork of llama.cpp"),
    # https://github.com/ggml-org/llama.cpp/pull/22105: the switch went before it was merged, and forks have it yet
    Fork(
        "llama-server",
        r"llama[.-]cpp[-_](?:dflash|pr-?22105)",
        "a build of llama.cpp with DFlash from before its release",
        frozenset({"--dflash"}),
    ),
    # https://github.com/nlzy/vllm-gfx906: for MI50 and MI60, with patches of others upon it
    Fork("vllm serve", r"vllm-gfx906", "vllm-gfx906, a fork of vLLM for MI50"),
    Fork("ktransformers-legacy", r"(?<![\w-])lktransformers(?![\w-])", "lktransformers, a fork of KTransformers"),
    Fork("vllm serve", _OF_HYGON, "Hygon's build of vLLM"),
    Fork("sglang", _OF_HYGON, "Hygon's build of SGLang"),
    # https://github.com/sgl-project/sglang/pull/12207, which was closed; --attn-cp-size is another way to the same
    Fork(
        "sglang",
        r"(?!)",
        "a branch of SGLang with prefill context parallelism for NPUs",
        frozenset({"--cp-size"}),
        instead="take that branch; SGLang itself has --attn-cp-size with --enable-prefill-cp, from 0.5.14 on",
    ),
    Fork("vllm serve", _OF_CAMBRICON, "Cambricon's build of vLLM"),
    # https://github.com/ROCm/ATOM/blob/main/docs/vllm_plugin_backend_guide.md: its own models and attention
    # https://github.com/1CatAI/1Cat-vLLM: kernels for V100, and numbers of its own
    Fork("vllm serve", r"1Cat-vLLM", "1Cat-vLLM, a fork of vLLM for V100"),
    # https://github.com/intel/ipex-llm/tree/main/docker/llm/serving/xpu: releases of 2025, with options of its own
    Fork("vllm serve", r"\bipex_llm\.vllm\.", "IPEX-LLM's build of vLLM", frozenset({"--load-in-low-bit"})),
    # https://github.com/HabanaAI/vllm-fork
    Fork(
        "vllm serve",
        r"HabanaAI/vllm-fork|\bPT_HPU_[A-Z]|\bHABANA_VISIBLE_DEVICES\b|--runtime[ =]habana\b|\bfp8_inc\b",
        "Habana's fork of vLLM",
        frozenset({"--use-padding-aware-scheduling", "--max-num-prefill-seqs", "--weights-load-device"}),
        otherwise=r"vllm[-_]gaudi",  # the plugin of vLLM itself, https://github.com/vllm-project/vllm-gaudi
    ),
    Fork("vllm serve", r"rocm/atom-dev:vllm|\bvLLM[- ]ATOM\b|\bATOM[- ](?:vLLM[- ])?plugin", "vLLM with ATOM's plugin"),
)  # fmt: skip
