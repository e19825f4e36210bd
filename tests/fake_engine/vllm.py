"""`vllm serve …` as moonpad meets it. Standard library only; run by path, as `bin/vllm` of a pretended environment.

The API server is this process; core.py, workers.py and switches.py say what lives below it, and what can be made to
go wrong. It ends with status 0 when asked to, 1 (or FAKE_EXIT) when the engine core or a worker is lost.
"""

from __future__ import annotations

import contextlib
import os
import sys

VERSION = "0.32.0+cpu"


def main(argv: list[str]) -> None:
    if "--version" in argv:
        print(VERSION)
        return
    with contextlib.suppress(OSError):  # a full disk
        line = f"(APIServer pid={os.getpid()}) INFO 11-20 12:00:00 [utils.py:1] vLLM API server {VERSION}\n"
        os.write(1, line.encode())
    from pathlib import Path  # here, because the first line comes sooner

    # -I keeps the script's folder out of the search path. Last, so that nothing here hides the standard library.
    sys.path.append(str(Path(__file__).resolve().parent.parent))
    from fake_engine.api import serve

    serve(argv)


if __name__ == "__main__":
    main(sys.argv[1:])
