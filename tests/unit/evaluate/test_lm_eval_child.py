"""lm-eval's process ends with the moonpad that started it, also where that is killed."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

from moonpad.facts.processes import is_alive, read_stat

PLUGIN = Path(__file__).parents[3] / "src" / "moonpad" / "catalog" / "plugins" / "moonpad_lm_eval.py"
PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, sys.argv[1]], stdin=subprocess.PIPE, env={"PYTHONPATH": sys.argv[2]})
print(child.pid, flush=True)
child.wait()
"""


def test_it_ends_with_its_parent(tmp_path: Path) -> None:
    """Here it is still importing, which takes the real one seconds."""
    (tmp_path / "lm_eval.py").write_text(
        "import pathlib, time\npathlib.Path(__file__).with_name('there').touch()\ntime.sleep(60)"
    )
    words = (sys.executable, "-c", PARENT, str(PLUGIN), str(tmp_path))
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        until = time.monotonic() + 20
        while not (tmp_path / "there").exists() and time.monotonic() < until:
            time.sleep(0.02)
        found = read_stat(child)
        assert found is not None, "it runs"
        parent.send_signal(signal.SIGKILL)
        parent.wait(10)
    until = time.monotonic() + 10
    while is_alive(child, found[1]) and time.monotonic() < until:
        time.sleep(0.02)
    assert not is_alive(child, found[1])
