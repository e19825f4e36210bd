import unittest

from nightly_metrics import run_metrics

from sglang.test.test_utils import DEFAULT_URL_FOR_TEST, ModelLaunchSettings

# called from the workflow itself, 180 minutes

KIMI_K2_THINKING_MODEL_PATH = "moonshotai/Kimi-K2-Thinking"


class TestKimiK2Unified(unittest.TestCase):
    """Speed and accuracy of Kimi-K2-Thinking, TP=8 with parsers."""

    def test_kimi_k2(self):
        variants = [
            ModelLaunchSettings(
                KIMI_K2_THINKING_MODEL_PATH,
                tp_size=8,
                extra_args=[
                    "--trust-remote-code",
                    "--tp=8",
                    "--tool-call-parser=kimi_k2",
                    "--reasoning-parser=kimi_k2",
                ],
            ),
        ]

        result = run_metrics(
            models=variants,
            run_perf=True,
            run_accuracy=True,
            is_vlm=False,
            base_url=DEFAULT_URL_FOR_TEST,
            profile_dir="performance_profiles_kimi_k2_thinking",
            test_name="TestKimiK2Unified",
            batch_sizes=[1, 1, 8, 16, 64],
            eval_name="mgsm_en",
        )

        self.assertTrue(
            result["all_passed"], f"Test failed. Results: {result['results']}"
        )


if __name__ == "__main__":
    unittest.main()
