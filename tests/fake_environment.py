"""A pretended environment, as `moonpad engine install` would have made it, whose `vllm` is the fake engine."""

from __future__ import annotations

import compileall
import py_compile
import shutil
import stat
import sys
from pathlib import Path

FAKE_ENGINE = Path(__file__).resolve().parent / "fake_engine" / "vllm.py"


def compiled(folder: Path) -> Path:
    """The fake engine's package, copied into the folder and compiled: a start has no time to lose."""
    ignored = shutil.ignore_patterns("__pycache__", "docker.py")
    package = shutil.copytree(FAKE_ENGINE.parent, folder / FAKE_ENGINE.parent.name, ignore=ignored)
    compileall.compile_dir(package, quiet=2, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    return package


def make_environment(folder: Path, package: Path | None = None) -> Path:
    """The path of its Python. `package`: one that was compiled already, which is copied."""
    (folder / "bin").mkdir(parents=True)
    own = compiled(folder) if package is None else shutil.copytree(package, folder / package.name)
    program = folder / "bin" / "vllm"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "{own}/{FAKE_ENGINE.name}" "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    python = folder / "bin" / "python"
    python.symlink_to(sys.executable)
    return python


def make_router(folder: Path) -> Path:
    """A pretended environment whose `sglang-router` is the fake router; the path of its Python, which says its version
    and nothing else."""
    (folder / "bin").mkdir(parents=True)
    program, python = folder / "bin" / "sglang-router", folder / "bin" / "python"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "{FAKE_ENGINE.with_name("router.py")}" "$@"\n')
    python.write_text('#!/bin/sh\necho "sglang-router 0.3.2"\n')
    for file in (program, python):
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return python
