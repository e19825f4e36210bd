"""Errors of a log that no row knows: by their own sentence, or by their kind."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code, Finding, Severity
from tests.unit.explain.judging import ask_one

SERVE = "vllm serve moonshotai/Kimi-K2.5 --trust-remote-code --tensor-parallel-size 8"
FRONT = "(Worker_TP0 pid=7) ERROR 10-02 09:11:21 [multiproc_executor.py:944] "


def stopped(log: str, serve: str = SERVE) -> list[Finding]:
    return [each for each in ask_one(f"{serve}\n\n{log}", "8xH200").findings if each.code is Code.LOGGED_FAILURE]


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        ("RuntimeError: the moon kernels require a toolkit of release 99; install it", "install it where"),
        ("ImportError: Please install lunatools to read such weights", "install it where"),
        ("ValueError: tides are not supported with --moon-phase full", "(--moon-phase)"),
        ("NotImplementedError: only even orbits are supported here", "a release or a device"),
    ],
)
def test_a_refusal_is_told_in_its_own_words(error: str, remedy: str) -> None:
    (found,) = stopped(f"{FRONT}{error}")
    assert found.severity is Severity.WARNING
    assert found.message == f"the engine stopped: the error says itself what is wrong: {error}"
    assert remedy in found.remedy


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ("KeyError: 'model.layers.3.mlp.moon.tide_scale'", "has a weight model.layers.3.mlp.moon.tide_scale"),
        ("KeyError: 'hidden_states'", "among what the part before it hands on"),
        ("TypeError: wane() got an unexpected keyword argument 'phase'", "called in a way that it does not know"),
    ],
)
def test_an_error_that_says_where_code_failed_is_told_by_its_kind(error: str, kind: str) -> None:
    (found,) = stopped(f"{FRONT}{error}")
    assert found.severity is Severity.WARNING
    assert kind in found.message


@pytest.mark.parametrize(
    "log",
    [
        f"{FRONT}RuntimeError: the tide came in while nobody looked",
        f"{FRONT}DSLRuntimeError: ICE: 'llvm.moon' op requires attribute 'tide'",
        "openai.BadRequestError: Error code: 400 - {'error': {'message': 'tides are not supported here'}}",
        "ERROR 10-02 09:11:21 [serving_chat.py:250] ValueError: tides are not supported with this request",
    ],
)
def test_what_says_nothing_of_its_cause_has_none(log: str) -> None:
    assert not any(each.severity is Severity.WARNING for each in stopped(log))


def test_what_a_start_went_through_before_it_served_ended_nothing() -> None:
    error = f"{FRONT}ValueError: tides are not supported with this moon"
    ready = "(APIServer pid=1) INFO:     Application startup complete."
    assert stopped(error)[0].severity is Severity.WARNING
    assert not any(each.severity is Severity.WARNING for each in stopped(f"{error}\n{ready}\n{FRONT}x"))


def test_a_bare_assertion_is_shown_with_its_statement() -> None:
    (found,) = stopped(f"{FRONT}    assert tide.height == moon.phase\n{FRONT}AssertionError")
    assert "the log says AssertionError: assert tide.height == moon.phase: no cause is known" in found.message


def test_nothing_is_corrected_where_the_error_says_what_is_wrong() -> None:
    serve = f"{SERVE} --kv-offloading-size 300"
    error = f"{FRONT}ValueError: tides are not supported with this moon"
    assert ask_one(serve, "8xH200").corrected
    assert not ask_one(f"{serve}\n\n{error}", "8xH200").corrected


@pytest.mark.parametrize(
    ("serve", "line", "cause"),
    [
        (
            "vllm serve /d/Kimi-K2.5-w4a8 --quantization ascend --trust-remote-code -tp 16",
            "RuntimeError: EZ9999: HCCL_BUFFSIZE is too SMALL, 200MB",
            "HCCL_BUFFSIZE is below",
        ),
        (
            "vllm serve /d/Kimi-K2.5-w4a8 --quantization ascend --trust-remote-code -tp 16",
            "RuntimeError: drvRetCode=87 at device 3",
            "holds the NPU",
        ),
        (
            "python -m sglang.launch_server --model /w/Kimi-K2.5 --kt-weight-path /w/Kimi-K2.5 --kt-cpuinfer 60 "
            "--kt-method RAWINT4 --tp-size 8",
            "Exception: can't find blk.3.attn_q in GGUF file",
            "the GGUF has no blk.3.attn_q",
        ),
    ],
)
def test_logs_of_a_plugin_and_of_a_build_have_its_own_lines(serve: str, line: str, cause: str) -> None:
    assert any(cause in found.message for found in stopped(line, serve))


def test_a_report_without_a_command_has_its_error_by_itself() -> None:
    text = f"vLLM 0.32.0 with Kimi-K2.5 on 8x H200\n\n{FRONT}ValueError: tides are not supported with this moon"
    assert "tides are not supported" in " ".join(each.message for each in ask_one(text).findings)


def test_a_line_of_compiled_code_is_of_the_log() -> None:
    line = (
        "/pytorch/aten/src/ATen/native/cuda/TensorCompare.cu:112: _assert_async_cuda_kernel: block: [0,0,0], thread: "
        "[0,0,0] Assertion `probability tensor contains either `inf`, `nan` or element < 0` failed."
    )
    assert any("numbers came out" in found.message for found in stopped(line))


@pytest.mark.parametrize(
    ("serve", "line", "cause"),
    [
        (
            "vllm serve /d/Kimi-K2.5-w4a8 --quantization ascend --trust-remote-code -tp 16",
            "(EngineCore_DP0 pid=7) EZ9999[PID: 7] 2026-05-23-07:36:19.237.396 (EZ9999):  HCCL_BUFFSIZE is too SMALL",
            "HCCL_BUFFSIZE is below",
        ),
        (
            "llama-server -m DeepSeek-V3-Q4_K_M-00001-of-00009.gguf -c 8192",
            "src/llama.cpp:15099: Deepseek2 does not support K-shift",
            "cannot be shifted",
        ),
        (
            SERVE,
            "(Worker_TP0 pid=7) ptxas fatal   : Value 'sm_121a' is not defined for option 'gpu-name'",
            "older than the device",
        ),
    ],
)
def test_a_line_of_a_log_needs_no_word_of_an_error(serve: str, line: str, cause: str) -> None:
    assert any(cause in found.message for found in stopped(line, serve))


@pytest.mark.parametrize(
    "text",
    [
        "On our eight H200 it ends with `ValueError: tides are not supported with this moon`.",
        "Error: ValueError: tides are not supported with this moon",
    ],
)
def test_an_error_in_a_sentence_of_a_report_is_told(text: str) -> None:
    assert any("tides are not supported with this moon" in found.message for found in stopped(text))


@pytest.mark.parametrize(
    "text",
    [
        "If you see `ValueError: tides are not supported with this moon`, take another moon.",
        "A handler catches ValueError: tides are not supported with this moon",
    ],
)
def test_an_error_that_may_come_has_not_come(text: str) -> None:
    assert not stopped(text)


def test_an_error_that_tells_what_happened_has_that_and_where_to_look() -> None:
    (found,) = stopped(f"{FRONT}RuntimeError: NPU function error: aclnnMoonTide, error code is 507015")
    assert found.severity is Severity.NOTE
    assert "no cause is known" not in found.message
    assert found.remedy


@pytest.mark.parametrize(
    ("error", "event"),
    [
        ("RuntimeError: call aclnnMoeInitRouting failed, error code is 561002", "refused what it got before it ran"),
        ("RuntimeError: Ascend Transfer Engine initialization failed.", "hands caches over between NPUs did not start"),
    ],
)
def test_what_an_npu_refused_is_an_event_and_no_cause(error: str, event: str) -> None:
    (found,) = stopped(f"{FRONT}{error}")
    assert found.severity is Severity.NOTE
    assert event in found.message


@pytest.mark.parametrize("front", ["Exception: ", "[2026-03-13 17:36:45 TP0] Exception: "])
def test_an_error_behind_the_sentence_of_the_capture_is_read(front: str) -> None:
    error = 'Assertion error (/x/deepgemm/csrc/apis/../heuristics/common.hpp:12): false and "Unsupported architecture"'
    serve = "python -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --trust-remote-code --tp-size 8"
    (found,) = stopped(f"{front}Capture cuda graph failed: {error}", serve)
    assert found.message == "the engine stopped: DeepGEMM has no kernels for this device"


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        ("/opt/vllm/v1/worker/moon_runner.py", "the parts of the release do not agree"),
        ("/opt/transformers/models/moon.py", "or another table of the engine"),
    ],
)
def test_a_key_that_a_step_lacks_is_not_of_the_models_files(frame: str, said: str) -> None:
    (found,) = stopped(f'  File "{frame}", line 81, in execute_model\n    tide = parts["tide"]\nKeyError: \'tide\'')
    assert said in found.message


def test_a_key_that_is_read_while_the_model_is_built_may_be_of_its_files() -> None:
    frame = '  File "/opt/sglang/srt/models/moon.py", line 12, in __init__'
    (found,) = stopped(f"{frame}\n    kind = scaling[\"kind\"]\n    ~~~~~~~^^^^^^^^\nKeyError: 'kind'")
    assert "or another table of the engine" in found.message
    assert "take a release that knows this model" in found.remedy
