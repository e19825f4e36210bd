"""Nightly: K2.5 NVFP4 with decode context parallelism."""

import unittest
from types import SimpleNamespace

from sglang.srt.utils import kill_process_tree
from sglang.test.few_shot_gsm8k import run_eval as run_eval_few_shot_gsm8k
from sglang.test.test_utils import (
    DEFAULT_TIMEOUT_FOR_SERVER_LAUNCH,
    DEFAULT_URL_FOR_TEST,
    CustomTestCase,
    popen_launch_server,
)

MODEL = "nvidia/Kimi-K2.5-NVFP4"


class TestKimiK25DCP(CustomTestCase):
    @classmethod
    def setUpClass(cls):
        cls.base_url = DEFAULT_URL_FOR_TEST
        other_args = [
            "--tp",
            "8",
            "--dcp-size",
            "8",
            "--trust-remote-code",
            "--attention-backend",
            "trtllm_mla",
            "--mem-fraction-static",
            "0.85",
        ]
        cls.process = popen_launch_server(
            MODEL,
            cls.base_url,
            timeout=DEFAULT_TIMEOUT_FOR_SERVER_LAUNCH * 10,
            other_args=other_args,
        )

    @classmethod
    def tearDownClass(cls):
        kill_process_tree(cls.process.pid)

    def test_gsm8k(self):
        args = SimpleNamespace(num_shots=8, num_questions=200, parallel=64, max_new_tokens=512, port=30000)
        self.assertGreater(run_eval_few_shot_gsm8k(args)["accuracy"], 0.92)


if __name__ == "__main__":
    unittest.main()
