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
    "1313": "driver-lacks",
}
# Causes that are not known to doctor.
NOT_KNOWN = {"529", "537", "553", "613"}
# Faults inside a release, and one system call of NCCL, of which those who wrote the causes down thought that a log
# cannot name them. The line that they wrote down is the one that is shown, with the kind of the error.
STATED = {
    **{
        "030": "nccl-crash-inside",
        "472": OWN_WORDS,
        "080": OWN_WORDS,
        "502": "release-fault",
        "543": "layers-of-another-engine",
    },
    **{
        "569": OWN_WORDS,
        "046": "fault-weight",
        "229": "name-not-imported",
        "256": "release-fault",
        "471": "release-fault",
    },
    **{"489": "fault-shape", "503": "fault-shape", "518": "fault-shape", "595": "fault-shape"},
    **{"528": "fault-signature", "534": "fault-signature", "538": "fault-signature", "579": "fault-signature"},
    **{"576": "fault-attribute", "608": "nccl-system"},
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
