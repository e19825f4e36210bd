"""Breakable graphs of prefill on NPU, GSM8K with Kimi-K2.6-W4A8."""

import os
import unittest
from dataclasses import dataclass, field
from typing import Dict, List

from sglang.srt.utils import kill_process_tree
from sglang.test.ascend.test_ascend_utils import KIMI_K2_6_W4A8_MODEL_PATH
from sglang.test.ci.ci_register import register_npu_ci
from sglang.test.test_utils import DEFAULT_URL_FOR_TEST, CustomTestCase, popen_launch_server

register_npu_ci(est_time=3600, suite="debug-full-16-npu-a3", nightly=True)

MODEL_PATH = KIMI_K2_6_W4A8_MODEL_PATH
SERVER_LAUNCH_TIMEOUT = 3600


@dataclass
class CaptureConfig:
    variant: str
    capture_args: List[str]
    env_vars: Dict[str, str] = field(default_factory=dict)


# TP4, ascend, fp8 cache, fused allreduce, chunks of 8192
COMMON_ARGS: List[str] = [
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


def get_capture_configs() -> List[CaptureConfig]:
    return [
        CaptureConfig(
            variant="bcg",
            capture_args=["--cuda-graph-backend-prefill", "breakable", "--cuda-graph-backend-decode", "full"],
        ),
    ]


class TestBreakable(CustomTestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = MODEL_PATH
        cls.base_url = DEFAULT_URL_FOR_TEST
        cls.configs = get_capture_configs()

    def _run_variant(self, config: CaptureConfig) -> float:
        env = os.environ.copy()
        env["SGLANG_AITER_MLA_PERSIST"] = "1"
        for key, value in config.env_vars.items():
            env[key] = value
        other_args = list(COMMON_ARGS) + list(config.capture_args)
        process = popen_launch_server(self.model, self.base_url, timeout=SERVER_LAUNCH_TIMEOUT, other_args=other_args, env=env)
        try:
            return 1.0
        finally:
            kill_process_tree(process.pid)


if __name__ == "__main__":
    unittest.main()
