"""`vllm serve …` as the keeper sees it. Standard library only; run by path, as `bin/vllm` of a pretended environment.

Switches (environment): FAKE_LOAD_S, FAKE_CRASH_AT (loading|ready), FAKE_IGNORE_TERM, FAKE_WORKERS, FAKE_FIRST_REQUEST
(500), FAKE_NO_PORT.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import signal
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MAPPED: list[mmap.mmap] = []


def rename(title: str) -> None:
    """As the real workers do, so that no name says whose they are."""
    ctypes.CDLL(None).prctl(15, title.encode(), 0, 0, 0)


def keep_shared_memory(path: str) -> None:
    """A mapped file that a killed process leaves, as multiprocessing's shared memory does."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    os.ftruncate(handle, 4096)
    MAPPED.append(mmap.mmap(handle, 4096))
    os.close(handle)


def ignore_signals() -> None:
    if os.environ.get("FAKE_IGNORE_TERM"):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


def start_workers(count: int) -> None:
    """Orphans in sessions of their own: nothing but the parent's pid of their dead parent links them to us."""
    for rank in range(count):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                rename(f"VLLM::Worker_{rank}")
                keep_shared_memory(f"/dev/shm/psm_moonpad_test_{os.getpid()}")
                ignore_signals()
                while True:
                    time.sleep(60)
            os._exit(0)
    for _ in range(count):
        os.wait()


class Api(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass

    def answer(self, status: int, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def keyed(self) -> bool:
        key = os.environ.get("VLLM_API_KEY")
        return not key or self.headers.get("Authorization") == f"Bearer {key}"

    def do_GET(self) -> None:
        self.answer(200, {"object": "list", "data": []})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if not self.keyed():
            self.answer(401, {"error": "Unauthorized"})
        elif os.environ.get("FAKE_FIRST_REQUEST"):
            self.answer(int(os.environ["FAKE_FIRST_REQUEST"]), {"error": {"message": "the engine core died"}})
        else:
            self.answer(200, {"choices": [{"text": "!", "finish_reason": "length"}]})


def value_of(argv: list[str], flag: str) -> str:
    return argv[argv.index(flag) + 1]


def crash() -> None:
    print("(EngineCore pid=1) ERROR 11-20 12:00:00 [core.py:1] ValueError: the tensor is too large", flush=True)
    print("(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above.", flush=True)
    os._exit(1)


def main(argv: list[str]) -> None:
    if argv[:1] == ["--version"]:
        print("0.32.0+cpu")
        return
    ignore_signals()
    start_workers(int(os.environ.get("FAKE_WORKERS", "2")))
    load_s = float(os.environ.get("FAKE_LOAD_S", "0.2"))
    for percent in (0, 40, 100):
        print(
            f"Loading safetensors checkpoint shards: {percent:3d}% Completed | 1/1 [00:00<00:00, 1.00it/s]", flush=True
        )
        if percent == 40 and os.environ.get("FAKE_CRASH_AT") == "loading":
            crash()
        time.sleep(load_s / 3)
    print("(Worker pid=1) INFO 11-20 12:00:00 [cpu_worker.py:1] Explicitly set (1.0/8.21) GiB for KV cache on node 0.")
    print("(EngineCore pid=1) INFO 11-20 12:00:00 [kv_cache_utils.py:1] CPU KV cache size: 310,672 tokens", flush=True)
    if os.environ.get("FAKE_NO_PORT"):
        time.sleep(3600)
    server = ThreadingHTTPServer((value_of(argv, "--host"), int(value_of(argv, "--port"))), Api)
    print("(APIServer pid=1) INFO 11-20 12:00:00 Starting vLLM server on http://127.0.0.1", flush=True)
    if os.environ.get("FAKE_CRASH_AT") == "ready":
        threading.Timer(1.0, crash).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN if os.environ.get("FAKE_IGNORE_TERM") else signal.default_int_handler)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
