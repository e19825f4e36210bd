"""Which errors that no row knows are said in their own words."""

from __future__ import annotations

import pytest

from moonpad.engines.own_words import Says, own_words, said_by
from moonpad.observe.log_cause import OWN_WORDS, read_log


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("ValueError: the pages of both pools have to be of one size", "the pages of both pools"),
        (
            "(Worker pid=7) ERROR 01-01 00:00:00 [x.py:1] NotImplementedError: no path for this shape of heads",
            "no path",
        ),
        ("AssertionError: the draft must have the vocabulary of the target", "the draft must have"),
        ("  Value error, pages of 3 tokens are not taken [type=value_error, input_value=3]", "pages of 3"),
        (
            "RuntimeError: Worker failed with error 'pages of 3 tokens are not taken', please check the log",
            "pages of 3",
        ),
        ("Exception: Capture cuda graph failed: pages of 3 tokens are not taken. Possible solutions:", "pages of 3"),
        ("[TensorRT-LLM][ERROR] Assertion failed: pages of 3 tokens are not taken (/src/x.cpp:12)", "pages of 3"),
        ("vllm serve: error: pages of 3 tokens are not taken", "pages of 3"),
        ("  what():  pages of 3 tokens are not taken", "pages of 3"),
    ],
)
def test_a_sentence_says_what_is_wrong(line: str, words: str) -> None:
    said = said_by(line)
    assert said is not None
    assert said[0] is Says.WHAT
    assert words in said[1]


@pytest.mark.parametrize(
    "line",
    [
        "TypeError: f() got an unexpected keyword argument 'x'",
        "AttributeError: 'X' object has no attribute 'y'",
        "KeyError: 'layers.3.mlp.scale'",
        "RuntimeError: The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1",
        "ERROR 01-01 00:00:00 engine.py:366] 'layers.0.mlp.down_proj.weight.absmax'",
        "failed with type object 'Info' has no attribute 'of'",
    ],
)
def test_an_error_of_code_says_where(line: str) -> None:
    said = said_by(line)
    assert said is not None
    assert said[0] is Says.WHERE


@pytest.mark.parametrize(
    "line",
    [
        "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}",
        "RuntimeError: Rank 0 scheduler died during initialization (exit code: -9)",
        "RuntimeError: CUDA error: an illegal memory access was encountered",
        "ValueError: Model architectures ['X'] failed to be inspected. Please check the logs for more details.",
        "TimeoutError: RPC call to execute_model timed out.",
        "ERROR 01-01 00:00:00 [x.py:1] Failed to import the kernels of Triton.",
        "ERROR 01-01 00:00:00 [x.py:1] Cannot use FA version 2, which is for newer devices than this one",
        "ImportError: sys.meta_path is None, Python is likely shutting down",
        "KeyError: '/psm_1a2b3c'",
        '    raise ValueError("the pages of both pools have to be of one size")',
        "ERROR 01-01 00:00:00 [core.py:1]     engine_core = EngineCoreProc(*args, **kwargs)",
        "pages of 3 tokens are not taken",
    ],
)
def test_what_points_elsewhere_or_only_tells_what_happened_says_nothing(line: str) -> None:
    assert said_by(line) is None


def test_a_warning_says_nothing() -> None:
    assert own_words(["WARNING 01-01 00:00:00 [x.py:1] ValueError: pages of 3 tokens are not taken"]) is None


def test_what_fails_while_objects_are_torn_down_says_nothing() -> None:
    torn = ["Exception ignored in: <function LLM.__del__ at 0x7f>", "Traceback (most recent call last):"]
    torn.append("AttributeError: 'LLM' object has no attribute 'engine'")
    assert own_words(torn) is None
    found = own_words([*torn, "ValueError: pages of 3 tokens are not taken"])
    assert found is not None
    assert found.number == 3


def test_the_assertion_without_words_is_shown_with_its_source() -> None:
    found = own_words(["    assert pages > 0", "           ^^^^^^^^^", "AssertionError"])
    assert found is not None
    assert (found.says, found.words, found.number) == (Says.WHERE, "AssertionError: assert pages > 0", 2)


def test_of_two_errors_the_one_that_the_other_led_to_is_shown_where_it_says_more() -> None:
    led = ["KeyError: 'new_model'", "During handling of the above exception, another exception occurred:"]
    what = "ValueError: the checkpoint has a model that this release does not have"
    found = own_words([*led, what])
    assert found is not None
    assert found.number == 2
    apart = own_words([led[0], "a line between", what])
    assert apart is not None
    assert apart.number == 0


def test_an_error_that_led_to_one_that_is_cut_off_says_nothing() -> None:
    led = "During handling of the above exception, another exception occurred:"
    assert (
        own_words(["TypeError: 'NoneType' object is not subscriptable", "", led, "Traceback (most recent call last):"])
        is None
    )


def test_what_a_start_went_through_before_it_served_ended_nothing() -> None:
    log = "ValueError: pages of 3 tokens are not taken\n"
    assert read_log(log).key == OWN_WORDS
    assert read_log(log + "INFO:     Application startup complete.\n").key == ""


def test_what_follows_where_a_process_broke_is_no_cause() -> None:
    broke = "RuntimeError: CUDA error: an illegal memory access was encountered\n"
    follows = "RuntimeError: gloo/transport/tcp/pair.cc:525] Connection closed by peer [10.0.0.2]:50407\n"
    assert read_log(broke + follows).key == ""


def test_a_line_that_was_broken_when_it_was_pasted() -> None:
    log = (
        "ValueError: Free memory on device (8.0/64.0 GiB) on startup is less than desired\n"
        "GPU memory utilization (0.9, 57.6 GiB). Decrease GPU memory utilization or\n"
    )
    assert read_log(log).key == "memory-taken"
