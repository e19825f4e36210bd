"""What the line below says: NCCL's last warning, and the words of a panic."""

from __future__ import annotations

import pytest

from moonpad.engines.log_lines import logged_lines
from moonpad.values.finding import Code
from tests.unit.explain.judging import ask

SERVER = "vllm serve moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code\n"
EVENT = (
    "torch.distributed.DistBackendError: NCCL error in: /pytorch/torch/csrc/distributed/c10d/Process.cpp:3690, "
    "unhandled system error (run with NCCL_DEBUG=INFO for details), NCCL version 2.27.5"
)
LIBRARY = "ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error."
FULL = "Error while creating shared memory segment /dev/shm/nccl-I (size 9637), error: No space left on device (28)"
APART = "socketPollConnect: connect to fe80::1%eth2<40001> returned No route to host"
REFUSED = "Call to connect returned Connection refused, retrying"
WORKER = "(Worker_TP3 pid=812) ERROR 11-12 10:01:00 [multiproc_executor.py:597] "


def told(log: str) -> list[str]:
    (judged,) = ask(SERVER + log)
    return [f.message for f in judged.findings if f.code is Code.LOGGED_FAILURE]


@pytest.mark.parametrize("front", ["", WORKER])
@pytest.mark.parametrize(
    ("last", "words"),
    [
        (FULL, "no room in /dev/shm"),
        (APART, "cannot connect to fe80::1%eth2<40001>:"),
        (REFUSED, "cannot connect to another rank:"),
    ],
)
def test_the_librarys_last_warning_comes_before_the_error_that_holds_it(front: str, last: str, words: str) -> None:
    first, *others = told("\n".join(front + line for line in (EVENT, LIBRARY, "Last error:", last)) + "\n")
    assert words in first
    assert any("unhandled system error" in other for other in others)


def test_without_it_the_error_is_told_alone() -> None:
    (only,) = told(f"{EVENT}\n{LIBRARY}\n")
    assert "unhandled system error" in only


def test_a_cause_further_below_stays_below() -> None:
    rest = "".join(f"{WORKER}line {number}\n" for number in range(6))
    assert "unhandled system error" in told(f"{WORKER}{EVENT}\n{rest}{WORKER}{FULL}\n")[0]


def test_a_panic_without_a_known_cause_is_told() -> None:
    panic = "thread 'tokio-runtime-worker' panicked at lib/llm/src/kv_router/publisher.rs:120:13:"
    (only,) = told(f"{panic}\nquite unheard of\n")
    assert "panicked at lib/llm/src/kv_router/publisher.rs" in only
    assert "no cause is known" in only


@pytest.mark.parametrize(
    ("lines", "logged"),
    [
        (["Last error:", "x", "y"], {0, 1}),
        (["Last error:"], {0}),
        (["Last error: see below", "x"], set()),
        (["thread 'main' panicked at a/b.rs:1:2:", "x", "y"], {0, 1}),
        (["thread 'main' (17) panicked at 'x', a/b.rs:1:2", "x"], {0}),
    ],
)
def test_one_line_below_and_no_more(lines: list[str], logged: set[int]) -> None:
    assert logged_lines(lines) == logged
