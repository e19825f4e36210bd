"""A process that ends at once loses nothing that it printed, and runs what was registered for its end."""

from __future__ import annotations

import subprocess
import sys

LEAVE = "from moonpad.cli.process_end import leave\n"


def ended(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", LEAVE + code], capture_output=True, text=True, check=False, timeout=60)


def test_what_is_in_the_streams_and_the_exit_code() -> None:
    done = ended("import sys\nprint('x' * 70_000)\nprint('noted', file=sys.stderr)\nleave(3)")
    assert (done.returncode, len(done.stdout), done.stderr) == (3, 70_001, "noted\n")


def test_what_is_registered_for_the_end_runs_once() -> None:
    done = ended("import atexit\natexit.register(print, 'bye')\nleave(0)")
    assert (done.returncode, done.stdout) == (0, "bye\n")


def test_a_thread_is_waited_for() -> None:
    code = "import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.2), print('late'))).start()\nleave(5)"
    done = ended(code)
    assert (done.returncode, done.stdout) == (5, "late\n")


def test_a_full_stream_is_told() -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(
            [sys.executable, "-E", "-c", LEAVE + "print('lost')\nleave(0)"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=60,
        )
    assert done.returncode == 120
    assert "No space left on device" in done.stderr
