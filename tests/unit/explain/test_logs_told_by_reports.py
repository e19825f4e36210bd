"""Where an error of the log only says what follows, and a report of the release says from what, that is told, once."""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from moonpad.report.explain_verdict import verdict
from moonpad.values.finding import Code
from tests.unit.explain.judging import ask_one

REGISTER = "TypeError: AutoImageProcessor.register() got multiple values for argument 'exist_ok'"
GLM = "python3 -m sglang.launch_server --model-path ZhipuAI/GLM-4.6V-Flash --tp-size 4"
LIMIT = "ValueError: `limit_mm_per_prompt` is only supported for multimodal models."
KIMI_VL = "vllm serve moonshotai/Kimi-VL-A3B-Instruct --trust-remote-code --limit-mm-per-prompt image=256"
REASONING = "launch_server.py: error: unrecognized arguments: --enable-reasoning"
R1 = "python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-R1 --tp 8"


def _judged(above: str, command: str, log: str) -> Judged:
    return ask_one(f"{above}\n\n```\n{command}\n```\n\n```\n{log}\n```\n", on="")


def test_an_error_that_a_report_names() -> None:
    judged = _judged("sglang 0.5.8, transformers 5.0.0", GLM, REGISTER)
    assert verdict(judged)[0].startswith("Stopped (line 8): with transformers 5 this release ends while it is imported")
    assert sum("AutoImageProcessor" in each.message for each in judged.findings) == 1
    (failure,) = [each for each in judged.findings if each.code is Code.LOGGED_FAILURE]
    assert "4.57.1" in failure.remedy


def test_another_release_of_which_nothing_is_reported() -> None:
    judged = _judged("sglang 0.5.9, transformers 5.0.0", GLM, REGISTER)
    assert "ends while it is imported" not in verdict(judged)[0]


def test_a_model_that_the_release_lacks_is_why_it_takes_no_images() -> None:
    judged = _judged("vllm 0.8.4", KIMI_VL, LIMIT)
    assert verdict(judged)[0].startswith("Stopped (line 8): this release does not know Kimi-VL")
    assert sum("does not know Kimi-VL" in each.message for each in judged.findings) == 1


def test_a_release_that_has_the_model_says_so_itself() -> None:
    command = KIMI_VL.replace("image=256", """'{"image": 256}'""")
    assert "takes text only" in verdict(_judged("vllm 0.11.0", command, LIMIT))[0]


@pytest.mark.parametrize("behind", ["", " --reasoning-parser deepseek-r1"])
def test_an_option_that_the_log_refuses_is_left_out(behind: str) -> None:
    (line,) = _judged("", f"{R1} --enable-reasoning{behind}", REASONING).corrected
    assert "--enable-reasoning" not in line.argv
    assert ("--reasoning-parser" in line.argv) is bool(behind)


def test_a_word_behind_it_may_be_its_value() -> None:
    judged = _judged(
        "",
        f"{R1} --some-unknown-thing deep --trust-remote-code",
        "error: unrecognized arguments: --some-unknown-thing deep",
    )
    assert not any("--some-unknown-thing" not in line.argv for line in judged.corrected)


HALF = "vllm serve me/Kimi-K2-Instruct-AWQ -tp 16 --trust-remote-code --distributed-executor-backend ray --dtype half"
GRAPH = "AssertionError: ('placeholder', 0, 'out_of_band_tensors', [])"


def test_what_only_spoils_answers_did_not_stop_it() -> None:
    assert _judged("vllm 0.10.2", HALF, GRAPH).corrected == ()
    (line,) = _judged("vllm 0.10.2", HALF, "").corrected
    assert "bfloat16" in line.argv


K25 = "vllm serve /weights/Kimi-K2.5-w4a8 -tp 16 --enable-expert-parallel --quantization ascend --trust-remote-code"
UNKNOWN = (
    "AttributeError: 'KimiK25ForConditionalGeneration' object has no attribute 'packed_modules_mapping'",
    "RuntimeError: something of which nobody has heard",
)


@pytest.mark.parametrize("error", UNKNOWN)
def test_an_error_that_no_row_knows_in_a_release_that_never_starts_the_model(error: str) -> None:
    log = f"(Worker_TP3 pid=123) ERROR 03-12 10:00:01 [multiproc_executor.py:783] {error}"
    judged = _judged("vllm-ascend v0.16.0rc1", K25, log)
    assert verdict(judged)[0].startswith("Stopped (line 8): support of K2.5 begins with 0.17.0rc1")
    assert sum("begins with 0.17.0rc1" in each.message for each in judged.findings) == 1
    later = _judged("vllm-ascend v0.18.0", K25, log)
    assert "0.17.0rc1" not in verdict(later)[0]
