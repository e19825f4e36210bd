"""Stand-ins for the two programs of TensorRT-LLM, with a real Open MPI beneath: an environment with them in its bin/.

`trtllm-llmapi-launch` runs on every rank. It joins all ranks by MPI, gathers their numbers and writes down what it is.
Rank 0 starts its arguments without the variables of MPI, as the real one does, and each rank starts a helper in a
session of its own, which no end of a process group reaches. `trtllm-serve` answers over HTTP.
"""

from __future__ import annotations

import sys
from pathlib import Path

RECORDS = "TLLM_STAND_IN_RECORDS"
"""Names the folder for what the ranks write down; /tmp by default."""

_LAUNCH = r"""#!PYTHON
import ctypes, json, os, signal, socket, subprocess, sys, time

mpi = ctypes.CDLL("libmpi.so.40", mode=ctypes.RTLD_GLOBAL)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
assert mpi.MPI_Init(None, None) == 0
world = ctypes.byref(ctypes.c_char.in_dll(mpi, "ompi_mpi_comm_world"))
number = ctypes.byref(ctypes.c_char.in_dll(mpi, "ompi_mpi_int"))
rank, size = ctypes.c_int(), ctypes.c_int()
mpi.MPI_Comm_rank(world, ctypes.byref(rank))
mpi.MPI_Comm_size(world, ctypes.byref(size))
gathered = (ctypes.c_int * size.value)()
assert mpi.MPI_Allgather(ctypes.byref(rank), 1, number, gathered, 1, number, world) == 0
helper = subprocess.Popen(["sleep", "600"], start_new_session=True)
with open(os.path.join(os.environ.get("TLLM_STAND_IN_RECORDS", "/tmp"), f"rank-{rank.value}.json"), "w") as file:
    json.dump({"rank": rank.value, "size": size.value, "gathered": list(gathered), "host": socket.gethostname(),
               "pid": os.getpid(), "environment": dict(os.environ), "argv": sys.argv}, file)
if rank.value:
    while True:
        time.sleep(1)
prefixes = ("OMPI_", "PMIX_", "PMI_", "SLURM_", "MPI_", "UCX_")
environment = {name: value for name, value in os.environ.items() if not name.startswith(prefixes)}
sys.exit(subprocess.Popen(sys.argv[1:], env=environment).wait())
"""

_SERVE = r"""#!PYTHON
import http.server, json, os, sys

words = sys.argv[1:]
option = lambda name: words[words.index(name) + 1] if name in words else ""
config = open(option("--config")).read() if option("--config") else ""
with open(os.path.join(os.environ.get("TLLM_STAND_IN_RECORDS", "/tmp"), "serve.json"), "w") as file:
    json.dump({"argv": words, "config": config, "mpi": [name for name in os.environ if name.startswith("OMPI_")]}, file)


class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        said = {"text": " token"} if self.path.endswith("/v1/completions") else {"message": {"content": " token"}}
        body = json.dumps({"choices": [said]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


http.server.ThreadingHTTPServer((option("--host"), int(option("--port"))), Answers).serve_forever()
"""


def make_stand_in(folder: Path, python: str = sys.executable) -> Path:
    """The environment's folder, above bin/."""
    (folder / "bin").mkdir(parents=True)
    for name, text in (("trtllm-llmapi-launch", _LAUNCH), ("trtllm-serve", _SERVE)):
        path = folder / "bin" / name
        path.write_text(text.replace("PYTHON", python, 1))
        path.chmod(0o755)
    return folder
