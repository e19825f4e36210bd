"""The engine as somebody else would start it: the rendered script with some of its flags left out.

Without moonpad's switch for the rotary op it is the eager-mode trap: `--enforce-eager` alone gives silently wrong
numbers for MLA models without YaRN on a CPU.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from moonpad.environments.installed import InstalledEngine
from moonpad.facts.processes import find_descendants, send_signal
from tests.conftest import ROOT, Moonpad
from tests.e2e.conftest import CHECKPOINT, write_spec


def without_yarn(folder: Path) -> Path:
    """The shipped checkpoint with plain rotary. With YaRN vLLM takes another rotary class, and the trap does not
    show."""
    shutil.copytree(CHECKPOINT, folder)
    config = json.loads((folder / "config.json").read_text())
    config["max_position_embeddings"] = config["rope_scaling"]["original_max_position_embeddings"]
    config["rope_scaling"] = None
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def record_oracle(engine_python: Path, checkpoint: Path, out: Path) -> Path:
    """What the oracle says of a checkpoint, for `moonpad verify --numerics --against`."""
    command = (str(engine_python), "-m", "tests.oracle.record", str(checkpoint), str(out))
    env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "OPENBLAS_NUM_THREADS": "1"}
    subprocess.run(command, check=True, capture_output=True, env=env, cwd=ROOT)
    return out


ROTARY_SWITCH = r"--compilation-config\.custom_ops"
PARSERS = r"--(?:enable-auto-tool-choice|tool-call-parser|reasoning-parser)"


@contextmanager
def started_without(
    flags: str, moonpad: Moonpad, engine: InstalledEngine, home: Path, checkpoint: Path = CHECKPOINT
) -> Iterator[str]:
    """The base URL of an engine that the rendered script has started without the lines of those flags."""
    spec, port = write_spec(home, "by-hand", model=str(checkpoint))
    assert moonpad("render", str(spec), "--to", "shell", "--out", str(home / "out")).code == 0
    script = (home / "out" / "node-0" / "run.sh").read_text()
    changed, removed = re.subn(rf"  {flags}\b.*\n", "", script)
    assert removed
    env = {**moonpad.env, "MOONPAD_ENGINE": str(engine.path), "MOONPAD_CHECKPOINT": str(checkpoint)}
    with (home / "log").open("w") as log:
        server = subprocess.Popen(("bash", "-c", changed), env=env, stdout=log, stderr=log, start_new_session=True)
        try:
            _await_health(f"http://127.0.0.1:{port}/health", server)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            below = find_descendants({server.pid})
            server.terminate()
            server.wait(60)
            for pid, start in below.items():
                send_signal(pid, start, signal.SIGKILL)


def _await_health(url: str, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 300
    while time.monotonic() < until:
        assert server.poll() is None, "the server ended"
        with suppress(OSError), urllib.request.urlopen(url, timeout=2) as response:
            if response.status == 200:
                return
        time.sleep(0.5)
    raise AssertionError("not healthy after 300 s")
