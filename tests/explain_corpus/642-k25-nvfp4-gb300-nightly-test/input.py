"""Kimi-K2.5-NVFP4 every night on four GB300.

This model has no EAGLE/MTP: only TP and TP+DP+DPA.
"""
from harness import Launch, check

WEIGHTS = "nvidia/Kimi-K2.5-NVFP4"

BASE = [
    "--trust-remote-code",
    "--reasoning-parser=kimi_k2",
    "--tool-call-parser=kimi_k2",
    "--quantization=modelopt_fp4",
    "--attention-backend=tokenspeed_mla",
    "--kv-cache-dtype=fp8_e4m3",
    "--moe-runner-backend=flashinfer_trtllm",
    "--mem-fraction-static=0.75",
    "--enable-multimodal",
    "--enable-metrics",
]

LONG_DRAFT = [
    "--speculative-algorithm=EAGLE",
    "--speculative-num-steps=3",
    "--speculative-eagle-topk=1",
    "--speculative-num-draft-tokens=4",
]

SHORT_DRAFT = [
    "--speculative-algorithm=EAGLE",
    "--speculative-num-steps=1",
    "--speculative-eagle-topk=1",
    "--speculative-num-draft-tokens=2",
]


def test_nightly():
    # sglang.launch_server is started by the harness
    launches = [
        Launch(WEIGHTS, tp_size=4, extra_args=BASE + LONG_DRAFT, name="TP4+MTP"),
        Launch(
            WEIGHTS,
            tp_size=4,
            extra_args=BASE + ["--dp-size=4", "--enable-dp-attention"] + SHORT_DRAFT,
            name="TP4+DP4+DPA+MTP",
        ),
    ]
    check(launches, data="mmmu-pro", at_least=0.69, max_tokens=32768)
