"""doctor --log against logs of public threads, each with its cause, written down before the grammar was made.

How many of those that were apart were right when they were first read is in benchmarks/doctor/results.md.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from moonpad.engines.log_grammar import catalogued_causes, may_name
from moonpad.observe.log_cause import OWN_WORDS, read_log

LOGS = Path(__file__).parent / "logs"
NUMBERS = sorted(path.stem for path in LOGS.glob("*.toml"))

# Another line of the same cause than the one that was written down, looked at one by one.
ALSO = {
    "255": "transformers-for-it",
    "549": "configuration-twice",
    "001": "kv-nothing-left",
    "003": "nccl-shared-memory",
    "006": "scheme-unsupported",
    "011": "shard-damaged",
    "015": "platform-none",
    "023": "oom",
    "028": "ray-no-gpu",
    "029": "cuda-fork",
    "049": "oom",
    "065": "platform-none",
    "077": "kv-nothing-left",
    "088": "port",
    "113": "store-timeout",
    "202": "oom-runtime",
    "210": "no-device-code",
    "211": "ninja",
    "223": "no-device-code",
    "243": "hub-gated",
    "284": "cuda-fork",
    "290": "hub-unreachable",
    "403": "memory-taken",
    "457": "hub-gated",
    "469": "oom",
    "479": "quantized-shape",
    "505": "weight-shape",
    "521": "kv-nothing-left",
    "589": "platform-none",
    "590": "platform-none",
    "550": "custom-all-reduce",
    "605": "local-path",
    "625": "npu-plugin",
    "701": "linear-cache-lines",
    "930": "weight-shape-assert",
    "921": "torch-without-device",
    "1313": "driver-lacks",
}
# Causes that are not known to doctor.
NOT_KNOWN = {"529", "537", "553", "613"}
# Faults inside a release, and one system call of NCCL, of which those who wrote the causes down thought that a log
# cannot name them. The line that they wrote down is the one that is shown, with the kind of the error.
STATED = {
    **{
        "030": "nccl-crash-inside",
        "472": "flydsl-name",
        "080": OWN_WORDS,
        "502": "release-fault",
        "543": "layers-of-another-engine",
    },
    **{
        "569": OWN_WORDS,
        "046": "draft-layer-61",
        "229": "name-not-imported",
        "256": "fused-decode-of-latent",
        "471": "release-fault",
    },
    **{"489": "fault-shape", "503": "fault-shape", "518": "fault-shape", "595": "fault-shape"},
    **{"528": "fault-signature", "534": "fault-signature", "538": "fault-signature", "579": "fault-signature"},
    **{"576": "trt-guided-class", "608": "nccl-system"},
}


def truth(number: str) -> dict[str, Any]:
    return tomllib.loads((LOGS / f"{number}.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("number", NUMBERS)
def test_cause(number: str) -> None:
    expected = truth(number)
    answer = read_log((LOGS / f"{number}.log").read_text(encoding="utf-8"))
    if not expected["nameable"]:
        assert answer.key == STATED.get(number, ""), answer.text
    elif number in NOT_KNOWN:
        assert answer.key == ""
    elif expected["evidence"] not in answer.text:
        assert answer.key == ALSO.get(number), (answer.text, expected["cause"])
    else:
        assert answer.key
    if answer.key not in ("", OWN_WORDS):
        assert answer.remedy
        assert "{" not in answer.message + answer.remedy


@pytest.mark.parametrize("number", [number for number in NUMBERS if truth(number).get("misleading")])
def test_what_misleads_is_not_named(number: str) -> None:
    expected = truth(number)
    answer = read_log((LOGS / f"{number}.log").read_text(encoding="utf-8"))
    assert not answer.key or expected["misleading"] not in answer.text or expected["evidence"] in answer.text


@pytest.mark.parametrize(
    ("engine", "said"),
    [
        ("vllm", "--gpu-memory-utilization"),
        ("vllm-cpu", "kv_cache_gib"),
        ("sglang", "--mem-fraction-static"),
        ("tensorrt-llm", "--kv_cache_free_gpu_memory_fraction"),
    ],
)
def test_a_remedy_is_the_engines_own(engine: str, said: str) -> None:
    """Several engines have the same words for what torch says."""
    assert said in read_log("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 12.00 GiB.\n", engine).remedy


def test_no_log_is_an_empty_answer() -> None:
    for text in ("", "\n\n", "\0", "INFO: all is well"):
        answer = read_log(text)
        assert (answer.key, answer.line, answer.text) == ("", 0, "")


def test_a_warning_gives_way_to_an_error() -> None:
    log = "WARNING 01-01 00:00:00 x.py:1] ImportError: libfoo.so.1: cannot open shared object file\n"
    assert read_log(log).key == ""
    assert read_log(log + "ModuleNotFoundError: No module named 'zmq'\n").key == "package-of-python"


def test_what_follows_from_a_cause_gives_way_to_it() -> None:
    peer = "RuntimeError: gloo/transport/tcp/pair.cc:525] Connection closed by peer [10.0.0.2]:50407\n"
    assert read_log(peer).key == "peer-reset"
    assert read_log(peer + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB.\n").key == "oom"


def test_a_symptom_is_no_cause() -> None:
    answer = read_log("RuntimeError: CUDA error: an illegal memory access was encountered\n")
    assert (answer.key, answer.line) == ("", 1)


OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB.\n"
WATCHDOG = (
    "[rank3]: ProcessGroupNCCL.cpp:632] [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1)\n"
)
UNKNOWN = "RuntimeError: xyzzy\n"
BEFORE = (
    "WARNING 01-01 00:00:00 x.py:1] ValueError: the number of heads must be divisible by 16",
    "DEBUG 01-01 00:00:00 x.py:1] CUDA platform is not available because: NVML Shared Library Not Found",
    "host:1:1 [0] NCCL INFO Call to connect returned Connection refused, retrying",
    "host:1:1 [0] ras/client_support.cc:160 NCCL WARN Call to bind failed: Address already in use",
    "slurmstepd: error: couldn't chdir to `/data/x': No such file or directory: going to /tmp instead",
)
BEHIND = (
    "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {'EngineCore_0': 1}",
    "Exception: WorkerProc initialization failed due to an exception in a background process.",
    "(EngineCore_DP0 pid=1) ERROR 01-01 00:00:00 [x.py:1] Worker proc VllmWorker-7 died unexpectedly.",
    "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above).",
    "RuntimeError: cancelled",
    "BrokenPipeError: [Errno 32] Broken pipe",
    "RuntimeError: gloo/transport/tcp/pair.cc:525] Connection closed by peer [10.0.0.2]:50407",
    WATCHDOG.strip(),
    "srun: error: node7: task 3: Exited with exit code 1",
    "slurmstepd: error: *** STEP 1.0 ON node7 CANCELLED AT 2026-01-01T00:00:00 ***",
    "Killed",
)


@pytest.mark.parametrize("line", BEFORE)
def test_what_ends_nothing_is_no_cause(line: str) -> None:
    assert read_log(line + "\n").key == ""
    assert read_log(f"{line}\n{OOM}").key == "oom"
    assert read_log(f"{line}\n{UNKNOWN}").text == UNKNOWN.strip()


@pytest.mark.parametrize("line", BEHIND)
def test_what_comes_behind_a_cause_changes_nothing(line: str) -> None:
    alone, both = read_log(OOM), read_log(f"{OOM}{line}\n")
    assert (both.key, both.message, both.line) == (alone.key, alone.message, alone.line)


def test_a_rank_that_is_left_over_names_nothing_behind_an_error_that_is_not_known() -> None:
    assert read_log(WATCHDOG).key == "nccl-watchdog"
    answer = read_log(UNKNOWN + WATCHDOG)
    assert (answer.key, answer.line) == ("", 1)


def test_a_logged_error_gives_way_to_one_that_ended_the_program() -> None:
    logged = "ERROR 01-01 00:00:00 [x.py:1] The tokenizer of this model cannot be read from its folder\n"
    assert read_log(logged).key == OWN_WORDS
    raised = "ValueError: the number of attention heads must be divisible by the tensor parallel size\n"
    assert read_log(logged + raised).text == raised.strip()


def test_a_piece_that_begins_behind_its_cause_names_none() -> None:
    behind = "During handling of the above exception, another exception occurred:\n\n"
    raised = "ValueError: the model cannot be loaded from the folder that was given\n"
    assert read_log(raised).key == OWN_WORDS
    assert read_log(behind + raised).key == ""


CHAIN = "\nThe above exception was the direct cause of the following exception:\n\nTraceback (most recent call last):\n"


def test_an_error_that_only_wraps_another_gives_way_to_it() -> None:
    inner = "TypeError: Processor.__init__() got multiple values for argument 'tokenizer'\n"
    for outer in (
        "RuntimeError: Failed to apply Processor on data={'text': 'x'} with kwargs={}\n",
        "ValueError: Model runtime error: Processor.__init__() got multiple values for argument 'tokenizer'\n",
    ):
        answer = read_log(inner + CHAIN + outer)
        assert (answer.key, answer.line) == ("fault-signature", 1)


def test_the_step_in_which_an_error_came_is_no_cause() -> None:
    silent = "RuntimeError: CUDA error: invalid argument\n"
    answer = read_log(f"{silent}{CHAIN}RuntimeError: Failed to process the batch of requests of this step\n")
    assert (answer.key, answer.line) == ("", 1)


def test_an_answer_without_a_cause_says_what_happened() -> None:
    answer = read_log("RuntimeError: CUDA error: an illegal memory access was encountered\n")
    assert answer.key == ""
    assert "kernel" in answer.kind
    assert "CUDA_LAUNCH_BLOCKING" in answer.remedy
    assert read_log(UNKNOWN).kind == ""


def test_noise_around_logs_of_threads_changes_no_cause() -> None:
    before = "".join(line + "\n" for line in BEFORE if not line.startswith("WARNING"))
    behind = "".join(line + "\n" for line in BEHIND if "cc:525" not in line and line != "Killed")
    for number in NUMBERS[::23]:
        text = (LOGS / f"{number}.log").read_text(encoding="utf-8")
        alone = read_log(text)
        if not alone.key:
            continue
        noisy = read_log(f"{before}{text.rstrip()}\n{behind}", alone.engine)
        assert (noisy.key, noisy.text) == (alone.key, alone.text), number


def test_the_line_number_of_a_long_log() -> None:
    filler = "INFO 01-01 00:00:00 loggers.py:1] Avg generation throughput: 1.0 tokens/s\n"
    log = filler * 30_000 + "OSError: [Errno 28] No space left on device\n"
    answer = read_log(log)
    assert (answer.key, answer.line) == ("disk-full", 30_001)


@pytest.mark.slow
def test_every_cause_has_words_that_are_looked_for() -> None:
    """A row whose lines have none of the hints would never be read."""
    lines = [line for number in NUMBERS for line in (LOGS / f"{number}.log").read_text(encoding="utf-8").splitlines()]
    for cause in catalogued_causes():
        for line in lines:
            if cause.pattern.search(line[:4000]) and not cause.symptom:
                assert may_name(line[:4000]), (cause.key, line)
